"""Build the site into `build/site`: `make site`.

The playground is taken from `build/playground`, where `make playground` puts it; without one, its page says so.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urldefrag

from website.assemble import SiteError, write_sources
from website.check import check_site
from website.reference import published_schemas
from website.sources import ROOT, find_sections, page_url, rule_url
from website.twins import write_twins

BUILD = ROOT / "build"

_OPTION = re.compile(r"(?<=<span class=\"w\"> </span>)--[a-z][a-z-]*")
"""An option of a command in a console, as Pygments writes it."""


def build(folder: Path, playground: Path) -> list[str]:
    """Build the site in `folder/site`, with the playground where there is one, and return what is wrong in it.

    Raises:
        SiteError: when the source is wrong, or Zensical refuses it.
    """
    pages = write_sources(folder)
    shutil.rmtree(folder / "site", ignore_errors=True)
    config = folder / "zensical.toml"
    run = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--config-file", config],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if run.returncode:
        raise SiteError(f"zensical: {run.stdout}{run.stderr}".rstrip())
    return complete(folder, playground, pages)


def complete(folder: Path, playground: Path, pages: Mapping[str, str]) -> list[str]:
    """Add to the site what Zensical does not build, and return what is wrong in it."""
    site = folder / "site"
    for page in site.rglob("*.html"):  # browsers break a line behind `--`, so an option is kept together
        page.write_text(_OPTION.sub(r'<span class="option">\g<0></span>', page.read_text("utf-8")), "utf-8")
    for name, text in published_schemas().items():
        target = site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    for section in find_sections().values():
        page, anchor = urldefrag(section)
        target = site / rule_url(section) / "index.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        goal = f"../../{page_url(page)}#{anchor}"
        target.write_text(f'<meta http-equiv="refresh" content="0; url={goal}"><a href="{goal}">{anchor}</a>', "utf-8")
    if (playground / "index.html").exists():
        shutil.copytree(playground, site / "playground", dirs_exist_ok=True)
    write_twins(site, pages, (folder / "zensical.toml").read_text("utf-8"))
    return check_site(site)


def main() -> int:
    """Build the site and say what is wrong."""
    try:
        faults = build(BUILD, BUILD / "playground")
    except SiteError as fault:
        faults = str(fault).splitlines()
    for fault in faults:
        print(fault, file=sys.stderr)
    pages = len(list((BUILD / "site").rglob("index.md")))
    print(f"{len(faults)} faults in the site" if faults else f"build/site: {pages} pages, every link leads somewhere")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""Put the source of the site together: the pages of the repository, those made of the code, the configuration."""

import html
import json
import posixpath
import re
import shutil
from pathlib import Path
from urllib.parse import urldefrag

from rubric_lint.rules import BY_NAME
from rubric_lint.version import __version__
from website import commands, reference
from website.sources import (
    ROOT,
    LinkChange,
    LinkError,
    edit_links,
    find_groups,
    find_pages,
    find_pictures,
    find_sections,
)
from website.twins import page_summary

_REST = re.compile(r'^(?P<indent> *)"(?P<folder>[\w/-]+)/\*",\n', re.MULTILINE)
_NAMED = re.compile(r'"([\w/-]+\.md)"')
_COMMENT = re.compile(r"^<!-- .*? -->\n", re.MULTILINE)


class SiteError(Exception):
    """The source of the site is wrong; the message says where."""


def write_sources(folder: Path) -> dict[str, str]:
    """Write the source of the site to `folder` and return its pages, by path.

    Raises:
        SiteError: when a link leads nowhere, a list is unknown or the navigation names a page that is missing.
    """
    pages = make_pages()
    shutil.rmtree(folder / "site-source", ignore_errors=True)
    for name, text in pages.items():
        said = json.dumps(html.escape(describe(text)))  # the theme writes it as it is
        _write(folder / "site-source" / name, f"---\ndescription: {said}\n---\n\n{text}")
    for name, place in find_pictures().items():
        target = folder / "site-source" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    shutil.copytree(Path(__file__).with_name("assets"), folder / "site-source/assets")
    shutil.copytree(Path(__file__).with_name("theme"), folder / "theme", dirs_exist_ok=True)
    config = expand_navigation(Path(__file__).with_name("zensical.toml").read_text("utf-8"), list(pages))
    _write(folder / "zensical.toml", f'{config}\n[project.extra]\nversion = "{__version__}, not released"\n')
    return pages


def make_pages() -> dict[str, str]:
    """Return all pages in Markdown, by path in the source of the site, with links as they are there.

    Raises:
        SiteError: when a link leads nowhere or a list is unknown.
    """
    pages, sections = find_pages(), find_sections()
    known = frozenset([*pages.values(), "commands/options.md"])
    places = pages | sections | find_pictures()
    texts = {name: _fill(name, (ROOT / name).read_text("utf-8")) for name in pages}
    texts |= {name: reference.describe_rule(BY_NAME[urldefrag(place).fragment]) for name, place in sections.items()}
    before, _, _ = texts["docs/commands/index.md"].partition("## All commands")
    texts["docs/commands/index.md"] = f"{before}{commands.describe_commands()}\n"
    texts["commands/options.md"] = commands.write_options()
    faults = []
    for name, text in texts.items():
        try:
            texts[name] = edit_links(text, LinkChange(name, places, known))
        except LinkError as fault:
            faults.append(str(fault))
    if faults:
        raise SiteError("\n".join(faults))
    made = {pages.get(name, name): text for name, text in texts.items() if name not in sections}
    for group in find_groups():
        parts = (text for name, text in texts.items() if sections.get(name, "").startswith(f"{group.page}#"))
        made[group.page] = "\n\n".join([f"# {group.title}", group.intro, *parts])
    return made


def describe(text: str) -> str:
    """Return what a search engine and a chat show of a page: its summary as plain text."""
    return page_summary(text).replace("`", "").replace("*", "")


def _fill(name: str, text: str) -> str:
    """Return a page with its lists as they are now, and without comments, which are for our tools."""
    try:
        return _COMMENT.sub("", reference.renew(text))
    except reference.ListError as fault:
        raise SiteError(f"{name}: {fault}") from None


def expand_navigation(config: str, pages: list[str]) -> str:
    """Return the configuration with all pages in its navigation.

    Raises:
        SiteError: when the navigation names a page that is missing, or a page is not in it.
    """
    named = set(_NAMED.findall(config))
    if lost := sorted(named - set(pages)):
        raise SiteError(f"zensical.toml names pages that do not exist: {', '.join(lost)}")

    def expand(found: re.Match[str]) -> str:
        rest = sorted(page for page in pages if posixpath.dirname(page) == found["folder"] and page not in named)
        return "".join(f'{found["indent"]}"{page}",\n' for page in rest)

    expanded = _REST.sub(expand, config)
    if left := sorted(set(pages) - set(_NAMED.findall(expanded))):
        raise SiteError(f"pages that are not in the navigation of zensical.toml: {', '.join(left)}")
    return expanded


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")

"""The site for programs that read: a Markdown twin next to each page, `llms.txt` and `llms-full.txt`."""

import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rubric_lint.model.messages import HOME
from website.sources import edit_links, page_url

_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[\w`)*]{2}[.?!]) +")
_ANCHOR = re.compile(r"^(#+ .*?) \{ #\S+ \}$", re.MULTILINE)


def twin_path(page: str) -> str:
    """Return where the twin of a page stands: next to its HTML, as `index.md`."""
    return f"{page_url(page)}index.md"


def make_twins(pages: Mapping[str, str]) -> dict[str, str]:
    """Return the twin of each page, by path on the site, with links to other twins."""
    return {twin_path(page): _twin(page, text, pages) for page, text in pages.items()}


def _twin(page: str, text: str, pages: Mapping[str, str]) -> str:
    here = posixpath.dirname(page)

    def change(target: str) -> str:
        place, mark, anchor = target.partition("#")
        if not place or re.match(r"[a-z][a-z+.-]*:|/", place, re.IGNORECASE):
            return target
        wanted = posixpath.normpath(posixpath.join(here, place))
        goal = twin_path(wanted) if wanted in pages else wanted
        return posixpath.relpath(goal, page_url(page) or ".") + mark + anchor

    return _ANCHOR.sub(r"\1", edit_links(text, change))


def page_title(text: str) -> str:
    """Return the title of a page, without marks."""
    found = _TITLE.search(text)
    assert found, text[:80]
    return found[1].replace("`", "")


def page_summary(text: str) -> str:
    """Return the first sentence of the first paragraph of a page, which ends with a full stop."""
    paragraphs = (
        part for part in text.split("\n\n") if part.strip() and not part.startswith(("#", "<", "|", "```", "!"))
    )
    words = " ".join(next(paragraphs, "").split())
    words = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", words)
    return _SENTENCE_END.split(words)[0].rstrip(":;")


def write_index(pages: Mapping[str, str], config: str) -> str:
    """Return `llms.txt`: every page with its address and what it is about, in the order of the navigation."""
    project = tomllib.loads(config)["project"]
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}", ""]
    lines += ["Each address below is the page in Markdown; without `index.md` it is the page for browsers.", ""]
    for entry in project["nav"]:
        ((title, value),) = entry.items()
        lines += [f"## {title}", "", *(_line(page, pages[page]) for page in _pages(value)), ""]
    return "\n".join(lines)


def write_full(pages: Mapping[str, str], config: str) -> str:
    """Return `llms-full.txt`: the text of every page, in the order of the navigation."""
    twins = make_twins(pages)
    order = [page for entry in tomllib.loads(config)["project"]["nav"] for page in _pages(entry)]
    return "\n\n".join(f"<!-- {HOME}{page_url(page)} -->\n\n{twins[twin_path(page)].strip()}" for page in order) + "\n"


def write_twins(root: Path, pages: Mapping[str, str], config: str) -> None:
    """Write twins and indexes into the built site at `root`."""
    files = make_twins(pages) | {"llms.txt": write_index(pages, config), "llms-full.txt": write_full(pages, config)}
    for name, text in files.items():
        (root / name).write_text(text, "utf-8")


def _line(page: str, text: str) -> str:
    return f"- [{page_title(text)}]({HOME}{twin_path(page)}): {page_summary(text)}"


def _pages(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    else:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _pages(each)

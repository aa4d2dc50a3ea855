"""Check the built site: every link and anchor leads somewhere, and nothing is loaded from elsewhere."""

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urldefrag

from rubric_lint.model.messages import HOME
from website.sources import list_links

_LOADS = {
    ("link", "href"),
    ("script", "src"),
    ("img", "src"),
    ("source", "srcset"),
    ("iframe", "src"),
    ("video", "src"),
}
_RELATIONS = {"canonical", "alternate", "prev", "next"}
_CSS = re.compile(r"(?:url\(\s*[\"']?|@import\s+[\"'])(?P<target>[^\"')]+)")


class Link(NamedTuple):
    """A link of a page; `loads` if the browser follows it by itself."""

    target: str
    loads: bool


class Page(HTMLParser):
    """The links and anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[Link] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the links and anchors of a tag."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        for name in ("href", "src", "srcset"):
            if name in given and tag != "base":
                loads = (tag, name) in _LOADS and given.get("rel") not in _RELATIONS
                self.links.append(Link(given[name].split(" ")[0], loads))


def check_site(root: Path) -> list[str]:
    """Return what is wrong in the site at `root`, one line each: broken links and anchors, requests to elsewhere."""
    faults: list[str] = []
    for path in sorted(root.rglob("*")):
        if path.is_relative_to(root / "playground") and path.suffix != ".md":
            continue  # built and tested by itself
        name = path.relative_to(root).as_posix()
        if path.suffix == ".html":
            faults += (f"{name}: {fault}" for fault in _check_page(root, path))
        elif path.suffix == ".md" or path.name == "llms.txt":
            links = (Link(target, loads=False) for target in list_links(path.read_text("utf-8")))
            faults += (f"{name}: {fault}" for fault in _check_links(root, name, links))
        elif path.suffix == ".css":
            links = (Link(target, loads=True) for target in _CSS.findall(path.read_text("utf-8")))
            faults += (f"{name}: {fault}" for fault in _check_links(root, name, links))
    return faults


def _check_page(root: Path, path: Path) -> Iterator[str]:
    page = Page(path.read_text("utf-8"))
    return _check_links(root, path.relative_to(root).as_posix(), page.links)


def _check_links(root: Path, name: str, links: "Iterator[Link] | list[Link]") -> Iterator[str]:
    for target, loads in links:
        inner = target.removeprefix(HOME.rstrip("/")) if target.startswith(HOME) else target
        if re.match(r"[a-z][a-z+.-]*:|//", inner, re.IGNORECASE):
            if loads and not inner.startswith("data:"):
                yield f"{target}: is loaded from elsewhere"
            continue
        place, anchor = urldefrag(inner)
        place = unquote(place.partition("?")[0])
        found = posixpath.normpath(posixpath.join("/", posixpath.dirname(name), place) if place else f"/{name}")
        file = root / found.lstrip("/")
        if file.is_dir() and (place.endswith("/") or place in {"", ".", ".."} or not file.suffix):
            file /= "index.html"
        if not file.is_file():
            yield f"{target}: leads nowhere"
        elif anchor and unquote(anchor) not in _anchors(file):
            yield f"{target}: no such anchor"


@cache
def _anchors(file: Path) -> frozenset[str]:
    """Return the anchors of a page; those of the Markdown twin are those of the page."""
    page = file.with_name("index.html") if file.suffix == ".md" else file
    return frozenset(Page(page.read_text("utf-8")).anchors) if page.suffix == ".html" else frozenset()

"""Where the pages of the site come from, and what their links become there."""

import posixpath
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urldefrag, urlsplit

from rubric_lint.model.messages import HOME
from rubric_lint.rules import GROUPS

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://github.com/rubric-lint/rubric-lint"

_FENCE = re.compile(r"^(?P<marks>`{3,}|~{3,}).*?^(?P=marks)[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"(?P<head>\]\(|\b(?:href|src|srcset)=\")(?P<target>[^)\"\s]+)(?P<tail>[)\"])")
_ELSEWHERE = ("docs/architecture.md", "docs/development/")
"""Pages and folders of `docs` for those who work on rubric-lint: they stay in the repository."""
_RULE = "rubric_lint/rules/"
_GROUP = re.compile(r"^## (?P<title>.+)\n\n(?P<intro>.+(?:\n.+)*)\n\n<!-- list: rules: (?P=title) -->$", re.MULTILINE)


class LinkError(Exception):
    """A link of a page that leads nowhere."""


class Group(NamedTuple):
    """Rules that protect the same thing: a section of `docs/rules/index.md`, and a page of the site."""

    title: str
    intro: str
    rules: tuple[str, ...]

    @property
    def page(self) -> str:
        """The page in the source of the site."""
        return f"rules/{re.sub(r'[^a-z]+', '-', self.title.lower())}.md"


def find_groups() -> list[Group]:
    """Return the groups of rules, in the order of the page that lists them."""
    page = (ROOT / "docs/rules/index.md").read_text("utf-8")
    return [
        Group(found["title"], found["intro"], tuple(rule.name for rule in GROUPS[found["title"]]))
        for found in _GROUP.finditer(page)
    ]


def find_pages() -> dict[str, str]:
    """Return the pages that are written by hand: the path in the repository, and the one in the site's source."""
    names = (path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("docs/**/*.md")))
    found = {name: name.removeprefix("docs/") for name in names if not name.startswith(_ELSEWHERE)}
    return found | {"CHANGELOG.md": "changelog.md"}


def find_sections() -> dict[str, str]:
    """Return where the page of each rule stands on the site: a section of the page of its group."""
    return {
        f"{_RULE}{name.replace('-', '_')}.md": f"{group.page}#{name}" for group in find_groups() for name in group.rules
    }


def find_pictures() -> dict[str, str]:
    """Return the pictures of the pages, as `find_pages` returns pages."""
    found = {}
    for folder, target in (("docs", ""), ("vscode", "guides/")):
        for path in sorted((ROOT / folder).glob("**/*.[ps][nv]g")):
            if "node_modules" not in path.parts:
                found[path.relative_to(ROOT).as_posix()] = target + path.relative_to(ROOT / folder).as_posix()
    return found


def page_url(page: str) -> str:
    """Return the path of a page below the site: `rules/overlap.md` is at `rules/overlap/`."""
    stem = page.removesuffix(".md")
    return stem.removesuffix("index") if posixpath.basename(stem) == "index" else f"{stem}/"


def rule_url(section: str) -> str:
    """Return the address that findings give for a rule, below the site: it leads to the section of the rule."""
    return f"rules/{urldefrag(section).fragment}/"


def edit_links(text: str, change: Callable[[str], str]) -> str:
    """Return Markdown with each link that is outside of code replaced by what `change` makes of it."""

    def edit(piece: str) -> str:
        return _LINK.sub(lambda found: f"{found['head']}{change(found['target'])}{found['tail']}", piece)

    return _outside(_FENCE, text, lambda piece: _outside(_CODE, piece, edit))


def list_links(text: str) -> list[str]:
    """Return the targets of the links of a Markdown text, those in code left out."""
    found: list[str] = []

    def take(target: str) -> str:
        found.append(target)
        return target

    edit_links(text, take)
    return found


class LinkChange:
    """What a link of one page becomes on the site.

    `places` are the pages, sections and pictures that come from the repository, by their path there, and `known` all
    pages of the site. A link to a file that is not on the site leads to the repository.
    """

    def __init__(self, name: str, places: Mapping[str, str], known: frozenset[str]) -> None:
        self._name = name
        self._folder = posixpath.dirname(name)
        self._page = urldefrag(places.get(name, name)).url
        self._places = places
        self._urls = {page_url(page): page for page in known}
        self._urls |= {rule_url(place): place for place in places.values() if "#" in place}

    def __call__(self, target: str) -> str:
        """Return what the link becomes.

        Raises:
            LinkError: when it leads nowhere.
        """
        parts = urlsplit(target)
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        if target.startswith(HOME):
            page = self._urls.get(parts.path.removeprefix("/"))
            return self._relative(page, anchor) if page else target
        if parts.scheme or target.startswith("#") or not parts.path:
            return target
        wanted = posixpath.normpath(posixpath.join(self._folder, parts.path))
        if place := self._places.get(wanted):
            return self._relative(place, anchor)
        if not (ROOT / wanted).exists():
            raise LinkError(f"{self._name}: {target}: no such file in the repository")
        kind = "tree" if (ROOT / wanted).is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{wanted}{anchor}"

    def _relative(self, place: str, anchor: str) -> str:
        page, section = urldefrag(place)
        here = posixpath.relpath(page, posixpath.dirname(self._page) or ".")
        return f"{here}#{section}" if section else here + anchor


def _outside(pattern: re.Pattern[str], text: str, change: Callable[[str], str]) -> str:
    pieces, end = [], 0
    for found in pattern.finditer(text):
        pieces += [change(text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*pieces, change(text[end:])])

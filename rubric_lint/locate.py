"""Where rubrics are in a document, whether they are ours, and which version they follow."""

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from rubric_lint.catalogue import CURRENT, Claim, read_claim
from rubric_lint.document import Document
from rubric_lint.finding import Path
from rubric_lint.interop import find_views
from rubric_lint.near import find_near
from rubric_lint.schema import case_lists, schema_for
from rubric_lint.source import Source, Span

if TYPE_CHECKING:
    from rubric_lint.interop.view import View

FIELD = "rubrics"
"""The field whose value is a rubric."""

_MODELINE = re.compile(
    r"^[ \t]*#[ \t]*(?:yaml-language-server:[ \t]*)?\$schema[ \t]*[:=][ \t]*(?P<url>\S+)", re.MULTILINE
)
_TOP_LEVEL_KEY = r"""(?m)^(?:[ \t]*\{\s*)?["']?rubrics["']?[ \t]*:"""
_NESTED_KEY = r"""(?m)^[ \t-]*["']?rubrics["']?[ \t]*:"""
_TEMPLATE = r"""\{\{-?\s*[\w.$#/"'(]|\{%|<%"""


@cache
def _own_words() -> re.Pattern[str]:
    words = [name for name, when in schema_for().distinctive.items() if when == "always" and "_" in name]
    return re.compile(r"\b(?:" + "|".join(words) + r")\b")


def speaks_of_rubrics(source: Source) -> bool:
    """Whether text that cannot be parsed was meant for us.

    It names our schema, or has words that only we use, or, where it is no template, `rubrics` where a rubric file has
    it or in a suite. A `rubrics` somewhere else says nothing: other tools have it too.
    """
    text = source.text
    if any(read_claim(found["url"]) for found in _MODELINE.finditer(text)) or _own_words().search(text):
        return True
    if re.search(_TEMPLATE, text):
        return False
    return bool(re.search(_TOP_LEVEL_KEY, text) or (re.search(_NESTED_KEY, text) and _suite_words().search(text)))


@cache
def _suite_words() -> re.Pattern[str]:
    return re.compile(rf"""^[ \t-]*["']?(?:{"|".join(sorted(case_lists()))})["']?[ \t]*:""", re.MULTILINE)


def find_claim(document: Document) -> Claim | None:
    """What the document says of itself, in a modeline above its content or in a top-level `$schema`."""
    start, end = document.preamble
    head = document.source.text[start:end]
    if "$schema" in head:
        for found in _MODELINE.finditer(head):
            if claim := read_claim(found["url"]):
                return claim
    url = document.data.get("$schema") if isinstance(document.data, dict) else None
    return read_claim(url) if isinstance(url, str) else None


def find_claim_span(document: Document) -> Span | None:
    """Where that schema is named: its URL in the modeline, or the value of `$schema`."""
    start, end = document.preamble
    for found in _MODELINE.finditer(document.source.text, start, end):
        if read_claim(found["url"]):
            return Span(*found.span("url"))
    return document.span(("$schema",)) if find_claim(document) else None


class Location(NamedTuple):
    """A value that is a rubric: where it is, and the version that it follows; for a dialect, how it reads in that."""

    path: Path
    version: str
    view: "View | None" = None


def locate(document: Document, *, version: str | None = None, claimed: bool = False) -> list[Location]:
    """The rubrics of a document, in document order; those of dialects too, unless the file says that it is ours.

    `version` is what the settings say of the file; a schema that the file names goes before it. `claimed`: the file's
    name or the settings say that its rubrics are ours, so that shape need not tell.
    """
    claim = find_claim(document)
    if claim and not claim.is_known:
        return []  # what its fields mean is anybody's guess
    follows = claim.version if claim else version or CURRENT
    is_claimed = claimed or claim is not None
    found = [Location(path, follows) for path in _find(document.data, is_claimed=is_claimed)]
    views = [] if is_claimed else find_views(document)
    if not views:
        return found
    taken = {view.path for view in views}
    found = [location for location in found if location.path not in taken]
    found += [Location(view.path, CURRENT, view) for view in views]
    return sorted(found, key=lambda location: document.span(location.path).start)


def _find(root: Any, *, is_claimed: bool) -> list[Path]:
    found: list[Path] = []
    stack: list[tuple[Path, Any]] = [((), root)]
    seen: set[int] = set()
    while stack:
        path, value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if type(value) is dict:
            children = [(key, child) for key, child in value.items() if type(child) is dict or type(child) is list]
            if FIELD in value and (is_claimed or _is_ours(value[FIELD], path)):
                found.append((*path, FIELD))
                children = [(key, child) for key, child in children if key != FIELD]
            stack += [((*path, key), child) for key, child in reversed(children)]
        elif type(value) is list:
            stack += [
                ((*path, index), value[index])
                for index in range(len(value) - 1, -1, -1)
                if type(value[index]) is dict or type(value[index]) is list
            ]
    return found


def holds_rubrics(value: Any) -> bool:
    """Whether a piece of data holds rubrics of ours, by their shape."""
    return bool(_find(value, is_claimed=False))


def _is_ours(value: Any, owner: Path) -> bool:
    if type(value) is list:
        if len(owner) >= 2 and owner[-2] in case_lists() and any(type(entry) is str for entry in value):
            return True  # also where an item is no text: `- States: it` is a mapping only by accident
        return any(type(entry) is dict and _is_our_entry(entry) for entry in value)
    if type(value) is dict:  # a forgotten dash, or criteria by name: wrong, but unmistakably meant for us
        entries = [value, *(entry for entry in value.values() if type(entry) is dict)]
        return any(_has_distinctive_field(entry) for entry in entries)
    return False


def _is_our_entry(entry: Mapping[str, Any]) -> bool:
    return _has_distinctive_field(entry) or _is_first_version(entry)


def _has_distinctive_field(entry: Mapping[str, Any]) -> bool:
    for field, when in schema_for().distinctive.items():
        if field in entry and (when == "always" or _is_list_of_numbers(entry[field])):
            return True
    return False


def _is_list_of_numbers(value: Any) -> bool:
    return (
        type(value) is list
        and bool(value)
        and all(isinstance(item, int | float) and not isinstance(item, bool) for item in value)
    )


def _is_first_version(entry: Mapping[str, Any]) -> bool:
    if "description" not in entry or not entry.keys() & {"id", "weight", "required"}:
        return False
    ours = schema_for().entry_fields
    return all(field in ours or find_near(field, ours) for field in entry)

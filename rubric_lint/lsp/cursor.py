"""Find where in a rubric the user is typing, by reading the text with a field in place of the half-typed word."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from rubric_lint.dialects.search.locate import find_claim, locate
from rubric_lint.format.recognition import FIELD
from rubric_lint.format.schema import RubricSchema, case_lists, schema_for
from rubric_lint.format.schema_files import CURRENT
from rubric_lint.lint.rubric_tests import schema_of_tests
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source, Span

_BLOCK_KEY = re.compile(r"(?P<indent>[ ]*(?:-[ ]+)*)(?P<word>(?:[\w$][\w$.-]*)?)")
_FLOW_KEY = re.compile(r".*[{,][ \t]*(?P<word>(?:\w[\w.-]*)?)")
_REST_OF_KEY = re.compile(r"(?P<word>[\w$.-]*)(?P<colon>[ \t]*:(?=[\s]|\Z))?")
_SCALAR = re.compile(r"[^\s\"'\[\]{},]*")
_BEFORE_SCALAR = re.compile(rf"(?:.*[\s\"'\[\]{{}},])?(?P<word>{_SCALAR.pattern})")
_STAND_IN = "rubric-lint-cursor"


class Cursor(NamedTuple):
    """A place for a field: `word` is the part typed so far, `mapping` the other fields of its mapping.

    `schema` is that of the value in which the mapping is, a rubric or a file with rubric tests. `steps` leads from that
    value to the mapping, and is None at the top of a file with a rubric. `column` is where the key
    begins, `indent` where its line does. `has_value`: a colon follows. `is_flow`: the mapping is in braces.
    `siblings` are the items of the list that holds the mapping, `data` is the whole document.
    """

    word: Span
    schema: RubricSchema
    steps: Path | None
    mapping: dict[str, Any]
    siblings: list[Any]
    column: int
    indent: int
    has_value: bool
    is_flow: bool
    data: Any


class ValueCursor(NamedTuple):
    """A place for a scalar: `word` is what is there so far, `path` leads to it in the `document`."""

    word: Span
    document: Document
    path: Path


def find_cursor(source: Source, settings: FileSettings, offset: int) -> Cursor | None:
    """Return the cursor at an offset, or None if no field of a rubric can be there."""
    text = source.text
    start, end = source.line_span(source.position(offset).line)
    before = text[start:offset]
    found = _BLOCK_KEY.fullmatch(before) or _FLOW_KEY.fullmatch(before)
    rest = _REST_OF_KEY.match(text, offset, end)
    if found is None or rest is None:
        return None
    is_flow = "indent" not in found.re.groupindex
    has_value = rest["colon"] is not None
    if not (has_value or is_flow) and text[rest.end() : end].strip():
        return None
    word = Span(start + found.start("word"), rest.end("word"))
    stand_in = text[: word.start] + _STAND_IN + ("" if has_value else ": ") + text[word.end :]
    line_end = end + len(stand_in) - len(text)
    for attempt in (stand_in, stand_in[:line_end]):
        for document in read_documents(Source(source.name, attempt))[0]:
            path = next((path for path, _ in document.entries() if path[-1] == _STAND_IN), None)
            if path and (place := find_place(document, settings, path[:-1])):
                siblings = document.value(path[:-2])
                return Cursor(
                    word=word,
                    schema=place[0],
                    steps=place[1],
                    mapping={key: value for key, value in document.value(path[:-1]).items() if key != _STAND_IN},
                    siblings=siblings if isinstance(siblings, list) else [],
                    column=word.start - start,
                    indent=len(before) - len(before.lstrip(" ")),
                    has_value=has_value,
                    is_flow=is_flow,
                    data=document.data,
                )
    return None


def find_value(source: Source, offset: int) -> ValueCursor | None:
    """Return the cursor at an offset, or None if it is not in a scalar that is the value of a field or an item."""
    text = source.text
    start, end = source.line_span(source.position(offset).line)
    before, after = _BEFORE_SCALAR.fullmatch(text, start, offset), _SCALAR.match(text, offset, end)
    if before is None or after is None:
        return None
    word = Span(before.start("word"), after.end())
    stand_in = text[: word.start] + _STAND_IN + text[word.end :]
    inside = word.start + 1
    for attempt in (stand_in, stand_in[: end + len(stand_in) - len(text)]):
        for document in read_documents(Source(source.name, attempt))[0]:
            around = (path for path, span in document.entries() if span[0] <= inside <= span[1])
            if path := next((path for path in around if document.value(path) == _STAND_IN), None):
                return ValueCursor(word, document, path)
    return None


def find_place(document: Document, settings: FileSettings, path: Path) -> tuple[RubricSchema, Path | None] | None:
    """Return the schema and the steps from the value that it describes to the mapping at `path`; None outside such."""
    if settings.is_test_file:
        return schema_of_tests(), path
    claim = find_claim(document)
    if claim and not claim.is_known:
        return None
    schema = schema_for(claim.version if claim else settings.version or CURRENT)
    located = locate(document, version=settings.version, claimed=settings.claimed)
    if not path:
        is_ours = settings.is_rubric_file or bool(claim and claim.name == "rubric")
        return (schema, None) if is_ours else None
    for at in _find_owners(path):
        owner = path[:at]
        if any(place.path == owner for place in located) or _may_be_ours(document, owner, path, bool(located)):
            return schema, path[at:]
    return None


def _find_owners(path: Path) -> Iterator[int]:
    """Yield the lengths of the path prefixes at which a `rubrics` list may begin, the innermost first."""
    for at in range(len(path) - 1, 0, -1):
        if path[at - 1] == FIELD and isinstance(path[at], int):
            yield at


def _may_be_ours(document: Document, owner: Path, path: Path, has_others: bool) -> bool:
    """Return whether a still empty list will be a rubric: it is where a rubric belongs, with no unknown content."""
    is_expected = len(owner) == 1 or has_others or (len(owner) > 2 and owner[-3] in case_lists())
    entries = document.value(owner)
    fields = schema_for().entry_fields
    at = path[len(owner)]
    typed = entries[at] if isinstance(at, int) and at < len(entries) else {}
    others = [entry for entry in entries if entry is not typed]
    is_plain = all(isinstance(entry, str) or entry is None for entry in others)
    return is_expected and is_plain and all(key in fields or key == _STAND_IN for key in typed)

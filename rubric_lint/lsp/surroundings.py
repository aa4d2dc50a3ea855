"""Leave out of a suite what its cases cannot depend on: comments, blank lines and most strings around them."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from rubric_lint.lint.edits.insertion import new_line
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.source import Span

_DEPTH = 2
"""How deep the strings are that are left out. Below, lists of assertions have their fields, which say what they are."""

_SCHEMA = "$schema"
_STRING = '"x"'

_COMMENT = re.compile(r"(?<!\S)#[^\r\n]*")


def leave_out(document: Document, key: str, place: Span) -> tuple[str, str]:
    """Return the text above and below the cases of a suite with less in it, on which their findings depend as much.

    `document` is an excerpt of the suite with a case at `place`, and `key` has the list of cases. Rules and dialects
    look around the cases for fields, for types of values, and for words of the text, which `Source.around` has. They
    read strings only in rubrics, and a suite with a rubric outside its cases is linted as a whole.
    """
    strings = [document.span(path) for path in _list_strings(document.data, key)]
    spans = dict(sorted([*((span, False) for span in document.tree.scalars), *((span, True) for span in strings)]))
    around = Span(0, place.start), Span(place.end, len(document.source.text))
    head, tail = (_shorten(document, part, spans) for part in around)
    return head, tail


def _list_strings(data: Any, key: str) -> Iterator[Path]:
    """Yield the paths of the strings outside the list of cases that may be any other."""
    stack: list[tuple[Path, Any]] = [((), data)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, str) and value.strip():
            yield path
        elif isinstance(value, dict | list) and len(path) < _DEPTH:
            items = value.items() if isinstance(value, dict) else enumerate(value)
            stack += (((*path, step), child) for step, child in items if path or step not in (key, _SCHEMA))


def _shorten(document: Document, part: Span, spans: dict[Span, bool]) -> str:
    """Return a part of the text with other strings and no comments. `spans` are scalars; those marked are left out."""
    text, line_end = document.source.text, new_line(document)
    pieces, at = list[str](), part.start
    for (start, end), is_left_out in chain(spans.items(), [(Span(part.end, part.end), False)]):
        if at <= start and end <= part.end:
            pieces += [_squeeze(text[at:start], line_end), _STRING if is_left_out else text[start:end]]
            at = end
    return "".join(pieces).lstrip("\r\n")


def _squeeze(gap: str, line_end: str) -> str:
    """Return the text between two scalars without blank lines, and without comments that name no schema."""
    lines = [line if _SCHEMA in line else _COMMENT.sub("", line) for line in gap.replace("\r\n", "\n").split("\n")]
    if len(lines) == 1:
        return lines[0]
    return line_end.join([lines[0].rstrip(), *(line for line in lines[1:-1] if line.strip()), lines[-1]])

"""Nest a field: its value becomes a field of a mapping in a list, and keeps its lines and comments."""

import re
from collections.abc import Iterator

from rubric_lint.finding import Edit
from rubric_lint.lint.edits.insertion import new_line, with_properties
from rubric_lint.lint.edits.removal import ObstacleError, line_end, line_start
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Span

_STEP = 2
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_BEFORE_KEY = re.compile(r"[ \t]*(?:-[ \t]+)*")


def nest_field(document: Document, path: Path, name: str, before: tuple[str, str], inner: str) -> list[Edit]:
    """Return the edits that replace the key at `path` by `name: [{before, inner: value}]`.

    Raises:
        ObstacleError: if the notation of the key or the value does not allow it.
    """
    text = document.source.text
    key = document.span(path, Part.KEY)
    written = text[slice(*key)]
    if written.startswith("*") or "\n" in written:
        raise ObstacleError(f"its key is written as `{written.splitlines()[0]}`; write it as a plain word")
    if document.is_flow(path):
        return _nest_in_flow(document, path, key, (name, before, inner))
    line = line_start(text, key.start)
    if not _BEFORE_KEY.fullmatch(text[line : key.start]) or "\t" in text[line : key.start]:
        raise ObstacleError("its key has an anchor, a tag or a tab before it; put it on a line of its own")
    column = key.start - line
    indent = new_line(document) + " " * column
    opening = Edit(key, f"{name}:{indent}- {before[0]}: {before[1]}{indent}  {inner}")
    return [opening, *_indent(document, path, key, column)]


def _nest_in_flow(document: Document, path: Path, key: Span, fields: tuple[str, tuple[str, str], str]) -> list[Edit]:
    text, (name, before, inner) = document.source.text, fields
    quote = text[key.start] if text[key.start] in "\"'" else ""
    start = with_properties(text, document.span(path, Part.ENTRY).start)
    end = document.extent(path).end
    kind = f"{quote}{before[0]}{quote}: {quote}{before[1]}{quote}"
    return [
        Edit(key, f"{quote}{name}{quote}"),
        Edit(Span(start, start), f"[{{{kind}, {quote}{inner}{quote}: "),
        Edit(Span(end, end), "}]"),
    ]


def _indent(document: Document, path: Path, key: Span, column: int) -> Iterator[Edit]:
    """Yield the edits that indent the lines of the value below the new key."""
    text = document.source.text
    start, end = document.span(path, Part.ENTRY)
    head = line_end(text, key.end)
    shift = max(0, column + _STEP - (start - line_start(text, start))) if start >= head.end else _STEP
    if document.is_alias(path) or not shift:
        return
    at = head.end
    while at < end:
        line = _LINE.match(text, at)
        stop = line.end() if line else end
        if text[at:stop].strip():
            if text[at] == "\t":
                raise ObstacleError("a line of its value begins with a tab")
            yield Edit(Span(at, at), " " * shift)
        at = max(stop, at + 1)

"""Insert a field above another, put a scalar into a list or take it out, and escape a string for Nunjucks."""

import json
import re

from rubric_lint.finding import Edit, EscapeText
from rubric_lint.lint.edits.insertion import new_line
from rubric_lint.lint.edits.removal import ObstacleError, line_start, whole_field
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import escape, find_marks, replace_mark
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Span

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*\Z")
_COLON = re.compile(r"\s*:")


def insert_field(document: Document, path: Path, name: str, value: str) -> list[Edit]:
    """Return the edit that adds a field with a JSON value above the one at `path`, and above the comments there.

    The first field keeps the comments above it, which may be about the whole file.
    """
    text, span = document.source.text, whole_field(document, path)
    quote = text[document.span(path, Part.KEY).start]
    quote = quote if quote in "\"'" else ""
    if document.is_flow(path):
        return [Edit(Span(span.start, span.start), f"{quote}{name}{quote}: {value}, ")]
    line = line_start(text, span.start)
    if text[line : span.start].strip():  # after a dash
        indent = " " * (span.start - line)
        return [Edit(Span(span.start, span.start), f"{quote}{name}{quote}: {value}{new_line(document)}{indent}")]
    at, first = line, min(whole_field(document, (*path[:-1], key)).start for key in document.value(path[:-1]))
    while first < span.start and at and text[(above := line_start(text, at - 1)) : at].lstrip(" ").startswith("#"):
        at = above
    return [Edit(Span(at, at), f"{text[line : span.start]}{quote}{name}{quote}: {value}{new_line(document)}")]


def wrap_value(document: Document, path: Path) -> list[Edit]:
    """Return the edits that put brackets around the scalar at `path`.

    Raises:
        ObstacleError: if it is not a plain word or a quoted string on one line.
    """
    start, end = document.span(path)
    written = document.source.text[start:end]
    if document.is_shared(path) or not (_PLAIN.match(written) or (written[0] in "\"'" and "\n" not in written)):
        raise ObstacleError("its value is not a plain word; write it as a list")
    return [Edit(Span(start, start), "["), Edit(Span(end, end), "]")]


def unwrap_value(document: Document, path: Path) -> list[Edit]:
    """Return the edits that leave only the item of the list at `path`.

    Raises:
        ObstacleError: if there are comments or anchors in the list, or the item has several lines.
    """
    text, code = document.source.text, document.tree.code
    key, item = document.span(path, Part.KEY), document.span((*path, 0))
    colon, end = _COLON.match(code, key.end), document.extent(path).end
    is_same = text[key.end : end] == code[key.end : end]
    if (
        colon is None
        or not is_same
        or document.is_shared(path)
        or document.is_shared((*path, 0))
        or "\n" in text[slice(*item)]
    ):
        raise ObstacleError("its list has a comment, an anchor or a long item; write the item alone")
    edits = [Edit(Span(colon.end(), item.start), " ")]
    return [*edits, Edit(Span(item.end, end), "")] if text[item.end : end].strip() else edits


def escape_text(document: Document, intent: EscapeText) -> list[Edit]:
    """Return the edits that escape the marks of Nunjucks templates in a string, but for its escapes.

    Raises:
        ObstacleError: if the marks are not written as themselves, or an alias or anchor shares the string.
    """
    path, has_escapes, kind = intent
    text, value = document.source.text, document.value(path)
    start, end = document.span(path)
    marks = find_marks(text[start:end], has_escapes=has_escapes, marks=kind)
    meant = find_marks(value, has_escapes=has_escapes, marks=kind)
    if document.is_shared(path) or [mark for _, mark in marks] != [mark for _, mark in meant]:
        raise ObstacleError("its template marks are written by escapes or shared by an anchor; write them out")
    if marks and text[start] == "$" and marks[0][0] == 0:  # a plain scalar cannot begin with a brace
        written = escape(value, has_escapes=has_escapes, marks=kind)
        return [Edit(Span(start, end), json.dumps(written, ensure_ascii=False))]
    is_double = text[start] == '"'
    edits = []
    for at, mark in marks:
        new = replace_mark(mark)
        new = new.replace('"', '\\"') if is_double else new
        edits.append(Edit(Span(start + at, start + at + len(mark)), new))
    return edits

"""Insert a field into a text, in the style of the fields that are there."""

import re

from rubric_lint.finding import Edit
from rubric_lint.lint.edits.order import find_last_line
from rubric_lint.lint.edits.removal import ObstacleError, line_end, line_start, whole_field
from rubric_lint.lint.edits.sharing import Sharing
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.scalar import read_scalar
from rubric_lint.text.source import Span

_SEPARATOR = re.compile(r"\s*,\s*")
_BLOCK_TEXT = re.compile(r":[ \t]+(?:[&!]\S*[ \t]+)*[|>][-+0-9]*[ \t]*(?:#.*)?$")


def add_field(sharing: Sharing, path: Path, name: str, scalar: str) -> Edit:
    """Return the edit that adds a field to the mapping at `path`: as the last field or, if that is unsafe, the first.

    Raises:
        ObstacleError: if the mapping has no field of its own to copy the style from.
    """
    document, text = sharing.document, sharing.document.source.text
    mapping = document.value(path)
    own = [(*path, key) for key in mapping if not document.is_merged((*path, key))]
    if not own:
        reason = "all its fields come from merge keys" if mapping else "it is empty"
        raise ObstacleError(f"{reason}; write `{name}` by hand")
    fields = sorted((whole_field(document, field), field) for field in own)
    span, last = fields[-1]
    quote = text[document.span(last, Part.KEY).start]
    key = f"{quote}{name}{quote}" if quote in "\"'" else name
    if isinstance(read_scalar(scalar), str):
        scalar = _quote(document, scalar)
    if document.is_flow(last):
        between = text[fields[-2][0].end : span.start] if len(fields) > 1 else ""
        separator = between if _SEPARATOR.fullmatch(between) else ", "
        return Edit(Span(span.end, span.end), f"{separator}{key}: {scalar}")
    simple = [(field, at) for field, at in fields if not _BLOCK_TEXT.search(_first_line(text, field))]
    if simple:
        above, place = simple[-1]
        end = find_last_line(document, place, above.end).start
        return Edit(Span(end, end), f"{new_line(document)}{_indent(text, span)}{key}: {scalar}")
    first = fields[0][0]
    return Edit(Span(first.start, first.start), f"{key}: {scalar}{new_line(document)}{_indent(text, first)}")


def wrap_text(
    document: Document, path: Path, name: str, before: tuple[str, str], after: tuple[str, str] | None
) -> list[Edit]:
    """Return the edits that turn a string in a list into a mapping: field `name`, one before and perhaps one after it.

    Raises:
        ObstacleError: if the string would need a new indentation.
    """
    text = document.source.text
    value, end = document.span(path, Part.ENTRY)
    start = with_properties(text, value)
    if document.is_flow(path):
        first = _quote(document, before[1]) if isinstance(read_scalar(before[1]), str) else before[1]
        more = f", {_quote(document, after[0])}: {after[1]}" if after else ""
        return [
            Edit(Span(start, start), f"{{{_quote(document, before[0])}: {first}, {_quote(document, name)}: "),
            Edit(Span(end, end), f"{more}}}"),
        ]
    if "\n" in text[start:end] or "\r" in text[start:end] or text[value] in "|>":
        fields = f"`{before[0]}`" + (f" and `{after[0]}`" if after else "")
        raise ObstacleError(f"the text has several lines; write it as a mapping with {fields}")
    line = new_line(document) + _indent(text, Span(start, end))
    stop = line_end(text, end).start
    return [
        Edit(Span(start, start), f"{before[0]}: {before[1]}{line}{name}: "),
        *([Edit(Span(stop, stop), f"{line}{after[0]}: {after[1]}")] if after else []),
    ]


def _quote(document: Document, text: str) -> str:
    """Put a string in quotes if the file is JSON."""
    return f'"{text}"' if document.kind.is_json else text


NEARBY = 200
"""The number of characters before a key or value to search for its anchor and tag; a file may be one long line."""

_PROPERTIES = re.compile(r"(?:(?<=[\s\[,])[&!][^\s,\[\]{}]*[ \t]+)+$")


def with_properties(text: str, start: int) -> int:
    """Return where a value begins, including the anchor and tag before it."""
    found = _PROPERTIES.search(text, max(start - NEARBY, 0), start)
    return found.start() if found else start


def _first_line(text: str, field: Span) -> str:
    return text[field.start : min(line_end(text, field.start).start, field.end)]


def new_line(document: Document) -> str:
    """Return the first line end of the text."""
    text = document.source.text
    return text[slice(*line_end(text, 0))] or "\n"


def _indent(text: str, field: Span) -> str:
    """Return the spaces that indent a new line like a field of the same mapping."""
    return " " * (field.start - line_start(text, field.start))

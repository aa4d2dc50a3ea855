"""Insert copies of a list item, with other scalars, in the style of that item."""

import re
from collections.abc import Sequence

from rubric_lint.finding import Edit
from rubric_lint.lint.edits.insertion import new_line
from rubric_lint.lint.edits.order import find_last_line
from rubric_lint.lint.edits.removal import ObstacleError, line_start
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.scalar import read_scalar
from rubric_lint.text.source import Span

_ANCHOR = re.compile(r"(?:^|[\s\[{,:])&[^\s,\[\]{}]", re.MULTILINE)
_PROPERTIES = re.compile(r"[&!]\S*[ \t]*")
_COMMA = re.compile(r"\s*,\s*")
_LINE = re.compile(r"[^\r\n]+")


def insert_items(
    document: Document, path: Path, copies: Sequence[tuple[tuple[Path, str], ...]], *, before: bool
) -> Edit:
    """Return the edit that puts copies of the list item at `path` after it, or before it.

    Raises:
        ObstacleError: if the item is written in a way that cannot be copied.
    """
    item = document.span(path)
    texts = [_copy(document, path, changes) for changes in copies]
    if document.is_flow(path):
        return put_in_flow(document, path, texts, before=before)
    text, code = document.source.text, document.tree.code
    dash = code.rfind("-", 0, item.start)
    between = _PROPERTIES.sub("", code[dash + 1 : item.start])
    if dash < 0 or between.strip():
        raise ObstacleError("its list is written in an unusual way; add it by hand")
    indent = " " * (dash - line_start(text, dash))
    between = between if between.strip(" ") else between or " "
    written = [f"-{between}{each}" for each in texts]
    if before:
        return Edit(Span(dash, dash), "".join(f"{each}{new_line(document)}{indent}" for each in written))
    end = find_last_line(document, path, item.start + len(text[slice(*item)].rstrip())).start
    return Edit(Span(end, end), "".join(f"{new_line(document)}{indent}{each}" for each in written))


def _copy(document: Document, path: Path, changes: tuple[tuple[Path, str], ...]) -> str:
    """Return the text of the item with other scalars, without its comments."""
    text, code, item = document.source.text, document.tree.code, document.span(path)
    if document.is_alias(path):
        raise ObstacleError("it is written as an alias; write it out")
    new = {document.span((*path, *place)): written for place, written in changes}
    pieces, at = [], item.start
    for span in sorted(new):
        if not (at <= span.start < span.end <= item.end):
            raise ObstacleError("a part of it is written elsewhere; write it out")
        pieces += [code[at : span.start], _quote(text[span.start], new[span], is_json=document.kind.is_json)]
        at = span.end
    pieces.append(code[at : item.end])
    if _ANCHOR.search("".join(pieces[::2])):
        raise ObstacleError("it holds an anchor, which cannot be copied")
    return _strip_lines("".join(pieces)).rstrip()


def _strip_breaks(separator: str) -> str:
    """Remove the blanks before the line ends of a separator, but not those at its end."""
    *lines, last = separator.splitlines(keepends=True) or [""]
    kept = [line.rstrip(" \t\r\n") + line[len(line.rstrip("\r\n")) :] for line in lines]
    return "".join([*kept, last])


def _strip_lines(text: str) -> str:
    """Remove the blanks at the ends of lines, where comments were."""
    return _LINE.sub(lambda line: line[0].rstrip(" \t"), text)


def _quote(start: str, written: str, *, is_json: bool) -> str:
    """Return a scalar in the quotes of the one that it takes the place of."""
    if not isinstance(read_scalar(written), str):
        return written
    quote = start if start in "\"'" else '"' if is_json else ""
    return f"{quote}{written}{quote}"


def put_in_flow(document: Document, path: Path, texts: list[str], *, before: bool) -> Edit:
    """Return the edit that puts texts between brackets beside the item at `path`, with the separator that is there."""
    text, code = document.source.text, document.tree.code
    index, items = int(path[-1]), len(document.value(path[:-1]))
    spans = {at: document.extent((*path[:-1], at)) for at in (index - 1, index, index + 1) if 0 <= at < items}
    own = spans[index]
    separator = ""
    for one, other in ((index, index + 1), (index - 1, index)):
        if not separator and one in spans and other in spans:
            between = code[spans[one].end : spans[other].start]
            separator = _strip_breaks(between) if _COMMA.fullmatch(between) else ""
    if not separator:
        start = line_start(text, own.start)
        lead = text[start : own.start]
        separator = f",{new_line(document)}{lead}" if start and not lead.strip() else ", "
    if before or index + 1 in spans:
        at = own.start if before else spans[index + 1].start
        return Edit(Span(at, at), "".join(f"{each}{separator}" for each in texts))
    return Edit(Span(own.end, own.end), "".join(f"{separator}{each}" for each in texts))

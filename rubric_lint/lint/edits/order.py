"""Reorder the items of a list or the fields of a mapping, each in the place of another."""

import re
from collections.abc import Sequence
from itertools import pairwise

from ruamel.yaml.nodes import ScalarNode

from rubric_lint.finding import Edit
from rubric_lint.lint.edits.removal import ObstacleError, line_end, line_start, whole_field
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.source import Span
from rubric_lint.text.tree import BLOCK_STYLES, AliasNode, walk_nodes

_NEW_LINE = re.compile(r"[\r\n]")
_BLANK_LINE = re.compile(r"[ \t]*[\r\n]")


def reorder(document: Document, path: Path, steps: Sequence[str | int]) -> list[Edit]:
    """Return the edits that put the children of the collection at `path` in the order of `steps`.

    Comments move with their child: those on its lines, and those directly above it in its column.

    Raises:
        ObstacleError: if there are anchors or tags between the children, an alias would precede its anchor, or it is
            unclear which child a comment is about.
    """
    text, code = document.source.text, document.tree.code
    value = document.value(path)
    old = list(value) if isinstance(value, dict) else list(range(len(value)))
    moved = _find_moved(old, steps)
    if not moved:
        return []
    first, last = moved[0], moved[-1] + 1
    spans = [_whole(document, (*path, step)) for step in old]
    if any(before.end > after.start for before, after in pairwise(spans)):
        raise ObstacleError("some of them are written elsewhere; sort them by hand")
    _check_anchors(document, path, old, steps)
    if document.is_flow((*path, old[0])):
        if text[spans[first].start : spans[last - 1].end] != code[spans[first].start : spans[last - 1].end]:
            raise ObstacleError("there are comments between them; sort them by hand")
        spans = spans[first:last]
        if _has_comment_beside(document, spans):
            raise ObstacleError("it is unclear which of them a comment is about; sort them by hand")
        columns = {span.start - line_start(text, span.start) for span in spans if "\n" in text[slice(*span)]}
        if len(columns) > 1:
            raise ObstacleError("they are indented differently; sort them by hand")
    else:
        is_list = isinstance(value, list)
        spans = _with_comments(document, spans, first, last, is_list=is_list)
        for step in old[first:last]:
            _check_end(document, (*path, step), spans)
    pieces = {step: text[slice(*span)] for step, span in zip(old[first:last], spans, strict=True)}
    edits = [
        Edit(span, pieces[step])
        for span, step in zip(spans, steps[first:last], strict=True)
        if text[slice(*span)] != pieces[step]
    ]
    for span, new in edits:
        if new.startswith("#") and text[line_start(text, span.start) : span.start].strip():
            raise ObstacleError("a comment would come between a dash and its first key; sort them by hand")
    return edits


def _find_moved(old: Sequence[str | int], steps: Sequence[str | int]) -> list[int]:
    if len(old) != len(steps):
        raise ObstacleError("there is something else among them; sort them by hand")
    return [at for at, (one, other) in enumerate(zip(old, steps, strict=True)) if one != other]


def _has_comment_beside(document: Document, spans: Sequence[Span]) -> bool:
    """Return whether a comment between brackets may be about the first or the last of some children only.

    That is one above the first, one on the line of the last, and one between the last of all and its bracket.
    """
    text, code = document.source.text, document.tree.code
    start, end = spans[0].start, spans[-1].end
    if not _NEW_LINE.search(text, start, end):
        return False
    above = line_end(text, len(code[:start].rstrip())).end
    following = end + len(code[end:]) - len(code[end:].lstrip(", \t\r\n"))
    below = following if code[following] in "]}" else min(line_end(text, end).start, following)
    return text[above:start] != code[above:start] or text[end:below] != code[end:below]


def _with_comments(document: Document, spans: Sequence[Span], first: int, last: int, *, is_list: bool) -> list[Span]:
    """Return the text of some children of a block: with the comments directly above, and on the same line.

    The blanks before the first line and the last line end are not part of it. With `is_list`, the dash is.
    """
    text, code = document.source.text, document.tree.code
    found: list[Span] = []
    for at in range(first, last):
        line = line_start(text, spans[at].start)
        before = code[line : spans[at].start]
        if before.strip(" -"):
            raise ObstacleError("they do not start their own lines; sort them by hand")
        own = line + (len(before) - len(before.lstrip(" ")) if is_list else len(before))
        limit = line_end(text, spans[at - 1].end).start if at else 0
        start, is_clear = find_comments(document, own, limit, has_line=is_list or not before.strip())
        if at == 0 and start != own:
            raise ObstacleError("the comment above the first one may be about all of them; sort them by hand")
        if not is_clear and at:
            raise ObstacleError("it is unclear which of them a comment is about; sort them by hand")
        content = spans[at].start + len(text[slice(*spans[at])].rstrip())
        found.append(Span(start, line_end(text, content).start))
    if last == len(spans) and has_comment_below(document, found[-1].end, _column(text, found[-1])):
        raise ObstacleError("it is unclear whether the comment below them is about the last one; sort them by hand")
    return found


def _check_end(document: Document, path: Path, spans: Sequence[Span]) -> None:
    """Raise an error if a child ends in a block scalar whose text depends on which of `spans` is its place."""
    text = document.source.text
    if not (header := find_block_header(document, path)):
        return
    if "+" in header and any(has_blank_line_below(text, span.end) for span in spans):
        raise ObstacleError("the blank lines below one of them may be part of its text; sort them by hand")
    if "-" not in header and spans[-1].end == len(text):
        raise ObstacleError("the file ends without a line end; add one")


def find_block_header(document: Document, path: Path) -> str:
    """Return the first line of the block scalar that a child ends in, without its comment; empty if it ends in none."""
    text, child = document.source.text, document.child(path)
    *_, last = walk_nodes(child.site or child.node)
    if type(last) is not ScalarNode or last.style not in BLOCK_STYLES:
        return ""
    return text[last.start_mark.index : line_end(text, last.start_mark.index).start].split("#")[0]


def find_last_line(document: Document, path: Path, at: int) -> Span:
    """Return the end of the last line of a child whose content ends at an offset; a text block may keep blank lines."""
    text = document.source.text
    end = line_end(text, at)
    if "+" in find_block_header(document, path):
        while has_blank_line_below(text, end.start):
            end = line_end(text, end.end)
    return end


def has_blank_line_below(text: str, at: int) -> bool:
    """Return whether the line below that of an offset is blank."""
    return _BLANK_LINE.match(text, line_end(text, at).end) is not None


def find_comments(document: Document, start: int, limit: int, *, has_line: bool) -> tuple[int, bool]:
    """Return where the comments directly above a line in its column begin, and whether no others are above.

    `start` is where the line begins after its blanks, `limit` where the line of the child before it ends.
    """
    text = document.source.text
    column = start - line_start(text, start)
    line = line_start(text, start)
    while has_line and (above := _line_above(text, line)) > limit and is_comment(document, above):
        begin = above + len(text[above:line]) - len(text[above:line].lstrip(" "))
        if begin - above != column:
            return start, False
        start, line = begin, above
    return start, "#" not in text[limit:line] or text[limit:line] == document.tree.code[limit:line]


def has_comment_below(document: Document, at: int, column: int) -> bool:
    """Return whether a comment below the last child may be about it: one that is no further left, if nothing else is.

    A comment is about what follows it if that starts in its column.
    """
    text, code = document.source.text, document.tree.code
    following = at + len(code[at:]) - len(code[at:].lstrip())
    margin = following - line_start(text, following) if following < len(text) else -1
    comments = text[line_end(text, at).end : line_start(text, following) if margin >= 0 else following]
    columns = [len(line) - len(line.lstrip()) for line in comments.splitlines() if line.lstrip().startswith("#")]
    return any(own >= column and own != margin for own in columns)


def _column(text: str, span: Span) -> int:
    return span.start - line_start(text, span.start)


def _line_above(text: str, start: int) -> int:
    """Return the start of the line above the one that starts at an offset; 0 if there is none."""
    end = start - 2 if text[start - 2 : start] == "\r\n" else start - 1
    return line_start(text, max(end, 0))


def is_comment(document: Document, start: int) -> bool:
    """Return whether there is a comment and nothing else on the line that starts at an offset."""
    end = line_end(document.source.text, start).start
    return bool(document.source.text[start:end].strip()) and not document.tree.code[start:end].strip()


def _whole(document: Document, path: Path) -> Span:
    """Return the span of an item, or of a field with its key and the properties of the key."""
    if isinstance(path[-1], str):
        return whole_field(document, path)
    if document.is_shared(path):
        raise ObstacleError("one of them is an alias; sort them by hand")
    return document.span(path)


def _check_anchors(document: Document, path: Path, old: Sequence[str | int], steps: Sequence[str | int]) -> None:
    """Raise an error if an alias in one child would come before its anchor in another."""
    if not document.has_aliases:
        return
    place = {step: at for at, step in enumerate(steps)}
    homes: dict[int, str | int] = {}
    for step in old:
        child = document.child((*path, step))
        homes.update((id(node), step) for node in walk_nodes(child.site or child.node))
    for step in old:
        child = document.child((*path, step))
        for node in walk_nodes(child.site or child.node):
            if type(node) is AliasNode and (home := homes.get(id(node.target), step)) != step:
                name = document.source.text[node.start_mark.index : node.end_mark.index]
                if place[home] > place[step]:
                    raise ObstacleError(f"`{name}` would come before its anchor; sort them by hand")

"""Move items of a list into a copy of what holds the list, and leave every other byte as it is."""

import re
from collections.abc import Sequence
from itertools import count, pairwise

from rubric_lint.edits.items import put_in_flow, quote_like
from rubric_lint.edits.lines import (
    ObstacleError,
    find_block_header,
    find_comments,
    find_deeper_comments,
    find_last_line,
    has_blank_line_below,
    has_comment_below,
    line_start,
    new_line,
    without_comments,
)
from rubric_lint.edits.sharing import Sharing
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.scalar import write_numbered
from rubric_lint.text.source import Edit, Kind, Span
from rubric_lint.text.tree import AliasNode

Changes = tuple[tuple[Path, str], ...]
"""The other scalars of a copy: their paths in it, and what is written there."""

LABELS = ("id", "name", "metric")
"""The fields of a list item that name it; a copy gets others, which no sibling has."""

_ANCHOR = re.compile(r"(?:!\S*\s+)?&([^\s,\[\]{}]+)")


def complete_move(sharing: Sharing, path: Path, steps: Sequence[int], holder: Path) -> tuple[Changes, int]:
    """Return the other scalars that the copy of the holder needs, and the number of a new document.

    Raises:
        ObstacleError: if the holder cannot be copied.
    """
    document = sharing.document
    fields = document.value(holder)
    if not holder:
        if document.kind is not Kind.YAML:
            raise ObstacleError("only YAML holds several documents; move the criteria to a file of their own")
        if beside := [key for key, value in fields.items() if key != path[0] and isinstance(value, dict | list)]:
            raise ObstacleError(f"the file has `{beside[0]}` too; move the criteria to a file of their own")
        sharing.check_apart(path, steps)
    elif any(other != path and other[: len(holder)] == holder for other in sharing.rubrics):
        raise ObstacleError("there is another rubric beside it; move the criteria by hand")
    _check_anchors(document, path, steps, holder)
    siblings = [item for item in document.value(holder[:-1]) if isinstance(item, dict)] if holder else [fields]
    changes = []
    for label in LABELS:
        if isinstance(name := fields.get(label), str):
            taken = {item.get(label) for item in siblings}
            number = next(number for number in count(2) if f"{name}-{number}" not in taken)
            changes.append(((label,), write_numbered(name, number)))
    return tuple(changes), 0 if holder else len(document.tree.roots)


def _check_anchors(document: Document, path: Path, steps: Sequence[int], holder: Path) -> None:
    """Refuse anchors in what is moved or copied, and aliases in what moves to another document."""
    text, items = document.source.text, document.child(path).node.value
    kept = {id(item) for index, item in enumerate(items) if index not in steps}
    pending = [document.child(holder).node]
    while pending:
        node = pending.pop()
        if id(node) in kept:
            continue
        line = document.source.position(node.start_mark.index).line
        if type(node) is AliasNode:
            if not holder:
                raise ObstacleError(
                    f"line {line} uses an alias, which no other document can; write out what it stands for"
                )
        elif found := _ANCHOR.match(text, node.start_mark.index):
            raise ObstacleError(f"line {line} has the anchor `&{found[1]}`, which cannot be moved; write it out")
        else:
            value = getattr(node, "value", None)
            for each in value if isinstance(value, list) else ():
                pending += each if isinstance(each, tuple) else [each]


def move_items(
    document: Document, path: Path, steps: Sequence[int], holder: Path, changes: Changes, _number: int
) -> list[Edit]:
    """Return the edits that move items of a list into a copy of what holds the list.

    Comments move with their item: those on its lines, and those directly above it. The copy has no comments of the
    holder.

    Raises:
        ObstacleError: if the list is written in an unusual way, or it is unclear which item a comment is about.
    """
    spans = _find_items(document, path, steps)
    whole = Span(spans[0].start, spans[-1].end)
    text, code = document.source.text, document.tree.code
    for index, (before, after) in enumerate(pairwise(spans)):
        between = slice(before.end, after.start)
        if text[between] != code[between] and {index, index + 1} & {*steps}:
            raise ObstacleError("it is unclear which criterion a comment is about; move them by hand")
    kept = [index for index in range(len(spans)) if index not in steps]
    blocks = _find_text_blocks(document, path, steps, holder, spans)
    replaced = {whole: _join(document, spans, steps, blocks)}
    for place, written in changes:
        span = document.span((*holder, *place))
        replaced[span] = quote_like(text[span.start], written, is_json=document.kind.is_json)
    cut = Edit(whole, _join(document, spans, kept, blocks))
    if not holder:
        start, end = document.span(())
        line = line_start(text, start)
        end = max(end, *(span.end for span in replaced))
        copy = _copy(document, Span(start if text[line:start].strip() else line, end), replaced)
        line_break = new_line(document)
        pieces = ("---", line_break, copy, line_break) if text[-1:] in "\r\n" else (line_break, "---", line_break, copy)
        return [cut, Edit(Span(len(text), len(text)), "".join(pieces))]
    if document.is_flow(holder):
        copy = _copy(document, document.extent(holder), replaced)
        return [cut, put_in_flow(document, holder, [copy], before=False)]
    return [cut, _insert_in_block(document, holder, replaced)]


def _join(document: Document, spans: Sequence[Span], steps: Sequence[int], blocks: frozenset[int]) -> str:
    """Return some items, each but the first with what separates it from the item above it.

    Below `blocks`, that is a line end only, because blank lines would be part of them.
    """
    text = document.source.text
    pieces = [text[slice(*spans[steps[0]])]]
    for above, step in pairwise(steps):
        between = text[spans[step - 1].end : spans[step].start]
        pieces += [new_line(document) if above in blocks else between, text[slice(*spans[step])]]
    return "".join(pieces)


def _find_text_blocks(
    document: Document, path: Path, steps: Sequence[int], holder: Path, spans: Sequence[Span]
) -> frozenset[int]:
    """Return the items that end in a text block with all blank lines; raise ObstacleError if its text would change."""
    text = document.source.text
    headers = [find_block_header(document, (*path, index)) for index in range(len(spans))]
    if not any(headers):
        return frozenset()
    end = max(spans[-1].end, _find_lines(document, holder).end if holder else 0)
    is_last = end == len(text) or not (holder or text.endswith(("\n", "\r")))
    if is_last and any(header and "-" not in header for header in headers):
        raise ObstacleError("the file ends without a line end; add one")
    found = frozenset(index for index, header in enumerate(headers) if "+" in header)
    last_kept = max(index for index in range(len(spans)) if index not in steps)
    for last, below in ((last_kept, spans[-1].end), (steps[-1], end if holder else len(text))):
        if last in found and last < len(spans) - 1 and has_blank_line_below(text, below):
            raise ObstacleError("a text block would take over the blank lines that follow; move the criteria by hand")
    return found


def _find_items(document: Document, path: Path, steps: Sequence[int]) -> list[Span]:
    """Return the spans of the items of a list: in block style whole lines, without the last line end."""
    text = document.source.text
    paths = [(*path, index) for index in range(len(document.value(path)))]
    if document.is_flow(paths[0]):
        return [document.extent(each) for each in paths]
    found: list[Span] = []
    for index, each in enumerate(paths):
        line, end = _find_lines(document, each)
        dash = line + _indent(text[line:end])
        above, _ = find_comments(document, dash, found[-1].end if found else 0, has_line=True)
        if index:
            line = line_start(text, above)
        elif above != dash and 0 in steps:
            raise ObstacleError("the comment above the first criterion may be about all of them; move them by hand")
        found.append(Span(line, end))
    if len(paths) - 1 in steps and has_comment_below(document, found[-1].end, dash - line_start(text, dash)):
        raise ObstacleError("it is unclear whether the comment below them is about the last one; move them by hand")
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _find_lines(document: Document, path: Path) -> Span:
    """Return the lines of an item of a block list, with the comments below it that are indented more than its dash."""
    text, code = document.source.text, document.tree.code
    child = document.child(path)
    begin = (child.site or child.node).start_mark.index  # with the anchor and the tag
    dash = code.rfind("-", 0, begin)
    start = line_start(text, dash)
    if dash < 0 or code[dash + 1 : begin].strip() or text[start:dash].strip(" "):
        raise ObstacleError("its list is written in an unusual way; move the criteria by hand")
    end = find_last_line(document, path, document.extent(path).end)
    return Span(start, find_deeper_comments(document, end, dash - start).start)


def _copy(document: Document, place: Span, replaced: dict[Span, str]) -> str:
    """Return a part of the text without its comments, and with some of it replaced."""
    pieces, at = [], place.start
    for span in sorted(replaced):
        if not (at <= span.start <= span.end <= place.end):
            raise ObstacleError("a part of it is written elsewhere; write it out")
        pieces += [without_comments(document, Span(at, span.start)), replaced[span]]
        at = span.end
    pieces.append(without_comments(document, Span(at, place.end)))
    return "".join(pieces)


def _insert_in_block(document: Document, holder: Path, replaced: dict[Span, str]) -> Edit:
    """Return the edit that puts the copy of an item of a block list after it, with the blank lines that are usual."""
    text = document.source.text
    start, end = _find_lines(document, holder)
    stop = max(document.extent(holder).end, *(span.end for span in replaced))
    copy = _copy(document, Span(start, stop), replaced)
    index, items = int(holder[-1]), len(document.value(holder[:-1]))
    between = new_line(document)
    if items > 1:
        first = index if index + 1 < items else index - 1
        above, below = (_find_lines(document, (*holder[:-1], each)) for each in (first, first + 1))
        gap = text[above.end : below.start]
        is_text = "+" in find_block_header(document, holder)  # blank lines would be part of it
        between = gap if not (gap.strip() or is_text) else between
    return Edit(Span(end, end), f"{between}{copy}")

"""Edit the items of a list: reorder, join, copy and move them, and write ranges in brackets."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from rubric_lint.edits.lines import (
    ObstacleError,
    column_of,
    cut_from_flow,
    find_block_header,
    find_comments,
    find_deeper_comments,
    find_last_line,
    has_blank_line_below,
    has_comment_below,
    line_end,
    line_start,
    new_line,
    own_key,
    reindent,
    take_lines,
    whole_field,
    without_comments,
    without_end,
)
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.scalar import read_scalar
from rubric_lint.text.source import Edit, Span, splice
from rubric_lint.text.tree import AliasNode, walk_nodes

_NEW_LINE = re.compile(r"[\r\n]")


def find_moves(document: Document, path: Path, steps: Sequence[str | int]) -> list[tuple[Span, Span]]:
    """Return what puts the children of the collection at `path` in the order of `steps`: places, and what goes there.

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
    sources = dict(zip(old[first:last], spans, strict=True))
    moves = [(span, sources[step]) for span, step in zip(spans, steps[first:last], strict=True)]
    for span, source in moves:
        is_comment = span != source and text[source.start] == "#"
        if is_comment and text[line_start(text, span.start) : span.start].strip():
            raise ObstacleError("a comment would come between a dash and its first key; sort them by hand")
    return moves


def reorder(text: str, moves: Sequence[tuple[Span, Span]], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits that move parts of a text, and make other edits, also in what is moved."""
    inner: dict[Span, list[Edit]] = {source: [] for _, source in moves}
    sources = sorted(inner)
    ends = [source.end for source in sources]
    made = []
    for (start, end), new in sorted(edits):
        at = bisect_left(ends, end)
        source = sources[at] if at < len(sources) else None
        before = text[start : source.start] if source else ""
        if source and source.start <= start:
            inner[source].append(Edit(Span(start - source.start, end - source.start), new))
        elif source and start == end and not before.strip(" ") and new.startswith(before):  # a line above it
            inner[source].append(Edit(Span(0, 0), new[len(before) :] + before))
        else:
            made.append(Edit(Span(start, end), new))
    for span, source in moves:
        new = splice(text[slice(*source)], inner[source])
        if text[slice(*span)] != new:
            made.append(Edit(span, new))
    return made


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
        if "&" in before or "!" in before:
            raise ObstacleError("one of them begins with an anchor or a tag; sort them by hand")
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
    if last == len(spans) and has_comment_below(document, found[-1].end, column_of(text, found[-1])):
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


def join_lists(document: Document, path: Path, to: Path) -> list[Edit]:
    """Return the edits that move the items of the list at `path` to the end of the list at `to`, with its comments.

    Raises:
        ObstacleError: if the notation of the two does not allow it.
    """
    text, code = document.source.text, document.tree.code
    key, count = own_key(document, path), len(document.value(path))
    if document.is_shared(path) or document.is_shared(to):
        raise ObstacleError("one of the two lists is shared by an anchor; join them by hand")
    if not count:
        raise ObstacleError("it is an empty list; remove it")
    first, last = (document.extent((*path, at)) for at in (0, count - 1))
    end = document.extent((*to, len(document.value(to)) - 1))
    if document.is_flow((*path, 0)) != document.is_flow((*to, 0)):
        raise ObstacleError("the two lists are written in different styles; join them by hand")
    if document.is_flow((*path, 0)):
        if document.is_flow(path):
            cuts = cut_from_flow(text, code, whole_field(document, path))
        else:
            _, cut = take_lines(text, without_end(text, whole_field(document, path)))
            cuts = [cut]
        return [Edit(Span(end.end, end.end), f", {text[first.start : last.end]}"), *(Edit(cut, "") for cut in cuts)]
    source, target = line_start(text, first.start), line_start(text, end.start)
    dash, wanted = (len(text[at:]) - len(text[at:].lstrip(" ")) for at in (source, target))
    if text[source + dash] != "-" or text[target + wanted] != "-":
        raise ObstacleError("an item begins on another line than its dash; join the lists by hand")
    head, below = line_start(text, key.start), line_end(text, key.end).end
    rest, colon, remark = text[key.end : below].partition(":")
    remark = remark.strip()
    is_alone = not (text[head : key.start].strip() or rest.strip()) and colon
    if not is_alone or below > source or remark[:1] not in ("", "#"):
        raise ObstacleError("its key shares its line with a dash or an item; join the lists by hand")
    column = key.start - head
    above = line_start(text, find_comments(document, key.start, document.preamble.end, has_line=True)[0])
    stop, next_line = _find_end(document, (*path, count - 1), column)
    at = _find_end(document, (*to, len(document.value(to)) - 1), column_of(text, document.span(to, Part.KEY))).start
    kept = f"{' ' * wanted}{remark}{new_line(document)}" if remark else ""
    lines = reindent(text[above:head], wanted - column) + kept + reindent(text[below:stop], wanted - dash)
    return [Edit(Span(at, at), new_line(document) + lines), Edit(Span(above, next_line), "")]


def _find_end(document: Document, path: Path, column: int) -> Span:
    """Return the last line end of an item, with the comments directly below it that are indented more than a column."""
    content = without_end(document.source.text, document.extent(path)).end
    return find_deeper_comments(document, find_last_line(document, path, content), column)


_ANCHOR = re.compile(r"(?:^|[\s\[{,:])&[^\s,\[\]{}]", re.MULTILINE)

_PROPERTIES = re.compile(r"[&!]\S*[ \t]*")

_COMMA = re.compile(r"\s*,\s*")

_LINE = re.compile(r"[^\r\n]+")


def insert_items(
    document: Document,
    path: Path,
    copies: Sequence[tuple[tuple[Path, str], ...]],
    before: bool,
    at: int | None,
) -> Edit:
    """Return the edit that puts copies of the list item at `path` after it, or before it.

    If the item moves at the same time, to `at`, they are next to it, before what separates it from others.

    Raises:
        ObstacleError: if the item is written in a way that cannot be copied.
    """
    item = document.span(path)
    texts = [_copy(document, path, changes) for changes in copies]
    if document.is_flow(path):
        return put_in_flow(document, path, texts, before=before, is_moved=at is not None)
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
    text, item = document.source.text, document.span(path)
    if document.is_alias(path):
        raise ObstacleError("it is written as an alias; write it out")
    value = document.value(path)
    added, new = list[tuple[str, str]](), dict[Span, str]()
    for place, written in changes:
        if isinstance(value, dict) and len(place) == 1 and place[0] not in value:
            added.append((str(place[0]), written))
        else:
            new[document.span((*path, *place))] = written
    pieces, at = [], item.start
    for span in sorted(new):
        if not (at <= span.start < span.end <= item.end):
            raise ObstacleError("a part of it is written elsewhere; write it out")
        pieces += [
            without_comments(document, Span(at, span.start)),
            quote_like(text[span.start], new[span], is_json=document.kind.is_json),
        ]
        at = span.end
    pieces.append(without_comments(document, Span(at, item.end)))
    if _ANCHOR.search("".join(pieces[::2])):
        raise ObstacleError("it holds an anchor, which cannot be copied")
    copy = _LINE.sub(lambda line: line[0].rstrip(" \t"), "".join(pieces)).rstrip()
    return _add_fields(document, document.span((*path, next(iter(value))), Part.KEY), copy, added) if added else copy


def _add_fields(document: Document, first: Span, copy: str, fields: Sequence[tuple[str, str]]) -> str:
    """Return the copy of a mapping with more fields at its end; `first` is its first key, with the usual quotes."""
    text = document.source.text
    quote = text[first.start] if text[first.start] in "\"'" else ""
    written = [f"{quote}{name}{quote}: {value}" for name, value in fields]
    line = new_line(document) + " " * column_of(text, first)
    if not copy.endswith("}"):
        return copy + "".join(f"{line}{field}" for field in written)
    body = copy[:-1].rstrip(", \t\r\n")
    separator = f",{line}" if "\n" in copy[len(body) :] else ", "
    return separator.join([body, *written]) + copy[len(body) :].lstrip(",")


def _strip_breaks(separator: str) -> str:
    """Remove the blanks before the line ends of a separator, but not those at its end."""
    *lines, last = separator.splitlines(keepends=True) or [""]
    kept = [line.rstrip(" \t\r\n") + line[len(line.rstrip("\r\n")) :] for line in lines]
    return "".join([*kept, last])


def quote_like(start: str, written: str, *, is_json: bool) -> str:
    """Return a scalar in the quotes of the one that it takes the place of."""
    if not isinstance(read_scalar(written), str) or written.startswith('"'):
        return written
    quote = start if start in "\"'" else '"' if is_json else ""
    return f"{quote}{written}{quote}"


def put_in_flow(document: Document, path: Path, texts: list[str], *, before: bool, is_moved: bool = False) -> Edit:
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
    if before or (index + 1 in spans and not is_moved):
        at = own.start if before else spans[index + 1].start
        return Edit(Span(at, at), "".join(f"{each}{separator}" for each in texts))
    return Edit(Span(own.end, own.end), "".join(f"{separator}{each}" for each in texts))


_COLON = re.compile(r"[ \t]*:\s*")

_BRACKETS = re.compile(r"\[\s*,\s*,?\s*\]")

_DASHES = re.compile(r"-\s*-\s*")


def write_range(document: Document, path: Path) -> list[Edit]:
    """Return the edits that write the list of two bounds at `path` in brackets; each bound stays as it is written.

    Raises:
        ObstacleError: if there is a comment, an anchor, a tag or an alias between the brackets or dashes.
    """
    text, code = document.source.text, document.tree.code
    start, end = document.span(path)
    bounds = [document.extent((*path, at)) for at in (0, 1)]
    new = "[{}, {}]".format(*(text[slice(*bound)] for bound in bounds))
    if text[start:end] == new:
        return []
    (first, second), (third, fourth) = bounds
    around = text[start:first] + text[second:third] + text[fourth:end]
    if document.is_flow((*path, 0)):
        if not _BRACKETS.fullmatch(around):
            raise ObstacleError("there is a comment, an anchor or a tag between its brackets; move it")
        return [Edit(Span(start, end), new)]
    key = document.span(path, Part.KEY)
    head = _COLON.fullmatch(text, key.end, start)
    if (
        head is None
        or not _DASHES.fullmatch(around)
        or code[end : line_end(text, end).start] != text[end : line_end(text, end).start]
    ):
        raise ObstacleError("there is a comment, an anchor or a tag beside its bounds; move it")
    if "\n" in new or "\r" in new or new.count(",") > 1 or document.is_alias(path):
        raise ObstacleError("its bounds are written in an unusual way; write them as plain numbers")
    return [Edit(Span(key.end, end), f": {new}")]

"""Nest, dissolve and move fields and join lists, for the migration of AgentV's suites."""

import re
from collections.abc import Iterator
from itertools import pairwise

from rubric_lint.edits.fields import break_before
from rubric_lint.edits.lines import (
    LINE,
    ObstacleError,
    column_of,
    cut_from_flow,
    find_comments,
    find_deeper_comments,
    find_last_line,
    line_end,
    line_start,
    new_line,
    own_key,
    reindent,
    rest_of_line,
    shift_lines,
    take_lines,
    whole_field,
    with_properties,
    without_end,
)
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Edit, Span


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


_STEP = 2

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
        quote = text[key.start] if text[key.start] in "\"'" else ""
        start = with_properties(text, document.span(path, Part.ENTRY).start)
        end = document.extent(path).end
        kind = f"{quote}{before[0]}{quote}: {quote}{before[1]}{quote}"
        return [
            Edit(key, f"{quote}{name}{quote}"),
            Edit(Span(start, start), f"[{{{kind}, {quote}{inner}{quote}: "),
            Edit(Span(end, end), "}]"),
        ]
    line = line_start(text, key.start)
    if not _BEFORE_KEY.fullmatch(text[line : key.start]) or "\t" in text[line : key.start]:
        raise ObstacleError("its key has an anchor, a tag or a tab before it; put it on a line of its own")
    indent = break_before(document, key)
    opening = Edit(key, f"{name}:{indent}- {before[0]}: {before[1]}{indent}  {inner}")
    return [opening, *_indent_below(document, path, key, key.start - line)]


def _indent_below(document: Document, path: Path, key: Span, column: int) -> Iterator[Edit]:
    """Yield the edits that indent the lines of the value below the new key."""
    text = document.source.text
    start, end = document.span(path, Part.ENTRY)
    head = line_end(text, key.end)
    shift = max(0, column + _STEP - (start - line_start(text, start))) if start >= head.end else _STEP
    if document.is_alias(path) or not shift:
        return
    at = head.end
    while at < end:
        line = LINE.match(text, at)
        stop = line.end() if line else end
        if text[at:stop].strip():
            if text[at] == "\t":
                raise ObstacleError("a line of its value begins with a tab")
            yield Edit(Span(at, at), " " * shift)
        at = max(stop, at + 1)


_HEAD = re.compile(r"\s*:[ \t]*")


def dissolve(document: Document, path: Path) -> list[Edit]:
    """Return the edits that replace the field at `path` with the fields of the mapping that is its value.

    Raises:
        ObstacleError: if the notation of the mapping does not allow it.
    """
    text, code = document.source.text, document.tree.code
    key = own_key(document, path)
    fields = sorted(whole_field(document, (*path, name)) for name in document.value(path))
    if document.is_shared(path) or any(document.is_merged((*path, name)) for name in document.value(path)):
        raise ObstacleError("its mapping is shared by an anchor or a merge key; write it out")
    first, last, end = fields[0], fields[-1], document.extent(path).end
    inner = next(iter(document.value(path)))
    if document.is_flow((*path, inner)):
        if text[key.start : end] != code[key.start : end]:
            raise ObstacleError("there is a comment between its brackets")
        cuts = [Edit(Span(key.start, first.start), ""), Edit(Span(last.end, end), "")]
        if not document.is_flow(path):
            between = break_before(document, key)
            cuts += [Edit(Span(one.end, two.start), between) for one, two in pairwise(fields)]
        return cuts
    shift = column_of(text, first) - column_of(text, key)
    head = _HEAD.match(text, key.end)
    line, start = line_start(text, key.start), line_start(text, first.start)
    if head is None or shift <= 0:
        raise ObstacleError("its key is written in an unusual way; write it as a plain word")
    if text[key.start : first.start] != code[key.start : first.start]:
        if text[line : key.start].strip():
            raise ObstacleError("there is a comment between its key and its first field")
        kept = Span(key.start, min(head.end(), line_end(text, key.end).start))
        cut = Span(line, line_end(text, key.end).end) if not rest_of_line(text, kept.end) else kept
        return [Edit(cut, ""), *shift_lines(text, line_end(text, key.end).end, last.end, -shift)]
    if text[line : key.start].strip():
        return [
            Edit(Span(key.start, first.start), ""),
            *shift_lines(text, line_end(text, first.start).end, last.end, -shift),
        ]
    return [Edit(Span(line, start), ""), *shift_lines(text, start, last.end, -shift)]


def move_field(document: Document, path: Path, to: Path) -> list[Edit]:
    """Return the edits that move the field at `path` to the end of the mapping at `to`, with the comments of its block.

    These are the comments on its lines, those directly above it in its column, and deeper ones directly below it.

    Raises:
        ObstacleError: if the notation of the two does not allow it.
    """
    text, code = document.source.text, document.tree.code
    own_key(document, path)
    field = without_end(text, whole_field(document, path))
    own = [(*to, name) for name in document.value(to) if not document.is_merged((*to, name))]
    if not own:
        raise ObstacleError(f"`{to[-1]}` is empty; move the field by hand")
    last = max(own, key=lambda each: whole_field(document, each).end)
    after = without_end(text, whole_field(document, last))
    written = text[slice(*field)]
    if document.is_flow(path) != document.is_flow(last) and not _is_on_one_line(document, path, written):
        raise ObstacleError(f"`{to[-1]}` is written in another style; move the field by hand")
    if document.is_flow(path):
        cuts = [Edit(cut, "") for cut in cut_from_flow(text, code, whole_field(document, path))]
        if document.is_flow(last):
            return [Edit(Span(after.end, after.end), f", {written}"), *cuts]
        at = line_end(text, after.end).start
        return [Edit(Span(at, at), break_before(document, whole_field(document, last)) + written), *cuts]
    if document.is_flow(last):
        _, cut = take_lines(text, field)
        return [Edit(Span(after.end, after.end), f", {written}"), Edit(cut, "")]
    is_alone = not text[line_start(text, field.start) : field.start].strip()
    start, _ = find_comments(document, field.start, document.preamble.end, has_line=is_alone)
    end = find_deeper_comments(document, find_last_line(document, path, field.end), column_of(text, field))
    lines, cut = take_lines(text, Span(start, end.start))
    moved = reindent(lines, column_of(text, whole_field(document, last)) - column_of(text, field))
    at = find_last_line(document, last, after.end).start
    if cut.start < at <= cut.end:  # the field is the last one in the last field of `to`
        return [Edit(Span(cut.start, at), moved if text[cut.start] not in "\r\n" else new_line(document) + moved)]
    return [Edit(Span(at, at), new_line(document) + moved), Edit(cut, "")]


_IN_ANY_STYLE = re.compile(r"[^,\[\]{}#&*!|>%@`\"']*\Z")


def _is_on_one_line(document: Document, path: Path, written: str) -> bool:
    """Return whether a field can be written in a mapping with and without brackets."""
    start, end = document.span(path)
    value = document.source.text[start:end]
    is_quoted = value[:1] in "\"'" and value[-1:] == value[:1]
    is_plain = _IN_ANY_STYLE.match(value) is not None and ": " not in value
    follows = rest_of_line(document.source.text, end)
    is_free = follows[:1] in ("", ",", "}") if document.is_flow(path) else follows == ""
    return is_free and "\n" not in written and "\r" not in written and (is_quoted or is_plain)


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


_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*\Z")

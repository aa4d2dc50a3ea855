"""Move whole fields and list items of a document, with their lines and comments, to another place or depth."""

import re
from collections.abc import Iterator
from itertools import pairwise

from rubric_lint.finding import Edit
from rubric_lint.lint.edits.insertion import new_line
from rubric_lint.lint.edits.removal import ObstacleError, cut_from_flow, line_end, line_start, whole_field
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Span

_STEP = 2
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_BEFORE_KEY = re.compile(r" *(?:- +)*")
_HEAD = re.compile(r"\s*:[ \t]*")


def put_under(document: Document, path: Path, name: str, inner: str) -> list[Edit]:
    """Return the edits that put the field at `path` into a new mapping under the key `name`, where its key is `inner`.

    Raises:
        ObstacleError: if the notation of the field does not allow it.
    """
    text = document.source.text
    key = _own_key(document, path)
    is_renamed = inner != path[-1]
    replaced = Span(key.start, key.end if is_renamed else key.start)
    if document.is_flow(path):
        quote = text[key.start] if text[key.start] in "\"'" else ""
        end = document.extent(path).end
        opening = f"{quote}{name}{quote}: {{" + (f"{quote}{inner}{quote}" if is_renamed else "")
        return [Edit(replaced, opening), Edit(Span(end, end), "}")]
    column = _column(text, key)
    opening = f"{name}:{new_line(document)}{' ' * (column + _STEP)}" + (inner if is_renamed else "")
    return [
        Edit(replaced, opening),
        *_shift(text, line_end(text, key.end).end, document.extent(path).end, _STEP),
    ]


def dissolve(document: Document, path: Path) -> list[Edit]:
    """Return the edits that replace the field at `path` with the fields of the mapping that is its value.

    Raises:
        ObstacleError: if the notation of the mapping does not allow it.
    """
    text, code = document.source.text, document.tree.code
    key = _own_key(document, path)
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
            between = new_line(document) + " " * _column(text, key)
            cuts += [Edit(Span(one.end, two.start), between) for one, two in pairwise(fields)]
        return cuts
    shift = _column(text, first) - _column(text, key)
    head = _HEAD.match(text, key.end)
    line, start = line_start(text, key.start), line_start(text, first.start)
    if head is None or shift <= 0:
        raise ObstacleError("its key is written in an unusual way; write it as a plain word")
    if text[key.start : first.start] != code[key.start : first.start]:
        if text[line : key.start].strip():
            raise ObstacleError("there is a comment between its key and its first field")
        kept = Span(key.start, min(head.end(), line_end(text, key.end).start))
        cut = Span(line, line_end(text, key.end).end) if not _rest(text, kept.end) else kept
        return [Edit(cut, ""), *_shift(text, line_end(text, key.end).end, last.end, -shift)]
    if text[line : key.start].strip():
        return [
            Edit(Span(key.start, first.start), ""),
            *_shift(text, line_end(text, first.start).end, last.end, -shift),
        ]
    return [Edit(Span(line, start), ""), *_shift(text, start, last.end, -shift)]


def move_field(document: Document, path: Path, to: Path) -> list[Edit]:
    """Return the edits that move the field at `path` to the end of the mapping at `to`.

    Raises:
        ObstacleError: if the notation of the two does not allow it.
    """
    text, code = document.source.text, document.tree.code
    _own_key(document, path)
    field = _content(text, whole_field(document, path))
    own = [(*to, name) for name in document.value(to) if not document.is_merged((*to, name))]
    if not own or document.is_shared(to):
        raise ObstacleError(f"`{to[-1]}` is empty or shared by an anchor; move the field by hand")
    last = max(own, key=lambda each: whole_field(document, each).end)
    after = _content(text, whole_field(document, last))
    written = text[slice(*field)]
    if document.is_flow(path) != document.is_flow(last) and not _is_on_one_line(document, path, written):
        raise ObstacleError(f"`{to[-1]}` is written in another style; move the field by hand")
    if document.is_flow(path):
        cuts = [Edit(cut, "") for cut in cut_from_flow(text, code, whole_field(document, path))]
        if document.is_flow(last):
            return [Edit(Span(after.end, after.end), f", {written}"), *cuts]
        at = line_end(text, after.end).start
        indent = " " * _column(text, Span(whole_field(document, last).start, 0))
        return [Edit(Span(at, at), f"{new_line(document)}{indent}{written}"), *cuts]
    if document.is_flow(last):
        _, cut = _take_lines(text, field)
        return [Edit(Span(after.end, after.end), f", {written}"), Edit(cut, "")]
    column = whole_field(document, last).start
    lines, cut = _take_lines(text, field)
    moved = _reindent(lines, _column(text, Span(column, column)) - _column(text, field))
    at = line_end(text, after.end).start
    if cut.start < at <= cut.end:  # the field is the last one in the last field of `to`
        return [Edit(Span(cut.start, at), moved if text[cut.start] not in "\r\n" else new_line(document) + moved)]
    return [Edit(Span(at, at), new_line(document) + moved), Edit(cut, "")]


def join_lists(document: Document, path: Path, to: Path) -> list[Edit]:
    """Return the edits that move the items of the list at `path` to the end of the list at `to`.

    Raises:
        ObstacleError: if the notation of the two does not allow it.
    """
    text, code = document.source.text, document.tree.code
    key, count = _own_key(document, path), len(document.value(path))
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
            _, cut = _take_lines(text, _content(text, whole_field(document, path)))
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
    stop, next_line = line_end(text, _content(text, Span(below, last.end)).end)
    at = line_end(text, _content(text, end).end).start
    kept = f"{new_line(document)}{' ' * wanted}{remark}" if remark else ""
    moved = kept + new_line(document) + _reindent(text[below:stop], wanted - dash)
    return [Edit(Span(at, at), moved), Edit(Span(head, next_line), "")]


_IN_ANY_STYLE = re.compile(r"[^,\[\]{}#&*!|>%@`\"']*\Z")


def _is_on_one_line(document: Document, path: Path, written: str) -> bool:
    """Return whether a field can be written in a mapping with and without brackets."""
    start, end = document.span(path)
    value = document.source.text[start:end]
    is_quoted = value[:1] in "\"'" and value[-1:] == value[:1]
    is_plain = _IN_ANY_STYLE.match(value) is not None and ": " not in value
    follows = _rest(document.source.text, end)
    is_free = follows[:1] in ("", ",", "}") if document.is_flow(path) else follows == ""
    return is_free and "\n" not in written and "\r" not in written and (is_quoted or is_plain)


def _own_key(document: Document, path: Path) -> Span:
    """Return the span of a key, if it is written in the mapping itself, on one line."""
    text, key = document.source.text, document.span(path, Part.KEY)
    written = text[slice(*key)]
    if document.is_merged(path):
        raise ObstacleError("it comes from a merge key; write it out")
    if written.startswith(("*", "?")) or "\n" in written or "\r" in written:
        raise ObstacleError("its key is written in an unusual way; write it as a plain word")
    if not document.is_flow(path) and not _BEFORE_KEY.fullmatch(text[line_start(text, key.start) : key.start]):
        raise ObstacleError("its key has an anchor, a tag or a tab before it; put it on a line of its own")
    return key


def _column(text: str, span: Span) -> int:
    return span.start - line_start(text, span.start)


def _content(text: str, span: Span) -> Span:
    """Return a span without the white space at its end."""
    return Span(span.start, span.start + len(text[slice(*span)].rstrip()))


def _rest(text: str, at: int) -> str:
    return text[at : line_end(text, at).start].strip()


def _take_lines(text: str, field: Span) -> tuple[str, Span]:
    """Return the lines of a field, without the last line end, and what to cut out of the text."""
    line, (stop, next_line) = line_start(text, field.start), line_end(text, field.end)
    if text[line : field.start].strip():  # after a dash: the next field moves up to it
        following = re.compile(r"[^ \t\r\n]").search(text, stop)
        if (
            following is None
            or following[0] in "#-"
            or _column(text, Span(following.start(), 0)) != _column(text, field)
        ):
            raise ObstacleError("it shares its line with the dash of a list item; move it down")
        return " " * _column(text, field) + text[field.start : stop], Span(field.start, following.start())
    if next_line == stop and line:  # the last line has no line end, and the one before it gets none
        return text[line:stop], Span(line_end(text, line_start(text, line - 1)).start, stop)
    return text[line:stop], Span(line, next_line)


def _reindent(lines: str, shift: int) -> str:
    edits = list(_shift(lines, 0, len(lines), shift))
    pieces, at = [], 0
    for (start, end), new in edits:
        pieces += [lines[at:start], new]
        at = end
    return "".join([*pieces, lines[at:]])


def _shift(text: str, start: int, end: int, by: int) -> Iterator[Edit]:
    """Yield the edits that indent the lines from `start` to `end` by more or, if `by` is negative, fewer spaces."""
    at = start
    while at < end:
        found = _LINE.match(text, at)
        stop = found.end() if found else end
        line = text[at:stop]
        spaces = len(line) - len(line.lstrip(" "))
        if line[spaces : spaces + 1] == "\t":
            raise ObstacleError("one of its lines begins with a tab")
        if by < 0 and spaces < -by and line.strip() and line[spaces] != "#":
            raise ObstacleError("one of its lines is indented less than the others")
        if by > 0 and spaces + len(line.strip()):  # white space may belong to a text block
            yield Edit(Span(at, at), " " * by)
        elif by < 0 and spaces:
            yield Edit(Span(at, at + min(-by, spaces)), "")
        at = max(stop, at + 1)

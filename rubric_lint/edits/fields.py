"""Edit the fields of a mapping: rename, rewrite, remove, add, wrap, nest and move them, and leave all else as it is."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise

from rubric_lint.edits.items import quote_like
from rubric_lint.edits.lines import (
    LINE,
    NEARBY,
    NEXT,
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
    skip_blanks,
    skip_blanks_back,
    take_lines,
    whole_field,
    with_properties,
    without_end,
)
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import Marks, escape, find_marks, replace_mark
from rubric_lint.text.path import Part, Path
from rubric_lint.text.scalar import read_scalar
from rubric_lint.text.source import Edit, Span

_ANCHOR = re.compile(r"&([^\s,\[\]{}]+)[ \t]+(?:![^\s,\[\]{}]*[ \t]+)?$")


def rename_key(document: Document, path: Path, name: str) -> Edit:
    """Rename a key; keep its quotes, or quote a name that is not plain."""
    text = document.source.text
    start, end = document.span(path, Part.KEY)
    written = text[start:end]
    if written.startswith("*"):
        raise ObstacleError(f"its key is the alias `{written}`; write the key out")
    if (anchor := _search_before(_ANCHOR, "&", text, start)) and f"*{anchor[1]}" in text:
        raise ObstacleError(f"its key has the anchor `&{anchor[1]}`, which aliases repeat; write the keys out")
    if written[:1] == '"':
        return Edit(Span(start + 1, end - 1), json.dumps(name, ensure_ascii=False)[1:-1])
    if written[:1] == "'":
        return Edit(Span(start + 1, end - 1), name.replace("'", "''"))
    if written[:1] in ("|", ">") and "#" in written.partition("\n")[0]:
        raise ObstacleError("its key is a text block with a comment; write the key on one line")
    return Edit(Span(start, end), name if _PLAIN_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False))


_PLAIN_KEY = re.compile(r"[\w./~][\w ./-]*")  # surely read as it is by YAML, in brackets too


def _search_before(pattern: re.Pattern[str], sign: str, text: str, end: int) -> re.Match[str] | None:
    """Return the match of a pattern that ends at `end`, if the sign that it needs is near."""
    begin = max(end - NEARBY, 0)
    return pattern.search(text, begin, end) if text.find(sign, begin, end) >= 0 else None


_COLON = re.compile(r"\s*:(?=[\s,\]}]|\Z)")


def _find_void(document: Document, path: Path) -> int | None:
    """Return where to write a missing value, None if it is written; raise ObstacleError if it has no place."""
    span, code = document.span(path), document.tree.code
    if isinstance(path[-1], int):
        return span.end if code[slice(*span)] == "-" else None
    if span != document.span(path, Part.KEY):
        return None
    colon = _COLON.match(code, span.end)
    if colon is None or document.is_shared(path):
        raise ObstacleError("its value is missing; write it by hand")
    return colon.end()


_TAG = re.compile(r"(?:^|(?<=[\s\[{,:]))!\S*[ \t]+(?P<anchor>(?:&\S+[ \t]+)?)$")


def replace_value(document: Document, path: Path, text: str) -> Edit:
    """Replace a scalar: its tag goes, its anchor stays, and a string keeps its quotes."""
    start, end = document.span(path)
    if document.value(path) is None and (at := _find_void(document, path)) is not None:
        return Edit(Span(at, at), f" {text}")
    text = quote_like(document.source.text[start], text, is_json=document.kind.is_json)
    if tag := _search_before(_TAG, "!", document.source.text, start):
        return Edit(Span(tag.start(), end), tag["anchor"] + text)
    return Edit(Span(start, end), text)


_CONTENT = re.compile(r"[^ \t\r\n](?:[^\r\n]*[^ \t\r\n])?")

_KEEPING = re.compile(r"[|>](?:\d?\+|\+\d)[ \t]*(?:#.*)?$")


def remove_field(document: Document, path: Path) -> list[Edit]:
    """Return the edits that remove the field at `path` and keep the comments around it.

    Raises:
        ObstacleError: if that is impossible.
    """
    text, code = document.source.text, document.tree.code
    field, owner = whole_field(document, path), document.child(path).owner
    if document.is_flow(path):
        cuts = cut_from_flow(text, code, field)
    elif not document.siblings(path) and len(document.value(document.paths.get(owner, path[:-1]))) == 1:
        if text[slice(*field)] != code[slice(*field)]:
            raise ObstacleError("it is the only field of its mapping, and has a comment in the middle")
        return [Edit(field, "{}")]
    else:
        cuts = _cut_from_block(text, code, field)
        # A block scalar with `+` above the field would own the blank lines after it too.
        following = text[cuts[-1].end : line_end(text, cuts[-1].end).end]
        before = [sibling for sibling in document.siblings(path) if sibling.end <= cuts[-1].start]
        is_blank = bool(following) and not NEXT.search(following)
        if is_blank and before and _KEEPING.search(text[before[-1].start : line_end(text, before[-1].start).start]):
            raise ObstacleError("the text block above it would take over the blank lines that follow")
    return [Edit(cut, "") for cut in cuts]


def _cut_from_block(text: str, code: str, field: Span) -> list[Span]:
    start, end = field
    if text[start:end] != code[start:end]:  # each comment in the middle keeps its line
        cuts = []
        for piece in _CONTENT.finditer(code, *field):
            start, end = piece.span()
            line, (stop, next_line) = line_start(text, start), line_end(text, end)
            is_alone = not (text[line:start] + text[end:stop]).strip(" \t")
            cuts.append(Span(line, next_line) if is_alone else Span(start, skip_blanks(text, end)))
        return cuts
    line, (stop, next_line) = line_start(text, start), line_end(text, end)
    if text[end:stop].strip(" \t"):  # a comment: it keeps the line, and moves to where the field began
        return [Span(start, skip_blanks(text, end))]
    if not text[line:start].strip(" \t"):
        return [Span(line, next_line)]
    # The field shares its line with the dash of its list item: the next field moves up to it, unless a comment follows.
    following = NEXT.search(text, stop)
    if following is None or following[0] == "#":
        return [Span(skip_blanks_back(text, start), stop)]
    return [Span(start, following.start())]


_SEPARATOR = re.compile(r"\s*,\s*")

_BLOCK_TEXT = re.compile(r":[ \t]+(?:[&!]\S*[ \t]+)*[|>][-+0-9]*[ \t]*(?:#.*)?$")


def add_field(document: Document, path: Path, name: str, scalar: str) -> Edit:
    """Return the edit that adds a field to the mapping at `path`: as the last field or, if that is unsafe, the first.

    Raises:
        ObstacleError: if the mapping has no field of its own to copy the style from.
    """
    text, mapping = document.source.text, document.value(path)
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
    for above, place in reversed(fields):
        if not _BLOCK_TEXT.search(text[above.start : min(line_end(text, above.start).start, above.end)]):
            end = find_last_line(document, place, above.end).start
            return Edit(Span(end, end), f"{_break(document, span)}{key}: {scalar}")
    first = fields[0][0]
    return Edit(Span(first.start, first.start), f"{key}: {scalar}{_break(document, first)}")


def _break(document: Document, field: Span) -> str:
    """Return a line end, with the spaces that indent the new line like a field of the same mapping."""
    return new_line(document) + " " * column_of(document.source.text, field)


def insert_field(document: Document, path: Path, name: str, value: str) -> list[Edit]:
    """Return the edit that adds a field with a JSON value above the one at `path`, and above the comments there.

    The first field of a document keeps the comments above it, which may be about the whole file.
    """
    text, span = document.source.text, whole_field(document, path)
    quote = text[document.span(path, Part.KEY).start]
    quote = quote if quote in "\"'" else ""
    if document.is_flow(path):
        return [Edit(Span(span.start, span.start), f"{quote}{name}{quote}: {value}, ")]
    line = line_start(text, span.start)
    if text[line : span.start].strip():  # after a dash
        return [Edit(Span(span.start, span.start), f"{quote}{name}{quote}: {value}{_break(document, span)}")]
    at = line_start(text, find_comments(document, span.start, document.preamble.end, has_line=True)[0])
    return [Edit(Span(at, at), f"{text[line : span.start]}{quote}{name}{quote}: {value}{new_line(document)}")]


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
    line = _break(document, Span(start, end))
    stop = line_end(text, end).start
    return [
        Edit(Span(start, start), f"{before[0]}: {before[1]}{line}{name}: "),
        *([Edit(Span(stop, stop), f"{line}{after[0]}: {after[1]}")] if after else []),
    ]


def _quote(document: Document, text: str) -> str:
    return f'"{text}"' if document.kind.is_json else text


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
    indent = _break(document, key)
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


def put_under(document: Document, path: Path, name: str, inner: str) -> list[Edit]:
    """Return the edits that put the field at `path` into a new mapping under the key `name`, where its key is `inner`.

    Raises:
        ObstacleError: if the notation of the field does not allow it.
    """
    text = document.source.text
    key, inner = own_key(document, path), inner or str(path[-1])
    is_renamed = inner != path[-1]
    replaced = Span(key.start, key.end if is_renamed else key.start)
    if document.is_flow(path):
        quote = text[key.start] if text[key.start] in "\"'" else ""
        end = document.extent(path).end
        opening = f"{quote}{name}{quote}: {{" + (f"{quote}{inner}{quote}" if is_renamed else "")
        return [Edit(replaced, opening), Edit(Span(end, end), "}")]
    column = column_of(text, key)
    opening = f"{name}:{new_line(document)}{' ' * (column + _STEP)}" + (inner if is_renamed else "")
    return [Edit(replaced, opening), *shift_lines(text, line_end(text, key.end).end, document.extent(path).end, _STEP)]


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
            between = _break(document, key)
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
        return [Edit(Span(at, at), _break(document, whole_field(document, last)) + written), *cuts]
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


def escape_text(document: Document, path: Path, has_escapes: bool, marks: Marks) -> list[Edit]:
    """Return the edits that replace marks in a string, such as those of Nunjucks templates with their escapes.

    Raises:
        ObstacleError: if the marks are not written as themselves, or an alias or anchor shares the string.
    """
    text, value = document.source.text, document.value(path)
    start, end = document.span(path)
    written = find_marks(text[start:end], has_escapes=has_escapes, marks=marks)
    meant = find_marks(value, has_escapes=has_escapes, marks=marks)
    if document.is_shared(path) or [mark for _, mark in written] != [mark for _, mark in meant]:
        raise ObstacleError("its template marks are written by escapes or shared by an anchor; write them out")
    if written and text[start] == "$" and written[0][0] == 0:  # a plain scalar cannot begin with a brace
        escaped = escape(value, has_escapes=has_escapes, marks=marks)
        return [Edit(Span(start, end), json.dumps(escaped, ensure_ascii=False))]
    is_double = text[start] == '"'
    edits = []
    for at, mark in written:
        new = replace_mark(mark)
        new = new.replace('"', '\\"') if is_double else new
        edits.append(Edit(Span(start + at, start + at + len(mark)), new))
    return edits

"""Edit the fields of a mapping: rename, rewrite, remove, add, wrap, nest and move them, and leave all else as it is."""

import json
import re

from rubric_lint.source.document import Document
from rubric_lint.source.edits.lines import (
    NEARBY,
    NEXT,
    ObstacleError,
    cut_from_flow,
    find_last_line,
    whole_field,
)
from rubric_lint.source.lines import (
    column_of,
    line_end,
    line_start,
    new_line,
    skip_blanks,
    skip_blanks_back,
)
from rubric_lint.source.nunjucks import escape, find_marks, replace_mark
from rubric_lint.source.path import Part, Path
from rubric_lint.source.scalar import read_scalar
from rubric_lint.source.source import Edit, Span

_ANCHOR = re.compile(r"&([^\s,\[\]{}]+)[ \t]+(?:![^\s,\[\]{}]*[ \t]+)?$")


def rename_key(document: Document, path: Path, name: str) -> Edit:
    """Rename a key; keep its quotes, or quote a name that is not plain."""
    text = document.source.text
    start, end = document.span(path, Part.KEY)
    written = text[start:end]
    if written.startswith("*"):
        raise ObstacleError(f"its key is the alias `{written}`; write the key out")
    anchor = _search_before(_ANCHOR, "&", text, start)
    if anchor and f"*{anchor[1]}" in text:
        raise ObstacleError(f"its key has the anchor `&{anchor[1]}`, which aliases repeat; write the keys out")
    if written[:1] == '"':
        return Edit(Span(start + 1, end - 1), json.dumps(name, ensure_ascii=False)[1:-1])
    if written[:1] == "'":
        return Edit(Span(start + 1, end - 1), name.replace("'", "''"))
    if written[:1] in ("|", ">") and "#" in written.partition("\n")[0]:
        raise ObstacleError("its key is a text block with a comment; write the key on one line")
    key = name if _PLAIN_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False)
    return Edit(Span(start, end), key)


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
    at = _find_void(document, path) if document.value(path) is None else None
    if at is not None:
        return Edit(Span(at, at), f" {text}")
    text = quote_like(document.source.text[start], text, is_json=document.kind.is_json)
    tag = _search_before(_TAG, "!", document.source.text, start)
    if tag:
        return Edit(Span(tag.start(), end), tag["anchor"] + text)
    return Edit(Span(start, end), text)


def quote_like(start: str, written: str, *, is_json: bool) -> str:
    """Return a scalar in the quotes of the one that it takes the place of."""
    if not isinstance(read_scalar(written), str) or written.startswith('"'):
        return written
    quote = '"' if is_json else ""
    if start in "\"'":
        quote = start
    return f"{quote}{written}{quote}"


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
            cut = Span(line, next_line) if is_alone else Span(start, skip_blanks(text, end))
            cuts.append(cut)
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
    value = read_scalar(scalar)
    if document.kind.is_json and isinstance(value, str):
        scalar = json.dumps(value, ensure_ascii=False)
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


def escape_text(document: Document, path: Path) -> list[Edit]:
    """Return the edits that replace the marks of Nunjucks templates in a string with their escapes.

    Raises:
        ObstacleError: if the marks are not written as themselves, or an alias or anchor shares the string.
    """
    text, value = document.source.text, document.value(path)
    start, end = document.span(path)
    written = find_marks(text[start:end])
    meant = find_marks(value)
    if document.is_shared(path) or [mark for _, mark in written] != [mark for _, mark in meant]:
        raise ObstacleError("its template marks are written by escapes or shared by an anchor; write them out")
    if written and text[start] == "$" and written[0][0] == 0:  # a plain scalar cannot begin with a brace
        return [Edit(Span(start, end), json.dumps(escape(value, has_escapes=True), ensure_ascii=False))]
    is_double = text[start] == '"'
    edits = []
    for at, mark in written:
        new = replace_mark(mark)
        new = new.replace('"', '\\"') if is_double else new
        edits.append(Edit(Span(start + at, start + at + len(mark)), new))
    return edits


_RANGE_COLON = re.compile(r"[ \t]*:\s*")

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
    head = _RANGE_COLON.fullmatch(text, key.end, start)
    if (
        head is None
        or not _DASHES.fullmatch(around)
        or code[end : line_end(text, end).start] != text[end : line_end(text, end).start]
    ):
        raise ObstacleError("there is a comment, an anchor or a tag next to its bounds; move it")
    if "\n" in new or "\r" in new or new.count(",") > 1 or document.is_alias(path):
        raise ObstacleError("its bounds are written in an unusual way; write them as plain numbers")
    return [Edit(Span(key.end, end), f": {new}")]

"""Find lines, fields, comments and blanks in a text, to edit it without touching anything else."""

import re
from collections.abc import Iterator

from ruamel.yaml.nodes import ScalarNode

from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Edit, Span, splice
from rubric_lint.text.tree import BLOCK_STYLES, walk_nodes


class ObstacleError(Exception):
    """The reason why a repair is impossible, worded to complete `not fixed: ...`."""


NEXT = re.compile(r"[^ \t\r\n]")

_LINE_END = re.compile(r"\r\n|\r|\n|\Z")

# May precede a key on its line: an anchor, a tag, the `?` of an explicit key.
_INTRODUCTION = re.compile(r"(?:^|(?<=[\s\[{,]))(?:[&!][^\s,\[\]{}]*|\?)[ \t]+$")

_PROPERTIES = re.compile(r"(?:(?<=[\s\[,])[&!][^\s,\[\]{}]*[ \t]+)+$")

NEARBY = 200
"""The number of characters before a key or value to search for its anchor and tag; a file may be one long line."""

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")

_BLANK_LINE = re.compile(r"[ \t]*[\r\n]")

_BEFORE_KEY = re.compile(r" *(?:- +)*")
_COLON = re.compile(r"\s*:(?=\s|$)")


def line_start(text: str, at: int) -> int:
    """Return where the line of `at` begins."""
    line_feed = text.rfind("\n", 0, at)
    return max(line_feed, text.rfind("\r", line_feed + 1, at)) + 1


def line_end(text: str, at: int) -> Span:
    """Return the line end at or after `at`; empty at the end of the text."""
    found = _LINE_END.search(text, at)
    return Span(*found.span()) if found else Span(len(text), len(text))


def new_line(document: Document) -> str:
    """Return the first line end of the text."""
    text = document.source.text
    return text[slice(*line_end(text, 0))] or "\n"


def column_of(text: str, span: Span) -> int:
    """Return the number of characters before a span on its line."""
    return span.start - line_start(text, span.start)


def without_end(text: str, span: Span) -> Span:
    """Return a span without the white space at its end."""
    return Span(span.start, span.start + len(text[slice(*span)].rstrip()))


def rest_of_line(text: str, at: int) -> str:
    """Return what follows on the line of an offset, without the blanks around it."""
    return text[at : line_end(text, at).start].strip()


def whole_field(document: Document, path: Path) -> Span:
    """Return the span of a field, including the tag and anchor of its key."""
    code = document.tree.code
    start, end = document.extent(path)
    if end == document.span(path).end and (colon := _COLON.match(code, end)) and document.value(path) is None:
        end = colon.end()
    line = line_start(code, start)
    while found := _INTRODUCTION.search(code[line:start]):
        start = line + found.start()
    return Span(start, end)


def own_key(document: Document, path: Path) -> Span:
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


def with_properties(text: str, start: int) -> int:
    """Return where a value begins, including the anchor and tag before it."""
    found = _PROPERTIES.search(text, max(start - NEARBY, 0), start)
    return found.start() if found else start


def take_lines(text: str, field: Span) -> tuple[str, Span]:
    """Return the lines of a field, without the last line end, and what to cut out of the text."""
    line, (stop, next_line) = line_start(text, field.start), line_end(text, field.end)
    if text[line : field.start].strip():  # after a dash: the next field moves up to it
        following = NEXT.search(text, stop)
        if (
            following is None
            or following[0] in "#-"
            or column_of(text, Span(following.start(), 0)) != column_of(text, field)
        ):
            raise ObstacleError("it shares its line with the dash of a list item; move it down")
        return " " * column_of(text, field) + text[field.start : stop], Span(field.start, following.start())
    if next_line == stop and line:  # the last line has no line end, and the one before it gets none
        return text[line:stop], Span(line_end(text, line_start(text, line - 1)).start, stop)
    return text[line:stop], Span(line, next_line)


def reindent(lines: str, shift: int) -> str:
    """Return lines indented by more or, if `shift` is negative, fewer spaces."""
    return splice(lines, shift_lines(lines, 0, len(lines), shift))


def shift_lines(text: str, start: int, end: int, by: int) -> Iterator[Edit]:
    """Yield the edits that indent the lines from `start` to `end` by more or, if `by` is negative, fewer spaces."""
    at = start
    while at < end:
        found = LINE.match(text, at)
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


def cut_from_flow(text: str, code: str, field: Span) -> list[Span]:
    """Return what to cut out for a field of a flow mapping: also the comma after it, or for the last field before it.

    Raises:
        ObstacleError: if there are comments in it, or the comma is not clear.
    """
    start, end = field
    after, before = NEXT.search(code, end), skip_blanks_back(code, start, " \t\r\n") - 1
    follows = after[0] if after else ""
    spans = [Span(start, end)]
    if follows == "," and after:
        spans.append(Span(*after.span()))
    elif follows == "}" and code[before] == ",":
        spans.insert(0, Span(before, before + 1))
    elif follows != "}" or code[before] != "{":
        raise ObstacleError("it is unclear which comma belongs to it")
    if text[start:end] != code[start:end]:
        raise ObstacleError("it has a comment in the middle")
    if len(spans) > 1 and not NEXT.search(text[spans[0].end : spans[1].start]):
        spans = [Span(spans[0].start, spans[1].end)]
    return [_tidy(text, cut) for cut in spans]


def _tidy(text: str, cut: Span) -> Span:
    """Extend a cut by the blanks around it that would be left over."""
    start, end = cut
    left, right = skip_blanks_back(text, start), skip_blanks(text, end)
    begins_line = left == 0 or text[left - 1] in "\r\n"
    follows = text[right : right + 1]
    if follows in ("\r", "\n", ""):
        return Span(left, line_end(text, right).end) if begins_line else Span(left, right)
    if follows == "}":  # at the left margin, strict readers would not take the bracket for part of the value
        return Span(start, right) if begins_line else Span(left, end)
    is_free = begins_line or left < start
    return Span(start, right) if is_free or follows != "#" else cut


def skip_blanks(text: str, at: int) -> int:
    """Return where the blanks at an offset end."""
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def skip_blanks_back(text: str, at: int, blanks: str = " \t") -> int:
    """Return where the blanks before an offset begin."""
    while at and text[at - 1] in blanks:
        at -= 1
    return at


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
    line = line_start(text, start)
    column = start - line
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


def find_deeper_comments(document: Document, end: Span, column: int) -> Span:
    """Return the line end of the last comment directly below a line end, of those that are indented more than a column.

    If there is none, that is the line end itself.
    """
    text = document.source.text
    while end.end > end.start and is_comment(document, end.end):
        below = line_end(text, end.end)
        line = text[end.end : below.start]
        if len(line) - len(line.lstrip(" ")) <= column:
            break
        end = below
    return end


def is_comment(document: Document, start: int) -> bool:
    """Return whether there is a comment and nothing else on the line that starts at an offset."""
    end = line_end(document.source.text, start).start
    return bool(document.source.text[start:end].strip()) and not document.tree.code[start:end].strip()


def without_comments(document: Document, place: Span) -> str:
    """Return a part of the text without its comments, and without the lines that hold nothing else."""
    text, code = document.source.text, document.tree.code
    if text[slice(*place)] == code[slice(*place)]:
        return text[slice(*place)]
    pieces, at = [], place.start
    while at < place.end:
        found = LINE.match(text, at)
        stop = min(found.end() if found else place.end, place.end)
        line = text[at:stop]
        if line != code[at:stop]:
            bare = code[at:stop].rstrip()
            is_whole = at == line_start(text, at)
            line = "" if is_whole and not bare else bare + line[len(line.rstrip("\r\n")) :]
        pieces.append(line)
        at = stop
    return "".join(pieces)


def _line_above(text: str, start: int) -> int:
    """Return the start of the line above the one that starts at an offset; 0 if there is none."""
    end = start - 2 if text[start - 2 : start] == "\r\n" else start - 1
    return line_start(text, max(end, 0))

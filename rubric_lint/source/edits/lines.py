"""Find lines, fields, comments and blanks in a text, to edit it without touching anything else."""

import re

from rubric_lint.source.document import Document
from rubric_lint.source.lines import line_end, line_start, skip_blanks, skip_blanks_back
from rubric_lint.source.path import Path
from rubric_lint.source.source import Span
from rubric_lint.source.tree import keeps_blank_lines, walk_nodes


class ObstacleError(Exception):
    """The reason why a repair is impossible, worded to complete `not fixed: ...`."""


NEXT = re.compile(r"[^ \t\r\n]")


# May precede a key on its line: an anchor, a tag, the `?` of an explicit key.
_INTRODUCTION = re.compile(r"(?:^|(?<=[\s\[{,]))(?:[&!][^\s,\[\]{}]*|\?)[ \t]+$")

NEARBY = 200
"""The number of characters before a key or value to search for its anchor and tag; a file may be one long line."""


_BLANK_LINE = re.compile(r"[ \t]*[\r\n]")

_COLON = re.compile(r"\s*:(?=\s|$)")


def whole_field(document: Document, path: Path) -> Span:
    """Return the span of a field, including the tag and anchor of its key."""
    code = document.tree.code
    start, end = document.extent(path)
    if end == document.span(path).end and document.value(path) is None:
        colon = _COLON.match(code, end)
        end = colon.end() if colon else end
    line = line_start(code, start)
    while found := _INTRODUCTION.search(code[line:start]):
        start = line + found.start()
    return Span(start, end)


def cut_from_flow(text: str, code: str, field: Span) -> list[Span]:
    """Return the spans to cut for a field of a flow mapping: with the comma after it, or for the last field before it.

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


def find_last_line(document: Document, path: Path, at: int) -> Span:
    """Return the end of the last line of a child whose content ends at an offset; a text block may keep blank lines."""
    text, child = document.source.text, document.child(path)
    end = line_end(text, at)
    *_, last = walk_nodes(child.site or child.node)
    if keeps_blank_lines(text, last):
        while _BLANK_LINE.match(text, end.end):
            end = line_end(text, end.end)
    return end


def has_comment_below(document: Document, at: int, column: int) -> bool:
    """Return whether a comment below the last child may be about it: one that is no further left, if nothing else is.

    A comment is about what follows it if that starts in its column.
    """
    text, found = document.source.text, NEXT.search(document.tree.code, at)
    following = found.start() if found else len(text)
    margin = following - line_start(text, following) if following < len(text) else -1
    end = line_start(text, following) if margin >= 0 else following
    comments = text[line_end(text, at).end : end]
    columns = [len(line) - len(line.lstrip()) for line in comments.splitlines() if line.lstrip().startswith("#")]
    return any(own >= column and own != margin for own in columns)

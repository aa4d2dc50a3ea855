"""Find the lines of a text, and its comments and blanks."""

import re

from rubric_lint.source.document import Document
from rubric_lint.source.source import Span

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")

_LINE_END = re.compile(r"\r\n|\r|\n|\Z")


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


def without_comments(document: Document, place: Span) -> str:
    """Return a part of the text without its comments, and without the lines that hold nothing else."""
    text, code = document.source.text, document.tree.code
    if text[slice(*place)] == code[slice(*place)]:
        return text[slice(*place)]
    pieces, at = [], place.start
    while at < place.end:
        found = LINE.match(text, at)
        line_stop = found.end() if found else place.end
        stop = min(line_stop, place.end)
        line = text[at:stop]
        if line != code[at:stop]:
            bare = code[at:stop].rstrip()
            is_whole = at == line_start(text, at)
            line = "" if is_whole and not bare else bare + line[len(line.rstrip("\r\n")) :]
        pieces.append(line)
        at = stop
    return "".join(pieces)

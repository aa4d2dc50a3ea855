"""Pieces of a new text: what is copied from the old one, indented differently or not, and what is new."""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from rubric_lint.source.lines import LINE
from rubric_lint.source.source import Edit, Span


class TextPiece(NamedTuple):
    """A part of the new text. A copy has the span of the old text; `is_same` says that it has the same bytes."""

    text: str
    span: Span | None = None
    is_same: bool = False


def copy(text: str, start: int, end: int, shift: int = 0, *, from_line: bool = False) -> TextPiece:
    """Return a copy of a part of a text, whose lines are indented by more or, if `shift` is negative, fewer blanks.

    The first line is one only with `from_line`; otherwise it is the rest of a line, which stays.
    """
    written = text[start:end]
    moved = shift_lines(written, shift, from_line=from_line) if shift else written
    return TextPiece(moved, Span(start, end), moved == written)


def shift_lines(text: str, shift: int, *, from_line: bool = False) -> str:
    """Return a text whose lines are indented by more or fewer blanks, or tabs where they begin with tabs."""
    lines, at = [], 0
    while at < len(text):
        found = LINE.match(text, at)
        end = found.end() if found else len(text)
        line = text[at:end]
        if (at or from_line) and line.strip("\r\n"):  # blanks on a line may belong to a text block
            blank = "\t" if line[0] == "\t" else " "
            own = len(line) - len(line.lstrip(blank))
            line = blank * shift + line if shift > 0 else line[min(own, -shift) :]
        lines.append(line)
        at = end
    return "".join(lines)


def join(text: str, pieces: Iterable[TextPiece]) -> list[TextPiece]:
    """Join the copies that follow each other in the old text too, and leave out empty pieces."""
    joined: list[TextPiece] = []
    for piece in pieces:
        if not piece.text and piece.span is None:
            continue
        last = joined[-1].span if joined and joined[-1].is_same and piece.is_same else None
        if last is not None and piece.span is not None and last.end == piece.span.start:
            joined[-1] = TextPiece("", Span(last.start, piece.span.end), is_same=True)
        else:
            joined.append(piece)
    for number, piece in enumerate(joined):  # only now, as each slice of a growing copy would take longer
        if piece.is_same and piece.span is not None:
            joined[number] = piece._replace(text=text[slice(*piece.span)])
    return joined


def make_edits(text: str, pieces: list[TextPiece], region: Span) -> list[Edit]:
    """Return the edits that turn the region of the old text into the pieces.

    The most copies that are in their old order stay; all else is written anew.
    """
    staying = _find_staying(pieces)
    edits: list[Edit] = []
    new: list[str] = []
    at = region.start
    for number, piece in enumerate([*pieces, TextPiece("", Span(region.end, region.end))]):
        is_last = number == len(pieces)
        if piece.span is None or not (is_last or number in staying):
            new.append(piece.text)
            continue
        written = "".join(new)
        if written != text[at : piece.span.start]:
            edits.append(Edit(Span(at, piece.span.start), written))
        at, new = piece.span.end, []
    return edits


def _find_staying(pieces: list[TextPiece]) -> set[int]:
    """Return the numbers of the copies in the longest series that keeps their old order, each once."""
    ends: list[int] = []  # the smallest end of a series of each length
    last: list[int] = []  # the piece that such a series ends with
    before: dict[int, int | None] = {}
    for number, piece in enumerate(pieces):
        if piece.span is None or not piece.is_same or piece.span.start == piece.span.end:
            continue
        length = bisect_right(ends, piece.span.start)
        if length < len(ends) and ends[length] <= piece.span.end:
            continue
        before[number] = last[length - 1] if length else None
        ends[length : length + 1] = [piece.span.end]
        last[length : length + 1] = [number]
    found: set[int] = set()
    at = last[-1] if last else None
    while at is not None:
        found.add(at)
        at = before[at]
    return found

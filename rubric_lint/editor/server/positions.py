"""Convert between the positions of an editor and the offsets of the package, and find the edits between two texts."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise, zip_longest

from lsprotocol import types

from rubric_lint.model.messages import whole
from rubric_lint.source.source import Edit, Span

_BOM = "\ufeff"

# The line ends of the protocol; they do not include form feeds, NEL and U+2028, at which Python also splits lines.
_LINE_END = re.compile(r"\r\n|\r|\n")
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@dataclass(frozen=True, eq=False)
class DocumentText:
    """An immutable text: its `content` in the editor, which counts in `encoding`: utf-8, utf-16 or utf-32.

    Spans, here and everywhere in the package, count code points after the byte order marks, which an editor may send.
    """

    content: str
    encoding: str

    @classmethod
    def of(cls, content: str, encoding: str = "utf-16") -> "DocumentText":
        """Create it from a text whose characters may be written as halves of surrogate pairs."""
        return cls(_join_surrogates(content), encoding)

    @cached_property
    def body(self) -> str:
        """The text to lint: without a byte order mark, and with U+FFFD for half surrogate pairs."""
        return whole(self._unmarked)

    @cached_property
    def _unmarked(self) -> str:
        return self.content.lstrip(_BOM)

    @cached_property
    def _lines(self) -> list[str]:
        """The lines of the content with their ends; the last one has none, and may be empty."""
        return _split(self.content)

    @cached_property
    def _starts(self) -> list[int]:
        """The offset of each line in the content."""
        return list(accumulate(map(len, self._lines[:-1]), initial=0))

    @cached_property
    def _lead(self) -> int:
        return len(self.content) - len(self._unmarked)

    def offset(self, position: types.Position) -> int:
        """Return the offset, after a byte order mark, of a position in the editor."""
        line, at = _find(self._lines, position, self.encoding)
        return max(self._starts[line] + at - self._lead, 0)

    def span(self, place: types.Range) -> Span:
        """Return the span of a range in the editor."""
        return Span(self.offset(place.start), self.offset(place.end))

    def range(self, span: Span) -> types.Range:
        """Return the range in the editor for a span."""
        start, end = (types.Position(*self._position(offset)) for offset in span)
        return types.Range(start, end)

    def write_range(self, span: Span) -> dict[str, dict[str, int]]:
        """Return the range for a span as the protocol has it; a large answer needs thousands."""
        start, end = map(self._position, span)
        return {
            "start": {"line": start[0], "character": start[1]},
            "end": {"line": end[0], "character": end[1]},
        }

    def line(self, offset: int) -> int:
        """Return the 0-based line of an offset after a mark."""
        return bisect_right(self._starts, offset + self._lead) - 1

    def _position(self, offset: int) -> tuple[int, int]:
        """Return the line and the character of an offset after a mark; inside a CRLF, those before it."""
        line = self.line(offset)
        start, end = self._starts[line], min(offset + self._lead, len(self.content))
        if self.content[end - 1 : end + 1] == "\r\n":
            end -= 1
        before = self.content[start:end]
        codec, size = _UNITS[self.encoding]
        length = len(before) if before.isascii() else len(before.encode(codec, "surrogatepass")) // size
        return line, length

    def edit(self, edit: Edit) -> types.TextEdit:
        """Return an edit for the editor; neither end of its range is inside a CRLF."""
        (start, end), text, body = edit.span, edit.text, self._unmarked
        if body[start - 1 : start + 1] == "\r\n" and start > 0:
            start, text = start - 1, "\r" + text
        if body[end - 1 : end + 1] == "\r\n" and end > 0:
            end, text = end + 1, text + "\n"
        return types.TextEdit(self.range(Span(start, end)), text)

    def change(self, changes: Iterable[types.TextDocumentContentChangeEvent]) -> "DocumentText":
        """Return the text after changes, each of which refers to the text after the one before it."""
        lines = self._lines[:]
        for change in changes:
            if not isinstance(change, types.TextDocumentContentChangePartial):
                lines = _split(_join_surrogates(change.text))
                continue
            first, begin = _find(lines, change.range.start, self.encoding)
            last, end = max((first, begin), _find(lines, change.range.end, self.encoding))
            piece = _join_surrogates(f"{lines[first][:begin]}{change.text}{lines[last][end:]}")
            if first and piece.startswith("\n") and lines[first - 1].endswith("\r"):
                first -= 1
                piece = lines[first] + piece
            split = _split(piece)
            lines[first : last + 1] = split if last + 1 == len(lines) else split[:-1]
        return DocumentText("".join(lines), self.encoding)


def _split(text: str) -> list[str]:
    """Return the lines of a text with their ends, and what follows the last end."""
    ends = [found.end() for found in _LINE_END.finditer(text)]
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)])]


def _find(lines: list[str], position: types.Position, encoding: str) -> tuple[int, int]:
    """Return the index of a line and the offset in it; past its end, that end; inside a character, its start."""
    if position.line >= len(lines):
        return len(lines) - 1, len(lines[-1])
    line = lines[position.line].rstrip("\r\n")
    if line.isascii():
        return position.line, min(position.character, len(line))
    codec, size = _UNITS[encoding]
    # The replacement of a half has the same length.
    units = whole(line).encode(codec)[: position.character * size]
    return position.line, len(units.decode(codec, "ignore"))


def _join_surrogates(text: str) -> str:
    """Join adjacent halves of surrogate pairs into single characters."""
    if _SURROGATES.search(text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


_FARTHEST = 400


def find_edits(old: str, new: str) -> Iterator[Edit]:
    """Yield few, short edits that turn `old` into `new`, in order and disjoint; suited to texts with small differences.

    Compares whole lines, then the differing lines character by character, in time proportional to the text.
    """
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    at = row = other = 0
    while row < len(before) or other < len(after):
        if before[row : row + 1] == after[other : other + 1]:
            at += len(before[row])
            row, other = row + 1, other + 1
            continue
        height, other_height = _find_end(before, row, after, other)
        # Line by line, then the rest of the longer side.
        lines, other_lines = before[row : row + height], after[other : other + other_height]
        for line, other_line in zip_longest(lines, other_lines, fillvalue=""):
            if line != other_line:
                head = _count_alike(line, other_line)
                tail = _count_alike(line[head:][::-1], other_line[head:][::-1])
                yield Edit(Span(at + head, at + len(line) - tail), other_line[head : len(other_line) - tail])
            at += len(line)
        row, other = row + height, other + other_height


def _find_end(before: list[str], row: int, after: list[str], other: int) -> tuple[int, int]:
    """Return how many lines on each side differ before the texts match again."""
    rest, other_rest = len(before) - row, len(after) - other
    for distance in range(1, min(rest + other_rest, _FARTHEST) + 1):
        for height in range(max(distance - other_rest, 0), min(distance, rest) + 1):
            here, there = row + height, other + distance - height
            if before[here : here + 1] == after[there : there + 1]:
                return height, distance - height
    return rest, other_rest


def _count_alike(left: str, right: str) -> int:
    return next(at for at, (one, other) in enumerate(zip_longest(left + "\0", right + "\1")) if one != other)

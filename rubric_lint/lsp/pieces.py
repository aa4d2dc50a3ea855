"""Store a text in pieces of bounded length, so that replacing a part never reads all of it, and count in it.

This is the only module that counts in the units of the protocol: lines, and characters in utf-8, utf-16 or utf-32.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from math import ceil

from lsprotocol import types

from rubric_lint.lsp.prefix_sums import PrefixSums

# The line ends of the protocol; they do not include form feeds, NEL and U+2028, at which Python also splits lines.
_LINE_END = re.compile(r"\r\n|\r|\n")
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}

_SIZE = 512  # pieces are cut to this many code points or up to twice as many, and may grow to four times as many


class Pieces:
    """A text as an editor counts it. Lines and characters are 0-based; no piece ends inside a CRLF."""

    def __init__(self, content: str, encoding: str) -> None:
        self.encoding = encoding
        self._texts = list(_cut(_join_surrogates(content))) or [""]
        self._offsets = PrefixSums(map(len, self._texts))
        self._lines = PrefixSums(map(_count_line_ends, self._texts))
        self._units = PrefixSums(map(self._count_units, self._texts))

    def copy(self) -> "Pieces":
        """Return the same text, to be changed independently."""
        copy = Pieces("", self.encoding)
        copy._texts = self._texts[:]
        copy._offsets, copy._lines, copy._units = self._offsets.copy(), self._lines.copy(), self._units.copy()
        return copy

    @property
    def content(self) -> str:
        """The whole text."""
        return "".join(self._texts)

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position; past the end of its line, that end; inside a character, its start."""
        start = self._find_line(position.line)
        if start is None:
            return self._offsets.before(len(self._texts))
        index, at = start
        text = self._texts[index]
        if line_end := _LINE_END.search(text, at):
            line = text[at : line_end.start()]
            return self._offsets.before(index) + at + self._count_characters(line, position.character)
        index, unit = self._units.find(self._unit(*start) + position.character)
        at = self._count_characters(self._texts[index], unit)
        if self._lines.before(index) + _count_line_ends(self._texts[index][:at]) > position.line:
            index, line_end = self._find_line_end(position.line)
            at = line_end.start() if line_end else at
        return self._offsets.before(index) + at

    def replace(self, start: int, end: int, text: str) -> None:
        """Replace the text between two offsets."""
        first, begin = last, after = self._offsets.find(start)
        if end > start:
            last, after = self._offsets.find(end)
        head, tail = self._texts[first][:begin], self._texts[last][after:]
        # Adjacent pieces may form a CRLF, or a character, at their border.
        while not head and first:
            first -= 1
            head = self._texts[first]
        while not tail and last + 1 < len(self._texts):
            last += 1
            tail = self._texts[last]
        self._put(first, last + 1, _join_surrogates(head + text + tail))

    def _put(self, first: int, end: int, text: str) -> None:
        """Replace some pieces with a text; if it is short, their number stays the same."""
        is_short = len(text) <= 4 * _SIZE and end - first <= _SIZE
        texts = [text] + [""] * (end - first - 1) if is_short else list(_cut(text))
        self._texts[first:end] = texts
        self._offsets.replace(first, end, map(len, texts))
        self._lines.replace(first, end, map(_count_line_ends, texts))
        self._units.replace(first, end, map(self._count_units, texts))

    def _find_line_end(self, line: int) -> tuple[int, re.Match[str] | None]:
        """Return the piece with the end of a line, and that end; None for the last line and beyond."""
        index, before = self._lines.find(line)
        line_ends = _LINE_END.finditer(self._texts[index])
        return index, next(islice(line_ends, before, None) if before else line_ends, None)

    def _find_line(self, line: int) -> tuple[int, int] | None:
        """Return the piece in which a line begins, and the offset in it; None past the last line."""
        if not line:
            return 0, 0
        index, line_end = self._find_line_end(line - 1)
        return (index, line_end.end()) if line_end else None

    def _unit(self, index: int, at: int) -> int:
        """Return the number of units before a place in a piece."""
        return self._units.before(index) + self._count_units(self._texts[index][:at])

    def _count_units(self, text: str) -> int:
        return _count_units(text, self.encoding)

    def _count_characters(self, text: str, units: int) -> int:
        """Return the number of whole characters in the first `units` units of a text."""
        if text.isascii():
            return min(units, len(text))
        codec, size = _UNITS[self.encoding]
        # The replacement has the same length.
        return len(replace_surrogates(text[:units]).encode(codec)[: units * size].decode(codec, "ignore"))


class LineTable:
    """The lines of a text that stays as it is, to find many positions in it."""

    def __init__(self, content: str, encoding: str) -> None:
        self._content = content
        self._encoding = encoding
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(content))]

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset; inside a CRLF, the position before it."""
        return types.Position(*self.find(offset))

    def find(self, offset: int) -> tuple[int, int]:
        """Return the line and the character of the same position."""
        line = self.line(offset)
        start, end = self._starts[line], min(offset, len(self._content))
        if self._content[end - 1 : end + 1] == "\r\n":
            end -= 1
        return line, _count_units(self._content[start:end], self._encoding)

    def line(self, offset: int) -> int:
        """Return the line of an offset."""
        return bisect_right(self._starts, offset) - 1


def _count_units(text: str, encoding: str) -> int:
    codec, size = _UNITS[encoding]
    return len(text) if text.isascii() else len(text.encode(codec, "surrogatepass")) // size


def _count_line_ends(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _cut(text: str) -> Iterator[str]:
    step = ceil(len(text) / max(len(text) // _SIZE, 1))
    start = 0
    while start < len(text):
        end = start + step
        end += text[end - 1 : end + 1] == "\r\n"
        yield text[start:end]
        start = end


def _join_surrogates(text: str) -> str:
    """Join adjacent halves of surrogate pairs into single characters."""
    if _has_surrogates(text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def replace_surrogates(text: str) -> str:
    """Replace half surrogate pairs, which cannot be saved in a file, with U+FFFD."""
    return _SURROGATES.sub("\ufffd", text) if _has_surrogates(text) else text


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False

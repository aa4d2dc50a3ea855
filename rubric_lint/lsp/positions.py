"""The text of a document as an editor has it; the only place that knows what an editor counts in."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from lsprotocol import types

from rubric_lint.finding import Edit
from rubric_lint.source import Span

# The line ends of the protocol; form feeds, NEL and U+2028, at which Python splits lines too, are not among them.
_LINE_END = re.compile(r"\r\n|\r|\n")
_SURROGATES = re.compile("[\ud800-\udfff]")
_BOM = "\ufeff"

_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}

Change = types.TextDocumentContentChangeEvent
"""A change as a client sends it: of a range, or of the whole text."""


@dataclass(frozen=True)
class Text:
    """A text whose lines and characters are 0-based, the latter in the units of `encoding`: utf-8, utf-16 or utf-32.

    Spans, here and everywhere in the package, count code points after the byte order marks, which an editor may send.
    """

    content: str
    encoding: str = "utf-16"

    @property
    def body(self) -> str:
        """The text to lint: without a mark, and with half a surrogate pair, which no file can hold, replaced."""
        body = self.content.lstrip(_BOM)
        return body if body.isascii() else _SURROGATES.sub("\ufffd", body)

    @cached_property
    def _lead(self) -> int:
        return len(self.content) - len(self.content.lstrip(_BOM))

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self.content))]

    def _position(self, offset: int) -> types.Position:
        if self.content.startswith("\r\n", offset - 1):
            offset -= 1  # for an editor a line ends before its CR: nothing lies between the two
        line = bisect_right(self._line_starts, offset) - 1
        before = self.content[self._line_starts[line] : offset]
        return types.Position(line, len(before) if before.isascii() else len(self._encode(before)) // self._size)

    def _offset(self, position: types.Position) -> int:
        """Where a position is; the end of its line, or of the text, when it is beyond that."""
        starts, line = self._line_starts, position.line
        if line >= len(starts):
            return len(self.content)
        start, after = starts[line], starts[line + 1] if line + 1 < len(starts) else len(self.content)
        written = self.content[start:after].rstrip("\r\n")
        if written.isascii():
            return start + min(position.character, len(written))
        # Half a character at the end is left out: a position within one is taken for its start.
        return start + len(self._decode(self._encode(written)[: position.character * self._size]))

    @property
    def _size(self) -> int:
        return _UNITS[self.encoding][1]

    def _encode(self, text: str) -> bytes:
        return _SURROGATES.sub("\ufffd", text).encode(_UNITS[self.encoding][0])  # which is as long

    def _decode(self, data: bytes) -> str:
        return data.decode(_UNITS[self.encoding][0], "ignore")

    def offset(self, position: types.Position) -> int:
        """Where a position of the editor is in the text after a mark."""
        return max(self._offset(position) - self._lead, 0)

    def span(self, place: types.Range) -> Span:
        """The part of the text that a range of the editor covers."""
        return Span(self.offset(place.start), self.offset(place.end))

    def range(self, span: Span) -> types.Range:
        """A part of the text in the terms of the editor."""
        return types.Range(self._position(span.start + self._lead), self._position(span.end + self._lead))

    def line(self, offset: int) -> int:
        """The 0-based line of an offset after a mark."""
        return bisect_right(self._line_starts, offset + self._lead) - 1

    def edit(self, edit: Edit) -> types.TextEdit:
        """An edit in the terms of the editor, in which no place is between the two characters of a line end."""
        (start, end), text, body = edit.span, edit.text, self.content[self._lead :]
        if body[start - 1 : start + 1] == "\r\n" and start > 0:
            start, text = start - 1, "\r" + text
        if body[end - 1 : end + 1] == "\r\n" and end > 0:
            end, text = end + 1, text + "\n"
        return types.TextEdit(self.range(Span(start, end)), text)

    def change(self, changes: Iterable[Change]) -> "Text":
        """The text after changes, made one after the other."""
        text = self
        for change in changes:
            content = change.text
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = text._offset(change.range.start), text._offset(change.range.end)
                content = text.content[:start] + change.text + text.content[max(start, end) :]
            text = Text(_join_surrogates(content), self.encoding)
        return text


def _join_surrogates(text: str) -> str:
    """The text with halves of a pair that have come together as the one character that they are."""
    if text.isascii() or not _SURROGATES.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")

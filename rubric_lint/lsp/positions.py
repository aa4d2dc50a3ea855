"""Convert between the positions of an editor and the offsets of the package."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from lsprotocol import types

from rubric_lint.finding import Edit
from rubric_lint.lsp.pieces import LineTable, Pieces, replace_surrogates
from rubric_lint.text.source import Span

_BOM = "\ufeff"

Change = types.TextDocumentContentChangeEvent
"""A change from the client: of a range, or of the whole text."""


@dataclass(frozen=True, eq=False)
class Text:
    """An immutable text.

    Spans, here and everywhere in the package, count code points after the byte order marks, which an editor may send.
    """

    pieces: Pieces

    @classmethod
    def of(cls, content: str, encoding: str = "utf-16") -> "Text":
        """Create it from the text of an editor that counts in `encoding`: utf-8, utf-16 or utf-32."""
        return cls(Pieces(content, encoding))

    @cached_property
    def content(self) -> str:
        """The full text in the editor."""
        return self.pieces.content

    @property
    def length(self) -> int:
        """The number of code points."""
        return len(self.content)

    @cached_property
    def body(self) -> str:
        """The text to lint: without a byte order mark, and with U+FFFD for half surrogate pairs."""
        return replace_surrogates(self._unmarked)

    @cached_property
    def _unmarked(self) -> str:
        return self.content.lstrip(_BOM)

    @cached_property
    def _lines(self) -> LineTable:
        return LineTable(self.content, self.pieces.encoding)

    @cached_property
    def _lead(self) -> int:
        return len(self.content) - len(self._unmarked)

    def offset(self, position: types.Position) -> int:
        """Return the offset, after a byte order mark, of a position in the editor."""
        return max(self.pieces.offset(position) - self._lead, 0)

    def span(self, place: types.Range) -> Span:
        """Return the span of a range in the editor."""
        return Span(self.offset(place.start), self.offset(place.end))

    def range(self, span: Span) -> types.Range:
        """Return the range in the editor for a span."""
        start, end = (self._lines.position(offset + self._lead) for offset in span)
        return types.Range(start, end)

    def write_range(self, span: Span) -> dict[str, dict[str, int]]:
        """Return the range for a span as the protocol has it; a large answer needs thousands."""
        start, end = (self._lines.find(offset + self._lead) for offset in span)
        return {
            "start": {"line": start[0], "character": start[1]},
            "end": {"line": end[0], "character": end[1]},
        }

    def line(self, offset: int) -> int:
        """Return the 0-based line of an offset after a mark."""
        return self._lines.line(offset + self._lead)

    def edit(self, edit: Edit) -> types.TextEdit:
        """Return an edit for the editor; neither end of its range is inside a CRLF."""
        (start, end), text, body = edit.span, edit.text, self._unmarked
        if body[start - 1 : start + 1] == "\r\n" and start > 0:
            start, text = start - 1, "\r" + text
        if body[end - 1 : end + 1] == "\r\n" and end > 0:
            end, text = end + 1, text + "\n"
        return types.TextEdit(self.range(Span(start, end)), text)

    def change(self, changes: Iterable[Change]) -> "Text":
        """Return the text after changes, each of which refers to the text after the one before it."""
        pieces = self.pieces.copy()
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                place = change.range
                start = pieces.offset(place.start)
                is_empty = place.end == place.start  # the usual case while typing
                end = start if is_empty else max(start, pieces.offset(place.end))
                pieces.replace(start, end, change.text)
            else:
                pieces = Pieces(change.text, pieces.encoding)
        return Text(pieces)

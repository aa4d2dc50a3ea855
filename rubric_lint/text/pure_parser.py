"""Parse YAML with the pure parser of ruamel.yaml, with YAML 1.2 tabs and the C parser's empty values."""

from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.events import ScalarEvent
from ruamel.yaml.parser import Parser
from ruamel.yaml.scanner import Scanner
from ruamel.yaml.tokens import TagToken, ValueToken

_BLANK = " \t"
_BREAKS = "\r\n"
_END = "\0"


def parse(text: str) -> Iterator[Any]:
    """Yield the events of a YAML stream."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = _Scanner
    yaml.Parser = _Parser
    yield from yaml.parse(text)


class _Scanner(Scanner):
    """A scanner that treats tabs that do not indent as white space: beside tokens, before comments and line ends."""

    def scan_to_next_token(self) -> None:
        """Skip white space, line ends and comments."""
        super().scan_to_next_token()
        while self.reader.peek() == "\t" and self._indents_nothing():
            self._take_blanks()
            super().scan_to_next_token()

    def scan_plain_spaces(self, indent: int, start_mark: object) -> list[str]:  # noqa: ARG002 (the scanner's own)
        """Read the white space after a piece of a plain scalar, and return its meaning within the scalar."""
        blanks = self._take_blanks()
        if self.reader.peek() not in _BREAKS:
            return [blanks] if blanks else []
        breaks = []
        while self.reader.peek() in _BREAKS:
            breaks.append(self.scan_line_break())
            self.allow_simple_key = True
            if self.check_document_start() or self.check_document_end():
                return []
            while self.reader.peek() == " ":
                self.reader.forward()
            if self.reader.peek() == "\t" and (self.reader.column >= indent or self._indents_nothing()):
                self._take_blanks()
        return breaks[1:] or [" "]

    def _take_blanks(self) -> str:
        length = self._count_blanks()
        blanks: str = self.reader.prefix(length)
        self.reader.forward(length)
        return blanks

    def _count_blanks(self) -> int:
        length = 0
        while self.reader.peek(length) in _BLANK:
            length += 1
        return length

    def _indents_nothing(self) -> bool:
        """Return whether blanks here follow a token of this line, or precede only a comment."""
        reader = self.reader
        line = reader.buffer[reader.pointer - reader.column : reader.pointer]
        return bool(line.strip(_BLANK)) or reader.peek(self._count_blanks()) in f"#{_BREAKS}{_END}"


class _Parser(Parser):
    """A parser that places an empty value after its colon, or in brackets before the next token."""

    def parse_node(self, block: bool = False, indentless_sequence: bool = False) -> Any:
        """Parse a node; if its tag precedes its anchor, it starts at the tag."""
        start = self.scanner.peek_token().start_mark if self.scanner.check_token(TagToken) else None
        event = super().parse_node(block, indentless_sequence)
        if start is not None:
            event.start_mark = start
        return event

    def parse_block_mapping_value(self) -> Any:
        """Return the event with which a value in a block begins."""
        colon = self.scanner.peek_token()
        event = super().parse_block_mapping_value()
        return _move_empty(event, colon.end_mark) if isinstance(colon, ValueToken) else event

    def parse_flow_mapping_value(self) -> Any:
        """Return the event with which a value in braces begins."""
        return self._move_to_next(super().parse_flow_mapping_value())

    def parse_flow_sequence_entry_mapping_value(self) -> Any:
        """Return the event with which the value of a pair in brackets begins."""
        return self._move_to_next(super().parse_flow_sequence_entry_mapping_value())

    def _move_to_next(self, event: Any) -> Any:
        return _move_empty(event, self.scanner.peek_token().start_mark) if _is_empty(event) else event


def _is_empty(event: Any) -> bool:
    return type(event) is ScalarEvent and event.start_mark is event.end_mark


def _move_empty(event: Any, mark: Any) -> Any:
    if _is_empty(event):
        event.start_mark = event.end_mark = mark
    return event

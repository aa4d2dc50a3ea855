"""Read the entries of JSON Lines or JSON one by one."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rubric_lint.scoring.records.decoding import Content, OutputError, decode_entry, format_json_error

LIMIT = 10_000_000
"""The most bytes in an entry; a judge output has a few hundred."""

WHOLE = 250_000_000
"""The most bytes in a JSON list, or in objects over several lines, which are read as a whole."""

CHUNK = 1 << 16
"""The number of bytes to read at a time: few enough for their lines and results to stay in the processor cache."""


RawRecord = tuple[int, Content]
"""The 1-based line or row on which an entry begins, and what it holds."""


@dataclass(frozen=True, slots=True)
class SkippedSheet:
    """A sheet of a workbook that is not read, and its number of rows below the header."""

    name: str
    rows: int

    def format_warning(self, file: str) -> str:
        """Return the warning, which names the file."""
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        return f"{file}: sheet `{self.name}` ({rows}) is not read: none of its columns is known"


class InputError(ValueError):
    """An input that cannot be read as asked, and what to do."""


def refuse_size() -> OutputError:
    """Return the error for an entry that is too large."""
    return OutputError(f"more than {LIMIT / 1e6:.0f} MB, the limit for one entry")


def convert_entries(
    entries: Iterable[RawRecord], convert: Callable[[dict[str, Any]], Iterable[dict[str, Any]] | None]
) -> Iterator[RawRecord]:
    """Yield the records into which `convert` turns entries; those for which it returns None stay as they are."""
    for line, content in entries:
        try:
            records = convert(decode_entry(content))
        except OutputError as fault:
            fault.record = {}  # its names are not ours
            yield line, fault
            continue
        converted = [content] if records is None else records
        for record in converted:
            yield line, record


BLANK = b" \t\r\n"
"""The white space of JSON."""

_OPEN_ENDS = (b"{", b"[", b",")


def read_json(head: bytes, chunks: Iterable[bytes], *, is_wrapped: bool = False) -> Iterator[RawRecord]:
    """Yield the entries of JSON or JSON Lines, of which `head` is the beginning, and `chunks` the whole text.

    The text alone decides which of these it is; an object that wraps records may be one long line, or have a record on
    its second one. If JSON over several lines is broken, the rest is not read; a broken line of JSON Lines affects only
    that line.
    """
    first, _, second = head.lstrip(BLANK).partition(b"\n")
    if first.startswith(b"["):
        return _read_list(chunks)
    goes_on = first.rstrip(BLANK).endswith(_OPEN_ENDS) and (is_wrapped or not second.startswith(b"{"))
    if goes_on or (is_wrapped and first.startswith(b"{") and not second):
        return _read_values(chunks)
    return _read_lines(chunks)


def _read_lines(chunks: Iterable[bytes]) -> Iterator[RawRecord]:
    """Yield the lines that are not blank; one that is too large is refused before its end is read."""
    number, tail, is_refused = 1, b"", False
    for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        if lines:
            lines[0] = tail + lines[0]
            tail = b""
        for line in lines:
            if is_refused:
                is_refused = False
            elif line and not line.isspace():
                yield number, line if len(line) <= LIMIT else refuse_size()
            number += 1
        if not is_refused:
            tail += rest
            if len(tail) > LIMIT:
                yield number, refuse_size()
                tail, is_refused = b"", True
    if tail and not tail.isspace():
        yield number, tail


def _read_list(chunks: Iterable[bytes]) -> Iterator[RawRecord]:
    text = _Text(chunks)
    text.take("[")
    is_open = not text.take("]")
    while is_open:
        entry = text.read_value()
        yield entry
        if isinstance(entry[1], OutputError):
            return
        is_open = not text.take("]")
        if is_open and not text.take(","):
            yield text.refuse(
                "the list is cut off or broken: expected `,` or `]` after an entry; nothing after it is read"
            )
            return
    if text.peek():
        yield text.refuse("unexpected text after the end of the list; it is not read")


def _read_values(chunks: Iterable[bytes]) -> Iterator[RawRecord]:
    text = _Text(chunks)
    while text.peek():
        entry = text.read_value()
        yield entry
        if isinstance(entry[1], OutputError):
            return


_NO_SPACE = re.compile(r"[^ \t\r\n]")
_DECODER = json.JSONDecoder(parse_int=str)  # it only finds where values end; `int` refuses more than 4,300 digits


class _Text:
    """A text that is read value by value."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        data = bytearray()
        for chunk in chunks:
            data += chunk
            if len(data) > WHOLE:
                raise InputError(f"more than {WHOLE / 1e6:.0f} MB, the limit for one list or object; write JSON Lines")
        # Bytes that are not UTF-8 stay: only the entry that has them is refused.
        self._text = data.decode("utf-8", "surrogateescape")
        self._position = 0
        self._line = 1

    def peek(self) -> str:
        """Return the next non-blank character, or an empty string at the end."""
        found = _NO_SPACE.search(self._text, self._position)
        position = found.start() if found else len(self._text)
        self._advance(position)
        return self._text[self._position : self._position + 1]

    def take(self, mark: str) -> bool:
        """Skip the next character if it is this one; return whether it was."""
        if self.peek() != mark:
            return False
        self._position += 1
        return True

    def read_value(self) -> RawRecord:
        """Return the next JSON value as text, or the error in it."""
        self.peek()
        line = self._line
        try:
            _, end = _DECODER.raw_decode(self._text, self._position)
        except RecursionError:
            message = "nested too deeply to be read"
        except json.JSONDecodeError as fault:
            line += self._text.count("\n", self._position, fault.pos)
            column = fault.pos - self._text.rfind("\n", 0, fault.pos)
            message = f"not JSON at column {column}: {format_json_error(fault, 'file')}"
        else:
            value = self._text[self._position : end]
            self._advance(end)
            return line, value.encode("utf-8", "surrogateescape")
        return line, OutputError(f"{message}; nothing after it is read")

    def refuse(self, message: str) -> RawRecord:
        """Return an entry with an error at this place."""
        return self._line, OutputError(message)

    def _advance(self, end: int) -> None:
        self._line += self._text.count("\n", self._position, end)
        self._position = end

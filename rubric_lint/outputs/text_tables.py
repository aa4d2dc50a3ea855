"""Read CSV and TSV row by row: each row becomes a record, with the line where it begins."""

import codecs
import csv
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from json.encoder import encode_basestring as quote
from typing import NamedTuple

from rubric_lint.outputs.blocks import BLANK, LIMIT, Block, Entry, InputError, join_entries, refuse_size
from rubric_lint.outputs.decoding import OutputError
from rubric_lint.outputs.mapping import Wanted, fold_column, map_blocks, rename_columns

_JSON = frozenset({"outputs", "judge"})
"""The columns whose cells hold JSON, which a text cannot stand for."""


CELLS = frozenset({"id", "output", "outputs", "score", "answer", "rubric", "checks", "satisfied", "level"})
"""The column names that identify a table of judge outputs."""

_MOST = 100_000
"""The most characters of a header that are looked at."""


class Dialect(NamedTuple):
    """A text table: what separates its cells, and what that is called."""

    delimiter: str
    called: str


DIALECTS = (Dialect(",", "CSV"), Dialect("\t", "TSV"), Dialect(";", "CSV with semicolons"))
"""The text tables that are read."""


def find_dialect(
    head: bytes, columns: Collection[str], name: str, judgements: frozenset[str] = frozenset()
) -> Dialect | None:
    """Return the dialect if this is a text table: its header has a known column or one of these, or its name says so.

    A text that begins as JSON never is one.
    """
    text = head.lstrip(BLANK)
    if not text or text.startswith((b"{", b"[")):
        return None
    first = text[:_MOST].partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    known = CELLS | judgements | {column.lower() for column in columns}
    found = [(len(known.intersection(_split(first, each))), len(_split(first, each)), each) for each in DIALECTS]
    matches, cells, dialect = max(found, key=lambda each: each[:2])
    if matches and (cells > 1 or matches == cells):
        return dialect
    base = name.lower().removesuffix(".gz").removesuffix(".zst")
    if base.endswith(".tsv"):
        return DIALECTS[1]
    return dialect if base.endswith(".csv") else None


def _split(header: str, dialect: Dialect) -> list[str]:
    try:
        cells = next(csv.reader([header], delimiter=dialect.delimiter), [])
    except csv.Error:
        return []
    return [fold_column(cell) for cell in cells]


class Row(NamedTuple):
    """A row: the line where it begins, its cells, and why it cannot be read, if it cannot."""

    line: int
    cells: list[str]
    fault: str = ""


def _is_line(cell: str) -> bool:
    """Return whether a cell is a JSON object or list on one line; a part of it could otherwise become another field."""
    if not cell.startswith(("[", "{")) or "\n" in cell:
        return False
    try:
        json.loads(cell)
    except (ValueError, RecursionError):
        return False
    return True


def read_table(
    chunks: Iterable[bytes], dialect: Dialect, mapping: Mapping[str, str], wanted: Wanted
) -> Iterator[Block]:
    """Yield the rows of a text table as records.

    Raises:
        InputError: if the header does not have the columns that are needed.
    """
    lines = _Lines(chunks)
    rows = _read_rows(lines, dialect.delimiter)
    header = next(rows, None)
    if header is None:
        return
    if header.fault:
        raise InputError(f"the header, in line {header.line}: {header.fault}")
    columns = [cell.strip() for cell in header.cells]
    try:
        names, nested = rename_columns(columns, mapping, wanted)
    except InputError:
        refuse_high_header(((row.line, row.cells) for row in islice(rows, 5)), wanted)
        raise
    kept = wanted.find_judgements(names) | {"output"}
    entries: list[Entry] = []
    for row in rows:
        entries.append(_write(row, names, kept))
        if lines.is_at_end_of_chunk:
            yield from map_blocks(join_entries(entries), nested)
            entries = []
    yield from map_blocks(join_entries(entries), nested)


def _write(row: Row, names: list[str], kept: frozenset[str]) -> Entry:
    """Write a row as JSON; an empty cell is an absent field, except in the columns of `kept`."""
    if row.fault:
        return row.line, OutputError(row.fault)
    if len(row.cells) != len(names):
        count = f"{len(row.cells)} cell{'' if len(row.cells) == 1 else 's'}"
        return row.line, OutputError(f"the row has {count}; expected {len(names)}, as in the header")
    cells = ", ".join([
        f"{quote(name)}: {cell if name in _JSON and _is_line(cell) else quote(cell)}"
        for name, cell in zip(names, row.cells, strict=True)
        if (cell or name in kept) and name
    ])  # fmt: skip
    try:
        return row.line, f"{{{cells}}}".encode()
    except UnicodeEncodeError as fault:
        byte = ord(fault.object[fault.start]) & 0xFF
        return row.line, OutputError(f"byte {byte:02x} is not UTF-8; save the file as UTF-8")


def refuse_high_header(rows: Iterable[tuple[int, Collection[str]]], wanted: Wanted) -> None:
    """Refuse a table whose header is not its first row: one of these rows has the needed columns.

    Raises:
        InputError: naming that row.
    """
    for number, cells in rows:
        if "id" in {fold_column(cell) for cell in cells} and wanted.is_met_by([cell.strip() for cell in cells]):
            raise InputError(
                f"the names of the columns are in row {number}, not in the first; delete the rows above it"
            )


def _read_rows(lines: "_Lines", delimiter: str) -> Iterator[Row]:
    """Yield the rows that are not blank; without end quotes, the rest of the file is one row that cannot be read."""
    csv.field_size_limit(2 * LIMIT)  # the lines have a limit of their own
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = lines.begin_row()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except _TooLongError:
            with suppress(StopIteration):
                while lines.is_open:
                    lines.take()
            told = f"the quote in line {line} is never closed; nothing after it is read"
            yield Row(line, [], told if lines.is_open else refuse_size().message)
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
        except csv.Error as fault:
            yield Row(line, [], _word(fault, line))
        else:
            if any(cells):
                yield Row(line, cells)


def _word(fault: csv.Error, line: int) -> str:
    told = str(fault)
    if "unexpected end of data" in told:
        return f"the quote in line {line} is never closed; nothing after it is read"
    if "expected after" in told:
        return "text after the closing quote of a cell; double the quotes inside a cell"
    if "new-line character" in told:
        return "a carriage return alone ends a line; save the file with LF or CRLF at the ends of lines"
    return f"not a row of a table: {told}"


class _TooLongError(Exception):
    """A row with more bytes than an entry may have."""


class _Lines:
    """The lines of a text, one by one; bytes that are not UTF-8 become lone surrogates.

    `is_open` says whether a quote is open after the line.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = _split_lines(chunks)
        self._lines: list[str] = []
        self._at = 0
        self._number = 0
        self._size = 0
        self.is_open = False

    @property
    def is_at_end_of_chunk(self) -> bool:
        """Whether the next line is in another chunk, which may be long in coming."""
        return self._at == len(self._lines)

    def begin_row(self) -> int:
        """Begin a row and return the number of its first line."""
        self._size = 0
        self.is_open = False
        return self._number + 1

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Return the next line of the row; raise _TooLongError if the row is too long."""
        line = self.take()
        self._size += len(line)
        if self._size > LIMIT:
            raise _TooLongError
        return line

    def take(self) -> str:
        """Return the next line, whatever the size of its row; raise StopIteration at the end."""
        while self._at == len(self._lines):
            self._lines, self._at = next(self._chunks), 0
        line = self._lines[self._at]
        self._at += 1
        self._number += 1
        self.is_open ^= line.count('"') % 2 == 1
        return line


def _split_lines(chunks: Iterable[bytes]) -> Iterator[list[str]]:
    """Yield the lines that each chunk completes, and at the end what is left.

    Of a line that is too long, only the start is kept, and of the rest whether it opens or closes a quote.
    """
    decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
    begun: list[str] = []
    for chunk in chunks:
        *lines, tail = decode(chunk).split("\n")
        if lines:
            yield ["".join([*begun, lines[0], "\n"]), *(f"{line}\n" for line in lines[1:])]
            begun = []
        if tail:
            is_long = sum(map(len, begun)) > LIMIT
            begun.append('"' * (tail.count('"') % 2) if is_long else tail)
    if last := "".join([*begun, decode(b"", final=True)]):
        yield [last]

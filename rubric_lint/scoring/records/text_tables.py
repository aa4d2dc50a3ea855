"""Read CSV and TSV row by row: each row becomes a record, with the line where it begins."""

import codecs
import csv
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rubric_lint.scoring.records.decoding import OutputError, decode_cell, find_other_byte
from rubric_lint.scoring.records.entries import BLANK, LIMIT, InputError, RawRecord, refuse_size
from rubric_lint.scoring.records.mapping import RequiredColumns, fold_column, map_entries, rename_columns

_JSON = frozenset({"outputs", "judge"})
"""The columns whose cells hold JSON, which a text cannot stand for."""


CELLS = frozenset({"id", "output", "outputs", "score", "answer", "rubric", "checks", "satisfied", "level"})
"""The column names that identify a table of judge outputs."""

_MOST = 100_000
"""The most characters of a header that are looked at."""


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """A text table: what separates its cells, and what that is called."""

    delimiter: str
    called: str


DIALECTS = (CsvDialect(",", "CSV"), CsvDialect("\t", "TSV"), CsvDialect(";", "CSV with semicolons"))
"""The text tables that are read."""


def find_dialect(
    head: bytes, columns: Collection[str], name: str, judgements: frozenset[str] = frozenset()
) -> CsvDialect | None:
    """Return the dialect if this is a text table: its header has a known column or one of these, or its name says so.

    A text that begins as JSON never is one.
    """
    text = head.lstrip(BLANK)
    if not text or text.startswith((b"{", b"[")):
        return None
    first = text[:_MOST].partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    known = CELLS | judgements | {column.lower() for column in columns}
    best, most, cells = DIALECTS[0], -1, 0
    for dialect in DIALECTS:
        columns_here = _split(first, dialect)
        matches = len(known.intersection(columns_here))
        if (matches, len(columns_here)) > (most, cells):
            best, most, cells = dialect, matches, len(columns_here)
    # Any text is a header of one column; it has to be a known one.
    if most and (cells > 1 or most == cells):
        return best
    base = name.lower().removesuffix(".gz").removesuffix(".zst")
    if base.endswith(".tsv"):
        return DIALECTS[1]
    return best if base.endswith(".csv") else None


def _split(header: str, dialect: CsvDialect) -> list[str]:
    try:
        cells = next(csv.reader([header], delimiter=dialect.delimiter), [])
    except csv.Error:
        return []
    return [fold_column(cell) for cell in cells]


CsvRow = tuple[int, list[str], str]
"""The line where a row begins, its cells, and why it cannot be read, if it cannot."""


def read_table(
    chunks: Iterable[bytes], dialect: CsvDialect, mapping: Mapping[str, str], wanted: RequiredColumns
) -> Iterator[RawRecord]:
    """Yield the rows of a text table as records.

    Raises:
        InputError: if the header does not have the columns that are needed.
    """
    lines = _Lines(chunks)
    rows = _read_rows(lines, dialect.delimiter)
    line, header, fault = next(rows, (0, [], ""))
    if not line:
        return
    try:
        _refuse_other_bytes(header)
    except OutputError as wrong:
        fault = wrong.message
    if fault:
        raise InputError(f"the header, in line {line}: {fault}")
    columns = [cell.strip() for cell in header]
    try:
        names, nested = rename_columns(columns, mapping, wanted)
    except InputError:
        refuse_high_header(((line, cells) for line, cells, _ in islice(rows, 5)), wanted)
        raise
    entries = _read_records(rows, names, find_kept(names, wanted), lines)
    if nested:
        entries = map_entries(entries, nested)
    yield from entries


def find_kept(names: Collection[str], wanted: RequiredColumns) -> frozenset[str]:
    """Return the names of the columns in which an empty cell is an empty text, and not an absent field."""
    found = wanted.find_judgements(names)
    return found if "outputs" in names else found | {"output"}


def _read_records(
    rows: Iterable[CsvRow], names: list[str], kept: frozenset[str], lines: "_Lines"
) -> Iterator[RawRecord]:
    """Yield rows as records; an empty cell is an absent field, except in the columns of `kept`."""
    of_json = [name for name in names if name in _JSON]
    always = [bool(name) and name in kept for name in names]
    for line, cells, unreadable in rows:
        fault = unreadable
        if not fault and len(cells) != len(names):
            count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            fault = f"the row has {count}; expected {len(names)}, as in the header"
        if fault:
            yield line, OutputError(fault, record=name_row(dict(zip(names, cells, strict=False))))
            continue
        record: dict[str, Any] = {
            name: cell for name, cell, keep in zip(names, cells, always, strict=True) if (cell and name) or keep
        }
        try:
            if lines.has_other_bytes:
                _refuse_other_bytes(cells)
            for name in of_json:
                if name in record:
                    record[name] = _read_json(record[name], name)
        except OutputError as wrong:
            sound = [name for name in record if name not in _JSON and find_other_byte(record[name]) is None]
            wrong.record = {name: record[name] for name in sound}
            yield line, wrong
        else:
            yield line, record


def name_row(cells: Mapping[str, str]) -> dict[str, str]:
    """Return the answer, the rubric and the rater of a row that cannot be read, as far as it has these cells."""
    return {name: cells[name] for name in ("id", "rubric", "rater") if cells.get(name)}


def _refuse_other_bytes(cells: Iterable[str]) -> None:
    """Raise OutputError if a byte of a row is not UTF-8."""
    byte = find_other_byte("".join(cells))
    if byte is not None:
        raise OutputError(f"byte {byte:02x} is not UTF-8; save the file as UTF-8")


def _read_json(cell: str, name: str) -> Any:
    """Return the object or list that a cell holds as JSON, or else its text.

    Raises:
        OutputError: if it has a value that JSON does not allow.
    """
    if not cell.lstrip().startswith(("[", "{")):
        return cell
    value = decode_cell(cell, f"/{name}")
    return cell if value is None else value


def refuse_high_header(rows: Iterable[tuple[int, Collection[str]]], wanted: RequiredColumns) -> None:
    """Refuse a table whose header is not its first row: one of these rows has the needed columns.

    Raises:
        InputError: naming that row.
    """
    for number, cells in rows:
        if "id" in {fold_column(cell) for cell in cells} and wanted.is_met_by([cell.strip() for cell in cells]):
            raise InputError(
                f"the names of the columns are in row {number}, not in the first; delete the rows above it"
            )


def _read_rows(lines: "_Lines", delimiter: str) -> Iterator[CsvRow]:
    """Yield the rows that are not blank; without end quotes, the rest of the file is one row that cannot be read."""
    csv.field_size_limit(2 * LIMIT)  # the lines have a limit of their own
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        cells: list[str] = []
        fault = ""
        line, lines.size = reader.line_num + 1, 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as wrong:
            fault = _explain(wrong, line)
        if lines.size > LIMIT and not fault:
            fault = refuse_size().message
        if fault or any(map(str.strip, cells)):
            yield line, cells, fault


def _explain(fault: csv.Error, line: int) -> str:
    """Return the message for a row that the csv module refuses."""
    reason = str(fault)
    if "unexpected end of data" in reason:
        return f"the quote in line {line} is never closed; nothing after it is read"
    if "expected after" in reason:
        return "text after the closing quote of a cell; double the quotes inside a cell"
    if "new-line character" in reason:
        return "a carriage return alone ends a line; save the file with LF or CRLF at the ends of lines"
    return f"not a row of a table: {reason}"


class _Lines:
    """The lines of a text, one by one; bytes that are not UTF-8 become lone surrogates.

    `size` counts the characters since it was set to 0. Of what is beyond the limit, only remains whether it opens or
    closes a quote. `has_other_bytes` says whether there were bytes that are not UTF-8.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.size = 0
        self.has_other_bytes = False

    def __iter__(self) -> Iterator[str]:
        tail = ""
        for text in self._decode():
            if find_other_byte(text) is not None:
                self.has_other_bytes = True
            first, *others = text.split("\n")
            *lines, tail = (tail + first, *others)
            for line in lines:
                self.size += len(line) + 1
                yield f"{line}\n" if self.size <= LIMIT else _keep_quote(line)
            if len(tail) > LIMIT:
                self.size += len(tail)
                tail = _keep_quote(tail)

    def _decode(self) -> Iterator[str]:
        decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        yield from map(decode, self._chunks)
        yield decode(b"", final=True) + "\n"  # a blank line, or the end of the last one


def _keep_quote(text: str) -> str:
    return '"' * (text.count('"') % 2)

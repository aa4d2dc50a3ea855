"""Read Excel workbooks: each row of a sheet with judgements or answers becomes a record, with the number of the row."""

from collections.abc import Iterable, Iterator, Mapping

from rubric_lint.formats.sheets.cells import CellTable, Row, TableError
from rubric_lint.formats.sheets.excel_file import LIMIT, NEEDS, has_openpyxl, read_excel
from rubric_lint.formats.sheets.reading import look_inside
from rubric_lint.scoring.records.decoding import Content, OutputError
from rubric_lint.scoring.records.entries import InputError, RawRecord, SkippedSheet
from rubric_lint.scoring.records.mapping import (
    RECORD_FIELDS,
    SHEET,
    RequiredColumns,
    fold_column,
    map_entries,
    rename_columns,
)
from rubric_lint.scoring.records.text_tables import CELLS, find_kept, name_row, refuse_high_header

HELP = ["Criterion", "Enter", "It means"]
"""The header of the sheet that explains a sheet of labels; it holds no records."""


def read_workbook(
    chunks: Iterable[bytes],
    mapping: Mapping[str, str],
    wanted: RequiredColumns,
    skipped: list[SkippedSheet] | None = None,
) -> Iterator[RawRecord]:
    """Yield the rows of the sheets that have a known column, or of the first one; each record names its sheet.

    The other sheets that have rows are added to `skipped`.

    Raises:
        InputError: if the workbook cannot be read, or no sheet has what is needed.
    """
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > LIMIT:
            raise InputError(f"the workbook has more than {LIMIT / 1e6:.0f} MB; save the sheet as CSV")
    kind = look_inside(bytes(data))
    if kind != "Excel":
        raise InputError(f"this is {kind}; save it as .xlsx or .csv")
    if not has_openpyxl():
        raise InputError(f"reading an Excel file {NEEDS}")
    try:
        tables = read_excel("", bytes(data))
    except TableError as fault:
        raise InputError(_place(fault.place.full, fault.message)) from None
    known = {*CELLS, *wanted.judgements, *map(fold_column, mapping.values())}
    found = [table for table in tables if not known.isdisjoint(map(fold_column, _list_texts(table.header)))]
    for table in tables:
        if table not in found:
            refuse_high_header([(_number(row), _list_texts(row)) for row in table.rows[:5]], wanted)
            if skipped is not None and found and table.rows and _list_texts(table.header) != HELP:
                skipped.append(SkippedSheet(table.name, len(table.rows)))
    first, *others = found or tables[:1]
    whole = [note for note in tables[0].notes if not note.rows and note not in first.notes]  # as on hidden sheets
    first = first._replace(notes=(*whole, *first.notes))
    for table in [first, *others]:
        yield from _read(table, mapping, wanted)


def _list_texts(row: Row) -> list[str]:
    return [cell.text for cell in row.cells.values()]


def _read(table: CellTable, mapping: Mapping[str, str], wanted: RequiredColumns) -> Iterator[RawRecord]:
    columns = [number for number, cell in table.header.cells.items() if not cell.is_empty]
    for number in columns:
        cell = table.header.cell(number)
        if cell.fault:
            raise InputError(_place(cell.place.full, cell.fault))
    header = [table.header.cell(number).text.strip() for number in columns]
    try:
        names, nested = rename_columns(header, mapping, wanted)
    except InputError as fault:
        raise InputError(f"sheet `{table.name}`: {fault}") from None
    hidden: dict[int, Row] = {}
    for note in table.notes:
        hidden.update({_number(row): row for row in note.rows})
        if note.is_loss and not note.rows:
            yield 1, OutputError(_place(note.place.full, note.message))
    needed = {*RECORD_FIELDS, *wanted.judgements, "rater", "chosen", *mapping}
    kept = find_kept(names, wanted)
    named = [(name, column) for name, column in zip(names, columns, strict=True) if name]
    shown = {_number(row): row for row in table.rows}

    def read_rows() -> Iterator[RawRecord]:
        for number, row in sorted((shown | hidden).items()):
            if all(row.cell(column).is_empty for column in columns):
                continue
            if number in hidden:
                message = f"sheet `{table.name}`: the row is hidden; show it or delete it"
                known = name_row({name: row.cell(column).text for name, column in named})
                yield number, OutputError(message, record=known)
            else:
                yield number, _read_row(row, named, table.name, needed, kept)

    rows = map_entries(read_rows(), nested) if nested else read_rows()
    yield from rows


def _read_row(row: Row, columns: list[tuple[str, int]], sheet: str, needed: set[str], kept: frozenset[str]) -> Content:
    """Return a row as a record; an empty cell is an absent field, except in `kept`; only a needed one may be faulty."""
    record: dict[str, str] = {} if any(name == SHEET for name, _ in columns) else {SHEET: sheet}
    for name, number in columns:
        cell = row.cell(number)
        if cell.fault and (fold_column(name) in needed or name in needed):
            return OutputError(_place(cell.place.full, cell.fault), record=record)
        if cell.fault and name in kept:  # it may be a judgement, which the fault is not
            record[name] = cell.fault
        elif not cell.fault and (not cell.is_empty or name in kept):
            record[name] = cell.text.strip() if name == "id" else cell.text
    return record


def _number(row: Row) -> int:
    return int("".join(filter(str.isdigit, row.place.short)))


def _place(full: str, message: str) -> str:
    return f"{full.removeprefix(': ')}: {message}".removeprefix(": ")

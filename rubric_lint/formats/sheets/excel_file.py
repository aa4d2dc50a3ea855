"""Read tables from Excel workbooks, a sheet each, with the cell of each value."""

import io
import re
import warnings
import zipfile
from datetime import date, time, timedelta
from decimal import Decimal
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rubric_lint.formats.sheets.cells import (
    DATE_ADVICE,
    Cell,
    CellPlace,
    CellTable,
    Row,
    TableError,
    TableNote,
    UnreadableError,
)
from rubric_lint.model.messages import join_words, list_names, pluralize, point_to_known
from rubric_lint.model.suggest import format_need

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet


NEEDS = format_need("excel")
"""The message of a command that reads or writes Excel files, where that package is not installed."""

LONGEST = 32_767
"""The number of UTF-16 units that a cell holds."""

_WRITTEN = re.compile(r"_x([0-9A-Fa-f]{4})_")
_HELD_BACK = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def encode_text(text: str) -> str:
    """Return a text as a cell holds it (ST_Xstring of ECMA-376)."""
    return _HELD_BACK.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def has_openpyxl() -> bool:
    """Return whether the package is installed that reads and writes Excel files."""
    return find_spec("openpyxl") is not None


_XML_STARTS = {b"<", b"\xef", b"\xfe", b"\xff"}
LIMIT = 50_000_000
"""The size limit in bytes of an unpacked workbook with its pictures."""

XML_LIMIT = 10_000_000
"""The size limit in bytes of the XML in a workbook: openpyxl needs up to 50 times that in memory."""


def read_excel(name: str, data: bytes, only: str | None = None, header_row: int | None = None) -> list[CellTable]:
    """Return the tables of a workbook: each visible sheet that has content, or only the sheet of this name.

    Cells with formulas and merged cells have a fault.

    Raises:
        TableError: if it cannot be read, or no sheet has a table.
        ImportError: if openpyxl is not installed.
    """
    whole = CellPlace(name, "the workbook")
    _check(data, whole)
    book = _load(data, whole)
    if only is not None and only not in book.sheetnames:
        raise TableError(whole, f"no sheet is named `{only}`; {point_to_known(only, book.sheetnames)}")
    tables, notes = [], []
    for sheet in book.worksheets:
        reader = _Sheet(name, sheet)
        if only not in {None, sheet.title} or not sheet._cells:
            continue
        if sheet.sheet_state != "visible" and only is None:
            notes.append(TableNote(reader.whole, "not read, as it is hidden; show it", is_loss=True))
            continue
        table = reader.read(header_row)
        if table:
            tables.append(table)
    titles = {sheet.title for sheet in book.worksheets}
    charts = [title for title in book.sheetnames if title not in titles]
    if charts:
        notes.append(TableNote(whole, f"not read: {list_names(charts)}, which hold charts"))
    if not tables:
        reason = "no sheet with a table is visible" if notes else "no sheet with a table"
        raise TableError(whole, reason)
    return [tables[0].with_notes(notes), *tables[1:]]


def _check(data: bytes, whole: CellPlace) -> None:
    """Raise UnreadableError if a file is not a workbook, or too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
            contents = [archive.read(member) for member in archive.infolist()] if size <= LIMIT else []
    except Exception as fault:  # zipfile raises many kinds of errors for damaged files
        raise UnreadableError(whole, f"cannot be read: it is damaged ({fault}); save it again") from None
    contents = [content for content in contents if content.lstrip()[:1] in _XML_STARTS]
    xml = sum(map(len, contents))
    if size > LIMIT or xml > XML_LIMIT:
        sizes = f"unpacked, it has {size / 1e6:.1f} MB, {xml / 1e6:.1f} MB of that XML"
        limits = f"the limits are {LIMIT / 1e6:.0f} MB and {XML_LIMIT / 1e6:.0f} MB"
        advice = "copy the table to a workbook of its own, or save it as .csv"
        raise UnreadableError(whole, f"{sizes}, and {limits}; {advice}")
    if any(b"<!DOCTYPE" in content.replace(b"\0", b"") for content in contents):
        raise UnreadableError(whole, "cannot be read: its XML declares entities, which no spreadsheet program writes")
    if any(b"purl.oclc.org/ooxml/spreadsheetml" in content for content in contents):
        raise UnreadableError(whole, "cannot be read: it is a Strict Open XML workbook; save it as an Excel workbook")


def _load(data: bytes, whole: CellPlace) -> Any:
    from openpyxl import load_workbook  # noqa: PLC0415  (an extra; a quarter of a second)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about pictures and validations, which are not read
            return load_workbook(io.BytesIO(data), keep_links=False)
    except Exception as fault:  # openpyxl raises many kinds of errors for damaged files
        reason = f"it is damaged ({type(fault).__name__}: {fault})"
        raise UnreadableError(whole, f"cannot be read: {reason}; save it again") from None


class _Sheet:
    """Reads one sheet, whose place is `whole`."""

    def __init__(self, file: str, sheet: "Worksheet") -> None:
        from openpyxl.utils import get_column_letter  # noqa: PLC0415

        self._name_column = get_column_letter
        self._file = file
        self._sheet = sheet
        self._notes: list[TableNote] = []
        self.whole = CellPlace(f"{file}: sheet `{sheet.title}`", f"sheet `{sheet.title}`")

    def read(self, header_row: int | None) -> CellTable | None:
        """Return the table of the sheet; None if nothing is in its cells."""
        filled = self._fill()
        hidden_rows = {number for number, row in self._sheet.row_dimensions.items() if row.hidden}
        hidden_columns: set[int] = set()
        for columns_format in self._sheet.column_dimensions.values():
            if columns_format.hidden:
                hidden_columns.update(range(columns_format.min or 1, min(columns_format.max or 1, 16_384) + 1))
        used = {place for place, cell in filled.items() if not cell.is_empty}
        shown = {place for place in used if place[0] not in hidden_rows and place[1] not in hidden_columns}
        if not shown:
            return None
        columns = sorted({column for _, column in shown})
        first = header_row or min(row for row, _ in shown)
        hidden = sorted({row for row, _ in used} & hidden_rows)
        below = tuple(self._read_row(filled, row, columns) for row in hidden if row > first)
        self._note_hidden("row", hidden, below)
        self._note_hidden("column", sorted({column for _, column in used} & hidden_columns))
        above = sorted({row for row, _ in shown if row < first})
        if above:
            rows = f"{pluralize(len(above), 'row')} {join_words([str(row) for row in above[:20]])}"
            self._notes.append(TableNote(self._place(above[0], 1), f"not read: {rows}, above the header"))
        numbers = sorted({row for row, _ in shown if row >= first} | {first})
        if len(columns) * len(numbers) > 1_000_000:
            message = f"the table has {len(numbers):,} rows and {len(columns):,} columns, far more than a rubric"
            raise TableError(self.whole, message)
        places = [at for at in sorted(shown) if at[0] >= first]
        cells = {at: self._sheet._cells[at] for at in places if at in self._sheet._cells}
        struck = [at for at, cell in cells.items() if cell.has_style and cell.font.strike]
        self._note_cells("read although it is struck through:", struck)
        self._note_cells("not read: comments on", [at for at, cell in cells.items() if cell.comment])
        header, *below_header = [self._read_row(filled, number, columns) for number in numbers]
        return CellTable(self._sheet.title, header, tuple(below_header), tuple(self._notes))

    def _read_row(self, filled: dict[tuple[int, int], Cell], number: int, columns: list[int]) -> Row:
        cells = {column: filled.get((number, column)) or Cell("", self._place(number, column)) for column in columns}
        return Row(cells, self._place(number, columns[0]))

    def _fill(self) -> dict[tuple[int, int], Cell]:
        """Return the cells by row and column; those of a merged range have a fault."""
        found = {place: self._read(cell, *place) for place, cell in self._sheet._cells.items()}
        for merged in self._sheet.merged_cells.ranges:
            top = found.get((merged.min_row, merged.min_col))
            if top is not None and not top.is_empty:
                message = (
                    f"{merged.coord} is merged; unmerge it and write its value into each of its cells, or remove it"
                )
                for row, column in merged.cells:
                    found[row, column] = Cell(top.text, self._place(row, column), message)
        return found

    def _read(self, cell: Any, row: int, column: int) -> Cell:
        """Return a cell of openpyxl as ours; with a fault if what it shows has no single meaning here."""
        value, text, fault = cell.value, "", ""
        if cell.data_type == "f":
            fault = "a formula; copy the cell, and paste its value"
        elif isinstance(value, date | time | timedelta):
            shown = str(value).removesuffix(" 00:00:00")
            fault = f"a date or time ({shown}): {DATE_ADVICE}"
        elif cell.data_type == "e":
            fault = f"the error value {value}; correct the cell"
        elif isinstance(value, bool):
            text = "true" if value else "false"
        elif isinstance(value, int | float) and "%" in _LITERAL.sub("", cell.number_format):
            text = f"{_write_float(float(Decimal(repr(value)) * 100))}%"
        elif isinstance(value, float):
            text = _write_float(value)
        elif value is not None:
            text = _WRITTEN.sub(lambda found: chr(int(found[1], 16)), str(value))
        return Cell(text, self._place(row, column), fault)

    def _note_cells(self, message: str, cells: list[tuple[int, int]]) -> None:
        if cells:
            names = list_names([self._place(*at).short.removeprefix("cell ") for at in cells])
            self._notes.append(TableNote(self._place(*cells[0]), f"{message} {names}"))

    def _note_hidden(self, what: str, numbers: list[int], rows: tuple[Row, ...] = ()) -> None:
        if numbers:
            names = join_words([str(number) if what == "row" else self._name_column(number) for number in numbers[:20]])
            they_are = pluralize(len(numbers), "it is", "they are")
            message = (
                f"not read: {pluralize(len(numbers), what)} {names}, as {they_are} hidden; show what should be read"
            )
            self._notes.append(TableNote(self.whole, message, is_loss=True, rows=rows))

    def _place(self, row: int, column: int) -> CellPlace:
        cell = f"{self._name_column(column)}{row}"
        return CellPlace(f"{self._file}: cell {cell} of sheet `{self._sheet.title}`", f"cell {cell}")


_LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\[\]]*\]')


def _write_float(value: float) -> str:
    """Return a number as a spreadsheet shows it: a whole one without a point."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{Decimal(repr(value)):f}"

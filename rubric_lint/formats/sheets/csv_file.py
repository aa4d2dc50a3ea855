"""Read a table from CSV, with the line and column of each cell, and guard texts that look like formulas."""

import re
from collections.abc import Collection, Iterator

from rubric_lint.formats.sheets.cells import Cell, CellTable, Row, TableError, TableNote, place_in
from rubric_lint.formats.sheets.columns import Choices, find_step, fold, is_known
from rubric_lint.model.messages import join_words, shorten
from rubric_lint.source.source import Source, stem_of

# What spreadsheets take for the start of a formula, after white space too.
_FORMULA = re.compile(
    r"'*\s*[=+\-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}]"
)


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet could take a text for a formula."""
    return _FORMULA.match(text) is not None


def escape_formula(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet could take it for a formula."""
    return f"'{text}" if is_formula(text) else text


_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_ENDS = "\r\n"


def read_csv(source: Source, choices: Choices) -> list[CellTable]:
    """Return the one table of a CSV file.

    Commas, semicolons or tabs may separate its cells: the header shows which. If its rows end in CRLF, so do the lines
    in its cells, and they are read as line ends. With `header_row`, the header is in that
    line and what is above it is not read.

    Raises:
        TableError: if it is not a table.
    """
    if "\0" in source.text:
        at = source.text.index("\0")
        raise TableError(place_in(source, at), "a null character, as in UTF-16 without a BOM; save the file as UTF-8")
    notes: list[TableNote] = []
    start, delimiter, header_row = 0, "", choices.header_row
    if header_row is not None:
        if header_row > source.line_count:
            message = f"--header-row {header_row}: the file has {source.line_count} lines"
            raise TableError(place_in(source, 0), message)
        start = source.line_span(header_row).start
        if source.text[:start].strip():
            notes.append(TableNote(place_in(source, 0), f"not read: what is above line {header_row}, the header"))
    mark = _EXCEL_MARK.match(source.text, start)
    if mark:
        delimiter, start = mark[1], mark.end()
    delimiter = delimiter or _find_delimiter(source, start, {*choices.fields, *choices.ignored})
    if delimiter != ",":
        name = _DELIMITERS.get(delimiter, f"`{delimiter}`")
        notes.append(TableNote(place_in(source, start), f"read with {name} between cells"))
    rows: list[Row] = []
    for row in _read_rows(source, start, delimiter):
        if rows or not row.is_empty:
            rows.append(Row({at: _unescape(cell, notes) for at, cell in row.cells.items()}, row.place))
    if not rows:
        raise TableError(place_in(source, start), "nothing to read; expected a header and rows")
    return [CellTable(stem_of(source.name), rows[0], tuple(rows[1:]), tuple(notes))]


_EXCEL_MARK = re.compile(r"sep=(.)(?:\r\n|\r|\n)", re.IGNORECASE)


def _unescape(cell: Cell, notes: list[TableNote]) -> Cell:
    """Return a cell without the apostrophe of `escape_formula`; note it, and what looks like a formula."""
    if cell.text.startswith("="):
        notes.append(TableNote(cell.place, f"read as a text: `{shorten(cell.text)}` looks like a formula"))
    if not (cell.text.startswith("'") and is_formula(cell.text)):
        return cell
    notes.append(
        TableNote(cell.place, "read without its first apostrophe, which keeps a spreadsheet from seeing a formula")
    )
    return cell._replace(text=cell.text[1:])


def _find_delimiter(source: Source, start: int, mapped: Collection[str]) -> str:
    """Return the delimiter of the header; raise TableError if there is more than one way to read it."""
    found = {}
    fault: TableError | None = None
    for delimiter in _DELIMITERS:
        try:
            header = next((row for row in _read_rows(source, start, delimiter) if not row.is_empty), None)
        except TableError as wrong:  # a quote ends before another delimiter
            fault = fault or wrong
            continue
        words = [] if header is None else [cell.text.strip() for cell in header.cells.values() if cell.text.strip()]
        if len(words) > 1:
            found[delimiter] = all(is_known(word) or fold(word) in mapped or find_step(word) for word in words)
    if fault and not found:
        raise fault
    known = [delimiter for delimiter, is_sound in found.items() if is_sound] or list(found)
    if len(known) > 1:
        names = join_words([_DELIMITERS[delimiter] for delimiter in known], "or")
        message = f"the cells of the header may be separated by {names}; put the words that hold them in quotes"
        raise TableError(place_in(source, start), message)
    return known[0] if known else ","


def _read_rows(source: Source, start: int, delimiter: str) -> Iterator[Row]:
    """Yield the rows from an offset on, as RFC 4180 reads them; raise TableError if a quoted cell does not end."""
    text = source.text
    plain = re.compile(rf"[^{re.escape(delimiter)}{_ENDS}]*")
    quoted = re.compile(r'"((?:[^"]|"")*+)"')
    at, length = start, len(text)
    ends_in_crlf = False
    while at < length:
        row_at, cells = at, dict[int, Cell]()
        while True:
            is_quoted = text.startswith('"', at)
            pattern = quoted if is_quoted else plain
            found = pattern.match(text, at)
            if found is None:
                raise TableError(place_in(source, at), "this quote is never closed")
            content, end = found[int(is_quoted)], found.end()
            if is_quoted:
                rest = plain.match(text, end)
                after = rest[0] if rest else ""
                if after.strip(" "):
                    message = "text after the closing quote of a cell; double inner quotes"
                    raise TableError(place_in(source, end), message)
                content, end = content.replace('""', '"'), end + len(after)
                if ends_in_crlf:
                    content = content.replace("\r\n", "\n")
            elif content.lstrip(" ").startswith('"'):
                message = "white space before a quote; remove it, or quote the whole cell"
                raise TableError(place_in(source, at), message)
            cells[len(cells)] = Cell(content, place_in(source, at))
            at = end + 1
            if text[end:at] != delimiter:
                break
        yield Row(cells, place_in(source, row_at))
        ends_in_crlf = text.startswith("\r\n", end)
        at = end + 1 + ends_in_crlf

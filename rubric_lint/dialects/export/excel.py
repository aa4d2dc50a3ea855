"""Write rubrics as an Excel workbook, a sheet each, which `rubric-lint import` reads back."""

import io
import re
import zipfile
from decimal import Decimal
from typing import TYPE_CHECKING

from rubric_lint.dialects.export.rows import Value, as_sheet, lost_space, texts_of
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportError,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    lost_threshold,
)
from rubric_lint.dialects.export.texts import write_decimal
from rubric_lint.dialects.tables.excel_file import LONGEST, encode_text

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.worksheet.worksheet import Worksheet

_TITLE = "Excel"
_AS_TEXT = "@"  # keeps Excel from making a formula or a date of a text that somebody edits
_WIDTHS = {"what is judged": 40, "expected_outcome": 80}
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write(rubrics: Rubrics, _sources: Sources = NOWHERE) -> Export:
    """Write a sheet for each rubric; texts are texts, never formulas. The same rubrics give the same bytes.

    Raises:
        ExportError: if a text is too long for a cell.
        ImportError: if openpyxl is not installed.
    """
    from openpyxl import Workbook  # noqa: PLC0415  (an extra; a quarter of a second)

    book = Workbook()
    book.remove(book.worksheets[0])
    losses: list[Loss] = []
    for name, rubric in rubrics.items():
        table = as_sheet(name, rubric)
        for text, path in texts_of(table):
            if len(encode_text(text).encode("utf-16-le")) // 2 > LONGEST:
                raise ExportError(name, path, f"this text is longer than the {LONGEST:,} characters of a cell")
        title = _name_sheet(name, {sheet.title.casefold() for sheet in book.worksheets})
        if title != name:
            losses.append(Loss(name, rubric.path, f"the name `{name}`: the sheet is called `{title}`"))
        sheet = book.create_sheet(title)
        sheet.append(table.heads)
        for number, row in enumerate(table.rows, 2):
            for column, value in enumerate(row, 1):
                _fill(sheet.cell(number, column), value)
        _lay_out(sheet, table.heads)
        losses += [*lost_space(name, table), *lost_threshold(name, rubric)]
    stream = io.BytesIO()
    book.save(stream)
    return Export("", tuple(losses), binary=_settle(stream.getvalue()))


def _fill(cell: "Cell", value: Value) -> None:
    """Put a value into a cell; a number that floating point cannot hold exactly is a text."""
    content = value.content
    if isinstance(content, Decimal) and Decimal(repr(float(content))) == content:
        cell.value = float(content)
    elif isinstance(content, int) and abs(content) < 10**15:
        cell.value = content
    elif content is not None:
        text = write_decimal(content) if isinstance(content, Decimal) else str(content)
        cell.value = encode_text(text)
        cell.data_type = "s"  # a text that begins with = is no formula
        cell.number_format = _AS_TEXT


def _lay_out(sheet: "Worksheet", heads: tuple[str, ...]) -> None:
    from openpyxl.styles import Alignment, Font  # noqa: PLC0415
    from openpyxl.utils import get_column_letter  # noqa: PLC0415

    sheet.freeze_panes = "A2"
    for column, head in enumerate(heads, 1):
        sheet.cell(1, column).font = Font(bold=True)
        sheet.column_dimensions[get_column_letter(column)].width = _WIDTHS.get(head, 20)
    for row in sheet.iter_rows(min_row=2):
        for cell in row:
            cell.alignment = Alignment(wrap_text=True, vertical="top")


_FORBIDDEN = re.compile(r"[\\/*?:\[\]\x00-\x1f\ufffe\uffff]")


def _name_sheet(name: str, taken: set[str]) -> str:
    """Return a title that Excel accepts: at most 31 characters, none of some, and not that of another sheet."""
    base = title = _FORBIDDEN.sub(" ", name).strip().strip("'")[:31].strip() or "rubric"
    for number in range(2, len(taken) + 3):
        if title.casefold() not in taken | {"history"}:
            break
        title = f"{base[:26].rstrip()} {number}"
    return title


def _settle(data: bytes) -> bytes:
    """Return a workbook without the time of its making."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as made, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as settled:
        for part in made.infolist():
            content = made.read(part)
            if part.filename == "docProps/core.xml":
                content = re.sub(rb"(<dcterms:\w+[^>]*>)[^<]*", rb"\g<1>1980-01-01T00:00:00Z", content)
            settled.writestr(zipfile.ZipInfo(part.filename, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


TARGET = ExportTarget(_TITLE, "a sheet for each rubric, as an Excel workbook", write)

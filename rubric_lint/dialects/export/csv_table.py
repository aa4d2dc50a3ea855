"""Write a rubric as CSV, which `rubric-lint import` reads back and spreadsheets open."""

import codecs
import csv
import io
from collections.abc import Iterator
from decimal import Decimal

from rubric_lint.dialects.export.rows import Sheet, Value, as_sheet, lost_space, texts_of
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportError,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    lost_name,
    lost_threshold,
)
from rubric_lint.dialects.export.texts import write_decimal
from rubric_lint.dialects.tables.csv_file import armed
from rubric_lint.messages import is_obeyed, visible

_TITLE = "CSV"
_LINE_ENDS = "\n\r\t"


def write(rubrics: Rubrics, _sources: Sources = NOWHERE) -> Export:
    """Write one table. A text that a spreadsheet would take for a formula begins with an apostrophe.

    A text with other characters than ASCII makes the file begin with a BOM: Excel needs it.

    Raises:
        ExportError: if there are several rubrics.
    """
    if len(rubrics) > 1:
        name, rubric = list(rubrics.items())[1]
        raise ExportError(name, rubric.path, f"{_TITLE} holds one table; choose a rubric with --rubric, or write xlsx")
    ((name, rubric),) = rubrics.items()
    sheet = as_sheet(name, rubric)
    stream = io.StringIO()
    plain = csv.writer(stream, lineterminator="\n")
    quoted = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)  # the other one leaves a lone CR bare
    plain.writerow(sheet.heads)
    for row in sheet.rows:
        cells = [_write(value) for value in row]
        (quoted if any("\r" in cell for cell in cells) else plain).writerow(cells)
    text = stream.getvalue()
    losses = [*_lost(name, sheet), *lost_space(name, sheet), *lost_threshold(name, rubric), *lost_name(name, rubric)]
    return Export(text if text.isascii() else codecs.BOM_UTF8.decode() + text, tuple(losses))


def _write(value: Value) -> str:
    content = value.content
    if isinstance(content, str):
        return armed(_shown(content))
    if isinstance(content, Decimal):
        return write_decimal(content)
    return "" if content is None else str(content)


def _shown(text: str) -> str:
    """Return a text without characters that a terminal or the log of a CI system would obey."""
    if is_obeyed(text):
        return "\n".join(map(visible, text.split("\n")))
    return "".join(char if char in _LINE_ENDS else visible(char) for char in text)


def _lost(name: str, sheet: Sheet) -> Iterator[Loss]:
    for text, path in texts_of(sheet):
        if _shown(text) != text:
            message = f"what {_TITLE} cannot show: invisible characters or orders to CI systems are written as escapes"
            yield Loss(name, path, message)


TARGET = ExportTarget(_TITLE, "a table for spreadsheets, as CSV", write)

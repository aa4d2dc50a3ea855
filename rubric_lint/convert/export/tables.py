"""Write rubrics as tables: CSV and Excel, which `rubric-lint import` reads back, and Markdown for readers."""

import codecs
import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from rubric_lint.convert.export.entries import as_number, bounds, format_band, has_weight, sort_levels
from rubric_lint.convert.export.suites import group_cases
from rubric_lint.convert.export.target import ExportContext, ExportError, ExportTarget, shares
from rubric_lint.convert.export.texts import write_decimal
from rubric_lint.formats.sheets.cells import MUST_BE_MET
from rubric_lint.formats.sheets.csv_file import escape_formula
from rubric_lint.formats.sheets.excel_file import LONGEST, encode_text
from rubric_lint.formats.sheets.markdown_file import CASE_TEXTS, unescape
from rubric_lint.model.criterion import HIGHEST, Band, Criterion, Scale, Shape
from rubric_lint.model.messages import escape, is_obeyed, percent, table, visible
from rubric_lint.model.rubric import Rubric
from rubric_lint.source.path import Path

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.cell.cell import Cell


class _CellValue(NamedTuple):
    """What a cell holds: a text, a number or nothing, and its path in the rubric."""

    content: str | int | Decimal | None
    path: Path


class _RubricSheet(NamedTuple):
    """A table: its header, and its rows with a value for each column."""

    heads: tuple[str, ...]
    rows: tuple[tuple[_CellValue, ...], ...]

    @property
    def texts(self) -> Iterator[tuple[str, Path]]:
        return ((value.content, value.path) for row in self.rows for value in row if isinstance(value.content, str))


_HEADS = (
    "id",
    "what is judged",
    "weight",
    "required_min_score",
    "required_min_level",
    "score_range",
    "level",
    "name",
    "expected_outcome",
)


def _make_sheet(rubric: Rubric) -> _RubricSheet:
    """Lay a rubric out: a row for each criterion, or for each of its bands or levels, without empty columns.

    The header names the fields as `rubric-lint import` reads them.
    """
    rows = []
    if rubric.shape is Shape.HOLISTIC:
        rows = _lay_out_bands(rubric.scales[0])
    for criterion in rubric.criteria:
        scale = _lay_out_bands(criterion.scale)
        for level in criterion.levels or ():
            number, name = _CellValue(level.number, level.number_path), _CellValue(level.name, level.path)
            outcome = _CellValue(level.outcome, level.outcome_path)
            scale.append({"level": number, "name": name, "expected_outcome": outcome})
        own: dict[str, _CellValue] = {"id": _CellValue(criterion.id, criterion.path_of("id"))}
        if criterion.outcome is not None:
            judged = "what is judged" if scale else "expected_outcome"
            own[judged] = _CellValue(criterion.outcome, criterion.outcome_path)
        if has_weight(criterion) and criterion.weight is not None:
            own["weight"] = _CellValue(as_number(criterion.weight), criterion.path_of("weight"))
        if criterion.gate is not None:
            gate = "required_min_level" if criterion.levels else "required_min_score"
            own[gate] = _CellValue(criterion.gate, criterion.gate_path)
        rows += [{**own, **row} for row in scale or [{}]]
    heads = tuple(head for head in _HEADS if any(head in row and row[head].content not in {None, ""} for row in rows))
    empty = _CellValue(None, ())
    return _RubricSheet(heads, tuple(tuple(row.get(head, empty) for head in heads) for row in rows))


def _lay_out_bands(scale: Scale | None) -> list[dict[str, _CellValue]]:
    return [_lay_out_band(band) for band in scale.bands] if scale else []


def _lay_out_band(band: Band) -> dict[str, _CellValue]:
    scores, outcome = _CellValue(format_band(band), band.path), _CellValue(band.outcome, band.outcome_path)
    return {"score_range": scores, "expected_outcome": outcome}


def _report_texts(context: ExportContext, name: str, sheet: _RubricSheet) -> None:
    """Report the threshold, and texts with white space around them, which import leaves out."""
    context.report_threshold(name)
    for text, path in sheet.texts:
        if text != text.strip():
            context.report_loss(name, path, "the white space around this text: `import` leaves it out")


def _write_csv(context: ExportContext) -> str:
    """Write one table. A text that a spreadsheet would take for a formula begins with an apostrophe.

    A text with other characters than ASCII makes the file begin with a BOM: Excel needs it.
    """
    name, rubric = context.only
    sheet = _make_sheet(rubric)
    stream = io.StringIO()
    plain = csv.writer(stream, lineterminator="\n")
    quoted = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)  # the other one leaves a lone CR bare
    plain.writerow(sheet.heads)
    for row in sheet.rows:
        cells = [_write_cell(value) for value in row]
        writer = quoted if any("\r" in cell for cell in cells) else plain
        writer.writerow(cells)
    for text, path in sheet.texts:
        if _show(text) != text:
            message = "what CSV cannot show: invisible characters or orders to CI systems are written as escapes"
            context.report_loss(name, path, message)
    _report_texts(context, name, sheet)
    context.report_name(name)
    text = stream.getvalue()
    return text if text.isascii() else codecs.BOM_UTF8.decode() + text


def _write_cell(value: _CellValue) -> str:
    content = value.content
    if isinstance(content, str):
        return escape_formula(_show(content))
    if isinstance(content, Decimal):
        return write_decimal(content)
    return "" if content is None else str(content)


def _show(text: str) -> str:
    """Return a text without characters that a terminal or the log of a CI system would obey."""
    if is_obeyed(text):
        return "\n".join(map(visible, text.split("\n")))
    return "".join(char if char in "\n\r\t" else visible(char) for char in text)


def _write_excel(context: ExportContext) -> bytes:
    """Write a sheet for each rubric; texts are texts, never formulas. The same rubrics give the same bytes.

    Raises:
        ExportError: if a text is too long for a cell.
        ImportError: if openpyxl is not installed.
    """
    from openpyxl import Workbook  # noqa: PLC0415  (an extra; a quarter of a second)
    from openpyxl.styles import Alignment, Font  # noqa: PLC0415
    from openpyxl.utils import get_column_letter  # noqa: PLC0415

    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rubric in context.rubrics.items():
        made = _make_sheet(rubric)
        for text, path in made.texts:
            if len(encode_text(text).encode("utf-16-le")) // 2 > LONGEST:
                raise ExportError(name, path, f"this text is longer than the {LONGEST:,} characters of a cell")
        title = _name_sheet(name, {sheet.title.casefold() for sheet in book.worksheets})
        if title != name:
            context.report_loss(name, rubric.path, f"the name `{name}`: the sheet is called `{title}`")
        sheet = book.create_sheet(title)
        sheet.append(made.heads)
        for number, row in enumerate(made.rows, 2):
            for column, value in enumerate(row, 1):
                fill(sheet.cell(number, column), value.content)
        sheet.freeze_panes = "A2"
        for column, head in enumerate(made.heads, 1):
            sheet.cell(1, column).font = Font(bold=True)
            width = {"what is judged": 40, "expected_outcome": 80}.get(head, 20)
            sheet.column_dimensions[get_column_letter(column)].width = width
        for cells in sheet.iter_rows(min_row=2):
            for cell in cells:
                cell.alignment = Alignment(wrap_text=True, vertical="top")
        _report_texts(context, name, made)
    return save(book)


def fill(cell: "Cell", content: str | int | Decimal | None) -> None:
    """Put a value into a cell; a number that floating point cannot hold exactly is a text."""
    if isinstance(content, Decimal) and Decimal(repr(float(content))) == content:
        cell.value = float(content)
    elif isinstance(content, int) and abs(content) < 10**15:
        cell.value = content
    elif content is not None:
        text = write_decimal(content) if isinstance(content, Decimal) else str(content)
        cell.value = encode_text(text)
        cell.data_type = "s"  # a text that begins with = is not a formula
        cell.number_format = "@"  # keeps Excel from making a formula or a date of a text that somebody edits


_FORBIDDEN = re.compile(r"[\\/*?:\[\]\x00-\x1f\ufffe\uffff]")


def _name_sheet(name: str, other_titles: set[str]) -> str:
    """Return a title that Excel accepts: at most 31 characters, none of some, and not that of another sheet."""
    base = title = _FORBIDDEN.sub(" ", name).strip().strip("'")[:31].strip() or "rubric"
    for number in range(2, len(other_titles) + 3):
        if title.casefold() not in other_titles | {"history"}:
            break
        title = f"{base[:26].rstrip()} {number}"
    return title


def save(book: "Workbook") -> bytes:
    """Return the file of a workbook, without the time of its making."""
    saved, undated = io.BytesIO(), io.BytesIO()
    book.save(saved)
    with zipfile.ZipFile(saved) as source, zipfile.ZipFile(undated, "w", zipfile.ZIP_DEFLATED) as target:
        for part in source.infolist():
            content = source.read(part)
            if part.filename == "docProps/core.xml":
                content = re.sub(rb"(<dcterms:\w+[^>]*>)[^<]*", rb"\g<1>1980-01-01T00:00:00Z", content)
            target.writestr(zipfile.ZipInfo(part.filename), content, zipfile.ZIP_DEFLATED)  # from 1980, its default
    return undated.getvalue()


_ASKED = {
    Shape.CHECKLIST: "Each criterion is met or not.",
    Shape.SCORE_RANGES: "Each criterion gets a whole number from 0 to 10.",
    Shape.HOLISTIC: "The answer as a whole gets a whole number from 0 to 10.",
    Shape.LEVELS: "Each criterion is at one of its levels.",
}


def _write_markdown(context: ExportContext) -> str:
    """Write a section for each rubric; `rubric-lint import` reads back what is not listed as lost."""
    texts: dict[str, Mapping[str, str]] = {}
    if context.suite:
        for case in group_cases(context):
            texts |= {member.name: case.converted.fields for member in case.rubrics}
    for name, rubric in context.rubrics.items():
        for text, path in _make_sheet(rubric).texts:
            if unescape(escape(text)).strip() != text:
                unshown = "white space that it joins, invisible characters, orders to CI systems"
                context.report_loss(name, path, f"what Markdown cannot show: {unshown}")
        for criterion in rubric.criteria:
            if not criterion.scale and not criterion.levels and criterion.gate not in {None, HIGHEST}:
                shown = f"shown as `{MUST_BE_MET}`, which is {HIGHEST}"
                reason = shown if criterion.gate else "not shown, as nothing misses it"
                context.report_gate(name, criterion, reason)
    sections = (_write_section(name, rubric, texts.get(name, {})) for name, rubric in context.rubrics.items())
    return "\n".join(line for section in sections for line in section)


def _write_section(name: str, rubric: Rubric, texts: Mapping[str, str]) -> Iterator[str]:
    pass_at, borderline_at = rubric.thresholds
    yield from (f"## {escape(name)}", "")
    for field, text in texts.items():
        yield from (f"**{CASE_TEXTS[field]}:** {escape(text)}", "")
    verdict = f"The answer passes from a score of {pass_at}"
    if borderline_at < pass_at:
        verdict += f" and is borderline from {borderline_at}"
    if any(criterion.gate for criterion in rubric.criteria):
        verdict += ", unless a criterion stays below its minimum"
    yield from (f"{_ASKED[rubric.shape or Shape.CHECKLIST]} {verdict}.", "")
    if rubric.shape is Shape.HOLISTIC:
        yield from _write_bands(rubric.scales[0].bands)
        return
    heads = ("criterion", "what is judged", "weight", "share", "minimum")
    pairs = zip(rubric.criteria, shares(rubric), strict=True)
    yield from table(heads, [_write_row(criterion, percent(share)) for criterion, share in pairs])
    yield ""
    for criterion in rubric.criteria:
        if criterion.scale or criterion.levels:
            yield from (f"### {escape(criterion.id)}", "")
        if criterion.scale:
            yield from _write_bands(criterion.scale.bands)
        elif criterion.levels:
            levels = reversed(sort_levels(criterion))
            rows = [(str(level.number), level.name or "", level.outcome or "") for level in levels]
            yield from table(("level", "name", "outcome"), rows)
            yield ""


def _write_row(criterion: Criterion, share: str) -> tuple[str, ...]:
    gate = "" if criterion.gate is None else str(criterion.gate)
    if criterion.scale is None and criterion.levels is None:
        gate = MUST_BE_MET if criterion.gate else ""
    elif criterion.scale and gate:
        gate += f" of {HIGHEST}"
    return criterion.id, criterion.outcome or "", str(criterion.weight), share, gate


def _write_bands(bands: Iterable[Band]) -> Iterator[str]:
    yield from table(
        ("score", "outcome"), [(format_band(band), band.outcome or "") for band in sorted(bands, key=bounds)]
    )
    yield ""


_BOTH = {"pass", "borderline"}
CSV = ExportTarget("csv", "CSV", _write_csv, is_single=True, has_penalties=True, keeps=_BOTH)
EXCEL = ExportTarget(
    "xlsx",
    "Excel",
    _write_excel,
    shows=frozenset({"id"}),
    names_rubrics=True,
    has_penalties=True,
    keeps=_BOTH,
)
MARKDOWN = ExportTarget(
    "markdown",
    "Markdown",
    _write_markdown,
    shows=frozenset({"id", "input", "expected_output"}),
    names_rubrics=True,
    has_penalties=True,
    keeps=_BOTH,
)

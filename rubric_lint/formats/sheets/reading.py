"""Read the tables of a file, by the kind that its name says and its first bytes confirm."""

import io
import zipfile
from collections.abc import Mapping

from rubric_lint.formats.sheets.cells import CellPlace, CellTable, TableError, UnreadableError
from rubric_lint.formats.sheets.columns import Choices
from rubric_lint.formats.sheets.csv_file import read_csv
from rubric_lint.formats.sheets.excel_file import NEEDS, has_openpyxl
from rubric_lint.formats.sheets.markdown_file import note_thresholds, read_blocks
from rubric_lint.formats.sheets.outline import OutlineReader
from rubric_lint.formats.sheets.rubrics import read_rubric
from rubric_lint.model.criterion import Thresholds
from rubric_lint.model.messages import join_words, point_to_known
from rubric_lint.source.source import SUFFIXES, Source, UndecodableError

KINDS: Mapping[str, str] = {
    ".csv": "CSV",
    ".tsv": "CSV",
    ".xlsx": "Excel",
    ".xlsm": "Excel",
    ".md": "Markdown",
    ".markdown": "Markdown",
    ".txt": "Markdown",
}
"""The kinds of files with tables, by suffix."""

_STARTS: Mapping[bytes, str] = {
    b"\xd0\xcf\x11\xe0": "an Excel file of before 2007 (.xls), or one with a password",
    b"%PDF": "a PDF",
    b"\x1f\x8b": "compressed with gzip",
    b"<!DOCTYPE html": "HTML",
    b"<html": "HTML",
    b"<table": "HTML",
    b"<?xml": "XML",
}
_INSIDE: Mapping[str, str] = {
    "xl/workbook.xml": "Excel",
    "xl/workbook.bin": "an Excel file in binary form (.xlsb)",
    "word/document.xml": "a Word document",
    "ppt/presentation.xml": "a PowerPoint presentation",
    "content.xml": "an OpenDocument file (.ods)",
    "Index/Document.iwa": "a Numbers file",
}


def read_tables(name: str, path: str, data: bytes, choices: Choices, thresholds: Thresholds) -> list[CellTable]:
    """Return the tables of a file with at least one; `name` is what messages call it, `path` selects its kind.

    `thresholds` are those of the settings.

    Raises:
        UnreadableError: if it is of another kind, or damaged.
        TableError: if it has no table.
    """
    whole = CellPlace(name, "the file")
    kind = _identify(path, data, whole)
    if kind == "Excel":
        from rubric_lint.formats.sheets.excel_file import read_excel  # noqa: PLC0415  (with a library that few need)

        return read_excel(name, data, choices.only, choices.header_row)
    try:
        source = Source.from_bytes(name, data)
    except UndecodableError as fault:
        position = fault.source.position(fault.span.start)
        raise UnreadableError(CellPlace(f"{name}:{position.line}:{position.column}", ""), fault.message) from None
    if kind == "CSV":
        tables = read_csv(source, choices)
        if choices.only not in {None, tables[0].name}:
            message = f"a CSV file has one table; {point_to_known(str(choices.only), [tables[0].name])}"
            raise TableError(whole, message)
        return tables
    if choices.header_row is not None:
        raise TableError(whole, "--header-row does not apply: the header of a Markdown table is above its dashes")
    blocks = read_blocks(source)
    first, *others = OutlineReader(source, blocks, choices).read()
    return [first.with_notes(note_thresholds(source, blocks, thresholds)), *others]


def count_criteria(source: Source) -> tuple[int, int]:
    """Return how many criteria a document has that can be imported, and the line of the first.

    Raises:
        TableError: if it has none, or they have no single meaning.
    """
    tables = OutlineReader(source, read_blocks(source), Choices()).read()
    rubrics = [read_rubric(table, Choices()) for table in tables]
    line = int(rubrics[0].entries.place.full.rsplit(":", 2)[1])
    lists = [rubric.entries.value for rubric in rubrics]
    return sum(len(entries) for entries in lists if isinstance(entries, list)), line


def _identify(path: str, data: bytes, whole: CellPlace) -> str:
    """Return the kind of a file by its name; raise UnreadableError if its first bytes do not confirm it."""
    kind = next((kind for suffix, kind in KINDS.items() if path.lower().endswith(suffix)), "")
    head = data[:200].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    found = next((kind for start, kind in _STARTS.items() if head.startswith(start.lower())), "")
    found = look_inside(data) if data.startswith(b"PK\x03\x04") else found
    if kind == "Excel" and not has_openpyxl():
        raise UnreadableError(whole, f"reading an Excel file {NEEDS}")
    holds_markup = kind == "Markdown" and not path.lower().endswith(".txt")
    if found and found != kind and not (holds_markup and found in {"HTML", "XML"}):
        advice = "save it as .xlsx or .csv"
        if found == "Excel":
            found, advice = "an Excel file, whatever its name says", "rename it to .xlsx"
        raise UnreadableError(whole, f"cannot be read: it is {found}; {advice}")
    if not kind:
        hint = "; say what it is with --stdin-filename" if path.startswith("<") else ""
        if path.lower().endswith(SUFFIXES):
            raise UnreadableError(whole, "is YAML or JSON, which needs no import; `convert` writes other formats")
        expected = join_words(list(KINDS), "or")
        raise UnreadableError(whole, f"is not a file with tables; expected a name that ends in {expected}{hint}")
    if kind == "Excel" and not found:
        raise UnreadableError(whole, "cannot be read: it is not an Excel file, whatever its name says")
    return kind


def look_inside(data: bytes) -> str:
    """Return the kind of a file that is a ZIP archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
    except Exception:  # zipfile raises many kinds of errors for damaged files
        return "a damaged Excel file or another archive"
    return next((kind for part, kind in _INSIDE.items() if part in names), "a zip archive")

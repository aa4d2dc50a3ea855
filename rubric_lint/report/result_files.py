"""Write scoring results to files: JSON Lines, CSV or Parquet, also packed, as they arrive."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, Protocol

from rubric_lint.dialects.tables.csv_file import armed, is_formula
from rubric_lint.messages import visible
from rubric_lint.report.scores import Row, read_row, shorten
from rubric_lint.scoring.grading import ScoringRubric

_ROW_GROUP = 50_000
"""The rows that are written to Parquet at once."""


class UnknownSuffixError(ValueError):
    """A file name that does not say which kind of file to write."""


class ResultFile(Protocol):
    """A writer of results as they arrive."""

    def add(self, results: list[str]) -> None:
        """Write some results, each a line of JSON."""

    formulas: int
    """How many ids a spreadsheet could take for formulas."""

    def end(self) -> None:
        """Write what is not written yet; the stream stays open."""


def open_results(name: str, stream: BinaryIO, rubrics: Mapping[str, ScoringRubric], *, compact: bool) -> ResultFile:
    """Return a writer of the kind that the suffixes of `name` say.

    Raises:
        UnknownSuffixError: if they say none.
        ImportError: if the kind needs pyarrow, and it is not installed.
    """
    base, pack = _split_packing(name.lower())
    if base.endswith(".parquet") and pack is None:
        return _Parquet(stream, rubrics)
    if base.endswith((".jsonl", ".ndjson")):
        return _Lines(_pack(stream, pack), rubrics if compact else None)
    if base.endswith(".csv"):
        return _Table(_pack(stream, pack), rubrics)
    raise UnknownSuffixError(
        f"{name}: the name does not say what to write; end it in .jsonl, .csv (also with .gz or .zst) or .parquet"
    )


def check_name(name: str, *, compact: bool) -> None:
    """Check that results can be written under a name.

    Raises:
        UnknownSuffixError: if its suffixes say no kind of file.
        ImportError: if the kind needs pyarrow, and it is not installed.
        ValueError: if only JSON Lines can be compact.
    """
    writer = open_results(name, io.BytesIO(), {}, compact=compact)
    if compact and not isinstance(writer, _Lines):
        raise ValueError("--compact is for JSON Lines; CSV has one row for each result anyway")


def _split_packing(name: str) -> tuple[str, str | None]:
    for suffix in (".gz", ".zst"):
        if name.endswith(suffix):
            return name.removesuffix(suffix), suffix
    return name, None


def _pack(stream: BinaryIO, suffix: str | None) -> Any:
    """Return a stream that packs into another."""
    if suffix is None:
        return _Plain(stream)
    if suffix == ".gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=stream, compresslevel=6, mtime=0)
    pa = _import_arrow()
    return pa.CompressedOutputStream(pa.PythonFile(_Plain(stream), mode="w"), "zstd")


class _Plain:
    """A stream whose end leaves the one below open."""

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self.write: Callable[[bytes], int] = stream.write
        self.flush = stream.flush

    def close(self) -> None:
        """Do nothing."""


def _import_arrow() -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415  (takes a quarter of a second)
    except ImportError as fault:
        raise ImportError("Parquet and zstd need pyarrow; install it: rubric-lint[arrow]") from fault
    return pa


class _Lines:
    """A writer of JSON Lines: results as they are, or with the rubrics what a table of them has."""

    formulas = 0

    def __init__(self, stream: Any, rubrics: Mapping[str, ScoringRubric] | None) -> None:
        self._stream = stream
        self._rubrics = rubrics

    def add(self, results: list[str]) -> None:
        """Write the results."""
        lines = results if self._rubrics is None else [shorten(each, self._rubrics) for each in results]
        self._stream.write(("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"))

    def end(self) -> None:
        """Complete what is packed."""
        self._stream.close()


class _Table:
    """A writer of CSV: a row for each result, with a column for the answer to each criterion.

    Ids and names of rubrics are written as they are, because rows are joined by them; other texts are guarded.
    """

    _HEAD = ("id", "rubric", "rubric_hash", "points", "full", "score", "verdict", "gates_missed")
    _ERROR = ("error", "error_path", "file", "line")

    def __init__(self, stream: Any, rubrics: Mapping[str, ScoringRubric]) -> None:
        self._stream = stream
        self._rubrics = rubrics
        self.formulas = 0
        self._ids = [*dict.fromkeys(each.id for rubric in rubrics.values() for each in rubric.criteria)]
        self._write([[*self._HEAD, *[f"criteria.{name}" for name in self._ids], *self._ERROR]])

    def add(self, results: list[str]) -> None:
        """Write the results."""
        self._write(map(self._list_cells, results))

    def _list_cells(self, result: str) -> list[Any]:
        row = read_row(result, self._rubrics)
        answers = {each["id"]: each["raw"] for each in row["criteria"] or ()}
        error = row["error"] or {}
        missed = row["gates_missed"]
        name = row["id"]
        self.formulas += isinstance(name, str) and is_formula(name)
        others = [
            *[row[name] for name in self._HEAD[2:-1]],
            None if missed is None else " ".join(missed) if not any(" " in each for each in missed) else missed,
            *map(answers.get, self._ids),
            *[error.get(name) for name in ("message", "path", "file", "line")],
        ]
        return [name if isinstance(name, str) else _as_cell(name), row["rubric"], *map(_as_cell, others)]

    def _write(self, rows: Iterator[list[Any]] | list[list[Any]]) -> None:
        text = io.StringIO()
        plain = csv.writer(text, lineterminator="\n")
        quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)  # the other one leaves a lone CR bare
        for row in rows:
            (quoted if any(isinstance(cell, str) and "\r" in cell for cell in row) else plain).writerow(row)
        self._stream.write(text.getvalue().encode("utf-8", "backslashreplace"))

    def end(self) -> None:
        """Complete what is packed."""
        self._stream.close()


def _as_cell(value: Any) -> Any:
    """Return a value as a cell that no spreadsheet takes for a formula; other values than texts and numbers as JSON."""
    if isinstance(value, str):
        return armed(visible(value))
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    return armed(visible(json.dumps(value, ensure_ascii=False)))


def _escape_halves(value: Any) -> Any:
    """Return a value of a row with half surrogate pairs in its texts as escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_escape_halves(item) for item in value]
    return {name: _escape_halves(item) for name, item in value.items()} if isinstance(value, dict) else value


class _Parquet:
    """A writer of Parquet with the columns of `ScoredBatch.to_arrow`; the errors have their files, too."""

    formulas = 0

    def __init__(self, stream: BinaryIO, rubrics: Mapping[str, ScoringRubric]) -> None:
        pa = _import_arrow()
        import pyarrow.parquet as pq  # noqa: PLC0415  (loads pyarrow)

        from rubric_lint.engines.arrow_tables import schema  # noqa: PLC0415

        form = schema()
        place = form.get_field_index("error")
        error = pa.struct([*form.field(place).type, pa.field("file", pa.string())])
        self._schema = form.set(place, pa.field("error", error))
        self._writer = pq.ParquetWriter(stream, self._schema, write_page_checksum=True)
        self._rubrics = rubrics
        self._rows: list[Row] = []

    def add(self, results: list[str]) -> None:
        """Keep the results until there are enough for a row group."""
        for result in results:
            row = read_row(result, self._rubrics)
            name = row["id"]
            row["id"] = name if name is None or isinstance(name, str) else json.dumps(name, ensure_ascii=False)
            row["criteria"] = row["criteria"] and [{**each, "raw": int(each["raw"])} for each in row["criteria"]]
            self._rows.append(row)
        if len(self._rows) >= _ROW_GROUP:
            self._write()

    def _write(self) -> None:
        pa = _import_arrow()
        rows, self._rows = self._rows, []
        try:
            table = pa.Table.from_pylist(rows, self._schema)
        except UnicodeEncodeError:  # half a surrogate pair, which JSON can have and Arrow cannot
            table = pa.Table.from_pylist([_escape_halves(row) for row in rows], self._schema)
        self._writer.write_table(table)

    def end(self) -> None:
        """Write the last rows and the footer."""
        if self._rows:
            self._write()
        self._writer.close()

"""Write scoring results as they arrive: to stdout in three formats, or to files of JSON Lines, CSV or Parquet."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, BinaryIO

from rubric_lint.formats.sheets.csv_file import escape_formula, is_formula
from rubric_lint.model.groups import format_in_units
from rubric_lint.model.messages import Causes, counted, join_words, visible, visible_json
from rubric_lint.model.suggest import format_need
from rubric_lint.report.terminal import VERDICT_ROLES, Style, Write, align, cut, name_answer, width
from rubric_lint.scoring.grading import NOT_APPLICABLE, ScoringRubric, Verdict, is_unscored
from rubric_lint.scoring.output import RecordResult
from rubric_lint.scoring.totals import CriterionTotals, GroupTotals, RubricTotals, Totals

_EXACT = 1 << 51
"""The number of points up to which a double tells all scores apart."""

_WORDED = ("rubric_score", "rubric_grade")
"""The fields of results by rubrics with a scale or with grades."""

_COMPACT = ("id", "rubric", "points", "full", "score", "verdict", *_WORDED, "gates_missed", "error")

Row = dict[str, Any]


def _read_row(result: RecordResult) -> Row:
    """Return the row of a result in a table, without its criteria; the exact score is `points` of `full`."""
    row: Row = {"id": result.id, "rubric": result.rubric, "error": result.describe_error()}
    row |= dict.fromkeys(("rubric_hash", "points", "full", "score", "verdict", *_WORDED, "gates_missed"))
    scored = result.scored
    if scored:
        row |= {"rubric_hash": scored.rubric.hash, **scored.summarize()}
        row["gates_missed"] = list(scored.gates_missed)
        full = scored.full if scored.rubric.varies else scored.rubric.full
        if full < _EXACT:
            row |= {"points": scored.points, "full": scored.full}
    return row


def _render(results: list[RecordResult], *, compact: bool) -> list[str]:
    """Return a line of JSON for each result; a compact one has no criteria and no other fields of its record."""
    if not compact:
        return [result.render() for result in results]
    lines = []
    for row in map(_read_row, results):
        short = {name: row[name] for name in _COMPACT if row[name] is not None}
        lines.append(json.dumps(short, ensure_ascii=False))
    return lines


def _join(results: list[str], between: str) -> str:
    """Join lines of JSON, escaped for printing."""
    joined = between.join(results)
    # Most results have nothing to escape: one look at all of them spares one at each.
    is_visible = joined.isascii() and "\x7f" not in joined and "##" not in joined
    return joined if is_visible else between.join(map(visible_json, results))


class JsonLinesText:
    """A writer of one result per line; compact ones are without criteria and other fields."""

    def __init__(self, write: Write, _look: Style | None = None, *, compact: bool = False) -> None:
        self._write = write
        self._compact = compact

    def add(self, results: list[RecordResult]) -> None:
        """Write some results."""
        self._write(_join(_render(results, compact=self._compact), "\n") + "\n")

    def end(self, totals: Totals, more: Mapping[str, Any]) -> None:
        """Write nothing: the totals are not a result. `more` is what the JSON report says besides."""


class JsonText(JsonLinesText):
    """A writer of one object with the results, the totals, and what else is said of them all."""

    _before = '{"results": [\n'

    def add(self, results: list[RecordResult]) -> None:
        """Write the results as items of the list."""
        self._write(self._before + _join(_render(results, compact=False), ",\n"))
        self._before = ",\n"

    def end(self, totals: Totals, more: Mapping[str, Any]) -> None:
        """Close the list and add the totals."""
        opening = self._before if self._before != ",\n" else "\n"
        counts = visible_json(json.dumps({"totals": totals.to_json(), **more}, ensure_ascii=False))
        self._write(f"{opening}], {counts[1:]}\n")


_MOST_LISTED = 20
_MOST_OF_A_CAUSE = 5
"""The most errors to list, in total and of one cause."""

_MOST_OUTPUTS = 20
"""The most outputs whose verdicts are listed."""


class TotalsText:
    """Tables for readers: the totals after the first invalid outputs, and each output if there are few."""

    def __init__(self, write: Write, look: Style) -> None:
        self._write = write
        self._look = look
        self._first: list[RecordResult] = []
        self._causes = Causes()
        self._hidden: dict[str, str] = {}
        self._listed = 0

    def add(self, results: list[RecordResult]) -> None:
        """Write the errors, and only the first ones of each cause; keep the first results for the end."""
        self._first += results[: _MOST_OUTPUTS - len(self._first)]
        for result in results:
            error = result.describe_error()
            if error is None:
                continue
            cause, message = self._causes.add(error["message"])
            if self._causes.counts[cause] > _MOST_OF_A_CAUSE or self._listed >= _MOST_LISTED:
                self._hidden.setdefault(cause, message)
                continue
            self._listed += 1
            place = f"line {error['line']}"
            if "file" in error:
                place = f"{error['file']}:{error['line']}"
            if result.id is not None:
                place += f" (id {json.dumps(result.id, ensure_ascii=False)})"
            if error["path"]:
                place += f" {error['path']}"
            self._write_line(f"{place}: {error['message']}")

    def _write_line(self, text: str) -> None:
        self._write("\n".join(self._look.wrap(visible(text))) + "\n")

    def end(self, totals: Totals, more: Mapping[str, Any]) -> None:  # noqa: ARG002  (run.py writes it as text)
        """Write the totals, a row for each criterion under its rubric, and the verdicts of few outputs."""
        left = [(self._causes.counts[cause] - _MOST_OF_A_CAUSE, message) for cause, message in self._hidden.items()]
        for count, message in sorted(left, reverse=True)[:_MOST_OF_A_CAUSE]:
            if count > 0:
                self._write_line(f"... and {count:,} more: {message}")
        if self._hidden:
            total = self._causes.counts.total()
            self._write(f"{total:,} outputs are invalid; --format jsonl lists them all\n")
        gap = "\n" if self._listed else ""
        for rubric in totals.rubrics.values():
            if rubric.scored:
                self._write(f"{gap}{_tabulate(rubric, self._look)}\n")
        # Without a valid output, the errors say everything; without any, the results are in a folder.
        if totals.outputs != totals.invalid and self._first:
            self._write_outputs(totals)
        for line in [*totals.reading.format_lines(), str(totals)]:
            self._write_line(line)

    def _write_outputs(self, totals: Totals) -> None:
        if totals.outputs > _MOST_OUTPUTS:
            self._write("--format jsonl shows the score and verdict of each output\n")
        else:
            rows = _list_outputs(self._first, self._look, has_several=len(totals.rubrics) > 1)
            self._write("\n".join(rows) + "\n\n")


def _tabulate(rubric: RubricTotals, look: Style) -> str:
    rows = [["criterion", "weight", "mean", "SD", "lowest", "highest", "gate", "missed", "n/a"]]
    rows += map(_list_cells_of_criterion, rubric.criteria)
    rows += (_list_cells_of_group(group, rubric) for group in rubric.groups.values())
    if not any(of_criterion.criterion.may_not_apply for of_criterion in rubric.criteria):
        rows = [row[:-1] for row in rows]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    panels = []
    for panel, outputs in rubric.panels.items():
        judged = f"{counted(outputs, 'answer')} by the panel {visible(join_words(panel.models))}"
        votes = counted(panel.votes, "independent vote")
        panels.append(f"  {judged}: at most {votes} (samples of one model are one)")
    return "\n".join([_write_title(rubric, look), *(align(row, widths) for row in rows), *panels]) + "\n"


def _write_title(rubric: RubricTotals, look: Style) -> str:
    """Return the verdicts of a rubric in one line; those that occur are colored."""
    counts = []
    for verdict in Verdict:
        count = f"{rubric.verdicts[verdict]} {verdict}"
        if rubric.verdicts[verdict]:
            count = look.paint(VERDICT_ROLES[verdict], count)
        counts.append(count)
    mean_score = _format_score(rubric.rubric, rubric.mean or Fraction(0))
    title = f"{visible(rubric.rubric.name)} ({rubric.rubric.shape}): {', '.join(counts)}; mean score {mean_score}"
    grades = [f"{grade['outputs']} {visible(grade['grade'] or 'below')}" for grade in rubric.list_grades()]
    return f"{title}; grades: {', '.join(grades)}" if grades else title


def _list_cells_of_criterion(totals: CriterionTotals) -> list[str]:
    criterion = totals.criterion
    given = [name_answer(grade.answer) for grade in criterion.grades if totals.answers[grade.answer]] or ["-"]
    mean = spread = gate = missed = left_out = "-"
    if totals.mean is not None:
        mean, spread = f"{float(totals.mean):.3f}", f"{totals.spread:.3f}"
    if criterion.gate is not None:
        gate, missed = str(criterion.gate), str(totals.gates_missed)
    if criterion.may_not_apply:
        left_out = str(totals.answers[NOT_APPLICABLE])
    weight = f"{criterion.weight:f}"
    return [visible(criterion.id), weight, mean, spread, given[0], given[-1], gate, missed, left_out]


def _list_cells_of_group(totals: GroupTotals, rubric: RubricTotals) -> list[str]:
    group = totals.group
    mean = "-" if totals.mean is None else f"{float(totals.mean):.3f}"
    gate = missed = "-"
    if group.gate is not None:
        gate, missed = format_in_units(group.gate, group.units), str(totals.gates_missed)
    left_out = str(rubric.scored - totals.applies)
    return [f"{visible(group.id)} (group)", f"{float(group.weight):g}", mean, "-", "-", "-", gate, missed, left_out]


def _format_score(rubric: ScoringRubric, score: Fraction) -> str:
    """Return a score in words, with that in units of the scale of the rubric, if it has one."""
    in_units = rubric.word_in_units(score)
    return f"{float(score):.3f} ({in_units})" if in_units else f"{float(score):.3f}"


def _list_outputs(results: Sequence[RecordResult], look: Style, *, has_several: bool) -> Iterator[str]:
    """Yield a row for each output; missed gates have lines of their own if they do not fit next to it.

    With `has_several` rubrics, their names are there too.
    """
    rows = [("output", "score", "verdict", "missed gates")]
    for place, result in enumerate(results, start=1):
        key, scored = result.record.get("id", f"output {place}"), result.scored
        name = key if isinstance(key, str) and key.strip() else json.dumps(key, ensure_ascii=False)
        if has_several and result.rubric is not None:
            name += f" ({result.rubric})"
        name = visible(name)
        if scored is None:
            verdict = "invalid"
            if result.error is not None and is_unscored(result.error.message):
                verdict = "no score"
            rows.append((name, "-", verdict, ""))
        else:
            score = _format_score(scored.rubric, scored.score)
            if scored.rubric_grade is not None:
                score += f", grade {visible(scored.rubric_grade)}"
            rows.append((name, score, scored.verdict, visible(", ".join(scored.gates_missed))))
    widest, *rooms, most = (max(map(width, column)) for column in zip(*rows, strict=True))
    room = max(look.columns - sum(rooms) - 6, _LEAST)
    is_beside = any(missed for *_, missed in rows[1:]) and widest + most + 2 <= room
    for number, (name, score, verdict, missed) in enumerate(rows):
        called = cut(name, room)
        blank = " " * (min(widest, room) - width(called))
        word = look.paint(VERDICT_ROLES[verdict], verdict) if number else verdict
        line = f"  {called}{blank}  {score:>{rooms[0]}}  {word}{'':{rooms[1] - len(verdict)}}"
        if is_beside:
            line += f"  {missed}"
        yield line.rstrip()
        if missed and not is_beside and number:
            yield f"    misses {cut(missed, max(look.columns - 11, _LEAST))}"


_LEAST = 12
"""The least width of a column, in cells, on narrow terminals."""


FORMS: dict[str, Callable[[Write, Style], JsonLinesText | JsonText | TotalsText]] = {
    "jsonl": JsonLinesText,
    "json": JsonText,
    "table": TotalsText,
}
"""The formats by name: each takes where to write, and the look of tables."""


_ROW_GROUP = 50_000
"""The rows that are written to Parquet at once."""


_SINGLE = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}

RESULT_ENDINGS = {
    **_SINGLE,
    ".parquet": "parquet",
    **{f"{ending}{pack}": kind for ending, kind in _SINGLE.items() for pack in (".gz", ".zst")},
}
"""The kinds of files of results by the endings of their names."""


def open_results(
    name: str, stream: BinaryIO, rubrics: Mapping[str, ScoringRubric], *, compact: bool
) -> "_JsonLinesFile | _CsvFile | _ParquetFile":
    """Return a writer of the kind that the ending of `name` says, one of `RESULT_ENDINGS`.

    Its `add` takes results; `end` writes what is not written yet, and leaves the stream open.
    `formulas` counts the ids that a spreadsheet could take for formulas.

    Raises:
        ImportError: if the kind needs pyarrow, and it is not installed.
    """
    base = name.lower()
    pack = next((suffix for suffix in (".gz", ".zst") if base.endswith(suffix)), None)
    base = base.removesuffix(pack or "")
    if base.endswith(".parquet"):
        return _ParquetFile(stream, rubrics)
    if base.endswith((".jsonl", ".ndjson")):
        return _JsonLinesFile(_pack(stream, pack), compact=compact)
    return _CsvFile(_pack(stream, pack), rubrics)


def check_name(name: str, *, compact: bool) -> None:
    """Check that results can be written under a name with one of `RESULT_ENDINGS`.

    Raises:
        ImportError: if the kind needs pyarrow, and it is not installed.
        ValueError: if only JSON Lines can be compact.
    """
    writer = open_results(name, io.BytesIO(), {}, compact=compact)
    if compact and not isinstance(writer, _JsonLinesFile):
        raise ValueError("--compact is for JSON Lines; CSV has one row for each result anyway")


def _pack(stream: BinaryIO, suffix: str | None) -> Any:
    if suffix is None:
        return _UnclosedStream(stream)
    if suffix == ".gz":
        # Without a name and a time the same results are the same bytes.
        return gzip.GzipFile(filename="", mode="wb", fileobj=stream, compresslevel=6, mtime=0)
    pa = _import_arrow()
    return pa.CompressedOutputStream(pa.PythonFile(_UnclosedStream(stream), mode="w"), "zstd")


class _UnclosedStream:
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
        raise ImportError(f"writing Parquet or zstd {format_need('arrow')}") from fault
    return pa


class _JsonLinesFile:
    """A writer of JSON Lines: whole results, or compact ones."""

    formulas = 0

    def __init__(self, stream: Any, *, compact: bool) -> None:
        self._stream = stream
        self._compact = compact

    def add(self, results: list[RecordResult]) -> None:
        lines = "\n".join(_render(results, compact=self._compact))
        self._stream.write(f"{lines}\n".encode("utf-8", "backslashreplace"))

    def end(self) -> None:
        self._stream.close()


class _CsvFile:
    """A writer of CSV: a row for each result, with a column for the answer to each criterion.

    Ids and names of rubrics are written as they are, because rows are joined by them; other texts are guarded.
    """

    _ERROR = ("error", "error_path", "file", "line")

    def __init__(self, stream: Any, rubrics: Mapping[str, ScoringRubric]) -> None:
        self._stream = stream
        self.formulas = 0
        self._ids = list(dict.fromkeys(criterion.id for rubric in rubrics.values() for criterion in rubric.criteria))
        own = frozenset().union(*(rubric.own_fields for rubric in rubrics.values()))
        worded = [name for name in _WORDED if name in own]
        self._head = ["id", "rubric", "rubric_hash", "points", "full", "score", "verdict", *worded, "gates_missed"]
        self._write([[*self._head, *[f"criteria.{name}" for name in self._ids], *self._ERROR]])

    def add(self, results: list[RecordResult]) -> None:
        self._write(map(self._list_cells, results))

    def _list_cells(self, result: RecordResult) -> list[Any]:
        row = _read_row(result)
        criteria = result.scored.criteria if result.scored else ()
        answers = {graded.criterion.id: graded.grade.answer for graded in criteria}
        error = row["error"] or {}
        missed = row["gates_missed"]
        name = row["id"]
        self.formulas += isinstance(name, str) and is_formula(name)
        # An id with a blank would come apart; then the cell has the list as JSON.
        if missed is not None and not any(" " in criterion for criterion in missed):
            missed = " ".join(missed)
        others = [row[field] for field in self._head[2:-1]]
        others += [missed, *map(answers.get, self._ids)]
        others += [error.get(field) for field in ("message", "path", "file", "line")]
        id_cell = name if isinstance(name, str) else _as_cell(name)
        return [id_cell, row["rubric"], *map(_as_cell, others)]

    def _write(self, rows: Iterator[list[Any]] | list[list[Any]]) -> None:
        text = io.StringIO()
        plain = csv.writer(text, lineterminator="\n")
        quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)  # the other one leaves a lone CR bare
        for row in rows:
            has_return = any(isinstance(cell, str) and "\r" in cell for cell in row)
            writer = quoted if has_return else plain
            writer.writerow(row)
        self._stream.write(text.getvalue().encode("utf-8", "backslashreplace"))

    def end(self) -> None:
        self._stream.close()


def _as_cell(value: Any) -> Any:
    """Return a value as a cell that no spreadsheet takes for a formula; other values than texts and numbers as JSON."""
    if isinstance(value, str):
        return escape_formula(visible(value))
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    return escape_formula(visible(json.dumps(value, ensure_ascii=False)))


def _escape_halves(value: Any) -> Any:
    """Return a value of a row with half surrogate pairs in its texts as escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_escape_halves(item) for item in value]
    if isinstance(value, dict):
        return {name: _escape_halves(item) for name, item in value.items()}
    return value


class _ParquetFile:
    """A writer of Parquet with the columns of `ScoredBatch.to_arrow`; the errors have their files, too."""

    formulas = 0

    def __init__(self, stream: BinaryIO, rubrics: Mapping[str, ScoringRubric]) -> None:
        pa = _import_arrow()
        import pyarrow.parquet as pq  # noqa: PLC0415  (loads pyarrow)

        from rubric_lint.scoring.engines.arrow_tables import schema, write_criterion  # noqa: PLC0415

        form = schema(rubrics=rubrics.values())
        self._write_criterion = write_criterion
        place = form.get_field_index("error")
        error = pa.struct([*form.field(place).type, pa.field("file", pa.string())])
        self._schema = form.set(place, pa.field("error", error))
        # With checksums a reader notices damage instead of reading other values.
        self._writer = pq.ParquetWriter(stream, self._schema, write_page_checksum=True)
        self._rows: list[Row] = []

    def add(self, results: list[RecordResult]) -> None:
        """Keep the results until there are enough for a row group."""
        for result in results:
            row = _read_row(result)
            name = row["id"]
            row["id"] = name if name is None or isinstance(name, str) else json.dumps(name, ensure_ascii=False)
            scored = result.scored
            row["criteria"] = scored and list(map(self._write_criterion, scored.criteria))
            row["groups"] = scored and [group.to_json() for group in scored.groups]
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

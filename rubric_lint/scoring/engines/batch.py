"""Score many judge outputs at once, into columns."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from io import BytesIO
from itertools import chain, islice
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, TypeAlias

from rubric_lint.model.arguments import takes
from rubric_lint.model.messages import fields_to_data
from rubric_lint.scoring.engines.rows import (
    LARGEST,
    BatchRows,
    OutputItems,
    RowError,
    RowResult,
    gather,
    is_null,
    read_column,
    refuse_repeated,
)
from rubric_lint.scoring.grading import CriterionResult, Scored, ScoringRubric, Verdict, is_unscored
from rubric_lint.scoring.loading import RubricError
from rubric_lint.scoring.output import RecordResult
from rubric_lint.scoring.records.decoding import OutputError, read_struct
from rubric_lint.scoring.records.entries import CHUNK, RawRecord
from rubric_lint.scoring.records.parse_options import ParseOptions
from rubric_lint.scoring.records.streams import read_entries
from rubric_lint.scoring.scorer import Scorer
from rubric_lint.scoring.totals import Totals

if TYPE_CHECKING:
    import pyarrow as pa


_MOST = 65_536
"""The most rows in a portion."""


Portion: TypeAlias = list[RawRecord] | OutputItems


def divide(outputs: Any, size: int = _MOST) -> Iterator[Portion]:
    """Yield the outputs in portions of at most `size` rows, or the entries of a file.

    Raises:
        TypeError: if it is not something that holds outputs.
    """
    if isinstance(outputs, bytes | bytearray | memoryview):
        outputs = BytesIO(outputs)
    if hasattr(outputs, "read"):
        return _divide_entries(_read(outputs), size)
    if isinstance(outputs, str | Mapping) or not (_is_table(outputs) or hasattr(outputs, "__iter__")):
        kind = type(outputs).__name__
        raise TypeError(f"outputs is a single value of the type {kind}; expected several, such as a list of them")
    return _divide_table(outputs, size) if _is_table(outputs) else _divide_items(outputs, size)


def _divide_entries(chunks: Iterable[bytes], size: int) -> Iterator[list[RawRecord]]:
    entries = read_entries(chunks)
    while portion := list(islice(entries, size)):
        yield portion


def _read(file: Any) -> Iterator[bytes]:
    # `read1` returns what a pipe has so far; `read` would wait for a whole chunk.
    read = getattr(file, "read1", file.read)
    while chunk := read(CHUNK):
        if not isinstance(chunk, bytes):
            raise TypeError("outputs is a file opened as text; open it in binary mode ('rb')")
        yield chunk


def _is_table(outputs: Any) -> bool:
    """Return whether it has columns, or is a column of Arrow."""
    is_frame = hasattr(outputs, "columns") and hasattr(outputs, "iloc")
    return is_frame or any(hasattr(outputs, f"__arrow_c_{kind}__") for kind in ("stream", "array"))


def _divide_table(table: Any, size: int) -> Iterator[OutputItems]:
    if hasattr(table, "iloc"):  # of pandas, whose columns may hold any Python values
        is_frame = hasattr(table, "columns")
        if is_frame:
            refuse_repeated(list(table.columns))
        for start in range(0, len(table), size):
            part = table.iloc[start : start + size]
            if is_frame:
                yield gather({name: part.iloc[:, place].tolist() for place, name in enumerate(part.columns)}, len(part))
            else:
                yield OutputItems(part.tolist())
        return
    from rubric_lint.scoring.engines.arrow_tables import read_arrow  # noqa: PLC0415  (loads pyarrow)

    yield from read_arrow(table, size)


def _divide_items(outputs: Iterable[Any], size: int) -> Iterator[OutputItems]:
    values = outputs.tolist() if hasattr(outputs, "tolist") else outputs
    rest = iter(values)
    while items := list(islice(rest, size)):
        if not any(map(_is_batch, items)):
            yield OutputItems(items)
            continue
        for item in items:
            if _is_batch(item):
                yield from _divide_table(item, size)
            else:
                yield OutputItems([item])


def _is_batch(item: Any) -> bool:
    """Return whether an item of an iterable has many rows, as a record batch of Arrow."""
    return hasattr(item, "num_rows") and hasattr(item, "schema")


class ScoredRow(NamedTuple):
    """One row of a batch; the score is exactly `points` / `full`. An invalid output has an `error` and no score."""

    id: Any
    rubric: str | None
    rubric_hash: str | None
    points: int | None
    full: int | None
    score: float | None
    verdict: Verdict | None
    gates_missed: tuple[str, ...] | None
    criteria: tuple[CriterionResult, ...] | None
    error: RowError | None

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON, with null for what an invalid output does not have."""
        return fields_to_data(self._asdict())


class ScoredBatch:
    """The results of many outputs, in their order: columns, rows and totals.

    Each column is a list with an item for each row, None where an invalid output has none. `judged_otherwise` has the
    rows whose judge used a rubric with another meaning. `len`, iteration and an index give rows.
    """

    def __init__(self, rubrics: Mapping[str, ScoringRubric], rows: BatchRows) -> None:
        self.id = rows.ids
        self.judged_otherwise = tuple(rows.judged_otherwise)
        self._rubrics = rubrics
        self._rows = rows

    @cached_property
    def rubric(self) -> list[str | None]:
        """The name of the rubric of each output; None if the output is invalid and does not say it."""
        return self._gather("rubric")

    @cached_property
    def rubric_hash(self) -> list[str | None]:
        """The canonical hash of the rubric of each output."""
        return self._gather("rubric_hash")

    @cached_property
    def points(self) -> list[int | None]:
        """The points of each output, at least 0: the score is exactly `points` / `full`."""
        return self._gather("points")

    @cached_property
    def full(self) -> list[int | None]:
        """The points of the best answer; twice as many if the median of several outputs has half a point."""
        return self._gather("full")

    @cached_property
    def score(self) -> list[float | None]:
        """The score of each output, 0..1, as the nearest double."""
        return self._gather("score")

    @cached_property
    def verdict(self) -> list[Verdict | None]:
        """The verdict of each output."""
        return self._gather("verdict")

    @cached_property
    def gates_missed(self) -> list[tuple[str, ...] | None]:
        """The ids of the criteria whose gates each output misses."""
        return self._gather("gates_missed")

    @cached_property
    def criteria(self) -> list[tuple[CriterionResult, ...] | None]:
        """The result of each criterion of each output, without the judge's reasons."""
        return self._gather("criteria")

    @cached_property
    def error(self) -> list[RowError | None]:
        """The error of each invalid output."""
        errors: list[RowError | None] = [None] * len(self)
        for row, error in self._rows.errors.items():
            errors[row] = error
        return errors

    @cached_property
    def totals(self) -> Totals:
        """The totals of all rows; those of several batches add up."""
        totals = Totals(self._rubrics.values())
        totals.unscored = sum(is_unscored(error.message) for error in self._rows.errors.values())
        totals.invalid = len(self._rows.errors) - totals.unscored
        # Rows with equal results share one object.
        times = Counter(map(id, self._rows.results))
        for identity, result in self._rows.list_different().items():
            if isinstance(result, Scored):
                totals.take(result, times[identity])
        for notes in chain.from_iterable(self._rows.notes.values()):
            totals.reading.note(notes)
        return totals

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name, in the order of `ScoredRow`."""
        return {name: getattr(self, name) for name in ScoredRow._fields}

    def to_arrow(self) -> "pa.Table":
        """Return the columns as a table of Arrow, which needs the extra `arrow`.

        Ids that are not strings are written as JSON, unless the outputs came from Arrow: then `id` keeps its type. The
        `raw` of a checklist is 1 or 0.

        Raises:
            ImportError: without pyarrow.
        """
        from rubric_lint.scoring.engines.arrow_tables import write_arrow  # noqa: PLC0415  (loads pyarrow)

        return write_arrow(self._rows, self._rubrics.values())

    def __len__(self) -> int:
        return len(self._rows.results)

    def __getitem__(self, row: int) -> ScoredRow:
        return ScoredRow(*[column[index(row)] for column in self.to_dict().values()])

    def __iter__(self) -> Iterator[ScoredRow]:
        return map(ScoredRow._make, zip(*self.to_dict().values(), strict=True))

    def __repr__(self) -> str:
        return f"<ScoredBatch: {self.totals}>"

    def _gather(self, name: str) -> list[Any]:
        """Return a column: read every different result once, and look it up for each row."""
        different = self._rows.list_different()
        values = {identity: read_column(result, name) for identity, result in different.items()}
        return list(map(values.__getitem__, map(id, self._rows.results)))


class Collector:
    """A collector of rows; its length is the number of those not yet taken."""

    def __init__(self, rubrics: Mapping[str, ScoringRubric], scorer: Scorer) -> None:
        self._rubrics = rubrics
        self._scorer = scorer
        self._rows = BatchRows()

    def __len__(self) -> int:
        return len(self._rows.results)

    def add(self, portion: Portion) -> None:
        """Score a portion of outputs."""
        self._scorer.forget()
        if isinstance(portion, list):
            for line, content in portion:
                self._add_result(self._scorer.score(content, line), line)
            return
        self._rows.id_type = portion.id_type
        for item in portion.items:
            self._add_item(item)

    def take(self, rows: int) -> ScoredBatch:
        """Return the first rows, and forget them."""
        return ScoredBatch(self._rubrics, self._rows.take(rows))

    def _add(self, name: Any, result: RowResult) -> None:
        self._rows.ids.append(name)
        self._rows.results.append(result)

    def _add_item(self, item: Any) -> None:
        matched = self._scorer.match_form(item)
        if matched:
            name = item.get("id") if type(item) is dict else None
            self._add(name, matched)
            return
        item = _simplify(item)
        if isinstance(item, bytes):
            self._add_result(self._scorer.score(item))
        elif isinstance(item, dict):
            self._add_value(item)
        else:
            self._add_result(self._scorer.score_output(item))

    def _add_value(self, value: dict[str, Any]) -> None:
        try:
            given = {name: item for name, item in value.items() if not is_null(item)}
            record = read_struct(given)
            if isinstance(given.get("id"), dict | list):
                record["id"] = given["id"]  # an id keeps its nulls
            for name, item in record.items():
                if name != "id" and isinstance(item, bytes):
                    record[name] = _decode(item, name)
        except OutputError as fault:  # the rest is not read again: it may hold itself
            fault.record = {name: None if isinstance(item, list | dict) else item for name, item in value.items()}
            self._add_result(self._scorer.score(fault))
        else:
            self._add_result(self._scorer.score_record(record))

    def _add_result(self, result: RecordResult, line: int | None = None) -> None:
        """Add the result of an entry; `line` is where it begins, if it is in a file."""
        row = len(self)
        if result.notes:
            self._rows.notes[row] = result.notes
        if result.has_other_meaning:
            self._rows.judged_otherwise.append(row)
        if result.error:
            self._rows.errors[row] = RowError(result.error.message, result.error.path, line)
        row_result = result.rubric if result.error else result.scored
        self._add(result.id, row_result)


def _simplify(item: Any) -> Any:
    """Convert an item of other libraries to a plain one: a row to a dictionary, a scalar to its value."""
    if isinstance(item, Mapping):
        return item if type(item) is dict else dict(item)
    for name in ("as_py", "to_dict", "_asdict", "model_dump"):  # of Arrow, pandas, a named tuple, pydantic
        convert = getattr(item, name, None)
        if callable(convert):
            return convert()
    if isinstance(item, bytearray | memoryview):
        return bytes(item)
    return None if is_null(item) else item


def _decode(text: bytes, name: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as fault:
        raise OutputError(f"byte {text[fault.start]:02x} at offset {fault.start} is not UTF-8", f"/{name}") from None


def score_batch(
    rubrics: ScoringRubric | Mapping[str, ScoringRubric],
    outputs: Any,
    *,
    extract: str = "last",
    extra_fields: str | None = None,
) -> ScoredBatch:
    """Score many judge outputs by a rubric, or by the rubrics that `load_rubrics` returns; return columns, in order.

    `outputs` is an iterable, a NumPy array, a column or a table. Each item is a raw text (`str`), one JSON entry as
    `rubric-score` reads it (`bytes`), an object or a record around an output (a mapping, nulls are absent fields), or a
    `JudgeOutput`. Bytes, and a file opened in binary mode, are JSON Lines or JSON. A table of Arrow, pandas or Polars
    has a column `output` (or `outputs`) of texts, bytes or structs, and may have the other fields of a record: `id`,
    `rubric`, `answer`, `question`, `reference`, `judge`, `rubric_hash`; other columns are not read. An invalid output
    is a row with an error. `extract` and `extra_fields` are those of `score`.

    Raises:
        TypeError: if `rubrics` or `outputs` is something else.
        ValueError: if a table has one of these columns twice.
        RubricError: if the points of a rubric do not fit into 64 bits.
    """
    collector = _collect(rubrics, ParseOptions.of(extract, extra_fields))
    for portion in divide(outputs):
        collector.add(portion)
    return collector.take(len(collector))


@takes(size=SupportsIndex)
def score_batches(
    rubrics: ScoringRubric | Mapping[str, ScoringRubric],
    outputs: Any,
    *,
    size: int = 65_536,
    extract: str = "last",
    extra_fields: str | None = None,
) -> Iterator[ScoredBatch]:
    """Score a stream of judge outputs as `score_batch`, and yield batches of `size` rows, the last one with the rest.

    Memory depends on `size`, not on the length of the stream. The totals of batches add up.

    Raises:
        TypeError: as `score_batch`.
        RubricError: as `score_batch`.
        ValueError: as `score_batch`, or if `size` is less than 1.
    """
    size = index(size)
    if size < 1:
        raise ValueError(f"size is {size}; expected at least 1")
    return _score(_collect(rubrics, ParseOptions.of(extract, extra_fields)), divide(outputs, min(size, _MOST)), size)


def _score(collector: Collector, portions: Iterable[Portion], size: int) -> Iterator[ScoredBatch]:
    for portion in portions:
        collector.add(portion)
        while len(collector) >= size:
            yield collector.take(size)
    if len(collector):
        yield collector.take(len(collector))


def _collect(rubrics: ScoringRubric | Mapping[str, ScoringRubric], reading: ParseOptions) -> Collector:
    listed: Any = rubrics
    if isinstance(rubrics, ScoringRubric):
        listed = [rubrics]
    elif isinstance(rubrics, Mapping):
        listed = list(rubrics.values())
    if not isinstance(listed, list) or not listed or not all(isinstance(rubric, ScoringRubric) for rubric in listed):
        found = "an empty mapping" if listed == [] else f"a value of the type {type(rubrics).__name__}"
        raise TypeError(f"rubrics is {found}; expected a rubric, or the rubrics that load_rubrics returns")
    named = {rubric.name: rubric for rubric in listed}
    if isinstance(rubrics, Mapping) and list(rubrics) != list(named):
        raise TypeError(f"rubrics has the keys {list(rubrics)}; expected the names of the rubrics, {list(named)}")
    for rubric in listed:
        if 2 * rubric.full > LARGEST:  # the median of two outputs may have half a point
            raise RubricError(
                f"rubric `{rubric.name}`: the points of its best answer have {len(str(rubric.full))} digits, more than "
                "a column of 64-bit integers holds; give its weights fewer digits"
            )
    return Collector(named, _open_scorer(tuple(named.values()), reading))


@lru_cache(maxsize=50)
def _open_scorer(rubrics: tuple[ScoringRubric, ...], reading: ParseOptions) -> Scorer:
    """Return the scorer for some rubrics: one for all copies of the rubrics in this process."""
    return Scorer({rubric.name: rubric for rubric in rubrics}, reading)

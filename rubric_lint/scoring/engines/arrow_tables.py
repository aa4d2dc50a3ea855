"""Read outputs from Arrow, most by their columns, and write results as a table of Arrow."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rubric_lint.model.criterion import Shape
from rubric_lint.model.suggest import format_need
from rubric_lint.scoring.engines.rows import READ, BatchRows, OutputItems, gather, is_null, read_column, refuse_repeated
from rubric_lint.scoring.form import form_of
from rubric_lint.scoring.grading import CriterionResult, Scored, ScoringRubric
from rubric_lint.scoring.records.decoding import list_values
from rubric_lint.scoring.scorer import Scorer

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as fault:
    raise ImportError(f"Arrow {format_need('arrow')}") from fault


__all__ = ["pa", "read_arrow", "schema", "write_arrow", "write_criterion", "write_ids"]

_TEXTS = (pa.string(), pa.large_string())


@dataclass(frozen=True, slots=True)
class OutputColumns:
    """Some rows that have just an id and an output, which is a text or a struct."""

    ids: list[Any]
    outputs: pa.ChunkedArray
    id_type: Any

    def match_form(self, scorer: Scorer) -> list[Scored | None]:
        """Return the result of each row that has just the fields of the expected form, else None."""
        if self.outputs.type in _TEXTS:
            return [*map(scorer.match_form, list_values(self.outputs))]
        reader = scorer.only
        if reader is None or not _is_plain(self.outputs.type, reader.rubric):
            return [None] * len(self.ids)
        found: list[Scored | None] = []
        for chunk in self.outputs.chunks:
            found += map(reader.get, _read_answers(chunk, reader.rubric))
        return found

    def gather(self, places: list[int]) -> list[Any]:
        """Return these rows as records."""
        # Arrow cannot take rows of all types; of those that it cannot, such as views of strings, no row is plain.
        others = self.outputs if len(places) == len(self.ids) else self.outputs.take(pa.array(places, pa.int64()))
        outputs = list_values(others)
        return gather({"id": [self.ids[place] for place in places], "output": outputs}, len(places)).items


def _is_plain(kind: pa.DataType, rubric: ScoringRubric) -> bool:
    """Return whether a struct can hold nothing but the fields of the outputs of a rubric, with these types."""
    if rubric.form == f"v3/{Shape.MIXED}":  # which fields a check has depends on its criterion
        return False
    form = form_of(rubric.form)
    is_answer = pa.types.is_boolean if form.field == "satisfied" else pa.types.is_integer
    if not form.holds_checks:
        return _has_fields(kind, {form.field: is_answer}, "reasoning")
    if not _has_fields(kind, {"checks": pa.types.is_list}, "overall_reasoning"):
        return False
    return _has_fields(kind.field("checks").type.value_type, {"id": _is_string, form.field: is_answer}, "reasoning")


def _has_fields(kind: pa.DataType, required: dict[str, Any], reasoning: str) -> bool:
    if not pa.types.is_struct(kind):
        return False
    accepts = {**required, reasoning: _is_string}
    names = [field.name for field in kind]
    if not {*required} <= {*names} <= {*accepts} or len({*names}) < len(names):
        return False
    return all(accepts[field.name](field.type) for field in kind)


def _is_string(kind: pa.DataType) -> bool:
    return kind in _TEXTS


def _read_answers(outputs: pa.StructArray, rubric: ScoringRubric) -> Iterator[tuple[Any, ...] | None]:
    """Yield the answers of each output; None unless its checks are those of the rubric, in its order."""
    form = form_of(rubric.form)
    if not form.holds_checks:
        yield from zip(pc.struct_field(outputs, form.field).to_pylist())
        return
    known = [criterion.id for criterion in rubric.criteria]
    lists = pc.struct_field(outputs, "checks")
    whole = pc.fill_null(pc.equal(pc.list_value_length(lists), len(known)), fill_value=False)
    checks = lists.filter(whole).flatten()
    ids = pc.struct_field(checks, "id")
    numbers = pc.index_in(ids, value_set=pa.array(known, ids.type)).to_pylist()
    answers = pc.struct_field(checks, form.field).to_pylist()
    order = [*range(len(known))]
    start = 0
    for is_whole in whole.to_pylist():
        if not is_whole:
            yield None
            continue
        end = start + len(known)
        yield tuple(answers[start:end]) if numbers[start:end] == order else None
        start = end


def read_arrow(table: Any, size: int) -> Iterator[OutputItems | OutputColumns]:
    """Yield the rows of a table or a column of Arrow, in portions of at most `size`."""
    if hasattr(table, "__arrow_c_stream__") and hasattr(table, "dtype"):  # a column, such as a series of Polars
        table = pa.chunked_array(table)
    if isinstance(table, pa.Array | pa.ChunkedArray):
        for start in range(0, len(table), size):
            yield OutputItems(list_values(table.slice(start, size)))
        return
    if not isinstance(table, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        if hasattr(table, "__arrow_c_stream__"):
            table = pa.RecordBatchReader.from_stream(table)
        else:
            table = pa.record_batch(table)
    for batch in [table] if isinstance(table, pa.Table | pa.RecordBatch) else table:
        refuse_repeated(batch.schema.names)
        names = [name for name in READ if name in batch.schema.names]
        part = batch.select(names) if {"output", "outputs"} & {*names} else batch
        id_type = part.schema.field("id").type if "id" in names and part is not batch else None
        kind = part.schema.field("output").type if names in (["output"], ["id", "output"]) else None
        is_plain = kind is not None and (_is_string(kind) or pa.types.is_struct(kind))
        for start in range(0, len(batch), size):
            rows = part.slice(start, size)
            if is_plain:
                named = list_values(rows.column("id")) if "id" in names else [None] * len(rows)
                outputs = rows.column("output")
                outputs = outputs if isinstance(outputs, pa.ChunkedArray) else pa.chunked_array([outputs])
                yield OutputColumns([None if is_null(name) else name for name in named], outputs, id_type)
            else:
                columns = {name: list_values(rows.column(place)) for place, name in enumerate(rows.schema.names)}
                yield gather(columns, len(rows), id_type)


_GROUP = pa.struct([
    ("id", pa.string()),
    ("score", pa.float64()),
    ("weight", pa.float64()),
    ("gate", pa.float64()),
    ("gate_met", pa.bool_()),
])  # fmt: skip
_ERROR = pa.struct([("message", pa.string()), ("path", pa.string()), ("line", pa.int64())])


def schema(id_type: Any = None, rubrics: Iterable[ScoringRubric] = ()) -> pa.Schema:
    """Return the schema of results; `id_type` is the type of the ids, strings by default.

    The `rubrics` add the columns that only results by them have, and decide the type of answers.
    """
    own: set[str] = set()
    number = pa.int64()
    for rubric in rubrics:
        own |= rubric.own_fields
        if any(criterion.has_hundredths for criterion in rubric.criteria):
            number = pa.float64()
    more = {"rubric_score": pa.float64(), "rubric_grade": pa.string(), "groups": pa.list_(_GROUP)}
    criterion = pa.struct([
        ("id", pa.string()),
        ("raw", number),
        ("share", pa.float64()),
        ("score", pa.float64()),
        ("weight", pa.float64()),
        ("gate", number),
        ("gate_met", pa.bool_()),
        ("outcome", pa.string()),
    ])  # fmt: skip
    return pa.schema([
        ("id", id_type or pa.string()),
        ("rubric", pa.string()),
        ("rubric_hash", pa.string()),
        ("points", pa.int64()),
        ("full", pa.int64()),
        ("score", pa.float64()),
        ("verdict", pa.string()),
        ("gates_missed", pa.list_(pa.string())),
        *[(name, kind) for name, kind in more.items() if name in own],
        ("criteria", pa.list_(criterion)),
        ("error", _ERROR),
    ])  # fmt: skip


def write_criterion(result: CriterionResult) -> dict[str, Any]:
    """Return a criterion as a row of a table has it: a yes is 1, and what does not apply is null."""
    raw: Any = result.grade.answer
    if isinstance(raw, bool):
        raw = int(raw)
    return {**result.to_json(), "raw": raw if result.applies else None}


def write_arrow(rows: BatchRows, rubrics: Iterable[ScoringRubric]) -> pa.Table:
    """Return a table of results by some rubrics: a result that many rows share is written once."""
    form = schema(rows.id_type, rubrics)
    different = rows.list_different()
    unique = [*different.values()]
    numbers = {name: number for number, name in enumerate(different)}
    places = pa.array([numbers[id(result)] for result in rows.results], pa.int32())
    of_row = {row: number for number, row in enumerate(rows.errors)}
    errors = pa.array([error._asdict() for error in rows.errors.values()], _ERROR)
    errors = errors.take(pa.array([*map(of_row.get, range(len(rows.results)))], pa.int32()))
    # Each answer to each criterion is written once.
    graded: dict[int, CriterionResult] = {}
    listed: list[list[int] | None] = []
    place_of: dict[int, int] = {}
    for result in unique:
        if not isinstance(result, Scored):
            listed.append(None)
            continue
        for criterion in result.criteria:
            place_of.setdefault(id(criterion), len(graded))
            graded[id(criterion)] = criterion
        listed.append([place_of[id(criterion)] for criterion in result.criteria])
    values = pa.array([*map(write_criterion, graded.values())], form.field("criteria").type.value_type)
    indexes = pa.array(listed, pa.list_(pa.int32())).take(places)
    columns = [write_ids(rows.ids, form.field("id").type)]
    for name in form.names[1:-2]:
        column = [read_column(result, name) for result in unique]
        columns.append(pa.array(column, form.field(name).type).take(places))
    columns.append(pa.ListArray.from_arrays(indexes.offsets, values.take(indexes.values), mask=indexes.is_null()))
    columns.append(errors)
    return pa.Table.from_arrays(columns, schema=form)


def write_ids(ids: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return a column of ids of this type, or of strings if it cannot hold them."""
    try:
        return pa.array(ids, kind)
    except (pa.ArrowInvalid, TypeError, UnicodeEncodeError):
        return pa.array([*map(_as_text, ids)], pa.string())


def _as_text(name: Any) -> str | None:
    if name is None or isinstance(name, str):
        text = name
    elif isinstance(name, bytes):
        return name.decode("utf-8", "backslashreplace")
    else:
        text = json.dumps(name, ensure_ascii=False, default=str)
    return text and text.encode("utf-8", "backslashreplace").decode()

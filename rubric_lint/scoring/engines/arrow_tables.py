"""Read outputs from Arrow, and write results as a table of Arrow."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rubric_lint.model.suggest import format_need
from rubric_lint.scoring.engines.rows import READ, BatchRows, OutputItems, gather, read_column, refuse_repeated
from rubric_lint.scoring.grading import CriterionResult, Scored, ScoringRubric
from rubric_lint.scoring.records.decoding import list_values

try:
    import pyarrow as pa
except ImportError as fault:
    raise ImportError(f"Arrow {format_need('arrow')}") from fault


__all__ = ["pa", "read_arrow", "schema", "write_arrow", "write_criterion", "write_ids"]


def read_arrow(table: Any, size: int) -> Iterator[OutputItems]:
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
    batches = [table] if isinstance(table, pa.Table | pa.RecordBatch) else table
    for batch in batches:
        refuse_repeated(batch.schema.names)
        names = [name for name in READ if name in batch.schema.names]
        part = batch.select(names) if {"output", "outputs"} & {*names} else batch
        id_type = part.schema.field("id").type if "id" in names and part is not batch else None
        for start in range(0, len(batch), size):
            rows = part.slice(start, size)
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
    unique = list(different.values())
    numbers = {name: number for number, name in enumerate(different)}
    places = pa.array([numbers[id(result)] for result in rows.results], pa.int32())
    of_row = {row: number for number, row in enumerate(rows.errors)}
    errors = pa.array([error._asdict() for error in rows.errors.values()], _ERROR)
    errors = errors.take(pa.array(list(map(of_row.get, range(len(rows.results)))), pa.int32()))
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
    values = pa.array(list(map(write_criterion, graded.values())), form.field("criteria").type.value_type)
    indexes = pa.array(listed, pa.list_(pa.int32())).take(places)
    columns = [write_ids(rows.ids, form.field("id").type)]
    # All but ids, criteria and errors, which are no plain values of a result.
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
        return pa.array(list(map(_as_text, ids)), pa.string())


def _as_text(name: Any) -> str | None:
    if name is None or isinstance(name, str):
        text = name
    elif isinstance(name, bytes):
        return name.decode("utf-8", "backslashreplace")
    else:
        text = json.dumps(name, ensure_ascii=False, default=str)
    return text and text.encode("utf-8", "backslashreplace").decode()

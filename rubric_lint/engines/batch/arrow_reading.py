"""Read outputs from Arrow: most by their columns, without an object for each row."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow.compute as pc

from rubric_lint.engines.batch.arrow import pa
from rubric_lint.engines.batch.items import READ, Items, Plain, gather, is_null, refuse_repeated
from rubric_lint.outputs.arrow_values import list_values
from rubric_lint.scoring.form import form_of
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.output import Known
from rubric_lint.scoring.scorer import Scorer

_TEXTS = (pa.string(), pa.large_string())


class Columns(NamedTuple):
    """Some rows that have just an id and an output, which is a text or a struct."""

    ids: list[Any]
    outputs: pa.ChunkedArray
    id_type: Any

    def glance(self, scorer: Scorer) -> list[Known | None]:
        """Return the result of each row that has just the fields of the expected form, else None."""
        if self.outputs.type in _TEXTS:
            return [*map(scorer.glance, list_values(self.outputs))]
        rubric = scorer.only
        if rubric is None or not _is_plain(self.outputs.type, rubric):
            return [None] * len(self.ids)
        found: list[Known | None] = []
        for chunk in self.outputs.chunks:
            found += map(scorer.look_up, _read_answers(chunk, rubric))
        return found

    def gather(self, places: list[int]) -> list[Any]:
        """Return these rows as records."""
        # Arrow cannot take rows of all types; of those that it cannot, such as views of strings, no row is plain.
        others = self.outputs if len(places) == len(self.ids) else self.outputs.take(pa.array(places, pa.int64()))
        outputs = list_values(others)
        return gather({"id": [self.ids[place] for place in places], "output": outputs}, len(places)).items


def _is_plain(kind: pa.DataType, rubric: ScoringRubric) -> bool:
    """Return whether a struct can hold nothing but the fields of the outputs of a rubric, with these types."""
    form = form_of(rubric.shape)
    is_answer = pa.types.is_boolean if form.field == "satisfied" else pa.types.is_integer
    if not form.holds_checks:
        return _has_fields(kind, {form.field: is_answer}, "reasoning")
    if not _has_fields(kind, {"checks": pa.types.is_list}, "overall_reasoning"):
        return False
    return _has_fields(kind.field("checks").type.value_type, {"id": _is_text, form.field: is_answer}, "reasoning")


def _has_fields(kind: pa.DataType, required: dict[str, Any], reasoning: str) -> bool:
    if not pa.types.is_struct(kind):
        return False
    accepts = {**required, reasoning: _is_text}
    names = [each.name for each in kind]
    if not {*required} <= {*names} <= {*accepts} or len({*names}) < len(names):
        return False
    return all(accepts[each.name](each.type) for each in kind)


def _is_text(kind: pa.DataType) -> bool:
    return kind in _TEXTS


def _is_text_or_struct(kind: pa.DataType) -> bool:
    return _is_text(kind) or pa.types.is_struct(kind)


def _read_answers(outputs: pa.StructArray, rubric: ScoringRubric) -> Iterator[tuple[Any, ...] | None]:
    """Yield the answers of each output; None unless its checks are those of the rubric, in its order."""
    form = form_of(rubric.shape)
    if not form.holds_checks:
        yield from zip(pc.struct_field(outputs, form.field).to_pylist())
        return
    known = [criterion.id for criterion in rubric.criteria]
    lists = pc.struct_field(outputs, "checks")
    whole = pc.fill_null(pc.equal(pc.list_value_length(lists), len(known)), fill_value=False)
    checks = lists.filter(whole).flatten()
    ids = pc.struct_field(checks, "id")
    numbers = iter(pc.index_in(ids, value_set=pa.array(known, ids.type)).to_pylist())
    answers = iter(pc.struct_field(checks, form.field).to_pylist())
    rows = zip(*(zip(*[each] * len(known), strict=True) for each in (numbers, answers)), strict=True)
    order = (*range(len(known)),)
    for is_whole in whole.to_pylist():
        placed, given = next(rows) if is_whole else (None, None)
        yield given if placed == order else None


def read_arrow(table: Any, size: int) -> Iterator[Items | Plain]:
    """Yield the rows of a table or a column of Arrow, in portions of at most `size`."""
    if hasattr(table, "__arrow_c_stream__") and hasattr(table, "dtype"):  # a column, such as a series of Polars
        table = pa.chunked_array(table)
    if isinstance(table, pa.Array | pa.ChunkedArray):
        for start in range(0, len(table), size):
            yield Items(list_values(table.slice(start, size)))
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
        is_plain = names in (["output"], ["id", "output"]) and _is_text_or_struct(part.schema.field("output").type)
        for start in range(0, len(batch), size):
            rows = part.slice(start, size)
            yield _read_columns(rows, id_type) if is_plain else _read_rows(rows, id_type)


def _read_columns(rows: Any, id_type: Any) -> Plain:
    named = list_values(rows.column("id")) if "id" in rows.schema.names else [None] * len(rows)
    outputs = rows.column("output")
    outputs = outputs if isinstance(outputs, pa.ChunkedArray) else pa.chunked_array([outputs])
    return Columns([None if is_null(name) else name for name in named], outputs, id_type)


def _read_rows(rows: Any, id_type: Any) -> Items:
    columns = {name: list_values(rows.column(place)) for place, name in enumerate(rows.schema.names)}
    return gather(columns, len(rows), id_type)

"""Read outputs from Arrow, write results as a table of Arrow, and score batches of Arrow data in any engine."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rubric_lint.engines.batch import (
    READ,
    Items,
    Rows,
    ScoredBatch,
    gather,
    is_null,
    read_column,
    refuse_repeated,
    score_batch,
)
from rubric_lint.messages import list_names
from rubric_lint.outputs.decoding import list_values
from rubric_lint.outputs.mapping import HELD
from rubric_lint.scoring.form import form_of
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.output import Known
from rubric_lint.scoring.scorer import Scorer

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as fault:
    raise ImportError("Arrow needs pyarrow; install it with the extra `arrow`: rubric-lint[arrow]") from fault

_TEXTS = (pa.string(), pa.large_string())


class Columns(NamedTuple):
    """Some rows that have just an id and an output, which is a text or a struct."""

    ids: list[Any]
    outputs: pa.ChunkedArray
    id_type: Any

    def match_form(self, scorer: Scorer) -> list[Known | None]:
        """Return the result of each row that has just the fields of the expected form, else None."""
        if self.outputs.type in _TEXTS:
            return [*map(scorer.match_form, list_values(self.outputs))]
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
    return _has_fields(kind.field("checks").type.value_type, {"id": _is_string, form.field: is_answer}, "reasoning")


def _has_fields(kind: pa.DataType, required: dict[str, Any], reasoning: str) -> bool:
    if not pa.types.is_struct(kind):
        return False
    accepts = {**required, reasoning: _is_string}
    names = [each.name for each in kind]
    if not {*required} <= {*names} <= {*accepts} or len({*names}) < len(names):
        return False
    return all(accepts[each.name](each.type) for each in kind)


def _is_string(kind: pa.DataType) -> bool:
    return kind in _TEXTS


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


def read_arrow(table: Any, size: int) -> Iterator[Items | Columns]:
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
        kind = part.schema.field("output").type if names in (["output"], ["id", "output"]) else None
        is_plain = kind is not None and (_is_string(kind) or pa.types.is_struct(kind))
        for start in range(0, len(batch), size):
            rows = part.slice(start, size)
            if is_plain:
                named = list_values(rows.column("id")) if "id" in names else [None] * len(rows)
                outputs = rows.column("output")
                outputs = outputs if isinstance(outputs, pa.ChunkedArray) else pa.chunked_array([outputs])
                yield Columns([None if is_null(name) else name for name in named], outputs, id_type)
            else:
                columns = {name: list_values(rows.column(place)) for place, name in enumerate(rows.schema.names)}
                yield gather(columns, len(rows), id_type)


_CRITERION = pa.struct([
    ("id", pa.string()),
    ("raw", pa.int64()),
    ("share", pa.float64()),
    ("score", pa.float64()),
    ("weight", pa.float64()),
    ("gate", pa.int64()),
    ("gate_met", pa.bool_()),
    ("outcome", pa.string()),
])  # fmt: skip
_ERROR = pa.struct([("message", pa.string()), ("path", pa.string()), ("line", pa.int64())])


def schema(id_type: Any = None) -> pa.Schema:
    """Return the schema of results; `id_type` is the type of the ids, strings by default."""
    return pa.schema([
        ("id", id_type or pa.string()),
        ("rubric", pa.string()),
        ("rubric_hash", pa.string()),
        ("points", pa.int64()),
        ("full", pa.int64()),
        ("score", pa.float64()),
        ("verdict", pa.string()),
        ("gates_missed", pa.list_(pa.string())),
        ("criteria", pa.list_(_CRITERION)),
        ("error", _ERROR),
    ])  # fmt: skip


def write_arrow(rows: Rows) -> pa.Table:
    """Return a table of results: what each kind has is written once, and taken for each row."""
    unique = [*dict.fromkeys(rows.kinds)]
    numbers = {kind: number for number, kind in enumerate(unique)}
    places = pa.array([*map(numbers.__getitem__, rows.kinds)], pa.int32())
    of_row = {row: number for number, row in enumerate(rows.errors)}
    errors = pa.array([error._asdict() for error in rows.errors.values()], _ERROR)
    errors = errors.take(pa.array([*map(of_row.get, range(len(rows.kinds)))], pa.int32()))
    # Each answer to each criterion is written once.
    pieces = {id(piece): piece for kind in unique if isinstance(kind, Known) for piece in kind.pieces}
    place_of = {name: place for place, name in enumerate(pieces)}
    results = [piece.result.to_json() for piece in pieces.values()]
    values = pa.array([{**each, "raw": int(each["raw"])} for each in results], _CRITERION)
    listed = [[place_of[id(piece)] for piece in kind.pieces] if isinstance(kind, Known) else None for kind in unique]
    taken = pa.array(listed, pa.list_(pa.int32())).take(places)
    form = schema(rows.id_type)
    columns = [
        write_ids(rows.ids, form.field("id").type),
        *(
            pa.array([read_column(kind, name) for kind in unique], form.field(name).type).take(places)
            for name in form.names[1:-2]
        ),
        pa.ListArray.from_arrays(taken.offsets, values.take(taken.values), mask=taken.is_null()),
        errors,
    ]
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


_SPARK = {
    "bool": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
    "date32[day]": "date",
}
"""The types that Spark has too, by the names of Arrow."""


def _is_output(kind: Any) -> bool:
    return _is_text(kind) or pa.types.is_struct(_unwrap(kind))


def _is_list_of_outputs(kind: Any) -> bool:
    kind = _unwrap(kind)
    is_list = isinstance(kind, pa.ListType | pa.LargeListType | pa.FixedSizeListType) or "list_view" in str(kind)
    return pa.types.is_null(kind) or (is_list and _is_output(kind.value_type))


def _is_text(kind: Any) -> bool:
    """Return whether a column of this type can hold texts; one of only nulls can."""
    kind = _unwrap(kind)
    plain = "null", "string", "large_string", "binary", "large_binary", "string_view", "binary_view"
    return str(kind) in plain or pa.types.is_fixed_size_binary(kind)


def _unwrap(kind: Any) -> Any:
    """Return the type of the values in a column: that of a dictionary, of runs or of an extension."""
    while True:
        if isinstance(kind, pa.DictionaryType | pa.RunEndEncodedType):
            kind = kind.value_type
        elif isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        else:
            return kind


def name_spark_type(field: pa.Field) -> str:
    """Return the type of a column as Spark writes it.

    Raises:
        TypeError: if Spark has no such type.
    """
    kind = field.type
    if str(kind) in _SPARK:
        return _SPARK[str(kind)]
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'`{each.name}`: {name_spark_type(each)}' for each in kind)}>"
    if pa.types.is_list(kind):
        return f"array<{name_spark_type(kind.value_field)}>"
    if pa.types.is_map(kind):
        return f"map<{name_spark_type(kind.key_field)}, {name_spark_type(kind.item_field)}>"
    if pa.types.is_timestamp(kind) and kind.unit == "us":
        return "timestamp" if kind.tz else "timestamp_ntz"
    if pa.types.is_decimal128(kind):
        return f"decimal({kind.precision},{kind.scale})"
    raise TypeError(f"keep: Spark has no type for {kind} of `{field.name}`; keep it as another type")


class MapBatches:
    """A function that scores batches; its arguments are those of `map_batches`."""

    def __init__(self, rubrics: ScoringRubric | Mapping[str, ScoringRubric], keep: Any, *, extract: str) -> None:
        self.__name__ = "rubric_lint"  # engines show it
        kept = {each.name: each.type for each in keep} if isinstance(keep, pa.Schema) else keep or {}
        if not isinstance(kept, Mapping) or not all(
            isinstance(name, str) and isinstance(kind, pa.DataType) for name, kind in kept.items()
        ):
            raise TypeError(
                f'keep is {keep!r}; expected column names with types, such as {{"model": pyarrow.string()}}'
            )
        if taken := [name for name in kept if name in schema().names and name != "id"]:
            raise ValueError(
                f"keep has {list_names(taken)}, which results have too; rename the column in the input, or remove it "
                "from keep"
            )
        self._rubrics = rubrics
        self._kept = dict(kept)
        self._extract = extract
        score_batch(rubrics, [], extract=extract)  # refuses what cannot be scored before an engine starts

    @property
    def schema(self) -> pa.Schema:
        """The schema of every result."""
        others = [pa.field(name, kind) for name, kind in self._kept.items() if name != "id"]
        return pa.schema([*schema(self._kept.get("id")), *others])

    @property
    def spark_schema(self) -> str:
        """The schema of every result as Spark writes it, for `DataFrame.mapInArrow`.

        Raises:
            TypeError: if a column of `keep` has a type that Spark does not have.
        """
        return ", ".join(f"`{each.name.replace('`', '``')}` {name_spark_type(each)}" for each in self.schema)

    def check(self, columns: pa.Schema) -> None:
        """Refuse the schema of a table that cannot be scored, as a call would; for use before an engine starts.

        What is wrong in single rows is an error of the row.

        Raises:
            ValueError: if the table has no column `output`, one of them twice, or lacks one of `keep`.
            TypeError: if a column has a type that cannot hold its values.
        """
        names = columns.names
        if HELD.isdisjoint(names):
            found = list_names(names) or "none"
            raise ValueError(
                f"the table has no column `output` (found: {found}); rename the column that has what the judge returned"
            )
        if missing := [name for name in self._kept if name not in names]:
            raise ValueError(f"the table has no column {list_names(missing)} to keep (found: {list_names(names)})")
        refuse_repeated(names, self._kept)
        for name, accepts, expected in (
            ("output", _is_output, "strings, binary or structs"),
            ("outputs", _is_list_of_outputs, "lists of strings, binary or structs"),
            ("rubric", _is_text, "strings"),
            ("rubric_hash", _is_text, "strings"),
        ):
            if name in names and not accepts(kind := columns.field(name).type):
                raise TypeError(f"column `{name}` has the type {kind}; expected {expected}")

    def __call__(self, batch: Any) -> Any:
        """Score a batch, or each of an iterator.

        Raises:
            TypeError: if it is not such a batch, or a column has a type that cannot hold its values.
            ValueError: if it has no column `output`, or lacks one of `keep`.
        """
        if isinstance(batch, Iterator | pa.RecordBatchReader):
            return (part for each in batch for part in self.score(pa.table(each))[0].to_batches())
        if isinstance(batch, pa.Table):
            return self.score(batch)[0]
        if isinstance(batch, pa.RecordBatch):
            return self._score_batch(batch)
        if isinstance(batch, pa.StructArray) and not batch.null_count:
            return self._score_batch(pa.RecordBatch.from_struct_array(batch)).to_struct_array()
        if type(batch).__module__.partition(".")[0] == "polars" and hasattr(batch, "__arrow_c_stream__"):
            return type(batch)(self.score(pa.table(batch))[0])
        advice = '; in Ray, pass batch_format="pyarrow", and in datasets, use with_format("arrow")'
        raise TypeError(
            f"found a batch of the type {type(batch).__module__}.{type(batch).__qualname__}; expected a table or a "
            "record batch of Arrow, an iterator of these, an array of structs without nulls, or a data frame of Polars"
            f"{advice if isinstance(batch, Mapping) else ''}"
        )

    def _score_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        found = self.score(pa.table(batch))[0].to_batches()
        return pa.concat_batches(found) if found else pa.RecordBatch.from_pylist([], schema=self.schema)

    def score(self, table: pa.Table) -> tuple[pa.Table, ScoredBatch]:
        """Score a table; return the results as a call does, and the batch, which has the totals.

        Raises:
            TypeError: as a call.
            ValueError: as a call.
        """
        self.check(table.schema)
        form = self.schema
        batch = score_batch(self._rubrics, table, extract=self._extract)
        found = batch.to_arrow()
        kept = {}
        for name, kind in self._kept.items():
            try:
                kept[name] = table[name].cast(kind)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as fault:
                raise TypeError(
                    f"column `{name}` has the type {table[name].type} and cannot be kept as {kind}: {fault}"
                ) from None
        if "id" not in kept:
            kept["id"] = write_ids(batch.id, pa.string())
        columns = [kept[name] if name in kept else found[name] for name in form.names]
        return pa.Table.from_arrays(columns, schema=form), batch

    def __repr__(self) -> str:
        return f"<rubric_lint.arrow.map_batches: {self._rubrics!r}>"

"""Score batches of Arrow data in any engine: what `rubric_lint.arrow.map_batches` returns."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rubric_lint.model.messages import list_names
from rubric_lint.scoring.engines.arrow_tables import pa, schema, write_ids
from rubric_lint.scoring.engines.batch import ScoredBatch, score_batch
from rubric_lint.scoring.engines.rows import refuse_repeated
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.records.mapping import CHECKS, OUTPUT_FIELDS

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
        members = [f"`{member.name}`: {name_spark_type(member)}" for member in kind]
        return f"struct<{', '.join(members)}>"
    if pa.types.is_list(kind):
        return f"array<{name_spark_type(kind.value_field)}>"
    if pa.types.is_map(kind):
        return f"map<{name_spark_type(kind.key_field)}, {name_spark_type(kind.item_field)}>"
    # Spark counts time in microseconds alone.
    if pa.types.is_timestamp(kind) and kind.unit == "us":
        return "timestamp" if kind.tz else "timestamp_ntz"
    if pa.types.is_decimal128(kind):
        return f"decimal({kind.precision},{kind.scale})"
    raise TypeError(f"keep: Spark has no type for {kind} of `{field.name}`; keep it as another type")


class MapBatches:
    """A function that scores batches; its arguments are those of `map_batches`. `schema` is that of every result."""

    def __init__(
        self,
        rubrics: ScoringRubric | Mapping[str, ScoringRubric],
        keep: Any,
        *,
        extract: str,
        extra_fields: str | None = None,
    ) -> None:
        self.__name__ = "rubric_lint"  # engines show it
        kept = keep or {}
        if isinstance(keep, pa.Schema):
            kept = {field.name: field.type for field in keep}
        if not isinstance(kept, Mapping) or not all(
            isinstance(name, str) and isinstance(kind, pa.DataType) for name, kind in kept.items()
        ):
            raise TypeError(
                f'keep is {keep!r}; expected column names with types, such as {{"model": pyarrow.string()}}'
            )
        self._rubrics = rubrics
        self._reading: dict[str, Any] = {"extract": extract, "extra_fields": extra_fields}
        score_batch(rubrics, [], **self._reading)  # refuses what cannot be scored before an engine starts
        listed = [rubrics] if isinstance(rubrics, ScoringRubric) else list(rubrics.values())
        form = schema(kept.get("id"), listed)
        reserved = [name for name in kept if name != "id" and name in form.names]
        if reserved:
            raise ValueError(
                f"keep has {list_names(reserved)}, which results have too; rename the column in the input, or remove "
                "it from keep"
            )
        self._kept = dict(kept)
        self.schema = pa.schema([*form, *[pa.field(name, kind) for name, kind in kept.items() if name != "id"]])

    @property
    def spark_schema(self) -> str:
        """The schema of every result as Spark writes it, for `DataFrame.mapInArrow`.

        Raises:
            TypeError: if a column of `keep` has a type that Spark does not have.
        """
        columns = []
        for field in self.schema:
            name = field.name.replace("`", "``")
            columns.append(f"`{name}` {name_spark_type(field)}")
        return ", ".join(columns)

    def check(self, columns: pa.Schema) -> None:
        """Refuse the schema of a table that cannot be scored, as a call would; for use before an engine starts.

        What is wrong in single rows is an error of the row.

        Raises:
            ValueError: if the table has no column `output`, one of them twice, or lacks one of `keep`.
            TypeError: if a column has a type that cannot hold its values.
        """
        names = columns.names
        if OUTPUT_FIELDS.isdisjoint(names):
            found = list_names(names) or "none"
            advice = "rename the column that has what the judge returned"
            if CHECKS in names:
                advice = (
                    f"`{CHECKS}` is only the list of a judge output; make a struct of the whole one, named `output`"
                )
            raise ValueError(f"the table has no column `output` (found: {found}); {advice}")
        missing = [name for name in self._kept if name not in names]
        if missing:
            raise ValueError(f"the table has no column {list_names(missing)} to keep (found: {list_names(names)})")
        refuse_repeated(names, self._kept)
        for name, accepts, expected in (
            ("output", _is_output, "strings, binary or structs"),
            ("outputs", _is_list_of_outputs, "lists of strings, binary or structs"),
            ("rubric", _is_text, "strings"),
            ("rubric_hash", _is_text, "strings"),
        ):
            if name in names and not accepts(columns.field(name).type):
                raise TypeError(f"column `{name}` has the type {columns.field(name).type}; expected {expected}")

    def __call__(self, batch: Any) -> Any:
        """Score a batch, or each of an iterator.

        Raises:
            TypeError: if it is not such a batch, or a column has a type that cannot hold its values.
            ValueError: if it has no column `output`, or lacks one of `keep`.
        """
        if isinstance(batch, Iterator | pa.RecordBatchReader):
            return self._score_all(batch)
        if isinstance(batch, pa.Table):
            return self.score(batch)[0]
        if isinstance(batch, pa.RecordBatch):
            return self._score_batch(batch)
        if isinstance(batch, pa.StructArray) and not batch.null_count:
            return self._score_batch(pa.RecordBatch.from_struct_array(batch)).to_struct_array()
        # By its name: who passes no data frame of Polars need not have it installed.
        if type(batch).__module__.partition(".")[0] == "polars" and hasattr(batch, "__arrow_c_stream__"):
            return type(batch)(self.score(pa.table(batch))[0])
        advice = ""
        if isinstance(batch, Mapping):
            advice = '; in Ray, pass batch_format="pyarrow", and in datasets, use with_format("arrow")'
        raise TypeError(
            f"found a batch of the type {type(batch).__module__}.{type(batch).__qualname__}; expected a table or a "
            "record batch of Arrow, an iterator of these, an array of structs without nulls, or a data frame of Polars"
            f"{advice}"
        )

    def _score_all(self, batches: Iterable[Any]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from self.score(pa.table(batch))[0].to_batches()

    def _score_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        found = self.score(pa.table(batch))[0].to_batches()
        # A table without rows may have no batch at all.
        return pa.concat_batches(found) if found else pa.RecordBatch.from_pylist([], schema=self.schema)

    def score(self, table: pa.Table) -> tuple[pa.Table, ScoredBatch]:
        """Score a table; return the results as a call does, and the batch, which has the totals.

        Raises:
            TypeError: as a call.
            ValueError: as a call.
        """
        self.check(table.schema)
        batch = score_batch(self._rubrics, table, **self._reading)
        found = batch.to_arrow()
        kept = {}
        for name, kind in self._kept.items():
            try:
                kept[name] = table[name].cast(kind)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as fault:
                raise TypeError(
                    f"column `{name}` has the type {table[name].type} and cannot be kept as {kind}: {fault}"
                ) from None
        # As texts, whatever this batch has: engines need one type for all batches.
        if "id" not in kept:
            kept["id"] = write_ids(batch.id, pa.string())
        columns = [kept[name] if name in kept else found[name] for name in self.schema.names]
        return pa.Table.from_arrays(columns, schema=self.schema), batch

    def __repr__(self) -> str:
        return f"<rubric_lint.arrow.map_batches: {self._rubrics!r}>"

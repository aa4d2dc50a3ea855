"""Score batches of Arrow data: what `rubric_lint.arrow.map_batches` returns."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rubric_lint.engines.batch import score_batch
from rubric_lint.engines.batch.arrow import pa
from rubric_lint.engines.batch.arrow_columns import check_columns, keep_column, name_spark_type, read_kept
from rubric_lint.engines.batch.arrow_writing import schema, write_ids
from rubric_lint.engines.batch.scored import ScoredBatch
from rubric_lint.scoring.grading import ScoringRubric


class MapBatches:
    """A function that scores batches; its arguments are those of `map_batches`."""

    def __init__(self, rubrics: ScoringRubric | Mapping[str, ScoringRubric], keep: Any, *, extract: str) -> None:
        self.__name__ = "rubric_lint"  # engines show it
        self._rubrics = rubrics
        self._kept = read_kept(keep, schema().names)
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

        Raises:
            ValueError: if the table has no column `output`, or lacks one of `keep`.
            TypeError: if a column has a type that cannot hold its values.
        """
        check_columns(columns, self._kept)

    def __call__(self, batch: Any) -> Any:
        """Score a batch, or each of an iterator.

        Raises:
            TypeError: if it is not such a batch, or a column has a type that cannot hold its values.
            ValueError: if it has no column `output`, or lacks one of `keep`.
        """
        if isinstance(batch, Iterator | pa.RecordBatchReader):
            return self._score_each(batch)
        if isinstance(batch, pa.Table):
            return self._score(batch)
        if isinstance(batch, pa.RecordBatch):
            return self._score_batch(batch)
        if isinstance(batch, pa.StructArray) and not batch.null_count:
            return self._score_batch(pa.RecordBatch.from_struct_array(batch)).to_struct_array()
        if type(batch).__module__.partition(".")[0] == "polars" and hasattr(batch, "__arrow_c_stream__"):
            return type(batch)(self._score(pa.table(batch)))
        advice = '; in Ray, pass batch_format="pyarrow", and in datasets, use with_format("arrow")'
        raise TypeError(
            f"found a batch of the type {type(batch).__module__}.{type(batch).__qualname__}; expected a table or a "
            "record batch of Arrow, an iterator of these, an array of structs without nulls, or a data frame of Polars"
            f"{advice if isinstance(batch, Mapping) else ''}"
        )

    def _score_each(self, batches: Iterable[Any]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from self._score(pa.table(batch)).to_batches()

    def _score_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        found = self._score(pa.table(batch)).to_batches()
        return pa.concat_batches(found) if found else pa.RecordBatch.from_pylist([], schema=self.schema)

    def _score(self, table: pa.Table) -> pa.Table:
        return self.score(table)[0]

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
        kept = {name: keep_column(table, name, kind) for name, kind in self._kept.items()}
        if "id" not in kept:
            kept["id"] = write_ids(batch.id, pa.string())
        columns = [kept[name] if name in kept else found[name] for name in form.names]
        return pa.Table.from_arrays(columns, schema=form), batch

    def __repr__(self) -> str:
        return f"<rubric_lint.arrow.map_batches: {self._rubrics!r}>"

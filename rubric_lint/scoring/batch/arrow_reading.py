"""Read outputs from Arrow."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.scoring.batch.arrow import pa
from rubric_lint.scoring.batch.items import READ, Items, gather


def read_arrow(table: Any, size: int) -> Iterator[Items]:
    """Yield the rows of a table or a column of Arrow, in portions of at most `size`."""
    if isinstance(table, pa.Array | pa.ChunkedArray):
        for start in range(0, len(table), size):
            yield Items(table.slice(start, size).to_pylist())
        return
    if not isinstance(table, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        if hasattr(table, "__arrow_c_stream__"):
            table = pa.RecordBatchReader.from_stream(table)
        else:
            table = pa.record_batch(table)
    for batch in [table] if isinstance(table, pa.Table | pa.RecordBatch) else table:
        names = [name for name in READ if name in batch.schema.names]
        part = batch.select(names) if {"output", "outputs"} & {*names} else batch
        id_type = part.schema.field("id").type if "id" in names and part is not batch else None
        for start in range(0, len(batch), size):
            rows = part.slice(start, size)
            columns = {name: rows.column(place).to_pylist() for place, name in enumerate(part.schema.names)}
            yield gather(columns, len(rows), id_type)

"""Score one part: what a worker does."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rubric_lint.engines.batch.arrow_mapping import MapBatches
from rubric_lint.engines.batch.items import READ
from rubric_lint.engines.cluster.folder import KEY, Done
from rubric_lint.engines.cluster.plan import Part, name_fields
from rubric_lint.project.writing import WriteError, open_whole_bytes
from rubric_lint.scoring.stored_totals import store_totals
from rubric_lint.scoring.totals import Totals

_AT_ONCE = 65_536
"""The rows to score at once."""


_DEATHS = 5
"""The workers that may die while they score one part."""


class _ReadError(Exception):
    """An input that cannot be read to its end, and why."""


class Worker:
    """A function that scores parts and writes their files into a folder; it can be pickled.

    `run` is the key of the plan. A call takes a part as a mapping and returns what it did as a mapping: a `Done`, or a
    `fault` in words. The same part always gives the same file, so a part that is scored twice counts once.
    """

    def __init__(self, score: MapBatches, folder: str, run: str, mapping: Mapping[str, str]) -> None:
        self.__name__ = "rubric_lint"  # Ray shows it
        self._score = score
        self._folder = folder
        self._run = run
        self._mapping = mapping
        self._home = Path.cwd()  # workers have another folder

    def __call__(self, row: Mapping[str, Any]) -> dict[str, str]:
        """Score a part, given as `{"part": JSON}`; return `done` as JSON or a `fault`, and the other one empty."""
        part = Part(*json.loads(row["part"]))
        file = str(self._home / part.file)
        place = Path(self._folder) / part.name
        if len([*place.parent.glob(f".{place.name}.*")]) >= _DEATHS:  # what each of them left half written
            fault = f"{part.file}: {_DEATHS} workers died while they scored {place.name}, perhaps for lack of memory"
            return {"done": "", "fault": fault}
        try:
            done = self._work(part, file, place)
        except (_ReadError, WriteError) as fault:
            return {"done": "", "fault": f"{place if isinstance(fault, WriteError) else part.file}: {fault}"}
        except OSError as fault:
            return {"done": "", "fault": f"{place}: {fault.strerror or fault}"}
        return {"done": json.dumps(done._asdict()), "fault": ""}

    def _work(self, part: Part, file: str, place: Path) -> Done:
        totals = Totals([])
        rows = others = first_other = 0
        with (
            open_whole_bytes(str(place)) as stream,
            pq.ParquetWriter(stream, self._score.schema, compression="zstd", write_page_checksum=True) as writer,
        ):
            for table in _read(file, part, self._mapping):
                results, batch = self._score.score(table)
                if batch.judged_otherwise:
                    first_other = first_other if others else rows + batch.judged_otherwise[0]
                    others += len(batch.judged_otherwise)
                writer.write_table(_number_errors(results, part.first_row + rows + 1))
                rows += len(results)
                totals = totals + batch.totals
            if rows != part.rows:
                raise _ReadError(f"has {rows} rows where its footer says {part.rows}; it changed while it was read")
            done = Done(part.number, rows, store_totals(totals), others, first_other)
            writer.add_key_value_metadata({KEY: json.dumps({"run": self._run, **done._asdict()})})
        return done


def _read(name: str, part: Part, mapping: Mapping[str, str]) -> Iterator[pa.Table]:
    """Yield the rows of a part in tables, only the columns that are read."""
    groups = range(part.first_group, part.first_group + part.groups)
    try:
        with pq.ParquetFile(name, pre_buffer=False, page_checksum_verification=True) as file:
            fields = name_fields(file.schema_arrow.names, mapping)
            columns = [column for column, field in fields.items() if field in READ]
            for batch in file.iter_batches(_AT_ONCE, row_groups=[*groups], columns=columns, use_threads=False):
                yield pa.table(batch).rename_columns([fields[name] for name in batch.schema.names])
    except (pa.ArrowException, OSError) as fault:
        told = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        told = "No such file or directory" if isinstance(fault, FileNotFoundError) else told.partition("\n")[0]
        raise _ReadError(f"cannot be read: {told}") from None


def _number_errors(results: pa.Table, first: int) -> pa.Table:
    """Say in each error in which row of the input it is; `first` is the number of the first row."""
    column = results["error"].combine_chunks()
    if column.null_count == len(column):
        return results
    fields = [column.field(0), column.field(1), pa.array(range(first, first + len(column)), pa.int64())]
    numbered = pa.StructArray.from_arrays(fields, fields=[*column.type], mask=column.is_null())
    return results.set_column(results.schema.get_field_index("error"), results.schema.field("error"), numbered)

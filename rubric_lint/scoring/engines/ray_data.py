"""Score Parquet files with Ray: `ray.data` reads, `map_batches` scores, Ray writes."""

import logging
import pickle
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import ray.data
from ray.data.block import BlockAccessor
from ray.data.datasource import BlockBasedFileDatasink

from rubric_lint.model.messages import UserError
from rubric_lint.scoring.engines.arrow import MapBatches
from rubric_lint.scoring.engines.rows import READ
from rubric_lint.scoring.records.mapping import OVERWRITING_FIELDS, RequiredColumns, rename_columns
from rubric_lint.scoring.totals import Totals


def _score(table: pa.Table, score: MapBatches, fields: Mapping[str, str]) -> pa.Table:
    """Return results, with a column more: its first row has what is counted, for `_ResultsFolder`."""
    results, batch = score.score(table.rename_columns([fields.get(name, name) for name in table.column_names]))
    counts = pickle.dumps((batch.totals, len(batch.judged_otherwise)))
    column = [counts if row == 0 else None for row in range(len(results))]
    return results.append_column("counts", pa.array(column, pa.binary()))


class _ResultsFolder(BlockBasedFileDatasink):  # type: ignore[misc]  # Ray is not in .venv
    """A folder of results, with the counts of all tasks: Ray keeps one value of each, however often it runs."""

    def write(self, blocks: Iterable[Any], ctx: Any) -> Any:
        table = pa.concat_tables([BlockAccessor.for_block(block).to_arrow() for block in blocks])
        super().write([table.drop_columns("counts")], ctx)
        return table["counts"].drop_null().to_pylist()

    def write_block_to_file(self, block: BlockAccessor, file: pa.NativeFile) -> None:
        pq.write_table(block.to_arrow(), file, compression="zstd")

    def on_write_complete(self, write_result: Any) -> None:
        self.counts = [pickle.loads(counts) for task in write_result.write_returns for counts in task]  # noqa: S301


def _check_columns(columns: pa.Schema, mapping: Mapping[str, str], score: MapBatches) -> pa.Schema:
    """Return the columns of a file that are read; raise an error if there is one that cannot be scored."""
    names, nested = rename_columns(columns.names, mapping, RequiredColumns(needs_output=True))
    for field, column in nested.items():
        raise ValueError(f"--map {field}={column} is a place inside a column, which --engine does not enter")
    for name in OVERWRITING_FIELDS.intersection(names):
        raise ValueError(f"the column `{name}` would overwrite that of the result; rename it or leave it out")
    score.check(pa.schema([column.with_name(name) for column, name in zip(columns, names, strict=True)]))
    return pa.schema([column for column, name in zip(columns, names, strict=True) if name in READ])


def score_files(
    files: Iterable[str], mapping: Mapping[str, str], score: MapBatches, folder: Path
) -> tuple[Totals, int]:
    """Score files into a new folder; return the totals, and how many outputs another rubric had judged.

    Raises:
        UserError: if Ray has no cluster or gives up, if the folder exists, or if a file cannot be scored or written.
    """
    part = folder.resolve().with_name(f"{folder.name}.part")  # a folder of the right name is complete
    for path in (folder, part):
        if path.exists():
            raise UserError(f"{path} exists already; delete it, or name another folder")
    columns, paths, rows = pa.schema([]), [], 0
    for file in files:
        try:
            footer = pq.read_metadata(file)
            columns = pa.unify_schemas([columns, _check_columns(footer.schema.to_arrow_schema(), mapping, score)])
        except (pa.ArrowException, OSError, TypeError, ValueError) as fault:
            raise UserError(f"{file}: {getattr(fault, 'strerror', None) or fault}") from None
        if footer.num_rows:
            paths.append(str(Path(file).resolve()))
        rows += footer.num_rows
    if not rows:
        raise UserError("no outputs found: the input has no rows")
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # the command says once what ends a run
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR)
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = sys.stderr.isatty()
        context.execution_options.preserve_order = True
        context.use_datasource_v2 = False  # without aiohttp, its threads fail now and then
        results = _ResultsFolder(str(part), file_format="parquet")
        given = {"score": score, "fields": {column: field for field, column in mapping.items()}}
        with redirect_stdout(sys.stderr):  # where Ray reports workers that die; stdout is for the totals
            outputs = ray.data.read_parquet(paths, schema=columns, partitioning=None, file_extensions=None)
            outputs = outputs.select_columns(columns.names)
            outputs.map_batches(_score, fn_kwargs=given, batch_format="pyarrow").write_datasink(results)
        written = sum(pq.read_metadata(file).num_rows for file in part.iterdir())
        if written != rows:  # Ray passes over a path that it cannot resolve
            raise UserError(f"{folder}: {written:,} results of {rows:,} outputs; name a folder that all workers share")
        part.rename(folder)
    except (ConnectionError, ray.exceptions.RayError) as fault:
        cause = getattr(fault, "cause", fault)
        if isinstance(fault, ray.exceptions.RayTaskError) and not isinstance(cause, pa.ArrowException | OSError):
            raise  # a bug of ours
        raise UserError(f"--engine ray: {str(cause).strip().partition(chr(10))[0]}") from None
    finally:
        ray.shutdown()
        shutil.rmtree(part, ignore_errors=True)
    return sum((totals for totals, _ in results.counts), Totals([])), sum(others for _, others in results.counts)

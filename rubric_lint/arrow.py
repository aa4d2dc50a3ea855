"""Score in data engines: one function for Ray Data, Spark, Polars, Daft, Hugging Face datasets, DuckDB and Arrow.

It needs the extra `arrow`: `pip install 'rubric-lint[arrow]'`.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.loading import read_rubrics

if TYPE_CHECKING:
    import pyarrow as pa

    from rubric_lint.scoring.engines.arrow import MapBatches

__all__ = ["map_batches"]


def map_batches(
    rubrics: "ScoringRubric | Mapping[str, ScoringRubric] | str | os.PathLike[str]",
    *,
    keep: "pa.Schema | Mapping[str, pa.DataType] | None" = None,
    extract: str = "last",
    extra_fields: str | None = None,
) -> "MapBatches":
    """Return a function that scores batches of rows in any engine that passes Arrow data. It can be pickled.

    `rubrics` is a rubric, the rubrics that `load_rubrics` returns, or the path of their file, which is read at once,
    with its settings.

    The function takes a table, a record batch, an array of structs, an iterator of these or a data frame of Polars, and
    returns the same kind: for each row, in order, the columns of `ScoredBatch.to_arrow()`. A batch has a column
    `output` or `outputs`, and may have the other fields of a record, as in `score_batch`. Ids become strings, another
    value as JSON. Other columns are dropped, except those in `keep`, which has their types, such as
    `{"id": pa.int64(), "model": pa.string()}`. `extract` and `extra_fields` are those of `score`.

    The types of the results are the same for every batch: `schema` has them, `spark_schema` as Spark writes them.
    `check(schema)` refuses the schema of a table that cannot be scored, as a call would: with a `ValueError` if a
    column is missing, with a `TypeError` if it has the wrong type. What is wrong in single rows is in their `error`.

    Raises:
        TypeError: if `rubrics` or `keep` is something else.
        ValueError: if `keep` has the name of a column of results other than `id`.
        OSError: if the file cannot be read.
        RubricError: if the file has errors or no rubric, or the points of a rubric do not fit into 64 bits.
        SettingsError: if the settings of the file are invalid.
        ImportError: without pyarrow.
    """
    from rubric_lint.scoring.engines.arrow import MapBatches  # noqa: PLC0415  (loads pyarrow)

    if isinstance(rubrics, str | os.PathLike):
        rubrics = read_rubrics(rubrics)
    return MapBatches(rubrics, keep, extract=extract, extra_fields=extra_fields)

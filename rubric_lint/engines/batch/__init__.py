"""Score many judge outputs at once, into columns."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from operator import index
from typing import Any

from rubric_lint.engines.batch.collecting import Collector
from rubric_lint.engines.batch.portions import Portion, divide
from rubric_lint.engines.batch.scored import ScoredBatch
from rubric_lint.outputs.candidates import Extract
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.loading import RubricError
from rubric_lint.scoring.scorer import Scorer

_LARGEST = 2**63 - 1
"""The largest number of a column of 64-bit integers."""


def score_batch(
    rubrics: ScoringRubric | Mapping[str, ScoringRubric],
    outputs: Any,
    *,
    extract: str = "last",
) -> ScoredBatch:
    """Score many judge outputs by a rubric, or by the rubrics that `load_rubrics` returns; return columns, in order.

    `outputs` is an iterable, a NumPy array, a column or a table. Each item is a raw text (`str`), one JSON entry as
    `rubric-score` reads it (`bytes`), an object or a record around an output (a mapping, nulls are absent fields), or a
    `JudgeOutput`. Bytes, and a file opened in binary mode, are JSON Lines or JSON. A table of Arrow, pandas or Polars
    has a column `output` (or `outputs`) of texts, bytes or structs, and may have the other fields of a record: `id`,
    `rubric`, `answer`, `question`, `reference`, `judge`, `rubric_hash`; other columns are not read. An invalid output
    is a row with an error. `extract` is that of `score`.

    Raises:
        TypeError: if `rubrics` or `outputs` is something else.
        ValueError: if a table has one of these columns twice.
        RubricError: if the points of a rubric do not fit into 64 bits.
    """
    collector = _collect(rubrics, extract=extract)
    for portion in divide(outputs):
        collector.add(portion)
    return collector.take(len(collector))


def score_batches(
    rubrics: ScoringRubric | Mapping[str, ScoringRubric],
    outputs: Any,
    *,
    size: int = 65_536,
    extract: str = "last",
) -> Iterator[ScoredBatch]:
    """Score a stream of judge outputs as `score_batch`, and yield batches of `size` rows, the last one with the rest.

    Memory depends on `size`, not on the length of the stream. The totals of batches add up.

    Raises:
        TypeError: as `score_batch`.
        RubricError: as `score_batch`.
        ValueError: as `score_batch`, or if `size` is less than 1.
    """
    size = index(size)
    if size < 1:
        raise ValueError(f"size is {size}; expected at least 1")
    return _score(_collect(rubrics, extract=extract), divide(outputs, min(size, 65_536)), size)


def _score(collector: Collector, portions: Iterable[Portion], size: int) -> Iterator[ScoredBatch]:
    for portion in portions:
        collector.add(portion)
        while len(collector) >= size:
            yield collector.take(size)
    if len(collector):
        yield collector.take(len(collector))


def _collect(rubrics: ScoringRubric | Mapping[str, ScoringRubric], *, extract: str) -> Collector:
    named = _name_rubrics(rubrics)
    return Collector(named, _open_scorer(tuple(named.values()), extract=extract))


def _name_rubrics(rubrics: ScoringRubric | Mapping[str, ScoringRubric]) -> dict[str, ScoringRubric]:
    """Check the rubrics and return them by name."""
    listed = [rubrics] if isinstance(rubrics, ScoringRubric) else rubrics
    listed = [*listed.values()] if isinstance(listed, Mapping) else listed
    if not isinstance(listed, list) or not listed or not all(isinstance(each, ScoringRubric) for each in listed):
        found = "an empty mapping" if listed == [] else f"a value of the type {type(rubrics).__name__}"
        raise TypeError(f"rubrics is {found}; expected a rubric, or the rubrics that load_rubrics returns")
    named = {rubric.name: rubric for rubric in listed}
    if isinstance(rubrics, Mapping) and list(rubrics) != list(named):
        raise TypeError(f"rubrics has the keys {list(rubrics)}; expected the names of the rubrics, {list(named)}")
    for rubric in listed:
        if 2 * rubric.full > _LARGEST:  # the median of two outputs may have half a point
            raise RubricError(
                f"rubric `{rubric.name}`: the points of its best answer have {len(str(rubric.full))} digits, more than "
                "a column of 64-bit integers holds; give its weights fewer digits"
            )
    return named


@lru_cache(maxsize=50)
def _open_scorer(rubrics: tuple[ScoringRubric, ...], *, extract: str) -> Scorer:
    """Return the scorer for some rubrics: one for all copies of the rubrics in this process."""
    return Scorer({rubric.name: rubric for rubric in rubrics}, Extract(extract))

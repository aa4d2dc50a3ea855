"""Hold the results of many outputs as columns, each made when it is first read."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from rubric_lint.engines.batch.rows import Kind, RowError, Rows
from rubric_lint.scoring.grading import CriterionResult, ScoringRubric, Verdict
from rubric_lint.scoring.output import Known
from rubric_lint.scoring.totals import Totals

if TYPE_CHECKING:
    import pyarrow as pa


class ScoredRow(NamedTuple):
    """One row of a batch; the score is exactly `points` / `full`. An invalid output has an `error` and no score."""

    id: Any
    rubric: str | None
    rubric_hash: str | None
    points: int | None
    full: int | None
    score: float | None
    verdict: Verdict | None
    gates_missed: tuple[str, ...] | None
    criteria: tuple[CriterionResult, ...] | None
    error: RowError | None

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON, with null for what an invalid output does not have."""
        return {
            **self._asdict(),
            "verdict": None if self.verdict is None else str(self.verdict),
            "gates_missed": None if self.gates_missed is None else [*self.gates_missed],
            "criteria": None if self.criteria is None else [each.to_json() for each in self.criteria],
            "error": self.error and self.error._asdict(),
        }


class ScoredBatch:
    """The results of many outputs, in their order: columns, rows and totals.

    Each column is a list with an item for each row, None where an invalid output has none. `judged_otherwise` has the
    rows whose judge used a rubric with another meaning. `len`, iteration and an index give rows.
    """

    def __init__(self, rubrics: Mapping[str, ScoringRubric], rows: Rows) -> None:
        self.id = rows.ids
        self.judged_otherwise = tuple(rows.judged_otherwise)
        self._rubrics = rubrics
        self._rows = rows

    @cached_property
    def rubric(self) -> list[str | None]:
        """The name of the rubric of each output; None if the output is invalid and does not say it."""
        return self._gather(lambda kind: kind.rubric.name if isinstance(kind, Known) else kind.rubric)

    @cached_property
    def rubric_hash(self) -> list[str | None]:
        """The canonical hash of the rubric of each output."""
        return self._gather(lambda kind: kind.rubric.hash if isinstance(kind, Known) else None)

    @cached_property
    def points(self) -> list[int | None]:
        """The points of each output, at least 0: the score is exactly `points` / `full`."""
        return self._gather(lambda kind: kind.points if isinstance(kind, Known) else None)

    @cached_property
    def full(self) -> list[int | None]:
        """The points of the best answer; twice as many if the median of several outputs has half a point."""
        return self._gather(lambda kind: kind.full if isinstance(kind, Known) else None)

    @cached_property
    def score(self) -> list[float | None]:
        """The score of each output, 0..1, as the nearest double."""
        return self._gather(lambda kind: kind.score if isinstance(kind, Known) else None)

    @cached_property
    def verdict(self) -> list[Verdict | None]:
        """The verdict of each output."""
        return self._gather(lambda kind: kind.verdict if isinstance(kind, Known) else None)

    @cached_property
    def gates_missed(self) -> list[tuple[str, ...] | None]:
        """The ids of the criteria whose gates each output misses."""
        return self._gather(lambda kind: tuple(kind.gates_missed) if isinstance(kind, Known) else None)

    @cached_property
    def criteria(self) -> list[tuple[CriterionResult, ...] | None]:
        """The result of each criterion of each output, without the judge's reasons."""
        return self._gather(
            lambda kind: tuple([piece.result for piece in kind.pieces]) if isinstance(kind, Known) else None
        )

    @cached_property
    def error(self) -> list[RowError | None]:
        """The error of each invalid output."""
        errors: list[RowError | None] = [None] * len(self)
        for row, error in self._rows.errors.items():
            errors[row] = error
        return errors

    @cached_property
    def totals(self) -> Totals:
        """The totals of all rows; those of several batches add up."""
        totals = Totals(self._rubrics.values())
        totals.invalid = len(self._rows.errors)
        medians = {id(self._rows.kinds[row]) for row in self._rows.medians}
        for kind, times in Counter(self._rows.kinds).items():
            if isinstance(kind, Known) and id(kind) not in medians:
                totals.count(kind, times)
        for median in self._rows.medians.values():
            totals.take(median)
        return totals

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name, in the order of `ScoredRow`."""
        return {name: getattr(self, name) for name in ScoredRow._fields}

    def to_arrow(self) -> "pa.Table":
        """Return the columns as a table of Arrow, which needs the extra `arrow`.

        Ids that are not strings are written as JSON, unless the outputs came from Arrow: then `id` keeps its type. The
        `raw` of a checklist is 1 or 0.

        Raises:
            ImportError: without pyarrow.
        """
        from rubric_lint.engines.batch.arrow_writing import write_arrow  # noqa: PLC0415  (loads pyarrow)

        return write_arrow(self._rows)

    def __len__(self) -> int:
        return len(self._rows.kinds)

    def __getitem__(self, row: int) -> ScoredRow:
        return ScoredRow(*[column[index(row)] for column in self.to_dict().values()])

    def __iter__(self) -> Iterator[ScoredRow]:
        return map(ScoredRow._make, zip(*self.to_dict().values(), strict=True))

    def __repr__(self) -> str:
        return f"<ScoredBatch: {self.totals}>"

    @cached_property
    def _unique(self) -> dict[Kind, None]:
        return dict.fromkeys(self._rows.kinds)

    def _gather(self, read: Any) -> list[Any]:
        """Return a column: read each kind once, and look it up for each row."""
        values = {kind: read(kind) for kind in self._unique}
        return [*map(values.__getitem__, self._rows.kinds)]

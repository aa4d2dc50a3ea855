"""What a run of scoring came to: counts, means and spreads, exact until they are printed."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from rubric_lint.scoring.grading import AnswerValue, Scored, ScoringCriterion, ScoringRubric, Verdict
from rubric_lint.scoring.output import Known


@dataclass(slots=True)
class CriterionTotals:
    """How often a criterion got which answer."""

    criterion: ScoringCriterion
    answers: Counter[AnswerValue] = field(default_factory=Counter)

    @property
    def mean(self) -> Fraction | None:
        """The mean of the normalised scores; None without any."""
        return _mean(self._scores())

    @property
    def spread(self) -> float | None:
        """The standard deviation of the normalised scores, taken as all there are; None without any."""
        mean = self.mean
        if mean is None:
            return None
        squares = _mean(((score - mean) ** 2, count) for score, count in self._scores())
        return math.sqrt(squares or 0)

    @property
    def gates_missed(self) -> int | None:
        """How often the gate was missed; None without a gate."""
        if self.criterion.gate is None:
            return None
        return sum(self.answers[grade.answer] for grade in self.criterion.grades if not grade.gate_met)

    def _scores(self) -> Iterator[tuple[Fraction, int]]:
        for grade in self.criterion.grades:
            yield grade.score, self.answers[grade.answer]

    def to_json(self) -> dict[str, Any]:
        """The criterion as totals list it; `answers` in ascending order."""
        return {
            "id": self.criterion.id,
            "mean": _as_float(self.mean),
            "spread": self.spread,
            "gate": self.criterion.gate,
            "gates_missed": self.gates_missed,
            "answers": [
                {"raw": grade.answer, "times": self.answers[grade.answer]}
                for grade in self.criterion.grades
                if self.answers[grade.answer]
            ],
        }


@dataclass(slots=True)
class RubricTotals:
    """What the outputs of one rubric came to."""

    rubric: ScoringRubric
    criteria: tuple[CriterionTotals, ...]
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    points: Fraction = Fraction(0)
    sampled: int = 0
    stable: int = 0
    """How many answers were judged several times, and how many of these came to one verdict."""

    @property
    def scored(self) -> int:
        """How many outputs have a score."""
        return self.verdicts.total()

    @property
    def mean(self) -> Fraction | None:
        """The mean score; None without any."""
        return self.points / (self.rubric.full * self.scored) if self.scored else None

    def to_json(self) -> dict[str, Any]:
        """The rubric as totals list it."""
        return {
            "rubric": self.rubric.name,
            "rubric_hash": self.rubric.hash,
            "outputs": self.scored,
            **{str(verdict): self.verdicts[verdict] for verdict in Verdict},
            "mean": _as_float(self.mean),
            **({"sampled": self.sampled, "stable": self.stable} if self.sampled else {}),
            "criteria": [criterion.to_json() for criterion in self.criteria],
        }


class Totals:
    """Counts over all outputs; those that are invalid have no part in means and spreads."""

    def __init__(self, rubrics: Iterable[ScoringRubric]) -> None:
        self.invalid = 0
        self.rubrics = {
            rubric.name: RubricTotals(rubric, tuple(map(CriterionTotals, rubric.criteria))) for rubric in rubrics
        }

    def count(self, known: Known) -> None:
        """Count the outputs that had these answers."""
        totals, times = self.rubrics[known.rubric.name], known.count
        totals.verdicts[known.verdict] += times
        totals.points += times * known.points
        for criterion, answer in zip(totals.criteria, known.answers, strict=True):
            criterion.answers[answer] += times

    def take(self, result: Scored) -> None:
        """Count a result."""
        totals = self.rubrics[result.rubric.name]
        totals.verdicts[result.verdict] += 1
        totals.points += result.score * result.rubric.full
        totals.sampled += bool(result.samples)
        totals.stable += bool(result.samples) and result.stable
        for criterion, judged in zip(totals.criteria, result.criteria, strict=True):
            criterion.answers[judged.grade.answer] += 1

    @property
    def verdicts(self) -> Counter[Verdict]:
        """How often each verdict was given."""
        return sum((totals.verdicts for totals in self.rubrics.values()), Counter())

    @property
    def outputs(self) -> int:
        """How many outputs were read, the invalid ones too."""
        return self.invalid + self.verdicts.total()

    @property
    def mean(self) -> Fraction | None:
        """The mean score of all valid outputs; None without any."""
        return _mean((totals.mean or Fraction(0), totals.scored) for totals in self.rubrics.values())

    def to_json(self) -> dict[str, Any]:
        """The totals as `--format json` writes them."""
        return {
            "outputs": self.outputs,
            "invalid": self.invalid,
            **{str(verdict): self.verdicts[verdict] for verdict in Verdict},
            "mean": _as_float(self.mean),
            "rubrics": [totals.to_json() for totals in self.rubrics.values() if totals.scored],
        }

    def __str__(self) -> str:
        """All counts in one line."""
        counts = ", ".join(f"{self.verdicts[verdict]} {verdict}" for verdict in Verdict)
        mean = "" if self.mean is None else f"; mean score {float(self.mean):.3f}"
        return f"{self.outputs} output{'' if self.outputs == 1 else 's'}: {counts}, {self.invalid} invalid{mean}"


def _mean(scores: Iterable[tuple[Fraction, int]]) -> Fraction | None:
    """The mean of scores, each with how often it counts."""
    total, count = Fraction(0), 0
    for score, times in scores:
        total += score * times
        count += times
    return total / count if count else None


def _as_float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)

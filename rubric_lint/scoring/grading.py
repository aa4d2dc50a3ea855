"""What each answer of a judge is worth, and the exact arithmetic from answers to a score and a verdict."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.bands import HIGHEST, LOWEST, Scale
from rubric_lint.rubric import Criterion, Rubric, Shape
from rubric_lint.wording import join_words

Answer = bool | int
"""What a judge says of one criterion: whether it is satisfied, a score, or a level."""

OVERALL = "overall"
"""The id under which results list the one score of a holistic rubric."""

_WIDEST = 1000
"""How many digits lie at most between the first digit of the largest weight and the last of the finest."""


class Verdict(StrEnum):
    """What an answer comes to."""

    PASS = "pass"  # noqa: S105 (no password)
    BORDERLINE = "borderline"
    FAIL = "fail"


class UnscorableError(Exception):
    """A rubric that cannot be scored, and why."""


class Grade(NamedTuple):
    """What one answer to one criterion is worth: normalised to 0..1, and in the integer points of its rubric.

    `outcome` is that of the band or level; of a checklist criterion it is what was expected.
    """

    answer: Answer
    score: Fraction
    points: int
    gate_met: bool
    outcome: str | None


@dataclass(frozen=True, slots=True)
class ScoringCriterion:
    """One thing that is judged: every answer that may be given, in ascending order, and what it is worth.

    `gate` is the least score or level, None for none. `outcome` says what is judged, where the rubric says it.
    """

    id: str
    weight: Decimal
    gate: int | None
    outcome: str | None
    grades: tuple[Grade, ...]

    def grade(self, answer: Answer) -> Grade | None:
        """The grade of an answer; None for one that may not be given."""
        return next((grade for grade in self.grades if grade.answer == answer), None)


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """What one criterion came to."""

    criterion: ScoringCriterion
    grade: Grade
    reasoning: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The criterion as results list it."""
        return {
            "id": self.criterion.id,
            "raw": self.grade.answer,
            "score": float(self.grade.score),
            "weight": float(self.criterion.weight),
            "gate": self.criterion.gate,
            "gate_met": self.grade.gate_met,
            "outcome": self.grade.outcome,
        }


@dataclass(frozen=True, slots=True)
class Scored:
    """What one answer came to. `score` is exact, in 0..1; only the printed score is rounded to a float."""

    rubric: "ScoringRubric"
    score: Fraction
    verdict: Verdict
    criteria: tuple[CriterionResult, ...]
    reasoning: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The result as it is written, without what the record adds to it."""
        return {
            "rubric": self.rubric.name,
            "shape": str(self.rubric.shape),
            "score": float(self.score),
            "verdict": str(self.verdict),
            "criteria": [criterion.to_json() for criterion in self.criteria],
        }


@dataclass(frozen=True, slots=True)
class JudgeOutput:
    """A valid judge output: the answer and the reason for each criterion, in the rubric's order."""

    answers: tuple[Answer, ...]
    reasons: tuple[str | None, ...]
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class ScoringRubric:
    """A rubric made ready for scoring: weights and normalised scores are whole numbers of points.

    `name` is what records call it, `model` the rubric as it was linted, `full` the points of the best answer;
    `pass_from` and `borderline_from` are the points from which those verdicts hold.
    """

    name: str
    model: Rubric
    shape: Shape
    criteria: tuple[ScoringCriterion, ...]
    full: int
    pass_from: int
    borderline_from: int

    def verdict(self, points: int, *, gates_met: bool) -> Verdict:
        """The verdict of a sum of points."""
        if not gates_met or points < self.borderline_from:
            return Verdict.FAIL
        return Verdict.PASS if points >= self.pass_from else Verdict.BORDERLINE

    def grade(self, output: JudgeOutput) -> Scored:
        """The score and verdict of a valid output."""
        grades = [criterion.grade(answer) for criterion, answer in zip(self.criteria, output.answers, strict=True)]
        graded = tuple(
            CriterionResult(criterion, grade, reason)
            for criterion, grade, reason in zip(self.criteria, grades, output.reasons, strict=True)
            if grade is not None
        )
        if len(graded) < len(grades):
            raise ValueError("an answer that the rubric does not allow")
        points = sum(result.grade.points for result in graded)
        verdict = self.verdict(points, gates_met=all(result.grade.gate_met for result in graded))
        return Scored(self, Fraction(points, self.full), verdict, graded, output.reasoning)


def prepare(rubric: Rubric, name: str) -> ScoringRubric:
    """Make a rubric ready for scoring.

    Raises:
        UnscorableError: for what no score can be made of, also where a comment or a setting silences the finding.
    """
    shape = rubric.shape
    if shape is None:
        raise UnscorableError("has no criteria")
    if any(entry.shapes != (shape,) for entry in rubric.entries):
        raise UnscorableError("mixes shapes")
    drafts = list(_draft(rubric, shape))
    _check(drafts)
    whole = _as_integers([draft.weight for draft in drafts])
    unit = math.lcm(*(answer.score.denominator for draft in drafts for answer in draft.answers))
    criteria = tuple(
        ScoringCriterion(
            draft.id,
            draft.weight,
            draft.gate,
            draft.outcome,
            tuple(
                Grade(answer, score, share * int(score * unit), gate_met, outcome)
                for answer, score, gate_met, outcome in draft.answers
            ),
        )
        for draft, share in zip(drafts, whole, strict=True)
    )
    full = sum(whole) * unit
    pass_from, borderline_from = (math.ceil(Fraction(threshold) * full) for threshold in rubric.thresholds)
    return ScoringRubric(name, rubric, shape, criteria, full, pass_from, borderline_from)


class _Allowed(NamedTuple):
    """An answer that may be given, and what it comes to by itself."""

    answer: Answer
    score: Fraction
    gate_met: bool
    outcome: str | None


class _Draft(NamedTuple):
    """A criterion before its weight is known beside the others'."""

    id: str
    weight: Decimal
    gate: int | None
    outcome: str | None
    answers: tuple[_Allowed, ...]


def _draft(rubric: Rubric, shape: Shape) -> Iterator[_Draft]:
    if shape is Shape.HOLISTIC:
        yield _Draft(OVERALL, Decimal(1), None, None, _scores(rubric.scales[0], None))
    for criterion in rubric.criteria:
        if criterion.weight is None or not math.isfinite(float(criterion.weight)):
            raise UnscorableError(f"the weight of `{criterion.id}` is no finite number of at least 0")
        yield _Draft(criterion.id, criterion.weight, criterion.gate, criterion.outcome, _answers(criterion))


def _answers(criterion: Criterion) -> tuple[_Allowed, ...]:
    if criterion.scale:
        return _scores(criterion.scale, criterion.gate)
    if criterion.levels is not None:
        return _levels(criterion)
    gate = LOWEST if criterion.gate is None else criterion.gate
    return (
        _Allowed(answer=False, score=Fraction(0), gate_met=gate <= LOWEST, outcome=criterion.outcome),
        _Allowed(answer=True, score=Fraction(1), gate_met=gate <= HIGHEST, outcome=criterion.outcome),
    )


def _scores(scale: Scale, gate: int | None) -> tuple[_Allowed, ...]:
    # Of bands that overlap, an error that a comment may silence, the first one counts.
    outcomes = {score: band.outcome for band in reversed(scale.bands) for score in band.scores}
    return tuple(
        _Allowed(score, Fraction(score, HIGHEST), gate is None or score >= gate, outcomes[score])
        for score in sorted(outcomes)
    )


def _levels(criterion: Criterion) -> tuple[_Allowed, ...]:
    outcomes = {level.number: level.outcome for level in criterion.levels or () if level.number is not None}
    if len(outcomes) < 2:
        raise UnscorableError(f"`{criterion.id}` has fewer than two levels")
    lowest, highest, gate = min(outcomes), max(outcomes), criterion.gate
    return tuple(
        _Allowed(level, Fraction(level - lowest, highest - lowest), gate is None or level >= gate, outcomes[level])
        for level in sorted(outcomes)
    )


def _check(drafts: Sequence[_Draft]) -> None:
    ids = [draft.id for draft in drafts]
    if repeated := [name for name in dict.fromkeys(ids) if ids.count(name) > 1]:
        raise UnscorableError(f"has more than one criterion {join_words([f'`{name}`' for name in repeated])}")
    if empty := [draft.id for draft in drafts if not draft.answers]:
        raise UnscorableError(f"`{empty[0]}` has no score that a judge may give")
    if not any(draft.weight for draft in drafts):
        raise UnscorableError("has weights that are all 0, so there is nothing to divide by")


def _as_integers(weights: Sequence[Decimal]) -> list[int]:
    """The weights as the smallest integers in the same proportion."""
    parts = [weight.as_tuple() for weight in weights]
    finest = min(int(part.exponent) for part, weight in zip(parts, weights, strict=True) if weight)
    if max(weight.adjusted() for weight in weights if weight) - finest > _WIDEST:
        raise UnscorableError(f"has weights that are more than {_WIDEST} digits apart")
    # Arithmetic on decimals would round to the digits of their context; making one does not.
    whole = [
        int(Decimal((0, part.digits, int(part.exponent) - finest))) if weight else 0
        for part, weight in zip(parts, weights, strict=True)
    ]
    divisor = math.gcd(*whole)
    return [weight // divisor for weight in whole]

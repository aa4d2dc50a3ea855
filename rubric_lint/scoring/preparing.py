"""Prepare the model of a rubric for scoring, in whole numbers of points."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from rubric_lint.format.criterion import HIGHEST, LOWEST, Criterion, Scale, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import join_words
from rubric_lint.scoring.grading import OVERALL, AnswerValue, Grade, ScoringCriterion, ScoringRubric
from rubric_lint.scoring.meaning import hash_meaning

_WIDEST = 1000
"""The most digits from the first digit of the largest weight to the last digit of the most precise one."""


class UnscorableError(Exception):
    """A rubric cannot be scored; the message says why."""


def prepare(rubric: Rubric, name: str) -> ScoringRubric:
    """Make a rubric ready for scoring.

    Raises:
        UnscorableError: if the rubric cannot be scored, even if a comment or a setting silences the finding.
    """
    shape = rubric.shape
    if shape is None:
        raise UnscorableError("has no criteria")
    if any(entry.shapes != (shape,) for entry in rubric.entries):
        raise UnscorableError("mixes shapes")
    drafts = list(_draft(rubric, shape))
    _refuse_repeated_ids(drafts)
    whole = _as_integers([draft.weight for draft in drafts])
    total = _add_up(whole)
    unit = math.lcm(*(answer.score.denominator for draft in drafts for answer in draft.answers))
    criteria = tuple(
        ScoringCriterion(
            draft.id,
            draft.weight,
            Fraction(share, total),
            draft.gate,
            draft.outcome,
            tuple(
                Grade(answer, score, share * int(score * unit), gate_met, outcome)
                for answer, score, gate_met, outcome in draft.answers
            ),
        )
        for draft, share in zip(drafts, whole, strict=True)
    )
    full = total * unit
    pass_from, borderline_from = (math.ceil(Fraction(threshold) * full) for threshold in rubric.thresholds)
    meaning = hash_meaning(rubric, criteria)
    cuts_mean = rubric.view is not None and rubric.view.dialect.cuts_mean
    return ScoringRubric(name, meaning, rubric, shape, criteria, full, pass_from, borderline_from, cuts_mean)


class _Allowed(NamedTuple):
    """An allowed answer, its normalised score and its outcome."""

    answer: AnswerValue
    score: Fraction
    gate_met: bool
    outcome: str | None


class _Draft(NamedTuple):
    """A criterion whose share of the total weight is not yet known."""

    id: str
    weight: Decimal
    gate: int | None
    outcome: str | None
    answers: tuple[_Allowed, ...]


def _draft(rubric: Rubric, shape: Shape) -> Iterator[_Draft]:
    if shape is Shape.HOLISTIC:
        yield _Draft(OVERALL, Decimal(1), None, None, _scores(rubric.scales[0], None, rubric.span))
    for criterion in rubric.criteria:
        if criterion.weight is None or not math.isfinite(float(criterion.weight)):
            raise UnscorableError(f"the weight of `{criterion.id}` is not a finite number of at least 0")
        yield _Draft(criterion.id, criterion.weight, criterion.gate, criterion.outcome, _answers(criterion))


def _answers(criterion: Criterion) -> tuple[_Allowed, ...]:
    if criterion.scale:
        return _scores(criterion.scale, criterion.gate, (LOWEST, HIGHEST))
    if criterion.levels is not None:
        return _levels(criterion)
    gate = LOWEST if criterion.gate is None else criterion.gate
    earns, loses = (False, True) if criterion.is_negated else (True, False)
    worth = {loses: (Fraction(0), gate <= LOWEST), earns: (Fraction(1), gate <= HIGHEST)}
    return tuple(_Allowed(answer, *worth[answer], criterion.outcome) for answer in (False, True))


def _scores(scale: Scale, gate: int | None, span: tuple[int, int]) -> tuple[_Allowed, ...]:
    lowest, highest = span
    # If bands overlap (an error that a comment may silence), the first one counts.
    outcomes = {score: band.outcome for band in reversed(scale.bands) for score in band.scores}
    return tuple(
        _Allowed(score, Fraction(score - lowest, highest - lowest), gate is None or score >= gate, outcomes[score])
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


def _refuse_repeated_ids(drafts: Sequence[_Draft]) -> None:
    ids = Counter(draft.id for draft in drafts)
    if repeated := [name for name, count in ids.items() if count > 1]:
        raise UnscorableError(f"has more than one criterion {join_words([f'`{name}`' for name in repeated])}")
    if empty := [draft.id for draft in drafts if not draft.answers]:
        raise UnscorableError(f"`{empty[0]}` has no score that a judge can give")


def share_out(weights: Sequence[Decimal]) -> list[Fraction]:
    """Return the exact part of each weight in the sum of those above 0; the weights are finite.

    Raises:
        UnscorableError: if no weight is above 0, or they are too far apart.
    """
    whole = _as_integers(weights)
    total = _add_up(whole)
    return [Fraction(weight, total) for weight in whole]


def _add_up(weights: Sequence[int]) -> int:
    """Return the sum of the weights above 0, which an answer can earn."""
    total = sum(weight for weight in weights if weight > 0)
    if not total:
        raise UnscorableError("has no criterion with a weight above 0, so there is nothing to divide by")
    return total


def _as_integers(weights: Sequence[Decimal]) -> list[int]:
    """Scale the weights to the smallest integers in the same proportion."""
    if not any(weights):
        raise UnscorableError("has weights that are all 0, so there is nothing to divide by")
    parts = [weight.as_tuple() for weight in weights]
    finest = min(int(part.exponent) for part, weight in zip(parts, weights, strict=True) if weight)
    if max(weight.adjusted() for weight in weights if weight) - finest > _WIDEST:
        raise UnscorableError(f"has weights that are more than {_WIDEST} digits apart")
    # Arithmetic on decimals rounds to the precision of the context; creating one does not.
    whole = [
        int(Decimal((part.sign, part.digits, int(part.exponent) - finest))) if weight else 0
        for part, weight in zip(parts, weights, strict=True)
    ]
    divisor = math.gcd(*whole)
    return [weight // divisor for weight in whole]

"""Change a gate or a threshold of a rubric, each change with its words and its place."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from operator import ge, le
from typing import Any, Protocol

from rubric_lint.model.criterion import Shape
from rubric_lint.scoring.grading import AnswerValue, Grade, ScoringCriterion, ScoringRubric
from rubric_lint.scoring.loading import RubricPart, RubricPlaces

UNSCORED = "unscored"
"""The verdict, in expectations and in what a change alters, on an answer to which nothing in the rubric applies."""

Points = Any
"""Points of a rubric, or its exact score in 0..1 if its points vary."""


class ReachableScores(Protocol):
    """The points that answers reach which meet all gates; `least` are the fewest, perhaps below 0."""

    @property
    def least(self) -> Points:
        """The fewest points."""

    def lowest(self, low: Points) -> Points | None:
        """Return the fewest points of at least `low`; None if there are none."""

    def above(self, points: Points) -> Points | None:
        """Return the fewest points above some; None if there are none."""

    def highest(self, low: Points, stop: Points | None = None) -> Points | None:
        """Return the most points from `low` up to, not including, `stop`; None if there are none."""


class TooManySumsError(Exception):
    """More sums than can be followed: the numbers have no large common divisor."""


@dataclass(frozen=True)
class Mutant:
    """A changed rubric, with the `change` in words and its place in the original, `spot`.

    `number` is that of the changed criterion, None for a threshold. In the changed rubric the points of the other
    criteria are `scale` times as many.
    """

    change: str
    spot: RubricPart
    rubric: ScoringRubric
    number: int | None = None
    scale: int = 1


@dataclass(frozen=True)
class Witness:
    """An answer whose verdict a change alters: what the judge gives each criterion, and both verdicts."""

    answers: Mapping[str, AnswerValue]
    before: str
    after: str


def pair_grades(before: ScoringCriterion, after: ScoringCriterion) -> Iterator[tuple[Grade, Grade]]:
    """Yield each grade of a criterion with that of the same answer after a change.

    A criterion that has lost its condition is at its worst where it did not apply.
    """
    grades = {grade.answer: grade for grade in after.all_grades}
    for grade in before.all_grades:
        yield grade, grades.get(grade.answer) or after.from_worst[0]


def change_gate(
    rubric: ScoringRubric, index: int, criterion: ScoringCriterion, places: RubricPlaces
) -> Iterator[Mutant]:
    """Move the gate of a criterion to the next answers, and remove it; of a critical failure only remove it."""
    missed = [grade.answer for grade in criterion.grades if not grade.gate_met]
    met = [grade.answer for grade in criterion.grades if grade.gate_met]
    if criterion.gate is None or not missed:
        return
    name, spot = criterion.id, places.gate(criterion.id)
    if criterion.is_failure:
        change = f"the critical failure `{name}` is removed"
        yield Mutant(change, spot, regate(rubric, index, lambda _: True), index)
        return
    compare = le
    if criterion.grades[0].score > criterion.grades[-1].score:  # lower scores are better
        missed, met, compare = missed[::-1], met[::-1], ge
    if criterion.shape is not Shape.CHECKLIST:
        stricter = met[1:2]
        # A gate below the only answer that misses it is no gate, which is the change after these.
        looser = missed[-1:] if len(missed) > 1 else []
        for least in stricter + looser:
            moved = regate(rubric, index, partial(compare, least))
            yield Mutant(f"the gate {criterion.gate} of `{name}` becomes {least}", spot, moved, index)
    yield Mutant(f"the gate of `{name}` is removed", spot, regate(rubric, index, lambda _: True), index)


def regate(rubric: ScoringRubric, index: int, passes: Callable[[AnswerValue], bool]) -> ScoringRubric:
    """Return a rubric in which the answers that pass are those that meet the gate of one criterion."""
    criterion = rubric.criteria[index]
    grades = tuple(grade._replace(gate_met=passes(grade.answer)) for grade in criterion.grades)
    criteria = list(rubric.criteria)
    criteria[index] = replace(criterion, grades=grades)
    return replace(rubric, criteria=tuple(criteria))


def change_thresholds(rubric: ScoringRubric, places: RubricPlaces, sums: ReachableScores) -> Iterator[Mutant]:
    """Move each threshold to the next score that an answer which meets all gates can reach."""
    passes, borderline = rubric.pass_from, rubric.borderline_from
    # Two thresholds without a score between them are still two: each moves alone.
    is_one = rubric.model.thresholds.pass_at == rubric.model.thresholds.borderline_at

    def move(name: str, before: Points, after: Points, changed: ScoringRubric) -> Mutant:
        # Moved up to the pass threshold, the borderline threshold is that one as it is set.
        other = "pass" if (name, after) == ("borderline", passes) else name
        old, new = _format_threshold(before, rubric, name), _format_threshold(after, rubric, other)
        change = f"the {name} threshold {old} becomes {new}"
        return Mutant(change, places.whole, changed)

    higher, lower = _next_above(sums, passes), _next_below(sums, passes)
    if higher is not None:
        moved = higher if is_one else borderline
        changed = replace(rubric, pass_from=higher, borderline_from=moved)
        yield move("pass", passes, higher, changed)
    if lower is not None and (is_one or lower >= borderline):
        moved = lower if is_one else borderline
        changed = replace(rubric, pass_from=lower, borderline_from=moved)
        yield move("pass", passes, lower, changed)
    if is_one:
        return
    first, lower = _lowest(sums, borderline), _next_below(sums, borderline)
    if first is not None and first < passes:
        higher = min(_next_above(sums, borderline) or passes, passes)
        yield move("borderline", borderline, higher, replace(rubric, borderline_from=higher))
    if lower is not None:
        yield move("borderline", borderline, lower, replace(rubric, borderline_from=lower))


def _next_above(sums: ReachableScores, threshold: Points) -> Points | None:
    """Return the second reachable score from a threshold on, so that the first one falls below it."""
    first = _lowest(sums, threshold)
    return None if first is None else sums.above(first)


def _next_below(sums: ReachableScores, threshold: Points) -> Points | None:
    """Return the highest reachable score below a threshold; a sum below 0 is the score 0."""
    highest = sums.highest(0, threshold)
    return 0 if highest is None and sums.least < 0 < threshold else highest


def _lowest(sums: ReachableScores, threshold: Points) -> Points | None:
    """Return the lowest reachable score from a threshold on; a sum below 0 is the score 0."""
    return 0 if sums.least < 0 and threshold <= 0 else sums.lowest(threshold)


def _format_threshold(points: Points, rubric: ScoringRubric, name: str) -> str:
    """Write a threshold as it is set, not as the points that it comes to."""
    thresholds, view = rubric.model.thresholds, rubric.model.view
    written = thresholds.pass_at if name == "pass" else thresholds.borderline_at
    score = Fraction(written)
    expected = score if rubric.varies else math.ceil(score * rubric.full)
    if points != expected:
        return rubric.write_score(Fraction(points) / rubric.full)
    return view.format_mark(score) if view and view.units else str(written)

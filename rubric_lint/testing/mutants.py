"""Make small changes of a rubric, as someone might by mistake: gates, weights, thresholds, criteria removed."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from rubric_lint.format.criterion import Shape
from rubric_lint.scoring.grading import AnswerValue, Grade, ScoringCriterion, ScoringRubric
from rubric_lint.scoring.loading import RubricPlaces, Spot
from rubric_lint.testing.sums import Sums


class Mutant(NamedTuple):
    """A changed rubric: `change` says what became of what, `spot` is the place in the original.

    `number` is that of the changed criterion, None for a threshold. In the changed rubric the points of the other
    criteria are `scale` times as many.
    """

    change: str
    spot: Spot
    rubric: ScoringRubric
    number: int | None = None
    scale: int = 1


def make_mutants(rubric: ScoringRubric, places: RubricPlaces) -> Iterator[Mutant]:
    """Make every change of a rubric: of each criterion, then of the thresholds.

    Raises:
        TooManySumsError: if the reachable scores are too many to find the next one.
    """
    if rubric.shape is not Shape.HOLISTIC:
        for index, criterion in enumerate(rubric.criteria):
            yield from _change_gate(rubric, index, criterion, places)
            yield from _change_weight(rubric, index, criterion, places)
    yield from _change_thresholds(rubric, places)


def meeting_points(criterion: ScoringCriterion) -> frozenset[int]:
    """Return the points that the answers earn which meet the gate."""
    return frozenset(grade.points for grade in criterion.grades if grade.gate_met)


def _change_gate(
    rubric: ScoringRubric, index: int, criterion: ScoringCriterion, places: RubricPlaces
) -> Iterator[Mutant]:
    missed = [grade.answer for grade in criterion.grades if not grade.gate_met]
    met = [grade.answer for grade in criterion.grades if grade.gate_met]
    if criterion.gate is None or not missed:
        return
    name, spot = criterion.id, places.gate(criterion.id)

    def move(passes: Callable[[AnswerValue], bool], change: str) -> Mutant:
        grades = tuple(grade._replace(gate_met=passes(grade.answer)) for grade in criterion.grades)
        return Mutant(change, spot, _exchange(rubric, index, replace(criterion, grades=grades)), index)

    if rubric.shape is not Shape.CHECKLIST:
        if len(met) > 1:
            yield move(lambda answer: answer >= met[1], f"the gate {criterion.gate} of `{name}` becomes {met[1]}")
        if len(missed) > 1:
            yield move(
                lambda answer: answer >= missed[-1], f"the gate {criterion.gate} of `{name}` becomes {missed[-1]}"
            )
    yield move(lambda _: True, f"the gate of `{name}` is removed")


def _change_weight(
    rubric: ScoringRubric, index: int, criterion: ScoringCriterion, places: RubricPlaces
) -> Iterator[Mutant]:
    top = int(criterion.share * rubric.full)
    earned = max(top, 0)  # what a criterion costs is not among the full points
    rest = rubric.full - earned
    name, spot = criterion.id, places.field(criterion.id, "weight")
    if top:
        full = rest + 2 * earned
        doubled = _weigh(criterion, 2, Fraction(2 * top, full))
        yield Mutant(f"the weight of `{name}` is doubled", spot, _resize(rubric, index, doubled, full), index)
        # To halve one weight is to double the others; the points stay whole numbers.
        full = 2 * rest + earned
        halved = _weigh(criterion, 1, Fraction(top, full))
        changed = _resize(rubric, index, halved, full, scale=2)
        yield Mutant(f"the weight of `{name}` is halved", spot, changed, index, 2)
    if not rest:
        return  # without the criterion nothing is left to divide by
    without = _weigh(criterion, 0, Fraction(0))
    has_gate = not all(grade.gate_met for grade in criterion.grades)
    if top:
        change = f"the weight of `{name}` becomes 0" if has_gate else f"`{name}` is removed"
        place = spot if has_gate else places.criterion(name)
        yield Mutant(change, place, _resize(rubric, index, without, rest), index)
    if has_gate:
        free = replace(without, gate=None, grades=tuple(grade._replace(gate_met=True) for grade in without.grades))
        yield Mutant(f"`{name}` is removed", places.criterion(name), _resize(rubric, index, free, rest), index)


def _change_thresholds(rubric: ScoringRubric, places: RubricPlaces) -> Iterator[Mutant]:
    """Move each threshold to the next score that an answer which meets all gates can reach."""
    sums = Sums([meeting_points(criterion) for criterion in rubric.criteria])
    full, passes, borderline = rubric.full, rubric.pass_from, rubric.borderline_from
    # Two thresholds without a score between them are still two: each moves alone.
    is_one = rubric.model.thresholds.pass_at == rubric.model.thresholds.borderline_at

    def move(name: str, before: int, after: int, changed: ScoringRubric) -> Mutant:
        # Moved up to the pass threshold, the borderline threshold is that one as it is set.
        other = "pass" if (name, after) == ("borderline", passes) else name
        change = f"the {name} threshold {_word(before, full, rubric, name)} becomes {_word(after, full, rubric, other)}"
        return Mutant(change, places.whole, changed)

    higher, lower = _next_above(sums, passes), _next_below(sums, passes)
    if higher is not None:
        changed = replace(rubric, pass_from=higher, borderline_from=higher if is_one else borderline)
        yield move("pass", passes, higher, changed)
    if lower is not None and (is_one or lower >= borderline):
        changed = replace(rubric, pass_from=lower, borderline_from=lower if is_one else borderline)
        yield move("pass", passes, lower, changed)
    if is_one:
        return
    first, lower = _lowest(sums, borderline), _next_below(sums, borderline)
    if first is not None and first < passes:
        higher = min(_next_above(sums, borderline) or passes, passes)
        yield move("borderline", borderline, higher, replace(rubric, borderline_from=higher))
    if lower is not None:
        yield move("borderline", borderline, lower, replace(rubric, borderline_from=lower))


def _next_above(sums: Sums, threshold: int) -> int | None:
    """Return the second reachable score from a threshold on, so that the first one falls below it."""
    first = _lowest(sums, threshold)
    return None if first is None else _lowest(sums, first + 1)


def _next_below(sums: Sums, threshold: int) -> int | None:
    """Return the highest reachable score below a threshold; a sum below 0 is the score 0."""
    found = sums.highest(0, threshold)
    return 0 if found is None and sums.least < 0 < threshold else found


def _lowest(sums: Sums, threshold: int) -> int | None:
    """Return the lowest reachable score from a threshold on; a sum below 0 is the score 0."""
    return 0 if sums.least < 0 and threshold <= 0 else sums.lowest(threshold)


def _word(points: int, full: int, rubric: ScoringRubric, name: str) -> str:
    """Write a threshold as it is set, not as the points that it comes to."""
    written = rubric.model.thresholds.pass_at if name == "pass" else rubric.model.thresholds.borderline_at
    return str(written) if math.ceil(Fraction(written) * full) == points else _word_share(points, full)


def _word_share(points: int, full: int) -> str:
    return f"{float(Fraction(points, full)):.4g}"


def _weigh(criterion: ScoringCriterion, factor: int, share: Fraction) -> ScoringCriterion:
    grades: tuple[Grade, ...] = tuple(grade._replace(points=factor * grade.points) for grade in criterion.grades)
    return replace(criterion, share=share, grades=grades)


def _exchange(rubric: ScoringRubric, index: int, criterion: ScoringCriterion) -> ScoringRubric:
    return replace(rubric, criteria=(*rubric.criteria[:index], criterion, *rubric.criteria[index + 1 :]))


def _resize(
    rubric: ScoringRubric, index: int, criterion: ScoringCriterion, full: int, *, scale: int = 1
) -> ScoringRubric:
    """Return a rubric with one criterion exchanged, whose best answer has `full` points."""
    others = [
        replace(
            each,
            share=Fraction(int(each.share * rubric.full) * scale, full),
            grades=tuple(grade._replace(points=grade.points * scale) for grade in each.grades),
        )
        for each in rubric.criteria
    ]
    others[index] = criterion
    passes, borderline = (math.ceil(Fraction(threshold) * full) for threshold in rubric.model.thresholds)
    return replace(rubric, criteria=tuple(others), full=full, pass_from=passes, borderline_from=borderline)

"""Change a rubric in small ways, and find the changes that none of its tests notices.

Whether a change can alter any verdict is decided exactly. Other criteria matter only through the sum of their points,
and only where they meet their gates, since otherwise the verdict is fail before and after. So for each answer to the
changed criterion, the sums at which the verdicts differ are a few intervals, and the change is equivalent if none of
them holds a reachable sum.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from operator import ge, le
from typing import NamedTuple

from rubric_lint.finding import Problem
from rubric_lint.format.criterion import Shape
from rubric_lint.messages import join_words
from rubric_lint.run.summary import counted
from rubric_lint.scoring.grading import (
    AnswerValue,
    CriterionResult,
    Grade,
    JudgeOutput,
    NothingAppliesError,
    ScoringCriterion,
    ScoringRubric,
    Verdict,
    Weighed,
    combine_samples,
)
from rubric_lint.scoring.loading import RubricPart, RubricPlaces
from rubric_lint.testing.running import Check, Tested, make_check, word_given

MOST_BITS = 1 << 24
"""The largest sum, in units of the greatest common divisor, up to which sums are the bits of one integer."""

MOST_SUMS = 500_000
"""The most sums that are listed one by one beyond that."""


_MOST_NAMED = 4
"""The most criteria whose answers a message states one by one."""


class TooManySumsError(Exception):
    """More sums than can be listed: the numbers are many and have no large common divisor."""


class Sums:
    """The sums of one number from each of `choices`; no sums if one of them is empty. `least` is the lowest.

    Raises:
        TooManySumsError: if there are more than can be listed.
    """

    def __init__(self, choices: Sequence[Collection[int]]) -> None:
        # Each choice is counted from its least number: the sums are those of numbers from 0 on, plus `least`.
        choices = choices if all(choices) else [()]
        self._leasts = [min(choice, default=0) for choice in choices]
        self.least = sum(self._leasts)
        steps = [{number - least for number in choice} for choice, least in zip(choices, self._leasts, strict=True)]
        self._unit = math.gcd(*(number for choice in steps for number in choice)) or 1
        self._choices = [sorted({number // self._unit for number in choice}, reverse=True) for choice in steps]
        self._sets: list[Sequence[int]] = []
        self._bits: list[int] = []
        if sum(max(choice, default=0) for choice in self._choices) <= MOST_BITS:
            self._bits = [1]
            for choice in self._choices:
                found = 0
                for number in choice:
                    found |= self._bits[-1] << number
                self._bits.append(found)
            return
        self._sets = [(0,)]
        for choice in self._choices:
            totals = {total + number for total in self._sets[-1] for number in choice}
            if len(totals) > MOST_SUMS:
                raise TooManySumsError
            self._sets.append(sorted(totals))

    def highest(self, low: int, stop: int | None = None) -> int | None:
        """Return the highest sum from `low` up to, not including, `stop`; None if there is none."""
        first = self._round_up(low)
        last = None if stop is None else self._round_up(stop)
        if self._bits:
            rest = self._bits[-1] >> first
            if last is not None and last - first < rest.bit_length():  # a mask is as long as its number is high
                rest &= (1 << max(last - first, 0)) - 1
            return self.least + (first + rest.bit_length() - 1) * self._unit if rest else None
        sums = self._sets[-1]
        at = (len(sums) if last is None else bisect_left(sums, last)) - 1
        return self.least + sums[at] * self._unit if at >= 0 and sums[at] >= first else None

    def lowest(self, low: int) -> int | None:
        """Return the lowest sum of at least `low`; None if there is none."""
        first = self._round_up(low)
        if self._bits:
            rest = self._bits[-1] >> first
            return self.least + (first + (rest & -rest).bit_length() - 1) * self._unit if rest else None
        at = bisect_left(self._sets[-1], first)
        return self.least + self._sets[-1][at] * self._unit if at < len(self._sets[-1]) else None

    def _round_up(self, total: int) -> int:
        """Return the first step from a sum on, at least 0."""
        return max(-(-(total - self.least) // self._unit), 0)

    def explain(self, total: int) -> list[int]:
        """Return one number of each choice that together make a reachable sum, the last ones as high as possible."""
        rest = (total - self.least) // self._unit
        found: list[int] = []
        for step in range(len(self._choices) - 1, -1, -1):
            number = next(each for each in self._choices[step] if self._reaches(step, rest - each))
            found.append(self._leasts[step] + number * self._unit)
            rest -= number
        return found[::-1]

    def _reaches(self, step: int, total: int) -> bool:
        """Return whether the first `step` choices reach a sum."""
        if total < 0:
            return False
        if self._bits:
            return bool(self._bits[step] >> total & 1)
        at = bisect_left(self._sets[step], total)
        return at < len(self._sets[step]) and self._sets[step][at] == total


class Mutant(NamedTuple):
    """A changed rubric: `change` says what became of what, `spot` is the place in the original.

    `number` is that of the changed criterion, None for a threshold. In the changed rubric the points of the other
    criteria are `scale` times as many.
    """

    change: str
    spot: RubricPart
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
    compare = le
    if criterion.grades[0].score > criterion.grades[-1].score:  # lower scores are better
        missed, met, compare = missed[::-1], met[::-1], ge
    others = [*met[1:2], *(missed[-1:] if len(missed) > 1 else ())]  # the next stricter gate, and the next looser one
    for least in others if rubric.shape is not Shape.CHECKLIST else ():
        moved = _regate(rubric, index, partial(compare, least))
        yield Mutant(f"the gate {criterion.gate} of `{name}` becomes {least}", spot, moved, index)
    yield Mutant(f"the gate of `{name}` is removed", spot, _regate(rubric, index, lambda _: True), index)


def _regate(rubric: ScoringRubric, index: int, passes: Callable[[AnswerValue], bool]) -> ScoringRubric:
    """Return a rubric in which the answers that pass are those that meet the gate of one criterion."""
    criterion = rubric.criteria[index]
    grades = tuple(grade._replace(gate_met=passes(grade.answer)) for grade in criterion.grades)
    changed = replace(criterion, grades=grades)
    return replace(rubric, criteria=(*rubric.criteria[:index], changed, *rubric.criteria[index + 1 :]))


def _change_weight(
    rubric: ScoringRubric, index: int, criterion: ScoringCriterion, places: RubricPlaces
) -> Iterator[Mutant]:
    top = int(criterion.share * rubric.full)
    earned = max(top, 0)  # what a criterion costs is not among the full points
    rest = rubric.full - earned
    name, spot = criterion.id, places.field(criterion.id, "weight")
    if top:
        doubled = _reweigh(rubric, index, 2, rest + 2 * earned)
        yield Mutant(f"the weight of `{name}` is doubled", spot, doubled, index)
        # To halve one weight is to double the others; the points stay whole numbers.
        halved = _reweigh(rubric, index, 1, 2 * rest + earned, scale=2)
        yield Mutant(f"the weight of `{name}` is halved", spot, halved, index, 2)
    if not rest:
        return  # without the criterion nothing is left to divide by
    without = _reweigh(rubric, index, 0, rest)
    has_gate = not all(grade.gate_met for grade in criterion.grades)
    if top and has_gate:
        yield Mutant(f"the weight of `{name}` becomes 0", spot, without, index)
    if top or has_gate:
        yield Mutant(f"`{name}` is removed", places.criterion(name), _regate(without, index, lambda _: True), index)


def _change_thresholds(rubric: ScoringRubric, places: RubricPlaces) -> Iterator[Mutant]:
    """Move each threshold to the next score that an answer which meets all gates can reach."""
    sums = Sums([meeting_points(criterion) for criterion in rubric.criteria])
    passes, borderline = rubric.pass_from, rubric.borderline_from
    # Two thresholds without a score between them are still two: each moves alone.
    is_one = rubric.model.thresholds.pass_at == rubric.model.thresholds.borderline_at

    def move(name: str, before: int, after: int, changed: ScoringRubric) -> Mutant:
        # Moved up to the pass threshold, the borderline threshold is that one as it is set.
        other = "pass" if (name, after) == ("borderline", passes) else name
        old, new = _word_threshold(before, rubric, name), _word_threshold(after, rubric, other)
        change = f"the {name} threshold {old} becomes {new}"
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


def _word_threshold(points: int, rubric: ScoringRubric, name: str) -> str:
    """Write a threshold as it is set, not as the points that it comes to."""
    written = rubric.model.thresholds.pass_at if name == "pass" else rubric.model.thresholds.borderline_at
    if math.ceil(Fraction(written) * rubric.full) == points:
        return str(written)
    return f"{float(Fraction(points, rubric.full)):.4g}"


def _reweigh(rubric: ScoringRubric, index: int, factor: int, full: int, *, scale: int = 1) -> ScoringRubric:
    """Multiply the points of one criterion, and those of the others by `scale`; the best answer then has `full`."""
    criteria = []
    for number, each in enumerate(rubric.criteria):
        times = factor if number == index else scale
        grades = tuple(grade._replace(points=times * grade.points) for grade in each.grades)
        criteria.append(replace(each, share=Fraction(times * int(each.share * rubric.full), full), grades=grades))
    passes, borderline = (math.ceil(Fraction(threshold) * full) for threshold in rubric.model.thresholds)
    return replace(rubric, criteria=tuple(criteria), full=full, pass_from=passes, borderline_from=borderline)


class Witness(NamedTuple):
    """An answer whose verdict a change alters: what the judge gives each criterion, and both verdicts."""

    answers: Mapping[str, AnswerValue]
    before: Verdict
    after: Verdict


class Equivalence:
    """Decides for the mutants of one rubric; the sums of the other criteria are found once for each criterion."""

    def __init__(self, rubric: ScoringRubric) -> None:
        self._rubric = rubric
        self._sums: dict[int | None, Sums] = {}

    def find_witness(self, mutant: Mutant) -> Witness | None:
        """Return an answer whose verdict a mutant alters, with the others as high as possible; None if there is none.

        Raises:
            TooManySumsError: if the sums of the other criteria are too many.
        """
        number, criteria = mutant.number, self._rubric.criteria
        if number not in self._sums:
            others = [criterion for at, criterion in enumerate(criteria) if at != number]
            self._sums[number] = Sums([meeting_points(criterion) for criterion in others])
        sums = self._sums[number]
        # The grades of each answer to the changed criterion, before and after.
        pairs: Iterable[tuple[Grade | None, Grade | None]] = [(None, None)]
        if number is not None:
            pairs = zip(criteria[number].grades, mutant.rubric.criteria[number].grades, strict=True)
        best: tuple[int, Grade | None, Verdict, Verdict] | None = None
        for before, after in pairs:
            for low, stop, old, new in self._differences(mutant, before, after, sums.least):
                total = sums.highest(low, stop)
                if total is not None and (best is None or total > best[0]):
                    best = (total, before, old, new)
        if best is None:
            return None
        return Witness(self._explain(number, sums, best[0], best[1]), best[2], best[3])

    def _differences(
        self, mutant: Mutant, before: Grade | None, after: Grade | None, least: int
    ) -> Iterator[tuple[int, int | None, Verdict, Verdict]]:
        """Yield the intervals of the others' sum, from the `least` on, in which both verdicts differ.

        An interval is its start, its end and both verdicts.
        """
        old_points = before.points if before else 0
        new_points = after.points if after else 0
        cuts = {least}
        for rubric, points, scale in ((self._rubric, old_points, 1), (mutant.rubric, new_points, mutant.scale)):
            cuts |= {-((points - limit) // scale) for limit in (rubric.pass_from, rubric.borderline_from)}
        starts = sorted(cut for cut in cuts if cut >= least)
        for low, stop in zip(starts, [*starts[1:], None], strict=True):
            old = self._rubric.decide(low + old_points, gates_met=before is None or before.gate_met)
            new = mutant.rubric.decide(mutant.scale * low + new_points, gates_met=after is None or after.gate_met)
            if old is not new:
                yield low, stop, old, new

    def _explain(self, index: int | None, sums: Sums, total: int, own: Grade | None) -> dict[str, AnswerValue]:
        """Return an answer to each criterion in which the others reach a sum."""
        points = iter(sums.explain(total))
        found: dict[str, AnswerValue] = {}
        for number, criterion in enumerate(self._rubric.criteria):
            if number == index and own is not None:
                found[criterion.id] = own.answer
                continue
            wanted = next(points)
            # The highest of several answers with the same points, which a weight of 0 gives.
            grades = [grade for grade in criterion.grades if grade.gate_met and grade.points == wanted]
            found[criterion.id] = grades[-1].answer
        return found


class Mutation(NamedTuple):
    """How many changes were `made`, how many of these are `equivalent`, and the survivors as problems.

    `refused` says why the changes could not be made, if they could not. `failing` tests notice nothing.
    """

    made: int
    equivalent: int
    survivors: tuple[Problem, ...]
    refused: str = ""
    failing: int = 0

    @property
    def noticed(self) -> int:
        """The number of changes that a test notices."""
        return self.made - self.equivalent - len(self.survivors)


class _Case(NamedTuple):
    """A test that notices changes unless it fails: the answers to each criterion, and the check of its expectations."""

    answers: tuple[AnswerValue, ...]
    check: Check
    samples: tuple[tuple[AnswerValue, ...], ...]


def mutate(tested: Tested) -> Mutation:
    """Change a rubric in every way, and find the changes that no test notices, each with an answer that would have."""
    rubric, places = tested.rubric, tested.places
    if rubric.varies or rubric.shape is Shape.MIXED:
        return Mutation(0, 0, (), "its criteria have several shapes, or points that depend on the answer")
    all_cases = []  # those that expect something, failing ones too
    for ran in tested.ran:
        if check := make_check(ran.test, ran.file.document, rubric):
            samples = tuple(_answers(sample.criteria) for sample in ran.result.samples)
            all_cases.append(_Case(_answers(ran.result.criteria), check, samples))
    cases = [case for case, is_met in zip(all_cases, _find_met(rubric, rubric, all_cases), strict=True) if is_met]
    failing = len(all_cases) - len(cases)
    equivalence = Equivalence(rubric)
    made = equivalent = 0
    survivors = []
    try:
        for mutant in make_mutants(rubric, places):
            made += 1
            witness = equivalence.find_witness(mutant)
            if witness is None:
                # A test may notice the score of a change that alters no verdict; it does not count either way.
                equivalent += 1
            elif all(_find_met(rubric, mutant.rubric, cases)):
                answer = _word_answer(witness.answers, mutant)
                values = {"change": mutant.change, "answer": answer, "before": witness.before, "after": witness.after}
                more = {"failing": counted(failing, "failing test")} if failing else {}
                code = "survives-passing" if failing else "survives"
                survivors.append(places.problem(mutant.spot, code, {**values, **more}))
    except TooManySumsError:
        return Mutation(0, 0, (), "its weights are too fine to find all scores that it can give; round them")
    return Mutation(made, equivalent, tuple(survivors), failing=failing)


def _answers(criteria: Sequence[CriterionResult]) -> tuple[AnswerValue, ...]:
    return tuple(each.grade.answer for each in criteria)


def _find_met(original: ScoringRubric, rubric: ScoringRubric, cases: Sequence[_Case]) -> Iterator[bool]:
    """Yield for each test whether its expectations hold under a changed rubric; without a score, none does."""
    tables = [
        {before.answer: after for before, after in pair_grades(*pair)}
        for pair in zip(original.criteria, rubric.criteria, strict=True)
    ]
    for case in cases:
        grades = [table[answer] for table, answer in zip(tables, case.answers, strict=True)]
        try:
            if case.samples:
                outputs = [
                    [table[answer].answer for table, answer in zip(tables, answers, strict=True)]
                    for answers in case.samples
                ]
                reasons = (None,) * len(tables)
                result = combine_samples([rubric.grade(JudgeOutput(tuple(each), reasons)) for each in outputs])
                weighed = Weighed(result.score.numerator, result.score.denominator, result.verdict, result.groups)
            else:
                weighed = rubric.weigh(grades)
        except NothingAppliesError:
            yield False
        else:
            yield case.check(rubric, weighed, grades)


def pair_grades(before: ScoringCriterion, after: ScoringCriterion) -> Iterator[tuple[Grade, Grade]]:
    """Yield each grade of a criterion with that of the same answer after a change.

    A criterion that has lost its condition is at its worst where it did not apply.
    """
    grades = {grade.answer: grade for grade in after.all_grades}
    for grade in before.all_grades:
        yield grade, grades.get(grade.answer) or after.from_worst[0]


def _word_answer(answers: Mapping[str, AnswerValue], mutant: Mutant) -> str:
    """Describe an answer: the changed criterion first, then the others, or only how many there are."""
    own = list(answers)[mutant.number] if mutant.number is not None else None
    ordered = [name for name in answers if name == own] + [name for name in answers if name != own]
    named = [f"{word_given(answers[name])} for `{name}`" for name in ordered[:_MOST_NAMED]]
    best = {criterion.id: criterion.from_worst[-1].answer for criterion in mutant.rubric.criteria}
    rest = ordered[_MOST_NAMED:]
    if rest:
        is_best = all(answers[name] == best[name] for name in rest)
        named.append("the best for the others" if is_best else f"fitting values for {len(rest)} others")
    return f"an answer with {join_words(named)}"

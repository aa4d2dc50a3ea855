"""Change a rubric in small ways, and find the changes that none of its tests notices.

Whether a change can alter any verdict is decided exactly. Other criteria matter only through the sum of their points,
and only where they meet their gates, since otherwise the verdict is fail before and after. So for each answer to the
changed criterion, the sums at which the verdicts differ are a few intervals, and the change is equivalent if none of
them holds a reachable sum.

`tree_mutation` decides the same for rubrics whose points depend on the answer, by following pairs of scores. It could
decide all, but takes 14 seconds instead of 10 ms for ten criteria with weights such as 1.3, and weights such as 1.37
give more pairs than it follows.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rubric_lint.assess.rubric_tests.changes import (
    Mutant,
    TooManySumsError,
    Witness,
    change_gate,
    change_thresholds,
    pair_grades,
    regate,
)
from rubric_lint.assess.rubric_tests.running import Check, TestedRubric, find_unscored, format_given, make_check
from rubric_lint.assess.rubric_tests.tree_mutation import TreeEquivalence
from rubric_lint.model.criterion import Shape, to_fraction
from rubric_lint.model.finding import Problem
from rubric_lint.model.messages import counted, join_words
from rubric_lint.scoring.grading import (
    AnswerValue,
    Grade,
    JudgeOutput,
    NothingAppliesError,
    ScoringCriterion,
    ScoringRubric,
    Verdict,
    Weighed,
    combine_samples,
)
from rubric_lint.scoring.loading import RubricPlaces

MOST_STEPS = 1 << 24
"""The largest sum that is followed, in steps of the greatest common divisor: sums are the bits of one integer."""

_MOST_NAMED = 4
"""The most criteria whose answers a message states one by one."""


class Sums:
    """The sums of one number from each of `choices`; no sums if one of them is empty. `least` is the lowest.

    Raises:
        TooManySumsError: if the highest one is too many steps above it.
    """

    def __init__(self, choices: Sequence[Collection[int]]) -> None:
        if not all(choices):
            choices = [()]
        # Each choice is counted from its least number: the sums are those of numbers from 0 on, plus `least`.
        self._leasts = [min(choice, default=0) for choice in choices]
        self.least = sum(self._leasts)
        steps = [{number - least for number in choice} for choice, least in zip(choices, self._leasts, strict=True)]
        self._unit = math.gcd(*(number for choice in steps for number in choice)) or 1
        self._choices = [sorted({number // self._unit for number in choice}, reverse=True) for choice in steps]
        if sum(max(choice, default=0) for choice in self._choices) > MOST_STEPS:
            raise TooManySumsError
        self._bits = [1]  # the sums of the first choices, of no choice to all
        for choice in self._choices:
            reached = 0
            for number in choice:
                reached |= self._bits[-1] << number
            self._bits.append(reached)

    def highest(self, low: int, stop: int | None = None) -> int | None:
        """Return the highest sum from `low` up to, not including, `stop`; None if there is none."""
        first = self._round_up(low)
        last = None if stop is None else self._round_up(stop)
        rest = self._bits[-1] >> first
        if last is not None and last - first < rest.bit_length():  # a mask is as long as its number is high
            rest &= (1 << max(last - first, 0)) - 1
        return self._restore(first + rest.bit_length() - 1) if rest else None

    def lowest(self, low: int) -> int | None:
        """Return the lowest sum of at least `low`; None if there is none."""
        first = self._round_up(low)
        rest = self._bits[-1] >> first
        lowest_bit = rest & -rest
        return self._restore(first + lowest_bit.bit_length() - 1) if rest else None

    def above(self, points: int) -> int | None:
        """Return the lowest sum above some points; None if there is none."""
        return self.lowest(points + 1)

    def _round_up(self, total: int) -> int:
        """Return the first step from a sum on, at least 0: sums are counted in units, from the least one."""
        return max(-(-(total - self.least) // self._unit), 0)

    def _restore(self, step: int) -> int:
        """Return the sum of a step."""
        return self.least + step * self._unit

    def explain(self, total: int) -> list[int]:
        """Return one number of each choice that together make a reachable sum, the last ones as high as possible."""
        rest = (total - self.least) // self._unit
        numbers: list[int] = []
        for step in range(len(self._choices) - 1, -1, -1):
            reached = self._bits[step]
            number = next(
                candidate
                for candidate in self._choices[step]
                if rest >= candidate and reached >> (rest - candidate) & 1
            )
            numbers.append(self._leasts[step] + number * self._unit)
            rest -= number
        return numbers[::-1]


def meeting_points(criterion: ScoringCriterion) -> frozenset[int]:
    """Return the points that the answers earn which meet the gate."""
    return frozenset(grade.points for grade in criterion.grades if grade.gate_met)


def _change_weight(
    rubric: ScoringRubric, index: int, criterion: ScoringCriterion, places: RubricPlaces
) -> Iterator[Mutant]:
    if criterion.is_failure:
        return
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
    # Without a gate, a weight of 0 is the same as no criterion.
    if top and has_gate:
        yield Mutant(f"the weight of `{name}` becomes 0", spot, without, index)
    if top or has_gate:
        yield Mutant(f"`{name}` is removed", places.criterion(name), regate(without, index, lambda _: True), index)


def _reweigh(rubric: ScoringRubric, index: int, factor: int, full: int, *, scale: int = 1) -> ScoringRubric:
    """Multiply the points of one criterion, and those of the others by `scale`; the best answer then has `full`."""
    criteria = []
    for number, criterion in enumerate(rubric.criteria):
        times = factor if number == index else scale
        grades = tuple(grade._replace(points=times * grade.points) for grade in criterion.grades)
        criteria.append(
            replace(criterion, share=Fraction(times * int(criterion.share * rubric.full), full), grades=grades)
        )
    passes, borderline = (math.ceil(Fraction(threshold) * full) for threshold in rubric.model.thresholds)
    return replace(rubric, criteria=tuple(criteria), full=full, pass_from=passes, borderline_from=borderline)


class Equivalence:
    """Decides for the mutants of one rubric; the sums of the other criteria are found once for each criterion."""

    def __init__(self, rubric: ScoringRubric) -> None:
        self._rubric = rubric
        self._sums: dict[int | None, Sums] = {}

    def make_mutants(self, places: RubricPlaces) -> Iterator[Mutant]:
        """Make every change of the rubric: of each criterion, then of the thresholds.

        Raises:
            TooManySumsError: if the reachable scores are too many to find the next one.
        """
        rubric = self._rubric
        if rubric.shape is not Shape.HOLISTIC:
            for index, criterion in enumerate(rubric.criteria):
                yield from change_gate(rubric, index, criterion, places)
                yield from _change_weight(rubric, index, criterion, places)
        yield from change_thresholds(rubric, places, Sums([meeting_points(criterion) for criterion in rubric.criteria]))

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
        answers: dict[str, AnswerValue] = {}
        for number, criterion in enumerate(self._rubric.criteria):
            if number == index and own is not None:
                answers[criterion.id] = own.answer
                continue
            wanted = next(points)
            # The highest of several answers with the same points, which a weight of 0 gives.
            grades = [grade for grade in criterion.grades if grade.gate_met and grade.points == wanted]
            answers[criterion.id] = grades[-1].answer
        return answers


@dataclass(frozen=True)
class MutationResult:
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


@dataclass(frozen=True)
class _NoticingTest:
    """A test that notices changes unless it fails: the answers to each criterion, and the check of its expectations.

    With `may_be_unscored`, it also allows that the answer has no score.
    """

    answers: tuple[AnswerValue, ...]
    check: Check
    samples: tuple[tuple[AnswerValue, ...], ...]
    may_be_unscored: bool


def mutate(tested: TestedRubric) -> MutationResult:
    """Change a rubric in every way, and find the changes that no test notices, each with an answer that would have."""
    rubric, places = tested.rubric, tested.places
    if rubric.tree:  # a weight counts among the others of its group, which the points of a flat rubric do not say
        pass_from, borderline_from = map(to_fraction, rubric.model.thresholds)
        rubric = replace(rubric, varies=True, full=1, pass_from=pass_from, borderline_from=borderline_from)
    all_cases = []  # those that expect something, failing ones too
    runs = [(ran.test, ran.file, ran.result.answers, ran.result.samples) for ran in tested.ran]
    runs += [(ran.test, ran.file, ran.answers, ()) for ran in tested.unscored]
    for test, file, answers, samples in runs:
        check = make_check(test, file.document, rubric)
        if check:
            given_samples = tuple(sample.answers for sample in samples)
            all_cases.append(_NoticingTest(answers, check, given_samples, not any(find_unscored(test))))
    cases = [case for case, is_met in zip(all_cases, _find_met(rubric, rubric, all_cases), strict=True) if is_met]
    failing = len(all_cases) - len(cases)
    equivalence = TreeEquivalence(rubric) if rubric.varies else Equivalence(rubric)
    made = equivalent = 0
    survivors = []
    try:
        for mutant in equivalence.make_mutants(places):
            made += 1
            witness = equivalence.find_witness(mutant)
            if witness is None:
                # A test may notice the score of a change that alters no verdict; it does not count either way.
                equivalent += 1
            elif all(_find_met(rubric, mutant.rubric, cases)):
                answer = _format_answer(witness.answers, mutant)
                values = {"change": mutant.change, "answer": answer, "before": witness.before, "after": witness.after}
                code = "survives"
                if failing:
                    code, values["failing"] = "survives-passing", counted(failing, "failing test")
                survivors.append(places.problem(mutant.spot, code, values))
    except TooManySumsError:
        reason = "its weights are too fine to find all scores that it can give; round them"
        if rubric.varies:
            reason = "its groups and conditions give too many different scores to decide what a change alters"
        return MutationResult(0, 0, (), reason)
    return MutationResult(made, equivalent, tuple(survivors), failing=failing)


def _find_met(original: ScoringRubric, rubric: ScoringRubric, cases: Sequence[_NoticingTest]) -> Iterator[bool]:
    """Yield for each test whether its expectations hold under a changed rubric."""
    tables = [
        {before.answer: after for before, after in pair_grades(*pair)}
        for pair in zip(original.criteria, rubric.criteria, strict=True)
    ]
    for case in cases:
        grades = [table[answer] for table, answer in zip(tables, case.answers, strict=True)]
        try:
            if case.samples:
                reasons = (None,) * len(tables)
                graded = []
                for answers in case.samples:
                    changed = tuple(table[answer].answer for table, answer in zip(tables, answers, strict=True))
                    graded.append(rubric.grade(JudgeOutput(changed, reasons)))
                result = combine_samples(graded)
                weighed = Weighed(result.score.numerator, result.score.denominator, result.verdict, result.groups)
            else:
                weighed = rubric.weigh(grades)
        except NothingAppliesError:
            yield case.may_be_unscored
        else:
            yield case.check(rubric, weighed, grades)


def _format_answer(answers: Mapping[str, AnswerValue], mutant: Mutant) -> str:
    """Describe an answer: the changed criterion first, then the others, or only how many there are."""
    ordered = list(answers)
    if mutant.number is not None:
        ordered.insert(0, ordered.pop(mutant.number))
    named = [f"{format_given(answers[name])} for `{name}`" for name in ordered[:_MOST_NAMED]]
    best = {criterion.id: criterion.from_worst[-1].answer for criterion in mutant.rubric.criteria}
    rest = ordered[_MOST_NAMED:]
    if rest:
        is_best = all(answers[name] == best[name] for name in rest)
        others = "the best for the others" if is_best else f"fitting values for {len(rest)} others"
        named.append(others)
    return f"an answer with {join_words(named)}"

"""Decide whether another wording of a criterion measures better, from outputs on the same answers before and after.

The decision rules are those of `rubric_lint.assess.agreement`; paired differences are tested as McNemar and the sign
test do.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from rubric_lint.assess.agreement.coefficients import correlate, flips
from rubric_lint.assess.agreement.ratings import Judgement, Judgements, Ratings, combine_people, sort_keys
from rubric_lint.assess.agreement.scales import Signature, measure_verdicts
from rubric_lint.assess.judged.outcomes import JudgedStatement
from rubric_lint.assess.judged.rules import JUDGED_FINDERS
from rubric_lint.assess.judged.table import JudgedColumn, JudgedTable, build_table
from rubric_lint.assess.measure.bounds import lower_tail, t_quantile
from rubric_lint.assess.measure.intervals import DiscordantPairs, Share, random_words
from rubric_lint.scoring.grading import NOT_APPLICABLE, AnswerValue
from rubric_lint.scoring.ids import Key

LEAST = 30
"""The fewest answers to prove a wording on: the rule on samples decides from so many."""

ASIDE = LEAST + 3
"""The fewest answers to set aside for that: outputs of a few may be invalid."""

LEVEL = Fraction(1, 20)
"""The probability of a false alarm that all proposals for a criterion share, and that all tests of harm share."""

_KEPT = Fraction(4, 5)
"""The share of answers whose samples agreed before that must be judged as before, if a wording is only steadier."""

_MOST_WORSE = 0.1
"""The share of bad answers, and of good ones, that a wording may turn from right to wrong."""

_DRAWS = 1999
"""The draws of a permutation test."""

PartPlaces = tuple[tuple[int, ...], ...]
"""For each criterion of the first rubric the places of what stands for it now: itself, or the parts of a split."""


class Gain(StrEnum):
    """What a paired difference is about."""

    STEADY = "steadier"
    CAUGHT = "bad-caught"
    PASSED = "good-passed"
    NEARER = "nearer-to-people"
    APART = "tells-apart"


class TrialReason(StrEnum):
    """Why a wording that was judged is offered, or rejected."""

    BETTER = "better"
    FEW = "too-few-outputs"
    STILL = "rule-still-fires"
    NO_BETTER = "no-better"
    WORSE = "worse"
    TIES = "tells-fewer-apart"
    OTHER_MEANING = "other-meaning"
    OTHERS_WORSE = "other-criterion-worse"
    FAILS_TEST = "fails-rubric-test"


class PairedFigure(NamedTuple):
    """A paired difference: both shares, how many answers are better and worse afterwards, and the two-sided p value.

    For pairs told apart, `better` and `worse` count pairs. `of` names another criterion, None the whole rubric.
    """

    test: Gain
    before: Share
    after: Share
    better: int
    worse: int
    p: float | None
    of: str | None = None

    def gains(self, level: float) -> bool:
        """Return whether it is better, at a level of error."""
        return self.p is not None and self.better > self.worse and self.p <= level

    def loses(self, level: float) -> bool:
        """Return whether it is worse, at a level of error."""
        return self.p is not None and self.worse > self.better and self.p <= level

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        return {**self._asdict(), "before": self.before._asdict(), "after": self.after._asdict()}


class TrialResult(NamedTuple):
    """What the trial of a wording came to. `figures` has those of the criterion, then those of others that are worse.

    `level` is what a p value had to reach, `gained` the tests that did, `rules` those that still fire. `failed_tests`
    has the rubric tests that no longer hold.
    """

    reason: TrialReason
    answers: int
    level: float = 0.0
    gained: tuple[Gain, ...] = ()
    figures: tuple[PairedFigure, ...] = ()
    rules: tuple[str, ...] = ()
    failed_tests: tuple[str, ...] = ()

    @property
    def is_better(self) -> bool:
        """Whether the wording is offered."""
        return self.reason is TrialReason.BETTER


def keep_answers(ratings: Ratings, keys: Collection[Key]) -> Ratings:
    """Return the judgements of some answers only."""

    def cut(side: Mapping[str, Mapping[Key, Judgement]]) -> dict[str, Mapping[Key, Judgement]]:
        kept = {
            rater: {key: judgement for key, judgement in given.items() if key in keys} for rater, given in side.items()
        }
        return {rater: given for rater, given in kept.items() if given}

    return ratings._replace(judges=cut(ratings.judges), people=cut(ratings.people), panels={})


def join_parts(answers: Sequence[AnswerValue | None]) -> AnswerValue | None:
    """Return what the answers to the parts of a criterion come to: it is met if all that apply are."""
    if len(answers) == 1:
        return answers[0]
    applying = [answer for answer in answers if answer != NOT_APPLICABLE]
    return all(applying) if applying else NOT_APPLICABLE


def join_splits(judges: Mapping[str, Mapping[Key, Judgement]], places: PartPlaces) -> dict[str, dict[Key, Judgement]]:
    """Return judgements in terms of the first rubric: what was split is met if all its parts are."""

    def join(signature: Signature) -> Signature:
        answers, verdict = signature
        return tuple(join_parts([answers[place] for place in parts]) for parts in places), verdict

    def change(judgement: Judgement) -> Judgement:
        return judgement._replace(
            given=join(judgement.given), samples=tuple(map(join, judgement.samples)), reasons=None
        )

    return {rater: {key: change(judgement) for key, judgement in given.items()} for rater, given in judges.items()}


class PairedJudgements:
    """The judgements of the same answers before and after a change, in terms of the first rubric, and labels.

    Labels are those of `before`; on a criterion on which as many people say the one as the other, there is none.
    """

    def __init__(self, before: Ratings, after: Mapping[str, Mapping[Key, Judgement]]) -> None:
        judged = set[Key]().union(*before.judges.values()) & set[Key]().union(*after.values())
        self.keys = sort_keys(judged)
        self.before = keep_answers(before, judged)
        self.after = keep_answers(before._replace(judges=after), judged)
        self._seen: dict[int | None, tuple[list[_JudgedAnswer], list[_JudgedAnswer]]] = {}

    @cached_property
    def tables(self) -> tuple[JudgedTable, JudgedTable]:
        """The columns before and after."""
        rubric = self.before.rubric
        assert rubric is not None  # noqa: S101 (only verdicts of several rubrics have none)
        return build_table(self.before, rubric), build_table(self.after, rubric)

    def measure(self, place: int | None) -> dict[Gain, PairedFigure]:
        """Return the paired differences of a criterion, None for the verdict, as far as the data have them."""
        values = self._find_column(place).measure.scale.values
        widest = values[-1] - values[0]
        rows = list(zip(self._read_labels(place), *self._observe(place), strict=True))
        pairs: dict[Gain, list[tuple[Fraction | int, Fraction | int]]] = {
            Gain.STEADY: [(one.flips, two.flips) for _, one, two in rows if one.is_sampled and two.is_sampled],
            Gain.CAUGHT: self._list_wrong(place, passes=False),
            Gain.PASSED: self._list_wrong(place, passes=True),
            Gain.NEARER: [
                (
                    widest if one.value is None else abs(values[one.value] - values[label]),
                    widest if two.value is None else abs(values[two.value] - values[label]),
                )
                for label, one, two in rows
                if label is not None
            ],
        }
        name = None if place is None else self._find_column(place).name
        return {test: _compare(test, found, name) for test, found in pairs.items() if found}

    def _find_column(self, place: int | None) -> JudgedColumn:
        return _VERDICT if place is None else self.tables[0].columns[place]

    def _read_labels(self, place: int | None) -> list[int | None]:
        """Return the position of the label of each answer; None without one, or if people contradict each other."""
        measure, found = self._find_column(place).measure, list[int | None]()
        for key in self.keys:
            given = [measure.find(people[key].given) for people in self.before.people.values() if key in people]
            counts = Counter(position for position in given if position is not None).most_common(2)
            is_clear = counts and (len(counts) == 1 or counts[0][1] > counts[1][1])
            found.append(counts[0][0] if is_clear else None)
        return found

    def _list_wrong(self, place: int | None, *, passes: bool) -> list[tuple[Fraction | int, Fraction | int]]:
        """Return of each answer that people pass (or fail) whether the judge does not, before and after.

        That a criterion does not apply is never right here, or a wording that avoids an answer would be better by it.
        """
        meets = self._find_column(place).measure.meets
        return [
            (
                one.value is None or meets[one.value] is not passes,
                two.value is None or meets[two.value] is not passes,
            )
            for label, one, two in zip(self._read_labels(place), *self._observe(place), strict=True)
            if meets and label is not None and meets[label] is passes
        ]

    def count_contradicting(self, place: int) -> int:
        """Return on how many answers as many people say one thing of a criterion as say another."""
        labelled = set[Key]().union(*self.before.people.values()) if self.before.people else set[Key]()
        labels = self._read_labels(place)
        measure, people = self._find_column(place).measure, self.before.people.values()
        left_out = {key for given in people for key in given if measure.is_left_out(given[key].given)}
        disputed = [key for key, label in zip(self.keys, labels, strict=True) if label is None and key in labelled]
        return sum(key not in left_out for key in disputed)

    def _observe(self, place: int | None) -> "tuple[list[_JudgedAnswer], list[_JudgedAnswer]]":
        """Return what judges gave each answer for a criterion, or as the verdict (None), before and after."""
        if place not in self._seen:
            column = self._find_column(place)
            before, after = (_see(*side, self.keys, column) for side in self._outputs)
            self._seen[place] = before, after
        return self._seen[place]

    @cached_property
    def _outputs(self) -> list[tuple[Ratings, Judgements]]:
        """The judgements before and after, each with those of all judges combined."""
        return [(ratings, combine_people(ratings.judges, ratings.rubric)) for ratings in (self.before, self.after)]

    def count_ordered(self, place: int) -> list[int]:
        """Return how many pairs of answers all samples put in one order, before and after."""
        return [_count_ordered(side) for side in self._list_ranges(place)]

    def _list_ranges(self, place: int) -> list[list[tuple[int, int]]]:
        """Return the ranges of the answers to which a criterion applies in both, before and after."""
        pairs = [(one.range, two.range) for one, two in zip(*self._observe(place), strict=True)]
        both = [(one, two) for one, two in pairs if one is not None and two is not None]
        return [[one for one, _ in both], [two for _, two in both]]

    def compare_pairs(self, place: int) -> PairedFigure:
        """Compare how many pairs of answers all samples put in one order, so that chance tells none apart.

        The p value is that of a permutation test, which exchanges before and after within answers at random. There is
        none unless more are told apart.
        """
        column = self.tables[0].columns[place]
        ranges = self._list_ranges(place)
        counts = self.count_ordered(place)
        changed = counts[1] - counts[0]
        extreme, words = 0, random_words(1)
        for _ in range(_DRAWS if changed > 0 else 0):
            bits = [next(words) for _ in range(len(ranges[0]) // 64 + 1)]
            drawn: list[list[tuple[int, int]]] = [[], []]
            for number, pair in enumerate(zip(*ranges, strict=True)):
                swap = bits[number >> 6] >> (number & 63) & 1
                drawn[0].append(pair[swap])
                drawn[1].append(pair[1 - swap])
            extreme += abs(_count_ordered(drawn[1]) - _count_ordered(drawn[0])) >= abs(changed)
        total = math.comb(len(ranges[0]), 2)
        p = (extreme + 1) / (_DRAWS + 1) if changed > 0 else None
        shares = [Share(count, total) for count in counts]
        return PairedFigure(Gain.APART, shares[0], shares[1], max(changed, 0), max(-changed, 0), p, column.name)

    def may_harm(self, place: int, test: Gain) -> bool:
        """Return whether more than a tenth of bad answers, or of good ones, may have turned from right to wrong.

        The exact bound of Clopper and Pearson, one-sided at 95%, counts turned answers and not the difference of
        shares: where nothing turned, it still says what few answers can hide. 29 answers of which none turned are the
        fewest that pass. So does nothing that turned more answers to wrong than to right.
        """
        pairs = self._list_wrong(place, passes=test is Gain.PASSED)
        worse, better = sum(one < two for one, two in pairs), sum(one > two for one, two in pairs)
        return worse > better or lower_tail(worse, len(pairs), _MOST_WORSE) > float(LEVEL)

    def keeps_meaning(self, place: int) -> bool:
        """Return whether values go with those before, at 95%, and hardly differ where samples agreed before."""
        pairs = zip(*self._observe(place), strict=True)
        sides = list(zip(*((one, two) for one, two in pairs if one.range and two.range), strict=True))
        n = len(sides[0]) if sides else 0
        if n < LEAST:  # it says too often that the criterion does not apply
            return False
        r, t = correlate(*([answer.mean for answer in side] for side in sides)), t_quantile(float(LEVEL), n - 2)
        chance = t / math.sqrt(n - 2 + t * t)
        steady = [(one.sides, two.sides) for one, two in zip(*sides, strict=True) if len(one.sides) == 1]
        kept = sum(before == after for before, after in steady)
        return r is not None and r > chance and kept >= _KEPT * len(steady)


_VERDICT = JudgedColumn(
    measure_verdicts("verdict"), None, is_gated=False, worth=(), points=(), best=2, given=(), used=frozenset()
)


def _compare(test: Gain, pairs: Sequence[tuple[Fraction | int, Fraction | int]], of: str | None) -> PairedFigure:
    """Compare how bad each answer was with how bad it is; 0 is good."""
    sides = DiscordantPairs(sum(one > two for one, two in pairs), sum(one < two for one, two in pairs))
    counts = [sum((how_bad == 0) is not (test is Gain.STEADY) for how_bad in side) for side in zip(*pairs, strict=True)]
    before, after = (Share(count, len(pairs)) for count in counts)
    return PairedFigure(test, before, after, *sides, _find_p(test, sides), of)


def _find_p(test: Gain, sides: DiscordantPairs) -> float | None:
    return sides.mid if test in {Gain.CAUGHT, Gain.PASSED} else sides.exact


def _count_ordered(ranges: Sequence[tuple[int, int]]) -> int:
    """Return how many pairs of ranges lie apart."""
    counts = Counter(ranges)
    return sum(
        times * sum(others for (low, _), others in counts.items() if low > high) for (_, high), times in counts.items()
    )


class _JudgedAnswer(NamedTuple):
    """What the judges gave one answer: the position of their median value, and the sides of all samples.

    If the criterion does not apply by the median, the value is None, and by all samples, the range; for flips, and
    among sides, that is a side of its own.

    `flips` is the share of pairs of samples that differ, a mean over judges; `mean` that of the values of all samples,
    and `sides` are those of the gate, bands or levels that samples are on.
    """

    value: int | None
    flips: Fraction
    is_sampled: bool
    range: tuple[int, int] | None
    mean: int
    sides: frozenset[int]


_LEFT_OUT = -1
"""The side of a sample by which a criterion does not apply."""


def _see(ratings: Ratings, middle: Judgements, keys: Sequence[Key], column: JudgedColumn) -> list[_JudgedAnswer]:
    found = list[_JudgedAnswer]()
    for key in keys:
        judged = [judge[key] for judge in ratings.judges.values() if key in judge]
        samples = [
            [column.measure.find(given) for given in judgement.samples or (judgement.given,)] for judgement in judged
        ]
        sides = [[_LEFT_OUT if at is None else column.side(at) for at in positions] for positions in samples]
        sampled = [of_judge for of_judge in sides if len(of_judge) > 1]
        differing = sum((flips(tuple(of_judge)) or Fraction(0) for of_judge in sampled), Fraction(0)) / max(
            len(sampled), 1
        )
        every = [position for positions in samples for position in positions if position is not None]
        # Of several judges the same number of samples is asked for, so sums compare as means do.
        mean = sum(every) * 1000 // max(len(every), 1)
        value, ends = column.measure.find(middle[key].given), (min(every), max(every)) if every else None
        used = frozenset(side for of_judge in sides for side in of_judge)
        found.append(_JudgedAnswer(value, differing, bool(sampled), ends, mean, used))
    return found


class CriterionFault(NamedTuple):
    """What is to be better: the place of a criterion, the rules that found something, and how many proposals share it.

    Several proposals for one criterion are several tests, whose number is fixed before the first.
    """

    place: int
    rules: frozenset[str]
    proposals: int

    @property
    def level(self) -> float:
        """What the p value of a gain must reach."""
        return float(LEVEL / self.proposals)

    @property
    def wanted(self) -> frozenset[Gain]:
        """The gains that count: of a rule on judged data those that are about its fault, of others all."""
        judged = [_WANTED[rule] for rule in self.rules if rule in _WANTED]
        return frozenset[Gain]().union(*judged) or frozenset(Gain) - {Gain.PASSED}


_BY_LABELS = frozenset({Gain.CAUGHT, Gain.NEARER})

_WANTED = {
    "judged-unstable": frozenset({Gain.STEADY}),
    "judged-disagrees": _BY_LABELS,
    "judged-inverse": _BY_LABELS,
    "judged-length": _BY_LABELS,
}


def can_gain(before: Ratings, fault: CriterionFault) -> bool:
    """Return whether any wording could be offered: one that is right on all answers that are wrong now, and no other.

    If so few are wrong that even this may be chance, no request for a proposal is worth its cost.
    """
    pairs = PairedJudgements(before, before.judges)
    place, classes = fault.place, (Gain.CAUGHT, Gain.PASSED)
    if Gain.APART in fault.wanted and not any(pairs.may_harm(place, test) for test in classes):
        return True
    for test, figure in pairs.measure(place).items():
        count, answers = figure.before
        wrong = count if test is Gain.STEADY else answers - count
        p = _find_p(test, DiscordantPairs(wrong, 0))
        if test in fault.wanted and p is not None and p <= fault.level:
            return True
    return False


def decide(pairs: PairedJudgements, fault: CriterionFault) -> TrialResult:
    """Decide whether what was judged anew is better, as far as outputs show it; rubric tests are another matter."""
    n = len(pairs.keys)
    if n < LEAST:
        return TrialResult(TrialReason.FEW, n)
    place = fault.place
    found = pairs.measure(place)
    if Gain.APART in fault.wanted and Gain.CAUGHT in found and Gain.PASSED in found:
        found[Gain.APART] = pairs.compare_pairs(place)
    gained = tuple(test for test in found if test in fault.wanted and found[test].gains(fault.level))
    if Gain.APART in gained and any(pairs.may_harm(place, test) for test in (Gain.CAUGHT, Gain.PASSED)):
        gained = tuple(test for test in gained if test is not Gain.APART)
    made = TrialResult(TrialReason.BETTER, n, fault.level, gained, tuple(found.values()))
    nearer = found.get(Gain.NEARER)
    if any(figure.loses(float(LEVEL)) for figure in found.values()) or (nearer and nearer.worse > nearer.better):
        return made._replace(reason=TrialReason.WORSE)
    table = pairs.tables[1]
    name = table.columns[place].name
    rules = tuple(
        rule
        for rule in sorted(fault.rules & JUDGED_FINDERS.keys())
        if any(
            isinstance(outcome, JudgedStatement) and outcome.target.criterion == name
            for outcome in JUDGED_FINDERS[rule].find(table)
        )
    )
    if rules:  # they fired, and still do
        return made._replace(reason=TrialReason.STILL, rules=rules)
    reason = TrialReason.BETTER if gained else TrialReason.NO_BETTER
    more: list[PairedFigure] = []
    if gained == (Gain.STEADY,):
        # A judge that always says the same is steady too, and so is one that reads something else.
        apart = pairs.count_ordered(place)
        if apart[1] < apart[0]:
            reason, more = TrialReason.TIES, [pairs.compare_pairs(place)]
        elif not pairs.keeps_meaning(place):
            reason = TrialReason.OTHER_MEANING
    if reason is TrialReason.BETTER and (more := _find_harm(pairs, place)):
        reason = TrialReason.OTHERS_WORSE
    return made._replace(reason=reason, figures=(*made.figures, *more))


def _find_harm(pairs: PairedJudgements, place: int) -> list[PairedFigure]:
    """Return the figures of other criteria, and of the verdict, that are worse."""
    others = [number for number in range(len(pairs.tables[0].columns)) if number != place]
    places: list[int | None] = [*others, None]
    level = float(LEVEL / len(places))
    return [figure for other in places for figure in pairs.measure(other).values() if figure.loses(level)]

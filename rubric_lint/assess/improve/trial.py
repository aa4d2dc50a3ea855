"""Decide whether another wording of a criterion measures better, from outputs on the same answers before and after.

The decision rules are those of `rubric_lint.assess.agreement`; paired differences are tested as McNemar and the sign
test do.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
"""The draws of a permutation test. With what was observed they are 2,000, so that p values are round."""

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


@dataclass(frozen=True)
class TrialResult:
    """The result of the trial of a wording. `figures` has those of the criterion, then those of others that are worse.

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
    """Return the judgements of some answers only; raters of none of them go."""

    def narrow(raters: Mapping[str, Mapping[Key, Judgement]]) -> dict[str, Mapping[Key, Judgement]]:
        narrowed: dict[str, Mapping[Key, Judgement]] = {}
        for rater, judgements in raters.items():
            kept = {key: judgement for key, judgement in judgements.items() if key in keys}
            if kept:
                narrowed[rater] = kept
        return narrowed

    return ratings._replace(judges=narrow(ratings.judges), people=narrow(ratings.people), panels={})


def join_parts(answers: Sequence[AnswerValue | None]) -> AnswerValue | None:
    """Return the answer to a criterion from those to its parts: it is met if all that apply are."""
    if len(answers) == 1:
        return answers[0]
    applying = [answer for answer in answers if answer != NOT_APPLICABLE]
    return all(applying) if applying else NOT_APPLICABLE


def join_splits(judges: Mapping[str, Mapping[Key, Judgement]], places: PartPlaces) -> dict[str, dict[Key, Judgement]]:
    """Return judgements in terms of the first rubric: what was split is met if all its parts are."""

    def join(signature: Signature) -> Signature:
        answers, verdict = signature
        return tuple(join_parts([answers[place] for place in parts]) for parts in places), verdict

    joined: dict[str, dict[Key, Judgement]] = {}
    for judge, judgements in judges.items():
        joined[judge] = {}
        for key, judgement in judgements.items():
            outputs = tuple(None if output is None else join(output) for output in judgement.outputs)
            joined[judge][key] = judgement._replace(given=join(judgement.given), outputs=outputs, reasons=None)
    return joined


class PairedJudgements:
    """The judgements of the same answers before and after a change, in terms of the first rubric, and labels.

    Labels are those of `before`; on a criterion on which as many people say the one as the other, there is none.
    """

    def __init__(self, before: Ratings, after: Mapping[str, Mapping[Key, Judgement]]) -> None:
        judged = set[Key]().union(*before.judges.values()) & set[Key]().union(*after.values())
        self.keys = sort_keys(judged)
        self.before = keep_answers(before, judged)
        self.after = keep_answers(before._replace(judges=after), judged)
        self._answers: dict[int | None, tuple[list[_JudgedAnswer], list[_JudgedAnswer]]] = {}

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

        def measure_error(answer: _JudgedAnswer, label: int) -> int:
            # As far off as can be, or a wording that avoids an answer would be nearer by it.
            return widest if answer.value is None else abs(values[answer.value] - values[label])

        rows = list(zip(self._read_labels(place), *self._observe(place), strict=True))
        pairs: dict[Gain, Sequence[tuple[Fraction | int, Fraction | int]]] = {
            Gain.STEADY: [(one.flips, two.flips) for _, one, two in rows if one.is_sampled and two.is_sampled],
            Gain.CAUGHT: self._list_wrong(place, passes=False),
            Gain.PASSED: self._list_wrong(place, passes=True),
            Gain.NEARER: [
                (measure_error(one, label), measure_error(two, label)) for label, one, two in rows if label is not None
            ],
        }
        name = None if place is None else self._find_column(place).name
        return {test: _compare(test, differences, name) for test, differences in pairs.items() if differences}

    def _find_column(self, place: int | None) -> JudgedColumn:
        return _VERDICT if place is None else self.tables[0].columns[place]

    def _read_labels(self, place: int | None) -> list[int | None]:
        """Return the position of the label of each answer; None without one, or if people contradict each other."""
        measure, positions = self._find_column(place).measure, list[int | None]()
        for key in self.keys:
            labelled = [measure.find(labels[key].given) for labels in self.before.people.values() if key in labels]
            counts = Counter(position for position in labelled if position is not None).most_common(2)
            is_clear = counts and (len(counts) == 1 or counts[0][1] > counts[1][1])
            label = counts[0][0] if is_clear else None
            positions.append(label)
        return positions

    def _list_wrong(self, place: int | None, *, passes: bool) -> list[tuple[bool, bool]]:
        """Return of each answer that people pass (or fail) whether the judge does not, before and after.

        That a criterion does not apply is never right here, or a wording that avoids an answer would be better by it.
        """
        meets = self._find_column(place).measure.meets
        if meets is None:
            return []
        wrong = []
        for label, one, two in zip(self._read_labels(place), *self._observe(place), strict=True):
            if label is not None and meets[label] is passes:
                was_wrong = one.value is None or meets[one.value] is not passes
                wrong.append((was_wrong, two.value is None or meets[two.value] is not passes))
        return wrong

    def count_contradicting(self, place: int) -> int:
        """Return on how many answers as many people say one thing of a criterion as say another."""
        labelled = set[Key]().union(*self.before.people.values()) if self.before.people else set[Key]()
        labels = self._read_labels(place)
        measure, people = self._find_column(place).measure, self.before.people.values()
        left_out = {key for labels in people for key in labels if measure.is_left_out(labels[key].given)}
        disputed = [key for key, label in zip(self.keys, labels, strict=True) if label is None and key in labelled]
        return sum(key not in left_out for key in disputed)

    def _observe(self, place: int | None) -> "tuple[list[_JudgedAnswer], list[_JudgedAnswer]]":
        """Return the judged answers for a criterion, or by the verdict (None), before and after."""
        if place not in self._answers:
            column = self._find_column(place)
            before, after = (_judge_answers(*side, self.keys, column) for side in self._outputs)
            self._answers[place] = before, after
        return self._answers[place]

    @cached_property
    def _outputs(self) -> list[tuple[Ratings, Judgements]]:
        """The judgements before and after, each with those of all judges combined."""
        return [(ratings, combine_people(ratings.judges, ratings.rubric)) for ratings in (self.before, self.after)]

    def count_ordered(self, place: int) -> list[int]:
        """Return how many pairs of answers all samples put in one order, before and after."""
        return [_count_ordered(side) for side in self._list_ranges(place)]

    def _list_ranges(self, place: int) -> list[list[tuple[int, int]]]:
        """Return the ranges of the answers to which a criterion applies in both, before and after."""
        before, after = list[tuple[int, int]](), list[tuple[int, int]]()
        for one, two in zip(*self._observe(place), strict=True):
            if one.range is not None and two.range is not None:
                before.append(one.range)
                after.append(two.range)
        return [before, after]

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
        draws = _DRAWS if changed > 0 else 0
        for _ in range(draws):
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
        pairs = [(one, two) for one, two in zip(*self._observe(place), strict=True) if one.range and two.range]
        n = len(pairs)
        if n < LEAST:  # it says too often that the criterion does not apply
            return False
        r = correlate([one.mean for one, _ in pairs], [two.mean for _, two in pairs])
        t = t_quantile(float(LEVEL), n - 2)
        chance = t / math.sqrt(n - 2 + t * t)
        # Where samples differed before, a wording that is steadier has to differ from some of them.
        steady = [(one.sides, two.sides) for one, two in pairs if len(one.sides) == 1]
        unchanged = sum(before == after for before, after in steady)
        return r is not None and r > chance and unchanged >= _KEPT * len(steady)


_VERDICT = JudgedColumn(measure_verdicts("verdict"), None, is_gated=False, worth=(), best=2, given=(), used=frozenset())


def _compare(test: Gain, pairs: Sequence[tuple[Fraction | int, Fraction | int]], of: str | None) -> PairedFigure:
    """Compare how bad each answer was with how bad it is; 0 is good."""
    changed = DiscordantPairs(sum(one > two for one, two in pairs), sum(one < two for one, two in pairs))
    good_before, good_after = sum(one == 0 for one, _ in pairs), sum(two == 0 for _, two in pairs)
    n = len(pairs)
    before, after = Share(good_before, n), Share(good_after, n)
    if test is Gain.STEADY:  # the share of answers whose samples differ
        before, after = Share(n - good_before, n), Share(n - good_after, n)
    return PairedFigure(test, before, after, changed.first, changed.second, _find_p(test, changed), of)


def _find_p(test: Gain, sides: DiscordantPairs) -> float | None:
    return sides.mid if test in {Gain.CAUGHT, Gain.PASSED} else sides.exact


def _count_ordered(ranges: Sequence[tuple[int, int]]) -> int:
    """Return how many pairs of ranges lie apart."""
    counts = Counter(ranges)
    apart = 0
    for (_, high), times in counts.items():
        apart += times * sum(others for (low, _), others in counts.items() if low > high)
    return apart


@dataclass(frozen=True)
class _JudgedAnswer:
    """The outputs of the judges for one answer: the position of their median value, and the sides of all samples.

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


def _judge_answers(
    ratings: Ratings, middle: Judgements, keys: Sequence[Key], column: JudgedColumn
) -> list[_JudgedAnswer]:
    judged_answers = []
    for key in keys:
        positions, rates = list[int](), list[Fraction]()
        used = set[int]()
        for judge in ratings.judges.values():
            if key not in judge:
                continue
            samples = [column.measure.find(signature) for signature in judge[key].samples or (judge[key].given,)]
            positions += [at for at in samples if at is not None]
            sides = tuple(_LEFT_OUT if at is None else column.side(at) for at in samples)
            used.update(sides)
            if len(sides) > 1:
                rates.append(flips(sides) or Fraction(0))
        flip_rate = sum(rates, Fraction(0)) / max(len(rates), 1)
        # Of several judges the same number of samples is asked for, so sums compare as means do.
        mean = sum(positions) * 1000 // max(len(positions), 1)
        ends = (min(positions), max(positions)) if positions else None
        value = column.measure.find(middle[key].given)
        judged_answers.append(_JudgedAnswer(value, flip_rate, bool(rates), ends, mean, frozenset(used)))
    return judged_answers


@dataclass(frozen=True)
class CriterionFault:
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


def decide_trial(pairs: PairedJudgements, fault: CriterionFault) -> TrialResult:
    """Decide whether what was judged anew is better, as far as outputs show it; rubric tests are another matter."""
    n = len(pairs.keys)
    if n < LEAST:
        return TrialResult(TrialReason.FEW, n)
    place = fault.place
    figures = pairs.measure(place)
    # Without labels of both classes nothing shows whether more order is better order.
    if Gain.APART in fault.wanted and Gain.CAUGHT in figures and Gain.PASSED in figures:
        figures[Gain.APART] = pairs.compare_pairs(place)
    gained = tuple(_list_gains(pairs, fault, figures))
    result = TrialResult(TrialReason.BETTER, n, fault.level, gained, tuple(figures.values()))
    nearer = figures.get(Gain.NEARER)
    if any(figure.loses(float(LEVEL)) for figure in figures.values()) or (nearer and nearer.worse > nearer.better):
        return replace(result, reason=TrialReason.WORSE)
    rules = _list_firing(pairs.tables[1], place, fault.rules)
    if rules:  # they fired, and still do
        return replace(result, reason=TrialReason.STILL, rules=rules)
    reason, harm = _find_objection(pairs, place, gained)
    return replace(result, reason=reason, figures=(*result.figures, *harm))


def _find_objection(
    pairs: PairedJudgements, place: int, gained: tuple[Gain, ...]
) -> tuple[TrialReason, list[PairedFigure]]:
    """Return the objection to a wording that is not worse, with its figures; `BETTER` if there is none."""
    if not gained:
        return TrialReason.NO_BETTER, []
    if gained == (Gain.STEADY,):
        # A judge that always says the same is steady too, and so is one that reads something else.
        before, after = pairs.count_ordered(place)
        if after < before:
            return TrialReason.TIES, [pairs.compare_pairs(place)]
        if not pairs.keeps_meaning(place):
            return TrialReason.OTHER_MEANING, []
    harm = _find_harm(pairs, place)
    return (TrialReason.OTHERS_WORSE, harm) if harm else (TrialReason.BETTER, [])


def _list_gains(pairs: PairedJudgements, fault: CriterionFault, figures: Mapping[Gain, PairedFigure]) -> Iterator[Gain]:
    """Yield the tests that count and gain; that more pairs are told apart counts only if no answers get worse."""
    for test, figure in figures.items():
        if test not in fault.wanted or not figure.gains(fault.level):
            continue
        if test is Gain.APART and any(pairs.may_harm(fault.place, side) for side in (Gain.CAUGHT, Gain.PASSED)):
            continue
        yield test


def _list_firing(table: JudgedTable, place: int, rules: frozenset[str]) -> tuple[str, ...]:
    """Return those of some rules that find something in a criterion of a table, if they are on judged data."""
    name = table.columns[place].name
    firing = []
    for rule in sorted(rules & JUDGED_FINDERS.keys()):
        statements = [outcome for outcome in JUDGED_FINDERS[rule].find(table) if isinstance(outcome, JudgedStatement)]
        if any(statement.target.criterion == name for statement in statements):
            firing.append(rule)
    return tuple(firing)


def _find_harm(pairs: PairedJudgements, place: int) -> list[PairedFigure]:
    """Return the figures of other criteria, and of the verdict, that are worse."""
    others = [number for number in range(len(pairs.tables[0].columns)) if number != place]
    places: list[int | None] = [*others, None]
    level = float(LEVEL / len(places))
    return [figure for other in places for figure in pairs.measure(other).values() if figure.loses(level)]

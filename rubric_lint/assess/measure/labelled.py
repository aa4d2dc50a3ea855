"""Lay out judged answers and their labels as what shares are measured of: units, sides of people, runs of a judge."""

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from rubric_lint.assess.agreement.ratings import Judgements, Outputs, Ratings, combine_people, find_middle, sort_keys
from rubric_lint.assess.agreement.scales import Measure, Signature, find_cut
from rubric_lint.assess.agreement.units import QUESTION, AnswerContext, count_copies, group_units
from rubric_lint.assess.measure.bounds import lower_bound
from rubric_lint.assess.measure.shares import LabelledAnswer
from rubric_lint.model.messages import counted, pluralize
from rubric_lint.scoring.grading import ScoringCriterion, ScoringRubric, Verdict, stops
from rubric_lint.scoring.ids import Key


@dataclass(frozen=True)
class Cut:
    """Where labels of a criterion without a gate are cut: the value `below`, and the one from which on others are.

    Where it `costs` points to be higher, the lower ones are good.
    """

    below: str
    start: str
    costs: bool

    def describe(self, *, is_bad: bool) -> str:
        """Return the values of bad answers, or of good ones, in words."""
        return f"below {self.start}" if is_bad is not self.costs else f"at {self.start} or above"


class InapplicableAnswers(NamedTuple):
    """On how many labelled answers a criterion does not apply: by people, and by the judge alone in any of its runs."""

    people: int = 0
    judge: int = 0


@dataclass(frozen=True)
class LabelledAnswers:
    """Labelled answers on one scale as one judge treats them, in the order of their ids.

    `cut` says what is bad where no gate does. `inapplicable` counts answers to which the criterion does not apply:
    those where people say so are not among the answers; those where the judge says so are, and lower bounds count them
    as wrong.
    """

    keys: tuple[Key, ...]
    answers: tuple[LabelledAnswer, ...]
    cut: Cut | None = None
    inapplicable: InapplicableAnswers | None = None

    @property
    def are_questions(self) -> bool:
        """Whether units are questions, and not single answers."""
        return any(isinstance(answer.unit, tuple) and answer.unit[0] == QUESTION for answer in self.answers)

    @property
    def copies(self) -> int:
        """How many answers are near-copies of another one, with which they count as one."""
        return count_copies([answer.unit for answer in self.answers])

    def without_invalid(self) -> "LabelledAnswers":
        """Return them without invalid outputs, which say nothing of the wording."""
        kept = []
        for answer in self.answers:
            runs = [run for run in answer.runs if run is not None]
            kept.append(answer._replace(runs=runs, was_asked=bool(runs), left_out=0))
        return replace(self, answers=tuple(kept))

    def narrow(self, keys: frozenset[Key]) -> "LabelledAnswers":
        """Return those with some ids."""
        narrowed = [(key, answer) for key, answer in zip(self.keys, self.answers, strict=True) if key in keys]
        return replace(self, keys=tuple(key for key, _ in narrowed), answers=tuple(answer for _, answer in narrowed))


def count_units(n: int, *, is_bad: bool, are_questions: bool) -> str:
    """Return a number of units of a class in words, such as `3 questions with bad answers`."""
    kind = "bad" if is_bad else "good"
    if are_questions:
        return f"{counted(n, 'question')} with {kind} answers"
    return counted(n, f"{kind} answer")


def find_units(ratings: Ratings, of: Collection[Key] | None = None) -> dict[Key, Hashable]:
    """Return the unit of each of some answers, or of those with a label."""
    if of is None:
        of = set().union(*ratings.people.values())
    keys = sort_keys(of)
    return dict(zip(keys, group_units([ratings.about.get(key, AnswerContext()) for key in keys]), strict=True))


def list_judges(ratings: Ratings) -> Mapping[str, Judgements]:
    """Return the judges that are compared with people, each by itself; a panel is one judge, and its members none."""
    return ratings.panels or ratings.judges


def pair_with_labels(
    ratings: Ratings, judge: str, measure: Measure, units: Mapping[Key, Hashable], runs: int = 1
) -> LabelledAnswers | None:
    """Return the labelled answers on a scale, each run of the judge made of `runs` outputs in their order.

    None if nothing tells good from bad: no gate, and all labels are equal, are in one band, or earn nothing. Without a
    gate scores are cut between the bands, or levels, where the labels are halved. Answers whose labels come to no
    verdict, or have no value for the criterion, are at the end, without labels. An invalid output makes
    the verdict wrong, but says nothing of how a criterion is worded: there, an answer without a valid output, or with
    outputs of the verdict alone, is one that the judge was not asked.
    """
    judgements = {**ratings.judges, **ratings.panels}[judge]
    runs = 1 if judge in ratings.panels else runs  # a panel judges once
    failed = ratings.failed.get(judge, {})
    values = {key: _list_labels(ratings, measure, key) for key in units}
    values = dict(sorted(values.items(), key=lambda item: not item[1]))  # last those of which nobody knows the side
    criteria = ratings.rubric.criteria if ratings.rubric else ()
    positions = [at for labels in values.values() for at in labels.values()]
    good = measure.meets or _cut(positions, measure, criteria)
    if good is None or (ratings.rubric and measure.place is not None and is_idle(ratings.rubric, measure.place)):
        return None
    keys, answers = [], []
    by_people = by_judge = 0
    for key, labels in values.items():
        if measure.may_not_apply and _is_left_out(ratings, measure, key):
            by_people += 1
            continue
        outputs = judgements[key].recorded if key in judgements else failed.get(key, ())
        outcomes = list(_list_runs(outputs, runs, criteria))
        if measure.place is not None:
            outcomes = [outcome for outcome in outcomes if outcome and outcome[0][measure.place] is not None]
        keys.append(key)
        sides = {person: good[at] for person, at in labels.items()}
        places = [None if outcome is None else measure.find(outcome) for outcome in outcomes]
        is_good = tuple(None if at is None else good[at] for at in places)
        # That a criterion does not apply is no answer: a run is never right by it, and shows nothing if all say so.
        inapplicable = is_good.count(None) if measure.may_not_apply else 0
        if inapplicable:
            by_judge += 1
        if inapplicable == len(is_good):
            answers.append(LabelledAnswer(units[key], sides, (), was_asked=False))
        else:
            answers.append(LabelledAnswer(units[key], sides, is_good, left_out=inapplicable))
    cut = None if measure.meets else _name_cut(good, measure)
    counts = InapplicableAnswers(by_people, by_judge) if measure.may_not_apply else None
    return LabelledAnswers(tuple(keys), tuple(answers), cut, counts)


def _is_left_out(ratings: Ratings, measure: Measure, key: Key) -> bool:
    """Return whether most people who said something of a criterion say that it does not apply to an answer."""
    signatures = [labels[key].given for labels in ratings.people.values() if key in labels]
    count = sum(map(measure.is_left_out, signatures))
    return 2 * count > count + sum(measure.find(signature) is not None for signature in signatures)


def is_idle(rubric: ScoringRubric, place: int) -> bool:
    """Return whether a criterion changes no result, as it has no gate and no weight, nor any in a group with a gate."""
    criterion = rubric.criteria[place]
    if criterion.share or len({grade.gate_met for grade in criterion.grades}) > 1:
        return False
    gated = [group for group in rubric.tree.list_groups() if group.gate is not None] if rubric.tree else []
    return not any(dict(group.list_shares()).get(place) for group in gated)


def _name_cut(good: Sequence[bool], measure: Measure) -> Cut:
    names, at = measure.scale.names, good.index(not good[0])
    return Cut(names[at - 1], names[at], costs=good[0])


def _list_labels(ratings: Ratings, measure: Measure, key: Key) -> dict[str, int]:
    """Return the position of each person's label of an answer on a scale."""
    positions = {person: measure.find(labels[key].given) for person, labels in ratings.people.items() if key in labels}
    return {person: position for person, position in positions.items() if position is not None}


def _cut(positions: Sequence[int], measure: Measure, criteria: Sequence[ScoringCriterion]) -> tuple[bool, ...] | None:
    """Return which positions are good where labels are halved: the lower ones where higher answers are worse.

    Values of one band are on one side.
    """
    steps = [measure.step(at) for at in range(len(measure.scale.values))]
    cut = find_cut([steps[at] for at in positions], steps[-1] + 1)
    costs = measure.place is not None and criteria[measure.place].is_turned
    return None if cut is None else tuple((step < cut) is costs for step in steps)


def _list_runs(outputs: Outputs, runs: int, criteria: Sequence[ScoringCriterion]) -> Iterator[Signature | None]:
    """Yield what each group of `runs` outputs comes to, in their order, None for one with an invalid output.

    Valid outputs left over are of no group.
    """
    for at in range(0, len(outputs), runs):
        group = outputs[at : at + runs]
        valid = [output for output in group if output is not None]
        if len(valid) < len(group):
            yield None
        elif len(group) == runs:
            yield find_middle(valid, criteria) if runs > 1 else valid[0]


def count_ungrouped(ratings: Ratings, runs: int) -> int:
    """Return how many outputs for labelled answers are in no run of so many: valid ones that are left over."""
    if ratings.panels:
        return 0  # a panel judges once, and its members are no judges
    labelled = set().union(*ratings.people.values())
    count = 0
    # An answer with only invalid outputs leaves none over.
    for judgements in ratings.judges.values():
        for key in labelled & judgements.keys():
            outputs = judgements[key].recorded
            rest = outputs[len(outputs) - len(outputs) % runs :]
            count += 0 if None in rest else len(rest)
    return count


def format_ungrouped_outputs(count: int, runs: int) -> str:
    """Say how many outputs are in no run."""
    are = pluralize(count, "is", "are")
    return f"{counted(count, 'judge output')} of labelled answers {are} in no group of {runs} and not counted."


BY_CHANCE = Fraction(1, 100)
"""The probability from which chance may explain a difference."""


LabelSkew = tuple[int, int, int, int]
"""How many answers that the judge stops have a label, and of how many; the same of those that it lets through."""


def find_skew(ratings: Ratings, line: Verdict) -> LabelSkew | None:
    """Return how unevenly the judge's verdicts are labelled, if chance does not explain it."""
    labelled = set().union(*ratings.people.values())
    sides: dict[bool, list[bool]] = {True: [], False: []}
    for key, judgement in combine_people(ratings.judges, ratings.rubric).items():
        verdict = judgement.given[1]
        if verdict is not None:
            sides[stops(verdict, line)].append(key in labelled)
    stopped, others = sides[True], sides[False]
    skew = sum(stopped), len(stopped), sum(others), len(others)
    return None if find_tail(*skew) >= BY_CHANCE else skew


def find_tail(x: int, n: int, y: int, m: int) -> Fraction:
    """Return the probability that `x` of `n` and `y` of `m` differ so much by chance, if their sum is as it is.

    That is Fisher's exact test (1935), with twice the smaller tail.
    """
    drawn = x + y
    least = max(drawn - m, 0)
    # Each number of ways is found from the one before: so many binomials of thousands would take long.
    ways = [math.comb(n, least) * math.comb(m, drawn - least)]
    for k in range(least, min(drawn, n)):
        ways.append(ways[-1] * (n - k) * (drawn - k) // ((k + 1) * (m - drawn + k + 1)))
    at = x - least
    return Fraction(2 * min(sum(ways[: at + 1]), sum(ways[at:])), sum(ways))


_LEAST_PAIRS = 20
"""The fewest answers with two outputs that show whether a judge tells answers apart."""


def count_indistinct(judge: Judgements, measures: Sequence[Measure], criteria: Sequence[ScoringCriterion]) -> int:
    """Return on how many criteria a judge does not tell answers apart: on all that vary, or on none (0).

    There, two outputs of one answer are on different sides (of a gate, else of the middle) about as often as outputs of
    two answers: at least nine tenths as often, and surely at least half as often.
    """
    pairs = [
        judgement.samples[:2]
        for judgement in judge.values()
        if len(judgement.samples) > 1 and None not in judgement.given[0]
    ]
    count = 0
    for measure in measures:
        places = [tuple(map(measure.find, pair)) for pair in pairs]
        drawn = [(one, two) for one, two in places if one is not None and two is not None]
        n = len(drawn)
        if n < _LEAST_PAIRS:
            continue
        positions = [at for pair in drawn for at in pair]
        good = measure.meets or _cut(positions, measure, criteria)
        met = sum(good[at] for at in positions) if good else 0
        if good is None or met in {0, 2 * n}:
            continue
        flips = sum(good[first] is not good[second] for first, second in drawn)
        between = Fraction(met * (2 * n - met) - flips, 2 * n * (n - 1))
        # One criterion on which answers differ more than samples shows that the judge reads them.
        if 10 * flips < 9 * between * n or 2 * lower_bound(flips, n, 0.025) < between:
            return 0
        count += 1
    return count

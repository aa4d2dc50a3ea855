"""Measure the agreement of all raters of a rubric."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import itemgetter
from typing import Any, NamedTuple

from rubric_lint.assess.agreement.comparison import (
    Between,
    Contest,
    RaterComparison,
    SampleFlips,
    ScaleComparison,
    Units,
    compare,
    compare_samples,
    compare_with_labels,
)
from rubric_lint.assess.agreement.label_scale import DoubtedLabels
from rubric_lint.assess.agreement.ratings import Judgement, Judgements, Ratings, combine_people, pool, sort_keys
from rubric_lint.assess.agreement.scales import (
    Measure,
    ScaleKind,
    measure_verdicts,
    measures_of,
    measures_of_criteria,
    without_bands,
)
from rubric_lint.assess.measure.by_verdict import bound_by_verdict
from rubric_lint.assess.measure.decision import TARGET, MeasureOptions, Reason, find_doubts, format_missing
from rubric_lint.assess.measure.gates import (
    GateMeasure,
    GateStandard,
    format_decision,
    measure_gate,
)
from rubric_lint.assess.measure.groups import JudgeShares, format_ungrouped, measure_groups
from rubric_lint.assess.measure.intervals import Share
from rubric_lint.assess.measure.labelled import (
    LabelledAnswers,
    count_ungrouped,
    find_units,
    list_judges,
    pair_with_labels,
)
from rubric_lint.assess.measure.pass_rate import Estimate, LabelSelection, PassCounts, correct_pass_rate
from rubric_lint.assess.measure.shares import compare_people
from rubric_lint.scoring.grading import AnswerValue, ScoringRubric, Verdict, stops
from rubric_lint.scoring.ids import Key, name_key


class Rating(NamedTuple):
    """What a rater gave for a criterion, the verdict that all of it comes to, and the reason.

    If a label has only a verdict, the value is the verdict.
    """

    rater: str
    value: AnswerValue | Verdict
    verdict: Verdict | None
    reason: str | None


class Disagreement(NamedTuple):
    """Ratings of one criterion that differ, with the id of the answer: two, or those of all who are at odds.

    `kind` is `false pass` if the first misses what the second meets, `false fail` for the reverse, else `differs`.
    """

    id: str
    criterion: str
    kind: str
    ratings: tuple[Rating, ...]


class DisagreementList(NamedTuple):
    """How many disagreements there are in all, and the worst ones."""

    total: int
    worst: list[Disagreement]


_KINDS = ("false pass", "false fail", "differs")
_Rank = tuple[int, bool, float, int, int, int]


def list_among_people(ratings: Ratings, line: Verdict, *, all_split: bool) -> list[Disagreement]:
    """List what people and judges said of each answer on which people are tied on the verdict, or split on it.

    These are the criteria on which people differ, or the verdict if they differ on none. Nobody is right there.
    """
    verdict = measure_verdicts("verdict", line)
    scales = measures_of_criteria(ratings.rubric, line) if ratings.rubric else []
    disagreements = []
    for key in sort_keys(set().union(*ratings.people.values())):
        labels = {person: by_person[key] for person, by_person in ratings.people.items() if key in by_person}
        sides = [stops(label.given[1], line) for label in labels.values() if label.given[1] is not None]
        is_tied = 2 * sum(sides) == len(sides)
        if len(set(sides)) < 2 or not (is_tied or all_split):
            continue
        differing = []
        for measure in scales:
            values = {measure.find(label.given) for label in labels.values()}
            if len(values - {None}) > 1:
                differing.append(measure)
        judged = {
            judge: by_judge[key] for judge, by_judge in (ratings.judges or ratings.panels).items() if key in by_judge
        }
        for measure in differing or [verdict]:
            ratings_given = [
                _rate_answer(rater, judgement, measure) for rater, judgement in {**labels, **judged}.items()
            ]
            rated = tuple(rating for rating in ratings_given if rating is not None)
            disagreements.append(Disagreement(name_key(key), measure.name, "differs", rated))
    return disagreements


def _rate_answer(rater: str, judgement: Judgement, measure: Measure) -> Rating | None:
    """Return the rating on a scale; None without one, or if the rater says that the criterion does not apply."""
    answers, verdict = judgement.given
    if measure.place is None:
        return Rating(rater, verdict, verdict, None) if verdict is not None else None
    value = answers[measure.place]
    if value is None or measure.is_left_out(judgement.given):
        return None
    return Rating(rater, value, verdict, judgement.reason(measure.place))


def _rank_differences(
    raters: Mapping[str, Judgements], pair: int, measures: Sequence[Measure], *, has_label: bool
) -> Iterator[tuple[_Rank, Disagreement]]:
    """Yield the values in which two raters differ, with their rank among those of all pairs."""
    (first, one), (second, two) = raters.items()
    for order, key in enumerate(sort_keys(one.keys() & two.keys())):
        left, right = one[key], two[key]
        if left.given == right.given:
            continue
        verdicts = left.given[1], right.given[1]
        is_lenient = verdicts[1] is Verdict.PASS is not verdicts[0]
        pairs = zip(left.given[0], right.given[0], strict=True)
        is_bare = bool(left.given[0]) and not any(mine is not None and theirs is not None for mine, theirs in pairs)
        for number, measure in enumerate(measures):
            place, scale = measure.place, measure.scale.values
            if (place is None) is not is_bare:  # the verdict counts where no criterion can be compared
                continue
            one_value, other = verdicts if place is None else (left.given[0][place], right.given[0][place])
            if one_value == other or one_value is None or other is None:
                continue
            if measure.is_left_out(left.given) or measure.is_left_out(right.given):
                continue
            values = one_value, other
            at, other_at = measure.positions[one_value], measure.positions[other]
            kind = "differs"
            if has_label and measure.meets and measure.meets[at] is not measure.meets[other_at]:
                kind = "false pass" if measure.meets[other_at] else "false fail"
            distance = abs(scale[at] - scale[other_at]) / (scale[-1] - scale[0])
            reasons = (None, None) if place is None else (left.reason(place), right.reason(place))
            ratings = tuple(map(Rating, (first, second), values, verdicts, reasons))
            disagreement = Disagreement(name_key(key), measure.name, kind, ratings)
            yield (_KINDS.index(kind), not is_lenient, -distance, order, number, pair), disagreement


MOST_PAIRED = 6
"""The most raters of one side of which each two are compared; more are compared all together."""

TOGETHER = "all"
"""The name of the verdicts of all rubrics together."""

LABEL = "people"
"""The name of the combined labels of several people."""


class PassRate(NamedTuple):
    """The pass rate of a judge, that of the labels alone (or why there is none), and the corrected one."""

    judge: str
    judged: Share
    labels_alone: Share | None
    labels_reason: str | None
    corrected: Estimate


class Rater(NamedTuple):
    """A person, a judge or a panel, and the number of answers that it rated."""

    name: str
    role: str
    answers: int


class JudgeContests(NamedTuple):
    """Two judges, and on each scale which of them is right."""

    judges: tuple[str, ...]
    measures: list[Contest]


class RaterFlips(NamedTuple):
    """A rater, and how often its samples differ on each scale."""

    rater: str
    measures: list[SampleFlips]


class Agreement(NamedTuple):
    """The agreement on one rubric.

    Without a rubric it is that on the verdicts of all rubrics, whose disagreements are with each of them.
    """

    rubric: ScoringRubric | None
    answers: int
    raters: tuple[Rater, ...]
    chosen: LabelSelection | None
    comparisons: tuple[RaterComparison, ...]
    pass_rates: tuple[PassRate, ...]
    contests: tuple[JudgeContests, ...]
    samples: tuple[RaterFlips, ...]
    groups: tuple[JudgeShares, ...]
    disagreements: DisagreementList
    ungrouped: str = ""
    runs: int = 1
    ungrouped_outputs: int = 0
    has_texts: bool = True

    @property
    def name(self) -> str:
        """The name of the rubric, or what stands for all."""
        return self.rubric.name if self.rubric else "all rubrics"

    def to_json(self) -> dict[str, Any]:
        """Return the agreement as in the JSON report."""
        rubric = self.rubric
        name, hashed, shape = (rubric.name, rubric.hash, rubric.shape) if rubric else (None, None, None)
        about = {"rubric": name, "rubric_hash": hashed, "shape": shape}
        total, worst = self.disagreements
        fields = self._asdict()
        del fields["ungrouped"], fields["has_texts"]
        return {**about, **fields, **about, "disagreements": {"count": total, "worst": worst}}


def analyse_all(rubric_ratings: Sequence[Ratings], options: MeasureOptions) -> list[Agreement]:
    """Measure the agreement on each rubric; of several, first that on all verdicts together."""
    agreements = [analyse(ratings, options) for ratings in rubric_ratings]
    if len(rubric_ratings) < 2:
        return agreements
    doubted = (find_doubts(ratings, options.line, options.label_scales).doubted for ratings in rubric_ratings)
    return [analyse(pool(rubric_ratings), options, next(filter(None, doubted), None)), *agreements]


def analyse(ratings: Ratings, options: MeasureOptions, doubted: DoubtedLabels | None = None) -> Agreement:
    """Measure the agreement of judges with people, of people and of judges, and of the samples of each.

    A panel is compared only with people: it consists of judges. Of several rubrics together, `doubted` are labels of
    one of them.
    """
    measures = [measure_verdicts(TOGETHER, options.line)]
    if ratings.rubric:
        measures = list(measures_of(ratings.rubric, options.line))
    judges, people, panels = ratings.judges, ratings.people, ratings.panels
    labels = _name_labels(ratings)
    labelled = {**judges, **panels} if labels else {}
    units = find_units(ratings, ratings.known)
    gates, answers_by_verdict = _measure_gates(ratings, measures, options, doubted) if labelled else ({}, {})
    verdicts = {name: of_measures[len(measures) - 1] for name, of_measures in gates.items()}
    clear = [name for name, gate in verdicts.items() if not gate.is_void]
    # Of the other judges labels say nothing.
    compared = [name for name in list_judges(ratings) if name in clear] if options.by else []
    by_verdict = {name: answers_by_verdict[name] for name in compared}
    grouped = set[Key]().union(*(answers.keys for answers in by_verdict.values()))
    comparisons = []
    for name, judge in labelled.items():
        comparisons.append(compare(Between.LABEL, {**labels, name: judge}, measures, units, gates[name]))
    comparisons += _compare_side(Between.PEOPLE, people, measures, units)
    comparisons += _compare_side(Between.JUDGES, judges, measures, units)
    label = next(iter(labels.values()), {})
    is_alone = len(labelled) == 1
    are_split = any(Reason.PEOPLE_DISAGREE in gate.reasons for gate in verdicts.values())
    contests = tuple(_compare_judges(judges, label, measures, units)) if labels else ()
    ungrouped_outputs = count_ungrouped(ratings, options.runs) if clear else 0
    return Agreement(
        rubric=ratings.rubric,
        answers=len(set().union(*ratings.raters.values())),
        raters=tuple(_list_raters(ratings)),
        chosen=ratings.chosen,
        comparisons=tuple(comparisons),
        pass_rates=tuple(
            _measure_pass_rate(name, judge, label, ratings.chosen, is_alone=is_alone)
            for name, judge in labelled.items()
        ),
        contests=contests,
        samples=tuple(_compare_samples({**people, **judges}, measures, units)),
        groups=tuple(measure_groups(ratings, by_verdict, options.by, options.look)),
        disagreements=_list_disagreements(ratings, labels, measures, options, are_split=are_split),
        ungrouped=format_ungrouped(ratings, grouped, options.by),
        runs=options.runs,
        ungrouped_outputs=ungrouped_outputs,
        has_texts=any({about.question, about.answer} != {None} for about in ratings.about.values()),
    )


def _name_labels(ratings: Ratings) -> dict[str, Judgements]:
    """Return the combined labels by the name of the only person, or of them all; empty without any."""
    people = ratings.people
    if not people:
        return {}
    name = next(iter(people)) if len(people) == 1 else LABEL
    return {name: combine_people(people, ratings.rubric)}


def _list_raters(ratings: Ratings) -> Iterator[Rater]:
    for role, side in (("person", ratings.people), ("judge", ratings.judges), ("panel", ratings.panels)):
        for name, judgements in side.items():
            yield Rater(name, role, len(judgements))


def _compare_judges(
    judges: Mapping[str, Judgements], label: Judgements, measures: Sequence[Measure], units: Units
) -> Iterator[JudgeContests]:
    """Yield for each two judges which of them is right."""
    for two in _pairs(judges):
        yield JudgeContests(two, compare_with_labels(label, [judges[name] for name in two], measures, units))


def _compare_samples(
    raters: Mapping[str, Judgements], measures: Sequence[Measure], units: Units
) -> Iterator[RaterFlips]:
    """Yield how often the samples of a rater differ, of each that has several."""
    for name, judgements in raters.items():
        flips = compare_samples(judgements, measures, units)
        if flips:
            yield RaterFlips(name, flips)


def _list_disagreements(
    ratings: Ratings,
    labels: Mapping[str, Judgements],
    measures: Sequence[Measure],
    options: MeasureOptions,
    *,
    are_split: bool,
) -> DisagreementList:
    """List on which answers judges and people differ; without both, on which two people or two judges do.

    First come the answers on which people are not of one mind, so that there is no label to compare a judge with. Then
    come criteria that the label fails and the judge passes, then the reverse, then other differences. Within each kind
    come those that turn a fail into a pass, then the largest differences.
    """
    judges = ratings.judges or ratings.panels
    among = list_among_people(ratings, options.line, all_split=are_split) if judges else []
    pairs: list[Mapping[str, Judgements]] = []
    if labels:
        pairs += [{**labels, name: judge} for name, judge in judges.items()]
    has_label = bool(pairs)
    if not has_label:
        for side in (ratings.people, ratings.judges):
            pairs += [{name: side[name] for name in two} for two in _pairs(side)]
    own = without_bands(measures)
    first: _Rank = (-1, False, 0.0, 0, 0, 0)
    worst: list[tuple[_Rank, Disagreement]] = [(first, disagreement) for disagreement in among[: options.worst]]
    count = len(among)
    disputed = {disagreement.id for disagreement in among}
    for number, raters in enumerate(pairs):
        differing = _rank_differences(raters, number, own, has_label=has_label)
        ranked = [(rank, disagreement) for rank, disagreement in differing if disagreement.id not in disputed]
        count += len(ranked)
        worst = sorted([*worst, *ranked], key=itemgetter(0))[: options.worst]
    return DisagreementList(count, [disagreement for _, disagreement in worst])


def _measure_gates(
    ratings: Ratings, measures: Sequence[Measure], options: MeasureOptions, known: DoubtedLabels | None
) -> tuple[dict[str, dict[int, GateMeasure]], dict[str, LabelledAnswers]]:
    """Return how each judge decides, on each scale that tells good from bad, as `assess` measures it.

    With it are the labelled answers of each judge by the verdict.
    """
    units = find_units(ratings)
    criteria = len(ratings.rubric.criteria) if ratings.rubric else 0
    doubts = find_doubts(ratings, options.line, options.label_scales)
    doubts = doubts._replace(doubted=known or doubts.doubted)
    gates, by_verdict = dict[str, dict[int, GateMeasure]](), dict[str, LabelledAnswers]()
    for name, judge in {**ratings.judges, **ratings.panels}.items():
        group = ratings.panels if name in ratings.panels else ratings.judges
        judges = len(group)
        of_verdict = GateStandard(options.target, options.look, judges)
        of_criterion = GateStandard(TARGET, options.look, judges, criteria)
        labelled = dict[int, LabelledAnswers]()
        for number, measure in enumerate(measures):
            answers = _pair_if_decided(ratings, name, measure, units, options.runs)
            if answers is not None:
                labelled[number] = answers
        # Where labels of the verdict say nothing of the judge, those of criteria say nothing either.
        last = len(measures) - 1
        by_verdict[name] = labelled[last]
        people = compare_people(labelled[last].answers)
        void = doubts.find_void(people, options.target)
        is_invalid = ratings.has_invalid_outputs(name)
        gates[name] = {}
        for number, answers in labelled.items():
            is_verdict = number == last
            standard = of_verdict if is_verdict else of_criterion
            gate = measure_gate(answers, standard, void)
            left_out = answers.inapplicable.judge if answers.inapplicable else 0
            missing = format_missing(gate.shares, options.runs, is_verdict=is_verdict, left_out=left_out)
            whose = people if void else gate.shares.people
            reason = format_decision(gate, whose, doubts, missing, is_invalid=is_invalid, is_verdict=is_verdict)
            gates[name][number] = replace(gate, reason=reason)
        if judges == 1 and doubts.are_by_verdict_alone(people, options.target):
            bounds = bound_by_verdict(labelled[last], judge, options.line, options.runs, of_verdict.level)
            if bounds:
                gate = gates[name][last]
                gates[name][last] = replace(gate, reason=f"{gate.reason}; {bounds.words}")
    return gates, by_verdict


def _pair_if_decided(
    ratings: Ratings, judge: str, measure: Measure, units: Mapping[Key, Hashable], runs: int
) -> LabelledAnswers | None:
    """Return the labelled answers on a scale; none of them if no label is of a judged answer.

    None if nothing tells good from bad; bands do not by themselves.
    """
    if measure.scale.kind is ScaleKind.BAND:
        return None
    if ratings.has_joined_labels:
        return pair_with_labels(ratings, judge, measure, units, runs)
    return None if measure.meets is None else LabelledAnswers((), ())


def _pairs(side: Mapping[str, Judgements]) -> Iterator[tuple[str, str]]:
    """Yield each two of a side, or none if there are too many."""
    if len(side) <= MOST_PAIRED:
        yield from combinations(side, 2)


def _compare_side(
    between: Between, side: Mapping[str, Judgements], measures: Sequence[Measure], units: Units
) -> Iterator[RaterComparison]:
    """Compare the raters of one side: all together if there are more than two, and each two of them."""
    if len(side) > 2:
        yield compare(between, side, measures, units)
    for two in _pairs(side):
        yield compare(between, {name: side[name] for name in two}, measures, units)


def _measure_pass_rate(
    name: str, judge: Judgements, labels: Judgements, chosen: LabelSelection | None, *, is_alone: bool
) -> PassRate:
    """Return the pass rates of the answers that the judge judged; labels of other answers do not count.

    If the labels are of separate answers, the rates are of the answers without a label.
    """
    times: Counter[tuple[bool, bool]] = Counter()
    passed = others = 0
    for key, judgement in judge.items():
        passes = judgement.given[1] is Verdict.PASS
        label = labels[key].given[1] if key in labels else None
        if label is not None:
            times[label is Verdict.PASS, passes] += 1
        else:
            others += 1
            passed += passes
    counts = PassCounts(times, passed, others)
    reason = None
    if chosen is LabelSelection.BY_VERDICT:
        reason = "the labels were chosen by the judge's verdict, so their share of passes is not that of all answers"
    elif chosen is LabelSelection.SEPARATE:
        reason = "the labels are of other answers, so their share of passes is not that of these"
    elif not counts.labels:
        reason = "no judged answer has a label"
    judged = Share(passed, others) if chosen is LabelSelection.SEPARATE else counts.judged
    corrected = correct_pass_rate(counts, chosen)
    if chosen is LabelSelection.BY_VERDICT and not is_alone:
        why = "the labels were chosen by the verdict of one judge; name it and its labels with --rater"
        corrected = Estimate(None, reason=why)
    people = None if reason else counts.people
    return PassRate(name, judged, people, reason, corrected)


STATISTICS = ("alpha", "exact", "bad-caught", "good-passed")
"""The statistics that can have a limit."""


@dataclass(frozen=True)
class AgreementLimit:
    """The lowest acceptable value of a statistic, of one criterion (or `verdict`) or of all and the verdict.

    Of several rubrics, `all` is the verdicts of all rubrics together.
    """

    statistic: str
    limit: float
    where: str | None = None


class Breach(NamedTuple):
    """A value below its limit, or an undefined one with the reason."""

    rubric: str
    raters: tuple[str, ...]
    criterion: str
    statistic: str
    limit: float
    value: float | None
    reason: str | None

    def __str__(self) -> str:
        about = f"{self.rubric}: {self.criterion}: {self.statistic} of {' and '.join(self.raters)}"
        if self.value is None:
            return f"{about} is undefined ({self.reason}), so it does not reach {self.limit:g}"
        # So many digits that the value shows as below the limit: 0.7996 is not 0.800.
        digits = next(digits for digits in range(3, 18) if float(f"{self.value:.{digits}f}") < self.limit)
        return f"{about} is {self.value:.{digits}f}, below {self.limit:g}"


def find_breaches(agreements: Sequence[Agreement], condition: AgreementLimit) -> Iterator[Breach]:
    """Yield each value that breaks a condition.

    Where there are labels, only judges have to meet it, against the labels; else all comparisons do. An undefined value
    breaks it, and so does a condition that no value can meet.
    """
    is_measured = False
    statistic, limit = condition.statistic, condition.limit
    for agreement in agreements:
        with_labels = [comparison for comparison in agreement.comparisons if comparison.between is Between.LABEL]
        for comparison in with_labels or agreement.comparisons:
            for compared in comparison.measures:
                measure = compared.measure
                if measure.scale.kind is ScaleKind.BAND or condition.where not in {None, measure.name}:
                    continue
                measured = _find_statistic(compared, statistic)
                if measured is None:
                    continue
                is_measured = True
                value, reason = measured
                if value is None or value < limit:
                    about = agreement.name, comparison.raters, measure.name
                    yield Breach(*about, statistic, limit, value, reason)
    if not is_measured:
        raters = tuple(rater.name for agreement in agreements for rater in agreement.raters)
        about = agreements[0].name, raters, condition.where or "every criterion"
        yield Breach(*about, statistic, limit, None, "no comparison has this statistic")


def _find_statistic(compared: ScaleComparison, statistic: str) -> tuple[float | None, str | None] | None:
    """Return a value and why it is undefined; None if the comparison does not have the statistic."""
    if statistic == "alpha":
        return compared.alpha.value, compared.alpha.reason
    pair = compared.pair
    if pair and statistic == "exact":
        return pair.exact.value, "no answer has two ratings"
    if not pair or not pair.gate:
        return None
    shares = pair.gate.shares
    if pair.gate.is_void or not any(units for _, units in shares.asked):
        return None, pair.gate.reason
    if statistic == "bad-caught":
        return shares.bad_caught.value, "no bad answer by the labels"
    return shares.good_passed.value, "no good answer by the labels"

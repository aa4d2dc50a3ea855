"""Measure the agreement of all raters of a rubric."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from rubric_lint.agree.bootstrap import DRAWS
from rubric_lint.agree.comparison import Between, Comparison, compare, share_to_json
from rubric_lint.agree.disagreements import Listed, list_disagreements
from rubric_lint.agree.figures import Draws
from rubric_lint.agree.panel import Contest, Flips, Votes, compare_samples, contend, count_votes
from rubric_lint.agree.pass_rate import Chosen, Estimate, PassCounts, correct_pass_rate
from rubric_lint.agree.proportions import Share
from rubric_lint.agree.ratings import Judgements, Ratings, combine_people, pool
from rubric_lint.agree.scales import Measure, measure_verdicts, measures_of
from rubric_lint.scoring.grading import ScoringRubric, Verdict

MOST_PAIRED = 6
"""The most raters of one side of which each two are compared; more are compared all together."""

TOGETHER = "all"
"""The name of the verdicts of all rubrics together."""

LABEL = "people"
"""The name of the combined labels of several people."""


class Plan(NamedTuple):
    """What to compute: bootstrap draws and seed, the share of bad answers to catch, the disagreements to list."""

    draws: Draws = Draws(DRAWS, 1)
    target: Fraction = Fraction(4, 5)
    worst: int | None = None


class PassRate(NamedTuple):
    """The pass rate of a judge, that of the labels alone, and the corrected one."""

    judge: str
    judged: Share
    labels: Share
    labels_reason: str | None
    corrected: Estimate

    def to_json(self) -> dict[str, Any]:
        """Return the rates as in the JSON report."""
        labels = None if self.labels_reason else share_to_json(self.labels)
        return {
            "judge": self.judge,
            "judged": share_to_json(self.judged),
            "labels_alone": labels,
            "labels_reason": self.labels_reason,
            "corrected": self.corrected._asdict(),
        }


class Agreement(NamedTuple):
    """The agreement on one rubric; `contests` are those of two judges, `flips` those of a judge's samples.

    Without a rubric it is that on the verdicts of all rubrics, whose disagreements are with each of them.
    """

    rubric: ScoringRubric | None
    chosen: Chosen | None
    raters: Mapping[str, tuple[str, int]]
    answers: int
    comparisons: tuple[Comparison, ...]
    pass_rates: tuple[PassRate, ...]
    contests: tuple[tuple[tuple[str, str], list[Contest]], ...]
    panel: tuple[tuple[str, ...], list[Votes]] | None
    flips: Mapping[str, list[Flips]]
    disagreements: Listed

    @property
    def name(self) -> str:
        """The name of the rubric, or what stands for all."""
        return self.rubric.name if self.rubric else "all rubrics"

    def to_json(self) -> dict[str, Any]:
        """Return the agreement as in the JSON report."""
        return {
            "rubric": self.rubric and self.rubric.name,
            "rubric_hash": self.rubric and self.rubric.hash,
            "shape": self.rubric and str(self.rubric.shape),
            "answers": self.answers,
            "raters": [
                {"name": name, "role": role, "answers": answers} for name, (role, answers) in self.raters.items()
            ],
            "chosen": self.chosen and str(self.chosen),
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "pass_rates": [rate.to_json() for rate in self.pass_rates],
            "contests": [
                {"judges": list(judges), "measures": [contest.to_json() for contest in contests]}
                for judges, contests in self.contests
            ],
            "panel": self.panel
            and {"judges": list(self.panel[0]), "measures": [votes.to_json() for votes in self.panel[1]]},
            "samples": [
                {"rater": rater, "measures": [flips.to_json() for flips in found]}
                for rater, found in self.flips.items()
            ],
            "disagreements": {
                "count": self.disagreements.total,
                "worst": [each.to_json() for each in self.disagreements.worst],
            },
        }


def analyse_all(several: Sequence[Ratings], plan: Plan) -> list[Agreement]:
    """Measure the agreement on each rubric; of several, first that on all verdicts together."""
    together = [pool(several)] if len(several) > 1 else []
    return [analyse(ratings, plan) for ratings in (*together, *several)]


def analyse(ratings: Ratings, plan: Plan) -> Agreement:
    """Measure the agreement of judges with people, of people and of judges, and of the samples of each.

    A panel is compared only with people: it consists of judges.
    """
    measures = list(measures_of(ratings.rubric)) if ratings.rubric else [measure_verdicts(TOGETHER)]
    judges, people, panels = ratings.judges, ratings.people, ratings.panels
    labels = {next(iter(people)) if len(people) == 1 else LABEL: combine_people(people)} if people else {}
    comparisons = [
        compare(Between.LABEL, {**labels, name: judge}, measures, plan.draws, plan.target)
        for name, judge in {**judges, **panels}.items()
        if labels
    ]
    comparisons += _compare_side(Between.PEOPLE, people, measures, plan)
    comparisons += _compare_side(Between.JUDGES, judges, measures, plan)
    label = next(iter(labels.values()), {})
    pairs = [({**labels, name: judge}, True) for name, judge in (judges or panels).items() if labels]
    pairs = pairs or [(_take_two(side, two), False) for side in (people, judges) for two in _pairs(side)]
    raters = {name: ("person", len(given)) for name, given in people.items()}
    return Agreement(
        ratings.rubric,
        ratings.chosen,
        {
            **raters,
            **{name: ("judge", len(given)) for name, given in judges.items()},
            **{name: ("panel", len(given)) for name, given in panels.items()},
        },
        len(set().union(*judges.values(), *people.values(), *panels.values())),
        tuple(comparisons),
        tuple(
            _rate(name, judge, label, ratings.chosen, is_alone=len(judges) + len(panels) == 1)
            for name, judge in {**judges, **panels}.items()
            if labels
        ),
        tuple(
            (two, contend(label, [judges[name] for name in two], measures, plan.draws))
            for two in _pairs(judges)
            if labels
        ),
        (tuple(judges), count_votes(label, judges, measures, plan.draws)) if labels and len(judges) > 1 else None,
        {
            name: flips
            for name, given in {**people, **judges}.items()
            if (flips := compare_samples(given, measures, plan.draws))
        },
        list_disagreements(pairs, measures, plan.worst),
    )


def _pairs(side: Mapping[str, Judgements]) -> Iterator[tuple[str, str]]:
    """Yield each two of a side, or none if there are too many."""
    if len(side) <= MOST_PAIRED:
        yield from combinations(side, 2)


def _take_two(side: Mapping[str, Judgements], names: tuple[str, str]) -> dict[str, Judgements]:
    return {name: side[name] for name in names}


def _compare_side(
    between: Between, side: Mapping[str, Judgements], measures: Sequence[Measure], plan: Plan
) -> Iterator[Comparison]:
    """Compare the raters of one side: all together if there are more than two, and each two of them."""
    if len(side) > 2:
        yield compare(between, side, measures, plan.draws, plan.target)
    for two in _pairs(side):
        yield compare(between, _take_two(side, two), measures, plan.draws, plan.target)


def _rate(name: str, judge: Judgements, labels: Judgements, chosen: Chosen | None, *, is_alone: bool) -> PassRate:
    """Return the pass rates of the answers that the judge judged; labels of other answers do not count.

    If the labels are of separate answers, the rates are of the answers without a label.
    """
    times: Counter[tuple[bool, bool]] = Counter()
    passed = others = 0
    for key, judgement in judge.items():
        passes = judgement.given[1] is Verdict.PASS
        if label := labels.get(key):
            times[label.given[1] is Verdict.PASS, passes] += 1
        else:
            others += 1
            passed += passes
    counts = PassCounts(times, passed, others)
    reason = None
    if chosen is Chosen.BY_VERDICT:
        reason = "the labels were chosen by the judge's verdict, so their share of passes is not that of all answers"
    elif chosen is Chosen.SEPARATE:
        reason = "the labels are of other answers, so their share of passes is not that of these"
    elif not counts.labels:
        reason = "no judged answer has a label"
    judged = Share(passed, others) if chosen is Chosen.SEPARATE else counts.judged
    corrected = correct_pass_rate(counts, chosen)
    if chosen is Chosen.BY_VERDICT and not is_alone:
        why = "the labels were chosen by the verdict of one judge; name it and its labels with --rater"
        corrected = Estimate(None, reason=why)
    return PassRate(name, judged, counts.people, reason, corrected)

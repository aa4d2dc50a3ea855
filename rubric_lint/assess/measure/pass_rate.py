"""Estimate the share of answers that people would pass, from a judge and a few labels.

Which estimator holds depends on how the labelled answers were chosen; the wrong one is biased, so nothing is estimated
unless the labels say it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from rubric_lint.assess.measure.bounds import bound
from rubric_lint.assess.measure.intervals import ERROR, Share
from rubric_lint.model.messages import counted

_Z = 1.959963984540054
"""The quantile of the normal distribution for intervals of 95%."""

LEAST_EACH = 5
"""The fewest labels of each verdict of the judge that labels chosen by it must have: fewer were not examined."""

LEAST_LABELS = 10
"""The fewest labels, and answers without one, from which a rate is estimated; where classes matter, of each class."""


class LabelSelection(StrEnum):
    """How the labelled answers were chosen: at random from the judged ones, elsewhere, or by the judge's verdict."""

    RANDOM = "random"
    SEPARATE = "separate"
    BY_VERDICT = "by-verdict"


@dataclass(frozen=True)
class PassCounts:
    """Counts of answers: `labelled` by (label passes, judge passes); the judge's passes of those without a label."""

    labelled: Mapping[tuple[bool, bool], int]
    others_passed: int
    others: int

    @property
    def labels(self) -> int:
        """The number of labelled answers."""
        return sum(self.labelled.values())

    def matching(self, label: bool | None = None, judge: bool | None = None) -> int:
        """Count the labelled answers with these verdicts; None stands for any."""
        return sum(
            times
            for (first, second), times in self.labelled.items()
            if label in (None, first) and judge in (None, second)
        )

    @property
    def judged(self) -> Share:
        """The share that the judge passes of all answers, labelled or not."""
        return Share(self.matching(judge=True) + self.others_passed, self.labels + self.others)

    @property
    def people(self) -> Share:
        """The share that people pass of the labelled answers."""
        return Share(self.matching(label=True), self.labels)


class Estimate(NamedTuple):
    """A rate with its limits of 95%; `reason` says why there is none, or what it leaves open."""

    value: float | None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    reason: str | None = None


def correct_pass_rate(counts: PassCounts, chosen: LabelSelection | None) -> Estimate:
    """Estimate the pass rate of all judged answers as people would judge them."""
    reason = _find_obstacle(counts, chosen)
    if reason:
        return Estimate(None, reason=reason)
    if chosen is LabelSelection.RANDOM:
        return estimate_by_labels(counts)
    return _estimate_by_verdict(counts)


_UNUSABLE = {
    None: "`chosen` is missing from labels or differs among them; say how their answers were chosen, or use --chosen",
    LabelSelection.SEPARATE: (
        "labels of other answers do not say how many of these people would pass; label some of these at random"
    ),
}


def _find_obstacle(counts: PassCounts, chosen: LabelSelection | None) -> str | None:
    """Return the reason for which no estimate holds, whatever the verdicts; None without one."""
    if not counts.labels:
        return "no judged answer has a label"
    if chosen in _UNUSABLE:
        return _UNUSABLE[chosen]
    if counts.labels < LEAST_LABELS:
        return f"{counted(counts.labels, 'label')}; at least {LEAST_LABELS} are needed"
    if not counts.others:
        return "every judged answer has a label, so the share of the labels needs no correction"
    if counts.others < LEAST_LABELS:
        have = counted(counts.others, "judged answer has", "judged answers have")
        return f"only {have} no label; at least {LEAST_LABELS} are needed"
    return None


def estimate_by_labels(counts: PassCounts) -> Estimate:
    """Estimate by prediction-powered inference, for labels of a random subset.

    The mean verdict of the judge without labels, plus the mean of label less judge with them; Wald's interval with both
    variances. Angelopoulos and others 2023, https://doi.org/10.1126/science.adi6000, with lambda 1: the tuned lambda
    covers far less than 95% with few labels of a class.
    """
    n, others = counts.labels, Share(counts.others_passed, counts.others)
    rate = others.value or 0.0
    up, down = counts.matching(label=True, judge=False), counts.matching(label=False, judge=True)
    correction = (up - down) / n
    variance = rate * (1 - rate) / others.n + ((up + down) / n - correction**2) / n
    # The variance of the correction would be 0, and the interval as narrow as if it were known.
    if not up + down:
        why = f"the judge and people are alike in all {n:,} labelled answers, so no interval"
        return Estimate(_clip(rate), method="ppi", reason=why)
    value, half = rate + correction, _Z * math.sqrt(variance)
    return Estimate(_clip(value), _clip(value - half), _clip(value + half), "ppi")


def _estimate_by_verdict(counts: PassCounts) -> Estimate:
    """Estimate p P(good | pass) + (1 - p) P(good | fail), for labels chosen by the judge's verdict.

    Both shares have the bounds of Clopper and Pearson, combined by MOVER: the distances of the limits add in squares.
    Zou and Donner 2008, https://doi.org/10.1002/sim.3095. In 12,005 settings it covers at least 95.5%.
    """
    passing, failing = counts.matching(judge=True), counts.matching(judge=False)
    if min(passing, failing) < LEAST_EACH:
        reason = (
            f"the judge passes {passing} labelled answers and not {failing}; at least {LEAST_EACH} of each are needed"
        )
        return Estimate(None, reason=reason)
    share = counts.judged.value or 0.0
    value = 0.0
    down, up = list[float](), list[float]()
    for weight, judge, n in ((share, True, passing), (1 - share, False, failing)):
        good = bound(counts.matching(label=True, judge=judge), n, ERROR)
        rate = good.value or 0.0
        value += weight * rate
        down.append(weight * (rate - good.low))
        up.append(weight * (good.high - rate))
    return Estimate(value, _clip(value - math.hypot(*down)), _clip(value + math.hypot(*up)), "by-verdict")


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)

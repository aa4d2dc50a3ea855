"""Compare raters: two of them, or all of one side."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

from rubric_lint.agree.beta import upper_bound
from rubric_lint.agree.coefficients import Row
from rubric_lint.agree.figures import Chart, Draws, Figure, choose_statistics, compute
from rubric_lint.agree.proportions import Share, Sides, find_needed
from rubric_lint.agree.ratings import Joined, Judgements
from rubric_lint.agree.scales import Measure


class Between(StrEnum):
    """The sides that a comparison is between."""

    LABEL = "label and judge"
    PEOPLE = "people"
    JUDGES = "judges"


class Gate(NamedTuple):
    """How a judge decides what the label decides: a missed gate, an unmet check or no pass is a bad answer.

    `target` is the share of bad ones that the judge should catch, `more_bad` how many more bad answers would show it if
    the judge caught all of them, `more_labels` how many more labels that takes at the share of bad ones so far.
    """

    bad_caught: Share
    good_passed: Share
    target: Fraction
    more_bad: int | None
    more_labels: int | None
    reason: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the gate as in the JSON report."""
        return {
            "bad_caught": share_to_json(self.bad_caught),
            "good_passed": share_to_json(self.good_passed),
            "false_passes": self.bad_caught.n - self.bad_caught.x,
            "false_fails": self.good_passed.n - self.good_passed.x,
            "target": float(self.target),
            "more_bad": self.more_bad,
            "more_labels": self.more_labels,
            "reason": self.reason,
        }


class PairCounts(NamedTuple):
    """What two raters gave: the table of both (rows the first), the share of equal ratings, and who rates higher."""

    confusion: list[list[int]]
    exact: Share
    second_higher: Sides
    gate: Gate | None

    def to_json(self) -> dict[str, Any]:
        """Return the counts as in the JSON report."""
        return {
            "exact": share_to_json(self.exact),
            "confusion": self.confusion,
            "higher": self.second_higher.first,
            "lower": self.second_higher.second,
            "sign_p": self.second_higher.exact,
            "gate": self.gate.to_json() if self.gate else None,
        }


class Compared(NamedTuple):
    """The comparison on one scale: the answers with at least two ratings, the figures by name, the counts of a pair.

    `main` names the figures that suit the scale best.
    """

    measure: Measure
    answers: int
    figures: Mapping[str, Figure]
    main: tuple[str, ...]
    pair: PairCounts | None

    def find(self, family: str) -> Figure | None:
        """Return the main figure of a family: `kappa`, `alpha` or `ac`."""
        return next((self.figures[name] for name in self.main if name.startswith(family)), None)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as in the JSON report."""
        return {
            "criterion": None if self.measure.place is None else self.measure.name,
            "scale": str(self.measure.scale.kind),
            "values": list(self.measure.scale.names),
            "answers": self.answers,
            "main": list(self.main),
            "figures": {name: figure.to_json() for name, figure in self.figures.items()},
            "pair": self.pair.to_json() if self.pair else None,
        }


class Comparison(NamedTuple):
    """A comparison of raters: of two (the label first, if there is one), or of all of one side."""

    between: Between
    raters: tuple[str, ...]
    measures: tuple[Compared, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as in the JSON report."""
        return {
            "between": str(self.between),
            "raters": list(self.raters),
            "measures": [compared.to_json() for compared in self.measures],
        }


def compare(
    between: Between,
    raters: Mapping[str, Judgements],
    measures: Sequence[Measure],
    draws: Draws,
    target: Fraction,
) -> Comparison:
    """Compare raters on each scale."""
    joined = Joined(list(raters.values()))
    is_pair = len(raters) == 2
    charts, mains = [], []
    for measure in measures:
        projection = joined.project(measure)
        statistics, bare = choose_statistics(measure, projection.rows, is_pair=is_pair)
        charts.append(Chart(measure, projection, statistics, frozenset(bare)))
        mains.append(tuple(name for name in statistics if name not in bare))
    found = []
    for chart, main, figures in zip(charts, mains, compute(joined, charts, draws), strict=True):
        rows, counts = chart.projection.rows, chart.projection.tally(joined.counts)
        rated = sum(count for row, count in zip(rows, counts, strict=True) if len(row) - row.count(None) > 1)
        pair = None
        if is_pair:
            pair = _count_pair(chart.measure, rows, counts, target if between is Between.LABEL else None)
        found.append(Compared(chart.measure, rated, figures, main, pair))
    return Comparison(between, tuple(raters), tuple(found))


def _count_pair(measure: Measure, rows: Sequence[Row], counts: Sequence[int], target: Fraction | None) -> PairCounts:
    size = len(measure.scale.values)
    confusion = [[0] * size for _ in range(size)]
    for (first, second), count in zip(rows, counts, strict=True):
        if first is not None and second is not None:
            confusion[first][second] += count
    exact = Share(sum(confusion[place][place] for place in range(size)), sum(map(sum, confusion)))
    higher = sum(sum(row[place + 1 :]) for place, row in enumerate(confusion))
    lower = sum(sum(row[:place]) for place, row in enumerate(confusion))
    gate = None if target is None or measure.meets is None else _decide(confusion, measure.meets, target)
    return PairCounts(confusion, exact, Sides(higher, lower), gate)


def _decide(confusion: list[list[int]], meets: Sequence[bool], target: Fraction) -> Gate:
    times = {(label, judge): 0 for label in (False, True) for judge in (False, True)}
    for first, row in enumerate(confusion):
        for second, count in enumerate(row):
            times[meets[first], meets[second]] += count
    caught = Share(times[False, False], times[False, False] + times[False, True])
    passed = Share(times[True, True], times[True, True] + times[True, False])
    more, reason = _find_more(caught, target)
    total = caught.n + passed.n
    labels = ceil(Fraction(more * total, caught.n)) if more is not None and caught.n else None
    return Gate(caught, passed, target, more, labels, reason)


def _find_more(caught: Share, target: Fraction) -> tuple[int | None, str | None]:
    """Return how many more bad answers would show that the judge catches enough of them, or why that is settled."""
    goal = f"{float(target):.0%}"
    if caught.interval and caught.interval[0] >= target:
        return 0, f"the judge catches at least {goal} of the bad answers"
    # Wilson's upper limit is below the target too often of few answers: of one, wherever it is missed.
    if caught.n and (most := upper_bound(*caught, _ERROR)) < target:
        return None, f"the judge catches fewer than {goal} of the bad answers (at most {most:.1%})"
    needed = find_needed(target, caught.n - caught.x)
    if needed is None:
        return None, f"over a million bad answers would be needed to show {goal}"
    more = needed - caught.n
    bad = "answer" if more == 1 else "answers"
    return more, f"{more:,} more bad {bad}, all caught, would show that the judge catches at least {goal}"


_ERROR = 0.025
"""The chance at most that a judge is said to catch too few although it catches enough."""


def share_to_json(share: Share) -> dict[str, Any]:
    """Return a share as in the JSON report."""
    low, high = share.interval or (None, None)
    reason = None if share.n else "no such answer"
    return {"x": share.x, "n": share.n, "value": share.value, "low": low, "high": high, "reason": reason}

"""Figures with intervals, the reasons why one is missing, and the statistics that suit a scale."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rubric_lint.agree import coefficients
from rubric_lint.agree.bootstrap import evaluate, find_interval, resample
from rubric_lint.agree.coefficients import Row, Statistic
from rubric_lint.agree.ratings import Joined, Projection
from rubric_lint.agree.scales import Kind, Measure, Scale

LEAST, FIRM, LEAST_OFF = 10, 60, 10
"""The fewest answers for an interval, and for one that is not rough; this also needs some off the commonest value."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its limits of 95%. `reason` says why one of them is None, or what the value cannot show."""

    statistic: str
    value: float | None
    low: float | None = None
    high: float | None = None
    rough: bool = False
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the figure as in the JSON report."""
        return {
            "statistic": self.statistic,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "rough": self.rough,
            "reason": self.reason,
        }


class Draws(NamedTuple):
    """How to draw bootstrap samples; without draws there are no intervals."""

    number: int
    seed: int


class Chart(NamedTuple):
    """Statistics of the ratings on one scale; those in `bare` get no interval."""

    measure: Measure
    projection: Projection
    statistics: Mapping[str, Statistic]
    bare: frozenset[str] = frozenset()


def choose_statistics(measure: Measure, rows: Sequence[Row], *, is_pair: bool) -> tuple[dict[str, Statistic], set[str]]:
    """Return the statistics for a scale by name, and the names of those that only complete the picture.

    Of scores 0 to 10 only the weighted statistics are given: equal scores are rare, and their bands are a scale of
    their own, on which equality counts.
    """
    scale = measure.scale
    found: dict[str, Statistic] = {}
    more: dict[str, Statistic] = {}
    weighted, plain = (more, found) if scale.kind in {Kind.CHECK, Kind.BAND} else (found, more)
    if scale.is_ordered:
        if is_pair:
            weighted["kappa_quadratic"] = coefficients.kappa(rows, scale, quadratic=True)
        weighted["alpha_ordinal"] = coefficients.alpha_ordinal(rows, scale)
        weighted["ac2"] = coefficients.gwet(rows, scale, quadratic=True)
        more["alpha_interval"] = coefficients.alpha_interval(rows, scale)
    if scale.is_coarse:
        if is_pair:
            plain["kappa"] = coefficients.kappa(rows, scale)
        plain["alpha_nominal"] = coefficients.alpha_nominal(rows, scale)
        plain["ac1"] = coefficients.gwet(rows, scale)
    if is_pair and scale.kind not in {Kind.BAND, Kind.VERDICT}:
        found["bias"] = coefficients.mean_difference(rows, scale)
        found["mean_error"] = coefficients.mean_difference(rows, scale, absolute=True)
    return {**found, **more}, set(more)


def compute(joined: Joined, charts: Sequence[Chart], draws: Draws) -> list[dict[str, Figure]]:
    """Return the figures of each chart; all charts share the bootstrap draws of the answers."""
    drawn: list[dict[str, list[float | None]]] = [
        {name: [] for name in chart.statistics if name not in chart.bare} for chart in charts
    ]
    usable = [chart.projection.tally(joined.counts) for chart in charts]
    enough = [
        _count_rated(chart.projection.rows, counts) >= LEAST for chart, counts in zip(charts, usable, strict=True)
    ]
    if any(enough) and draws.number:
        for kinds in resample(joined.kinds, len(joined.counts), draws.number, draws.seed):
            for chart, values, wanted in zip(charts, drawn, enough, strict=True):
                if wanted and values:
                    counts = chart.projection.tally(kinds)
                    for name, found in values.items():
                        found.append(evaluate(chart.statistics[name], counts))
    return [
        {
            name: _make_figure(name, chart, counts, values.get(name) if draws.number else None)
            for name in chart.statistics
        }
        for chart, counts, values in zip(charts, usable, drawn, strict=True)
    ]


def _make_figure(name: str, chart: Chart, counts: Sequence[int], drawn: Sequence[float | None] | None) -> Figure:
    """Return a figure, with an interval if there are draws and enough answers."""
    value = evaluate(chart.statistics[name], counts)
    note = explain(name, value, chart.measure.scale, chart.projection.rows, counts)
    if value is None and note is None:
        note = "one of the ratings never varies"
    if value is None or drawn is None:
        return Figure(name, value, reason=note)
    rated = _count_rated(chart.projection.rows, counts)
    if rated < LEAST:
        few = f"{count_answers(rated)}: {LEAST} give a rough interval, {FIRM} a firm one"
        return Figure(name, value, reason=join(note, few))
    interval = find_interval(drawn)
    if interval is None:
        return Figure(
            name, value, reason=join(note, "no interval: undefined in over 5% of the draws; add answers that vary")
        )
    rough = rated < FIRM or _count_off(chart.projection.rows, counts) < LEAST_OFF
    return Figure(name, value, interval.low, interval.high, rough, note)


def join(*reasons: str | None) -> str | None:
    """Join the reasons that there are."""
    return "; ".join(filter(None, reasons)) or None


def count_answers(answers: int) -> str:
    """Write a number of answers in words."""
    return "1 answer" if answers == 1 else f"{answers:,} answers"


def explain(name: str, value: float | None, scale: Scale, rows: Sequence[Row], counts: Sequence[int]) -> str | None:
    """Return why a statistic is undefined, or what a defined one cannot show."""
    seen = list(_rated(rows, counts))
    if not seen:
        return "no answer has two ratings"
    values = {place for row, _ in seen for place in row if place is not None}
    if len(values) == 1:
        only = scale.names[next(iter(values))]
        if value is None:
            return f"no variation: every rating is {only}"
        return f"no variation (every rating is {only}), so it shows nothing" if name in {"ac1", "ac2"} else None
    if name in {"kappa", "kappa_quadratic"} and any(
        len(set(column)) == 1 for column in zip(*(row for row, _ in seen), strict=True)
    ):
        return "one rater never varies"
    return None


def _rated(rows: Sequence[Row], counts: Sequence[int]) -> Iterator[tuple[Row, int]]:
    """Yield the rows with at least two ratings."""
    for row, count in zip(rows, counts, strict=True):
        if count and len(row) - row.count(None) > 1:
            yield row, count


def _count_rated(rows: Sequence[Row], counts: Sequence[int]) -> int:
    return sum(count for _, count in _rated(rows, counts))


def _count_off(rows: Sequence[Row], counts: Sequence[int]) -> int:
    """Count the answers with a rating other than the commonest one."""
    times: dict[int, int] = {}
    for row, count in _rated(rows, counts):
        for place in row:
            if place is not None:
                times[place] = times.get(place, 0) + count
    commonest = max(times, key=lambda place: times[place], default=None)
    return sum(count for row, count in _rated(rows, counts) if set(row) - {commonest, None})

"""Compare raters: two of them, or all of one side."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from math import ceil
from types import MappingProxyType
from typing import Any, NamedTuple

from rubric_lint.agree import coefficients
from rubric_lint.agree.bounds import upper_bound
from rubric_lint.agree.coefficients import Row, Statistic
from rubric_lint.agree.intervals import DRAWS, Share, Sides, evaluate, find_interval, find_needed, resample
from rubric_lint.agree.ratings import Joined, Judgement, Judgements, Projection
from rubric_lint.agree.scales import Kind, Measure, Scale
from rubric_lint.scoring.grading import Verdict

LEAST, FIRM, LEAST_OFF = 10, 60, 10
"""The fewest answers for an interval, and for one that is not rough; this also needs some off the commonest value."""


class Figure(NamedTuple):
    """A value with its limits of 95%. `reason` says why one of them is None, or what the value cannot show."""

    statistic: str
    value: float | None
    low: float | None = None
    high: float | None = None
    rough: bool = False
    reason: str | None = None


class Plan(NamedTuple):
    """What to compute: bootstrap draws and seed, the share of bad answers to catch, the disagreements to list.

    If `draws` is 0, no intervals are computed. Verdicts at or below the `line` make an answer bad; `by` is the field by
    which answers are grouped.
    """

    draws: int = DRAWS
    seed: int = 1
    target: Fraction = Fraction(4, 5)
    worst: int | None = None
    line: Verdict = Verdict.FAIL
    by: str = ""


class Chart(NamedTuple):
    """Statistics of the ratings on one scale; those that only complete the picture get no interval."""

    measure: Measure
    projection: Projection
    statistics: Mapping[str, Statistic]
    completing: Mapping[str, Statistic] = MappingProxyType({})


def choose_statistics(
    measure: Measure, projection: Projection, *, is_pair: bool
) -> tuple[dict[str, Statistic], dict[str, Statistic]]:
    """Return the statistics for a scale by name, and those that only complete the picture.

    Of scores 0 to 10 only the weighted statistics are given: equal scores are rare, and their bands are a scale of
    their own, on which equality counts.
    """
    scale, (rows, _, higher) = measure.scale, projection
    found: dict[str, Statistic] = {}
    more: dict[str, Statistic] = {}
    weighted, plain = (more, found) if scale.kind in {Kind.CHECK, Kind.BAND} else (found, more)
    if scale.kind is not Kind.CHECK:
        if is_pair:
            weighted["kappa_quadratic"] = coefficients.kappa(rows, scale, quadratic=True)
        weighted["alpha_ordinal"] = coefficients.alpha_ordinal(rows, scale)
        weighted["ac2"] = coefficients.gwet(rows, scale, quadratic=True)
        more["alpha_interval"] = coefficients.alpha_interval(rows, scale)
    if scale.kind is not Kind.SCORE:
        if is_pair:
            plain["kappa"] = coefficients.kappa(rows, scale)
        plain["alpha_nominal"] = coefficients.alpha_nominal(rows, scale)
        plain["ac1"] = coefficients.gwet(rows, scale)
    if is_pair and scale.kind not in {Kind.BAND, Kind.VERDICT}:
        found["bias"] = coefficients.mean_difference(rows, higher, scale)
        found["mean_error"] = coefficients.mean_difference(rows, higher, scale, absolute=True)
    return found, more


def compute(joined: Joined, charts: Sequence[Chart], plan: Plan) -> list[dict[str, Figure]]:
    """Return the figures of each chart; all charts share the bootstrap draws of the answers."""
    drawn: list[dict[str, list[float | None]]] = [
        {name: [] for name in (chart.statistics if plan.draws else ())} for chart in charts
    ]
    usable = [chart.projection.tally(joined.counts) for chart in charts]
    enough = [
        (chart, values)
        for chart, counts, values in zip(charts, usable, drawn, strict=True)
        if _count_rated(chart.projection.rows, counts) >= LEAST
    ]
    for kinds in resample(joined.kinds, len(joined.counts), plan.draws, plan.seed) if enough else ():
        for chart, values in enough:
            counts = chart.projection.tally(kinds)
            for name, found in values.items():
                found.append(evaluate(chart.statistics[name], counts))
    return [
        {
            name: _make_figure(name, evaluate(statistic, counts), chart, counts, values.get(name))
            for name, statistic in {**chart.statistics, **chart.completing}.items()
        }
        for chart, counts, values in zip(charts, usable, drawn, strict=True)
    ]


def _make_figure(
    name: str, value: float | None, chart: Chart, counts: Sequence[int], drawn: Sequence[float | None] | None
) -> Figure:
    """Return a figure, with an interval if there are draws and enough answers."""
    seen = list(_rated(chart.projection.rows, counts))
    note = explain(name, value, chart.measure.scale, [row for row, _ in seen])
    if value is None and note is None:
        note = "one of the ratings never varies"
    if value is None or drawn is None:
        return Figure(name, value, reason=note)
    rated = sum(count for _, count in seen)
    if rated < LEAST:
        few = f"{count_answers(rated)}: {LEAST} give a rough interval, {FIRM} a firm one"
        return Figure(name, value, reason=join(note, few))
    interval = find_interval(drawn)
    if interval is None:
        return Figure(
            name, value, reason=join(note, "no interval: undefined in over 5% of the draws; add answers that vary")
        )
    low, high, _ = interval
    times: Counter[int | None] = Counter()
    for row, count in seen:
        times.update({place: row.count(place) * count for place in row if place is not None})
    usual = {times.most_common(1)[0][0], None}
    off = sum(count for row, count in seen if set(row) - usual)
    return Figure(name, value, low, high, rated < FIRM or off < LEAST_OFF, note)


def join(*reasons: str | None) -> str | None:
    """Join the reasons that there are."""
    return "; ".join(filter(None, reasons)) or None


def count_answers(answers: int) -> str:
    """Write a number of answers in words."""
    return "1 answer" if answers == 1 else f"{answers:,} answers"


def explain(name: str, value: float | None, scale: Scale, rows: Sequence[Row]) -> str | None:
    """Return why a statistic is undefined for rows that occur, or what a defined one cannot show."""
    if not rows:
        return "no answer has two ratings"
    values = {place for row in rows for place in row if place is not None}
    if len(values) == 1:
        only = scale.names[next(iter(values))]
        if value is None:
            return f"no variation: every rating is {only}"
        return f"no variation (every rating is {only}), so it shows nothing" if name in {"ac1", "ac2"} else None
    if name in {"kappa", "kappa_quadratic"} and any(len(set(column)) == 1 for column in zip(*rows, strict=True)):
        return "one rater never varies"
    return None


def _rated(rows: Sequence[Row], counts: Sequence[int]) -> Iterator[tuple[Row, int]]:
    """Yield the rows with at least two ratings."""
    for row, count in zip(rows, counts, strict=True):
        if count and len(row) - row.count(None) > 1:
            yield row, count


def _count_rated(rows: Sequence[Row], counts: Sequence[int]) -> int:
    return sum(count for _, count in _rated(rows, counts))


class Between(StrEnum):
    """The sides that a comparison is between."""

    LABEL = "label and judge"
    PEOPLE = "people"
    JUDGES = "judges"


class Gate(NamedTuple):
    """How a judge decides what the label decides: whether an answer is good or bad, as the `meets` of a measure says.

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
        caught, passed, target, *_ = self
        shares = {"bad_caught": caught, "good_passed": passed}
        wrong = {"false_passes": caught.n - caught.x, "false_fails": passed.n - passed.x}
        return {**shares, **wrong, **self._asdict(), "target": float(target)}


class PairCounts(NamedTuple):
    """What two raters gave: the share of equal ratings, the table of both (rows the first), and who rates higher.

    Of how many answers the second is `higher` or `lower`, by the sign test with the p value `sign_p`, is counted by the
    mean of the two in the middle, so that even numbers of samples do not bias it.
    """

    exact: Share
    confusion: list[list[int]]
    higher: int
    lower: int
    sign_p: float | None
    gate: Gate | None


class Compared(NamedTuple):
    """The comparison on one scale: the answers with at least two ratings, the figures by name, the counts of a pair.

    `main` names the figures that suit the scale best.
    """

    measure: Measure
    answers: int
    main: tuple[str, ...]
    figures: Mapping[str, Figure]
    pair: PairCounts | None

    def find(self, family: str) -> Figure | None:
        """Return the main figure of a family: `kappa`, `alpha` or `ac`."""
        return next((self.figures[name] for name in self.main if name.startswith(family)), None)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as in the JSON report."""
        fields = self._asdict()
        measure = fields.pop("measure")
        return {**name_measure(measure), "values": measure.scale.names, **fields}


class Comparison(NamedTuple):
    """A comparison of raters: of two (the label first, if there is one), or of all of one side."""

    between: Between
    raters: tuple[str, ...]
    measures: tuple[Compared, ...]


def compare(between: Between, raters: Mapping[str, Judgements], measures: Sequence[Measure], plan: Plan) -> Comparison:
    """Compare raters on each scale."""
    joined = Joined(list(raters.values()))
    is_pair = len(raters) == 2
    projected = [(measure, joined.project(measure)) for measure in measures]
    charts = [Chart(*each, *choose_statistics(*each, is_pair=is_pair)) for each in projected]
    found = []
    for chart, figures in zip(charts, compute(joined, charts, plan), strict=True):
        rows, counts = chart.projection.rows, chart.projection.tally(joined.counts)
        pair = _count_pair(chart, counts, plan.target if between is Between.LABEL else None) if is_pair else None
        main = tuple(chart.statistics)
        found.append(Compared(chart.measure, _count_rated(rows, counts), main, figures, pair))
    return Comparison(between, tuple(raters), tuple(found))


def _count_pair(chart: Chart, counts: Sequence[int], target: Fraction | None) -> PairCounts:
    measure, rows, higher = chart.measure, chart.projection.rows, chart.projection.higher
    size = len(measure.scale.values)
    confusion = [[0] * size for _ in range(size)]
    above = below = 0
    for (first, second), apart, count in zip(
        rows, coefficients.find_distances(rows, higher, measure.scale), counts, strict=True
    ):
        if first is not None and second is not None:
            confusion[first][second] += count
            above += count if apart > 0 else 0
            below += count if apart < 0 else 0
    exact = Share(sum(confusion[place][place] for place in range(size)), sum(map(sum, confusion)))
    gate = None
    if target is not None and (meets := measure.meets):
        times: Counter[tuple[bool, bool]] = Counter()
        for first, row in enumerate(confusion):
            for second, count in enumerate(row):
                times[meets[first], meets[second]] += count
        caught = Share(times[False, False], times[False, False] + times[False, True])
        passed = Share(times[True, True], times[True, True] + times[True, False])
        more, reason = _find_more(caught, target)
        total = caught.n + passed.n
        labels = ceil(Fraction(more * total, caught.n)) if more is not None and caught.n else None
        gate = Gate(caught, passed, target, more, labels, reason)
    return PairCounts(exact, confusion, above, below, Sides(above, below).exact, gate)


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


class Contest(NamedTuple):
    """How often each of two judges is right, on the labelled answers that both of them judged.

    `first_right` counts the answers that only the first gets right, with `mid_p` by McNemar's test: the same side of
    the gate as the label, or the same value if nothing decides. `alpha_difference` is the first judge's alpha with the
    labels less the second's. If there is no p value, `reason` says why.
    """

    measure: Measure
    answers: int
    first_right: int
    second_right: int
    mid_p: float | None
    reason: str | None
    alpha_difference: Figure

    def to_json(self) -> dict[str, Any]:
        """Return the contest as in the JSON report."""
        fields = self._asdict()
        return {**name_measure(fields.pop("measure")), **fields}


class Measured(NamedTuple):
    """A figure on one scale, and the name of its field in the JSON report.

    `votes`: how many independent votes a panel is worth. `flips`: how often two samples of one answer differ, in the
    gate if the criterion has one, else in the value.
    """

    measure: Measure
    answers: int
    field: str
    figure: Figure

    def to_json(self) -> dict[str, Any]:
        """Return the figure as in the JSON report."""
        return {**name_measure(self.measure), "answers": self.answers, self.field: self.figure}


def name_measure(measure: Measure) -> dict[str, Any]:
    """Return the fields of the JSON report that name a criterion, or the verdict, and its scale."""
    return {"criterion": None if measure.place is None else measure.name, "scale": measure.scale.kind}


def contend(labels: Judgements, two: Sequence[Judgements], measures: Sequence[Measure], plan: Plan) -> list[Contest]:
    """Compare two judges on the answers that all three rated, with the same draws for both."""
    shared = labels.keys() & two[0].keys() & two[1].keys()
    joined = Joined([{key: each[key] for key in shared} for each in (labels, *two)])
    charts = []
    for measure in _own_scales(measures):
        projection = joined.project(measure)
        alphas = []
        for side in (1, 2):
            rows: list[Row] = [(row[0], row[side]) for row in projection.rows]
            chosen, _ = choose_statistics(measure, Projection(rows, [], rows), is_pair=False)
            alphas.append(next(statistic for name, statistic in chosen.items() if name.startswith("alpha")))
        charts.append(Chart(measure, projection, {"alpha_difference": coefficients.difference(*alphas)}))
    contests = []
    for chart, figures in zip(charts, compute(joined, charts, plan), strict=True):
        meets = chart.measure.meets
        only = [0, 0]
        for row, count in zip(chart.projection.rows, chart.projection.tally(joined.counts), strict=True):
            label, *judged = row if meets is None else tuple(None if each is None else meets[each] for each in row)
            first, second = (each == label for each in judged)
            if first is not second:
                only[second] += count
        sides = Sides(*only)
        reason = "no answer that only one of them gets right" if sides.mid is None else None
        contests.append(Contest(chart.measure, len(shared), *sides, sides.mid, reason, figures["alpha_difference"]))
    return contests


def count_votes(
    labels: Judgements, judges: Mapping[str, Judgements], measures: Sequence[Measure], plan: Plan
) -> list[Measured]:
    """Return what a panel is worth; below 60 answers that all judged and that have a label it is not estimated.

    Votes of judges correlate because answers differ in quality, so only their errors against labels tell.
    """
    shared = labels.keys() & set.intersection(*(set(judge) for judge in judges.values()))
    if len(shared) < FIRM:
        reason = f"{count_answers(len(shared))} with a label and every judge's output; at least {FIRM} are needed"
        unknown = Figure("independent_votes", None, reason=reason)
        return [Measured(measure, len(shared), "votes", unknown) for measure in _own_scales(measures)]
    joined = Joined([{key: each[key] for key in shared} for each in (labels, *judges.values())])
    projected = [(measure, joined.project(measure)) for measure in _own_scales(measures)]
    charts = [
        Chart(measure, rated, {"independent_votes": coefficients.independent_votes(rated.rows, measure.scale)})
        for measure, rated in projected
    ]
    found = []
    for chart, figures in zip(charts, compute(joined, charts, plan), strict=True):
        figure = figures["independent_votes"]
        # A panel is worth at most the number of its judges.
        limits = (figure.value, figure.low, figure.high)
        value, low, high = (None if each is None else min(each, float(len(judges))) for each in limits)
        capped = figure._replace(value=value, low=low, high=high)
        found.append(Measured(chart.measure, len(shared), "votes", capped))
    return found


def compare_samples(judgements: Judgements, measures: Sequence[Measure], plan: Plan) -> list[Measured]:
    """Return how often the samples of one judge differ on the same answer; empty if none was sampled."""
    sampled = {key: judgement for key, judgement in judgements.items() if len(judgement.samples) > 1}
    if not sampled:
        return []
    most = max(len(judgement.samples) for judgement in sampled.values())
    joined = Joined(
        [
            {key: Judgement(each.samples[number]) for key, each in sampled.items() if number < len(each.samples)}
            for number in range(most)
        ]
    )
    charts = []
    for measure in _own_scales(measures):
        rows, row_of, _ = joined.project(measure)
        scale = measure.scale
        if meets := measure.meets:
            rows = [tuple(None if each is None else int(meets[each]) for each in row) for row in rows]
            scale = Scale(Kind.CHECK, (0, 1), ("no", "yes"))
        shown = Measure(measure.name, scale, measure.place, {})
        charts.append(
            (measure, Chart(shown, Projection(rows, row_of, rows), {"flip_rate": coefficients.flip_rate(rows)}))
        )
    found = compute(joined, [chart for _, chart in charts], plan)
    return [
        Measured(measure, len(sampled), "flips", figures["flip_rate"])
        for (measure, _), figures in zip(charts, found, strict=True)
    ]


def _own_scales(measures: Sequence[Measure]) -> Iterator[Measure]:
    """Yield the scales that are the judge's own answers or the verdict, not bands made of them."""
    return (measure for measure in measures if measure.scale.kind is not Kind.BAND)

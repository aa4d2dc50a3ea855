"""Compare judges by their errors: two of them, a panel, and the samples of one judge."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rubric_lint.agree import coefficients
from rubric_lint.agree.coefficients import Row
from rubric_lint.agree.figures import FIRM, Chart, Draws, Figure, choose_statistics, compute, count_answers
from rubric_lint.agree.proportions import Sides
from rubric_lint.agree.ratings import Joined, Judgement, Judgements, Key, Projection
from rubric_lint.agree.scales import Kind, Measure, Scale


class Contest(NamedTuple):
    """Two judges on the answers that both judged and that have a label.

    `right` counts the answers that only one gets right, by McNemar's test: the same side of the gate as the label, or
    the same value if nothing decides. `difference` is the first judge's alpha with the labels less the second's.
    """

    measure: Measure
    answers: int
    right: Sides
    difference: Figure

    def to_json(self) -> dict[str, Any]:
        """Return the contest as in the JSON report."""
        return {
            **name_measure(self.measure),
            "answers": self.answers,
            "first_right": self.right.first,
            "second_right": self.right.second,
            "mid_p": self.right.mid,
            "reason": None if self.right.mid is not None else "no answer that only one of them gets right",
            "alpha_difference": self.difference.to_json(),
        }


class Votes(NamedTuple):
    """How many independent votes a panel is worth on one scale."""

    measure: Measure
    answers: int
    votes: Figure

    def to_json(self) -> dict[str, Any]:
        """Return the votes as in the JSON report."""
        return {**name_measure(self.measure), "answers": self.answers, "votes": self.votes.to_json()}


class Flips(NamedTuple):
    """How often two samples of one answer differ: in the gate if the criterion has one, else in the value."""

    measure: Measure
    answers: int
    flips: Figure

    def to_json(self) -> dict[str, Any]:
        """Return the flip rate as in the JSON report."""
        return {**name_measure(self.measure), "answers": self.answers, "flips": self.flips.to_json()}


def name_measure(measure: Measure) -> dict[str, Any]:
    """Return the fields of the JSON report that name a criterion, or the verdict, and its scale."""
    return {"criterion": None if measure.place is None else measure.name, "scale": str(measure.scale.kind)}


def contend(labels: Judgements, two: Sequence[Judgements], measures: Sequence[Measure], draws: Draws) -> list[Contest]:
    """Compare two judges on the answers that all three rated, with the same draws for both."""
    shared = labels.keys() & two[0].keys() & two[1].keys()
    joined = Joined([{key: each[key] for key in shared} for each in (labels, *two)])
    charts = []
    for measure in _own_scales(measures):
        projection = joined.project(measure)
        one, other = (_alpha([(row[0], row[side]) for row in projection.rows], measure) for side in (1, 2))
        charts.append(Chart(measure, projection, {"alpha_difference": coefficients.difference(one, other)}))
    return [
        Contest(chart.measure, len(shared), _count_right(chart, joined), figures["alpha_difference"])
        for chart, figures in zip(charts, compute(joined, charts, draws), strict=True)
    ]


def _alpha(rows: Sequence[Row], measure: Measure) -> coefficients.Statistic:
    statistics, _ = choose_statistics(measure, rows, is_pair=False)
    return next(statistic for name, statistic in statistics.items() if name.startswith("alpha"))


def _count_right(chart: Chart, joined: Joined) -> Sides:
    meets = chart.measure.meets
    only = [0, 0]
    for row, count in zip(chart.projection.rows, chart.projection.tally(joined.counts), strict=True):
        label, *judged = row if meets is None else tuple(None if each is None else meets[each] for each in row)
        first, second = (each == label for each in judged)
        if first is not second:
            only[second] += count
    return Sides(*only)


def count_votes(
    labels: Judgements, judges: Mapping[str, Judgements], measures: Sequence[Measure], draws: Draws
) -> list[Votes]:
    """Return what a panel is worth; below 60 answers that all judged and that have a label it is not estimated.

    Votes of judges correlate because answers differ in quality, so only their errors against labels tell.
    """
    shared = labels.keys() & set.intersection(*(set(judge) for judge in judges.values()))
    joined = Joined([{key: each[key] for key in shared} for each in (labels, *judges.values())])
    charts = []
    for measure in _own_scales(measures):
        projection = joined.project(measure)
        votes = coefficients.independent_votes(projection.rows, measure.scale)
        charts.append(Chart(measure, projection, {"independent_votes": votes}))
    if len(shared) < FIRM:
        reason = f"{count_answers(len(shared))} with a label and every judge's output; at least {FIRM} are needed"
        return [Votes(chart.measure, len(shared), Figure("independent_votes", None, reason=reason)) for chart in charts]
    found = compute(joined, charts, draws)
    return [
        Votes(chart.measure, len(shared), _cap(figures["independent_votes"], len(judges)))
        for chart, figures in zip(charts, found, strict=True)
    ]


def _cap(figure: Figure, judges: int) -> Figure:
    """Return the figure, at most the number of judges, or why there is none."""
    if figure.value is None:
        reason = figure.reason or "the judges' errors cancel out, or there are none"
        return Figure(figure.statistic, None, reason=reason)
    value, low, high = (
        None if each is None else min(each, float(judges)) for each in (figure.value, figure.low, figure.high)
    )
    return Figure(figure.statistic, value, low, high, figure.rough, figure.reason)


def compare_samples(judgements: Judgements, measures: Sequence[Measure], draws: Draws) -> list[Flips]:
    """Return how often the samples of one judge differ on the same answer; empty if none was sampled."""
    sampled = {key: judgement for key, judgement in judgements.items() if len(judgement.samples) > 1}
    if not sampled:
        return []
    most = max(len(judgement.samples) for judgement in sampled.values())
    joined = Joined([_take_sample(sampled, number) for number in range(most)])
    charts = []
    for measure in _own_scales(measures):
        rows, row_of = joined.project(measure)
        scale = measure.scale
        if meets := measure.meets:
            rows = [tuple(None if each is None else int(meets[each]) for each in row) for row in rows]
            scale = Scale(Kind.CHECK, (0, 1), ("no", "yes"))
        shown = Measure(measure.name, scale, measure.place, {})
        charts.append((measure, Chart(shown, Projection(rows, row_of), {"flip_rate": coefficients.flip_rate(rows)})))
    found = compute(joined, [chart for _, chart in charts], draws)
    return [
        Flips(measure, len(sampled), figures["flip_rate"]) for (measure, _), figures in zip(charts, found, strict=True)
    ]


def _take_sample(sampled: Mapping[Key, Judgement], number: int) -> dict[Key, Judgement]:
    return {key: Judgement(each.samples[number]) for key, each in sampled.items() if number < len(each.samples)}


def _own_scales(measures: Sequence[Measure]) -> Iterator[Measure]:
    """Yield the scales that are the judge's own answers or the verdict, not bands made of them."""
    return (measure for measure in measures if measure.scale.kind is not Kind.BAND)

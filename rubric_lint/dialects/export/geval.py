"""Convert rubrics to GEval metrics, as DeepEval calls them: each has one scale of 0 to 10 and a threshold."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from rubric_lint.dialects.export.entries import bounds, uncovered
from rubric_lint.dialects.export.fields import find_holder
from rubric_lint.dialects.export.target import (
    ExportError,
    ExportSource,
    Loss,
    Rubrics,
    Sources,
    lost_verdicts,
    require_shape,
    task_of,
)
from rubric_lint.format.criterion import HIGHEST, LOWEST, Band, Criterion, Scale, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import join_words, name_scores

BY_ITS_RUBRIC = "Judge the actual output by the rubric: choose the outcome that describes it best."
"""The instruction of a metric whose rubric does not say what is judged; a metric needs one."""


SHAPES_OF_METRICS = (Shape.HOLISTIC, Shape.SCORE_RANGES)
"""The shapes of which metrics are made."""


class Metric(NamedTuple):
    """One metric: what is judged, the bands in ascending order, and the lowest score in 0..1 that passes.

    `extras` are fields of the target that the source has too.
    """

    name: str
    task: str | None
    bands: tuple[Band, ...]
    threshold: Decimal
    extras: Mapping[str, Any]

    @property
    def ranges(self) -> Iterator[tuple[tuple[int, int], str]]:
        """The bounds and the outcome of each band."""
        return ((bounds(band), band.outcome or "") for band in self.bands)


def as_metrics(
    rubrics: Rubrics, sources: Sources, target: str, title: str, *, several: bool | None = None
) -> tuple[list[Metric], list[Loss]]:
    """Return the metrics of all rubrics, and the losses. `several`: there are other rubrics, so names need a prefix.

    A holistic scale or a single criterion becomes one metric with the rubric's threshold. Several criteria become a
    metric each, with their gates as thresholds: a test passes if all its metrics pass, so a missed gate fails the test,
    as in the rubric.

    Raises:
        RefusedError: if the rubric has another shape, or a scale that a metric would score differently.
    """
    metrics: list[Metric] = []
    losses: list[Loss] = []
    several = len(rubrics) > 1 if several is None else several
    for name, rubric in rubrics.items():
        advice = "its metrics give one score from 0 to 10"
        shape = require_shape(name, rubric, title, SHAPES_OF_METRICS, advice)
        if shape is Shape.HOLISTIC:
            made = [_metric(name, name, task_of(rubric), rubric.scales[0], rubric.thresholds.pass_at)]
        else:
            made = [_criterion_metric(name, criterion, rubric, several=several) for criterion in rubric.criteria]
        extras = sources.get(name, ExportSource()).extras(find_holder(rubric), target)
        metrics += [metric._replace(extras=extras) for metric in made]
        if shape is not Shape.HOLISTIC:
            losses += lost_average(name, rubric, title)
        losses += _lost_gaps(name, rubric, title)
        losses += lost_verdicts(name, rubric, title, keeps_pass=True)
    names = [metric.name for metric in metrics]
    for metric in metrics:
        if names.count(metric.name) > 1:
            raise ExportError(next(iter(rubrics)), (), f"two metrics would have the name `{metric.name}`; rename one")
    return metrics, losses


def _criterion_metric(name: str, criterion: Criterion, rubric: Rubric, *, several: bool) -> Metric:
    if criterion.scale is None:
        raise ExportError(name, criterion.path, f"`{criterion.id}` has no score ranges")
    gate = Decimal(criterion.gate or 0) / HIGHEST
    threshold = max(gate, rubric.thresholds.pass_at) if len(rubric.criteria) == 1 else gate
    metric = f"{name}/{criterion.id}" if several else criterion.id
    return _metric(name, metric, criterion.outcome or task_of(rubric), criterion.scale, threshold)


def _metric(name: str, metric: str, task: str | None, scale: Scale, threshold: Decimal) -> Metric:
    bands = tuple(sorted(scale.bands, key=bounds))
    lowest, highest = bands[0].scores[0], bands[-1].scores[-1]
    if (lowest, highest) != (LOWEST, HIGHEST):
        message = f"the bands span {lowest} to {highest}, and a GEval metric would stretch that to 0..1; cover 0 to 10"
        raise ExportError(name, scale.path, message)
    return Metric(metric, task, bands, threshold, {})


def lost_average(name: str, rubric: Rubric, title: str) -> Iterator[Loss]:
    """Find the average of several criteria, which no metric computes."""
    if len(rubric.criteria) > 1:
        weights = join_words([f"{criterion.id} {criterion.weight}" for criterion in rubric.criteria])
        message = (
            f"the average, with the weights {weights} and the threshold {rubric.thresholds.pass_at}: {title} judges "
            "each metric separately, so an answer that misses no gate passes"
        )
        yield Loss(name, rubric.path, message)


def _lost_gaps(name: str, rubric: Rubric, title: str) -> Iterator[Loss]:
    for scale in rubric.scales:
        if gaps := uncovered(scale):
            message = f"{name_scores(gaps)}, which no band covers: {title} accepts any score"
            yield Loss(name, scale.path, message)

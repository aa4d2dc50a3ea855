"""Write rubrics as metrics of DeepEval, in Python: each has one scale of 0 to 10, or one question, and a threshold."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from rubric_lint.convert.export.entries import bounds, report_uncovered
from rubric_lint.convert.export.target import ExportContext, ExportError, ExportTarget
from rubric_lint.convert.export.texts import render
from rubric_lint.model.criterion import HIGHEST, LOWEST, Mark, Scale, Shape

_BY_ITS_RUBRIC = "Judge the actual output by the rubric: choose the outcome that describes it best."
"""The instruction of a metric whose rubric does not say what is judged; a metric needs one."""


@dataclass(frozen=True, slots=True)
class _Metric:
    """One metric: the task, the bands in ascending order, the lowest score in 0..1 that passes, and other fields."""

    name: str
    task: str
    ranges: tuple[tuple[tuple[int, int], str], ...]
    threshold: Mark
    extras: Mapping[str, Any]


def _make_metric(context: ExportContext, name: str, about: tuple[str, str], scale: Scale, threshold: Mark) -> _Metric:
    """Make a metric of a scale of the rubric `name`; `about` has the name and the task of the metric.

    Raises:
        ExportError: if the bands do not go from 0 to 10.
    """
    bands = sorted(scale.bands, key=bounds)
    lowest, highest = bands[0].scores[0], bands[-1].scores[-1]
    if (lowest, highest) != (LOWEST, HIGHEST):
        message = f"the bands span {lowest} to {highest}, and a GEval metric would stretch that to 0..1; cover 0 to 10"
        raise ExportError(name, scale.path, message)
    report_uncovered(context, name, scale)
    ranges = tuple((bounds(band), band.outcome or "") for band in bands)
    return _Metric(*about, ranges, threshold, context.extras(name))


def _write_deepeval(context: ExportContext) -> str:
    """Write a module whose `make_metrics(model)` returns the metrics.

    A scale becomes a `GEval` metric, a checklist criterion a `DAGMetric` whose one question has the answers yes and no.
    A holistic scale or a single criterion gets the rubric's threshold. Several criteria become a metric each, with
    their gates as thresholds: a test passes if all its metrics pass, so a missed gate fails the test, as in the rubric.

    Raises:
        ExportError: if a metric would score a scale differently, or two would have one name.
    """
    metrics: list[_Metric] = []
    questions: list[tuple[str, str, Mark]] = []
    for name, rubric in context.rubrics.items():
        least = rubric.thresholds.pass_at
        if rubric.shape is Shape.HOLISTIC:
            metrics.append(_make_metric(context, name, (name, rubric.task), rubric.scales[0], least))
        elif any(criterion.is_check for criterion in rubric.criteria) and len(rubric.criteria) > 1:
            context.report_threshold(name)
        if len(rubric.criteria) > 1:
            least = Decimal(0)
        for criterion in rubric.criteria:
            own = criterion.id
            if len(context.rubrics) > 1:
                own = f"{name}/{criterion.id}"
            if criterion.scale:
                about = (own, criterion.outcome or rubric.task)
                gate = Decimal(criterion.gate or 0) / HIGHEST
                metrics.append(_make_metric(context, name, about, criterion.scale, max(gate, least)))
            else:  # the metric is 1 if the criterion is met, else 0
                mark = Decimal(1) if criterion.gate else least
                questions.append((own, criterion.outcome or "", mark))
    names = [metric.name for metric in metrics] + [question[0] for question in questions]
    for metric, count in Counter(names).items():
        if count > 1:
            message = f"two metrics would have the name `{metric}`; rename one"
            raise ExportError(next(iter(context.rubrics)), (), message)
    classes = [name for name, used in (("DAGMetric", questions), ("GEval", metrics)) if used]
    return render(
        "deepeval",
        classes=", ".join(classes),
        metrics=metrics,
        questions=questions,
        by_its_rubric=_BY_ITS_RUBRIC,
    )


DEEPEVAL = ExportTarget(
    "deepeval",
    "DeepEval",
    _write_deepeval,
    shapes=(Shape.HOLISTIC, Shape.SCORE_RANGES, Shape.CHECKLIST),
    limit="its metrics give one score from 0 to 10",
    names_rubrics=True,
    mixes=True,
    keeps={"pass"},
    average="judges each metric separately, so an answer that misses no gate passes",
)

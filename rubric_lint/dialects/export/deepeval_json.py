"""Write rubrics as the JSON of a `GEval` metric that DeepEval and Confident AI exchange."""

from typing import Any

from rubric_lint.dialects.export.geval import BY_ITS_RUBRIC, SHAPES_OF_METRICS, Metric, as_metrics
from rubric_lint.dialects.export.target import NOWHERE, Export, ExportTarget, Loss, Rubrics, Sources
from rubric_lint.dialects.export.texts import to_json

_TITLE = "Confident AI"


def write(rubrics: Rubrics, sources: Sources = NOWHERE) -> Export:
    """Write the metric, or a list of several; the format has no field for the threshold."""
    metrics, losses = as_metrics(rubrics, sources, "deepeval-json", _TITLE)
    payloads = [_payload(metric) for metric in metrics]
    first, rubric = next(iter(rubrics.items()))
    shown = ", ".join(f"{metric.name} {metric.threshold}" for metric in metrics)
    told = f"the threshold of each metric ({shown}): set it where the metric is used"
    written = [
        (name, field.path)
        for name, source in sources.items()
        for field in source.fields
        if field.path[-1] == "threshold"
    ]
    losses += [Loss(name, place, told) for name, place in written or [(first, rubric.path)]]
    return Export(to_json(payloads[0] if len(payloads) == 1 else payloads), tuple(losses))


def _payload(metric: Metric) -> dict[str, Any]:
    task = {"criteria": metric.task} if metric.task else {"evaluationSteps": [BY_ITS_RUBRIC]}
    return {
        "name": metric.name,
        "evaluationParams": ["input", "actualOutput"],
        "multiTurn": False,
        **task,
        **metric.extras,
        "rubric": [{"scoreRange": list(bounds), "expectedOutcome": outcome} for bounds, outcome in metric.ranges],
    }


TARGET = ExportTarget(_TITLE, "GEval metrics, as the JSON of Confident AI", write, shapes=SHAPES_OF_METRICS)

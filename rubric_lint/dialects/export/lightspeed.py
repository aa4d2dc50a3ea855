"""Write rubrics as GEval metrics for the settings of lightspeed-evaluation."""

from typing import Any

from rubric_lint.dialects.export.entries import as_number
from rubric_lint.dialects.export.geval import BY_ITS_RUBRIC, SHAPES_OF_METRICS, Metric, as_metrics
from rubric_lint.dialects.export.target import NOWHERE, Export, ExportTarget, Rubrics, Sources
from rubric_lint.dialects.export.texts import to_yaml

_TITLE = "lightspeed-evaluation"


def write(rubrics: Rubrics, sources: Sources = NOWHERE) -> Export:
    """Write the `metrics_metadata` of a system configuration, with metrics for a turn."""
    metrics, losses = as_metrics(rubrics, sources, "lightspeed", _TITLE)
    turn = {f"geval:{metric.name}": _metadata(metric) for metric in metrics}
    return Export(to_yaml({"metrics_metadata": {"turn_level": turn}}), tuple(losses))


def _metadata(metric: Metric) -> dict[str, Any]:
    return {
        "criteria": metric.task or BY_ITS_RUBRIC,
        "evaluation_params": ["query", "response"],
        **metric.extras,
        "rubrics": [{"score_range": list(bounds), "expected_outcome": outcome} for bounds, outcome in metric.ranges],
        "threshold": as_number(metric.threshold),
    }


TARGET = ExportTarget(_TITLE, "GEval metrics, as metrics_metadata in YAML", write, shapes=SHAPES_OF_METRICS)

"""Write rubrics as Python source for DeepEval: a function that makes a `GEval` metric of each scale."""

from collections.abc import Iterator

from rubric_lint.dialects.export.geval import BY_ITS_RUBRIC, Metric, as_metrics
from rubric_lint.dialects.export.target import NOWHERE, Export, ExportTarget, Rubrics, Sources
from rubric_lint.dialects.export.texts import write_decimal

_TITLE = "DeepEval"
_HEAD = '''\
"""Metrics for DeepEval 4, written by `rubric-lint convert`."""

from deepeval.metrics import GEval
from deepeval.metrics.g_eval import Rubric
from deepeval.test_case import SingleTurnParams

PARAMS = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]


def make_metrics(model=None):
    """Return the metrics, judged by `model` or else by DeepEval's default model."""
    return [
'''


def write(rubrics: Rubrics, sources: Sources = NOWHERE) -> Export:
    """Write a module whose `make_metrics(model)` returns the metrics."""
    metrics, losses = as_metrics(rubrics, sources, "deepeval", _TITLE)
    body = "".join(line + "\n" for metric in metrics for line in _lines(metric))
    return Export(f"{_HEAD}{body}    ]\n", tuple(losses))


def _lines(metric: Metric) -> Iterator[str]:
    yield "        GEval("
    yield f"            name={metric.name!r},"
    if metric.task:
        yield f"            criteria={metric.task!r},"
    for name, value in metric.extras.items():
        yield f"            {name}={value!r},"
    if not metric.task and "evaluation_steps" not in metric.extras:
        yield f"            evaluation_steps=[{BY_ITS_RUBRIC!r}],"
    yield "            rubric=["
    for (lower, upper), outcome in metric.ranges:
        yield f"                Rubric(score_range=({lower}, {upper}), expected_outcome={outcome!r}),"
    yield "            ],"
    yield "            evaluation_params=PARAMS,"
    yield "            model=model,"
    yield f"            threshold={write_decimal(metric.threshold)},"
    yield "        ),"


TARGET = ExportTarget(_TITLE, "GEval metrics, as Python source", write)

"""Write rubrics as Python source for DeepEval: a function that makes its metrics.

A scale becomes a `GEval` metric, a checklist criterion a `DAGMetric` whose one question has the answers yes and no.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from rubric_lint.dialects.export.geval import BY_ITS_RUBRIC, SHAPES_OF_METRICS, Metric, as_metrics, lost_average
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportError,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    lost_threshold,
    lost_verdicts,
    shape_of,
)
from rubric_lint.dialects.export.texts import write_decimal
from rubric_lint.format.criterion import HIGHEST, LOWEST, Criterion, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import visible_yaml

_TITLE = "DeepEval"
_HEAD = '''\
"""Metrics for DeepEval 4, written by `rubric-lint convert`."""

'''
_PARAMS = """\

PARAMS = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]
"""
_QUESTION = f'''\


def ask(question):
    """Return a graph with one question: the answer yes scores 1, the answer no 0."""
    node = BinaryJudgementNode(criteria=question, evaluation_params=PARAMS)
    node.add_verdict(False, score={LOWEST})
    node.add_verdict(True, score={HIGHEST})
    return DeepAcyclicGraph(root_nodes=[node])
'''
_MAKE = '''\


def make_metrics(model=None):
    """Return the metrics, judged by `model` or else by DeepEval's default model."""
    return [
'''


class _Question(NamedTuple):
    """The metric of a checklist criterion: 1 if it is met, else 0; it passes from `threshold`."""

    name: str
    text: str
    threshold: str


def write(rubrics: Rubrics, sources: Sources = NOWHERE) -> Export:
    """Write a module whose `make_metrics(model)` returns the metrics."""
    scales: dict[str, Rubric] = {}
    questions: list[_Question] = []
    losses: list[Loss] = []
    for name, rubric in rubrics.items():
        if shape_of(name, rubric) is not Shape.CHECKLIST:
            scales[name] = rubric
            continue
        questions += [_ask(name, each, rubric, several=len(rubrics) > 1) for each in rubric.criteria]
        losses += lost_average(name, rubric, _TITLE)
        losses += lost_threshold(name, rubric) if len(rubric.criteria) > 1 else ()
        losses += lost_verdicts(name, rubric, _TITLE, keeps_pass=True)
    metrics, lost = as_metrics(scales, sources, "deepeval", _TITLE, several=len(rubrics) > 1)
    names = [*(metric.name for metric in metrics), *(question.name for question in questions)]
    for each in questions:
        if names.count(each.name) > 1:
            raise ExportError(next(iter(rubrics)), (), f"two metrics would have the name `{each.name}`; rename one")
    head = _HEAD + "".join(_imports(has_scales=bool(metrics), has_questions=bool(questions))) + _PARAMS
    head += (_QUESTION if questions else "") + _MAKE
    body = "".join(line + "\n" for metric in metrics for line in _lines(metric))
    body += "".join(line + "\n" for question in questions for line in _question_lines(question))
    return Export(f"{head}{body}    ]\n", (*losses, *lost))


def _imports(*, has_scales: bool, has_questions: bool) -> Iterator[str]:
    names = ["DAGMetric"] * has_questions + ["GEval"] * has_scales
    yield f"from deepeval.metrics import {', '.join(names)}\n"
    if has_questions:
        yield "from deepeval.metrics.dag import BinaryJudgementNode, DeepAcyclicGraph\n"
    if has_scales:
        yield "from deepeval.metrics.g_eval import Rubric\n"
    yield "from deepeval.test_case import SingleTurnParams\n"


def _ask(name: str, criterion: Criterion, rubric: Rubric, *, several: bool) -> _Question:
    metric = f"{name}/{criterion.id}" if several else criterion.id
    least = rubric.thresholds.pass_at if len(rubric.criteria) == 1 else Decimal(0)
    return _Question(metric, criterion.outcome or "", "1.0" if criterion.gate else write_decimal(least))


def _quote(value: object) -> str:
    """Return a value as Python writes it, without what the log of a CI system would obey."""
    return visible_yaml(repr(value))  # the escapes of YAML in double quotes are those of Python


def _question_lines(question: _Question) -> Iterator[str]:
    yield "        DAGMetric("
    yield f"            name={_quote(question.name)},"
    yield f"            dag=ask({_quote(question.text)}),"
    yield "            model=model,"
    yield f"            threshold={question.threshold},"
    yield "        ),"


def _lines(metric: Metric) -> Iterator[str]:
    yield "        GEval("
    yield f"            name={_quote(metric.name)},"
    if metric.task:
        yield f"            criteria={_quote(metric.task)},"
    for name, value in metric.extras.items():
        yield f"            {name}={_quote(value)},"
    if not metric.task and "evaluation_steps" not in metric.extras:
        yield f"            evaluation_steps=[{_quote(BY_ITS_RUBRIC)}],"
    yield "            rubric=["
    for (lower, upper), outcome in metric.ranges:
        yield f"                Rubric(score_range=({lower}, {upper}), expected_outcome={_quote(outcome)}),"
    yield "            ],"
    yield "            evaluation_params=PARAMS,"
    yield "            model=model,"
    yield f"            threshold={write_decimal(metric.threshold)},"
    yield "        ),"


TARGET = ExportTarget(
    _TITLE, "GEval and DAG metrics, as Python source", write, shapes=(*SHAPES_OF_METRICS, Shape.CHECKLIST)
)

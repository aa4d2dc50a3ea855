"""Write rubrics as GEval metrics, as DeepEval calls them: each has one scale of 0 to 10 and a threshold.

DeepEval gets them as Python, Confident AI as JSON, lightspeed-evaluation as YAML. Source of the fields of the last:
`core/models/data.py` of lightspeed-evaluation at 087ec33c (`EvaluationData`, `TurnData`).
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

from rubric_lint.dialects.export.entries import as_number, bounds, uncovered
from rubric_lint.dialects.export.suites import group_cases
from rubric_lint.dialects.export.target import ExportError, ExportTarget, Writing
from rubric_lint.dialects.export.texts import render, to_json, to_yaml
from rubric_lint.format.criterion import HIGHEST, LOWEST, Scale, Shape
from rubric_lint.messages import name_scores

_BY_ITS_RUBRIC = "Judge the actual output by the rubric: choose the outcome that describes it best."
"""The instruction of a metric whose rubric does not say what is judged; a metric needs one."""


class _Metric(NamedTuple):
    """One metric: the task, the bands in ascending order, the lowest score in 0..1 that passes, and other fields."""

    name: str
    task: str
    ranges: tuple[tuple[tuple[int, int], str], ...]
    threshold: Decimal
    extras: Mapping[str, Any]


def _make_metrics(writing: Writing, names: Mapping[str, str], *, several: bool) -> list[_Metric]:
    """Return the metrics of some rubrics, by what they are called. `several`: names need a prefix.

    A holistic scale or a single criterion becomes one metric with the rubric's threshold. Several criteria become a
    metric each, with their gates as thresholds: a test passes if all its metrics pass, so a missed gate fails the test,
    as in the rubric.

    Raises:
        ExportError: if a metric would score a scale differently, or two would have one name.
    """
    metrics: list[_Metric] = []
    for called, name in names.items():
        rubric = writing.rubrics[name]
        task = rubric.view.task if rubric.view else ""
        if rubric.shape is Shape.HOLISTIC:
            metrics.append(_make_metric(writing, name, (called, task), rubric.scales[0], rubric.thresholds.pass_at))
        for criterion in rubric.criteria:
            if criterion.scale is None:
                raise ExportError(name, criterion.path, f"`{criterion.id}` has no score ranges")
            gate = Decimal(criterion.gate or 0) / HIGHEST
            threshold = max(gate, rubric.thresholds.pass_at) if len(rubric.criteria) == 1 else gate
            own = f"{called}/{criterion.id}" if several else criterion.id
            about = own, criterion.outcome or task
            metrics.append(_make_metric(writing, name, about, criterion.scale, threshold))
    _refuse_same(next(iter(names.values()), ""), [metric.name for metric in metrics])
    return metrics


def _make_metric(writing: Writing, name: str, about: tuple[str, str], scale: Scale, threshold: Decimal) -> _Metric:
    bands = sorted(scale.bands, key=bounds)
    lowest, highest = bands[0].scores[0], bands[-1].scores[-1]
    if (lowest, highest) != (LOWEST, HIGHEST):
        message = f"the bands span {lowest} to {highest}, and a GEval metric would stretch that to 0..1; cover 0 to 10"
        raise ExportError(name, scale.path, message)
    if gaps := uncovered(scale):
        writing.lose(name, scale.path, f"{name_scores(gaps)}, which no band covers: {writing.title} accepts any score")
    ranges = tuple((bounds(band), band.outcome or "") for band in bands)
    return _Metric(*about, ranges, threshold, writing.extras(name))


def _refuse_same(name: str, metrics: list[str]) -> None:
    for each in metrics:
        if metrics.count(each) > 1:
            raise ExportError(name, (), f"two metrics would have the name `{each}`; rename one")


def _write_deepeval(writing: Writing) -> str:
    """Write a module whose `make_metrics(model)` returns the metrics.

    A scale becomes a `GEval` metric, a checklist criterion a `DAGMetric` whose one question has the answers yes and no.
    """
    several = len(writing.rubrics) > 1
    checklists = {name: each for name, each in writing.rubrics.items() if each.shape is Shape.CHECKLIST}
    scales = {name: name for name in writing.rubrics if name not in checklists}
    metrics = _make_metrics(writing, scales, several=several)
    questions: list[tuple[str, str, Decimal]] = []
    for name, rubric in checklists.items():
        if len(rubric.criteria) > 1:
            writing.lose_threshold(name)
        least = rubric.thresholds.pass_at if len(rubric.criteria) == 1 else Decimal(0)
        for criterion in rubric.criteria:  # the metric is 1 if the criterion is met, else 0
            own = f"{name}/{criterion.id}" if several else criterion.id
            questions.append((own, criterion.outcome or "", Decimal(1) if criterion.gate else least))
    _refuse_same(next(iter(writing.rubrics)), [*(each.name for each in metrics), *(name for name, *_ in questions)])
    classes = ", ".join(["DAGMetric"] * bool(questions) + ["GEval"] * bool(metrics))
    return render("deepeval", classes=classes, metrics=metrics, questions=questions, by_its_rubric=_BY_ITS_RUBRIC)


def _write_confident_ai(writing: Writing) -> str:
    """Write the metric, or a list of several; the format has no field for the threshold."""
    metrics = _make_metrics(writing, {name: name for name in writing.rubrics}, several=len(writing.rubrics) > 1)
    shown = ", ".join(f"{metric.name} {metric.threshold}" for metric in metrics)
    fields = [(name, field.path) for name in writing.rubrics for field in writing.source(name).fields]
    written = [each for each in fields if each[1][-1] == "threshold"]
    first, rubric = next(iter(writing.rubrics.items()))
    for name, place in written or [(first, rubric.path)]:
        writing.lose(name, place, f"the threshold of each metric ({shown}): set it where the metric is used")
    payloads = []
    for metric in metrics:
        task = {"criteria": metric.task} if metric.task else {"evaluationSteps": [_BY_ITS_RUBRIC]}
        bands = [{"scoreRange": list(scores), "expectedOutcome": outcome} for scores, outcome in metric.ranges]
        about = {"name": metric.name, "evaluationParams": ["input", "actualOutput"], "multiTurn": False}
        payloads.append({**about, **task, **metric.extras, "rubric": bands})
    return to_json(payloads[0] if len(payloads) == 1 else payloads)


def _write_lightspeed(writing: Writing) -> str:
    """Write evaluation data for a suite with questions, else the `metrics_metadata` of a system configuration."""
    suite = writing.suite
    if not suite or not any("input" in case.fields for case in suite.cases.values()):
        names = {name: name for name in writing.rubrics}
        return to_yaml({"metrics_metadata": {"turn_level": _configure(writing, names)}})
    conversations: list[dict[str, Any]] = []
    cases = [case for case in group_cases(writing) if case.members]
    for case in cases:
        names = {member.label or member.name: member.name for member in case.members}
        metadata = _configure(writing, names)
        texts = case.carried.fields
        answer = {"expected_response": texts["expected_output"]} if "expected_output" in texts else {}
        of_turn = {"turn_metrics": [*metadata], "turn_metrics_metadata": metadata}
        turn = {"turn_id": "1", "query": texts.get("input", ""), **answer, **of_turn}
        conversations.append({"conversation_group_id": case.name, "turns": [turn]})
    if asks_nothing := [case.name for case in cases if "input" not in case.carried.fields]:
        told = "it is not one plain text, so it is left empty"
        writing.gaps.append(f"`query`, the question, of {', '.join(asks_nothing)}: {told}")
    return to_yaml(conversations)


def _configure(writing: Writing, names: Mapping[str, str]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for metric in _make_metrics(writing, names, several=len(names) > 1):
        bands = [{"score_range": list(scores), "expected_outcome": outcome} for scores, outcome in metric.ranges]
        about = {"criteria": metric.task or _BY_ITS_RUBRIC, "evaluation_params": ["query", "response"], **metric.extras}
        made[f"geval:{metric.name}"] = {**about, "rubrics": bands, "threshold": as_number(metric.threshold)}
    return made


_SCALES = (Shape.HOLISTIC, Shape.SCORE_RANGES)
DEEPEVAL = ExportTarget(
    "deepeval",
    "DeepEval",
    _write_deepeval,
    shapes=(*_SCALES, Shape.CHECKLIST),
    limit="its metrics give one score from 0 to 10",
    names_rubrics=True,
    keeps={"pass"},
    average="judges each metric separately, so an answer that misses no gate passes",
)
CONFIDENT_AI = replace(
    DEEPEVAL,
    name="deepeval-json",
    title="Confident AI",
    writer=_write_confident_ai,
    shapes=_SCALES,
)
LIGHTSPEED = replace(
    CONFIDENT_AI,
    name="lightspeed",
    title="lightspeed-evaluation",
    writer=_write_lightspeed,
    shows=frozenset({"id", "input", "expected_output"}),
)

"""Write rubrics as GEval metrics for the settings of lightspeed-evaluation, and suites as its evaluation data.

Source of the fields: `core/models/data.py` of lightspeed-evaluation at 087ec33c (`EvaluationData`, `TurnData`).
"""

from typing import Any

from rubric_lint.dialects.export.carrying import Carried
from rubric_lint.dialects.export.cases import group_cases
from rubric_lint.dialects.export.entries import as_number
from rubric_lint.dialects.export.geval import BY_ITS_RUBRIC, SHAPES_OF_METRICS, Metric, as_metrics
from rubric_lint.dialects.export.target import NOWHERE, Export, ExportError, ExportTarget, Loss, Rubrics, Sources
from rubric_lint.dialects.export.texts import to_yaml

_TITLE = "lightspeed-evaluation"


def write(rubrics: Rubrics, sources: Sources = NOWHERE, suite: Carried | None = None) -> Export:
    """Write evaluation data for a suite with questions, else the `metrics_metadata` of a system configuration."""
    if suite and any("input" in case.fields for case in suite.cases.values()):
        return _write_data(rubrics, sources, suite)
    metrics, losses = as_metrics(rubrics, sources, "lightspeed", _TITLE)
    turn = dict(map(_configure, metrics))
    return Export(to_yaml({"metrics_metadata": {"turn_level": turn}}), tuple(losses))


def _write_data(rubrics: Rubrics, sources: Sources, suite: Carried) -> Export:
    """Write a conversation of one turn for each case, with its metrics."""
    conversations: list[dict[str, Any]] = []
    losses: list[Loss] = []
    asks_nothing: list[str] = []
    for case in group_cases(rubrics, sources, suite):
        if not case.members:
            continue
        named = {member.label or member.name: member.rubric for member in case.members}
        within = {member.label or member.name: sources[member.name] for member in case.members}
        full = {member.label or member.name: member.name for member in case.members}
        try:
            metrics, lost = as_metrics(named, within, "lightspeed", _TITLE)
        except ExportError as refusal:
            raise refusal.of(full[refusal.name]) from None
        losses += (loss._replace(name=full[loss.name]) for loss in lost)
        texts = case.carried.fields
        if "input" not in texts:
            asks_nothing.append(case.name)
        metadata = dict(map(_configure, metrics))
        turn = {"turn_id": "1", "query": texts.get("input", "")}
        turn |= {"expected_response": texts["expected_output"]} if "expected_output" in texts else {}
        turn |= {"turn_metrics": [*metadata], "turn_metrics_metadata": metadata}
        conversations.append({"conversation_group_id": case.name, "turns": [turn]})
    empty = f"`query`, the question, of {', '.join(asks_nothing)}: it is not one plain text, so it is left empty"
    return Export(to_yaml(conversations), tuple(losses), (empty,) if asks_nothing else ())


def _configure(metric: Metric) -> tuple[str, dict[str, Any]]:
    return f"geval:{metric.name}", _metadata(metric)


def _metadata(metric: Metric) -> dict[str, Any]:
    return {
        "criteria": metric.task or BY_ITS_RUBRIC,
        "evaluation_params": ["query", "response"],
        **metric.extras,
        "rubrics": [{"score_range": list(bounds), "expected_outcome": outcome} for bounds, outcome in metric.ranges],
        "threshold": as_number(metric.threshold),
    }


_SUMMARY = "GEval metrics in YAML, as metrics_metadata, or for a suite in evaluation data"
TARGET = ExportTarget(_TITLE, _SUMMARY, write, shapes=SHAPES_OF_METRICS)

"""Rubrics as tests of AgentV, of the releases 4 and 5."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from rubric_lint.bands import HIGHEST
from rubric_lint.interop.export.entries import as_number, bounds
from rubric_lint.interop.export.target import Export, Loss, Rubrics, Target, lost_verdicts, require_shape
from rubric_lint.interop.export.texts import to_yaml
from rubric_lint.rubric import Criterion, Rubric, Shape
from rubric_lint.thresholds import USUAL_THRESHOLDS


def _write(rubrics: Rubrics, title: str, assertions: str, kind: str, field: str, *, keeps_pass: bool) -> Export:
    """Tests whose list `assertions` has an assertion of a `kind`, with the criteria under `field`."""
    tests: list[dict[str, Any]] = []
    losses: list[Loss] = []
    for name, rubric in rubrics.items():
        advice = "its rubrics are criteria, met or not or with score ranges"
        require_shape(name, rubric, title, Shape.CHECKLIST, Shape.SCORE_RANGES, advice=advice)
        losses += lost_verdicts(name, rubric, title, keeps_pass=keeps_pass)
        threshold = _threshold(rubric) if keeps_pass else {}
        criteria = [dict(_criterion(criterion)) for criterion in rubric.criteria]
        tests.append({"id": name, "input": "", **threshold, assertions: [{"type": kind, field: criteria}]})
    gaps = (f"`input`, what the answer is given to, of {', '.join(rubrics)}: no rubric holds it, so it is left empty",)
    return Export(to_yaml({"tests": tests}), tuple(losses), gaps)


def _criterion(criterion: Criterion) -> Iterator[tuple[str, Any]]:
    yield "id", criterion.id
    if criterion.outcome is not None:
        yield "outcome", criterion.outcome
    if criterion.weight is not None:
        yield "weight", as_number(criterion.weight)
    # A gate of 0, which nothing can miss, is none there: `min_score` is above 0.
    if criterion.scale is None:
        yield "required", bool(criterion.gate)
    else:
        if criterion.gate:
            yield "min_score", as_number(Decimal(criterion.gate) / HIGHEST)
        bands = criterion.scale.bands
        yield "score_ranges", [{"score_range": list(bounds(band)), "outcome": band.outcome} for band in bands]


def _threshold(rubric: Rubric) -> dict[str, Any]:
    pass_at = rubric.thresholds.pass_at
    return {} if pass_at == USUAL_THRESHOLDS.pass_at else {"execution": {"threshold": as_number(pass_at)}}


def _write_4(rubrics: Rubrics) -> Export:
    return _write(rubrics, "AgentV 4", "assertions", "rubrics", "criteria", keeps_pass=True)


def _write_5(rubrics: Rubrics) -> Export:
    return _write(rubrics, "AgentV 5", "assert", "llm-rubric", "value", keeps_pass=False)


AGENTV_4 = Target("AgentV 4", "tests for AgentV 4.x, as YAML", _write_4)
AGENTV_5 = Target("AgentV 5", "tests for AgentV 5.x, as YAML", _write_5)

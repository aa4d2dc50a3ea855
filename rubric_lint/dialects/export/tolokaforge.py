"""Write a checklist as the grading file of a task of tolokaforge."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from rubric_lint.dialects.export.criteria import choose_only, make_ids
from rubric_lint.dialects.export.entries import as_number
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    lost_verdicts,
    require_shape,
)
from rubric_lint.dialects.export.texts import to_yaml
from rubric_lint.format.criterion import Criterion, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import schema_of

_TITLE = "tolokaforge"
_SHAPES = (Shape.CHECKLIST,)
_SCHEMA = "tolokaforge/v1.json"


def write(rubrics: Rubrics, _sources: Sources = NOWHERE) -> Export:
    """Write the judge's part; a gate that weighs nothing is a `required` criterion, which is outside the average."""
    name, rubric = choose_only(rubrics, _TITLE)
    require_shape(name, rubric, _TITLE, _SHAPES, "its judge says met or unmet")
    ids, losses = make_ids(name, rubric, _TITLE, schema_of(_SCHEMA).entry_fields["id"], "_")
    pairs = zip(rubric.criteria, ids, strict=True)
    has_only_gates = all(criterion.gate for criterion in rubric.criteria)
    entries = [_entry(criterion, called, has_only_gates=has_only_gates) for criterion, called in pairs]
    combine = {
        "method": "weighted",
        "weights": {"llm_judge": 1},
        "pass_threshold": as_number(rubric.thresholds.pass_at),
    }
    losses += [*_lost_gates(name, rubric, has_only_gates=has_only_gates)]
    losses += lost_verdicts(name, rubric, _TITLE, keeps_pass=True)
    return Export(to_yaml({"combine": combine, "llm_judge": {"rubric": {"criteria": entries}}}), tuple(losses))


def _entry(criterion: Criterion, identifier: str, *, has_only_gates: bool) -> dict[str, Any]:
    weight = criterion.weight if criterion.weight is not None else Decimal(1)
    entry: dict[str, Any] = {"id": identifier, "description": criterion.outcome or ""}
    if has_only_gates or not (criterion.gate and weight == 0):
        entry["weight"] = as_number(weight)
    if criterion.gate and (has_only_gates or weight == 0):
        entry["required"] = True
    return entry


def _lost_gates(name: str, rubric: Rubric, *, has_only_gates: bool) -> Iterator[Loss]:
    if has_only_gates and len(rubric.criteria) > 1:
        message = f"the share of the criteria that are met: {_TITLE} gives 1 or 0 if all are required"
        yield Loss(name, rubric.path, message)
    for criterion in rubric.criteria:
        if criterion.gate and criterion.weight and not has_only_gates:
            message = f"the gate {criterion.gate} of `{criterion.id}`: {_TITLE} leaves a required criterion out of the "
            yield Loss(name, criterion.gate_path, f"{message}average, and this one weighs {criterion.weight}")


TARGET = ExportTarget(_TITLE, "a grading file with the criteria of its judge, as YAML", write, shapes=_SHAPES)

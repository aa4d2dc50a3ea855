"""Write a rubric for the packages rubric and autorubric: criteria with a `weight` and a `requirement`."""

from decimal import Decimal
from typing import Any

from rubric_lint.dialects.export.criteria import BY_ITS_ANSWERS, choose_only, level_worths, lost_gates
from rubric_lint.dialects.export.entries import as_number, sort_levels
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

_TITLE = "autorubric"
_SHAPES = (
    Shape.CHECKLIST,
    Shape.LEVELS,
)


def write(rubrics: Rubrics, _sources: Sources = NOWHERE) -> Export:
    """Write the criteria; levels are `options`, which only autorubric reads."""
    name, rubric = choose_only(rubrics, _TITLE)
    advice = "its judge says met or unmet, or chooses an option"
    require_shape(name, rubric, _TITLE, _SHAPES, advice)
    entries: list[dict[str, Any]] = []
    losses: list[Loss] = []
    for criterion in rubric.criteria:
        entry, lost = _entry(name, criterion)
        entries.append(entry)
        losses += lost
    losses += [*lost_gates(name, rubric, _TITLE), *lost_verdicts(name, rubric, _TITLE)]
    return Export(to_yaml({"rubric": entries}), tuple(losses))


def _entry(name: str, criterion: Criterion) -> tuple[dict[str, Any], list[Loss]]:
    """Write a criterion; of one that an answer earns by not meeting it, the points to lose."""
    weight = criterion.weight if criterion.weight is not None else Decimal(1)
    entry: dict[str, Any] = {
        "name": criterion.id,
        "weight": as_number(-weight if criterion.is_negated else weight),
        "requirement": criterion.outcome or BY_ITS_ANSWERS,
    }
    if not criterion.levels:
        return entry, []
    worths, losses = level_worths(name, criterion, _TITLE)
    entry["options"] = [
        {"label": level.outcome, "value": as_number(worth)}
        for level, worth in zip(sort_levels(criterion), worths, strict=True)
    ]
    return entry, losses


TARGET = ExportTarget(_TITLE, "criteria for rubric and autorubric, as YAML", write, has_deductions=True, shapes=_SHAPES)

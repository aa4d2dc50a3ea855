"""Write a rubric as criteria for `RubricJudge` of verifiers: each with its answers, from worst to best."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from rubric_lint.dialects.export.criteria import choose_only, require_even
from rubric_lint.dialects.export.entries import as_number, bounds, sort_levels, uncovered
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportError,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    lost_verdicts,
    shape_of,
)
from rubric_lint.dialects.export.texts import to_json
from rubric_lint.format.criterion import SCORES, Criterion, Scale, Shape
from rubric_lint.format.rubric import Rubric

_TITLE = "verifiers"


def write(rubrics: Rubrics, _sources: Sources = NOWHERE) -> Export:
    """Write one object; its answers are spaced evenly, as our scores are, so `score` means the same."""
    name, rubric = choose_only(rubrics, _TITLE)
    if shape_of(name, rubric) is Shape.HOLISTIC:
        criteria = [_entry(name, None, Decimal(1), _write_bands(name, rubric.scales[0]), SCORES)]
    else:
        criteria = [_criterion(name, criterion) for criterion in rubric.criteria]
    losses = [*_lost_gates(name, rubric), *lost_verdicts(name, rubric, _TITLE)]
    return Export(to_json({"criteria": criteria}), tuple(losses))


def _criterion(name: str, criterion: Criterion) -> dict[str, Any]:
    weight = criterion.weight if criterion.weight is not None else Decimal(1)
    if criterion.scale:
        return _entry(criterion.id, criterion.outcome, weight, _write_bands(name, criterion.scale), SCORES)
    if criterion.levels:
        numbers = require_even(name, criterion, _TITLE)
        return _entry(criterion.id, criterion.outcome, weight, _write_levels(criterion), numbers)
    return {"name": criterion.id, "text": criterion.outcome or "", "weight": as_number(weight)}


def _entry(
    name: str, task: str | None, weight: Decimal, lines: Iterable[str], answers: Iterable[int]
) -> dict[str, Any]:
    text = "\n".join([*([task] if task else []), *lines])
    return {"name": name, "text": text, "weight": as_number(weight), "choices": [str(answer) for answer in answers]}


def _write_bands(name: str, scale: Scale) -> Iterator[str]:
    if uncovered(scale):
        message = f"{_TITLE} spaces its answers evenly, and these bands leave scores out: the other scores would change"
        raise ExportError(name, scale.path, message)
    for band in sorted(scale.bands, key=bounds):
        lower, upper = bounds(band)
        yield f"{lower}: {band.outcome}" if lower == upper else f"{lower} to {upper}: {band.outcome}"


def _write_levels(criterion: Criterion) -> Iterator[str]:
    for level in sort_levels(criterion):
        named = f" ({level.name})" if level.name else ""
        yield f"{level.number}{named}: {level.outcome}"


def _lost_gates(name: str, rubric: Rubric) -> Iterator[Loss]:
    for criterion in rubric.criteria:
        if criterion.gate is not None:
            message = f"the gate {criterion.gate} of `{criterion.id}`: {_TITLE} has rewards, not verdicts"
            yield Loss(name, criterion.gate_path, message)


TARGET = ExportTarget(_TITLE, "criteria for RubricJudge, as JSON", write)

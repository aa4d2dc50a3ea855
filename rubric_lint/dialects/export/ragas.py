"""Write rubrics for Ragas: levels as dictionaries for `RubricsScore`, checklists as definitions for `AspectCritic`."""

from collections.abc import Iterator

from rubric_lint.dialects.export.entries import sort_levels
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportError,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    lost_verdicts,
    require_shape,
)
from rubric_lint.dialects.export.texts import to_json
from rubric_lint.format.criterion import Criterion, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import join_words

_TITLE = "Ragas"
_SHAPES = (Shape.LEVELS, Shape.CHECKLIST)


def write(rubrics: Rubrics, _sources: Sources = NOWHERE) -> Export:
    """Write the dictionary of the only criterion with levels, or else a mapping from names to what Ragas takes."""
    scales: dict[str, dict[str, str] | str] = {}
    losses: list[Loss] = []
    for name, rubric in rubrics.items():
        advice = "its metrics choose a level, or answer yes or no"
        shape = require_shape(name, rubric, _TITLE, _SHAPES, advice)
        for criterion in rubric.criteria:
            called = f"{name}/{criterion.id}" if len(rubrics) > 1 else criterion.id
            if called in scales:
                raise ExportError(name, criterion.path, f"two metrics would have the name `{called}`; rename one")
            scales[called] = _descriptions(criterion) if shape is Shape.LEVELS else criterion.outcome or ""
            losses += _lost(name, criterion)
        losses += _lost_average(name, rubric)
        losses += lost_verdicts(name, rubric, _TITLE)
    ((called, scale), *others) = scales.items()
    if others or isinstance(scale, str):
        return Export(to_json(scales), tuple(losses))
    ((name, rubric),) = rubrics.items()
    if rubric.criteria[0].has_own_id:
        message = f"the name `{called}`: a dictionary has no field for it; set it on the metric"
        losses.append(Loss(name, (*rubric.criteria[0].path, "id"), message))
    return Export(to_json(scale), tuple(losses))


def _descriptions(criterion: Criterion) -> dict[str, str]:
    return {f"score{level.number}_description": level.outcome or "" for level in sort_levels(criterion)}


def _lost(name: str, criterion: Criterion) -> Iterator[Loss]:
    if criterion.outcome is not None and criterion.levels:
        yield Loss(name, criterion.outcome_path, f"what is judged: {_TITLE} sees only the levels")
    if criterion.gate is not None:
        returned = "a level" if criterion.levels else "0 or 1"
        message = f"the gate {criterion.gate} of `{criterion.id}`: {_TITLE} returns {returned}, not a verdict"
        yield Loss(name, criterion.gate_path, message)
    if named := [level for level in criterion.levels or () if level.name is not None]:
        names = join_words([f"{level.number} {level.name}" for level in named])
        yield Loss(name, criterion.path_of("levels"), f"the names of the levels, {names}: {_TITLE} only numbers them")


def _lost_average(name: str, rubric: Rubric) -> Iterator[Loss]:
    if len(rubric.criteria) > 1:
        weights = join_words([f"{criterion.id} {criterion.weight}" for criterion in rubric.criteria])
        yield Loss(
            name, rubric.path, f"the average, with the weights {weights}: {_TITLE} reports each metric separately"
        )


TARGET = ExportTarget(
    _TITLE, "dictionaries for RubricsScore and definitions for AspectCritic, as JSON", write, shapes=_SHAPES
)

"""Write a checklist as the settings of an evaluation by Google ADK, whose judge says yes or no to each entry."""

from rubric_lint.dialects.export.criteria import choose_only, lost_gates, lost_weights
from rubric_lint.dialects.export.entries import as_number
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportTarget,
    Rubrics,
    Sources,
    lost_verdicts,
    require_shape,
)
from rubric_lint.dialects.export.texts import to_json
from rubric_lint.format.criterion import Shape

_TITLE = "Google ADK"
_SHAPES = (Shape.CHECKLIST,)
_METRIC = "rubric_based_final_response_quality_v1"


def write(rubrics: Rubrics, _sources: Sources = NOWHERE) -> Export:
    """Write the metric that judges the final response; another metric takes the same entries."""
    name, rubric = choose_only(rubrics, _TITLE)
    require_shape(name, rubric, _TITLE, _SHAPES, "its judge says yes or no")
    entries = [
        {"rubric_id": criterion.id, "rubric_content": {"text_property": criterion.outcome or ""}}
        for criterion in rubric.criteria
    ]
    metric = {"threshold": as_number(rubric.thresholds.pass_at), "rubrics": entries}
    losses = [
        *lost_weights(name, rubric, _TITLE),
        *lost_gates(name, rubric, _TITLE),
        *lost_verdicts(name, rubric, _TITLE, keeps_pass=True),
    ]
    return Export(to_json({"criteria": {_METRIC: metric}}), tuple(losses))


TARGET = ExportTarget(_TITLE, "evaluation settings with a rubric-based metric, as JSON", write, shapes=_SHAPES)

"""Write a checklist as a metric of tRPC-Agent, whose judge says yes or no to each item."""

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

_TITLE = "tRPC-Agent"
_SHAPES = (Shape.CHECKLIST,)
_METRIC = "llm_rubric_response"
_GAP = "name the model that judges: `judgeModel` with `providerName` and `modelName`, beside `rubrics`"


def write(rubrics: Rubrics, _sources: Sources = NOWHERE) -> Export:
    """Write a list with the metric that judges the response; one file has each metric once."""
    name, rubric = choose_only(rubrics, _TITLE)
    require_shape(name, rubric, _TITLE, _SHAPES, "its judge says yes or no")
    items = [{"id": criterion.id, "content": {"text": criterion.outcome or ""}} for criterion in rubric.criteria]
    threshold = as_number(rubric.thresholds.pass_at)
    metric = {"metricName": _METRIC, "threshold": threshold, "criterion": {"llmJudge": {"rubrics": items}}}
    losses = [
        *lost_weights(name, rubric, _TITLE),
        *lost_gates(name, rubric, _TITLE),
        *lost_verdicts(name, rubric, _TITLE, keeps_pass=True),
    ]
    return Export(to_json([metric]), tuple(losses), (_GAP,))


TARGET = ExportTarget(_TITLE, "a rubric metric of an agent, as JSON", write, shapes=_SHAPES)

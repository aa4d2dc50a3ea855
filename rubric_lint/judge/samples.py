"""Convert a judge output to JSON."""

from typing import Any

from rubric_lint.format.criterion import Shape
from rubric_lint.scoring.form import form_of
from rubric_lint.scoring.grading import JudgeOutput, ScoringRubric


def to_json(rubric: ScoringRubric, output: JudgeOutput) -> dict[str, Any]:
    """Return the output as the JSON that a judge would return."""
    field = form_of(rubric.shape).field
    if rubric.shape is Shape.HOLISTIC:
        return {"reasoning": output.reasoning or output.reasons[0] or "", field: output.answers[0]}
    checks = [
        {"id": criterion.id, **({"reasoning": reason} if reason is not None else {}), field: answer}
        for criterion, answer, reason in zip(rubric.criteria, output.answers, output.reasons, strict=True)
    ]
    overall = {} if output.reasoning is None else {"overall_reasoning": output.reasoning}
    return {"checks": checks, **overall}

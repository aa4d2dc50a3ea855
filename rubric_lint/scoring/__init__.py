"""Scores by rubric and judge output, as a library: load the rubrics of a file, then score any number of outputs."""

from collections.abc import Mapping
from typing import Any

from rubric_lint.scoring.grading import JudgeOutput, Scored, ScoringRubric
from rubric_lint.scoring.loading import RubricError, load_rubrics
from rubric_lint.scoring.output import OutputError, read_output

__all__ = ["OutputError", "RubricError", "load_rubrics", "score"]


def score(rubric: ScoringRubric, output: JudgeOutput | Mapping[str, Any] | str) -> Scored:
    """The score and verdict of one judge output: a valid one, the object, or the judge's raw text.

    Raises:
        OutputError: when the output is not valid for this rubric; such an output has no score.
    """
    if not isinstance(output, JudgeOutput):
        return rubric.grade(read_output(output, rubric))
    try:
        return rubric.grade(output)
    except ValueError as fault:
        raise OutputError(f"not an output for the rubric `{rubric.name}`: {fault}") from None

"""From records to results: the verdict in a text, the exact score, totals; columns, Arrow and Ray.

Call `load_rubrics` and `score` here, `run` for files. `records/` reads what judges returned, `engines/` scores tables,
`show/` says what a file holds and what example answers score.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rubric_lint.model.arguments import MANY, NONE, takes
from rubric_lint.scoring.grading import JudgeOutput, Scored, ScoringRubric, combine_samples
from rubric_lint.scoring.loading import RubricError, load_rubrics
from rubric_lint.scoring.output import parse_output, reader_of
from rubric_lint.scoring.records.decoding import OutputError

__all__ = ["OutputError", "RubricError", "load_rubrics", "score", "score_samples"]


def score(
    rubric: ScoringRubric,
    output: JudgeOutput | Mapping[str, Any] | str,
    *,
    answer: str | None = None,
    extract: str = "last",
    extra_fields: str | None = None,
) -> Scored:
    """Return the score and verdict of one judge output, given as a `JudgeOutput`, as an object or as raw text.

    `extract` says what of a raw text, without thoughts, is the verdict: `whole`, the text as an object or a fence with
    one; `last`, also an object at its end; `only`, the only object. `answer` is the text that was judged: an object in
    prose that it contains is a quote. A field that the form of the shape does not have makes the output invalid with
    `whole`, and else if it holds a number or a boolean; `extra_fields` is `refuse` or `accept` for all of them. An
    object may be a row of a struct column: fields that are None count as absent,
    and NumPy's arrays and numbers are read.

    Raises:
        OutputError: when the output is not valid for this rubric; such an output has no score.
        ValueError: if `extract` or `extra_fields` has another value.
    """
    if isinstance(output, JudgeOutput):
        reader_of(rubric).check_answers(output)  # refuses other answers than the rubric's
    else:
        output = parse_output(rubric, output, answer=answer, extract=extract, extra_fields=extra_fields)
    return rubric.grade(output)


@takes(rubric=ScoringRubric, outputs=MANY, answer=(str, NONE))
def score_samples(
    rubric: ScoringRubric,
    outputs: Sequence[JudgeOutput | Mapping[str, Any] | str],
    *,
    answer: str | None = None,
    extract: str = "last",
    extra_fields: str | None = None,
) -> Scored:
    """Return the median of several judge outputs for one answer; at least one of the outputs has the returned verdict.

    Raises:
        OutputError: when there are none, or one of them is not valid for this rubric.
        ValueError: as `score`.
    """
    if not len(outputs):
        raise OutputError("no outputs to combine")
    return combine_samples([
        score(rubric, output, answer=answer, extract=extract, extra_fields=extra_fields) for output in outputs
    ])  # fmt: skip

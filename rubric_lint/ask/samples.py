"""Several judge outputs for one answer to one, and how far they agree."""

from collections import Counter
from collections.abc import Sequence
from math import comb
from statistics import median_low
from typing import Any

from rubric_lint.rubric import Shape
from rubric_lint.scoring.grading import Answer, JudgeOutput, ScoringRubric
from rubric_lint.scoring.output import form_of


def combine(outputs: Sequence[JudgeOutput]) -> JudgeOutput:
    """The median of each criterion; of yes and no that is the majority.

    Of an even number of samples the lower middle one counts, and no where yes and no come to the same: so a score is
    always one that was given, and the doubt is not to the answer's favour. Each reason is that of a sample which gave
    the chosen answer, the first one; the overall reason that of the sample which is nearest to the whole.
    """
    answers = tuple(median_low(given) for given in zip(*(output.answers for output in outputs), strict=True))
    givers = [
        next(output for output in outputs if output.answers[index] == answer) for index, answer in enumerate(answers)
    ]
    return JudgeOutput(
        answers,
        tuple(giver.reasons[index] for index, giver in enumerate(givers)),
        min(outputs, key=lambda output: _distance(output.answers, answers)).reasoning,
    )


def _distance(some: Sequence[Answer], others: Sequence[Answer]) -> int:
    return sum(abs(one - other) for one, other in zip(some, others, strict=True))


def agreement(outputs: Sequence[JudgeOutput]) -> tuple[float, ...]:
    """For each criterion the share of the pairs of samples that gave the same answer, 0..1; of at least two samples.

    This is the observed agreement of Fleiss, "Measuring nominal scale agreement among many raters", 1971, formula 2.
    """
    pairs = comb(len(outputs), 2)
    return tuple(
        sum(comb(count, 2) for count in Counter(given).values()) / pairs
        for given in zip(*(output.answers for output in outputs), strict=True)
    )


def to_json(rubric: ScoringRubric, output: JudgeOutput) -> dict[str, Any]:
    """The output as a judge would have written it."""
    field = form_of(rubric.shape).field
    if rubric.shape is Shape.HOLISTIC:
        return {"reasoning": output.reasoning or output.reasons[0] or "", field: output.answers[0]}
    checks = [
        {"id": criterion.id, **({"reasoning": reason} if reason is not None else {}), field: answer}
        for criterion, answer, reason in zip(rubric.criteria, output.answers, output.reasons, strict=True)
    ]
    overall = {} if output.reasoning is None else {"overall_reasoning": output.reasoning}
    return {"checks": checks, **overall}

"""Combine the results of several judge outputs for one answer."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from rubric_lint.scoring.grading import CriterionResult, Scored, Verdict

_FROM_WORST = (Verdict.FAIL, Verdict.BORDERLINE, Verdict.PASS)


def combine_samples(samples: Sequence[Scored]) -> Scored:
    """Return the median of several results of one rubric for one answer; at least one of them has its verdict.

    The verdict is the median of the verdicts, not the verdict on a combined output: samples that each miss a different
    gate all fail, while the medians of their criteria would pass. If two verdicts or answers are in the middle, the
    worse one counts. The score is the median of the scores, and may lie between two of them.

    Raises:
        ValueError: if there are no results, or they are of different rubrics.
    """
    if len({sample.rubric.hash for sample in samples}) != 1:
        raise ValueError("results of different rubrics have no median" if samples else "no results to combine")
    if len(samples) == 1:
        return samples[0]
    lower, upper = (len(samples) - 1) // 2, len(samples) // 2  # the two in the middle, or the middle one twice
    verdict = sorted((sample.verdict for sample in samples), key=_FROM_WORST.index)[lower]
    scores = sorted(sample.score for sample in samples)
    score = (scores[lower] + scores[upper]) / 2
    criteria = tuple(map(_combine_criterion, zip(*(sample.criteria for sample in samples), strict=True)))
    reasoning = next((each.reasoning for each in samples if each.verdict is verdict and each.reasoning), None)
    return Scored(samples[0].rubric, score, verdict, criteria, reasoning, tuple(samples))


def _combine_criterion(given: Sequence[CriterionResult]) -> CriterionResult:
    """Return the median answer, with the reason of the first sample that gave it."""
    answers = [each.grade.answer for each in given]
    answer = sorted(answers)[(len(answers) - 1) // 2]
    return replace(given[answers.index(answer)], share=Fraction(answers.count(answer), len(answers)))

"""Scores from 0 to 10 that no band covers."""

from collections.abc import Iterator

from rubric_lint.finding import Problem, Severity
from rubric_lint.format.band_repairs import ADD_BAND, WIDEN_LOWER, WIDEN_UPPER, fill
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import name_scores
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find the scores that no band covers, reading each band generously."""
    lowest, highest = rubric.span
    for scale in rubric.flawed_scales:
        gap = set(range(lowest, highest + 1)).difference(*(band.reach for band in scale.bands))
        if gap and scale.bands:
            hint = "start at 0" if scale.is_map else "add or widen a band"
            message = f"no band covers {name_scores(gap)}, so no outcome is described for {_it(gap)}; {hint}"
            answers = fill(scale)
            yield Problem(message, scale.path, Part.KEY, repair=answers.plain, choices=answers.choices)


def _it(gap: set[int]) -> str:
    return "it" if len(gap) == 1 else "them"


RULE = Rule(
    "coverage",
    Severity.ERROR,
    check,
    fix="unsafe",
    marks=(Part.KEY,),
    choices={
        WIDEN_LOWER: "extend the band below each gap",
        WIDEN_UPPER: "extend the band above each gap",
        ADD_BAND: "add a band for each gap, with a placeholder as its outcome",
    },
)

"""One band for all scores from 0 to 10, so that every score means the same."""

from collections.abc import Iterator

from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find scales whose only band covers every score."""
    for scale in rubric.scales:
        lowest, highest = rubric.find_ends(scale)
        band = scale.bands[0] if len(scale.bands) == 1 else None
        if band and len(band.scores) == highest - lowest + 1:
            yield Problem("all-scores", band.path, band.part, {"lowest": lowest, "highest": highest})


RULE = Rule(
    "single-band",
    Severity.WARNING,
    {
        "all-scores": (
            "this band covers every score from {lowest} to {highest}, so all scores mean the same; describe at least "
            "two bands, or make it a checklist item"
        )
    },
    check,
    marks=(Part.VALUE, Part.KEY),
)

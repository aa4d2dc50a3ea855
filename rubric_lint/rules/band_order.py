"""Bands that are not in ascending order."""

from collections.abc import Iterator
from itertools import pairwise

from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.scale_repair import SCALE_CHOICES, repair_scales
from rubric_lint.rules.rule import Rule
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find the first band of each scale that starts below the one before it."""
    for scale, repair in repair_scales(rubric):
        sound = [band for band in scale.bands if band.scores]
        for before, band in pairwise(sound):
            if band.scores[0] < before.scores[0]:
                values = {"band": band.written, "before": before.written}
                related = (RelatedPlace("starts higher", before.path, before.part),)
                yield repair.attach(Problem("unsorted", band.path, band.part, values, related))
                break


RULE = Rule(
    "band-order",
    Severity.WARNING,
    {
        "unsorted": "band {band} comes after {before} ({line}); sort the bands in ascending order",
        "levels-unsorted": "level {level} comes after level {before} ({line}); sort the levels",
    },
    check,
    fix="unsafe",
    marks=(Part.VALUE, Part.KEY),
    choices=SCALE_CHOICES,
)

"""A bound, gate or score that is not an integer from 0 to 10, or a range whose bounds are swapped."""

from collections.abc import Iterator

from rubric_lint.finding import Problem, Severity
from rubric_lint.format.criterion import SCORES, as_integer
from rubric_lint.format.repairs import swap_bounds
from rubric_lint.format.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find swapped bounds; the schema checks single values."""
    for scale in rubric.flawed_scales:
        for band in scale.bands:
            if band.scores:
                continue
            lower, upper = as_integer(band.lower), as_integer(band.upper)
            if lower in SCORES and upper in SCORES:
                message = f"the lower bound {lower} is above the upper bound {upper}; did you mean [{upper}, {lower}]?"
                yield Problem(message, band.path, band.part, repair=swap_bounds(band))


RULE = Rule("bounds", Severity.ERROR, check, fix="unsafe", marks=(Part.VALUE, Part.KEY))

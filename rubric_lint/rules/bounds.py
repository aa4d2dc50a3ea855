"""A bound, gate or score that is not an integer from 0 to 10, or a range whose bounds are swapped."""

from collections.abc import Iterator

from rubric_lint.model.criterion import as_integer, name_worse
from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.scale_repair import SCALE_CHOICES, find_extent, repair_scales
from rubric_lint.rules.rule import Rule, of_schema
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find swapped bounds; the schema checks single values."""
    pass_at, borderline_at = rubric.thresholds
    if rubric.view and borderline_at > pass_at:
        values = {
            "borderline": rubric.view.format_mark(borderline_at),
            "pass": rubric.view.format_mark(pass_at),
            "lower": name_worse(rubric.view.units),
        }
        yield Problem("borderline-above-pass", (*rubric.path, "borderline_threshold"), values=values)
    for scale, repair in repair_scales(rubric):
        swapped = [band for band in scale.bands if not band.scores and find_extent(band)]
        for band in swapped:
            bounds = {"lower": as_integer(band.lower), "upper": as_integer(band.upper)}
            yield repair.attach(Problem("swapped", band.path, band.part, bounds))


RULE = Rule(
    "bounds",
    Severity.ERROR,
    {
        **of_schema("unexpected", "minimum", "range-key", "range-keys"),
        "swapped": "the lower bound {lower} is above the upper bound {upper}; did you mean [{upper}, {lower}]?",
        "threshold": (
            "`{field}` is {found}, and scores are numbers from {lowest} to {highest}, so the {what} {effect}"
        ),
        "level-outside": "level {level} is not on the scale, which has the scores {scores}",
        "falling-range": "`{field}` goes from {lowest} to {highest}; {advice}",
        "harbor-range": "`max` is {highest}, and `min` is {lowest}; Harbor asks for a `max` above `min`",
        "empty-range": "the range {range} is empty: its lowest value is above its highest; swap them",
        "long-scale": "the scale {range} has more than {most} steps, which no judge tells apart; write {shorter}",
        "decimal-bands": "bands have whole numbers, and the scale {scale} ({line}) has a decimal point; {how}",
        "grade-order": (
            "the minimum of grade `{grade}` is not {lower} than that of `{other}` ({line}); write the grades from the "
            "best to the worst, each with its own minimum"
        ),
        "borderline-above-pass": (
            "`borderline_threshold` is {borderline}, and answers pass from {pass} on; write a {lower} one, or none"
        ),
        "two-marks": (
            "the rubric has a pass mark, `{field}`, and so has what is around it, `{other}` ({line}); remove one"
        ),
        "one-score": "the scale {range} has one score, which every answer gets; write its lowest and its highest one",
    },
    check,
    fix="unsafe",
    marks=(Part.VALUE, Part.KEY),
    choices=SCALE_CHOICES,
)

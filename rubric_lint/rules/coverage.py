"""Scores from 0 to 10 that no band covers."""

from collections.abc import Iterator

from rubric_lint.model.criterion import Scale, looks_like_levels
from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.messages import name_scores, pluralize
from rubric_lint.model.repairs import AS_LEVELS, turn_to_levels
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.scale_repair import SCALE_CHOICES, repair_scales
from rubric_lint.rules.rule import Rule
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find the scores that no band covers, reading each band generously."""
    for scale, repair in repair_scales(rubric):
        lowest, highest = rubric.find_ends(scale)
        if rubric.has_strays and scale.path == rubric.path:
            continue  # one of them may be a band for any score
        gap = set(range(lowest, highest + 1)).difference(*(band.reach for band in scale.bands))
        if gap and scale.bands:
            if looks_like_levels(scale) and not rubric.dialect:
                yield _find_levels(rubric, scale, gap)
                continue
            code = "map-gap" if scale.is_map else "gap"
            values = {"scores": name_scores(gap), "them": pluralize(len(gap), "it", "them"), "lowest": lowest}
            yield repair.attach(Problem(code, scale.path, Part.KEY, values))


def _find_levels(rubric: Rubric, scale: Scale, gap: set[int]) -> Problem:
    """Describe levels that are written as bands: filling the gap would make the best of them a middling score."""
    scores = sorted(band.scores.start for band in scale.bands)
    values = {"scores": name_scores(gap), "lowest": scores[0], "highest": scores[-1]}
    together: tuple[Scale, ...] = (scale,)
    if not rubric.is_version_3:  # before, one rubric has one shape
        together = rubric.scales
        if len(together) != len(rubric.criteria) or not all(map(looks_like_levels, together)):
            return Problem("levels-among-bands", scale.path, Part.KEY, values)
    repair = turn_to_levels(together)
    choices = (repair,) if repair else ()
    return Problem("levels-as-bands", scale.path, Part.KEY, values, choices=choices)


RULE = Rule(
    "coverage",
    Severity.ERROR,
    {
        "gap": "no band covers {scores}, so no outcome is described for {them}; add or widen a band",
        "map-gap": "no band covers {scores}, so no outcome is described for {them}; start at {lowest}",
        "levels-as-bands": (
            "no band covers {scores}; {lowest} to {highest} looks like a scale of levels: write `levels` instead of "
            "`score_ranges`, or describe bands from 0 to 10"
        ),
        "levels-among-bands": (
            "no band covers {scores}; {lowest} to {highest} looks like a scale of levels, and other criteria have "
            "bands: describe bands from 0 to 10, or write `levels` in a rubric of its own"
        ),
    },
    check,
    fix="unsafe",
    marks=(Part.KEY,),
    choices={
        **SCALE_CHOICES,
        AS_LEVELS: "write `levels` instead, where the bands look like a scale such as 1 to 5",
    },
)

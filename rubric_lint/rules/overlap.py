"""Two bands that share a score."""

from collections.abc import Iterator

from rubric_lint.model.criterion import Band, Scale
from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.messages import list_scores, name_scores, pluralize
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.scale_repair import SCALE_CHOICES, ScaleRepair, repair_scales
from rubric_lint.rules.rule import Rule
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare each band with those that start at a lower score, in whatever order the bands are written."""
    for scale, repair in repair_scales(rubric):
        repeated = list(_find_repeated(scale))
        yield from repeated
        if not repeated:
            yield from _compare(scale, repair)


def _find_repeated(scale: Scale) -> Iterator[Problem]:
    """Find keys of a map that are one score in two notations, such as 5 and 5.0; equal keys are another finding."""
    first: dict[float | None, Band] = {}
    for band in scale.bands:
        other = first.setdefault(band.lower, band)
        if other is not band and band.part is Part.KEY and band.lower is not None:
            values = {"key": band.path[-1], "other": other.path[-1]}
            related = (RelatedPlace("the first one", other.path, other.part),)
            yield Problem("repeated-key", band.path, band.part, values, related)


def _compare(scale: Scale, repair: ScaleRepair) -> Iterator[Problem]:
    earlier: dict[range, Band] = {}
    for band in sorted(scale.bands, key=lambda band: (band.scores.start, band.scores.stop)):
        seen: set[int] = set()
        for other in earlier.values():
            shared = set(band.scores) & set(other.scores)
            if shared - seen:  # further bands with the same shared scores would add nothing
                seen |= shared
                verb = pluralize(len(shared), "is", "are")
                values = {"scores": name_scores(shared), "are": verb, "band": band.written, "other": other.written}
                related = (RelatedPlace(f"also covers {list_scores(shared)}", other.path, other.part),)
                yield repair.attach(Problem("shared-scores", band.path, band.part, values, related))
            if len(seen) == len(band.scores):
                break
        earlier.setdefault(band.scores, band)  # another one with the same scores would add nothing


RULE = Rule(
    "overlap",
    Severity.ERROR,
    {
        "repeated-key": "the key `{key}` is the same score as `{other}` ({line}); remove one of the two bands",
        "shared-scores": (
            "{scores} {are} in this band {band} and in {other} ({line}); end one band before the other starts"
        ),
    },
    check,
    fix="unsafe",
    choices=SCALE_CHOICES,
)

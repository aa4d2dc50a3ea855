"""Two bands or levels with the same outcome."""

from collections.abc import Iterable, Iterator

from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.source.path import Part, Path


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare the outcomes within each scale, and within the levels of each criterion."""
    for scale in rubric.scales:
        yield from _compare("bands", ((band.outcome, band.outcome_path) for band in scale.bands))
    for criterion in rubric.criteria:
        levels = criterion.levels
        if levels:
            if rubric.view and not rubric.view.is_text:  # a text may be that of several levels
                levels = tuple({rubric.place(level.outcome_path): level for level in levels}.values())
            yield from _compare("levels", ((level.outcome, level.outcome_path) for level in levels))


def _compare(kind: str, outcomes: Iterable[tuple[str | None, Path]]) -> Iterator[Problem]:
    seen: dict[str, Path] = {}
    for outcome, path in outcomes:
        words = " ".join(outcome.casefold().split()).rstrip(".!") if outcome else ""
        if words and words in seen:
            place = RelatedPlace("the same outcome", seen[words], Part.ENTRY)
            yield Problem("repeated", path, Part.ENTRY, {"kind": kind}, (place,))
        elif words:
            seen[words] = path


RULE = Rule(
    "duplicate-outcome",
    Severity.WARNING,
    {
        "repeated": (
            "this outcome is the same as at {line}, so a judge cannot choose between the two {kind}; say how they "
            "differ"
        ),
        "step": "this step is the same as at {line}; leave one out, or say how they differ",
    },
    check,
)

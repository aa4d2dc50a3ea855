"""More than one shape in a rubric."""

from collections.abc import Iterable, Iterator

from rubric_lint.model.criterion import SCORES, Criterion, Shape, looks_like_bands
from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.repairs import OWN_RUBRIC, move_apart
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule, of_schema
from rubric_lint.source.path import Part

_WORDS = {
    Shape.CHECKLIST: ("a checklist criterion", "checklist items", "checklist criteria"),
    Shape.SCORE_RANGES: ("a criterion with `score_ranges`", "score ranges", "criteria with `score_ranges`"),
    Shape.HOLISTIC: ("a band of a holistic scale", "holistic bands", "bands"),
    Shape.LEVELS: ("a criterion with `levels`", "levels", "criteria with `levels`"),
}
"""What messages call an entry of each shape, several that are there, and several that move."""


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find the first entry of each shape that is not the rubric's; the schema reports two shapes in one entry."""
    first: dict[Shape, Criterion] = {}
    for entry in rubric.entries:
        if _has_shape_field(entry):
            first.setdefault(entry.shapes[0], entry)
    for shape, entry in first.items():
        is_free = rubric.is_version_3 and Shape.HOLISTIC not in (shape, rubric.shape)
        if shape is not rubric.shape and rubric.shape in first and not is_free:
            other = first[rubric.shape]
            moved = [entry for entry in rubric.entries if entry.shapes[0] is shape and _has_shape_field(entry)]
            what = f"the {len(moved)} {_WORDS[shape][2]}"
            if len(moved) == 1:
                what = "this band" if shape is Shape.HOLISTIC else moved[0].label
            repair = None
            if shape is not Shape.HOLISTIC or _is_whole(moved):  # else it would be a rubric with another error
                repair = move_apart(rubric, moved, what)
            choices = (repair,) if repair else ()
            yield Problem(
                "two-shapes",
                entry.path,
                Part.ENTRY,
                {"shape": _WORDS[rubric.shape][1], "other": _WORDS[shape][1]},
                (RelatedPlace(_WORDS[rubric.shape][0], other.path, Part.ENTRY),),
                choices=choices,
            )


def _is_whole(bands: Iterable[Criterion]) -> bool:
    """Return whether some bands of a holistic scale have each score once."""
    scores: list[int] = []
    for entry in bands:
        if entry.scale:
            for band in entry.scale.bands:
                scores += band.scores
    return sorted(scores) == list(SCORES)


def _has_shape_field(entry: Criterion) -> bool:
    """Return whether the field that decides the shape of an entry is present and spelt right."""
    fields = entry.fields
    if fields is None:  # a text, which is a checklist criterion
        return True
    if "score_range" in fields and looks_like_bands(fields["score_range"]):
        return False  # the author meant `score_ranges`
    return entry.shapes[0] is not Shape.CHECKLIST or "expected_outcome" in fields or "description" in fields


RULE = Rule(
    "mixing",
    Severity.ERROR,
    {
        **of_schema("misplaced"),
        "band-in-group": "a band of a holistic scale is for the whole answer, so it cannot be in a group; move it out",
        "two-shapes": "a rubric cannot mix {shape} ({line}) with {other}; move one kind to a rubric of its own",
    },
    check,
    marks=(Part.HEAD, Part.VALUE, Part.KEY),
    choices={OWN_RUBRIC: "move the criteria of the other shape to a new rubric, with a score of its own"},
)

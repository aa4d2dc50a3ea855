"""More than one shape in a rubric."""

from collections.abc import Iterator

from rubric_lint.finding import OTHER_LINE, MoveItems, Place, Problem, Repair, Severity
from rubric_lint.format.bands import looks_like_bands
from rubric_lint.format.criterion import Criterion, Shape
from rubric_lint.format.recognition import FIELD
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import suite_lists
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part, Path

_ONE = {
    Shape.CHECKLIST: "a checklist criterion",
    Shape.SCORE_RANGES: "a criterion with `score_ranges`",
    Shape.HOLISTIC: "a band of a holistic scale",
    Shape.LEVELS: "a criterion with `levels`",
}
_MANY = {
    Shape.CHECKLIST: "checklist items",
    Shape.SCORE_RANGES: "score ranges",
    Shape.HOLISTIC: "holistic bands",
    Shape.LEVELS: "levels",
}


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find the first entry of each shape that is not the rubric's; the schema reports two shapes in one entry."""
    if not rubric.is_mixed:
        return
    first: dict[Shape, Criterion] = {}
    for entry in rubric.entries:
        if _tells_its_shape(entry):
            first.setdefault(entry.shapes[0], entry)
    for shape, entry in first.items():
        if shape is not rubric.shape and rubric.shape in first:
            other = first[rubric.shape]
            message = (
                f"a rubric cannot mix {_MANY[rubric.shape]} (line {OTHER_LINE}) with {_MANY[shape]}; "
                "move one kind to a rubric of its own"
            )
            yield Problem(
                message,
                entry.path,
                Part.ENTRY,
                (Place(_ONE[rubric.shape], other.path, Part.ENTRY),),
                choices=tuple(_move(rubric, shape)),
            )


_OWN_RUBRIC = "own-rubric"


def _move(rubric: Rubric, shape: Shape) -> Iterator[Repair]:
    """Yield the repair that moves the entries of a shape to a rubric of their own, if there is a place for one."""
    holder = _find_holder(rubric)
    moved = [entry for entry in rubric.entries if entry.shapes[0] is shape and _tells_its_shape(entry)]
    places = [rubric.view.place(entry.path) if rubric.view else entry.path for entry in moved]
    if holder is None or any(place[:-1] != rubric.path for place in places):
        return
    what = moved[0].label if len(moved) == 1 and shape is not Shape.HOLISTIC else f"the {_MANY[shape]}"
    where = "beside this one" if holder else "in a document of its own"
    title = f"move {what} to a new rubric {where}, with a score of its own"
    intent = MoveItems(rubric.path, tuple(int(place[-1]) for place in places), holder)
    yield Repair(title, (intent,), safe=False, choice=_OWN_RUBRIC, is_local=True)


def _find_holder(rubric: Rubric) -> Path | None:
    """Return what a second rubric needs a copy of: the evaluator, or the document; None if there is no place for one.

    A case has one `rubrics`, and so have the defaults of a suite.
    """
    path, view = rubric.path, rubric.view
    if view and (view.around or view.definition):
        return None
    indices = [index for index, step in enumerate(path) if isinstance(step, int)]
    if not indices:
        return () if path == (FIELD,) and not view else None
    last = indices[-1]
    return path[: last + 1] if last and path[last - 1] in suite_lists("evaluators") else None


def _tells_its_shape(entry: Criterion) -> bool:
    """Return whether the field that decides the shape of an entry is present and spelt right."""
    fields = entry.fields
    if fields is None:
        return True
    if "score_range" in fields and looks_like_bands(fields["score_range"]):
        return False  # the author meant `score_ranges`
    return entry.shapes[0] is not Shape.CHECKLIST or "expected_outcome" in fields or "description" in fields


RULE = Rule(
    "mixing",
    Severity.ERROR,
    check,
    marks=(Part.HEAD, Part.VALUE, Part.KEY),
    choices={_OWN_RUBRIC: "move the criteria of the other shape to a new rubric, with a score of its own"},
)

"""Move criteria of another shape to a rubric of their own; no repair is safe."""

from collections.abc import Sequence

from rubric_lint.edits.intents import MoveItems, Repair
from rubric_lint.format.criterion import Criterion
from rubric_lint.format.recognition import FIELD
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import suite_lists
from rubric_lint.text.path import Path

OWN_RUBRIC = "own-rubric"


def move_apart(rubric: Rubric, moved: Sequence[Criterion], what: str) -> Repair | None:
    """Move entries, which messages call `what`, to a rubric of their own; None if there is no place for one."""
    holder = _find_holder(rubric)
    places = [rubric.view.place(entry.path) if rubric.view else entry.path for entry in moved]
    if holder is None or any(place[:-1] != rubric.path for place in places):
        return None
    where = "beside this one" if holder else "in a document of its own"
    title = f"move {what} to a new rubric {where}, with a score of its own"
    intent = MoveItems(rubric.path, tuple(int(place[-1]) for place in places), holder)
    return Repair(title, (intent,), safe=False, choice=OWN_RUBRIC, is_local=True)


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

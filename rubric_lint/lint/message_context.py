"""Add to a message the name of its criterion."""

from rubric_lint.finding import Problem
from rubric_lint.format.criterion import Criterion, Shape
from rubric_lint.format.rubric import Rubric


def name_criterion(problem: Problem, rubric: Rubric | None) -> str:
    """Return the start of a problem's message: the name of the criterion at its place."""
    criterion = _find_criterion(problem, rubric) if rubric else None
    return f"{criterion.label}: " if criterion else ""


def _find_criterion(problem: Problem, rubric: Rubric) -> Criterion | None:
    """Find the innermost criterion at the place of a problem; the bands of a holistic rubric do not count."""
    if rubric.view is None:  # its criteria are directly below it
        at, below = rubric.path, problem.path[: len(rubric.path) + 1]
        found = rubric.entries_by_place.get(below) if len(below) > len(at) else None
        return found if found and found.shapes[0] is not Shape.HOLISTIC else None
    held = rubric.entries_by_place
    prefixes = (problem.path[:length] for length in range(len(problem.path), -1, -1))
    found = next((held[prefix] for prefix in prefixes if prefix in held), None)
    return found if found and found.shapes[0] is not Shape.HOLISTIC else None

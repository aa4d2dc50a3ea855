"""What it takes to write rubrics for another system: the text, and what of the rubrics it cannot say."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rubric_lint.finding import Path
from rubric_lint.rubric import Rubric, Shape
from rubric_lint.thresholds import USUAL_THRESHOLDS

Rubrics = Mapping[str, Rubric]
"""Rubrics without error findings, by their names."""


class Loss(NamedTuple):
    """Something that the rubric `name` says at `path` and the target cannot: what it is, and why it goes."""

    name: str
    path: Path
    message: str


class Export(NamedTuple):
    """A text for another system.

    `losses` are what it lacks of the rubrics, `gaps` what it needs and no rubric holds.
    """

    text: str
    losses: tuple[Loss, ...] = ()
    gaps: tuple[str, ...] = ()


class RefusedError(Exception):
    """A rubric that the target has no form for: the rubric, the place in it, and the reason."""

    def __init__(self, name: str, path: Path, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.path = path
        self.message = message


@dataclass(frozen=True, slots=True)
class Target:
    """A system to write for: its title, what it is given, and how that is written.

    `write` raises RefusedError for a rubric whose meaning would have to be bent.
    """

    title: str
    summary: str
    write: Callable[[Rubrics], Export]


SHAPES: Mapping[Shape, str] = {
    Shape.CHECKLIST: "a checklist",
    Shape.SCORE_RANGES: "a rubric of score ranges",
    Shape.HOLISTIC: "a holistic scale",
    Shape.LEVELS: "a rubric of levels",
}
"""The shapes in words."""


def shape_of(name: str, rubric: Rubric) -> Shape:
    """The shape of a rubric.

    Raises:
        RefusedError: for a rubric without entries.
    """
    if rubric.shape is None:
        raise RefusedError(name, rubric.path, "the rubric has no criteria")
    return rubric.shape


def require_shape(name: str, rubric: Rubric, title: str, *shapes: Shape, advice: str) -> Shape:
    """The shape of a rubric that a target has a form for.

    Raises:
        RefusedError: for one of another shape.
    """
    shape = shape_of(name, rubric)
    if shape not in shapes:
        message = f"{SHAPES[shape]} has no counterpart in {title}: {advice}; no shape is bent into another"
        raise RefusedError(name, rubric.path, message)
    return shape


def task_of(rubric: Rubric) -> str | None:
    """What is judged as a whole, where the dialect that the rubric is written in says it."""
    return (rubric.view.task if rubric.view else "") or None


def lost_verdicts(name: str, rubric: Rubric, title: str, *, keeps_pass: bool = False) -> Iterator[Loss]:
    """The thresholds that somebody has set and the target has no place for; the usual ones are nobody's wish."""
    pass_at, borderline_at = rubric.thresholds
    if not keeps_pass and pass_at != USUAL_THRESHOLDS.pass_at:
        yield Loss(name, rubric.path, f"the threshold {pass_at} of `pass`, which {title} has no field for")
    if borderline_at not in {USUAL_THRESHOLDS.borderline_at, pass_at}:
        yield Loss(
            name, rubric.path, f"the threshold {borderline_at} of `borderline`: {title} knows pass and fail only"
        )

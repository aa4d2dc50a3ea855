"""What it takes to write rubrics for another system: the text, and what of the rubrics it cannot say."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rubric_lint.finding import Path
from rubric_lint.interop.export.fields import Field
from rubric_lint.rubric import Rubric, Shape
from rubric_lint.thresholds import USUAL_THRESHOLDS

Rubrics = Mapping[str, Rubric]
"""Rubrics without error findings, by their names."""


class Source(NamedTuple):
    """Where a rubric comes from: its case, what it is called in that, and its fields as they are written.

    `is_template`: its texts are templates, so those that are carried as they are need no escape.
    """

    case: str = ""
    label: str = ""
    fields: tuple[Field, ...] = ()
    is_template: bool = False

    def extras(self, holder: Path | None, target: str) -> dict[str, Any]:
        """The fields of a mapping of the document that a target takes as they are, by their names there."""
        return {
            name: field.value
            for field in self.fields
            if field.path[:-1] == holder and (name := field.name_in(target)) and is_plain(field.value)
        }


Sources = Mapping[str, Source]
"""Where rubrics come from, by their names."""

NOWHERE: Sources = {}


def is_plain(value: Any) -> bool:
    """Return whether every format can say a value."""
    match value:
        case None | str() | bool() | int():
            return True
        case float():
            return math.isfinite(value)
        case list():
            return all(map(is_plain, value))
        case dict():
            return all(map(is_plain, value.values()))
    return False


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

    `write` takes rubrics and, where there are files behind them, their sources. It raises RefusedError for a rubric
    whose meaning would have to be bent.
    """

    title: str
    summary: str
    write: Callable[..., Export]


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

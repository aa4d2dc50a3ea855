"""Define what a target needs to write rubrics for another system, and how it reports what it cannot express."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rubric_lint.dialects.export.fields import FormatField, find_holder
from rubric_lint.dialects.export.suite import CaseKey
from rubric_lint.format.criterion import USUAL_THRESHOLDS, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import RENDERS, is_template
from rubric_lint.text.path import Path
from rubric_lint.text.source import Span
from rubric_lint.text.tree import Tree

Rubrics = Mapping[str, Rubric]
"""Rubrics without findings of severity error, by name."""


class ExportSource(NamedTuple):
    """The source of a rubric: its case, its name in the case, and its fields as written.

    With `is_template`, its strings are templates already, so copied ones need no escape. `question` is the `input` of
    its case, or None. `place` is the case that it is in, None if it is in none or if only the rubric is written.
    """

    case: str = ""
    label: str = ""
    fields: tuple[FormatField, ...] = ()
    is_template: bool = False
    question: Any = None
    place: CaseKey | None = None

    def extras(self, holder: Path | None, target: str) -> dict[str, Any]:
        """Return the fields of a mapping in the document whose values a target copies, by the target's names."""
        return {
            name: field.value
            for field in self.fields
            if field.path[:-1] == holder and (name := field.name_in(target)) and is_plain(field.value)
        }


Sources = Mapping[str, ExportSource]
"""The sources of rubrics, by name."""

NOWHERE: Sources = {}


def is_plain(value: Any) -> bool:
    """Return whether every format can express a value."""
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
    """Something in the rubric `name` at `path` that the target cannot express: a message says what and why."""

    name: str
    path: Path
    message: str


class Export(NamedTuple):
    """A text for another system, or a file that is not text.

    `losses` are parts of the rubrics that it cannot express, `gaps` what it needs and no rubric has.
    """

    text: str
    losses: tuple[Loss, ...] = ()
    gaps: tuple[str, ...] = ()
    binary: bytes = b""

    @property
    def data(self) -> bytes:
        """The content of the file."""
        return self.binary or self.text.encode()


class ExportError(Exception):
    """Refuses a rubric that the target cannot express, with the place in the rubric and the reason."""

    def __init__(self, name: str, path: Path, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.path = path
        self.message = message

    def of(self, name: str) -> "ExportError":
        """Return the refusal of a rubric that has another name in the file."""
        self.name = name
        return self


class ShapeError(ExportError):
    """Refuses a rubric of a shape that the target does not have."""

    def __init__(self, name: str, path: Path, message: str, shape: Shape) -> None:
        super().__init__(name, path, message)
        self.shape = shape


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """A target system: its title, a summary of its format, a function that writes it, and the shapes that it has.

    `write` takes rubrics and, if they come from files, their sources. With `has_cases`, it
    takes a carried suite too. It raises ExportError for a rubric whose meaning would change. With `has_deductions`, a
    criterion may cost points.
    """

    title: str
    summary: str
    write: Callable[..., Export]
    has_cases: bool = False
    has_deductions: bool = False
    shapes: Collection[Shape] = tuple(Shape)


SHAPES: Mapping[Shape, str] = {
    Shape.CHECKLIST: "a checklist",
    Shape.SCORE_RANGES: "a rubric of score ranges",
    Shape.HOLISTIC: "a holistic scale",
    Shape.LEVELS: "a rubric of levels",
}
"""The name of each shape."""


def shape_of(name: str, rubric: Rubric) -> Shape:
    """Return the shape of a rubric.

    Raises:
        RefusedError: if the rubric has no entries.
    """
    if rubric.shape is None:
        raise ExportError(name, rubric.path, "the rubric has no criteria")
    return rubric.shape


def require_shape(name: str, rubric: Rubric, title: str, shapes: Collection[Shape], advice: str) -> Shape:
    """Return the shape of a rubric if the target supports it.

    Raises:
        ShapeError: if it does not.
    """
    shape = shape_of(name, rubric)
    if shape not in shapes:
        reason = f"{SHAPES[shape]} has no counterpart in {title}: {advice}"
        raise ShapeError(name, rubric.path, f"{reason}; a rubric is never converted to a different shape", shape)
    return shape


def task_of(rubric: Rubric) -> str | None:
    """Return what is judged as a whole, if the rubric's dialect says it."""
    return (rubric.view.task if rubric.view else "") or None


def lost_name(name: str, rubric: Rubric) -> Iterator[Loss]:
    """Find the name that a rubric gets from the key of its metric; `lost_fields` finds a name in a field."""
    holder = find_holder(rubric)
    if rubric.view and holder and str(holder[-1]).endswith(f":{rubric.view.name}"):
        yield Loss(name, holder, f"the name `{rubric.view.name}`: a rubric file has no field for it")


def lost_threshold(name: str, rubric: Rubric) -> Iterator[Loss]:
    """Find the threshold beside a rubric of another system; for our own rubrics, the settings still apply."""
    if rubric.view and rubric.view.threshold is not None:
        pass_at = rubric.view.threshold
        holder = find_holder(rubric) or rubric.path[:-1]
        is_there = "threshold" in rubric.view.document.value(holder)
        place = rubric.view.threshold_path or ((*holder, "threshold") if is_there else rubric.path)
        yield Loss(name, place, f"the threshold {pass_at}, which is not part of a rubric: set `pass = {pass_at}`")


def lost_verdicts(name: str, rubric: Rubric, title: str, *, keeps_pass: bool = False) -> Iterator[Loss]:
    """Find the thresholds that are not the defaults and that the target has no field for."""
    pass_at, borderline_at = rubric.thresholds
    if not keeps_pass and pass_at != USUAL_THRESHOLDS.pass_at:
        yield Loss(name, rubric.path, f"the threshold {pass_at} of `pass`, which {title} has no field for")
    if borderline_at not in {USUAL_THRESHOLDS.borderline_at, pass_at}:
        yield Loss(name, rubric.path, f"the threshold {borderline_at} of `borderline`: {title} has only pass and fail")


_SCHEMA = "$schema"


def lost_fields(fields: Iterable[FormatField], target: str, title: str) -> Iterator[tuple[Path, str]]:
    """Find the fields that a target does not write, each with its place and a message."""
    for field in fields:
        if not field.is_carried(target):
            told = ", which the judge sees" if field.is_told else ""
            yield field.path, f"`{field.path[-1]}`{told}: {title} has no field for it"


def lost_templates(rubric: Rubric, title: str) -> Iterator[tuple[Path, str]]:
    """Find the templates that another system fills in before a judge sees them; a target gets them as plain text."""
    if rubric.view is None or rubric.dialect not in RENDERS:
        return
    for entry in rubric.entries:
        place = rubric.view.place(entry.path)
        if is_template(rubric.view.document.value(place)):
            whose = rubric.view.dialect.title
            message = f"the template in `{entry.id}`, which {whose} fills in: {title} uses it as plain text"
            yield place, message


def lost_formula(rubric: Rubric, title: str) -> Iterator[tuple[Path, str]]:
    """Find the formula that joins the score of a grader of OpenAI with those of others."""
    if rubric.dialect != "openai-graders" or "graders" not in rubric.path:
        return
    multi = rubric.path[: rubric.path.index("graders")]
    if rubric.view and "calculate_output" in rubric.view.document.value(multi):
        place = (*multi, "calculate_output")
        yield place, f"`calculate_output`, which joins the scores of the graders: {title} has no field for it"


def lost_comments(tree: Tree, within: Iterable[Span]) -> list[Span]:
    """Find the comments of a file within the lines of some spans, except those that name a schema."""
    source = tree.source
    lines = [(source.position(start).line, source.position(end).line) for start, end in within]
    return [
        comment
        for comment in tree.comments
        if _SCHEMA not in source.slice(comment)
        and any(first <= source.position(comment.start).line <= last for first, last in lines)
    ]


def whole(document: Document) -> Span:
    """Return the span of a document and its preamble."""
    return Span(document.preamble.start, document.span(()).end)

"""Define what a target is, what it has no field for, and how its writer reports what it cannot express."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rubric_lint.dialects.export.entries import shares
from rubric_lint.dialects.export.fields import FormatField, find_holder, find_lost
from rubric_lint.format.criterion import USUAL_THRESHOLDS, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import join_words
from rubric_lint.text.path import Path

Rubrics = Mapping[str, Rubric]
"""Rubrics without findings of severity error, by name."""

CaseKey = tuple[int | None, Path]
"""The number of a document in its file, and the path of a case in it."""


class Part(NamedTuple):
    """A field or an assertion, with its place: the path in a document, and the number of that."""

    path: Path
    value: Any
    number: int | None = None

    def inner(self, step: str | int) -> "Part":
        """Return the part of a mapping or a list under a key or an index."""
        return Part((*self.path, step), self.value[step], self.number)

    def items(self) -> "Iterator[Part]":
        """Yield the parts of a mapping or a list."""
        return map(self.inner, self.value if isinstance(self.value, dict) else range(len(self.value)))


SuiteLoss = tuple[int | None, Path, str]
"""The number of a document, a path in it, and what is lost there."""


class CarriedCase(NamedTuple):
    """The fields of a case in the words of the target, and its assertions and sets of them with their places."""

    name: str
    fields: Mapping[str, Any]
    checks: tuple[Part, ...] = ()
    sets: tuple[Part, ...] = ()


class Carried(NamedTuple):
    """A suite in the words of a target: its own fields, its cases, and what is lost."""

    fields: Mapping[str, Any]
    cases: Mapping[CaseKey, CarriedCase]
    losses: tuple[SuiteLoss, ...]


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
    """Something in the rubric `name`, at `path` in the document, that the target cannot express: what and why."""

    name: str
    path: Path
    message: str


class Export(NamedTuple):
    """The content of a file for another system.

    `losses` are parts of the rubrics that it cannot express, `gaps` what it needs and no rubric has.
    """

    data: bytes
    losses: tuple[Loss, ...] = ()
    gaps: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The content of a file that is text."""
        return self.data.decode()


class ExportError(Exception):
    """Refuses a rubric that the target cannot express, with the place in the rubric and the reason."""

    def __init__(self, name: str, path: Path, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.path = path
        self.message = message


class ShapeError(ExportError):
    """Refuses a rubric of a shape that the target does not have."""

    def __init__(self, name: str, path: Path, message: str, shape: Shape) -> None:
        super().__init__(name, path, message)
        self.shape = shape


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """A target system: its name, its title, a summary of its format, and the function that writes it.

    `shapes` are those that it has, and `limit` says why it has no others. With `is_single`, a file holds one rubric.
    With `has_cases`, it takes whole suites; otherwise `shows` are the fields of a case that it shows. With
    `has_deductions`, a criterion may cost points. `keeps` are the thresholds that its files hold. Where it has no
    `average`, `weights` or `gates`, these say what it does instead, and they are reported as lost.
    """

    name: str
    title: str
    summary: str
    writer: "Callable[[Writing], str | bytes]"
    shapes: Collection[Shape] = tuple(Shape)
    limit: str = ""
    is_single: bool = False
    has_cases: bool = False
    shows: frozenset[str] = frozenset()
    has_deductions: bool = False
    keeps: Collection[str] = ()
    average: str = ""
    weights: str = ""
    gates: str = ""

    def write(self, rubrics: Rubrics, sources: Sources = NOWHERE, suite: Carried | None = None) -> Export:
        """Write rubrics and, if they come from files, what their sources and their suite say.

        Raises:
            ExportError: if the meaning of a rubric would change.
        """
        writing = Writing(self, rubrics, sources, suite)
        if self.is_single and len(rubrics) > 1:
            name, rubric = list(rubrics.items())[1]
            message = f"{self.title} reads one rubric per file; choose one with --rubric"
            raise ExportError(name, rubric.path, message)
        for name, rubric in rubrics.items():
            self._check(name, rubric)
            for path, message in self._find_lost(rubric):
                writing.lose(name, path, message)
        content = self.writer(writing)
        told = {loss[:2] for loss in writing.losses}
        for name, rubric in rubrics.items():
            for path, message in find_lost(rubric, writing.source(name).fields, self.name, self.title):
                if (name, path) not in told:
                    writing.losses.append(Loss(name, path, message))
        data = content.encode() if isinstance(content, str) else content
        return Export(data, tuple(writing.losses), tuple(writing.gaps))

    def _check(self, name: str, rubric: Rubric) -> None:
        """Refuse a rubric of a shape that the target does not have."""
        if rubric.shape is None:
            raise ExportError(name, rubric.path, "the rubric has no criteria")
        if rubric.shape not in self.shapes:
            reason = f"{_SHAPES[rubric.shape]} has no counterpart in {self.title}: {self.limit}"
            message = f"{reason}; a rubric is never converted to a different shape"
            raise ShapeError(name, rubric.path, message, rubric.shape)

    def _find_lost(self, rubric: Rubric) -> Iterator[tuple[Path, str]]:
        """Find what the target does not have for any rubric: averages, weights, gates and thresholds."""
        pass_at, borderline_at = rubric.thresholds
        if self.average and len(rubric.criteria) > 1:
            weights = join_words([f"{criterion.id} {criterion.weight}" for criterion in rubric.criteria])
            threshold = f" and the threshold {pass_at}" if "pass" in self.keeps else ""
            yield rubric.path, f"the average, with the weights {weights}{threshold}: {self.title} {self.average}"
        is_weighed = len(set(shares(rubric))) > 1
        for criterion in rubric.criteria:
            if self.weights and is_weighed:
                message = f"the weight {criterion.weight} of `{criterion.id}`: {self.title} {self.weights}"
                yield criterion.path_of("weight"), message
            if self.gates and criterion.gate:
                yield criterion.gate_path, f"the gate {criterion.gate} of `{criterion.id}`: {self.title} {self.gates}"
        if "pass" not in self.keeps and pass_at != USUAL_THRESHOLDS.pass_at:
            yield rubric.path, f"the threshold {pass_at} of `pass`, which {self.title} has no field for"
        if "borderline" not in self.keeps and borderline_at not in {USUAL_THRESHOLDS.borderline_at, pass_at}:
            yield rubric.path, f"the threshold {borderline_at} of `borderline`: {self.title} has only pass and fail"


_SHAPES: Mapping[Shape, str] = {
    Shape.CHECKLIST: "a checklist",
    Shape.SCORE_RANGES: "a rubric of score ranges",
    Shape.HOLISTIC: "a holistic scale",
    Shape.LEVELS: "a rubric of levels",
}


@dataclass(frozen=True, slots=True)
class Writing:
    """What a writer is given, and what it reports: what is lost, and what it needs and no rubric has."""

    target: ExportTarget
    rubrics: Rubrics
    sources: Sources
    suite: Carried | None = None
    losses: list[Loss] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The title of the target."""
        return self.target.title

    @property
    def only(self) -> tuple[str, Rubric]:
        """The name of the only rubric, and the rubric."""
        ((name, rubric),) = self.rubrics.items()
        return name, rubric

    def lose(self, name: str, path: Path, message: str) -> None:
        """Report that the target cannot express the part of a rubric at a path in it, or in the document."""
        view = self.rubrics[name].view
        self.losses.append(Loss(name, view.place(path) if view else path, message))

    def need(self, message: str) -> None:
        """Report what the user has to add to the file."""
        self.gaps.append(message)

    def source(self, name: str) -> ExportSource:
        """Return the source of a rubric."""
        return self.sources.get(name, ExportSource())

    def extras(self, name: str, holder: Path | None = None) -> dict[str, Any]:
        """Return the fields of a mapping that the target copies, by its own names.

        The mapping is at `holder`, or it is the one that holds the rubric.
        """
        holder = holder or find_holder(self.rubrics[name])
        return {
            called: each.value
            for each in self.source(name).fields
            if each.path[:-1] == holder and (called := each.name_in(self.target.name)) and is_plain(each.value)
        }

    def lose_threshold(self, name: str) -> None:
        """Report the threshold beside a rubric of another system; for our own rubrics, the settings still apply."""
        rubric = self.rubrics[name]
        if rubric.view and rubric.view.threshold is not None:
            pass_at = rubric.view.threshold
            holder = find_holder(rubric) or rubric.path[:-1]
            is_there = "threshold" in rubric.view.document.value(holder)
            place = rubric.view.threshold_path or ((*holder, "threshold") if is_there else rubric.path)
            self.lose(name, place, f"the threshold {pass_at}, which is not part of a rubric: set `pass = {pass_at}`")

    def lose_name(self, name: str) -> None:
        """Report the name that a rubric gets from the key of its metric; a name in a field is reported as a field."""
        rubric = self.rubrics[name]
        holder = find_holder(rubric)
        if rubric.view and holder and str(holder[-1]).endswith(f":{rubric.view.name}"):
            self.lose(name, holder, f"the name `{rubric.view.name}`: a rubric file has no field for it")

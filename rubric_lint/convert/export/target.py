"""Define what a target is, what it has no field for, and how its writer reports what it cannot express.

Which fields the judge sees and which targets write them is said by the schemas.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

from rubric_lint.formats.agentv.suites import ASSERTION_LISTS
from rubric_lint.model.criterion import MOST_DIGITS, SPAN, USUAL_THRESHOLDS, Criterion, Shape
from rubric_lint.model.messages import is_obeyed, join_words
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema import resolve, schema_for
from rubric_lint.model.schema_files import CURRENT, load
from rubric_lint.model.view import View
from rubric_lint.source.document import Document
from rubric_lint.source.nunjucks import RENDERS, is_template
from rubric_lint.source.path import Path, part_of
from rubric_lint.source.source import Span
from rubric_lint.source.tree import Tree, items_of
from rubric_lint.source.values import as_mapping

Rubrics = Mapping[str, Rubric]
"""Rubrics without findings of severity error, by name."""

CaseKey = tuple[int | None, Path]
"""The number of a document in its file, and the path of a case in it."""

QUESTIONS = ("input", "inputs", "question", "prompt", "instruction")
"""The names that systems give to the question of a case."""


class FormatField(NamedTuple):
    """A field of a rubric, or next to it, with its place and what its schema says.

    `is_shown`: the judge sees it. `carried` has the targets that write it, with the target's name for it if they copy
    the value, else an empty one; None if all of them do. With `is_implied`, every other target says the same in its
    own way.
    """

    path: Path
    value: Any
    is_shown: bool
    carried: Mapping[str, str] | None
    is_implied: bool = False

    def name_in(self, target: str) -> str:
        """Return the name of the field in a target that copies its value, else an empty string."""
        return (self.carried or {}).get(target, "")


def find_fields(document: Document, rubric: Rubric) -> Iterator[FormatField]:
    """Find every written field of a rubric, and those next to it, except values that equal their default."""
    view, joined = rubric.view, rubric.schema.joined
    if view and view.around:  # the rubric is only some entries of the list
        for place in dict.fromkeys(view.place(entry.path) for entry in rubric.entries):
            yield from _walk(document.value(place), joined["definitions"]["entry"], joined, place)
    else:
        schema = joined["definitions"][rubric.schema.whole]
        for found in _walk(document.value(rubric.path), schema, joined, rubric.path):
            is_text = found.is_shown and isinstance(found.value, str)
            if found.path == ("$schema",):  # says which format it is, and what is written says it again
                continue
            if view and is_text and found.value not in {view.name, view.task} and not view.reads(found.path):
                yield found._replace(is_shown=False, carried={})  # as of parts that only hold others
            else:
                yield found
    yield from find_beside(document, rubric)


def _walk(value: Any, schema: Mapping[str, Any], joined: Mapping[str, Any], path: Path) -> Iterator[FormatField]:
    node = resolve(joined, schema)
    if isinstance(value, list) and isinstance(node.get("items"), dict):
        for index, item in enumerate(value):
            yield from _walk(item, node["items"], joined, (*path, index))
    elif isinstance(value, dict) and isinstance(node.get("additionalProperties"), dict):
        for name, inner in value.items():
            yield from _walk(inner, node["additionalProperties"], joined, (*path, name))
    elif isinstance(value, dict):
        for name, inner in value.items():
            patterns = node.get("patternProperties", {}).items()
            matching = next((child for pattern, child in patterns if re.search(pattern, name)), None)
            child = node.get("properties", {}).get(name, matching)
            if child is None:
                yield _field((*path, name), inner, {})
            elif "default" not in child or inner != child["default"]:
                yield _field((*path, name), inner, resolve(joined, child))
                yield from _walk(inner, child, joined, (*path, name))


def _field(path: Path, value: Any, schema: Mapping[str, Any]) -> FormatField:
    own = schema.get("x-reads-as", schema.get("x-replaced-by"))
    source = schema_for().entry_fields[own] if own else schema
    carried = source.get("x-carried-by", ())
    targets: Mapping[str, str] | None = None  # all of them, as a text says
    if not isinstance(carried, str):
        targets = carried if isinstance(carried, Mapping) else dict.fromkeys(carried, "")
    is_implied = value in source.get("x-implied", ())
    return FormatField(path, value, bool(source.get("x-shown-to-judge")), targets, is_implied)


_AROUND = "x-around-rubrics"


def find_beside(document: Document, rubric: Rubric) -> Iterator[FormatField]:
    """Find the fields next to a rubric, in the evaluator or the metric that holds it."""
    holder = find_holder(rubric)
    if holder is not None:
        known = load(f"{CURRENT}/suite.json")[_AROUND]
        if rubric.view:  # in other systems, the type shows a rubric, and each target has its own
            known = load(rubric.view.dialect.schema).get(_AROUND, {**known, "type": {"x-carried-by": "all"}})
        for name, value in document.value(holder).items():
            if (*holder, name) != rubric.path[: len(holder) + 1]:
                yield _field((*holder, name), value, known.get(name, {}))


def find_holder(rubric: Rubric) -> Path | None:
    """Return the path of the evaluator or metric that holds a rubric; None if the case itself holds it."""
    path, view = rubric.path, rubric.view
    if view and view.document.kind.is_program:
        return view.holder
    if view and view.around:
        return None
    if view and _AROUND in load(view.dialect.schema) and not rubric.dialect.startswith("agentv"):
        return path[:-1]
    return find_evaluator(path) or None


def find_evaluator(path: Path) -> Path:
    """Return the path of the innermost evaluator around a path; empty if there is none."""
    ends = (end for end in range(len(path) - 1, 1, -1) if isinstance(path[end - 1], int))
    return path[: next((end for end in ends if path[end - 2] in ASSERTION_LISTS), 0)]


def find_question(document: Document, rubric: Rubric) -> Any:
    """Return the question of the case that a rubric belongs to, or None if it has none."""
    path = rubric.path
    if document.kind.is_program:
        return None
    items = (end for end in range(len(path) - 1, 0, -1) if isinstance(path[end - 1], int))
    end = next((end for end in items if end == 1 or path[end - 2] not in ASSERTION_LISTS), 0)
    case = document.value(path[:end])
    if (not end and len(path) > 1) or not isinstance(case, dict):
        return None  # `defaults`, or evaluators of a whole suite
    of_judge = {field.path for field in find_beside(document, rubric)}
    for name in QUESTIONS:
        if name in case and (*path[:end], name) not in of_judge:
            return case[name]
    return as_mapping(case.get("vars")).get("input")


def _is_label(written: FormatField, rubric: Rubric, label: str) -> bool:
    """Return whether a field is the name of the evaluator that tells a rubric from the others of its case."""
    is_own = written.path[-1] in {"name", "id"} and written.path[:-1] == find_holder(rubric)
    return is_own and f"/{label}".endswith(f"/{written.value}")


def _find_templates(rubric: Rubric, title: str) -> Iterator[tuple[Path, str]]:
    """Find the templates that another system fills in before a judge sees them: a target has them as plain text."""
    if rubric.view and rubric.dialect in RENDERS:
        for entry in rubric.entries:
            place = rubric.view.place(entry.path)
            if is_template(rubric.view.document.value(place)):
                system = rubric.view.dialect.title
                yield place, f"the template in `{entry.id}`, which {system} fills in: {title} uses it as plain text"


def find_comments(tree: Tree, within: Iterable[Span]) -> Iterator[Span]:
    """Find the comments of a file within the lines of some spans, except those that name a schema."""
    source = tree.source
    lines = {(source.position(start).line, source.position(end).line) for start, end in within}
    for comment in tree.comments:
        line = source.position(comment.start).line
        if "$schema" not in source.slice(comment) and any(first <= line <= last for first, last in lines):
            yield comment


def find_kept_comments(document: Document, rubric: Rubric) -> dict[int, list[Span]]:
    """Find the comments of each entry of a rubric by its index: within its lines, and on the lines right above it.

    Those above all content of the file have the index -1. Those that a linter obeys where they stand are of no use
    elsewhere.
    """
    kept: dict[int, list[Span]] = {}
    source, comments = document.source, document.tree.comments
    if document.kind.is_program or not comments:
        return kept
    above_all = document.preamble.end if not document.preamble.start else 0
    parts = [(-1, 0, above_all)]
    for at, entry in enumerate(rubric.entries):
        place = rubric.place(entry.path)
        parts.append((at, *_find_lines(document, place)))
    assigned: set[Span] = set()
    for at, first, end in sorted(parts, reverse=True):  # what is right above a criterion is its own
        for comment in comments[bisect_left(comments, (first,)) : bisect_left(comments, (end,))]:
            text = source.slice(comment)
            is_obeyed_there = "$schema" in text or "rubric-lint:" in text or is_obeyed(text)
            if comment not in assigned and not is_obeyed_there and text.isprintable():
                kept.setdefault(at, []).append(comment)
                assigned.add(comment)
    return kept


def _find_lines(document: Document, place: Path) -> Span:
    """Return the lines of the value at a place, with those right above it that are blank or hold only a comment."""
    text = document.source.text
    start, end = document.nearest_span(place)
    last = start + len(text[start:end].rstrip())
    first = text.rfind("\n", 0, min(start, document.nearest_span(place, part_of(place)).start)) + 1
    while first:
        above = text.rfind("\n", 0, first - 1) + 1
        if text[above:first].lstrip()[:1] not in {"", "#"}:
            break
        first = above
    line_end = text.find("\n", last)
    if line_end < 0:
        line_end = len(text)
    return Span(first, line_end)


class PlacedValue(NamedTuple):
    """A field or an assertion, with its place: its path in a document, and the number of the document."""

    path: Path
    value: Any
    number: int | None = None

    def inner(self, step: str | int) -> "PlacedValue":
        """Return the value of a mapping or a list under a key or an index."""
        return PlacedValue((*self.path, step), self.value[step], self.number)

    def items(self) -> "Iterator[PlacedValue]":
        """Yield the values of a mapping or a list."""
        return (self.inner(step) for step, _ in items_of(self.value))


SuiteLoss = tuple[int | None, Path, str]
"""The number of a document, a path in it, and what is lost there."""


class ConvertedCase(NamedTuple):
    """The fields of a case in the words of the target, and its other assertions with their places."""

    name: str
    fields: Mapping[str, Any]
    checks: tuple[PlacedValue, ...] = ()


class ConvertedSuite(NamedTuple):
    """A suite in the words of a target: its own fields, its cases, and what is lost."""

    fields: Mapping[str, Any]
    cases: Mapping[CaseKey, ConvertedCase]
    losses: tuple[SuiteLoss, ...]


class ExportSource(NamedTuple):
    """The source of a rubric: its case, its name in the case, and its fields as written.

    With `is_template`, its strings are templates already, so copied ones need no escape. `question` is the `input` of
    its case, or None. `place` is the case that it is in, None if it is in none or if only the rubric is written.
    `comments` are the comments of its entries, by their indexes.
    """

    case: str = ""
    label: str = ""
    fields: tuple[FormatField, ...] = ()
    is_template: bool = False
    question: Any = None
    place: CaseKey | None = None
    comments: Mapping[int, Sequence[str]] = MappingProxyType({})


Sources = Mapping[str, ExportSource]
"""The sources of rubrics, by name."""


def is_plain(value: Any) -> bool:
    """Return whether every format can express a value, as none has dates and some have no infinite numbers."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


class Loss(NamedTuple):
    """Something in the rubric `name`, at `path` in the document, that the target cannot express: what and why."""

    name: str
    path: Path
    message: str


class Export(NamedTuple):
    """The content of a file for another system.

    `losses` are parts of the rubrics that it cannot express, `todo` what it needs and no rubric has. `headed` are the
    rubrics that are written with their names and with what is judged as a whole.
    """

    data: bytes
    losses: tuple[Loss, ...] = ()
    todo: tuple[str, ...] = ()
    headed: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """The content of a file that is text."""
        return self.data.decode()


class ExportError(Exception):
    """Refuses a rubric that the target cannot express, with the place in the rubric and the reason.

    `is_in_document`: the place is one of the document, which may be written in a dialect.
    """

    def __init__(self, name: str, path: Path, message: str, *, is_in_document: bool = False) -> None:
        super().__init__(message)
        self.name = name
        self.path = path
        self.message = message
        self.is_in_document = is_in_document


class TargetError(ExportError):
    """Refuses a rubric that says what the target does not have, and another target may."""


def shares(rubric: Rubric) -> tuple[Fraction, ...]:
    """Return the exact share of each criterion in the average; the weights themselves if none is above 0."""
    weights = [Fraction(criterion.weight or 0) for criterion in rubric.criteria]
    total = sum(weight for weight in weights if weight > 0)
    return tuple(weight / total if total else weight for weight in weights)


def find_mark(rubric: Rubric) -> Path | None:
    """Return where the pass mark of a rubric was read; None if the settings have it, such as one above its gate."""
    view = rubric.view
    if view is None or view.threshold is None or view.threshold != rubric.thresholds.pass_at:
        return None
    return _find_threshold(view, rubric)


def _find_threshold(view: View, rubric: Rubric) -> Path | None:
    """Return the place of the threshold of a rubric, which may be next to it; None if there is none."""
    if view.threshold_path:
        return view.threshold_path
    holder = find_holder(rubric) or rubric.path[:-1]
    value = view.document.value(holder)
    return (*holder, "threshold") if isinstance(value, dict) and "threshold" in value else None


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """A target system: its name, its title, and the function that writes it.

    `shapes` are those that it has, and `limit` says why it has no others. With `is_single`, a file holds one rubric.
    With `has_cases`, it takes whole suites; otherwise `shows` are the fields of a case that it shows. With
    `names_cases`, each case has its own name there, from whatever field that is. With `names_rubrics`, each of several
    rubrics has its whole name there. With `keeps_all`, it has what only other systems have: criteria that are
    negated, and levels of which the lowest is worth something; with `has_version_3`, all that is scored. With
    `has_penalties`, it has weights below 0. With `mixes`, a rubric may have criteria of several shapes. With
    `keeps_comments`, it has those of criteria. `keeps` are the thresholds that its files hold.
    With `writes_mark`, it writes the pass mark of a rubric wherever that was read, such as from its suite.
    Where it has no `average`, `weights` or `gates`, these say what it does instead, and they are reported as lost.
    """

    name: str
    title: str
    writer: "Callable[[ExportContext], str | bytes]"
    shapes: Collection[Shape] = tuple(shape for shape in Shape if shape is not Shape.MIXED)
    limit: str = ""
    is_single: bool = False
    has_cases: bool = False
    shows: frozenset[str] = frozenset()
    names_cases: bool = False
    names_rubrics: bool = False
    keeps_all: bool = False
    has_penalties: bool = False
    has_version_3: bool = False
    mixes: bool = False
    keeps_comments: bool = False
    keeps: Collection[str] = ()
    writes_mark: bool = False
    average: str = ""
    weights: str = ""
    gates: str = ""

    def write(self, rubrics: Rubrics, sources: Sources | None = None, suite: ConvertedSuite | None = None) -> Export:
        """Write rubrics and, if they come from files, what their sources and their suite say.

        Raises:
            ExportError: if the meaning of a rubric would change.
        """
        context = ExportContext(self, rubrics, sources or {}, suite)
        if self.is_single and len(rubrics) > 1:
            name, rubric = list(rubrics.items())[1]
            message = f"{self.title} reads one rubric per file; choose one with --rubric"
            raise ExportError(name, rubric.path, message)
        for name, rubric in rubrics.items():
            if rubric.shape is None:
                raise ExportError(name, rubric.path, "the rubric has no criteria")
            self._check_shapes(name, rubric)
            for path, message in self._find_lost(rubric):
                context.report_loss(name, path, message)
        content = self.writer(context)
        reported = {loss[:2] for loss in context.losses}
        for name, rubric in rubrics.items():
            for path, message in self._find_unwritten(name, rubric, context):
                if (name, path) not in reported:
                    context.losses.append(Loss(name, path, message))
            for path, message in _find_templates(rubric, self.title):
                context.losses.append(Loss(name, path, message))
        data = content.encode() if isinstance(content, str) else content
        return Export(data, tuple(context.losses), tuple(context.todo), frozenset(context.headed))

    def _check_shapes(self, name: str, rubric: Rubric) -> None:
        """Raise TargetError if the target does not have the shape of a criterion."""
        for entry in rubric.entries:
            shape = entry.shapes[0]
            if shape in self.shapes:
                continue
            what, path = _SHAPES[shape], rubric.path
            span = (entry.fields or {}).get(SPAN)
            if span and entry.levels and not rubric.dialect:
                worst, best = span
                what, path = f"the scale from {worst} to {best} of `{entry.id}`", entry.path
            reason = f"{what} has no counterpart in {self.title}: {self.limit}"
            raise TargetError(name, path, f"{reason}; a rubric is never converted to a different shape")

    def _find_unwritten(self, name: str, rubric: Rubric, context: "ExportContext") -> Iterator[tuple[Path, str]]:
        """Find the fields of a rubric and next to it that are not written, by the schemas: the places, with messages.

        Its pass mark, with the flag that makes it one, and what it is called may be written otherwise.
        """
        source = context.source(name)
        is_named = self.names_rubrics and len(context.rubrics) > 1
        heads: set[str] = set()
        read: set[Path] = set()
        if rubric.view and name in context.headed:
            heads = {rubric.view.name, rubric.view.task}
            read.update(rubric.view.sources)
        mark = find_mark(rubric) if self.writes_mark else None
        if mark:
            read |= {mark, (*mark[:-1], "required")}
        for found in source.fields:
            is_carried = found.carried is None or self.name in found.carried or found.is_implied
            is_head = isinstance(found.value, str) and found.value in heads
            is_label = is_named and _is_label(found, rubric, source.label)
            if not (is_carried or is_head or is_label or found.path in read):
                audience = ", which the judge sees" if found.is_shown else ""
                yield found.path, f"`{found.path[-1]}`{audience}: {self.title} has no field for it"

    def _find_lost(self, rubric: Rubric) -> Iterator[tuple[Path, str]]:
        """Find what the target does not have for any rubric: averages, weights, gates and thresholds."""
        pass_at, borderline_at = rubric.thresholds
        if self.average and len(rubric.criteria) > 1:
            weights = join_words(
                [f"{criterion.id} {_find_stated_weight(rubric, criterion)}" for criterion in rubric.criteria]
            )
            threshold = f" and the threshold {pass_at}" if "pass" in self.keeps else ""
            yield rubric.path, f"the average, with the weights {weights}{threshold}: {self.title} {self.average}"
        is_weighed = len(set(shares(rubric))) > 1
        for criterion in rubric.criteria:
            if self.weights and is_weighed:
                weight = _find_stated_weight(rubric, criterion)
                message = f"the weight {weight} of `{criterion.id}`: {self.title} {self.weights}"
                yield criterion.path_of("weight"), message
            if self.gates and criterion.gate:
                yield criterion.gate_path, f"the gate {criterion.gate} of `{criterion.id}`: {self.title} {self.gates}"
        if "pass" not in self.keeps and pass_at != USUAL_THRESHOLDS.pass_at:
            place = _find_own(rubric, "pass_threshold")
            yield place, f"the threshold {pass_at} of `pass`, which {self.title} has no field for"
        # A file without marks is read with those of the settings again, and one with a pass mark has no borderline.
        is_usual = borderline_at == USUAL_THRESHOLDS.borderline_at and "pass" not in self.keeps
        if "borderline" not in self.keeps and rubric.borderline is not None and not is_usual:
            place = _find_own(rubric, "borderline_threshold")
            yield place, f"the threshold {borderline_at} of `borderline`: {self.title} has only pass and fail"
        if self.has_version_3:
            return
        for group in rubric.groups:
            yield group.path, f"the group `{group.id}`: {self.title} has one list of criteria, with the same shares"


def _find_stated_weight(rubric: Rubric, criterion: Criterion) -> Decimal | None:
    """Return the weight of a criterion that the document states, which is that in its group."""
    view = rubric.view
    return view.weights[int(criterion.path[-1])] if view and view.weights else criterion.weight


def _find_own(rubric: Rubric, field: str) -> Path:
    """Return the place of a field that a rubric of version 3 has, or else that of the rubric."""
    value = rubric.view.document.value(rubric.path) if rubric.view and not rubric.dialect else None
    return (*rubric.path, field) if isinstance(value, dict) and field in value else rubric.path


_SHAPES: Mapping[Shape, str] = {
    Shape.CHECKLIST: "a checklist",
    Shape.SCORE_RANGES: "a rubric of score ranges",
    Shape.HOLISTIC: "a holistic scale",
    Shape.LEVELS: "a rubric of levels",
}


@dataclass(frozen=True, slots=True)
class ExportContext:
    """What a writer gets, and what it reports: what is lost, and in `todo` what it needs and no rubric has."""

    target: ExportTarget
    rubrics: Rubrics
    sources: Sources
    suite: ConvertedSuite | None = None
    losses: list[Loss] = field(default_factory=list)
    todo: list[str] = field(default_factory=list)
    headed: set[str] = field(default_factory=set)
    """The rubrics that are written with their names and with what is judged as a whole."""

    @property
    def title(self) -> str:
        """The title of the target."""
        return self.target.title

    @property
    def only(self) -> tuple[str, Rubric]:
        """The name of the only rubric, and the rubric."""
        ((name, rubric),) = self.rubrics.items()
        return name, rubric

    def report_loss(self, name: str, path: Path, message: str) -> None:
        """Report that the target cannot express the part of a rubric at a path in it, or in the document."""
        self.losses.append(Loss(name, self.rubrics[name].place(path), message))

    def report_gate(self, name: str, criterion: Criterion, effect: str) -> None:
        """Report that the target cannot express the gate of a criterion, and what happens instead."""
        self.report_loss(name, criterion.gate_path, f"the gate {criterion.gate} of `{criterion.id}`: {effect}")

    def source(self, name: str) -> ExportSource:
        """Return the source of a rubric."""
        return self.sources.get(name, ExportSource())

    def extras(self, name: str, holder: Path | None = None) -> dict[str, Any]:
        """Return the fields of a mapping that the target copies, by its own names.

        The mapping is at `holder`, or it is the one that holds the rubric.
        """
        holder = holder or find_holder(self.rubrics[name])
        copied = {}
        for found in self.source(name).fields:
            new_name = found.name_in(self.target.name)
            if new_name and found.path[:-1] == holder and is_plain(found.value):
                copied[new_name] = found.value
        return copied

    def report_threshold(self, name: str) -> None:
        """Report the threshold next to a rubric of another system; for our own rubrics, the settings still apply."""
        rubric = self.rubrics[name]
        is_of_suite = rubric.dialect.startswith("agentv-")  # which keeps it
        if rubric.view and rubric.view.threshold is not None and not is_of_suite:
            place = _find_threshold(rubric.view, rubric) or rubric.path
            pass_at = f"{rubric.view.threshold}"
            is_rounded = len(pass_at.partition(".")[2]) >= MOST_DIGITS
            rounded = ", rounded down to what the same scores reach" if is_rounded else ""
            message = f"the threshold {pass_at}{rounded}, which is not part of a rubric"
            self.report_loss(name, place, f"{message}: set {rubric.thresholds.as_settings}")

    def report_name(self, name: str) -> None:
        """Report the name that a rubric gets from the key of its metric; a name in a field is reported as a field."""
        rubric = self.rubrics[name]
        holder = find_holder(rubric)
        if rubric.view and holder and str(holder[-1]).endswith(f":{rubric.view.name}"):
            self.report_loss(name, holder, f"the name `{rubric.view.name}`: a rubric file has no field for it")

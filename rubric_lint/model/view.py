"""Present a rubric of another system as data of version 2, and map each part to its place in the document."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from rubric_lint.model.criterion import JudgeQuestion, Mark, to_fraction
from rubric_lint.model.finding import Problem, RelatedPlace
from rubric_lint.model.groups import Group, format_in_units
from rubric_lint.model.recognition import CRITERIA
from rubric_lint.model.suggest import name_in
from rubric_lint.source.document import Document
from rubric_lint.source.edits.intents import AddField, Arrange, Intent, MoveItems, RenameKey, Reorder, Repair
from rubric_lint.source.path import Part, Path, follow
from rubric_lint.source.scalar import Ambiguity


@dataclass(frozen=True, slots=True)
class Dialect:
    """How another system writes rubrics.

    `schema` is the authored schema of its rubrics. `fields` maps names of version 2 to the system's names.
    `without` are the rules that do not apply. With `implicit_required`, a checklist criterion without a gate must
    be met. `top` is the gate that only a full score meets, in the system's units. With `has_borderline`, there are
    verdicts besides pass and fail. With `has_deductions`, weights below 0 are points that a criterion costs if it
    is met; with `cuts_mean` too, a mean counts scores below 0, and only the mean is at least 0. `asked` is what the
    system asks its judge about each criterion, `holder_definition` the definition that the mapping around a rubric
    follows. With `reports_unread_fields`, fields that it does not have are reported as not read. `cases` are the
    lists whose items name the rubrics in them.
    """

    name: str
    title: str
    schema: str
    fields: Mapping[str, str] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    implicit_required: bool = False
    top: int = 10
    has_borderline: bool = True
    has_deductions: bool = False
    cuts_mean: bool = False
    asked: JudgeQuestion | None = None
    holder_definition: str = ""
    reports_unread_fields: bool = False
    cases: frozenset[str] = frozenset()

    @property
    def names(self) -> Mapping[str, str]:
        """The names of version 2 by the system's names."""
        return {theirs: ours for ours, theirs in self.fields.items()}


OWN = Dialect("", "rubric-lint", "v3/rubric.json", has_deductions=True)
"""Version 3 of the format itself, which is read in the words of version 2."""


@dataclass(frozen=True)
class View:
    """One rubric of a dialect; `data` is its list under `rubrics:` in the words of version 2, valid or not.

    `name` is the name of the rubric, `task` what is judged as a whole and `question` what its case asks, which a
    judge sees; each may be empty. `threshold` is the lowest score in 0..1 that passes, and `threshold_path` its
    place, if not next to the rubric; with `is_gate`, the pass mark of the settings holds too. `span` are the scores
    that are worth 0 and 1, if not 0 and 10. `unscorable` says why the rubric can be linted, but neither scored nor
    converted. `around` is set if the list holds more than the rubric: the definition that the whole list follows.
    `holder` is the call that uses the rubric in a program. `holder_definition` overrides that of the dialect;
    `holder_path` is the mapping that follows it, if that is not the one around the list. `definition` is that of
    the value at `path`, if it is not a list of criteria. With `is_text`, the rubric is written into one string.
    `problems` are those that only the dialect knows, with the names of their rules and their places in the
    document. `unread` are the places of keys that are not read though they may matter, each with what to say of it,
    and `doubts` those that may decide the score: with one, the rubric is neither scored nor converted.
    `place` maps a path in `data` to the document.

    A rubric of version 3 has more: `units` are the worst and the best score of its own scale, `borderline` is the
    lowest share that is borderline, and `grades` are names, each with the lowest share that earns it, from the highest
    to the lowest. `ids` and `weights` are those of its criteria by their index, each weight as the document states it,
    in its group. Where a weighted average of all criteria does not say the same as the groups and the conditions, the
    score follows `tree`. `outline` has the groups of a rubric with groups.
    """

    dialect: Dialect
    document: Document
    path: Path
    data: list[Any]
    name: str = ""
    task: str = ""
    question: str = ""
    threshold: Mark | None = None
    threshold_path: Path | None = None
    is_gate: bool = False
    span: tuple[int, int] | None = None
    unscorable: str = ""
    around: str = ""
    definition: str = ""
    holder: Path | None = None
    holder_definition: str = ""
    holder_path: Path | None = None
    is_text: bool = False
    problems: tuple[tuple[str, Problem], ...] = ()
    unread: tuple[tuple[Path, str], ...] = ()
    doubts: tuple[tuple[Path, str], ...] = ()
    units: tuple[int, int] | None = None
    borderline: Mark | None = None
    grades: tuple[tuple[str, Fraction], ...] = ()
    ids: tuple[str, ...] = ()
    weights: tuple[Decimal | None, ...] = ()
    tree: Group | None = None
    outline: Group | None = None
    _places: Mapping[Path, tuple[Path, bool]] = field(default_factory=dict)

    @property
    def schema(self) -> str:
        """The schema of the value at `path`."""
        return self.around or self.definition or self.dialect.schema

    @property
    def refusal(self) -> tuple[Path, str] | None:
        """Where in the document and why the rubric is neither scored nor converted; None if it is."""
        place, reason = self.doubts[0] if self.doubts else (self.path, self.unscorable)
        return (place, name_in(reason, self.document.source.name)) if reason else None

    def place(self, path: Path) -> Path:
        """Return the path in the document of a path in the words of version 2."""
        return self._find(path)[0]

    def reads(self, place: Path) -> bool:
        """Return whether a field in the document is a part of `data`, or within one."""
        ends = range(len(self.path) + 1, len(place) + 1)
        return any(place[:end] in self.sources for end in ends)

    @cached_property
    def sources(self) -> frozenset[Path]:
        """The places at which the parts of `data` are written."""
        return frozenset(place for place, _ in self._places.values())

    def find_written(self, path: Path) -> tuple[Path, bool] | None:
        """Return the place of a value, and whether it is in the key there; None if the document does not have it."""
        for length in range(len(path), -1, -1):
            if path[:length] in self._places:
                place, is_key = self._places[path[:length]]
                rest = path[length:]
                if not rest:
                    return place, is_key
                whole = (*place, *rest)
                return (whole, False) if follow(self.document.data, whole) == whole else None
        return None

    def _find(self, path: Path) -> tuple[Path, bool]:
        """Return the place, and whether the value is in the key there; for an unwritten value, its container."""
        found = self.find_written(path)
        if found:
            return found
        known = (path[:length] for length in range(len(path), -1, -1))
        return next((self._places[above] for above in known if above in self._places), (path, False))

    def translate(self, problem: Problem, *, is_placed: bool = False) -> Problem:
        """Return a problem that a rule found in the words of version 2 with its place in the document.

        With `is_placed`, its path is one of the document already.
        A repair in those words is of use only as a reason: what is not rewritten says so. One that moves whole criteria
        has their places in the document already. Those of our own format are repairs of the document.
        """
        path, part = (problem.path, problem.part) if is_placed else self._locate(problem.path, problem.part)
        if self.dialect is OWN and not path:  # the whole document has no key
            path, part = (CRITERIA,), Part.KEY
        related = tuple(
            RelatedPlace(place.message, *self._locate(place.path, place.part), place.span) for place in problem.related
        )
        repair, choices, obstacle = problem.repair, problem.choices, ""
        if self.dialect is OWN:
            repair = repair and self._move_repair(repair)
            choices = tuple(filter(None, map(self._move_repair, choices)))
            obstacle = problem.obstacle
        elif not self.document.kind.is_program:
            repair = None
            choices = tuple(
                choice for choice in choices if all(isinstance(intent, MoveItems) for intent in choice.intents)
            )
        return problem._replace(
            path=path, part=part, related=related, repair=repair, choices=choices, obstacle=obstacle
        )

    def format_mark(self, share: Mark) -> str:
        """Write a share in units of the rubric's own scale; without one as it is, from 0 to 1."""
        return format_in_units(to_fraction(share), self.units)

    def _move_repair(self, repair: Repair) -> Repair | None:
        """Return a repair at its places in the document; None if they do not have what it changes."""
        moved: list[Intent] = []
        for intent in repair.intents:
            if isinstance(intent, MoveItems):
                moved.append(intent)
                continue
            path = vars(intent)["path"]
            place = self.find_written(path)
            if place and path == self.path and isinstance(intent, Arrange | Reorder):
                place = self._find_list(place[0]), False
            is_mapping = place is not None and isinstance(self.document.value(place[0]), dict)
            if place is None or (isinstance(intent, AddField) and not is_mapping):
                return None
            if place[1] and not isinstance(intent, RenameKey):
                return None
            moved.append(intent.replace(path=place[0]))
        return repair._replace(intents=tuple(moved))

    def _find_list(self, place: Path) -> Path:
        """Return the place of the list of criteria of a rubric, which version 3 may have in a mapping."""
        return (*place, CRITERIA) if isinstance(self.document.value(place), dict) else place

    def _locate(self, path: Path, part: Part) -> tuple[Path, Part]:
        place, is_key = self._find(path)
        own_part = Part.KEY if is_key else part
        return place, own_part

    # The model asks a document these questions; here they are answered for `data`.
    @property
    def may_borrow(self) -> bool:
        """True if the document may have aliases or merge keys."""
        return self.document.may_borrow

    has_exact_numbers = False  # some are not written as values

    def is_alias(self, path: Path) -> bool:
        """Return whether the value at a path of `data` is written as an alias."""
        place = self._written_place(path)
        return place is not None and self.document.is_alias(place)

    def is_merged(self, path: Path) -> bool:
        """Return whether the field at a path of `data` comes from a merge key."""
        place = self._written_place(path)
        return place is not None and self.document.is_merged(place)

    def decimal(self, path: Path) -> Decimal | None:
        """Return the number at a path of `data` exactly as written, or an integer that is computed; else None."""
        place = self._written_place(path)
        if place is not None:
            return self.document.decimal(place)
        value: Any = self.data
        for step in path[len(self.path) :]:
            value = value[step]
        return Decimal(value) if type(value) is int else None

    @property
    def has_own_scalars(self) -> bool:
        """Whether the paths of `ambiguous_scalars` are those of `data`."""
        return bool(self.around) or self.dialect is OWN

    def ambiguous_scalars(self, within: Path) -> Iterator[tuple[Path, Ambiguity]]:
        """Find the plain scalars of the rubric that readers of YAML 1.1 and 1.2 read differently.

        Their paths are those of `data` or, as the schema of most dialects is about the document, those there.
        """
        found = self.document.ambiguous_scalars(within)
        if not self.has_own_scalars:
            yield from found
            return
        own = {place: path for path, (place, _) in self._places.items()}
        for place, ambiguity in found:
            end = -1 if self.dialect is OWN else len(place) - 1
            lengths = range(len(place), end, -1)
            for length in lengths:
                if place[:length] in own:
                    yield (*own[place[:length]], *place[length:]), ambiguity
                    break

    def _written_place(self, path: Path) -> Path | None:
        place, is_key = self._places.get(path, ((), True))
        return place if place and not is_key else None


_ABSENT = object()


class ViewBuilder:
    """A view under construction: parts of version 2 data, each with its place in the document."""

    def __init__(self, document: Document, path: Path) -> None:
        self.document = document
        self.path = path
        self._places: dict[Path, tuple[Path, bool]] = {path: (path, False)}

    def put(self, own: Path, source: Path, *, is_key: bool = False) -> None:
        """Record that the value at `own` in the data is written at `source`, or in the key there."""
        self._places[*self.path, *own] = source, is_key

    def place_of(self, own: Path) -> Path | None:
        """Return the place of the value at `own` in the data, if it is known."""
        found = self._places.get((*self.path, *own))
        return found and found[0]

    def rename(
        self, mapping: Mapping[str, Any], names: Mapping[str, str], own: Path, source: Path | None = None
    ) -> dict[str, Any]:
        """Return the fields of a mapping that are in `names`, renamed; `own` is its path in the data.

        `source` is its place in the document, if that is another one. A name with dots leads into mappings:
        `content.text`.
        """
        source = (*self.path, *own) if source is None else source
        self.put(own, source)
        found: dict[str, Any] = {}
        for key, name in names.items():
            value: Any = mapping
            steps = key.split(".")
            for step in steps:
                value = value.get(step, _ABSENT) if isinstance(value, dict) else _ABSENT
            if value is not _ABSENT:
                found[name] = value
                self.put((*own, name), (*source, *steps))
        return found

    def rename_items(
        self, items: list[Any], names: Mapping[str, str], own: Path = (), source: Path | None = None
    ) -> list[Any]:
        """Rename the fields of each mapping in a list as `rename` does; other items stay the same."""
        source = (*self.path, *own) if source is None else source
        return [
            self.rename(item, names, (*own, index), (*source, index)) if isinstance(item, dict) else item
            for index, item in enumerate(items)
        ]

    def make_levels(
        self, own: Path, place: Path, written: Iterable[tuple[Mapping[str, Any], Path]]
    ) -> list[Mapping[str, Any]]:
        """Return levels, each with its place, as those of the criterion at `own`; `place` is where all of them are."""
        levels = []
        self.put((*own, "levels"), place)
        for index, (level, spot) in enumerate(written):
            for part in ((), ("level",), ("expected_outcome",)):
                self.put((*own, "levels", index, *part), spot)
            levels.append(level)
        return levels

    def finish(self, dialect: Dialect, data: list[Any], **more: Any) -> View:
        """Return the view."""
        for index in range(len(data)):
            self._places.setdefault((*self.path, index), ((*self.path, index), False))
        return View(dialect, self.document, self.path, data, **more, _places=self._places)


OF_COURSES = frozenset({"points", "ratings", "levels", "criteria", "score", "max_points", "max_score"})
"""Fields of the criteria of courses, which have `rubric` and `rubrics` too."""


_OF_JUDGES = re.compile(r"(?:rubric|judge|eval)[^/\\]*(?:[/\\][^/\\]*)?\Z", re.IGNORECASE)


def is_named_for_judges(document: Document) -> bool:
    """Return whether the name of a file or of its folder says that a judge reads it: then fields may be strange."""
    return _OF_JUDGES.search(document.source.name) is not None


OF_FILES = frozenset({"criteria", "name", "title", "description", "version", "$schema"})
"""Fields at the top of a file of criteria, which scorecards and surveys have more of."""


def read_text(mapping: Mapping[str, Any], key: str) -> str:
    """Return the string under `key` in a mapping; empty if there is none."""
    value = mapping.get(key)
    return value if isinstance(value, str) else ""


def read_threshold(document: Document, path: Path, otherwise: Decimal | None = None) -> Decimal | None:
    """Return the number in 0..1 at a path of the document, exactly as written; else `otherwise`."""
    mapping = document.value(path[:-1])
    value = mapping.get(path[-1])
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return otherwise
    return document.decimal(path)

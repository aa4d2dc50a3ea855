"""Understand what a document holds of home-made rubrics: the criteria, the role of each key, and what is not known.

`understand` is the one function that says so; checks, `show`, `adopt`, scores and near misses ask it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from rubric_lint.format.view import View
from rubric_lint.messages import join_words, shorten
from rubric_lint.shapes.beside import Beside, What, find_beside
from rubric_lint.shapes.columns import Columns, Parsed, Role, look, read_columns
from rubric_lint.shapes.places import (
    Group,
    cluster,
    find_amounts,
    find_expected,
    find_groups,
    find_text_groups,
    is_named,
    last_word,
)
from rubric_lint.shapes.reading import read_shape
from rubric_lint.shapes.scores import adds_up, is_prose
from rubric_lint.shapes.shape import Shape, expand, list_words
from rubric_lint.shapes.table import (
    KEYS,
    Scale,
    TableWriter,
    find_names_in_doubt,
    generalize,
    is_harmless,
    list_unused,
    list_used,
)
from rubric_lint.shapes.vocabulary import vocabulary
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path, pointer
from rubric_lint.text.source import Kind, kind_of
from rubric_lint.text.tree import parts_of


class Sign(StrEnum):
    """What shows that a judge reads criteria, each by itself."""

    NAME = "their key"
    FILE = "the name of the file"
    DECLARED = "what is said beside them"
    TEXTS = "their texts"
    LEVELS = "the texts of their levels"
    MARKS = "gates, penalties, parts or a scale of their own"


class Decision(StrEnum):
    """What is done about a candidate."""

    READ = "read"
    TELL = "tell"
    SILENT = "silent"


@dataclass(frozen=True)
class Question:
    """What only the author of a file can say, with its place; without an answer, nothing is scored."""

    place: Path
    reason: str


@dataclass(frozen=True)
class Hints:
    """What the user says of a document: with `asks`, that it holds criteria, and the scale that it does not state."""

    scale: Scale | None = None
    asks: bool = False


@dataclass(frozen=True, eq=False)
class Candidate:
    """Criteria that a document may hold, in one place or in several of one form.

    `columns` are the keys of all of them by their role, `besides` what stands beside each group. `signs` speak for
    criteria of a judge, `against` names what speaks for another purpose. `siblings` are the places of other criteria.
    `table` describes them, `asked` are keys of criteria that may bear on the score, though nothing says how, and
    `unused` the places of all keys that the table does not use.
    """

    document: Document
    groups: Sequence[Group]
    columns: Columns
    besides: Sequence[Beside]
    signs: frozenset[Sign]
    against: str
    siblings: Sequence[Path]
    table: Mapping[str, Any]
    unused: Sequence[Path]
    asked: Sequence[str]
    is_asked_for: bool = False

    @property
    def paths(self) -> list[Path]:
        """The places of the criteria."""
        return [group.path for group in self.groups]

    @property
    def key(self) -> str:
        """What the criteria are called in messages; empty if they are the whole file."""
        return shorten(self.groups[0].key)

    @property
    def count(self) -> int:
        """The number of criteria, without their parts."""
        return sum(len(group.items) for group in self.groups)

    @property
    def is_declared(self) -> bool:
        """Whether something beside the criteria shows that they are scored."""
        return Sign.DECLARED in self.signs

    @property
    def is_own(self) -> bool:
        """Whether the name of the file says that it is a rubric."""
        return is_named(self.document, "own")

    @property
    def is_scored(self) -> bool:
        """Whether something says how much an answer may get for a criterion, or how much that counts."""
        is_shared = any(What.LEVELS in beside.places for beside in self.besides)
        return self.columns.is_scored or is_shared or (self.columns.has_text and "scale" in self.table)

    @property
    def are_texts(self) -> bool:
        """Whether each criterion is a text alone."""
        return self.groups[0].are_texts

    def as_table(self) -> dict[str, Any]:
        """Return the table that describes the criteria, without a name and files."""
        return dict(self.table)

    @cached_property
    def shape(self) -> Shape:
        """The table as it is used."""
        return Shape.from_table({"name": TITLE, **self.table})

    @cached_property
    def views(self) -> list[View]:
        """What the table reads, in the order of the document; nothing where it says in no words what is judged."""
        return list(read_shape(self.document, self.shape)) if self.table.keys() & {"outcome", "levels"} else []

    @cached_property
    def questions(self) -> list[Question]:
        """What the file leaves open, the first of which is the reason not to score it."""
        found = [Question(place, reason) for place, reason in self._list_open()]
        for view in self.views:
            found += [Question(place, reason) for place, reason in view.doubts]
            found += [Question(view.path, view.unscorable)] if view.unscorable else []
        return list(dict.fromkeys(found))

    def _list_open(self) -> Iterator[tuple[Path, str]]:
        path = self.paths[0]
        for names in self.columns.rivals.values():
            listed = join_words([f"`{shorten(name)}`" for name in names], "or")
            yield path, f"nothing says which of {listed} is the weight of a criterion"
        if self.columns.has(Role.TEXTS):
            lists = join_words([f"`{shorten(name)}`" for name in self.columns.names(Role.TEXTS)])
            yield path, f"the texts of its criteria are lists ({lists}), and nothing says how each of them counts"
        for sibling in self.siblings:
            name = shorten(str(next((step for step in reversed(sibling) if isinstance(step, str)), "")))
            yield sibling, f"`{name}` may hold criteria too, and is not read; run `rubric-lint adopt FILE`"

    @property
    def is_rubric(self) -> bool:
        """Whether three independent signs show that these are criteria of a judge, which something scores."""
        if (
            self.against
            or self.besides[0].is_never
            or not (self.columns.has_text and self.is_scored)
            or self.are_texts
            or self._adds_up()
        ):
            return False
        is_said = bool(self.signs & {Sign.TEXTS, Sign.LEVELS}) or self.is_own
        is_placed = Sign.FILE in self.signs or (self.is_declared and Sign.NAME in self.signs)
        is_several = self.count > 1 or {Sign.FILE, Sign.DECLARED} <= self.signs
        is_marked = Sign.NAME in self.signs or (self.is_own and self._count_marks() > 1) or Sign.LEVELS in self.signs
        if self.columns.guessed and Sign.FILE not in self.signs:
            return False
        return is_said and is_placed and is_several and is_marked and len(self.signs) >= _ENOUGH

    def _count_marks(self) -> int:
        return sum(self.columns.has(role) for role in (Role.WEIGHT, Role.LEVELS, Role.GATE)) + self.is_declared

    def _adds_up(self) -> bool:
        """Return whether the points in some lists repeat, so that they are no levels."""
        return any(
            adds_up(look(entry, name)) for entry in self.columns.entries for name in self.columns.names(Role.LEVELS)
        )

    @property
    def is_near(self) -> bool:
        """Whether they may well be criteria of a judge, so that a note is worth the reader's time."""
        if any(beside.is_never or beside.are_cases for beside in self.besides):
            return False
        two = sum(self.columns.has(role) for role in (Role.WEIGHT, Role.LEVELS, Role.GATE)) > 1
        has_prose = self.columns.has_text or self.columns.has(Role.TEXTS)
        if self.against:
            is_plain = self.against in vocabulary().foreign.plain and Sign.TEXTS in self.signs
            is_sure = bool(self.signs & {Sign.FILE, Sign.TEXTS})
            if not is_plain:
                return (
                    self.is_scored
                    and self.columns.has_text
                    and is_sure
                    and (self.is_declared or two or Sign.MARKS in self.signs)
                )
        if self.are_texts:
            return self.is_own or self.is_declared or self.is_asked_for or is_named(self.document, "judged")
        is_list = self.count > 1 or self.is_declared or Sign.LEVELS in self.signs
        if (
            {Sign.NAME, Sign.FILE} <= self.signs
            and self.count > 1
            and (self.is_declared or Role.SCALE in self.columns.roles)
        ):
            return True
        is_known = Sign.NAME in self.signs or self._has_deductions()
        is_marked = is_known or self.groups[0].is_marked or (len(self.paths[0]) == 1 and self._are_questions())
        is_placed = bool(self.paths[0]) or self.is_declared
        return (self.is_scored and has_prose and is_list and is_known) or (self.is_own and is_placed and is_marked)

    def _are_questions(self) -> bool:
        """Return whether the texts ask what a judge is to answer."""
        names = self.columns.names(Role.TEXT)
        texts = [str(look(entry, name)) for entry in self.columns.entries for name in names if look(entry, name)]
        return bool(texts) and all(text.rstrip().endswith("?") for text in texts)

    def _has_deductions(self) -> bool:
        """Return whether the weights are whole and some are below 0; coefficients have fractions."""
        weights = [entry["weight"] for entry in self.columns.entries if "weight" in entry]
        return all(type(weight) is int for weight in weights) and any(weight < 0 for weight in weights)

    @property
    def decision(self) -> Decision:
        """Whether the criteria are read and scored, told with the first open question, or left alone."""
        if self.is_rubric and self.views:
            return Decision.TELL if self.questions else Decision.READ
        return Decision.TELL if self.is_near else Decision.SILENT


TITLE = "home-made rubrics"
"""What messages call the format."""

_ENOUGH = 3
"""The bar: so many independent signs show that criteria are those of a judge."""


def understand(document: Document, hints: Hints = Hints()) -> list[Candidate]:
    """Return what a document may hold of home-made rubrics, the most criteria first."""
    if kind_of(document.source.name) is Kind.JSON_LINES:
        return []
    parsed = Parsed()
    groups = find_groups(document, parsed)
    marked = [group for group in groups if group.is_marked and group.columns.has(Role.TEXT, Role.TEXTS, Role.LEVELS)]
    named = [group for group in groups if last_word(group.key) in vocabulary().containers.strong]
    found = marked or named or _choose_texts(document, parsed) or groups
    if not found and is_named(document, "own"):
        found = find_amounts(document)[:1]
    builder = _Builder(document, parsed, hints)
    made = [each for alike in cluster(found) for each in builder.build(alike)]
    paths = [path for each in made for path in each.paths]
    read = {place for each in made for beside in each.besides for place in beside.places.values()}
    siblings = list(_find_siblings(document, parsed, [*paths, *read]))
    made = [replace(each, siblings=siblings) for each in made] if siblings else made
    return sorted(made, key=lambda each: -each.count)


def _choose_texts(document: Document, parsed: Parsed) -> list[Group]:
    """Return the texts that may be criteria: those that all cases expect, or else the most with a known name."""
    if not (is_named(document, "judged") or is_named(document, "own")):
        return []
    if expected := find_expected(document):
        return expected
    every = [group for group in find_text_groups(document) if not parsed.levels(document.value(group.path))]
    known = [group for group in every if group.path and last_word(group.key) in vocabulary().containers.strong]
    words = vocabulary().beside
    beside = {*words.scale, *words.passes}
    known = known or [group for group in every if group.path and not beside.isdisjoint(document.value(group.path[:-1]))]
    return sorted(known, key=lambda group: -len(group.items))[:1]


def _find_siblings(document: Document, parsed: Parsed, paths: Sequence[Path]) -> Iterator[Path]:
    """Find what holds criteria by its name, or by what is in it, beside those that are known."""
    for path, mapping in document.mappings:
        for key, value in mapping.items():
            place = (*path, key)
            is_related = any(place[: len(each)] == each or each[: len(place)] == place for each in paths)
            is_other = last_word(key) in _OTHERS or not _KINDS_OF_CHECKS.isdisjoint(list_words(key))
            if is_other and not is_related and not parsed.levels(value) and _holds_criteria(value):
                yield place


_OTHERS = frozenset({"criteria", "dimensions", "rubrics", "rubric"})
_KINDS_OF_CHECKS = frozenset({"check", "checks", "deterministic", "automatic", "automated"})


def _holds_criteria(value: Any) -> bool:
    """Return whether a value holds mappings with texts, or lists of some: criteria, perhaps of several kinds."""
    parts = parts_of(value)
    inner = [each for part in parts for each in parts_of(part) if isinstance(each, dict)]
    entries = [*(each for each in parts if isinstance(each, dict)), *inner]
    return any(is_prose(text) and text.isascii() for entry in entries for text in entry.values())


class _Builder:
    def __init__(self, document: Document, parsed: Parsed, hints: Hints) -> None:
        self.document, self.parsed, self.hints = document, parsed, hints

    def build(self, groups: Sequence[Group]) -> list[Candidate]:
        """Return a candidate for groups of one form, or one for each if no pointer leads to them alone."""
        at = tuple(
            steps[0] if isinstance(steps[0], str) and len({*steps}) == 1 else "*"
            for steps in zip(*(group.path for group in groups), strict=True)
        )
        places = {
            path
            for path, _ in expand(self.document.data, pointer(at))
            if any(isinstance(each, str | dict) for each in parts_of(self.document.value(path)))
        }
        if len(groups) > 1 and not groups[0].are_texts and places != {group.path for group in groups}:
            return [self._build([group], group.path) for group in groups]
        return [self._build(groups, at)]

    def _build(self, groups: Sequence[Group], at: Path) -> Candidate:
        document = self.document
        columns = groups[0].columns
        if len(groups) > 1 and not groups[0].are_texts:
            items = [entry for group in groups for entry in group.items.values()]
            is_map = all(group.is_map for group in groups)
            parts = columns.names(Role.PARTS)
            columns = read_columns(self.parsed, items, is_map=is_map, parts=parts) or columns
        elif len(groups) > 1:
            columns = replace(columns, entries=[entry for group in groups for entry in group.items.values()])
        besides = [find_beside(document, self.parsed, group) for group in groups]
        table = TableWriter(document, self.parsed, groups, columns, at, self.hints.scale).write(besides)
        own = list_used(table, columns, table.get("negative", {}))
        known = {at, *self._list_places(table)}
        prefixes = {place[:length] for place in known for length in range(len(place) + 1)}
        unused: list[Path] = []
        for group, beside in zip(groups, besides, strict=True):
            around = ((*above, key) for above, mapping in beside.holders for key in mapping)
            places = (*around, *list_unused(group, own))
            unused += [place for place in places if generalize(place, at) not in prefixes]
        unused = list(dict.fromkeys(unused))
        shape = Shape.from_table({"name": "", **table})
        in_doubt = find_names_in_doubt(document, shape, groups)
        inside = {group.path for group in groups}
        left = dict.fromkeys(str(place[-1]) for place in unused if place[:-2] in inside and place[-1] not in in_doubt)
        harmless = [key for key in left if is_harmless(key, [entry[key] for entry in columns.entries if key in entry])]
        if harmless:
            table["unused"] = harmless
        return Candidate(
            document,
            groups,
            columns,
            besides,
            self._find_signs(groups, columns, besides),
            besides[0].foreign or besides[0].foreign_field,
            (),
            {key: table[key] for key in KEYS if key in table},
            unused,
            [key for key in left if key not in harmless],
            self.hints.asks,
        )

    @staticmethod
    def _list_places(table: Mapping[str, Any]) -> Iterator[Path]:
        values = [item for value in table.values() for item in (value if isinstance(value, list) else [value])]
        yield from (tuple(value.split("/")[1:]) for value in values if isinstance(value, str) and value.startswith("/"))

    def _find_signs(self, groups: Sequence[Group], columns: Columns, besides: Sequence[Beside]) -> frozenset[Sign]:
        group = groups[0]
        signs: set[Sign] = set()
        last = last_word(str(group.path[-1])) if group.path else ""
        is_common = not isinstance(group.path[-1] if group.path else 0, str) or last in vocabulary().containers.common
        words = vocabulary().containers
        steps = [step for step in group.path if isinstance(step, str)]
        is_file = not group.path and isinstance(self.document.data, list) and is_named(self.document, "own")
        if is_file or any(last_word(step) in words.strong for step in steps):
            signs.add(Sign.NAME)
        if self._is_file_named(columns, is_common=is_common):
            signs.add(Sign.FILE)
        if besides[0].is_declared:
            signs.add(Sign.DECLARED)
        if columns.are_statements:
            signs.add(Sign.TEXTS)
        if self._are_levels_described(columns):
            signs.add(Sign.LEVELS)
        is_answered = vocabulary().sets["answered"].issuperset(columns.names(Role.TEXT) or ("",))
        if is_answered or columns.has(Role.GATE, Role.NEGATIVE, Role.POSITIVE, Role.POLARITY, Role.PARTS, Role.SCALE):
            signs.add(Sign.MARKS)
        return frozenset(signs)

    def _is_file_named(self, columns: Columns, *, is_common: bool) -> bool:
        """Return whether the name of the file says that a judge reads it, or that of its folder, if the key helps."""
        document = self.document
        kinds = ("judged", "described") if columns.has(Role.LEVELS) else ("judged",)
        if not is_common:
            return any(is_named(document, kind) for kind in kinds)
        name = document.source.name.replace("\\", "/").rpartition("/")[2]
        return any(re.search(vocabulary().files[kind], name, re.IGNORECASE) for kind in kinds)

    def _are_levels_described(self, columns: Columns) -> bool:
        described = 0
        for entry in columns.entries:
            levels = [self.parsed.levels(look(entry, name)) for name in columns.names(Role.LEVELS)]
            described += any(each is not None and each.is_described for each in levels)
        return 2 * described > len(columns.entries)

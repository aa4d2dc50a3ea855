"""Criteria that a document may hold: what speaks for them, the table that describes them, and what is left open."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from rubric_lint.formats.home_made.columns import MARKS, CriteriaColumns, is_answered, look
from rubric_lint.formats.home_made.format_table import FormatTable, split_words
from rubric_lint.formats.home_made.places import CriteriaGroup, is_container, is_line, is_named
from rubric_lint.formats.home_made.reading import read_all
from rubric_lint.formats.home_made.roles import Role
from rubric_lint.formats.home_made.scores import adds_up
from rubric_lint.formats.home_made.surroundings import Surroundings
from rubric_lint.formats.home_made.table_writer import (
    UnusedKeys,
    count_shared,
    find_unused_keys,
    generalize,
    sort_table,
)
from rubric_lint.formats.home_made.unmapped_key import ADOPT
from rubric_lint.formats.home_made.vocabulary import SETS, Foreign
from rubric_lint.model.messages import quote_names, shorten
from rubric_lint.model.view import View
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path, pointer
from rubric_lint.source.tree import parts_of


class EvidenceKind(StrEnum):
    """A fact that shows by itself that a judge reads criteria; messages list the values."""

    NAME = "their key"
    FILE = "the name of the file"
    DECLARED = "what is said next to them"
    TEXTS = "their texts"
    LEVELS = "the texts of their levels"
    MARKS = "their gates, penalties, parts or scales"


ENOUGH = 3
"""The bar: so many independent kinds of evidence show that criteria are those of a judge."""

TITLE = "home-made rubrics"
"""What messages call the format."""


@dataclass(frozen=True)
class Question:
    """What only the author of a file can say, with its place; without an answer, nothing is scored.

    `keys` are those it is about: one of them has the `role`, or, with `unused`, none of them counts. `view` is the
    rubric that it is about, if the reading of that asks it.
    """

    document: Document = field(compare=False)
    place: Path
    reason: str
    keys: tuple[str, ...] = ()
    role: str = "unused"
    view: View | None = field(default=None, compare=False)


@dataclass(frozen=True, eq=False)
class Candidate:
    """Criteria that a document may hold, in one place or in several of one form; several documents may have the form.

    `columns` are the keys of all of them by their role, `surroundings` what stands around each group, and `evidence`
    what shows that a judge reads them. `siblings` are the places of other criteria. `written` is the table that
    describes them.
    """

    groups: Sequence[CriteriaGroup]
    at: Path
    columns: CriteriaColumns
    surroundings: Sequence[Surroundings]
    evidence: frozenset[EvidenceKind]
    written: Mapping[str, Any]
    siblings: Sequence[Path] = ()

    # What it is.

    @property
    def document(self) -> Document:
        """The document of the criteria, the first if they are in several."""
        return self.groups[0].document

    @property
    def documents(self) -> list[Document]:
        """The documents of the criteria."""
        return list(dict.fromkeys(group.document for group in self.groups))

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
    def are_texts(self) -> bool:
        """Whether each criterion is a text alone."""
        return self.groups[0].are_texts

    @property
    def are_amounts(self) -> bool:
        """Whether each criterion is a name with a number alone."""
        return all(isinstance(part, int | float) for part in parts_of(self.document.value(self.groups[0].path)))

    @property
    def against(self) -> str:
        """The key that files of another purpose have; empty if there is none."""
        nearest = self.surroundings[0]
        return nearest.foreign or nearest.foreign_field

    @property
    def is_own(self) -> bool:
        """Whether the name of the file says that it is a rubric."""
        return is_named(self.document, "own")

    @property
    def is_declared(self) -> bool:
        """Whether something next to the criteria shows that they are scored."""
        return EvidenceKind.DECLARED in self.evidence

    @property
    def is_scored(self) -> bool:
        """Whether something says how much an answer may get for a criterion, or how much that counts."""
        is_shared = any(Role.LEVELS in nearby.places for nearby in self.surroundings)
        return self.columns.is_scored or is_shared or (self.columns.has_text and "scale" in self.written)

    # What is done about it.

    @cached_property
    def is_rubric(self) -> bool:
        """Whether three independent signs show that these are criteria of a judge, which something scores."""
        is_other = self.is_apart or self.against or self.are_texts or is_line(self.document)  # the criteria of one case
        if is_other or not (self.columns.has_text and self.is_scored):
            return False
        if self.adds_up or (self.columns.guessed and EvidenceKind.FILE not in self.evidence):
            return False
        is_said = bool(self.evidence & {EvidenceKind.TEXTS, EvidenceKind.LEVELS}) or self.is_own
        is_placed = EvidenceKind.FILE in self.evidence or (self.is_declared and EvidenceKind.NAME in self.evidence)
        is_several = self.count > 1 or {EvidenceKind.FILE, EvidenceKind.DECLARED} <= self.evidence
        is_marked = self.evidence & {EvidenceKind.NAME, EvidenceKind.LEVELS} or (
            self.is_own and self._count_marks() + self.is_declared > 1
        )
        return is_said and is_placed and is_several and bool(is_marked) and len(self.evidence) >= ENOUGH

    @cached_property
    def is_near(self) -> bool:
        """Whether they may well be criteria of a judge, so that a note is worth the reader's time."""
        is_none = self.is_apart or self._is_measured()
        if is_none or self.groups[0].are_names or self.groups[0].are_pairs:
            return not is_none and self.is_own and EvidenceKind.FILE in self.evidence
        if self.against:
            is_plain = self.against in Foreign.plain and EvidenceKind.TEXTS in self.evidence
            if not is_plain:
                return self._is_near_others()
        if self.are_texts:
            return self.is_own or self.is_declared or is_named(self.document, "judged")
        is_known = EvidenceKind.NAME in self.evidence
        is_stated = self.is_declared or self.columns.has(Role.SCALE, Role.WEIGHT_WORDS) or bool(self.columns.ladder)
        if is_known and EvidenceKind.FILE in self.evidence and self.count > 1 and is_stated:
            return True
        has_prose = self.columns.has_text or self.columns.has(Role.TEXTS)
        is_list = self.count > 1 or self.is_declared or EvidenceKind.LEVELS in self.evidence
        is_known_here = is_known and (EvidenceKind.FILE in self.evidence or not self._has_gates_only())
        has_mark = EvidenceKind.TEXTS in self.evidence and Role.PASS in self.surroundings[0].places
        is_declared_here = has_mark and is_named(self.document, "judged")
        if self.is_scored and has_prose and is_list and (is_known_here or is_declared_here or self._has_deductions()):
            return True
        says_enough = self.is_scored and EvidenceKind.TEXTS in self.evidence
        is_placed = bool(self.groups[0].path) or self.is_declared or says_enough
        is_asked = len(self.groups[0].path) == 1 and self._are_questions()
        is_passed = self.columns.has(Role.TEXTS) and self.columns.has(Role.GATE)
        return self.is_own and is_placed and (is_known or self._is_marked() or is_asked or is_passed)

    @cached_property
    def is_likely(self) -> bool:
        """Whether a file that is named for a rubric is about items with a name of their own that say what is judged.

        They are a good part of it, near the top, and hold no other mappings but levels, as those of data do.
        """
        is_other = self.is_apart or self.against or self._are_of_people() or self._are_pages()
        if not is_named(self.document, "rubric") or self.count == 1 or is_other:
            return False
        path = self.groups[0].path
        is_near_top = len(path) < 3 and all(isinstance(step, str) for step in path)
        is_main = is_near_top and 4 * self.count >= len(self.document.mappings)
        is_titled = all(group.is_map for group in self.groups) or self.columns.has(Role.ID)
        is_sure = not self.columns.guessed or self.is_declared or self.columns.has(Role.WEIGHT, Role.LEVELS)
        is_said = (self.columns.are_statements and is_sure) or self.columns.has(Role.TEXTS) or self.columns.ladder
        return is_main and is_titled and bool(is_said) and self.columns.are_flat

    def _is_measured(self) -> bool:
        """Return whether most items have no text, but the place of a program or of its data."""
        if self.columns.has(Role.TEXT, Role.TEXTS, Role.LEVELS):
            return False
        measured = 0
        for entry in self.columns.entries:
            if any(_leads_to_code(key, value) for key, value in entry.items()):
                measured += 1
        return 2 * measured > len(self.columns.entries)

    def _is_marked(self) -> bool:
        """Return whether something says that the items are scored; many things may be required."""
        return self.groups[0].is_marked and (is_container(self.groups[0].key) or not self._has_gates_only())

    def _has_gates_only(self) -> bool:
        return self.columns.is_scored and not self.columns.has(*(role for role in MARKS if role is not Role.GATE))

    def _is_near_others(self) -> bool:
        """Return whether criteria with a key that files of another purpose have are worth a note all the same."""
        nearest = self.surroundings[0]
        is_twice_foreign = bool(nearest.foreign and nearest.foreign_field)  # next to the criteria, and in them
        is_sure = bool(self.evidence & {EvidenceKind.FILE, EvidenceKind.TEXTS}) and not is_twice_foreign
        is_marked = self.is_declared or self._count_marks() > 1 or is_answered(self.columns)
        return self.is_scored and self.columns.has_text and is_sure and is_marked

    @property
    def is_apart(self) -> bool:
        """Whether a key shows that the file is of another tool, or that the items are cases."""
        return any(nearby.is_never or nearby.are_cases for nearby in self.surroundings)

    @property
    def adds_up(self) -> bool:
        """Whether the points in some lists repeat, so that they are no levels."""
        names = self.columns.names(Role.LEVELS)
        return any(adds_up(look(entry, name)) for entry in self.columns.entries for name in names)

    def _count_marks(self) -> int:
        return sum(self.columns.has(role) for role in (Role.WEIGHT, Role.LEVELS, Role.GATE))

    def _are_questions(self) -> bool:
        """Return whether the texts ask what a judge is to answer."""
        texts = self._list_texts()
        return bool(texts) and all(text.rstrip().endswith("?") for text in texts)

    def _are_of_people(self) -> bool:
        """Return whether most texts are what people say of themselves in a survey."""
        texts = self._list_texts()
        return bool(texts) and 2 * sum(text.split()[:1] in (["I"], ["My"]) for text in texts) > len(texts)

    def _are_pages(self) -> bool:
        """Return whether most items have what a site shows of its sections."""
        having = [not SETS["pages"].isdisjoint(entry) for entry in self.columns.entries]
        return 2 * sum(having) > len(having)

    def _list_texts(self) -> list[str]:
        names = self.columns.names(Role.TEXT)
        return [str(look(entry, name)) for entry in self.columns.entries for name in names if look(entry, name)]

    def _has_deductions(self) -> bool:
        """Return whether the weights are whole and some are below 0; coefficients have fractions."""
        weights = [entry["weight"] for entry in self.columns.entries if "weight" in entry]
        return all(type(weight) is int for weight in weights) and any(weight < 0 for weight in weights)

    # How it is read.

    @cached_property
    def unused_keys(self) -> UnusedKeys:
        """What the table does not use."""
        return find_unused_keys(self.groups, self.at, self.columns, self.surroundings, table=self.written)

    @property
    def roles(self) -> dict[str, Role]:
        """The role of every key of the criteria."""
        left = dict.fromkeys((str(place[-1]) for _, place in self.unused_keys.inside), Role.OPEN)
        known = {name: role for role, names in self.columns.roles.items() for name in names}
        return {**left, **dict.fromkeys(self.unused_keys.harmless, Role.HARMLESS), **known}

    def as_table(self) -> dict[str, Any]:
        """Return the table that describes the criteria, without a name and files."""
        unused = list(dict.fromkeys([*self.written.get("unused", ()), *self.unused_keys.harmless]))
        table = dict(self.written)
        if unused:
            table["unused"] = unused
        return sort_table(table)

    @cached_property
    def format_table(self) -> FormatTable:
        """The table as it is used."""
        return FormatTable.from_table({"name": TITLE, **self.as_table()})

    @cached_property
    def views(self) -> list[View]:
        """What the table reads, in the order of the document; nothing where it says in no words what is judged."""
        return read_all(self.documents, self.format_table)

    def ask_about_others(self, views: Sequence[View], known: Collection[str] = ()) -> Iterator[Question]:
        """Ask about what may bear on the score and is neither one of the keys `known` nor a doubt of the rubrics."""
        in_doubt: set[str | int] = set()
        for view in views:
            for place, _ in view.doubts:
                in_doubt.update(place[len(view.path) + 1 :])
        names = [name for name in self.unused_keys.open if views and name not in in_doubt and name not in known]
        if names:
            document, place = next(pair for pair in self.unused_keys.inside if pair[1][-1] == names[0])
            listed = quote_names(names)
            reason = f"{listed} of the criteria may bear on the score, and nothing says how; {ADOPT}"
            yield Question(document, place, reason, tuple(names))

    def ask(self) -> Iterator[Question]:
        """Ask what the file leaves open whatever the table says."""
        document, path = self.document, self.groups[0].path
        rivals = self.columns.rivals
        if rivals:
            reason = f"nothing says which of {quote_names(rivals, 'or')} is the weight of a criterion; {ADOPT}"
            yield Question(document, path, reason, rivals, "weight")
        if self.columns.has(Role.TEXTS):
            lists = quote_names(self.columns.names(Role.TEXTS))
            reason = f"the texts of its criteria are lists ({lists}), and nothing says how each of them counts"
            yield Question(document, path, reason, self.columns.names(Role.TEXTS), "outcome")
        names = self.columns.ladder
        if names:
            listed = quote_names(names)
            reason = f"{listed} may be levels, which are read only below one key of each criterion"
            yield Question(document, path, reason, names, "levels")
        for sibling in self.siblings:
            name = shorten(str(next((step for step in reversed(sibling) if isinstance(step, str)), "")))
            reason = f"`{name}` may hold criteria too, and is not read; {ADOPT}"
            own = max(self.paths, key=lambda path: count_shared(path, sibling))
            yield Question(document, sibling, reason, (pointer(generalize(sibling, self.at, own)),))


def choose_likely(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the most items that may be criteria of a file that is named for a rubric, whatever they are called."""
    likely = [candidate for candidate in candidates if candidate.is_likely]
    return sorted(likely, key=lambda candidate: -candidate.count)[:1]


def _leads_to_code(key: str, value: Any) -> bool:
    """Return whether a value names a program, or the folder of what it measures."""
    is_program = isinstance(value, str) and re.search(r"\.(?:py|js|ts|sh|go|rb)(?::|\Z)", value) is not None
    return is_program or (isinstance(value, str) and not SETS["programs"].isdisjoint(split_words(key)))


def find_ends(entry: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the lowest and the highest level of a criterion that is read, nothing if it has none."""
    numbers = [level["level"] for level in entry.get("levels", ()) if level["level"] is not None]
    return (min(numbers), max(numbers)) if numbers else ()

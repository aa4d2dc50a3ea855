"""Read the rubrics of a document as a table describes them, each part with its place."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from rubric_lint.formats.home_made.direction import format_fall
from rubric_lint.formats.home_made.format_table import (
    YES_NO,
    FormatTable,
    Marks,
    Names,
    NumberOrPointer,
    dialect_of,
    expand,
    is_star,
    split_words,
    star_pattern,
)
from rubric_lint.formats.home_made.roles import Role, is_total, says_sum
from rubric_lint.formats.home_made.scores import (
    RANGE,
    Ends,
    find_other_kind,
    is_amount,
    read_ends,
    read_levels,
    read_percent,
    read_score,
    read_share,
)
from rubric_lint.formats.home_made.unmapped import UnmappedSearch, find_in_level
from rubric_lint.formats.home_made.unmapped_key import UnmappedKey
from rubric_lint.model.criterion import (
    ASKED,
    HIGHEST,
    SPAN,
    JudgeQuestion,
    as_levels,
    is_number,
    read_number,
    to_fraction,
)
from rubric_lint.model.finding import Problem, RelatedPlace
from rubric_lint.model.messages import describe, join_words, name_scores, shorten
from rubric_lint.model.view import Dialect, View, ViewBuilder
from rubric_lint.rules.inverted_scale import find_fall
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path, follow, pointer, split_pointer
from rubric_lint.source.tree import items_of

_WIDEST = 1000
"""The widest scale of which each score is a level."""

_NOT_MET = JudgeQuestion("yes or no", 0, is_negated=True)
_NO_OR_YES = (Fraction(0), Fraction(1))
"""The ends of the scale of a criterion that is met or not."""
_EXACT = Context(prec=20, rounding=ROUND_FLOOR)

_NO_SCALE = (
    "no field of its file and no table says on which scale a criterion is scored; "
    "to say it, run `rubric-lint adopt FILE --scale yes-no`, or `--scale 1-5`"
)

_HIGHEST = ("max_score", "score_max", "scale_max", "max_points", "max_total", "total_points_possible")

_PERCENT = range(20, 101)
"""Numbers that may be meant in percent where no score is as high."""

_POINTS = frozenset({"points", "pts", "marks", "score", "max", "maximum"})
"""Words in the name of a weight that is the highest score of its criterion."""

_STEPS = frozenset({"step", "steps", "increment", "increments", "interval", "granularity", "precision"})
"""Words in the name of what says how far the scores of a scale are apart."""

_NODES = frozenset({"children", "child_nodes", "nodes", "subtasks", "sub_tasks", "branches"})
"""What holds the nodes of a tree, whose scores combine in another way than those of a list."""

_LONG = 10
"""The end of a scale from which a threshold of 1 may be meant as 1.0, the whole of it."""


class PlacedValue(NamedTuple):
    """A value and its place in the document."""

    value: Any
    place: Path


class _WrittenLevel(NamedTuple):
    """A level as it is written: its number if it has one, its text, and their places; a key may hold the number."""

    number: Decimal | None
    name: str
    text: Any
    place: Path
    number_place: Path
    text_place: Path
    is_key: bool = False

    @property
    def part(self) -> Part:
        """The part of the value at its place that holds the number."""
        return Part.KEY if self.is_key else Part.VALUE


class _WrittenCriterion(NamedTuple):
    """A criterion as it is written: its place, its value, its key in a map, the ids above it, and its share of them.

    With `is_level`, it is one of several levels that add up, and met or not.
    """

    place: Path
    value: Any
    key: str | None
    above: tuple[str, ...] = ()
    share: Fraction = Fraction(1)
    is_level: bool = False


def read_by_tables(document: Document, tables: Iterable[FormatTable]) -> list[View]:
    """Return the rubrics of a document that tables describe; each place belongs to the first table.

    What one table says of criteria that it does not read is left out if another one reads them.
    """
    found: dict[Path, View] = {}
    for table in tables:
        for view in read_by_table(document, table):
            first = found.setdefault(view.path, view)
            if first is not view:
                values = {"first": first.dialect.title, "second": table.name}
                problem = Problem("second-table", view.path, Part.HEAD, values)
                found[view.path] = replace(first, problems=(*first.problems, ("schema", problem)))
    read = {path[:length] for path in found for length in range(1, len(path) + 1)}
    views = []
    for view in found.values():
        read_by_others = read - {view.path}
        doubts = tuple(doubt for doubt in view.doubts if doubt[0] not in read_by_others)
        views.append(replace(view, doubts=doubts))
    return views


def read_by_table(document: Document, table: FormatTable, dialect: Dialect | None = None) -> Iterator[View]:
    """Read the rubrics that a table describes; `dialect` is that of a table which is built in."""
    for path, bound in expand(document.data, table.criteria):
        value = document.value(path)
        if isinstance(value, list | dict) and any(isinstance(part, str | dict) for part in _values(value)):
            reader = _RubricReader(document, table, path, bound)
            view = reader.read(value, dialect or dialect_of(table))
            yield view if dialect else reader.add_doubts(view, value)


def find_lack(document: Document, table: FormatTable) -> Problem:
    """Say that a document has no criteria where a table looks for them, at the nearest place that it has."""
    values = {"shape": table.name, "pointer": table.criteria or "the top"}
    return Problem("no-criteria", follow(document.data, split_pointer(table.criteria)), Part.HEAD, values)


def _values(holder: Any) -> Iterable[Any]:
    return holder.values() if isinstance(holder, dict) else holder


class _RubricReader:
    """Reads the criteria at a path; `bound` is what each `*` of the pointer to them stands for."""

    def __init__(self, document: Document, table: FormatTable, path: Path, bound: tuple[str | int, ...]) -> None:
        self.document, self.table, self.path, self.bound = document, table, path, bound
        self.draft = ViewBuilder(document, path)
        self.problems: list[tuple[str, Problem]] = []
        self.refusal = ""
        self.doubts: list[tuple[Path, str]] = []
        self.in_levels: list[UnmappedKey] = []
        """What levels say and is not read."""
        self.labels: Mapping[Decimal | None, str] = {}
        """The names of the scores of a scale."""
        self.data: list[Any] = []
        self.places: set[Path] = set()
        """What pointers from the top lead to."""
        self.used: set[str] = set()
        """The names of fields that some criterion has."""
        self.shared: list[PlacedValue] = []
        """The weights of criteria that have parts."""
        self.ends: list[Ends | None] = []
        """The ends of the scale of each criterion, None for one that is met or not."""
        self.weights: dict[int, Fraction] = {}
        """The weights of criteria by their index."""
        self.points = Fraction(0)
        self.whole = Fraction(0)
        """What the highest scores add up to, each times its weight; at least the sum of the weights."""
        self.is_pass_part = False
        self.passes = self._read_setting("pass", table.passes)
        self.is_unsaid = False  # whether nothing says on which scale a criterion is scored
        self.is_unscaled = False  # whether the scale is written, but is none that can be scored
        scale = table.scale if isinstance(table.scale, tuple) else (table.scale,)
        named = {"scale": scale, "levels": table.levels, "gate": [name for name, _ in table.gate]}
        for setting, names in named.items():
            for name in names:
                if isinstance(name, str) and name.startswith("/"):
                    self._check_pointer(setting, name)

    def _check_pointer(self, setting: str, written: str) -> None:
        """Report a pointer that leads nowhere, and one to the gate of each criterion that is not a number."""
        found = self._follow(written)
        if found is None:
            self._report_lost(setting, written)
        elif setting == "gate" and not is_amount(found.value):
            self._report_kind(f"`{found.place[-1]}` is", found.place, "a number")

    def read(self, value: Any, dialect: Dialect) -> View:
        criteria = list(self._list_criteria(self.path, value))
        for index, criterion in enumerate(criteria):
            self.draft.put((index,), criterion.place)
            is_entry = isinstance(criterion.value, str | dict)
            self.data.append(self._read_entry(index, criterion) if is_entry else criterion.value)
        self._unify()
        self._weigh(criteria)
        threshold, place = self._find_threshold()
        several = {"expected_outcome": self.table.outcome, "id": self.table.id, "weight": self.table.weight}
        fields = dict(dialect.fields)
        for ours, theirs in several.items():
            if len(theirs) > 1:  # messages name the one that these criteria have
                fields[ours] = next((name for name in theirs if name in self.used), theirs[0])
        return self.draft.finish(
            dialect if fields == dialect.fields else replace(dialect, fields=fields),
            self.data,
            name=self._read_text(self.table.rubric),
            task=self._read_text(self.table.task),
            threshold=threshold,
            threshold_path=place,
            unscorable=self.refusal,
            doubts=tuple(self.doubts),
            problems=tuple(self.problems),
        )

    def add_doubts(self, view: View, value: Any) -> View:
        """Return a rubric with what is not read of it; it is not scored if some of that may decide."""
        scales = {ends for ends in self.ends if ends}
        read = self.places | view.sources
        search = UnmappedSearch(self.document, self.table, self.path, read, scales, is_described=False)
        unmapped = [key for key in search.find_all() if not self._is_read_otherwise(key)]
        unmapped += self.in_levels
        if len(scales) == 1 and self.table.combine != "share":
            (ends,) = scales
            self._check_unread_marks(unmapped, ends)
        firsts: dict[str, Path] = {}
        for place, reason in [*self.doubts, *((key.place, key.reason) for key in unmapped)]:
            firsts.setdefault(reason, place)
        doubts = tuple((place, reason) for reason, place in firsts.items())
        self.problems += self._find_unused_names(value)
        return replace(view, doubts=doubts, problems=tuple(self.problems))

    def _check_unread_marks(self, unmapped: Iterable[UnmappedKey], ends: Ends) -> None:
        """Report numbers that may be pass marks, and that no score reaches on the scale with these ends."""
        for key in unmapped:
            number = self._read_number(PlacedValue(key.value, key.place))
            if key.role not in (Role.PASS, Role.VERDICT) or number is None:
                continue
            if number > ends[1] and not self._is_of_whole(number):
                self._report_threshold(key.place, number, ends, "threshold is never met")

    def _report(
        self,
        rule: str,
        code: str,
        place: Path,
        values: Mapping[str, Any],
        part: Part = Part.VALUE,
        *related: RelatedPlace,
    ) -> None:
        self.problems.append((rule, Problem(code, place, part, values, related)))

    # Places and values.

    def _doubt(self, place: Path | None, reason: str) -> None:
        """Say at a place of the document, by default that of the criteria, why the rubric is not scored."""
        self.doubts.append((self.path if place is None else place, reason))

    def _follow(self, text: str) -> PlacedValue | None:
        """Return the value at a pointer from the top; a `*` in it stands for the same step as in `criteria`."""
        stars = iter(self.bound)
        steps = [next(stars, step) if step == "*" else step for step in split_pointer(text)]
        place = follow(self.document.data, steps)
        if len(place) < len(steps):
            return None
        self.places.add(place)
        return PlacedValue(self.document.value(place), place)

    def _find(self, criterion: _WrittenCriterion, names: Iterable[str]) -> PlacedValue | None:
        """Return the first of some fields that an entry has, unless it is null."""
        for name in names:
            found = self._follow(name) if name.startswith("/") else _find_field(criterion.value, criterion.place, name)
            if found is not None and found.value is not None:
                self.used.add(name)
                return found
        return None

    def _find_unused_names(self, value: Any) -> Iterator[tuple[str, Problem]]:
        """Find the settings that name fields which most criteria have, but none of these does."""
        needed = {"id": self.table.id, "weight": self.table.weight}
        has_levels = any(isinstance(entry, dict) and "levels" in entry for entry in self.data)
        if self.table.scale is None and not has_levels:
            needed["levels"] = self.table.levels
        if not any(isinstance(part, dict) for part in _values(value)):
            return
        for setting, names in needed.items():
            if names and self.used.isdisjoint(names):
                listed = join_words([f"`{name}`" for name in names], "or")
                values = {"shape": self.table.name, "setting": setting, "fields": listed}
                yield "schema", Problem("no-field", self.path, Part.HEAD, values)

    @staticmethod
    def _is_empty(criterion: _WrittenCriterion, names: Iterable[str]) -> bool:
        """Return whether an entry has one of some fields, without a value, which the schema reports."""
        return any(_find_field(criterion.value, criterion.place, name) for name in names)

    def _read_text(self, text: str) -> str:
        found = self._follow(text) if text else None
        return str(found.value) if found and isinstance(found.value, str | int) else ""

    def _read_number(self, found: PlacedValue) -> Fraction | None:
        value = found.value
        if read_number(value) is None:
            return None
        return to_fraction(self.document.decimal(found.place))

    # Criteria.

    def _list_criteria(self, place: Path, holder: Any, above: tuple[str, ...] = ()) -> Iterator[_WrittenCriterion]:
        """Yield the criteria of a list or a map; those that have parts are not judged, but their parts are."""
        is_map = isinstance(holder, dict)
        has_mappings = any(isinstance(part, dict) for part in _values(holder))
        for key, value in holder.items() if is_map else enumerate(holder):
            if is_map and not isinstance(value, dict if has_mappings else str):
                continue  # what is said beside the criteria
            criterion = _WrittenCriterion((*place, key), value, str(key) if is_map else None, above)
            names = self.table.levels if self._find_mark(criterion, self.table.sums) else self.table.parts
            parts = self._find(criterion, names) if isinstance(value, dict) else None
            if parts and isinstance(parts.value, list | dict) and parts.value:
                yield from self._list_parts(criterion, parts)
            else:
                yield criterion

    def _list_parts(self, criterion: _WrittenCriterion, found: PlacedValue) -> list[_WrittenCriterion]:
        """Return the parts of a criterion, which share its weight if it has one."""
        name = self._name(criterion)[0]
        below = list(self._list_criteria(found.place, found.value, (*criterion.above, name)))
        if self._find_mark(criterion, self.table.sums):
            below = [part._replace(key=part.key or str(at), is_level=True) for at, part in enumerate(below, start=1)]
        gate = self._find_gate(criterion) or self._find_mark(criterion, self.table.negative)
        if gate:
            reason = f"`{gate.place[-1]}` of `{name}` counts for none of its parts, which are what is judged"
            self._doubt(gate.place, reason)
        written = self._find(criterion, self.table.weight)
        whole = None
        if written:
            self.shared.append(written)
            whole = self._read_weight(written)
        if written is None or whole is None:
            return below
        total = sum((self._weigh_part(part) for part in below), Fraction(0))
        are_points = self.table.combine == "share" and all(self._has_points(part, written) for part in below)
        if are_points and total not in (whole, 0):
            values = {"sum": _show(total), "whole": _show(whole), "field": written.place[-1]}
            self._report("weight", "parts", written.place, values)
        ratio = whole / total if total else Fraction(0)
        return [part._replace(share=part.share * ratio) for part in below]

    def _weigh_part(self, part: _WrittenCriterion) -> Fraction:
        """Return the weight of a part among its siblings: 1 if it has no field, 0 if that is no number."""
        written = self._find_weight(part)
        weight = self._read_weight(written) if written else Fraction(1)
        return (weight or Fraction(0)) * part.share

    def _has_points(self, part: _WrittenCriterion, whole: PlacedValue) -> bool:
        """Return whether a part has a field of the same name as the weight of its criterion, and adds to it."""
        written = self._find_weight(part)
        has_same = written is not None and written.place[-1] == whole.place[-1]
        return has_same and not self._find_mark(part, self.table.negative)

    def _find_weight(self, criterion: _WrittenCriterion) -> PlacedValue | None:
        return self._find(criterion, self.table.level_score if criterion.is_level else self.table.weight)

    def _name(self, criterion: _WrittenCriterion) -> tuple[str, Path, bool]:
        """Return the id of an entry, empty if it has none, with its place, and whether that is a key."""
        found = self._find(criterion, self.table.id) if isinstance(criterion.value, dict) else None
        if found and isinstance(found.value, str | int) and not isinstance(found.value, bool):
            return str(found.value), found.place, False
        return criterion.key or "", criterion.place, True

    def _read_entry(self, index: int, criterion: _WrittenCriterion) -> dict[str, Any]:
        entry: dict[str, Any] = {}
        name, place, is_key = self._name(criterion)
        if name:
            entry["id"] = "/".join([*filter(None, criterion.above), name])
            self.draft.put((index, "id"), place, is_key=is_key)
        names = self.table.level_text if criterion.is_level else self.table.outcome
        outcome: PlacedValue | None = PlacedValue(criterion.value, criterion.place)
        if isinstance(criterion.value, dict):
            outcome = self._find(criterion, names)
        if outcome:
            entry["expected_outcome"] = outcome.value
            self.draft.put((index, "expected_outcome"), outcome.place)
        ends = self._read_scale(criterion)
        levels = self._read_levels(criterion, ends)
        if levels or isinstance(ends, tuple):
            self._add_levels(index, entry, levels, ends if isinstance(ends, tuple) else None, criterion)
        else:
            self.ends.append(None)
        if not levels:
            texts = self.table.outcome + self.table.levels
            if not outcome and not self._is_empty(criterion, texts):
                listed = join_words([f"`{name}`" for name in texts], "or")
                self._report("schema", "no-text", criterion.place, {"fields": listed}, Part.HEAD)
            if not isinstance(ends, tuple) and ends != YES_NO:
                self.is_unsaid = True
                self.refusal = _NO_SCALE
        self._add_gate(index, entry, criterion)
        return entry

    # Scales and levels.

    def _read_scale(self, criterion: _WrittenCriterion) -> Ends | str | None:
        """Return the ends of the scale of an entry, YES_NO, or None if nothing says it."""
        scale = YES_NO if criterion.is_level else self.table.scale
        if isinstance(scale, tuple):
            whole = self._find_whole_scale(criterion, scale)
            if not whole:
                low, high = (self._read_part(part, criterion) for part in scale)
                return None if low is None or high is None else self._check_ends(low, high, criterion.place)
            scale = whole
        if scale == YES_NO or scale is None:
            return scale
        found = self._find(criterion, (scale,))
        ends = read_ends(found.value) if found else None
        if found and isinstance(ends, str):
            self._keep(found.place)
        if found and isinstance(ends, tuple):
            described = read_levels(found.value)
            self.labels = {level.score: level.text for level in described.levels} if described else {}
            if not described:
                self._check_steps(found, ends)
            return self._check_ends(*ends, found.place)
        if found and ends is None and not self._find(criterion, self.table.levels):  # which would say it
            text = describe(found.value, self.document.written_at(found.place))
            self._report("schema", "scale", found.place, {"field": found.place[-1], "found": f"is {text}"})
        return ends if isinstance(ends, str) else None

    def _find_whole_scale(self, criterion: _WrittenCriterion, scale: tuple[NumberOrPointer, NumberOrPointer]) -> str:
        """Return the first of two names of a scale under which a criterion has a whole one; empty if none has."""
        if not all(isinstance(name, str) for name in scale):
            return ""
        for name in map(str, scale):
            found = self._find(criterion, (name,))
            if found and read_ends(found.value):
                return name
        return ""

    def _read_part(self, part: NumberOrPointer, criterion: _WrittenCriterion) -> Fraction | None:
        if not isinstance(part, str):
            return to_fraction(Decimal(part))
        found = self._find(criterion, (part,))
        if found:
            self._keep(found.place)
        return self._read_number(found) if found else None

    def _check_steps(self, found: PlacedValue, ends: Ends) -> None:
        """Say that a scale may have scores between its whole numbers, which a table cannot say.

        On a wide scale, ends with a decimal point say nothing of the kind.
        """
        value = found.value
        parts = dict(items_of(value))
        fine = [key for key, part in parts.items() if split_words(str(key)) & _STEPS and part != 1]
        if ends[1] - ends[0] <= 1:
            fine += [key for key, part in parts.items() if isinstance(part, float)]
        if fine:
            place = (*found.place, fine[0])
            text = describe(parts[fine[0]], self.document.written_at(place))
            field = next(step for step in reversed(place) if isinstance(step, str))
            reason = f"`{field}` has {text}, so a score may lie between whole numbers, and no other scores are read"
            self._doubt(place, f"{reason}; write whole numbers, or the rubric in version 3 of the format")

    def _keep(self, place: Path) -> None:
        """Say that a scale is read, though it is not part of a criterion."""
        self.draft.put(("scale", *place), place)

    def _check_ends(self, low: Fraction, high: Fraction, place: Path) -> Ends | None:
        self._keep(place)
        if low < high <= low + _WIDEST:
            return low, high
        self.is_unscaled = True
        if low < high:
            self._doubt(place, f"its scale, {_show(low)} to {_show(high)}, has more than {_WIDEST} scores")
        else:
            code = "one-score" if low == high else "empty-range"
            self._report("bounds", code, place, {"range": f"{_show(low)} to {_show(high)}"})
        return None

    def _read_levels(self, criterion: _WrittenCriterion, ends: Ends | str | None) -> list[_WrittenLevel]:
        if criterion.is_level or not isinstance(criterion.value, dict):
            return []
        return self._read_starred_levels(criterion) or self._read_level_field(criterion, ends)

    def _read_starred_levels(self, criterion: _WrittenCriterion) -> list[_WrittenLevel]:
        """Read the levels that are fields of a criterion, by the first pattern that some match: `score_*`."""
        for name in filter(is_star, self.table.levels):
            pattern = re.compile(star_pattern(name))
            matches = [(key, pattern.fullmatch(key)) for key in criterion.value]
            levels = [
                self._make_level((*criterion.place, key), match[1], criterion.value[key], is_key=True)
                for key, match in matches
                if match
            ]
            if levels:
                return levels
        return []

    def _read_level_field(self, criterion: _WrittenCriterion, ends: Ends | str | None) -> list[_WrittenLevel]:
        """Read the levels in a field of a criterion: a mapping, a list of strings or a list of mappings."""
        written = self._find(criterion, (name for name in self.table.levels if not is_star(name)))
        if written is None:
            return []
        value, place = written
        if isinstance(value, dict):
            return [self._make_level((*place, key), key, text, is_key=True) for key, text in value.items()]
        if not isinstance(value, list):
            self._report_kind(f"`{place[-1]}` is", place, "a mapping from scores to texts, or a list")
            return []
        if value and all(isinstance(part, str) for part in value):
            return self._read_strings(value, place, ends)
        levels = []
        for index, item in enumerate(value):
            if isinstance(item, dict):
                levels.append(self._read_level((*place, index), item))
            else:
                self._report_kind(f"`{place[-1]}` has", (*place, index), "a mapping with a score and a text")
        return levels

    def _read_strings(self, value: list[str], place: Path, ends: Ends | str | None) -> list[_WrittenLevel]:
        """Read levels that begin with their scores, or that are as many as the scores of the scale."""
        scores: list[Decimal | Fraction | None] = [None] * len(value)
        numbered = read_levels(value)
        if numbered:
            scores = [level.score for level in numbered.levels]
        elif isinstance(ends, tuple) and ends[1] - ends[0] == len(value) - 1:
            scores = [ends[0] + index for index in range(len(value))]
        levels = []
        for index, (score, text) in enumerate(zip(scores, value, strict=True)):
            word = None if score is None else str(score)
            levels.append(self._make_level((*place, index), word, text, is_key=False))
        return levels

    def _report_kind(self, subject: str, place: Path, expected: str) -> None:
        text = describe(self.document.value(place), self.document.written_at(place))
        self._report("schema", "unexpected", place, {"subject": subject, "found": text, "expected": expected})

    def _make_level(self, place: Path, word: str | None, value: Any, *, is_key: bool) -> _WrittenLevel:
        """Make the level that is called by a word, with a text or a mapping as its value."""
        number = self._read_word(word)
        text, text_place = value, place
        if isinstance(value, dict):
            text, text_place = _find_first(value, place, self.table.level_text) or (None, place)
            self._doubt_level(place, value, None if number is None else Fraction(number))
        if isinstance(text, list) and text and all(isinstance(part, str) for part in text):
            text = "\n".join(text)
        name = ""
        if word is not None and (number is None or word in dict(self.table.level_scores)):
            name = word
        return _WrittenLevel(number, name, text, place, place, text_place, is_key)

    def _read_word(self, word: str | None) -> Decimal | None:
        """Return the score that a level is called: its number, or that of the word in the table."""
        if word is None:
            return None
        known = dict(self.table.level_scores).get(word)
        return read_score(word) if known is None else known

    def _read_level(self, place: Path, item: dict[str, Any]) -> _WrittenLevel:
        """Read a level that is a mapping, with its score or its name in a field."""
        score = _find_first(item, place, self.table.level_score)
        number = self._read_number(score) if score else None
        word = score.value if score else next((item[key] for key in ("name", "label") if key in item), None)
        if number is None and isinstance(word, str):
            named = self._read_word(word)
            number = None if named is None else Fraction(named)
        name = next((item[key] for key in ("name", "label") if isinstance(item.get(key), str)), "")
        if isinstance(word, str) and read_score(word) is None:
            name = word
        text, text_place = _find_first(item, place, self.table.level_text) or (None, place)
        self._doubt_level(place, item, number, score)
        exact = None if number is None else Decimal(number.numerator) / Decimal(number.denominator)
        number_place = score.place if score else place
        return _WrittenLevel(exact, name if name != text else "", text, place, number_place, text_place)

    def _doubt_level(
        self, place: Path, level: dict[str, Any], number: Fraction | None, score: PlacedValue | None = None
    ) -> None:
        """Doubt a level that says more than its score and its text."""
        known = {*self.table.level_text, *self.table.unused, "name", "label"}
        if score:
            known.add(str(score.place[-1]))
        self.in_levels += find_in_level(place, level, known, number)

    def _add_levels(
        self,
        index: int,
        entry: dict[str, Any],
        levels: list[_WrittenLevel],
        ends: Ends | None,
        criterion: _WrittenCriterion,
    ) -> None:
        """Add the levels of an entry: each score of its scale is one, described or not."""
        field = self._find(criterion, self.table.levels)
        holder = field.place if field else criterion.place
        self._check_order(levels)
        spread = self._spread(levels)
        numbers = [level.number for level in spread if level.number is not None]
        if len(numbers) < len(spread):
            self._doubt_unnumbered(next(level for level in spread if level.number is None))
            ends = None
        low, high = ends or (Fraction(min(numbers, default=0)), Fraction(max(numbers, default=0)))
        self.ends.append((low, high))
        are_whole = all(number == number.to_integral_value() for number in numbers)
        if are_whole and low.denominator == high.denominator == 1:
            units = {number: int(number) for number in numbers}
            if ends:
                spread = self._complete(spread, range(int(low), int(high) + 1), holder)
            if self.table.combine == "share":
                entry[SPAN] = (min(0, int(low)), int(high))
        else:
            units = as_levels([*numbers, *map(_decimal, ends or ())])
        self._doubt_falling(spread)
        self.draft.put((index, "levels"), holder)
        entry["levels"] = []
        for level in spread:
            unit = None if level.number is None else units.get(level.number, int(level.number))
            if self.table.is_turned and unit is not None:
                first, last = entry.get(SPAN, (unit, unit))
                entry[SPAN] = (max(first, unit), min(last, unit))
            place = (index, "levels", len(entry["levels"]))
            entry["levels"].append(self._add_level(place, level, unit, is_described=level.place != holder))

    def _doubt_unnumbered(self, level: _WrittenLevel) -> None:
        called = shorten(str(level.name or level.text))
        reason = f"nothing says which score the level `{called}` is"
        advice = "run `rubric-lint adopt FILE`, or give it one in `level-scores`"
        self._doubt(level.number_place, f"{reason}; {advice}")

    def _add_level(self, place: Path, level: _WrittenLevel, unit: int | None, *, is_described: bool) -> dict[str, Any]:
        """Return a level in our words, `unit` as its number, for a place of the entries; note where it is written."""
        added: dict[str, Any] = {"level": unit}
        written = str(level.number) if level.number is not None and unit != level.number else ""
        name = level.name or self.labels.get(level.number, "") or written
        if name:
            added["name"] = name
        self.draft.put(place, level.place)
        if is_described:
            added["expected_outcome"] = level.text
            self.draft.put((*place, "level"), level.number_place, is_key=level.is_key)
            self.draft.put((*place, "expected_outcome"), level.text_place)
            self._check_level_text(level)
        return added

    def _check_level_text(self, level: _WrittenLevel) -> None:
        if level.text is None or (isinstance(level.text, str) and not level.text.strip()):
            values = {"subject": "the text of this level is", "found": "blank"}
            self._report("empty-outcome", "blank", level.text_place, values)
        elif not isinstance(level.text, str):
            self._report_kind("the text of this level is", level.text_place, "a string")

    def _doubt_falling(self, levels: Sequence[_WrittenLevel]) -> None:
        """Doubt levels whose names or texts get worse while the numbers rise."""
        graded = [level for level in levels if level.number is not None]
        words = [(level.number or Decimal(0), level.name or str(level.text or "")) for level in graded]
        fall = None if self.table.better else find_fall(words)
        if fall:
            lowest = min(graded, key=lambda level: level.number or 0)
            self._doubt(lowest.number_place, f"{format_fall(fall)}; turn the numbers around")

    def _complete(self, levels: list[_WrittenLevel], scale: range, at: Path) -> list[_WrittenLevel]:
        """Return the levels with those of the scale that have no text; report levels beside the scale."""
        numbers = {level.number for level in levels}
        for level in levels:
            if level.number not in scale:
                values = {"level": level.number, "lowest": scale[0], "highest": scale[-1]}
                self._report("bounds", "level-outside", level.number_place, values, level.part)
        is_inside = all(number in scale for number in numbers)  # otherwise the scale is in doubt
        rest = [number for number in scale if is_inside and number not in numbers]
        added = [*levels, *(_WrittenLevel(Decimal(number), "", None, at, at, at) for number in rest)]
        return added if len(numbers) < len(levels) else sorted(added, key=lambda level: level.number or 0)

    def _spread(self, levels: list[_WrittenLevel]) -> list[_WrittenLevel]:
        """Return a level for each score of levels that are ranges of scores; report a score that two of them share."""
        spread: list[_WrittenLevel] = []
        firsts: dict[Decimal, _WrittenLevel] = {}
        for level in levels:
            numbers = self._list_numbers(level)
            shared = [number for number in numbers if number in firsts]
            if shared:
                first = firsts[shared[0]]
                values = {"scores": name_scores({int(number) for number in shared})}
                other = RelatedPlace("the other one", first.number_place, first.part)
                self._report("levels", "overlap", level.number_place, values, level.part, other)
            if numbers:
                spread += [level._replace(number=number) for number in numbers if number not in shared]
            else:
                spread.append(level)
            if not numbers and level.number is not None:
                numbers = [level.number]
            firsts |= dict.fromkeys(numbers, level)
        return spread

    def _list_numbers(self, level: _WrittenLevel) -> list[Decimal]:
        """Return the scores of a level that is a range; none if it is not one, or is too wide."""
        written = level.place[-1] if level.is_key else self.document.value(level.number_place)
        if not isinstance(written, str) or level.number is None:
            return []
        found = RANGE.fullmatch(written)
        if found is None or int(found[2]) - int(found[1]) > _WIDEST:
            return []
        return [Decimal(number) for number in range(int(found[1]), int(found[2]) + 1)]

    def _check_order(self, levels: list[_WrittenLevel]) -> None:
        numbered = [level for level in levels if level.number is not None]
        numbers = [level.number or 0 for level in numbered]
        if numbers in (sorted(numbers), sorted(numbers, reverse=True)):
            return
        sign = -1 if numbers[-1] < numbers[0] else 1
        for before, level in pairwise(numbered):
            if ((level.number or 0) - (before.number or 0)) * sign < 0:
                other = RelatedPlace("the one before", before.number_place, level.part)
                values = {"level": level.number, "before": before.number}
                self._report("band-order", "levels-unsorted", level.number_place, values, level.part, other)
                return

    def _unify(self) -> None:
        """Make yes and no levels too if other criteria have levels, as one rubric has one shape."""
        if not any(self.ends):
            return
        entries = [(index, entry) for index, entry in enumerate(self.data) if isinstance(entry, dict)]
        for (index, entry), ends in zip(entries, self.ends, strict=True):
            if ends is None and "levels" not in entry:
                entry["levels"] = [{"level": 0, "name": "no"}, {"level": 1, "name": "yes"}]
                for own in (("levels",), ("levels", 0), ("levels", 1)):
                    self.draft.put((index, *own), self.draft.place_of((index,)) or self.path)
                if "required_min_score" in entry:
                    entry["required_min_level"] = 1 if entry.pop("required_min_score") else 0
                    place = self.draft.place_of((index, "required_min_score"))
                    self.draft.put((index, "required_min_level"), place or self.path)

    # Gates, weights and the threshold.

    def _add_gate(self, index: int, entry: dict[str, Any], criterion: _WrittenCriterion) -> None:
        marked = self._find_gate(criterion)
        if self._find_mark(criterion, self.table.negative) and self.table.combine == "all":
            entry[ASKED] = _NOT_MET
        if marked is None:
            if self.table.combine != "all":
                return
            marked = PlacedValue(value=True, place=criterion.place)
        elif not _NODES.isdisjoint([*criterion.place, *criterion.value]):
            self._doubt_node(marked.place)
        ends = self.ends[-1]
        percent = read_percent(marked.value)
        gate = percent
        if percent is None and not isinstance(marked.value, bool):
            gate = self._read_number(marked)
        if gate is None and ends is not None:
            gate = self._find_gate_of_all(*ends)
            if gate is None:
                called = entry.get("id", f"rubric-{index + 1}")
                reason = f"nothing says which score `{called}` must reach, as its gate has no number"
                self._doubt(marked.place, reason)
                return
        if gate is not None:
            gate = self._check_gate(gate, marked.place, ends or _NO_OR_YES, is_part=percent is not None)
            if gate is None:
                return
        self._put_gate(index, entry, gate, marked.place)

    def _put_gate(self, index: int, entry: dict[str, Any], gate: Fraction | None, place: Path) -> None:
        """Put a gate into an entry; without a number, the criterion is met or not, and must be met."""
        ends = self.ends[-1]
        field = "required_min_score" if ends is None else "required_min_level"
        levels = [level["level"] for level in entry.get("levels", ()) if level["level"] is not None]
        if ends is None:
            entry[field] = 0 if gate == 0 else HIGHEST
        elif levels and gate is not None:
            entry[field] = _reach(levels, gate, ends, down=self.table.is_turned)
        self.draft.put((index, field), place)

    def _find_gate_of_all(self, lowest: Fraction, highest: Fraction) -> Fraction | None:
        """Return the threshold as the gate of each criterion, if all must be met and it is on their scale."""
        if self.table.combine != "all" or not self.passes:
            return None
        mark, _ = self.passes
        return mark if lowest < mark <= highest else None

    def _doubt_node(self, place: Path) -> None:
        name = place[-1]
        reason = f"`{name}` of a node may fail all that is above it in the tree, and a gate does not"
        self._doubt(place, f"{reason}; name `{name}` under `unused` in the table if it does not count")

    def _check_gate(self, gate: Fraction, place: Path, ends: Ends, *, is_part: bool) -> Fraction | None:
        """Return the score that a gate means, None if it is on no scale."""
        scored = self._read_score(gate, *ends, place, is_part=is_part)
        if self.is_unscaled or scored is None or ends[0] <= scored <= ends[1]:
            return scored
        if scored > ends[1] and scored in _PERCENT:
            reason = f"nothing says of what {_show(scored)}, the gate, is a part: the scale ends at {_show(ends[1])}"
            self._doubt(place, reason)
            return None
        self._report_threshold(place, scored, ends, f"gate {self._format_effect(scored > ends[1])}")
        return None

    def _format_effect(self, is_above: bool) -> str:
        """Say what a mark does that is above the scale, or below it."""
        return "is never met" if is_above != self.table.is_turned else "is always met"

    def _find_gate(self, criterion: _WrittenCriterion) -> PlacedValue | None:
        """Return the mark of a criterion that must be met: in its own fields, or a number around the criteria.

        Nothing of its own does where one field is false, as `blocker: false`.
        """
        shared = [mark for mark in self.table.gate if mark[0].startswith("/")]
        own = [mark for mark in self.table.gate if mark not in shared]
        flags = [name for name, values in own if values is None]
        said = [self._find(criterion, (name,)) for name in flags] if isinstance(criterion.value, dict) else []
        is_off = any(found is not None and found.value is False for found in said)
        marks = shared if is_off else [*own, *shared]
        return self._find_mark(criterion, tuple(marks))

    def _find_mark(self, criterion: _WrittenCriterion, marks: Marks) -> PlacedValue | None:
        """Return the first field of an entry that marks it: one that is true, a number, or one of the values."""
        for name, values in marks:
            found = self._find(criterion, (name,)) if isinstance(criterion.value, dict) else None
            if found is None:
                continue
            if values is None:
                if found.value is True or is_number(found.value) or read_percent(found.value) is not None:
                    return found
            elif any(type(found.value) is type(value) and found.value == value for value in values):
                return PlacedValue(value=True, place=found.place)
        return None

    def _read_weight(self, found: PlacedValue) -> Fraction | None:
        if isinstance(found.value, str):
            words = (to_fraction(weight) for word, weight in self.table.weights if word == found.value)
            return next(words, read_share(found.value))
        return self._read_number(found)

    def _weigh(self, criteria: Sequence[_WrittenCriterion]) -> None:
        """Give each criterion its weight: as it is written, by its words, or by its points."""
        pairs = [(index, criterion) for index, criterion in enumerate(criteria) if isinstance(self.data[index], dict)]
        found = {index: self._find_weight(criterion) for index, criterion in pairs if isinstance(criterion.value, dict)}
        weighed = {criteria[index].place[:-1] for index, written in found.items() if written}
        is_computed = False  # then integers in the same proportion stand for them
        for (index, criterion), ends in zip(pairs, self.ends, strict=True):
            written = found.get(index)
            if written is None and criterion.place[:-1] in weighed and not self._is_empty(criterion, self.table.weight):
                names = self.table.level_score if criterion.is_level else self.table.weight
                self._report("weight", "lacking", criterion.place, {"field": names[0]}, Part.HEAD)
            points = ends[1] if self.table.combine == "share" and ends else Fraction(1)
            weight = self._put_weight(index, criterion, written, points)
            if weight is None:
                continue
            if written and self.table.combine == "share" and ends:
                self._check_highest(index, written, abs(weight), points)
            if written and weight < 0 and ends is not None:
                self._refuse_penalty(criterion, written, weight)
            self.weights[index] = weight * criterion.share
            own = self.data[index].get("weight", 1)
            is_computed = is_computed or read_number(own) is None or self.weights[index] != Fraction(str(own))
        if is_computed:
            self._put_integers(criteria)
        self._add_up([index for index, _ in pairs])
        self._check_kinds(found)
        self._find_points(found, pairs)
        if any(self.weights.values()) and not self.points:
            expected = "one criterion at least with a weight above 0"
            field = self.path[-1] if self.path else "this"
            self._report("weight", "none-counts", self.path, {"field": field, "expected": expected}, Part.KEY)
        if len(self.weights) == len(pairs):
            self._check_total(sum(self.weights.values(), Fraction(0)))

    def _put_integers(self, criteria: Sequence[_WrittenCriterion]) -> None:
        """Write integers in the proportion of the weights into the data."""
        unit = math.lcm(*(weight.denominator for weight in self.weights.values()))
        for index, weight in self.weights.items():
            self.data[index]["weight"] = int(weight * unit)
            place = self.draft.place_of((index, "weight")) or criteria[index].place
            self.draft.put((index, "weight"), place, is_key=True)

    def _add_up(self, indexes: Sequence[int]) -> None:
        """Add up the weights above 0, and the highest scores of the criteria at some indexes."""
        reached = Fraction(0)
        for index, ends in zip(indexes, self.ends, strict=True):
            weight = max(self.weights.get(index, Fraction(0)), Fraction(0))
            self.points += weight
            reached += weight * (ends[1] if ends else 1)
        self.whole = max(self.points, reached)

    def _check_kinds(self, found: Mapping[int, PlacedValue | None]) -> None:
        """Report a weight in percent beside one that is a plain number, among those of one holder."""
        by_holder: dict[Path, list[PlacedValue]] = {}
        for written in [*self.shared, *filter(None, found.values())]:
            if is_amount(written.value):
                by_holder.setdefault(written.place[:-2], []).append(written)
        for weights in by_holder.values():
            other = find_other_kind([written.value for written in weights])
            if other is not None:
                first, second = weights[0], weights[other]
                values = {"weight": str(second.value).strip(), "other": str(first.value).strip()}
                place = RelatedPlace("the other kind", first.place)
                self._report("weight", "two-kinds", second.place, values, Part.VALUE, place)

    def _find_points(
        self, found: Mapping[int, PlacedValue | None], pairs: Sequence[tuple[int, _WrittenCriterion]]
    ) -> None:
        """Doubt levels that all end at the highest score of their criterion, as points do, but are read as a scale."""
        ending: list[tuple[PlacedValue, Ends]] = []
        for (index, _), ends in zip(pairs, self.ends, strict=True):
            written, levels = found.get(index), self.data[index].get("levels", ())
            is_described = ends is not None and any("expected_outcome" in level for level in levels)
            if written is None or not is_described or ends is None or not split_words(str(written.place[-1])) & _POINTS:
                continue
            if self._read_weight(written) != ends[1]:
                return
            ending.append((written, ends))
        above = [(written, ends) for written, ends in ending if ends[0] > 0]
        if not above or self.table.combine:  # which says how scores combine
            return
        written, (low, high) = above[0]
        one, whole = _show(low), _show(high)
        ending_at = f"the levels of a criterion end at {whole}, its `{written.place[-1]}`, so they may be points"
        reason = f"{ending_at}: {one} would be {one} of {whole} points, and is read as the lowest score, 0"
        self._doubt(written.place, f'{reason}; say which with `combine` in a table of the settings: "share" or "mean"')

    def _put_weight(
        self, index: int, criterion: _WrittenCriterion, written: PlacedValue | None, otherwise: Fraction
    ) -> Fraction | None:
        """Put the weight of a criterion into its data, and return it; None if it is not a weight."""
        entry = self.data[index]
        weight: Fraction | None = otherwise
        if written:
            entry["weight"] = written.value
            self.draft.put((index, "weight"), written.place)
            weight = self._read_weight(written)
            if weight is None and isinstance(written.value, str) and self.table.weights:
                known = join_words([f"`{word}`" for word, _ in self.table.weights])
                values = {"field": written.place[-1], "word": shorten(written.value), "known": known}
                self._report("weight", "unknown-word", written.place, values)
        mark = self._find_mark(criterion, self.table.negative)
        if mark and weight is not None:
            self.draft.put((index, "negative"), mark.place)
            sign = 1 if ASKED in entry else -1
            weight = sign * abs(weight)
            own = entry.get("weight", 1)
            if read_number(own) is not None:
                entry["weight"] = sign * abs(own)
        return weight

    def _refuse_penalty(self, criterion: _WrittenCriterion, written: PlacedValue, weight: Fraction) -> None:
        """Report the weight of a criterion on a scale that is below 0, or the field that makes it a penalty."""
        field = f"`{written.place[-1]}`"
        mark = self._find_mark(criterion, self.table.negative)
        if mark:
            place, found = mark.place, _show(weight)
            subject = f"`{mark.place[-1]}: {shorten(str(self.document.value(mark.place)))}` makes {field}"
        else:
            place, found = written.place, describe(written.value, self.document.written_at(written.place))
            subject = f"{field} is"
        self._report("weight", "minimum", place, {"subject": subject, "found": found, "least": 0})
        self._doubt(place, f"{subject} {found}, and what is scored on a scale weighs at least 0")

    def _check_highest(self, index: int, written: PlacedValue, worth: Fraction, highest: Fraction) -> None:
        """Report a criterion that is worth other points than its highest level, if fields of one name say both."""
        level = self.draft.place_of((index, "levels", 0, "level"))
        if level and str(written.place[-1]).endswith(str(level[-1])) and worth != highest:
            values = {"field": written.place[-1], "points": _show(worth), "highest": _show(highest)}
            self._report("weight", "highest-level", written.place, values)

    def _check_total(self, whole: Fraction) -> None:
        read = self._read_setting("total", self.table.total)
        if read is None:
            return
        total, place = read
        if total in (whole, self.points) or self._is_of_scores(total, place):
            return
        at, part = (self.path, Part.KEY) if place is None else (place, Part.VALUE)
        self.draft.put(("total",), at)
        self._report("weight", "total", at, {"sum": _show(self.points), "total": _show(total)}, part)

    def _is_of_scores(self, total: Fraction, place: Path | None) -> bool:
        """Return whether a total may be what scores come to, and not weights: no name says which."""
        if self.table.combine == "share" or place is None or "weight" in split_words(str(place[-1])):
            return False
        tops = [ends[1] if ends else Fraction(1) for ends in self.ends]
        if not self.points or total in {*tops, sum(tops), self.whole}:
            return True
        is_small = self.is_unsaid and all(weight <= _LONG for weight in self.weights.values())
        return total % self.points == 0 or (is_small and total % len(tops) == 0)

    def _read_setting(self, name: str, written: object) -> tuple[Fraction, Path | None] | None:
        """Return the number that a setting is or points to, with its place in the document."""
        if written is None:
            return None
        if not isinstance(written, str):
            return to_fraction(Decimal(str(written))), None
        found = self._follow(written)
        if found is None:
            self._report_lost(name, written)
            return None
        number = self._read_number(found)
        share = read_share(found.value)
        percent = read_percent(found.value)
        if name == "total" and number is None:
            number = share
        if name == "pass" and percent is not None:
            number, self.is_pass_part = percent, True
        if number is not None:
            return number, found.place
        if name == "pass" and share is not None:
            reason = f'`{found.place[-1]}` is "{found.value}", and a threshold is a number on the scale of the file'
            self._doubt(found.place, reason)
        else:
            self._report_kind(f"`{found.place[-1]}` is", found.place, "a number")
        return None

    def _report_lost(self, setting: str, pointer: str) -> None:
        values = {"setting": setting, "pointer": pointer, "shape": self.table.name}
        self._report("schema", "no-setting", self.path, values, Part.HEAD)

    def _find_threshold(self) -> tuple[Decimal | None, Path | None]:
        """Return the threshold as a share, and its place."""
        if self.table.combine == "all":
            return Decimal(0), None
        if self.passes is None:
            return None, None
        passes, place = self.passes
        has_no_scale = self.is_unsaid and self.table.combine != "share"
        if has_no_scale:
            self._check_most(passes, place)
        if self.is_unscaled or has_no_scale:
            return None, None
        ends = self._find_ends(passes)
        if ends is None:
            self._doubt(place, f"its criteria have several scales, so no score is {_show(passes)}, the threshold")
            return None, place
        if passes > 1 and not self.is_pass_part and self._is_of_whole(passes):
            return self._read_part_of_whole(passes, ends, place), place
        return self._read_share_of_scale(passes, ends, place), place

    def _read_share_of_scale(self, passes: Fraction, ends: Ends, place: Path | None) -> Decimal | None:
        """Return the share of a scale that a threshold is; None if that is in doubt, or is no share above 0."""
        low, high = ends
        scored = self._read_score(passes, low, high, place, is_part=self.is_pass_part)
        if passes == 1 and low == 0 and high >= _LONG and not self.is_pass_part:
            reason = f"nothing says whether 1, the threshold, is a score of 0 to {_show(high)} or all of it"
            self._doubt(place, f"{reason}; for all of it, write {_show(high)}")
            return None
        if scored is None or low >= high:
            return None
        reached = high - scored if self.table.is_turned else scored - low
        share = reached / (high - low)
        if 0 < share <= 1:
            return _decimal(share)
        is_above = scored > high or (self.table.is_turned and scored == high)
        self._report_threshold(place, scored, ends, f"threshold {self._format_effect(is_above)}")
        return None

    def _read_part_of_whole(self, passes: Fraction, ends: Ends, place: Path | None) -> Decimal | None:
        """Return a threshold as a part of the sum of all scores, if the file says that sum; else report the doubt.

        Of scores from 0 on, the sum is in proportion to the mean.
        """
        is_from_0 = not self.table.is_turned and all(ends is None or ends[0] == 0 for ends in self.ends)
        is_sum = ends[1] < passes <= self.whole and not self.table.combine
        if is_from_0 and is_sum and self._find_totals() & {self.whole}:
            return _decimal(passes / self.whole)
        known = f"the scale ends at {_show(ends[1])}, and all scores add up to {_show(self.whole)}"
        reason = f"nothing says of what {_show(passes)}, the threshold, is a part: {known}"
        self._doubt(place, f"{reason}; {self._advise_whole(passes, ends, place)}")
        return None

    def _advise_whole(self, passes: Fraction, ends: Ends, place: Path | None) -> str:
        """Say what to write into a table for a threshold that is one of the sum of all scores, or in percent."""
        most = Fraction(1) if self.table.combine == "share" else ends[1]
        advice = [f"a `pass` from {_show(min(ends[0], most))} to {_show(most)}"]
        if not self.table.combine:
            advice.insert(0, '`combine = "mean"`')
        if place is not None:
            advice.append(f'`unused = "{pointer(place)}"`')
        start = "run `rubric-lint adopt FILE`, and write into its table"
        if passes <= self.whole and not self.table.combine:
            start += ' `combine = "share"` if scores are added up, or else'
        return f"{start} {join_words(advice)}"

    def _find_ends(self, passes: Fraction) -> Ends | None:
        """Return the ends of the scale that a threshold is a score of; None if there are several."""
        scales = {ends or _NO_OR_YES for ends in self.ends}
        if self.table.combine == "share":
            return Fraction(0), self.points if passes > 1 else Fraction(1)
        if len(scales) == 1:
            return next(iter(scales))
        return _NO_OR_YES if passes <= 1 else None

    def _check_most(self, passes: Fraction, place: Path | None) -> None:
        """Report a threshold above the highest score in the same mapping, where nothing says the lowest."""
        siblings = self.document.value(place[:-1]) if place else None
        if not isinstance(siblings, dict):
            return
        most = next((siblings[name] for name in _HIGHEST if name in siblings), None)
        if not is_number(most):
            return
        highest = to_fraction(Decimal(str(most)))
        if passes > highest * max(len(self.ends), 1) and passes not in _PERCENT:
            self._report_threshold(place, passes, (Fraction(0), highest), "threshold is never met")

    def _read_score(
        self, number: Fraction, low: Fraction, high: Fraction, place: Path | None, *, is_part: bool = False
    ) -> Fraction | None:
        """Return the score that a threshold or a gate means; below 1, it is a part of a scale that starts at 0.

        Where its scale is in doubt, nothing is scored.
        """
        if not is_part and (high <= 1 or not 0 < number < 1):
            return number
        if not low and not self.table.is_turned:
            return number * high
        written = f"{_show(number * 100)}%" if is_part else _show(number)
        way = number * (high - low)
        of_way = _show(high - way if self.table.is_turned else low + way)
        ways = f"{of_way} ({written} of the way) or {_show(number * high)} ({written} of {_show(high)})"
        reason = f"{written} is ambiguous on a scale of {_show(low)} to {_show(high)}"
        self._doubt(place, f"{reason}: write {ways}; or run `rubric-lint adopt FILE`")
        return None

    def _is_read_otherwise(self, key: UnmappedKey) -> bool:
        """Return whether a value beside the criteria is their scale, or what all scores add up to: `max_score`."""
        if key.role is not Role.OPEN or not key.is_around:
            return False
        is_most = bool(split_words(key.name) & {"max", "maximum", "highest", "possible", "total"})
        is_whole = is_most and key.value in (self.whole, self.points)
        ends = read_ends(key.value)
        return is_whole or (ends is not None and ends in self.ends)

    def _is_of_whole(self, number: Fraction) -> bool:
        """Return whether a threshold may be one of the sum of all scores, or a percentage, and not of their mean."""
        highest = [ends[1] if ends else Fraction(1) for ends in self.ends]
        if self.table.combine == "share":
            return number > self.points and number in _PERCENT
        if len(highest) > 1 and not self.table.combine and self._says_sum(sum(highest, Fraction(0))):
            return True
        return number > max(highest, default=0) and (number <= self.whole or number in _PERCENT)

    def _says_sum(self, whole: Fraction) -> bool:
        """Return whether the file says that scores are added up, or what they add up to at most."""
        for length in range(len(self.path)):
            is_said, totals = _find_sums(self.document, self.path[:length])
            if is_said or whole in totals:
                return True
        return False

    def _find_totals(self) -> frozenset[int | float]:
        """Return the numbers around the criteria that may be the sum of all scores."""
        found = (_find_sums(self.document, self.path[:length])[1] for length in range(len(self.path)))
        return frozenset[int | float]().union(*found)

    def _report_threshold(self, place: Path | None, found: Fraction, ends: Ends, effect: str) -> None:
        what, _, effect = effect.partition(" ")
        values = {"lowest": _show(ends[0]), "highest": _show(ends[1]), "what": what, "effect": effect}
        field = "pass" if place is None else place[-1]
        at, part = (self.path, Part.KEY) if place is None else (place, Part.VALUE)
        self._report("bounds", "threshold", at, {"field": field, "found": _show(found), **values}, part)


@lru_cache(maxsize=16)  # the rubrics of a document stand below the same mappings
def _find_sums(document: Document, path: Path) -> tuple[bool, frozenset[int | float]]:
    """Return whether a mapping, or one in it, says that scores add up, and the numbers that may be their sum."""
    holder = document.value(path)
    if not isinstance(holder, dict):
        return False, frozenset()
    fields = list(holder.items())
    for part in holder.values():
        if isinstance(part, dict):
            fields += part.items()
    totals = [value for key, value in fields if is_number(value) and (key in _HIGHEST or is_total(key))]
    return any(says_sum(key, value) for key, value in fields), frozenset(totals)


def _reach(levels: Sequence[int], score: Fraction, ends: Ends, *, down: bool) -> int:
    """Return the first of some levels that is worth a score, the last if none is; `down` from the highest."""
    lowest, highest = ends
    unit = Fraction(max(levels) - min(levels)) / (highest - lowest) if highest > lowest else Fraction(1)
    wanted = min(levels) + (score - lowest) * unit
    if down:
        return max((level for level in levels if level <= wanted), default=min(levels))
    return min((level for level in levels if level >= wanted), default=max(levels))


def _find_field(value: Any, place: Path, name: str) -> PlacedValue | None:
    """Return the value of a field, whose name may lead through mappings: `scoring.levels`."""
    is_key = isinstance(value, dict) and name in value
    for step in [name] if is_key else name.split("."):
        if not isinstance(value, dict) or step not in value:
            return None
        value, place = value[step], (*place, step)
    return PlacedValue(value, place)


def _find_first(value: Any, place: Path, names: Names) -> PlacedValue | None:
    """Return the first of some fields that has a value."""
    for name in names:
        found = _find_field(value, place, name)
        if found is not None and found.value is not None:
            return found
    return None


def _decimal(number: Fraction) -> Decimal:
    """Return a number as a decimal, rounded down if it has no end: a score just reaches it as it reaches the number."""
    return _EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))


def _show(number: Fraction | Decimal) -> str:
    """Write a number as a decimal, or as a fraction if its denominator is 10**6 or more."""
    if Fraction(number).denominator >= 10**6:
        return str(number)
    return f"{_decimal(Fraction(number)).normalize():f}"

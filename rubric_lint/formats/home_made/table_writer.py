"""Write the table that describes the criteria of a candidate: what `rubric-lint adopt` adds to the settings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from rubric_lint.formats.home_made.columns import (
    STARS,
    CriteriaColumns,
    CriterionFields,
    ParsedValues,
    choose,
    find_scale_in_texts,
    find_sums,
    holds_statement,
    is_answered,
    list_entries,
    look,
)
from rubric_lint.formats.home_made.format_table import YES_NO, FormatTable, expand, first_steps, split_words
from rubric_lint.formats.home_made.places import CriteriaGroup
from rubric_lint.formats.home_made.roles import Role, role_of, says_penalty
from rubric_lint.formats.home_made.scores import (
    Ends,
    find_text,
    fold,
    is_prose,
    read_ends,
    read_ends_in_text,
    read_percent,
)
from rubric_lint.formats.home_made.surroundings import Surroundings
from rubric_lint.formats.home_made.unmapped import UnmappedSearch, is_text_of_words
from rubric_lint.formats.home_made.vocabulary import SETS, Fields, LevelWords, list_names
from rubric_lint.model.criterion import is_number
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path, pointer, split_pointer
from rubric_lint.source.tree import parts_of

Table = Mapping[str, Any]

StatedScale = str | list[int]

_KEYS = list_names(
    """
    name files criteria id outcome weight weights levels level-score level-scores level-text sums gate negative parts
    scale pass total combine better rubric task unused
    """
)
"""The keys of a table in the order in which they are written."""

_PERCENT = 100
ANY_SCALE = [(Fraction(10**6), Fraction(-(10**6)))]
"""Stands for the scale of criteria that are not read yet: on it, all that speaks of good and bad scores is in doubt."""

_LEVEL_TEXT = FormatTable("", "").level_text


def sort_table(table: Table) -> dict[str, Any]:
    """Return the settings of a table in the order in which they are written."""
    return {key: table[key] for key in _KEYS if key in table}


def generalize(place: Path, at: Path, path: Path) -> Path:
    """Return a place with a `*` for each step that it shares with the path of some criteria, as `at` has them."""
    shared = count_shared(path, place)
    return at[:shared] + place[shared:]


def join_paths(paths: Iterable[Path]) -> Path:
    """Return the path of several places at one depth, with a `*` for each step that differs or is an index."""
    at: list[str | int] = []
    for steps in zip(*paths, strict=True):
        is_same = len({*steps}) == 1 and isinstance(steps[0], str)
        step = steps[0] if is_same else "*"
        at.append(step)
    return tuple(at)


def count_shared(path: Path, other: Path) -> int:
    """Return the number of steps with which both paths begin."""
    length = 0
    while length < min(len(path), len(other)) and path[length] == other[length]:
        length += 1
    return length


@dataclass(frozen=True)
class TableWriter:
    """Writes the table of groups of one form; `at` is their path with a `*` for each step that differs.

    `scale` is what the user says where no document does, or with `is_of_system` the system that the files are of.
    """

    parsed: ParsedValues
    groups: Sequence[CriteriaGroup]
    columns: CriteriaColumns
    at: Path
    scale: StatedScale | None
    is_of_system: bool = False

    @property
    def entries(self) -> Sequence[CriterionFields]:
        """The criteria with their parts."""
        return self.columns.entries

    def write(self, surroundings: Sequence[Surroundings]) -> dict[str, Any]:
        """Return the table, without a name and files."""
        columns = self.columns
        points = self._are_points()
        settings = self._merge(surroundings, points=points)
        is_shared = Role.LEVELS in settings and not columns.has(Role.LEVELS)
        levels = columns.names(Role.LEVELS)
        if not levels and not is_shared:
            levels = self._find_few_levels()
        scale = self._find_scale(settings)
        is_stated = is_shared or self.is_of_system or columns.has(Role.LEVELS)
        is_stated = is_stated or bool(replace(self, scale=None)._find_scale(settings))
        names = {
            "id": columns.names(Role.ID),
            "outcome": columns.names(Role.TEXT),
            "weight": columns.names(Role.WEIGHT),
            "levels": levels,
            "gate": self._find_gates(is_scaled=bool(scale) or is_stated, is_stated=is_stated),
            "parts": columns.names(Role.PARTS),
        }
        table: dict[str, Any] = {key: found[0] if len(found) == 1 else list(found) for key, found in names.items()}
        table["criteria"] = pointer(self.at)
        table["scale"] = scale
        table["negative"] = self._list_marks()
        holders = [look(entry, name) for entry in self.entries for name in levels]
        holders = [holder for holder in holders if holder is not None]
        table["level-scores"] = self._find_level_scores(holders)
        if is_shared:
            shared, holder = settings[Role.LEVELS]
            table["levels"] = pointer(shared)
            holders = [holder]
        table["level-text"] = self._find_level_text(holders)
        if Role.PASS in settings:
            table["pass"] = pointer(settings[Role.PASS][0])
        table["total"] = self._find_total(settings, points=points)
        table["sums"] = find_sums(columns)
        table["task"] = self._find_task()
        table["combine"] = self._find_combine(settings, points=points)
        return sort_table({key: value for key, value in table.items() if value or key == "criteria"})

    @staticmethod
    def _find_combine(settings: Mapping[Role, tuple[Path, Any]], *, points: bool) -> str:
        """Return how scores combine; empty if nothing says it."""
        _, way = settings.get(Role.COMBINE, ((), ""))
        if split_words(str(way)) in ({"all"}, {"all", "of"}, {"and"}):
            return "all"
        return "share" if points else ""

    def _merge(self, surroundings: Sequence[Surroundings], *, points: bool) -> dict[Role, tuple[Path, Any]]:
        """Return the settings around the groups, with their values; those of all groups together are left out."""
        found: dict[Role, tuple[Path, Any]] = {}
        for group, nearby in reversed(list(zip(self.groups, surroundings, strict=True))):
            for what, place in nearby.places.items():
                general = generalize(place, self.at, group.path)
                is_of_all = general.count("*") < self.at.count("*")
                if is_of_all and (what in (Role.TOTAL, Role.PERCENT) or (what is Role.PASS and points)):
                    continue
                found[what] = (general, group.document.value(place))
        return found

    def _find_gates(self, *, is_scaled: bool, is_stated: bool) -> tuple[str, ...]:
        """Return the keys of gates; where nothing says the scale, a gate of 3 says nothing.

        Where only the user says it, a number that few criteria have may be about something else.
        """
        gates = []
        for name in self.columns.names(Role.GATE):
            numbers = [entry[name] for entry in self.entries if is_number(entry.get(name))]
            if not numbers or is_stated or (is_scaled and 2 * len(numbers) > len(self.entries)):
                gates.append(name)
        return tuple(gates)

    def _list_marks(self) -> dict[str, Any]:
        marks: dict[str, Any] = dict.fromkeys(self.columns.names(Role.NEGATIVE), True)
        marks |= dict.fromkeys(self.columns.names(Role.POSITIVE), False)
        for name in self.columns.names(Role.POLARITY):
            said = dict.fromkeys(entry[name] for entry in self.entries if says_penalty(name, entry.get(name)))
            marks[name] = next(iter(said)) if len(said) == 1 else list(said)
        return marks

    def _find_few_levels(self) -> tuple[str, ...]:
        """Return the keys of the levels of some criteria, where most have none."""
        known = {name for names in self.columns.roles.values() for name in names}
        keys = dict.fromkeys(key for entry in self.entries for key in entry if key not in known)
        return choose(self.entries, keys, lambda value: self.parsed.levels(value) is not None)

    def _find_scale(self, settings: Mapping[Role, tuple[Path, Any]]) -> Any:
        """Return the setting for the scale: a key of the criteria, a place in the file, their texts, or the user's."""
        columns = self.columns
        own = columns.names(Role.SCALE) or choose(self.entries, Fields.scale, self.parsed.declares_scale)
        if own and Role.SCALE in settings and not all(look(entry, own[0]) is not None for entry in self.entries):
            return [own[0], pointer(settings[Role.SCALE][0])]
        if columns.has(Role.SCALE):
            return columns.names(Role.SCALE)[0]
        if Role.SCALE in settings:
            return pointer(settings[Role.SCALE][0])
        if {Role.LOWEST, Role.HIGHEST} <= settings.keys():
            return [pointer(settings[end][0]) for end in (Role.LOWEST, Role.HIGHEST)]
        return self._find_unsaid_scale()

    def _find_unsaid_scale(self) -> Any:
        """Return the scale that nothing states, but that follows from the texts, the points or the kind of criteria."""
        columns = self.columns
        ends = find_scale_in_texts(columns)
        if ends:
            return [ends[0], *(columns.names(Role.HIGHEST)[:1] or ends[1:])]
        if columns.has(Role.LEVELS):
            return self.scale
        limits = [name for name in columns.names(Role.WEIGHT) if name in _LIMITS]
        if limits:
            return [0, limits[0]]
        return YES_NO if self._is_answered() else self.scale

    def _is_answered(self) -> bool:
        """Return whether the criteria are met or not: some cost points, or say so."""
        return (
            self.columns.has(Role.NEGATIVE, Role.POSITIVE, Role.POLARITY)
            or is_answered(self.columns)
            or all(map(_says_yes_no, self.entries))
        )

    def _are_points(self) -> bool:
        """Return whether a score is a share of points: those are the weights, or those of the levels."""
        columns = self.columns
        weights = columns.names(Role.WEIGHT)
        if weights and not {*Fields.points, *_LIMITS} & {*weights}:
            return False
        if weights and not columns.has(Role.LEVELS):
            return True
        for entry in self.entries:
            for name in columns.names(Role.LEVELS):
                levels = look(entry, name)
                if isinstance(levels, list) and any(isinstance(level, dict) and "points" in level for level in levels):
                    return True
        return bool(weights) and self._end_at_points(weights)

    def _end_at_points(self, weights: Sequence[str]) -> bool:
        """Return whether the levels of each criterion end at its points: `max_points: 5, levels: {5: ..., 0: ...}`."""
        for entry in self.entries:
            levels = [self.parsed.levels(look(entry, name)) for name in self.columns.names(Role.LEVELS)]
            ends = next((found.ends for found in levels if found), None)
            worth = next((entry[name] for name in weights if name in entry), None)
            if ends is None or worth != ends[1] or ends[0] != 0:
                return False
        return bool(self.entries)

    def _find_total(self, settings: Mapping[Role, tuple[Path, Any]], *, points: bool) -> str | int:
        """Return the total of the weights: the place of a total of the same kind, or of the percent of a score.

        Percentages of one list are parts of 100, whatever else is said, unless rounding explains their sum.
        """
        names = self.columns.names(Role.WEIGHT)[:1]
        weights = [entry[name] for entry in self.entries for name in names if name in entry]
        shares = [share for share in map(read_percent, weights) if share is not None]
        if weights and len(shares) == len(weights):
            is_off = abs(float(sum(shares)) - 1) * _PERCENT > len(shares)
            return _PERCENT if is_off and len(self.groups) == 1 and not self.columns.has(Role.PARTS) else ""
        if not weights or not all(map(is_number, weights)):
            return ""
        if Role.TOTAL not in settings and Role.HIGHEST in settings and Role.LOWEST not in settings and points:
            return pointer(settings[Role.HIGHEST][0])
        if Role.TOTAL in settings:
            return pointer(settings[Role.TOTAL][0])
        is_percent = Role.PERCENT in settings and all(weight >= 1 for weight in weights)
        return pointer(settings[Role.PERCENT][0]) if is_percent else ""

    def _find_level_scores(self, holders: Sequence[Any]) -> dict[str, int]:
        """Return the scores of levels that are yes and no, as their words say: `{fail: ..., pass: ...}`."""
        scores: dict[str, int] = {}
        for value in holders:
            levels = self.parsed.levels(value)
            words = levels.words if levels else []
            pair = _find_pair(words)
            if words and not pair:
                return {}
            scores |= pair
        return scores

    def _find_level_text(self, holders: Sequence[Any]) -> str:
        """Return the key of the text of a level; empty if it is one of those that are known without a table."""
        levels: list[Mapping[str, Any]] = []
        for holder in holders:
            levels += [level for level in parts_of(holder) if isinstance(level, dict)]
        if any(not level.keys().isdisjoint(_LEVEL_TEXT) for level in levels):
            return ""
        names = dict.fromkeys(map(find_text, levels))
        return max(names, key=lambda name: sum(name in level for level in levels), default="")

    def _find_task(self) -> str:
        """Return the place of what each of several rubrics judges."""
        if self.at[-2:-1] != ("*",):
            return ""
        cases = [group.document.value(group.path[:-1]) for group in self.groups]
        asks = sorted(SETS["asks"])
        asking = choose([case for case in cases if isinstance(case, dict)], asks, is_prose)
        return pointer((*self.at[:-1], asking[0])) if asking else ""


_LIMITS = ("max_points", "max_score", "max", "maximum", "max_marks")
"""The weights that are the highest score of their criterion."""


def _find_pair(words: Sequence[str]) -> dict[str, int]:
    """Return the scores of two words that are no and yes; empty if they are none."""
    two = LevelWords.two
    folded = {fold(word): word for word in words}
    for low, high in two.items():
        if folded.keys() == {low, high}:
            return {folded[low]: 0, folded[high]: 1}
    return {}


def _says_yes_no(entry: CriterionFields) -> bool:
    """Return whether a criterion says that it is met or not: `type: binary`."""
    return any(read_ends(value) == YES_NO and split_words(key) & SETS["of_answers"] for key, value in entry.items())


@dataclass(frozen=True)
class UnusedKeys:
    """The keys that a table does not use: the places of those `inside` criteria, and of those `around` them.

    The latter have a `*` as in the table. The `harmless` keys of criteria say nothing of the score; `open` ones may,
    though nothing says how.
    """

    inside: Sequence[tuple[Document, Path]]
    around: Sequence[tuple[Document, Path]]
    harmless: Sequence[str]
    open: Sequence[str]


def find_unused_keys(
    groups: Sequence[CriteriaGroup],
    at: Path,
    columns: CriteriaColumns,
    surroundings: Sequence[Surroundings],
    *,
    table: Table,
) -> UnusedKeys:
    """Find the keys of criteria, and those next to them, that a table does not use."""
    used = _list_used(table, columns)
    known = {at, *_list_places(table)}
    prefixes = {place[:length] for place in known for length in range(len(place) + 1)}
    holding = {(group.document, group.path[:length]) for group in groups for length in range(len(group.path) + 1)}
    inside: dict[tuple[Document, Path], None] = {}
    around: dict[tuple[Document, Path], None] = {}
    seen: set[tuple[Document, Path, Path]] = set()
    for group, nearby in zip(groups, surroundings, strict=True):
        inside |= dict.fromkeys((group.document, place) for place in _list_unused(group, used))
        for above, mapping in nearby.holders:
            general = generalize(above, at, group.path)
            if (group.document, above, general) in seen:  # all groups of a document stand below its top
                continue
            seen.add((group.document, above, general))
            for key in mapping:
                is_known = (group.document, (*above, key)) in holding or key in group.items
                if not is_known and (*general, key) not in prefixes:
                    around[group.document, (*general, key)] = None
    in_doubt = _find_names_in_doubt(FormatTable.from_table({"name": "", **table}), groups, _list_scales(groups, table))
    names = dict.fromkeys(str(place[-1]) for _, place in inside if place[-1] not in in_doubt)
    harmless: list[str] = []
    open_names: list[str] = []
    for name in names:
        values = [entry[name] for entry in columns.entries if name in entry]
        if _is_harmless(name, values):
            harmless.append(name)
        else:
            open_names.append(name)
    return UnusedKeys(list(inside), list(around), harmless, open_names)


def _list_places(table: Table) -> Iterator[Path]:
    """Yield the steps of the pointers in a table."""
    for value in table.values():
        items = value if isinstance(value, list) else [value]
        for item in items:
            if isinstance(item, str) and item.startswith("/"):
                yield split_pointer(item)


def _list_used(table: Table, columns: CriteriaColumns) -> set[str]:
    """Return the keys of criteria that a table uses."""
    used: list[Any] = []
    for role, names in columns.roles.items():
        if role is not Role.GATE:  # not all gates are used
            used += names
    for key in ("scale", "levels", "gate"):
        value = table.get(key, ())
        used += value if isinstance(value, list) else [value]
    return first_steps(map(str, used)).union(table.get("negative", ()), table.get("sums", ()))


def _list_unused(group: CriteriaGroup, own: set[str]) -> Iterator[Path]:
    """Yield the first of each key of criteria that is not among those that a table uses."""
    stars = [form for star, form in STARS.items() if star in own]
    seen: set[str] = set()
    for place, entry in list_entries(group.items, group.path, group.columns.names(Role.PARTS)):
        for key in entry:
            if key not in own and key not in seen and not any(form.search(key) for form in stars):
                seen.add(key)
                yield (*place, key)


def _is_harmless(key: str, values: Sequence[Any]) -> bool:
    """Return whether a field of criteria says nothing of their score: a note, a topic, a text of what is bad.

    Numbers, flags and words are among the doubts of the reading if they may say something.
    """
    words = split_words(key)
    if not any(map(_says_more, values)):
        return True
    if SETS["against"] & words and not SETS["conditions"] & words and all(map(holds_statement, values)):
        return True
    return bool(values) and all(role_of(key, value) is Role.HARMLESS for value in values)


def _says_more(value: Any) -> bool:
    """Return whether a value is a list, a mapping, or a text of some words that is not a scale of scores."""
    if isinstance(value, str):
        return is_text_of_words(value) and read_ends_in_text(value) is None
    return isinstance(value, list | dict) and bool(value)


def _list_scales(groups: Sequence[CriteriaGroup], table: Table) -> list[Ends]:
    """Return the scale that stands around criteria, or that the table has."""
    scale = table.get("scale", "")
    if isinstance(scale, list) and all(map(is_number, scale)):
        return [(Fraction(scale[0]), Fraction(scale[1]))]
    if not isinstance(scale, str) or not scale.startswith("/"):
        return []
    document = groups[0].document
    found = [read_ends(document.value(path)) for path, _ in expand(document.data, scale)]
    return [ends for ends in found if isinstance(ends, tuple)]


def _find_names_in_doubt(
    format_table: FormatTable, groups: Sequence[CriteriaGroup], scales: Sequence[Ends]
) -> set[str]:
    """Return the keys of criteria that may decide their score, which no table says not to count."""
    found: set[str] = set()
    for group in groups:
        search = UnmappedSearch(
            group.document, format_table, group.path, scales=[*ANY_SCALE, *scales], is_described=False
        )
        entries = list(list_entries(group.items, group.path, group.columns.names(Role.PARTS)))
        found |= {str(key.place[len(group.path) + 1]) for key in search.find_in_criteria(entries)}
    return found

"""Say what each key of some criteria is, from its words and from what most of them have under it.

The criteria of a list or a map are read as the rows of a table, whose columns are their keys.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from rubric_lint.formats.home_made.format_table import (
    Names,
    first_steps,
    is_star,
    list_words,
    split_words,
    star_pattern,
)
from rubric_lint.formats.home_made.roles import Role, role_of, says_penalty
from rubric_lint.formats.home_made.scores import (
    ParsedLevels,
    adds_up,
    holds_mappings,
    is_amount,
    is_prose,
    is_statement,
    read_ends,
    read_ends_in_text,
    read_levels,
    read_percent,
    read_score,
)
from rubric_lint.formats.home_made.vocabulary import SETS, Containers, Fields, LevelWords
from rubric_lint.model.criterion import is_number, read_number
from rubric_lint.source.path import Path
from rubric_lint.source.tree import items_of, parts_of

CriterionFields = Mapping[str, Any]

PlacedCriterion = tuple[Path, CriterionFields]


MARKS = (Role.WEIGHT, Role.WEIGHT_WORDS, Role.LEVELS, Role.GATE, Role.SCALE, Role.HIGHEST)
"""What says that criteria are scored."""

_FEW = frozenset({Role.GATE, Role.NEGATIVE, Role.POSITIVE, Role.POLARITY, Role.ID})
"""What a few of the criteria may have alone."""

STARS: Mapping[str, re.Pattern[str]] = {star: re.compile(star_pattern(star)) for star in ("score_*", "*")}
"""What stands for the fields `score_1`, `score_3` and so on, or `1`, `3`, each the text of a level."""

NAMES = frozenset({"name", "title", "label"})


T = TypeVar("T")


class ParsedValues:
    """What was found in the values of one document, so that each is read once."""

    def __init__(self) -> None:
        self._levels: dict[int, ParsedLevels | None] = {}
        self._found: dict[tuple[str, int], Any] = {}

    def once(self, what: str, value: CriterionFields, find: Callable[[CriterionFields], T]) -> T:
        """Return the result of a function for a value, which is called only once."""
        key = what, id(value)
        if key not in self._found:
            self._found[key] = find(value)
        found: T = self._found[key]
        return found

    def levels(self, value: Any) -> ParsedLevels | None:
        """Return the levels that a value describes."""
        if not isinstance(value, list | dict):
            return None
        if id(value) not in self._levels:
            self._levels[id(value)] = read_levels(value)
        return self._levels[id(value)]

    def declares_scale(self, value: Any) -> bool:
        """Return whether a value declares a scale; one that describes its scores is levels."""
        return read_ends(value) is not None and self.levels(value) is None


@dataclass(frozen=True)
class CriteriaColumns:
    """The keys of criteria by their role; those that have no role are in none.

    `entries` are the criteria with their parts. `rivals` are keys of which only one can be the weight.
    `guessed` is the key of the text if nothing but its length says so.
    """

    entries: Sequence[CriterionFields]
    roles: Mapping[Role, Names]
    rivals: Names = ()
    guessed: str = ""

    def names(self, role: Role) -> Names:
        """Return the keys of a role."""
        return self.roles.get(role, ())

    def has(self, *roles: Role) -> bool:
        """Return whether a key has one of some roles."""
        return not self.roles.keys().isdisjoint(roles)

    @property
    def has_text(self) -> bool:
        """Whether most criteria say in words what is judged."""
        return self.has(Role.TEXT, Role.LEVELS)

    @property
    def is_scored(self) -> bool:
        """Whether something of them is a number that may be a score or a weight."""
        return self.has(Role.WEIGHT, Role.LEVELS, Role.SCALE, Role.HIGHEST) or self._has_flags()

    @property
    def ladder(self) -> Names:
        """The keys of most of them that are names of levels with a statement each: `full`, `partial`, `fail`."""
        return () if self.has(Role.LEVELS) else find_ladder(self.entries)

    @property
    def are_flat(self) -> bool:
        """Whether most of them hold no mappings but their levels and their parts."""
        known = {*self.names(Role.LEVELS), *self.names(Role.PARTS)}
        nested = 0
        for entry in self.entries:
            others = [value for key, value in entry.items() if key not in known]
            if holds_mappings(others) or any(map(holds_mappings, others)):
                nested += 1
        return 2 * nested <= len(self.entries)

    def _has_flags(self) -> bool:
        """Return whether a gate is said to be one, in a flag: thresholds alone are those of computed metrics too."""
        names = self.names(Role.GATE)
        return any(isinstance(entry.get(name), bool) for entry in self.entries for name in names)

    @property
    def are_statements(self) -> bool:
        """Whether most of them have a text of three words: prices, features and risks are called by fewer."""
        names = self.names(Role.TEXT) + self.names(Role.LEVELS)
        return is_most(self.entries, names, holds_statement) or any(map(is_star, self.names(Role.LEVELS)))


def look(entry: CriterionFields, name: str) -> Any:
    """Return the value of a key, which may lead through mappings: `scale.labels`."""
    if name in entry or "." not in name:
        return entry.get(name)
    value: Any = entry
    for step in name.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def find_ladder(entries: Sequence[CriterionFields]) -> Names:
    """Return the keys of most entries that are words for how good an answer is, each with a statement.

    Of two words, which may be a good and a bad example, only a verdict and its opposite are.
    """
    ladder: dict[str, str] = {}
    for key in _list_keys(entries):
        word = "_".join(list_words(key))
        if word in LevelWords.words and is_most(entries, (key,), is_statement):
            ladder[key] = word
    are_verdicts = any({low, high} == {*ladder.values()} for low, high in LevelWords.two.items())
    return tuple(ladder) if len(ladder) > 2 or are_verdicts else ()


def _list_keys(entries: Iterable[CriterionFields]) -> dict[str, None]:
    """Return the keys of entries, each once, in their order."""
    return dict.fromkeys(key for entry in entries for key in entry)


def holds_statement(value: Any) -> bool:
    """Return whether a value is a text of three words, or holds one at any depth."""
    return is_statement(value) or any(map(holds_statement, parts_of(value)))


def list_entries(holder: Any, path: Path, parts: Collection[str]) -> Iterator[PlacedCriterion]:
    """Yield the criteria of a list or a map, each followed by its parts at any depth."""
    for step, entry in items_of(holder):
        if isinstance(entry, dict):
            yield (*path, step), entry
            for name in parts:
                yield from list_entries(entry.get(name), (*path, step, name), parts)


def read_columns(
    parsed: ParsedValues, outer: Sequence[CriterionFields], *, is_map: bool, parts: Names = ()
) -> CriteriaColumns | None:
    """Return the roles of the keys of criteria; None if most have neither a text, nor levels, nor a weight.

    With `is_map`, their ids are the keys of a mapping. `parts` are the keys that are known to hold their parts.
    """
    reader = _ColumnReader(parsed, outer, is_map=is_map, parts=parts)
    return reader.read()


class _ColumnReader:
    """Gives roles to the keys of criteria; `judged` are those without parts, `guessed` as in `CriteriaColumns`."""

    def __init__(self, parsed: ParsedValues, outer: Sequence[CriterionFields], *, is_map: bool, parts: Names) -> None:
        self.parsed, self.outer, self.is_map = parsed, outer, is_map
        parts = parts or choose(outer, Fields.parts, _is_several)
        self.entries = [entry for _, entry in list_entries(outer, (), parts)]
        self.judged = [entry for entry in self.entries if entry.keys().isdisjoint(parts)]
        self.keys = _list_keys(self.entries)
        self.roles: dict[Role, Names] = {Role.PARTS: parts} if parts else {}
        self.rivals: Names = ()
        self.guessed = ""

    def read(self) -> CriteriaColumns | None:
        if len(self.keys) > _MOST_KEYS:
            return None
        self._read_weights()
        self._read_levels()
        self._read_scales()
        self._read_marks()
        self._read_texts()
        self._read_ids()
        is_named = self.roles.keys() >= {Role.LEVELS, Role.TEXT} and NAMES.issuperset(self.names(Role.TEXT))
        if is_named and not self.is_map and Role.ID not in self.roles:
            self.roles[Role.ID] = self.roles.pop(Role.TEXT)  # the levels say what is judged
        columns = CriteriaColumns(self.entries, self.roles, self.rivals, self.guessed)
        is_like = columns.has(Role.TEXT, Role.TEXTS, Role.LEVELS, Role.WEIGHT, Role.SCALE) or columns.ladder
        return columns if is_like else None

    def _assign(self, role: Role, names: Iterable[str], suits: Callable[[Any], bool], *, blank: bool = False) -> bool:
        """Give a role to those of some keys whose values suit it, if most criteria or a few of them have one."""
        free = {*self._list_free_keys()}
        chosen = choose(self.entries, [name for name in names if name in free], suits)

        def has(value: Any) -> bool:
            return suits(value) or (blank and value == "")

        is_enough = role in _FEW or is_most(self.outer, chosen, has) or is_most(self.entries, chosen, has)
        if chosen and is_enough:
            self.roles[role] = chosen
        return role in self.roles

    def _list_free_keys(self) -> list[str]:
        """Return the keys that have no role."""
        assigned = first_steps(chain.from_iterable(self.roles.values()))
        return [key for key in self.keys if key not in assigned]

    def _read_weights(self) -> None:
        known = Fields.weight
        if self._assign(Role.WEIGHT, known, is_amount):
            return

        def is_weight(key: str, value: Any) -> bool:
            return is_amount(value) and role_of(key, value) is Role.WEIGHT

        like = [key for key in self.keys if is_most(self.outer, (key,), partial(is_weight, key))]
        like = like or [key for key in self.keys if self._are_shares(key)]
        if len(like) == 1:
            self.roles[Role.WEIGHT] = tuple(like)
        elif like:
            self.rivals = tuple(like)
        elif not self._assign(Role.WEIGHT_WORDS, (*known, "priority"), _is_identifier):
            limits = [key for key in ("max", "maximum", "max_marks", "marks") if is_most(self.outer, (key,), is_number)]
            of_scale = {"min", "minimum", *Fields.scale}
            if limits and of_scale.isdisjoint(self.keys):
                self.roles[Role.WEIGHT] = (limits[0],)

    def _are_shares(self, key: str) -> bool:
        """Return whether all criteria have a number or a percentage under a key, and those are parts of one whole."""
        values = [entry.get(key) for entry in self.outer]
        finite = [number for number in map(read_number, values) if number is not None]
        numbers = [Fraction(str(number)) for number in finite if number > 0]
        if len(numbers) == len(values) > 2:  # two numbers add up to 100 by chance
            return sum(numbers) in (1, _WHOLE)
        shares = [read_percent(value) for value in values]
        return len(shares) > 1 and None not in shares and sum(share for share in shares if share) == 1

    def _read_levels(self) -> None:
        def are_levels(value: Any) -> bool:
            return self.parsed.levels(value) is not None

        if self._assign(Role.LEVELS, Fields.levels, are_levels):
            return
        containers = {*Containers.strong} - {*Fields.levels}
        others = [key for key in self._list_free_keys() if key not in containers]
        others = [key for key in others if not split_words(key) & SETS["samples"]]
        like = [key for key in others if is_most(self.entries, (key,), are_levels)]
        like = like or self._find_inner(are_levels) or self._find_star()
        if like:
            self.roles[Role.LEVELS] = (like[0],)

    def _find_inner(self, suits: Callable[[Any], bool]) -> list[str]:
        """Return the names that lead through a mapping of most criteria to what suits: `scale.labels`."""
        counts: Counter[str] = Counter()
        for entry in self.entries:
            for key, value in entry.items():
                inner = value.items() if isinstance(value, dict) and "." not in key else ()
                counts.update(f"{key}.{name}" for name, part in inner if "." not in name and suits(part))
        return [name for name, count in counts.items() if 2 * count > len(self.entries)]

    def _find_star(self) -> list[str]:
        """Return the pattern of the keys with the levels of most criteria; nothing if they have none."""
        for star, pattern in STARS.items():
            having = 0
            for entry in self.entries:
                count = sum(isinstance(value, str) and bool(pattern.search(key)) for key, value in entry.items())
                may_be_all = self.is_map and self.parsed.levels(entry) is not None
                if count > 1 and (may_be_all or count < len(entry)):
                    having += 1
            if 2 * having > len(self.entries):
                return [star]
        return []

    def _read_scales(self) -> None:
        known = Fields.scale
        inner = [name for name in self.names(Role.LEVELS) if "." in name]
        if inner:
            holder = inner[0].partition(".")[0]
            names = [holder, f"{holder}.range", *(f"{holder}.{name}" for name in known)]
            found = [name for name in names if is_most(self.entries, (name,), _is_scale)]
            if found:
                self.roles[Role.SCALE] = (found[0],)
            return
        like = [key for key in self.keys if split_words(key) & SETS["scales"]]
        if not self._assign(Role.SCALE, [*known, *like], self.parsed.declares_scale):
            self._assign(Role.HIGHEST, known, _is_highest)

    def names(self, role: Role) -> Names:
        """Return the keys of a role so far."""
        return self.roles.get(role, ())

    def _read_marks(self) -> None:
        free = self._list_free_keys()
        self._assign(Role.GATE, Fields.gate, _is_gate)
        flags = [key for key in free if self._are_gate_flags(key)]
        gates = dict.fromkeys([*self.names(Role.GATE), *flags])
        if gates:  # `blocker: false` turns off the threshold next to it
            off = [name for name in Fields.gate if any(entry.get(name) is False for entry in self.entries)]
            self.roles[Role.GATE] = tuple(dict.fromkeys([*gates, *off]))
        like = [key for key in self.keys if split_words(key) & SETS["penalty_flags"]]
        self._assign(Role.NEGATIVE, [*Fields.negative, *like], _is_flag)
        self._assign(Role.POSITIVE, Fields.positive, _is_flag)
        signs = [key for key in self.keys if any(says_penalty(key, entry.get(key)) for entry in self.entries)]
        if signs:
            self.roles[Role.POLARITY] = tuple(signs)
        self._read_points_off()

    def _are_gate_flags(self, key: str) -> bool:
        """Return whether a key is the name of a gate, and all its values are true or false."""
        values = [entry[key] for entry in self.entries if key in entry]
        return role_of(key, value=True) is Role.GATE and all(map(_is_flag, values))

    def _read_points_off(self) -> None:
        """Read the points that a criterion takes off in the place of those that others give: `penalty: 2`."""
        weights = self.names(Role.WEIGHT)
        if not weights:
            return
        for key in self.keys:
            having = [entry for entry in self.entries if key in entry]
            is_off = all(is_number(entry[key]) and role_of(key, 1) is Role.NEGATIVE for entry in having)
            if is_off and all(entry.keys().isdisjoint(weights) for entry in having):
                self.roles[Role.WEIGHT] += (key,)
                self.roles[Role.NEGATIVE] = (*self.names(Role.NEGATIVE), key)

    def _read_texts(self) -> None:
        known = [name for name in Fields.text if not self._is_asked(name)]
        self._assign(Role.TEXT, known, is_prose, blank=True)
        if NAMES.issuperset(self.names(Role.TEXT)):  # a text of one word is one too where its key says so
            sure = [name for name in known if name in Fields.sure]
            words = choose(self.judged, [name for name in sure if name in self.keys], _is_word)
            if words and is_most(self.judged, words, _is_word):
                self.roles[Role.TEXT] = words
        if not NAMES.issuperset(self.names(Role.TEXT)):
            return
        self.guessed = self._guess_text()
        if self.guessed:
            self.roles[Role.TEXT] = (self.guessed,)
        elif Role.LEVELS not in self.roles:
            lists = self._find_text_lists()
            if lists:
                self.roles[Role.TEXTS] = tuple(lists)

    def _is_asked(self, name: str) -> bool:
        """Return whether a key holds what a case asks, whose answer another key describes."""
        expected = [key for key in self.keys if key.partition("_")[0] in SETS["answers"]]
        return name in SETS["asks"] and any(is_most(self.entries, (key,), is_prose) for key in expected)

    def _guess_text(self) -> str:
        """Return the key of the longest texts of most criteria, whatever it is called; empty if they have none."""
        never = SETS["against"] | SETS["notes"] | SETS["apart"]
        ladder = find_ladder(self.judged)
        lengths: dict[str, int] = {}
        for key in self._list_free_keys():
            is_level = key in ladder or any(pattern.search(key) for pattern in STARS.values())
            if key in SETS["asks"] or split_words(key) & never or is_level:
                continue
            texts = [entry[key] for entry in self.judged if is_prose(entry.get(key))]
            if 2 * len(texts) > len(self.judged):
                lengths[key] = sum(map(len, texts))
        return max(lengths, key=lambda key: lengths[key], default="")

    def _find_text_lists(self) -> list[str]:
        """Return the keys of lists of texts that most criteria have."""

        def are_texts(value: Any) -> bool:
            return isinstance(value, list) and bool(value) and all(map(is_prose, value))

        return [key for key in self._list_free_keys() if is_most(self.judged, (key,), are_texts)]

    def _read_ids(self) -> None:
        if Role.ID in self.roles or (self.is_map and Role.PARTS not in self.roles):
            return
        if self._assign(Role.ID, Fields.id, _is_id):
            return
        short = [key for key in self._list_free_keys() if self._are_ids(key)]
        short = [key for key in short if not any(is_statement(entry.get(key)) for entry in self.judged)] or short
        if len(short) == 1:
            self.roles[Role.ID] = tuple(short)

    def _are_ids(self, key: str) -> bool:
        """Return whether each criterion has a short text of its own under a key."""
        values = [entry.get(key) for entry in self.judged]
        are_short = all(
            isinstance(value, str) and 0 < len(value) <= LONGEST_ID and "\n" not in value for value in values
        )
        return are_short and len(values) > 1 and len({*values}) == len(values)


# What the values of a role are.


def _is_several(value: Any) -> bool:
    return isinstance(value, list | dict) and len(value) > 1


def _is_identifier(value: Any) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _is_scale(value: Any) -> bool:
    return read_ends(value) is not None


def _is_highest(value: Any) -> bool:
    return type(value) is int and value > 1


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_gate(value: Any) -> bool:
    return is_amount(value) or _is_flag(value)


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and read_score(value.strip()) is None


_WHOLE = 100
LONGEST_ID = 40
_MOST_KEYS = 100
"""Criteria have fewer keys in all."""


def choose(entries: Sequence[CriterionFields], names: Iterable[str], suits: Callable[[Any], bool]) -> Names:
    """Return the fewest names that the entries have, the most frequent first: each has values where the others lack."""
    having: dict[str, set[int]] = {}
    for name in names:
        having[name] = {index for index, entry in enumerate(entries) if name in entry and suits(entry[name])}
    chosen: list[str] = []
    covered: set[int] = set()
    for name in sorted(having, key=lambda name: -len(having[name])):  # stable: of equal ones the first of the names
        if having[name] - covered:
            chosen.append(name)
            covered |= having[name]
    return tuple(chosen)


def is_most(entries: Sequence[CriterionFields], names: Sequence[str], suits: Callable[[Any], bool]) -> bool:
    """Return whether most entries have a value that suits under one of some names."""
    return 2 * sum(any(suits(look(entry, name)) for name in names) for entry in entries) > len(entries)


def find_scale_in_texts(columns: CriteriaColumns) -> tuple[int, int] | None:
    """Return the scale that the text of each criterion explains: "1=Nothing is named. 5=All is named."."""
    texts = columns.names(Role.TEXT)[:1]
    other = {key for entry in columns.entries for key in entry if split_words(key) & SETS["of_criteria"]}
    ends = None
    for name in [*texts, *sorted(other)]:
        values = [look(entry, name) for entry in columns.entries]
        stated = {read_ends_in_text(value) for value in values if isinstance(value, str)}
        if ends is None and len(stated) == 1:
            (ends,) = stated
    highest = [entry[name] for entry in columns.entries for name in columns.names(Role.HIGHEST) if name in entry]
    if ends is None or any(number != ends[1] for number in highest):
        return None
    return int(ends[0]), int(ends[1])


def find_sums(columns: CriteriaColumns) -> Mapping[str, Any]:
    """Return the key that marks the lists of points which add up, with its values; an id is the last choice."""
    levels = columns.names(Role.LEVELS)
    adding: list[CriterionFields] = []
    others: list[CriterionFields] = []
    for entry in columns.entries:
        for value in (entry[name] for name in levels if isinstance(entry.get(name), list)):
            if adds_up(value):
                adding.append(entry)
            else:
                others.append(entry)
    if not adding or not others:
        return {}
    marks: list[dict[str, Any]] = []
    for key in adding[0]:
        values = list(dict.fromkeys(entry[key] for entry in adding if isinstance(entry.get(key), str)))
        is_all = all(entry.get(key) in values for entry in adding if isinstance(entry.get(key), str | None))
        if values and is_all and any(entry.get(key) not in values for entry in others):
            marking = values if len(values) > 1 else values[0]
            marks.append({key: marking})
    return min(marks, key=lambda mark: any(key in Fields.id for key in mark), default={})


def is_answered(columns: CriteriaColumns) -> bool:
    """Return whether the key of the texts says that they are met or not: `pass_if`."""
    return SETS["answered"].issuperset(columns.names(Role.TEXT) or ("",))

"""List the keys that bear on a score and that nothing reads: in criteria, in their levels and around them.

A rubric with such a key is neither scored nor converted until a table says what the key is.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from rubric_lint.formats.home_made.columns import PlacedCriterion, list_entries
from rubric_lint.formats.home_made.direction import DIRECTIONS, LOW_WORDS, find_reversal, is_below_top, is_off
from rubric_lint.formats.home_made.format_table import (
    FormatTable,
    expand,
    first_steps,
    is_star,
    split_words,
    star_pattern,
)
from rubric_lint.formats.home_made.roles import (
    BEARING,
    FEW,
    Role,
    as_flag,
    is_good,
    is_of_model,
    is_unwanted,
    role_of,
    says_scale,
)
from rubric_lint.formats.home_made.scores import (
    ENDS,
    Ends,
    holds_mappings,
    is_amount,
    is_statement,
    read_score,
)
from rubric_lint.formats.home_made.unmapped_key import UnmappedKey
from rubric_lint.formats.home_made.vocabulary import SETS, Containers
from rubric_lint.model.criterion import is_number, read_number
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path, pointer
from rubric_lint.source.tree import parts_of


def find_in_level(
    place: Path, level: Mapping[str, Any], read: Collection[str], score: Fraction | None
) -> Iterator[UnmappedKey]:
    """Find the numbers, flags and verdicts in a level with a score that are not read."""
    verdicts = SETS["mark"] | SETS["less"] | SETS["gate"]
    for key, value in level.items():
        is_value = isinstance(as_flag(value), bool) or is_amount(value)
        is_verdict = isinstance(value, str) and len(value.split()) < FEW and bool(split_words(value) & verdicts)
        is_score = is_value and score is not None and read_number(value) == score
        is_open = is_verdict or (is_value and not is_score)
        if is_open and key not in read and role_of(key, value) is not Role.HARMLESS:
            yield UnmappedKey((*place, key), Role.OPEN, value)


def find_scales_and_unwanted(
    path: Path, fields: Iterable[tuple[str, Any]], known: Collection[Path], *, is_around: bool = True
) -> Iterator[UnmappedKey]:
    """Find what says a scale, and lists of what an answer must not do, among the fields of the mapping at a path.

    `known` are the places that are read, or found already. The mapping is a criterion unless it `is_around` criteria.
    """
    for key, value in fields:
        place = (*path, key)
        if place in known:
            continue
        if says_scale(key, value, is_around=is_around):
            yield UnmappedKey(place, Role.SCALE, value, is_around=is_around)
        elif isinstance(value, list) and is_unwanted(key) and any(map(is_statement, value)):
            yield UnmappedKey(place, Role.NEGATIVE, value, is_around=is_around)


def find_around_in_suite(
    document: Document, path: Path, scales: tuple[Ends, ...], known: frozenset[str], *, is_grader: bool = False
) -> Sequence[UnmappedKey]:
    """Return the unmapped keys around the rubrics at or below a path, in the suite or the test that holds them.

    `known` are the keys that are read. What a test as a whole must do bears on no rubric, nor do its inputs; with
    `is_grader`, the holder judges by this rubric alone. What a mapping or a list says may be a part of the criteria.
    """
    at = len(path) - 1
    ids = None if path[-1] in _HOLDERS else frozenset[str]()  # other lists are of tests, which have ids too
    unmapped = []
    search = UnmappedSearch(document, FormatTable("", pointer(path)), path, (), scales, ids=ids)
    for key in search.find_next_to(at):
        words = split_words(str(key.place[at]))
        is_direct = len(key.place) == len(path) and not key.quote  # it stands next to the list of criteria
        may_bear = is_direct or words & SETS["settings"] or (key.quote and words & SETS["notes"])
        # With aliases, a mapping or a list may be the rubric itself, written at another place.
        is_part = document.may_borrow and key.is_several and key.role is not Role.SCALE
        is_known = not (known.isdisjoint(map(str, key.place[at:])) or (is_direct and _is_gate_of(key, search.ids)))
        bears = is_grader or is_of_rubric(key, search.ids)
        if may_bear and bears and not (is_part or is_known or key.is_of_case):
            unmapped.append(key)
    return unmapped


find_at_top_of_suite = lru_cache(maxsize=1)(find_around_in_suite)
"""The same for the whole suite, whose rubrics share what it says at the top."""

_HOLDERS = frozenset({*Containers.strong, "value"})
"""What holds criteria in a suite."""


def _is_gate_of(key: UnmappedKey, ids: Collection[str]) -> bool:
    """Return whether a key may be the gates of criteria that it names: `required: [b]`; alone, it is one of a test."""
    names = key.value if key.is_several else [key.value]
    return key.role is Role.GATE and bool(names) and all(isinstance(name, str) and name in ids for name in names)


def is_of_rubric(key: UnmappedKey, ids: Collection[str] = ()) -> bool:
    """Return whether what a suite says may bear on a rubric, and not on a test as a whole or the order of tests."""
    words = split_words(key.name)
    if key.role is Role.GATE:
        return key.is_several or "all" in words or _is_gate_of(key, ids)
    if key.role is Role.DIRECTION and not key.quote:
        said = split_words(str(key.value))
        return bool((words | said) & SETS["of_ranks"] or (words & DIRECTIONS and said & LOW_WORDS))
    return words.isdisjoint(SETS["of_tests"])


@lru_cache(maxsize=1 << 6)  # the rubrics of a file are asked about one after the other
def _list_around(document: Document, criteria: str, path: Path) -> list[tuple[str, Any]]:
    """Return the fields of a mapping that hold no rubric of a table; `criteria` is its pointer to them."""
    holder = document.value(path)
    holding = _list_holding(document, criteria)
    items = holder.items() if isinstance(holder, dict) else ()
    return [(key, value) for key, value in items if (*path, key) not in holding]


@lru_cache(maxsize=1 << 3)
def _list_holding(document: Document, criteria: str) -> frozenset[Path]:
    """Return the paths to the rubrics of a table and to what holds them."""
    holding: set[Path] = set()
    for path, _ in expand(document.data, criteria):
        if any(isinstance(part, str | dict) for part in parts_of(document.value(path))):
            holding.update(path[:length] for length in range(len(path) + 1))
    return frozenset(holding)


class UnmappedSearch:
    """A search for what is not read of the criteria at a path; `read` are places around them that are read.

    `scales` are those on which criteria are scored, `ids` those of the criteria, if they do not say them themselves.
    Unless somebody wrote a table, in which `is_described` what the keys are, each number, flag and word under a key
    that says nothing harmless is in doubt.
    """

    def __init__(
        self,
        document: Document,
        table: FormatTable,
        path: Path,
        read: Collection[Path] = (),
        scales: Collection[Ends] = (),
        *,
        ids: frozenset[str] | None = None,
        is_described: bool = True,
    ) -> None:
        self.document, self.table, self.path, self.read, self.scales = document, table, path, read, scales
        self.is_described = is_described
        if ids is not None:
            self.ids = ids
        self.unused = [name.split("/")[1:] for name in table.unused if name.startswith("/")]
        """The steps of the places that are unused, each a key, an index or `*`."""

    def find_all(self) -> Iterator[UnmappedKey]:
        """Find what is not read of the criteria and of all that stands around them."""
        yield from self.find_in_criteria()
        yield from self.find_around(range(len(self.path)))

    # In criteria.

    @cached_property
    def known(self) -> set[str]:
        """The fields of criteria in which there is nothing else to find."""
        table = self.table
        return first_steps(table.id + table.weight + table.levels + table.parts + table.unused)

    @cached_property
    def used(self) -> set[str]:
        """The fields of criteria that are read, but may say more."""
        table = self.table
        marks = [name for name, _ in table.gate + table.negative + table.sums]
        return first_steps([*table.outcome, *table.scale_names, *marks])

    @cached_property
    def gates(self) -> set[str]:
        """The fields of criteria that are gates, whatever their values."""
        return {name for name, values in self.table.gate if values is None}

    @cached_property
    def penalties(self) -> dict[str, Collection[Any] | None]:
        """The fields of criteria that mark penalties, with the values that a table names for penalties and gates."""
        gates = {name: values or () for name, values in self.table.gate}
        penalties: dict[str, Collection[Any] | None] = {}
        for name, values in self.table.negative:
            if name not in self.table.unused:
                penalties[name] = None if values is None else values + gates.get(name, ())
        return penalties

    @cached_property
    def stars(self) -> list[str]:
        """The patterns of the fields that are the levels of a criterion."""
        return [star_pattern(name) for name in self.table.levels if is_star(name)]

    def find_in_criteria(self, entries: Sequence[PlacedCriterion] | None = None) -> Iterator[UnmappedKey]:
        """Find the fields of criteria that are not read, each where it may decide first."""
        entries = self._entries if entries is None else entries
        firsts: dict[str, UnmappedKey] = {}
        shares = set(self._find_shares(entries))
        in_entries = [list(self._find_in_entry(place, entry, shares)) for place, entry in entries]
        all_say_lower = all(any(found.role is Role.DIRECTION for found in keys) for keys in in_entries)
        for (place, _), keys in zip(entries, in_entries, strict=True):
            for found in keys:
                if found.role is Role.DIRECTION and self.table.is_turned and all_say_lower:
                    continue  # the table says it too
                key = str(found.place[len(place)])
                if key not in firsts or firsts[key].role is Role.OPEN is not found.role:
                    firsts[key] = found
        for key, found in firsts.items():
            values = [entry.get(key) for _, entry in entries]
            is_order = found.role is Role.OPEN and _is_order(values)
            is_one = found.role is Role.WEIGHT and len({*map(str, values)}) == 1
            if not is_order and not is_one:
                yield found

    @cached_property
    def _entries(self) -> list[PlacedCriterion]:
        return list(list_entries(self.document.value(self.path), self.path, self.table.parts))

    def _find_shares(self, entries: Sequence[PlacedCriterion]) -> Iterator[str]:
        """Find the unread fields whose values may be weights by what they are, where nothing else is the weight."""
        holders: dict[Path, list[Mapping[str, Any]]] = {}
        for place, entry in entries:
            holders.setdefault(place[:-1], []).append(entry)
        weights = SETS["weights"] | {"score", "max"}
        if self.table.combine == "all":
            return
        for rows in holders.values():
            columns: dict[str, list[Any]] = {}
            for entry in rows:
                for key, value in entry.items():
                    columns.setdefault(key, []).append(value)
            if any(key in self.table.weight or (key in self.known and split_words(key) & weights) for key in columns):
                continue
            for key, values in columns.items():
                if key not in self.known | self.used and _are_shares(values, len(rows)):
                    yield key

    def _find_in_entry(self, place: Path, entry: Mapping[str, Any], shares: Collection[str]) -> Iterator[UnmappedKey]:
        """Find the fields of a criterion that are a number, true or false, a telling word, or a text about scores."""
        for key, value in entry.items():
            own = (*place, key)
            role: Role | None
            if key in self.gates and isinstance(value, str) and not (is_off(value) or is_amount(value)):
                role = Role.GATE
            elif key in self.penalties and _is_unknown_mark(value, self.penalties[key]):
                own_role = role_of(key, value, self.scales)
                role = own_role if own_role in BEARING else Role.NEGATIVE
            elif key in self.used:
                role = None
            elif key in self.known or own in self.read or any(re.search(star, key) for star in self.stars):
                continue
            else:
                role = self._read_field(key, value, entry, is_share=key in shares)
            if role is None:
                yield from self._find_reversals(own, value)
            else:
                yield UnmappedKey(own, role, value)

    def _read_field(self, key: str, value: Any, entry: Mapping[str, Any], *, is_share: bool) -> Role | None:
        """Return the role that an unread field may have; None if it bears on no score."""
        role = role_of(key, value, self.scales)
        other_end = key.replace("min", "max")
        is_end = "min" in split_words(key) and other_end in entry and other_end not in self.known
        if is_end and any(value in ends for ends in self.scales):  # it repeats the scale
            return None
        if role is Role.GATE and self.table.combine == "all":  # each criterion must be met
            return None
        is_second = role is Role.WEIGHT and key != "weight" and not entry.keys().isdisjoint(self.table.weight)
        if is_second or (role is Role.GATE and is_end):
            role = Role.OPEN
        if role in BEARING:
            return role
        if self._converts_scores(value):
            return Role.CHANGE
        if role is Role.OPEN and is_share and is_amount(value):
            return Role.WEIGHT
        may_bear = self._may_count(key, value) or (role is Role.OPEN and self._may_be_best(key, value, entry))
        return Role.OPEN if may_bear and role is not Role.HARMLESS else None

    def _may_count(self, key: str, value: Any) -> bool:
        """Return whether a value under an unknown key is a number, a flag or a word, where no table knows the key."""
        words = split_words(key)
        if self.is_described or value in (None, "") or isinstance(value, list | dict):
            return False
        if words & (SETS["conditions"] | SETS["verdicts"]):
            return True
        ruled = SETS["ruled"] | SETS["ways"] | SETS["kinds"] | DIRECTIONS
        ruled |= frozenset() if is_number(value) else SETS["wanted"]
        is_text = isinstance(value, str) and (is_text_of_words(value) or re.search(r"[/\\{}]", value))
        return not (is_text or words & ruled)

    def _may_be_best(self, key: str, value: Any, holder: Mapping[str, Any]) -> bool:
        """Return whether a field of a scale or a criterion may say that another score than the highest is the best."""
        is_end = any(key in (low, high) and low in holder and high in holder for low, high in ENDS)
        return is_below_top(value, self.scales) and not (is_end or split_words(key) & (SETS["least"] | {"worst"}))

    # What texts say.

    def _find_reversals(self, place: Path, value: Any) -> Iterator[UnmappedKey]:
        """Find what says in words, in a value or in it, that lower scores are better, if there are scores at all."""
        if isinstance(value, str):
            yield from self._find_reversal(place, value, value)
        elif isinstance(value, list) and not holds_mappings(value):
            for at, text in enumerate(value):
                yield from self._find_reversal((*place, at), text, text)
        elif isinstance(value, dict) and not holds_mappings(value):
            is_scale = any(low in value and high in value for low, high in ENDS)
            for key, text in value.items():
                own, role = (*place, key), role_of(key, text, self.scales)
                is_label = isinstance(text, str) and len(text.split()) < FEW and re.fullmatch(r"-?\d+", key)
                if own in self.read or (self.unused and self._is_unused(own)):
                    continue
                if role is Role.DIRECTION or (is_scale and role is Role.OPEN and self._may_be_best(key, text, value)):
                    yield UnmappedKey(own, role, text)
                else:
                    shown = f"{key} = {text}" if is_label else text
                    yield from self._find_reversal(own, text, shown)

    def _find_reversal(self, place: Path, value: Any, text: Any) -> Iterator[UnmappedKey]:
        quote = find_reversal(text, self.scales) if self.scales and isinstance(text, str) else ""
        if quote:
            yield UnmappedKey(place, Role.DIRECTION, value, quote)

    # Around criteria.

    def find_around(self, depths: Iterable[int]) -> Iterator[UnmappedKey]:
        """Find what is said around the criteria, in the mappings at some depths above them."""
        for depth in depths:
            for key, value in self._list_fields(self.path[:depth]):
                place = (*self.path[:depth], key)
                if place == self.path[: depth + 1] or key in SETS["inputs"] or (self.unused and self._is_unused(place)):
                    continue
                for found in self._find_in_key(place, value):
                    if found.role is Role.DIRECTION and self.table.is_turned:
                        continue  # the table says it too
                    is_usual = found.role is Role.WEIGHT and split_words(pointer(found.place)) & SETS["defaults"]
                    if not (is_usual and self._have_weights):
                        yield replace(found, is_around=True)

    def find_next_to(self, depth: int) -> Iterator[UnmappedKey]:
        """Find what the mapping at a depth says next to criteria: also a scale, and what an answer must not do.

        The scale may be the one that the criteria have; see `drop_usual`.
        """
        found = list(self.find_around([depth]))
        yield from found
        known = {key.place for key in found}.union(self.read, [self.path[: depth + 1]])
        yield from find_scales_and_unwanted(self.path[:depth], self._list_fields(self.path[:depth]), known)

    def _list_fields(self, path: Path) -> Iterable[tuple[str, Any]]:
        """Return the fields of what may be a mapping, without those that hold other rubrics of the table."""
        if "*" in self.table.criteria:
            return _list_around(self.document, self.table.criteria, path)
        holder = self.document.value(path)
        return holder.items() if isinstance(holder, dict) else ()

    def _find_in_key(self, place: Path, value: Any) -> Iterator[UnmappedKey]:
        """Find what a key around criteria says about their scores, or what is in it does."""
        key = str(place[-1])
        role = self._role_around(key, value, self.scales)
        if (self.scales or isinstance(value, dict)) and (place in self.read or role is not Role.DIRECTION):
            yield from self._find_reversals(place, value)
        is_known = isinstance(value, dict) and any((*place, inner) in self.read for inner in value)
        if place in self.read:
            return
        if role in BEARING and not is_known:
            yield UnmappedKey(place, role, value)
        elif isinstance(value, list | dict):
            found = list(self._find_in_settings(place, value))
            whole = None if found or is_known else self._read_items(key, value)
            if whole is None:
                if not (found or is_known or self.is_described or split_words(key) & _OF_OTHERS):
                    found = list(self._find_numbers(place, value))
                yield from self._join(found)
            else:
                yield UnmappedKey(place, whole, value)
        elif role is not Role.HARMLESS and len(place) == len(self.path) and self._may_count(key, value):
            is_of_whole = key == "weight" and self._have_weights  # among other rubrics
            if not is_of_whole:
                yield UnmappedKey(place, Role.OPEN, value)

    def _join(self, found: Sequence[UnmappedKey]) -> Iterator[UnmappedKey]:
        """Yield what settings say, once for each role: at the key, or at the mapping of several."""
        for role in dict.fromkeys(key.role for key in found):
            same = [key for key in found if key.role is role]
            if len(same) == 1:
                yield same[0]
            else:
                place = _find_common_start([key.place for key in same])
                yield UnmappedKey(place, role, self.document.value(place))

    def _role_around(self, key: str, value: Any, scales: Collection[Ends] = ()) -> Role:
        """Return the role of a key around criteria; where all must be met, one that says so changes nothing."""
        role = role_of(key, value, scales, is_around=True)
        is_all = role is Role.COMBINE or (role is Role.GATE and not isinstance(value, list | dict))
        return Role.HARMLESS if is_all and self.table.combine == "all" else role

    def _find_in_settings(self, place: Path, value: Any) -> Iterator[UnmappedKey]:
        """Find what a mapping around criteria says about scores: `verdict: {pass_at: 7}`, `gates: {safety: 4}`.

        A key there counts with the words of the one that holds it.
        """
        if not isinstance(value, dict) or any(map(holds_mappings, value.values())):
            return
        for key, part in value.items():
            own = (*place, key)
            is_of_format = isinstance(part, list) and split_words(str(place[-1])) & SETS["of_formats"]
            if own in self.read or self._is_unused(own) or is_of_model(key, value) or is_of_format:
                continue
            role: Role | None = self._role_around(f"{place[-1]}_{key}", part)
            if role not in BEARING:
                role = self._read_items(key, part)
            if isinstance(part, dict) and any((*own, inner) in self.read for inner in part):
                role = None  # some of it is read, and the rest is looked at
            if role is None:
                yield from self._find_in_settings(own, part)
            else:
                yield UnmappedKey(own, role, part)

    def _read_items(self, key: str, value: Any) -> Role | None:
        """Return the role that a list or a mapping may have by its items or keys, whatever it is called."""
        if not value or not isinstance(value, list | dict):
            return None
        words, weights = split_words(key), SETS["weights"]
        is_named = bool(words & weights) and words <= weights | SETS["of_criteria"] | self._called  # not those of cases
        is_of_criteria = all(isinstance(name, str) and name in self.ids for name in value)
        if (is_of_criteria or is_named) and all(map(is_amount, parts_of(value))):
            return Role.GATE if words & SETS["least"] else Role.WEIGHT
        is_criterion = self._is_criterion(value) or (self.table.files and self._are_criteria(value))
        if is_criterion and not words & SETS["notes"]:
            return Role.CRITERIA
        are_rules = _are_rules(value) and not words & (SETS["notes"] | SETS["of_cases"])
        if are_rules or self._converts_scores(value):
            return Role.CHANGE
        if not is_of_criteria or role_of(key, value, is_around=True) is Role.HARMLESS:
            return None
        is_open = len({*value}) < len(self.ids)
        if isinstance(value, dict):
            is_open = any(map(_is_setting, value.values()))
        return Role.OPEN if is_open else None

    def _find_numbers(self, place: Path, value: Any) -> Iterator[UnmappedKey]:
        """Find the numbers, and lists of them, that a list or a mapping next to the criteria is or has.

        Those of a mapping that names a model are about that.
        """
        if len(place) != len(self.path) or "model" in value:
            return
        inner = [(place, value)]
        if isinstance(value, dict):
            inner = [((*place, key), part) for key, part in value.items()]
        for own, part in inner:
            numbers = part if isinstance(part, list) else [part]
            is_known = own in self.read or self._is_unused(own) or not all(map(is_number, numbers))
            key = "_".join(map(str, own[len(place) - 1 :]))
            if part != [] and not is_known and role_of(key, part, self.scales, is_around=True) is Role.OPEN:
                yield UnmappedKey(own, Role.OPEN, part)

    def _is_criterion(self, value: Any) -> bool:
        """Return whether a mapping around the criteria of a table is one more: it has an id and a text as theirs."""
        has_id = isinstance(value, dict) and any(name in value for name in self.table.id)
        return has_id and any(name in value for name in self.table.outcome)

    def _are_criteria(self, value: Any) -> bool:
        """Return whether what stands around the criteria of a table has the fields of more: a text and another one."""
        texts = {*self.table.outcome, *self.table.levels}
        known = texts.union(self.table.id, self.table.weight)
        entries = [part for part in parts_of(value) if isinstance(part, dict)]
        return any(texts & entry.keys() and len(known & entry.keys()) > 1 for entry in entries)

    def _converts_scores(self, value: Any) -> bool:
        """Return whether a value gives the scores of a scale other numbers: `{1: 0, 2: 0.2, 3: 1}`, `[0, 0.2, 1]`."""
        if isinstance(value, list):
            as_many = [ends for ends in self.scales if ends[1] - ends[0] == len(value) - 1]
            is_other = any(value != list(range(int(low), int(high) + 1)) for low, high in as_many)
            return is_other and len(value) > 1 and all(map(is_number, value))
        if not isinstance(value, dict) or len(value) < 2 or not all(map(is_amount, value.values())):
            return False
        scores = [score for score in map(read_score, value) if score is not None]
        are_scores = len(scores) == len(value)
        return are_scores and any(low <= min(scores) and max(scores) <= high for low, high in self.scales)

    @cached_property
    def _called(self) -> frozenset[str]:
        """What the criteria are called: `assertions` and `assertion`."""
        name = str(self.path[-1]) if self.path else ""
        return split_words(name) | split_words(name.removesuffix("s"))

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of the criteria."""
        holder = self.document.value(self.path)
        if isinstance(holder, dict):
            return frozenset(holder)
        names = [*self.table.id, "id", "name", "title", "label", "key"]
        ids: set[str] = set()
        for entry in parts_of(holder):
            if isinstance(entry, dict):
                ids.update(str(entry[name]) for name in names if entry.get(name))
        return frozenset(ids)

    @cached_property
    def _have_weights(self) -> bool:
        """Whether all criteria have a weight of their own."""
        names = ("weight", *self.table.weight)
        return bool(self._entries) and not any(entry.keys().isdisjoint(names) for _, entry in self._entries)

    def _is_unused(self, place: Path) -> bool:
        for steps in self.unused:
            if len(steps) == len(place):
                pairs = zip(steps, place, strict=True)
                if all(own in ("*", str(step)) for own, step in pairs):
                    return True
        return False


_OF_OTHERS = SETS["of_cases"] | SETS["of_formats"] | {"words"}
"""Words of a mapping whose numbers are about cases or outputs, not about scores."""


def _are_rules(value: Any) -> bool:
    """Return whether all parts of a value say in which case they hold: `{condition: ..., action: cap_points}`."""
    parts = parts_of(value)
    return bool(parts) and all(map(_is_rule, parts))


def _is_rule(value: Any) -> bool:
    fields = value.items() if isinstance(value, dict) else ()
    return any(split_words(key) & SETS["rules"] and isinstance(part, str) for key, part in fields)


_LABEL = 30
"""A label has no more characters."""


def is_text_of_words(value: str) -> bool:
    """Return whether a string is a text, and neither a word nor a label; not all languages have blanks."""
    return len(value.split()) >= FEW or len(value) > _LABEL


def _find_common_start(places: Sequence[Path]) -> Path:
    """Return the steps with which all of some places begin."""
    start = min(places, key=len)
    while any(place[: len(start)] != start for place in places):
        start = start[:-1]
    return start


def _is_unknown_mark(value: Any, values: Collection[Any] | None) -> bool:
    """Return whether nothing says if a value of a field that marks penalties marks one; `values` are those known."""
    if values is None:
        return isinstance(value, str) and not (is_off(value) or is_amount(value) or is_good(value))
    if value is None or any(type(value) is type(known) and value == known for known in values):
        return False
    if isinstance(value, bool):
        return not any(isinstance(known, bool) for known in values)
    if not isinstance(value, str):
        return is_number(value)
    return not is_good(value)


_MOST = 100
"""No number above it is taken for a weight."""

_LAST = 10
"""Whole numbers that rise beyond it may be lines of a file."""


def _are_shares(values: Sequence[Any], count: int) -> bool:
    """Return whether the values that most criteria have may be weights: no order, no lines of a file, no ids."""
    if len(values) < 2 or len(values) * 4 < count * 3 or not all(map(is_amount, values)):
        return False
    numbers = [float(str(value).strip().rstrip("%")) for value in values]
    if len({*numbers}) == 1 or max(numbers) > _MOST:
        return False
    if sum(numbers) in (1, 100) or any("%" in str(value) for value in values):
        return True
    are_ids = any(isinstance(value, str) and "." not in value for value in values)
    is_rising = len(numbers) > 2 and numbers == sorted({*numbers})
    are_lines = is_rising and max(numbers) > _LAST and all(map(float.is_integer, numbers))
    return not (are_ids or are_lines or _is_order(numbers))


def _is_order(values: Sequence[Any]) -> bool:
    """Return whether the values of a field are the places of its criteria in their list: 1, 2, 3."""
    count = len(values)
    is_from_1 = count > 1 and values == list(range(1, count + 1))
    return is_from_1 or (count > 2 and values == list(range(count)))


def _is_setting(value: Any) -> bool:
    """Return whether what is said of a criterion by its id is a number, a flag or a word, not a text.

    A list is one if it has numbers, and a mapping if something in it is, under a key that says nothing harmless.
    """
    if isinstance(value, list):
        return any(map(is_number, value))
    if isinstance(value, dict):
        return any(_is_setting(part) and role_of(key, part) is not Role.HARMLESS for key, part in value.items())
    is_text = isinstance(value, str) and len(value.split()) >= FEW
    return value is not None and not is_text

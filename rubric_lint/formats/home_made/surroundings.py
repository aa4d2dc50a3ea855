"""Find what stands around criteria: a pass mark, a scale, a total, shared levels, and keys of other purposes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rubric_lint.formats.home_made.columns import CriterionFields, ParsedValues
from rubric_lint.formats.home_made.format_table import split_words
from rubric_lint.formats.home_made.places import CriteriaGroup, is_of_other_tool
from rubric_lint.formats.home_made.roles import Role, is_of_model, is_way, role_of
from rubric_lint.formats.home_made.scores import holds_mappings, is_amount, is_prose, is_row, read_ends, read_percent
from rubric_lint.formats.home_made.vocabulary import SETS, Foreign, SurroundingWords
from rubric_lint.model.criterion import is_number
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

DECLARING = frozenset({Role.LEVELS, Role.PASS, Role.SCALE, Role.LOWEST, Role.HIGHEST, Role.TOTAL})
"""What shows that criteria are scored."""

_PERCENT = 100


@dataclass(frozen=True)
class Surroundings:
    """What is said next to criteria, by its place, and what shows that they have another purpose.

    `foreign` is a key next to them which files of another purpose have, `foreign_field` a key of most of them; with
    `is_never`, the file is known to be of another tool. `holders` are the mappings in which all this was looked for.
    """

    places: Mapping[Role, Path]
    holders: Sequence[tuple[Path, CriterionFields]]
    foreign: str = ""
    foreign_field: str = ""
    is_never: bool = False

    @property
    def are_cases(self) -> bool:
        """Whether the items are cases: what is asked, and what is expected."""
        return self.foreign_field == "input" or self.foreign_field.partition("_")[0] in SETS["answers"]

    @property
    def is_declared(self) -> bool:
        """Whether something next to the criteria shows that they are scored."""
        return not DECLARING.isdisjoint(self.places)


def find_surroundings(parsed: ParsedValues, group: CriteriaGroup) -> Surroundings:
    """Find what is said next to some criteria, the nearest first."""
    document = group.document
    reader = _RoleFinder(parsed)
    holders = [*_find_holders(document, parsed, group.path), *_find_in_map(document, group)]
    places: dict[Role, Path] = {}
    for path, mapping in reversed(holders):
        for role in reader.known:
            if role not in places:
                found = parsed.once(role, mapping, partial(reader.find, role))
                if found:
                    places[role] = path + found
    called = document.source.name.replace("\\", "/").rpartition("/")[2].partition(".")[0].lower()
    foreign: list[str] = []
    for _, mapping in holders:
        foreign += parsed.once("foreign", mapping, _find_foreign)
    if called in Foreign.around:
        foreign.append(called)
    return Surroundings(
        places,
        holders,
        next(iter(foreign), ""),
        next(_find_foreign_fields(parsed, group), ""),
        is_of_other_tool(document),
    )


def _find_foreign(mapping: CriterionFields) -> list[str]:
    """Return the keys of a mapping that stand next to what people or programs judge, the surest first."""
    found = [key for key in mapping if key in Foreign.around]
    return found + [key for key in mapping if split_words(key) & Foreign.words]


def _find_foreign_fields(parsed: ParsedValues, group: CriteriaGroup) -> Iterator[str]:
    """Find the keys of most criteria that those of another purpose have; a text or an answer may be under any key."""
    entries = group.columns.entries
    answers = [key for key in group.columns.entries[0] if key.partition("_")[0] in SETS["answers"]] if entries else []
    for key in [*Foreign.entry, *answers]:
        having = [entry[key] for entry in entries if key in entry]
        strange = [value for value in having if not (_is_answer(value) or (key in _TEXTS and is_prose(value)))]
        levels = [parsed.levels(value) for value in strange]
        are_levels = all(
            parsed_levels is not None and parsed_levels.score_key != "points" for parsed_levels in levels
        )  # a course gives points
        if 2 * len(strange) > len(entries) and not are_levels:
            yield key


_TEXTS = frozenset({"check", "met", "passed", "satisfied"})
"""Keys of programs, of what they look for or of what was judged, unless they hold texts."""


def _is_answer(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and value.strip().lower() in {"yes", "no"})


def _find_holders(document: Document, parsed: ParsedValues, path: Path) -> Iterator[tuple[Path, CriterionFields]]:
    """Find the mappings around criteria, from the whole document on, then those in them that hold settings.

    Any mapping may that has one pass mark and no mappings in it.
    """
    above = [(path[:length], document.value(path[:length])) for length in range(len(path))]
    mappings: list[tuple[Path, CriterionFields]] = [(place, value) for place, value in above if isinstance(value, dict)]
    yield from mappings
    for place, mapping in mappings:
        for key, part in parsed.once("settings", mapping, _find_settings):
            if (*place, key) != path[: len(place) + 1]:
                yield (*place, key), part


def _find_settings(mapping: CriterionFields) -> list[tuple[str, CriterionFields]]:
    """Return the mappings in a mapping that hold settings, each with its key."""
    parts = ((key, part) for key, part in mapping.items() if isinstance(part, dict))
    return [(key, part) for key, part in parts if key in SurroundingWords.settings or _are_settings(part)]


def _find_in_map(document: Document, group: CriteriaGroup) -> Iterator[tuple[Path, CriterionFields]]:
    """Yield what stands between the criteria of a map: `{tone: {max: 2}, facts: {max: 2}, passing_threshold: 3}`."""
    value = document.value(group.path)
    if isinstance(value, dict) and not group.are_texts:
        others = {key: part for key, part in value.items() if key not in group.items}
        if others:
            yield group.path, others


def _are_settings(part: CriterionFields) -> bool:
    """Return whether a mapping says how scores are read: one pass mark, a scale, or both of its ends."""
    marks = [key for key, value in part.items() if _is_like(Role.PASS, key, value) and not is_of_model(key, part)]
    has_lowest = any(name in part for name in SurroundingWords.lowest)
    has_ends = has_lowest and any(name in part for name in SurroundingWords.highest)
    has_scale = any(read_ends(part.get(name)) is not None for name in SurroundingWords.scale)
    return (len(marks) == 1 or has_ends or has_scale) and not any(map(holds_mappings, part.values()))


class _RoleFinder:
    """Finds the keys with a role in the mappings around criteria."""

    def __init__(self, parsed: ParsedValues) -> None:
        self.parsed = parsed
        words = SurroundingWords
        self.known: Mapping[Role, tuple[Sequence[str], Callable[[Any], bool]]] = {
            Role.LEVELS: (words.levels, self._are_levels),
            Role.PASS: (words.passes, is_amount),
            Role.SCALE: (words.scale, self._is_scale),
            Role.LOWEST: (words.lowest, _is_integer),
            Role.HIGHEST: (words.highest, _is_integer),
            Role.TOTAL: (words.total, _is_total),
            Role.COMBINE: ((), _is_text),
            Role.PERCENT: (words.scale, _is_percent),
        }
        """The names of the keys with a role, and what their values are."""

    def find(self, role: Role, mapping: CriterionFields) -> Path:
        """Return the way to what a mapping says; empty if it does not."""
        names, suits = self.known[role]
        named = [key for key in names if key in mapping and suits(mapping[key])]
        if named:
            return (named[0],)
        if role is Role.LEVELS:
            return self._find_in_scale(mapping) or self._find_row(mapping)
        like = [key for key, value in mapping.items() if suits(value) and _is_like(role, key, value)]
        return (like[0],) if len(like) == 1 else ()  # of several, none is the one

    def _find_in_scale(self, mapping: CriterionFields) -> Path:
        """Return the way to the texts of a scale: `scale: {min: 1, max: 5, meaning: {1: ..., 5: ...}}`."""
        for name in SurroundingWords.scale:
            scale = mapping.get(name)
            if not isinstance(scale, dict):
                continue
            inner = [key for key, value in scale.items() if self._are_levels(value)]
            if len(inner) == 1:
                return name, inner[0]
        return ()

    def _find_row(self, mapping: CriterionFields) -> Path:
        """Return the key of the only row of scores with a text for each, whatever the key says: `{1: ..., 2: ...}`."""
        others = SETS["samples"] | SETS["grades"]
        rows = [key for key, value in mapping.items() if is_row(value) and not split_words(key) & others]
        return (rows[0],) if len(rows) == 1 and self._are_levels(mapping[rows[0]]) else ()

    def _is_scale(self, value: Any) -> bool:
        return read_ends(value) is not None and not self._are_levels(value)

    def _are_levels(self, value: Any) -> bool:
        levels = self.parsed.levels(value)
        return levels is not None and not levels.words and levels.is_described


def _is_integer(value: Any) -> bool:
    return type(value) is int


def _is_total(value: Any) -> bool:
    return is_number(value) or read_percent(value) is not None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_percent(value: Any) -> bool:
    """Return whether a value is the highest score of a scale in percent."""
    return _is_integer(value) and value == _PERCENT


def _is_like(role: Role, key: str, value: Any) -> bool:
    """Return whether a key next to criteria has a role by its words, though it is not a known one."""
    if role is Role.COMBINE:
        return is_way(key)
    if role is Role.SCALE and is_row(value):  # labels without texts, whatever the key says
        return not split_words(key) & (SETS["samples"] | SETS["grades"])
    is_known = role in (Role.PASS, Role.SCALE, Role.TOTAL) and key not in SurroundingWords.lowest
    return is_known and role_of(key, value, is_around=True) is role

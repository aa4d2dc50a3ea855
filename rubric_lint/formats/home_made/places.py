"""Find the lists and maps of a document that may hold criteria: mappings, or texts alone."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rubric_lint.formats.home_made.columns import (
    LONGEST_ID,
    NAMES,
    CriteriaColumns,
    CriterionFields,
    ParsedValues,
    read_columns,
)
from rubric_lint.formats.home_made.format_table import Names, list_words, split_words
from rubric_lint.formats.home_made.roles import Role
from rubric_lint.formats.home_made.scores import is_prose, is_statement
from rubric_lint.formats.home_made.vocabulary import FILES, SETS, Containers, Fields, Foreign, SurroundingWords
from rubric_lint.model.criterion import is_number
from rubric_lint.model.recognition import is_description
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path
from rubric_lint.source.source import Kind, kind_of
from rubric_lint.source.tree import items_of, parts_of
from rubric_lint.source.values import as_list

_CONTAINERS = Containers.strong + Containers.common

_MOST_MAPPINGS = 2_000
"""A document with more of them is data, unless its name is that of a rubric.

In data, only the words of containers show what may be criteria. The largest rubric that a team was seen to write in a
form of its own has 224.
"""


@dataclass(frozen=True, eq=False)
class CriteriaGroup:
    """A list or a map of a document that may hold criteria: its items by their step, and the roles of their keys.

    With `are_texts`, each item is a text alone; with `are_names`, a name that nothing explains; with `are_pairs`, a
    mapping with one key, which no table can describe.
    """

    document: Document
    path: Path
    items: Mapping[str | int, CriterionFields]
    columns: CriteriaColumns
    are_texts: bool = False
    are_names: bool = False
    are_pairs: bool = False

    @property
    def is_map(self) -> bool:
        """Whether the ids of its items are keys."""
        return all(isinstance(step, str) for step in self.items)

    @property
    def key(self) -> str:
        """The last key on the way to it; empty for one at the top."""
        return next((step for step in reversed(self.path) if isinstance(step, str)), "")

    @property
    def is_marked(self) -> bool:
        """Whether something says that its items are scored."""
        return self.columns.is_scored or self.columns.has(Role.WEIGHT_WORDS) or bool(self.columns.rivals)


def is_named(document: Document, kind: str, *, by_folder: bool = True) -> bool:
    """Return whether the name of a file, or that of its folder, is of a kind: one of `files` in the vocabulary."""
    name = document.source.name
    if not by_folder:
        name = name.replace("\\", "/").rpartition("/")[2]
    return re.search(FILES[kind], name, re.IGNORECASE) is not None


def is_of_other_tool(document: Document) -> bool:
    """Return whether a document is known to be no rubric: a description of data, settings of a tool, a translation."""
    top = document.data if isinstance(document.data, dict) else {}
    return is_description(top) or is_named(document, "translated") or not Foreign.never.isdisjoint(top)


def is_line(document: Document) -> bool:
    """Return whether a document is one line of a file."""
    return kind_of(document.source.name) is Kind.JSON_LINES


def is_case(document: Document) -> bool:
    """Return whether a line of a file for judges is a case with criteria of its own, and not what was answered."""
    top = document.data if isinstance(document.data, dict) else {}
    is_asked = not (SETS["asks"] | SETS["tasks"]).isdisjoint(top) and SETS["answered_by"].isdisjoint(top)
    return is_asked and is_named(document, "judged") and any(map(is_strong, top))


@lru_cache(maxsize=1 << 12)  # the mappings of a file have the same keys
def last_word(key: str) -> str:
    """Return the last word of a key: `criteria` for `common_criteria`."""
    words = list_words(key)
    return words[-1] if words else ""


def is_strong(key: str) -> bool:
    """Return whether a key is one of the words for criteria alone, or ends with one."""
    return last_word(key) in Containers.strong


def is_under_criteria(path: Path) -> bool:
    """Return whether a key on a path is one of the words for criteria alone."""
    return any(isinstance(step, str) and is_strong(step) for step in path)


def is_container(key: str) -> bool:
    """Return whether a key is one of the words for containers, or ends with one."""
    return last_word(key) in _CONTAINERS


def may_hold_criteria(document: Document) -> bool:
    """Return whether a document has words of criteria; in a list, or a file of rubrics, under any key."""
    if is_named(document, "own"):  # its words may be those of any language
        return True
    if is_line(document):
        return is_case(document)
    text = document.quick_text
    is_judged = is_named(document, "judged")
    is_under = text[:1] in "[-" or any(word.removesuffix("s") in text for word in _CONTAINERS)
    is_scored = is_judged or "description" in text or any(word in text for word in SETS["scored"])
    return (is_under and is_scored) or (is_judged and "expect" in text)


def find_groups(document: Document, parsed: ParsedValues, *, is_asked: bool = False) -> list[CriteriaGroup]:
    """Find the lists and maps of criteria in a document, the innermost of nested ones that have weights or levels.

    In a file that is named for them, or with `is_asked`, they are under any key.
    """
    is_anywhere = is_asked or is_named(document, "own")
    if not is_anywhere and len(document.mappings) <= _MOST_MAPPINGS:
        is_anywhere = is_named(document, "judged") or is_named(document, "described")
    found: dict[Path, CriteriaGroup] = {}
    for path, value in _list_places(document, is_anywhere=is_anywhere):
        items = _read_items(document, parsed, path, value)
        columns = read_columns(parsed, list(items.values()), is_map=isinstance(value, dict)) if items else None
        if columns:
            found[path] = CriteriaGroup(document, path, items, columns)
    found = _choose_nested(found)
    joined = _join_sections(document, parsed, found)
    apart = [group for path, group in found.items() if path[:-2] not in joined]
    return [*apart, *joined.values()]


def _list_places(document: Document, *, is_anywhere: bool) -> Iterator[tuple[Path, Any]]:
    """Yield what may hold criteria: the whole document, and what is under a word of containers, or under any key."""
    if isinstance(document.data, list) or (is_anywhere and isinstance(document.data, dict)):
        yield (), document.data
    for path, mapping in document.mappings:
        is_inside = is_anywhere or is_under_criteria(path)
        for key, value in mapping.items():
            is_apart = key in _OF_CRITERIA or key in Foreign.entry or _changes_scores(key)
            may_hold = isinstance(value, list | dict) and bool(value) and not is_apart
            if may_hold and (is_inside or is_container(key)):
                yield (*path, key), value


_OF_CRITERIA = frozenset(Fields.parts + Fields.levels).difference(_CONTAINERS)
"""Keys of criteria that hold their parts or their levels."""


@lru_cache(maxsize=1 << 12)  # as above
def _changes_scores(key: str) -> bool:
    """Return whether a key holds what adds to the score of criteria, or what fails them: penalties, a bonus, gates."""
    return bool(split_words(key) & (SETS["penalty"] | SETS["changes"] | SETS["gate"]))


def _read_items(
    document: Document, parsed: ParsedValues, path: Path, value: Any
) -> Mapping[str | int, CriterionFields]:
    """Return the mappings of a list or a map by their steps; none of levels, or of what mostly holds something else.

    Statements next to them are criteria as well, under any key of a list and under one of criteria alone of a map,
    unless one is a mapping only because of a colon in it.
    """
    items = {step: item for step, item in items_of(value) if isinstance(item, dict)}
    is_named_so = bool(path) and is_strong(str(path[-1]))
    count = len(value)
    are_split = any(len(item) == 1 and item.keys().isdisjoint(Fields.text) for item in items.values())
    if (isinstance(value, list) or is_named_so) and not are_split:
        count -= sum(may_be_criterion(str(step), item) for step, item in items_of(value))
    least = 1 if isinstance(value, list) or is_named_so else 2
    if len(items) < max(least, count / 2):
        return {}
    if parsed.levels(value) is not None:
        return items if _are_shares(document, path, value) else _read_worth(path, value)
    return items


def _are_shares(document: Document, path: Path, value: Any) -> bool:
    """Return whether the points in a list add up to those of the section that holds it, so that they are no levels."""
    holder = document.value(path[:-1]) if isinstance(value, list) and len(value) > 1 and path else None
    total: float = 0
    for part in parts_of(value):
        numbers = [part.get(name) for name in Fields.points] if isinstance(part, dict) else []
        total += sum(number for number in numbers if is_number(number))
    return isinstance(holder, dict) and total > 0 and any(holder.get(name) == total for name in Fields.weight)


def _read_worth(path: Path, value: Any) -> Mapping[str | int, CriterionFields]:
    """Return the mappings of a list that could be levels, if a name, a text and the points of each say it is criteria.

    The key must be one of criteria alone, outside other lists, and the points no row of scores such as 1, 2, 3.
    """
    last = last_word(str(path[-1])) if path else ""
    if not isinstance(value, list) or last in Fields.levels or not is_container(last):
        return {}
    is_in_list = any(isinstance(step, int) for step in path)
    if is_in_list and not (len(path) > 2 and path[-3] in Containers.sections):
        return {}
    points = []
    for entry in value:
        if not (isinstance(entry, dict) and {"name", "description"} <= entry.keys() and is_number(entry.get("points"))):
            return {}
        points.append(entry["points"])
    points.sort()
    is_row = points == [points[0] + step for step in range(len(points))]
    return {} if is_row or points[0] <= 0 else dict(enumerate(value))


def _choose_nested(found: Mapping[Path, CriteriaGroup]) -> dict[Path, CriteriaGroup]:
    """Return the groups without those around or within others: what most of some hold are the criteria."""
    inner: dict[Path, list[Path]] = {}
    kept = dict(found)
    for path in found:
        for length in range(len(path)):
            if path[:length] in found:
                inner.setdefault(path[:length], []).append(path)
    for path, below in inner.items():
        outer = found[path]
        is_title = not outer.is_marked and NAMES.issuperset(outer.columns.names(Role.TEXT))
        is_open = not (is_strong(outer.key) or outer.is_marked)  # then a word for criteria within it says more
        known = [
            inner_path
            for inner_path in below
            if is_title or found[inner_path].is_marked or (is_open and is_strong(found[inner_path].key))
        ]
        items = {inner_path[: len(path) + 1] for inner_path in known}
        weaker = [path] if 2 * len(items) > len(outer.items) else below
        for dropped in weaker:
            kept.pop(dropped, None)
    return kept


def _join_sections(
    document: Document, parsed: ParsedValues, found: Mapping[Path, CriteriaGroup]
) -> dict[Path, CriteriaGroup]:
    """Return the sections that hold all of some groups, whose criteria are parts of theirs: `sections: [{items}]`."""
    alone = {*SurroundingWords.passes, *SurroundingWords.scale, *SurroundingWords.lowest}
    sections: dict[Path, list[Path]] = {}
    for path in found:
        if len(path) > 2 and isinstance(path[-1], str) and path[-3] in Containers.sections:
            sections.setdefault(path[:-2], []).append(path)
    joined: dict[Path, CriteriaGroup] = {}
    for top, paths in sections.items():
        value = document.value(top)
        items = _read_items(document, parsed, top, value)
        names = {str(path[-1]) for path in paths}
        are_alike = len(paths) == len(items) > 1 and len(names) == 1
        if are_alike and all(alone.isdisjoint(section) for section in items.values()):
            parts: Names = (names.pop(),)
            columns = read_columns(parsed, list(items.values()), is_map=isinstance(value, dict), parts=parts)
            if columns:
                joined[top] = CriteriaGroup(document, top, items, columns)
    return joined


def find_text_groups(document: Document) -> list[CriteriaGroup]:
    """Find the lists and maps of texts, each of which may be a criterion, but none of the options of a question."""
    places: list[tuple[Path, Any]] = [((), document.data)] if isinstance(document.data, list | dict) else []
    for path, mapping in document.mappings:
        places += [((*path, key), value) for key, value in mapping.items() if isinstance(value, list | dict)]
    found = []
    for path, value in places:
        pairs = list(items_of(value))
        if pairs and all(is_prose(text) for _, text in pairs) and not _are_options(document, path):
            found.append(_as_texts(document, path, pairs))
    return found


def find_main_texts(document: Document, groups: Sequence[CriteriaGroup]) -> list[CriteriaGroup]:
    """Find the statements that are all that a file named for a rubric holds, but for words and numbers next to them."""
    if not is_named(document, "rubric"):
        return []
    holding: list[Path] = []
    if isinstance(document.data, dict):
        holding = [(key,) for key, value in document.data.items() if isinstance(value, list | dict)]
    paths = holding or [()]
    return [group for group in groups if [group.path] == paths and _are_statements(group)]


def may_be_criterion(key: str, value: Any) -> bool:
    """Return whether a value is a statement next to criteria that are mappings, and its key does not say what it is."""
    apart = SETS["notes"] | SETS["apart"] | SETS["asks"] | SETS["tasks"]
    return is_statement(value) and not split_words(key) & apart and key not in Fields.text


def _are_statements(group: CriteriaGroup) -> bool:
    apart = SETS["asks"] | SETS["apart"]
    is_note = bool(split_words(group.key) & (SETS["notes"] | apart))
    is_note = is_note or not (apart | {*Fields.text}).isdisjoint(map(str, group.items))  # fields of one thing
    return not is_note and all(is_statement(entry["description"]) for entry in group.columns.entries)


def _are_options(document: Document, path: Path) -> bool:
    """Return whether a mapping says of itself that it asks for one of some options, which then are no criteria."""
    holder = document.value(path[:-1]) if path else None
    kinds = [holder.get(key) for key in SETS["kinds"]] if isinstance(holder, dict) else []
    return any(isinstance(kind, str) and split_words(kind) & SETS["choices"] for kind in kinds)


def find_expected(document: Document) -> list[CriteriaGroup]:
    """Find the texts that the cases of a document expect, or that are their rubric, each a criterion."""
    names = {*SETS["expected"], "rubric", "rubrics", "criteria"}
    found = []
    for path, case in document.mappings:
        if path and isinstance(path[-1], int) and not SETS["asks"].isdisjoint(case):
            for name, texts in case.items():
                is_list = name in names and isinstance(texts, list) and bool(texts)
                if is_list and all(isinstance(text, str) for text in texts):
                    found.append(_as_texts(document, (*path, name), enumerate(texts)))
    texts = [entry["description"] for group in found for entry in group.columns.entries]
    are_statements = 10 * sum(map(is_statement, texts)) >= 9 * len(texts)
    return found if len(found) > 1 and are_statements else []


def _as_texts(document: Document, path: Path, texts: Iterable[tuple[str | int, str]]) -> CriteriaGroup:
    return _as_group(document, path, Role.TEXT, "description", texts, are_texts=True)


def _as_group(
    document: Document, path: Path, role: Role, key: str, values: Iterable[tuple[str | int, Any]], **kind: bool
) -> CriteriaGroup:
    """Return values that are all of their criterion as a group of mappings, in which the key stands for the role."""
    items: dict[str | int, CriterionFields] = {step: {key: value} for step, value in values}
    return CriteriaGroup(document, path, items, CriteriaColumns(list(items.values()), {role: (key,)}), **kind)


def find_texts_by_name(document: Document) -> dict[str, Path]:
    """Return the keys of lists of texts about an answer, by a name of theirs, each with its first place."""
    found: dict[str, Path] = {}
    if not is_for_judges(document):
        return found
    for path, mapping in document.mappings:
        for key in mapping.keys() & {*Containers.texts}:
            texts = mapping[key]
            if isinstance(texts, list) and texts and 2 * sum(map(is_statement, texts)) > len(texts):
                found.setdefault(key, (*path, key))
    return found


def is_for_judges(document: Document) -> bool:
    """Return whether the name of a file or of its folder says that a judge reads it, or that it is a rubric."""
    return is_named(document, "judged") or is_named(document, "own")


def find_amounts(document: Document) -> list[CriteriaGroup]:
    """Find the maps from names to numbers under a word of containers: names with weights, and no texts."""
    found = []
    for path, mapping in document.mappings:
        are_amounts = len(mapping) > 1 and all(is_number(value) and value > 0 for value in mapping.values())
        if are_amounts and is_under_criteria(path):
            found.append(_as_group(document, path, Role.WEIGHT, "weight", mapping.items()))
    return found


def find_names(document: Document, parsed: ParsedValues) -> list[CriteriaGroup]:
    """Find the lists of criteria that a table cannot describe: of names that nothing explains, or of one key each."""
    known = {key for _, mapping in document.mappings for key, value in mapping.items() if is_statement(value)}
    found = []
    for path, mapping in document.mappings:
        is_gated = any(isinstance(value, list) and split_words(key) & SETS["gate"] for key, value in mapping.items())
        for key, value in mapping.items():
            names = _list_names(value)
            is_named = is_strong(key) or (is_gated and last_word(key) in Containers.common)
            are_names = is_named and len(names) > 1 and all(names) and known.isdisjoint(names)
            levels = _list_names_of_pairs(parsed, value)
            are_pairs = 1 < len(levels) == len(names)
            if are_names or are_pairs:
                kind = {"are_names": are_names, "are_pairs": are_pairs}
                found.append(_as_group(document, (*path, key), Role.ID, "id", enumerate(levels or names), **kind))
    return found


def _list_names_of_pairs(parsed: ParsedValues, value: Any) -> list[str]:
    """Return the names in a list of mappings from one name to its levels, all different; empty if it is none."""
    names = []
    for part in as_list(value):
        if isinstance(part, dict):
            for name, levels in part.items():
                if parsed.levels(levels) is None:
                    return []
                names.append(name)
    return names if len({*names}) == len(names) else []


def _list_names(value: Any) -> list[str]:
    """Return the names that are all of a list, or of a map of nothing; empty where it holds texts."""
    if isinstance(value, dict):
        return [] if any(value.values()) else list(value)
    names = [_find_name(part) for part in value] if isinstance(value, list) else []
    return [] if all(map(is_prose, names)) else names


def _find_name(value: Any) -> str:
    """Return the name that is all of a value: a short text, or a mapping with an id and a name; empty if it is more."""
    if isinstance(value, dict):
        texts = [text for key, text in value.items() if key in Fields.id]
        return _find_name(texts[-1]) if texts and len(texts) == len(value) else ""
    return value if isinstance(value, str) and 0 < len(value.strip()) <= LONGEST_ID else ""


def cluster(groups: Sequence[CriteriaGroup]) -> list[list[CriteriaGroup]]:
    """Return the groups of one form together: at the same depth under the same key, or next to each other."""
    by_key: dict[tuple[int, str], list[CriteriaGroup]] = {}
    for group in groups:
        by_key.setdefault((len(group.path), group.key), []).append(group)
    clusters: list[list[CriteriaGroup]] = []
    alike_keys: dict[tuple[Path, tuple[str, ...]], list[CriteriaGroup]] = {}
    for found in by_key.values():
        if len(found) > 1 or not found[0].path:
            clusters.append(found)
            continue
        keys = tuple(dict.fromkeys(key for entry in found[0].columns.entries for key in entry))
        alike = alike_keys.setdefault((found[0].path[:-1], keys), [])
        if not alike:
            clusters.append(alike)
        alike += found
    return clusters

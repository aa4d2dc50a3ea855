"""Infer the table of a home-made format: where its criteria are, and which field of ours each of its keys is.

Structure decides: most items of a list, or values of a map, have a text and a weight, points, levels or a gate. The
words that teams use are data, in `words.toml`. Only `rubric-lint adopt` and files with such words load this module.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path as File
from typing import Any, NamedTuple

from rubric_lint.format.criterion import USUAL_THRESHOLDS, Criterion, is_number, read_key
from rubric_lint.format.rubric import build_rubric
from rubric_lint.format.schema_files import CURRENT
from rubric_lint.format.view import View
from rubric_lint.shapes.doubts import PENALTY as PENALTIES
from rubric_lint.shapes.doubts import (
    find_doubts,
    holds_mappings,
    is_gate,
    is_of_model,
    is_pass_mark,
    is_total,
    is_way,
    says_penalty,
)
from rubric_lint.shapes.reading import read_shape
from rubric_lint.shapes.scores import is_range, read_ends, read_percent, read_share
from rubric_lint.shapes.shape import YES_NO, Names, Shape, as_words, is_star, split_words, star_pattern
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path, pointer
from rubric_lint.text.tree import parts_of

Entry = Mapping[str, Any]

Fields = Mapping[str, Names]
"""The names of the fields of criteria by ours."""

Beside = Mapping[str, tuple[Path, Any]]
"""What is said beside criteria, by its name, with its place and its value."""


class Words(NamedTuple):
    """The vocabulary of `words.toml`."""

    containers: list[str]
    common: list[str]
    fields: dict[str, list[str]]
    levels: dict[str, list[str]]
    beside: dict[str, list[str]]
    foreign: dict[str, list[str]]
    files: dict[str, str]
    points: frozenset[str]
    most: frozenset[str]
    answered: frozenset[str]
    sections: frozenset[str]
    expected: frozenset[str]
    inputs: frozenset[str]
    against: frozenset[str]
    harmless: frozenset[str]
    bearing: frozenset[str]


@cache
def words() -> Words:
    """Return the vocabulary."""
    table = tomllib.loads(File(__file__).with_name("words.toml").read_text("utf-8"))
    sets = ("points", "most", "answered", "sections", "expected", "inputs", "against", "harmless", "bearing")
    table |= {key: frozenset(table[key]) for key in sets}
    return Words(**table)


class Criteria(NamedTuple):
    """Criteria found in a document: their path, their items by step, and the names of their fields by ours.

    With `are_texts`, each is a text alone.
    """

    path: Path
    items: Mapping[str | int, Entry]
    fields: Fields
    are_texts: bool = False

    @property
    def entries(self) -> list[Entry]:
        """The items, and their parts at any depth."""
        return _with_parts([*self.items.values()], self.fields.get("parts", ()))

    @property
    def levels(self) -> Names:
        """The names of fields with levels."""
        return self.fields.get("levels", ())

    @property
    def is_marked(self) -> bool:
        """Whether most items have a weight, points, levels, a gate or a scale of their own."""
        return not self.fields.keys().isdisjoint(_MARKS)

    @property
    def is_scored(self) -> bool:
        """Whether they have one of those that is a number."""
        return not self.fields.keys().isdisjoint(_NUMBERS)

    @property
    def is_told(self) -> bool:
        """Whether most items have a text of three words: prices, features and risks are called by fewer."""
        names = (*self.fields.get("outcome", ()), *self.levels)
        told = sum(any(_is_statement_in(item.get(name)) for name in names) for item in self.entries)
        return 2 * told > len(self.entries) or any(map(is_star, self.levels))

    @property
    def has_text(self) -> bool:
        """Whether most items say in words what is judged."""
        return not self.fields.keys().isdisjoint(("outcome", "levels"))

    @property
    def has_prose(self) -> bool:
        """Whether most items have a text of three words, under any key but that of what a case asks."""
        asked = words().inputs
        return 2 * sum(
            any(_is_statement(value) for key, value in item.items() if key not in asked) for item in self.entries
        ) > len(self.entries)


_NUMBERS = ("weight", "levels", "gate", "scale", "most")
_MARKS = (*_NUMBERS, "words")


def find_criteria(document: Document, *, anywhere: bool = False, guesses: bool = False) -> list[Criteria]:
    """Find the lists and maps of criteria in a document, the innermost of nested ones that have weights or levels.

    They are under one of the words of containers, with `anywhere` under any key, or they are the whole document. With
    `guesses`, the longest text of most of them is what is judged, whatever its key.
    """
    found: dict[Path, Criteria] = {}
    for path, value in _list_places(document, anywhere=anywhere):
        items = _read_items(value) or _read_worth(path, value)
        if items and (fields := _read_fields([*items.values()], is_map=isinstance(value, dict), guesses=guesses)):
            found[path] = Criteria(path, items, fields)
    found = _choose_nested(found)
    own = words()
    alone = {*own.beside["pass"], *own.beside["scale"], *own.beside["lowest"]}
    sections: dict[Path, list[Path]] = {}
    for path in found:
        if len(path) > 2 and isinstance(path[-1], str) and path[-3] in own.sections:
            sections.setdefault(path[:-2], []).append(path)
    joined: dict[Path, Criteria] = {}
    for top, paths in sections.items():
        items = _read_items(document.value(top))
        names = {str(path[-1]) for path in paths}
        if len(paths) == len(items) > 1 and len(names) == 1 and all(alone.isdisjoint(each) for each in items.values()):
            parts = (names.pop(),)
            fields = _read_fields([*items.values()], is_map=False, guesses=guesses, parts=parts)
            joined[top] = Criteria(top, items, fields)
    return [*(each for path, each in found.items() if path[:-2] not in joined), *joined.values()]


def _with_parts(entries: Sequence[Entry], names: Names) -> list[Entry]:
    every: list[Entry] = []
    for entry in entries:
        held = next((entry[name] for name in names if isinstance(entry.get(name), list | dict)), ())
        below = held.values() if isinstance(held, dict) else held
        every += (entry, *_with_parts([each for each in below if isinstance(each, dict)], names))
    return every


def find_likeliest(document: Document) -> list[Criteria]:
    """Find criteria in a document of which the user says that it has some, under any key if need be."""
    named, every = (find_criteria(document, anywhere=anywhere, guesses=True) for anywhere in (False, True))
    choices = ([each for each in found if each.has_text and each.is_marked] for found in (named, every))
    judged = [each for each in named if not _are_cases(document, each)]
    otherwise = find_expected(document) or [each for each in judged if each.has_text] or judged or find_texts(document)
    return next(filter(None, choices), otherwise)


def can_adopt(document: Document, path: Path) -> bool:
    """Return whether a table can describe what is at a path: criteria with texts, and with weights, levels or gates."""
    return any(each.path == path and each.is_marked and each.has_text for each in find_likeliest(document))


def can_describe(view: View) -> bool:
    """Return whether a table can describe a rubric of another system, and loses nothing that decides its score.

    The bands of one score are no criteria, and a suite says more than a table can.
    """
    are_bands = any(isinstance(entry, dict) and "score_range" in entry for entry in view.data)
    if are_bands or view.dialect.name.startswith("agentv-"):
        return False
    other = _read_by_tables(view.document).get(view.path)
    return other is not None and _keeps(view, other)


@lru_cache(maxsize=1)  # the rubrics of a file are asked about one after the other
def _read_by_tables(document: Document) -> Mapping[Path, View]:
    """Return what the tables that are inferred for a document read, by its place: criteria with texts and marks."""
    tables = infer([document], "", find_likeliest, scale=YES_NO)
    able = {each.path for table in tables for _, each, _ in table.criteria if each.is_marked and each.has_text}
    views = (view for table in tables for view in read_shape(document, table.shape))
    return {view.path: view for view in views if view.path in able}


def _keeps(own: View, other: View) -> bool:
    """Return whether another reading has all criteria of a rubric, with their gates, signs, weights and levels."""
    if own.threshold not in (None, other.threshold):
        return False
    before, after = (_list_criteria(view) for view in (own, other))
    if len(before) != len(after) or len(before) != len(own.data):
        return False
    are_weighted = any(each.fields and "weight" in each.fields for each in before)
    if are_weighted and _find_parts(before) != _find_parts(after):
        return False
    return all(map(_keeps_criterion, before, after))


def _list_criteria(view: View) -> Sequence[Criterion]:
    return build_rubric(view.document, view.path, CURRENT, USUAL_THRESHOLDS, view=view).criteria


def _find_parts(criteria: Sequence[Criterion]) -> list[Fraction]:
    """Return the weight of each criterion as a part of all."""
    weights = [Fraction(0 if each.weight is None else each.weight) for each in criteria]
    total = sum(map(abs, weights)) or 1
    return [weight / total for weight in weights]


def _keeps_criterion(own: Criterion, other: Criterion) -> bool:
    """Return whether another reading of a criterion asks the same, with the same scores and the same gate."""
    if own.is_negated or own.outcome not in (None, other.outcome):
        return False
    if own.levels is None and own.scale is None:
        return own.gate is None or other.gate is not None
    return own.gate in (None, other.gate) and _list_scores(own) == _list_scores(other)


def _list_scores(criterion: Criterion) -> list[tuple[Any, ...]]:
    """Return the scores of a criterion with their texts."""
    bands = criterion.scale.bands if criterion.scale else ()
    return [
        *((level.number, level.outcome or level.name) for level in criterion.levels or ()),
        *((band.lower, band.upper, band.outcome) for band in bands),
    ]


def _are_cases(document: Document, found: Criteria) -> bool:
    """Return whether what is found has no text but what a case asks, and no name says that it is a rubric."""
    is_named = is_own(document) or bool(found.path and is_container(str(found.path[-1])))
    return not (is_named or found.is_marked) and words().inputs.issuperset(found.fields.get("outcome", ("",)))


def is_own(document: Document) -> bool:
    """Return whether the name of a file says that it is a rubric."""
    return re.search(words().files["own"], document.source.name, re.IGNORECASE) is not None


def find_expected(document: Document) -> list[Criteria]:
    """Find the texts that the cases of a document expect, each a criterion."""
    found = []
    for path, case in document.mappings:
        if path and isinstance(path[-1], int) and not words().inputs.isdisjoint(case):
            found += [
                _as_texts((*path, name), enumerate(case[name]))
                for name in words().expected
                if isinstance(case.get(name), list) and case[name] and all(map(_is_statement, case[name]))
            ]
    return found if len(found) > 1 else []


def _is_statement(value: Any) -> bool:
    """Return whether a value is a text of three words, or as much in a script without spaces."""
    return isinstance(value, str) and (len(value.split()) > 2 or (not value.isascii() and len(value) > 4))


def _is_statement_in(value: Any) -> bool:
    """Return whether a value is a text of three words, or holds one at any depth."""
    return _is_statement(value) or any(map(_is_statement_in, parts_of(value)))


def _as_texts(path: Path, texts: Iterable[tuple[str | int, str]]) -> Criteria:
    items = {step: {"description": text} for step, text in texts}
    return Criteria(path, items, {"outcome": ("description",)}, are_texts=True)


def find_texts(document: Document) -> list[Criteria]:
    """Find the list or map with the most texts, each a criterion, that is named or declared, or the only one."""
    found = []
    for path, value in _list_places(document, anywhere=True):
        pairs = list(enumerate(value) if isinstance(value, list) else value.items())
        is_sure = bool(path) and is_container(str(path[-1])) and is_declared(document, (*path[:-1], ""))
        if len(pairs) >= (2 if is_sure else 3) and all(_is_prose(text) for _, text in pairs) and not are_levels(value):
            found.append(_as_texts(path, pairs))
    known = [each for each in found if each.path and is_container(str(each.path[-1]))]
    known = known or [each for each in found if is_declared(document, each.path)]
    return sorted(known or found, key=lambda each: -len(each.items))[:1] if known or len(found) == 1 else []


def is_declared(document: Document, path: Path) -> bool:
    """Return whether a value is under a word of containers, or beside what declares a scale or a threshold."""
    beside = document.value(path[:-1]) if path else ()
    known = {*words().beside["scale"], *words().beside["pass"]}
    return bool(path) and (is_container(str(path[-1])) or not known.isdisjoint(beside))


def _choose_nested(found: dict[Path, Criteria]) -> dict[Path, Criteria]:
    """Return the criteria without those around or within others: what most of some hold are the criteria."""
    inner: dict[Path, list[Path]] = {}
    kept = dict(found)
    for path in found:
        for length in range(len(path)):
            if path[:length] in found:
                inner.setdefault(path[:length], []).append(path)
    for path, below in inner.items():
        is_title = not found[path].is_marked and _NAMES.issuperset(found[path].fields.get("outcome", ()))
        holding = {each[: len(path) + 1] for each in below if found[each].is_marked or is_title}
        dropped = [path] if 2 * len(holding) > len(found[path].items) else below
        for each in dropped:
            kept.pop(each, None)
    return kept


def _list_places(document: Document, *, anywhere: bool) -> Iterator[tuple[Path, Any]]:
    if isinstance(document.data, list) or (anywhere and isinstance(document.data, dict)):
        yield (), document.data
    for path, mapping in document.mappings:
        for key, value in mapping.items():
            is_part = key in words().fields["parts"]
            if isinstance(value, list | dict) and not is_part and (anywhere or is_container(key)):
                yield (*path, key), value


def is_container(key: str) -> bool:
    """Return whether a key is one of the words for containers, or ends with one: `common_criteria`."""
    last = re.split(r"[\W_]+", key.lower())[-1]
    return last in words().containers or last in words().common


def _read_items(value: Any) -> Mapping[str | int, Entry]:
    """Return the mappings of a list or a map by their steps; none of levels, or of what mostly holds something else."""
    pairs: Iterable[tuple[str | int, Any]]
    pairs = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    items = {step: item for step, item in pairs if isinstance(item, dict)}
    least = 1 if isinstance(value, list) else 2
    return {} if len(items) < max(least, len(value) / 2) or are_levels(value) else items


def _read_worth(path: Path, value: Any) -> Mapping[str | int, Entry]:
    """Return the mappings of a list that could be levels, if a name, a text and the points of each say it is criteria.

    The key must be one of criteria alone, outside other lists, and the points no row of scores such as 1, 2, 3.
    """
    last = re.split(r"[\W_]+", str(path[-1]).lower())[-1] if path else ""
    is_inside = any(isinstance(step, int) for step in path)
    is_section = is_inside and len(path) > 2 and path[-3] in words().sections
    if not isinstance(value, list) or last in words().fields["levels"] or is_inside != is_section:
        return {}
    is_worth = last in words().containers and all(
        isinstance(each, dict) and {"name", "description"} <= each.keys() and is_number(each.get("points"))
        for each in value
    )
    points = sorted(each["points"] for each in value) if is_worth else []
    is_row = not points or points[0] <= 0 or points == [points[0] + step for step in range(len(points))]
    return {} if is_row else dict(enumerate(value))


def _read_fields(entries: Sequence[Entry], *, is_map: bool, guesses: bool = False, parts: Names = ()) -> Fields:
    """Return their names by ours; nothing if most entries have neither a text, nor levels, nor a weight."""
    if not parts:
        parts = _choose(entries, words().fields["parts"], lambda each: isinstance(each, list | dict) and len(each) > 1)
    outer, entries = entries, _with_parts(entries, parts)
    fields: dict[str, Names] = {"parts": parts} if parts else {}
    for ours, suits in _SUITS.items():
        if not (ours == "id" and is_map and not parts):
            taken = {name for names in fields.values() for name in names}
            known = words().fields[_AS.get(ours, ours)]
            names = _choose(entries, [name for name in known if name not in taken], suits)
            has = (lambda value: suits(value) or value == "") if ours == "outcome" else suits  # noqa: B023
            if names and (ours in _ANY or any(_is_most(each, names, has) for each in (outer, entries))):
                fields[ours] = names
    fields |= _find_penalties(entries, fields)
    taken = {name for names in fields.values() for name in names}
    keys = dict.fromkeys(key for entry in entries for key in entry if key not in taken and is_gate(key))
    if flags := [key for key in keys if all(_is_flag(entry[key]) for entry in entries if key in entry)]:
        fields["gate"] = (*fields.get("gate", ()), *flags)
    if gates := fields.get("gate"):  # `blocker: false` turns off the threshold beside it
        others = [name for name in words().fields["gate"] if any(entry.get(name) is False for entry in entries)]
        fields["gate"] = tuple(dict.fromkeys((*gates, *others)))
    if guesses:
        fields |= _guess_fields(entries, fields, is_map=is_map)
    if "levels" not in fields and (numbered := _find_numbered(entries)):
        fields["levels"] = (numbered,)
    if "levels" in fields and not is_map and "id" not in fields and _NAMES.issuperset(fields.get("outcome", ())):
        fields["id"] = fields.pop("outcome", ())  # the levels say what is judged
    is_any = not fields.keys().isdisjoint(("outcome", "levels", "weight"))
    return {ours: names for ours, names in fields.items() if names} if is_any else {}


def _find_penalties(entries: Sequence[Entry], fields: Fields) -> Fields:
    """Return the fields that say in a word that a criterion is a penalty, or that hold its points in their place."""
    weights = fields.get("weight", ())
    keys = dict.fromkeys(key for entry in entries for key, value in entry.items() if says_penalty(key, value))
    found = {"penalty": tuple(keys)} if keys else {}
    for key in dict.fromkeys(key for entry in entries for key in entry if not split_words(key).isdisjoint(PENALTIES)):
        having = [entry for entry in entries if key in entry]
        are_numbers = all(is_number(entry[key]) for entry in having)
        if weights and are_numbers and all(entry.keys().isdisjoint(weights) for entry in having):
            found |= {"weight": (*weights, key), "negative": (*fields.get("negative", ()), key)}
    return found


def _guess_fields(entries: Sequence[Entry], fields: Fields, *, is_map: bool) -> dict[str, Names]:
    """Return the levels and the texts by what they look like, where no known name says which they are."""
    found: dict[str, Names] = {}
    if "levels" not in fields:
        keys = dict.fromkeys(key for entry in entries for key in entry)
        no_levels = {*words().containers} - {*words().fields["levels"]}
        described = [key for key in keys if key not in no_levels and _is_most(entries, (key,), are_levels)]
        found |= {"levels": (described[0],)} if described else {}
    named = fields.get("outcome", ())
    if not _NAMES.issuperset(named):
        return found
    judged = [entry for entry in entries if entry.keys().isdisjoint(fields.get("parts", ()))]
    # What a case asks, or what an answer is not to do, is never what is judged.
    apart = {name for names in (*fields.values(), *found.values()) for name in names} | words().inputs
    keys = dict.fromkeys(key for entry in judged for key in entry if words().against.isdisjoint(_split(key)))
    lengths: dict[str, int] = {}
    for key in (key for key in keys if key not in apart and not _is_numbered(key)):
        texts = [entry[key] for entry in judged if _is_prose(entry.get(key))]
        if 2 * len(texts) > len(judged):
            lengths[key] = sum(map(len, texts))
    if longest := max(lengths, key=lambda key: lengths[key], default=""):  # an empty key is not a name
        if named and not is_map and "levels" in {*fields, *found}:
            found["id"] = fields.get("id", named)
        found["outcome"] = (longest,)
    return found


def _choose(entries: Sequence[Entry], names: Iterable[str], suits: Callable[[Any], bool]) -> Names:
    """Return the fewest names that the entries have, the most frequent first: each has values where the others lack."""
    having = {name: {at for at, entry in enumerate(entries) if name in entry and suits(entry[name])} for name in names}
    chosen: list[str] = []
    covered: set[int] = set()
    for name in sorted(having, key=lambda name: -len(having[name])):  # stable: of equal ones the first in `words.toml`
        if having[name] - covered:
            chosen.append(name)
            covered |= having[name]
    return tuple(chosen)


def _is_most(entries: Sequence[Entry], names: Sequence[str], suits: Callable[[Any], bool]) -> bool:
    return 2 * sum(any(name in each and suits(each[name]) for name in names) for each in entries) > len(entries)


def _is_prose(value: Any) -> bool:
    """Return whether a value is a text of several words, in any script."""
    return isinstance(value, str) and (" " in value.strip() or not value.isascii())


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def are_levels(value: Any) -> bool:
    """Return whether a value describes levels: a map from scores to texts, or a list of mappings with both."""
    if isinstance(value, dict):
        return len(value) > 1 and all(
            (read_key(key) is not None or is_range(key)) and _describes(each) for key, each in value.items()
        )
    if not isinstance(value, list) or len(value) < 2 or not all(isinstance(level, dict) for level in value):
        return False
    own = words().levels["score"]
    names = [next((name for name in own if is_number(at := level.get(name)) or is_range(at)), None) for level in value]
    scores = {level[name] for level, name in zip(value, names, strict=True) if name is not None}
    is_sum = "points" in names and len(scores) < len(value)  # points that repeat add up
    within = ("id", "weight", *words().fields["parts"])
    is_list = any(name in level for level in value for name in within) or any(  # of criteria
        are_levels(level[name]) for level in value for name in words().fields["levels"] if name in level
    )
    return None not in names and len(scores) > 1 and all(map(_describes, value)) and not is_sum and not is_list


def _describes(level: Any) -> bool:
    if isinstance(level, dict):
        return any(isinstance(level.get(name), str) for name in words().levels["text"])
    return isinstance(level, str)


def _is_told(level: Any) -> bool:
    """Return whether a level says in several words what it is."""
    return any(map(_is_prose, level.values() if isinstance(level, dict) else [level]))


_STARS = {star: re.compile(star_pattern(star)) for star in ("score_*", "*")}
"""What stands for the fields `score_1`, `score_3` and so on, or `1`, `3`, each the text of a level."""

_NAMES = frozenset({"name", "title", "label"})


def _find_numbered(entries: Sequence[Entry]) -> str:
    """Return what stands for the fields with the levels of most entries; empty if they have none.

    An entry that has numbers alone is levels itself.
    """
    for star, form in _STARS.items():
        having = 0
        for entry in entries:
            count = sum(isinstance(value, str) and form.search(key) is not None for key, value in entry.items())
            having += 1 < count < len(entry)
        if 2 * having > len(entries):
            return star
    return ""


def _is_numbered(key: str) -> bool:
    return any(form.search(key) for form in _STARS.values())


def _is_scale(value: Any) -> bool:
    """Return whether a value declares a scale; one that describes its scores is levels."""
    return read_ends(value) is not None and not are_levels(value)


def list_words(value: Any) -> list[str]:
    """Return the words that levels have in the place of scores, in a map from them to texts or a list; else nothing."""
    if isinstance(value, dict):
        names = [key for key, text in value.items() if _is_prose(text)]
    else:
        items = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
        told = [each for each in items if any(_is_prose(each.get(name)) for name in words().levels["text"])]
        found = [next((each[name] for name in words().levels["named"] if name in each), None) for each in told]
        names = [name for name in found if isinstance(name, str)]
    if not 1 < len(names) == len(value):
        return []
    known = [name.casefold().replace("_", " ") in words().levels["words"] for name in names]
    return names if 2 * sum(known) >= len(names) else []


def add_up(value: Any) -> bool:
    """Return whether a list has points that repeat, so that it describes no levels, but what adds up."""
    return (
        isinstance(value, list)
        and all(isinstance(each, dict) and is_number(each.get("points")) and _describes(each) for each in value)
        and len({each["points"] for each in value}) < len(value)
    )


def _find_sums(entries: Sequence[Entry], levels: Names) -> Mapping[str, Any]:
    """Return the field that marks the lists of points which add up, with its values; an id is the last choice."""
    held = [(entry, entry[name]) for entry in entries for name in levels if isinstance(entry.get(name), list)]
    adding = [entry for entry, value in held if add_up(value)]
    others = [entry for entry, value in held if not add_up(value)]
    marks: list[dict[str, Any]] = []
    for key in adding[0] if adding and others else ():
        values = dict.fromkeys(entry.get(key) for entry in adding if isinstance(entry.get(key), str))
        is_all = all(entry.get(key) in values for entry in adding if isinstance(entry.get(key), str | None))
        if values and is_all and any(entry.get(key) not in values for entry in others):
            marks.append({key: list(values) if len(values) > 1 else next(iter(values))})
    return min(marks, key=lambda mark: any(key in words().fields["id"] for key in mark), default={})


# What the values of each field are, in the order in which the fields take names.
_SUITS: Mapping[str, Callable[[Any], bool]] = {
    "weight": lambda value: is_number(value) or read_share(value) is not None,
    "words": lambda value: isinstance(value, str) and value.isidentifier(),
    "levels": lambda value: are_levels(value) or bool(list_words(value)),
    "scale": _is_scale,
    "most": lambda value: type(value) is int and value > 1,
    "gate": lambda value: is_number(value) or _is_flag(value) or read_percent(value) is not None,
    "negative": _is_flag,
    "positive": _is_flag,
    "outcome": _is_prose,
    "id": lambda value: isinstance(value, str | int),
}
_AS = {"words": "weight", "most": "scale"}
"""What is written in the same fields: words for weights, and the highest score for the scale."""

_ANY = frozenset({"gate", "negative", "positive", "penalty", "id"})
"""Fields that a few of the criteria may have."""

_PERCENT = 100

_BESIDE: Mapping[str, Callable[[Any], bool]] = {
    "levels": lambda value: (
        are_levels(value) and all(map(_is_told, value.values() if isinstance(value, dict) else value))
    ),
    "pass": lambda value: is_number(value) or read_share(value) is not None,
    "scale": lambda value: read_ends(value) is not None and not _BESIDE["levels"](value),
    "lowest": lambda value: type(value) is int,
    "highest": lambda value: type(value) is int,
    "total": lambda value: is_number(value) or read_percent(value) is not None,
    "combine": lambda value: isinstance(value, str),
    "percent": lambda value: type(value) is int and value == _PERCENT,
    "version": lambda value: isinstance(value, str | int | float),
}


class Signs(NamedTuple):
    """What shows that a judge reads criteria, besides their structure, or that something else does.

    `is_named`: the name of the file says so, or that of its folder if the key of the criteria is not common.
    `is_common`: that key holds other things more often. `beside`: the places of a threshold, a scale and others;
    `is_declared`, one of them is under a known word. `foreign` is a key beside the criteria which files of another
    purpose have, or the name of the file, and `foreign_field` a field of most of the criteria.
    """

    is_named: bool
    is_common: bool
    beside: Mapping[str, Path]
    foreign: str
    foreign_field: str
    is_declared: bool = False

    @property
    def is_foreign(self) -> bool:
        """Whether something shows that the file may have another purpose."""
        return bool(self.foreign or self.foreign_field)


def find_signs(document: Document, found: Criteria) -> Signs:
    """Find the signs of criteria in the name of the file, in the mappings around them, and in themselves."""
    own = words()
    holders = _find_holders(document, found)
    beside: dict[str, Path] = {}
    is_declared = False
    for path, mapping in reversed(holders):
        for what, suits in _BESIDE.items():
            known = own.beside.get("scale" if what == "percent" else what, ())
            is_alike = _ALIKE.get(what)
            alike = [key for key in mapping if is_alike and key not in known and is_alike(key) and suits(mapping[key])]
            named = [key for key in known if key in mapping and suits(mapping[key])]
            is_declared = is_declared or bool(named) or (what == "pass" and alike == ["pass"] and path != ())
            if named or len(alike) == 1:  # of several, none is the one
                beside.setdefault(what, (*path, (named or alike)[0]))
    keys = dict.fromkeys(key for _, mapping in holders for key in mapping)
    called = re.split(r"[/\\]", document.source.name)[-1].partition(".")[0].lower()
    entries = found.entries
    kinds = ("judged", "described") if "levels" in found.fields else ("judged",)
    is_common = not any(isinstance(step, str) and step not in own.common for step in found.path[-1:])
    name = re.split(r"[/\\]", document.source.name)[-1] if is_common else document.source.name
    foreign = [key for key in (*keys, called) if key in own.foreign["beside"]]
    foreign += [key for key in keys if not set(_split(key)).isdisjoint(own.foreign["words"])]
    strays = [
        key
        for key in own.foreign["entry"]
        if 2 * sum(key in entry and not _is_answer(entry[key]) for entry in entries) > len(entries)
    ]
    return Signs(
        any(re.search(own.files[kind], name, re.IGNORECASE) for kind in kinds),
        is_common,
        beside,
        next(iter(foreign), ""),
        next(iter(strays), ""),
        is_declared,
    )


def _is_answer(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and value.strip().lower() in {"yes", "no"})


_ALIKE: Mapping[str, Callable[[str], bool]] = {
    "pass": lambda key: is_pass_mark(key) and key not in words().beside["lowest"],
    "total": is_total,
    "combine": is_way,
}
"""What tells by its words that a key beside criteria is one of theirs, though it is not a known one."""


def _split(key: str) -> list[str]:
    """Return the words of a key: `homeworkNumber`, `course_id`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower().split("_")


def _find_holders(document: Document, found: Criteria) -> list[tuple[Path, Entry]]:
    """Return the mappings around criteria, from the whole document on, and those in them that hold settings."""
    above = [(found.path[:length], document.value(found.path[:length])) for length in range(len(found.path))]
    holders: list[tuple[Path, Entry]] = [(path, value) for path, value in above if isinstance(value, dict)]
    settings = [
        ((*path, key), part)
        for path, mapping in holders
        for key, part in mapping.items()
        if isinstance(part, dict) and (*path, key) != found.path[: len(path) + 1]
        if key in words().beside["settings"] or _are_settings(part)
    ]
    return [*holders, *settings]


def _are_settings(part: Entry) -> bool:
    """Return whether a mapping holds the pass mark of all criteria, and no criteria."""
    marks = [
        key
        for key, value in part.items()
        if is_pass_mark(key) and _BESIDE["pass"](value) and not is_of_model(key, part)
    ]
    return len(marks) == 1 and not any(map(holds_mappings, part.values()))


Sighted = tuple[Document, Criteria, Signs]


class Inferred(NamedTuple):
    """The table of a format, the criteria that it reads with their signs, and the keys that it does not use.

    `asked` are those fields of criteria that may bear on the score, though nothing says how.
    """

    table: Mapping[str, Any]
    criteria: Sequence[Sighted]
    unused: Sequence[tuple[Document, Path]]
    asked: Sequence[str] = ()

    @property
    def shape(self) -> Shape:
        """The table as it is used."""
        return Shape.from_table(self.table)

    @property
    def is_certain(self) -> bool:
        """Whether the criteria of all documents show by themselves that a judge reads them."""
        return all(
            each.has_text
            and (each.is_scored or "levels" in signs.beside)
            and not any(add_up(entry[name]) for entry in each.entries for name in each.levels if name in entry)
            and not signs.is_foreign
            and (signs.is_named or (signs.is_declared and not signs.is_common))
            and (each.is_told or (is_own(document) and (bool(signs.beside) or not _TELLING.isdisjoint(each.fields))))
            and (len(each.items) > 1 or (signs.is_named and bool(signs.beside)))
            for document, each, signs in self.criteria
        )


_TELLING = frozenset({"levels", "gate", "parts", "negative", "positive", "penalty"})
"""Fields that news, prices and features do not have."""

_LEVEL_TEXT: Names = Shape("", "").level_text

Scale = str | list[int]


Find = Callable[[Document], list[Criteria]]


def infer(
    documents: Iterable[Document], name: str, find: Find = find_criteria, *, scale: Scale | None = None
) -> list[Inferred]:
    """Infer the tables of documents of one format: one for each place that holds criteria, the most criteria first.

    `find` finds the criteria, `scale` is what the user says where the documents do not.
    """
    groups: dict[tuple[int, str | int], list[Sighted]] = {}
    every = [(document, each) for document in documents for each in find(document)]
    for document, each in every:
        last = next((step for step in reversed(each.path) if isinstance(step, str)), "")
        groups.setdefault((len(each.path), last), []).append((document, each, find_signs(document, each)))
    tables = [_infer(name, found, every, scale, guesses=find is find_likeliest) for found in groups.values()]
    return sorted(tables, key=lambda each: -sum(len(criteria.items) for _, criteria, _ in each.criteria))


def _infer(
    name: str,
    found: Sequence[Sighted],
    every: Sequence[tuple[Document, Criteria]],
    scale: Scale | None,
    *,
    guesses: bool,
) -> Inferred:
    items = [entry for _, each, _ in found for entry in each.items.values()]
    fields = dict(found[0][1].fields)
    if len(found) > 1:
        is_map = all(isinstance(step, str) for _, each, _ in found for step in each.items)
        parts = fields.get("parts", ())
        fields = dict(_read_fields(items, is_map=is_map, guesses=guesses, parts=parts) or fields)
    entries = _with_parts(items, fields.get("parts", ()))
    at = tuple(
        steps[0] if isinstance(steps[0], str) and len({*steps}) == 1 else "*"
        for steps in zip(*(each.path for _, each, _ in found), strict=True)
    )
    beside = {
        what: (generalize(place, at), document.value(place))
        for document, _, signs in reversed(found)
        for what, place in signs.beside.items()
        if not (
            generalize(place, at).count("*") < at.count("*")
            and (what in {"total", "percent"} or (what == "pass" and _are_points(fields, entries)))
        )
    }
    table: dict[str, Any] = {"name": name, "files": [], "criteria": pointer(at)}
    if told := _find_scale(fields, beside, entries, scale):
        table["scale"] = told
    is_shared = "levels" in beside and "levels" not in fields
    is_scaled = bool(told) or "levels" in fields or is_shared
    if not is_scaled:  # a gate of 3 says nothing
        gates = fields.get("gate", ())
        fields["gate"] = tuple(name for name in gates if not any(is_number(entry.get(name)) for entry in entries))
    few = () if is_shared else _find_few_levels(fields, entries)
    names = {ours: fields[ours] for ours in ("id", "outcome", "weight", "levels", "gate", "parts") if fields.get(ours)}
    names |= {"levels": few} if few else {}
    table |= {ours: each[0] if len(each) == 1 else list(each) for ours, each in names.items()}
    if is_shared:
        table["levels"] = pointer(beside["levels"][0])
    if marks := _list_marks(fields, entries):
        table["negative"] = marks
    if "pass" in beside:
        table["pass"] = pointer(beside["pass"][0])
    holders = [entry[name] for entry in entries for name in fields.get("levels", ()) if name in entry]
    cases = [document.value(each.path[:-1]) for document, each, _ in found if at[-2:-1] == ("*",)]
    asking = _choose([case for case in cases if isinstance(case, dict)], sorted(words().inputs), _is_prose)
    task = (*at[:-1], asking[0]) if asking else ()  # what each of several rubrics judges
    is_all = "combine" in beside and split_words(str(beside["combine"][1])) in ({"all"}, {"all", "of"}, {"and"})
    more = {
        "total": _find_total(fields, beside, entries, is_one=len(found) == 1),
        "level-text": _find_level_text([beside["levels"][1]] if is_shared else holders),
        "sums": _find_sums(entries, fields.get("levels", ())),
        "task": pointer(task),
        "combine": "all" if is_all else "share" if _are_points(fields, entries) else "",
    }
    table |= {key: value for key, value in more.items() if value}
    own = {name for ours in fields if ours not in _AS for name in fields[ours]} | {*table.get("sums", ()), *few}
    own |= {*_list_strings({"scale": table.get("scale", "")})}
    used = {at, task, *(place for place, _ in beside.values() if pointer(place) in _list_strings(table))}
    known = {place[:length] for place in used for length in range(len(place) + 1)}
    others = {(document, each.path[:length]) for document, each in every for length in range(len(each.path) + 1)}
    unused = dict.fromkeys(
        (document, path)
        for document, each, _ in found
        for path in (
            *((*above, key) for above, mapping in _find_holders(document, each) for key in mapping),
            *_list_fields(each, own),
        )
        if generalize(path, at) not in known and (document, path) not in others
    )
    inside = {each.path for _, each, _ in found}
    shape = Shape.from_table(table)
    names_in_doubt = {  # what may decide is left to the user
        doubt.place[len(each.path) + 1]
        for document, each, _ in found
        for doubt in find_doubts(document, shape, each.path, (), _ANY_SCALE)
        if doubt.setting and doubt.place[: len(each.path)] == each.path
    }
    left = dict.fromkeys(str(path[-1]) for _, path in unused if path[:-2] in inside and path[-1] not in names_in_doubt)
    harmless = [key for key in left if _is_harmless(key, [entry[key] for entry in entries if key in entry])]
    asked = [key for key in left if key not in harmless]
    if harmless:
        table["unused"] = harmless
    return Inferred({key: table[key] for key in _KEYS if key in table}, found, tuple(unused), asked)


def _is_harmless(key: str, values: Sequence[Any]) -> bool:
    """Return whether a field of criteria says nothing of their score: a note, a topic, a text of what is bad."""
    named = split_words(key)
    is_note = not words().harmless.isdisjoint(named)
    is_text = not words().against.isdisjoint(named) and all(_is_statement_in([value]) for value in values)
    return words().bearing.isdisjoint(named) and (is_note or is_text)


_ANY_SCALE = [(Fraction(10**6), Fraction(-(10**6)))]
"""Stands for the scale of criteria that are not read yet: on it, all that speaks of good and bad scores is in doubt."""


def _list_marks(fields: Fields, entries: Sequence[Entry]) -> dict[str, Any]:
    marks: dict[str, Any] = dict.fromkeys(fields.get("negative", ()), True)
    marks |= dict.fromkeys(fields.get("positive", ()), False)
    for name in fields.get("penalty", ()):
        said = dict.fromkeys(entry[name] for entry in entries if says_penalty(name, entry.get(name)))
        marks[name] = next(iter(said)) if len(said) == 1 else list(said)
    return marks


_KEYS = (
    *("name", "files", "criteria", "id", "outcome", "weight", "levels", "level-text", "sums", "gate", "negative"),
    *("parts", "scale", "pass", "total", "combine", "task", "unused"),
)
"""The keys of a table in the order in which they are written."""


def _find_few_levels(fields: Fields, entries: Sequence[Entry]) -> Names:
    """Return the fields with the levels of some criteria, where most have none."""
    if "levels" in fields:
        return ()
    taken = {name for names in fields.values() for name in names}
    return _choose(entries, [name for name in words().fields["levels"] if name not in taken], _SUITS["levels"])


def _find_scale(
    fields: Fields, beside: Beside, entries: Sequence[Entry], scale: Scale | None
) -> Scale | list[Any] | None:
    """Return what says the scale: a field of the criteria, a place in the file that holds without it, or the user."""
    most = [name for name in fields.get("weight", ()) if name in words().most]
    own = fields.get("scale") or _choose(entries, words().fields["scale"], _is_scale)
    if own and "scale" in beside and not all(entry.keys() & set(own) for entry in entries):
        return [own[0], pointer(beside["scale"][0])]
    if "scale" in fields:
        return fields["scale"][0]
    if "scale" in beside:
        return pointer(beside["scale"][0])
    if {"lowest", "highest"} <= beside.keys():
        return [pointer(beside[end][0]) for end in ("lowest", "highest")]
    if most and "levels" not in fields:
        return [0, most[0]]
    is_answered = (
        not fields.keys().isdisjoint(("negative", "positive"))
        or words().answered.issuperset(fields.get("outcome", ("",)))
        or all(map(_says_yes_no, entries))
    )
    return "yes-no" if is_answered and "levels" not in fields else scale


def _says_yes_no(entry: Entry) -> bool:
    """Return whether a criterion says that it is met or not: `type: binary`."""
    return any(read_ends(value) == YES_NO and split_words(key) & _OF_ANSWERS for key, value in entry.items())


_OF_ANSWERS = as_words(
    "type kind mode format scale score scoring scored grading rating answer response judgment evaluation"
)
"""Words in a field that says how a criterion is answered."""


def _find_total(fields: Fields, beside: Beside, entries: Sequence[Entry], *, is_one: bool) -> str | int:
    """Return what the weights must add up to: the place of a total of the same kind, or of the percent of a score.

    Percentages of one list are parts of 100, whatever else is said, unless rounding explains their sum. It is empty if
    nothing says it.
    """
    weights = [entry[name] for entry in entries for name in fields.get("weight", ())[:1] if name in entry]
    shares = [share for share in map(read_percent, weights) if share is not None]
    if weights and len(shares) == len(weights):
        is_off = abs(float(sum(shares)) - 1) * _PERCENT > len(shares)
        return _PERCENT if is_off and is_one and "parts" not in fields else ""
    if not weights or not all(map(is_number, weights)):
        return ""
    if "total" not in beside and "highest" in beside and "lowest" not in beside and _are_points(fields, entries):
        return pointer(beside["highest"][0])
    if "total" in beside:
        return pointer(beside["total"][0])
    return pointer(beside["percent"][0]) if "percent" in beside and all(weight >= 1 for weight in weights) else ""


def _are_points(fields: Fields, entries: Sequence[Entry]) -> bool:
    """Return whether a score is a share of points: those are the weights, or those of the levels."""
    if "weight" in fields and words().points.isdisjoint(fields["weight"]):
        return False
    lists = [entry.get(name) for entry in entries for name in fields.get("levels", ())]
    return ("weight" in fields and "levels" not in fields) or any(
        isinstance(level, dict) and "points" in level for value in lists if isinstance(value, list) for level in value
    )


def _find_level_text(holders: Sequence[Any]) -> str:
    """Return the field with the text of a level; empty if it is one of those that are known without a table."""
    known = [
        value.values() if isinstance(value, dict) else value for value in holders if isinstance(value, dict | list)
    ]
    levels = [level for value in known for level in value]
    mappings = [level for level in levels if isinstance(level, dict)]
    if any(name in level for level in mappings for name in _LEVEL_TEXT):
        return ""
    return next((name for name in words().levels["text"] if any(name in level for level in mappings)), "")


def _list_strings(table: Mapping[str, Any]) -> list[str]:
    values = [item for value in table.values() for item in (value if isinstance(value, list) else [value])]
    return [value for value in values if isinstance(value, str)]


def generalize(place: Path, at: Path) -> Path:
    """Return a place with a `*` for each step that it shares with those of the criteria."""
    pairs = enumerate(zip(at, place, strict=False))
    shared = next((index for index, (own, step) in pairs if own not in {"*", step}), min(len(at), len(place)))
    return (*at[:shared], *place[shared:])


def _list_fields(found: Criteria, own: set[str]) -> Iterator[Path]:
    """Yield the first of each key of criteria that is not among those that a table uses."""
    names: dict[str, Path] = {}
    for step, entry in found.items.items():
        for key in (key for each in _with_parts([entry], found.fields.get("parts", ())) for key in each):
            if key not in own and not any(form.search(key) for star, form in _STARS.items() if star in own):
                names.setdefault(key, (*found.path, step, key))
    yield from names.values()

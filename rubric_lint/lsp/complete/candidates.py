"""List the keys and values for a place: those that its schemas know, and those of the rubric that a test names."""

# Paths are str here, as in project/files.py.
# ruff: noqa: PTH118, PTH120

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lsprotocol import types

from rubric_lint.dialects.search.agentv_suites import EVALUATORS
from rubric_lint.format.criterion import HIGHEST, as_integer
from rubric_lint.format.schema_files import catalogue, load
from rubric_lint.lsp.complete.proof import put
from rubric_lint.lsp.complete.snippets import Plan
from rubric_lint.lsp.places.cards import TestedCriterion, find_rubrics, list_criteria, names_criteria, word_field
from rubric_lint.lsp.places.rooted import Root, list_rule_names, may_hold
from rubric_lint.lsp.places.schema_walk import (
    FieldFacts,
    Subschema,
    find_subschemas,
    find_words,
    list_fields_at,
    load_once,
    merge,
    open_below,
)
from rubric_lint.lsp.places.slots import Slot, follow
from rubric_lint.lsp.server.analysis import State
from rubric_lint.project.settings import claim_by_name
from rubric_lint.rules import BY_NAME
from rubric_lint.testing.reading import is_test_file
from rubric_lint.text.path import Path

_MOST_FILES = 200


WORD = types.CompletionItemKind.EnumMember
"""The kind of the values that a schema lists."""


class Value(NamedTuple):
    """A value to offer; `card` explains it."""

    value: Any
    card: str = ""
    kind: types.CompletionItemKind = types.CompletionItemKind.Value


def list_tested(state: State, data: Any, path: Path) -> list[TestedCriterion]:
    """Return the criteria that the keys of the mapping at a path may name, none if it is about something else."""
    if not names_criteria(path):
        return []
    is_gates = path[-1] == "gates"
    return [each for each in list_criteria(state, data) if each.has_gate or not is_gates]


def list_test_values(state: State, slot: Slot) -> Iterator[Value]:
    """Yield the values that a file with rubric tests may have in a slot, but for those that its schema lists."""
    path = slot.path
    typed = state.text.body[slot.word.start : slot.word.end]
    if path == ("rubric",):
        yield from _list_rubrics(state, typed)
    elif path == ("outputs",):
        yield from _list_files(state.name, typed, (".jsonl",))
    elif len(path) > 3 and path[0] == "tests" and path[2] == "output" and path[-1] == "id":
        yield from (Value(each.id, each.card) for each in list_criteria(state, slot.data))
    elif names_criteria(path[:-1]) and path[-2] == "criteria":
        criterion = next((each for each in list_criteria(state, slot.data) if each.id == path[-1]), None)
        yield from (Value(*answer) for answer in criterion.answers) if criterion else ()


def _list_rubrics(state: State, word: str) -> Iterator[Value]:
    """Yield files with rubrics, or after a `#` the rubrics of the file before it."""
    path, sign, _ = word.partition("#")
    if sign:
        yield from (Value(f"{path}#{loaded.name}") for loaded in find_rubrics(state, path))
        return
    found = [
        value for value in _list_files(state.name, word, (".yaml", ".yml", ".json")) if not is_test_file(value.value)
    ]
    yield from sorted(found, key=lambda value: (value.value.endswith("/"), not _is_rubric_file(state, value.value)))


def _is_rubric_file(state: State, name: str) -> bool:
    return (
        state.settings is not None and claim_by_name(name, state.settings._replace(is_rubric_file=False)).is_rubric_file
    )


def _list_files(name: str, word: str, suffixes: tuple[str, ...]) -> Iterator[Value]:
    """Yield the files with these suffixes, then the folders, in the folder that a begun path leads to."""
    begun = word[: word.rfind("/") + 1]
    try:
        with os.scandir(os.path.join(os.path.dirname(name), begun)) as found:
            entries = sorted((each for each in found if not each.name.startswith(".")), key=lambda each: each.name)
    except (OSError, ValueError):
        return
    files = [each.name for each in entries if each.name.lower().endswith(suffixes) and each.is_file()]
    folders = [f"{each.name}/" for each in entries if each.is_dir()]
    for each in (*files[:_MOST_FILES], *folders[:_MOST_FILES]):
        kind = types.CompletionItemKind.Folder if each.endswith("/") else types.CompletionItemKind.File
        yield Value(begun + each, kind=kind)


class Place(NamedTuple):
    """A slot, and the schemas of the values around it.

    `is_served`: another server offers what schemas say. `snippets`: the editor supports snippets with placeholders.
    """

    state: State
    slot: Slot
    roots: list[Root]
    is_served: bool
    snippets: bool

    def find(self, path: Path, also: str = "") -> list[Subschema]:
        """Return the subschemas for the value at a path of the document, as if it had a field `also`."""
        data = self.slot.data
        if also and isinstance(self.slot.find(path), dict):
            data = put(data, path, also, {})
        found: list[Subschema] = []
        for root in self.roots:
            if path[: len(root.path)] == root.path:
                found += find_subschemas(root.source, root.definition, follow(data, root.path), path[len(root.path) :])
        return found

    @property
    def is_in_rubric(self) -> bool:
        """Whether a rubric is around the slot."""
        return any(root.is_rubric for root in self.roots)

    @property
    def is_in_tests(self) -> bool:
        """Whether the file holds rubric tests."""
        return self.state.settings is not None and self.state.settings.is_test_file


class Key(NamedTuple):
    """A key: what explains it, the subschemas of its value, and what the tested rubric says about that."""

    name: str
    card: str
    below: list[Subschema]
    plan: Plan | None = None


def list_keys(place: Place, subschemas: list[Subschema]) -> Iterator[Key]:
    """Yield the keys of a slot's mapping, which follows the subschemas `subschemas`; those that it has already, too."""
    slot = place.slot
    for each in list_tested(place.state, slot.data, slot.path) if place.is_in_tests else ():
        yield Key(each.id, each.card, open_below(subschemas, each.id), _plan_answers(each, slot.path))
    if place.is_served:
        return
    anywhere = {
        name
        for root in place.roots
        if not root.is_rubric
        for name in load_once(root.source)["definitions"].get("part", {}).get("properties", {})
    }
    is_inside = place.is_in_rubric
    listed = set()
    for name, facts in list_fields_at(subschemas, slot.mapping).items():
        if is_inside or name not in anywhere or may_hold(slot.document, slot.path, name):
            listed.add(name)
            if not facts.is_deprecated:
                yield Key(name, word_field(facts), open_below(subschemas, name), _plan_named(place, name))
    if not is_inside:
        for name in _list_known(place):
            if name not in listed:
                listed.add(name)
                yield Key(name, word_field(FieldFacts(name, {})), [])
    for name in list_rule_names(place.roots[-1], (*slot.path, ""), is_key=True):
        facts = FieldFacts(name, {"description": BY_NAME[name].summary})
        yield Key(name, word_field(facts), open_below(subschemas, name))


def list_urls(state: State) -> Iterator[tuple[str, str]]:
    """Yield the URLs of the schemas that a file may declare, the newest first, each with what the schema is about."""
    is_tests = state.settings is not None and state.settings.is_test_file
    names = ("rubric-test",) if is_tests else ("rubric", "suite")
    entries = [entry for entry in catalogue() if entry.name in names]
    for entry in sorted(entries, key=lambda entry: (entry.name, -int(entry.version[1:]))):
        yield entry.bundled_id, str(load(entry.source)["description"])


def _plan_answers(criterion: TestedCriterion, path: Path) -> Plan | None:
    """Plan what a test expects of a criterion; for the side of a gate, the schema says enough."""
    return Plan(words=tuple(answer.value for answer in criterion.answers)) if path[-1] == "criteria" else None


def _plan_named(place: Place, name: str) -> Plan | None:
    """Plan the URL of a schema, a list of rules, or what a test expects of the first criterion of its rubric.

    Return None for any other field.
    """
    path = (*place.slot.path, name)
    if path == ("$schema",):
        return Plan(words=tuple(url for url, _ in list_urls(place.state)))
    if rules := list_rule_names(place.roots[-1], (*path, 0), is_key=False):
        return Plan(items=(Plan(words=tuple(rules)),))
    for each in list_tested(place.state, place.slot.data, path) if place.is_in_tests else ():
        plan = _plan_answers(each, path) or Plan(words=tuple(find_words(open_below(place.find(path), each.id))))
        return Plan(fields={each.id: plan})
    return None


def _list_known(place: Place) -> Iterator[str]:
    """Yield the fields that a dialect lists by name alone: those of suites, of tests, and beside criteria."""
    path = place.slot.path
    for root in place.roots:
        if root.definition:
            continue
        contents = load_once(root.source)
        is_test = len(path) == 2 and path[0] == "tests" and isinstance(path[1], int)
        part = "suite" if not path else "test" if is_test or path[-1] == "execution" else ""
        known = contents.get("x-loaded", {}).get(part, {}).get("properties", {})
        known = known.get("execution", {}).get("properties", {}) if path and path[-1] == "execution" else known
        yield from (name for name, field in known.items() if "x-reason" not in field)
        if len(path) > 1 and isinstance(path[-1], int) and path[-2] in EVALUATORS:
            yield from contents.get("x-beside-rubrics", {})


def list_values(place: Place) -> Iterator[Value]:
    """Yield the values for a slot, each with what it means."""
    slot = place.slot
    if place.is_in_tests:
        yield from list_test_values(place.state, slot)
    if place.is_served:
        return
    if slot.path == ("$schema",):
        yield from (Value(url, card) for url, card in list_urls(place.state))
    subschemas, is_item = place.find(slot.path), isinstance(slot.path[-1], int)
    words = find_words(subschemas) or (
        [] if is_item else find_words(open_below(subschemas, 0))
    )  # one instead of a list
    yield from (Value(word, kind=WORD) for word in (*words, *_list_kinds(place)))
    names = list_rule_names(place.roots[-1], slot.path, is_key=False)
    yield from (Value(name, BY_NAME[name].summary, WORD) for name in names)
    if place.is_in_rubric:
        yield from (Value(gate, outcome, WORD) for gate, outcome in _list_gates(slot, merge(subschemas)))


def _list_kinds(place: Place) -> Iterator[str]:
    """Yield the types of assertions that a dialect lists."""
    path = place.slot.path
    if len(path) > 2 and path[-1] == "type" and path[-3] in EVALUATORS:
        for root in place.roots:
            if not root.definition:
                yield from load_once(root.source).get("x-loaded", {}).get("types", ())


def _list_gates(slot: Slot, facts: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    """Yield the gates that the bands or levels of a criterion suggest, each with the outcome that it asks for."""
    name = slot.path[-1]
    criterion = slot.mapping
    if name == "required_min_level":
        levels = criterion.get("levels")
        if isinstance(levels, dict):
            yield from _list_bounds(levels)
        for level in levels if isinstance(levels, list) else ():
            if isinstance(level, dict) and (number := as_integer(level.get("level"))) is not None:
                yield number, str(level.get("expected_outcome", ""))
    elif name in {"required_min_score", "min_score"}:
        for low, outcome in _list_bounds(criterion.get("score_ranges")):
            if low > 0:
                is_share = facts.get("maximum") == 1
                yield (low / HIGHEST if is_share else low), outcome


def _list_bounds(bands: Any) -> Iterator[tuple[int, str]]:
    if isinstance(bands, dict):
        for key, outcome in bands.items():
            if key.isascii() and key.isdecimal():
                yield int(key), str(outcome)
    for band in bands if isinstance(bands, list) else ():
        bounds = band.get("score_range") if isinstance(band, dict) else None
        if isinstance(bounds, list) and bounds and (low := as_integer(bounds[0])) is not None:
            yield low, str(band.get("expected_outcome", band.get("outcome", "")))

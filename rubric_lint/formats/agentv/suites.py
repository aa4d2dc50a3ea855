"""Tell suites and criteria of AgentV from those of other systems, and find what its releases read of a suite."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from rubric_lint.formats.agentv.releases import (
    NEWEST,
    OLDEST,
    RELEASES,
    ListPath,
    Release,
    find_fields,
    list_names,
    list_paths,
)
from rubric_lint.formats.home_made.direction import is_off
from rubric_lint.model.messages import describe, find_near, shorten
from rubric_lint.model.schema import (
    Validator,
    allows,
    open_validator,
    python_validator,
    read_slow_faults,
    schema_of,
)
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path

ASSERTION_LISTS = list_names()
"""The names of lists of assertions, which may also be below `execution`."""

OLD_FIELDS: dict[str, str] = OLDEST.loaded["renamed"]["test"]
"""The fields of cases before AgentV 3, and their names since then."""

EVAL_FILES = (".eval.yaml", ".eval.yml")
"""How the names of files end that AgentV looks for."""

CASE_FILES = ("case.yaml", "case.yml")
"""The names of the files with one case each, in the folders of a folder of cases."""

TEMPLATES = ".agentv/templates/"
"""The folder of files with lists of assertions that suites include."""

_SETS = find_fields("x-members", but="x-skips-strings")
"""The types of assertions that hold others, strings among them, each with the field of its list."""

CASES = "tests"
_OF_CASES = frozenset({"criteria", "input", "expected_output"})
_ONLY_CASES_HAVE = frozenset({"id", "input", "criteria"})

_OF_PROMPTFOO = "defaultTest"
"""What tells a suite of promptfoo from one of AgentV: both have `vars` and `assert`."""


class ListPlace(NamedTuple):
    """A list of assertions. `is_turn`: it belongs to one turn of a conversation."""

    path: Path
    value: list[Any]
    is_turn: bool = False


def find_typed(document: Document) -> Iterator[tuple[Path, dict[str, Any], str]]:
    """Find the assertions that have a type."""
    for path, mapping in document.mappings:
        kind = mapping.get("type")
        if len(path) > 1 and path[-2] in ASSERTION_LISTS and isinstance(kind, str):
            yield path, mapping, kind


def find_release(document: Document) -> Release:
    """Return the release that a suite is written for, judging by its prompts and the names of its defaults."""
    return NEWEST if is_current(document) else OLDEST


def is_current(document: Document) -> bool:
    """Return whether the suite is written for AgentV 5, judging by its prompts and the names of its defaults."""
    suite = document.data
    if not isinstance(suite, dict) or _OF_PROMPTFOO in suite:
        return False
    if any(name in suite for name in NEWEST.shown_by):
        return True
    return "prompts" in suite and any("id" in case and "input" not in case for _, case in find_cases(document))


def is_agentv_case(case: Any) -> bool:
    """Return whether a case has fields that only AgentV has."""
    return isinstance(case, dict) and bool(case.keys() & _OF_CASES) and "vars" not in case


def is_whole_case(case: Any) -> bool:
    """Return whether a case has all the fields that only AgentV's cases have together."""
    return is_agentv_case(case) and case.keys() >= _ONLY_CASES_HAVE


def find_owner(path: Path) -> Path:
    """Return where the suite, the test or the turn is that has the assertion at a path; sets may be between them."""
    while len(path) > 1 and path[-2] in ASSERTION_LISTS:
        path = path[:-2]
    return path


def is_turn(path: Path) -> bool:
    """Return whether a turn of a conversation is at a path."""
    return path[-2:-1] == ("turns",)


def is_of_agentv(document: Document, path: Path) -> bool:
    """Return whether the assertion at `path` is AgentV's; promptfoo has them too, in cases without an `id`."""
    suite = document.data
    if isinstance(suite, dict) and _OF_PROMPTFOO in suite:
        return False
    path = find_owner(path)
    path = path[:-1] if path[-1:] == ("execution",) else path
    owner = document.value(path)
    if document.part or path[-1:] == ("default_test",) or is_agentv_case(owner):
        return True
    if path:
        return isinstance(owner, dict) and isinstance(owner.get("id"), str | int)
    is_named = document.source.name.lower().endswith(EVAL_FILES)
    return is_named or is_current(document) or any(is_agentv_case(case) for _, case in find_cases(document))


def find_cases(document: Document) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Find the cases of a suite, or those of a file of cases, which are a list or one JSON Lines record each."""
    data = document.data
    if isinstance(data, list):
        yield from find_mappings((), data)
    elif isinstance(data, dict):
        yield from find_mappings((CASES,), data.get(CASES))
        yield from find_scenario_tests(document)
        if CASES not in data and is_case_file(document):
            yield (), data


def find_scenario_tests(document: Document) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Find the tests of scenarios, and the mappings that are joined with each of them."""
    scenarios = document.data.get("scenarios") if isinstance(document.data, dict) else None
    for path, scenario in find_mappings(("scenarios",), scenarios):
        for name in ("config", CASES):
            yield from find_mappings((*path, name), scenario.get(name))


def is_case_file(document: Document) -> bool:
    """Return whether a mapping is one case by the name of its file: a line of JSON Lines, or a `case.yaml`."""
    return document.source.name.lower().endswith(".jsonl") or is_in_folder(document)


def is_in_folder(document: Document) -> bool:
    """Return whether a document is the case of a folder, whose name is its `id` if it has none."""
    return document.source.name.replace("\\", "/").rpartition("/")[2].lower() in CASE_FILES


def find_text_lists(document: Document, *, has_criteria: bool) -> Iterator[ListPlace]:
    """Find the lists of assertions with plain strings among them that AgentV reads as criteria.

    Other tools have such lists too, so something else must show that the file is for AgentV: criteria in its words
    (`has_criteria`), the file name, a case, or fields that only AgentV 5 has.
    """
    cases = list(find_cases(document))
    name = document.source.name.replace("\\", "/").lower()
    is_named = name.endswith(EVAL_FILES) or TEMPLATES in name or document.part != ""
    if not (has_criteria or is_named or any(is_whole_case(case) for _, case in cases) or is_current(document)):
        return
    for place in _find_lists(document, cases):
        if any(isinstance(entry, str) for entry in place.value):
            yield place
        for path, member in find_mappings(place.path, place.value):
            field = _SETS.get(str(member.get("type")), "")
            inner = member.get(field)
            if isinstance(inner, list) and any(isinstance(entry, str) for entry in inner):
                yield ListPlace((*path, field), inner)


def _find_lists(document: Document, cases: list[tuple[Path, dict[str, Any]]]) -> Iterator[ListPlace]:
    """Find the lists that count: of the suite, of its defaults, of each case that has an `id`, and of its turns."""
    suite = document.data if isinstance(document.data, dict) else {}
    lists = find_release(document).lists  # they count before those of other releases
    if not any(path == () for path, _ in cases):
        yield from _find_first((), suite, (*lists["suite"], *list_paths("suite")))
        if isinstance(suite.get("default_test"), dict):
            yield from _find_first(("default_test",), suite["default_test"], list_paths("default_test"))
    for path, case in cases:
        if "id" in case or path[:1] == ("scenarios",) or (not path and is_in_folder(document)):
            yield from _find_first(path, case, (*lists["test"], *list_paths("test")))
            for place, turn in find_mappings((*path, "turns"), case.get("turns")):
                for found in _find_first(place, turn, (*lists["turn"], *list_paths("turn"))):
                    yield found._replace(is_turn=True)


def _find_first(path: Path, owner: dict[str, Any], names: Iterable[ListPath]) -> Iterator[ListPlace]:
    """Find the first of several lists of a mapping."""
    for steps in names:
        value = look_up(owner, steps)
        if value is not None:
            if isinstance(value, list):
                yield ListPlace((*path, *steps), value)
            return


_NOT = "not-"
_TURNED = "turns the score round, and only scores as they are given are read"
_SAY_GOOD = "and say in the criteria what is good"
_MARK = "threshold"
_MARKS = (
    ("run", _MARK),
    ("execution", _MARK),
    ("default_test", _MARK),
    (_MARK,),
    ("default_test", "run", _MARK),
    ("default_test", "execution", _MARK),
)
"""Where a test or a suite may have its threshold; the first that a release reads counts."""


class PassMark(NamedTuple):
    """The threshold of a test: its path, what to say if the release does not read it there, and the field there.

    `may_be_meant`: if the release does not read it there, its author may have meant it still, whatever else is read.
    """

    path: Path
    reason: str
    field: str
    may_be_meant: bool = False


def find_pass_mark(document: Document, path: Path, schema: str) -> PassMark | None:
    """Find the threshold of the test that a rubric at `path` belongs to, or else that of its suite.

    One that the release of the schema does not read is returned if none is read, or if it differs and is no plain
    `threshold` of a suite: one in a test says what this test needs, and the others AgentV refuses, or the author means
    another release. A plain one of a suite may be for another release that reads the file too.
    """
    release = next(release for release in RELEASES.values() if release.table == schema)
    holders = [path[:end] for end in range(len(path) - 1, 0, -1) if isinstance(path[end - 1], int)]
    tests = [holder for holder in holders if not (len(holder) > 1 and holder[-2] in ASSERTION_LISTS)]
    read: list[PassMark] = []
    unread: list[PassMark] = []
    for holder in [*tests, ()]:
        part = "test" if holder else "suite"
        for steps in _MARKS:
            if look_up(document.value(holder), steps) is not None:
                reason = _find_reason(release.loaded[part], steps)
                may_be_meant = part == "test" or steps != (_MARK,)
                mark = PassMark((*holder, *steps), reason, f"`{steps[0]}` of a {part}", may_be_meant)
                marks = unread if reason else read
                marks.append(mark)
    if not read:
        return unread[0] if unread else None
    value = document.value(read[0].path)
    others = (mark for mark in unread if mark.may_be_meant and document.value(mark.path) != value)
    return next(others, read[0])


def find_grader(document: Document, path: Path) -> Path | None:
    """Return where the assertion is that has its criteria at a path, or is one itself; None if there is none."""
    ends = [end for end in (len(path), len(path) - 1) if end > 1 and path[end - 2] in ASSERTION_LISTS]
    return next((path[:end] for end in ends if isinstance(document.value(path[:end]), dict)), None)


def find_gate(document: Document, grader: Path) -> Path | None:
    """Return where an assertion says below which score it fails its test; None if it does not.

    With `required: true` alone, that is the threshold of the test.
    """
    assertion = document.value(grader)
    required = assertion.get("required")
    if is_off(required):
        return None
    if "min_score" in assertion:
        return (*grader, "min_score")
    return None if required is True else (*grader, "required")


def find_negation(document: Document, path: Path) -> tuple[Path, str] | None:
    """Return where an assertion around a rubric turns its score round, and the reason to give; None if none does."""
    for end in range(len(path), 1, -1):
        assertion = document.value(path[:end]) if path[end - 2] in ASSERTION_LISTS else None
        if not isinstance(assertion, dict):
            continue
        if not is_off(assertion.get("negate")):
            written = f"negate: {shorten(json.dumps(assertion['negate']))}"
            return (*path[:end], "negate"), f"`{written}` {_TURNED}; remove it, {_SAY_GOOD}"
        kind = str(assertion.get("type"))
        if kind.startswith(_NOT):
            without = shorten(kind.removeprefix(_NOT))
            return (*path[:end], "type"), f"`{shorten(kind)}` {_TURNED}; write `{without}`, {_SAY_GOOD}"
    return None


def _find_reason(table: Mapping[str, Any], steps: Path) -> str:
    """Return why a release does not read a threshold in a part of a suite; empty if it does."""
    schema = table
    for step in steps:
        known = schema.get("properties", {})
        schema = known[step] if step in known else schema.get("additionalProperties", {"not": {}})
        if schema.get("not") == {}:
            return str(schema.get("x-reason") or table["properties"][_MARK]["x-reason"])
    return ""


def look_up(value: Any, path: Path) -> Any:
    """Return the value at a path of mappings and lists; None if there is none."""
    for step in path:
        is_item = isinstance(value, list) and isinstance(step, int) and step < len(value)
        value = value[step] if is_item or (isinstance(value, dict) and step in value) else None
    return value


def find_mappings(path: Path, value: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Find the mappings in a list."""
    if not isinstance(value, list):
        return
    for index, item in enumerate(value):
        if isinstance(item, dict):
            yield (*path, index), item


def find_read(*parts: Mapping[str, Any]) -> frozenset[str]:
    """Return the fields that a release reads of some parts of a suite, by their schemas."""
    fields: set[str] = set()
    for part in parts:
        fields |= {name for name, schema in part.get("properties", {}).items() if schema.get("not") != {}}
    return frozenset(fields)


def find_unread_fields(
    value: dict[str, Any],
    schema: Mapping[str, Any],
    title: str,
    lost: frozenset[str] = frozenset(),
    validator: Validator | None = None,
) -> Iterator[tuple[str, str, Path, Part, bool]]:
    """Find what a release refuses, skips or never reads in one part of a suite, besides the fields that are `lost`.

    Yield the beginning of a message, the reason, the place, and whether it is read, but seldom as it is meant.
    `validator` is that of the schema, for a caller with many such parts.
    """
    is_sound = allows(validator or open_validator(dict(schema)), value)
    if is_sound and lost.isdisjoint(value):
        return  # most parts are
    faulty: set[str] = set()
    faults = [] if is_sound else read_slow_faults(python_validator()(schema).iter_errors(value))
    for fault in faults:
        reason = fault.schema.get("x-reason", "")
        if not fault.path:
            yield "", reason, ("type",), Part.KEY, False
            continue
        faulty.add(str(fault.path[0]))
        name = ".".join(step for step in fault.path if isinstance(step, str))
        is_key = reason and isinstance(fault.path[-1], str)
        if not reason:
            reason = f"{title} does not read {describe(fault.value, '')}; expected {fault.schema['x-expected']}"
        is_note = fault.schema.get("x-is-note", False)
        part = Part.KEY if is_key else Part.VALUE
        yield f"`{name}` of ", reason, fault.path, part, is_note
    for key in value:
        if key in lost - faulty:
            yield f"`{key}` of ", f"{title} does not read it; remove it or change it by hand", (key,), Part.KEY, False


_OLD = frozenset({"expected_outcome", "description"})
_CRITERION_FIELDS = frozenset(
    {"id", "weight", "required", "min_score", "required_min_score", "score_ranges", "operator"}
)


def is_structured(value: Any, *, is_case: bool) -> bool:
    """Return whether a value holds criteria; with `is_case`, AgentV reads it, and a string is a criterion."""
    if not isinstance(value, list) or uses_old_words(value):
        return False
    if is_case and any(isinstance(entry, str) for entry in value):
        return True
    is_read = is_case and any(isinstance(entry, dict) and is_criterion(entry) for entry in value)
    return is_read or uses_words(value, is_of_case=True)


def uses_words(entries: list[Any], *, is_of_case: bool, has_criteria: bool = False) -> bool:
    """Return whether entries use the words of these dialects, and none those of earlier ones.

    In a list of a case, an `outcome` alone is enough; with `has_criteria`, also `criteria`.
    """
    mappings = [entry for entry in entries if isinstance(entry, dict)]
    has_entry = any(_is_entry(entry, is_of_case=is_of_case, has_criteria=has_criteria) for entry in mappings)
    return has_entry and not uses_old_words(entries)


def uses_old_words(entries: list[Any]) -> bool:
    """Return whether an entry or a band uses the words of version 2."""
    for entry in entries:
        if isinstance(entry, dict) and any(_OLD & mapping.keys() for mapping in [entry, *_bands(entry)]):
            return True
    return False


def _is_entry(entry: dict[str, Any], *, is_of_case: bool, has_criteria: bool) -> bool:
    gate = entry.get("min_score")  # one such as 7 is a typo in version 2
    is_share = isinstance(gate, int | float) and not isinstance(gate, bool) and 0 < gate <= 1
    if "score_ranges" in entry and ("operator" in entry or is_share or has_outcome(entry)):
        return True
    known = schema_of("agentv/a6.json").entry_fields
    if not all(field in known or find_near(field, known) for field in entry):
        return False
    if has_criteria and isinstance(entry.get("criteria"), str):
        return True
    return "outcome" in entry and (is_of_case or bool(entry.keys() & _CRITERION_FIELDS))


def has_outcome(entry: Any) -> bool:
    """Return whether a criterion or one of its bands has the field `outcome`."""
    return isinstance(entry, dict) and ("outcome" in entry or any("outcome" in band for band in _bands(entry)))


def is_criterion(entry: dict[str, Any]) -> bool:
    """Return whether AgentV 5 takes a mapping as one criterion."""
    is_confirmed = isinstance(entry.get("criteria"), str) and bool(entry.keys() & _CRITERION_FIELDS)
    return "outcome" in entry or "score_ranges" in entry or is_confirmed


def _bands(entry: dict[str, Any]) -> list[dict[str, Any]]:
    ranges = entry.get("score_ranges")
    return [band for band in ranges if isinstance(band, dict)] if isinstance(ranges, list) else []

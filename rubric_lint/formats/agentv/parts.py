"""Find the parts of any suite of AgentV, and what a release refuses, skips or never reads of them."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from rubric_lint.formats.agentv.releases import OLDEST, RELEASES, Release
from rubric_lint.formats.agentv.suites import (
    EVAL_FILES,
    EVALUATORS,
    OLD_FIELDS,
    TEMPLATES,
    find_mappings,
    find_read,
    find_scenario_tests,
    find_unread,
    is_case_file,
    is_current,
    is_in_folder,
)
from rubric_lint.model.messages import shorten
from rubric_lint.model.schema import Validator, open_validator
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path

CASES = "tests"
OLD_CASES = tuple(OLDEST.loaded["renamed"]["suite"])
LISTS = EVALUATORS

_Mapping = tuple[Path, dict[str, Any]]


class Unmet(NamedTuple):
    """Something that the target cannot express: the reason, and the place. With `is_note`, it only has to be told."""

    reason: str
    path: Path
    part: Part = Part.KEY
    is_note: bool = False


def is_suite(document: Document) -> bool:
    """Return whether a document is a suite with its cases, not a file of cases for one."""
    return isinstance(document.data, dict) and any(name in document.data for name in (CASES, *OLD_CASES, "scenarios"))


def is_template(document: Document) -> bool:
    """Return whether a document has only a list of assertions, as a template that suites include."""
    has_list = isinstance(document.data, dict) and bool(document.data.keys() & {*LISTS})
    return has_list and not (is_suite(document) or is_case_file(document))


def is_of_agentv(document: Document) -> bool:
    """Return whether a suite is AgentV's, whatever it is judged by: its name, its fields or a whole case show it.

    A template is by its folder, and a file of cases by a whole case with assertions.
    """
    if not is_suite(document):
        named = {"id"} if is_in_folder(document) else set[str]()
        rows = [case.keys() | named for _, case in find_suite_cases(document)]
        is_row = any(fields >= {"id", "input"} and fields & {"rubrics", *LISTS, *OLD_FIELDS} for fields in rows)
        is_row = is_row or any("id" in fields and fields & {*_NOT_OF_PROMPTFOO, "input_messages"} for fields in rows)
        return is_row or (is_template(document) and TEMPLATES in document.source.name.replace("\\", "/").lower())
    if "defaultTest" in document.data:
        return False
    is_old = any(isinstance(document.data.get(name), list) for name in OLD_CASES[:2])
    kinds = {str(assertion["type"]) for _, assertion in find_assertions(document)}
    # An assertion without a type is another tool's, unless it is the name of a template.
    entries = [entry for path, value in find_assertion_lists(document) for _, entry in find_mappings(path, value)]
    has_others = any("type" not in entry and "include" not in entry for entry in entries)
    known = {kind for release in RELEASES.values() for kind in (*release.types, *release.unloaded)}
    is_whole = any(
        case.keys() >= {"id", "input"} and case.keys() & (_NOT_OF_PROMPTFOO if "vars" in case else _JUDGED)
        for _, case in find_suite_cases(document)
        if (not kinds and not has_others) or known & {*kinds, *(kind.replace("_", "-") for kind in kinds)}
    )
    return is_old or is_whole or document.source.name.lower().endswith(EVAL_FILES) or is_current(document)


_NOT_OF_PROMPTFOO = {"assertions", "evaluators"}
_JUDGED = {"criteria", "expected_output", *LISTS}


def find_suite_cases(document: Document) -> Iterator[_Mapping]:
    """Find the cases of a suite, or of a file of cases: a list of them, or one JSON Lines record each."""
    data = document.data
    if isinstance(data, list):
        yield from find_mappings((), data)
    elif is_suite(document):
        for name in (CASES, *OLD_CASES):
            yield from find_mappings((name,), data.get(name))
    elif isinstance(data, dict) and is_case_file(document):
        yield (), data


def find_assertion_lists(
    document: Document, cases: Iterable[_Mapping] | None = None
) -> Iterator[tuple[Path, list[Any]]]:
    """Find the lists of assertions of a suite or a template, of cases and their turns, and those of sets in them.

    Without `cases`, these are the cases of the suite.
    """
    owners: list[_Mapping] = []
    if is_suite(document) or is_template(document):
        owners.append(((), document.data))
    for path, case in find_suite_cases(document) if cases is None else cases:
        owners += [(path, case), *find_mappings((*path, "turns"), case.get("turns"))]
    for path, owner in list(owners):
        for name in ("execution", "default_test"):
            if isinstance(inner := owner.get(name), dict):
                owners.append(((*path, name), inner))
    pending = [((*path, name), owner[name]) for path, owner in owners for name in LISTS if name in owner]
    while pending:
        path, value = pending.pop(0)
        if isinstance(value, list):
            yield path, value
            for place, member in find_mappings(path, value):
                pending += [((*place, name), member[name]) for name in LISTS if name in member]


def find_assertions(document: Document, cases: Iterable[_Mapping] | None = None) -> Iterator[_Mapping]:
    """Find all assertions that are mappings with a type; see `find_assertion_lists`."""
    for path, value in find_assertion_lists(document, cases):
        for place, assertion in find_mappings(path, value):
            if isinstance(assertion.get("type"), str):
                yield place, assertion


def find_unloaded(document: Document, release: Release) -> Iterator[Unmet]:
    """Find what a release refuses, skips or never reads in a suite, by the table in its schema.

    A field that only another release reads is lost; one that no release knows has no meaning in either.
    """
    found = [*find_suite_cases(document), *find_scenario_tests(document)]
    cases = [(path, case) for path, case in found if "include" not in case]
    includes = [path for path, case in found if "include" in case and release is OLDEST]
    yield from (Unmet(f"`include` of a test: {release.title} refuses it", (*path, "include")) for path in includes)
    parts = [("a test", path, case, "test") for path, case in cases]
    if is_suite(document) and not document.part:
        parts.insert(0, ("a suite", (), document.data, "suite"))
    elif "row" in release.loaded:
        parts = [(title, path, case, "row") for title, path, case, _ in parts]
    for path, assertion in find_assertions(document, cases):
        kind = assertion["type"]
        unloaded = release.find_unloaded(kind)
        if unloaded:
            yield Unmet(f"`type: {shorten(kind)}`: {unloaded.reason}", (*path, "type"))
        elif release.find_type(kind) is not None:
            parts += [(f"`{kind}`", path, assertion, table) for table in ("assertion", kind)]
    for title, path, value, name in parts:
        table = _open_table(release.name, name)
        unread = find_unread(value, table.schema, release.title, table.lost, table.validator)
        for field, reason, place, side, is_note in unread:
            yield Unmet(f"{field}{title}: {reason}", (*path, *place), side, is_note)


class _Table(NamedTuple):
    """What a release reads of one kind of part, its validator, and the fields that only other releases read there."""

    schema: Mapping[str, Any]
    validator: Validator
    lost: frozenset[str]


@cache
def _open_table(name: str, part: str) -> _Table:
    """Return the table of a release for a part of a suite, or for a type of assertion."""
    release = RELEASES[name]
    others = [other.loaded for other in RELEASES.values() if other is not release]
    fields = release.find_type(part)
    schema: Mapping[str, Any]
    if fields is not None:
        sources = (part.replace("_", "-"), *fields.get("x-written-for", ()))
        lost = find_read(*(other["types"].get(source, {}) for source in sources for other in others))
        lost -= release.loaded["assertion"]["properties"].keys()
        schema = fields
    elif part == "row":  # a test in a file of tests has some fields more
        schema, _, lost = _open_table(name, "test")
        more: dict[str, Any] = {field: {} for field in release.loaded["row"]}
        schema = {**schema, "properties": {**schema["properties"], **more}}
    else:
        schema = release.loaded[part]
        lost = find_read(*(other[part] for other in others)) if part != "assertion" else frozenset()
    return _Table(schema, open_validator(dict(schema)), lost - find_read(schema))

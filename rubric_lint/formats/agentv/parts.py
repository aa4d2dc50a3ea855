"""Find the parts of any suite of AgentV, and what a release refuses, skips or never reads of them."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from rubric_lint.formats.agentv.messages import format_message
from rubric_lint.formats.agentv.releases import OLDEST, RELEASES, Release
from rubric_lint.formats.agentv.suites import (
    ASSERTION_LISTS,
    CASES,
    EVAL_FILES,
    OLD_FIELDS,
    TEMPLATES,
    find_mappings,
    find_read,
    find_scenario_tests,
    find_unread_fields,
    is_case_file,
    is_current,
    is_in_folder,
)
from rubric_lint.model.messages import shorten
from rubric_lint.model.schema import Validator, open_validator
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path

OLD_CASES = tuple(OLDEST.loaded["renamed"]["suite"])
CASE_LISTS = (CASES, *OLD_CASES)
"""The names that the list of cases of a suite has had."""

_Mapping = tuple[Path, dict[str, Any]]


class Blocker(NamedTuple):
    """Something that the target cannot express: the code of its message, the place, and the values in the message.

    With `is_note`, nothing has to change.
    """

    code: str
    path: Path
    part: Part = Part.KEY
    values: Mapping[str, object] = {}
    is_note: bool = False

    @property
    def reason(self) -> str:
        """The message."""
        return format_message(self.code, self.values)


def is_suite(document: Document) -> bool:
    """Return whether a document is a suite with its cases, not a file of cases for one."""
    return isinstance(document.data, dict) and any(name in document.data for name in [*CASE_LISTS, "scenarios"])


def is_template(document: Document) -> bool:
    """Return whether a document has only a list of assertions, as a template that suites include."""
    has_list = isinstance(document.data, dict) and bool(document.data.keys() & {*ASSERTION_LISTS})
    return has_list and not (is_suite(document) or is_case_file(document))


def is_suite_of_agentv(document: Document) -> bool:
    """Return whether a suite is AgentV's, whatever it is judged by: its name, its fields or a whole case show it.

    A template is by its folder, and a file of cases by a whole case with assertions.
    """
    if not is_suite(document):
        is_case = any(_is_row(case, has_id=is_in_folder(document)) for _, case in find_suite_cases(document))
        return is_case or (is_template(document) and TEMPLATES in document.source.name.replace("\\", "/").lower())
    if "defaultTest" in document.data:
        return False
    is_old = any(isinstance(document.data.get(name), list) for name in OLD_CASES[:2])
    is_named = document.source.name.lower().endswith(EVAL_FILES)
    return is_old or is_named or is_current(document) or _has_whole_case(document)


_NOT_OF_PROMPTFOO = {"assertions", "evaluators"}
_JUDGED = {"criteria", "expected_output", *ASSERTION_LISTS}
_OF_ROWS = {"rubrics", *ASSERTION_LISTS, *OLD_FIELDS}


def _is_row(case: dict[str, Any], *, has_id: bool) -> bool:
    """Return whether a case in a file of its own is AgentV's; with `has_id`, its folder is its `id`."""
    if not has_id and "id" not in case:
        return False
    has_fields = "input" in case and not case.keys().isdisjoint(_OF_ROWS)
    return has_fields or not case.keys().isdisjoint({*_NOT_OF_PROMPTFOO, "input_messages"})


def _has_whole_case(document: Document) -> bool:
    """Return whether a suite has a case with the fields of AgentV's, and assertions of which one may be AgentV's."""
    kinds: set[str] = set()
    has_others = False
    for path, value in find_assertion_lists(document):
        for _, entry in find_mappings(path, value):
            if isinstance(entry.get("type"), str):
                kinds |= {entry["type"], entry["type"].replace("_", "-")}
            # An assertion without a type is another tool's, unless it is the name of a template.
            has_others = has_others or ("type" not in entry and "include" not in entry)
    has_known = any(not kinds.isdisjoint({*release.types, *release.unloaded}) for release in RELEASES.values())
    if (kinds or has_others) and not has_known:
        return False
    for _, case in find_suite_cases(document):
        judged = _NOT_OF_PROMPTFOO if "vars" in case else _JUDGED
        if case.keys() >= {"id", "input"} and case.keys() & judged:
            return True
    return False


def find_suite_cases(document: Document) -> Iterator[_Mapping]:
    """Find the cases of a suite, or of a file of cases: a list of them, or one JSON Lines record each."""
    data = document.data
    if isinstance(data, list):
        yield from find_mappings((), data)
    elif is_suite(document):
        for name in CASE_LISTS:
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
    cases = find_suite_cases(document) if cases is None else cases
    for path, case in cases:
        owners += [(path, case), *find_mappings((*path, "turns"), case.get("turns"))]
    for path, owner in owners:  # `default_test` may have an `execution` too
        for name in ("execution", "default_test"):
            if isinstance(owner.get(name), dict):
                owners.append(((*path, name), owner[name]))
    pending: list[tuple[Path, Any]] = []
    for path, owner in owners:
        pending += [((*path, name), owner[name]) for name in ASSERTION_LISTS if name in owner]
    while pending:
        path, value = pending.pop(0)
        if isinstance(value, list):
            yield path, value
            for place, member in find_mappings(path, value):
                pending += [((*place, name), member[name]) for name in ASSERTION_LISTS if name in member]


def find_assertions(document: Document, cases: Iterable[_Mapping] | None = None) -> Iterator[_Mapping]:
    """Find all assertions that are mappings with a type; see `find_assertion_lists`."""
    for path, value in find_assertion_lists(document, cases):
        for place, assertion in find_mappings(path, value):
            if isinstance(assertion.get("type"), str):
                yield place, assertion


def find_unloaded(document: Document, release: Release) -> Iterator[Blocker]:
    """Find what a release refuses, skips or never reads in a suite, by the table in its schema.

    A field that only another release reads is lost; one that no release knows has no meaning in either.
    """
    cases: list[_Mapping] = []
    for path, case in [*find_suite_cases(document), *find_scenario_tests(document)]:
        if "include" not in case:
            cases.append((path, case))
        elif release is OLDEST:
            yield Blocker("include", (*path, "include"), values={"release": release.title})
    assertions = list(find_assertions(document, cases))
    for path, assertion in assertions:
        unloaded = release.find_unloaded(assertion["type"])
        if unloaded:
            values = {"part": f"`type: {shorten(assertion['type'])}`", "reason": unloaded.reason}
            yield Blocker("unread", (*path, "type"), values=values)
    for title, path, value, name in _find_parts(document, release, cases, assertions):
        table = _open_table(release.name, name)
        unread = find_unread_fields(value, table.schema, release.title, table.lost, table.validator)
        for field, reason, place, side, is_note in unread:
            yield Blocker("unread", (*path, *place), side, {"part": f"{field}{title}", "reason": reason}, is_note)


def _find_parts(
    document: Document, release: Release, cases: list[_Mapping], assertions: list[_Mapping]
) -> Iterator[tuple[str, Path, dict[str, Any], str]]:
    """Find the parts of which a release has a table: yield the title, the path, the value and the name of the table."""
    is_whole = is_suite(document) and not document.part
    if is_whole:
        yield "a suite", (), document.data, "suite"
    for path, case in cases:
        table = "row" if "row" in release.loaded and not is_whole else "test"
        yield "a test", path, case, table
    for path, assertion in assertions:
        kind = assertion["type"]
        if release.find_type(kind) is not None:
            yield f"`{kind}`", path, assertion, "assertion"
            yield f"`{kind}`", path, assertion, kind


class _PartTable(NamedTuple):
    """What a release reads of one kind of part, its validator, and the fields that only other releases read there."""

    schema: Mapping[str, Any]
    validator: Validator
    lost: frozenset[str]


@cache
def _open_table(name: str, part: str) -> _PartTable:
    """Return the table of a release for a part of a suite, or for a type of assertion."""
    release = RELEASES[name]
    others = [other.loaded for other in RELEASES.values() if other is not release]
    fields = release.find_type(part)
    schema: Mapping[str, Any]
    if fields is not None:
        sources = [part.replace("_", "-"), *fields.get("x-written-for", ())]
        lost = frozenset[str]()
        for other in others:
            lost |= find_read(*(other["types"].get(source, {}) for source in sources))
        lost -= release.loaded["assertion"]["properties"].keys()
        schema = fields
    elif part == "row":  # a test in a file of tests has some fields more
        schema, _, lost = _open_table(name, "test")
        more: dict[str, Any] = {field: {} for field in release.loaded["row"]}
        schema = {**schema, "properties": {**schema["properties"], **more}}
    else:
        schema = release.loaded[part]
        lost = find_read(*(other[part] for other in others)) if part != "assertion" else frozenset()
    return _PartTable(schema, open_validator(dict(schema)), lost - find_read(schema))

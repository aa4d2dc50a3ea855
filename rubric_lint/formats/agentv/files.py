"""List the files that a suite of AgentV names, which have its cases, its assertions or its defaults."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from rubric_lint.formats.agentv.parts import CASE_LISTS
from rubric_lint.formats.agentv.suites import (
    ASSERTION_LISTS,
    CASES,
    EVAL_FILES,
    find_cases,
    is_case_file,
    is_current,
    is_of_agentv,
)
from rubric_lint.formats.dialects import SUITE_FILES
from rubric_lint.model.finding import Problem
from rubric_lint.model.messages import describe, shorten
from rubric_lint.model.recognition import FIELD
from rubric_lint.model.repairs import rename_fields
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.source import Kind

_ONLY_IN_AGENTV = frozenset({"assertions", "execution", "evalcases", "eval_cases"})
_INCLUDE = "include"


_MOST = 80
"""The most characters of a path in a message."""


class Holds(StrEnum):
    """What a suite needs a file for."""

    CASES = "cases"
    SUITE = "tests"
    SCENARIOS = "scenarios"
    DEFAULTS = "default assertions"
    ASSERTIONS = "assertions"


class OtherFile(NamedTuple):
    """A file, a folder or a pattern that a suite names: its place in the suite, and the text there."""

    path: Path
    text: str
    holds: Holds


class Effect(StrEnum):
    """What it means that a file is not read with its suite."""

    LOST = "lost"
    """AgentV does not load it either: a finding."""

    UNREAD = "unread"
    """AgentV reads it."""

    ONLY_NEW = "only new"
    """AgentV 5 reads it, and no earlier release does."""

    EXCLUDED = "excluded"
    """The settings exclude it."""


class Unfollowed(NamedTuple):
    """A file that is not read with the suite that names it: the text there, and why."""

    text: str
    effect: Effect
    reason: str


def find_other_files(document: Document) -> Iterator[OtherFile]:
    """Find what a suite of AgentV, or a part of one, names; suites of promptfoo have such fields too."""
    if document.part or _is_suite(document):
        yield from find_named(document)


def find_named(document: Document) -> Iterator[OtherFile]:
    """Find what a suite or a part of one names, which is AgentV's."""
    if isinstance(document.data, dict) and not document.part:
        yield from _find_in_suite(document.data)
    if _INCLUDE not in document.quick_text:
        return
    for path, mapping in document.mappings:
        included = mapping.get(_INCLUDE)
        if len(path) > 1 and path[-2] in ASSERTION_LISTS and isinstance(included, str):
            yield OtherFile((*path, _INCLUDE), included, Holds.ASSERTIONS)


def _find_in_suite(suite: dict[str, Any]) -> Iterator[OtherFile]:
    for name in CASE_LISTS:
        value = suite.get(name)
        entries: list[tuple[Path, Any]] = [((name,), value)]
        if isinstance(value, list):
            entries = [((name, at), entry) for at, entry in enumerate(value)]
        for path, entry in entries:
            included = entry.get(_INCLUDE) if isinstance(entry, dict) else None
            if isinstance(entry, str) and entry.strip():
                yield OtherFile(path, entry, Holds.CASES)
            elif isinstance(included, str):
                holds = Holds.SUITE if included.lower().endswith(EVAL_FILES) else Holds.CASES
                yield OtherFile((*path, _INCLUDE), included, holds)
    scenarios = suite.get("scenarios")
    if isinstance(scenarios, list):
        for at, scenario in enumerate(scenarios):
            if isinstance(scenario, str):
                yield OtherFile(("scenarios", at), scenario, Holds.SCENARIOS)
    if isinstance(suite.get("default_test"), str):
        yield OtherFile(("default_test",), suite["default_test"], Holds.DEFAULTS)


def _is_suite(document: Document) -> bool:
    suite = document.data
    if document.kind is not Kind.YAML or not isinstance(suite, dict) or "defaultTest" in suite:
        return False
    return is_of_agentv(document, ()) or not _ONLY_IN_AGENTV.isdisjoint(suite)


def find_unfollowed(
    document: Document, unfollowed: Iterable[Unfollowed], *, is_followed: bool
) -> Iterator[tuple[OtherFile, Unfollowed]]:
    """Find the files that are not read with a suite; all of them, if it has another name than suites in a search."""
    known = {file.text: file for file in unfollowed}
    is_passed_over = not (is_followed or document.part or document.source.name.lower().endswith(SUITE_FILES))
    for other in find_other_files(document):
        if other.text in known:
            yield other, known[other.text]
        elif is_passed_over:
            yield other, Unfollowed(other.text, Effect.UNREAD, "name this file, or call it NAME.eval.yaml")


def is_written_for_five(document: Document) -> bool:
    """Return whether a suite with cases in other files is for AgentV 5: no earlier release has `prompts`."""
    return isinstance(document.data, dict) and ("prompts" in document.data or is_current(document))


def find_ignored(document: Document) -> Iterator[Problem]:
    """Find the lists of cases in another file that AgentV 5 does not read: a test without any other passes."""
    if document.part != Holds.CASES:
        return
    for path, case in find_cases(document):
        for name in ("assertions", "evaluators", FIELD):
            if isinstance(case.get(name), list) and case[name]:
                place = (*path, name)
                is_renamed = name != FIELD and "assert" not in case
                repair = rename_fields([(place, "assert")]) if is_renamed else None
                yield Problem("agentv-5-row", place, Part.KEY, {"list": name}, repair=repair)


def find_values(other: OtherFile, why: Unfollowed) -> dict[str, str]:
    """Return the values of `lost-rubric.agentv-file` for a file that AgentV does not load."""
    return {"holds": other.holds, "file": shorten(other.text, _MOST), "reason": why.reason}


def format_unread(other: OtherFile, why: Unfollowed) -> str:
    """Say that a file is not read with its suite."""
    return f"the {other.holds} in `{shorten(other.text, _MOST)}` are not read: {why.reason}"


def format_unconverted(other: OtherFile, command: str) -> str:
    """Say that what is in another file is not converted with the suite; `command`, if there is one, converts it."""
    advice = f"`{command}` converts them" if command else "convert that file too"
    return f"the {other.holds} in `{shorten(other.text, _MOST)}` are in another file and are not converted; {advice}"


def find_misshapen_cases(document: Document) -> Iterator[tuple[Path, str]]:
    """Find what is no list of cases in a file that a suite names for its cases, each with a description."""
    if document.part != Holds.CASES or is_case_file(document) or document.number is not None:
        return
    data = document.data
    has_tests = document.kind is Kind.JSON and isinstance(data, dict) and isinstance(data.get(CASES), list)
    if not (isinstance(data, list) or has_tests or data is None):
        yield (), describe(data, "")

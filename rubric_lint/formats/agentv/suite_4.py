"""Find what shows a later suite, what of an earlier one AgentV 4 cannot have, and what it skips."""

from collections.abc import Iterable, Iterator
from typing import Any

from rubric_lint.formats.agentv.parts import Blocker, find_assertions, find_suite_cases, is_suite
from rubric_lint.formats.agentv.releases import RELEASES
from rubric_lint.formats.agentv.suite_5 import find_misshapen_lists, gather_input, has_command
from rubric_lint.formats.agentv.suites import ASSERTION_LISTS, is_current, is_in_folder
from rubric_lint.formats.agentv.unconvertible import is_named
from rubric_lint.model.messages import counted
from rubric_lint.model.rubric import Rubric
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part

_OF_5 = ("prompts", *RELEASES["agentv-5"].shown_by)
SCRIPTS = frozenset({"code", "script-grader", "code-judge", "code_judge", "code_grader"})
JUDGES = RELEASES["agentv-4"].list_replaced("llm-grader")
_JUDGED = {"criteria", "expected_output", "assertions", "assert", "turns"}


def find_later(document: Document, rubrics: Iterable[Rubric]) -> Iterator[Blocker]:
    """Find what shows that a suite is written for AgentV 5: fields of the suite, or criteria."""
    if is_current(document):
        yield from (Blocker("later", (field,)) for field in _OF_5 if field in document.data)
    yield from (Blocker("later", rubric.path) for rubric in rubrics if rubric.dialect == "agentv-a7")


def find_obstacles(document: Document) -> Iterator[Blocker]:
    """Find what of a suite cannot be rewritten for AgentV 4, with its reason; nothing is written then."""
    yield from find_misshapen_lists(document)
    for path, assertion in find_assertions(document):
        kind = assertion["type"]
        if kind in SCRIPTS and not has_command(assertion):
            values = {"release": "AgentV 4", "new": "code-grader", "type": kind}
            yield Blocker("no-command", (*path, "type"), values=values)


def find_gaps(document: Document) -> Iterator[Blocker]:
    """Find the tests, and the members of sets, that AgentV 4 skips because something was missing before."""
    suite = document.data if is_suite(document) else {}
    for path, case in find_suite_cases(document):
        missing = _find_missing(case, suite, is_in_folder=is_in_folder(document))
        if missing:
            yield Blocker("test-without", path, Part.HEAD, {"release": "AgentV 4", "missing": missing})
    for path, assertion in find_assertions(document):
        name = next((name for name in ASSERTION_LISTS if name in assertion), "")
        if assertion["type"] != "composite" or not isinstance(assertion.get(name), list):
            continue
        for at, member in enumerate(assertion[name]):
            if not isinstance(member, dict) or not isinstance(member.get("name"), str):
                yield Blocker("member-without-name", (*path, name, at), Part.HEAD)


def _find_missing(case: dict[str, Any], suite: dict[str, Any], *, is_in_folder: bool) -> str:
    """Return the first thing without which AgentV 4 skips a test and that it lacks; empty if it has all."""
    task = case.get("input")
    if not is_named(case) and not is_in_folder:
        return "`id`"
    if "input" not in case:
        return "`input`"
    if isinstance(task, list) and not (task and all(isinstance(message, dict) for message in task)):
        return "an `input` that is a string or messages"
    if task is not None and gather_input(suite, case) is None:
        return "an `input` that is one string, as it has `input_files`"
    return "" if case.keys() & _JUDGED else "`criteria` and `assertions` of its own"


def list_assumptions(document: Document) -> Iterator[tuple[str, dict[str, object]]]:
    """List the fields that AgentV 4 loads and ignores: the code of each message and the values in it."""
    count = sum("description" in case for _, case in find_suite_cases(document))
    if count:
        yield "ignored-labels", {"tests": counted(count, "test has", "tests have")}

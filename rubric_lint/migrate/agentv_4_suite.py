"""Rewrite what is around the rubrics of a suite for AgentV 4: inputs, the target, lists and types of assertions."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rubric_lint.dialects.search.agentv_suites import is_current
from rubric_lint.edits.intents import (
    Dissolve,
    EscapeText,
    InsertField,
    Intent,
    MoveField,
    PutUnder,
    RemoveField,
    RenameKey,
    ReplaceValue,
    UnwrapValue,
)
from rubric_lint.migrate.agentv import (
    LISTS,
    Unmet,
    find_assertion_lists,
    find_assertions,
    find_strings,
    find_suite_cases,
    is_named,
    is_suite,
)
from rubric_lint.migrate.agentv_5_suite import (
    find_lists_of_tests,
    find_misshapen,
    find_two_labels,
    has_command,
    is_input,
    is_of_five,
)
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import find_marks, name_variables
from rubric_lint.text.path import Part, Path

_NAME = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_MOVED = ("input", "expected_output")
_OPTIONS = frozenset({"max_concurrency", "repeat", "budget_usd"})
_LABELS = {"metric": "name", "provider": "target"}
_SCRIPTS = frozenset({"code", "script", "script-grader", "code-judge", "code_judge", "code_grader"})
_JUDGES = frozenset({"agent-judge", "agent_judge", "llm-judge", "llm_judge"})


def find_obstacles(document: Document) -> Iterator[Unmet]:
    """Find what of a suite cannot be rewritten for AgentV 4, with its reason; nothing is written then."""
    if is_suite(document):
        yield from _check_suite(document)
    for path, case in find_suite_cases(document):
        yield from _check_variables(document, path, case)
    yield from find_misshapen(document)
    for path, assertion in find_assertions(document):
        yield from _check_assertion(path, assertion)
        yield from find_two_labels(path, assertion, _LABELS)


def _check_suite(document: Document) -> Iterator[Unmet]:
    suite = document.data
    if "prompts" in suite and not is_input(suite["prompts"]):
        yield Unmet(
            "AgentV 4 has no `prompts`; each test has its own `input`, so only the prompt `{{ input }}` can go",
            ("prompts",),
        )
    providers = suite.get("providers")
    if providers is not None and ("target" in suite or not _is_provider(providers)):
        yield Unmet("AgentV 4 has one `target`, the name of a provider", ("providers",))
    options = suite.get("evaluate_options")
    if options is not None and not (isinstance(options, dict) and options and options.keys() <= _OPTIONS):
        told = "AgentV 4 has `workers`, `trials` and `budget_usd` in `execution` for this, and nothing for other fields"
        yield Unmet(told, ("evaluate_options",))
    for name in ("threshold", "evaluate_options"):
        if name in suite and "execution" in suite:
            yield Unmet("AgentV 4 reads it from `execution`, with others; move it there", (name,))


def _is_provider(providers: Any) -> bool:
    only = providers[0] if isinstance(providers, list) and len(providers) == 1 else providers
    return isinstance(only, str) and ":" not in only


def _check_variables(document: Document, path: Path, case: dict[str, Any]) -> Iterator[Unmet]:
    """Check what the variables of a test hold, and that no text is a template of AgentV 5."""
    given = case.get("vars")
    if isinstance(given, dict) and is_of_five(document, case):
        yield from find_lists_of_tests(path, given)
    if not isinstance(given, dict) or not ("input" in given or "input" not in case):
        return
    known = {name for name, value in given.items() if name not in _MOVED and isinstance(value, str)}
    for name in _MOVED:
        if name in given and name in case:
            yield Unmet(f"`{name}` is there too; remove one", (*path, "vars", name))
    for name in ("vars", *LISTS):
        for place, text in find_strings((*path, name), case.get(name)):
            rest = name_variables(text).replace("${{", "")
            if place[len(path) :][:2] == ("vars", "input"):  # both releases fill in the other variables there
                rest = _NAME.sub(lambda found: "" if found[1] in known else found[0], rest)
            if find_marks(rest) or "{{" in rest:
                yield Unmet("AgentV 5 fills in this template, and AgentV 4 does not; write the text", place, Part.VALUE)


def _check_assertion(path: Path, assertion: dict[str, Any]) -> Iterator[Unmet]:
    kind = assertion["type"]
    if kind in _SCRIPTS and not has_command(assertion):
        yield Unmet(f"AgentV 4 has `code-grader` with `command` for `{kind}`; write one", (*path, "type"))
    elif kind == _SET:
        yield from _check_set(path, assertion)


def _check_set(path: Path, assertion: dict[str, Any]) -> Iterator[Unmet]:
    """Check that a set is the plain average of its members, and that each of them has the name that AgentV 4 needs."""
    for key in assertion:
        if key not in _OF_SETS:
            yield Unmet(f"AgentV 4 has `composite` for `assert-set`, without `{key}`", (*path, key))
    members = assertion.get("assert")
    if not isinstance(members, list) or not members:
        yield Unmet("AgentV 4 skips a `composite` without assertions", (*path, "type"))
        return
    for at, member in enumerate(members):
        place = (*path, "assert", at)
        if not isinstance(member, dict) or not any(isinstance(member.get(name), str) for name in ("metric", "name")):
            yield Unmet("AgentV 4 skips what has no `name` in a `composite`; give it a `metric`", place, Part.HEAD)
        elif "weight" in member:
            yield Unmet("AgentV 4 does not count the `weight` of a member", (*place, "weight"))


_SKILLS = ("skill-used", "not-skill-used")
_SET = "assert-set"
_OF_SETS = frozenset({"type", "assert", "metric", "name", "weight", "required", "min_score"})


def rename_suite(document: Document) -> Iterator[Intent]:
    """Give the fields of the suite the names of AgentV 4."""
    suite = document.data if is_suite(document) else {}
    if isinstance(suite.get("providers"), list):
        yield UnwrapValue(("providers",))
    options = suite.get("evaluate_options", {})
    if "threshold" in suite and not options:
        yield PutUnder(("threshold",), "execution")
    if "max_concurrency" in options:
        yield RenameKey(("evaluate_options", "max_concurrency"), "workers")
    if "repeat" in options:
        yield PutUnder(("evaluate_options", "repeat"), "trials", "count")
    if options:
        yield RenameKey(("evaluate_options",), "execution")


def rename_parts(document: Document) -> Iterator[Intent]:
    """Give lists, assertions and fields of tests the names of AgentV 4."""
    if is_suite(document) and {"threshold", "execution"} <= document.data.keys():
        yield MoveField(("threshold",), ("execution",))
    for path, _ in find_assertion_lists(document):
        if path[-1] == "assert" and path[-2:-1] != ("execution",) and "assertions" not in document.value(path[:-1]):
            yield RenameKey(path, "assertions")
    for path, assertion in find_assertions(document):
        yield from _rename_assertion(path, assertion)
    for place, text in find_strings((), document.data):
        if find_marks(text, marks="env-4"):
            yield EscapeText(place, marks="env-4")


def _rename_assertion(path: Path, assertion: dict[str, Any]) -> Iterator[Intent]:
    yield from (RenameKey((*path, old), new) for old, new in _LABELS.items() if old in assertion)
    if assertion["type"] in _SCRIPTS:
        yield ReplaceValue((*path, "type"), "code-grader")
        yield from (RenameKey((*path, name), "command") for name in ("script",) if name in assertion)
    elif assertion["type"] in _JUDGES:
        yield ReplaceValue((*path, "type"), "llm-grader")
    elif assertion["type"] in _SKILLS and isinstance(assertion.get("value"), str):
        yield ReplaceValue((*path, "type"), "skill-trigger")
        yield RenameKey((*path, "value"), "skill")
        if assertion["type"] == _SKILLS[1]:
            yield InsertField((*path, "type"), "should_trigger", "false")
    elif assertion["type"] == _SET:
        yield ReplaceValue((*path, "type"), "composite")
        yield InsertField((*path, "type"), "aggregator", '{"type": "weighted_average"}')


def take_variables(document: Document) -> Iterator[Intent]:
    """Take the input and the expected output of each test out of its variables."""
    for path, case in find_suite_cases(document):
        given = case.get("vars")
        if isinstance(given, dict) and given and given.keys() <= {*_MOVED}:
            yield Dissolve((*path, "vars"))
        elif isinstance(given, dict) and "input" in given:
            yield MoveField((*path, "vars", "input"), path)


def take_references(document: Document) -> Iterator[Intent]:
    """Take the expected output out of variables that stay, and remove the prompts."""
    if is_suite(document):
        if "prompts" in document.data:
            yield RemoveField(("prompts",))
        if "providers" in document.data:
            yield RenameKey(("providers",), "target")
    for path, case in find_suite_cases(document):
        given = case.get("vars")
        if isinstance(given, dict) and "expected_output" in given and "expected_output" not in case:
            yield MoveField((*path, "vars", "expected_output"), path)


def find_gaps(document: Document) -> Iterator[Unmet]:
    """Find the tests that AgentV 4 skips because something was missing before."""
    for path, case in find_suite_cases(document):
        if not is_named(case) or "input" not in case:
            missing = "input" if is_named(case) else "id"
            yield Unmet(f"AgentV 4 skips a test without `{missing}`", path, Part.HEAD)
        elif not case.keys() & {"criteria", "expected_output", "assertions", "assert", "turns"}:
            yield Unmet("AgentV 4 skips a test without `criteria` and `assertions` of its own", path, Part.HEAD)


BEFORE: tuple[Callable[[Document], Iterable[Intent]], ...] = ()
AFTER: tuple[Callable[[Document], Iterable[Intent]], ...] = (
    rename_suite,
    rename_parts,
    take_variables,
    take_references,
)
"""The steps before and after the rubrics are rewritten."""


def list_assumptions(document: Document) -> Iterator[str]:
    """Say what AgentV 4 will read otherwise though it loads: its judges see more of a test."""
    count = sum(
        isinstance(given := case.get("vars"), dict) and "expected_output" in given
        for _, case in find_suite_cases(document)
    )
    if count:
        tests = "1 test" if count == 1 else f"{count} tests"
        yield f"in {tests}, `expected_output` is no longer in `vars`: judges of AgentV 4 see it"
    alone = sum("criteria" in case and "assert" not in case for _, case in find_suite_cases(document))
    if alone and is_current(document):
        tests = "1 test has" if alone == 1 else f"{alone} tests have"
        yield f"{tests} `criteria` alone: AgentV 5 asks whether it is met, AgentV 4 gives a score from 0 to 1 for it"

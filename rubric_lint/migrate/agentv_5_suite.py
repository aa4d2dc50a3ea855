"""Rewrite what is around the rubrics of a suite for AgentV 5: variables and prompts, providers, lists and types."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rubric_lint.dialects.search.agentv_suites import load_tables
from rubric_lint.edits.intents import (
    Dissolve,
    EscapeText,
    InsertField,
    Intent,
    JoinLists,
    MoveField,
    PutUnder,
    RemoveField,
    RenameKey,
    ReplaceValue,
    WrapValue,
)
from rubric_lint.migrate.agentv_5_obstacles import (
    COMPOSITE,
    JUDGES,
    LABELS,
    SCRIPTS,
    find_obstacles,
    find_rendered,
    find_task,
    has_escapes,
    is_judged,
    look_up,
    name_criteria,
    needs_value,
)
from rubric_lint.migrate.suite_parts import (
    CASES,
    LISTS,
    Unmet,
    find_assertion_lists,
    find_assertions,
    find_strings,
    find_suite_cases,
    is_named,
    is_suite,
)
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import find_marks
from rubric_lint.text.path import Part, Path

__all__ = ["AFTER", "BEFORE", "find_gaps", "find_obstacles", "tell_assumptions"]

_PROMPTS = '["{{ input }}"]'


def lift_execution(document: Document) -> Iterator[Intent]:
    """Put the fields of `execution` one level up, where AgentV 5 has them; of a test, only its assertions."""
    if is_suite(document) and isinstance(execution := document.data.get("execution"), dict):
        yield Dissolve(("execution",)) if execution else RemoveField(("execution",))
    if is_suite(document) and isinstance(document.data.get("experiment"), str) and "tags" not in document.data:
        yield PutUnder(("experiment",), "tags")
    for path, case in find_suite_cases(document):
        execution = case.get("execution")
        execution = execution if isinstance(execution, dict) else {}
        lists = [name for name in LISTS if name in execution]
        if lists and len(lists) == len(execution):
            yield Dissolve((*path, "execution"))
        else:
            yield from (MoveField((*path, "execution", name), path) for name in lists)


def rename_parts(document: Document) -> Iterator[Intent]:
    """Give lists, assertions and fields of tests the names of AgentV 5."""
    if is_suite(document) and isinstance(document.data.get("target"), str):
        yield WrapValue(("target",))
    if is_suite(document) and "workers" in document.data:
        yield PutUnder(("workers",), "evaluate_options")
    for path, _ in find_assertion_lists(document):
        if path[-1] != "assert" and "assert" not in document.value(path[:-1]):
            yield RenameKey(path, "assert")
    for path, assertion in find_assertions(document):
        yield from _rename_assertion(document, path, assertion)
    for path, case in find_suite_cases(document):
        if "criteria" in case and is_judged(case) and is_suite(document):
            yield RenameKey((*path, "criteria"), "description")


def _rename_assertion(document: Document, path: Path, assertion: dict[str, Any]) -> Iterator[Intent]:
    kind, place = assertion["type"], (*path, "type")
    yield from (RenameKey((*path, old), new) for old, new in LABELS.items() if old in assertion)
    if kind in SCRIPTS:
        yield ReplaceValue(place, "script")
        if "script" in assertion:
            yield RenameKey((*path, "script"), "command")
    elif kind in JUDGES:
        yield ReplaceValue(place, JUDGES[kind])
        if needs_value(assertion):
            yield InsertField(place, "value", json.dumps(find_task(document, path), ensure_ascii=False))
    elif kind == COMPOSITE:
        yield ReplaceValue(place, "assert-set")
        yield RemoveField((*path, "aggregator"))
    elif kind not in (known := load_tables()[1]["types"]) and kind.replace("_", "-") in known:
        yield ReplaceValue(place, kind.replace("_", "-"))
    required = assertion.get("required")
    is_share = isinstance(required, int | float) and not isinstance(required, bool) and 0 < required <= 1
    if is_share and "min_score" not in assertion:
        yield ReplaceValue((*path, "required"), "true")
        yield InsertField((*path, "required"), "min_score", str(required))


def join_lists(document: Document) -> Iterator[Intent]:
    """Put the assertions of a test after the one that its `rubrics` became."""
    for path, case in find_suite_cases(document):
        if "rubrics" in case and "assert" in case:
            yield JoinLists((*path, "assert"), (*path, "rubrics")) if case["assert"] else RemoveField((*path, "assert"))


def name_moved(document: Document) -> Iterator[Intent]:
    """Name what the steps before have moved, and escape texts that become templates."""
    if is_suite(document):
        yield from (RenameKey((name,), "providers") for name in ("target", "targets") if name in document.data)
        if "workers" in (look_up(document.data, ("evaluate_options",)) or ()):
            yield RenameKey(("evaluate_options", "workers"), "max_concurrency")
    rendered: set[Path] = set()
    for path, case in find_suite_cases(document):
        if is_suite(document):
            rendered |= (found := {*find_rendered(document, path, case)})
            yield from (EscapeText(at, has_escapes(case), "all") for at in sorted(found, key=str))
        if "rubrics" in case:
            yield RenameKey((*path, "rubrics"), "assert")
    for place, text in find_strings((), document.data):
        if place not in rendered and find_marks(text, marks="env"):
            yield EscapeText(place, marks="env")


def give_variables(document: Document) -> Iterator[Intent]:
    """Put the input of each test into its variables; in a file of cases, AgentV 5 reads it where it is."""
    yield from _move_variable(document, "input")


def give_references(document: Document) -> Iterator[Intent]:
    """Put the expected output of each test into its variables."""
    yield from _move_variable(document, "expected_output")


def _move_variable(document: Document, name: str) -> Iterator[Intent]:
    for path, case in find_suite_cases(document) if is_suite(document) else ():
        if name in case:
            yield MoveField((*path, name), (*path, "vars")) if case.get("vars") else PutUnder((*path, name), "vars")


def write_prompts(document: Document) -> Iterator[Intent]:
    """Write the prompt that the input of each test is."""
    has_input = any("input" in look_up(case, ("vars",)) for _, case in find_suite_cases(document))
    if is_suite(document) and "prompts" not in document.data and has_input:
        yield InsertField((CASES,), "prompts", _PROMPTS)


def find_gaps(document: Document) -> Iterator[Unmet]:
    """Find the tests that AgentV 5 does not run because something was missing before."""
    suite = document.data if is_suite(document) else {}
    is_shared = not suite or isinstance(suite.get("default_test"), str)
    is_shared = is_shared or bool(suite.get("assert") or look_up(suite, ("default_test", "assert")))
    for path, case in find_suite_cases(document):
        if not is_named(case):
            yield Unmet("AgentV 5 skips a test without `id`", path, Part.HEAD)
        is_asked = "prompts" in suite and not _is_input(suite["prompts"])
        if suite and not is_asked and "input" not in look_up(case, ("vars",)):
            yield Unmet("the test has no `input`, which AgentV 5 needs in `vars`", path, Part.HEAD)
        elif not (is_shared or case.keys() & {"criteria", "assert", "turns"}):
            yield Unmet("AgentV 5 skips a test without `criteria` and `assert`", path, Part.HEAD)


def _is_input(prompts: Any) -> bool:
    return bool(prompts == json.loads(_PROMPTS))


BEFORE: tuple[Callable[[Document], Iterable[Intent]], ...] = (lift_execution,)
AFTER: tuple[Callable[[Document], Iterable[Intent]], ...] = (
    rename_parts,
    join_lists,
    name_moved,
    give_variables,
    give_references,
    write_prompts,
)
"""The steps before and after the rubrics are rewritten."""


def tell_assumptions(document: Document) -> Iterator[str]:
    """Say what AgentV 5 will read otherwise though it loads: judges see less of a test."""
    cases = [case for _, case in find_suite_cases(document)]
    if not is_suite(document):
        return
    told = sum(bool(name_criteria(case)) and is_judged(case) for case in cases)
    expected = sum(bool(case.keys() & {"expected_output", "expected_messages"}) for case in cases)
    moved = [
        (told, "`criteria` is now `description`: judges of AgentV 5 do not see it"),
        (
            expected,
            "`expected_output` is now in `vars`: judges of AgentV 5 see it only where an assertion of a test names it",
        ),
    ]
    for count, what in moved:
        if count:
            tests = "1 test" if count == 1 else f"{count} tests"
            yield f"in {tests}, {what}"
    alone = sum(bool(name_criteria(case)) and not is_judged(case) and "turns" not in case for case in cases)
    if alone and "prompts" not in document.data and not is_judged(document.data):
        tests = "1 test has" if alone == 1 else f"{alone} tests have"
        yield f"{tests} `criteria` alone: AgentV 4 gives a score from 0 to 1 for it, AgentV 5 asks whether it is met"
    if any(look_up(document.data, place) for place in (("target",), ("execution", "target"), ("targets",))):
        yield "`target` is now `providers`, as the newest AgentV 5 reads it; 5.1 to 5.3 refuse that and read `target`"

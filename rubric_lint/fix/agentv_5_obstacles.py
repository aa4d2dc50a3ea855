"""Find what of a suite AgentV 5 cannot have: nothing of the suite is rewritten then."""

import re
from collections.abc import Iterator
from typing import Any

from rubric_lint.fix.suite_parts import (
    CASES,
    LISTS,
    OLD_CASES,
    Unmet,
    find_assertions,
    find_strings,
    find_suite_cases,
    is_suite,
)
from rubric_lint.format.schema_files import load
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import find_marks
from rubric_lint.text.path import Part, Path

NEW_NAMES = {
    **dict.fromkeys(OLD_CASES, CASES),
    "input_messages": "input",
    "expected_messages": "expected_output",
    "expected_outcome": "criteria",
}
_OF_SUITES = frozenset({"target", "targets", "execution", *LISTS, *OLD_CASES})
_OF_CASES = frozenset({"input", "expected_output", "rubrics", *LISTS, *NEW_NAMES} - set(OLD_CASES))
_OF_SUITE_EXECUTION = frozenset({"target", "targets", "threshold", "workers", *LISTS})
OF_CASE_EXECUTION = frozenset({"threshold", *LISTS})
SCRIPTS = frozenset({"code-grader", "code_grader", "code-judge", "code_judge", "script-grader"})
JUDGES = frozenset({"llm-grader", "llm_grader", "llm-judge", "llm_judge"})
LABELS = {"name": "metric", "target": "provider"}
_PROVIDER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*\Z")


def find_obstacles(document: Document) -> Iterator[Unmet]:
    """Find what of a suite cannot be rewritten for AgentV 5, with its reason; nothing is written then."""
    known: dict[str, list[str]] = load("agentv/a7.json")["x-known"]
    if is_suite(document):
        yield from _check_suite(document.data, known)
        yield from _check_prompts(document)
    for path, case in find_suite_cases(document):
        yield from _check_case(document, path, case, known)
        if "rubrics" in case and not isinstance(case["rubrics"], list):
            yield Unmet("`rubrics` is not a list of criteria", (*path, "rubrics"))
    yield from find_misshapen(document)
    for path, assertion in find_assertions(document):
        yield from _check_assertion(document, path, assertion)
        yield from find_two_labels(path, assertion, LABELS)


def find_misshapen(document: Document) -> Iterator[Unmet]:
    """Find lists of assertions that are something else, which no release of AgentV loads."""
    for path, case in (((), document.data if is_suite(document) else {}), *find_suite_cases(document)):
        for name in LISTS:
            if name in case and not isinstance(case[name], list):
                yield Unmet(f"`{name}` is not a list of assertions", (*path, name))
        lists = [name for name in LISTS if isinstance(case.get(name), list)]
        for name in lists[1:]:
            yield Unmet(f"AgentV reads only `{lists[0]}` here; join it with `{name}`", (*path, name))


def _check_suite(suite: dict[str, Any], known: dict[str, list[str]]) -> Iterator[Unmet]:
    for key in suite:
        if key not in known["suite"] and key not in _OF_SUITES:
            yield Unmet(f"AgentV 5 refuses `{key}` in a suite; remove it or change it by hand", (key,))
    execution = suite.get("execution", {})
    if not isinstance(execution, dict):
        yield Unmet("AgentV 5 refuses `execution` of a suite, and this one is not a mapping", ("execution",))
        return
    for key in execution:
        if key not in _OF_SUITE_EXECUTION:
            yield Unmet(
                f"AgentV 5 refuses `execution.{key}` in a suite; remove it or change it by hand", ("execution", key)
            )
        elif key in suite:
            yield Unmet(f"`{key}` stands at the top of the suite too; remove one", ("execution", key))
    if "workers" in execution and "evaluate_options" in suite:
        yield Unmet("write it as `max_concurrency` in `evaluate_options`, which is there", ("execution", "workers"))
    yield from _check_target(suite)


def _check_target(suite: dict[str, Any]) -> Iterator[Unmet]:
    named = [
        (*place, key) for place in ((), ("execution",)) for key in ("target", "targets") if key in look_up(suite, place)
    ]
    for path in named:
        value = look_up(suite, path)
        items = value if isinstance(value, list) and path[-1] == "targets" else [value]
        if len(named) > 1 or "providers" in suite:
            yield Unmet("AgentV 5 has `providers` for this, and the suite has two of them; join them", path)
        elif not all(isinstance(item, str) and _PROVIDER.match(item) for item in items):
            yield Unmet("AgentV 5 reads `providers`, and only the name of a provider can be moved there", path)


def look_up(value: Any, path: Path) -> Any:
    """Return the value at a path of mappings; an empty mapping if there is none."""
    for step in path:
        value = value.get(step, {}) if isinstance(value, dict) else {}
    return value


def _check_prompts(document: Document) -> Iterator[Unmet]:
    """Check that one prompt, the input of each test, can serve all tests."""
    suite = document.data
    for name in (CASES, *OLD_CASES):
        for at, case in enumerate(suite[name] if isinstance(suite.get(name), list) else ()):
            if isinstance(case, str):
                yield Unmet(
                    "AgentV 5 would put `prompts` before these cases too; move them into a suite",
                    (name, at),
                    Part.VALUE,
                )
    if "prompts" in suite:
        for path, case in find_suite_cases(document):
            for name in ("input", "input_messages"):
                if name in case:
                    yield Unmet(
                        f"AgentV 5 refuses `{name}`, and the suite has `prompts` already; move it to `vars`",
                        (*path, name),
                    )


def _check_case(document: Document, path: Path, case: dict[str, Any], known: dict[str, list[str]]) -> Iterator[Unmet]:
    for key in case:
        if key not in known["test"] and key not in _OF_CASES:
            yield Unmet(f"AgentV 5 refuses `{key}` in a test; remove it or change it by hand", (*path, key))
        if key in NEW_NAMES and NEW_NAMES[key] in case:
            yield Unmet(f"`{NEW_NAMES[key]}` is there too; remove one", (*path, key))
    execution = case.get("execution", {})
    kept = execution.keys() - OF_CASE_EXECUTION if isinstance(execution, dict) else {""}
    for key in execution if isinstance(execution, dict) else ():
        if key not in known["execution"] and key not in OF_CASE_EXECUTION:
            yield Unmet(
                f"AgentV 5 refuses `execution.{key}` in a test; remove it or change it by hand",
                (*path, "execution", key),
            )
    if kept and case.keys() & {"rubrics", *LISTS} and isinstance(execution, dict) and execution.keys() & {*LISTS}:
        yield Unmet(
            "AgentV 5 reads one list of a test; join the one in `execution` with the other", (*path, "execution")
        )
    if "description" in case and (name := name_criteria(case)) and is_judged(case) and is_suite(document):
        yield Unmet(f"AgentV 5 refuses `{name}` beside `assert`, and `description` is there already", (*path, name))
    yield from _check_variables(path, case)
    yield from _check_templates(document, path, case)


def name_criteria(case: dict[str, Any]) -> str:
    """Return the name under which a test has its `criteria`; empty if it has none."""
    return next((name for name in ("criteria", "expected_outcome") if name in case), "")


def is_judged(case: dict[str, Any]) -> bool:
    """Return whether a test has a list of assertions of its own."""
    execution = case.get("execution")
    lists = execution.keys() & {*LISTS} if isinstance(execution, dict) else set()
    return bool(lists or case.keys() & {"rubrics", *LISTS})


def _check_variables(path: Path, case: dict[str, Any]) -> Iterator[Unmet]:
    given = case.get("vars", {})
    if not isinstance(given, dict):
        yield Unmet("`vars` is not a mapping", (*path, "vars"))
        return
    for old, new in (("input", "input"), ("input_messages", "input"), ("expected_output", "expected_output")):
        if old in case and new in given:
            yield Unmet(f"`vars` has `{new}` too; remove one", (*path, old))


def _check_templates(document: Document, path: Path, case: dict[str, Any]) -> Iterator[Unmet]:
    """Find templates that cannot be escaped: AgentV 5 renders texts of tests with `vars`, AgentV 4 only known names."""
    has_own = bool(case.get("vars"))
    for place in find_rendered(document, path, case):
        if has_own:
            message = "AgentV 5 fills in `{{`, `{%` and `{#` here, and earlier releases only the names in `vars`"
            yield Unmet(f"{message}; write it by hand", place, Part.VALUE)
        elif "prompt" in place:
            yield Unmet("AgentV 5 fills in this prompt before its grader sees it; write it by hand", place, Part.VALUE)
        elif place[-1] in ("criteria", "expected_outcome") and len(place) == len(path) + 1:
            yield Unmet("AgentV 5 may fill in this template; write it by hand", place, Part.VALUE)
        elif not is_suite(document):
            yield Unmet("AgentV 5 fills in templates if the test has `vars`; write it by hand", place, Part.VALUE)


def find_rendered(document: Document, path: Path, case: dict[str, Any]) -> Iterator[Path]:
    """Find the strings of a test that AgentV 5 would change. In a suite for AgentV 5, they are templates already."""
    if is_suite(document) and "prompts" in document.data and "input" not in case:
        return
    names = ["input", "input_messages", "rubrics", "execution", *LISTS]
    if not is_judged(case):
        names += ["criteria", "expected_outcome"]
    for name in names:
        for place, text in find_strings((*path, name), case.get(name)):
            if find_marks(text, has_escapes=has_escapes(case)):
                yield place


def has_escapes(case: dict[str, Any]) -> bool:
    """Return whether what looks like an escape is one; in earlier releases it is a text like any other."""
    return not case.keys() & {"input", "input_messages"}


def _check_assertion(document: Document, path: Path, assertion: dict[str, Any]) -> Iterator[Unmet]:
    kind, place = assertion["type"], (*path, "type")
    if kind in {*SCRIPTS, "script"} and not has_command(assertion):
        yield Unmet(f"AgentV 5 has `script` with `command` for `{kind}`; write one", place)
    elif kind in _RUBRICS:
        yield from _check_fields(path, assertion)
    elif kind in JUDGES and not isinstance(assertion.get("rubrics"), list):
        if "value" not in assertion and not isinstance(find_task(document, path), str):
            yield Unmet(f"AgentV 5 has `llm-rubric` with `value` for `{kind}`, and the test has no `criteria`", place)
    elif kind == "agent_judge":
        entries = assertion.get("rubrics")
        if not isinstance(entries, list) or any(isinstance(each, dict) and "score_ranges" in each for each in entries):
            yield Unmet("AgentV 5 has `agent-rubric` for `agent_judge`, and only for a checklist", place)
    elif kind == "code":
        yield Unmet("AgentV 5 does not know `type: code` and scores it 0; write `script` with `command`", place)
    elif kind == COMPOSITE:
        yield from _check_composite(path, assertion)
    elif instead := _WITHOUT_MIGRATION.get(kind.replace("_", "-")):
        yield Unmet(f"AgentV 5 refuses `type: {kind}`; {instead}", place)


def find_two_labels(path: Path, assertion: dict[str, Any], labels: dict[str, str]) -> Iterator[Unmet]:
    """Find the labels of an assertion that it has under the old name and the new one."""
    for old, new in labels.items():
        if old in assertion and new in assertion:
            yield Unmet(f"`{new}` is there too; remove one", (*path, old))


def has_command(assertion: dict[str, Any]) -> bool:
    """Return whether a grader that is a program has one command, under its new or its old name."""
    commands = [assertion[name] for name in ("script", "command") if name in assertion]
    return len(commands) == 1 and bool(commands[0]) and isinstance(commands[0], str | list)


_RUBRICS = ("llm-rubric", "agent-rubric")


def _check_fields(path: Path, assertion: dict[str, Any]) -> Iterator[Unmet]:
    """Check that the criteria of a rubric are or can be in its `value`."""
    for name in ("criteria", "rubrics"):
        if name in assertion and ("value" in assertion or not (isinstance(assertion[name], list) and assertion[name])):
            yield Unmet(f"AgentV 5 refuses `{name}` in `{assertion['type']}`; write `value`", (*path, name))
    if not assertion.keys() & {"value", "prompt", "criteria", "rubrics"}:
        yield Unmet(f"AgentV 5 skips `{assertion['type']}` without `value`; write one", (*path, "type"))


def _check_composite(path: Path, assertion: dict[str, Any]) -> Iterator[Unmet]:
    """Check that a set of assertions is the plain average of its members, which AgentV 5 has as `assert-set`."""
    aggregator = assertion.get("aggregator")
    if not isinstance(aggregator, dict) or aggregator != {"type": "weighted_average"}:
        told = (
            "AgentV 5 has `assert-set` for `composite`, only with the aggregator `weighted_average` without `weights`"
        )
        yield Unmet(f"{told}; change it by hand", (*path, "aggregator" if "aggregator" in assertion else "type"))
    lists = [name for name in LISTS if name in assertion]
    if len(lists) != 1 or not isinstance(assertion[lists[0]], list):
        yield Unmet(
            "AgentV 5 has `assert-set` for `composite`, with one list of assertions; write one", (*path, "type")
        )
        return
    for at, member in enumerate(assertion[lists[0]]):
        place = (*path, lists[0], at)
        if not isinstance(member, dict) or not isinstance(member.get("name"), str):
            yield Unmet("AgentV 4 skips what has no `name` in a `composite`, and AgentV 5 does not", place, Part.HEAD)
        elif "weight" in member:
            yield Unmet("AgentV 5 counts the `weight` of a member, and AgentV 4 does not", (*place, "weight"))


COMPOSITE = "composite"
_WITHOUT_MIGRATION = {
    "skill-trigger": "its fields have no counterpart there; see `skill-used`",
    "tool-trajectory": "its fields have no counterpart there; see `trajectory:tool-used` and the like",
    "g-eval": "change it by hand",
}


def find_task(document: Document, path: Path) -> Any:
    """Return the `criteria` of the test that an assertion belongs to."""
    owners = [(place, case) for place, case in find_suite_cases(document) if path[: len(place)] == place]
    return next((case.get(name_criteria(case)) for _, case in owners), None)

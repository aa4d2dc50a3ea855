"""Rewrite what is around the rubrics of a suite for AgentV 4: inputs, the target, lists and types of assertions."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rubric_lint.dialects.search.agentv_suites import find_mappings, is_current
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
    CASES,
    LISTS,
    Unmet,
    escape,
    find_assertion_lists,
    find_assertions,
    find_suite_cases,
    is_named,
    is_suite,
    names_in,
)
from rubric_lint.migrate.agentv_5_suite import (
    find_lists_of_tests,
    find_misshapen,
    find_two_labels,
    gather_input,
    has_command,
    is_input,
    is_of_five,
)
from rubric_lint.run.summary import counted
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import find_environment, find_marks, name_variables, unescape
from rubric_lint.text.path import Part, Path, find_strings

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
        kind, criteria = assertion["type"], find_mappings((), assertion.get("value"))
        if kind in _SCRIPTS and not has_command(assertion):
            yield Unmet(f"AgentV 4 has `code-grader` with `command` for `{kind}`; write one", (*path, "type"))
        elif kind == _SET and not _read_tools(assertion):
            yield from _check_set(path, assertion)
        elif kind == "agent-rubric" and any("score_ranges" in each for _, each in criteria):
            told = "the agent of AgentV 5 sees no bands, and the judge of AgentV 4 would; write an `outcome`"
            yield Unmet(told, (*path, "value"))
        elif _is_free(assertion) and find_marks(unescape(assertion.get("value", "")), has_escapes=False):
            told = "AgentV 4 has a `prompt` for this and fills in templates there; write the text"
            yield Unmet(told, (*path, "value"), Part.VALUE)
        yield from find_two_labels(path, assertion, _LABELS)


def _check_suite(document: Document) -> Iterator[Unmet]:
    suite = document.data
    if "prompts" in suite and not is_input(suite["prompts"]):
        told = "AgentV 4 has no `prompts`; each test has its own `input`, so only the prompt `{{ input }}` can go"
        yield Unmet(told, ("prompts",))
    providers = suite.get("providers")
    only = providers[0] if isinstance(providers, list) and len(providers) == 1 else providers
    if providers is not None and ("target" in suite or not isinstance(only, str) or ":" in only):
        yield Unmet("AgentV 4 has one `target`, the name of a provider", ("providers",))
    options = suite.get("evaluate_options")
    if options is not None and not (isinstance(options, dict) and options and options.keys() <= _OPTIONS):
        told = "AgentV 4 has `workers`, `trials` and `budget_usd` in `execution` for this, and nothing for other fields"
        yield Unmet(told, ("evaluate_options",))
    for name in ("threshold", "evaluate_options"):
        if name in suite and "execution" in suite:
            yield Unmet("AgentV 4 reads it from `execution`, with others; move it there", (name,))


def _check_variables(document: Document, path: Path, case: dict[str, Any]) -> Iterator[Unmet]:
    """Check what the variables of a test hold, and that no text is one that only AgentV 5 fills in."""
    given = case.get("vars")
    if not isinstance(given, dict):
        return
    yield from find_lists_of_tests(path, given) if is_of_five(document, case) else ()
    if "input" in case and "input" not in given:
        return
    both = [name for name in _MOVED if name in given and name in case]
    yield from (Unmet(f"`{name}` is there too; remove one", (*path, "vars", name)) for name in both)
    known = {name for name, value in given.items() if name not in _MOVED and isinstance(value, str)}
    for place, text in find_strings((*path, "vars"), {name: given[name] for name in given if name != "input"}):
        is_moved = place[len(path) + 1] in _MOVED
        if known & {*_NAME.findall(text)} if is_moved else find_marks(text, has_escapes=False):
            yield Unmet(_FILLED, place, Part.VALUE)
    for place, text in _find_rendered(path, case):
        if place[len(path)] == "description":  # AgentV 4 does not read it
            continue
        rest = name_variables(text).replace("${{", "")
        if place[len(path)] in ("vars", "criteria"):  # both fill in other variables here, and AgentV 4 escapes none
            rest = _NAME.sub(lambda found: "" if found[1] in known else found[0], rest)
            rest = unescape(rest) if known & {*_NAME.findall(unescape(rest))} else rest
        if find_marks(rest) or find_environment(text) & given.keys():
            yield Unmet(_FILLED, place, Part.VALUE)


_FILLED = "AgentV 5 fills in this template, and AgentV 4 does not; write the text"


def _find_rendered(path: Path, case: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Find the strings of a test that AgentV 5 renders and AgentV 4 does not."""
    for name in ("id", "description", "criteria", "turns", *LISTS):
        yield from find_strings((*path, name), case.get(name))
    yield from find_strings((*path, "vars", "input"), case["vars"].get("input"))


def _is_free(assertion: dict[str, Any]) -> bool:
    """Return whether a judge has one string to judge by, its value or its prompt, which is a prompt in AgentV 4."""
    texts = [assertion[name] for name in ("value", "prompt") if name in assertion]
    is_judge = assertion["type"] in _RUBRICS and "score_ranges" not in assertion
    return is_judge and len(texts) == 1 and isinstance(texts[0], str)


def _read_tools(assertion: dict[str, Any]) -> dict[str, int]:
    """Return how often each tool is to be called, if that is all a set checks; AgentV 4 has a trajectory for it."""
    members, found = assertion.get("assert"), dict[str, int]()
    for member in members if isinstance(members, list) and assertion["type"] == _SET else ():
        value = member.get("value") if isinstance(member, dict) and member.keys() == {"type", "value"} else None
        if not isinstance(value, dict) or value.keys() != {"name", "min"} or member["type"] != "trajectory:tool-used":
            return {}
        name, least = value["name"], value["min"]
        if not isinstance(name, str) or {*"*?"} & {*name} or type(least) is not int or name in found:
            return {}
        found[name] = least
    return found


def _check_set(path: Path, assertion: dict[str, Any]) -> Iterator[Unmet]:
    """Check that a set is the plain average of its members, and that each of them has the name that AgentV 4 needs."""
    for key in assertion:
        if key not in _OF_SETS:
            yield Unmet(f"AgentV 4 has `composite` for `assert-set`, without `{key}`", (*path, key))
    members = assertion.get("assert")
    if not isinstance(members, list) or not members:
        yield Unmet("AgentV 4 skips a `composite` without assertions", (*path, "type"))
        return
    named = [member.get("metric", member.get("name")) if isinstance(member, dict) else None for member in members]
    for at, (member, name) in enumerate(zip(members, named, strict=True)):
        place = (*path, "assert", at)
        if not isinstance(name, str):
            yield Unmet("AgentV 4 skips what has no `name` in a `composite`; give it a `metric`", place, Part.HEAD)
        elif "weight" in member and named.count(name) > 1:
            told = "AgentV 4 finds the `weight` of a member by its name, which another has too"
            yield Unmet(told, (*place, "weight"))


_JUDGED = {"criteria", "expected_output", "assertions", "assert", "turns"}
_SKILLS = ("skill-used", "not-skill-used")
_SET = "assert-set"
_RUBRICS = ("llm-rubric", "agent-rubric")
_OF_SETS = frozenset({"type", "assert", "metric", "name", "weight", "required", "min_score"})


def rename_variables(document: Document) -> Iterator[Intent]:
    """Write the variables of the environment as AgentV 4 does; in what is written for it, they are plain text."""
    cases = list(find_suite_cases(document))
    texts = [found for path, case in cases if is_of_five(document, case) for found in find_strings(path, case)]
    if is_current(document):
        texts += find_strings((), {key: value for key, value in document.data.items() if key != CASES})
    yield from (EscapeText(place, marks="env-4") for place, text in texts if find_marks(text, marks="env-4"))


def write_texts(document: Document) -> Iterator[Intent | Unmet]:
    """Write texts without their escapes, as they are after AgentV 5 has rendered them."""
    places = [
        place
        for path, case in (find_suite_cases(document) if is_suite(document) else ())
        if is_of_five(document, case) and isinstance(case.get("vars"), dict) and case["vars"]
        for place, text in _find_rendered(path, case)
        if unescape(text) != text
    ]
    yield from escape(document, (EscapeText(place, has_escapes=False, marks="escapes") for place in places))


def rename_suite(document: Document) -> Iterator[Intent]:
    """Give the fields of the suite the names of AgentV 4."""
    suite = document.data if is_suite(document) else {}
    if isinstance(suite.get("providers"), list):
        yield UnwrapValue(("providers",))
    options = suite.get("evaluate_options") or {}
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
        if "type" in (owner := document.value(path[:-1])) and _read_tools(owner):
            continue
        is_first = "assertions" not in owner and {*LISTS}.isdisjoint(names_in(owner, "execution"))
        if path[-1] in ("assert", "evaluators") and path[-2:-1] != ("execution",) and is_first:
            yield RenameKey(path, "assertions")
    for path, assertion in find_assertions(document):
        yield from _rename_assertion(path, assertion)


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
    elif _is_free(assertion):
        yield ReplaceValue((*path, "type"), "llm-grader")
        yield from (RenameKey((*path, "value"), "prompt") for name in ("value",) if name in assertion)
    elif tools := _read_tools(assertion):
        yield ReplaceValue((*path, "type"), "tool-trajectory")
        yield InsertField((*path, "type"), "minimums", json.dumps(tools, ensure_ascii=False))
    elif assertion["type"] == _SET:
        yield ReplaceValue((*path, "type"), "composite")
        weights = {}
        members = next(name for name in LISTS if name in assertion)  # that of one with criteria has been renamed
        for at, member in enumerate(assertion[members]):
            if "weight" in member:
                weights[member.get("metric", member.get("name"))] = member["weight"]
                yield RemoveField((*path, members, at, "weight"))
        aggregator = {"type": "weighted_average", **({"weights": weights} if weights else {})}
        yield InsertField((*path, "type"), "aggregator", json.dumps(aggregator, ensure_ascii=False))


def take_variables(document: Document) -> Iterator[Intent]:
    """Take the input and the expected output of each test out of its variables, and write how tools count."""
    for path, assertion in find_assertions(document):
        if assertion["type"] == "tool-trajectory" and "minimums" in assertion and "mode" not in assertion:
            yield InsertField((*path, "type"), "mode", '"any_order"')
    for path, case in find_suite_cases(document):
        given = case.get("vars")
        if isinstance(given, dict) and given and given.keys() <= {*_MOVED}:
            yield Dissolve((*path, "vars"))
        elif isinstance(given, dict) and "input" in given:
            yield MoveField((*path, "vars", "input"), path)


def take_references(document: Document) -> Iterator[Intent]:
    """Take the expected output out of variables that stay, and remove prompts and the members of old sets."""
    for path, assertion in find_assertions(document):
        if assertion["type"] == "tool-trajectory" and "assert" in assertion:
            yield RemoveField((*path, "assert"))
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
    """Find the tests, and the members of sets, that AgentV 4 skips because something was missing before."""
    suite = document.data if is_suite(document) else {}
    for path, case in find_suite_cases(document):
        given = case.get("input")
        is_read = not isinstance(given, list) or (bool(given) and all(isinstance(each, dict) for each in given))
        needed = {
            "`id`": is_named(case),
            "`input`": "input" in case,
            "an `input` that is a string or messages": is_read,
            "an `input` that is one string beside `input_files`": given is None
            or gather_input(suite, case) is not None,
            "`criteria` and `assertions` of its own": case.keys() & _JUDGED,
        }
        missing = next((name for name, is_there in needed.items() if not is_there), "")
        if missing:
            yield Unmet(f"AgentV 4 skips a test without {missing}", path, Part.HEAD)
    for path, assertion in find_assertions(document):
        name = next((name for name in LISTS if assertion["type"] == "composite" and name in assertion), "")
        for at, member in enumerate(assertion[name] if name and isinstance(assertion[name], list) else ()):
            if not isinstance(member, dict) or not isinstance(member.get("name"), str):
                yield Unmet("AgentV 4 skips what has no `name` in a `composite`", (*path, name, at), Part.HEAD)


BEFORE: tuple[Callable[[Document], Iterable[Intent | Unmet]], ...] = (rename_variables, write_texts)
AFTER: tuple[Callable[[Document], Iterable[Intent]], ...] = (
    rename_suite,
    rename_parts,
    take_variables,
    take_references,
)
"""The steps before and after the rubrics are rewritten."""


def list_assumptions(document: Document) -> Iterator[str]:
    """Say what AgentV 4 will read otherwise though it loads: its judges see more of a test."""
    cases = [case for _, case in find_suite_cases(document)]
    if told := sum("expected_output" in names_in(case, "vars") for case in cases):
        yield f"in {counted(told, 'test')}, `expected_output` is no longer in `vars`: judges of AgentV 4 see it"
    if told := sum("description" in case for case in cases):
        tests = counted(told, "test has", "tests have")
        yield f"{tests} a `description`, a label, which AgentV 4 ignores with a warning"
    if told := sum(assertion["type"] == "agent-rubric" for _, assertion in find_assertions(document)):
        graders = counted(told, "grader was", "graders were")
        yield f"{graders} `agent-rubric`: in AgentV 4, an agent judges only if `target` names one"
    told = sum("criteria" in case and "assert" not in case for case in cases)
    if told and is_current(document):
        yield (
            f"{counted(told, 'test has', 'tests have')} `criteria` alone: AgentV 5 asks whether it is met, AgentV 4 "
            "gives a score from 0 to 1 for it"
        )

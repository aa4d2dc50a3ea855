"""Find what of a suite AgentV 5 cannot have, what it skips, and what it reads otherwise."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rubric_lint.formats.agentv.parts import (
    CASE_LISTS,
    OLD_CASES,
    Blocker,
    find_assertion_lists,
    find_assertions,
    find_suite_cases,
    is_suite,
    is_template,
)
from rubric_lint.formats.agentv.releases import RELEASES, list_paths
from rubric_lint.formats.agentv.suites import (
    ASSERTION_LISTS,
    CASES,
    OLD_FIELDS,
    find_mappings,
    find_read,
    is_in_folder,
    look_up,
)
from rubric_lint.formats.agentv.unconvertible import find_unconverted_files, is_named, names_in
from rubric_lint.formats.search.lost_in_suites import find_faulty_templates
from rubric_lint.model.messages import counted, describe, pluralize
from rubric_lint.source.document import Document
from rubric_lint.source.nunjucks import find_marks, find_names, names_environment
from rubric_lint.source.path import Part, Path, find_strings
from rubric_lint.source.values import as_mapping

NEW_NAMES = {**dict.fromkeys(OLD_CASES, CASES), **OLD_FIELDS}
_VARIABLES = {
    "input": "input",
    "input_messages": "input",
    "expected_output": "expected_output",
    "expected_messages": "expected_output",
}
"""The fields of a test that become variables, and their names there."""
_FIVE = RELEASES["agentv-5"]
SCRIPTS = _FIVE.list_replaced("script")
JUDGES = {
    kind: judge
    for judge in _FIVE.criteria_fields
    for kind in _FIVE.list_replaced(judge) - {"rubrics", "rubric"}  # which judge by their own criteria alone
}
"""The types of judges before AgentV 5, each with its successor."""
LABELS = {"name": "metric", "target": "provider"}
_CRITERIA = ("criteria", "expected_outcome")
_LABELS = ("id", "description")
_SHARED = ("input", "input_files")
_OPTIONS = {"workers": "max_concurrency", "budget_usd": "budget_usd", "trials": "repeat"}
_INPUT = re.compile(r"\{\{\s*input\s*\}\}\Z")
_EMPTY_SLOT = re.compile(r"\{\{\s*(?:expected_output|criteria)\s*\}\}")
_PROVIDER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*\Z")


def find_obstacles(document: Document) -> Iterator[Blocker]:
    """Find what of a suite cannot be rewritten for AgentV 5, with its reason; nothing is written then."""
    if is_suite(document):
        yield from _check_suite(document)
        yield from _check_prompts(document)
    yield from _check_shared(document)
    for path, case in find_suite_cases(document):
        for key in case.keys() & NEW_NAMES.keys():
            if NEW_NAMES[key] in case:
                yield Blocker("field-taken", (*path, key), values={"field": NEW_NAMES[key]})
        name = name_criteria(case)
        if name and "description" in case and is_judged(case) and is_suite(document):
            yield Blocker("criteria-and-description", (*path, name), values={"field": name})
        yield from _check_variables(document, path, case)
        yield from _check_templates(document, path, case)
        if "rubrics" in case and not isinstance(case["rubrics"], list):
            yield Blocker("rubrics-no-list", (*path, "rubrics"))
    yield from find_misshapen_lists(document)
    tasks = list_tasks(document)
    for path, assertion in find_assertions(document):
        yield from _check_assertion(path, assertion, find_task(tasks, path))
        for old, new in LABELS.items():
            if old in assertion and new in assertion:
                yield Blocker("field-taken", (*path, old), values={"field": new})


def find_misshapen_lists(document: Document) -> Iterator[Blocker]:
    """Find lists of assertions that are something else, which no release of AgentV loads."""
    own = document.data if is_suite(document) or is_template(document) else {}
    tests = [name for name in CASE_LISTS[:3] if name in own]
    for name in tests[1:]:
        yield Blocker("second-tests", (name,), values={"read": tests[0], "field": name})
    if own:
        yield from _check_lists((), own, "suite")
    for path, case in find_suite_cases(document):
        yield from _check_lists(path, case, "test")
    for path, value in find_assertion_lists(document):
        for place, assertion in find_mappings(path, value):
            if not isinstance(assertion.get("type"), str) and "include" not in assertion:
                yield Blocker("no-type", place, Part.HEAD)


def _check_lists(path: Path, owner: dict[str, Any], kind: str) -> Iterator[Blocker]:
    """Find the lists of assertions of a suite or a test that AgentV does not read next to another one, or never."""
    execution = owner.get("execution")
    values: dict[tuple[str, ...], Any] = {(name,): owner[name] for name in ASSERTION_LISTS if name in owner}
    if isinstance(execution, dict):
        values |= {("execution", name): execution[name] for name in ASSERTION_LISTS if name in execution}
    first = next((place for place in RELEASES["agentv-4"].lists[kind] if isinstance(values.get(place), list)), ())
    for place, value in values.items():
        written = ".".join(place)
        if not isinstance(value, list):
            yield Blocker("no-assertions", (*path, *place), values={"field": written})
        elif place not in list_paths(kind):
            yield Blocker("never-read", (*path, *place), values={"field": written})
        elif first and place != first:
            yield Blocker("second-tests", (*path, *place), values={"read": ".".join(first), "field": written})


def _check_suite(document: Document) -> Iterator[Blocker]:
    suite = document.data
    execution = as_mapping(suite.get("execution"))
    for key in execution.keys() & suite.keys():
        yield Blocker("setting-twice", ("execution", key), values={"field": key})
    options = suite.get("evaluate_options", {})
    for key in execution.keys() & _OPTIONS.keys():
        if not isinstance(options, dict) or _OPTIONS[key] in options or (key == "trials" and options):
            yield Blocker("option-taken", ("execution", key), values={"option": _OPTIONS[key]})
    named: list[Path] = [(key,) for key in ("target", "targets") if key in suite]
    named += [("execution", key) for key in ("target", "targets") if key in execution]
    for path in named:
        value = look_up(suite, path)
        items = value if isinstance(value, list) and path[-1] == "targets" else [value]
        if len(named) > 1 or "providers" in suite:
            yield Blocker("two-providers", path)
        elif not all(isinstance(item, str) and _PROVIDER.match(item) for item in items):
            yield Blocker("provider-settings", path)
        elif len({*items}) < len(items):
            yield Blocker("provider-twice", path)


def _check_shared(document: Document) -> Iterator[Blocker]:
    """Check that the `input` and the files of a suite, and those of its tests, can be put into the input of each."""
    suite = document.data if is_suite(document) else {}
    shared = [name for name in _SHARED if name in suite]
    outside = any(blocker.path[0] in CASE_LISTS for blocker in find_unconverted_files(document))
    for name in shared:
        if outside:
            yield Blocker("input-of-others", (name,), values={"field": name})
    for path, case in find_suite_cases(document):
        if "input_messages" in case and (shared or "input_files" in case):
            yield Blocker("input-messages", (*path, "input_messages"))
        elif "input" in case and gather_input(suite, case) is None:
            yield Blocker("input-apart", (*path, "input"))


def gather_input(suite: dict[str, Any], case: dict[str, Any]) -> list[Any] | None:
    """Return the messages of the suite, if they come before those of a test, and those of the test with its files.

    That is empty if the test has its input alone, and None if AgentV 4 does not read them together either.
    """
    defaults = {} if look_up(case, ("execution", "skip_defaults")) is True else suite
    before, own = defaults.get("input", []), case["input"]
    files = case.get("input_files", defaults.get("input_files", []))
    if not (before or files):
        return []
    if files and isinstance(own, str) and isinstance(files, list):
        parts = [{"type": "file", "value": file} for file in files]
        own = [{"role": "user", "content": [*parts, {"type": "text", "value": own}]}]
    elif files:
        return None
    messages: list[Any] = []
    for value in (before, own):
        if isinstance(value, str):
            messages.append({"role": "user", "content": value})
        elif isinstance(value, list) and all(isinstance(message, dict) for message in value):
            messages += value
        else:
            return None
    return messages


def _check_prompts(document: Document) -> Iterator[Blocker]:
    """Check that one prompt, the input of each test, can serve all tests."""
    suite = document.data
    cases = list(find_suite_cases(document))
    if any({"input", "input_messages"} & case.keys() for _, case in cases):
        for name in CASE_LISTS:
            entries = suite.get(name)
            if not isinstance(entries, list):
                continue
            for at, case in enumerate(entries):
                if isinstance(case, str):
                    yield Blocker("prompts-of-others", (name, at), Part.VALUE)
    if "prompts" in suite and not is_input(suite["prompts"]):
        for path, case in cases:
            for name in ("input", "input_messages"):
                if name in case:
                    yield Blocker("input-and-prompts", (*path, name), values={"field": name})


def name_criteria(case: dict[str, Any]) -> str:
    """Return the name under which a test has its `criteria`; empty if it has none."""
    return next((name for name in _CRITERIA if name in case), "")


def is_judged(case: dict[str, Any]) -> bool:
    """Return whether a test has a list of assertions of its own."""
    execution = case.get("execution")
    lists = execution.keys() & {*ASSERTION_LISTS} if isinstance(execution, dict) else set()
    return bool(lists or case.keys() & {"rubrics", *ASSERTION_LISTS})


def _check_variables(document: Document, path: Path, case: dict[str, Any]) -> Iterator[Blocker]:
    given = case.get("vars", {})
    if not isinstance(given, dict):
        yield Blocker("vars-no-mapping", (*path, "vars"))
        return
    for old, new in _VARIABLES.items():
        if old in case and new in given:
            yield Blocker("variable-taken", (*path, old), values={"variable": new})
        elif new == "input" and old in case and not isinstance(case[old], str | list | dict):
            yield Blocker("input-skipped", (*path, old), Part.VALUE, {"found": describe(case[old], "")})
        elif is_list_of_tests(case.get(old)) and is_suite(document):
            made = "one test for each string" if case[old] else "no test of an empty list"
            yield Blocker("field-makes-tests", (*path, old), Part.VALUE, {"made": made})
    if not _is_of_five(document, case):
        yield from _find_lists_of_tests(path, given)
    outputs = ("expected_output", "expected_messages") if is_suite(document) else ()
    for name in outputs:
        for place, text in find_strings((*path, name), case.get(name)):
            if given.keys() & {*find_names(text)}:
                yield Blocker("filled-by-4", place, Part.VALUE)


def _is_of_five(document: Document, case: dict[str, Any]) -> bool:
    """Return whether a test is written for AgentV 5; in a file of cases, that has an `input` as before."""
    if is_suite(document):
        return has_escapes(case)
    return not case.keys() & {"rubrics", "assertions", "evaluators"}


def is_list_of_tests(value: Any) -> bool:
    """Return whether AgentV 5 makes several tests of a variable, or none."""
    return isinstance(value, list) and (not value or isinstance(value[0], str))


def _find_lists_of_tests(path: Path, variables: dict[str, Any]) -> Iterator[Blocker]:
    """Find the variables of a test by which AgentV 5 makes several tests of it, or none, and AgentV 4 does not."""
    for name, value in variables.items():
        if is_list_of_tests(value):
            made = "one test for each string" if value else "no test of an empty list"
            yield Blocker("variable-makes-tests", (*path, "vars", name), values={"made": made})


def _check_templates(document: Document, path: Path, case: dict[str, Any]) -> Iterator[Blocker]:
    """Find templates that cannot be escaped: AgentV 5 renders texts of tests with `vars`, AgentV 4 only known names."""
    has_own, rendered = bool(case.get("vars")), list(find_rendered(document, path, case))
    if not has_escapes(case):
        for place, text in find_strings(path, case):
            if place not in rendered and names_environment(text):
                yield Blocker("environment", place, Part.VALUE)
    for place in rendered:
        if place[len(path)] in _LABELS or (place[len(path)] in _CRITERIA and is_judged(case)):
            continue  # no judge sees it, and it is escaped
        if has_own and "prompt" not in place:  # AgentV 4 fills in no variables of the test there
            yield Blocker("filled-by-5", place, Part.VALUE)


def is_filled_alike(case: dict[str, Any], field: str, text: str) -> bool:
    """Return whether both releases fill in a text alike: all that AgentV 5 would fill in are names of plain texts."""
    values = as_mapping(case.get("vars"))
    if field not in _FILLED or not all(isinstance(values.get(name), str) for name in find_names(text)):
        return False
    return not find_marks(_SLOT.sub("", text))


_SLOT = re.compile(r"\{\{\s*\w+\s*\}\}")
_FILLED = frozenset({"input", "input_messages", *_CRITERIA})
"""The fields of a test in which AgentV 4 fills in its variables."""


def list_rendered(suite: Mapping[str, Any], case: dict[str, Any]) -> list[str]:
    """Return the fields of a test, of a suite if it is in one, whose strings AgentV 5 renders and no other release."""
    if suite and "prompts" in suite and "input" not in case:
        return []
    if suite and not case.keys() & {"vars", "input", "expected_output", *NEW_NAMES}:
        return []
    fields = ("input", "input_messages", "rubrics", "execution", "turns", *ASSERTION_LISTS, *_CRITERIA, *_LABELS)
    return [name for name in fields if name in case]


def find_rendered(document: Document, path: Path, case: dict[str, Any]) -> Iterator[Path]:
    """Find the strings of a test that AgentV 5 would change. In a suite for AgentV 5, they are templates already.

    It renders none of a test without variables, such as one that has neither an input nor an expected output.
    """
    suite = document.data if is_suite(document) else {}
    for name in list_rendered(suite, case):
        for place, text in find_strings((*path, name), case[name]):
            if find_marks(text, has_escapes=has_escapes(case)) and not is_filled_alike(case, name, text):
                yield place


def has_escapes(case: dict[str, Any]) -> bool:
    """Return whether what looks like an escape is one; in earlier releases it is a text like any other."""
    return not case.keys() & {"input", "input_messages"}


def _check_assertion(path: Path, assertion: dict[str, Any], task: Any) -> Iterator[Blocker]:
    kind, place = assertion["type"], (*path, "type")
    if kind in JUDGES:
        yield from _check_judge(path, assertion, task)
    elif kind in {*SCRIPTS, "script"} and not has_command(assertion):
        yield Blocker("no-command", place, values={"release": "AgentV 5", "new": "script", "type": kind})
    elif kind == COMPOSITE:
        yield from _check_composite(path, assertion)
    elif kind == SKILL:
        has_name = isinstance(assertion.get("skill"), str)
        if not has_name or not isinstance(assertion.get("should_trigger", True), bool):
            yield Blocker("skill", place)
    # AgentV 4 ignores these in a grader, and AgentV 5 reads them in its successor.
    plain = kind.replace("_", "-")
    before, after = RELEASES["agentv-4"].types, _FIVE.types
    new = [schema for schema in after.values() if plain in before and plain in schema.get("x-written-for", ())]
    for key in assertion.keys() & find_read(*new[:1]) - find_read(before.get(plain, {})) - {*LABELS.values()}:
        yield Blocker("read-by-5", (*path, key), values={"field": key, "type": plain})


def _check_judge(path: Path, assertion: dict[str, Any], task: Any) -> Iterator[Blocker]:
    """Check the prompt of a judge, and that it has something to judge by."""
    kind, prompt = assertion["type"], assertion.get("prompt")
    slot = _EMPTY_SLOT.search(prompt) if isinstance(prompt, str) else None
    if slot:
        yield Blocker("empty-slot", (*path, "prompt"), Part.VALUE, {"slot": slot[0]})
    elif isinstance(prompt, list) or (isinstance(prompt, dict) and "command" not in prompt):
        yield Blocker("program-as-text", (*path, "prompt"), Part.VALUE)
    if needs_value(assertion) and not isinstance(assertion.get("rubrics"), list) and not isinstance(task, str):
        yield Blocker("judge-without-value", (*path, "type"), values={"new": JUDGES[kind], "type": kind})


def needs_value(assertion: dict[str, Any]) -> bool:
    """Return whether a free judge has nothing to judge by but the `criteria` of its test."""
    return "value" not in assertion and not isinstance(assertion.get("prompt"), str)


def has_command(assertion: dict[str, Any]) -> bool:
    """Return whether a grader that is a program has one command, under its new or its old name."""
    commands = [assertion[name] for name in ("script", "command") if name in assertion]
    return len(commands) == 1 and bool(commands[0]) and isinstance(commands[0], str | list)


def _check_composite(path: Path, assertion: dict[str, Any]) -> Iterator[Blocker]:
    """Check that a set of assertions is the plain average of its members, which AgentV 5 has as `assert-set`."""
    aggregator = as_mapping(assertion.get("aggregator"))
    weights = aggregator.get("weights", {})
    is_weighed = isinstance(weights, dict) and all(type(weight) in (int, float) for weight in weights.values())
    if not is_weighed or {**aggregator, "weights": 0} != {"type": "weighted_average", "weights": 0}:
        field = "aggregator" if "aggregator" in assertion else "type"
        yield Blocker("aggregator", (*path, field))
    lists = [name for name in ASSERTION_LISTS if name in assertion]
    if len(lists) != 1 or not isinstance(assertion[lists[0]], list):
        yield Blocker("set-of-one-list", (*path, "type"))
        return
    for at, member in enumerate(assertion[lists[0]]):
        place = (*path, lists[0], at)
        if not isinstance(member, dict) or not isinstance(member.get("name"), str):
            yield Blocker("member-without-name-in-5", place, Part.HEAD)
        elif "weight" in member:
            yield Blocker("weight-of-member", (*place, "weight"))


COMPOSITE = "composite"
SKILL = "skill-trigger"
TRAJECTORIES = ("tool-trajectory", "tool_trajectory")
_TOOL_USED = "trajectory:tool-used"
_SHELLS = frozenset({"exec_command", "local_shell", "shell"})


def list_tasks(document: Document) -> dict[Path, Any]:
    """Return the `criteria` of each test by its path."""
    return {path: case.get(name_criteria(case)) for path, case in find_suite_cases(document)}


def find_task(tasks: Mapping[Path, Any], path: Path) -> Any:
    """Return the `criteria` of the test that an assertion belongs to; None if it belongs to none."""
    for length in range(len(path) + 1):
        if path[:length] in tasks:
            return tasks[path[:length]]
    return None


def read_trajectory(assertion: dict[str, Any]) -> tuple[str, str, Any] | None:
    """Return the type for a trajectory of tools, and the field that holds them; None if AgentV 5 has none for it.

    A set of `trajectory:tool-used` has the score that AgentV 4 gives `any_order`: the share of tools that were called.
    """
    mode, minimums, steps = assertion.get("mode"), assertion.get("minimums"), assertion.get("expected")
    if "args_match" in assertion or (minimums is not None and steps is not None):
        return None
    if mode == "any_order" and isinstance(minimums, dict):
        tools = [{"type": _TOOL_USED, "value": {"name": tool, "min": count}} for tool, count in minimums.items()]
        names: list[Any] = list(minimums)
        new: tuple[str, str, Any] = ("assert-set", "assert", tools)
    elif mode in ("in_order", "exact") and isinstance(steps, list):
        names = [step["tool"] if isinstance(step, dict) and step.keys() == {"tool"} else None for step in steps]
        new = ("trajectory:tool-sequence", "value", {"mode": mode, "steps": names})
    else:
        return None
    # AgentV 5 takes a name for a pattern, and calls of a shell for commands.
    is_plain = all(isinstance(name, str) and name and not {*"*?"} & {*name} for name in names)
    return new if names and is_plain and not _SHELLS & {name.lower() for name in names} else None


def find_gaps(document: Document) -> Iterator[Blocker]:
    """Find the tests that AgentV 5 does not run because something was missing before, and what it cannot render."""
    if is_suite(document):
        for fault in find_faulty_templates(document):
            if fault.code == "agentv-template":
                yield Blocker("template", fault.path, Part.VALUE, {"tag": fault.values["tag"]})
    suite = document.data if is_suite(document) else {}
    is_shared = not suite or isinstance(suite.get("default_test"), str)
    is_shared = is_shared or bool(suite.get("assert") or look_up(suite, ("default_test", "assert")))
    for path, case in find_suite_cases(document):
        if "include" in case:
            continue  # the tests of another suite
        if not is_named(case) and not is_in_folder(document):
            yield Blocker("test-without", path, Part.HEAD, {"release": "AgentV 5", "missing": "`id`"})
        is_asked = "prompts" in suite and not is_input(suite["prompts"])
        if suite and not is_asked and "input" not in case and "input" not in names_in(case, "vars"):
            yield Blocker("no-input", path, Part.HEAD)
        elif not (is_shared or case.keys() & {"criteria", "assert", "turns"}):
            advice = ""
            if "expected_output" in names_in(case, "vars"):
                advice = "; compare with `{{ expected_output }}` in the `value` of an `llm-rubric`"
            values = {"release": "AgentV 5", "missing": f"`criteria` and `assert`{advice}"}
            yield Blocker("test-without", path, Part.HEAD, values)


def is_input(prompts: Any) -> bool:
    """Return whether the only prompt of a suite is the input of each test."""
    only = prompts[0] if isinstance(prompts, list) and len(prompts) == 1 else prompts
    return isinstance(only, str) and _INPUT.match(only.strip()) is not None


_Message = tuple[str, dict[str, object]]
"""The code of a message, and the values in it."""


def list_assumptions(document: Document) -> Iterator[_Message]:
    """List the parts of a suite that AgentV 5 loads and reads otherwise, so that judges see less of a test."""
    cases = [case for _, case in find_suite_cases(document)]
    yield from _list_graders(document, cases)
    if not is_suite(document):
        return
    described = [case for case in cases if name_criteria(case) and is_judged(case)]
    if described:
        yield "criteria-unseen", {"tests": counted(len(described), "test")}
    expecting = [case for case in cases if case.keys() & {"expected_output", "expected_messages"}]
    if expecting:
        yield "expected-unseen", {"tests": counted(len(expecting), "test")}
    if any(look_up(document.data, place) for place in (("target",), ("execution", "target"), ("targets",))):
        yield "providers", {}


def _list_graders(document: Document, cases: list[dict[str, Any]]) -> Iterator[_Message]:
    """Return which graders AgentV 5 has otherwise."""
    suite = document.data if is_suite(document) else {}
    bare = [case for case in cases if name_criteria(case) and not is_judged(case) and "turns" not in case]
    if bare and "prompts" not in suite and not is_judged(suite):
        yield "criteria-alone", {"tests": counted(len(bare), "test has", "tests have")}
    assertions = [assertion for _, assertion in find_assertions(document)]
    old_members = sum(_count_old_members(assertion) for assertion in assertions if assertion["type"] == COMPOSITE)
    if old_members:
        have = pluralize(old_members, "has an old type", "have old types")
        yield "old-members", {"members": counted(old_members, "member"), "have": have}
    scripts = [assertion for assertion in assertions if assertion["type"] in SCRIPTS]
    if scripts:
        yield "scripts", {"graders": _count_graders(scripts)}
    skills = [assertion for assertion in assertions if assertion["type"] == SKILL]
    if skills:
        yield "skills", {"graders": _count_graders(skills)}
    trajectories = [assertion for assertion in assertions if assertion["type"] in TRAJECTORIES]
    sequences = [assertion for assertion in trajectories if assertion.get("mode") != "any_order"]
    if sequences:
        yield "sequences", {"graders": _count_graders(sequences)}


def _count_graders(graders: list[dict[str, Any]]) -> str:
    return counted(len(graders), "grader is", "graders are")


def _count_old_members(composite: dict[str, Any]) -> int:
    """Return how many members of a composite have a type that AgentV 4 does not read."""
    known = RELEASES["agentv-4"].types
    kinds: list[Any] = []
    for name in ASSERTION_LISTS:
        kinds += [member.get("type") for _, member in find_mappings((), composite.get(name))]
    return len([kind for kind in kinds if kind not in known])

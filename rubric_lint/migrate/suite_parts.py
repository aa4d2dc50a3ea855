"""Find the cases and the lists of assertions of AgentV suites of any release, to rewrite what is around rubrics."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from rubric_lint.dialects.search.agentv_suites import EVAL_FILES, TEMPLATES, is_current
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path

CASES = "tests"
OLD_CASES = ("evalcases", "eval_cases", "cases")
LISTS = ("assertions", "assert", "evaluators")


class Unmet(NamedTuple):
    """Something that the target cannot express: the reason, and the place."""

    reason: str
    path: Path
    part: Part = Part.KEY


def is_suite(document: Document) -> bool:
    """Return whether a document is a suite with its cases, not a file of cases for one."""
    return isinstance(document.data, dict) and any(name in document.data for name in (CASES, *OLD_CASES, "scenarios"))


def is_template(document: Document) -> bool:
    """Return whether a document has only a list of assertions, as a template that suites include."""
    is_row = document.source.name.lower().endswith(".jsonl")
    return (
        isinstance(document.data, dict) and bool(document.data.keys() & {*LISTS}) and not (is_suite(document) or is_row)
    )


def is_of_agentv(document: Document) -> bool:
    """Return whether a suite is AgentV's, whatever it is judged by: its name, its fields or a whole case show it.

    A template is by its folder, and a file of cases by a whole case with assertions.
    """
    if not is_suite(document):
        rows = [case for _, case in find_suite_cases(document)]
        is_row = any(case.keys() >= {"id", "input"} and case.keys() & {"rubrics", *LISTS} for case in rows)
        is_row = is_row or any("id" in case and case.keys() & _NOT_OF_PROMPTFOO for case in rows)
        return is_row or (is_template(document) and TEMPLATES in document.source.name.replace("\\", "/").lower())
    if "defaultTest" in document.data:
        return False
    is_old = any(isinstance(document.data.get(name), list) for name in OLD_CASES[:2])
    cases = [case for _, case in find_suite_cases(document)]
    is_whole = any(
        case.keys() >= {"id", "input"} and case.keys() & (_NOT_OF_PROMPTFOO if "vars" in case else _JUDGED)
        for case in cases
    )
    return is_old or is_whole or document.source.name.lower().endswith(EVAL_FILES) or is_current(document)


_NOT_OF_PROMPTFOO = {"assertions", "evaluators"}
_JUDGED = {"criteria", "expected_output", *LISTS}


def is_named(case: dict[str, Any]) -> bool:
    """Return whether a test has the `id` without which AgentV skips it: a string that is not empty."""
    return isinstance(case.get("id"), str) and case["id"] != ""


def find_suite_cases(document: Document) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Find the cases of a suite, or of a file of cases: a list of them, or one JSON Lines record each."""
    data = document.data
    if isinstance(data, list):
        yield from find_mappings((), data)
    elif is_suite(document):
        for name in (CASES, *OLD_CASES):
            yield from find_mappings((name,), data.get(name))
    elif isinstance(data, dict) and document.source.name.lower().endswith(".jsonl"):
        yield (), data


def find_assertion_lists(document: Document) -> Iterator[tuple[Path, list[Any]]]:
    """Find the lists of assertions of a suite or a template, of cases and their turns, and those of sets in them."""
    owners: list[tuple[Path, dict[str, Any]]] = []
    if is_suite(document) or is_template(document):
        owners.append(((), document.data))
    for path, case in find_suite_cases(document):
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


def find_assertions(document: Document) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Find all assertions that are mappings with a type."""
    for path, value in find_assertion_lists(document):
        for place, assertion in find_mappings(path, value):
            if isinstance(assertion.get("type"), str):
                yield place, assertion


def find_mappings(path: Path, value: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Find the mappings in a list."""
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield (*path, index), item


def find_strings(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    """Find all strings in a value."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from find_strings((*path, step), item)


def find_other_files(document: Document) -> Iterator[Unmet]:
    """Find the cases and assertions that are in other files, of which nothing is rewritten."""
    data = document.data
    if is_suite(document):
        for name in (CASES, *OLD_CASES):
            value = data.get(name)
            named = [((name, at), case) for at, case in enumerate(value)] if isinstance(value, list) else []
            for path, text in [((name,), value), *named]:
                if isinstance(text, str):
                    yield Unmet(f"the cases in `{text}` are not rewritten; run this on that file too", path, Part.VALUE)
        if isinstance(defaults := data.get("default_test"), str):
            told = f"the assertions in `{defaults}` are not rewritten; run this on that file too"
            yield Unmet(told, ("default_test",), Part.VALUE)
    for path, value in find_assertion_lists(document):
        for place, assertion in find_mappings(path, value):
            if isinstance(template := assertion.get("include"), str):
                told = f"the assertions of the template `{template}` are not rewritten; run this on its file too"
                yield Unmet(told, (*place, "include"), Part.VALUE)

"""Report criteria of AgentV 5 that Nunjucks cannot render, or in which it leaves words out."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.dialects.search.agentv_suites import find_cases
from rubric_lint.finding import EscapeText, Problem, Repair
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import find_broken, find_names
from rubric_lint.text.path import Path


def find_faulty_templates(document: Document) -> Iterator[Problem]:
    """Find the texts of criteria that AgentV 5 cannot render, or renders without a word that they ask for.

    It renders the assertions of a test as soon as the test has variables, and only those.
    """
    suite = document.data if isinstance(document.data, dict) else {}
    shared = _read_names(suite) | _read_names(suite.get("default_test"))
    for path, case in find_cases(document):
        if (
            path[:1] == ("scenarios",)
            or isinstance(suite.get("default_test"), str)
            or not (own := _read_names(case) | shared)
        ):
            continue
        for place, text in _find_texts(path, case):
            if tag := find_broken(text):
                yield Problem("agentv-template", place, values={"tag": tag}, repair=_escape(place))
            elif missing := [name for name in find_names(text) if name not in own | _find_given(place)]:
                yield Problem("agentv-variable", place, values={"name": missing[0]}, repair=_escape(place))


_GIVEN = frozenset(
    {"env", "input", "output", "expected_output", "criteria", "metadata", "metadata_json", "rubrics", "rubrics_json"}
    | {"file_changes", "tool_calls", "vars", "context", "provider", "question", "answer"}
)
"""Names that AgentV or its judge may fill in, whatever the variables of a test are."""


def _find_given(place: Path) -> frozenset[str]:
    """Return the names that something fills in later; those of a prompt are gone before its judge sees it."""
    return frozenset({"env"}) if place[-1] == "prompt" else _GIVEN


def _escape(path: Path) -> Repair:
    return Repair("escape the text, so that the judge sees it as it is", (EscapeText(path),), safe=False)


def _read_names(owner: Any) -> frozenset[str]:
    given = owner.get("vars") if isinstance(owner, dict) else None
    return frozenset(map(str, given)) if isinstance(given, dict) else frozenset()


def _find_texts(path: Path, case: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Find the strings by which a model judges a test: those among its assertions, and in the values of rubrics."""
    held = case if "assert" in case else case.get("execution")
    entries = held.get("assert") if isinstance(held, dict) else None
    start = (*path, "assert") if held is case else (*path, "execution", "assert")
    yield from _find_in_list(start, entries)


def _find_in_list(path: Path, entries: Any) -> Iterator[tuple[Path, str]]:
    for at, entry in enumerate(entries if isinstance(entries, list) else ()):
        place = (*path, at)
        if isinstance(entry, str):
            yield place, entry
        elif isinstance(entry, dict) and entry.get("type") in ("llm-rubric", "agent-rubric"):
            for name in ("value", "score_ranges", "prompt"):
                yield from _find_strings((*place, name), entry.get(name))
        elif isinstance(entry, dict) and entry.get("type") == "assert-set":
            yield from _find_in_list((*place, "assert"), entry.get("assert"))


def _find_strings(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _find_strings((*path, step), item)

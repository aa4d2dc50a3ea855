"""Report criteria in AgentV suites that AgentV skips, drops or refuses, each with what to write instead."""

from collections.abc import Iterable, Iterator
from typing import Any

from rubric_lint.dialects.agentv import CONTAINERS, find_assertions
from rubric_lint.dialects.search.agentv_suites import (
    EVALUATORS,
    LISTS_OF_A_CASE,
    find_cases,
    is_current,
    is_of_agentv,
    speaks,
)
from rubric_lint.edits.intents import EscapeText, Repair
from rubric_lint.finding import Problem
from rubric_lint.format.recognition import FIELD
from rubric_lint.format.repairs import rename_fields
from rubric_lint.format.view import View
from rubric_lint.messages import find_near
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import find_broken, find_names
from rubric_lint.text.path import Part, Path


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
                message = (
                    f"AgentV 5 renders this text with Nunjucks and fails at `{tag}`, so it does not load the suite"
                )
                yield Problem(f"{message}; close the tag, or escape it", place, repair=_escape(place))
            elif missing := [name for name in find_names(text) if name not in own | _find_given(place)]:
                message = f"AgentV 5 writes nothing in place of `{missing[0]}`, which is not in `vars`"
                yield Problem(f"{message}; add it there, or escape the text", place, repair=_escape(place))


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
                yield from _walk_strings((*place, name), entry.get(name))
        elif isinstance(entry, dict) and entry.get("type") == "assert-set":
            yield from _find_in_list((*place, "assert"), entry.get("assert"))


def _walk_strings(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _walk_strings((*path, step), item)


def find_lost_in_agentv(document: Document, views: list[View], taken: set[Path]) -> Iterator[Problem]:
    """Find what AgentV does not read of a suite: `views` are its rubrics, `taken` the paths of all rubrics."""
    is_last = is_current(document)
    names = {view.dialect.name for view in views}
    told: set[Path] = set()
    for problem in (
        *(each for view in views for each in _find_misplaced(document, view.path, is_last=is_last)),
        *_find_empty(document, {path[:-1] for path in taken} | taken),
        *_find_ignored(document),
        *(_find_refused(document) if is_last else ()),
        *(find_faulty_templates(document) if is_last or "agentv-a7" in names else ()),
        *(_find_unread_lists(document, taken, views) if not is_last else ()),
        *(_find_skipped(document, is_late="agentv-a6" in names) if not is_last else ()),
        *(_find_dropped(document, taken) if not is_last else ()),
        *_find_elsewhere(document, is_last=is_last),
        *_find_in_turns(document),
    ):
        if problem.path not in told:
            told.add(problem.path)
            yield problem


def _find_misplaced(document: Document, path: Path, *, is_last: bool) -> Iterator[Problem]:
    """Find criteria of an assertion in a field that AgentV does not read."""
    assertion, field = document.value(path[:-1]), path[-1]
    kind = assertion.get("type") if isinstance(assertion, dict) else None
    wanted = CONTAINERS.get(kind) if isinstance(kind, str) else None
    if field == FIELD and not isinstance(kind, str) and is_last and path[-3:-2] == ("tests",):
        message = f"AgentV 5 does not read `{FIELD}` of a test; move it into `assert`, as `value` of an `llm-rubric`"
        yield Problem(message, path, Part.KEY)
    if wanted is None or field in {wanted, "assert", "assertions"}:
        return
    loss = f"skips a test that has them in `{field}`" if wanted == "value" else f"never from `{field}`"
    message = f"AgentV reads the criteria of `type: {kind}` from `{wanted}`, and {loss}"
    if wanted in assertion:
        yield Problem(f"{message}; both are there, so join them", path, Part.KEY)
    else:
        yield Problem(f"{message}; rename it", path, Part.KEY, repair=rename_fields([(path, wanted)]))


def _find_empty(document: Document, taken: set[Path]) -> Iterator[Problem]:
    """Find assertions whose type needs criteria but whose field for them is missing or empty."""
    for path, assertion in find_assertions(document):
        kind = assertion["type"]
        wanted = CONTAINERS[kind]
        if path in taken or FIELD in assertion:
            continue
        if wanted in assertion:
            if assertion[wanted] in (None, [], ""):
                message = f"`{wanted}` of `{kind}` is empty, so nothing is judged by it; list its criteria"
                yield Problem(message, (*path, wanted), Part.KEY)
        elif near := [key for key in assertion if find_near(key, (wanted,))]:
            message = f"`{near[0]}` is not read; did you mean `{wanted}`?"
            yield Problem(message, (*path, near[0]), Part.KEY, repair=rename_fields([((*path, near[0]), wanted)]))
        elif wanted != "value":
            message = f"`{kind}` has no `{wanted}`, so nothing is judged by it; list its criteria there"
            yield Problem(message, (*path, "type"), keyword="dependencies")


def _find_ignored(document: Document) -> Iterator[Problem]:
    """Find forms of `value` that AgentV 5 takes for something other than what they say."""
    for path, assertion in find_assertions(document):
        value, place = assertion.get("value"), (*path, "value")
        if CONTAINERS[assertion["type"]] != "value" or not is_of_agentv(document, path):
            continue
        if isinstance(value, list):
            names = [(*place, at, "criteria") for at, entry in enumerate(value) if _has_criteria_alone(entry)]
            if names and len(names) == len(value):
                message = "AgentV takes a list of `criteria` alone as one value, not as criteria; write `outcome`"
                yield Problem(message, names[0], Part.KEY, repair=rename_fields([(name, "outcome") for name in names]))
            if "score_ranges" in assertion:
                message = "AgentV ignores `score_ranges` beside a list of criteria; move it into a criterion"
                yield Problem(message, (*path, "score_ranges"), Part.KEY)
        elif isinstance(value, dict) and "id" in value and (other := [name for name in _TAKEN if name in value]):
            message = (
                f"AgentV takes `{other[0]}` of this mapping and drops its `id`"
                f"{' and `outcome`' if 'outcome' in value else ''}; write a list of criteria"
            )
            yield Problem(message, (*place, other[0]), Part.KEY)


_TAKEN = ("criteria", "rubrics")


def _has_criteria_alone(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.keys() == {"criteria"}


def _find_refused(document: Document) -> Iterator[Problem]:
    """Find lists and types of assertions that AgentV 5 refuses, in a suite for AgentV 5."""
    for path, assertion in document.mappings:
        kind = assertion.get("type")
        if len(path) < 2 or path[-2] not in EVALUATORS or not isinstance(kind, str):
            continue
        held = _REFUSED.get(kind)
        if held is not None and any(isinstance(assertion.get(name), list) for name in (*held, "value")):
            yield Problem(f"AgentV 5 refuses `type: {kind}`; write `llm-rubric` with `value`", (*path, "type"))
    for path, case in (((), document.data), *find_cases(document)):
        for name in ("assertions", "evaluators"):
            if isinstance(case.get(name), list) and case[name] and "id" in (case if path else {"id": ""}):
                wanted = "" if "assert" in case else "assert"
                repair = rename_fields([((*path, name), wanted)]) if wanted else None
                yield Problem(f"AgentV 5 refuses `{name}`; write `assert`", (*path, name), Part.KEY, repair=repair)
        turns = case.get("turns") if path else None
        for at, turn in enumerate(turns if isinstance(turns, list) else ()):
            if isinstance(turn, dict) and turn.get("assertions") and "assert" not in turn:
                place = (*path, "turns", at, "assertions")
                message = "AgentV 5 does not read `assertions` of a turn; write `assert`"
                yield Problem(message, place, Part.KEY, repair=rename_fields([(place, "assert")]))


_REFUSED = {
    "rubrics": ("criteria",),
    "rubric": (FIELD,),
    "llm-grader": (FIELD,),
    "llm_grader": (FIELD,),
    "llm_judge": (FIELD,),
}


def _find_skipped(document: Document, *, is_late: bool) -> Iterator[Problem]:
    """Find what AgentV 3 and 4 skip: strings in a grader's list, and graders with the names of earlier releases."""
    for path, assertion in document.mappings:
        kind = assertion.get("type")
        if len(path) < 2 or path[-2] not in EVALUATORS or not isinstance(kind, str):
            continue
        entries = assertion.get(FIELD)
        if kind in _SKIP_STRINGS and isinstance(entries, list) and any(isinstance(entry, dict) for entry in entries):
            for at, entry in enumerate(entries):
                if isinstance(entry, str):
                    message = f"AgentV 4 skips strings in the `{FIELD}` of `{kind}`; write a mapping with `outcome`"
                    yield Problem(message, (*path, FIELD, at), Part.ENTRY)
        if is_late and kind in _UNKNOWN and isinstance(entries, list):
            yield Problem(f"AgentV 4 {_UNKNOWN[kind]}, so its criteria are lost; write `llm-grader`", (*path, "type"))
        if kind == "composite":
            yield from _find_strings(path, assertion.get("assertions"))


def _find_dropped(document: Document, taken: set[Path]) -> Iterator[Problem]:
    """Find criteria among the `rubrics` of a test without the only text that AgentV reads there, `outcome`."""
    for path, case in find_cases(document):
        entries = case.get(FIELD) if (*path, FIELD) in taken else None
        for at, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and "criteria" in entry and not entry.keys() & {"outcome", "score_ranges"}:
                place = (*path, FIELD, at, "criteria")
                message = f"AgentV drops a criterion with `criteria` from `{FIELD}` of a test; write `outcome`"
                yield Problem(message, place, Part.KEY, repair=rename_fields([(place, "outcome")]))


_SKIP_STRINGS = frozenset({"rubric", "llm-grader", "llm_grader"})
_UNKNOWN = {"llm_judge": "skips `llm_judge`", "agent_judge": "does not know `agent_judge` and scores it 0"}


def _find_strings(path: Path, members: Any) -> Iterator[Problem]:
    for at, member in enumerate(members if isinstance(members, list) else ()):
        if isinstance(member, str):
            message = "AgentV 4 skips strings in a `composite`; write `type: rubrics` with `criteria`"
            yield Problem(message, (*path, "assertions", at), Part.ENTRY)


def _find_unread_lists(document: Document, taken: set[Path], views: list[View]) -> Iterator[Problem]:
    """Find the lists that AgentV 4 does not read: `evaluators` of a suite, and all but the first list of a case."""
    name = "evaluators"
    if any(view.path[:1] == (name,) for view in views) and next(find_cases(document), None):
        message = f"AgentV reads no `{name}` of a suite, so the criteria here are lost; write `assertions`"
        yield Problem(message, (name,), Part.KEY)
    for path, case in find_cases(document):
        first = ""
        for steps in LISTS_OF_A_CASE[:-1]:
            value: Any = case
            for step in steps:
                value = value.get(step) if isinstance(value, dict) else None
            if value is None:
                continue
            place = (*path, *steps)
            if first and _holds_rubrics(place, value, taken):
                message = f"AgentV reads only `{first}` of this test, so the criteria here are lost; join the two lists"
                yield Problem(message, place, Part.KEY)
            first = first or steps[-1]


def _holds_rubrics(path: Path, value: Any, taken: Iterable[Path]) -> bool:
    is_text_list = isinstance(value, list) and any(isinstance(entry, str) for entry in value)
    return is_text_list or any(each[: len(path)] == path for each in taken)


def _find_elsewhere(document: Document, *, is_last: bool) -> Iterator[Problem]:
    """Find criteria of a test in a field that AgentV does not read."""
    for path, case in find_cases(document):
        for name, value in case.items() if FIELD not in case else ():
            if (
                isinstance(value, list)
                and name not in EVALUATORS
                and speaks(value, is_free=False)
                and not find_near(name, (FIELD,))
            ):
                wanted = "move it into `assert`, as `value` of an `llm-rubric`" if is_last else "rename it to `rubrics`"
                repair = None if is_last else rename_fields([((*path, name), FIELD)])
                message = f"AgentV does not read criteria of a test from `{name}`; {wanted}"
                yield Problem(message, (*path, name), Part.KEY, repair=repair)


def _find_in_turns(document: Document) -> Iterator[Problem]:
    """Find assertions of a turn that AgentV does not parse: all but strings."""
    for path, case in find_cases(document):
        turns = case.get("turns")
        for number, turn in enumerate(turns if isinstance(turns, list) else ()):
            for name in ("assertions", "assert"):
                entries = turn.get(name) if isinstance(turn, dict) else None
                for at, entry in enumerate(entries if isinstance(entries, list) else ()):
                    if isinstance(entry, dict) and CONTAINERS.get(str(entry.get("type"))) in entry:
                        message = "AgentV reads only strings as criteria of a turn and scores this 0; write strings"
                        yield Problem(message, (*path, "turns", number, name, at, "type"))

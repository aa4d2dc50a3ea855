"""Find rubrics of other systems in known forms that are not linted, to report them as skipped."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.dialects.search.agentv_suites import find_cases, is_current, is_of_agentv, load_tables
from rubric_lint.dialects.search.agentv_suites import find_unread as find_unread_fields
from rubric_lint.messages import describe, find_near, shorten
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path

_LISTS = ("assertions", "assert")
_EVALUATORS = (*_LISTS, "evaluators")
_JUDGED = ("llm-rubric", "agent-rubric", "g-eval", "model-graded-closedqa", "factuality")
_JUDGES = frozenset({*_JUDGED, *(f"not-{kind}" for kind in _JUDGED)})
_MOVE = "put it in the `assert` of an entry of `tests`"
_TEMPLATES = "assertionTemplates"  # promptfoo puts them where a `$ref` names them
_ENTRY_FIELDS = frozenset({"outcome", "expected_outcome", "criteria", "score_ranges"})


def find_unread(document: Document, taken: set[Path], *, of_agentv: bool) -> Iterator[tuple[Path, str]]:
    """Find the rubrics of AgentV, promptfoo and OpenAI that are not among the paths `taken`, each with a message.

    With `of_agentv`, the file has rubrics of AgentV, so strings among its assertions are criteria anywhere.
    """
    for path, mapping in document.mappings:
        if mapping.get("type") == "multi" and any(place[: len(path) + 1] == (*path, "graders") for place in taken):
            message = (
                "each grader is a rubric of its own here, and `calculate_output`, which joins their scores, is not"
            )
            yield (*path, "calculate_output"), f"{message} read"
        if len(path) > 1 and path[-2] in (*_EVALUATORS, _TEMPLATES):
            yield from _find_value(path, mapping, taken, of_agentv=is_of_agentv(document, path))
        for name in _LISTS:
            value = mapping.get(name)
            if (*path, name) not in taken and isinstance(value, list):
                yield from _find_texts(path, name, value, mapping, of_agentv=of_agentv)


def find_refused(document: Document) -> Iterator[tuple[Path, Part, str]]:
    """Find what AgentV 5 refuses, skips or never reads of a suite that is written for it, by the table of its schema.

    Fields that it does not know are left out: earlier releases of AgentV 5 read some of them.
    """
    if not is_current(document):
        return
    table = load_tables()[1]
    parts: list[tuple[str, Path, dict[str, Any], Any]] = [("a suite", (), document.data, table["suite"])]
    parts += [("a test", path, case, table["test"]) for path, case in find_cases(document)]
    for path, mapping in document.mappings:
        kind = mapping.get("type")
        if len(path) > 1 and path[-2] in _EVALUATORS and isinstance(kind, str):
            if reason := table["unloaded"].get(kind):
                yield (*path, "type"), Part.VALUE, f"`type: {shorten(kind)}`: {reason}"
            parts += [(f"`{kind}`", path, mapping, table["assertion"])]
            parts += [(f"`{kind}`", path, mapping, table["types"].get(kind, {}))]
    for what, path, value, schema in parts:
        read = {name: keyword for name, keyword in schema.items() if name != "additionalProperties"}
        for name, reason, place, part, _ in find_unread_fields(value, read, "AgentV 5"):
            yield (*path, *place), part, f"{name}{what}: {reason}"


def _find_value(
    path: Path, assertion: dict[str, Any], taken: set[Path], *, of_agentv: bool
) -> Iterator[tuple[Path, str]]:
    kind, value = assertion.get("type"), assertion.get("value")
    place = (*path, "value")
    if not isinstance(kind, str) or kind not in _JUDGES or place in taken or path in taken:
        return
    if isinstance(value, str):
        is_read = path[:-1] in taken and not of_agentv
        yield from ((place, reason) for reason in _tell_text(assertion, is_read=is_read, of_agentv=of_agentv))
    elif isinstance(value, dict) and value.keys() & _ENTRY_FIELDS:
        yield place, f"`value` of `{kind}` is one mapping, which only AgentV 5 reads; put a dash before it"
    elif isinstance(value, list) and any(isinstance(entry, dict) and "criteria" in entry for entry in value):
        yield (
            place,
            f"`value` of `{kind}` lists `criteria` alone, which AgentV does not read as criteria; write `outcome`",
        )
    elif value and isinstance(value, list | dict) and not _holds_taken(place, value, taken):
        yield place, f"`value` of `{kind}` is {describe(value, '')}, which is not checked; write a string"


def _tell_text(assertion: dict[str, Any], *, is_read: bool, of_agentv: bool) -> Iterator[str]:
    """Yield why the string in a `value` is not checked; with `is_read`, it is one of the texts of promptfoo."""
    from rubric_lint.dialects.promptfoo import is_filled_in  # noqa: PLC0415  (most files have no such assertions)

    kind = assertion["type"]
    if is_filled_in(assertion["value"]):
        yield f"`value` of `{kind}` is a file or a variable, whose text is not read; write the text here"
    elif is_read:
        return
    elif "score_ranges" in assertion:
        where = "which only AgentV 5 reads, and this test is not AgentV's"
        yield f"`{kind}` has `score_ranges` beside `value`, {where}; {_MOVE}"
    elif of_agentv:
        where = "by which AgentV judges freely, and only lines for its levels or bands would be checked"
        yield f"`value` of `{kind}` is a string {where}; list criteria, each with an `outcome`"
    else:
        where = "outside the `assert` of a suite for promptfoo, so it is not checked"
        yield f"`value` of `{kind}` is a string {where}; {_MOVE}"


def _holds_taken(place: Path, value: list[Any] | dict[str, Any], taken: set[Path]) -> bool:
    """Return whether a rubric in a value is read, or an empty list there is told as one."""
    return isinstance(value, dict) and any((*place, name) in taken or each == [] for name, each in value.items())


def find_misspelt(document: Document) -> Iterator[tuple[Path, Part, str]]:
    """Find types that are nearly one of a judge, and lists of judges under a key that is nearly `assert`."""
    for path, mapping in document.mappings:
        kind = mapping.get("type")
        if len(path) > 1 and path[-2] in _EVALUATORS and isinstance(kind, str) and "value" in mapping:
            bare = kind.removeprefix("not-")
            if bare not in _JUDGED and (near := find_near(bare, _JUDGED)):
                said = f"the type `{shorten(kind)}` is not known, so its `value` is not checked"
                yield (*path, "type"), Part.VALUE, f"{said}; {_ask(near)}"
        for key, value in mapping.items():
            is_list = isinstance(value, list) and key not in _EVALUATORS and any(map(_is_judge, value))
            if is_list and (near := find_near(key, ("assert",))):
                said = f"`{shorten(key)}` is not read, so its assertions are not checked"
                yield (*path, key), Part.KEY, f"{said}; {_ask(near)}"


def _ask(near: list[str]) -> str:
    return f"did you mean `{near[0]}`?"


def _is_judge(entry: Any) -> bool:
    kind = entry.get("type") if isinstance(entry, dict) else None
    return isinstance(kind, str) and kind.removeprefix("not-") in _JUDGED


def _find_texts(
    path: Path, name: str, value: list[Any], owner: dict[str, Any], *, of_agentv: bool
) -> Iterator[tuple[Path, str]]:
    first = next((index for index, entry in enumerate(value) if isinstance(entry, str)), None)
    if first is None:
        return
    if of_agentv:
        yield (
            (*path, name, first),
            f"strings in `{name}` are checked only where AgentV reads them, in suites and their tests; move them there",
        )
    elif path[-2:-1] == ("tests",) and "id" in owner:
        reason = "but nothing shows that this suite is for AgentV; if it is, name the file NAME.eval.yaml"
        yield (*path, name, first), f"strings in `{name}` are criteria to AgentV, {reason}"

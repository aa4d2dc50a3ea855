"""Read rubrics of promptfoo: assertions that a model judges, by a text, by several, or by criteria in our format."""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from rubric_lint.formats.agentv.suites import find_negation, is_of_agentv
from rubric_lint.formats.search.scales_in_text import SHARE, WrittenScale, find_scale, view_scale
from rubric_lint.model.criterion import ASKED, HIGHEST, JudgeQuestion
from rubric_lint.model.finding import Problem
from rubric_lint.model.recognition import has_distinctive_field
from rubric_lint.model.view import Dialect, View, ViewBuilder, read_text, read_threshold
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

# promptfoo passes any `value` to the judge as text, so in a list, our format is the only one that it can follow.
PROMPTFOO = Dialect("promptfoo", "promptfoo", "v2/rubric.json", without=frozenset({"missing-id"}))

# A text passes or fails; without a threshold, the judge says itself which.
_TEXTS = replace(PROMPTFOO, has_borderline=False)
_OWN_VERDICT = replace(_TEXTS, without=PROMPTFOO.without | {"split-band"})

_LISTS = ("assert", "assertions")
_WITHIN = ("rubrics", "criteria")
_DEFAULT_TEST = "defaultTest"
_OF_SUITES = frozenset({"providers", "prompts", "tests", _DEFAULT_TEST, "scenarios"})

_TEN = JudgeQuestion("a score from 0 to 10", 10)
_FACTS, _CLOSED = "factuality", "model-graded-closedqa"
_JUDGES = {
    "llm-rubric": SHARE,
    "agent-rubric": SHARE,
    "g-eval": _TEN,
    _CLOSED: JudgeQuestion("yes or no", 0),
    _FACTS: JudgeQuestion("how the facts of two texts agree", 0),
}
_OF_TEXTS = {"value": "expected_outcome", "weight": "weight"}
_NEVER_NEGATED = frozenset({_FACTS, _CLOSED})
"""The types that pass as they are after `not-`: promptfoo looks them up without it, and never turns their result."""
_NOT = "not-"
_OF_GEVAL = Decimal("0.7")
_SCHEMA = "promptfoo/v1.json#/definitions/"
_ASSERTION = f"{_SCHEMA}entry"
_PROMPT = "rubricPrompt"
_FUNCTION = "assertScoringFunction"
_FILLED_IN = re.compile(r"\s*(?:file://.*|\{\{[^{}]*\}\}\s*)")


def find(document: Document) -> Iterator[View]:
    """Find the assertions with a structured value, and in the suites of promptfoo those with a text."""
    data = document.data
    is_suite = isinstance(data, dict) and not data.keys().isdisjoint(_OF_SUITES)
    if isinstance(data, list):
        is_suite = any(isinstance(test, dict) and "vars" in test for test in data)
    for path, mapping in document.mappings:
        if len(path) > 1 and path[-2] in _LISTS:
            yield from _find_structured(document, path, mapping)
        assertions = mapping.get("assert")
        if is_suite and isinstance(assertions, list) and not is_of_agentv(document, (*path, "assert", 0)):
            yield from _find_texts(document, (*path, "assert"), assertions)


def is_filled_in(value: str) -> bool:
    """Return whether promptfoo puts another text in the place of a whole value: that of a file or of a variable."""
    return _FILLED_IN.fullmatch(value) is not None


def _read_judge(assertion: Any) -> JudgeQuestion | None:
    """Return the question to the judge of an assertion; None if no model judges it by a text of the author."""
    kind = read_text(assertion, "type") if isinstance(assertion, dict) else ""
    asked = _JUDGES.get(kind.removeprefix(_NOT))
    if asked is None:
        return None
    others = "".join(f"\n{name}: {assertion[name]}" for name in ("provider", _PROMPT) if name in assertion)
    is_negated = kind.startswith(_NOT) and kind.removeprefix(_NOT) not in _NEVER_NEGATED
    return asked._replace(is_negated=is_negated, apart=f"{kind}{others}")


def _find_structured(document: Document, path: Path, assertion: dict[str, Any]) -> Iterator[View]:
    """Find the list of criteria that an assertion has as its value, or in it."""
    asked = _read_judge(assertion)
    if not asked or assertion["type"].removeprefix(_NOT) in _NEVER_NEGATED:
        return
    place, value = (*path, "value"), assertion.get("value")
    if isinstance(value, dict):
        field = next((name for name in _WITHIN if isinstance(value.get(name), list)), "")
        place, value = (*place, field), value.get(field)
    is_geval = asked.highest == HIGHEST
    if not isinstance(value, list) or not (_is_ours(value) or (is_geval and not value)):
        return
    draft = ViewBuilder(document, place)
    for index, entry in enumerate(value):  # they are in our format already
        draft.put((index,), (*place, index))
        if isinstance(entry, dict):
            for key in entry:
                draft.put((index, key), (*place, index, key))
    holder_definition = _ASSERTION if place == (*path, "value") else ""
    yield draft.finish(
        PROMPTFOO,
        list(value),
        name=read_text(assertion, "metric"),
        threshold=_threshold(document, path, asked),
        threshold_path=(*path, "threshold"),
        holder_definition=holder_definition,
        doubts=_find_doubts(document, path, asked),
    )


def _find_texts(document: Document, path: Path, assertions: list[Any]) -> Iterator[View]:
    """Find the texts by which a model judges: together one checklist; a text with a scale is a rubric of its own."""
    draft = ViewBuilder(document, path)
    data: list[Any] = []
    has_prompt = document.mentions(_PROMPT)  # it may replace a `value`
    mark = _find_pass_mark(document, path[:-1])
    passes = read_threshold(document, mark) if mark else None
    problems: list[tuple[str, Problem]] = []
    for index, assertion in enumerate(assertions):
        asked = _read_judge(assertion)
        if asked is None:
            continue
        value, place = assertion.get("value"), (*path, index)
        text = read_text(assertion, "value")
        if (value is None and has_prompt) or is_filled_in(text):
            continue
        if isinstance(value, list | dict) and (value or (value == [] and asked.highest == HIGHEST)):
            continue  # read as a list, which `g-eval` may have empty; other empty ones give a judge nothing
        scale = find_scale(text)
        if scale and asked.highest:
            yield _view_scale(document, place, scale, asked)
            continue
        entry = _read_entry(draft, len(data), place, assertion, asked)
        if passes is None and assertion.get("weight") != 0:  # what weighs 0 always passes
            entry["required_min_score"] = HIGHEST
        data.append(entry)
        problems += _find_ignored(assertion, place, asked)
    if data:
        definition = "prompted" if has_prompt else "rubrics"
        holder = "set" if _is_set(document.value(path[:-1])) else "holder"
        around = f"{_SCHEMA}{definition}"
        yield draft.finish(
            _TEXTS,
            data,
            threshold=passes,
            threshold_path=mark,
            around=around,
            holder_definition=f"{_SCHEMA}{holder}",
            problems=tuple(problems),
            doubts=_find_function(document, path),
        )


def _read_entry(
    draft: ViewBuilder, own: int, place: Path, assertion: dict[str, Any], asked: JudgeQuestion
) -> dict[str, Any]:
    """Return the criterion of an assertion with a text; `own` is its index in the data."""
    entry = draft.rename(assertion, _OF_TEXTS, (own,), place)
    value = assertion.get("value")
    entry |= {"expected_outcome": None if isinstance(value, list | dict) else value, ASKED: asked}
    if value and isinstance(value, str) and asked.words == _JUDGES[_FACTS].words:
        entry["expected_outcome"] = f"Agrees with these facts: {value}"
    return entry


def _find_ignored(assertion: dict[str, Any], place: Path, asked: JudgeQuestion) -> Iterator[tuple[str, Problem]]:
    """Find an empty value that gives a judge no text, and a `not-` that promptfoo ignores."""
    value, kind = assertion.get("value"), assertion["type"]
    if isinstance(value, list | dict):
        values = {"field": "value", "kind": "list" if isinstance(value, list) else "mapping", "expected": "a string"}
        yield "schema", Problem("empty", (*place, "value"), values=values)
    if kind.startswith(_NOT) and not asked.is_negated:
        yield "schema", Problem("ignored-negation", (*place, "type"), values={"type": kind.removeprefix(_NOT)})


def _view_scale(document: Document, path: Path, scale: WrittenScale, asked: JudgeQuestion) -> View:
    """Return the rubric of one text that has bands or levels, all of them at the place of the text."""
    threshold = _threshold(document, path, asked)
    dialect = _TEXTS if threshold is not None else _OWN_VERDICT
    return view_scale(
        document,
        (*path, "value"),
        scale,
        asked,
        dialect,
        name=read_text(document.value(path), "metric"),
        threshold=threshold,
        more={
            "around": f"{_SCHEMA}text",
            "holder_definition": _ASSERTION,
            "doubts": _find_doubts(document, path, asked),
        },
    )


def _find_doubts(document: Document, path: Path, asked: JudgeQuestion) -> tuple[tuple[Path, str], ...]:
    """Return the negation and the scoring function of an assertion, with either of which it is not scored."""
    negation = find_negation(document, path) if asked.is_negated else None
    function = _find_function(document, path)
    return (negation, *function) if negation else function


def _find_function(document: Document, path: Path) -> tuple[tuple[Path, str], ...]:
    """Return the function that combines the scores of the test of an assertion, its own or that of all tests."""
    holders: list[Path] = [path[:end] for end in range(len(path))]
    if isinstance(document.data, dict) and _DEFAULT_TEST in document.data:
        holders.append((_DEFAULT_TEST,))
    for holder in holders:
        value = document.value(holder)
        if isinstance(value, dict) and value.get(_FUNCTION):
            reason = "combines the scores of the test, and only promptfoo runs it; score there, or remove it"
            return (((*holder, _FUNCTION), f"`{_FUNCTION}` {reason}"),)
    return ()


def _find_pass_mark(document: Document, path: Path) -> Path | None:
    """Return the place of the threshold of a test or a set; a test without one has that of `defaultTest`."""
    holder, usual = document.value(path), _DEFAULT_TEST
    if holder.get("threshold") is not None:
        return (*path, "threshold")
    if path == (usual,) or _is_set(holder) or not isinstance(document.data, dict):
        return None
    defaults = document.data.get(usual)
    return (usual, "threshold") if isinstance(defaults, dict) and "threshold" in defaults else None


def _is_set(holder: dict[str, Any]) -> bool:
    """Return whether what has a list of assertions is a set in that of a test."""
    return holder.get("type") == "assert-set"


def _threshold(document: Document, path: Path, asked: JudgeQuestion) -> Decimal | None:
    usual = _OF_GEVAL if asked.highest == HIGHEST else None
    return read_threshold(document, (*path, "threshold"), usual)


def _is_ours(value: list[Any]) -> bool:
    """Return whether the list has entries in our format, or only strings."""
    if value and all(isinstance(entry, str) for entry in value):
        return True
    other = {"score_range", "outcome"}  # a band of AgentV
    return any(
        isinstance(entry, dict) and has_distinctive_field(entry) and not entry.keys() >= other for entry in value
    )

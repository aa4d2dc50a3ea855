"""Read rubrics of pydantic-evals: the judges among the evaluators of a data set or of a case."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rubric_lint.model.criterion import ASKED, JudgeQuestion
from rubric_lint.model.finding import Problem
from rubric_lint.model.view import Dialect, View, ViewBuilder, read_text
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

PYDANTIC_EVALS = Dialect(
    "pydantic-evals",
    "pydantic-evals",
    "pydantic-evals/v1.json",
    {"id": "evaluation_name", "expected_outcome": "rubric"},
    without=frozenset({"missing-id"}),
    has_borderline=False,
)

# Criteria of a `GEval` say what is judged, as a task does, and not what an observer sees.
_BY_STEPS = replace(
    PYDANTIC_EVALS,
    without=PYDANTIC_EVALS.without
    | {"vague-outcome", "duplicate-outcome", "placeholder", "score-in-text", "not-self-contained"},
)
_NUMBER = "`GEval` gives a number that no outcome describes, so only its form is checked"

_JUDGE, _STEPS = "LLMJudge", "GEval"
_ALL_OF_THEM = "pydantic-evals/v1.json#/definitions/rubrics"
_INPUT, _EXPECTED = "include_input", "include_expected_output"


def find(document: Document) -> Iterator[View]:
    """Find the evaluators of a data set, which has a list of `cases`, and of its cases."""
    if not isinstance(document.data, dict) or not isinstance(document.data.get("cases"), list):
        return
    for path, mapping in document.mappings:
        items = mapping.get("evaluators")
        if isinstance(items, list) and any(map(_read_judge, items)):
            yield _view(document, (*path, "evaluators"), items)
        elif isinstance(items, list) and any(map(_read_geval, items)):
            yield _view_steps(document, (*path, "evaluators"), items)


def _read_judge(item: Any) -> tuple[str | dict[str, Any], Path] | None:
    """Return the rubric of a judge or its arguments, and where in the evaluator they are; None for another evaluator.

    In the long form, `{name: LLMJudge, arguments: ...}`, the arguments are a mapping or a list of one.
    """
    judge, field = _read_arguments(item, _JUDGE)
    if isinstance(judge, list) and field != _JUDGE:
        return (judge[0], (field, 0)) if len(judge) == 1 and isinstance(judge[0], str) else None
    is_text = isinstance(judge, str) and field == _JUDGE
    return (judge, (field,)) if is_text or (isinstance(judge, dict) and "rubric" in judge) else None


def _read_arguments(item: Any, name: str) -> tuple[Any, str]:
    """Return the arguments of an evaluator of this name, and the field that has them; None for another evaluator."""
    if not isinstance(item, dict):
        return None, ""
    field = "arguments" if "arguments" in item and item.get("name") == name else name
    return item.get(field), field


def _view(document: Document, path: Path, items: list[Any]) -> View:
    draft = ViewBuilder(document, path)
    judges = [(index, _read_judge(item)) for index, item in enumerate(items)]
    found = [(index, *judge) for index, judge in judges if judge]
    names = [_read_name(judge) for _, judge, _ in found]
    data: list[Any] = []
    for own, (index, judge, inner) in enumerate(found):
        place = (*path, index, *inner)
        options: dict[str, Any] = {"rubric": judge}
        outcome_place = place
        if isinstance(judge, dict):
            options, outcome_place = judge, (*place, "rubric")
        draft.put((own,), (*path, index))
        draft.put((own, "expected_outcome"), outcome_place)
        unseen = tuple(name for name in (_INPUT, _EXPECTED) if options.get(name) is not True)
        asked = JudgeQuestion("a verdict", 1, apart=f"{options.get('model')} {unseen}", unseen=unseen)
        entry = {"expected_outcome": options["rubric"], ASKED: asked}
        if names[own].strip() and names.count(names[own]) == 1:  # it makes equal names different
            entry["id"] = names[own]
            draft.put((own, "id"), (*place, "assertion", "evaluation_name"))
        data.append(entry)
    return draft.finish(PYDANTIC_EVALS, data, around=_ALL_OF_THEM)


def _read_name(judge: str | dict[str, Any]) -> str:
    """Return the name under which the verdict of a judge is reported."""
    assertion = judge.get("assertion") if isinstance(judge, dict) else None
    return read_text(assertion, "evaluation_name") if isinstance(assertion, dict) else ""


def _read_geval(item: Any) -> tuple[dict[str, Any], Path] | None:
    """Return the settings of a `GEval` that has `criteria`, and where in the evaluator they are."""
    settings, field = _read_arguments(item, _STEPS)
    return (settings, (field,)) if isinstance(settings, dict) and "criteria" in settings else None


def _view_steps(document: Document, path: Path, items: list[Any]) -> View:
    """Return each `GEval` of a list without another judge as a criterion, to lint its form."""
    draft = ViewBuilder(document, path)
    data: list[Any] = []
    problems: list[tuple[str, Problem]] = []
    for index, item in enumerate(items):
        geval = _read_geval(item)
        if geval is None:
            continue
        settings, inner = geval
        place = (*path, index, *inner)
        draft.put((len(data),), (*path, index))
        draft.put((len(data), "expected_outcome"), (*place, "criteria"))
        data.append({"expected_outcome": settings["criteria"]})
        bounds = settings.get("score_range")
        if isinstance(bounds, list) and list(map(type, bounds)) == [int, int] and not bounds[0] < bounds[1]:
            advice = "pydantic-evals asks for the lowest score first"
            values = {"field": "score_range", "lowest": bounds[0], "highest": bounds[1], "advice": advice}
            problems.append(("bounds", Problem("falling-range", (*place, "score_range"), values=values)))
    return draft.finish(_BY_STEPS, data, around=_ALL_OF_THEM, unscorable=_NUMBER, problems=tuple(problems))

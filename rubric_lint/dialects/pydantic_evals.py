"""Read rubrics of pydantic-evals: the `LLMJudge` evaluators of a data set or of a case."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.format.criterion import ASKED, Asked
from rubric_lint.format.view import Dialect, Draft, View, find_lists, read_text
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path

PYDANTIC_EVALS = Dialect(
    "pydantic-evals",
    "pydantic-evals",
    "pydantic-evals/v1.json",
    {"id": "evaluation_name", "expected_outcome": "rubric"},
    without=frozenset({"missing-id"}),
    has_borderline=False,
)
DIALECTS = (PYDANTIC_EVALS,)

_JUDGE = "LLMJudge"
_ALL_OF_THEM = "pydantic-evals/v1.json#/definitions/rubrics"
_INPUT, _EXPECTED = "include_input", "include_expected_output"


def find(document: Document) -> Iterator[View]:
    """Find the evaluators of a data set, which has a list of `cases`, and of its cases."""
    if not isinstance(document.data, dict) or not isinstance(document.data.get("cases"), list):
        return
    for path, _, items in find_lists(document, ("evaluators",), _is_judge):
        yield _view(document, path, items)


def _is_judge(item: dict[str, Any]) -> bool:
    return _read_judge(item) is not None


def _read_judge(item: Any) -> tuple[str | dict[str, Any], Path] | None:
    """Return what a judge is told and where in the evaluator it is; None for another evaluator.

    In the long form, `{name: LLMJudge, arguments: ...}`, the arguments are a mapping or a list of one.
    """
    if not isinstance(item, dict):
        return None
    judge: Any = item.get(_JUDGE)
    place: Path = (_JUDGE,)
    if item.keys() == {"name", "arguments"} and item["name"] == _JUDGE:
        judge, place = item["arguments"], ("arguments",)
        if isinstance(judge, list) and len(judge) == 1:
            return (judge[0], (*place, 0)) if isinstance(judge[0], str) else None
    is_told = isinstance(judge, str) and place == (_JUDGE,)
    return (judge, place) if is_told or (isinstance(judge, dict) and "rubric" in judge) else None


def _view(document: Document, path: Path, items: list[Any]) -> View:
    draft = Draft(document, path)
    found = [(index, *read) for index, item in enumerate(items) if (read := _read_judge(item))]
    names = [_read_name(judge) for _, judge, _ in found]
    data: list[Any] = []
    for own, (index, judge, inner) in enumerate(found):
        place = (*path, index, *inner)
        options: dict[str, Any] = judge if isinstance(judge, dict) else {}
        unseen = tuple(name for name in (_INPUT, _EXPECTED) if options.get(name) is not True)
        draft.put((own,), (*path, index))
        draft.put((own, "expected_outcome"), (*place, "rubric") if options else place)
        told = options["rubric"] if options else judge
        apart = f"{options.get('model')} {unseen}"
        entry = {"expected_outcome": told, ASKED: Asked("a verdict", 1, apart=apart, unseen=unseen)}
        if names[own].strip() and names.count(names[own]) == 1:  # it makes equal names different
            entry["id"] = names[own]
            draft.put((own, "id"), (*place, "assertion", "evaluation_name"))
        data.append(entry)
    return draft.finish(PYDANTIC_EVALS, data, around=_ALL_OF_THEM)


def _read_name(judge: str | dict[str, Any]) -> str:
    """Return the name under which the verdict of a judge is reported."""
    assertion = judge.get("assertion") if isinstance(judge, dict) else None
    return read_text(assertion, "evaluation_name") if isinstance(assertion, dict) else ""

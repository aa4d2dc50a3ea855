"""Find what verifiers' `RubricJudge` refuses or takes otherwise in the answers of its criteria."""

from typing import Any

from rubric_lint.model.finding import Problem
from rubric_lint.model.messages import shorten
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

_NEGATIVE = frozenset({"no", "none", "false", "fail", "failed", "never", "absent", "incorrect", "wrong"})
_POSITIVE = frozenset(
    {"yes", "full", "fully", "true", "pass", "passed", "all", "always", "present", "correct", "right"}
)


def check_choices(document: Document, path: Path, _data: list[Any]) -> dict[str, Any]:
    """Return the problems of the choices of the criteria in a list.

    verifiers refuses choices that are there twice, and the first scores 0, so they go from worst to best.
    """
    problems: list[tuple[str, Problem]] = []
    for index, item in enumerate(document.value(path)):
        choices, place = item.get("choices"), (*path, index, "choices")
        if not isinstance(choices, list):
            continue
        for rank, choice in enumerate(choices):
            if isinstance(choice, str) and choice in choices[:rank]:
                problem = Problem("repeated-choice", (*place, rank), values={"choice": shorten(choice)})
                problems.append(("schema", problem))
        if len(choices) > 1 and all(isinstance(choice, str) for choice in choices):
            first, last = choices[0], choices[-1]
            if first.strip().casefold() in _POSITIVE and last.strip().casefold() in _NEGATIVE:
                problem = Problem("falling-choices", place, values={"first": first, "last": last})
                problems.append(("inverted-scale", problem))
    return {"problems": tuple(problems)}

"""Find what verifiers' `RubricJudge` refuses or takes otherwise in the answers of its criteria."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.finding import Problem
from rubric_lint.messages import shorten
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path

_NEGATIVE = frozenset({"no", "none", "false", "fail", "failed", "never", "absent", "incorrect", "wrong"})
_POSITIVE = frozenset(
    {"yes", "full", "fully", "true", "pass", "passed", "all", "always", "present", "correct", "right"}
)


def check_choices(document: Document, path: Path, _data: list[Any]) -> dict[str, Any]:
    """Return what is wrong with the choices of the criteria in a list."""
    items = enumerate(document.value(path))
    held = [((*path, index, "choices"), item["choices"]) for index, item in items if "choices" in item]
    return {"problems": tuple(each for place, choices in held for each in _check(place, choices))}


def _check(place: Path, choices: Any) -> Iterator[tuple[str, Problem]]:
    """Find choices that are there twice, which verifiers refuses, and those from best to worst: the first scores 0."""
    for rank, choice in enumerate(choices if isinstance(choices, list) else ()):
        if isinstance(choice, str) and choice in choices[:rank]:
            yield "schema", Problem("repeated-choice", (*place, rank), values={"choice": shorten(choice)})
    if isinstance(choices, list) and len(choices) > 1 and all(isinstance(choice, str) for choice in choices):
        first, last = choices[0], choices[-1]
        if first.strip().casefold() in _POSITIVE and last.strip().casefold() in _NEGATIVE:
            yield "inverted-scale", Problem("falling-choices", place, values={"first": first, "last": last})

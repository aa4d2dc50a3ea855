"""Read rubrics of PaperBench: a tree of `sub_tasks` whose leaves are judged."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from rubric_lint.model.criterion import JudgeQuestion, read_number
from rubric_lint.model.finding import Problem
from rubric_lint.model.messages import describe_infinite
from rubric_lint.model.view import Dialect, View, ViewBuilder
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

PAPERBENCH = Dialect(
    "paperbench",
    "PaperBench",
    "paperbench/v1.json",
    {"expected_outcome": "requirements"},
    has_borderline=False,
    asked=JudgeQuestion("0 or 1", 1),
)

_DEAD = "the parts of a part that counts all weigh 0, so no answer earns it, and an average cannot express that"
_BELOW = "sub_tasks"
_CATEGORY = "task_category"
_NAMES = {"id": "id", "requirements": "expected_outcome"}


def find(document: Document) -> Iterator[View]:
    """Find the root of the tree, which is the whole document."""
    root = document.data
    if not isinstance(root, dict) or not isinstance(root.get("requirements"), str):
        return
    parts = [part for _, part in _find_tasks((), root)]
    is_weighted = any("requirements" in part and part.keys() & {"weight", _CATEGORY} for part in parts)
    if not is_weighted or not any(_CATEGORY in part for part in [root, *parts]):
        return  # tasks of trackers have no category
    problems: list[tuple[str, Problem]] = []
    leaves: list[tuple[Path, dict[str, Any], Fraction]] = []  # in order, each with its part in the score of the root
    stack: list[tuple[Path, dict[str, Any], Fraction]] = [((), root, Fraction(1))]
    while stack:
        place, part, share = stack.pop()
        weight = part.get("weight")
        if isinstance(weight, float) and not -math.inf <= weight < math.inf:  # what else is wrong, the schema finds
            values = {"field": "`weight`", "found": describe_infinite(weight), "least": " of at least 0"}
            problems.append(("weight", Problem("infinite", (*place, "weight"), values=values)))
        tasks = _find_tasks(place, part)
        if not tasks:
            leaves.append((place, part, share))
        total = sum(_read_weight(task) for _, task in tasks)
        for inner, task in tasks[::-1]:
            own_share = share * _read_weight(task) / total if total else Fraction(0)
            stack.append((inner, task, own_share))
    unit = math.lcm(*(share.denominator for _, _, share in leaves))
    draft = ViewBuilder(document, ())
    data: list[Any] = []
    for index, (place, leaf, share) in enumerate(leaves):
        data.append({"weight": int(share * unit), **draft.rename(leaf, _NAMES, (index,), place)})
    is_whole = sum(share for _, _, share in leaves) in (0, 1)
    unscorable = "" if is_whole else _DEAD
    yield draft.finish(PAPERBENCH, data, unscorable=unscorable, problems=tuple(problems))


def _find_tasks(place: Path, part: dict[str, Any]) -> list[tuple[Path, dict[str, Any]]]:
    below = part.get(_BELOW)
    tasks = enumerate(below) if isinstance(below, list) else ()
    return [((*place, _BELOW, at), task) for at, task in tasks if isinstance(task, dict)]


def _read_weight(task: dict[str, Any]) -> Fraction:
    weight = read_number(task.get("weight"))
    return Fraction(str(weight)) if weight is not None and weight > 0 else Fraction(0)

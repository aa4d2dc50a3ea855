"""Read rubrics of PaperBench: a tree of `sub_tasks` whose leaves are judged."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from rubric_lint.finding import Problem
from rubric_lint.format.criterion import Asked
from rubric_lint.format.view import Dialect, Draft, View
from rubric_lint.messages import describe_infinite
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path

PAPERBENCH = Dialect(
    "paperbench",
    "PaperBench",
    "paperbench/v1.json",
    {"expected_outcome": "requirements"},
    has_borderline=False,
    asked=Asked("0 or 1", 1),
)
DIALECTS = (PAPERBENCH,)

_DEAD = "the parts of a part that counts all weigh 0, so no answer earns it, and an average cannot express that"
_BELOW = "sub_tasks"
_CATEGORY = "task_category"
_NAMES = {"id": "id", "requirements": "expected_outcome"}


def find(document: Document) -> Iterator[View]:
    """Find the root of the tree, which is the whole document."""
    root = document.data
    if not isinstance(root, dict) or not isinstance(root.get("requirements"), str) or not _is_weighted(root):
        return
    leaves = list(_find_leaves(root, (), Fraction(1)))
    unit = math.lcm(*(share.denominator for _, _, share in leaves))
    draft = Draft(document, ())
    data: list[Any] = []
    for index, (place, leaf, share) in enumerate(leaves):
        draft.put((index,), place)
        entry: dict[str, Any] = {"weight": int(share * unit)}
        for theirs, ours in _NAMES.items():
            if theirs in leaf:
                entry[ours] = leaf[theirs]
                draft.put((index, ours), (*place, theirs))
        data.append(entry)
    is_whole = sum(share for _, _, share in leaves) in (0, 1)
    problems = tuple(_find_infinite(root))
    yield draft.finish(PAPERBENCH, data, unscorable="" if is_whole else _DEAD, problems=problems)


def _is_weighted(root: dict[str, Any]) -> bool:
    """Return whether a part has requirements and a weight, and a category is named; tasks of trackers have none."""
    below = root.get(_BELOW)
    parts = [part for part in below if isinstance(part, dict)] if isinstance(below, list) else []
    is_told = any(_CATEGORY in part for part in (root, *parts))
    return is_told and any("requirements" in part and part.keys() & {"weight", _CATEGORY} for part in parts)


def _find_infinite(root: dict[str, Any]) -> Iterator[tuple[str, Problem]]:
    """Find the weights, of leaves or of what holds them, that are no finite number; the schema finds those below 0."""
    stack: list[tuple[Path, dict[str, Any]]] = [((), root)]
    while stack:
        place, part = stack.pop()
        weight, below = part.get("weight"), part.get(_BELOW)
        if isinstance(weight, float) and not -math.inf <= weight < math.inf:
            values = {"field": "`weight`", "found": describe_infinite(weight), "least": " of at least 0"}
            yield "weight", Problem("infinite", (*place, "weight"), values=values)
        tasks = enumerate(below if isinstance(below, list) else ())
        stack += [((*place, _BELOW, at), task) for at, task in tasks if isinstance(task, dict)]


def _find_leaves(root: dict[str, Any], path: Path, whole: Fraction) -> Iterator[tuple[Path, dict[str, Any], Fraction]]:
    """Yield the leaves in order, each with its place and its part in the score of the root."""
    stack = [(path, root, whole)]
    while stack:
        place, part, share = stack.pop()
        below = part.get(_BELOW)
        tasks = [task for task in below if isinstance(task, dict)] if isinstance(below, list) else []
        if not tasks:
            yield place, part, share
            continue
        weights = [_read_weight(task) for task in tasks]
        total = sum(weights)
        places = [(*place, _BELOW, at) for at, task in enumerate(below or ()) if isinstance(task, dict)]
        shares = [share * weight / total if total else Fraction(0) for weight in weights]
        stack += reversed(list(zip(places, tasks, shares, strict=True)))


def _read_weight(task: dict[str, Any]) -> Fraction:
    weight = task.get("weight")
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool) and abs(weight) < math.inf
    return Fraction(str(weight)) if is_number and weight is not None and weight > 0 else Fraction(0)

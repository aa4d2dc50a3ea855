"""Read rubrics of HealthBench in JSON Lines: `rubrics` of `criterion`, `points` (may be negative) and `tags`."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.format.view import Dialect, View, find_lists, read_list, read_text
from rubric_lint.text.document import Document

HEALTHBENCH = Dialect(
    "healthbench",
    "HealthBench",
    "healthbench/v1.json",
    {"expected_outcome": "criterion", "weight": "points"},
    without=frozenset({"missing-id"}),  # criteria have no id; outputs follow their order
    has_deductions=True,
    cuts_mean=True,
)
DIALECTS = (HEALTHBENCH,)


def find(document: Document) -> Iterator[View]:
    """Find the lists under `rubrics` that hold criteria with points."""
    for path, sample, items in find_lists(document, ("rubrics",), _is_criterion):
        yield read_list(document, path, HEALTHBENCH, items, name=read_text(sample, "prompt_id"))


def _is_criterion(item: dict[str, Any]) -> bool:
    points = item.get("points")
    return isinstance(item.get("criterion"), str) and isinstance(points, int | float) and not isinstance(points, bool)

"""Read rubrics of HealthBench in JSON Lines: `rubrics` of `criterion`, `points` (may be negative) and `tags`."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.format.view import OF_COURSES, Dialect, View, find_lists, read_list, read_text
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

_OF_SAMPLES = frozenset({"prompt", "prompt_id", "example_tags"})


def find(document: Document) -> Iterator[View]:
    """Find the lists under `rubrics` that hold criteria with points; those of courses have no tags and no prompt."""
    for path, sample, items in find_lists(document, ("rubrics",), _is_criterion):
        has_tags = any(isinstance(item, dict) and "tags" in item for item in items)
        if has_tags or not sample.keys().isdisjoint(_OF_SAMPLES):
            yield read_list(document, path, HEALTHBENCH, items, name=read_text(sample, "prompt_id"))


def _is_criterion(item: dict[str, Any]) -> bool:
    points = item.get("points")
    is_number = isinstance(points, int | float) and not isinstance(points, bool)
    return is_number and isinstance(item.get("criterion"), str) and item.keys() & OF_COURSES == {"points"}

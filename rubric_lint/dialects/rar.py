"""Read rubrics as rewards: rows of data sets with a `rubric` of `title`, `description` and `weight`."""

import re
from collections.abc import Iterator
from typing import Any

from rubric_lint.format.criterion import Asked
from rubric_lint.format.view import OF_COURSES, Dialect, View, find_lists, read_list, read_text
from rubric_lint.text.document import Document

RAR = Dialect(
    "rar",
    "RaR",
    "rar/v1.json",
    {"expected_outcome": "description", "weight": "weight"},
    without=frozenset({"missing-id"}),
    has_deductions=True,
    asked=Asked("yes or no", 0),
)
DIALECTS = (RAR,)

_FIELDS = frozenset({"title", "description", "weight"})
_KIND = re.compile(r"(?:Essential|Important|Optional|Pitfall)(?: Criteria)?:")
_OF_ROWS = frozenset({"question", "prompt", "reference_answer", "reference", "messages", "instruction", "input"})


def find(document: Document) -> Iterator[View]:
    """Find the rubrics of rows that have a question too; those of essays and courses look alike but for the signs."""
    for path, row, items in find_lists(document, ("rubric",), lambda item: item.keys() >= _FIELDS):
        if row.keys().isdisjoint(_OF_ROWS) or any(map(_is_of_course, items)) or not any(map(_tells, items)):
            continue
        yield read_list(document, path, RAR, items)


def _tells(item: Any) -> bool:
    """Return whether a criterion begins with its kind, as the prompt of the paper asks for."""
    return isinstance(item, dict) and _KIND.match(read_text(item, "description")) is not None


def _is_of_course(item: Any) -> bool:
    return isinstance(item, dict) and not item.keys().isdisjoint(OF_COURSES)

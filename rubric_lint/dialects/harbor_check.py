"""Read rubrics of `harbor check`: `criteria`, each with a `name`, a `description` and `guidance`."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.format.view import OF_FILES, Dialect, Draft, View
from rubric_lint.text.document import Document

_NAMES = {"name": "id", "description": "expected_outcome"}

HARBOR_CHECK = Dialect(
    "harbor-check",
    "harbor check",
    "harbor-check/v1.json",
    {name: key for key, name in _NAMES.items()},
    without=frozenset({"missing-id"}),
)
DIALECTS = (HARBOR_CHECK,)

_FIELDS = frozenset({*_NAMES, "guidance"})


def find(document: Document) -> Iterator[View]:
    """Find the list of criteria at the top of a file, of which one has all three fields and no other.

    Catalogues of standards have more fields, there or beside the list.
    """
    data = document.data
    items = data.get("criteria") if isinstance(data, dict) and data.keys() <= OF_FILES else None
    if isinstance(items, list) and any(map(_is_criterion, items)):
        draft = Draft(document, ("criteria",))
        yield draft.finish(HARBOR_CHECK, draft.rename_each(items, _NAMES))


def _is_criterion(item: Any) -> bool:
    is_whole = isinstance(item, dict) and item.keys() == _FIELDS
    return is_whole and all(isinstance(value, str) for value in item.values())

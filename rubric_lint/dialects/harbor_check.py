"""Read rubrics of `harbor check`: `criteria`, each with a `name`, a `description` and `guidance`."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.format.view import OF_FILES, Dialect, Draft, View, is_named_for_judges
from rubric_lint.text.document import Document

_NAMES = {"name": "id", "description": "expected_outcome"}

HARBOR_CHECK = Dialect(
    "harbor-check",
    "harbor check",
    "harbor-check/v1.json",
    {name: key for key, name in _NAMES.items()},
    without=frozenset({"missing-id"}),
    tells_others=True,
)
DIALECTS = (HARBOR_CHECK,)

_FIELDS = frozenset({*_NAMES, "guidance"})


def find(document: Document, *, is_named: bool = False) -> Iterator[View]:
    """Find the list of criteria at the top of a file, of which one has all three fields.

    Catalogues of standards have more fields, beside the list or there; there, the name of the file tells: `is_named`.
    """
    data = document.data
    items = data.get("criteria") if isinstance(data, dict) and data.keys() <= OF_FILES else None
    is_named = is_named or is_named_for_judges(document)
    if isinstance(items, list) and any(_is_criterion(item, is_named=is_named) for item in items):
        draft = Draft(document, ("criteria",))
        yield draft.finish(HARBOR_CHECK, draft.rename_each(items, _NAMES))


def _is_criterion(item: Any, *, is_named: bool) -> bool:
    is_whole = isinstance(item, dict) and (item.keys() >= _FIELDS if is_named else item.keys() == _FIELDS)
    return is_whole and all(isinstance(item[name], str) for name in _FIELDS)

"""Read rubrics of Ragas and Prometheus: dictionaries with a key such as `score1_description` for each level."""

import re
from collections.abc import Iterator
from typing import Any

from rubric_lint.format.view import Dialect, Draft, View
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path

RAGAS = Dialect(
    "ragas",
    "Ragas and Prometheus",
    "ragas/v1.json",
    {"levels": "scoreN_description", "expected_outcome": "scoreN_description"},
    without=frozenset({"missing-id"}),  # one dictionary is one criterion without a name
)
DIALECTS = (RAGAS,)

_KEY = re.compile(r"(?:orig_)?score(?P<level>-?[0-9]{1,4})(?P<suffix>_description)?")
_TASKS = ("criteria", "orig_criteria")


def find(document: Document) -> Iterator[View]:
    """Find the dictionaries with two levels or more."""
    for path, mapping in document.mappings:
        keys = {key: found for key in mapping if (found := _KEY.fullmatch(key))}
        if len(keys) < 2 or not _is_ours(path, mapping, keys):
            continue
        draft = Draft(document, path)
        draft.put((0,), path)
        draft.put((0, "levels"), path)
        levels = []
        for index, (key, found) in enumerate(keys.items()):
            own, place = (0, "levels", index), (*path, key)
            draft.put(own, place)
            draft.put((*own, "level"), place, is_key=True)
            draft.put((*own, "expected_outcome"), place)
            levels.append({"level": int(found["level"]), "expected_outcome": mapping[key]})
        task = next((mapping[field] for field in _TASKS if isinstance(mapping.get(field), str)), "")
        # In a file with several dictionaries, the key of each is its name.
        name = path[-1] if path and isinstance(path[-1], str) else ""
        yield draft.finish(RAGAS, [{"levels": levels}], name=name, task=task)


def _is_ours(path: Path, mapping: dict[str, Any], keys: dict[str, re.Match[str]]) -> bool:
    """Return whether the values are strings; without the suffix, the dictionary's key must contain `rubric` too."""
    if not all(isinstance(mapping[key], str | None) for key in keys) or not any(mapping[key] for key in keys):
        return False
    if all(found["suffix"] for found in keys.values()):
        return True
    only = mapping.keys() <= {*keys, *_TASKS}
    return only and bool(path) and "rubric" in str(path[-1]).lower()

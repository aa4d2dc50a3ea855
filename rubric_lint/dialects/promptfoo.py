"""Read rubrics of promptfoo: `llm-rubric` assertions whose `value` is or holds a list of criteria in our format."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.format.recognition import tells
from rubric_lint.format.view import Dialect, Draft, View, read_text, read_threshold
from rubric_lint.text.document import Document

# promptfoo passes any `value` to the judge as text, so our format is the only one that it can follow.
PROMPTFOO = Dialect("promptfoo", "promptfoo", "v2/rubric.json", without=frozenset({"missing-id"}))
DIALECTS = (PROMPTFOO,)

_TYPES = ("llm-rubric", "not-llm-rubric")
_LISTS = ("assert", "assertions")
_WITHIN = ("rubrics", "criteria")


def find(document: Document) -> Iterator[View]:
    """Find the assertions with a structured value."""
    for path, assertion in document.mappings:
        if len(path) < 2 or path[-2] not in _LISTS or assertion.get("type") not in _TYPES:
            continue
        place, value = (*path, "value"), assertion.get("value")
        if isinstance(value, dict):
            field = next((name for name in _WITHIN if isinstance(value.get(name), list)), "")
            place, value = (*place, field), value.get(field)
        if isinstance(value, list) and _is_ours(value):
            draft = Draft(document, place)
            for index, entry in enumerate(value):
                draft.put((index,), (*place, index))
                if isinstance(entry, dict):
                    _keep(draft, (index,), entry)
            yield draft.finish(
                PROMPTFOO,
                list(value),
                name=read_text(assertion, "metric"),
                threshold=read_threshold(document, (*path, "threshold")),
            )


def _keep(draft: Draft, own: tuple[int], entry: dict[str, Any]) -> None:
    """Map each field of an entry to itself, because the entry is already in our format."""
    for key in entry:
        draft.put((*own, key), (*draft.path, *own, key))


def _is_ours(value: list[Any]) -> bool:
    """Return whether the list has entries in our format, or only strings."""
    if value and all(isinstance(entry, str) for entry in value):
        return True
    return any(isinstance(entry, dict) and tells(entry) and not _is_other_band(entry) for entry in value)


def _is_other_band(entry: dict[str, Any]) -> bool:
    return "score_range" in entry and "outcome" in entry

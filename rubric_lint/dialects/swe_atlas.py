"""Read rubrics of SWE-Atlas: a list of `id`, `title` and `annotations`, of which headings are not judged."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from rubric_lint.format.criterion import ASKED, HIGHEST, Asked
from rubric_lint.format.view import Dialect, Draft, View, read_text
from rubric_lint.text.document import Document

SWE_ATLAS = Dialect(
    "swe-atlas",
    "SWE-Atlas",
    "swe-atlas/v1.json",
    {"expected_outcome": "title", "required_min_score": "importance"},
    has_borderline=False,
)
DIALECTS = (SWE_ATLAS,)

_NAMES = {"id": "id", "title": "expected_outcome"}
_ALL_OF_THEM = "swe-atlas/v1.json#/definitions/rubrics"
_HEADING = "high level intent"
_TYPES = ("verifier", _HEADING)  # other data sets have annotations too, such as those of images and chats
_GATE = "must have"
_ASKED = Asked("yes or no", 0)


def find(document: Document) -> Iterator[View]:
    """Find the list, which is the whole document, by the annotations of its entries."""
    items = document.data
    if not isinstance(items, list) or not any(isinstance(item, dict) and _is_entry(item) for item in items):
        return
    draft = Draft(document, ())
    data: list[Any] = []
    for index, item in enumerate(items):
        annotations = item.get("annotations") if isinstance(item, dict) else None
        told = annotations if isinstance(annotations, dict) else {}
        kind = read_text(told, "type")
        if not isinstance(item, dict) or kind == _HEADING:
            continue
        own = len(data)
        draft.put((own,), (index,))
        entry: dict[str, Any] = {ASKED: _ASKED._replace(is_negated="negative" in kind, apart=str("negative" in kind))}
        for theirs, ours in _NAMES.items():
            if theirs in item:
                entry[ours] = item[theirs]
                draft.put((own, ours), (index, theirs))
        if told.get("importance", item.get("importance", _GATE)) == _GATE:
            entry["required_min_score"] = HIGHEST
        data.append(entry)
    # Only the gates decide: an answer that meets them passes with any share of the others.
    is_gated = any("required_min_score" in entry for entry in data)
    refusal = "" if is_gated else "without an item that is a must have, SWE-Atlas passes no answer"
    yield draft.finish(SWE_ATLAS, data, threshold=Decimal(0), around=_ALL_OF_THEM, unscorable=refusal)


def _is_entry(item: dict[str, Any]) -> bool:
    annotations = item.get("annotations")
    if not isinstance(annotations, dict) or not isinstance(item.get("title"), str) or "importance" not in annotations:
        return False
    return any(word in read_text(annotations, "type") for word in _TYPES)

"""Read rubrics of tolokaforge: the `criteria` of `llm_judge.rubric` in grading files."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from rubric_lint.format.criterion import HIGHEST
from rubric_lint.format.view import Dialect, Draft, View, find_lists, read_threshold
from rubric_lint.text.document import Document

TOLOKAFORGE = Dialect(
    "tolokaforge",
    "tolokaforge",
    "tolokaforge/v1.json",
    {"expected_outcome": "description", "required_min_score": "required"},
    has_borderline=False,
)
DIALECTS = (TOLOKAFORGE,)

_NAMES = {"id": "id", "description": "expected_outcome", "weight": "weight"}
_PASSES_AT = Decimal("0.8")
_BELOW = ("llm_judge", "rubric", "criteria")


def find(document: Document) -> Iterator[View]:
    """Find the criteria of the judge of a task; the threshold is that of the whole grading file."""
    for path, _, items in find_lists(document, ("criteria",), lambda item: {"id", "description"} <= item.keys()):
        if path[-3:] != _BELOW:
            continue
        draft = Draft(document, path)
        data = draft.rename_each(items, _NAMES)
        has_others = not all(map(_is_gate, items))
        for index, (entry, item) in enumerate(zip(data, items, strict=True)):
            if _is_gate(item):
                entry["required_min_score"] = HIGHEST
                draft.put((index, "required_min_score"), (*path, index, "required"))
                entry["weight"] = 0 if has_others else 1  # a gate does not count in the average, whatever its weight
                draft.put((index, "weight"), (*path, index, "required"), is_key=True)
        combine = (*path[:-3], "combine")
        is_set = isinstance(document.value(combine[:-1]).get("combine"), dict)
        yield draft.finish(
            TOLOKAFORGE,
            data,
            threshold=read_threshold(document, (*combine, "pass_threshold"), _PASSES_AT) if is_set else _PASSES_AT,
            threshold_path=(*combine, "pass_threshold") if is_set else None,
            beside="tolokaforge/v1.json#/definitions/combine" if is_set else "",
            beside_at=combine,
        )


def _is_gate(item: Any) -> bool:
    return isinstance(item, dict) and item.get("required") is True

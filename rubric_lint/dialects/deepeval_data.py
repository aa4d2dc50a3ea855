"""Read bands of DeepEval in YAML and JSON: lists under `rubric` in the words of its Python classes."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from rubric_lint.dialects.deepeval import STRICT, find_idle_threshold, span_of
from rubric_lint.format.view import Dialect, Draft, View, find_lists, read_text, read_threshold
from rubric_lint.text.document import Document

DEEPEVAL_DATA = Dialect("deepeval-data", "DeepEval", "deepeval-data/v1.json")
DIALECTS = (DEEPEVAL_DATA,)

_NAMES = {"score_range": "score_range", "expected_outcome": "expected_outcome"}
_TASKS = ("criteria", "evaluation_steps")
_PASSES_AT = Decimal("0.5")


def find(document: Document) -> Iterator[View]:
    """Find the bands of the metrics that have `criteria` or `evaluation_steps`."""
    for path, metric, items in find_lists(document, ("rubric",), _is_band):
        if not any(task in metric for task in _TASKS):
            continue
        draft = Draft(document, path)
        data = draft.rename_each(items, _NAMES)
        yield draft.finish(
            DEEPEVAL_DATA,
            data,
            name=read_text(metric, "name"),
            task=read_text(metric, "criteria"),
            threshold=read_threshold(document, (*path[:-1], "threshold"), _PASSES_AT),
            span=span_of(data),
            problems=tuple(find_idle_threshold(metric, path[:-1])),
            unscorable=STRICT if metric.get("strict_mode") is True else "",
        )


def _is_band(item: dict[str, Any]) -> bool:
    return isinstance(item.get("score_range"), list) and "expected_outcome" in item

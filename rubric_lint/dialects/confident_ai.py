"""Read rubrics of Confident AI and DeepEval in JSON: the bands of a metric under `rubric`, in camel case."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from rubric_lint.dialects.deepeval import find_idle_threshold
from rubric_lint.format.view import Dialect, Draft, View, read_text, read_threshold
from rubric_lint.text.document import Document

_NAMES = {"scoreRange": "score_range", "expectedOutcome": "expected_outcome"}

CONFIDENT_AI = Dialect(
    "confident-ai", "Confident AI", "confident-ai/v1.json", {name: key for key, name in _NAMES.items()}
)
DIALECTS = (CONFIDENT_AI,)

_FIELDS = ("rubric", "rubrics")
_PASSES_AT = Decimal("0.5")


def find(document: Document) -> Iterator[View]:
    """Find the lists under `rubric` that hold bands."""
    for path, metric in document.mappings:
        for field in _FIELDS:
            bands = metric.get(field)
            if not isinstance(bands, list) or not any(map(_is_band, bands)):
                continue
            draft = Draft(document, (*path, field))
            yield draft.finish(
                CONFIDENT_AI,
                draft.rename_each(bands, _NAMES),
                name=read_text(metric, "name"),
                task=read_text(metric, "criteria"),
                threshold=read_threshold(document, (*path, "threshold"), _PASSES_AT),
                problems=tuple(find_idle_threshold(metric, path)),
            )


def _is_band(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("scoreRange"), list) and "expectedOutcome" in item

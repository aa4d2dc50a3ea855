"""Read rubrics of lightspeed-evaluation: the bands of a `geval:NAME` metric, in system configurations and data."""

from collections.abc import Iterator
from decimal import Decimal

from rubric_lint.dialects.deepeval import find_idle_threshold
from rubric_lint.format.view import Dialect, Draft, View, read_text, read_threshold
from rubric_lint.text.document import Document

LIGHTSPEED = Dialect("lightspeed", "lightspeed-evaluation", "lightspeed/v1.json")
DIALECTS = (LIGHTSPEED,)

_PREFIX = "geval:"
_NAMES = {"score_range": "score_range", "expected_outcome": "expected_outcome"}
_PASSES_AT = Decimal("0.5")


def find(document: Document) -> Iterator[View]:
    """Find the metrics named `geval:...` with a list of `rubrics`; without a list they have no bands."""
    for path, mapping in document.mappings:
        for key, metric in mapping.items():
            if not key.startswith(_PREFIX) or not isinstance(metric, dict):
                continue
            rubrics = metric.get("rubrics")
            if not isinstance(rubrics, list) or not rubrics:
                continue
            draft = Draft(document, (*path, key, "rubrics"))
            yield draft.finish(
                LIGHTSPEED,
                draft.rename_each(rubrics, _NAMES),
                name=key.removeprefix(_PREFIX),
                task=read_text(metric, "criteria"),
                threshold=read_threshold(document, (*path, key, "threshold"), _PASSES_AT),
                problems=tuple(find_idle_threshold(metric, (*path, key))),
            )

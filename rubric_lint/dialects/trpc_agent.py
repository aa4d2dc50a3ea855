"""Read rubrics of tRPC-Agent: entries under `llmJudge` with an `id` and a `content`."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.format.criterion import Asked
from rubric_lint.format.view import Dialect, View, find_lists, read_list, read_threshold
from rubric_lint.text.document import Document

TRPC_AGENT = Dialect(
    "trpc-agent",
    "tRPC-Agent",
    "trpc-agent/v1.json",
    {"id": "id", "expected_outcome": "content.text"},
    has_borderline=False,
    asked=Asked("yes or no", 0),
)
DIALECTS = (TRPC_AGENT,)

_JUDGE = "llmJudge"


def find(document: Document) -> Iterator[View]:
    """Find the lists of the judges of metrics; the threshold is that of the metric."""
    for path, _, items in find_lists(document, ("rubrics",), _is_entry):
        if path[-2:-1] == (_JUDGE,):
            metric = path[:-3]
            is_held = len(path) > 2 and isinstance(document.value(metric), dict)
            yield read_list(
                document,
                path,
                TRPC_AGENT,
                items,
                threshold=read_threshold(document, (*metric, "threshold")) if is_held else None,
                threshold_path=(*metric, "threshold"),
                beside="trpc-agent/v1.json#/definitions/metric" if is_held else "",
                beside_at=metric,
            )


def _is_entry(item: dict[str, Any]) -> bool:
    return isinstance(item.get("content"), dict)

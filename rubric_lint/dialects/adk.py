"""Read rubrics of Google ADK and Vertex AI: entries with an id and a content, which a judge answers with yes or no."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.format.criterion import Asked
from rubric_lint.format.view import Dialect, Draft, View, find_lists, read_threshold
from rubric_lint.messages import find_near
from rubric_lint.text.document import Document

ADK = Dialect(
    "adk",
    "Google ADK",
    "adk/v1.json",
    {"id": "rubric_id", "expected_outcome": "text_property"},
    has_borderline=False,
    asked=Asked("yes or no", 0),
)
DIALECTS = (ADK,)

# Pydantic accepts both spellings; the last one is that of Vertex AI.
_NAMES = {
    "rubric_id": "id",
    "rubricId": "id",
    "rubric_content.text_property": "expected_outcome",
    "rubricContent.textProperty": "expected_outcome",
    "content.property.description": "expected_outcome",
}
_FIELDS = ("rubrics", "rubric")  # the second one is a misspelling, which ADK ignores until the run
_TEXTS = ("text_property", "textProperty")
_METRIC = "adk/v1.json#/definitions/metric"


def find(document: Document) -> Iterator[View]:
    """Find the lists of entries; those of a metric have a threshold, those of cases and invocations have none."""
    for path, _, items in find_lists(document, _FIELDS, _is_entry):
        draft = Draft(document, path)
        yield draft.finish(
            ADK,
            draft.rename_each(items, _NAMES),
            threshold=read_threshold(document, (*path[:-1], "threshold")) if path else None,
            beside=_METRIC if path[-3:-2] == ("criteria",) else "",
        )


def _is_entry(item: dict[str, Any]) -> bool:
    has_id = isinstance(item.get("rubric_id", item.get("rubricId")), str)
    content = item.get("rubric_content", item.get("rubricContent"))
    if isinstance(content, dict):  # of tables of courses too
        return has_id and (not content or any(find_near(key, _TEXTS) for key in content))
    content = item.get("content")
    told = content.get("property") if isinstance(content, dict) else None
    return has_id and isinstance(told, dict) and "description" in told

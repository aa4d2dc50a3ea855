"""View one text for a judge as a rubric, if its author has written bands or levels into it."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from rubric_lint.dialects.search.scales_in_text import WrittenScale
from rubric_lint.format.criterion import ASKED, Asked
from rubric_lint.format.view import Dialect, Draft, View
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path

SHARE = Asked("a score from 0 to 1", 1)
"""What promptfoo and AgentV ask a judge for that gets one text."""


def view_scale(
    document: Document,
    place: Path,
    scale: WrittenScale,
    asked: Asked,
    dialect: Dialect,
    *,
    name: str = "",
    threshold: Decimal | None = None,
    more: Mapping[str, Any],
) -> View:
    """Return the rubric of the text at `place`, where all its bands or levels are; `more` are fields of the view."""
    draft = Draft(document, place)
    lowest, highest = scale.steps[0].low, max(step.high for step in scale.steps)
    said = f"{lowest} to {highest}" if highest > asked.highest or highest < lowest else ""
    data: list[Any] = []
    if bands := scale.bands:
        data = [{"score_range": [low, high], "expected_outcome": outcome} for low, high, outcome in bands]
    else:
        levels = [{"level": number, "expected_outcome": outcome} for number, outcome in scale.levels or ()]
        data = [{"expected_outcome": scale.task, "levels": levels}]
    data[0][ASKED] = asked._replace(said=said)
    for index in range(len(data)):
        draft.put((index,), place)
    return draft.finish(dialect, data, name=name, task=scale.task, threshold=threshold, is_text=True, **more)

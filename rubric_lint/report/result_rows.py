"""Read lines of results as rows of a table."""

import json
from collections.abc import Mapping
from typing import Any

from rubric_lint.scoring.grading import ScoringRubric

_EXACT = 1 << 51
"""The number of points up to which a double tells all scores apart."""

_COMPACT = ("id", "rubric", "points", "full", "score", "verdict", "gates_missed", "error")

Row = dict[str, Any]


def read_row(result: str, rubrics: Mapping[str, ScoringRubric]) -> Row:
    """Return what a table has of a result; the exact score is `points` of `full`."""
    found = json.loads(result)
    row = {name: found.get(name) for name in ("id", "rubric", "rubric_hash", "score", "verdict", "criteria", "error")}
    row |= {"points": None, "full": None, "gates_missed": None}
    if row["verdict"] is not None and row["error"] is None:
        row["gates_missed"] = [each["id"] for each in found["criteria"] if not each["gate_met"]]
        full = rubrics[found["rubric"]].full
        if full < _EXACT:
            halves = round(found["score"] * 2 * full)  # the median of two outputs may lie between two points
            row["points"], row["full"] = (halves, 2 * full) if halves % 2 else (halves // 2, full)
    return row


def shorten(result: str, rubrics: Mapping[str, ScoringRubric]) -> str:
    """Return a line of results without its criteria and without other fields of its record."""
    row = read_row(result, rubrics)
    return json.dumps({name: row[name] for name in _COMPACT if row[name] is not None}, ensure_ascii=False)

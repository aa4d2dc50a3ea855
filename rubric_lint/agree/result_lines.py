"""Read the results that `rubric-score` writes as the judge outputs that they came from."""

import json
from collections.abc import Mapping
from typing import Any

from rubric_lint.format.criterion import Shape
from rubric_lint.outputs.decoding import OutputError, read_entry, refuse_flaws
from rubric_lint.outputs.mapping import RESERVED
from rubric_lint.scoring.form import form_of
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.scorer import find_rubric

_KEPT = frozenset({"rubric", "rubric_hash"})


def as_record(text: bytes, rubrics: Mapping[str, ScoringRubric]) -> bytes | None:
    """Return the record whose result an entry is, or None if it is not a result.

    Raises:
        OutputError: if it is the result of an invalid output, or of several samples, which it does not keep.
    """
    try:
        entry = read_entry(text)
        refuse_flaws(entry)
    except OutputError:
        return None
    if "error" in entry and "output" not in entry:
        error = entry["error"]
        message = error.get("message") if isinstance(error, dict) else error
        raise OutputError(f"a result without a score: {message}")
    criteria = entry.get("criteria")
    if not (isinstance(criteria, list) and {"shape", "score", "verdict"} <= entry.keys()):
        return None
    if "verdicts" in entry:
        raise OutputError(
            "a result of several samples, which it does not keep; name the file that `rubric-score judge` wrote"
        )
    record: dict[str, Any] = {key: value for key, value in entry.items() if key not in RESERVED - _KEPT}
    output = _as_output(criteria, find_rubric(entry, rubrics))
    return json.dumps({**record, "output": output}).encode()


def _as_output(criteria: list[Any], rubric: ScoringRubric) -> dict[str, Any]:
    given = [each if isinstance(each, dict) else {} for each in criteria]
    field = form_of(rubric.shape).field
    if rubric.shape is Shape.HOLISTIC:
        return {field: given[0].get("raw") if given else None}
    return {"checks": [{"id": each.get("id"), field: each.get("raw")} for each in given]}

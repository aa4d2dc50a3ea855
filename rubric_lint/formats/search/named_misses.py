"""Name the systems whose criteria are in a prompt, or in several places, and are not read."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.model.finding import NearMissStep, UnreadPlace
from rubric_lint.source.document import Document
from rubric_lint.source.tree import parts_of

_AS_CRITERIA = NearMissStep("rewrite", "write what it asks for as criteria below `rubrics` in a file of its own")
_AS_LIST = NearMissStep("rewrite", "write the lines as one list into a JSON file, and run `rubric-lint adopt` on it")
_IN_A_PROMPT = "is a prompt, and criteria in a prompt are not checked;"


def find_named(document: Document) -> Iterator[UnreadPlace]:
    """Find criteria of known systems that are not read."""
    data = document.data
    if not isinstance(data, dict):
        return
    if not document.number and {"criterion_id", "scoring_type"} <= data.keys():
        reason = "evalkit writes a criterion a line, and criteria of several lines are not read together;"
        yield UnreadPlace((), reason, (_AS_LIST,))
    graders, judge, criteria = data.get("graders"), data.get("judge"), data.get("criteria")
    if _has_any(graders, "kind", "model_judge"):
        yield UnreadPlace(("graders",), f"what a grader of Letta Evals judges by {_IN_A_PROMPT}", (_AS_CRITERIA,))
    if isinstance(judge, dict) and {"prompt", "extraction"} <= judge.keys():
        yield UnreadPlace(("judge", "prompt"), f"what JudgeGate judges by {_IN_A_PROMPT}", (_AS_CRITERIA,))
    if isinstance(data.get("rubric"), str) and {"output", "anchors"} <= data.keys():
        yield UnreadPlace(("rubric",), f"the `rubric` of Rubricon {_IN_A_PROMPT}", (_AS_CRITERIA,))
    if isinstance(data.get("dimensions"), list) and isinstance(criteria, dict) and _has_any(criteria, "dimension"):
        reason = "criteria of rubric-kit take their scores from `dimensions`, and the two are not read together;"
        yield UnreadPlace(("criteria",), reason, (_AS_CRITERIA,))


def _has_any(holder: Any, key: str, value: str = "") -> bool:
    """Return whether a mapping in another one has a key, with some value."""
    parts = parts_of(holder) if isinstance(holder, dict) else ()
    return any(isinstance(part, dict) and key in part and value in ("", part[key]) for part in parts)

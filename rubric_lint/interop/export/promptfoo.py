"""Rubrics as `llm-rubric` assertions of promptfoo, with the threshold without which a score of 0 can pass."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.interop.export.entries import as_entries, as_number
from rubric_lint.interop.export.target import Export, Loss, Rubrics, Target, lost_verdicts, shape_of
from rubric_lint.interop.export.texts import to_yaml
from rubric_lint.rubric import Rubric

_TITLE = "promptfoo"


def write(rubrics: Rubrics) -> Export:
    """A test for each rubric; the rubric itself is what the grader is told, whatever its shape."""
    tests: list[dict[str, Any]] = []
    losses: list[Loss] = []
    for name, rubric in rubrics.items():
        shape_of(name, rubric)
        assertion = {
            "type": "llm-rubric",
            "value": as_entries(rubric),
            "threshold": as_number(rubric.thresholds.pass_at),
        }
        tests.append({"description": name, "assert": [assertion]})
        losses += _lost(name, rubric)
        losses += lost_verdicts(name, rubric, _TITLE, keeps_pass=True)
    return Export(to_yaml({"tests": tests}), tuple(losses))


def _lost(name: str, rubric: Rubric) -> Iterator[Loss]:
    if len(rubric.criteria) > 1:
        message = "the exact average of the criteria: the grader is told the weights, and gives the score itself"
        yield Loss(name, rubric.path, message)
    for criterion in rubric.criteria:
        if criterion.gate is not None:
            message = f"the gate {criterion.gate} of `{criterion.id}`: the grader is told of it, nothing holds to it"
            yield Loss(name, criterion.gate_path, message)


TARGET = Target(_TITLE, "tests with an llm-rubric assertion, as YAML", write)

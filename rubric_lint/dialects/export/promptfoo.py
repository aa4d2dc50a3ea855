"""Write rubrics as promptfoo assertions `llm-rubric`, with a threshold (without one, a score of 0 can pass)."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.dialects.export.carrying import Carried
from rubric_lint.dialects.export.cases import Case, Member, group_cases
from rubric_lint.dialects.export.entries import as_entries, as_number
from rubric_lint.dialects.export.fields import find_holder
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    lost_verdicts,
    shape_of,
)
from rubric_lint.dialects.export.texts import to_yaml
from rubric_lint.format.criterion import Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.text.nunjucks import escape

_NAME = "promptfoo"
_TITLE = "promptfoo"
_TOLD = {
    Shape.CHECKLIST: "Each criterion is met or not. The score is the weighted share of the criteria that are met.",
    Shape.SCORE_RANGES: "Give each criterion a whole number from 0 to 10, in the range whose outcome describes the "
    "output best. The score is the weighted average of these numbers, divided by 10.",
    Shape.HOLISTIC: "Give the output a whole number from 0 to 10, in the range whose outcome describes it best. The "
    "score is that number, divided by 10.",
    Shape.LEVELS: "Choose for each criterion the level whose outcome describes the output best. A level is worth "
    "(level - lowest level) / (highest level - lowest level); the score is the weighted average of that.",
}
_WEIGHTS = " A criterion without `weight` has the weight 1."
_GATES = " A criterion below its `required_min_score` or `required_min_level` fails the output, whatever the score."


def write(rubrics: Rubrics, sources: Sources = NOWHERE, suite: Carried | None = None) -> Export:
    """Write a test for each case; the grader gets the rubric itself, so every shape works."""
    tests: list[dict[str, Any]] = []
    losses: list[Loss] = []
    for case in group_cases(rubrics, sources, suite):
        tests.append(_test(case))
        for member in case.members:
            losses += _lost(member.name, member.rubric)
            losses += lost_verdicts(member.name, member.rubric, _TITLE, keeps_pass=True)
    return Export(to_yaml({**(suite.fields if suite else {}), "tests": tests}), tuple(losses))


def _test(case: Case) -> dict[str, Any]:
    """Write a case; promptfoo shows its description, so the name goes there, or into `metadata` if there is one."""
    fields = dict(case.carried.fields)
    name = escape(str(fields.pop("id", case.name)))
    if fields.get("description"):
        named = {"id": name, **fields["metadata"]} if isinstance(fields.get("metadata"), dict) else {"id": name}
        fields["metadata"] = named
    about = {"description": name, **fields}
    assertions = case.nested(lambda member: _assertion(case, member))
    return {**about, **({"assert": assertions} if assertions else {})}


def _assertion(case: Case, member: Member) -> dict[str, Any]:
    label = {"metric": escape(member.label)} if member.label and not case.is_in_set(member) else {}
    extras = member.source.extras(find_holder(member.rubric), _NAME)
    return {
        "type": "llm-rubric",
        **label,
        **member.weight_beside(case, extras),
        **(extras if member.source.is_template else escape(extras)),
        "value": escape(_write_prompt(member.name, member.rubric)),
        "threshold": as_number(member.rubric.thresholds.pass_at),
    }


def _write_prompt(name: str, rubric: Rubric) -> str:
    """Return one text for the grader: a list would reach it as `[object Object]` or JSON without line ends.

    The text never begins with `file://`, which promptfoo would load.
    """
    shape = shape_of(name, rubric)
    gates = _GATES if any(criterion.gate for criterion in rubric.criteria) else ""
    weights = "" if shape is Shape.HOLISTIC else _WEIGHTS
    head = f"Judge the output by this rubric, and give a score from 0 to 1. {_TOLD[shape]}{weights}{gates}"
    return f"{head}\n\n{to_yaml({'rubrics': as_entries(rubric)})}"


def _lost(name: str, rubric: Rubric) -> Iterator[Loss]:
    if len(rubric.criteria) > 1:
        message = "the exact average of the criteria: the grader sees the weights and gives the score itself"
        yield Loss(name, rubric.path, message)
    for criterion in rubric.criteria:
        if criterion.gate is not None:
            message = (
                f"the gate {criterion.gate} of `{criterion.id}`: promptfoo tells the grader, but does not enforce it"
            )
            yield Loss(name, criterion.gate_path, message)


TARGET = ExportTarget(_TITLE, "tests with an llm-rubric assertion, as YAML", write, has_cases=True)

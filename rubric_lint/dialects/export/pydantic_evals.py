"""Write checklists as data sets of pydantic-evals, with an `LLMJudge` for each criterion."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.dialects.export.criteria import lost_gates
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportSource,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    is_plain,
    lost_verdicts,
    require_shape,
)
from rubric_lint.dialects.export.texts import to_yaml
from rubric_lint.format.criterion import Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import join_words

_TITLE = "pydantic-evals"
_SHAPES = (Shape.CHECKLIST,)
_GAP_CASES = "add `cases`; the judges look at the output of each one"
_GAP_INPUTS = "write the `inputs` of each case"


def write(rubrics: Rubrics, sources: Sources = NOWHERE) -> Export:
    """Write a case for each rubric, or one rubric without a question as the judges of all cases."""
    losses: list[Loss] = []
    cases: list[dict[str, Any]] = []
    gaps: set[str] = set()
    for name, rubric in rubrics.items():
        require_shape(name, rubric, _TITLE, _SHAPES, "its judge says yes or no")
        losses += [*_lost_average(name, rubric), *lost_gates(name, rubric, _TITLE)]
        losses += lost_verdicts(name, rubric, _TITLE)
        question = sources.get(name, ExportSource()).question
        if question is None or not is_plain(question):
            gaps.add(_GAP_INPUTS)
            question = ""
        cases.append({"name": name, "inputs": question, "evaluators": _judges(rubric)})
    if len(cases) == 1 and gaps:
        data = {"name": cases[0]["name"], "cases": [], "evaluators": cases[0]["evaluators"]}
        return Export(to_yaml(data), tuple(losses), (_GAP_CASES,))
    return Export(to_yaml({"name": "rubrics", "cases": cases}), tuple(losses), tuple(gaps))


def _judges(rubric: Rubric) -> list[dict[str, Any]]:
    """Write the judges; an id is the name under which a verdict is reported."""
    return [
        {
            "LLMJudge": {
                "rubric": criterion.outcome or "",
                "include_input": True,
                "assertion": {"evaluation_name": criterion.id, "include_reason": True},
            }
        }
        for criterion in rubric.criteria
    ]


def _lost_average(name: str, rubric: Rubric) -> Iterator[Loss]:
    if len(rubric.criteria) > 1:
        weights = join_words([f"{criterion.id} {criterion.weight}" for criterion in rubric.criteria])
        message = f"the average, with the weights {weights}: {_TITLE} reports each verdict, and counts each once"
        yield Loss(name, rubric.path, message)


TARGET = ExportTarget(_TITLE, "a data set with an LLMJudge for each criterion, as YAML", write, shapes=_SHAPES)

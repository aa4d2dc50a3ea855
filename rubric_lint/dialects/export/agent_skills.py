"""Write checklists as the evals of an Agent Skill, whose judge passes or fails each assertion."""

from typing import Any

from rubric_lint.dialects.export.carrying import Carried
from rubric_lint.dialects.export.cases import group_cases
from rubric_lint.dialects.export.criteria import lost_gates, lost_weights
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    lost_verdicts,
    require_shape,
)
from rubric_lint.dialects.export.texts import to_json
from rubric_lint.format.criterion import Criterion, Shape

_TITLE = "Agent Skills"
_SHAPES = (Shape.CHECKLIST,)
_UNNAMED = "`skill_name`: write the name of the skill, as in its `SKILL.md`"
_MIXED = "AgentV and promptfoo read only assertions that are plain texts: remove the ids if one of them is to run this"


def write(rubrics: Rubrics, sources: Sources = NOWHERE, suite: Carried | None = None) -> Export:
    """Write an eval for each case, with the criteria of all its rubrics."""
    evals: list[dict[str, Any]] = []
    losses: list[Loss] = []
    asks_nothing: list[str] = []
    for case in group_cases(rubrics, sources, suite):
        if not case.members:
            continue
        for name, _, rubric, _ in case.members:
            require_shape(name, rubric, _TITLE, _SHAPES, "its judge passes or fails each assertion")
            losses += [*lost_weights(name, rubric, _TITLE), *lost_gates(name, rubric, _TITLE)]
            losses += lost_verdicts(name, rubric, _TITLE)
        texts = dict(case.carried.fields)
        if "input" not in texts:
            asks_nothing.append(case.name)
        entry = {"id": int(case.name) if case.name.isdecimal() else case.name, "prompt": texts.pop("input", "")}
        criteria = [criterion for member in case.members for criterion in member.rubric.criteria]
        items = [_assertion(criterion, number) for number, criterion in enumerate(criteria, 1)]
        evals.append({**entry, **texts, "assertions": items})
    gaps = [_UNNAMED]
    if asks_nothing:
        gaps.append(f"`prompt` of {', '.join(asks_nothing)}: it is not one plain text, so it is left empty")
    if any(isinstance(item, dict) for each in evals for item in each["assertions"]):
        gaps.append(_MIXED)
    return Export(to_json({"skill_name": "", "evals": evals}), tuple(losses), tuple(gaps))


def _assertion(criterion: Criterion, number: int) -> str | dict[str, str]:
    text = criterion.outcome or ""
    return text if criterion.id == f"rubric-{number}" else {"id": criterion.id, "text": text}


TARGET = ExportTarget(_TITLE, "evals of a skill (evals.json), as JSON", write, shapes=_SHAPES)

"""Write lists of criteria, for systems whose judge says yes or no to each or chooses one of some answers."""

from typing import Any

from rubric_lint.convert.export.entries import sort_levels
from rubric_lint.convert.export.suites import group_cases
from rubric_lint.convert.export.target import ExportContext, ExportError, ExportTarget
from rubric_lint.convert.export.texts import to_json
from rubric_lint.model.criterion import Shape
from rubric_lint.model.messages import join_words


def _write_agent_skills(context: ExportContext) -> str:
    """Write an eval for each case, with the criteria of all its rubrics."""
    evals: list[dict[str, Any]] = []
    has_ids = False
    cases = [case for case in group_cases(context) if case.rubrics]
    for case in cases:
        texts = dict(case.converted.fields)
        items: list[str | dict[str, str]] = []
        criteria = (criterion for member in case.rubrics for criterion in member.rubric.criteria)
        for number, criterion in enumerate(criteria, 1):
            text = criterion.outcome or ""
            is_plain_text = criterion.id == f"rubric-{number}"
            item = text if is_plain_text else {"id": criterion.id, "text": text}
            items.append(item)
            has_ids = has_ids or not is_plain_text
        case_id = int(case.name) if case.name.isdecimal() else case.name
        evals.append({"id": case_id, "prompt": texts.pop("input", ""), **texts, "assertions": items})
    context.todo.append("`skill_name`: write the name of the skill, as in its `SKILL.md`")
    without_prompt = [case.name for case in cases if "input" not in case.converted.fields]
    if without_prompt:
        context.todo.append(f"`prompt` of {', '.join(without_prompt)}: it is not one plain text, so it is left empty")
    if has_ids:
        reason = "AgentV and promptfoo read only assertions that are plain texts"
        context.todo.append(f"{reason}: remove the ids if one of them is to run this")
    return to_json({"skill_name": "", "evals": evals})


def _write_ragas(context: ExportContext) -> str:
    """Write the dictionary of the only criterion with levels, or else a mapping from names to what Ragas takes."""
    scales: dict[str, dict[str, str] | str] = {}
    for name, rubric in context.rubrics.items():
        for criterion in rubric.criteria:
            metric = f"{name}/{criterion.id}" if len(context.rubrics) > 1 else criterion.id
            if metric in scales:
                raise ExportError(name, criterion.path, f"two metrics would have the name `{metric}`; rename one")
            scales[metric] = criterion.outcome or ""
            if criterion.levels:
                levels = sort_levels(criterion)
                scales[metric] = {f"score{level.number}_description": level.outcome or "" for level in levels}
                if criterion.outcome is not None:
                    message = f"what is judged: {context.title} sees only the levels"
                    context.report_loss(name, criterion.outcome_path, message)
                level_names = [f"{level.number} {level.name}" for level in criterion.levels if level.name is not None]
                if level_names:
                    message = f"the names of the levels, {join_words(level_names)}: {context.title} only numbers them"
                    context.report_loss(name, criterion.path_of("levels"), message)
    metric, scale = next(iter(scales.items()))
    if len(scales) > 1 or isinstance(scale, str):
        return to_json(scales)
    name, rubric = context.only
    if rubric.criteria[0].has_own_id:
        message = f"the name `{metric}`: a dictionary has no field for it; set it on the metric"
        context.report_loss(name, (*rubric.criteria[0].path, "id"), message)
    return to_json(scale)


AGENT_SKILLS = ExportTarget(
    "agent-skills",
    "Agent Skills",
    _write_agent_skills,
    shapes=(Shape.CHECKLIST,),
    limit="its judge passes or fails each assertion",
    shows=frozenset({"id", "input", "expected_output"}),
    names_cases=True,
    weights="counts each criterion once",
    gates="has no gates",
)
RAGAS = ExportTarget(
    "ragas",
    "Ragas",
    _write_ragas,
    shapes=(Shape.CHECKLIST, Shape.LEVELS),
    limit="its metrics choose a level, or answer yes or no",
    mixes=True,
    average="reports each metric separately",
    gates="returns scores, not verdicts",
)

"""Write lists of criteria, for systems whose judge says yes or no to each or chooses one of some answers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

from rubric_lint.dialects.export.entries import as_number, bounds, sort_levels, uncovered, word_band
from rubric_lint.dialects.export.suites import group_cases
from rubric_lint.dialects.export.target import ExportError, ExportTarget, Writing, is_plain
from rubric_lint.dialects.export.texts import to_json, to_toml, to_yaml
from rubric_lint.format.criterion import SCORES, Criterion, Level, Scale, Shape
from rubric_lint.format.schema import schema_of
from rubric_lint.messages import join_words, shorten
from rubric_lint.text.path import Path

BY_ITS_ANSWERS = "Choose the answer that describes the output best."  # where a judge needs an instruction
_YES_OR_NO = (Shape.CHECKLIST,)
_YES_OR_LEVEL = (Shape.CHECKLIST, Shape.LEVELS)
_DIGITS = 17


def as_weight(criterion: Criterion) -> int | Decimal:
    """Return the weight of a criterion as written, 1 if it has none."""
    return as_number(criterion.weight if criterion.weight is not None else Decimal(1))


def make_ids(writing: Writing, field: Mapping[str, Any], allowed: str) -> list[str]:
    """Return an id for each criterion that the schema `field` of a target accepts, and report changed ones.

    ASCII letters and digits stay, and so do the characters in `allowed`; others become underscores.

    Raises:
        ExportError: if an id is still not accepted, or becomes that of another criterion.
    """
    name, rubric = writing.only
    found: list[str] = []
    for criterion in rubric.criteria:
        own = "".join(char if (char.isascii() and char.isalnum()) or char in allowed else "_" for char in criterion.id)
        place = criterion.path_of("id")
        if own in found or not re.fullmatch(field["pattern"], own):
            expected = f"expected {field['x-expected']}, once in a file"
            raise ExportError(name, place, f"{writing.title} refuses the id `{shorten(own)}`: {expected}; rename it")
        if own != criterion.id and criterion.has_own_id:
            writing.lose(name, place, f"the id `{shorten(criterion.id)}`, which is `{own}` in {writing.title}")
        found.append(own)
    return found


def _require_even(writing: Writing, criterion: Criterion) -> list[int]:
    """Return the levels of a criterion in ascending order; raise ExportError if they are not evenly spaced."""
    name, _ = writing.only
    numbers = [level.number or 0 for level in sort_levels(criterion)]
    if len({after - before for before, after in pairwise(numbers)}) > 1:
        message = (
            f"{writing.title} spaces its answers evenly, and the levels {numbers} are not: the scores would change"
        )
        raise ExportError(name, criterion.path_of("levels"), message)
    return numbers


def _level_worths(writing: Writing, criterion: Criterion) -> Iterator[tuple[Level, int | Decimal]]:
    """Yield each level with what it is worth from 0 to 1, in ascending order, and report those that are rounded."""
    name, _ = writing.only
    levels = sort_levels(criterion)
    numbers = [level.number or 0 for level in levels]
    lowest, span = numbers[0], numbers[-1] - numbers[0]
    for level, number in zip(levels, numbers, strict=True):
        worth = round(Decimal(number - lowest) / span, _DIGITS).normalize()
        if worth * span != number - lowest:
            message = f"the exact value {number - lowest}/{span} of the level {number}: {writing.title} has decimals"
            writing.lose(name, level.number_path, f"{message}, so it is rounded to {_DIGITS} digits")
        yield level, as_number(worth + 0)


def _write_adk(writing: Writing) -> str:
    """Write the metric that judges the final response; another metric takes the same entries."""
    _, rubric = writing.only
    entries = [
        {"rubric_id": criterion.id, "rubric_content": {"text_property": criterion.outcome or ""}}
        for criterion in rubric.criteria
    ]
    metric = {"threshold": as_number(rubric.thresholds.pass_at), "rubrics": entries}
    return to_json({"criteria": {"rubric_based_final_response_quality_v1": metric}})


def _write_trpc_agent(writing: Writing) -> str:
    """Write a list with the metric that judges the response; one file has each metric once."""
    _, rubric = writing.only
    items = [{"id": criterion.id, "content": {"text": criterion.outcome or ""}} for criterion in rubric.criteria]
    about = {"metricName": "llm_rubric_response", "threshold": as_number(rubric.thresholds.pass_at)}
    writing.gaps.append(
        "name the model that judges: `judgeModel` with `providerName` and `modelName`, beside `rubrics`"
    )
    return to_json([{**about, "criterion": {"llmJudge": {"rubrics": items}}}])


def _write_pydantic_evals(writing: Writing) -> str:
    """Write a case for each rubric, or one rubric without a question as the judges of all cases."""
    cases: list[dict[str, Any]] = []
    lacks_inputs = False
    for name, rubric in writing.rubrics.items():
        question = writing.source(name).question
        if question is None or not is_plain(question):
            lacks_inputs, question = True, ""
        judges = []
        for criterion in rubric.criteria:
            named = {"evaluation_name": criterion.id, "include_reason": True}
            judge = {"rubric": criterion.outcome or "", "include_input": True, "assertion": named}
            judges.append({"LLMJudge": judge})
        cases.append({"name": name, "inputs": question, "evaluators": judges})
    if len(cases) == 1 and lacks_inputs:
        writing.gaps.append("add `cases`; the judges look at the output of each one")
        return to_yaml({"name": cases[0]["name"], "cases": [], "evaluators": cases[0]["evaluators"]})
    if lacks_inputs:
        writing.gaps.append("write the `inputs` of each case")
    return to_yaml({"name": "rubrics", "cases": cases})


def _write_agent_skills(writing: Writing) -> str:
    """Write an eval for each case, with the criteria of all its rubrics."""
    evals: list[dict[str, Any]] = []
    has_ids = False
    cases = [case for case in group_cases(writing) if case.members]
    for case in cases:
        texts = dict(case.carried.fields)
        items: list[str | dict[str, str]] = []
        criteria = (criterion for member in case.members for criterion in member.rubric.criteria)
        for number, criterion in enumerate(criteria, 1):
            text = criterion.outcome or ""
            is_plain_text = criterion.id == f"rubric-{number}"
            items.append(text if is_plain_text else {"id": criterion.id, "text": text})
            has_ids = has_ids or not is_plain_text
        called = int(case.name) if case.name.isdecimal() else case.name
        evals.append({"id": called, "prompt": texts.pop("input", ""), **texts, "assertions": items})
    writing.gaps.append("`skill_name`: write the name of the skill, as in its `SKILL.md`")
    if asks_nothing := [case.name for case in cases if "input" not in case.carried.fields]:
        writing.gaps.append(f"`prompt` of {', '.join(asks_nothing)}: it is not one plain text, so it is left empty")
    if has_ids:
        reason = "AgentV and promptfoo read only assertions that are plain texts"
        writing.gaps.append(f"{reason}: remove the ids if one of them is to run this")
    return to_json({"skill_name": "", "evals": evals})


def _write_tolokaforge(writing: Writing) -> str:
    """Write the judge's part; a gate that weighs nothing is a `required` criterion, which is outside the average."""
    name, rubric = writing.only
    ids = make_ids(writing, schema_of("tolokaforge/v1.json").entry_fields["id"], "_")
    has_only_gates = all(criterion.gate for criterion in rubric.criteria)
    if has_only_gates and len(rubric.criteria) > 1:
        message = f"the share of the criteria that are met: {writing.title} gives 1 or 0 if all are required"
        writing.lose(name, rubric.path, message)
    entries: list[dict[str, Any]] = []
    for criterion, called in zip(rubric.criteria, ids, strict=True):
        is_outside = criterion.gate and as_weight(criterion) == 0
        entry: dict[str, Any] = {"id": called, "description": criterion.outcome or ""}
        if has_only_gates or not is_outside:
            entry["weight"] = as_weight(criterion)
        if has_only_gates or is_outside:
            entry["required"] = True
        elif criterion.gate:
            message = f"{writing.title} leaves a required criterion out of the average, and this one weighs "
            message = f"the gate {criterion.gate} of `{criterion.id}`: {message}{criterion.weight}"
            writing.lose(name, criterion.gate_path, message)
        entries.append(entry)
    pass_at = as_number(rubric.thresholds.pass_at)
    combine = {"method": "weighted", "weights": {"llm_judge": 1}, "pass_threshold": pass_at}
    return to_yaml({"combine": combine, "llm_judge": {"rubric": {"criteria": entries}}})


def _write_harbor(writing: Writing) -> str:
    """Write the criteria with their weighted average; the judge is Harbor's default until one is named."""
    name, rubric = writing.only
    fields = schema_of("harbor/v1.json").entry_fields
    tables: list[tuple[str, dict[str, Any]]] = []
    for criterion, called in zip(rubric.criteria, make_ids(writing, fields["name"], "_-"), strict=True):
        about = criterion.outcome or BY_ITS_ANSWERS
        table: dict[str, Any] = {"name": called, "description": about, "weight": as_weight(criterion)}
        if criterion.levels:
            _require_even(writing, criterion)
            if len(criterion.levels) > (most := fields["levels"]["maxItems"]):
                message = f"`{criterion.id}` has {len(criterion.levels)} levels, and {writing.title} takes at most "
                raise ExportError(name, criterion.path_of("levels"), f"{message}{most}")
            table |= {"type": "rubric", "levels": [level.outcome for level in sort_levels(criterion)]}
        tables.append(("[[criterion]]", table))
    judge = 'judge = "claude-code" and files = ["/app/answer.md"]'
    writing.gaps.append(f"name the judge and what it reads in `[judge]`, such as {judge}")
    return to_toml([*tables, ("[scoring]", {"aggregation": "weighted-mean"})])


def _write_requirement(writing: Writing) -> str:
    """Write criteria with their requirements; levels are `options`, which only autorubric reads.

    A criterion that an answer earns by not meeting it has the points to lose.
    """
    _, rubric = writing.only
    entries: list[dict[str, Any]] = []
    for criterion in rubric.criteria:
        weight = -as_weight(criterion) if criterion.is_negated else as_weight(criterion)
        entry: dict[str, Any] = {"name": criterion.id, "weight": weight}
        entry["requirement"] = criterion.outcome or BY_ITS_ANSWERS
        if criterion.levels:
            worths = _level_worths(writing, criterion)
            entry["options"] = [{"label": level.outcome, "value": worth} for level, worth in worths]
        entries.append(entry)
    return to_yaml({"rubric": entries})


def _write_autoevals(writing: Writing) -> str:
    """Write the file that `LLMClassifier.from_spec_file` reads; the number of a level is the name of its answer."""
    name, rubric = writing.only
    if len(rubric.criteria) > 1:
        message = f"{writing.title} asks for one choice, and there are {len(rubric.criteria)} criteria"
        raise ExportError(name, rubric.criteria[1].path, f"{message}; write a file for each")
    criterion = rubric.criteria[0]
    task = criterion.outcome or (rubric.view.task if rubric.view else "")
    refuse_template(writing, criterion.outcome_path, task)
    if criterion.has_own_id:
        message = f"the name `{criterion.id}`: a classifier is named where it is used"
        writing.lose(name, (*criterion.path, "id"), message)
    lines = [BY_ITS_ANSWERS, ""]
    scores: dict[str, int | Decimal] = {}
    for level, worth in _level_worths(writing, criterion):
        text = level.outcome or ""
        refuse_template(writing, level.outcome_path, text)
        joined = " ".join(text.split())
        if joined != text:
            message = f"white space in this text: an answer of {writing.title} is one line"
            writing.lose(name, level.outcome_path, message)
        lines.append(f"({level.number}) {joined}")
        scores[str(level.number)] = worth
    lines += ["", "[What is judged]", task] if task else []
    lines += ["", "[Input]", "{{input}}", "", "[Output]", "{{output}}"]
    return to_yaml({"prompt": "\n".join(lines), "choice_scores": scores})


def refuse_template(writing: Writing, path: Path, text: str) -> None:
    """Refuse a text in which the target would fill in something."""
    if "{{" in text:
        name, _ = writing.only
        raise ExportError(name, path, f"{writing.title} fills in what follows `{{{{`, and has no escape for it")


def _write_verifiers(writing: Writing) -> str:
    """Write criteria for `RubricJudge`; its answers are spaced evenly, as our scores are, so `score` means the same."""
    name, rubric = writing.only
    if rubric.shape is Shape.HOLISTIC:
        lines = _list_bands(writing, rubric.scales[0])
        return to_json({"criteria": [_write_choices(name, None, 1, lines, SCORES)]})
    criteria: list[dict[str, Any]] = []
    for criterion in rubric.criteria:
        about = criterion.id, criterion.outcome, as_weight(criterion)
        if criterion.scale:
            criteria.append(_write_choices(*about, _list_bands(writing, criterion.scale), SCORES))
        elif criterion.levels:
            numbers = _require_even(writing, criterion)
            levels = sort_levels(criterion)
            lines = [f"{each.number}{f' ({each.name})' if each.name else ''}: {each.outcome}" for each in levels]
            criteria.append(_write_choices(*about, lines, numbers))
        else:
            criteria.append({"name": criterion.id, "text": criterion.outcome or "", "weight": as_weight(criterion)})
    return to_json({"criteria": criteria})


def _write_choices(
    name: str, task: str | None, weight: int | Decimal, lines: Iterable[str], answers: Iterable[int]
) -> dict[str, Any]:
    text = "\n".join([*([task] if task else []), *lines])
    return {"name": name, "text": text, "weight": weight, "choices": [*map(str, answers)]}


def _list_bands(writing: Writing, scale: Scale) -> list[str]:
    if uncovered(scale):
        reason = "spaces its answers evenly, and these bands leave scores out: the other scores would change"
        raise ExportError(writing.only[0], scale.path, f"{writing.title} {reason}")
    return [f"{word_band(band)}: {band.outcome}" for band in sorted(scale.bands, key=bounds)]


def _write_ragas(writing: Writing) -> str:
    """Write the dictionary of the only criterion with levels, or else a mapping from names to what Ragas takes."""
    scales: dict[str, dict[str, str] | str] = {}
    for name, rubric in writing.rubrics.items():
        for criterion in rubric.criteria:
            called = f"{name}/{criterion.id}" if len(writing.rubrics) > 1 else criterion.id
            if called in scales:
                raise ExportError(name, criterion.path, f"two metrics would have the name `{called}`; rename one")
            scales[called] = criterion.outcome or ""
            if criterion.levels:
                levels = sort_levels(criterion)
                scales[called] = {f"score{level.number}_description": level.outcome or "" for level in levels}
                if criterion.outcome is not None:
                    message = f"what is judged: {writing.title} sees only the levels"
                    writing.lose(name, criterion.outcome_path, message)
                if named := [f"{level.number} {level.name}" for level in criterion.levels if level.name is not None]:
                    message = f"the names of the levels, {join_words(named)}: {writing.title} only numbers them"
                    writing.lose(name, criterion.path_of("levels"), message)
    ((called, scale), *others) = scales.items()
    if others or isinstance(scale, str):
        return to_json(scales)
    name, rubric = writing.only
    if rubric.criteria[0].has_own_id:
        message = f"the name `{called}`: a dictionary has no field for it; set it on the metric"
        writing.lose(name, (*rubric.criteria[0].path, "id"), message)
    return to_json(scale)


_NO_GATES = "has no gates"
ADK = ExportTarget(
    "adk",
    "Google ADK",
    _write_adk,
    shapes=_YES_OR_NO,
    limit="its judge says yes or no",
    is_single=True,
    keeps={"pass"},
    weights="counts each criterion once",
    gates=_NO_GATES,
)
TRPC_AGENT = replace(ADK, name="trpc-agent", title="tRPC-Agent", writer=_write_trpc_agent)
PYDANTIC_EVALS = ExportTarget(
    "pydantic-evals",
    "pydantic-evals",
    _write_pydantic_evals,
    shapes=_YES_OR_NO,
    limit="its judge says yes or no",
    shows=frozenset({"id", "input"}),
    names_rubrics=True,
    average="reports each verdict, and counts each once",
    gates=_NO_GATES,
)
AGENT_SKILLS = ExportTarget(
    "agent-skills",
    "Agent Skills",
    _write_agent_skills,
    shapes=_YES_OR_NO,
    limit="its judge passes or fails each assertion",
    shows=frozenset({"id", "input", "expected_output"}),
    names_cases=True,
    weights="counts each criterion once",
    gates=_NO_GATES,
)
TOLOKAFORGE = ExportTarget(
    "tolokaforge",
    "tolokaforge",
    _write_tolokaforge,
    shapes=_YES_OR_NO,
    limit="its judge says met or unmet",
    is_single=True,
    keeps={"pass"},
)
HARBOR = ExportTarget(
    "harbor",
    "Harbor rewardkit",
    _write_harbor,
    shapes=_YES_OR_LEVEL,
    limit="its judge says yes or no, or chooses a level",
    is_single=True,
    gates=_NO_GATES,
)
REQUIREMENT = ExportTarget(
    "requirement",
    "autorubric",
    _write_requirement,
    shapes=_YES_OR_LEVEL,
    limit="its judge says met or unmet, or chooses an option",
    is_single=True,
    has_deductions=True,
    gates=_NO_GATES,
)
AUTOEVALS = ExportTarget(
    "autoevals",
    "autoevals",
    _write_autoevals,
    shapes=(Shape.LEVELS,),
    limit="its judge chooses one of some answers, once",
    is_single=True,
    gates=_NO_GATES,
)
VERIFIERS = ExportTarget(
    "verifiers",
    "verifiers",
    _write_verifiers,
    is_single=True,
    gates="has rewards, not verdicts",
)
RAGAS = ExportTarget(
    "ragas",
    "Ragas",
    _write_ragas,
    shapes=_YES_OR_LEVEL,
    limit="its metrics choose a level, or answer yes or no",
    average="reports each metric separately",
    gates="returns scores, not verdicts",
)

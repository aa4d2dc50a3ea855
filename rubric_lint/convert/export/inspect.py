"""Write a scorer for Inspect, with a question for each criterion, that joins the answers as our scores do.

The program holds the whole score: the exact average, the gates and both thresholds. Source: `model_graded_qa` of
inspect_ai 0.3.285.
"""

from collections.abc import Iterator
from typing import Any

from rubric_lint.convert.export.entries import bounds, format_band, sort_levels
from rubric_lint.convert.export.target import ExportContext, ExportTarget
from rubric_lint.convert.export.texts import render
from rubric_lint.model.criterion import HIGHEST, LOWEST, SPAN, Scale, Shape


def _write_inspect(context: ExportContext) -> str:
    """Write the program; its texts are values, so no template reads them."""
    context.todo.append("use it as `Task(..., scorer=rubric())`; `--model-role grader=...` names the judge")
    name, rubric = context.only
    return render("inspect", name=name, criteria=list(_list_criteria(context)), thresholds=rubric.thresholds)


def _list_criteria(context: ExportContext) -> Iterator[dict[str, Any]]:
    """Yield the question of each criterion, the answers with their numbers, and what numbers are worth 0 and 1."""
    name, rubric = context.only
    task = rubric.task
    if rubric.shape is Shape.HOLISTIC:
        lines, answers = _list_scores(rubric.scales[0])
        about: dict[str, Any] = {"id": name, "weight": "1", "gate": None, "question": _ask(task, lines)}
        yield {**about, "span": list(rubric.span), "answers": answers}
    for criterion in rubric.criteria:
        lines = ["yes: The output meets this.", "no: It does not."]
        answers, span = {"no": LOWEST, "yes": HIGHEST}, [LOWEST, HIGHEST]
        if criterion.is_negated:
            answers = {"no": HIGHEST, "yes": LOWEST}
        if criterion.scale:
            lines, answers = _list_scores(criterion.scale)
            span = list(criterion.scale.ends)
        elif criterion.levels:
            levels = sort_levels(criterion)
            numbers = [level.number or 0 for level in levels]
            lines = []
            for level in levels:
                named = f" ({level.name})" if level.name else ""
                lines.append(f"{level.number}{named}: {level.outcome or ''}")
            answers = {str(number): number for number in numbers}
            span = list((criterion.fields or {}).get(SPAN, (numbers[0], numbers[-1])))
        about = {"id": criterion.id, "weight": str(criterion.weight), "gate": criterion.gate}
        yield {**about, "question": _ask(criterion.outcome or task, lines), "span": span, "answers": answers}


def _list_scores(scale: Scale) -> tuple[list[str], dict[str, int]]:
    """Return a line for each band, and the scores that a judge may give."""
    bands = sorted(scale.bands, key=bounds)
    lines = [f"{format_band(band)}: {band.outcome or ''}" for band in bands]
    return lines, {str(score): score for band in bands for score in band.scores}


_BY_ITS_ANSWERS = "Choose the answer that describes the output best."


def _ask(task: str, lines: list[str]) -> str:
    answers = "\n".join(lines)
    return f"{task or _BY_ITS_ANSWERS}\n\n{answers}"


INSPECT = ExportTarget(
    "inspect",
    "Inspect",
    _write_inspect,
    is_single=True,
    keeps_all=True,
    has_penalties=True,
    mixes=True,
    shows=frozenset({"id"}),
    keeps={"pass", "borderline"},
    writes_mark=True,
)

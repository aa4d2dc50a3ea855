"""Write a question for each criterion, for targets that join the answers by a formula or a program.

The programs for Inspect and Braintrust hold the whole score: the exact average, the gates and both thresholds. The
formula of OpenAI holds the average. Sources: `model_graded_qa` of inspect_ai 0.3.285, `LLMClassifier` of autoevals
0.4.1, and `calculate_output` in https://platform.openai.com/docs/guides/graders.
"""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from keyword import kwlist
from typing import Any, NamedTuple

from rubric_lint.dialects.export.criteria import BY_ITS_ANSWERS, as_weight, make_ids, refuse_template
from rubric_lint.dialects.export.entries import bounds, sort_levels, word_band
from rubric_lint.dialects.export.target import ExportTarget, Writing
from rubric_lint.dialects.export.texts import render, to_json
from rubric_lint.format.criterion import HIGHEST, LOWEST, Scale, Shape
from rubric_lint.text.path import Path


class _Question(NamedTuple):
    """What a judge is asked about one criterion, or about a holistic scale.

    `steps` are its bands or levels in ascending order, each with its numbers, its text and the place of that, none for
    a criterion that is met or not. `answers` are the allowed ones with their numbers, `span` what is worth 0 and 1.
    """

    id: str
    path: Path
    task: str
    steps: tuple[tuple[str, str, Path], ...]
    answers: dict[str, int]
    span: tuple[int, int]
    weight: int | Decimal
    gate: int | None


def _ask(writing: Writing) -> Iterator[_Question]:
    name, rubric = writing.only
    task = rubric.view.task if rubric.view else ""
    if rubric.shape is Shape.HOLISTIC:
        yield _Question(name, rubric.path, task, *_list_scores(rubric.scales[0]), (LOWEST, HIGHEST), 1, None)
    for criterion in rubric.criteria:
        steps: tuple[tuple[str, str, Path], ...] = ()
        answers, span = {"no": LOWEST, "yes": HIGHEST}, (LOWEST, HIGHEST)
        if criterion.scale:
            steps, answers = _list_scores(criterion.scale)
        elif levels := sort_levels(criterion):
            numbers = [level.number or 0 for level in levels]
            steps = tuple(
                (f"{each.number}{f' ({each.name})' if each.name else ''}", each.outcome or "", each.outcome_path)
                for each in levels
            )
            answers, span = {str(number): number for number in numbers}, (numbers[0], numbers[-1])
        about = criterion.id, criterion.path, criterion.outcome or task
        yield _Question(*about, steps, answers, span, as_weight(criterion), criterion.gate)


def _list_scores(scale: Scale) -> tuple[tuple[tuple[str, str, Path], ...], dict[str, int]]:
    bands = sorted(scale.bands, key=bounds)
    steps = tuple((word_band(band), band.outcome or "", band.outcome_path) for band in bands)
    return steps, {str(score): score for band in bands for score in band.scores}


_VARIABLE = {
    "pattern": rf"(?!(?:abs|ceil|exp|floor|log|max|min|sqrt|{'|'.join(kwlist)})$)[A-Za-z_][A-Za-z0-9_]*",
    "x-expected": "a letter, then letters, digits or underscores, and no function or keyword",
}


def _write_openai(writing: Writing) -> str:
    """Write a `multi` grader: labels for a criterion that is met or not, else a score; its formula is the average."""
    name, _ = writing.only
    questions = list(_ask(writing))
    graders: dict[str, dict[str, Any]] = {}
    terms: list[str] = []
    for called, asked in zip(make_ids(writing, _VARIABLE, "_") or ["score"], questions, strict=True):
        for path, text in [(asked.path, asked.task), *((path, text) for _, text, path in asked.steps)]:
            refuse_template(writing, path, text)
        lines = [f"Score {head}: {' '.join(text.split())}" for head, text, _ in asked.steps]  # one line each
        answers = "\n".join(lines or ["met: The output meets this.", "unmet: It does not."])
        prompt = f"{asked.task or BY_ITS_ANSWERS}\n\n{answers}"
        told = "Question:\n{{item.input}}\n\nOutput:\n{{sample.output_text}}"
        sent = [{"role": "developer", "content": prompt}, {"role": "user", "content": told}]
        grader = {"name": asked.id, "model": "gpt-5-mini", "input": sent}
        if not asked.steps:
            graders[called] = {"type": "label_model", **grader, "labels": ["met", "unmet"], "passing_labels": ["met"]}
            share = called
        else:
            lowest, highest = asked.span
            graders[called] = {"type": "score_model", **grader, "range": [lowest, highest]}
            shifted = f"({called} {'+' if lowest < 0 else '-'} {abs(lowest)})" if lowest else called
            share = f"{shifted} / {highest - lowest}"
            if len(asked.answers) <= highest - lowest:
                message = f"the rule that the answer is one of {', '.join(asked.answers)}: {writing.title} takes any "
                writing.lose(name, asked.path, f"{message}number from {lowest} to {highest}")
        terms.append(f"{Decimal(asked.weight):f} * {share}")
    total = sum(Decimal(asked.weight) for asked in questions)
    formula = f"({' + '.join(terms)}) / {total:f}" if len(terms) > 1 or total != 1 else share
    writing.gaps.append(
        "name the judge in `model`, and the field of your data with the question in place of `item.input`"
    )
    return to_json({"type": "multi", "name": name, "graders": graders, "calculate_output": formula})


def _write_program(template: str, advice: str, writing: Writing) -> str:
    """Write a scorer with a question for each criterion; its texts are values, so no template reads them."""
    writing.gaps.append(advice)
    name, rubric = writing.only
    criteria: list[dict[str, Any]] = []
    for asked in _ask(writing):
        lines = [f"{head}: {text}" for head, text, _ in asked.steps]
        answers = "\n".join(lines or ["yes: The output meets this.", "no: It does not."])
        question = f"{asked.task or BY_ITS_ANSWERS}\n\n{answers}"
        about = {"id": asked.id, "weight": str(asked.weight), "gate": asked.gate, "question": question}
        criteria.append({**about, "span": list(asked.span), "answers": asked.answers})
    return render(template, name=name, criteria=criteria, thresholds=rubric.thresholds)


INSPECT = ExportTarget(
    "inspect",
    "Inspect",
    partial(
        _write_program,
        "inspect",
        "use it as `Task(..., scorer=rubric())`; `--model-role grader=...` names the judge",
    ),
    is_single=True,
    shows=frozenset({"id"}),
    keeps={"pass", "borderline"},
)
BRAINTRUST = replace(
    INSPECT,
    name="braintrust",
    title="Braintrust",
    writer=partial(
        _write_program, "braintrust", "use it as `Eval(..., scores=[rubric])`, and name the judge in `MODEL`"
    ),
)
OPENAI_GRADERS = ExportTarget(
    "openai-graders",
    "OpenAI",
    _write_openai,
    is_single=True,
    shows=frozenset({"id"}),
    gates="gives a score, not a verdict",
)

"""Divide a rubric into what each request asks, and join the outputs."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rubric_lint.format.criterion import Shape
from rubric_lint.scoring.grading import JudgeOutput, ScoringRubric


def order_criteria(rubric: ScoringRubric, seed: int, key: str, model: str, sample: int) -> tuple[str, ...]:
    """Return the ids of the criteria in the order of one output, the same on every machine and in every version.

    They are sorted by the SHA-256 of the JSON list of `seed`, the answer's id (`key` is its JSON), the name of the
    model, the number of the sample from 1, and the criterion's id.
    """
    return tuple(
        sorted(
            (criterion.id for criterion in rubric.criteria),
            key=lambda name: hashlib.sha256(json.dumps([seed, json.loads(key), model, sample, name]).encode()).digest(),
        )
    )


def keep_criteria(rubric: ScoringRubric, names: Sequence[str]) -> ScoringRubric:
    """Return a rubric with only the criteria of these names, in their order, for a prompt."""
    if rubric.shape is Shape.HOLISTIC or names == [criterion.id for criterion in rubric.criteria]:
        return rubric
    entries = {entry.id: entry for entry in rubric.model.entries}
    criteria = {criterion.id: criterion for criterion in rubric.criteria}
    model = rubric.model._replace(entries=tuple(entries[name] for name in names))
    return replace(rubric, model=model, criteria=tuple(criteria[name] for name in names))


def divide(rubric: ScoringRubric, order: Sequence[str], *, per_criterion: bool) -> list[ScoringRubric]:
    """Return the rubric of each request: one with all criteria in this order, or one for each."""
    groups = [[name] for name in order] if per_criterion else [list(order)]
    return [keep_criteria(rubric, names) for names in groups]


def join_outputs(rubric: ScoringRubric, parts: Iterable[tuple[ScoringRubric, JudgeOutput]]) -> JudgeOutput:
    """Return the output of a rubric from those of its parts.

    The overall reasonings of several parts are joined, each on a line after the id of its criterion.
    """
    parts = list(parts)
    found = {
        criterion.id: (answer, reason)
        for part, output in parts
        for criterion, answer, reason in zip(part.criteria, output.answers, output.reasons, strict=True)
    }
    overall = {part.criteria[0].id: output.reasoning for part, output in parts if output.reasoning}
    reasoning = parts[0][1].reasoning
    if len(parts) > 1:
        lines = [f"{each.id}: {overall[each.id]}" for each in rubric.criteria if each.id in overall]
        reasoning = "\n".join(lines) or None
    answers, reasons = zip(*(found[criterion.id] for criterion in rubric.criteria), strict=True)
    return JudgeOutput(answers, reasons, reasoning)

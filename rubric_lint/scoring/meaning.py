"""What a rubric means, apart from how it is written: the one notion that the hash and `rubric-lint diff` share.

Comments, order, notation, line breaks, deprecated names and the rubric's own name mean nothing. Weights count as shares
of the average, so doubling all of them changes nothing. A gate that no score can miss is no gate.
"""

import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rubric_lint.format.criterion import Criterion, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.scoring.grading import ScoringCriterion

HASH_LENGTH = 16
"""How many hexadecimal digits a hash of a meaning has."""

_VERSION = 1
"""The version of the canonical form. It changes when the notion does, so that hashes of two notions never match."""

Words = tuple[str, ...] | None
"""A text by its words, None for none."""


def words(text: str | None) -> Words:
    """Return the words of a text: where its lines break changes nothing that it says."""
    return None if text is None else tuple(text.split())


def read_outcomes(criterion: ScoringCriterion) -> dict[int, str | None]:
    """Return what each score or level earns; nothing for yes and no."""
    return {grade.answer: grade.outcome for grade in criterion.grades if not isinstance(grade.answer, bool)}


def read_scores(criterion: ScoringCriterion) -> tuple[tuple[int, Words], ...]:
    """Return what each score earns, in words and in ascending order."""
    return tuple((score, words(outcome)) for score, outcome in read_outcomes(criterion).items())


def read_levels(criterion: Criterion) -> tuple[tuple[int, str | None, Words], ...]:
    """Return the number, the name and the words of each level, in ascending order."""
    levels = ((level.number or 0, level.name, words(level.outcome)) for level in criterion.levels or ())
    return tuple(sorted(levels, key=lambda level: level[0]))


def read_task(rubric: Rubric) -> str | None:
    """Return what is judged as a whole, where the dialect of the rubric says it."""
    return (rubric.view.task if rubric.view else "") or None


def read_gate(criterion: Criterion, scoring: ScoringCriterion) -> int | None:
    """Return the gate, if it can be missed; on a checklist each gate that can be missed means the same."""
    if all(grade.gate_met for grade in scoring.grades):
        return None
    return criterion.gate if criterion.scale or criterion.levels else 10


def says(criterion: Criterion, scoring: ScoringCriterion) -> Hashable:
    """Return all that a judge is told of a criterion but its id."""
    return words(criterion.outcome), read_scores(scoring), read_levels(criterion)


def hash_meaning(rubric: Rubric, criteria: Sequence[ScoringCriterion]) -> str:
    """Return the canonical hash of what a rubric means; `criteria` are its own, as they are scored."""
    canonical = json.dumps([_VERSION, _describe(rubric, criteria)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:HASH_LENGTH]


def _describe(rubric: Rubric, criteria: Sequence[ScoringCriterion]) -> Mapping[str, Any]:
    described: dict[str, Any] = {
        "shape": str(rubric.shape),
        "thresholds": [str(Fraction(threshold)) for threshold in rubric.thresholds],
        "task": words(read_task(rubric)),
    }
    if rubric.shape is Shape.HOLISTIC:
        return {**described, "scores": read_scores(criteria[0])}
    listed = [_describe_criterion(*each) for each in zip(rubric.criteria, criteria, strict=True)]
    return {**described, "criteria": sorted(listed, key=lambda item: str(item["id"]))}


def _describe_criterion(criterion: Criterion, scoring: ScoringCriterion) -> Mapping[str, Any]:
    outcome, scores, levels = words(criterion.outcome), read_scores(scoring), read_levels(criterion)
    return {
        "id": criterion.id,
        "outcome": outcome,
        "scores": None if levels else scores,
        "levels": levels,
        "share": str(scoring.share),
        "gate": read_gate(criterion, scoring),
    }

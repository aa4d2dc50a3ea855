"""Drop criteria at random, the same ones for all completions of one prompt."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from rubric_lint.scoring.grading import JudgeOutput, Scored, ScoringRubric

_RANGE = 2**64


class Kept(NamedTuple):
    """What is kept of a rubric: a rubric of these criteria, their places, and the ids of the dropped ones."""

    rubric: ScoringRubric
    places: tuple[int, ...]
    dropped: tuple[str, ...]

    def grade(self, output: JudgeOutput) -> Scored:
        """Return the result of an output for the whole rubric by the criteria that are kept."""
        if not self.dropped:
            return self.rubric.grade(output)
        answers = tuple(output.answers[place] for place in self.places)
        reasons = tuple(output.reasons[place] for place in self.places)
        return self.rubric.grade(JudgeOutput(answers, reasons, output.reasoning))


def drop_criteria(rubric: ScoringRubric, dropout: float, seed: int, step: int | None, group: str) -> Kept:
    """Drop each criterion with the probability `dropout`, but keep one with a positive weight.

    Each criterion gets a number from 0 to 1, made of the first 8 bytes of the SHA-256 of the JSON list of `seed`,
    `step`, `group` and its id. Those below `dropout` are dropped. If no other criterion can earn points, the one with
    the highest number of those that can is kept. A greater `dropout` never keeps a criterion that a smaller one drops.
    """
    everything = tuple(range(len(rubric.criteria)))
    if not dropout:
        return Kept(rubric, everything, ())
    numbers = [_draw(seed, step, group, criterion.id) for criterion in rubric.criteria]
    earning = [place for place in everything if rubric.criteria[place].share > 0]
    rescued = max(earning, key=numbers.__getitem__)
    kept = tuple(place for place in everything if place == rescued or numbers[place] >= dropout * _RANGE)
    dropped = tuple(rubric.criteria[place].id for place in everything if place not in kept)
    return Kept(_keep(rubric, kept) if dropped else rubric, kept, dropped)


def _draw(seed: int, step: int | None, group: str, name: str) -> int:
    told = json.dumps([seed, step, group, name]).encode()
    return int.from_bytes(hashlib.sha256(told).digest()[:8])


def _keep(rubric: ScoringRubric, places: Sequence[int]) -> ScoringRubric:
    """Return a rubric of some criteria: the score is their weighted average, and the thresholds are the same parts."""
    criteria = tuple(rubric.criteria[place] for place in places)
    full = int(rubric.full * sum((each.share for each in criteria if each.share > 0), Fraction(0)))
    pass_from, borderline_from = (math.ceil(Fraction(threshold) * full) for threshold in rubric.model.thresholds)
    return replace(rubric, criteria=criteria, full=full, pass_from=pass_from, borderline_from=borderline_from)

"""Find what is certain about a verdict once the answer to one criterion is known, whatever the others get."""

from typing import NamedTuple

from rubric_lint.scoring.grading import Grade, ScoringRubric, Verdict


class Prospect(NamedTuple):
    """The worst and the best verdict that one answer to a criterion still allows; some answers reach both.

    `points` are those of the whole rubric with the best answers to the other criteria, at least 0.
    """

    worst: Verdict
    best: Verdict
    points: int

    @property
    def is_certain(self) -> bool:
        """Whether only one verdict is left."""
        return self.worst is self.best


class Prospects:
    """The prospects of one rubric. Best answers are those with the most points that meet the gate."""

    def __init__(self, rubric: ScoringRubric) -> None:
        criteria = rubric.criteria
        met = [[grade.points for grade in each.grades if grade.gate_met] for each in criteria]
        every = [[grade.points for grade in each.grades] for each in criteria]
        self._rubric = rubric
        self._highest = [max(points or others) for points, others in zip(met, every, strict=True)]
        self._lowest = [min(points) for points in every]
        self._never_met = [not points for points in met]
        self._may_miss = [len(points) < len(others) for points, others in zip(met, every, strict=True)]
        self._sums = sum(self._highest), sum(self._lowest), sum(self._never_met), sum(self._may_miss)

    def find(self, number: int, grade: Grade) -> Prospect:
        """Return the prospect of one answer to the criterion with this index."""
        highest, lowest, never_met, may_miss = self._sums
        points = highest - self._highest[number] + grade.points
        least = lowest - self._lowest[number] + grade.points
        can_meet = grade.gate_met and never_met == self._never_met[number]
        must_meet = grade.gate_met and may_miss == self._may_miss[number]
        decide = self._rubric.decide
        return Prospect(decide(least, gates_met=must_meet), decide(points, gates_met=can_meet), max(points, 0))

"""Decide exactly whether a change of a rubric can alter any verdict, and name an answer whose verdict it alters.

Other criteria matter only through the sum of their points, and only where they meet their gates, since otherwise the
verdict is fail before and after. So for each answer to the changed criterion, the sums at which the verdicts differ are
a few intervals, and the change is equivalent if none of them holds a reachable sum.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rubric_lint.scoring.grading import AnswerValue, Grade, ScoringRubric, Verdict
from rubric_lint.testing.mutants import Mutant, meeting_points
from rubric_lint.testing.sums import Sums


class Witness(NamedTuple):
    """An answer whose verdict a change alters: what the judge gives each criterion, and both verdicts."""

    answers: Mapping[str, AnswerValue]
    before: Verdict
    after: Verdict


class Equivalence:
    """Decides for the mutants of one rubric; the sums of the other criteria are found once for each criterion."""

    def __init__(self, rubric: ScoringRubric) -> None:
        self._rubric = rubric
        self._sums: dict[int | None, Sums] = {}

    def find_witness(self, mutant: Mutant) -> Witness | None:
        """Return an answer whose verdict a mutant alters, with the others as high as possible; None if there is none.

        Raises:
            TooManySumsError: if the sums of the other criteria are too many.
        """
        sums = self._sums_without(mutant.number)
        best: tuple[int, Grade | None, Verdict, Verdict] | None = None
        for before, after in self._pairs(mutant):
            for low, stop, old, new in self._differences(mutant, before, after, sums.least):
                total = sums.highest(low, stop)
                if total is not None and (best is None or total > best[0]):
                    best = (total, before, old, new)
        if best is None:
            return None
        return Witness(self._explain(mutant.number, sums, best[0], best[1]), best[2], best[3])

    def _pairs(self, mutant: Mutant) -> Iterator[tuple[Grade | None, Grade | None]]:
        """Yield the grades of each answer to the changed criterion, before and after."""
        if mutant.number is None:
            yield None, None
            return
        criteria = (self._rubric.criteria[mutant.number], mutant.rubric.criteria[mutant.number])
        yield from zip(criteria[0].grades, criteria[1].grades, strict=True)

    def _differences(
        self, mutant: Mutant, before: Grade | None, after: Grade | None, least: int
    ) -> Iterator[tuple[int, int | None, Verdict, Verdict]]:
        """Yield the intervals of the others' sum, from the `least` on, in which both verdicts differ.

        An interval is its start, its end and both verdicts.
        """
        old_points = before.points if before else 0
        new_points = after.points if after else 0
        cuts = {least}
        for rubric, points, scale in ((self._rubric, old_points, 1), (mutant.rubric, new_points, mutant.scale)):
            cuts |= {-((points - limit) // scale) for limit in (rubric.pass_from, rubric.borderline_from)}
        starts = sorted(cut for cut in cuts if cut >= least)
        for low, stop in zip(starts, [*starts[1:], None], strict=True):
            old = self._rubric.decide(low + old_points, gates_met=before is None or before.gate_met)
            new = mutant.rubric.decide(mutant.scale * low + new_points, gates_met=after is None or after.gate_met)
            if old is not new:
                yield low, stop, old, new

    def _sums_without(self, index: int | None) -> Sums:
        if index not in self._sums:
            others = [criterion for number, criterion in enumerate(self._rubric.criteria) if number != index]
            self._sums[index] = Sums([meeting_points(criterion) for criterion in others])
        return self._sums[index]

    def _explain(self, index: int | None, sums: Sums, total: int, own: Grade | None) -> dict[str, AnswerValue]:
        """Return an answer to each criterion in which the others reach a sum."""
        points = iter(sums.explain(total))
        found: dict[str, AnswerValue] = {}
        for number, criterion in enumerate(self._rubric.criteria):
            if number == index and own is not None:
                found[criterion.id] = own.answer
                continue
            wanted = next(points)
            # The highest of several answers with the same points, which a weight of 0 gives.
            grades = [grade for grade in criterion.grades if grade.gate_met and grade.points == wanted]
            found[criterion.id] = grades[-1].answer
        return found

"""Count the planted bad answers that a rubric catches, per criterion."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rubric_lint.agree.intervals import Share
from rubric_lint.scoring.grading import AnswerValue, CriterionResult, Scored, ScoringCriterion, Verdict
from rubric_lint.testing.expectations import allows, read_gates, read_verdicts
from rubric_lint.testing.reading import RubricTest
from rubric_lint.testing.running import Ran, Tested


class Catch(NamedTuple):
    """How many bad answers were `planted` for a criterion, or for the verdict, and how many of them it caught.

    Variants of one text count as one, which is caught if all of them are.
    """

    criterion: str | None
    planted: int
    caught: int

    @property
    def name(self) -> str:
        """The name of the row; the verdict has no criterion."""
        return f"`{self.criterion}`" if self.criterion is not None else "verdict"

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95% for the share that is caught."""
        return Share(self.caught, self.planted).interval or (0.0, 1.0)

    def __str__(self) -> str:
        """Return the row in words."""
        low, high = self.interval
        share = percent_of(self.caught / self.planted)
        return f"{self.caught} of {self.planted} caught, {share} (95% interval {percent_of(low)} to {percent_of(high)})"


def percent_of(share: float) -> str:
    """Write a share in whole percent."""
    return f"{100 * share:.0f}%"


def count_catches(tested: Tested) -> Iterator[Catch]:
    """Count for each criterion with planted answers, then for the verdict.

    An answer is planted for a criterion if its test expects the gate to be missed, or only values that miss the gate
    (without a gate: that are below the highest band or level). It is planted for the verdict if its test expects a
    verdict other than pass. It is caught if what the test expects there came to be.
    """
    for criterion in tested.rubric.criteria:
        outcomes = [(ran, is_caught(criterion, ran)) for ran in tested.ran if is_planted(criterion, ran.test, tested)]
        if outcomes:
            yield _sum_up(criterion.id, outcomes)
    outcomes = [
        (ran, ran.result.verdict in verdicts)
        for ran in tested.ran
        if (verdicts := read_verdicts(ran.test)) and Verdict.PASS not in verdicts
    ]
    if outcomes:
        yield _sum_up(None, outcomes)


def _sum_up(criterion: str | None, outcomes: Sequence[tuple[Ran, bool]]) -> Catch:
    groups: dict[object, bool] = {}
    for ran, is_hit in outcomes:
        group = ran.test.group
        key = ("test", ran.file.name, ran.test.key) if group is None else ("group", str(group))
        groups[key] = groups.get(key, True) and is_hit
    return Catch(criterion, len(groups), sum(groups.values()))


def is_planted(criterion: ScoringCriterion, test: RubricTest, tested: Tested) -> bool:
    """Return whether the answer of a test is planted to be caught by a criterion."""
    if read_gates(test).get(criterion.id) is False:
        return True
    if criterion.id not in test.expect.get("criteria", {}):
        return False
    expected = test.expect["criteria"][criterion.id]
    allowed = [grade.answer for grade in criterion.grades if allows(expected, grade.answer)]
    return all(answer in find_bad(criterion, tested) for answer in allowed)


def find_bad(criterion: ScoringCriterion, tested: Tested) -> frozenset[AnswerValue]:
    """Return what a judge gives a bad answer: what misses the gate, or what is below the highest band or level."""
    missed = frozenset(grade.answer for grade in criterion.grades if not grade.gate_met)
    if missed:
        return missed
    best = criterion.grades[-1].answer
    top = tested.places.answer(criterion.id, best)
    if isinstance(best, bool):
        return frozenset([False])
    return frozenset(
        grade.answer for grade in criterion.grades if tested.places.answer(criterion.id, grade.answer) != top
    )


def is_caught(criterion: ScoringCriterion, ran: Ran) -> bool:
    """Return whether what a test expects of a criterion came to be."""
    given = _find(ran.result, criterion.id).grade
    gate = read_gates(ran.test).get(criterion.id)
    expected: Any = ran.test.expect.get("criteria", {}).get(criterion.id)
    return (gate is None or given.gate_met is gate) and (expected is None or allows(expected, given.answer))


def _find(result: Scored, name: str) -> CriterionResult:
    return next(each for each in result.criteria if each.criterion.id == name)

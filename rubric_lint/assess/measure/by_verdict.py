"""Bound the shares of a judge from labels that were chosen by its verdict.

Such labels do not say how many of the bad answers the judge stops: if people look only at what it stops, they find it
always right. But the share of the judge's verdicts is known of all answers, and within each verdict the labels show how
many answers are bad. Both together give the shares, if labels within a verdict were drawn at random.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.assess.agreement.ratings import Judgements
from rubric_lint.assess.judged.outcomes import at_least, at_most
from rubric_lint.assess.measure.bounds import bound
from rubric_lint.assess.measure.labelled import LabelledAnswers
from rubric_lint.assess.measure.pass_rate import LEAST_EACH
from rubric_lint.assess.measure.shares import LabelledAnswer, sum_units
from rubric_lint.scoring.grading import Verdict, stops


class ShareBounds(NamedTuple):
    """The two bounds of a share."""

    low: float
    high: float

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        return self._asdict()


class VerdictBounds(NamedTuple):
    """Bounds of the shares of a judge; `stopped` and `passed` count the units with a label of each of its verdicts."""

    bad_caught: ShareBounds
    good_passed: ShareBounds
    stopped: int
    passed: int

    @property
    def words(self) -> str:
        """What the bounds say, as a part of a sentence."""
        caught, kept = (
            f"{at_least(each.low)} and {at_most(each.high)}" for each in (self.bad_caught, self.good_passed)
        )
        of = f"{self.stopped:,} labels of what the judge stops and {self.passed:,} of the rest"
        shares = f"it catches {caught} of bad answers, and passes {kept} of good ones"
        return f"by {of}, {shares}, if the labels of each verdict were drawn at random"

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        return self._asdict()


Counts = tuple[Fraction | int, int]
"""The sum of the shares of units that are bad, and the number of units."""


def bound_shares(stopped: Counts, passed: Counts, share_stopped: float, level: float) -> VerdictBounds:
    """Return bounds that are each wrong with the probability `level` at most.

    Bad caught rises with the share of bad answers among the stopped ones and falls with that among the passed ones;
    good passed does the same. So each bound takes one end of both shares (Clopper and Pearson), each of which may be
    wrong with half of the probability.
    """
    of_stopped, of_passed = (bound(*each, level / 2) for each in (stopped, passed))
    caught, kept = [], []
    for bad, missed in ((of_stopped.low, of_passed.high), (of_stopped.high, of_passed.low)):
        caught.append((share_stopped * bad, (1 - share_stopped) * missed))
        kept.append(((1 - share_stopped) * (1 - missed), share_stopped * (1 - bad)))
    ends = []
    for (low, low_rest), (high, high_rest) in (caught, kept):
        least = low / (low + low_rest) if low else 0.0
        most = high / (high + high_rest) if high_rest else 1.0
        ends.append(ShareBounds(least, most))
    return VerdictBounds(ends[0], ends[1], stopped[1], passed[1])


def bound_by_verdict(
    labelled: LabelledAnswers, judge: Judgements, line: Verdict, runs: int, level: float
) -> VerdictBounds | None:
    """Return the bounds of a judge from the labelled ones of its answers, of which each has one run.

    None if fewer than 5 units of one verdict have a label, or answers have several runs, of which nobody knows which
    one the labels were chosen by.
    """
    if any(max(len(each.samples), 1) != runs for each in judge.values()):
        return None
    sides: dict[bool, list[LabelledAnswer]] = {True: [], False: []}
    for key, answer in zip(labelled.keys, labelled.answers, strict=True):
        verdict = judge[key].given[1] if key in judge else None
        if verdict is not None and answer.side is not None:
            sides[stops(verdict, line)].append(answer)
    stopped, passed = _count_bad(sides[True]), _count_bad(sides[False])
    if min(stopped[1], passed[1]) < LEAST_EACH:
        return None
    verdicts = [each.given[1] for each in judge.values() if each.given[1] is not None]
    share = sum(stops(verdict, line) for verdict in verdicts) / len(verdicts)
    return bound_shares(stopped, passed, share, level)


def _count_bad(answers: Sequence[LabelledAnswer]) -> Counts:
    return sum_units([each._replace(runs=(not each.side,)) for each in answers], is_good=True)

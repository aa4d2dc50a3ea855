"""Bound the shares of a judge from labels that were chosen by its verdict.

Such labels do not say how many of the bad answers the judge stops: if people look only at what it stops, they find it
always right. But the share of the judge's verdicts is known of all answers, and within each verdict the labels show how
many answers are bad. Both together give the shares, if labels within a verdict were drawn at random.
"""

from collections.abc import Sequence
from typing import NamedTuple

from rubric_lint.assess.agreement.ratings import Judgements
from rubric_lint.assess.judged.outcomes import at_least, at_most
from rubric_lint.assess.measure.bounds import bound
from rubric_lint.assess.measure.labelled import LabelledAnswers
from rubric_lint.assess.measure.pass_rate import LEAST_EACH
from rubric_lint.assess.measure.shares import Counts, LabelledAnswer, sum_units
from rubric_lint.scoring.grading import Verdict, stops


class ShareBounds(NamedTuple):
    """The two bounds of a share."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{at_least(self.low)} and {at_most(self.high)}"


class VerdictBounds(NamedTuple):
    """Bounds of the shares of a judge; `stopped` and `passed` count the units with a label among those of each side."""

    bad_caught: ShareBounds
    good_passed: ShareBounds
    stopped: int
    passed: int

    @property
    def words(self) -> str:
        """What the bounds say, as a part of a sentence."""
        of = f"{self.stopped:,} labels of what the judge stops and {self.passed:,} of the rest"
        shares = f"it catches {self.bad_caught} of bad answers, and passes {self.good_passed} of good ones"
        return f"by {of}, {shares}, if the labels of each verdict were drawn at random"


def bound_shares(stopped: Counts, passed: Counts, share_stopped: float, level: float) -> VerdictBounds:
    """Return bounds that are each wrong with the probability `level` at most.

    `stopped` and `passed` have the sum of the shares of units that are bad, and the number of units, of each verdict.

    Bad caught rises with the share of bad answers among the stopped ones and falls with that among the passed ones;
    good passed does the same. So each bound takes one end of both shares (Clopper and Pearson), each of which may be
    wrong with half of the probability.
    """
    of_stopped, of_passed = bound(*stopped, level / 2), bound(*passed, level / 2)
    share_passed = 1 - share_stopped
    bad_caught = _bound_ratio(
        (share_stopped * of_stopped.low, share_passed * of_passed.high),
        (share_stopped * of_stopped.high, share_passed * of_passed.low),
    )
    good_passed = _bound_ratio(
        (share_passed * (1 - of_passed.high), share_stopped * (1 - of_stopped.low)),
        (share_passed * (1 - of_passed.low), share_stopped * (1 - of_stopped.high)),
    )
    return VerdictBounds(bad_caught, good_passed, stopped[1], passed[1])


def _bound_ratio(low: tuple[float, float], high: tuple[float, float]) -> ShareBounds:
    """Return the bounds of part/(part + rest), from the part and the rest at both ends."""
    part, rest = low
    # Where both ends are 0 nothing is known: the share may be anything.
    least = part / (part + rest) if part else 0.0
    part, rest = high
    most = part / (part + rest) if rest else 1.0
    return ShareBounds(least, most)


def bound_by_verdict(
    labelled: LabelledAnswers, judge: Judgements, line: Verdict, runs: int, level: float
) -> VerdictBounds | None:
    """Return the bounds of a judge from the labelled ones of its answers, of which each has one run.

    None if fewer than 5 units of one verdict have a label, or answers have several runs, of which nobody knows which
    one the labels were chosen by.
    """
    if any(max(len(judgement.samples), 1) != runs for judgement in judge.values()):
        return None
    sides: dict[bool, list[LabelledAnswer]] = {True: [], False: []}
    for key, answer in zip(labelled.keys, labelled.answers, strict=True):
        verdict = judge[key].given[1] if key in judge else None
        if verdict is not None and answer.side is not None:
            sides[stops(verdict, line)].append(answer)
    stopped, passed = _count_bad(sides[True]), _count_bad(sides[False])
    if min(stopped[1], passed[1]) < LEAST_EACH:
        return None
    verdicts = [judgement.given[1] for judgement in judge.values() if judgement.given[1] is not None]
    share = sum(stops(verdict, line) for verdict in verdicts) / len(verdicts)
    return bound_shares(stopped, passed, share, level)


def _count_bad(answers: Sequence[LabelledAnswer]) -> Counts:
    # What is counted are runs that find an answer good; a run that says the opposite of people does so of bad answers.
    return sum_units([answer._replace(runs=(not answer.side,)) for answer in answers], is_good=True)

"""Decide by intervals whether a run keeps the limits that were set for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from rubric_lint.assess.diff.compare_runs import OtherRun
from rubric_lint.assess.measure.bounds import BoundedShare, bound
from rubric_lint.assess.measure.intervals import ERROR, Share, count_deciding
from rubric_lint.scoring.grading import Verdict
from rubric_lint.scoring.totals import Totals


class LimitDecision(StrEnum):
    """Whether a limit is kept."""

    KEPT = "kept"
    BROKEN = "broken"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class DecidedLimit:
    """A limit for a share: the option that sets it, in words what is `counted`, and the decision.

    The interval of 95% is that of Clopper and Pearson. `needed` is the size at which this share would decide, if known.
    """

    option: str
    asked: Fraction
    counted: str
    advice: str
    bounded: BoundedShare
    decision: LimitDecision
    needed: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is broken, or the data do not decide it."""
        return self.decision is not LimitDecision.KEPT

    def to_json(self) -> dict[str, Any]:
        """Return the limit as in the JSON report."""
        return {
            "option": self.option,
            "asked": float(self.asked),
            **self.bounded.to_json(),
            "decision": self.decision,
            "needed": self.needed,
        }

    def __str__(self) -> str:
        share = self.bounded
        head = f"{self.option} {float(self.asked):g}" if self.option != WORSE else WORSE
        if not share.n:
            return f"{head}: {self.decision}; {self.counted} ({share.x} of {share.n})"
        interval = f"95% interval {share.low:.3f} to {share.high:.3f}"
        figures = f"{share.x:,} of {share.n:,} {self.counted}: {share.value:.3f} ({interval})"
        if self.decision is LimitDecision.KEPT:
            return f"{head}: {self.decision}; {figures}"
        if self.decision is LimitDecision.BROKEN:
            return f"{head}: {self.decision}; {figures}, all on the wrong side of {float(self.asked):g}; {self.advice}"
        more = "more answers of this share decide nothing"
        if self.needed:
            more = f"at this share, {self.needed:,} would decide"
        return (
            f"{head}: {self.decision}, as the interval includes {float(self.asked):g}; {figures}; {more}; judge more "
            "answers, or add --fail-under-doubt to fail in doubt"
        )


WORSE = "--fail-on-worse"


@dataclass(frozen=True)
class RunLimits:
    """The limits of a run, None without one; with `in_doubt`, what the data do not decide fails too."""

    on_worse: bool = False
    pass_share: Fraction | None = None
    invalid_share: Fraction | None = None
    in_doubt: bool = False

    def decide(self, totals: Totals, other: OtherRun | None) -> Iterator[DecidedLimit]:
        """Yield each limit with its decision."""
        if self.on_worse and other:
            # The sign test, as an interval: a judge that is asked again changes as many results in each direction.
            worse, better = other.worse.count, other.better.count
            share, half, needed = Share(worse, worse + better), Fraction(1, 2), None
            counted = "changed answers got worse" if share.n else "no answer changed"
            if not other.both:
                decision, counted = LimitDecision.BROKEN, "no answer is valid in both runs, so nothing is compared"
            elif not worse:
                decision = LimitDecision.KEPT
            else:
                decision, needed = _decide(Share(better, share.n), half)
            advice = "see the answers listed as worse"
            yield DecidedLimit(WORSE, half, counted, advice, bound(*share, ERROR), decision, needed)
        if self.pass_share is not None:
            share, limit = Share(totals.verdicts[Verdict.PASS], totals.verdicts.total()), self.pass_share
            counted = "valid outputs pass" if share.n else "no output is valid"
            about = "--min-pass-share", limit, counted, "read the reasons of those that fail"
            yield DecidedLimit(*about, bound(*share, ERROR), *_decide(share, limit))
        if self.invalid_share is not None:
            # Decided by the valid ones, of which there must be at least the rest.
            share, limit = Share(totals.invalid, totals.outputs), self.invalid_share
            valid = Share(totals.outputs - totals.invalid, totals.outputs)
            counted = "outputs are invalid" if share.n else "there is no output"
            about = "--max-invalid-share", limit, counted, "see the reasons above, and ask the judge for those again"
            yield DecidedLimit(*about, bound(*share, ERROR), *_decide(valid, 1 - limit))

    def fails(self, limit: DecidedLimit) -> bool:
        """Return whether a limit makes the run fail."""
        return limit.decision is LimitDecision.BROKEN or (self.in_doubt and limit.decision is LimitDecision.UNDECIDED)


def _decide(good: Share, limit: Fraction) -> tuple[LimitDecision, int | None]:
    """Decide whether a share is at least the one that is asked for; of nothing, it is not."""
    if not good.n:
        return LimitDecision.BROKEN, None
    share = bound(*good, ERROR)
    if share.high < limit:
        return LimitDecision.BROKEN, None
    if share.low >= limit:
        return LimitDecision.KEPT, None
    return LimitDecision.UNDECIDED, count_deciding(good, limit, ERROR)

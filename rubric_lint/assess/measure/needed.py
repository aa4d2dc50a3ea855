"""Find how many labels in all would decide whether a judge is good enough, with a chance of 4 in 5."""

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from rubric_lint.assess.measure.bounds import lower_tail, upper_tail
from rubric_lint.assess.measure.shares import SLIPS

MOST_LABELS = 500
"""The most labels to advise; above it a judge is too near the target to be settled by labels."""

CHANCE = 0.8
"""The chance with which the advised number decides."""

_STEP = 10


@dataclass(frozen=True)
class UnitsSoFar:
    """The units of a class so far: the sum of the shares that the judge gets right, and their number.

    Lower bounds count `more_n` units besides, with the sum `more_x`, such as answers on which people are tied.
    """

    x: Fraction | int
    n: int
    more_x: Fraction | int = 0
    more_n: int = 0


def find_least_units(target: Fraction, level: float) -> int:
    """Return the fewest units of a class that can reach the target, if all are right: then the tail is target^n."""
    return math.ceil(math.log(level) / math.log(target))


def find_rare(bad: int, good: int, least: int) -> str:
    """Return the rarer class, if it keeps the most labels from holding the least of both; empty if neither does."""
    rarer, name = (bad, "bad") if bad < good else (good, "good")
    if bad == good or is_beyond(least):
        return ""
    return name if Fraction(rarer + 1, bad + good + 2) * MOST_LABELS < least else ""


def count_to_least(bad: int, good: int, least: int) -> int:
    """Return how many units in all, a multiple of 10, probably hold the least of both classes, at the rate so far."""
    # Laplace's rule of succession: a class that has not occurred yet may still occur.
    rate = Fraction(min(bad, good) + 1, bad + good + 2)
    return _STEP * math.ceil(least / rate / _STEP)


def is_beyond(least: int) -> bool:
    """Return whether even the most labels, half of them of each class, would hold too few."""
    return 2 * least > MOST_LABELS


def count_labels(
    bad: UnitsSoFar,
    good: UnitsSoFar,
    target: Fraction,
    level: float,
    strict: float | None = None,
    *,
    may_slip: bool = False,
    units: int | None = None,
) -> int | None:
    """Return the least number of units in all, a multiple of 10, that decides with a chance of 4 in 5, if one does.

    They are drawn as the ones so far. Both lower bounds reach the target, or one upper bound is below it; each bound
    may be wrong with the probability `level`, an upper one with `strict` if that is given. If the only person who
    labels an answer `may_slip`, upper bounds leave out 1 of 20 answers, as those of `measure_shares` do. There are so
    many `units` so far, those of `bad` and `good` unless it says otherwise. What lower bounds count as wrong stays
    wrong, and the judge treats what is to come as the units that it was asked and people agree on.
    """
    n = bad.n + good.n if units is None else units
    strict = level if strict is None else strict
    levels = level, strict
    rate = Fraction(bad.n + 1, bad.n + good.n + 2)
    for total in range(_STEP * (n // _STEP + 1), MOST_LABELS + 1, _STEP):
        slips = total // SLIPS if may_slip else 0
        more_bad = math.floor((total - n) * rate + Fraction(1, 2))
        up_bad, down_bad = _chances(bad, more_bad, target, levels, slips)
        up_good, down_good = _chances(good, total - n - more_bad, target, levels, slips)
        # Decided for the judge if both classes reach the target, against it if one is surely below; one class says
        # nothing of the other.
        if up_bad * up_good + 1 - (1 - down_bad) * (1 - down_good) >= CHANCE:
            return total
    return None


def _chances(
    so_far: UnitsSoFar, more: int, target: Fraction, levels: tuple[float, float], slips: int
) -> tuple[float, float]:
    """Return the chances that a class reaches the target, and that it is surely below it, after so many more units."""
    n = so_far.n + more
    if not n:
        return 0.0, 0.0
    p = float(Fraction(so_far.x + 1) / (so_far.n + 2))  # moved a little towards a half: few units may all be right
    level, strict = levels
    low_x = so_far.x + so_far.more_x
    # Units to come are right or wrong as a whole, so only the fraction of the sum matters: the cache serves all sums.
    fewest = _find_fewest(low_x - math.floor(low_x), n + so_far.more_n, target, level) - math.floor(low_x)
    most = _find_most(so_far.x - math.floor(so_far.x), n, target, strict, slips) - math.floor(so_far.x)
    up = upper_tail(fewest, more, p) if fewest <= more else 0.0
    down = lower_tail(most, more, p) if most >= 0 else 0.0
    return up, down


@lru_cache(maxsize=8192)
def _find_fewest(rest: Fraction | int, n: int, target: Fraction, level: float) -> int:
    """Return the least whole number that, with `rest`, reaches the target of `n`; it is above `n` if none does."""
    goal = float(target)
    return bisect_left(range(n + 1), x=True, key=lambda x: x + rest > n or upper_tail(x + rest, n, goal) <= level)


@lru_cache(maxsize=8192)
def _find_most(rest: Fraction | int, n: int, target: Fraction, level: float, slips: int) -> int:
    """Return the greatest whole number that, with `rest`, is surely below the target of `n`; below 0 if none is."""

    def may_reach(x: int) -> bool:
        dropped = min(slips, max(math.ceil(n - x - rest), 0))
        return lower_tail(x + rest, n - dropped, float(target)) >= level

    return bisect_left(range(n + 1), x=True, key=may_reach) - 1

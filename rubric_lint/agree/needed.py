"""Find how many labels in all would decide whether a judge is good enough, with a chance of 4 in 5."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from rubric_lint.agree.bounds import lower_tail, upper_tail
from rubric_lint.agree.intervals import find_least
from rubric_lint.agree.shares import SLIPS

MOST_LABELS = 500
"""The most labels to advise; above it a judge is too near the target to be settled by labels."""

CHANCE = 0.8
"""The chance with which the advised number decides."""

_STEP = 10


class Seen(NamedTuple):
    """The units of a class so far: the sum of the shares that the judge gets right, and their number."""

    x: Fraction | int
    n: int

    @property
    def smoothed(self) -> Fraction:
        """The share, moved a little towards a half: that of (x + 1) of (n + 2)."""
        return Fraction(self.x + 1) / (self.n + 2)


def find_least_units(target: Fraction, level: float) -> int:
    """Return the fewest units of a class that can reach the target, if all are right."""
    share = float(target)
    return find_least(lambda n: upper_tail(n, n, share) <= level, 0, 1, MOST_LABELS * MOST_LABELS) or 0


def find_rare(bad: int, good: int, least: int) -> str:
    """Return the rarer class, if it keeps the most labels from holding the least of both; empty if neither does."""
    rarer, name = (bad, "bad") if bad < good else (good, "good")
    if bad == good or is_beyond(least):
        return ""
    return name if Fraction(rarer + 1, bad + good + 2) * MOST_LABELS < least else ""


def count_to_least(bad: int, good: int, least: int) -> int:
    """Return how many units in all, a multiple of 10, probably hold the least of both classes, at the rate so far."""
    rate = Fraction(min(bad, good) + 1, bad + good + 2)
    return _STEP * math.ceil(least / rate / _STEP)


def is_beyond(least: int) -> bool:
    """Return whether even the most labels, half of them of each class, would hold too few."""
    return 2 * least > MOST_LABELS


def count_labels(
    bad: Seen, good: Seen, target: Fraction, level: float, strict: float | None = None, *, may_slip: bool = False
) -> int | None:
    """Return the least number of units in all, a multiple of 10, that decides with a chance of 4 in 5, if one does.

    They are drawn as the ones so far. Both lower bounds reach the target, or one upper bound is below it; each bound
    may be wrong with the probability `level`, an upper one with `strict` if that is given. If the only person who
    labels an answer `may_slip`, upper bounds leave out 1 of 20 answers, as those of `measure_shares` do.
    """
    n = bad.n + good.n
    levels = level, level if strict is None else strict
    rate = Fraction(bad.n + 1, n + 2)
    for total in range(_STEP * (n // _STEP + 1), MOST_LABELS + 1, _STEP):
        slips = total // SLIPS if may_slip else 0
        more_bad = math.floor((total - n) * rate + Fraction(1, 2))
        up_bad, down_bad = _chances(bad, more_bad, target, levels, slips)
        up_good, down_good = _chances(good, total - n - more_bad, target, levels, slips)
        if up_bad * up_good + 1 - (1 - down_bad) * (1 - down_good) >= CHANCE:
            return total
    return None


def _chances(seen: Seen, more: int, target: Fraction, levels: tuple[float, float], slips: int) -> tuple[float, float]:
    """Return the chances that a class reaches the target, and that it is surely below it, after so many more units."""
    n, p = seen.n + more, float(seen.smoothed)
    if not n:
        return 0.0, 0.0
    fewest, most = _find_ends(seen.x - math.floor(seen.x), n, target, levels, slips)
    start = math.floor(seen.x)
    up = upper_tail(fewest - start, more, p) if fewest - start <= more else 0.0
    down = lower_tail(most - start, more, p) if most >= start else 0.0
    return up, down


@lru_cache(maxsize=8192)
def _find_ends(
    rest: Fraction | int, n: int, target: Fraction, levels: tuple[float, float], slips: int
) -> tuple[int, int]:
    """Return the least whole number that, with `rest`, reaches the target of `n`, and the greatest surely below it.

    The first is above `n` if none does, the second below 0.
    """
    goal = float(target)
    level, strict = levels
    fewest = _search(lambda x: x + rest > n or upper_tail(x + rest, n, goal) <= level, n + 1)

    def may_reach(x: int) -> bool:
        dropped = min(slips, max(math.ceil(n - x - rest), 0))
        return lower_tail(x + rest, n - dropped, goal) >= strict

    most = _search(may_reach, n + 1) - 1
    return fewest, most


def _search(holds: Callable[[int], bool], end: int) -> int:
    """Return the least number below `end` from which on it holds, or `end`."""
    low, high = 0, end
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low

"""Intervals and tests for counts and means: exact bounds, Student's t over units, McNemar's mid-p, the sign test."""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.assess.measure.bounds import lower_bound, t_quantile, upper_bound

ERROR = 0.025
"""The probability with which each end of an interval of 95% may be wrong."""


class Share(NamedTuple):
    """`x` of `n`, with the exact limits of 95%; without any answer (n = 0) there is no share."""

    x: int
    n: int

    @property
    def value(self) -> float | None:
        """The share, or None of nothing."""
        return self.x / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The limits of Clopper and Pearson, exactly 0 and 1 where the share is."""
        if not self.n:
            return None
        return lower_bound(self.x, self.n, ERROR), upper_bound(self.x, self.n, ERROR)

    def to_json(self) -> dict[str, Any]:
        """Return the share as in the JSON report."""
        low, high = self.interval or (None, None)
        reason = None if self.n else "no such answer"
        return {"x": self.x, "n": self.n, "value": self.value, "low": low, "high": high, "reason": reason}


def find_least(is_enough: Callable[[int], bool], low: int, high: int, most: int) -> int | None:
    """Return the least number above `low` that is enough, by halving; None if none up to `most` is.

    If a number is enough, so is every greater one. `high` is where to look first.
    """
    while not is_enough(high):
        low, high = high, high * 2
        if low > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


_MOST_ANSWERS = 100_000
"""The most answers of a class to say as a number that would decide."""


def count_deciding(share: Share, target: Fraction, level: float) -> int | None:
    """Return a number of answers that would decide at the share so far, which does not decide; None if none would.

    They decide when a bound, each wrong with the probability `level`, puts the share on one side of `target`.
    """
    rate = Fraction(share.x, share.n)

    def is_enough(n: int) -> bool:
        # Whole answers, rounded towards the target so that the number is not too small; a few above it fall short.
        if rate > target:
            return lower_bound(math.floor(rate * n), n, level) >= target
        return upper_bound(math.ceil(rate * n), n, level) < target

    return find_least(is_enough, 0, share.n, _MOST_ANSWERS)


class DiscordantPairs(NamedTuple):
    """The answers that only the first and only the second of two raters gets right, and the p values of the difference.

    `exact` is McNemar's two-sided exact test, `mid` its mid-p variant: the exact p less the probability of the observed
    split, or for equal sides 1 less half of it. McNemar 1947, https://doi.org/10.1007/BF02295996; Fagerland and others
    2013, https://doi.org/10.1186/1471-2288-13-91.
    """

    first: int
    second: int

    @property
    def exact(self) -> float | None:
        """The exact two-sided p, also of the sign test; None without a differing answer."""
        return float(self._exact) if self.first or self.second else None

    @property
    def mid(self) -> float | None:
        """The mid-p; None without a differing answer."""
        n = self.first + self.second
        if not n:
            return None
        observed = Fraction(math.comb(n, self.first), 2**n)
        if self.first == self.second:
            return float(1 - observed / 2)
        return float(self._exact - observed)

    @property
    def _exact(self) -> Fraction:
        n = self.first + self.second
        tail = term = 1  # the binomial coefficients of n over 0, 1, ...
        for k in range(min(self.first, self.second)):
            term = term * (n - k) // (k + 1)
            tail += term
        return min(Fraction(2 * tail, 2**n), Fraction(1))


_WORD = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_MIX = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def random_words(seed: int) -> Iterator[int]:
    """Yield the 64-bit numbers of SplitMix64 (Steele and others 2014, https://doi.org/10.1145/2660193.2660195).

    With those of `random`, figures might change with the release of Python.
    """
    state = seed & _WORD
    while True:
        state = (state + _STEP) & _WORD
        word = ((state ^ (state >> 30)) * _MIX[0]) & _WORD
        word = ((word ^ (word >> 27)) * _MIX[1]) & _WORD
        yield word ^ (word >> 31)


@dataclass(frozen=True)
class Mean:
    """A mean over units with its limits of 95%, which are None if all units are equal or there is only one."""

    value: Fraction
    low: float | None
    high: float | None


def measure_mean(values: Sequence[Fraction | int], units: Sequence[Hashable], of: int = 1) -> Mean:
    """Return the mean over units of the means of their values, all divided by `of`, with Student's t.

    `units` has the unit of each value. The values of one unit, such as answers to one question, are related, so only
    units count.
    """
    by_unit: dict[Hashable, list[Fraction | int]] = {}
    for value, unit in zip(values, units, strict=True):
        by_unit.setdefault(unit, []).append(value)
    # In whole numbers: a sum of many fractions is slow.
    common = math.lcm(*(len(of_unit) for of_unit in by_unit.values()))
    whole = common * of  # so many parts make 1
    sums = [sum(of_unit) * (common // len(of_unit)) for of_unit in by_unit.values()]
    n, total = len(sums), sum(sums)
    mean = Fraction(total) / (n * whole)
    squares = float(Fraction(sum((n * of_unit - total) ** 2 for of_unit in sums)) / (n * whole) ** 2)
    # So it is of a single unit, too, for which n - 1 would be 0.
    if not squares:
        return Mean(mean, None, None)
    half = t_quantile(ERROR, n - 1) * math.sqrt(squares / (n - 1) / n)
    return Mean(mean, float(mean) - half, float(mean) + half)


_NOTHING = 1e-20
"""A sum of squares that only rounding leaves."""


def limit_alpha(
    alpha: Fraction, influence: Sequence[float], units: Sequence[Hashable]
) -> tuple[float, float] | tuple[None, None]:
    """Return the limits of 95% of Krippendorff's alpha below 1, from what each answer does to log(1 - alpha).

    There are none if all units do the same, or there is only one.

    1 - (1 - alpha) exp(-+ t se), where se² is G/(G - 1) times the sum of squares of what each of the G units does:
    linearized as for any ratio of sums, on the scale on which the error is nearly symmetric.
    """
    by_unit: dict[Hashable, float] = {}
    for part, unit in zip(influence, units, strict=True):
        by_unit[unit] = by_unit.get(unit, 0.0) + part
    n = len(by_unit)
    mean = math.fsum(by_unit.values()) / n
    squares = math.fsum((part - mean) ** 2 for part in by_unit.values())
    if n == 1 or squares < _NOTHING:
        return None, None
    half = t_quantile(ERROR, n - 1) * math.sqrt(squares * n / (n - 1))
    apart = float(1 - alpha)
    return 1 - apart * math.exp(half), 1 - apart * math.exp(-half)

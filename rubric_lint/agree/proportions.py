"""Intervals and tests for counts: Wilson's interval, McNemar's mid-p, the sign test, and the numbers still needed."""

import math
from fractions import Fraction
from typing import NamedTuple

Z = 1.959963984540054
"""The quantile of the normal distribution for intervals of 95%."""


class Share(NamedTuple):
    """`x` of `n`, with Wilson's limits of 95%; without any answer (n = 0) there is no share."""

    x: int
    n: int

    @property
    def value(self) -> float | None:
        """The share, or None of nothing."""
        return self.x / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's limits, exactly 0 and 1 where the share is. Wilson 1927, https://doi.org/10.2307/2276774."""
        if not self.n:
            return None
        x, n, square = self.x, self.n, Z * Z
        middle = x / n + square / (2 * n)
        half = Z * math.sqrt(x / n * (1 - x / n) / n + square / (4 * n * n))
        low, high = (middle - half) / (1 + square / n), (middle + half) / (1 + square / n)
        return (low if x else 0.0), (high if x < n else 1.0)


_MOST_NEEDED = 1_000_000


def find_needed(target: Fraction, missed: int) -> int | None:
    """Return the smallest n with which n - `missed` of n has a lower limit of at least `target`; None above a million.

    The limit rises with n, so a search by halves finds it.
    """

    def is_enough(n: int) -> bool:
        interval = Share(n - missed, n).interval
        return interval is not None and interval[0] >= target

    low, high = missed, missed + 1
    while not is_enough(high):
        low, high = high, high * 2
        if low > _MOST_NEEDED:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


class Sides(NamedTuple):
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
        n = self.first + self.second
        return float(self._exact) if n else None

    @property
    def mid(self) -> float | None:
        """The mid-p; None without a differing answer."""
        n = self.first + self.second
        if not n:
            return None
        observed = Fraction(math.comb(n, self.first), 2**n)
        return float(1 - observed / 2 if self.first == self.second else self._exact - observed)

    @property
    def _exact(self) -> Fraction:
        n = self.first + self.second
        tail = term = 1  # the binomial coefficients of n over 0, 1, ...
        for k in range(min(self.first, self.second)):
            term = term * (n - k) // (k + 1)
            tail += term
        return min(Fraction(2 * tail, 2**n), Fraction(1))

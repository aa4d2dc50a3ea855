"""Bound shares from both sides by Clopper and Pearson's method, and find quantiles of Student's t."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

_SMALLEST = 1e-300
"""What stands for 0 in a denominator."""

_ENOUGH = 1e-16
"""Less than what any other float differs from 1 by: one more term changes nothing."""

_MOST_TERMS = 100_000
"""The most terms of the fraction, of which a share of a hundred million answers needs about 4,000."""

_HALVES = 200
"""The most halvings. Near 0, floats could be halved a thousand times, but no share is as small as 2^-200."""


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b), for x in 0..1 and positive a and b.

    The continued fraction of DLMF 8.17.22, https://dlmf.nist.gov/8.17.E22, evaluated as Lentz does; above its middle by
    the symmetry I_x(a, b) = 1 - I_{1-x}(b, a), where it converges faster.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    value, c, d = 1.0, 1.0, 0.0
    for term in range(1, _MOST_TERMS):
        m = term // 2
        if term % 2:
            factor = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            factor = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 + factor * d, 1 + factor / c
        # Not 0, by which it divides. A call for each would take most of the time.
        d = d if abs(d) > _SMALLEST else _SMALLEST
        c = c if abs(c) > _SMALLEST else _SMALLEST
        d = 1 / d
        value *= c * d
        if abs(c * d - 1) < _ENOUGH:
            break
    # As logarithms: the gamma function is beyond floats from 172 on.
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / (a * value)


def upper_tail(x: Fraction | float, n: int, share: float) -> float:
    """Return the probability of `x` or more of `n` if each happens with probability `share`; any real `x` has one."""
    return 1.0 if x <= 0 else incomplete_beta(share, float(x), float(n - x + 1))


def lower_tail(x: Fraction | float, n: int, share: float) -> float:
    """Return the probability of `x` or fewer of `n` if each happens with probability `share`; see `upper_tail`."""
    return upper_tail(n - x, n, 1 - share)


# The criteria of a rubric have the same few counts of answers again and again, and a bound takes some 60 tails.
@lru_cache(maxsize=4096)
def lower_bound(x: Fraction | int, n: int, level: float) -> float:
    """Return the one-sided lower bound of Clopper and Pearson for `x` of `n`, 0 if x = 0; `level` is its error.

    `x` may be a sum of shares, one for each of `n` units. Then no proof is known that the bound holds; simulation finds
    an error of at most 1.05 times the level. Clopper and Pearson 1934, https://doi.org/10.1093/biomet/26.4.404.
    """
    if x <= 0:
        return 0.0
    if x == n:
        # The tail is share^n here, which needs no search.
        return math.pow(level, 1 / n)
    return _halve(lambda share: upper_tail(x, n, share) < level)


def upper_bound(x: Fraction | int, n: int, level: float) -> float:
    """Return the one-sided upper bound for `x` of `n`, 1 if x = n; see `lower_bound`."""
    return 1 - lower_bound(n - x, n, level)


class BoundedShare(NamedTuple):
    """A sum of shares `x` of `n` units, with one-sided bounds in 0..1, each wrong with the probability asked for.

    A unit that is right or wrong as a whole has the share 1 or 0, so that `x` counts.
    """

    x: Fraction | int
    n: int
    low: float
    high: float

    @property
    def value(self) -> float | None:
        """The share, or None of nothing."""
        return float(self.x / self.n) if self.n else None

    @property
    def shown(self) -> str:
        """The sum as texts show it: with at most one decimal."""
        return f"{float(self.x):,.1f}".removesuffix(".0")

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        x = int(self.x) if self.x == int(self.x) else float(self.x)
        return {"x": x, "n": self.n, "value": self.value, "low": self.low, "high": self.high}


def bound(x: Fraction | int, n: int, level: float) -> BoundedShare:
    """Return a share with both bounds, each wrong with the probability `level`; of nothing, any share is possible."""
    return BoundedShare(x, n, lower_bound(x, n, level), upper_bound(x, n, level))


@lru_cache(maxsize=256)
def t_quantile(level: float, freedom: int) -> float:
    """Return the value that Student's t with `freedom` degrees of freedom exceeds with probability `level`, up to 1/2.

    P(T > t) = I_y(freedom/2, 1/2)/2 with y = freedom/(freedom + t²); DLMF 8.17 and Student 1908.
    """
    y = _halve(lambda y: incomplete_beta(y, freedom / 2, 0.5) < 2 * level)
    return math.sqrt(freedom * (1 - y) / y)


def _halve(is_below: Callable[[float], bool]) -> float:
    """Return the point of 0..1 up to which `is_below` holds."""
    low, high = 0.0, 1.0
    for _ in range(_HALVES):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2

"""The incomplete beta function, and what follows from it: exact bounds of shares, and quantiles of Student's t.

NumPy, the only package of the extra `stats`, has neither.
"""

import math
from collections.abc import Callable
from functools import lru_cache

_SMALLEST = 1e-300
_ENOUGH = 1e-16
_MOST_TERMS = 100_000
_HALVES = 200


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b), for x in 0..1 and positive a and b.

    The continued fraction of DLMF 8.17.22, https://dlmf.nist.gov/8.17.E22, evaluated as Lentz does; above its middle by
    the symmetry I_x(a, b) = 1 - I_{1-x}(b, a), where it converges faster.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / (a * _continue_fraction(x, a, b))


def _continue_fraction(x: float, a: float, b: float) -> float:
    value, c, d = 1.0, 1.0, 0.0
    for term in range(1, _MOST_TERMS):
        m = term // 2
        if term % 2:
            factor = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            factor = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _keep_off_zero(1 + factor * d)
        c = _keep_off_zero(1 + factor / c)
        value *= c * d
        if abs(c * d - 1) < _ENOUGH:
            break
    return value


def _keep_off_zero(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST


def upper_tail(x: int, n: int, share: float) -> float:
    """Return the probability of `x` or more of `n` if each happens with probability `share`."""
    return 1.0 if x <= 0 else incomplete_beta(share, x, n - x + 1)


def lower_tail(x: int, n: int, share: float) -> float:
    """Return the probability of `x` or fewer of `n` if each happens with probability `share`."""
    return 1.0 if x >= n else incomplete_beta(1 - share, n - x, x + 1)


def lower_bound(x: int, n: int, level: float) -> float:
    """Return the one-sided lower bound of Clopper and Pearson for `x` of `n`, 0 if x = 0; `level` is its error.

    Clopper and Pearson 1934, https://doi.org/10.1093/biomet/26.4.404.
    """
    return 0.0 if x <= 0 else _halve(lambda share: upper_tail(x, n, share) < level)


def upper_bound(x: int, n: int, level: float) -> float:
    """Return the one-sided upper bound for `x` of `n`, 1 if x = n; see `lower_bound`."""
    return 1.0 if x >= n else _halve(lambda share: lower_tail(x, n, share) > level)


@lru_cache(maxsize=256)
def t_quantile(level: float, freedom: int) -> float:
    """Return what Student's t with some degrees of freedom exceeds with probability `level`, at most 1/2.

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

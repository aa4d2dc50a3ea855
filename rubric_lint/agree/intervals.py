"""Intervals and tests for counts: Wilson's interval, McNemar's mid-p, the sign test, and the numbers still needed."""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

from rubric_lint.agree.bounds import lower_bound, upper_bound
from rubric_lint.agree.coefficients import Statistic

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

    def to_json(self) -> dict[str, Any]:
        """Return the share as in the JSON report."""
        low, high = self.interval or (None, None)
        reason = None if self.n else "no such answer"
        return {"x": self.x, "n": self.n, "value": self.value, "low": low, "high": high, "reason": reason}


_MOST_NEEDED = 1_000_000


def find_needed(target: Fraction, missed: int) -> int | None:
    """Return the smallest n with which n - `missed` of n has a lower limit of at least `target`; None above a million.

    The limit rises with n, so a search by halves finds it.
    """

    def is_enough(n: int) -> bool:
        interval = Share(n - missed, n).interval
        return interval is not None and interval[0] >= target

    return find_least(is_enough, missed, missed + 1, _MOST_NEEDED)


def find_least(is_enough: Callable[[int], bool], low: int, high: int, most: int) -> int | None:
    """Return the least number above `low` that is enough, as all above it are; None if it is far above `most`."""
    while not is_enough(high):
        low, high = high, high * 2
        if low > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


MOST_LABELS = 100_000
"""The most answers of a class to say as a number that would decide."""


def count_deciding(share: Share, target: Fraction, level: float) -> int | None:
    """Return the fewest answers of a class that would decide at its share so far; all right if there are none yet.

    They decide when a bound, each wrong with the probability `level`, puts the share on one side of `target`.
    """
    seen = Fraction(*share) if share.n else Fraction(1)
    if seen == target:
        return None

    def is_enough(n: int) -> bool:
        if seen > target:
            return lower_bound(math.floor(seen * n), n, level) >= target
        return upper_bound(math.ceil(seen * n), n, level) < target

    least = find_least(is_enough, 0, max(share.n, 1), MOST_LABELS)
    return least and max(least, share.n)


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
        return float(self._exact) if self.first or self.second else None

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


DRAWS = 1999
"""The default number of draws: the limits of 95% are the 50th and the 1950th."""

_WORD = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_MIX = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_CHUNK = 1 << 20
"""The most numbers to draw at once."""


def random_words(seed: int) -> Iterator[int]:
    """Yield the 64-bit numbers of SplitMix64."""
    state = seed & _WORD
    while True:
        state = (state + _STEP) & _WORD
        word = ((state ^ (state >> 30)) * _MIX[0]) & _WORD
        word = ((word ^ (word >> 27)) * _MIX[1]) & _WORD
        yield word ^ (word >> 31)


def resample(kinds: Sequence[int], size: int, draws: int, seed: int = 1) -> Iterator[list[int]]:
    """Yield for each draw how many answers of each kind it has.

    `kinds` has the kind of each answer, a number below `size`, in the order of their ids.
    """
    if not (kinds and draws):  # NumPy takes a tenth of a second to load
        return
    try:
        yield from _resample_at_once(kinds, size, draws, seed)
    except ImportError:
        words, n = random_words(seed), len(kinds)
        for _ in range(draws):
            counts = [0] * size
            for word in islice(words, n):
                counts[kinds[word * n >> 64]] += 1
            yield counts


def _resample_at_once(kinds: Sequence[int], size: int, draws: int, seed: int) -> Iterator[list[int]]:
    """Draw with NumPy's unsigned integers, which wrap around as SplitMix64 does."""
    import numpy as np  # noqa: PLC0415  (an extra, and a tenth of a second)

    n, kind = len(kinds), np.asarray(kinds, dtype=np.int64)
    rows = max(1, _CHUNK // max(n, size))
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        steps = np.arange(start * n + 1, (start + count) * n + 1, dtype=np.uint64)
        word = steps * np.uint64(_STEP) + np.uint64(seed & _WORD)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(_MIX[0])
        word = (word ^ (word >> np.uint64(27))) * np.uint64(_MIX[1])
        word ^= word >> np.uint64(31)
        # The upper half of the product of 128 bits, from two products of 64: n is below 2**32.
        index = ((word >> half) * np.uint64(n) + (((word & low) * np.uint64(n)) >> half)) >> half
        drawn = kind[index.astype(np.int64)].reshape(count, n) + np.arange(count, dtype=np.int64)[:, None] * size
        yield from np.bincount(drawn.ravel(), minlength=count * size).reshape(count, size).tolist()


def find_interval(values: Sequence[float | None]) -> tuple[float, float, int] | None:
    """Return the limits of 95% and how many draws are undefined, or None if over 5% of them are.

    Of m defined draws these are the order statistics floor((m + 1)/40) from below and from above.
    """
    defined = sorted(value for value in values if value is not None)
    undefined = len(values) - len(defined)
    place = (len(defined) + 1) // 40
    if not place or 20 * undefined > len(values):
        return None
    return defined[place - 1], defined[-place], undefined


def evaluate(statistic: Statistic, counts: Sequence[int]) -> float | None:
    """Return the value rounded once, correctly, or None if it is undefined."""
    above, below = statistic(counts)
    return above / below if below else None

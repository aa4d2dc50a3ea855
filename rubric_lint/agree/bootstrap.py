"""Draw bootstrap samples that are the same on every machine, with and without NumPy.

Percentile intervals from the statistic of draws with replacement, by SplitMix64 (Steele, Lea and Flood 2014,
https://doi.org/10.1145/2660193.2660195). Statistics are quotients of integers, which Python rounds correctly, so the
order of the quotients is never decided by rounding.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rubric_lint.agree.coefficients import Statistic

DRAWS = 1999
"""The default number of draws: the limits of 95% are the 50th and the 1950th."""

_WORD = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_MIX = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_CHUNK = 1 << 20
"""The most numbers to draw at once."""


class Interval(NamedTuple):
    """The limits of an interval of 95%; `undefined` draws were left out."""

    low: float
    high: float
    undefined: int = 0


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
    if kinds and draws:
        try:
            yield from _resample_at_once(kinds, size, draws, seed)
        except ImportError:
            yield from _resample_one_by_one(kinds, size, draws, seed)


def _resample_one_by_one(kinds: Sequence[int], size: int, draws: int, seed: int) -> Iterator[list[int]]:
    words, n = random_words(seed), len(kinds)
    for _ in range(draws):
        counts = [0] * size
        for _, word in zip(range(n), words, strict=False):
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


def find_interval(values: Sequence[float | None]) -> Interval | None:
    """Return the limits of 95%, or None if over 5% of the draws are undefined.

    Of m defined draws these are the order statistics floor((m + 1)/40) from below and from above.
    """
    defined = sorted(value for value in values if value is not None)
    undefined = len(values) - len(defined)
    place = (len(defined) + 1) // 40
    if not place or 20 * undefined > len(values):
        return None
    return Interval(defined[place - 1], defined[-place], undefined)


def evaluate(statistic: Statistic, counts: Sequence[int]) -> float | None:
    """Return the value rounded once, correctly, or None if it is undefined."""
    above, below = statistic(counts)
    return above / below if below else None

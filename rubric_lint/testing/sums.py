"""Find the sums that one choice from each of several sets of whole numbers can reach, exactly."""

import math
from bisect import bisect_left
from collections.abc import Collection, Sequence

MOST_BITS = 1 << 24
"""The largest sum, in units of the greatest common divisor, up to which sums are the bits of one integer."""

MOST_SUMS = 500_000
"""The most sums that are listed one by one beyond that."""


class TooManySumsError(Exception):
    """More sums than can be listed: the numbers are many and have no large common divisor."""


class Sums:
    """The sums of one number from each of `choices`; no sums if one of them is empty.

    Raises:
        TooManySumsError: if there are more than can be listed.
    """

    def __init__(self, choices: Sequence[Collection[int]]) -> None:
        # Each choice is counted from its least number: the sums are those of numbers from 0 on, plus `least`.
        self._is_empty = not all(choices)
        self._least = [min(choice, default=0) for choice in choices]
        steps = [{number - least for number in choice} for choice, least in zip(choices, self._least, strict=True)]
        self._unit = math.gcd(*(number for choice in steps for number in choice)) or 1
        self._choices = [sorted({number // self._unit for number in choice}, reverse=True) for choice in steps]
        self._sets: list[Sequence[int]] = []
        self._bits: list[int] = []
        if self._is_empty:
            return
        if sum(choice[0] for choice in self._choices) <= MOST_BITS:
            self._bits = [1]
            for choice in self._choices:
                self._bits.append(_shift(self._bits[-1], choice))
            return
        self._sets = [(0,)]
        for choice in self._choices:
            found = {total + number for total in self._sets[-1] for number in choice}
            if len(found) > MOST_SUMS:
                raise TooManySumsError
            self._sets.append(sorted(found))

    @property
    def least(self) -> int:
        """The lowest sum; 0 if there are no sums."""
        return 0 if self._is_empty else sum(self._least)

    def highest(self, low: int, stop: int | None = None) -> int | None:
        """Return the highest sum from `low` up to, not including, `stop`; None if there is none."""
        if self._is_empty or (stop is not None and stop <= low):
            return None
        first = self._round_up(low)
        last = None if stop is None else self._round_up(stop)
        found = self._find_highest(first, last)
        return None if found is None else self.least + found * self._unit

    def lowest(self, low: int) -> int | None:
        """Return the lowest sum of at least `low`; None if there is none."""
        if self._is_empty:
            return None
        first = self._round_up(low)
        if self._bits:
            rest = self._bits[-1] >> first
            return self.least + (first + (rest & -rest).bit_length() - 1) * self._unit if rest else None
        at = bisect_left(self._sets[-1], first)
        return self.least + self._sets[-1][at] * self._unit if at < len(self._sets[-1]) else None

    def _round_up(self, total: int) -> int:
        """Return the first step from a sum on, at least 0."""
        return max(-(-(total - self.least) // self._unit), 0)

    def explain(self, total: int) -> list[int]:
        """Return one number of each choice that together make a reachable sum, the last ones as high as possible."""
        rest = (total - self.least) // self._unit
        found: list[int] = []
        for step in range(len(self._choices) - 1, -1, -1):
            number = next(each for each in self._choices[step] if self._reaches(step, rest - each))
            found.append(self._least[step] + number * self._unit)
            rest -= number
        return found[::-1]

    def _reaches(self, step: int, total: int) -> bool:
        """Return whether the first `step` choices reach a sum."""
        if total < 0:
            return False
        if self._bits:
            return bool(self._bits[step] >> total & 1)
        at = bisect_left(self._sets[step], total)
        return at < len(self._sets[step]) and self._sets[step][at] == total

    def _find_highest(self, first: int, last: int | None) -> int | None:
        if self._bits:
            rest = self._bits[-1] >> first
            if last is not None and last - first < rest.bit_length():  # a mask is as long as its number is high
                rest &= (1 << max(last - first, 0)) - 1
            return first + rest.bit_length() - 1 if rest else None
        sums = self._sets[-1]
        at = (len(sums) if last is None else bisect_left(sums, last)) - 1
        return sums[at] if at >= 0 and sums[at] >= first else None


def _shift(bits: int, numbers: Collection[int]) -> int:
    found = 0
    for number in numbers:
        found |= bits << number
    return found

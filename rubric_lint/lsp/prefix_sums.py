"""Keep running totals in a binary indexed tree: each look-up and change takes logarithmic time."""

from collections.abc import Iterable


class PrefixSums:
    """The sums of the first 0, 1, 2, ... amounts; there is at least one, and none is negative."""

    def __init__(self, amounts: Iterable[int]) -> None:
        self._amounts = list(amounts)
        self._build()

    def _build(self) -> None:
        self._count = len(self._amounts)
        tree = self._tree = [0, *self._amounts]
        for index in range(1, self._count):
            above = index + (index & -index)
            if above <= self._count:
                tree[above] += tree[index]

    def before(self, index: int) -> int:
        """Return the sum of the amounts before an index."""
        total = 0
        while index:
            total += self._tree[index]
            index &= index - 1
        return total

    def find(self, amount: int) -> tuple[int, int]:
        """Return the last index whose sum is at most `amount`, and the remainder."""
        index, left = 0, amount
        step = 1 << self._count.bit_length()
        while step := step >> 1:
            if index + step <= self._count and self._tree[index + step] <= left:
                index += step
                left -= self._tree[index]
        return (index, left) if index < self._count else (index - 1, amount - self.before(index - 1))

    def replace(self, first: int, end: int, amounts: Iterable[int]) -> None:
        """Replace the amounts from `first` to before `end`; with another number of them it takes linear time."""
        new = list(amounts)
        if len(new) == end - first == 1:  # the case for most edits
            more = new[0] - self._amounts[first]
            self._amounts[first] = new[0]
            self._add(end, more)
            return
        old = self._amounts[first:end]
        self._amounts[first:end] = new
        if len(new) != len(old):
            self._build()
            return
        for place, (was, amount) in enumerate(zip(old, new, strict=True), first + 1):
            self._add(place, amount - was)

    def _add(self, place: int, amount: int) -> None:
        while amount and place <= self._count:
            self._tree[place] += amount
            place += place & -place

    def copy(self) -> "PrefixSums":
        """Return the same sums, to be changed independently."""
        copy = PrefixSums(())
        copy._amounts, copy._tree, copy._count = self._amounts[:], self._tree[:], self._count
        return copy

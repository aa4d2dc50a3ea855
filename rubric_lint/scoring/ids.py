"""Find records that share an id, using nine bytes for each record."""

from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

_BUCKETS = 256
_LAST = _BUCKETS - 1


class RecordPlace(NamedTuple):
    """The start of a record: the number of its file and its 1-based line."""

    file: int
    line: int


def make_key(rubric: str, name: object) -> int:
    """Return the key for the id of a record; records of different rubrics may share an id."""
    return hash((rubric, name if type(name) is str else (repr(name),)))


class Ids:
    """A set of 64-bit hashes of ids, with their buckets in order; it stores places only where lines are skipped.

    A dictionary would need ten times the memory, and there may be millions of records.
    """

    def __init__(self) -> None:
        self._hashes = [array("q") for _ in range(_BUCKETS)]
        self._order = array("B")
        self._jumps = array("Q")
        self._expected = (0, 0)

    def add(self, file: int, line: int, keys: Sequence[int]) -> None:
        """Add the keys of records on consecutive lines, the first of which is `line`."""
        if (file, line) != self._expected:
            self._jumps.extend((len(self._order), file, line))
        self._expected = (file, line + len(keys))
        hashes = self._hashes
        for key in keys:
            hashes[key & _LAST].append(key)
        self._order.extend([key & _LAST for key in keys])

    def repeated(self, most: int) -> tuple[int, list[tuple[RecordPlace, RecordPlace]]]:
        """Return how many records repeat an id, and the first few as pairs: the earlier place, then the repeat."""
        count = 0
        firsts: dict[tuple[int, int], int] = {}
        for bucket, hashes in enumerate(self._hashes):
            if len(known := set(hashes)) < len(hashes):
                count += len(hashes) - len(known)
                seen: dict[int, int] = {}
                firsts.update(
                    ((bucket, at), seen[key]) for at, key in enumerate(hashes) if seen.setdefault(key, at) != at
                )
        pairs = [*islice(self._find(firsts), most)] if firsts else []
        return count, [(self._place(first), self._place(second)) for first, second in pairs]

    def _find(self, firsts: dict[tuple[int, int], int]) -> Iterator[tuple[int, int]]:
        """Yield the records that repeat an id, in order, as pairs of numbers: the earlier record, then the repeat."""
        wanted = {(bucket, first) for (bucket, _), first in firsts.items()}
        numbers: dict[tuple[int, int], int] = {}
        lengths = [0] * _BUCKETS
        for number, bucket in enumerate(self._order):
            at = bucket, lengths[bucket]
            lengths[bucket] += 1
            if at in wanted:
                numbers[at] = number
            elif at in firsts:
                yield numbers[bucket, firsts[at]], number

    def _place(self, number: int) -> RecordPlace:
        jumps = self._jumps
        low, high = 0, len(jumps) // 3
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if jumps[3 * middle] <= number else (low, middle)
        start, file, line = jumps[3 * low : 3 * low + 3]
        return RecordPlace(file, line + number - start)

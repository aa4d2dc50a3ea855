"""Write a unified diff in a time that grows with the text, also where thousands of lines change."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher

_CONTEXT = 3
"""The number of unchanged lines around a change, as in `diff -u`."""


class _LineMatcher(SequenceMatcher[str]):
    """Splits at the middle one of the lines that both texts have equally often, which takes no search of all others."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after)
        self._before, self._after = before, after
        pairs = _pair(before, after)
        self._olds = [old for old, _ in pairs]
        self._news = [new for _, new in pairs]

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Return a run of equal lines between some lines of both texts."""
        old_end = len(self._before) if ahi is None else ahi
        new_end = len(self._after) if bhi is None else bhi
        first = max(bisect_left(self._olds, alo), bisect_left(self._news, blo))
        last = min(bisect_left(self._olds, old_end), bisect_left(self._news, new_end))
        if first >= last:
            return super().find_longest_match(alo, old_end, blo, new_end)
        old, new = self._olds[(first + last) // 2], self._news[(first + last) // 2]
        size = 1
        while old > alo and new > blo and self._before[old - 1] == self._after[new - 1]:
            old, new, size = old - 1, new - 1, size + 1
        while old + size < old_end and new + size < new_end and self._before[old + size] == self._after[new + size]:
            size += 1
        return Match(old, new, size)


def _pair(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the lines that both texts have equally often, in their order; of lines that moved, leave out the fewest."""
    counts, others = Counter(before), Counter(after)
    places: dict[str, list[int]] = {}
    for new in range(len(after) - 1, -1, -1):
        places.setdefault(after[new], []).append(new)
    pairs = [(old, places[line].pop()) for old, line in enumerate(before) if counts[line] == others[line]]
    lowest: list[int] = []  # for each length, the lowest line of the new text that ends a chain, and the pair there
    ends: list[int] = []
    earlier: list[int | None] = []
    for number, (_, new) in enumerate(pairs):
        length = bisect_left(lowest, new)
        previous = ends[length - 1] if length else None
        earlier.append(previous)
        lowest[length : length + 1] = [new]
        ends[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else None
    while at is not None:
        chain.append(pairs[at])
        at = earlier[at]
    return chain[::-1]


def write_unified(before: Sequence[str], after: Sequence[str], old: str, new: str) -> Iterator[str]:
    """Yield the lines of a unified diff of some lines, which keep their ends, with the names of both files."""
    for number, group in enumerate(_LineMatcher(before, after).get_grouped_opcodes(_CONTEXT)):
        if not number:
            yield f"--- {old}\n"
            yield f"+++ {new}\n"
        _, old_start, _, new_start, _ = group[0]
        _, _, old_end, _, new_end = group[-1]
        yield f"@@ -{_write_range(old_start, old_end)} +{_write_range(new_start, new_end)} @@\n"
        for kind, start, end, start_after, end_after in group:
            if kind == "equal":
                yield from (f" {line}" for line in before[start:end])
                continue
            yield from (f"-{line}" for line in before[start:end])
            yield from (f"+{line}" for line in after[start_after:end_after])


def _write_range(start: int, end: int) -> str:
    """Write lines as `patch` reads them: numbers begin at 1, and no lines have the number of the line above them."""
    count = end - start
    if count == 1:
        return str(start + 1)
    first = start + 1 if count else start
    return f"{first},{count}"

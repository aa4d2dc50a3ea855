"""Find the edits that turn one text into another, leaving everything between them untouched."""

from collections.abc import Iterator
from itertools import zip_longest

from rubric_lint.text.source import Edit, Span

_FARTHEST = 400


def find_edits(old: str, new: str) -> Iterator[Edit]:
    """Yield few, short edits that turn `old` into `new`, in order and disjoint; suited to texts with small differences.

    Compares whole lines, then the differing lines character by character, in time proportional to the text.
    """
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    at = row = other = 0
    while row < len(before) or other < len(after):
        if before[row : row + 1] == after[other : other + 1]:
            at += len(before[row])
            row, other = row + 1, other + 1
            continue
        height, other_height = _find_end(before, row, after, other)
        # Line by line, then the rest of the longer side.
        lines, other_lines = before[row : row + height], after[other : other + other_height]
        for line, other_line in zip_longest(lines, other_lines, fillvalue=""):
            yield from _narrow(at, line, other_line)
            at += len(line)
        row, other = row + height, other + other_height


def _find_end(before: list[str], row: int, after: list[str], other: int) -> tuple[int, int]:
    """Return how many lines on each side differ before the texts match again."""
    rest, other_rest = len(before) - row, len(after) - other
    for distance in range(1, min(rest + other_rest, _FARTHEST) + 1):
        for height in range(max(distance - other_rest, 0), min(distance, rest) + 1):
            here, there = row + height, other + distance - height
            if before[here : here + 1] == after[there : there + 1]:
                return height, distance - height
    return rest, other_rest


def _narrow(at: int, old: str, new: str) -> Iterator[Edit]:
    """Yield one edit for the difference of two texts; the first begins at `at`."""
    if old != new:
        head = _count_alike(old, new)
        tail = _count_alike(old[head:][::-1], new[head:][::-1])
        yield Edit(Span(at + head, at + len(old) - tail), new[head : len(new) - tail])


def _count_alike(left: str, right: str) -> int:
    return next(at for at, (one, other) in enumerate(zip_longest(left + "\0", right + "\1")) if one != other)

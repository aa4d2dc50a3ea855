"""The rules on what a value must not depend on: the place of a criterion in the request, and the length of the answer.

Both are permutation tests: if only chance decides which place, or which length, goes with which value, a random
exchange of them is as likely as what was recorded. Pitman 1937, https://doi.org/10.2307/2984124.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import shake_256
from itertools import accumulate, chain, count, repeat
from operator import add, itemgetter, mul
from struct import unpack
from typing import NamedTuple

from rubric_lint.agree.coefficients import correlate
from rubric_lint.agree.judged.outcomes import (
    Decision,
    Outcomes,
    Target,
    Untested,
    corrected,
    name_answers,
    names_of,
    share_of,
)
from rubric_lint.agree.judged.table import Column, Table

_LEAST = 60
"""The fewest answers for a statement about places, and about lengths."""

_MOST_AS_EXTREME = 4
"""A p value is at most what is allowed if fewer draws than this are as extreme as what was recorded."""


def _permute(sizes: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield random orders of the numbers of samples, each within its group; the same on every machine.

    They are sorted by random numbers of 32 bits, which SHAKE-256 of the number of the draw gives all at once.
    """
    groups = list(chain.from_iterable(repeat(number << 32, size) for number, size in enumerate(sizes)))
    numbers, form = range(len(groups)), f"<{len(groups)}I"
    for draw in count():
        words = unpack(form, shake_256(b"%d" % draw).digest(4 * len(groups)))
        yield sorted(numbers, key=list(map(add, groups, words)).__getitem__)


class Link(NamedTuple):
    """Two values of each sample: what the test exchanges at random, and what must not depend on it."""

    cause: Sequence[int]
    effect: Sequence[int]


def find_links(links: Sequence[Link], sizes: Sequence[int], tests: int) -> list[float | None]:
    """Return for each link the p value of its covariance within the groups of `sizes`, or None if it may be chance.

    With d = 4/`share_of(tests)` - 1 draws and k of them as extreme, p is (k + 1)/(d + 1), two-sided. A link is given up
    when k = 4. Phipson and Smyth 2010, https://doi.org/10.2202/1544-6115.1585.
    """
    draws = int(_MOST_AS_EXTREME / share_of(tests)) - 1
    unit = math.lcm(*sizes)
    ends = list(accumulate(sizes))
    expected, recorded = [], []
    for cause, effect in links:
        # The sum of products that chance leads to: the same in every draw.
        parts = zip((0, *ends), ends, sizes, strict=False)
        expected.append(sum(sum(cause[at:end]) * sum(effect[at:end]) * (unit // size) for at, end, size in parts))
        recorded.append(abs(unit * sum(map(mul, cause, effect)) - expected[-1]))
    extreme = [0] * len(links)
    left = list(range(len(links)))
    for order, _ in zip(_permute(sizes), range(draws), strict=False):
        take = itemgetter(*order)
        for number in left:
            cause, effect = links[number]
            drawn = abs(unit * sum(map(mul, take(cause), effect)) - expected[number])
            extreme[number] += drawn >= recorded[number]
        left = [number for number in left if extreme[number] < _MOST_AS_EXTREME]
        if not left:
            break
    return [(extreme[number] + 1) / (draws + 1) if number in left else None for number in range(len(links))]


def find_order(table: Table) -> Outcomes:
    """Find criteria whose values depend on their place in the request, from records of `judge --shuffle`."""
    rule, columns, asked = "judged-order", table.columns, table.asked
    tests, n = len(columns), asked.answers
    if tests < 2:
        return
    if n < _LEAST:
        have = f"{n or 'no'} answer{' was' if n == 1 else 's were'} judged with the criteria in a recorded random order"
        unit = "answers judged with `--shuffle`"
        yield Untested(rule, names_of(columns), have, _LEAST, unit)
        return
    values = [
        [column.measure.scale.values[position] for position in given]
        for column, given in zip(columns, asked.positions, strict=True)
    ]
    links = [Link(places, given) for places, given in zip(asked.places, values, strict=True)]
    for column, link, p in zip(columns, links, find_links(links, asked.sizes, tests), strict=True):
        if p is None:
            continue
        change = _find_slope(link, asked.sizes) * (tests - 1)
        size = f"{abs(change):.0%}" if column.is_check else f"{abs(change):.1f}"
        figures = {
            "what": "the share of answers that meet it" if column.is_check else "its mean value",
            "turn": "falls" if change < 0 else "rises",
            "size": size,
            "n": n,
            "outputs": len(link.cause),
            "p": f"{p:.1g}",
            "budget": corrected(tests),
        }
        yield Decision(rule, Target(column.name), "place", figures)


def _find_slope(link: Link, sizes: Sequence[int]) -> float:
    """Return by how much the effect grows with the cause within groups, by least squares."""
    joint = square = 0.0
    end = 0
    for size in sizes:
        at, end = end, end + size
        cause, effect = link.cause[at:end], link.effect[at:end]
        mean = sum(cause) / size
        joint += sum((one - mean) * two for one, two in zip(cause, effect, strict=True))
        square += sum((one - mean) ** 2 for one in cause)
    return joint / square if square else 0.0


def find_length(table: Table) -> Outcomes:
    """Find criteria, and a score, on which the judge differs from people the more, the longer an answer is.

    Without labels nothing is found: longer answers may be better.
    """
    rule, columns = "judged-length", table.columns
    of = name_lengthened(table)
    tests, names = len(of), tuple("score" if name is None else name for name in of)
    labelled: dict[int, list[int]] = {}
    for number, labels in enumerate(zip(*(column.labels for column in columns), strict=True)):
        if len(row := [label for label in labels if label is not None]) == len(columns):
            labelled[number] = row
    known = [number for number in labelled if table.lengths and table.lengths[number] is not None]
    n = len(known)
    if n < _LEAST:
        what = "a label" if len(labelled) == table.labelled else "a label of every criterion"
        have = f"{len(labelled) or 'no'} judged answer{' has' if len(labelled) == 1 else 's have'} {what}"
        if n < len(labelled):
            have += f", and {n or 'none'} of them a text in `answer`"
        yield Untested(rule, names, have, _LEAST, "labelled answers with their text", of)
        return
    lengths = [table.lengths[number] or 0 for number in known]
    if len(set(lengths)) == 1:
        yield Untested(rule, names, f"all {n} labelled answers are equally long", 2, "different lengths", of)
        return
    ranks = _rank(lengths)
    found = []
    for place, column in enumerate(columns):
        values = column.measure.scale.values
        found.append([values[column.given[i]] - values[labelled[i][place]] for i in known])
    if tests > len(columns):
        judged = {i: [column.given[i] for column in columns] for i in known}
        found.append([_add_points(columns, judged[i]) - _add_points(columns, labelled[i]) for i in known])
    links = [Link(ranks, apart) for apart in found]
    for name, apart, p in zip(of, found, find_links(links, [n], tests), strict=True):
        if p is None:
            continue
        r = correlate(ranks, apart) or 0.0
        most = sorted(range(n), key=lambda i: (-abs(apart[i]), -lengths[i]))
        figures = {
            "turn": "higher" if r > 0 else "lower",
            "r": f"{r:.2f}",
            "n": n,
            "p": f"{p:.1g}",
            "budget": corrected(tests),
            "look": name_answers(table, [known[i] for i in most]),
        }
        yield Decision(rule, Target(name), "score" if name is None else "criterion", figures)


def name_lengthened(table: Table) -> tuple[str | None, ...]:
    """Return what length may influence: each criterion, and if there are several their score (None)."""
    return (*names_of(table.columns), *((None,) if len(table.columns) > 1 else ()))


def _add_points(columns: Sequence[Column], positions: Sequence[int]) -> int:
    """Return the points of an answer by the positions of its values on their scales, as they are scored."""
    return max(sum(column.points[position] for column, position in zip(columns, positions, strict=True)), 0)


def _rank(values: Sequence[int]) -> list[int]:
    """Return twice the rank of each value; equal ones share the middle of their ranks."""
    counts = Counter(values)
    first, ranks = 0, {}
    for value in sorted(counts):
        ranks[value] = 2 * first + counts[value] + 1
        first += counts[value]
    return [ranks[value] for value in values]

"""Rules about two or more criteria: judged-redundant and judged-inverse."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from rubric_lint.agree.beta import lower_bound, t_quantile, upper_tail
from rubric_lint.agree.judged.budget import LEAST, at_least, corrected, count_needed, level_of
from rubric_lint.agree.judged.decision import Decision, Outcomes, Spot, Untested
from rubric_lint.agree.judged.table import Column, Table

REDUNDANT, INVERSE = "judged-redundant", "judged-inverse"

OVERLAP = Fraction(4, 5)
"""The share of the answers with one of two properties that have both, from which the two count as one."""


class _Halves(NamedTuple):
    """The answers below a cut and from it on, each as the bits of a number, and the sides in words."""

    sides: tuple[int, int]
    words: tuple[str, str]


def find_cut(positions: Sequence[int], size: int) -> int | None:
    """Return the position at which a scale is cut so that the share from it on is nearest to a half.

    Of two such cuts the lower counts. None if all values are equal.
    """
    n = len(positions)
    counts = [positions.count(position) for position in range(size)]
    above = [(sum(counts[cut:]), cut) for cut in range(1, size)]
    cuts = [(abs(2 * count - n), cut) for count, cut in above if 0 < count < n]
    return min(cuts)[1] if cuts else None


def find_redundant(table: Table) -> Outcomes:
    """Find criteria that are missed, or met, in nearly the same answers.

    Both are cut in the middle. Of the two sides, the one counts on which fewer answers are on either. A later criterion
    is reported with the first one that it repeats.
    """
    pairs = list(combinations(range(len(table.columns)), 2))
    if not pairs:
        return
    tests, needed = len(pairs), count_needed(OVERLAP, len(pairs))
    halves = [_halve(column) for column in table.columns]
    constant = [column.name for column, half in zip(table.columns, halves, strict=True) if half is None]
    if constant:
        reason = f"judged alike in all {table.answers} answers, so nothing shows whether another criterion repeats it"
        unit = "answers in which one of two criteria is on the rarer side"
        yield Untested(REDUNDANT, tuple(constant), reason, needed, unit)
    most = 0
    small: list[str] = []
    repeated: set[int] = set()
    for first, second in pairs:
        one, two = halves[first], halves[second]
        if one is None or two is None:
            continue
        either, side = min(((one.sides[side] | two.sides[side]).bit_count(), side) for side in (0, 1))
        if either < needed:
            most, small = max(most, either), [*small, f"{table.columns[first].name} + {table.columns[second].name}"]
            continue
        both = (one.sides[side] & two.sides[side]).bit_count()
        if second in repeated or upper_tail(both, either, float(OVERLAP)) >= level_of(tests):
            continue
        repeated.add(second)
        other = table.columns[first].name
        bound = at_least(lower_bound(both, either, level_of(tests)))
        share = f"all {both}" if both == either else f"{both} of them"
        values = {"either": either, "n": table.answers, "side": two.words[side], "other": other}
        values |= {"other_side": one.words[side], "share": share, "bound": bound, "budget": corrected(tests)}
        yield Decision(REDUNDANT, Spot(table.columns[second].name), "same-answers", values, Spot(other))
    if small:
        reason = f"one of two criteria is on the rarer side in at most {most} answers"
        yield Untested(REDUNDANT, tuple(small), reason, needed, "such answers")


def _halve(column: Column) -> _Halves | None:
    names = column.measure.scale.names
    cut = find_cut(column.given, len(names))
    if cut is None:
        return None
    digits = "".join("1" if position >= cut else "0" for position in column.given)
    above = int(digits, 2)
    below = above ^ ((1 << len(digits)) - 1)
    words = ("missed", "met") if column.is_check else (f"below {names[cut]}", f"{names[cut]} or more")
    return _Halves((below, above), words)


def find_inverse(table: Table) -> Outcomes:
    """Find the criterion that falls most clearly when the mean of the others rises."""
    columns, n = table.columns, table.answers
    if len(columns) < 3:
        if len(columns) == 2:
            names = tuple(column.name for column in columns)
            yield Untested(INVERSE, names, "of two criteria the direction is unknown", 3, "criteria")
        return
    if n < LEAST:
        yield Untested(INVERSE, tuple(column.name for column in columns), f"{n} judged answers", LEAST)
        return
    tests = len(columns)
    t = t_quantile(level_of(tests), n - 2)
    critical = -t / math.sqrt(n - 2 + t * t)
    found = correlate_with_rest(columns)
    lowest = min((r, place) for place, r in enumerate([1.0 if r is None else r for r in found]))
    if lowest[0] < critical:
        column = columns[lowest[1]]
        advice = "check its direction" if column.is_check else "check its direction and the order of its values"
        values = {"r": f"{lowest[0]:.2f}", "n": n, "chance": f"{critical:.2f}", "budget": corrected(tests)}
        yield Decision(INVERSE, Spot(column.name), "correlation", {**values, "advice": advice})
    seen = lowest[1] if lowest[0] < critical else None
    yield from _list_hidden(
        [column for place, column in enumerate(columns) if place != seen],
        [r for place, r in enumerate(found) if place != seen],
        n,
    )


def _list_hidden(columns: Sequence[Column], found: Sequence[float | None], n: int) -> Iterator[Untested]:
    """Yield the criteria whose direction the answers hide, by their correlations."""
    constant, alone, blind = list[str](), list[str](), list[str]()
    needed = 0
    for column, r in zip(columns, found, strict=True):
        off = n - max(column.given.count(position) for position in set(column.given))
        if r is None:
            (alone if off else constant).append(column.name)
        elif 10 * off <= n:
            blind.append(column.name)
            # With k more answers off the commonest value, their share is above a tenth.
            needed = max(needed, (n - 10 * off) // 9 + 1)
    if constant:
        unit = "answers with another value"
        yield Untested(INVERSE, tuple(constant), f"judged alike in all {n} answers", n // 9 + 1, unit)
    if alone:
        reason = f"the mean of the other criteria is the same in all {n} answers"
        yield Untested(INVERSE, tuple(alone), reason, n // 9 + 1, "answers with another mean")
    if blind:
        reason = f"one value in at least 90% of {n} answers, which hides the direction"
        yield Untested(INVERSE, tuple(blind), reason, needed, "more answers with another value")


def correlate_with_rest(columns: Sequence[Column]) -> list[float | None]:
    """Return for each column the correlation of its worth with the mean of the others; None if one is constant.

    Pearson's r of the item with the rest: Henrysson 1963, https://doi.org/10.1007/BF02289618.
    """
    unit = math.lcm(*(worth.denominator for column in columns for worth in column.worth))
    values = []
    for column in columns:
        worth = [int(each * unit) for each in column.worth]
        values.append([worth[position] for position in column.given])
    totals = [sum(row) for row in zip(*values, strict=True)]
    return [_correlate(each, [total - value for total, value in zip(totals, each, strict=True)]) for each in values]


def _correlate(first: Sequence[int], second: Sequence[int]) -> float | None:
    n = len(first)
    sum_1, sum_2 = sum(first), sum(second)
    spread_1 = n * sum(value * value for value in first) - sum_1 * sum_1
    spread_2 = n * sum(value * value for value in second) - sum_2 * sum_2
    if not spread_1 or not spread_2:
        return None
    joint = n * sum(one * two for one, two in zip(first, second, strict=True)) - sum_1 * sum_2
    return joint / (math.sqrt(spread_1) * math.sqrt(spread_2))

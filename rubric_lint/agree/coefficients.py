"""Coefficients of agreement in exact arithmetic.

Ratings arrive as patterns: rows of positions on a scale, one position a rater and None where a rating is missing, with
the number of answers that have each row. Everything but a final quotient of integers is linear in these numbers or a
product of sums, so a bootstrap draw costs a few sums over the patterns.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import mul

from rubric_lint.agree.scales import Scale

Row = tuple[int | None, ...]
"""The ratings of one answer, one a rater: a position on the scale, or None without a rating."""

Ratio = tuple[int, int]
"""A numerator and a denominator, which is 0 if the value is undefined. It need not be reduced."""

Statistic = Callable[[Sequence[int]], Ratio]
"""A function of the number of answers with each row."""


def _sum_up(counts: Sequence[int], parts: Sequence[int]) -> int:
    return sum(map(mul, counts, parts))


def find_distances(rows: Sequence[Row], higher: Sequence[Row], scale: Scale) -> list[int]:
    """Return twice the second rating minus the first, each the mean of the two in the middle; 0 if one is missing.

    `rows` has the worse of the two and `higher` the better. Their mean is not lower for an even number of outputs.
    """
    return [
        0 if None in row else sum(_value(scale, each[1]) - _value(scale, each[0]) for each in (row, better))
        for row, better in zip(rows, higher, strict=True)
    ]


def mean_difference(rows: Sequence[Row], higher: Sequence[Row], scale: Scale, *, absolute: bool = False) -> Statistic:
    """Return the mean of second minus first rating, in the units of the scale; or of its absolute value."""
    twice = [2 * int(None not in row) for row in rows]
    apart = find_distances(rows, higher, scale)
    parts = list(map(abs, apart)) if absolute else apart
    return lambda counts: (_sum_up(counts, parts), _sum_up(counts, twice))


def kappa(rows: Sequence[Row], scale: Scale, *, quadratic: bool = False) -> Statistic:
    """Return Cohen's kappa of two raters, or with quadratic weights kappa by squared distances of the values.

    1 - sum(d o) / sum(d r c) with joint shares o and marginal shares r and c; d is 1 for different values, or their
    squared distance. Cohen 1960, https://doi.org/10.1177/001316446002000104; weighted: Cohen 1968,
    https://doi.org/10.1037/h0026256.
    """
    both = [int(None not in row) for row in rows]
    if quadratic:
        first, second = ([0 if None in row else _value(scale, row[side]) for row in rows] for side in (0, 1))
        squares = [one * one + two * two for one, two in zip(first, second, strict=True)]
        apart = [(one - two) ** 2 for one, two in zip(first, second, strict=True)]

        def weigh(counts: Sequence[int]) -> Ratio:
            n = _sum_up(counts, both)
            chance = n * _sum_up(counts, squares) - 2 * _sum_up(counts, first) * _sum_up(counts, second)
            return chance - n * _sum_up(counts, apart), chance

        return weigh
    different = [int(None not in row and row[0] != row[1]) for row in rows]
    marginals = [
        tuple([int(None not in row and row[side] == place) for row in rows] for side in (0, 1))
        for place in range(len(scale.values))
    ]

    def compare(counts: Sequence[int]) -> Ratio:
        n = _sum_up(counts, both)
        chance = n * n - sum(_sum_up(counts, one) * _sum_up(counts, two) for one, two in marginals)
        return chance - n * _sum_up(counts, different), chance

    return compare


def alpha_nominal(rows: Sequence[Row], scale: Scale) -> Statistic:
    """Return Krippendorff's alpha for unordered values: 1 - Do/De over the coincidences of values.

    Each answer with m ratings weighs 1/(m - 1), answers with one rating do not count, and De is over n(n - 1) pairs of
    the n ratings that do. Krippendorff 1970, https://doi.org/10.1177/001316447003000105; Hayes and Krippendorff 2007,
    https://doi.org/10.1080/19312450709336664.
    """
    size, given = len(scale.values), _count_values(rows, len(scale.values))
    unit = _common_unit(given)
    apart = [_within(unit, sum(row), sum(row) ** 2 - sum(count * count for count in row)) for row in given]
    totals = [[row[place] if sum(row) > 1 else 0 for row in given] for place in range(size)]

    def compare(counts: Sequence[int]) -> Ratio:
        found = [_sum_up(counts, total) for total in totals]
        n = sum(found)
        chance = unit * (n * n - sum(count * count for count in found))
        return chance - (n - 1) * _sum_up(counts, apart), chance

    return compare


def alpha_interval(rows: Sequence[Row], scale: Scale) -> Statistic:
    """Return Krippendorff's alpha with squared distances of the values; see `alpha_nominal`."""
    given = _count_values(rows, len(scale.values))
    unit = _common_unit(given)
    powers = [1] * len(scale.values), scale.values, [value * value for value in scale.values]
    moments = [[sum(map(mul, row, power)) if sum(row) > 1 else 0 for row in given] for power in powers]
    apart = [_within(unit, n, 2 * (n * squares - total * total)) for n, total, squares in zip(*moments, strict=True)]

    def compare(counts: Sequence[int]) -> Ratio:
        n, total, squares = (_sum_up(counts, moment) for moment in moments)
        chance = 2 * unit * (n * squares - total * total)
        return chance - (n - 1) * _sum_up(counts, apart), chance

    return compare


def alpha_ordinal(rows: Sequence[Row], scale: Scale) -> Statistic:
    """Return Krippendorff's alpha for ordered values; see `alpha_nominal`.

    The distance of c and k is the number of ratings from c to k, less half of those at c and at k. That is the distance
    of the middle ranks of c and k among all ratings, so this is `alpha_interval` of the middle ranks.
    """
    size, given = len(scale.values), _count_values(rows, len(scale.values))
    unit = _common_unit(given)
    each_value = [[(place, times) for place, times in enumerate(row) if times] for row in given]
    listed = [(number, sum(row), each_value[number]) for number, row in enumerate(given) if sum(row) > 1]
    totals = [[row[place] if sum(row) > 1 else 0 for row in given] for place in range(size)]

    def compare(counts: Sequence[int]) -> Ratio:
        found = [_sum_up(counts, total) for total in totals]
        ranks, below = [], 0
        for count in found:  # twice the middle rank, which may be a half
            ranks.append(2 * below + count)
            below += count
        n = below
        squares = sum(count * rank * rank for count, rank in zip(found, ranks, strict=True))
        chance = 2 * unit * (n * squares - sum(map(mul, found, ranks)) ** 2)
        apart = 0
        for number, ratings, values in listed:
            if counts[number] and len(values) > 1:
                total = sum(times * ranks[place] for place, times in values)
                squares = sum(times * ranks[place] ** 2 for place, times in values)
                apart += counts[number] * (unit // (ratings - 1)) * 2 * (ratings * squares - total * total)
        return chance - (n - 1) * apart, chance

    return compare


def gwet(rows: Sequence[Row], scale: Scale, *, quadratic: bool = False) -> Statistic:
    """Return Gwet's AC1, or with quadratic weights AC2, of any number of raters.

    (pa - pe)/(1 - pe). pa is the mean over answers with r > 1 ratings of sum r_k (r*_k - 1)/(r (r - 1)), where r* is
    the weighted count; pe = T/(q (q - 1)) sum p_k (1 - p_k) with the total weight T and the mean share p_k of each of
    the q values over all answers with a rating. AC2 weighs two values by 1 - (their distance / the range) squared.
    Gwet 2008, https://doi.org/10.1348/000711006X126600; Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition.
    """
    values, size = scale.values, len(scale.values)
    whole = (values[-1] - values[0]) ** 2 if quadratic else 1
    weights = [
        [whole - (one - two) ** 2 if quadratic else int(one == two) for two in values] for one in values
    ]  # in parts of `whole`
    given = _count_values(rows, size)
    sizes = [sum(row) for row in given]
    unit = math.lcm(*(n * (n - 1) for n in sizes if n > 1), 1)
    agreeing = [
        unit // (n * (n - 1)) * sum(row[k] * (_sum_up(row, weights[k]) - whole) for k in range(size)) if n > 1 else 0
        for row, n in zip(given, sizes, strict=True)
    ]
    several, some = [int(n > 1) for n in sizes], [int(n > 0) for n in sizes]
    part = math.lcm(*(n for n in sizes if n), 1)
    shares = [[row[k] * part // n if n else 0 for row, n in zip(given, sizes, strict=True)] for k in range(size)]
    total, pairs = sum(map(sum, weights)), whole * size * (size - 1)

    def compare(counts: Sequence[int]) -> Ratio:
        n, rated = _sum_up(counts, several), part * _sum_up(counts, some)
        spread = sum(share * (rated - share) for share in (_sum_up(counts, share) for share in shares))
        chance, of = total * spread, pairs * rated * rated
        seen = unit * whole * n
        return _sum_up(counts, agreeing) * of - chance * seen, seen * (of - chance)

    return compare


def independent_votes(rows: Sequence[Row], scale: Scale) -> Statistic:
    """Return how many independent votes a panel is worth; each row has the label first, then the judges.

    With the errors e (judge less label): the mean variance of the judges' errors by the variance of their mean, k for k
    judges whose errors do not correlate. Only answers with all ratings count. Kish 1965, Survey Sampling.
    """
    full = [int(None not in row) for row in rows]
    errors = [
        [_value(scale, each) - _value(scale, row[0]) for each in row[1:]] if None not in row else [0] * (len(row) - 1)
        for row in rows
    ]
    judges = list(zip(*errors, strict=True))
    squares = [[error * error for error in judge] for judge in judges]
    joint = list(map(sum, errors))
    joint_squares = [error * error for error in joint]

    def compare(counts: Sequence[int]) -> Ratio:
        n = _sum_up(counts, full)
        apart = sum(
            n * _sum_up(counts, square) - _sum_up(counts, judge) ** 2
            for judge, square in zip(judges, squares, strict=True)
        )
        return len(judges) * apart, n * _sum_up(counts, joint_squares) - _sum_up(counts, joint) ** 2

    return compare


def flip_rate(rows: Sequence[Row]) -> Statistic:
    """Return the mean over answers of the share of pairs of samples that differ; each row has the samples of an answer.

    1 - sum n_v (n_v - 1)/(k (k - 1)) for k samples of which n_v have the value v: unbiased for any k.
    """
    sizes = [len(row) - row.count(None) for row in rows]
    unit = math.lcm(*(k * (k - 1) for k in sizes if k > 1), 1)
    parts = []
    for row, k in zip(rows, sizes, strict=True):
        same = sum(row.count(value) * (row.count(value) - 1) for value in set(row) - {None})
        parts.append(unit - same * unit // (k * (k - 1)) if k > 1 else 0)
    several = [int(k > 1) for k in sizes]
    return lambda counts: (_sum_up(counts, parts), unit * _sum_up(counts, several))


def correlate(first: Sequence[int], second: Sequence[int]) -> float | None:
    """Return Pearson's correlation of two columns, or None if one is constant."""
    n = len(first)
    sum_1, sum_2 = sum(first), sum(second)
    spread_1 = n * sum(value * value for value in first) - sum_1 * sum_1
    spread_2 = n * sum(value * value for value in second) - sum_2 * sum_2
    if not spread_1 or not spread_2:
        return None
    joint = n * sum(one * two for one, two in zip(first, second, strict=True)) - sum_1 * sum_2
    return joint / (math.sqrt(spread_1) * math.sqrt(spread_2))


def difference(one: Statistic, two: Statistic) -> Statistic:
    """Return the first statistic less the second."""

    def subtract(counts: Sequence[int]) -> Ratio:
        (a, b), (c, d) = one(counts), two(counts)
        return a * d - c * b, b * d

    return subtract


def as_fraction(ratio: Ratio) -> Fraction | None:
    """Return the exact value, or None if it is undefined."""
    return Fraction(*ratio) if ratio[1] else None


def _value(scale: Scale, place: int | None) -> int:
    return 0 if place is None else scale.values[place]


def _count_values(rows: Sequence[Row], size: int) -> list[list[int]]:
    """Return for each row how many of its ratings have each value."""
    return [[row.count(place) for place in range(size)] for row in rows]


def _common_unit(given: Sequence[Sequence[int]]) -> int:
    """Return an integer that m - 1 divides for every number m > 1 of ratings."""
    return math.lcm(*(sum(row) - 1 for row in given if sum(row) > 1), 1)


def _within(unit: int, ratings: int, apart: int) -> int:
    """Return the disagreement within an answer, divided by m - 1, in parts of `unit`."""
    return unit // (ratings - 1) * apart if ratings > 1 else 0

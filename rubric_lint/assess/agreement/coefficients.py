"""Coefficients of agreement in exact arithmetic.

Ratings arrive as rows of positions on a scale, one position a rater and None where a rating is missing, with the number
of answers that have each row.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rubric_lint.assess.agreement.scales import RatingScale, ScaleKind

Row = tuple[int | None, ...]
"""The ratings of one answer, one a rater: a position on the scale, or None without a rating."""


def find_distances(rows: Sequence[Row], higher: Sequence[Row], scale: RatingScale) -> list[int | None]:
    """Return twice the second rating minus the first, each the mean of the two in the middle; None if one is missing.

    `rows` has the worse of the two and `higher` the better. Their mean is not lower for an even number of outputs.
    """
    distances: dict[tuple[Row, Row], int | None] = {}
    for row, better in {*zip(rows, higher, strict=True)}:
        distances[row, better] = None
        if None not in row and None not in better:
            ends = [scale.values[place or 0] for place in row + better]
            distances[row, better] = ends[1] - ends[0] + ends[3] - ends[2]
    return [distances[ends] for ends in zip(rows, higher, strict=True)]


def measure_distance(scale: RatingScale, one: int, two: int) -> int:
    """Return how far apart two positions are: 0 or 1 on a check, else the squared distance of their values."""
    if scale.kind is ScaleKind.CHECK:
        return int(one != two)
    return (scale.values[one] - scale.values[two]) ** 2


def _sum_distances(scale: RatingScale, totals: Mapping[int, int]) -> dict[int, int]:
    """Return for each position the sum of its distances to ratings, of which `totals` has the number by position.

    The sum of (v - w)² over n values w is n v² - 2 v S + Q, with their sum S and the sum Q of their squares.
    """
    n = sum(totals.values())
    if scale.kind is ScaleKind.CHECK:
        return {place: n - totals.get(place, 0) for place in range(len(scale.values))}
    total = sum(times * scale.values[place] for place, times in totals.items())
    squares = sum(times * scale.values[place] ** 2 for place, times in totals.items())
    return {place: n * value**2 - 2 * value * total + squares for place, value in enumerate(scale.values)}


def kappa(rows: Sequence[Row], counts: Sequence[int], scale: RatingScale) -> Fraction | None:
    """Return Cohen's kappa of two raters, on ordered scales with quadratic weights; None if nothing varies.

    1 - sum(d o) / sum(d r c) with joint shares o, marginal shares r and c, and the distance d of two values. Cohen
    1960, https://doi.org/10.1177/001316446002000104; weighted: Cohen 1968, https://doi.org/10.1037/h0026256.
    """
    first, second = Counter[int](), Counter[int]()
    n = apart = 0
    for (one, two), count in zip(rows, counts, strict=True):
        if one is not None and two is not None:
            first[one] += count
            second[two] += count
            n += count
            apart += count * measure_distance(scale, one, two)
    from_second = _sum_distances(scale, second)
    chance = sum(times * from_second[one] for one, times in first.items())
    return 1 - Fraction(n * apart, chance) if chance else None


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha, None if nothing varies, and what each row does to it.

    `influence` is the derivative of log(1 - alpha) by the share of answers with that row: 0 of a row that does not
    count, and empty if alpha is undefined or 1.
    """

    value: Fraction | None
    influence: Sequence[float] = ()


def alpha(rows: Sequence[Row], counts: Sequence[int], scale: RatingScale) -> Alpha:
    """Return Krippendorff's alpha: nominal of checks, else with squared distances of the values.

    1 - Do/De over the coincidences of values: each answer with m ratings weighs 1/(m - 1), answers with one rating do
    not count, and De is over n(n - 1) pairs of the n ratings that do. Krippendorff 1970,
    https://doi.org/10.1177/001316447003000105; Hayes and Krippendorff 2007,
    https://doi.org/10.1080/19312450709336664.
    """
    rated = [[place for place in row if place is not None] for row in rows]
    totals = Counter[int]()
    for places, count in zip(rated, counts, strict=True):
        if len(places) > 1:
            for place in places:
                totals[place] += count
    n = totals.total()
    from_all = _sum_distances(scale, totals)
    chance = sum(times * from_all[place] for place, times in totals.items())
    if not chance:
        return Alpha(None)
    within = [sum(measure_distance(scale, one, two) for one in places for two in places) for places in rated]
    by_size = Counter[int]()
    for places, apart, count in zip(rated, within, counts, strict=True):
        by_size[len(places) - 1] += apart * count
    observed = sum((Fraction(apart, size) for size, apart in by_size.items() if apart), Fraction(0))
    value = 1 - (n - 1) * observed / chance
    if not observed:
        return Alpha(value)
    influence = []
    for places, apart in zip(rated, within, strict=True):
        others = len(places) - 1
        if others < 1:
            influence.append(0.0)
            continue
        from_these = sum(from_all[place] for place in places)
        # apart/others/observed + len(given)/n - 2 from_these/chance, exact until it is divided, as fractions are slow
        below = others * observed.numerator
        part = apart * observed.denominator * n * chance + below * (len(places) * chance - 2 * from_these * n)
        influence.append(part / (below * n * chance))
    return Alpha(value, influence)


def flips(row: Row) -> Fraction | None:
    """Return the share of pairs of samples of an answer that differ; None without two samples.

    1 - sum n_v (n_v - 1)/(k (k - 1)) for k samples of which n_v have the value v: unbiased for any k.
    """
    counts = Counter(place for place in row if place is not None)
    pairs = math.comb(counts.total(), 2)
    equal = sum(math.comb(count, 2) for count in counts.values())
    return Fraction(pairs - equal, pairs) if pairs else None


def correlate(first: Sequence[int], second: Sequence[int]) -> float | None:
    """Return Pearson's correlation of two columns, -1 to 1 but for rounding, or None if one is constant."""
    n = len(first)
    sum_1, sum_2 = sum(first), sum(second)
    spread_1 = n * sum(value * value for value in first) - sum_1 * sum_1
    spread_2 = n * sum(value * value for value in second) - sum_2 * sum_2
    if not spread_1 or not spread_2:
        return None
    joint = n * sum(one * two for one, two in zip(first, second, strict=True)) - sum_1 * sum_2
    return joint / (math.sqrt(spread_1) * math.sqrt(spread_2))


def rank(values: Sequence[int] | Sequence[int | Fraction]) -> list[int]:
    """Return twice the rank of each value; equal ones share the middle of their ranks."""
    counts = Counter(values)
    below, ranks = 0, {}
    for value in sorted(counts):
        ranks[value] = 2 * below + counts[value] + 1
        below += counts[value]
    return [ranks[value] for value in values]

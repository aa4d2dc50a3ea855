"""Rules about values that all answers have, or none: judged-constant and judged-unused-band."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import floor
from typing import NamedTuple

from rubric_lint.agree.coefficients import Row, Statistic, alpha_nominal, as_fraction
from rubric_lint.agree.intervals import Sides, lower_bound, lower_tail, t_quantile, upper_bound, upper_tail
from rubric_lint.agree.judged.table import (
    LEAST,
    Column,
    Decision,
    Outcomes,
    Spot,
    Table,
    Untested,
    at_least,
    at_most,
    bound_absent,
    corrected,
    count_needed,
    level_of,
)
from rubric_lint.agree.ratings import name_key
from rubric_lint.agree.scales import Kind, Measure, Scale
from rubric_lint.messages import join_words, percent

CONSTANT, UNUSED = "judged-constant", "judged-unused-band"

_USUAL = Fraction(9, 10)
"""The share of answers that must differ for a value to be worth its place: a tenth."""

_MOST_SHOWN = 3


def find_constant(table: Table) -> Outcomes:
    """Find criteria to which every output gave the same check, side of the gate, band or level."""
    tests, n = len(table.columns), table.answers
    needed = count_needed(_USUAL, tests)
    alike = [(place, column) for place, column in enumerate(table.columns) if is_constant(column)]
    if n < needed:
        if alike:
            reason = f"judged alike in all {n} answers so far"
            yield Untested(CONSTANT, tuple(column.name for _, column in alike), reason, needed)
        return
    for _, column in alike:
        value, other, missing = _word_constant(column)
        code, values = "alike", {"value": value, "n": n, "missing": missing}
        if differing := _find_other_labels(column):
            labelled = len(column.labels) - column.labels.count(None)
            look = join_words([f"`{name_key(table.keys[number])}`" for number in differing[:_MOST_SHOWN]])
            code = "labels-differ"
            values |= {"differing": len(differing), "labelled": labelled, "look": look}
        else:
            bound = at_most(bound_absent(n, tests))
            values |= {"bound": bound, "otherwise": other, "budget": corrected(tests)}
        yield Decision(CONSTANT, Spot(column.name), code, values)


def is_constant(column: Column) -> bool:
    """Return whether all outputs give a criterion the same check, side of the gate, band or level."""
    return len({_classify(column, position) for position in column.used}) == 1


def _find_other_labels(column: Column) -> list[int]:
    """Return the numbers of the answers to which people gave something else than all outputs did."""
    value = _classify(column, min(column.used))
    return [at for at, label in enumerate(column.labels) if label is not None and _classify(column, label) != value]


def _classify(column: Column, position: int) -> int:
    if column.is_gated and column.measure.meets:
        return int(column.measure.meets[position])
    return _band_of(column, position) if column.bands else position


def _band_of(column: Column, position: int) -> int:
    """Return the number of the band of a value, or of its level."""
    if column.bands is None:
        return position
    return list(column.bands.positions.values())[position]


def _word_constant(column: Column) -> tuple[str, str, str]:
    """Return in words what all outputs gave, what the others would do, and what answers are missing."""
    position = min(column.used)
    meets = column.measure.meets
    if meets and (column.is_gated or column.is_check):
        what = "" if column.is_check else "the gate was "
        return (f"{what}met", "miss it", "miss it") if meets[position] else (f"{what}missed", "meet it", "meet it")
    kind = "level" if column.measure.scale.kind is Kind.LEVEL else "band" if column.bands else "score"
    name = _steps_of(column).scale.names[_band_of(column, position)]
    return f"{kind} {name} was given", "earn another one", "earn another one"


def find_unused(table: Table) -> Outcomes:
    """Find bands and levels that no output gave, except where `judged-constant` reports a single band in use."""
    stepped = [column for column in table.columns if _has_steps(column)]
    tests, n = sum(len(_steps_of(column).scale.names) for column in stepped), table.answers
    if not tests:
        return
    needed = count_needed(_USUAL, tests)
    if n < needed:
        missing = [f"{column.name} {name}" for column in stepped for _, name in _list_unused(column)]
        if missing:
            yield Untested(UNUSED, tuple(missing), f"given in none of {n} answers so far", needed)
        return
    bound, budget = at_most(bound_absent(n, tests)), corrected(tests)
    for column in stepped:
        if is_constant(column) and not column.is_gated:
            continue
        for number, name in _list_unused(column):
            step = f"{'level' if column.bands is None else 'the band'} {name}"
            values = {"step": step, "n": n, "bound": bound, "budget": budget}
            answer = next(
                answer
                for answer, position in column.measure.positions.items()
                if _band_of(column, position) == number and not isinstance(answer, str)
            )
            yield Decision(UNUSED, Spot(column.name, answer=answer), "unused", values)


def _has_steps(column: Column) -> bool:
    return column.bands is not None or column.measure.scale.kind is Kind.LEVEL


def _steps_of(column: Column) -> Measure:
    return column.bands or column.measure


def _list_unused(column: Column) -> Iterator[tuple[int, str]]:
    """Yield the number and the name of each band or level that no output gave."""
    used = {_band_of(column, position) for position in column.used}
    yield from ((number, name) for number, name in enumerate(_steps_of(column).scale.names) if number not in used)


UNSTABLE = "judged-unstable"

MOST = 0.1
"""The share of pairs of samples that may differ."""


def find_unstable(table: Table) -> Outcomes:
    """Find gates and verdicts that change between samples of one answer.

    The number of answers that flip is the sum of their shares of differing pairs, rounded down, and its bound that of
    Clopper and Pearson.
    """
    tests = sum(column.is_gated for column in table.columns) + 1
    sampled = table.flips[None].answers
    if sampled < LEAST:
        names = tuple(column.name for column in table.columns if column.is_gated)
        have = f"{sampled or 'no'} answer{' has' if sampled == 1 else 's have'} several samples by one judge"
        yield Untested(UNSTABLE, (*names, "verdict"), have, LEAST, "answers with samples")
        return
    for place, (rate, n) in table.flips.items():
        flipped = floor(rate * n)
        if upper_tail(flipped, n, MOST) >= level_of(tests):
            continue
        bound = lower_bound(flipped, n, level_of(tests))
        column = None if place is None else table.columns[place]
        samples = join_words([str(size) for size in table.samples], "or")
        found = f"{at_least(bound)}, {corrected(tests)}; {n} answers with {samples} samples"
        figures = f"{percent(rate)} of pairs differ ({found})"
        if column:
            values = {"figures": figures, "advice": _advise(column)}
            yield Decision(UNSTABLE, Spot(column.name, is_gate=True), "gate", values)
        else:
            yield Decision(UNSTABLE, Spot(), "verdict", {"figures": figures})


def _advise(column: Column) -> str:
    names, meets = column.measure.scale.names, column.measure.meets or ()
    if column.is_check:
        return "say what an answer must have to meet it"
    gate = meets.index(True)
    return f"say what separates {names[gate - 1]} from {names[gate]}"


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


DISAGREES = "judged-disagrees"

CAUGHT, ALPHA = 0.8, 0.6
"""The share of bad answers that a judge should catch, and the alpha that it should reach."""

LEAST_BAD, LEAST_LABELS, LEAST_EACH = 10, 60, 5
"""The fewest bad answers, labelled answers, and answers on each side of a cut, for a statement about them."""

_TESTS = 3
_TWO_SIDES = Scale(Kind.CHECK, (0, 1), ("no", "yes"))
_ROWS: tuple[Row, ...] = ((0, 0), (0, 1), (1, 0), (1, 1))


class _Pair(NamedTuple):
    """One answer that a judge and people judged: its number, and the positions of the label and of the judge."""

    number: int
    label: int
    judge: int


class _Gap(NamedTuple):
    """What one of the tests found, what to do about it, and the answers to look at."""

    figure: str
    advice: str
    answers: Sequence[int]


def find_disagreement(table: Table) -> Outcomes:
    """Find criteria on which the judge misses bad answers, is higher or lower than people, or does not agree."""
    if not table.labelled:
        yield Untested(DISAGREES, (), "no judged answer has a label", LEAST_LABELS, "labelled answers")
        return
    tests = _TESTS * len(table.columns)
    lacking: dict[tuple[str, int, str], list[str]] = {}
    for column in table.columns:
        pairs = [
            _Pair(number, label, judge)
            for number, (label, judge) in enumerate(zip(column.labels, column.given, strict=True))
            if label is not None
        ]
        gaps = []
        for found in (
            _count_caught(column, pairs, tests),
            _compare_directions(pairs, tests),
            _compare_sides(column, pairs, tests),
        ):
            if isinstance(found, _Gap):
                gaps.append(found)
            elif found is not None:
                lacking.setdefault(found, []).append(column.name)
        if gaps:
            spot = Spot(column.name, is_gate=column.is_gated and not column.is_check)
            yield Decision(DISAGREES, spot, "gaps", _describe(gaps, table, tests))
    for (reason, needed, unit), names in lacking.items():
        yield Untested(DISAGREES, tuple(names), reason, needed, unit)


def _describe(gaps: Sequence[_Gap], table: Table, tests: int) -> dict[str, str]:
    shown = [f"`{name_key(table.keys[number])}`" for number in gaps[0].answers[:_MOST_SHOWN]]
    look = f"; look at {join_words(shown)}" if shown else ""
    figures = "; ".join(gap.figure for gap in gaps)
    return {"gaps": figures, "budget": corrected(tests), "advice": gaps[0].advice, "look": look}


_Outcome = _Gap | tuple[str, int, str] | None
"""What a test found, or why it could not be made with the number that would do and its unit, or nothing."""


def _count_caught(column: Column, pairs: Sequence[_Pair], tests: int) -> _Outcome:
    """Look at the share of the answers that people fail which the judge fails too."""
    meets = column.measure.meets
    if meets is None:
        return None
    bad = [pair for pair in pairs if not meets[pair.label]]
    if len(bad) < LEAST_BAD:
        return "bad answers caught: people fail fewer than 10 answers", LEAST_BAD, "answers that people fail"
    missed = [pair.number for pair in bad if meets[pair.judge]]
    caught = len(bad) - len(missed)
    if lower_tail(caught, len(bad), CAUGHT) >= level_of(tests):
        return None
    bound = at_most(upper_bound(caught, len(bad), level_of(tests)))
    advice = "say what an answer must have to meet it" if column.is_check else "sharpen the outcome below the gate"
    share = f"{caught / len(bad) * 100:.1f}%"
    return _Gap(f"of {len(bad)} answers that people fail, the judge caught {caught} ({share}, {bound})", advice, missed)


def _compare_directions(pairs: Sequence[_Pair], tests: int) -> _Outcome:
    """Look at the direction of the differences between judge and people: the sign test."""
    needed = math.ceil(math.log2(2 / level_of(tests)))
    if len(pairs) < needed:
        return f"direction of the differences: fewer than {needed} labelled answers", needed, "labelled answers"
    higher = [pair.number for pair in pairs if pair.judge > pair.label]
    lower = [pair.number for pair in pairs if pair.judge < pair.label]
    p = Sides(len(higher), len(lower)).exact
    if p is None or p > level_of(tests):
        return None
    more, word = (higher, "higher") if len(higher) > len(lower) else (lower, "lower")
    differing = len(higher) + len(lower)
    figure = (
        f"the judge is {word} than people in {len(more)} of the {differing} answers on which they differ "
        f"({len(pairs)} labelled; p = {p:.1g})"
    )
    advice = f"say more exactly what earns the {'lower' if word == 'higher' else 'higher'} values"
    return _Gap(figure, advice, more)


def _compare_sides(column: Column, pairs: Sequence[_Pair], tests: int) -> _Outcome:
    """Look at Krippendorff's alpha on which side of the gate, or of the middle of the labels, an answer is."""
    n = len(pairs)
    if n < LEAST_LABELS:
        return f"agreement: fewer than {LEAST_LABELS} labelled answers", LEAST_LABELS, "labelled answers"
    meets = column.measure.meets
    size = len(column.measure.scale.names)
    if meets is None:
        cut = find_cut([pair.label for pair in pairs], size)
        meets = tuple(position >= (cut or 0) for position in range(size))
    above = sum(meets[pair.label] for pair in pairs)
    if min(above, n - above) < LEAST_EACH:
        unit = "labelled answers on each side"
        return f"agreement: fewer than {LEAST_EACH} labelled answers on one side", LEAST_EACH, unit
    counts = [0, 0, 0, 0]
    for pair in pairs:
        counts[2 * meets[pair.label] + meets[pair.judge]] += 1
    alpha, error = jackknife(alpha_nominal(_ROWS, _TWO_SIDES), counts)
    bound = alpha + t_quantile(level_of(tests), n - 1) * error
    if bound >= ALPHA:
        return None
    side = "gate" if column.measure.meets else "middle"
    what = "on meeting it" if column.is_check else f"on which side of the {side} an answer is"
    apart = [pair.number for pair in pairs if meets[pair.label] != meets[pair.judge]]
    figure = (
        f"judge and people agree little {what}: alpha {alpha:.2f}, at most {math.ceil(bound * 100) / 100:.2f}, n = {n}"
    )
    return _Gap(figure, "let people and the judge discuss what the outcomes mean", apart)


def jackknife(statistic: Statistic, counts: Sequence[int]) -> tuple[float, float]:
    """Return a statistic and its standard error, from its values without each answer in turn.

    `counts` are the answers with each row; an undefined value counts as that of all answers. Quenouille 1956,
    https://doi.org/10.1093/biomet/43.3-4.353; Efron and Stein 1981, https://doi.org/10.1214/aos/1176345462.
    """
    n = sum(counts)
    whole = as_fraction(statistic(counts))
    if whole is None:
        return math.nan, math.nan
    without = []
    for number, count in enumerate(counts):
        if count:
            left = [each - (place == number) for place, each in enumerate(counts)]
            found = as_fraction(statistic(left))
            without.append((whole if found is None else found, count))
    mean = sum(value * count for value, count in without) / n
    squares = sum((value - mean) ** 2 * count for value, count in without)
    return float(whole), math.sqrt(squares * (n - 1) / n)

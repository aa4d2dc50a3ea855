"""The rules on judged data: what the values of a rubric show, alone and beside the labels of people.

The last ones are on what a value must not depend on: the place of a criterion in the request, and the length of the
answer.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import shake_256
from itertools import accumulate, chain, combinations, repeat
from operator import add, itemgetter, mul
from struct import unpack
from typing import NamedTuple

from rubric_lint.agree.bounds import lower_bound, lower_tail, t_quantile, upper_bound, upper_tail
from rubric_lint.agree.coefficients import Row, Statistic, alpha_nominal, as_fraction, correlate
from rubric_lint.agree.intervals import Sides
from rubric_lint.agree.judged.outcomes import (
    Decision,
    Outcomes,
    Target,
    Untested,
    at_least,
    at_most,
    bound_absent,
    corrected,
    count_needed,
    level_of,
    name_answers,
    names_of,
    share_of,
)
from rubric_lint.agree.judged.table import Column, Table, count_apart
from rubric_lint.agree.scales import Kind, Scale
from rubric_lint.messages import join_words, percent

_LEAST = 30
"""The fewest answers for a statement about samples, and for a correlation."""

_USUAL = Fraction(9, 10)
"""The share of answers that must differ for a value to be worth its place: a tenth."""

_MOST_AT_TOP = Fraction(4, 5)
"""The share of answers that may have the highest value, or be in the highest band."""

_MOST_UNSTABLE = 0.1
"""The share of pairs of samples that may differ."""

_OVERLAP = Fraction(4, 5)
"""The share of the answers with one of two properties that have both, from which the two count as one."""

_CAUGHT, _ALPHA = 0.8, 0.6
"""The share of bad answers that a judge should catch, and the alpha that it should reach."""

_LEAST_BAD, _LEAST_LABELS, _LEAST_EACH = 10, 60, 5
"""The fewest bad answers, labelled answers, and answers on each side of a cut, for a statement about them."""

_LEAST_EXCHANGED = 60
"""The fewest answers for a statement about places, and about lengths."""

_MOST_AS_EXTREME = 4
"""A p value is at most what is allowed if fewer draws than this are as extreme as what was recorded."""


def find_constant(table: Table) -> Outcomes:
    """Find criteria to which every output gave the same check, side of the gate, band or level.

    Those at the best end are for `judged-ceiling`.
    """
    tests, n = len(table.columns), table.answers
    needed = count_needed(_USUAL, share_of(tests))
    constant = [column for column in table.columns if column.is_constant and not _is_at_ceiling(column, tests)]
    if n < needed:
        if constant:
            reason = f"judged alike in {_all(n)} so far"
            yield Untested("judged-constant", names_of(constant), reason, needed)
        return
    for column in constant:
        position = min(column.used)
        meets = column.measure.meets
        if column.is_check:
            value, other = ("met", "miss it") if position else ("missed", "meet it")
        elif meets and column.is_gated:
            is_met = meets[position]
            value, other = ("the gate was met", "miss it") if is_met else ("the gate was missed", "meet it")
        else:
            kind = "level" if column.measure.scale.kind is Kind.LEVEL else "band" if column.bands else "score"
            name = (column.bands or column.measure).scale.names[column.step(position)]
            value, other = f"{kind} {name} was given", "earn another one"
        code, values = "alike", {"value": value, "n": n, "missing": other}
        values |= {"bound": at_most(bound_absent(n, tests)), "budget": corrected(tests)}
        given = column.side(position)
        labels = [(number, label) for number, label in enumerate(column.labels) if label is not None]
        if differing := [number for number, label in labels if column.side(label) != given]:
            code, look = "labels-differ", name_answers(table, differing)
            values |= {"differing": len(differing), "labelled": len(labels), "look": look}
        yield Decision("judged-constant", Target(column.name), code, values)


def _few(n: int) -> str:
    return "1 judged answer" if n == 1 else f"{n} judged answers"


def _all(n: int) -> str:
    return "the only answer" if n == 1 else f"all {n} answers"


def find_ceiling(table: Table) -> Outcomes:
    """Find criteria on which nearly all answers have the best value, or are in the best band."""
    tests, n = len(table.columns), table.answers
    needed = count_needed(_MOST_AT_TOP, share_of(tests))
    if n < needed:
        yield Untested("judged-ceiling", names_of(table.columns), _few(n), needed)
        return
    for column in table.columns:
        if not _is_at_ceiling(column, tests):
            continue
        top = _count_top(column)
        steps = list(map(column.step, column.given))
        used, (apart, pairs) = len(set(steps)), count_apart(steps)
        name = (column.bands or column.measure).scale.names[column.step(column.best)]
        kind = "band" if column.bands else str(column.measure.scale.kind)
        noun = "value" if column.is_check else kind
        met, end = ("missed", "lowest") if column.is_turned else ("met", "highest")
        values: dict[str, object] = {
            "share": f"{'all ' if top == n else f'{top} of '}{n} judged answers",
            "top": f"{met} it" if column.is_check else f"got the {end} {kind}, {name}",
            "bound": at_least(lower_bound(top, n, level_of(tests))),
            "budget": corrected(tests),
            "used": f"{used} {noun}{'' if used == 1 else 's'} in use",
            "apart": f"{apart:,} of {pairs:,}",
            "by": " by its bands" if column.bands else "",
        }
        labels = [(number, label) for number, label in enumerate(column.labels) if label is not None]
        lower = [number for number, label in labels if _is_top(column, column.given[number]) > _is_top(column, label)]
        code = "top-turned" if column.is_turned else "top"
        if lower:
            code = "labels-worse" if column.is_turned else "labels-lower"
            values |= {"lower": len(lower), "labelled": len(labels), "look": name_answers(table, lower)}
        yield Decision("judged-ceiling", Target(column.name), code, values)


def _is_top(column: Column, position: int) -> bool:
    """Return whether a value is the best one, or in the best band."""
    return column.step(position) == column.step(column.best)


def _count_top(column: Column) -> int:
    return sum(_is_top(column, position) for position in column.given)


def _is_at_ceiling(column: Column, tests: int) -> bool:
    """Return whether more than `_MOST_AT_TOP` of all answers would be at the top."""
    return upper_tail(_count_top(column), len(column.given), float(_MOST_AT_TOP)) < level_of(tests)


def find_unused(table: Table) -> Outcomes:
    """Find bands and levels that no output gave, except where `judged-constant` reports a single band in use."""
    tests, n = sum(len(column.steps) for column in table.columns), table.answers
    if not tests:
        return
    unused = []
    for column in table.columns:
        used = set(map(column.step, column.used))
        unused += [(column, number, name) for number, name in enumerate(column.steps) if number not in used]
    needed = count_needed(_USUAL, share_of(tests))
    if n < needed:
        if unused:
            missing = tuple(f"{column.name} {name}" for column, _, name in unused)
            reason, of = f"{_few(n)} so far, none with it", names_of(column for column, _, _ in unused)
            yield Untested("judged-unused-band", missing, reason, needed, criteria=of)
        return
    bound, budget = at_most(bound_absent(n, tests)), corrected(tests)
    for column, number, name in unused:
        if column.is_constant and not column.is_gated:
            continue
        step = f"{'the band' if column.bands else 'level'} {name}"
        values = {"step": step, "n": n, "bound": bound, "budget": budget}
        answer = next(
            answer
            for answer, position in column.measure.positions.items()
            if column.step(position) == number and not isinstance(answer, str)
        )
        yield Decision("judged-unused-band", Target(column.name, answer=answer), "unused", values)


def find_unstable(table: Table) -> Outcomes:
    """Find gates and verdicts that change between samples of one answer.

    The number of answers that flip is the sum of their shares of differing pairs, rounded down, and its bound that of
    Clopper and Pearson.
    """
    gated = [column for column in table.columns if column.is_gated]
    tests, sampled = len(gated) + 1, table.sampled
    if sampled < _LEAST:
        have = f"{sampled or 'no'} answer{' has' if sampled == 1 else 's have'} several samples by one judge"
        names = names_of(gated)
        unit = "answers with samples"
        yield Untested("judged-unstable", (*names, "verdict"), have, _LEAST, unit, (*names, None))
        return
    samples = join_words([str(size) for size in table.samples], "or")
    for place, rate in table.flips.items():
        flipped = math.floor(rate * sampled)
        if upper_tail(flipped, sampled, _MOST_UNSTABLE) >= level_of(tests):
            continue
        bound = at_least(lower_bound(flipped, sampled, level_of(tests)))
        values = {"rate": percent(rate), "bound": bound, "budget": corrected(tests), "n": sampled, "samples": samples}
        if place is None:
            yield Decision("judged-unstable", Target(), "verdict", values)
        else:
            column = table.columns[place]
            names, gate = column.measure.scale.names, (column.measure.meets or ()).index(True)
            advice = f"say what separates {names[gate - 1]} from {names[gate]}"
            if column.is_check:
                advice = "say what an answer must have to meet it"
            yield Decision("judged-unstable", Target(column.name, is_gate=True), "gate", {**values, "advice": advice})


def find_cut(positions: Sequence[int], size: int) -> int | None:
    """Return the position at which a scale is cut so that the share from it on is nearest to a half.

    Of two such cuts the lower counts. None if all values are equal.
    """
    n = len(positions)
    counts = [positions.count(position) for position in range(size)]
    above = [(sum(counts[cut:]), cut) for cut in range(1, size)]
    cuts = [(abs(2 * count - n), cut) for count, cut in above if 0 < count < n]
    return min(cuts)[1] if cuts else None


def _halve(column: Column) -> tuple[tuple[int, int], tuple[str, str]] | None:
    """Return the answers on the sides of a cut, the worse first, as the bits of a number, and the sides in words."""
    names = column.measure.scale.names
    cut = find_cut(column.given, len(names))
    if cut is None:
        return None
    above = int("".join("1" if position >= cut else "0" for position in column.given), 2)
    below = above ^ ((1 << len(column.given)) - 1)
    words = ("missed", "met") if column.is_check else (f"below {names[cut]}", f"{names[cut]} or more")
    return ((above, below), (words[1], words[0])) if column.is_turned else ((below, above), words)


def find_redundant(table: Table) -> Outcomes:
    """Find criteria that earn less, or more, in nearly the same answers.

    A criterion that costs points repeats another one if it is met where that is missed. Both are cut in the middle. Of
    the two sides, the one counts on which fewer answers are on either. A later criterion is reported with the first one
    that it repeats.
    """
    tests = math.comb(len(table.columns), 2)
    if not tests:
        return
    needed = count_needed(_OVERLAP, share_of(tests))
    halves = [(column.name, _halve(column)) for column in table.columns]
    if constant := tuple(name for name, half in halves if half is None):
        reason = f"judged alike in {_all(table.answers)}, so nothing shows whether another criterion repeats it"
        unit = "answers in which one of two criteria is on the rarer side"
        yield Untested("judged-redundant", constant, reason, needed, unit)
    most = 0
    small: list[tuple[str, str]] = []
    repeated: set[str] = set()
    for (first, one), (second, two) in combinations(halves, 2):
        if one is None or two is None:
            continue
        (sides, words), (other_sides, other_words) = one, two
        either, side = min(((sides[side] | other_sides[side]).bit_count(), side) for side in (0, 1))
        if either < needed:
            most = max(most, either)
            small.append((first, second))
            continue
        both = (sides[side] & other_sides[side]).bit_count()
        if second in repeated or upper_tail(both, either, float(_OVERLAP)) >= level_of(tests):
            continue
        repeated.add(second)
        bound = at_least(lower_bound(both, either, level_of(tests)))
        share = f"all {both}" if both == either else f"{both} of them"
        values = {"either": either, "n": table.answers, "side": other_words[side], "other": first}
        values |= {"other_side": words[side], "share": share, "bound": bound, "budget": corrected(tests)}
        yield Decision("judged-redundant", Target(second), "same-answers", values, Target(first))
    if small:
        reason = f"one of two criteria is on the rarer side in at most {most} answers"
        pairs = tuple(f"{first} + {second}" for first, second in small)
        of = tuple(dict.fromkeys(chain.from_iterable(small)))
        yield Untested("judged-redundant", pairs, reason, needed, "such answers", of)


def find_inverse(table: Table) -> Outcomes:
    """Find the criterion whose worth falls most clearly when that of the others rises."""
    columns, n, rule = table.columns, table.answers, "judged-inverse"
    if len(columns) < 3:
        if len(columns) == 2:
            yield Untested(rule, names_of(columns), "of two criteria the direction is unknown", 3, "criteria")
        return
    if n < _LEAST:
        yield Untested(rule, names_of(columns), _few(n), _LEAST)
        return
    tests = len(columns)
    t = t_quantile(level_of(tests), n - 2)
    critical = -t / math.sqrt(n - 2 + t * t)
    found = correlate_with_rest(columns)
    lowest, place = min((1.0 if r is None else r, place) for place, r in enumerate(found))
    hidden = list(zip(columns, found, strict=True))
    if lowest < critical:
        column, _ = hidden.pop(place)
        advice = "check its direction" if column.is_check else "check its direction and the order of its values"
        values = {"r": f"{lowest:.2f}", "n": n, "chance": f"{critical:.2f}", "budget": corrected(tests)}
        code = "turned" if column.is_turned else "correlation"
        yield Decision(rule, Target(column.name), code, {**values, "advice": advice})
    yield from _list_hidden(hidden, n)


def _list_hidden(hidden: Iterable[tuple[Column, float | None]], n: int) -> Iterator[Untested]:
    """Yield the criteria whose direction the answers hide, by their correlations."""
    constant, alone, blind, needed = list[str](), list[str](), list[str](), 0
    for column, r in hidden:
        off = n - max(column.given.count(position) for position in set(column.given))
        if r is None:
            (alone if off else constant).append(column.name)
        elif 10 * off <= n:
            blind.append(column.name)
            # With k more answers off the commonest value, their share is above a tenth.
            needed = max(needed, (n - 10 * off) // 9 + 1)
    if constant:
        unit = "answers with another value"
        yield Untested("judged-inverse", tuple(constant), f"judged alike in {_all(n)}", n // 9 + 1, unit)
    if alone:
        reason = f"the mean of the other criteria is the same in all {n} answers"
        yield Untested("judged-inverse", tuple(alone), reason, n // 9 + 1, "answers with another mean")
    if blind:
        reason = f"one value in at least 90% of {n} answers, which hides the direction"
        yield Untested("judged-inverse", tuple(blind), reason, needed, "more answers with another value")


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
    return [correlate(each, [total - value for total, value in zip(totals, each, strict=True)]) for each in values]


class _Pair(NamedTuple):
    """One answer that a judge and people judged: its number, and the positions of the label and of the judge.

    `apart` is twice by how much the judge is higher than people, or lower: 0 if it is between two people in the middle.
    It is the mean of two outputs in the middle: the worse one would make even numbers of outputs look lower.
    """

    number: int
    label: int
    judge: int
    apart: int


class _Gap(NamedTuple):
    """What a test of judge against people found, its statistics, what to do about it, and the answers to look at."""

    found: str
    figures: str
    advice: str
    answers: Sequence[int]


def find_disagreement(table: Table) -> Outcomes:
    """Find criteria on which the judge misses bad answers, errs to one side of people, or does not agree."""
    if not table.labelled:
        yield _lack("no judged answer has a label", _LEAST_LABELS)._replace(criteria=names_of(table.columns))
        return
    tests = 3 * len(table.columns)
    lacking: dict[Untested, list[str]] = {}
    for column in table.columns:
        pairs = list(_pair(column))
        gaps = []
        for test in (_count_caught, _compare_directions, _compare_sides):
            found = test(column, pairs, level_of(tests))
            if isinstance(found, _Gap):
                gaps.append(found)
            elif found:
                lacking.setdefault(found, []).append(column.name)
        if gaps:
            shown = f"; look at {name_answers(table, gaps[0].answers)}" if gaps[0].answers else ""
            told = "; ".join(gap.found + gap.figures for gap in gaps)
            target = Target(column.name, is_gate=column.is_gated and not column.is_check)
            values = {"gap": gaps[0].found, "gaps": told, "budget": corrected(tests)}
            more = {"advice": gaps[0].advice, "look": shown}
            yield Decision("judged-disagrees", target, "gaps", {**values, **more})
    yield from (why._replace(names=tuple(names)) for why, names in lacking.items())


def _lack(reason: str, needed: int, unit: str = "labelled answers") -> Untested:
    return Untested("judged-disagrees", (), reason, needed, unit)


def _pair(column: Column) -> Iterator[_Pair]:
    """Yield the answers with a label."""
    values = column.measure.scale.values
    labels = zip(column.labels, column.higher_labels, strict=True)
    judged = zip(column.given, column.higher, strict=True)
    for number, ((label, most), (judge, higher)) in enumerate(zip(labels, judged, strict=True)):
        if label is not None and most is not None:
            twice = values[judge] + values[higher]
            low, high = sorted((values[label], values[most]))
            apart = max(twice - 2 * high, 0) or min(twice - 2 * low, 0)
            yield _Pair(number, label, judge, apart)


def _count_caught(column: Column, pairs: Sequence[_Pair], level: float) -> _Gap | Untested | None:
    """Test the share of the answers that people fail which the judge fails too."""
    meets = column.measure.meets
    if meets is None:
        return None
    bad = [pair for pair in pairs if not meets[pair.label]]
    n = len(bad)
    if n < _LEAST_BAD:
        reason = "bad answers caught: people fail fewer than 10 answers"
        return _lack(reason, _LEAST_BAD, "answers that people fail")
    missed = [pair.number for pair in bad if meets[pair.judge]]
    caught = n - len(missed)
    if lower_tail(caught, n, _CAUGHT) >= level:
        return None
    share = f"{caught / n * 100:.1f}%, {at_most(upper_bound(caught, n, level))}"
    advice = "say what an answer must have to meet it" if column.is_check else "sharpen the outcome below the gate"
    return _Gap(f"of {n} answers that people fail, the judge caught {caught}", f" ({share})", advice, missed)


def _compare_directions(column: Column, pairs: Sequence[_Pair], level: float) -> _Gap | Untested | None:
    """Test the direction of the differences between judge and people: the sign test."""
    needed = math.ceil(math.log2(2 / level))
    if len(pairs) < needed:
        return _lack(f"direction of the differences: fewer than {needed} labelled answers", needed)
    higher = [pair.number for pair in pairs if pair.apart > 0]
    lower = [pair.number for pair in pairs if pair.apart < 0]
    p = Sides(len(higher), len(lower)).exact
    if p is None or p > level:
        return None
    more, other = (higher, "lower") if len(higher) > len(lower) else (lower, "higher")
    turn = _word_turn(column, is_higher=more is higher)
    differing = len(higher) + len(lower)
    told = f"the judge is {turn} than people in {len(more)} of the {differing} answers on which they differ"
    advice = f"say more exactly what gets the {other} values"
    return _Gap(told, f" ({len(pairs)} labelled; p = {p:.1g})", advice, more)


def _word_turn(column: Column, *, is_higher: bool) -> str:
    """Say which way a judge errs whose values are higher or lower than those of people."""
    return "more lenient" if is_higher is not column.is_turned else "stricter"


_TWO_SIDES = Scale(Kind.CHECK, (0, 1), ("no", "yes"))
_ROWS: tuple[Row, ...] = ((0, 0), (0, 1), (1, 0), (1, 1))


def _compare_sides(column: Column, pairs: Sequence[_Pair], level: float) -> _Gap | Untested | None:
    """Test Krippendorff's alpha on which side of the gate, or of the middle of the labels, an answer is."""
    n = len(pairs)
    if n < _LEAST_LABELS:
        return _lack(f"agreement: fewer than {_LEAST_LABELS} labelled answers", _LEAST_LABELS)
    meets = column.measure.meets
    if meets is None:
        size = len(column.measure.scale.names)
        cut = find_cut([pair.label for pair in pairs], size)
        meets = tuple(position >= (cut or 0) for position in range(size))
    counts = [0, 0, 0, 0]
    for pair in pairs:
        counts[2 * meets[pair.label] + meets[pair.judge]] += 1
    if min(counts[0] + counts[1], counts[2] + counts[3]) < _LEAST_EACH:
        reason = f"agreement: fewer than {_LEAST_EACH} labelled answers on one side"
        return _lack(reason, _LEAST_EACH, "labelled answers on each side")
    alpha, error = jackknife(alpha_nominal(_ROWS, _TWO_SIDES), counts)
    bound = alpha + t_quantile(level, n - 1) * error
    if bound >= _ALPHA:
        return None
    side = "gate" if column.measure.meets else "middle"
    what = "on meeting it" if column.is_check else f"on which side of the {side} an answer is"
    figures = f": alpha {alpha:.2f}, at most {math.ceil(bound * 100) / 100:.2f}, n = {n}"
    apart = [pair.number for pair in pairs if meets[pair.label] != meets[pair.judge]]
    advice = "let people and the judge discuss what the outcomes mean"
    return _Gap(f"judge and people agree little {what}", figures, advice, apart)


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


def _permute(sizes: Sequence[int], draws: int) -> Iterator[Sequence[int]]:
    """Yield random orders of the numbers of samples, each within its group; the same on every machine.

    They are sorted by random numbers of 32 bits, which SHAKE-256 of the number of the draw gives all at once.
    """
    groups = list(chain.from_iterable(repeat(number << 32, size) for number, size in enumerate(sizes)))
    numbers, form = range(len(groups)), f"<{len(groups)}I"
    for draw in range(draws):
        words = unpack(form, shake_256(b"%d" % draw).digest(4 * len(groups)))
        yield sorted(numbers, key=list(map(add, groups, words)).__getitem__)


class Link(NamedTuple):
    """Two values of each sample: what the test exchanges at random, and what must not depend on it."""

    cause: Sequence[int]
    effect: Sequence[int]


def find_links(links: Sequence[Link], sizes: Sequence[int], tests: int) -> list[float | None]:
    """Return for each link the p value of its covariance within the groups of `sizes`, or None if it may be chance.

    A permutation test: if only chance decides which place, or which length, goes with which value, a random exchange of
    them is as likely as what was recorded. Pitman 1937, https://doi.org/10.2307/2984124.

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
    for order in _permute(sizes, draws):
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
    if n < _LEAST_EXCHANGED:
        have = f"{n or 'no'} answer{' was' if n == 1 else 's were'} judged with the criteria in a recorded random order"
        unit = "answers judged with `--shuffle`"
        yield Untested(rule, names_of(columns), have, _LEAST_EXCHANGED, unit)
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
    if n < _LEAST_EXCHANGED:
        what = "a label" if len(labelled) == table.labelled else "a label of every criterion"
        have = f"{len(labelled) or 'no'} judged answer{' has' if len(labelled) == 1 else 's have'} {what}"
        if n < len(labelled):
            have += f", and {n or 'none'} of them a text in `answer`"
        yield Untested(rule, names, have, _LEAST_EXCHANGED, "labelled answers with their text", of)
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
    measured = (*columns, None)[:tests]  # None: the score
    for on, name, apart, p in zip(measured, of, found, find_links(links, [n], tests), strict=True):
        if p is None:
            continue
        r = correlate(ranks, apart) or 0.0
        turn = _word_turn(on, is_higher=r > 0) if on else "higher" if r > 0 else "lower"
        most = sorted(range(n), key=lambda i: (-abs(apart[i]), -lengths[i]))
        figures = {
            "turn": turn,
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


class Finder(NamedTuple):
    """A rule: what it finds in a table, and which criteria it can be about (None: the rubric as a whole)."""

    find: Callable[[Table], Outcomes]
    concerns: Callable[[Table], Iterable[str | None]]


class CriterionOutcome(NamedTuple):
    """What the rules came to for a criterion, or for the rubric as a whole (None).

    `untested` has what they could not decide, and `quiet` the rules that tested everything and found nothing. A rule
    that does not apply, such as `judged-unused-band` to a check, is in none of them.
    """

    criterion: str | None
    quiet: tuple[str, ...]
    untested: tuple[Untested, ...]


def _name_all(table: Table) -> tuple[str, ...]:
    return names_of(table.columns)


def _name_several(table: Table) -> tuple[str, ...]:
    return names_of(table.columns) if len(table.columns) > 1 else ()


FINDERS: Mapping[str, Finder] = {
    "judged-constant": Finder(find_constant, _name_all),
    "judged-ceiling": Finder(find_ceiling, _name_all),
    "judged-unused-band": Finder(find_unused, lambda table: names_of(each for each in table.columns if each.steps)),
    "judged-unstable": Finder(
        find_unstable, lambda table: (*names_of(each for each in table.columns if each.is_gated), None)
    ),
    "judged-redundant": Finder(find_redundant, _name_several),
    "judged-inverse": Finder(find_inverse, _name_several),
    "judged-disagrees": Finder(find_disagreement, _name_all),
    "judged-order": Finder(find_order, _name_several),
    "judged-length": Finder(find_length, name_lengthened),
}
"""The rules on judged data."""


def decide(table: Table) -> list[Decision | Untested]:
    """Return what all rules come to on a table."""
    return [outcome for finder in FINDERS.values() for outcome in finder.find(table)]


def sort_by_criterion(table: Table, outcomes: Sequence[Decision | Untested]) -> tuple[CriterionOutcome, ...]:
    """Return the outcomes of all rules for each criterion of a table in order, then for the rubric as a whole."""
    concerned = {rule: set(finder.concerns(table)) for rule, finder in FINDERS.items()}
    found = []
    for name in (*names_of(table.columns), None):
        untested = tuple(each for each in outcomes if isinstance(each, Untested) and name in each.concerns)
        told = {each.rule for each in outcomes if isinstance(each, Decision) and each.target.criterion == name}
        told |= {each.rule for each in untested}
        quiet = tuple(rule for rule, names in concerned.items() if name in names and rule not in told)
        found.append(CriterionOutcome(name, quiet, untested))
    return tuple(found)

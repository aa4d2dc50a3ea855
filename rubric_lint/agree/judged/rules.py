"""The rules on judged data: what the values of a rubric show, alone and beside the labels of people.

The last ones are on what a value must not depend on: the place of a criterion in the request, and the length of the
answer.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import shake_256
from itertools import accumulate, chain, combinations, count, repeat
from operator import add, itemgetter, mul
from struct import unpack
from typing import NamedTuple

from rubric_lint.agree.bounds import lower_bound, t_quantile, upper_bound, upper_tail
from rubric_lint.agree.coefficients import correlate
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
    level_of_criterion,
    name_answers,
    names_of,
    share_of,
)
from rubric_lint.agree.judged.table import Column, Table, count_apart
from rubric_lint.agree.labelled import Labelled
from rubric_lint.agree.ratings import name_key
from rubric_lint.agree.scales import Kind, find_cut
from rubric_lint.agree.shares import Shares, measure_shares
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

TARGET = Fraction(4, 5)
"""The share of bad answers that a judge should catch on a criterion, and of good ones that it should pass."""

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
    level, sampled = level_of_criterion(len(table.columns)), table.sampled
    if sampled < _LEAST:
        have = f"{sampled or 'no'} answer{' has' if sampled == 1 else 's have'} several samples by one judge"
        names = names_of(gated)
        unit = "answers with samples"
        yield Untested("judged-unstable", (*names, "verdict"), have, _LEAST, unit, (*names, None))
        return
    samples = join_words([str(size) for size in table.samples], "or")
    for place, rate in table.flips.items():
        flipped = math.floor(rate * sampled)
        if upper_tail(flipped, sampled, _MOST_UNSTABLE) >= level:
            continue
        bound = at_least(lower_bound(flipped, sampled, level))
        values = {
            "rate": percent(rate),
            "bound": bound,
            "budget": corrected(3 * (len(table.columns) + 1)),
            "n": sampled,
            "samples": samples,
        }
        if place is None:
            yield Decision("judged-unstable", Target(), "verdict", values)
        else:
            column = table.columns[place]
            names, gate = column.measure.scale.names, (column.measure.meets or ()).index(True)
            advice = f"say what separates {names[gate - 1]} from {names[gate]}"
            if column.is_check:
                advice = "say what an answer must have to meet it"
            yield Decision("judged-unstable", Target(column.name, is_gate=True), "gate", {**values, "advice": advice})


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


def find_disagreement(table: Table) -> Outcomes:
    """Find criteria on which a judge surely catches too few bad answers, or passes too few good ones.

    That is what `assess` says of a criterion: units and people are the same. Of several judges each is looked at by
    itself, and the worst one is reported.
    """
    judges = len(table.compared) or 1
    level, tests = level_of_criterion(len(table.columns)) / judges, 3 * (len(table.columns) + 1) * judges
    needed = next(n for n in count(1) if upper_bound(0, n, level) < TARGET)
    if not table.compared:
        yield _lack("no judged answer has a label", needed)._replace(criteria=names_of(table.columns))
        return
    lacking = dict[str, list[str]]()
    for place, column in enumerate(table.columns):
        laid_out = [each[place] for each in table.compared.values() if place in each]
        found = [(measure_shares(each.answers, level), each) for each in laid_out]
        if not found or any(shares.people.disagree(TARGET) for shares, _ in found):
            why = (
                "people disagree with each other" if found else "all labels are equal, and no gate tells good from bad"
            )
            lacking.setdefault(why, []).append(column.name)
            continue
        worst, of = min(found, key=lambda each: min(each[0].bad_caught.high, each[0].good_passed.high))
        if worst.is_below(TARGET):
            yield _word_gap(column, worst, of, corrected(tests))
        elif min(worst.bad_caught.n, worst.good_passed.n) < needed:
            lacking.setdefault(f"fewer than {needed} bad or good answers by the labels", []).append(column.name)
    yield from (_lack(why, needed)._replace(names=tuple(names)) for why, names in lacking.items())


def _lack(reason: str, needed: int) -> Untested:
    return Untested("judged-disagrees", (), reason, needed, "labelled answers on each side")


def _word_gap(column: Column, shares: Shares, of: Labelled, budget: str) -> Decision:
    """Return the decision on the worse of the two shares of a judge."""
    is_bad = shares.bad_caught.high <= shares.good_passed.high
    worse = shares.bad_caught if is_bad else shares.good_passed
    did = "caught" if is_bad else "passed"
    gap = f"by the labels there are {of.count_class(worse.n, is_bad=is_bad)}, of which the judge {did} {worse.shown}"
    if column.measure.meets is None:
        half = "lower" if is_bad else "upper"
        gap = f"of {worse.n:,} answers in the {half} half of the labels the judge put {worse.shown} there"
    wrong = [
        f"`{name_key(key)}`"
        for key, answer in zip(of.keys, of.answers, strict=True)
        if answer.side is not is_bad and answer.side is not None and answer.share_right(answer.side) < 1
    ]
    strict = "say what an answer must have to meet it" if column.is_check else "sharpen the outcome below the gate"
    values = {
        "gap": gap,
        "gaps": f"{gap} ({percent(Fraction(worse.x) / worse.n)}, {at_most(worse.high)})",
        "budget": budget,
        "advice": strict if is_bad else "say what is good enough to meet it",
        "look": f"; look at {join_words(wrong[:3])}" if wrong else "",
    }
    return Decision(
        "judged-disagrees", Target(column.name, is_gate=column.is_gated and not column.is_check), "gaps", values
    )


def _word_turn(column: Column, *, is_higher: bool) -> str:
    """Say which way a judge errs whose values are higher or lower than those of people."""
    return "more lenient" if is_higher is not column.is_turned else "stricter"


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

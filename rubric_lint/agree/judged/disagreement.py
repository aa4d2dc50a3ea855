"""A rule about judges and people who do not agree: judged-disagrees."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from rubric_lint.agree.beta import lower_tail, t_quantile, upper_bound
from rubric_lint.agree.coefficients import Row, Statistic, alpha_nominal, as_fraction
from rubric_lint.agree.judged.budget import at_most, corrected, level_of
from rubric_lint.agree.judged.decision import Decision, Outcomes, Spot, Untested
from rubric_lint.agree.judged.relations import find_cut
from rubric_lint.agree.judged.table import Column, Table
from rubric_lint.agree.proportions import Sides
from rubric_lint.agree.ratings import name_key
from rubric_lint.agree.scales import Kind, Scale
from rubric_lint.messages import join_words

DISAGREES = "judged-disagrees"

CAUGHT, ALPHA = 0.8, 0.6
"""The share of bad answers that a judge should catch, and the alpha that it should reach."""

LEAST_BAD, LEAST_LABELS, LEAST_EACH = 10, 60, 5
"""The fewest bad answers, labelled answers, and answers on each side of a cut, for a statement about them."""

_TESTS = 3
_MOST_SHOWN = 3
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

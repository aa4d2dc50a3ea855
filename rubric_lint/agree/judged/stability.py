"""A rule about samples of one answer that differ: judged-unstable."""

from math import floor

from rubric_lint.agree.beta import lower_bound, upper_tail
from rubric_lint.agree.judged.budget import LEAST, at_least, corrected, level_of
from rubric_lint.agree.judged.decision import Decision, Outcomes, Spot, Untested
from rubric_lint.agree.judged.table import Column, Table
from rubric_lint.messages import join_words, percent

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

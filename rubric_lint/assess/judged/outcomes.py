"""The outcomes of rules on judged data, and the budget of false alarms that they share.

The warnings raise a false alarm on at most 5% of rubrics with nothing wrong, and each hint on at most 1%: that is
divided by the number of tests on the rubric (Bonferroni), which the rubric alone fixes.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.assess.judged.table import JudgedColumn, JudgedTable
from rubric_lint.model.messages import counted, join_words
from rubric_lint.rules import JUDGED_RULES
from rubric_lint.scoring.grading import AnswerValue
from rubric_lint.scoring.ids import name_key


class RubricTarget(NamedTuple):
    """A place in a rubric: all of it (without a criterion), a criterion, its gate, or what one answer earns."""

    criterion: str | None = None
    is_gate: bool = False
    answer: AnswerValue | None = None


@dataclass(frozen=True)
class JudgedStatement:
    """A statement that a rule makes: one of its messages, with its values. `other` is another place it is about."""

    rule: str
    target: RubricTarget
    code: str
    values: Mapping[str, object]
    other: RubricTarget | None = None


@dataclass(frozen=True)
class Untested:
    """What a rule cannot decide with the data at hand: of what, why, and how much would do.

    `criteria` are the criteria that it is about, if they are not `names` themselves; None is the rubric as a whole.
    """

    rule: str
    names: tuple[str, ...]
    reason: str
    needed: int
    unit: str = "answers"
    criteria: tuple[str | None, ...] | None = None

    @property
    def concerns(self) -> tuple[str | None, ...]:
        """The ids of the criteria; None is the rubric as a whole."""
        return self.names if self.criteria is None else self.criteria

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        return {
            "rule": self.rule,
            "of": self.names,
            "reason": self.reason,
            "needed": self.needed,
            "unit": self.unit,
        }


Outcomes = Iterator[JudgedStatement | Untested]


def share_of(tests: int) -> Fraction:
    """Return the probability of a false alarm that each of a rule's tests may have."""
    return Fraction(1, 20) / len(JUDGED_RULES) / tests


def level_of(tests: int) -> float:
    """Return `share_of` as a float."""
    return float(share_of(tests))


def level_of_criterion(criteria: int) -> float:
    """Return the probability with which each bound that can make one of so many criteria one to fix may be wrong.

    Of a criterion these are the shares of bad answers caught, of good ones passed, and of outputs that differ; of the
    verdict the last one. All together are wrong on at most 5% of rubrics.
    """
    return float(Fraction(1, 20) / (3 * (criteria + 1)))


def count_in_a_row(share: Fraction, allowed: Fraction) -> int:
    """Return the fewest answers in a row that occur by chance with at most the allowed probability.

    `share` is that of such answers, at most: the smallest n with share^n at most `allowed`.
    """
    n, chance = 0, Fraction(1)
    while chance > allowed:
        n, chance = n + 1, chance * share
    return n


_MOST_DIGITS = 13
"""The most digits of a percentage that a float has."""


def at_most(share: float, target: Fraction | None = None) -> str:
    """Write an upper bound, rounded up: `at most 7.4%`; one below a target has the digits that show it."""
    digits = 1
    if target is not None and share < target:
        enough = (n for n in range(1, _MOST_DIGITS) if math.ceil(share * 10 ** (n + 2)) < target * 10 ** (n + 2))
        digits = next(enough, _MOST_DIGITS)
    rounded = math.ceil(share * 10 ** (digits + 2)) / 10**digits
    return f"at most {min(rounded, 100):.{digits}f}%"


def at_least(share: float, target: Fraction | None = None) -> str:
    """Write a lower bound, rounded down: `at least 83.1%`; one that reaches a target has the digits that show it."""
    digits = 1
    if target is not None and share >= target:
        enough = (n for n in range(1, _MOST_DIGITS) if math.floor(share * 10 ** (n + 2)) >= target * 10 ** (n + 2))
        digits = next(enough, _MOST_DIGITS)
    rounded = math.floor(share * 10 ** (digits + 2)) / 10**digits
    return f"at least {rounded:.{digits}f}%"


def corrected(tests: int) -> str:
    """Say for how many tests a figure is corrected."""
    return f"corrected for {counted(tests, 'test')}"


def names_of(columns: Iterable[JudgedColumn]) -> tuple[str, ...]:
    """Return the ids of criteria."""
    return tuple(column.name for column in columns)


def name_answers(table: JudgedTable, numbers: Sequence[int]) -> str:
    """Name the first answers to look at."""
    return join_words([f"`{name_key(table.keys[number])}`" for number in numbers[:3]])

"""The false alarms that the rules may raise, and the numbers of answers that follow from that.

All six rules together raise a false alarm on at most 5% of rubrics with nothing wrong. Each rule gets a sixth of that,
divided by the number of its tests on the rubric (Bonferroni), which the rubric alone fixes.
"""

import math
from fractions import Fraction

FALSE_ALARMS = Fraction(1, 20)
"""The share of rubrics with nothing wrong on which any rule may report something."""

RULES = ("constant", "unused-band", "unstable", "redundant", "inverse", "disagrees")

LEAST = 30
"""The fewest answers for a statement about samples, and for a correlation."""


def level_of(tests: int) -> float:
    """Return the probability of a false alarm that each of a rule's tests may have."""
    return float(FALSE_ALARMS / len(RULES) / tests)


def count_needed(share: Fraction, tests: int) -> int:
    """Return the fewest answers in a row that occur by chance with at most the allowed probability.

    `share` is that of such answers, at most: the smallest n with tests * share^n at most a sixth of 5%.
    """
    allowed = FALSE_ALARMS / len(RULES) / tests
    n, chance = 0, Fraction(1)
    while chance > allowed:
        n, chance = n + 1, chance * share
    return n


def bound_absent(n: int, tests: int) -> float:
    """Return the upper bound of the share of something that none of `n` answers shows."""
    return float(1 - level_of(tests) ** (1 / n))


def at_most(share: float) -> str:
    """Write an upper bound, rounded up: `at most 7.4%`."""
    return f"at most {min(math.ceil(share * 1000) / 10, 100):.1f}%"


def at_least(share: float) -> str:
    """Write a lower bound, rounded down: `at least 83.1%`."""
    return f"at least {math.floor(share * 1000) / 10:.1f}%"


def corrected(tests: int) -> str:
    """Write how a bound was corrected."""
    return f"corrected for {tests} test{'' if tests == 1 else 's'}"

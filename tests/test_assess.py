"""What decides about a rubric: bounds of shares, the labels that would decide, and what stands on each criterion."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from rubric_lint.agree.assess import Asked, Assessed, Evidence, Standing, count_labels
from rubric_lint.agree.bounds import Bounded, lower_bound, upper_bound
from rubric_lint.agree.comparison import Gate
from rubric_lint.agree.intervals import Share
from rubric_lint.finding import Severity
from rubric_lint.report.assessment import word_lack
from rubric_lint.rules.rows import find_row

TARGET = Fraction(4, 5)


def gate(caught, passed):
    return Gate(Share(*caught), Share(*passed), TARGET, None, None, None)


@pytest.mark.parametrize(
    ("caught", "passed", "look", "needed"),
    [
        ((0, 0), (0, 0), 1, 34),  # nothing is labelled: 17 of each class, if all are right, at the very least
        ((0, 0), (5, 5), 1, 34),  # nobody knows how rare bad ones are
        ((1, 1), (0, 0), 1, 34),
        ((0, 0), (5, 5), 2, 40),
        ((9, 9), (11, 11), 1, 38),  # 17 of the bad ones, 9 of 20 labels
        ((9, 9), (11, 11), 2, 45),  # the second look: 20 of the bad ones
        ((18, 20), (20, 20), 1, 138),  # 69 of the bad ones, 20 of 40 labels
        ((1, 2), (3, 3), 1, 30),  # too few are caught: 12 of the bad ones would show it
        ((4, 5), (20, 20), 1, None),  # exactly at the share: no number would do
    ],
)
def test_the_least_labels_that_would_decide(caught, passed, look, needed):
    assert count_labels(gate(caught, passed), Asked(TARGET, look)) == needed


@pytest.mark.parametrize(("x", "n"), [(18, 20), (27, 30), (1, 2), (0, 1), (7, 10), (30, 30)])
def test_so_many_labels_decide_and_fewer_do_not(x, n):
    seen, level = Fraction(x, n), 0.025
    needed = count_labels(gate((x, n), (x, n)), Asked())

    def decides(count):
        if seen > TARGET:
            return lower_bound(int(seen * count), count, level) >= TARGET
        return upper_bound(-int(-seen * count // 1), count, level) < TARGET

    assert decides(needed // 2)
    assert needed == 2 * n or not decides(needed // 2 - 1)


def test_looks_share_the_probability_of_an_error_and_a_share_of_nothing_has_no_value():
    assert [Asked(TARGET, look).level for look in (1, 2, 5)] == [0.025, 0.0125, 0.005]
    assert Bounded(0, 0, 0.0, 1.0).to_json() == {"x": 0, "n": 0, "value": None, "low": 0.0, "high": 1.0}


def test_a_hint_that_alone_keeps_a_criterion_open_is_told_in_its_own_words():
    found = find_row("judged-ceiling").finds_of["top-turned"]
    hint = Evidence("a", "judged-ceiling", Severity.HINT, "", "r.yaml", 1, 1, f"{found}: 99 of 100")
    criterion = Assessed("a", 1, 1, Standing.UNKNOWN, (hint,))
    lack = word_lack(criterion, SimpleNamespace(review=SimpleNamespace(answers=100)))
    assert lack.partition(";")[0] == found

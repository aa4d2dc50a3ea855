"""False alarms of the rules on judged data, drawn at random, the same each time."""

import math
import re

import pytest
from false_alarms import ALL, CASES, PAGE, SIZES, count_by_length, simulate

SHARES = {"judged-unstable": 0.05 / 3, "judged-disagrees": 0.1 / 3, ALL: 0.08}
NAMES = [case.name for case in CASES]
RULES = [case for case in CASES if case.effect]
ANSWERS = 30_000
"""The answers that are drawn for a case of each size; `make false-alarms` draws more, for the guide."""


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_rule_hardly_ever_reports_what_is_not_there(case):
    assert simulate(case, 100, 8) == 0


@pytest.mark.slow
@pytest.mark.parametrize("case", RULES, ids=[case.name for case in RULES])
def test_a_rule_finds_a_clear_effect(case):
    assert simulate(case, 200, 5, effect=True) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_no_rule_has_more_false_alarms_than_its_share(case, n):
    """Warnings share 5%, and each hint has 1%; three standard errors more may come up, as these are draws."""
    draws = ANSWERS // n
    share = draws * SHARES.get(case.name, 0.01)
    assert simulate(case, n, draws) <= share + 3 * math.sqrt(share)


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 150])
@pytest.mark.parametrize("follows", [0, 0.55])
@pytest.mark.parametrize("right", [(0.9, 0.9), (0.7, 0.9)])
def test_a_test_on_lengths_has_its_error_whether_or_not_longer_answers_are_better(right, follows, n):
    """Ranks within labels with many ties, by Student's t: a permutation would be exact, and differs by chance alone."""
    draws = 2000
    for level in (0.05, 0.0025):
        share = draws * level
        assert count_by_length(right, follows, n, draws, level) <= share + 3 * math.sqrt(share)


def test_the_guide_shows_the_table():
    table = re.search("<!-- false alarms.*<!-- /false alarms", PAGE.read_text("utf-8"), re.DOTALL)[0]
    rows = re.findall(r"^\| `?([a-z -]+`?[a-z0-9, ]*?)`? \|", table, re.MULTILINE)
    assert [row.replace("`", "") for row in rows] == ["rule", *NAMES]

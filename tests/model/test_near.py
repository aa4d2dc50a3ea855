"""What is said behind a name that is not known."""

import pytest

from rubric_lint.model.messages import find_near, point_to_known

SAME = "looks the same but is made of other Unicode characters"


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("ones", ["two", "one"], "did you mean `one`?"),
        ("Cafe\u0301", ["b", "Caf\u00e9"], f"`Caf\u00e9` {SAME}"),
        ("Caf\u00e9", ["Cafe\u0301"], f"`Cafe\u0301` {SAME}"),
        ("cafe\u0301", ["Caf\u00e9", "caf\u00e9"], f"`caf\u00e9` {SAME}"),
        ("CAFE\u0301", ["caf\u00e9"], "did you mean `caf\u00e9`?"),
        ("x", ["one"], "there is `one`"),
        ("x", ["one", "two"], "there are `one` and `two`"),
        ("x", ["a", "b", "c", "d", "e"], "there are `a`, `b`, `c`, `d` and `e`"),
        ("x", ["a", "b", "c", "d", "e", "f"], "there are `a`, `b`, `c`, `d`, `e` and 1 more"),
    ],
)
def test_an_unknown_name_points_to_the_known_ones(name, known, said):
    assert point_to_known(name, known) == said


def test_a_near_name_is_four_fifths_alike_and_a_perfect_one_leaves_no_doubt():
    known = ["score_range", "score_ranges", "levels"]
    found = {name: find_near(name, known) for name in ("scoreRange", "score-ranges", "score rang", "levl", "lev")}
    assert list(found.values()) == [["score_range"], ["score_ranges"], ["score_range", "score_ranges"], ["levels"], []]
    alike = [find_near(name, ["abcdef", "abcdx"]) for name in ("abcd", "abcde", "abc")]
    assert alike == [["abcdx", "abcdef"], ["abcdef", "abcdx"], []]
    # Two swapped letters are one typing error.
    swapped = {"shwo": ["show"], "hsow": ["show"], "wosh": [], "gpas": ["gaps"], "fxi": ["fix"]}
    assert {name: find_near(name, ["show", "gaps", "fix"]) for name in swapped} == swapped

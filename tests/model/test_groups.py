"""The arithmetic of groups: parts of the score, weights in one average, and gates in the units of a scale."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.model.groups import Group, format_gate, format_in_units


def group(*members, weight=1, name="g"):
    return Group(name, (), Decimal(weight), None, "", "", members)


ROOT = group(0, group(1, group(2, 3, weight=2, name="a/b"), weight=3, name="a"), 4, name="")
WEIGHTS = [Decimal(1), Decimal(1), Decimal(1), Decimal(3), Decimal(0)]


def test_criteria_have_their_parts_of_the_score_and_groups_none():
    parts = [Fraction(1, 4), Fraction(1, 4), Fraction(1, 8), Fraction(3, 8), Fraction(0)]
    assert [*ROOT.share_out(WEIGHTS)] == [*enumerate(parts)]


def test_groups_are_listed_before_their_members():
    shares = [(member.id if isinstance(member, Group) else member, share) for member, share in ROOT.share_all(WEIGHTS)]
    assert shares == [
        (0, Fraction(1, 4)),
        ("a", Fraction(3, 4)),
        (1, Fraction(1, 4)),
        ("a/b", Fraction(1, 2)),
        (2, Fraction(1, 8)),
        (3, Fraction(3, 8)),
        (4, Fraction(0)),
    ]


def test_a_negative_weight_takes_nothing_from_the_whole():
    assert [*group(0, 1, 2).share_out([Decimal(1), Decimal(-1), Decimal(3)])] == [
        (0, Fraction(1, 4)),
        (1, Fraction(-1, 4)),
        (2, Fraction(3, 4)),
    ]


def test_where_nothing_weighs_anything_nothing_has_a_part():
    assert [*group(0, group(1, 2)).share_out([Decimal(0), None, Decimal(0)])] == [(0, 0), (1, 0), (2, 0)]


def test_the_weights_in_one_average_are_the_smallest_integers():
    assert ROOT.flatten(WEIGHTS) == [2, 2, 1, 3, 0]


def test_a_criterion_without_a_weight_or_outside_of_the_tree_keeps_what_it_has():
    assert group(0, 1).flatten([None, Decimal("0.5"), Decimal(7)]) == [None, 1, 7]


@given(st.lists(st.integers(0, 9), min_size=4, max_size=4), st.integers(1, 9))
def test_all_parts_are_one_or_nothing_and_one_average_says_the_same(numbers, inner):
    root = group(0, 1, group(2, 3, weight=inner))
    weights = [Decimal(number) for number in numbers]
    shares = [share for _, share in root.share_out(weights)]
    is_lost = not any(numbers[2:])  # then the part of the group is that of no criterion
    assert sum(shares) == (1 - Fraction(inner, numbers[0] + numbers[1] + inner) if is_lost else 1)
    flat = root.flatten(weights)
    whole = Fraction(sum(flat))
    assert [Fraction(weight) * sum(shares) for weight in flat] == [share * whole for share in shares]


@pytest.mark.parametrize(
    ("share", "units", "written"),
    [
        (Fraction(1, 2), None, "0.5"),
        (Fraction(1, 3), None, "1/3"),
        (Fraction(1, 2), (1, 5), "3"),
        (Fraction(1, 4), (5, 1), "4"),
    ],
)
def test_a_share_is_written_in_units_of_the_scale(share, units, written):
    assert format_in_units(share, units) == written


@pytest.mark.parametrize(("units", "written"), [(None, ">= 0.5"), ((1, 5), ">= 3"), ((5, 1), "<= 3"), ((2, 2), ">= 2")])
def test_a_gate_points_to_the_better_end_of_the_scale(units, written):
    assert format_gate(Fraction(1, 2), units) == written

"""The reference scorer of version 3 against sums done by hand, and against the scorer of version 2."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from random_3 import cases, random_output, random_rubric
from random_outputs import cases as cases_2
from random_outputs import load
from reference_3 import Scored, failures, leaves, score, tree

from rubric_lint.scoring import score as score_2

REPLY = {
    "scale": [1, 5],
    "pass_threshold": 3.5,
    "borderline_threshold": 3,
    "criteria": [
        {"id": "accuracy", "expected_outcome": "Every figure is in the source", "weight": 3, "required_min_score": 4},
        {"id": "method", "expected_outcome": "The sample", "levels": {1: "Not said", 3: "Said", 5: "With reasons"}},
        {"id": "points", "expected_outcome": "Defines the term", "scale": [0, 5], "weight": 5},
        {"id": "rank", "scale": [3, 1], "levels": {1: "A known document", 2: "In part", 3: "None"}},
    ],
}
LADDER = {"levels": {0: "Absent", 1: "A faint hint", 2: "Clearly present"}, "criteria": ["Empathy", "Praise"]}
LOSSES = {
    "criteria": [
        {"id": "dose", "expected_outcome": "States the dose", "weight": 5},
        {"id": "harm", "expected_outcome": "Names a wrong dose", "weight": -5},
        {"id": "figures", "expected_outcome": "Figures match", "applies_if": "The summary states a figure"},
        {"id": "flow", "scale": [0, 100], "score_ranges": {0: "Jumps", 50: "Follows"}},
    ],
    "critical_failures": ["Fabricates a source"],
}
GROUPS = {
    "pass_threshold": "100%",
    "grades": {"A": "90%", "C": "50%", "F": 0},
    "criteria": [
        {"id": "code", "weight": 0.35, "required_min_score": 0.5, "criteria": ["The file exists", "The program runs"]},
        {"id": "style", "weight": 0.65, "criteria": ["No unused imports", "Types are right"]},
    ],
}


def output(**answers):
    """An output from ids (`__` is a slash, `_` a hyphen) and a field with its value each."""
    return {
        "checks": [
            {"id": name.replace("__", "/").replace("_", "-"), field: value} for name, (field, value) in answers.items()
        ]
    }


def losses(*, harm=False, figures=("satisfied", True), flow=100, failure=False):
    return output(
        dose=("satisfied", True),
        harm=("satisfied", harm),
        figures=figures,
        flow=("score", flow),
        failure_1=("satisfied", failure),
    )


def groups(*answers):
    names = ("code__1", "code__2", "style__1", "style__2")
    return output(**{name: ("satisfied", bool(each)) for name, each in zip(names, answers, strict=True)})


def reply(accuracy, method, points, rank):
    return output(
        accuracy=("level", accuracy), method=("level", method), points=("level", points), rank=("level", rank)
    )


@pytest.mark.parametrize(
    ("rubric", "given", "expected"),
    [
        (REPLY, reply(5, 5, 5, 1), ("1", "pass", None)),
        (REPLY, reply(4, 2, 3, 3), ("11/20", "borderline", None)),  # (3 * 3/4 + 1/4 + 5 * 3/5 + 0) / 10: 3.2 of 1 to 5
        (REPLY, reply(3, 5, 5, 1), ("17/20", "fail", None)),
        (LADDER, output(rubric_1=("level", 2), rubric_2=("level", 1)), ("3/4", "borderline", None)),
        (LOSSES, losses(), ("1", "pass", None)),
        (LOSSES, losses(harm=True), ("2/7", "fail", None)),
        (LOSSES, losses(figures=("applicable", False), flow=50), ("11/12", "pass", None)),
        (LOSSES, losses(failure=True), ("1", "fail", None)),
        (GROUPS, groups(1, 1, 1, 1), ("1", "pass", "A")),
        (GROUPS, groups(1, 0, 1, 1), ("33/40", "fail", "C")),
        (GROUPS, groups(0, 0, 1, 1), ("13/20", "fail", "C")),
    ],
)
def test_a_sum_done_by_hand(rubric, given, expected):
    found = score(rubric, given)

    assert (found.score, found.verdict, found.grade) == (Fraction(expected[0]), *expected[1:])


def test_the_score_in_units_and_those_of_groups():
    assert score(REPLY, reply(4, 2, 3, 3)).units == Fraction("3.2")
    assert score(GROUPS, groups(1, 0, 0, 0)).groups == {"code": Fraction(1, 2), "style": 0}


def test_a_rubric_of_which_nothing_applies_is_not_scored():
    rubric = {"criteria": [{"applies_if": "It is code", "criteria": ["It runs", "It is read"]}]}

    found = score(rubric, output(**{"1__1": ("applicable", False), "1__2": ("applicable", False)}))

    assert found == Scored(groups={"1": None})


@given(cases_2())
def test_a_rubric_of_version_2_is_scored_as_before(case):
    _, entries, given_output = case
    expected = score_2(load(entries), given_output)

    found = score(entries, given_output)

    assert (found.score, found.verdict) == (expected.score, expected.verdict)


@given(cases())
def test_random_outputs_answer_each_criterion_once(case):
    rubric, given_output = case
    asked = [each.id for each in leaves(tree(rubric))] + failures(rubric)

    found = score(rubric, given_output)

    assert found.score is None or 0 <= found.score <= 1
    assert "score" in given_output or sorted(check["id"] for check in given_output["checks"]) == sorted(asked)


def test_chance_with_a_seed_is_the_same_each_time():
    first, second = Random(7), Random(7)  # noqa: S311

    assert [random_rubric(first) for _ in range(20)] == [random_rubric(second) for _ in range(20)]
    assert random_output(first, GROUPS) == random_output(second, GROUPS)

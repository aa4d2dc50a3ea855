"""What is certain about a verdict once one answer is known is what every possible output says."""

import itertools
import json
import math
from random import Random

import pytest
from cases import read_cases
from hypothesis import assume
from hypothesis import given as draw
from hypothesis import strategies as st
from random_3 import random_rubric

from rubric_lint.scoring.grading import (
    JudgeOutput,
    NothingAppliesError,
    Prospect,
    Prospects,
    VaryingPointsError,
    Verdict,
)
from rubric_lint.scoring.loading import load_rubrics

RUBRICS = read_cases(__file__)["RUBRICS"]

ORDER = [Verdict.FAIL, Verdict.BORDERLINE, Verdict.PASS]


@pytest.mark.parametrize("text", RUBRICS.values(), ids=RUBRICS)
def test_a_prospect_is_the_worst_and_the_best_of_all_outputs(text):
    (rubric,) = load_rubrics("a.yaml", text.encode()).values()
    reached: dict[tuple[int, object], list[tuple[int, object]]] = {}
    every = [[grade.answer for grade in criterion.grades] for criterion in rubric.criteria]
    for answers in itertools.product(*every):
        scored = rubric.grade(JudgeOutput(answers, (None,) * len(answers)))
        for number, answer in enumerate(answers):
            reached.setdefault((number, answer), []).append((scored.score, scored.verdict))
    prospects = Prospects(rubric)
    for number, criterion in enumerate(rubric.criteria):
        for grade in criterion.grades:
            found = reached[number, grade.answer]
            verdicts = sorted((verdict for _, verdict in found), key=ORDER.index)
            prospect = prospects.find(number, grade)
            assert (prospect.worst, prospect.best) == (verdicts[0], verdicts[-1])
            assert prospect.score == max(points for points, _ in found)
            assert prospect.is_certain == (len({*verdicts}) == 1)


@pytest.mark.parametrize("text", RUBRICS.values(), ids=RUBRICS)
def test_known_answers_leave_the_verdicts_of_the_outputs_that_have_them(text):
    (rubric,) = load_rubrics("a.yaml", text.encode()).values()
    grades = [criterion.grades for criterion in rubric.criteria]
    outputs = [(each, rubric.weigh(each).verdict) for each in itertools.product(*grades)]
    for given in [{0: grades[0][0]}, {0: grades[0][-1]}, dict(enumerate(grade[-1] for grade in grades[:2]))]:
        left = {verdict for each, verdict in outputs if all(each[at] is grade for at, grade in given.items())}
        verdicts = sorted(left, key=ORDER.index)
        for number, grade in given.items():
            prospect = Prospects(rubric, given).find(number, grade)
            assert (prospect.worst, prospect.best) == (verdicts[0], verdicts[-1])


MODELINE = "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/v3/rubric.json\n"


def load_3(data):
    data = {"rubrics": data} if isinstance(data, list) else data
    (rubric,) = load_rubrics("a.rubric.yaml", (MODELINE + json.dumps(data)).encode()).values()
    return rubric


def check_all_outputs(rubric):
    """Hold the prospects of a rubric to its outputs; those without a score have no verdict."""
    reached: dict[tuple[int, object], list[tuple[object, Verdict]]] = {}
    for grades in itertools.product(*[criterion.all_grades for criterion in rubric.criteria]):
        try:
            weighed = rubric.weigh(grades)
        except NothingAppliesError:
            continue
        for number, grade in enumerate(grades):
            reached.setdefault((number, grade.answer), []).append((weighed.score, weighed.verdict))
    prospects = Prospects(rubric)
    for number, criterion in enumerate(rubric.criteria):
        for grade in criterion.all_grades:
            if (number, grade.answer) not in reached:
                with pytest.raises(NothingAppliesError):
                    prospects.find(number, grade)
                continue
            found = reached[number, grade.answer]
            verdicts = sorted((verdict for _, verdict in found), key=ORDER.index)
            expected = Prospect(verdicts[0], verdicts[-1], max(score for score, _ in found))
            assert prospects.find(number, grade) == expected


@pytest.mark.slow
@draw(st.integers(0, 10**9))
def test_with_groups_and_conditions_a_prospect_is_that_of_all_outputs(seed):
    dice = Random(seed)  # noqa: S311 (rubrics)
    rubric = next(
        found
        for found in (load_3(random_rubric(dice)) for _ in itertools.count())
        if found.varies and math.prod(len(criterion.all_grades) for criterion in found.criteria) <= 3_000
    )
    try:
        check_all_outputs(rubric)
    except VaryingPointsError:
        assume(condition=False)


def check(name, **fields):
    return {"id": name, "expected_outcome": f"States {name}", **fields}


def group(name, *members, **fields):
    return {"id": name, **fields, "criteria": list(members)}


MAYBE = {"applies_if": "There is one"}
TREES = {
    "a condition": [check("a"), check("b", **MAYBE), check("c", weight=2, **MAYBE)],
    "only conditions": [check("a", **MAYBE), check("b", weight=3, **MAYBE)],
    "a penalty that may not apply": [check("a"), check("b", weight=-2, **MAYBE), check("c", **MAYBE)],
    "the gate of a group": [group("g", check("a"), check("b", weight=2), required_min_score=0.5), check("c")],
    "a gate that needs a condition": [group("g", check("a"), check("b", **MAYBE), required_min_score=0.6), check("c")],
    "a group that may not apply": [group("g", check("a"), check("b"), required_min_score=1, **MAYBE), check("c")],
    "a penalty in a group": [group("g", check("a", weight=2), check("b", weight=-3)), check("c", weight=3)],
    "a group that costs": [group("g", check("a"), check("b", **MAYBE), weight=-1), check("c", weight=2)],
    "groups in groups": [group("g", group("h", check("a"), check("b", **MAYBE), required_min_score=0.5)), check("c")],
}


@pytest.mark.parametrize("criteria", TREES.values(), ids=TREES)
def test_a_prospect_of_a_tree_is_that_of_all_outputs(criteria):
    for threshold in (0.3, 0.5, 0.75, 1):
        check_all_outputs(load_3({"pass_threshold": threshold, "borderline_threshold": 0.2, "criteria": criteria}))


def test_the_prospects_of_a_group_that_costs_points_and_has_a_gate_are_not_decided():
    rubric = load_3({"criteria": [group("g", check("a"), check("b"), required_min_score=0.5, weight=-1), check("c")]})
    with pytest.raises(VaryingPointsError, match="the group `g` weighs below 0 and has a gate"):
        Prospects(rubric)

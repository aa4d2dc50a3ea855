"""The scenarios of the documents that the format comes from, each a test of its name."""

import json
from fractions import Fraction
from textwrap import dedent, indent

import pytest

from rubric_lint import OutputError, RubricError, load_rubrics, score

BANDS = """\
          - score_range: [0, 2]
            expected_outcome: Factually incorrect.
          - score_range: [3, 6]
            expected_outcome: Mostly correct but includes notable errors or omissions.
          - score_range: [7, 9]
            expected_outcome: Correct with minor missing details.
          - score_range: [10, 10]
            expected_outcome: Fully correct and complete.
"""
CHECKLIST = """\
evalcases:
  - id: case
    rubrics:
      - {id: pivot, description: Mentions the pivot, weight: 3, required: true}
      - {id: cost, description: States O(n log n), weight: 1, required: false}
"""
CORRECTNESS = f"""\
evaluators:
  - name: correctness
    type: llm_judge
    rubrics:
      - id: correctness
        weight: 1.0
        required_min_score: 10
        score_ranges:
{BANDS}"""
ANALYTIC = CORRECTNESS.replace("        required_min_score: 10\n", "")
HOLISTIC = "evaluators:\n  - name: overall\n    rubrics:\n" + indent(dedent(BANDS), " " * 6)
QUALITY = """\
rubrics:
  - id: quality
    levels:
      - {level: 5, name: Excellent, expected_outcome: "Comprehensive, accurate, well-structured, includes examples"}
      - {level: 4, name: Good, expected_outcome: "Accurate with minor omissions, good structure"}
      - {level: 3, name: Adequate, expected_outcome: "Covers main points but lacks depth"}
      - {level: 2, name: Poor, expected_outcome: "Significant gaps or inaccuracies"}
      - {level: 1, name: Very Poor, expected_outcome: "Largely incorrect or irrelevant"}
"""


def load(text):
    """The only rubric of a text."""
    (rubric,) = load_rubrics("suite.yaml", text.encode()).values()
    return rubric


def judge(text, output):
    """The exact score and the verdict of an output."""
    result = score(load(text), output)
    return result.score, str(result.verdict)


def checks(field, **answers):
    return {"checks": [{"id": name, field: answer} for name, answer in answers.items()]}


@pytest.mark.parametrize(
    ("pivot", "cost", "expected"),
    [
        (True, True, (Fraction(1), "pass")),
        (True, False, (Fraction(3, 4), "borderline")),
        (False, True, (Fraction(1, 4), "fail")),
        (False, False, (Fraction(0), "fail")),
    ],
)
def test_checklist_rubrics_continue_to_work(pivot, cost, expected):
    assert judge(CHECKLIST, checks("satisfied", pivot=pivot, cost=cost)) == expected


@pytest.mark.parametrize("given", [0, 5, 10])
def test_range_rubrics_constrain_scoring(given):
    assert judge(HOLISTIC, {"score": given})[0] == Fraction(given, 10)
    assert judge(ANALYTIC, checks("score", correctness=given))[0] == Fraction(given, 10)


@pytest.mark.parametrize("given", [-1, 11, 7.5, "7", True, None])
def test_range_rubrics_take_no_other_score(given):
    with pytest.raises(OutputError):
        judge(HOLISTIC, {"score": given})
    with pytest.raises(OutputError):
        judge(ANALYTIC, checks("score", correctness=given))


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [("[3, 6]", "[2, 6]", "overlap"), ("[10, 10]", "[10, 11]", "bounds"), ("[3, 6]", "[3, 5]", "coverage")],
)
@pytest.mark.parametrize("text", [HOLISTIC, ANALYTIC], ids=["holistic", "per-criterion"])
def test_invalid_range_rubrics_are_rejected(text, old, new, rule):
    with pytest.raises(RubricError) as refusal:
        load(text.replace(old, new))
    assert [fault.split(": ")[1] for fault in refusal.value.faults] == [rule]


def test_mixed_rubrics_are_rejected():
    with pytest.raises(RubricError, match="mixing"):
        load(ANALYTIC + "      - {id: other, expected_outcome: Names a source}\n")


def test_range_rubric_output_schema():
    holistic = {"score": 8, "reasoning": "Some details are missing."}
    analytic = {"checks": [{"id": "correctness", "score": 8, "reasoning": "..."}], "overall_reasoning": "Good."}
    for text, output in ((HOLISTIC, holistic), (ANALYTIC, analytic)):
        assert judge(text, json.dumps(output)) == (Fraction(4, 5), "pass")


@pytest.mark.parametrize(("given", "verdict"), [(10, "pass"), (9, "fail")])
def test_required_min_score_gates_the_verdict(given, verdict):
    assert judge(CORRECTNESS, checks("score", correctness=given)) == (Fraction(given, 10), verdict)


@pytest.mark.parametrize(("verdict", "scores"), [("pass", (8, 9, 10)), ("fail", (0, 5)), ("borderline", (6, 7))])
def test_pass_fail_and_borderline_verdicts(verdict, scores):
    assert {judge(ANALYTIC, checks("score", correctness=given))[1] for given in scores} == {verdict}


def test_the_eiffel_tower_is_good():
    result = score(load(QUALITY), checks("level", quality=4))
    assert result.to_json()["score"] == 0.75
    assert result.criteria[0].grade.outcome == "Accurate with minor omissions, good structure"


@pytest.mark.parametrize(("level", "expected"), [(5, 1), (4, 0.75), (3, 0.5), (2, 0.25), (1, 0)])
def test_levels_are_normalised(level, expected):
    assert judge(QUALITY, checks("level", quality=level))[0] == expected

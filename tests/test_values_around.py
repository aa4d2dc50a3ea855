"""Numbers around a rubric of another system, and its weights: none of them is wrong in silence."""

import json

import pytest
from said import found

ONE = "expected a number from 0 to 1, as {} compares it with a score from 0 to 1"
WORDS = {"1.5": "1.5", "-1": "-1", ".inf": ".inf", ".nan": ".nan", "high": 'the string "high"', "true": "true"}

TOLOKAFORGE = """\
llm_judge:
  rubric:
    criteria:
    - {id: a, description: Names the parcel, weight: 2}
    - {id: b, description: Says when it comes, weight: 2}
combine:
  pass_threshold: """

TRPC_AGENT = """\
- metricName: answer
  criterion:
    llmJudge:
      rubrics:
      - {id: a, content: {text: Names the parcel}}
      - {id: b, content: {text: Says when it comes}}
  threshold: """

PROMPTFOO = """\
providers: [echo]
tests:
- vars: {q: Where?}
  assert:
  - type: llm-rubric
    value: Names the parcel
    threshold: """

HOLDERS = {
    "tolokaforge": ("grading.yaml", TOLOKAFORGE, "pass_threshold", "7:19"),
    "tRPC-Agent": ("a.metrics.yaml", TRPC_AGENT, "threshold", "7:14"),
    "promptfoo": ("promptfooconfig.yaml", PROMPTFOO, "threshold", "7:16"),
}


@pytest.mark.parametrize("value", WORDS)
@pytest.mark.parametrize("title", HOLDERS)
def test_a_threshold_beyond_all_scores_is_told_at_its_place(title, value):
    name, text, field, place = HOLDERS[title]
    what = f"{'criterion 1: ' * (title == 'promptfoo')}`{field}` is {WORDS[value]}"
    assert found(f"{text}{value}\n", name) == [f"schema {place}: {what}, {ONE.format(title)}"]


@pytest.mark.parametrize("value", ["0", "0.25", "1", "1.0"])
@pytest.mark.parametrize("title", HOLDERS)
def test_a_threshold_that_a_score_can_reach_is_not_told(title, value):
    name, text, *_ = HOLDERS[title]
    assert found(f"{text}{value}\n", name) == []


BANDS = """\
rubrics:
    - {score_range: [0, 4], expected_outcome: Blames the customer}
    - {score_range: [5, 10], expected_outcome: Names the next step}
"""
LOW = 'Rubric(score_range=(0, 4), expected_outcome="Blames the customer")'
HIGH = 'Rubric(score_range=(5, 10), expected_outcome="Names the next step")'
METRICS = {
    "a lightspeed metric": ("system.yaml", "metrics:\n  'geval:tone':\n    threshold: {}\n    " + BANDS, "3:16"),
    "a metric in YAML": (
        "deepeval.yaml",
        "metrics:\n  - criteria: Judge the tone\n    threshold: {}\n    " + BANDS.replace("rubrics", "rubric"),
        "3:16",
    ),
    "a metric in JSON": (
        "metric.json",
        json.dumps(
            {
                "threshold": "{}",
                "criteria": "Judge the tone",
                "rubric": [
                    {"scoreRange": [0, 4], "expectedOutcome": "Blames the customer"},
                    {"scoreRange": [5, 10], "expectedOutcome": "Names the next step"},
                ],
            }
        ).replace('"{}"', "{}", 1),
        "1:15",
    ),
    "a metric in Python": (
        "metrics.py",
        f"tone = GEval(\n    threshold={{}}, rubric=[{LOW}, {HIGH}])\n",
        "2:15",
    ),
}


@pytest.mark.parametrize("holder", METRICS)
def test_a_threshold_of_a_metric_that_is_not_a_number_is_told(holder):
    name, text, place = METRICS[holder]
    for value in ('"0.5"', "[0.5]"):
        said = 'the string "0.5"' if value[0] == '"' else "a list"
        expected = f"schema {place}: `threshold` is {said}, expected a number from 0 to 1"
        assert found(text.replace("{}", value, 1), name) == [expected]


@pytest.mark.parametrize("value", ["null", "0.5"])
def test_a_threshold_that_is_left_out_or_can_be_reached_is_not_told(value):
    name, text, _ = METRICS["a lightspeed metric"]
    assert found(text.replace("{}", value, 1), name) == []


def test_no_score_reaches_a_threshold_that_is_not_a_number():
    name, text, place = METRICS["a lightspeed metric"]
    reason = "and scores are numbers from 0 to 1, so the metric never passes"
    assert found(text.replace("{}", ".nan", 1), name) == [f"bounds {place}: `threshold` is nan, {reason}"]


PART = "{{id: {0}, requirements: {0} runs, weight: {1}, sub_tasks: [{2}], task_category: {3}}}"


def tree(leaf="1", inner="1", root="1"):
    below = PART.format("The code", leaf, "", "Code"), PART.format("The table", "1", "", "Code")
    held = PART.format("A part", inner, ", ".join(below), "null"), PART.format("The plot", "1", "", "Code")
    return PART.format("All", root, ", ".join(held), "null")


@pytest.mark.parametrize(("value", "said"), [(".inf", "infinite or too large to read"), (".nan", "not a number")])
@pytest.mark.parametrize("part", ["leaf", "inner", "root"])
def test_a_weight_in_a_tree_that_cannot_be_counted_is_told(part, value, said):
    text = tree(**{part: value})
    place = f"weight 1:{text.index(value) + 1}"
    expected = [f"{place}: `weight` is {said}, expected a finite number of at least 0"]
    assert [line.replace("criterion `The code`: ", "") for line in found(text, "rubric.yaml")] == expected


SCORES = """\
- {{type: score_model, name: n, model: m, range: {}, pass_threshold: {},
   input: [{{role: user, content: Rate how clear the answer is}}]}}
"""


PASSES, SCORED = "`pass_threshold`", "scores are numbers from"


@pytest.mark.parametrize(
    ("bounds", "threshold", "place", "said"),
    [
        ("[0, 1]", "7", "1:73", f"{PASSES} is 7, and {SCORED} 0 to 1, so the grader never passes"),
        ("[1, 5]", "0", "1:73", f"{PASSES} is 0, and {SCORED} 1 to 5, so the grader always passes"),
        ("[1, 5]", ".nan", "1:73", f"{PASSES} is nan, and {SCORED} 1 to 5, so the grader never passes"),
        ("[0, .inf]", "1", "1:49", "`range` goes from 0 to inf; write two finite numbers"),
    ],
)
def test_a_grader_that_always_or_never_passes_is_told(bounds, threshold, place, said):
    assert found(SCORES.format(bounds, threshold), "graders.yaml") == [f"bounds {place}: {said}"]


@pytest.mark.parametrize("threshold", ["1", "5", "2.5", "null"])
def test_a_grader_whose_threshold_is_in_its_range_is_not_told(threshold):
    assert found(SCORES.format("[1, 5]", threshold), "graders.yaml") == []


@pytest.mark.parametrize(
    ("field", "band"),
    [
        ("rubric", "{score_range: [0, 4], expected_outcome: A}"),
        ("rubric", "{scoreRange: [0, 4], expectedOutcome: A}"),
        ("rubrics", "{scoreRange: [0, 4], expectedOutcome: A}"),
    ],
)
def test_a_single_band_is_told_as_one(field, band):
    reason = f"`{field}` is one band, not a list of bands; put it in a list"
    assert found(f"criteria: Judge the tone\n{field}: {band}\n", "metric.yaml") == [f"not read 2:1: {reason}"]

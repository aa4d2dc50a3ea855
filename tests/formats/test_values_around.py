"""Numbers around a rubric of another system, and its weights: none of them is wrong in silence."""

import pytest
from cases import read_cases
from found import describe

TABLES = read_cases(__file__)


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
    "tolokaforge": ("grading.yaml", TOLOKAFORGE),
    "tRPC-Agent": ("a.metrics.yaml", TRPC_AGENT),
    "promptfoo": ("promptfooconfig.yaml", PROMPTFOO),
}


@pytest.mark.parametrize(("name", "text"), HOLDERS.values(), ids=HOLDERS)
def test_a_threshold_is_told_at_its_place_where_no_score_can_reach_it(name, text, said):
    said([describe(f"{text}{value}\n", name) for value in ("1.5", "-1", ".inf", ".nan", "high", "true")])
    assert [describe(f"{text}{value}\n", name) for value in ("0", "0.25", "1", "1.0")] == [[]] * 4


METRICS = TABLES["METRICS"]


@pytest.mark.parametrize(("name", "text"), METRICS.values(), ids=METRICS)
def test_a_threshold_of_a_metric_that_is_not_a_number_is_told(name, text, said):
    said([describe(text.replace("{}", value, 1), name) for value in ('"0.5"', "[0.5]")])


def test_a_threshold_that_no_score_reaches_is_told_and_one_that_is_left_out_is_not(said):
    name, text = METRICS["a lightspeed metric"]
    said(describe(text.replace("{}", ".nan", 1), name))
    assert [describe(text.replace("{}", value, 1), name) for value in ("null", "0.5")] == [[], []]


PART = "{{id: {0}, requirements: {0} runs, weight: {1}, sub_tasks: [{2}], task_category: {3}}}"


def tree(leaf="1", inner="1", root="1"):
    below = PART.format("The code", leaf, "", "Code"), PART.format("The table", "1", "", "Code")
    held = PART.format("A part", inner, ", ".join(below), "null"), PART.format("The plot", "1", "", "Code")
    return PART.format("All", root, ", ".join(held), "null")


@pytest.mark.parametrize("part", ["leaf", "inner", "root"])
def test_a_weight_in_a_tree_that_cannot_be_counted_is_told(part, said):
    said([describe(tree(**{part: value}), "rubric.yaml") for value in (".inf", ".nan")])


def test_a_single_band_is_told_as_one(said):
    snake, camel = ("{score_range: [0, 4], expected_outcome: A}", "{scoreRange: [0, 4], expectedOutcome: A}")
    for field, band in (("rubric", snake), ("rubric", camel), ("rubrics", camel)):
        said(describe(f"criteria: Judge the tone\n{field}: {band}\n", "metric.yaml"))

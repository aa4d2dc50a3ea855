"""Numbers around a rubric of another system, and its weights: none of them is wrong in silence."""

import re

import pytest
from cases import read_cases
from found import describe

from rubric_lint.lint.engine import lint

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


OURS = "rubrics: [{id: a, weight: 3, expected_outcome: Names the year}, Names the day]\n"
FIELDS_OF_3 = {
    "scale": "[1, 5]",
    "levels": "{1: Names none, 5: Names both}",
    "applies_if": "The question asks for a year",
}
SCALES = {
    "scoring_scale": "1-5",
    "rating_scale": "{1: Names none, 2: Names one, 3: Names both}",
    "score_range": "[0, 5]",
    "max_score": "5",
    "maximum_score": "5",
}


@pytest.mark.parametrize(("key", "value"), [*FIELDS_OF_3.items(), *SCALES.items()])
def test_a_scale_and_a_field_of_version_3_next_to_our_criteria_are_near_misses_at_their_place(key, value):
    result = lint("a.rubric.yaml", f"{OURS}{key}: {value}\n".encode())
    (unread,) = result.unread
    assert (result.findings, unread.line, unread.column, unread.is_known) == ((), 2, 1, True)
    expected = "is a field of version 3" if key in FIELDS_OF_3 else "the scale of scores"
    assert unread.reason.startswith(f"`{key}")
    assert expected in unread.reason


UNWANTED = {"must_not": "[Invents a source]", "forbidden": "[Names the customer]"}


@pytest.mark.parametrize(("key", "value"), UNWANTED.items())
def test_a_list_of_what_an_answer_must_not_do_next_to_our_criteria_is_a_near_miss(key, value):
    result = lint("a.rubric.yaml", f"{OURS}{key}: {value}\n".encode())
    (unread,) = result.unread
    assert (result.findings, unread.line, unread.column, unread.is_known) == ((), 2, 1, True)
    assert unread.reason.startswith(f"`{key}`")


TOLOKAFORGE = """\
combine: {pass_threshold: 0.5}
llm_judge:
  rubric:
    NEXT
    criteria:
      - {id: refund, description: The refund is booked, required: true}
      - {id: tone, description: Thanks the customer, weight: 2}
"""
NEXT = {
    "scale: 1-5": ["`scale: 1-5` may say the scale"],
    "max_score: 10": ["`max_score` may say the scale"],
    "must_not: [Invents a source]": ["`must_not` may hold penalties"],
    "max_score: 1": [],  # the scale of checks
    "scale: 0-1": [],
    "forbidden: [foo]": [],  # single words are for code
}


@pytest.mark.parametrize(("written", "beginnings"), NEXT.items())
def test_a_scale_or_an_unwanted_list_next_to_criteria_of_another_system_is_a_near_miss(written, beginnings):
    result = lint("grading.yaml", TOLOKAFORGE.replace("NEXT", written).encode())
    assert [(unread.line, unread.column) for unread in result.unread] == [(4, 5)] * len(beginnings)
    for unread, beginning in zip(result.unread, beginnings, strict=True):
        assert unread.reason.startswith(beginning)


SUITE_OF_AGENTV_4 = """\
0
tests:
- id: where
  1
  input: Where is the parcel?
  criteria: Says where it is
  assertions:
  - type: rubrics
    2
    criteria: [{id: depot, outcome: Names the depot, weight: 2}, {id: day, outcome: Says the day}]
"""
SUITE_OF_AGENTV_5 = """\
prompts: ["{{q}}"]
providers: [echo]
0
default_test:
  1
  assert:
  - type: assert-set
    2
    assert:
    - type: llm-rubric
      3
      value: [Names the depot, {outcome: Says the day, weight: 2}]
tests:
- id: where
  vars: {q: Where?}
"""
SUITE_OF_PROMPTFOO = """\
prompts: ["{{q}}"]
providers: [echo]
0
tests:
- vars: {q: Where?}
  1
  assert:
  - type: assert-set
    2
    assert:
    - type: g-eval
      3
      value: [Names the depot, Says the day, Thanks the customer]
"""
SUITE_OF_PROMPTFOO_WITH_TEXTS = """\
prompts: ["{{q}}"]
providers: [echo]
0
tests:
- vars: {q: Where?}
  1
  assert:
  - type: llm-rubric
    2
    value: Names the depot
"""
SUITE_OF_OURS = """\
0
tests:
- id: where
  1
  input: Where is the parcel?
  rubrics: [{id: depot, expected_outcome: Names the depot, weight: 2}, Says the day]
"""
BANDS = "[{score_range: [0, 4], expected_outcome: Names none}, {score_range: [5, 10], expected_outcome: Names both}]"
METRIC_OF_LIGHTSPEED = f"""\
0
metrics_metadata:
  1
  turn_level:
    2
    "geval:tone":
      3
      criteria: Judge the tone
      rubrics: {BANDS}
"""
METRIC_OF_DEEPEVAL = f"""\
0
metrics:
- name: tone
  1
  criteria: Judge the tone
  evaluation_params: [input]
  rubric: {BANDS}
"""
METRIC_OF_CONFIDENT_AI = METRIC_OF_DEEPEVAL.replace("_params", "Params").replace("score_range", "scoreRange")
METRIC_OF_CONFIDENT_AI = METRIC_OF_CONFIDENT_AI.replace("expected_outcome", "expectedOutcome")
WHOLES = {
    "AgentV 4": ("a.yaml", SUITE_OF_AGENTV_4, 3),
    "AgentV 5": ("a.eval.yaml", SUITE_OF_AGENTV_5, 4),
    "promptfoo": ("promptfooconfig.yaml", SUITE_OF_PROMPTFOO, 4),
    "promptfoo with texts": ("promptfooconfig.yaml", SUITE_OF_PROMPTFOO_WITH_TEXTS, 3),
    "ours": ("a.yaml", SUITE_OF_OURS, 2),
    "lightspeed": ("a.yaml", METRIC_OF_LIGHTSPEED, 4),
    "DeepEval": ("a.yaml", METRIC_OF_DEEPEVAL, 2),
    "Confident AI": ("a.yaml", METRIC_OF_CONFIDENT_AI, 2),
}
PLACES = [(name, level) for name, (_, _, count) in WHOLES.items() for level in range(count)]
DOUBTS = {
    "scale: 1-5": "`scale: 1-5` may say the scale",
    "rating_scale: {1: Names none, 5: Names both}": "`rating_scale` may hold the scale",
    "max_score: 17": "`max_score` may say the scale",
    "must_not: [Invents a source]": "`must_not` may hold penalties",
    "penalties: [1, 2]": "`penalties` may hold penalties",
}


def put(whole, level, line):
    """Return a document with a line at one of its numbered places, and the line and column of its key."""
    rows = [row for row in whole.splitlines() if not row.strip().isdigit() or row.strip() == str(level)]
    (at,) = (at for at, row in enumerate(rows) if row.strip() == str(level))
    column = rows[at].index(str(level))
    rows[at] = rows[at][:column] + line
    return "\n".join(rows) + "\n", (at + 1, column + 1)


@pytest.mark.parametrize(("name", "level"), PLACES)
def test_a_scale_or_an_unwanted_list_above_criteria_is_a_near_miss_wherever_a_penalty_is(name, level):
    file, whole, _ = WHOLES[name]
    for line, beginning in DOUBTS.items():
        text, place = put(whole, level, line)
        result = lint(file, text.encode())
        reasons = [unread.reason for unread in result.unread if (unread.line, unread.column) == place]
        refused = f"`{line.split(':')[0]}` of the suite: AgentV 5"  # an error of another kind
        assert any(reason.startswith((beginning, refused)) for reason in reasons), (line, reasons)


def test_a_scale_in_a_criterion_of_another_system_is_a_near_miss():
    text = TOLOKAFORGE.replace("    NEXT\n", "").replace("weight: 2}", "weight: 2, LINE}")
    for line in ("scale: 1-5", "range: [1, 5]", "max_score: 5"):
        (unread,) = lint("grading.yaml", text.replace("LINE", line).encode()).unread
        assert (unread.line, unread.column) == (6, 65)
        assert unread.reason.startswith(f"`{line.split(':')[0]}")
        assert "the scale of scores, and is not read" in unread.reason
    for line in ("scale: 0-1", "max_score: 1", "pages: 1-5"):
        assert lint("grading.yaml", text.replace("LINE", line).encode()).unread == ()


USUAL = {
    "AgentV 4": ["scale: 0-1", "scale: binary", "max_score: 1", "max_score: 3"],
    "AgentV 5": ["scale: 0-1", "max_score: 1", "max_score: 3"],
    "promptfoo": ["scale: [0, 1]", "max_score: 1", "max_score: 3"],
    "promptfoo with texts": ["scale: [0, 1]", "max_score: 1"],
    "ours": ["scale: 0-1", "scale: pass/fail", "max_score: 3"],
    "lightspeed": ["scale: 0-10", "max_score: 10"],
    "DeepEval": ["scale: 0-10", "max_score: 10"],
    "Confident AI": ["scale: 0-10", "maxScore: 10"],
}


@pytest.mark.parametrize("name", USUAL)
def test_a_scale_above_criteria_that_they_have_anyway_is_no_near_miss(name):
    file, whole, count = WHOLES[name]
    for line in USUAL[name]:
        text, _ = put(whole, count - 1, line)
        result = lint(file, text.encode())
        assert (line, result.unread) == (line, ())


HARMLESS = {
    "forbidden": "[foo]",  # single words are for code
    "max_score": "3",  # the sum of the weights that are written
    "scoring_scale": "0-1",
    "page_range": "1-5",
    "version": "3",
    "weight": "3",
    "max_tokens": "5",
    "expected_outcome": "Both dates are named",
}


@pytest.mark.parametrize(("key", "value"), HARMLESS.items())
def test_what_says_no_other_scale_next_to_our_criteria_is_no_near_miss(key, value):
    result = lint("a.rubric.yaml", f"{OURS}{key}: {value}\n".encode())
    assert (result.findings, result.unread) == ((), ())


def test_what_a_file_says_of_version_3_and_follows_is_a_scale_or_an_error_and_no_near_miss():
    key = "scale: [1, 5]\n"
    (unread,) = lint("a.rubric.yaml", f"{key}{OURS}".encode()).unread
    (modeline,) = re.findall(r"`(# yaml-language-server: .*?)`", unread.reason)
    beside = lint("a.rubric.yaml", f"{modeline}\n{key}{OURS}".encode())
    older = lint("a.rubric.yaml", f"{modeline.replace('v3', 'v2')}\n{key}{OURS}".encode())
    within = lint("a.rubric.yaml", f"{modeline}\nrubrics: {{scale: [1, 5], criteria: [Names the day]}}\n".encode())
    assert [[finding.rule for finding in result.findings] for result in (beside, older, within)] == [
        ["schema"],
        ["unknown-field"],
        [],
    ]
    assert [result.unread for result in (beside, older, within)] == [(), (), ()]

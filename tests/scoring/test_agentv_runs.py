"""Runs of AgentV, as its `index.jsonl` has them, are scored by the criteria of their suite."""

import html
import json
import re

import commands
import pytest

from rubric_lint import load_rubrics
from rubric_lint.scoring.records.streams import read_entries
from rubric_lint.scoring.scorer import Scorer

SUITE = b"""\
tests:
  - id: leak
    input: Why?
    assertions:
      - name: facts
        type: rubrics
        criteria:
          - {id: cause, outcome: Names the cause}
          - {id: cost, outcome: Names the cost, required: true, weight: 0.1}
      - {type: contains, value: leak}
  - id: tone
    input: Why?
    assertions:
      - name: style
        type: rubrics
        criteria:
          - id: tone
            min_score: 0.7
            score_ranges: {0: Blames the customer, 5: Helps}
      - name: facts
        type: rubrics
        criteria: [{id: cause, outcome: Names the cause}]
"""
CHECKED = [
    {"text": "[cause] Names the cause", "passed": True, "evidence": "named"},
    {"text": "[cost] Names the cost", "passed": False},
]
FACTS = {"name": "facts", "type": "llm-grader", "score": 0.909, "verdict": "fail", "assertions": CHECKED}
CONTAINS = {"name": "contains-leak", "type": "contains", "score": 1, "assertions": [{"text": "Output contains it"}]}
STYLE = {
    "name": "style",
    "score": 0.6,
    "verdict": "fail",
    "assertions": [{"text": "[tone] tone - Score: 6/10 (Helps)", "passed": False}],
    "details": {"raw_scores": {"tone": 6}},
}


def read(*tests):
    """The records of a run."""
    text = "".join(json.dumps({"score": 0.9, "target": "t", "execution_status": "ok", **test}) + "\n" for test in tests)
    return [entry for _, entry in read_entries([text.encode()])]


def tell(suite, *records):
    """The rubric, the score and the verdict of each record, or why it has none."""
    rubrics = load_rubrics("a.eval.yaml", suite)
    outcomes = [Scorer(rubrics).score(json.dumps(record).encode(), 1) for record in records]
    return [
        outcome.error.message
        if outcome.error
        else (outcome.rubric, round(float(outcome.result.score), 3), str(outcome.result.verdict))
        for outcome in outcomes
    ]


def test_the_checks_of_each_grader_with_criteria_are_a_record():
    one, style, facts = read(
        {"test_id": "leak", "scores": [FACTS, CONTAINS]},
        {"test_id": "tone", "scores": [{"name": "all", "scores": [STYLE, {**FACTS, "assertions": CHECKED[:1]}]}]},
    )
    assert one == {
        "id": "leak",
        "rubric": "leak/facts",
        "output": {
            "checks": [{"id": "cause", "satisfied": True, "reasoning": "named"}, {"id": "cost", "satisfied": False}]
        },
        "target": "t",
        "agentv": {"score": 0.909, "verdict": "fail", "test_score": 0.9, "passed": True},
    }
    assert (style["rubric"], style["output"]) == ("tone/all/style", {"checks": [{"id": "tone", "score": 6}]})
    assert facts["rubric"] == "tone/all/facts"
    assert tell(SUITE, one, style, facts) == [
        ("leak", 0.909, "fail"),
        ("tone/style", 0.6, "fail"),
        ("tone/facts", 1.0, "pass"),
    ]


NAMELESS = b"""\
tests:
  - id: leak
    input: Why?
    assertions:
      - Names the cause
      - type: rubrics
        criteria: [{id: cost, outcome: Names the cost, required: false}, {id: date, outcome: Names the date}]
      - Names the room
      - type: composite
        name: both
        aggregator: {type: weighted_average}
        assertions:
          - {name: one, type: rubrics, criteria: [{id: tone, outcome: Is kind}]}
          - {name: two, type: rubrics, criteria: [{id: form, outcome: Is a list}]}
      - {type: rubrics, criteria: [{id: day, outcome: Names the day}]}
      - {type: rubrics, criteria: [{id: day, outcome: Says which day}]}
"""


def grade(name, *ids, **more):
    """What a run has of a grader: the ids of the criteria that are met."""
    return {"name": name, "assertions": [{"text": f"[{each}] ...", "passed": True} for each in ids], **more}


def test_graders_without_a_name_are_found_by_their_criteria(said):
    scores = [
        grade("rubrics", "rubric-1", "rubric-2"),
        grade("rubrics", "cost", "date"),
        grade("both", "one] [tone", "two] [form", scores=[grade("one", "tone"), grade("two", "form")]),
        grade("rubrics", "day"),
        grade("rubrics", "smell"),
    ]
    *found, twice, unknown = tell(NAMELESS, *read({"test_id": "leak", "scores": scores}))
    assert found == [(f"leak{name}", 1.0, "pass") for name in ("", "/assertions/1", "/both/one", "/both/two")]
    said(twice, unknown)


def test_graders_of_one_name_are_told_apart_by_their_places():
    suite = b"""\
tests:
  - id: leak
    input: Why?
    assertions:
      - {name: said, type: rubrics, criteria: [{id: cost, outcome: Names the cost}]}
      - {name: said, type: rubrics, criteria: [{id: date, outcome: Names the date}]}
      - {name: form, type: rubrics, criteria: [{id: form, outcome: Is a list}]}
"""
    scores = [grade("said", "cost"), grade("said", "date"), grade("form", "form")]
    assert tell(suite, *read({"test_id": "leak", "scores": scores})) == [
        ("leak/assertions/0", 1.0, "pass"),
        ("leak/assertions/1", 1.0, "pass"),
        ("leak/form", 1.0, "pass"),
    ]


def test_a_grader_that_was_skipped_beside_others_is_told():
    scores = [STYLE, {"name": "facts", "score": 0, "verdict": "skip", "assertions": [{"text": "Grader parse failure"}]}]
    told = tell(SUITE, *read({"test_id": "tone", "execution_status": "execution_error", "scores": scores}))
    assert told == [("tone/style", 0.6, "fail"), "no output: AgentV says: skipped `facts`"]


def test_a_test_of_several_rubrics_that_ended_in_an_error_is_told_with_the_reason():
    records = read(
        {"test_id": "leak", "execution_status": "ok"}, {"test_id": "tone", "execution_status": "execution_error"}
    )
    assert tell(SUITE, *records)[1] == "no output: AgentV says: execution_error"


@pytest.mark.parametrize(
    "test",
    [
        {"scores": [CONTAINS]},
        {"execution_status": "execution_error", "error": "no key"},
        {"execution_status": "execution_error"},
        {"scores": {"facts": 1}},
    ],
    ids=["other graders", "an error", "an error without a text", "no list"],
)
def test_a_test_without_criteria_is_told_with_the_reason(test, said):
    there = {"test_score": 0.9, "passed": "execution_status" not in test}
    found = read({"test_id": "leak", "scores": [FACTS, CONTAINS]}, {"test_id": "leak", **test})[1]
    said(found["judge"].pop("fault"))
    assert found == {"id": "leak", "rubric": "leak", "output": "", "judge": {}, "agentv": there}


@pytest.mark.slow
def test_what_agentv_takes_otherwise_is_told_and_on_the_page(tmp_path, said):
    tests = [
        {"test_id": "leak", "score": 0.909, "execution_status": "ok", "scores": [FACTS, CONTAINS]},
        {"test_id": "tone", "score": 0.4, "execution_status": "quality_failure", "scores": [{**STYLE, "score": 0.4}]},
    ]
    (tmp_path / "a.eval.yaml").write_bytes(SUITE)
    (tmp_path / "index.jsonl").write_text("".join(json.dumps(test) + "\n" for test in tests), "utf-8")
    files = [str(tmp_path / name) for name in ("a.eval.yaml", "index.jsonl", "page.html")]
    done = commands.run("rubric-score", *files[:2], "--report", files[2])
    said(done.stderr)
    told = re.findall(r"^rubric-score: (?:warning: )?(1 .*)", done.stderr, re.MULTILINE)
    page = html.unescape((tmp_path / "page.html").read_text("utf-8"))
    assert [f'<dd dir="auto">{each}</dd>' in page for each in told] == [True, True]


def test_lines_of_other_kinds_stay_as_they_are():
    first = json.dumps({"test_id": "leak", "execution_status": "ok", "scores": [FACTS]})
    lines = [first, '{"checks": []}', "[1]", '{"test_id": 3, "execution_status": "ok"}']
    _, checks, listed, test = [entry for _, entry in read_entries(["\n".join(lines).encode()])]
    assert (checks, test) == (lines[1].encode(), lines[3].encode())
    assert str(listed) == "expected an object, a judge output or a record that holds one"

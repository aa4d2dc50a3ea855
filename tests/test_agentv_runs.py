"""Runs of AgentV, as its `index.jsonl` has them, are scored by the criteria of their suite."""

import json

import pytest

from rubric_lint import load_rubrics, score
from rubric_lint.outputs.streams import read_entries

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
    return [json.loads(entry) for _, entry in read_entries([text.encode()])]


def test_the_checks_of_each_grader_with_criteria_are_a_record():
    one, style, facts = read(
        {"test_id": "leak", "scores": [FACTS, CONTAINS]},
        {"test_id": "tone", "scores": [{"name": "all", "scores": [STYLE, {**FACTS, "assertions": CHECKED[:1]}]}]},
    )
    assert one == {
        "id": "leak",
        "rubric": "leak",
        "output": {
            "checks": [
                {"id": "cause", "satisfied": True, "reasoning": "named"},
                {"id": "cost", "satisfied": False},
            ]
        },
        "target": "t",
        "agentv": {"score": 0.909, "verdict": "fail", "test_score": 0.9},
    }
    assert (style["rubric"], style["output"]) == ("tone/style", {"checks": [{"id": "tone", "score": 6}]})
    assert facts["rubric"] == "tone/facts"
    rubrics = load_rubrics("a.eval.yaml", SUITE)
    scored = [score(rubrics[each["rubric"]], each["output"]) for each in (one, style, facts)]
    assert [(round(float(each.score), 3), str(each.verdict)) for each in scored] == [
        (0.909, "fail"),
        (0.6, "fail"),
        (1.0, "pass"),
    ]


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ({"scores": [CONTAINS]}, "the run has no grader with criteria for this test"),
        ({"execution_status": "execution_error", "error": "no key"}, "AgentV says: execution_error, no key"),
        ({"execution_status": "execution_error"}, "AgentV says: execution_error"),
        ({"scores": {"facts": 1}}, "the run has no grader with criteria for this test"),
    ],
)
def test_a_test_without_criteria_is_told_with_the_reason(test, told):
    record = {"id": "leak", "rubric": "leak", "output": "", "judge": {"fault": told}}
    assert read({"test_id": "leak", "scores": [FACTS, CONTAINS]}, {"test_id": "leak", **test})[1] == record


def test_lines_of_other_kinds_stay_as_they_are():
    first = json.dumps({"test_id": "leak", "execution_status": "ok", "scores": [FACTS]})
    lines = [first, '{"checks": []}', "[1]", '{"test_id": 3, "execution_status": "ok"}']
    entries = [entry for _, entry in read_entries(["\n".join(lines).encode()])]
    assert [json.loads(entry) for entry in entries[1:]] == [json.loads(line) for line in lines[1:]]

"""Whole suites: cases, inputs, references and other assertions go to the target, or are listed with their place."""

import json
from pathlib import Path

import pytest
from agentv_5 import faults
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_rubrics import SHAPES
from ruamel.yaml import YAML

from rubric_lint import import_source
from rubric_lint.cli.lint.convert import convert

FOLDER = Path(__file__).parent
AGENTV = """\
name: refunds
execution: {threshold: 0.7}
tests:
  - id: window
    input: Can I return {{ thing }} for {{ money }}?
    expected_output: Yes
    vars: {thing: a lamp}
    metadata: {team: billing}
    assertions:
      - {type: contains, value: 30 days, weight: 2}
      - Says why
      - Is short
      - {type: equals, value: "Yes"}
      - {type: cost, budget: 0.1, name: cheap, negate: true}
  - id: greeting
    input: [{role: user, content: Hi}]
    assertions: [{type: is-json}]
"""
PROMPTFOO = """\
prompts: ["Summarise: {{ article }}"]
providers: [echo]
tests:
  - description: tower
    vars: {article: Finished in 1889.}
    threshold: 0.5
    assert:
      - {type: not-icontains, value: '{{ "{{" }}'}
      - {type: latency, threshold: 500, metric: fast}
      - {type: llm-rubric, value: Names the year}
      - {type: contains, value: "{{ article }}"}
  - vars: {article: Nothing.}
    assert: [{type: regex, value: ^N}]
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Writes a file, converts it, and returns the exit code, the data that was written, and what was said."""
    monkeypatch.chdir(tmp_path)

    def converted(text, target, *options, name="suite.eval.yaml"):
        return convert_text(tmp_path / name, text, target, *options)

    return converted


def convert_text(path, text, target, *options):
    path.write_text(text, "utf-8")
    done = CliRunner().invoke(convert, [path.name, "--to", target, *options], standalone_mode=False)
    said = [line.removeprefix(f"rubric-lint: {path.name}:") for line in done.stderr.splitlines()]
    return done.return_value or 0, YAML(typ="safe").load(done.stdout), said


def without_prompts(suite):
    """A suite in which the texts for judges are left out."""
    for test in suite["tests"]:
        for assertion in test["assert"]:
            if assertion["type"] == "llm-rubric":
                del assertion["value"]
    return suite


def test_a_suite_of_agentv_goes_to_promptfoo(run):
    _, written, said = run(AGENTV, "promptfoo")
    assert without_prompts(written) == {
        "prompts": ["{{ input }}"],
        "defaultTest": {"threshold": 0.7},
        "tests": [
            {
                "description": "window",
                "vars": {
                    "input": 'Can I return {{ thing }} for {{ "{{" }} money }}?',
                    "expected_output": "Yes",
                    "thing": "a lamp",
                },
                "metadata": {"team": "billing"},
                "assert": [
                    {"type": "contains", "value": "30 days", "weight": 2},
                    {"type": "llm-rubric", "weight": 2, "threshold": 0.8},
                    {"type": "not-cost", "threshold": 0.1, "metric": "cheap"},
                ],
            },
            {
                "description": "greeting",
                "vars": {"input": '[{"role": "user", "content": "Hi"}]'},
                "assert": [{"type": "is-json"}],
            },
        ],
    }
    assert [line for line in said if "grader" not in line] == [
        "1:7: lost: `name`: promptfoo has no field for it",
        (
            "6:22: lost: `expected_output` is kept as a variable, which the judge of promptfoo sees only if a text "
            "names it"
        ),
        (
            "13:9: lost: the assertion `equals`: AgentV ignores white space around both texts, and promptfoo compares "
            "them as they are"
        ),
    ]


def test_a_suite_of_promptfoo_goes_to_agentv_4(run):
    code, written, said = run(PROMPTFOO, "agentv-4", name="promptfooconfig.yaml")
    assert (code, written["tests"]) == (
        0,
        [
            {
                "id": "tower",
                "vars": {"article": "Finished in 1889."},
                "execution": {"threshold": 0.5},
                "input": "Summarise: {{ article }}",
                "assertions": [
                    {"type": "icontains", "value": "{{", "negate": True},
                    {"type": "latency", "threshold": 500, "name": "fast"},
                    {
                        "type": "rubrics",
                        "criteria": [{"id": "rubric-1", "outcome": "Names the year", "weight": 1, "required": False}],
                    },
                ],
            },
            {
                "id": "tests/1",
                "vars": {"article": "Nothing."},
                "input": "Summarise: {{ article }}",
                "assertions": [{"type": "regex", "value": "^N"}],
            },
        ],
    )
    assert said[-3:] == [
        "2:12: lost: `providers`: AgentV 4 has no field for it",
        "11:9: lost: the assertion `contains`: it has a template, which its system fills in, and AgentV 4 does not",
        "12:5: lost: that every assertion of `tests/1` must pass: AgentV 4 takes their average",
    ]


def test_our_own_suite_keeps_everything(run):
    code, written, said = run(AGENTV, "rubric", "--strict")
    before = YAML(typ="safe").load(AGENTV)
    assert (code, said, list(written)) == (0, [], list(before))
    for ours, theirs in zip(written["tests"], before["tests"], strict=True):
        others = [each for each in theirs.pop("assertions") if isinstance(each, dict)]
        ours.pop("rubrics", None)
        assert ours == {**theirs, "evaluators": others}


CHECKS = [
    ({"type": "contains", "value": "a"}, True),
    ({"type": "contains-any", "value": ["a", "b"]}, True),
    ({"type": "contains-any", "value": "a, b"}, False),
    ({"type": "contains", "value": ""}, False),
    ({"type": "regex", "value": "^a"}, True),
    ({"type": "regex", "value": "^a", "flags": "i"}, False),
    ({"type": "is-json"}, True),
    ({"type": "is-json", "value": {"type": "object"}}, False),
    ({"type": "latency", "threshold": 5}, True),
    ({"type": "latency", "threshold": "5"}, False),
    ({"type": "equals", "value": "a"}, False),
    ({"type": "ends-with", "value": "a"}, False),
    ({"type": "contains", "value": "file://a.txt"}, False),
    ({"type": "contains", "value": "${{ HOME }}"}, False),
    ({"type": "similar", "value": "a"}, False),
    ({"value": "a"}, False),
]


@pytest.mark.parametrize(("check", "is_same"), CHECKS)
def test_an_assertion_is_written_if_it_means_the_same_else_listed(run, check, is_same):
    case = {"id": "a", "input": "x", "assertions": [{"type": "rubrics", "criteria": ["Says why"]}, check]}
    code, written, said = run(json.dumps({"tests": [case]}), "promptfoo", name="suite.json")
    assert (code, [each for each in written["tests"][0]["assert"] if each == check]) == (0, [check] * is_same)
    assert any("the gate" not in line and "lost: " in line for line in said) != is_same


def test_files_and_several_values_of_promptfoo_are_listed(run):
    text = PROMPTFOO.replace("{article: Nothing.}", "{article: file://a.txt, other: [a, b]}")
    _, written, said = run(text, "agentv-5", name="promptfooconfig.yaml")
    assert "vars" not in written["tests"][1]
    assert [line for line in said if ": it is " in line] == [
        "12:21: lost: `article`: it is a file, which promptfoo reads in its place, and AgentV 5 does not",
        (
            "12:42: lost: `other`: it is a list, for which promptfoo runs the case once for each value, and AgentV 5 "
            "does not"
        ),
    ]


def test_strict_refuses_a_case_that_would_be_lost(run):
    assert run(AGENTV, "deepeval", "--strict")[:2] == (1, None)


def test_one_rubric_of_a_suite_is_written_without_the_suite(run):
    code, written, said = run(AGENTV, "rubric", "--rubric", "window")
    assert (code, list(written), said) == (0, ["rubrics"], [])


word = st.text(st.sampled_from("ab{}% #\"'\\$\n:-é"), min_size=1, max_size=12).map(lambda text: f"x{text}x")
messages = st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]), "content": word}), min_size=1)
kept = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["contains", "icontains", "regex"]), "value": word}),
    st.fixed_dictionaries({"type": st.just("contains-all"), "value": st.lists(word, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"type": st.just("cost"), "budget": st.integers(0, 9)}),
    st.fixed_dictionaries({"type": st.just("is-json"), "weight": st.integers(1, 3), "name": st.just("json")}),
    st.fixed_dictionaries({"type": st.just("latency"), "threshold": st.integers(0, 9), "negate": st.just(value=True)}),
)
cases = st.fixed_dictionaries(
    {"input": word | messages, "assertions": st.lists(kept, max_size=4)},
    optional={"metadata": st.fixed_dictionaries({"team": word}), "execution": st.just({"threshold": 0.5})},
)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(cases, min_size=1, max_size=3))
def test_what_agentv_and_promptfoo_both_have_comes_back(run, drawn):
    rubric = {"type": "rubrics", "name": "r", "criteria": [{"id": "a", "outcome": "Says why", "required": False}]}
    tests = [{"id": f"c{n}", **case, "assertions": [*case["assertions"], rubric]} for n, case in enumerate(drawn)]
    suite = {"description": "All", "execution": {"threshold": 0.7}, "tests": tests}
    _, there, _ = run(json.dumps(suite), "promptfoo", name="suite.json")
    code, back, _ = run(json.dumps(there), "agentv-4", name="promptfooconfig.json")
    for test in [*back["tests"], *suite["tests"]]:
        assert test["assertions"].pop()["type"] == "rubrics"  # promptfoo has it as a text for the judge
    assert (code, back) == (0, suite)


def as_agentv_4(entries):
    """Criteria in the words of AgentV 4; weights, which are texts here, as numbers."""
    found = []
    for entry in entries:
        written = {{"expected_outcome": "outcome"}.get(name, name): value for name, value in entry.items()}
        if "weight" in entry:
            written["weight"] = float(entry["weight"])
        if bands := entry.get("score_ranges"):
            written["score_ranges"] = [
                {"score_range": band["score_range"], "outcome": band["expected_outcome"]} for band in bands
            ]
        else:
            written["required"] = "required_min_score" in written
            written.pop("required_min_score", None)
        found.append(written)
    return found


graders = st.one_of(SHAPES["checklist"], SHAPES["score_ranges"]).map(
    lambda entries: {"type": "rubrics", "criteria": as_agentv_4(entries)}
)
others = st.sampled_from(
    [
        "Says why",
        {"type": "llm-grader", "prompt": "Is {{ output }} right?"},
        {"type": "code-grader", "command": ["python", "check.py"]},
        {"type": "composite", "assertions": [{"name": "a", "type": "contains", "value": "x"}]},
        {"type": "tool-trajectory", "mode": "any_order", "minimums": {"search": 1}},
        {"type": "field-accuracy", "fields": [{"path": "a", "match": "exact"}]},
        {"type": "equals", "value": "{{ x }} {% if"},
        {"include": "common"},
    ]
)
mixed_cases = st.fixed_dictionaries(
    {"input": word | messages, "assertions": st.lists(graders | kept | others, min_size=1, max_size=4)},
    optional={
        "criteria": word,
        "expected_output": word,
        "vars": st.fixed_dictionaries({"thing": word}),
        "execution": st.sampled_from([{"threshold": 0.5}, {"target": "x"}]),
        "turns": st.just([{"input": "y", "assertions": ["Says how"]}]),
        "workspace": st.just({"template": "a"}),
    },
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(mixed_cases, min_size=1, max_size=3), rubric=graders)
def test_whatever_is_written_for_agentv_5_loads_there(run, drawn, rubric):
    tests = [{"id": f"c{number}", **case} for number, case in enumerate(drawn)]
    tests.append({"id": "last", "input": "x", "assertions": [rubric]})
    suite = {"target": "x", "execution": {"threshold": 0.7, "workers": 2}, "tests": tests}
    code, written, _ = run(json.dumps(suite), "agentv-5", name="suite.json")
    assert (code, list(faults(written or {"tests": []}))) == (0, [])


@pytest.mark.parametrize("path", sorted(FOLDER.glob("agentv/*.yaml")), ids=lambda path: path.name)
def test_whole_suites_are_written_for_agentv_5_so_that_they_load_there(run, path):
    code, written, said = run(path.read_text("utf-8"), "agentv-5", name=path.name)
    assert (bool(written), list(faults(written or {"tests": []}))) == (code == 0, []), said


@pytest.mark.parametrize("target", ["agentv-4", "agentv-5", "promptfoo", "rubric"])
def test_criteria_for_every_test_are_listed(run, target):
    text = "assertions: [{type: rubrics, criteria: [Is polite]}]\ntests:\n  - {id: a, input: x, assertions: [It]}\n"
    _, _, said = run(text, target)
    (line,) = [line for line in said if "every test" in line]
    assert line.startswith("1:13: lost: that the criteria in `assertions` count in every test")
    assert run(text, target, "--strict")[0] == 1


def test_a_gate_of_an_assertion_is_a_lowest_score_in_agentv_5(run):
    graders = "{type: rubrics, required: 0.7, criteria: [Says why]}, {type: contains, value: x, required: 0.7}"
    text = f"tests: [{{id: a, input: x, assertions: [{graders}]}}]\n"
    gates = [(each["required"], each["min_score"]) for each in run(text, "agentv-5")[1]["tests"][0]["assert"]]
    assert gates == [(True, 0.7)] * 2
    kept = [(each["required"], "min_score" in each) for each in run(text, "agentv-4")[1]["tests"][0]["assertions"]]
    assert kept == [(0.7, False)] * 2


@pytest.mark.parametrize("target", ["agentv-4", "agentv-5"])
def test_a_name_that_agentv_refuses_is_lost(run, target):
    _, written, said = run(AGENTV.replace("refunds", "Refunds Suite"), target)
    assert ("name" in written, [line[:17] for line in said if "`name`" in line]) == (False, ["1:7: lost: `name`"])
    assert run(AGENTV, target)[1]["name"] == "refunds"


SET = """\
prompts: ["{{ q }}"]
providers: [echo]
tests:
  - description: a
    vars: {q: x}
    assert:
      - type: assert-set
        threshold: 0.5
        weight: 3
        metric: both
        assert:
          - {type: llm-rubric, value: Names the year, weight: 2}
          - {type: contains, value: z}
          - type: assert-set
            assert: [{type: llm-rubric, value: Names the place}]
      - {type: llm-rubric, value: Is short}
"""


def test_a_set_of_assertions_stays_one_where_the_target_has_sets(run):
    _, written, said = run(SET, "promptfoo", name="promptfooconfig.yaml")
    (test,) = written["tests"]
    assert json.dumps(test).count("Judge the output") == 3
    inner = test["assert"][0]["assert"]
    assert [each.pop("value")[-60:] != "" for each in (inner[0], inner[2]["assert"][0], test["assert"][1])] == [
        True
    ] * 3
    assert test == {
        "description": "a",
        "vars": {"q": "x"},
        "assert": [
            {
                "type": "assert-set",
                "threshold": 0.5,
                "weight": 3,
                "metric": "both",
                "assert": [
                    {"type": "llm-rubric", "weight": 2, "threshold": 0.5},
                    {"type": "contains", "value": "z"},
                    {"type": "assert-set", "assert": [{"type": "llm-rubric", "threshold": 0.8}]},
                ],
            },
            {"type": "llm-rubric", "threshold": 0.8},
        ],
    }
    assert [line for line in said if "grader" not in line] == []


@pytest.mark.parametrize("target", ["agentv-4", "agentv-5", "rubric"])
def test_what_a_lost_set_changes_in_the_score_is_listed(run, target):
    _, written, said = run(SET, target, name="promptfooconfig.yaml")
    title = {"agentv-4": "AgentV 4", "agentv-5": "AgentV 5", "rubric": "rubric-lint"}[target]
    assert [line for line in said if "of assertions" in line] == [
        (
            f"7:9: lost: the set of assertions: {title} counts each of them by itself, so the score may change (also "
            "in line 14)"
        ),
        f"8:20: lost: the threshold 0.5 of the set of assertions: {title} has no sets",
        f"9:17: lost: the weight 3 of the set of assertions: {title} has no sets",
        f"10:17: lost: the metric both of the set of assertions: {title} has no sets",
    ]
    assert '{"type": "contains", "value": "z"}' in json.dumps(written)


LINES = """\
{"id": "one", "input": "x", "rubrics": [{"id": "why", "expected_outcome": "Says why"}]}
{"id": "two", "input": "y", "assertions": [{"type": "contains", "value": "z"}]}
{"note": "nothing"}
[1, 2]
"text"

{"rubrics": [{"id": "why", "expected_outcome": "Says why"}]}
"""


def test_a_record_without_rubrics_is_a_case_or_listed(run):
    code, written, said = run(LINES, "agentv-4", name="suite.jsonl")
    read = [(test["id"], test.get("input"), [each["type"] for each in test["assertions"]]) for test in written["tests"]]
    assert (code, read) == (
        0, [("one", "x", ["rubrics"]), ("two", "y", ["contains"]), ("5", "", ["rubrics"])]
    )  # fmt: skip
    assert said == [
        "3:10: lost: `note`: AgentV 4 has no field for it",
        "4:2: lost: an item: AgentV 4 has no field for it (also in line 4)",
        "5:1: lost: a document without rubrics and cases: AgentV 4 has no place for it",
        "rubric-lint: to do: `input`, the question, of 5: the file has none, so it is left empty",
    ]


def test_a_document_without_rubrics_is_a_case_or_listed(run):
    documents = [json.loads(line) for line in LINES.splitlines() if line]
    text = "---\n".join(f"{json.dumps(each)}\n" for each in documents)
    code, written, said = run(text, "rubric", name="suite.yaml")
    rubrics = [{"id": "why", "expected_outcome": "Says why"}]
    assert (code, written) == (
        0,
        {
            "note": "nothing",
            "tests": [
                {"id": "one", "input": "x", "rubrics": rubrics},
                {"id": "two", "input": "y", "evaluators": [{"type": "contains", "value": "z"}]},
                {"id": "5", "rubrics": rubrics},
            ],
        },
    )
    assert said[-1] == "9:1: lost: a document without rubrics and cases: rubric-lint has no place for it"


def test_a_record_of_another_system_without_rubrics_is_listed(run):
    text = """\
{"prompt_id": "p1", "rubrics": [{"criterion": "States the dose", "points": 5}]}
{"prompt_id": "p2"}
"""
    code, written, said = run(text, "rubric", name="data.jsonl")
    assert (code, [each["expected_outcome"] for each in written["rubrics"]]) == (0, ["States the dose"])
    assert said == [
        "1:15: lost: `prompt_id`: rubric-lint has no field for it",
        "2:1: lost: a document without rubrics and cases: rubric-lint has no place for it",
    ]


EVALUATORS = """\
tests:
  - id: a
    input: q
    evaluators:
      - {name: tone, weight: 2, rubrics: [Says why]}
  - id: b
    input: q
    rubrics: [Says who]
    evaluators: [{name: facts, rubrics: [Says when]}]
"""


def test_an_evaluator_of_ours_keeps_its_name_and_weight(run):
    code, written, said = run(EVALUATORS, "rubric", "--strict")
    assert (code, said, written) == (0, [], YAML(typ="safe").load(EVALUATORS))


def test_a_rubric_file_has_no_name_and_weight_of_an_evaluator(run):
    code, written, said = run(EVALUATORS, "rubric", "--rubric", "a")
    assert (code, written) == (0, {"rubrics": ["Says why"]})
    assert said == [
        "5:16: lost: `name` of an evaluator: a rubric file has no field for it",
        "5:30: lost: `weight` of an evaluator: a rubric file has no field for it",
    ]


TEXTS = """\
tests:
  - id: window
    input: "Can I return {{ thing }}? | Thanks"
    expected_output: Yes, {{ other }}
    vars: {thing: a lamp}
    rubrics: [{id: why, score_range: [0, 10], expected_outcome: Says why}]
  - id: chat
    input: [{role: user, content: Hi}]
    rubrics: [{id: why, score_range: [0, 10], expected_outcome: Says why}]
""".replace("id: why, ", "")


def test_lightspeed_gets_the_questions_of_a_suite_as_evaluation_data(run):
    code, written, said = run(TEXTS, "lightspeed")
    turns = [(each["conversation_group_id"], *each["turns"]) for each in written]
    metadata = [turn.pop("turn_metrics_metadata") for _, turn in turns]
    assert (code, turns) == (
        0,
        [
            (
                "window",
                {
                    "turn_id": "1",
                    "query": "Can I return a lamp? | Thanks",
                    "expected_response": "Yes, {{ other }}",
                    "turn_metrics": ["geval:window"],
                },
            ),
            ("chat", {"turn_id": "1", "query": "", "turn_metrics": ["geval:chat"]}),
        ],
    )
    assert [each.popitem()[1]["threshold"] for each in metadata] == [0.8, 0.8]
    assert said == [
        "8:12: lost: `input`: it is not one plain text",
        "rubric-lint: to do: `query`, the question, of chat: it is not one plain text, so it is left empty",
    ]


def test_markdown_shows_the_questions_of_a_suite_and_import_reads_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.eval.yaml").write_text(TEXTS, "utf-8")
    options = ["suite.eval.yaml", "--to", "markdown", "-o", "suite.md"]
    done = CliRunner().invoke(convert, options, standalone_mode=False)
    assert done.stderr.splitlines() == ["rubric-lint: suite.eval.yaml:8:12: lost: `input`: it is not one plain text"]
    imported = import_source("suite.md", (tmp_path / "suite.md").read_bytes())
    rubrics = [{"score_range": [0, 10], "expected_outcome": "Says why"}]
    assert YAML(typ="safe").load(imported.text) == {
        "tests": [
            {
                "id": "window",
                "input": "Can I return a lamp? | Thanks",
                "expected_output": "Yes, {{ other }}",
                "rubrics": rubrics,
            },
            {"id": "chat", "rubrics": rubrics},
        ]
    }

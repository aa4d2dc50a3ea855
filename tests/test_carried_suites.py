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

from rubric_lint.cli.convert import convert

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

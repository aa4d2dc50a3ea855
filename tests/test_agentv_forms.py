"""Every form in which AgentV 4 and 5 read criteria, and what they skip, drop or refuse: findings with their reason."""

import json
from textwrap import dedent

import pytest
from cases import read_cases

from rubric_lint.fix import fix
from rubric_lint.lint.engine import examine_file
from rubric_lint.scoring.loading import load_rubrics

TABLES = read_cases(__file__)


FIVE = """\
    prompts: ["{{ input }}"]
    tests:
      - id: one
        vars: {input: x}
        assert:
          - type: llm-rubric
            value: VALUE
    """
FOUR = """\
    tests:
      - id: one
        input: x
        criteria: It
        assertions:
          - type: rubrics
            criteria: VALUE
    """
BANDS = "{0: States another period, 8: States the period}"


def read(text, name="a.yaml"):
    """The rubrics of a text, each with its dialect and its criteria: id, text, weight and gate; and the findings."""
    found = examine_file(name, dedent(text).encode())
    rubrics = [
        (rubric.dialect, [(each.id, each.outcome, str(each.weight), each.gate) for each in rubric.entries])
        for _, rubric in found.rubrics
    ]
    return rubrics, [f"{each.rule}: {each.message}" for each in found.result.findings]


# The forms of `value` in AgentV 5.
VALUES = {
    "a list of all kinds": (
        "[Says one, {id: b, outcome: Says two, required: false, weight: 2}, {id: c, criteria: Says three}]",
        [("rubric-1", "Says one", "1", 10), ("b", "Says two", "2", None), ("c", "Says three", "1", 10)],
    ),
    "a mapping": ("{id: m, outcome: Says why, required: false}", [("m", "Says why", "1", None)]),
    "a mapping with bands": (f"{{id: m, min_score: 0.8, score_ranges: {BANDS}}}", [("m", None, "1", 8)]),
    "a string with bands beside it": (
        f"States it\n            weight: 2\n            min_score: 0.8\n            score_ranges: {BANDS}",
        [("rubric-1", "States it", "2", 8)],
    ),
}


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES)
def test_the_forms_of_value_in_agentv_5(value, expected):
    assert read(FIVE.replace("VALUE", value)) == ([("agentv-a7", expected)], [])


@pytest.mark.parametrize("kind", ["llm-rubric", "agent-rubric"])
def test_a_gate_of_a_mapping_is_at_its_place(kind):
    text = dedent(FIVE).replace("VALUE", "{id: m, outcome: A is said, min_score: 7}").replace("llm-rubric", kind)
    found = [(each.rule, each.span.start) for each in examine_file("a.yaml", text.encode()).result.findings]
    assert ("bounds", text.index("7}")) in found


GRADERS = {
    "texts in `criteria`": ("[{id: a, criteria: Says why}]", "agentv-a3", [("a", "Says why", "1", 10)]),
    "one of them alone": (
        "[{criteria: Says why, required: false}]",
        "agentv-a3",
        [("rubric-1", "Says why", "1", None)],
    ),
    "an operator beside bands": (
        f"[{{id: a, operator: contradiction, score_ranges: {BANDS}}}]",
        "agentv-a6",
        [("a", None, "1", None)],
    ),
}


@pytest.mark.parametrize("kind", ["rubric", "llm-grader", "llm_grader"])
@pytest.mark.parametrize(("value", "dialect", "expected"), GRADERS.values(), ids=GRADERS)
def test_the_graders_of_agentv_4_have_the_same_forms(kind, value, dialect, expected):
    text = FOUR.replace("type: rubrics", f"type: {kind}").replace("criteria: VALUE", f"rubrics: {value}")
    rubrics, findings = read(text)
    assert (rubrics, [each for each in findings if not each.startswith("missing-id")]) == ([(dialect, expected)], [])


# Places of plain strings, with the ids and the gates that they have there.
ONE_TEXT = [("rubric-1", "Says why", "1", 10)]
PLACES = TABLES["PLACES"]


@pytest.mark.parametrize(("text", "dialect"), PLACES.values(), ids=PLACES)
def test_strings_are_criteria_wherever_agentv_reads_them(text, dialect):
    rubrics, findings = read(text)
    assert ((dialect, ONE_TEXT) in rubrics, findings) == (True, [])


def test_strings_of_a_turn_have_other_ids_and_no_gate():
    text = "tests: [{id: a, input: x, criteria: It, turns: [{input: y, assertions: [Says why, Says how]}]}]\n"
    criteria = [("criterion-1", "Says why", "1", None), ("criterion-2", "Says how", "1", None)]
    assert read(text) == ([("agentv-a4", criteria)], [])


def test_each_record_of_json_lines_is_a_case():
    text = (
        '{"id": "one", "input": "x", "criteria": "It", "assert": ["Says why"]}\n'
        '{"id": "two", "input": "x", "criteria": "It", "rubrics": ["Says how"]}\n'
    )
    rubrics, findings = read(text, "cases.jsonl")
    assert ([criteria for _, criteria in rubrics], findings) == ([ONE_TEXT, [("rubric-1", "Says how", "1", 10)]], [])


IN_TURNS = "turns: [{input: y, assertions: [{type: rubrics, criteria: [{id: a, outcome: Says why}]}]}]"
LOST = {
    "criteria alone": (
        FIVE.replace("VALUE", "[{criteria: Says why}, {criteria: Says how}]"),
        (7, "lost-rubric.agentv-criteria-alone"),
    ),
    "a mapping whose id is dropped": (
        FIVE.replace("VALUE", "{id: m, outcome: Says why, criteria: Says how}"),
        (7, "lost-rubric.agentv-one-criterion"),
    ),
    "bands beside a list": (
        FIVE.replace("VALUE", f"[{{id: a, outcome: Says why}}]\n            score_ranges: {BANDS}"),
        (8, "lost-rubric.agentv-score-ranges"),
    ),
    "an empty list alone": (FIVE.replace("VALUE", "[]"), (7, "lost-rubric.agentv-empty")),
    "a type of AgentV 4 in AgentV 5": (
        FIVE.replace("llm-rubric", "rubrics").replace("value: VALUE", "criteria: [{id: a, outcome: Says why}]"),
        (6, "lost-rubric.agentv-5-type"),
    ),
    "a list of AgentV 4 in AgentV 5": (
        FIVE.replace("assert:", "assertions:").replace("VALUE", "[{id: a, outcome: Says why}]"),
        (5, "lost-rubric.agentv-5-list"),
    ),
    "strings in a grader of AgentV 4": (
        FOUR.replace("rubrics", "llm-grader").replace(
            "criteria: VALUE", "rubrics: [Says why, {id: a, outcome: Says how}]"
        ),
        (7, "lost-rubric.agentv-4-string"),
    ),
    "a word that AgentV does not read in the rubrics of a test": (
        "tests: [{id: a, input: x, rubrics: [{id: b, outcome: Says why}, {id: c, criteria: Says how}]}]\n",
        (1, "lost-rubric.agentv-4-dropped"),
    ),
    "a judge that AgentV 4 skips": (
        FOUR.replace("rubrics", "llm_judge").replace(
            "criteria: VALUE", "rubrics: [{id: a, operator: correctness, outcome: Says how}]"
        ),
        (6, "lost-rubric.agentv-4-type"),
    ),
    "the second list of a test": (
        "tests: [{id: a, input: x, criteria: It, assertions: [Says why], evaluators: [Says how]}]\n",
        (1, "lost-rubric.agentv-4-second-list"),
    ),
    "a list that AgentV 4 does not read in a suite": (
        "evaluators: [{type: rubrics, criteria: [Says why]}]\ntests: [{id: a, input: x, criteria: It}]\n",
        (1, "lost-rubric.agentv-4-evaluators"),
    ),
    "assertions of a turn": (
        f"tests: [{{id: a, input: x, criteria: It, {IN_TURNS}}}]\n",
        (1, "lost-rubric.agentv-turn"),
    ),
    "strings in a composite": (
        "tests: [{id: a, input: x, criteria: It, assertions: [Says why, {type: composite, assertions: [It]}]}]\n",
        (1, "lost-rubric.agentv-4-composite"),
    ),
    "a tag without its end": (FIVE.replace("VALUE", "['{% if x %}Says why']"), (7, "lost-rubric.agentv-template")),
    "a tag without its end, in a description": (
        FIVE.replace("VALUE", "[Says why]").replace("vars:", "description: '{% if x %}'\n        vars:"),
        (4, "lost-rubric.agentv-template"),
    ),
    "a tag without its end, in an assertion that no model judges": (
        FIVE.replace("VALUE", "[Says why]") + "      - {type: contains, value: 'a {{'}\n",
        (8, "lost-rubric.agentv-template"),
    ),
    "a variable that the test does not have": (
        FIVE.replace("VALUE", "[Says why, {id: a, outcome: 'Names {{ day }}'}]"),
        (7, "lost-rubric.agentv-variable"),
    ),
    "a word of earlier releases": (
        FIVE.replace("VALUE", "[{id: a, expected_outcome: Says why}, {id: b, outcome: Says how}]"),
        (7, "unknown-field.misspelt"),
    ),
    "a gate of a checklist": (
        FIVE.replace("VALUE", "[{id: a, outcome: Says why, min_score: 0.5}]"),
        (7, "idle-gate.not-read"),
    ),
    "a gate of bands in AgentV 5": (
        FIVE.replace("VALUE", f"[{{id: a, required: true, score_ranges: {BANDS}}}]"),
        (7, "idle-gate.not-read"),
    ),
}


@pytest.mark.parametrize(("text", "expected"), LOST.values(), ids=LOST)
def test_what_agentv_skips_or_refuses_is_a_finding_with_its_reason(text, expected):
    result = examine_file("a.yaml", dedent(text).encode()).result
    found = [(result.source.position(each.span.start).line, each.code) for each in result.findings]
    assert found == [expected]


@pytest.mark.parametrize("name", ["criteria alone", "a list of AgentV 4 in AgentV 5", "a judge that AgentV 4 skips"])
def test_a_finding_has_the_place_of_what_is_lost(name):
    text = dedent(LOST[name][0])
    (finding,) = examine_file("a.yaml", text.encode()).result.findings
    start, end = finding.span
    assert text[start:end] in {"criteria", "assertions", "llm_judge"}


REFUSED = {
    "graders of a suite": ("graders: [{name: x}]", "Says why", (1, "`graders` of a suite")),
    "a strategy of repetitions": (
        "evaluate_options: {repeat: {count: 3}}",
        "Says why",
        (1, "`evaluate_options.repeat` of a suite"),
    ),
    "preprocessors": ("", "{type: contains, value: x, preprocessors: []}", (5, "`preprocessors` of `contains`")),
    "an item of a rubric": ("", "{type: llm-rubric, value: [x], rubric_item: y}", (5, "`rubric_item` of `llm-rubric`")),
    "a type of later": ("", "{type: select-best, value: x}", (5, "`type: select-best`")),
    "a threshold of a test": ("", "x]\n    threshold: 0.9\n    metadata: [", (6, "`threshold` of a test")),
    "bands for an agent": (
        "",
        f"{{type: agent-rubric, value: [{{id: a, min_score: 0.8, score_ranges: {BANDS}}}]}}",
        (5, "`value` of `agent-rubric`"),
    ),
}


@pytest.mark.parametrize(("top", "assertion", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_agentv_5_refuses_or_never_reads_is_listed(top, assertion, expected):
    text = f"{top}\nprompts: ['{{{{ input }}}}']\ntests:\n  - id: one\n    assert: [{assertion}]\n"
    unread = examine_file("a.eval.yaml", text.encode()).result.unread
    line, beginning = expected
    assert [each.line for each in unread if each.reason.startswith(f"{beginning}: ")] == [line]
    assert len(unread) == 1


def test_all_rubrics_of_a_test_have_names_of_their_own():
    scored = f"{{type: llm-rubric, value: States it, score_ranges: {BANDS}}}"
    text = f"tests: [{{id: one, vars: {{input: x}}, assert: [Says why, {scored}, {scored}]}}]"
    assert [*load_rubrics("a.eval.yaml", text.encode())] == ["one", "one/assert/1", "one/assert/2"]


def test_no_gate_holds_on_the_bands_that_an_agent_does_not_see():
    value = f"[{{id: a, min_score: 0.8, score_ranges: {BANDS}}}]"
    ((_, criteria),) = read(FIVE.replace("llm-rubric", "agent-rubric").replace("VALUE", value))[0]
    assert criteria == [("a", None, "1", None)]


def test_a_name_in_a_prompt_is_gone_before_its_judge_sees_it():
    text = FIVE.replace("VALUE", "[Says why]\n            prompt: Judge {{ output }} of {{ input }}")
    message = "AgentV 5 writes nothing in place of `output`, which is not in `vars`; add it there, or escape the text"
    assert read(text)[1] == [f"lost-rubric: {message}"]
    assert read(text.replace("{{ output }}", '{{ "{{" }} output }}'))[1] == []


def test_a_band_without_an_outcome_is_a_finding_at_its_place():
    bands = "[{score_range: [0, 7]}, {score_range: [8, 10], outcome: States the period}]"
    grader = f"{{type: llm-rubric, value: {{id: a, score_ranges: {bands}}}}}"
    text = f"tests: [{{id: one, vars: {{input: x}}, assert: [{grader}]}}]"
    message = "criterion `a`: missing field `outcome`: what an observer sees in an answer that earns these scores"
    (found,) = (each for each in examine_file("a.eval.yaml", text.encode()).result.findings if each.rule == "schema")
    assert (found.message, text[found.span.start : found.span.end]) == (message, "score_range")


RENDERED = (
    "{{ input }} {{ day }}", "{{ output }}", "{{ env.HOME }}", "{{ other | upper }}", '{{ "{%" }} if x', "{# why #}",
    "{% if day %}Names it{% endif %}", "{% set x = 1 %}{{ x }}", "{% for x in day %}{{ x }}{% endfor %}",
)  # fmt: skip


@pytest.mark.parametrize("text", RENDERED)
def test_templates_that_render_are_left_alone(text):
    suite = FIVE.replace("VALUE", f"[{json.dumps('Says it. ' + text)}]").replace("{input: x}", "{input: x, day: y}")
    assert read(suite)[1] == []


def test_templates_are_texts_in_a_test_without_variables():
    suite = FIVE.replace("VALUE", "['Says {% if x %} and {{ day }}']").replace("vars: {input: x}", "prompts: [x]")
    assert read(suite)[1] == []


def test_an_escaped_template_is_what_the_judge_sees():
    text = dedent(FIVE).replace("VALUE", "['Says {% if x %}']")
    fixed = fix("a.yaml", text.encode(), unsafe=True)
    expected = text.replace("{% if", '{{ "{%" }} if')
    assert (fixed.text, fixed.result.findings) == (expected, ())


SILENT = TABLES["SILENT"]


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_files_of_other_tools_that_look_alike_are_not_taken_for_agentv(text):
    rubrics, findings = read(text)
    assert ({dialect for dialect, _ in rubrics} <= {"promptfoo"}, findings) == (True, [])

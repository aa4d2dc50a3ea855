"""Every form in which AgentV 4 and 5 read criteria, and what they skip, drop or refuse: findings with their reason."""

import json
from textwrap import dedent

import pytest
from cases import read_cases
from found import marked, placed

from rubric_lint.lint.engine import examine_file
from rubric_lint.lint.fix import fix
from rubric_lint.rules import BY_NAME
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
        (rubric.dialect, [(entry.id, entry.outcome, str(entry.weight), entry.gate) for entry in rubric.entries])
        for _, rubric in found.rubrics
    ]
    return rubrics, [f"{finding.rule}: {finding.message}" for finding in found.result.findings]


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
    assert (rubrics, [finding for finding in findings if not finding.startswith("missing-id")]) == (
        [(dialect, expected)],
        [],
    )


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


LOST = TABLES["LOST"]


@pytest.mark.parametrize("changes", LOST.values(), ids=LOST)
def test_what_agentv_skips_or_refuses_is_a_finding_with_its_reason_at_its_place(changes, said):
    text = {"FIVE": FIVE, "FOUR": FOUR, "TEXT": "TEXT"}[changes["in"]]
    for old, new in changes.items():
        text = text.replace(old, new) if old != "in" else text
    result = examine_file("a.yaml", dedent(text).encode()).result
    for (code, line, values), (_, mark) in zip(placed(result), marked(result), strict=True):
        said(f"{line} {code}", [f"{name}: {value}" for name, value in values.items()], mark)


REFUSED = {
    "graders of a suite": ("graders: [{name: x}]", "Says why"),
    "a strategy of repetitions": ("evaluate_options: {repeat: {count: 3}}", "Says why"),
    "preprocessors": ("", "{type: contains, value: x, preprocessors: []}"),
    "an item of a rubric": ("", "{type: llm-rubric, value: [x], rubric_item: y}"),
    "a type of later": ("", "{type: select-best, value: x}"),
    "a threshold of a test": ("", "x]\n    threshold: 0.9\n    metadata: ["),
    "bands for an agent": ("", f"{{type: agent-rubric, value: [{{id: a, min_score: 0.8, score_ranges: {BANDS}}}]}}"),
}


@pytest.mark.parametrize(("top", "assertion"), REFUSED.values(), ids=REFUSED)
def test_what_agentv_5_refuses_or_never_reads_is_listed(top, assertion, said):
    text = f"{top}\nprompts: ['{{{{ input }}}}']\ntests:\n  - id: one\n    assert: [{assertion}]\n"
    said([f"{each.line} {each.reason}" for each in examine_file("a.eval.yaml", text.encode()).result.unread])


def test_all_rubrics_of_a_test_have_names_of_their_own():
    scored = f"{{type: llm-rubric, value: States it, score_ranges: {BANDS}}}"
    text = f"tests: [{{id: one, vars: {{input: x}}, assert: [Says why, {scored}, {scored}]}}]"
    assert [*load_rubrics("a.eval.yaml", text.encode())] == ["one", "one/assert/1", "one/assert/2"]


def test_no_gate_holds_on_the_bands_that_an_agent_does_not_see():
    value = f"[{{id: a, min_score: 0.8, score_ranges: {BANDS}}}]"
    ((_, criteria),) = read(FIVE.replace("llm-rubric", "agent-rubric").replace("VALUE", value))[0]
    assert criteria == [("a", None, "1", None)]


def test_a_name_in_a_prompt_that_is_escaped_stays():
    text = FIVE.replace("VALUE", '[Says why]\n            prompt: Judge {{ "{{" }} output }} of {{ input }}')
    assert read(text)[1] == []


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


OF_FOUR = """\
ABOVE
tests:
- {id: a, input: x, criteria: It, execution: {INSIDE}, assertions: [{type: rubrics, criteria: [{outcome: Says why}]}]}
"""
OF_FIVE = """\
ABOVE
prompts: [x]
tests:
- {id: a, vars: {v: x}, INSIDE, assert: [{type: llm-rubric, value: [{outcome: Says why}]}]}
"""
OURS = """\
ABOVE
tests:
- {id: a, input: x, execution: {INSIDE}, rubrics: [{id: x, expected_outcome: Says why}]}
"""
OF_FOUR_WITH, OF_FIVE_WITH = (
    suite.replace("{", "{{").replace("}", "}}").replace(kind, f"{kind}, {{}}")
    for suite, kind in ((OF_FOUR, "type: rubrics"), (OF_FIVE, "type: llm-rubric"))
)
OURS_WITH = """\
ABOVE
cases:
- {{id: a, evaluators: [{{name: q, type: llm_judge, {}, rubrics: [{{id: x, expected_outcome: Says why}}]}}]}}
"""
# The suite, what is above its tests, what is in the test, and the pass mark.
PASS_MARKS = [
    (OF_FOUR, "", "", 0.8),
    (OF_FOUR, "execution: {threshold: 0.5}", "", 0.5),
    (OF_FOUR, "execution: {threshold: 0.9}", "threshold: 0.5", 0.5),
    (OF_FOUR, "execution: {threshold: 0}", "", 0),
    (OF_FIVE, "threshold: 0.5", "metadata: {}", 0.5),
    (OF_FIVE, "{threshold: 0.9, default_test: {threshold: 0.5}}", "metadata: {}", 0.5),
    (OF_FIVE, "threshold: 0.9", "execution: {threshold: 0.5}", 0.5),
    (OF_FIVE, "threshold: 0.9", "execution: {threshold: 0.7}, run: {threshold: 0.5}", 0.5),
    (OF_FOUR_WITH.format("required: 0.9"), "execution: {threshold: 0.5}", "", 0.9),
    (OF_FOUR_WITH.format("required: 0.3"), "execution: {threshold: 0.5}", "", 0.5),
    (OF_FOUR_WITH.format("required: true"), "execution: {threshold: 0.5}", "", 0.5),
    (OF_FOUR_WITH.format("min_score: 0.9"), "execution: {threshold: 0.5}", "", 0.5),
    (OF_FOUR_WITH.format("required: true, min_score: 0.9"), "", "", 0.9),
    (OF_FOUR_WITH.format("required: 0.7"), "", "", 0.8),
    (OF_FIVE_WITH.format("required: true, min_score: 0.9"), "threshold: 0.5", "metadata: {}", 0.9),
    (OF_FIVE_WITH.format("required: false, min_score: 0.9"), "threshold: 0.5", "metadata: {}", 0.5),
    (OURS_WITH.format("required: 0.9"), "", "", 0.9),
    (OURS_WITH.format("required: true"), "", "", 0.8),
    (OURS, "", "", 0.8),
    (OURS, "execution: {threshold: 0.5}", "", 0.5),
    (OURS, "execution: {threshold: 0.9}", "threshold: 0.5", 0.5),
]


@pytest.mark.parametrize(("suite", "above", "inside", "expected"), PASS_MARKS)
def test_the_threshold_of_a_test_is_its_pass_mark_where_its_release_reads_it(suite, above, inside, expected):
    above = "\n".join(above[1:-1].split(", ")) if above.startswith("{") else above
    text = suite.replace("ABOVE", above).replace("INSIDE", inside)
    (rubric,) = load_rubrics("a.eval.yaml", text.encode()).values()
    assert float(rubric.model.thresholds.pass_at) == expected


def test_a_turn_of_agentv_5_with_lists_under_several_names_is_judged_by_the_one_it_reads():
    turn = "turns: [{input: x, assertions: [Says bye],\n      assert: [Says hello]}]"
    found = examine_file("a.yaml", f"prompts: [a]\ntests:\n  - id: a\n    vars: {{q: Hi}}\n    {turn}\n".encode())
    assert [[each.outcome for each in rubric.entries] for _, rubric in found.rubrics] == [["Says hello"]]
    message = "AgentV 5 does not read `assertions` of a turn; join it with the `assert` of line 6"
    assert [each.message for each in found.result.findings] == [message]
    assert found.result.unread == ()


def test_a_second_list_of_a_suite_for_agentv_5_is_to_be_joined_with_the_one_it_reads():
    text = "prompts: ['{{ input }}']\nassert: [Says who]\nassertions: [Says when]\ntests: [{id: a, vars: {input: x}}]\n"
    rubrics, findings = read(text)
    assert [[each[1] for each in entries] for _, entries in rubrics] == [["Says who"]]
    assert findings == ["lost-rubric: AgentV 5 ignores `assertions`; join it with the `assert` of line 2"]


@pytest.mark.parametrize("prompts", ["", "prompts: ['{{ q }}']\n"])
def test_a_file_named_for_agentv_has_old_words_refused_with_and_without_prompts(prompts):
    value = "value: [{id: x, expected_outcome: Says hello}]"
    text = f"{prompts}tests:\n  - id: a\n    vars: {{q: Hi}}\n    assert:\n      - type: llm-rubric\n        {value}\n"
    rubrics, findings = read(text, "a.eval.yaml")
    message = "unknown-field: criterion `x`: unknown field `expected_outcome`; did you mean `outcome`?"
    assert ([dialect for dialect, _ in rubrics], findings) == (["agentv-a7"], [message])


JUDGED_IN_TURNS = {
    "a string": "Says hello",
    "strings": "[Says hello]",
    "a criterion": "{id: x, outcome: Says hello}",
    "criteria": "[{id: x, outcome: Says hello}]",
    "a file": "file://hello.md",
}


@pytest.mark.parametrize("value", JUDGED_IN_TURNS.values(), ids=JUDGED_IN_TURNS)
@pytest.mark.parametrize("before", ["", "prompts: [a]\n"])
@pytest.mark.parametrize("name", ["a.yaml", "a.eval.yaml"])
@pytest.mark.parametrize("more", ["", "\n          - Says bye"])
def test_a_mapping_among_the_criteria_of_a_turn_is_said_once_to_score_0(value, before, name, more):
    text = f"""\
{before}tests:
  - id: a
    turns:
      - input: x
        assert:
          - type: llm-rubric
            value: {value}{more}
"""
    result = examine_file(name, text.encode()).result
    place = (7 + len(before.splitlines()) - 1, 19)
    message = BY_NAME["lost-rubric"].write("agentv-turn", {})
    unread = [(miss.line, miss.column, miss.reason) for miss in result.unread]
    found = [(*result.source.position(finding.span.start)[:2], finding.message) for finding in result.findings]
    others = [miss for miss in unread if miss[2] != message and "name the file" not in miss[2]]
    assert ([miss for miss in [*unread, *found] if miss[2] == message], others) == ([(*place, message)], [])


STRINGS_IN_TURNS = {
    "no id": (
        "tests:\n  - turns: [{input: x, assert: [Says hello]}]\n  - {id: b, vars: {q: x}, assert: [Says bye]}\n",
        "a.eval.yaml",
        (2, 33),
        "AgentV skips a test without an `id`",
    ),
    "two lists": (
        "tests:\n  - id: a\n    turns: [{input: x, assert: [Says hello], assertions: [Says bye]}]\n",
        "a.eval.yaml",
        (3, 33),
        "AgentV reads only one list of a turn",
    ),
    "no sign of AgentV": (
        "tests:\n  - id: a\n    turns: [{input: x, assert: [Says hello]}]\n",
        "a.yaml",
        (3, 33),
        "name the file NAME.eval.yaml",
    ),
}


@pytest.mark.parametrize(("text", "name", "place", "reason"), STRINGS_IN_TURNS.values(), ids=STRINGS_IN_TURNS)
def test_strings_of_a_turn_that_are_not_read_are_near_misses_with_their_reason(text, name, place, reason):
    result = examine_file(name, text.encode()).result
    (unread,) = [miss for miss in result.unread if miss.reason.startswith("strings in `assert`")]
    assert ((unread.line, unread.column), reason in unread.reason) == (place, True)

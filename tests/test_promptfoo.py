"""Texts of promptfoo: which are rubrics, what they mean, and which scales in them leave no doubt."""

import pytest
from cases import read_cases
from exports import ISOLATED
from said import found

from rubric_lint.dialects.search.scales_in_text import find_scale
from rubric_lint.lint.engine import lint
from rubric_lint.scoring.grading import JudgeOutput
from rubric_lint.scoring.loading import load_models, load_rubrics

TABLES = read_cases(__file__)

HEAD = "providers: [echo]\ntests:\n  - vars: {q: x}\n"
NAME = "promptfooconfig.yaml"


def rubrics(text, name=NAME):
    found = load_models(name, text.encode(), ISOLATED._replace(claimed=False)).values()
    return [(each.rubric.path, [entry.outcome for entry in each.rubric.entries]) for each in found]


def findings(text):
    return [f"{found.rule} {found.pointer}" for found in lint(NAME, text.encode()).findings]


@pytest.mark.parametrize("kind", ["llm-rubric", "agent-rubric", "g-eval", "model-graded-closedqa", "not-llm-rubric"])
def test_texts_that_a_model_judges_are_a_checklist(kind):
    text = f"{HEAD}    assert:\n      - {{type: {kind}, value: Says why}}\n      - {{type: equals, value: x}}\n"
    assert rubrics(text) == [(("tests", 0, "assert"), ["Says why"])]


@pytest.mark.parametrize("kind", ["llm-rubric", "g-eval", "factuality"])
@pytest.mark.parametrize("value", ["5", "true", "1e400"])
def test_a_value_that_promptfoo_refuses_is_found(kind, value):
    result = lint(NAME, f"{HEAD}    assert: [{{type: {kind}, value: {value}}}]\n".encode())
    assert [(each.rule, result.source.slice(each.span)) for each in result.findings] == [("schema", value)]


@pytest.mark.parametrize(
    ("key", "kind", "told"),
    [
        (
            "asert",
            "llm-rubric",
            (4, 5, "`asert` is not read, so its assertions are not checked; did you mean `assert`?"),
        ),
        (
            *("assert", "not-llm-rubirc"),
            (
                4,
                21,
                "the type `not-llm-rubirc` is not known, so its `value` is not checked; did you mean `llm-rubric`?",
            ),
        ),
    ],
)
def test_a_misspelt_word_that_loses_a_text_is_told(key, kind, told):
    result = lint(NAME, f"{HEAD}    {key}: [{{type: {kind}, value: Says why}}]\n".encode())
    assert [(each.line, each.column, each.reason) for each in result.unread] == [told]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("- vars: {q: x}\n  assert: [{type: llm-rubric, value: Says why}]\n", (0, "assert")),
        ("defaultTest: {assert: [{type: llm-rubric, value: Says why}]}\n", ("defaultTest", "assert")),
        (
            "tests: [{assert: [{type: assert-set, threshold: 0.5, assert: [{type: llm-rubric, value: Says why}]}]}]\n",
            ("tests", 0, "assert", 0, "assert"),
        ),
    ],
)
def test_texts_are_found_wherever_promptfoo_has_assertions(text, path):
    assert rubrics(text) == [(path, ["Says why"])]


@pytest.mark.parametrize(
    "text",
    [
        "cases: [{assert: [{type: llm-rubric, value: Says why}]}]\n",
        "- {name: a, assert: [{type: llm-rubric, value: Says why}]}\n",
        "tests: [{assert: [{type: equals, value: Says why}]}]\n",
        "tests: [{assert: [{type: llm-rubric, value: file://rubric.txt}]}]\n",
        'tests: [{assert: [{type: llm-rubric, value: "{{ rubric }}"}]}]\n',
        "tests: [{id: a, input: x, assert: [{type: llm-rubric, value: Says why}]}]\n",
        "tests: [{assert: {type: llm-rubric, value: Says why}}]\n",
        "tests: [{options: {rubricPrompt: Judge it}, assert: [{type: llm-rubric}]}]\n",
    ],
)
def test_other_texts_are_none(text):
    result = lint(NAME, text.encode())
    assert (result.rubrics, result.findings) == (0, ())


TEST = (
    HEAD
    + """\
    assert:
      - {type: llm-rubric, value: Names the cause}
      - {type: not-llm-rubric, value: Blames the customer, weight: 3}
"""
)
SHARE = TEST.replace("    assert", "    threshold: 0.75\n    assert")


@pytest.mark.parametrize(
    ("text", "answers", "score", "verdict"),
    [
        (TEST, (True, False), 1, "pass"),
        (TEST, (False, False), 0.75, "fail"),
        (TEST, (True, True), 0.25, "fail"),
        (SHARE, (False, False), 0.75, "pass"),
        (SHARE, (True, True), 0.25, "fail"),
    ],
)
def test_all_must_pass_unless_the_test_has_a_threshold(text, answers, score, verdict):
    (rubric,) = load_rubrics(NAME, text.encode()).values()
    scored = rubric.grade(JudgeOutput(answers, (None, None)))
    assert (float(scored.score), str(scored.verdict)) == (score, verdict)


@pytest.mark.parametrize(("assertion", "expected"), TABLES["what promptfoo takes in silence is found"])
def test_what_promptfoo_takes_in_silence_is_found(assertion, expected):
    assert findings(f"{HEAD}    assert: [{assertion}]\n") == expected


def test_equal_texts_are_two_criteria_if_another_model_judges_or_the_type_differs():
    text = """\
    assert:
      - {type: llm-rubric, value: Says why, provider: a}
      - {type: llm-rubric, value: Says why, provider: b}
      - {type: not-llm-rubric, value: Says why, provider: b}
"""
    assert findings(HEAD + text) == []
    assert findings(HEAD + text.replace("provider: b", "provider: a")) == [
        "duplicate-criterion /tests/0/assert/1/value"
    ]


LEVELS = {
    "with a word": ("Judge it.\nScore 0: No\nScore 1: Yes\n", [(0, "No"), (1, "Yes")]),
    "best first": ("Score 2: All\nScore 1: Half\nScore 0: None of it\n", [(0, "None of it"), (1, "Half"), (2, "All")]),
    "of a scale": ("Rate it:\n- 1: No\n- 3: Half\n- 5: Yes\n", [(1, "No"), (3, "Half"), (5, "Yes")]),
    "tenths": ("Scoring\n**0.0** - No\n**0.5** - Half\n**1.0** - Yes\n", [(0, "No"), (5, "Half"), (10, "Yes")]),
    "on several lines": ("Score 1: No,\n  or not\n\nScore 2: Yes\n\nBe strict.\n", [(1, "No, or not"), (2, "Yes")]),
}
BANDS = {
    "tenths": ("Score 0.0-0.3: No\nScore 0.4-1.0: Yes\n", [(0, 3, "No"), (4, 10, "Yes")]),
    "ten": ("Scale:\n0-3: No\n4-7: Half\n8-10: Yes\n", [(0, 3, "No"), (4, 7, "Half"), (8, 10, "Yes")]),
}
NONE = [
    "Score it\n1. Is short\n2. Says why\n3. Ends well\n",
    "Score it\n1) Is short\n2) Says why\n3) Ends well\n",
    "Steps:\n1: Reads\n2: Writes\n3: Sends\n",
    "Score it\n1: Is short\n2: Says why\n",
    "The grade of each:\n3: a\n1: b\n2: c\n",
    "Rate it:\n0-50: No\n51-80: Half\n81-100: Yes\n",
    "Score 1: No\n",
    "Score 1: No Score 2: Yes",
    "At 10:30: starts\nAt 11:30: ends\nscore\n",
]


@pytest.mark.parametrize(("text", "expected"), LEVELS.values(), ids=LEVELS)
def test_levels_in_a_text(text, expected):
    assert find_scale(text).levels == expected


@pytest.mark.parametrize(("text", "expected"), BANDS.values(), ids=BANDS)
def test_bands_in_a_text(text, expected):
    assert find_scale(text).bands == expected


@pytest.mark.parametrize("text", NONE)
def test_texts_without_a_scale(text):
    assert find_scale(text) is None


def test_a_text_with_a_scale_is_a_rubric_of_its_own():
    text = f"{HEAD}    assert:\n      - type: llm-rubric\n        metric: tone\n        value: |\n"
    text += "          Judge the tone.\n          Score 0: Rude\n          Score 1: Thanks the customer\n"
    (loaded,) = load_models(NAME, text.encode(), ISOLATED._replace(claimed=False)).values()
    (entry,) = loaded.rubric.entries
    assert (loaded.rubric.view.name, entry.outcome, [level.number for level in entry.levels]) == (
        "tone",
        "Judge the tone.",
        [0, 1],
    )


@pytest.mark.parametrize("kind", ["llm-rubric", "not-agent-rubric", "factuality", "model-graded-closedqa"])
@pytest.mark.parametrize(("value", "what"), [("[]", "list"), ("{}", "mapping")])
def test_an_empty_value_is_found(kind, value, what):
    text = f"{HEAD}    assert: [{{type: {kind}, value: {value}}}, {{type: llm-rubric, value: Says why}}]\n"
    column = text.splitlines()[3].index(value) + 1
    message = f"criterion 1: `value` is an empty {what}, expected a string"
    assert found(text, NAME)[0] == f"schema 4:{column}: {message}"


@pytest.mark.parametrize("kind", ["llm-rubric", "not-agent-rubric", "g-eval", "factuality", "model-graded-closedqa"])
@pytest.mark.parametrize(("value", "what"), [("[[]]", "a list"), ("[null]", "a list"), ("{a: 1}", "a mapping")])
def test_a_value_in_an_unknown_form_is_told(kind, value, what):
    text = f"{HEAD}    assert:\n      - type: {kind}\n        value: {value}\n"
    assert found(text, NAME) == [f"not read 6:16: `value` of `{kind}` is {what}, which is not checked; write a string"]

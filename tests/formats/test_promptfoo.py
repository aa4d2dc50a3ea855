"""Texts of promptfoo: which are rubrics, what they mean, and which scales in them leave no doubt."""

import pytest
from cases import as_tuples, read_cases
from exports import ISOLATED
from found import describe
from lint_command import call

from rubric_lint.formats.search.scales_in_text import find_scale
from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import fix
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
    assert [(finding.rule, result.source.slice(finding.span)) for finding in result.findings] == [("schema", value)]


@pytest.mark.parametrize(("key", "kind"), [("asert", "llm-rubric"), ("assert", "not-llm-rubirc")])
def test_a_misspelt_word_that_loses_a_text_is_told(key, kind, said):
    said(describe(f"{HEAD}    {key}: [{{type: {kind}, value: Says why}}]\n", NAME))


@pytest.mark.parametrize(("text", "path"), as_tuples(TABLES["texts are found wherever promptfoo"]))
def test_texts_are_found_wherever_promptfoo_has_assertions(text, path):
    assert rubrics(text) == [(path, ["Says why"])]


@pytest.mark.parametrize("text", TABLES["other texts are none"])
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


def test_equal_texts_are_two_criteria_if_another_model_judges_and_a_contradiction_if_one_is_turned_around():
    text = """\
    assert:
      - {type: llm-rubric, value: Says why, provider: a}
      - {type: llm-rubric, value: Says why, provider: b}
      - {type: not-llm-rubric, value: Says why, provider: b}
"""
    turned = "duplicate-criterion /tests/0/assert/2/value"
    assert findings(HEAD + text) == [turned]
    assert findings(HEAD + text.replace("provider: b", "provider: a")) == [
        "duplicate-criterion /tests/0/assert/1/value",
        turned,
    ]


def test_a_scale_is_read_where_a_text_leaves_no_doubt(said):
    found = {name: find_scale(text) for name, text in TABLES["SCALES"].items()}
    said([f"{name}: {each and (each.levels, each.bands)}" for name, each in found.items()])


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


@pytest.mark.parametrize("kind", ["llm-rubric", "not-agent-rubric", "g-eval", "factuality", "model-graded-closedqa"])
def test_a_value_that_is_empty_or_in_an_unknown_form_is_told(kind, said):
    text = f"{HEAD}    assert:\n      - {{type: llm-rubric, value: Says why}}\n      - type: {kind}\n        value: "
    said([[value, *describe(f"{text}{value}\n", NAME)] for value in ("[]", "{}", "[[]]", "[null]", "{a: 1}")])


@pytest.mark.parametrize(
    ("fields", "fixed"),
    [
        ("treshold: 0.7", "threshold: 0.7"),
        ("wieght: 2, metrc: m", "weight: 2, metric: m"),
        ("treshold: 0.7, thresold: 0.6", None),
        ("treshold: 0.7, threshold: 0.6", None),
        ("wieght: -1", None),
    ],
)
def test_a_misspelt_field_is_renamed_where_that_makes_no_new_error(fields, fixed):
    text = f"{HEAD}    assert: [{{type: llm-rubric, value: Says why, {fields}}}]\n"
    assert fix(NAME, text.encode()).applied == ()
    made = fix(NAME, text.encode(), unsafe=True)
    assert (made.text, made.refused) == (text.replace(fields, fixed or fields), {})


SET = """\
tests:
  - assert:
      - type: assert-set
        threshold: 0.5
        weight: 3
        metric: dates
        config: {a: 1}
        assert:
          - {type: llm-rubric, value: Names the day}
          - {type: llm-rubric, value: Names the hour, weight: 2}
      - {type: llm-rubric, value: Is polite}
"""


def test_the_weight_of_a_set_is_that_of_the_set_in_its_test():
    scoring = load_rubrics(NAME, SET.encode())
    weights = [[criterion.weight for criterion in rubric.criteria] for rubric in scoring.values()]
    assert (weights, lint(NAME, SET.encode()).unread) == ([[1], [1, 2]], ())


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("threshold: 0.5", "threshold: 7", ["schema /tests/0/assert/0/threshold"]),
        ("threshold: 0.5", "treshold: 0.5", ["unknown-field /tests/0/assert/0/treshold"]),
        ("weight: 3", "wieght: 3", ["unknown-field /tests/0/assert/0/wieght"]),
    ],
)
def test_the_fields_of_a_set_are_checked(old, new, found):
    assert findings(SET.replace(old, new)) == found


@pytest.mark.parametrize("more", ["", "  - assert: [{type: llm-rubric, value: Is polite}]\n"])
def test_adopt_is_advised_only_where_a_table_reads_all_rubrics(more, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (
        "providers: [x]\ntests:\n  - weight: 3\n    threshold: 0.6\n    assert:\n"
        "      - {type: llm-rubric, value: Names a day}\n      - {type: llm-rubric, value: Dates it, weight: 2}\n"
        f"{more}"
    )
    (tmp_path / NAME).write_text(text)
    (unread,) = lint(NAME, text.encode()).unread
    _, errors, _ = call("adopt", NAME)
    assert (unread.line, "adopt" in unread.reason, "is read already" in errors) == (3, not more, bool(more))


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("select-best", "compares outputs with one another"),
        *((kind, "is not read") for kind in ("search-rubric", "not-pi", "model-graded-factuality")),
    ],
)
@pytest.mark.parametrize("value", ["Says why", "file://why.txt"])
@pytest.mark.parametrize("first", ["{type: llm-rubric, value: Says why}", "{type: equals, value: x}"])
def test_other_types_by_which_a_model_judges_are_near_misses(first, value, kind, why):
    result = lint(NAME, f"{HEAD}    assert:\n      - {first}\n      - {{type: {kind}, value: {value}}}\n".encode())
    expected = f"`value` of `{kind}` {why}, so it is not checked; write what each output must meet in an `llm-rubric`"
    assert [(each.line, each.reason) for each in result.unread] == [(6, expected)]


@pytest.mark.parametrize("kind", ["max-score", "is-json", "similar", "moderation", "custom"])
def test_types_by_which_no_model_judges_a_text_are_no_near_misses(kind):
    assert lint(NAME, f"{HEAD}    assert: [{{type: {kind}, value: Says why}}]\n".encode()).unread == ()

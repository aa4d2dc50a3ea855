"""Rubrics behind anchors, aliases and merge keys: each is there for each case, and told once, where it is written."""

import json
from pathlib import Path
from textwrap import dedent

import pytest
from dialect_samples import SAMPLES
from found import describe
from pages import read_pages

from rubric_lint.formats.search.locate import search
from rubric_lint.lint.engine import examine_file, lint
from rubric_lint.lint.fix import fix
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import DATA, Source, kind_of

FOLDER = Path(__file__).parents[2] / "rubric_lint" / "formats" / "dialects"


def read_data():
    for name, sample in SAMPLES.items():
        yield name, sample.file, sample.text
    for page in read_pages(FOLDER):
        for example in page.flagged:
            yield example.label, example.name, example.text


def write(value, alias_at, path=()):
    """Flow style, in which one value is an alias."""
    if path == alias_at:
        return "*here "
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)}: {write(each, alias_at, (*path, key))}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(write(each, alias_at, (*path, index)) for index, each in enumerate(value))}]"
    return json.dumps(value)


CASES = {}
for label, file, text in read_data():
    if kind_of(file) in DATA:
        documents, _ = read_documents(Source(file, text))
        for number, document in enumerate(documents):
            if isinstance(document.data, dict):
                CASES[f"{label} {number}"] = (f"{file.rpartition('.')[0]}.yaml", document.data)


def look(name, text):
    """The rules of the findings with the texts that they mark, and how many rubrics there are."""
    result = examine_file(name, text.encode()).result
    return {(finding.rule, result.source.slice(finding.span)) for finding in result.findings}, result.rubrics


@pytest.mark.parametrize("case", CASES)
def test_a_value_that_is_defined_above_is_read_where_it_is_used(case):
    name, data = CASES[case]
    plain, rubrics = look(name, write({"x-above": 1, **data}, None))
    for key, value in data.items():
        if isinstance(value, dict | list):
            text = f'{{"x-above": &here {json.dumps(value)},\n {write(data, (key,))[1:]}'
            told, found_rubrics = look(name, text)
            assert (plain <= told, found_rubrics >= rubrics) == (True, True), text


def test_an_aliased_rubric_is_told_once_at_its_definition(said):
    criteria = "[{id: a, description: ' '}, {id: b, description: Names the parcel, requird: true}]"
    text = f"x-judge: &judge\n  rubric:\n    criteria: {criteria}\nllm_judge: *judge\n"
    said(describe(text, "grading.yaml"))


def test_what_several_merges_of_one_field_contradict_is_told_once():
    text = dedent("""\
        rubrics:
          - &first {id: a, description: Names the parcel., weight: 1}
          - {<<: *first, id: b, expected_outcome: Names the street.}
          - {<<: *first, id: c, expected_outcome: Names the town.}
        """)
    findings = lint("a.yaml", text.encode()).findings
    ((line, related),) = (
        (finding.values["line"], [place.span for place in finding.related])
        for finding in findings
        if finding.code == "conflicting-field.contradicts"
    )
    assert (line, len(related)) == ("line 3", 1)


def test_a_merge_key_leaves_a_rubric_of_agentv_to_agentv():
    text = dedent("""\
        tests:
          - id: greeting
            assert:
              - type: llm-rubric
                value:
                  - &first
                    id: polite
                    outcome: The answer is polite.
                    min_score: 0.7
                  - <<: *first
                    id: short
                    outcome: The answer is short.
        """)
    document = read_documents(Source("suite.yaml", text))[0][0]
    (location,) = search(document).rubrics
    assert (location.path, location.view.dialect.name) == (("tests", 0, "assert", 0, "value"), "agentv-a7")


RUBRIC = "rubrics: [{id: p, expected_outcome: Names it}]"
SHARED = {
    "a list": f"tests:\n- {{id: a, evaluators: &e [{{name: j, {RUBRIC}}}]}}\n- {{id: b, evaluators: *e}}\n",
    "assertions": f"tests:\n- {{id: a, assertions: &e [{{name: j, {RUBRIC}}}]}}\n- {{id: b, assertions: *e}}\n",
    "an evaluator": f"tests:\n- {{id: a, evaluators: [&e {{name: j, {RUBRIC}}}]}}\n- {{id: b, evaluators: [*e]}}\n",
    "what holds a list": (
        f"tests:\n- {{id: a, execution: &e {{evaluators: [{{name: j, {RUBRIC}}}]}}}}\n- {{id: b, execution: *e}}\n"
    ),
    "a field of its own": f"tests:\n- {{id: a, judge: &e {{{RUBRIC}}}}}\n- {{id: b, judge: *e}}\n",
    "a merge key": f"tests:\n- &e {{id: a, evaluators: [{{name: j, {RUBRIC}}}]}}\n- {{<<: *e, id: b}}\n",
    "a list of cases": f"- {{id: a, evaluators: &e [{{name: j, {RUBRIC}}}]}}\n- {{id: b, evaluators: *e}}\n",
    "a list above": f"x: &e [{{{RUBRIC}}}]\ntests:\n- {{id: a, evaluators: *e}}\n- {{id: b, evaluators: *e}}\n",
    "an evaluator above": (
        f"x: &e {{name: j, {RUBRIC}}}\ntests:\n- {{id: a, evaluators: [*e]}}\n- {{id: b, evaluators: [*e]}}\n"
    ),
    "a case above": f"x: &e {{evaluators: [{{{RUBRIC}}}]}}\ntests:\n- {{<<: *e, id: a}}\n- {{<<: *e, id: b}}\n",
    "cases above": f"x: &e [{{id: a, evaluators: [{{{RUBRIC}}}]}}, {{id: b, evaluators: [{{{RUBRIC}}}]}}]\ntests: *e\n",
    "a copy below": f"tests:\n- {{id: a, evaluators: &e [{{{RUBRIC}}}]}}\n- {{id: b, evaluators: *e}}\nx: *e\n",
}


@pytest.mark.parametrize("text", SHARED.values(), ids=SHARED)
def test_evaluators_that_cases_share_are_rubrics_of_each_case(text):
    assert list(load_rubrics("a.yaml", text)) == ["a", "b"]
    result = lint("a.yaml", text.encode())
    assert (result.rubrics, result.criteria, result.findings, result.unread) == (2, 2, (), ())


@pytest.mark.parametrize("text", SHARED.values(), ids=SHARED)
def test_what_is_wrong_with_shared_evaluators_is_told_once_where_it_is_written_and_left_to_its_author(text):
    text = text.replace("expected_outcome", "description")
    count = text.count("description")
    findings = lint("a.yaml", text.encode()).findings
    assert [(finding.code, text[finding.span.start : finding.span.end]) for finding in findings] == [
        ("deprecated-description.renamed", "description")
    ] * count
    fixed = fix("a.yaml", text.encode())
    assert (fixed.text, fixed.doubt, len([*fixed.left()])) == (text, "", count)


def test_an_evaluator_of_the_suite_and_of_a_case_is_a_rubric_of_both():
    text = f"evaluators: &e [{{name: j, {RUBRIC}}}]\ntests:\n- {{id: a, evaluators: *e}}\n"
    assert list(load_rubrics("a.yaml", text)) == ["j", "a"]


def test_a_case_that_is_there_twice_is_one_case():
    text = f"tests:\n- &c {{id: a, evaluators: [{{{RUBRIC}}}]}}\n- *c\n"
    assert (list(load_rubrics("a.yaml", text)), lint("a.yaml", text.encode()).findings) == (["a"], ())


def test_aliases_of_aliases_do_not_multiply_rubrics():
    text = f"tests:\n- {{id: t0, evaluators: &e0 [{{name: j, {RUBRIC}}}]}}\n"
    for n in range(1, 16):
        text += (
            f"- {{id: t{n}, evaluators: &e{n} [{{name: a, assert: *e{n - 1} }}, {{name: b, assert: *e{n - 1} }}]}}\n"
        )
    assert list(load_rubrics("a.yaml", text)) == [f"t{n}" for n in range(16)]


def test_a_near_miss_that_cases_share_is_told_once():
    text = "tests:\n- {id: a, assert: &e [{type: llm-rubric, value: {a: It}}]}\n- {id: b, assert: *e}\n"
    reason = "`value` of `llm-rubric` is a mapping, which is not checked; write a string"
    assert describe(text, "a.yaml") == [f"not read 2:49: {reason}"]
    above = f"x: &e [{{{RUBRIC}}}, {{rubric: [{{id: p, expected_outcome: Names it}}]}}]\ntests:\n"
    text = f"{above}- {{id: a, evaluators: *e}}\n- {{id: b, evaluators: *e}}\n"
    assert describe(text, "a.yaml") == ["lost-rubric 1:59: `rubric` is not read; did you mean `rubrics`?"]


JUDGED = dedent("""\
    prompts: ["{{ input }}"]
    tests:
      - id: one
        vars: {input: Hi}
        assert: &list
          - &assertion
            type: llm-rubric
            value: &value
              - {id: a, min_score: 0.8, score_ranges: {0: States another period, 8: States the period}}
    """)


@pytest.mark.parametrize(
    "shared", ["*list", "[*assertion]", "[{type: llm-rubric, value: *value}]"], ids=["list", "assertion", "value"]
)
def test_cases_of_agentv_5_that_share_a_rubric_have_no_rubric_of_promptfoo(shared):
    text = f"{JUDGED}  - {{id: two, vars: {{input: Ho}}, assert: {shared}}}\n"
    assert describe(text, "a.yaml") == []
    rubrics = search(read_documents(Source("a.yaml", text))[0][0]).rubrics
    place = ("assert", 0, "value")
    assert [(rubric.path, rubric.view.dialect.name) for rubric in rubrics] == [
        (("tests", 0, *place), "agentv-a7"),
        (("tests", 1, *place), "agentv-a7"),
    ]


def test_a_copy_of_a_rubric_outside_the_cases_does_not_take_its_place():
    text = f"{JUDGED}metadata: {{assert: *list}}\n"
    assert describe(text, "a.yaml") == []
    (rubric,) = search(read_documents(Source("a.yaml", text))[0][0]).rubrics
    assert (rubric.path[:2], rubric.view.dialect.name) == (("tests", 0), "agentv-a7")

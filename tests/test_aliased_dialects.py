"""Rubrics of other systems behind anchors, aliases and merge keys: each is told once, at the text that has it."""

import json
from pathlib import Path
from textwrap import dedent

import pytest
from dialect_samples import SAMPLES
from pages import read_pages
from said import found

from rubric_lint.dialects.search.locate import search
from rubric_lint.lint.engine import examine_file, lint
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import DATA, Source, kind_of

FOLDER = Path(__file__).parents[1] / "rubric_lint" / "dialects"


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
    return {(each.rule, result.source.slice(each.span)) for each in result.findings}, result.rubrics


@pytest.mark.parametrize("case", CASES)
def test_a_value_that_is_defined_above_is_read_where_it_is_used(case):
    name, data = CASES[case]
    plain, rubrics = look(name, write({"x-above": 1, **data}, None))
    for key, value in data.items():
        if isinstance(value, dict | list):
            text = f'{{"x-above": &here {json.dumps(value)},\n {write(data, (key,))[1:]}'
            told, found_rubrics = look(name, text)
            assert (plain <= told, found_rubrics >= rubrics) == (True, True), text


def test_an_aliased_rubric_is_told_once_at_its_definition():
    criteria = "[{id: a, description: ' '}, {id: b, description: Names the parcel, requird: true}]"
    text = f"x-judge: &judge\n  rubric:\n    criteria: {criteria}\nllm_judge: *judge\n"
    assert found(text, "grading.yaml") == [
        "empty-outcome 3:37: criterion `a`: `description` is blank; say what an observer sees",
        "unknown-field 3:82: criterion `b`: unknown field `requird`; did you mean `required`?",
    ]


def test_what_several_merges_of_one_field_contradict_is_told_once():
    text = dedent("""\
        rubrics:
          - &first {id: a, description: Names the parcel., weight: 1}
          - {<<: *first, id: b, expected_outcome: Names the street.}
          - {<<: *first, id: c, expected_outcome: Names the town.}
        """)
    findings = lint("a.yaml", text.encode()).findings
    ((line, related),) = (
        (each.values["line"], [place.span for place in each.related])
        for each in findings
        if each.code == "conflicting-field.contradicts"
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

"""The schemas of version 3: what they accept and refuse, alike in each validator and form, with all of version 2."""

import json
from pathlib import Path

import pytest
from cases import read_cases
from hypothesis import given
from jsonschema import Draft7Validator
from node import ask_ajv
from random_rubrics import rubrics

from rubric_lint.lint.engine import lint
from rubric_lint.model.schema import open_validator, schema_for
from rubric_lint.model.schema_files import join, newest
from rubric_lint.model.schema_problems import find_violations
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

ROOT = Path(__file__).parents[2]
TABLES = read_cases(__file__)
GOOD, BAD, OUTPUTS = TABLES["GOOD"], TABLES["BAD"], TABLES["OUTPUTS"]
RUBRIC = newest("rubric", "v3")
FORMS = {form.form: json.loads(form.text) for form in RUBRIC.forms}
REFUSING = [name for name in FORMS if name != "completion"]
SUITE = json.loads(newest("suite", "v3")._replace(form="strict").text)
SCHEMA = schema_for("v3")


def errors(validator, value):
    """Where a validator finds what is wrong, as a pointer, and the keyword that is broken."""
    found = []
    for error in validator.iter_errors(value):
        path = error.instance_path if hasattr(error, "instance_path") else error.absolute_path
        way = error.schema_path if hasattr(error, "kind") else error.absolute_schema_path
        found.append(("".join(f"/{step}" for step in path), [*way][-1]))
    return found


@pytest.mark.parametrize("name", GOOD)
def test_what_is_right_is_accepted_in_every_form(name):
    assert errors(open_validator(join(RUBRIC.source)), GOOD[name]) == []
    assert {form: Draft7Validator(schema).is_valid(GOOD[name]) for form, schema in FORMS.items()} == dict.fromkeys(
        FORMS, True
    )


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_refused_at_its_place_by_both_validators(name):
    data, place, keyword = BAD[name]
    joined = join(RUBRIC.source)
    assert (place, keyword) in errors(open_validator(joined), data)
    assert (place, keyword) in errors(Draft7Validator(joined), data)
    found = {form: Draft7Validator(schema).is_valid(data) for form, schema in FORMS.items()}
    assert found == {"completion": True, **dict.fromkeys(REFUSING, False)}


def test_a_suite_takes_what_a_rubric_file_takes_below_rubrics():
    def in_suite(data):
        return {"tests": [{"id": "a", "rubrics": data.get("rubrics", data)}]}

    validator = Draft7Validator(SUITE)
    wholes = {name: data for name, data in GOOD.items() if "$schema" not in data}
    assert [name for name, data in wholes.items() if not validator.is_valid(in_suite(data))] == []
    beside = {name for name, (data, place, _) in BAD.items() if "rubrics" in data and not place.startswith("/rubrics")}
    within = {name: data for name, (data, _, _) in BAD.items() if name not in beside}
    assert [name for name, data in within.items() if validator.is_valid(in_suite(data))] == []


@pytest.mark.parametrize("name", TABLES["WORDS"])
def test_a_fault_has_its_words_at_any_depth(name):
    rubrics, expected = TABLES["WORDS"][name]
    (document,) = read_documents(Source("a.json", json.dumps({"rubrics": rubrics})))[0]
    found = [
        ["".join(f"/{step}" for step in problem.path[1:]), problem.code, problem.repair.title if problem.repair else ""]
        for _, problem in find_violations(SCHEMA, document, ("rubrics",), rubrics)
    ]
    assert sorted(found) == sorted(expected)


@pytest.mark.slow
def test_ajv_agrees_on_every_document():
    documents = [*((data, True) for data in GOOD.values()), *((data, False) for data, _, _ in BAD.values())]
    schemas = {RUBRIC._replace(form=form).bundled_name: FORMS[form] for form in REFUSING}
    asked = {
        "schemas": schemas,
        "documents": [{"schema": name, "data": data} for name in schemas for data, _ in documents],
    }
    answer = ask_ajv(asked)
    assert answer["broken"] == {}
    assert [not refusal for refusal in answer["refusals"]] == [good for _ in schemas for _, good in documents]


@given(rubrics)
def test_every_rubric_of_version_2_is_one_of_version_3(rubric):
    data = [{**entry, **({"weight": float(entry["weight"])} if "weight" in entry else {})} for entry in rubric]
    assert (schema_for().is_valid(data), SCHEMA.is_valid(data)) == (True, True)


def rubrics_in(data):
    """The `rubrics` values of a file, at any depth."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        if key == "rubrics":
            yield value
        yield from rubrics_in(value)


def test_every_valid_rubric_of_our_files_is_one_of_version_3():
    files = [*sorted((ROOT / "tests/suites").iterdir()), *sorted((ROOT / "examples").iterdir())]
    found = [
        value
        for file in files
        if file.suffix in (".yaml", ".json") and file.name != "expected.json"
        for document in read_documents(Source(file.name, file.read_text("utf-8")))[0]
        for value in rubrics_in(document.data)
        if schema_for().is_valid(value)
    ]
    assert len(found) > 5
    assert [value for value in found if not SCHEMA.is_valid(value)] == []


@pytest.mark.parametrize("name", OUTPUTS)
def test_what_a_judge_may_return(name):
    definition, output, expected = OUTPUTS[name]
    joined = join("v3/judge-output.json")
    schema = {"$ref": f"#/definitions/{definition}", "definitions": joined["definitions"]}
    of_any_rubric = definition == "mixed" or expected
    found = [open_validator(schema).is_valid(output), Draft7Validator(schema).is_valid(output)]
    assert found == [expected, expected]
    if of_any_rubric:
        assert open_validator(joined).is_valid(output) == expected


def test_what_stands_beside_rubrics_is_found_there_and_in_a_suite_what_is_no_part_of_the_suite():
    text = "# $schema: {}-v3.schema.json\nscale: [1, 5]\nrubrics: {{criteria: [It]}}\ncriteria: [It]\nweight: 2\n"
    of_rubric, of_suite = (lint("a.yaml", text.format(name).encode()).findings for name in ("rubric", "suite"))
    expected = [("schema.misplaced", f"/{name}") for name in ("scale", "criteria", "weight")]
    assert [(finding.code, finding.pointer) for finding in of_rubric] == expected
    assert [(finding.code, finding.pointer) for finding in of_suite] == expected[:2]

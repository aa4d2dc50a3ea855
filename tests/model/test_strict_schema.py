"""The schemas for validators: one error for each mistake, at its place, whose message is true in programs of others."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from node import ask_ajv
from ruamel.yaml import YAML

from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.schema import schema_for

ROOT = Path(__file__).parents[2]
NAME, SUITE = "rubric-v2.strict.schema.json", "suite-v2.strict.schema.json"
RUBRIC = ROOT / "schemas/bundled" / NAME


def listed(*others):
    """The fields of a criterion without those of other shapes, as a validator lists them."""
    return ", ".join(repr(name) for name in schema_for().entry_fields if name not in others)


CHECKLIST = listed("required_min_level")
RANGES = listed("required_min_level", "levels", "score_range")
LEVELS = listed("required_min_score", "score_ranges", "score_range", "required")
HOLISTIC = listed("id", "weight", "required_min_score", "score_ranges", "required_min_level", "levels", "required")
ANY_OF = "is not valid under any of the given schemas"
ONE_LEVEL = "[{level: 1, expected_outcome: It}]"
TWO_LEVELS = "{1: It, 2: So}"

FAULTS = {
    # misspelt fields
    "[{id: a, wieght: 2, expected_outcome: It}]": (
        "$.rubrics[0]",
        "Additional properties are not allowed ('wieght' was unexpected)",
    ),
    "[{id: a, wieght: 2, score_ranges: {0: It}}]": (
        "$.rubrics[0]",
        "Additional properties are not allowed ('wieght' was unexpected)",
    ),
    "[{id: a, score_ranges: [{score_range: [0, 10], expected_outcome: It, wieght: 2}]}]": (
        "$.rubrics[0].score_ranges[0]",
        "Additional properties are not allowed ('wieght' was unexpected)",
    ),
    # fields of another shape
    "[{id: a, required_min_level: 2, expected_outcome: It}]": (
        "$.rubrics[0]",
        f"'required_min_level' is not one of [{CHECKLIST}]",
    ),
    "[{id: a, score_range: [0, 10], expected_outcome: It}]": ("$.rubrics[0]", f"'id' is not one of [{HOLISTIC}]"),
    f"[{{id: a, score_ranges: {{0: It}}, levels: {TWO_LEVELS}}}]": (
        "$.rubrics[0]",
        f"'levels' is not one of [{RANGES}]",
    ),
    f"[{{id: a, required_min_score: 5, levels: {TWO_LEVELS}}}]": (
        "$.rubrics[0]",
        f"'required_min_score' is not one of [{LEVELS}]",
    ),
    # missing fields
    "[{id: a}]": ("$.rubrics[0]", "'expected_outcome' is a required property"),
    "[{id: a, score_ranges: [{score_range: [0, 10]}]}]": (
        "$.rubrics[0].score_ranges[0]",
        "'expected_outcome' is a required property",
    ),
    "[{id: a, score_ranges: [{expected_outcome: It}]}]": (
        "$.rubrics[0].score_ranges[0]",
        "'score_range' is a required property",
    ),
    # wrong types
    "text": ("$.rubrics", "'text' is not of type 'array'"),
    "null": ("$.rubrics", "None is not of type 'array'"),
    "[7]": ("$.rubrics[0]", f"7 {ANY_OF}"),
    "[{id: 7, expected_outcome: It}]": ("$.rubrics[0].id", "7 is not of type 'string'"),
    "[{id: a, expected_outcome: }]": ("$.rubrics[0].expected_outcome", "None is not of type 'string'"),
    "[{id: a, weight: heavy, expected_outcome: It}]": ("$.rubrics[0].weight", "'heavy' is not of type 'number'"),
    "[{id: a, required: 'no', description: It}]": ("$.rubrics[0].required", "'no' is not of type 'boolean'"),
    '[{id: a, required_min_score: "7", expected_outcome: It}]': (
        "$.rubrics[0].required_min_score",
        "'7' is not of type 'integer'",
    ),
    "[{score_range: 0-4, expected_outcome: It}]": ("$.rubrics[0].score_range", "'0-4' is not of type 'array'"),
    "[{id: a, score_ranges: x}]": ("$.rubrics[0].score_ranges", f"'x' {ANY_OF}"),
    "[{id: a, score_ranges: [x]}]": ("$.rubrics[0].score_ranges[0]", "'x' is not of type 'object'"),
    # wrong values
    "[]": ("$.rubrics", "[] should be non-empty"),
    "[' ']": ("$.rubrics[0]", r"' ' does not match '\\S'"),
    "[{id: a, expected_outcome: ''}]": ("$.rubrics[0].expected_outcome", r"'' does not match '\\S'"),
    "[{id: a, weight: -1, expected_outcome: It}]": ("$.rubrics[0].weight", "-1 is less than the minimum of 0"),
    "[{id: a, required_min_score: 11, expected_outcome: It}]": (
        "$.rubrics[0].required_min_score",
        "11 is greater than the maximum of 10",
    ),
    "[{id: a, required_min_score: 7.5, expected_outcome: It}]": (
        "$.rubrics[0].required_min_score",
        "7.5 is not of type 'integer'",
    ),
    "[{score_range: [0], expected_outcome: It}]": ("$.rubrics[0].score_range", "[0] is too short"),
    "[{score_range: [0, 4, 9], expected_outcome: It}]": ("$.rubrics[0].score_range", "[0, 4, 9] is too long"),
    "[{score_range: [0, 11], expected_outcome: It}]": (
        "$.rubrics[0].score_range[1]",
        "11 is greater than the maximum of 10",
    ),
    "[{id: a, score_ranges: []}]": ("$.rubrics[0].score_ranges", "[] should be non-empty"),
    "[{id: a, score_ranges: {11: It}}]": ("$.rubrics[0].score_ranges", r"'11' does not match '^([0-9]|10)(\\.0+)?$'"),
    f"[{{id: a, levels: {ONE_LEVEL}}}]": (
        "$.rubrics[0].levels",
        "[{'level': 1, 'expected_outcome': 'It'}] is too short",
    ),
    f"[{{id: a, levels: {TWO_LEVELS.replace('So', '7')}}}]": ("$.rubrics[0].levels['2']", "7 is not of type 'string'"),
}
IN_A_SUITE = {
    rubrics: (place.replace("$", "$.tests[1].assert[0]", 1), message) for rubrics, (place, message) in FAULTS.items()
}


def read(text):
    """A YAML document as JSON has it: the keys are strings."""
    return json.loads(json.dumps(YAML(typ="safe", pure=True).load(text)))


def suite(rubrics):
    return f"tests:\n  - id: one\n  - id: two\n    assert:\n      - type: rubrics\n        rubrics: {rubrics}\n"


def errors(schema, text):
    validator = Draft7Validator(json.loads((RUBRIC.parent / schema).read_text("utf-8")))
    return [(error.json_path, error.message) for error in validator.iter_errors(read(text))]


@pytest.mark.parametrize("rubrics", FAULTS)
def test_a_mistake_is_one_error_at_its_place_and_the_message_names_it(rubrics):
    assert errors(NAME, f"rubrics: {rubrics}\n") == [FAULTS[rubrics]]
    assert errors(SUITE, suite(rubrics)) == [IN_A_SUITE[rubrics]]


@pytest.mark.parametrize("rubrics", FAULTS)
def test_the_linter_refuses_what_the_schema_refuses(rubrics):
    claim = "# $schema: https://rubric-lint.github.io/schemas/{}-v2.strict.schema.json\n"
    for text in (claim.format("rubric") + f"rubrics: {rubrics}\n", claim.format("suite") + suite(rubrics)):
        assert "error" in [finding.severity for finding in lint("a.yaml", text.encode()).findings]


def test_no_schema_for_validators_has_keywords_that_they_do_not_know_or_word_badly():
    known = {
        *("$schema", "$id", "$ref", "title", "description", "default", "definitions", "type", "enum", "if", "then"),
        *("else", "not", "allOf", "anyOf", "properties", "required", "additionalProperties", "propertyNames"),
        *("minProperties", "items", "minItems", "maxItems", "pattern", "minimum", "maximum"),
    }

    def keywords(node):
        for key, value in node.items() if isinstance(node, dict) else ():
            yield key
            parts = (
                value.values()
                if key in ("properties", "definitions")
                else value
                if isinstance(value, list)
                else [value]
            )
            for part in parts:
                yield from keywords(part)

    used = set()
    for path in RUBRIC.parent.glob("*.strict.schema.json"):
        used |= {*keywords(json.loads(path.read_text("utf-8")))}
    assert used == known


def realistic():
    """The rubrics and suites of the repository that have no fault which a schema can find."""
    folders = ("examples", "tests/suites", "tests/store/test", "skills")
    shape = {"schema", "unknown-field", "empty-outcome", "bounds", "levels", "weight", "mixing", "syntax"}
    shape |= {"duplicate-key", "lost-rubric"}
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.y*ml")):
        is_test = "rubric-test" in path.as_posix()
        findings = () if is_test else lint(path.name, path.read_bytes(), FileSettings(claimed=True)).findings
        if not shape & {finding.rule for finding in findings}:
            is_rubric = path.match("*.rubric.y*ml") or path.parent.name.startswith("rubric-v2")
            name = "rubric-test-v1" if is_test else "rubric-v2" if is_rubric else "suite-v2"
            yield path, f"{name}.strict.schema.json"


def check(schema, files):
    """What check-jsonschema says of files: the place and the message of each error, by file."""
    program = Path(sys.executable).with_name("check-jsonschema")
    command = [program, "--output-format", "json", "--schemafile", RUBRIC.parent / schema, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    assert answer.get("parse_errors", []) == []
    assert done.returncode == int(answer["status"] != "ok")
    return [(error["filename"], error["path"], error["message"]) for error in answer["errors"]]


@pytest.mark.slow
def test_check_jsonschema_accepts_realistic_rubrics_and_suites():
    files = {}
    for path, schema in realistic():
        files.setdefault(schema, []).append(path)
    assert {name: len(paths) > 2 for name, paths in files.items()} == dict.fromkeys(
        (NAME, SUITE, "rubric-test-v1.strict.schema.json"), True
    )
    assert {name: found for name, paths in files.items() if (found := check(name, paths))} == {}


@pytest.mark.slow
@pytest.mark.parametrize("in_suite", [False, True], ids=["rubric", "suite"])
def test_check_jsonschema_reports_each_mistake_once_at_its_place(in_suite, tmp_path):
    expected = []
    for number, (rubrics, found) in enumerate((IN_A_SUITE if in_suite else FAULTS).items()):
        file = tmp_path / f"{number:03}.yaml"
        file.write_text(suite(rubrics) if in_suite else f"rubrics: {rubrics}\n", "utf-8")
        expected.append((str(file), *found))
    files = [file for file, _, _ in expected]
    assert sorted(check(SUITE if in_suite else NAME, files)) == sorted(expected)


@pytest.mark.slow
def test_ajv_as_schemastore_runs_it_reports_the_same_mistakes():
    schema = json.loads(RUBRIC.read_text("utf-8"))
    documents = [read(f"rubrics: {rubrics}\n") for rubrics in FAULTS]
    asked = {"schemas": {NAME: schema}, "documents": [{"schema": NAME, "data": data} for data in documents]}
    answer = ask_ajv(asked)
    assert answer["broken"] == {}
    for data, found in zip(documents, answer["errors"], strict=True):
        (error,) = Draft7Validator(schema).iter_errors(data)
        place = "".join(f"/{step}" for step in error.absolute_path)
        said = [(where, keyword) for where, keyword, _ in found if keyword not in {"if", "propertyNames"}]
        if error.validator == "anyOf":
            said = [each for each in said if each[1] != "type"]
        assert said == [(place, error.validator)]

"""The bundled schemas in Ajv, the validator of editors and schema stores: strict, and of one mind with jsonschema."""

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from jsonschema import Draft7Validator
from node import ask_ajv
from ruamel.yaml import YAML, YAMLError

from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.schema_files import catalogue

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCHEMAS = {
    file.bundled_name: json.loads(file.text)
    for entry in catalogue()
    for file in entry.forms
    if file.form != "completion"  # nothing validates with them
}

# What these rules find, they find because the schema says so; those below also find more than that.
BY_SCHEMA_ALONE = {"schema", "unknown-field", "empty-outcome"}
BY_SCHEMA = {*BY_SCHEMA_ALONE, "bounds", "levels", "weight", "mixing"}


class Sample(NamedTuple):
    """A document of a page or an example file: where it is from, what rules it breaks, the schema it follows."""

    label: str
    heading: str
    rules: frozenset[str]
    schema: str
    data: object


def blocks(page):
    """The heading, line number and text of each YAML block of a rule's page."""
    heading, started, lines = "", 0, []
    for number, line in enumerate(page.read_text("utf-8").splitlines(keepends=True), start=1):
        if started:
            if line.startswith("```"):
                yield heading, started, "".join(lines)
                started, lines = 0, []
            else:
                lines.append(line)
        elif line.startswith("```yaml"):
            started = number
        elif line.startswith("## "):
            heading = line.removeprefix("## ").strip()


def texts():
    """The label, heading and text of every YAML document that the project shows."""
    for page in sorted((ROOT / "rubric_lint/rules").glob("*.md")):
        for heading, line, text in blocks(page):
            yield f"{page.stem}:{line}", heading, text
    for example in sorted((ROOT / "examples").rglob("*.y*ml")):
        yield f"examples/{example.name}", "Example", example.read_text("utf-8")


@cache
def samples():
    """The documents that are JSON in another notation; a syntax fault, a duplicate key and a NaN are not."""
    found = []
    for label, heading, text in texts():
        # Who validates a file with one of our schemas says that its rubrics are ours.
        findings = lint("page.yaml", text.encode(), FileSettings(claimed=True)).findings
        claimed = re.search(r"(?:rubric|suite)-v\d+\.schema\.json", text)
        schema = claimed[0] if claimed else "suite-v2.schema.json"
        forms = (schema, schema.replace(".schema.", ".strict.schema."))
        try:
            documents = [
                json.loads(json.dumps(data, allow_nan=False, default=str))
                for data in YAML(typ="safe", pure=True).load_all(text)
            ]
        except (YAMLError, ValueError):
            continue
        for number, data in enumerate(documents):
            within = f"/{number}/" if len(documents) > 1 else ""
            rules = frozenset(finding.rule for finding in findings if finding.pointer.startswith(within))
            found += [Sample(f"{label}#{number} {form}", heading, rules, form, data) for form in forms]
    return found


@pytest.fixture(scope="module")
def ajv():
    """What Ajv makes of the bundled schemas and of every sample; it is installed once and kept."""
    asked = {"schemas": SCHEMAS, "documents": [{"schema": sample.schema, "data": sample.data} for sample in samples()]}
    return ask_ajv(asked)


@pytest.fixture(scope="module")
def refused(ajv):
    """The labels of the samples that Ajv refuses, each with its first reason."""
    return {sample.label: error for sample, error in zip(samples(), ajv["refusals"], strict=True) if error}


def test_there_is_something_to_judge():
    assert {"Flagged", "Accepted", "Example"} <= {sample.heading for sample in samples()}
    assert {"rubric-v1.schema.json", "rubric-v2.schema.json", "suite-v1.schema.json", "suite-v2.schema.json"} <= {
        *SCHEMAS
    }


def test_strict_ajv_compiles_every_bundled_schema(ajv):
    assert ajv["broken"] == {}


def test_ajv_accepts_what_the_pages_accept(refused):
    # What the linter takes for another tool's is no business of the schema.
    accepted = {sample.label for sample in samples() if sample.heading == "Accepted" and "schema" not in sample.rules}
    assert {label: error for label, error in refused.items() if label in accepted} == {}


def test_ajv_accepts_what_lints_clean(refused):
    clean = {sample.label for sample in samples() if not sample.rules}
    assert {label: error for label, error in refused.items() if label in clean} == {}


def test_ajv_refuses_what_only_the_schema_can_find(refused):
    faulty = {sample.label for sample in samples() if sample.rules & BY_SCHEMA_ALONE}
    assert faulty - refused.keys() == set()


def test_ajv_refuses_nothing_that_the_linter_passes(refused):
    for_other_reasons = {sample.label for sample in samples() if not sample.rules & BY_SCHEMA}
    assert {label: error for label, error in refused.items() if label in for_other_reasons} == {}


@pytest.mark.parametrize("rule", sorted(BY_SCHEMA))
def test_ajv_refuses_a_flagged_example_of_each_rule_that_a_schema_can_state(refused, rule):
    flagged = {sample.label for sample in samples() if sample.heading == "Flagged" and sample.rules == {rule}}
    assert flagged & refused.keys()


def test_ajv_and_jsonschema_agree(refused):
    validators = {name: Draft7Validator(schema) for name, schema in SCHEMAS.items()}
    invalid = {sample.label for sample in samples() if not validators[sample.schema].is_valid(sample.data)}
    assert refused.keys() == invalid


def test_the_rules_that_a_schema_can_state_are_those_it_names():
    def named(node):
        if isinstance(node, dict):
            yield from node.get("x-rule", {}).values()
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from named(child)

    authored = json.loads((ROOT / "schemas/v2/rubric.json").read_text("utf-8"))
    assert {"schema", "unknown-field", *named(authored)} == BY_SCHEMA

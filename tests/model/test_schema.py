"""The schemas themselves, and what their violations come to: one finding, at the right place, in plain words."""

import json
import re
from pathlib import Path

import pytest
from bundle import bundle, store_catalogue
from cases import read_cases
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from pages import unnamed

from rubric_lint.formats.dialects import DIALECTS, load_dialect
from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.criterion import SHAPE_FIELDS
from rubric_lint.model.messages import expected_of
from rubric_lint.model.schema import case_lists, schema_for
from rubric_lint.model.schema_files import Claim, catalogue, load, read_claim, schemas_root
from rubric_lint.model.schema_problems import find_violations
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)

FILES = {file.bundled_name: file for entry in catalogue() for file in entry.forms}
BUNDLED = {name: json.loads(file.text) for name, file in FILES.items()}
AUTHORED = {entry.source: load(entry.source) for entry in catalogue()}
FORMS = ("", ".completion", ".strict")
FORMAT = {name: schema for name, schema in BUNDLED.items() if name.startswith(("rubric", "suite"))}


def every_node(node, way=()):
    if isinstance(node, dict):
        yield way, node
    for step, child in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from every_node(child, (*way, step))


def every_property(schema):
    """All property schemas that say something: not those that a condition only names."""
    for way, node in every_node(schema):
        inside_condition = {"if", "then", "else", "not"} & set(way)
        if way and way[-1] == "properties" and not inside_condition:
            yield from (("/".join(map(str, (*way, name))), each) for name, each in node.items())


def describes(schema, root):
    """Whether a property, or what it refers to, is described."""
    if "description" in schema:
        return True
    reference = schema.get("$ref", "")
    return reference.startswith("#/definitions/") and "description" in root["definitions"][reference.split("/")[-1]]


def test_the_catalogue_names_every_authored_schema():
    expected = {
        *(f"{version}/{name}.json" for version in ("v1", "v2", "v3") for name in ("rubric", "suite", "judge-output")),
        "report/v1.json",
        "config/v1.json",
        "baseline/v1.json",
        "agreement/v1.json",
        "assessment/v1.json",
        "improvement/v1.json",
        "diff/v1.json",
        "rubric-test/v1.json",
        "scores/v1.json",
        "show/v1.json",
        *(load_dialect(name).schema for name in DIALECTS),
        "promptfoo/v1.json",
    }
    assert AUTHORED.keys() == expected


@pytest.mark.slow
def test_every_schema_is_valid_draft_07():
    for schema in (*BUNDLED.values(), *AUTHORED.values()):
        Draft7Validator.check_schema(schema)
    addresses = {schema["$schema"] for schema in (*BUNDLED.values(), *AUTHORED.values())}
    assert addresses == {"http://json-schema.org/draft-07/schema#"}


@pytest.mark.slow
def test_every_bundled_file_is_fresh():
    assert [name for name, file in FILES.items() if file.text != bundle(file)] == [], "run `make renew`"


def test_the_catalogue_is_fresh():
    written = (schemas_root() / "bundled/catalog.json").read_text("utf-8")
    assert written == store_catalogue(), "run `make renew`"


def test_there_are_no_other_bundled_files():
    names = {name for name, file in FILES.items() if file.is_in_file}
    assert {path.name for path in (schemas_root() / "bundled").iterdir()} == {*names, "catalog.json"}


def test_a_bundled_file_refers_to_all_its_definitions_and_to_nothing_else():
    for name, schema in BUNDLED.items():
        references = {node["$ref"] for _, node in every_node(schema) if isinstance(node.get("$ref"), str)}
        definitions = {f"#/definitions/{definition}" for definition in schema.get("definitions", {})}
        assert (name, references - definitions) == (name, set())
        unused = definitions - references if name in FORMAT else set()
        assert (name, unused) == (name, set())
        assert (name, {key for _, node in every_node(schema) for key in node if key.startswith("x-")}) == (name, set())
        identities = [(way, node["$id"]) for way, node in every_node(schema) if isinstance(node.get("$id"), str)]
        assert identities == [((), f"https://rubric-lint.github.io/schemas/{name}")]


def test_every_property_is_described():
    bare = {
        (name, way)
        for name, schema in BUNDLED.items()
        for way, node in every_property(schema)
        if isinstance(node, dict) and not describes(node, schema)
    }
    assert bare == set()


def test_editors_are_spared_what_they_word_badly():
    nodes = [found for schema in FORMAT.values() for found in every_node(schema)]
    used = {key for way, node in nodes for key in node if way[-1:] != ("properties",)}
    assert used & {"oneOf", "const", "unevaluatedProperties", "deprecationMessage", "$defs"} == set()


def test_the_suite_leaves_alone_what_is_no_rubric():
    validator = Draft7Validator(BUNDLED["suite-v2.schema.json"])
    strange = {"tests": 7, "cases": {"a": [None]}, "defaults": [], "assert": "x", "score_ranges": {"a": 1}, "b": [[{}]]}
    assert validator.is_valid(strange)
    assert not validator.is_valid({"tests": [{"a": [{"evaluators": [{"rubrics": []}]}]}]})


def test_the_lists_whose_entries_have_rubrics_of_their_own():
    expected = {"evalcases", "eval_cases", "cases", "tests", "evaluators", "assert", "assertions"}
    assert (case_lists(), case_lists("v1")) == (expected, expected)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://rubric-lint.github.io/schemas/rubric-v2.schema.json", Claim("rubric", "v2")),
        ("https://rubric-lint.github.io/schemas/v1/suite.json", Claim("suite", "v1")),
        ("schemas/bundled/suite-v1.schema.json#", Claim("suite", "v1")),
        ("https://rubric-lint.github.io/schemas/rubric-v2.completion.schema.json", Claim("rubric", "v2")),
        ("suite-v2.strict.schema.json", Claim("suite", "v2")),
        ("rubric-v2.schema.json", Claim("rubric", "v2")),
        ("https://rubric-lint.github.io/schemas/report-v1.schema.json", None),
        ("https://rubric-lint.github.io/schemas/report/v1.json", None),
        ("https://example.org/rubric.json", None),
        ("my-rubric-v2.schema.json", None),
        ("", None),
    ],
)
def test_which_addresses_name_our_schemas(url, expected):
    assert read_claim(url) == expected


# The facts that other modules read out of the schema.
def test_the_fields_that_only_this_format_has():
    always = ("expected_outcome", "score_ranges", "required_min_score", "required_min_level")
    by_value = {"score_range": "list of numbers", "levels": "levels"}
    assert schema_for().distinctive == {**dict.fromkeys(always, "always"), **by_value}


def test_what_the_deprecated_fields_become():
    description, required = schema_for().replacements["description"], schema_for().replacements["required"]
    assert (schema_for().replacements.keys(), schema_for("v1").replacements) == ({"description", "required"}, {})
    assert (description.name, description.covers("x"), description.value_for("x")) == ("expected_outcome", True, "x")
    values = [
        (required.covers(value), required.covers(value) and required.value_for(value)) for value in (True, False, "yes")
    ]
    assert (required.name, values) == ("required_min_score", [(True, 10), (True, None), (False, False)])


CLAIMED = {version: FileSettings(version=version, claimed=True) for version in ("v1", "v2")}


def problems(entry, version="v2"):
    """What the schema alone makes of one entry of a list."""
    text = f"rubrics:\n  - {entry}\n"
    result = lint("a.yaml", text.encode(), CLAIMED[version])
    by_schema = {"schema", "unknown-field", "bounds", "levels", "weight", "empty-outcome"}
    return [
        (
            finding.code,
            result.source.slice(finding.span),
            unnamed(finding.message),
            finding.fix.title if finding.fix else "-",
        )
        for finding in result.findings
        if finding.rule in by_schema
    ]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "number", "minimum": 0, "maximum": 1}, "a number from 0 to 1"),
        ({"type": "number", "minimum": 0}, "a number"),
        ({"type": "number", "minimum": 0, "maximum": 1, "x-expected": "a share"}, "a share"),
    ],
)
def test_what_a_schema_expects_in_words(schema, expected):
    assert expected_of(schema) == expected


@pytest.mark.parametrize("part", TABLES)
def test_what_the_schema_makes_of_an_entry(part, said):
    version = "v1" if part == "V1" else "v2"
    told = [[entry, *(f"  {' | '.join(each)}" for each in problems(entry, version))] for entry in TABLES[part]]
    said([[re.sub(r"(?<=known here are ).+(?= \|)", "...", line) for line in lines] for lines in told])


NUMBERS = st.one_of(st.integers(-2, 12), st.floats(-2, 12), st.sampled_from([7.0, float("inf")]))
ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=2)),
    max_leaves=5,
)
BAND = st.dictionaries(st.sampled_from(["score_range", "expected_outcome", "description", "x"]), ANY, max_size=3)
LEVEL = st.dictionaries(st.sampled_from(["level", "name", "expected_outcome", "x"]), ANY, max_size=3)
PARTS = {
    "score_ranges": st.one_of(
        ANY, st.lists(BAND, max_size=3), st.dictionaries(st.sampled_from(["0", "5", "11", "x"]), ANY)
    ),
    "levels": st.one_of(ANY, st.lists(LEVEL, max_size=3)),
    "score_range": st.one_of(ANY, st.lists(NUMBERS, max_size=3)),
}
NAMES = [*schema_for().entry_fields, "wieght", "x"]
ENTRY = st.one_of(
    ANY,
    st.lists(st.sampled_from(NAMES), unique=True, max_size=4).flatmap(
        lambda names: st.fixed_dictionaries(
            {name: PARTS.get(name, st.one_of(ANY, st.just("It"), NUMBERS)) for name in names}
        )
    ),
)


@given(ENTRY, st.sampled_from(["v1", "v2"]))
def test_both_validators_and_the_findings_agree(entry, version):
    """What the fast validator refuses is worded, and what it passes has nothing to word."""
    schema = schema_for(version)
    data = {"rubrics": [entry]}
    text = json.dumps(data)
    if "Infinity" in text:
        return  # no JSON
    (document,) = read_documents(Source("a.json", text))[0]
    found = list(find_violations(schema, document, ("rubrics",), data["rubrics"]))
    places = [(problem.path, problem.part, problem.code, str(problem.values)) for _, problem in found]
    assert (schema.is_valid(data["rubrics"]), len(places)) == (not found, len(set(places)))
    for _, problem in found:
        document.span(problem.path, problem.part)  # every place exists
    is_valid = {form: Draft7Validator(FORMAT[f"rubric-{version}{form}.schema.json"]).is_valid(data) for form in FORMS}
    as_authored = schema.is_valid(data["rubrics"])
    assert is_valid == {"": as_authored, ".completion": True, ".strict": as_authored}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"id": "a", "expected_outcome": "\ufeff"}, ("empty-outcome", "blank", "blank")),
        ({"id": "a", "score_ranges": {"0": "It", "10\n": "So"}}, ("bounds", "unexpected", r"the key `10\n`")),
    ],
    ids=["white space to JSON Schema alone", "an end of the line before the end"],
)
def test_both_validators_read_patterns_as_json_schema_has_them(entry, expected):
    (document,) = read_documents(Source("a.json", json.dumps({"rubrics": [entry]})))[0]
    schema = schema_for()
    found = [
        (rule, problem.code, problem.values["found"])
        for rule, problem in find_violations(schema, document, ("rubrics",), [entry])
    ]
    assert (schema.is_valid([entry]), found) == (False, [expected])


@pytest.mark.parametrize("key", ["\u00b2", "\u0667", "9" * 5000], ids=["a superscript", "an Arabic seven", "very long"])
def test_a_fault_beside_a_key_that_only_looks_like_its_key_has_its_place(key):
    entry = {"id": "a", "score_ranges": {key: "It", "7": 5}}
    schema = schema_for()
    faults = {(fault.path, fault.keyword) for fault in schema.find_faults(schema.item, entry)}
    assert faults == {(("score_ranges",), "pattern"), (("score_ranges", "7"), "type")}


def test_the_schemas_in_use_are_those_of_the_checkout():
    authored = Path(__file__).parents[2] / "schemas"
    held = {path.relative_to(schemas_root()): path.read_bytes() for path in schemas_root().rglob("*.json")}
    assert held == {path.relative_to(authored): path.read_bytes() for path in authored.rglob("*.json")}


def test_two_scales_in_one_criterion_break_the_schema():
    levels = "levels: {1: It is not said, 2: It is said}"
    ranges = "score_ranges: {0: It is not said, 6: It is hinted at, 8: It is said}"
    found = lint("a.yaml", f"rubrics: [{{id: a, {ranges}, {levels}}}]\n".encode()).findings
    assert [(each.code, each.pointer) for each in found] == [("mixing.misplaced", "/rubrics/0/levels")]
    entry = {"id": "a", "score_ranges": {"0": "It is not said"}, "levels": {"1": "It is not said", "2": "It is said"}}
    assert not schema_for().is_valid_entry(entry)


def test_no_gate_has_a_default():
    with_default = {name for name, field in schema_for().entry_fields.items() if "default" in field}
    assert with_default == {"weight"}


@pytest.mark.parametrize(
    ("entry", "shape", "gate"),
    [
        ("{id: a, expected_outcome: It, owner: x}", "", "required_min_score"),
        ("{id: a, levels: {1: It, 2: So}, owner: x}", "levels", "required_min_level"),
        ("{id: a, score_ranges: {0: It, 6: So}, owner: x}", "score_ranges", "required_min_score"),
        ("{score_range: [0, 4], expected_outcome: It, owner: x}", "score_range", ""),
    ],
)
def test_an_unknown_field_lists_the_fields_of_its_shape(entry, shape, gate):
    findings = lint("a.yaml", f"rubrics:\n  - {entry}\n".encode(), CLAIMED["v2"]).findings
    (known,) = (finding.values["known"] for finding in findings if finding.code == "unknown-field.unknown")
    listed = known.replace("`", "").split(", ")
    known = schema_for().fields_of_shape(frozenset({shape} - {""}))
    assert listed == [name for name in known if name == shape or name not in SHAPE_FIELDS]
    assert {name for name in listed if name.startswith("required") or name in SHAPE_FIELDS} == {shape, gate} - {""}


def test_a_field_of_criteria_is_unknown_in_a_band():
    text = "rubrics:\n- id: a\n  score_ranges:\n  - {score_range: [0, 10], expected_outcome: It, weight: 1}\n"
    known = [
        finding.values["known"]
        for finding in lint("a.rubric.yaml", text.encode()).findings
        if finding.rule == "unknown-field"
    ]
    assert known == ["`score_range`, `expected_outcome`"]


def test_a_dialect_that_allows_other_fields_says_what_is_missing_beside_a_misspelt_one():
    sound = '{"criterion": "Says it", "points": 5, "tags": []}'
    text = f'{{"prompt_id": "a", "prompt": [], "rubrics": [{sound}, {sound.replace("rion", "rian")}]}}\n'
    messages = [finding.message for finding in lint("a.jsonl", text.encode()).findings if finding.rule == "schema"]
    start = "criterion 2: missing field `criterion`: what an observer sees"
    assert [message[: len(start)] for message in messages] == [start]

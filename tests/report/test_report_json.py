import json
from pathlib import Path

from jsonschema import Draft7Validator

from rubric_lint.lint.engine import Result
from rubric_lint.lint.run.summary import Summary
from rubric_lint.model.finding import Finding, Related, Severity
from rubric_lint.report import REPORTERS, Style
from rubric_lint.source.edits.intents import Fix
from rubric_lint.source.source import Edit, Source, Span

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas/report/v1.json").read_text("utf-8"))

TEXT = "# 👍\nrubrics:\n  - id: a\n    wieght: 2\n  - id: a\n"
KEY = Span(TEXT.index("wieght"), TEXT.index("wieght") + 6)
FIRST = Span(TEXT.index("a\n"), TEXT.index("a\n") + 1)
LAST = Span(len(TEXT) - 2, len(TEXT) - 1)
FIX = Fix("rename `wieght` to `weight`", (Edit(KEY, "weight"),), safe=False)
FINDINGS = (
    Finding(
        "unknown-field", Severity.ERROR, "no field", KEY, "/rubrics/0/wieght", (), FIX, code="unknown-field.misspelt"
    ),
    Finding(
        "duplicate-id", Severity.WARNING, "twice", LAST, "/1", (Related("first", FIRST),), code="duplicate-id.taken"
    ),
)


def render(*results, summary=None, **look):
    pieces = []
    report = REPORTERS["json"](pieces.append, Style(**look))
    total = Summary()
    for result in results:
        report.add(result)
        total = total.plus(Summary.of(result))
    report.end(summary or total)
    return "".join(pieces)


def test_places_count_characters_and_the_object_follows_its_schema():
    faulty = Result(Source("suite.yaml", TEXT), FINDINGS, rubrics=1, criteria=2, ignored=3)
    printed = render(faulty, Result(Source("b.yaml", ""), (), rubrics=0, criteria=0, ignored=0))
    lines = printed.splitlines()[3:]  # a finding is a line of its own
    rules = [json.loads(line.strip(" ,").removesuffix("]}"))["rule"] for line in lines]
    assert rules == ["unknown-field", "duplicate-id"]
    found = json.loads(printed)
    assert [*Draft7Validator(SCHEMA).iter_errors(found)] == []
    key = {"start": {"line": 4, "column": 5, "offset": 27}, "end": {"line": 4, "column": 11, "offset": 33}}
    first = {"start": {"line": 3, "column": 9, "offset": 21}, "end": {"line": 3, "column": 10, "offset": 22}}
    field, twice = found["findings"]
    assert (
        field.items()
        >= {"rule": "unknown-field", "code": "unknown-field.misspelt", "path": "/rubrics/0/wieght"}.items()
    )
    assert field.items() >= key.items()
    assert field["fix"] == {"title": FIX.title, "safe": False, "edits": [{**key, "text": "weight"}]}
    assert (twice["related"], twice["fix"]) == ([{"message": "first", "file": "suite.yaml", **first}], None)
    assert [found["summary"][name] for name in ("files", "files_with_rubrics", "criteria", "ignored")] == [2, 1, 2, 3]


def test_no_findings():
    zeros = '"rubrics": 0, "criteria": 0, "errors": 0, "warnings": 0, "ignored": 0'
    head = f'{{"version": 1,\n "summary": {{"files": 0, "files_with_rubrics": 0, {zeros}}},\n'
    assert render() == render(quiet=True) == render(color=True) == f'{head} "findings": []}}\n'


def test_what_is_not_unicode_text_is_replaced():
    half = Finding("schema", Severity.ERROR, "\ud83d\udc4d \ud800", Span(0, 0), "/\ud800")
    actual = render(Result(Source("\udcff.yaml", ""), (half,), rubrics=0, criteria=0, ignored=0))
    expected = ["👍 \ufffd", "\ufffd.yaml", "/\ufffd"]
    assert actual.isascii()
    assert expected == [json.loads(actual)["findings"][0][key] for key in ("message", "file", "path")]


def test_the_schema_is_a_schema_and_closed():
    Draft7Validator.check_schema(SCHEMA)
    objects = [node for node in nodes(SCHEMA) if node.get("type") == "object"]
    assert [node["additionalProperties"] for node in objects] == [False] * 20
    optional = {name for node in objects for name in node["properties"].keys() - set(node["required"])}
    counts = {"known", "untouched", "unchanged_files", "passed_over", "outside", "tests", "passed", "failed"}
    counts |= {"other_kinds", "excluded_files", "excluded_folders", "unread", "near_misses", "hints", "failing"}
    assert optional == counts | {"review", "coverage", "mutation", "catch_rate", "judged", "choices", "steps"}


def test_every_property_is_described():
    properties = [part for node in nodes(SCHEMA) for part in node.get("properties", {}).items()]
    assert [name for name, node in properties if not node.get("description")] == []


def nodes(schema):
    """Every subschema, the schema itself first."""
    yield schema
    for key in ("properties", "definitions"):
        for node in schema.get(key, {}).values():
            yield from nodes(node)

"""The bundled schemas in the JSON service of VS Code: what it inserts into a `*.rubric.json` file."""

import json
import os
import re
import subprocess

import pytest
from node import ROOT, install_locked, node

from rubric_lint.lint.engine import lint

pytestmark = pytest.mark.slow

COMPLETE = """
const {getLanguageService, TextDocument} = require("vscode-json-languageservice");
const {schema, before, after} = JSON.parse(require("fs").readFileSync(0, "utf8"));
const service = getLanguageService({});
service.configure({schemas: [{uri: "test://schema", fileMatch: ["*"], schema}]});
const document = TextDocument.create("test://a.rubric.json", "json", 1, before + after);
const at = document.positionAt(before.length);
const parsed = service.parseJSONDocument(document);
(async () => {
  const {items} = await service.doComplete(document, at, parsed);
  const messages = (await service.doValidation(document, parsed)).map((found) => found.message);
  const offered = Object.fromEntries(items.map((item) => [item.label, item.textEdit.newText]));
  console.log(JSON.stringify({offered, messages}));
})();
"""


FORMS = ["rubric-v2", "rubric-v2.completion"]


def ask(text, schema):
    """What is offered at the `|`, by its label, with what it inserts; and the messages about the file."""
    if not node():
        pytest.skip("the service runs on Node.js, and there is none")
    before, _, after = text.partition("|")
    schema = json.loads((ROOT / f"schemas/bundled/{schema}.schema.json").read_text("utf-8"))
    given = json.dumps({"schema": schema, "before": before, "after": after})
    environment = {**os.environ, "NODE_PATH": str(install_locked())}
    done = subprocess.run(
        [node(), "-e", COMPLETE], input=given, capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(done.stdout)


def offered(text, schema="rubric-v2"):
    return ask(text, schema)["offered"]


def fill(inserted):
    """A snippet with what it suggests, and `It` where it suggests nothing."""
    return re.sub(r"\$\d+", "It", re.sub(r"\$\{\d+:([^}]*)\}", r"\1", inserted))


@pytest.mark.parametrize(
    ("text", "label", "inserted"),
    [
        ('{"rubrics": [{"score_range": |}]}', "[lowest, highest]", "[${1:0}, ${2:10}]"),
        ('{"rubrics": [{|}]}', "score_range", '"score_range": [${1:0}, ${2:10}]'),
        ('{"rubrics": [{"id": "a", "score_ranges": [{|}]}]}', "score_range", '"score_range": [${1:0}, ${2:10}]'),
        ('{"rubrics": [{|}]}', "weight", '"weight": ${1:1}'),
    ],
)
@pytest.mark.parametrize("schema", FORMS)
def test_a_range_is_inserted_as_a_list_and_a_number_as_a_number(text, label, inserted, schema):
    assert offered(text, schema)[label] == inserted


def test_the_schema_for_completion_leaves_what_is_wrong_to_our_own_server():
    text = '{"rubrics": [{"wieght": "heavy", "score_range": [0, 11, "x"]}, 7], "rubric": 1}|'
    assert [bool(ask(text, schema)["messages"]) for schema in FORMS] == [True, False]


def test_what_is_inserted_and_filled_in_has_no_error():
    inserted = fill(offered('{"rubrics": [{"expected_outcome": "Says so", |}]}')["score_range"])
    result = lint("a.rubric.json", f'{{"rubrics": [{{"expected_outcome": "Says so", {inserted}}}]}}'.encode())
    assert [finding for finding in result.findings if finding.severity == "error"] == []


def test_no_snippet_of_a_schema_writes_a_value_that_is_no_string_as_one():
    def bodies(node):
        if isinstance(node, dict):
            yield from (each["body"] for each in node.get("defaultSnippets", ()))
            node = list(node.values())
        for child in node if isinstance(node, list) else ():
            yield from bodies(child)

    def strings(body):
        if isinstance(body, str):
            yield body
        for child in body.values() if isinstance(body, dict) else body if isinstance(body, list) else ():
            yield from strings(child)

    for path in (ROOT / "schemas/bundled").glob("*.schema.json"):
        for body in bodies(json.loads(path.read_text("utf-8"))):
            # A caret has editors insert what follows as it is.
            wrong = [text for text in strings(body) if re.fullmatch(r"[\d.]+|\[.*\]|\{.*\}", fill(text))]
            assert wrong == [], path.name

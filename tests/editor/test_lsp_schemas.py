"""The schema that the server names for a document, which the VS Code extension hands to the YAML server."""

import pytest
from editor import run
from embedded import Client
from typed import state_of

from rubric_lint.editor.server.analysis import analyse
from rubric_lint.editor.server.schemas import find_schema

OURS = "rubrics:\n  - {id: a, expected_outcome: Says so}\n"
AGENTV_5 = """\
prompts: [x]
tests:
  - id: a
    assert:
      - {type: llm-rubric, value: [{id: b, outcome: Says so}]}
"""
AGENTV_4 = """\
tests:
  - id: a
    input: x
    criteria: y
    assertions:
      - {type: rubrics, criteria: [{id: b, outcome: Says so, required: true, operator: correctness}]}
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("/a.rubric.yaml", OURS, "rubric-v2"),
        ("/a.yaml", f"tests:\n  - id: x\n    {OURS.replace(chr(10), chr(10) + '    ')}", "suite-v2"),
        ("/a.yaml", "# $schema: rubric-v1.schema.json\nrubrics:\n  - {id: a, description: Says so}\n", "suite-v1"),
        ("/a.yaml", "# $schema: suite-v3.schema.json\nrubrics: {scale: [1, 5], criteria: [Says so]}\n", "suite-v3"),
        ("/a.yaml", "# $schema: rubric-v3.schema.json\nscale: [1, 5]\ncriteria: [Says so]\n", "rubric-v3"),
        ("/a.rubric.yaml", "# $schema: rubric-v3.schema.json\nrubrics: [Says so]\n", "rubric-v3"),
        ("/a.yaml", AGENTV_5, "agentv-a7"),
        ("/a.yaml", AGENTV_4, "agentv-a6"),
        ("/a.yaml", "key: value\n", ""),
        ("/a.rubric.yaml", "rubrics: [\n", ""),
        ("/a.rubric.json", '{"rubrics": [{"id": "a", "expected_outcome": "Says so"}]}', ""),
        ("/a.rubric-test.yaml", "rubric: a.rubric.yaml\n", ""),
    ],
)
def test_the_schema_is_that_of_the_rubrics(name, text, expected):
    assert find_schema(analyse(state_of(text, name))) == (expected and f"{expected}.completion.schema.json")


@pytest.mark.slow
def test_an_editor_that_asks_for_it_is_told_once_and_again_when_the_schema_changes(tmp_path):
    uri = (tmp_path / "a.yaml").as_uri()

    async def test():
        client, told = Client(), []
        await client.start(options={"nameSchemas": True})
        client.open(uri, AGENTV_5)
        told.append((await client.expect(lambda each: each["method"] == "rubric-lint/schema"))["params"])
        for version, text in enumerate((f"{AGENTV_5}\n", "tests: [", AGENTV_4), 2):
            document = {"textDocument": {"uri": uri, "version": version}}
            client.notify("textDocument/didChange", {**document, "contentChanges": [{"text": text}]})
            await client.diagnostics(uri)
        told.append((await client.expect(lambda each: each["method"] == "rubric-lint/schema"))["params"])
        await client.end()
        return told, [message["method"] for message in client.messages].count("rubric-lint/schema")

    names = ("agentv-a7.completion.schema.json", "agentv-a6.completion.schema.json")
    assert run(test()) == ([{"uri": uri, "schema": name} for name in names], 2)

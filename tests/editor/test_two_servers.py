"""Our language server beside that of YAML, as in VS Code: no mistake is hidden, and none is reported twice."""

import sys
from pathlib import Path

import pytest
from node import ROOT, install_locked, node
from stdio_server import StdioServer

pytestmark = pytest.mark.slow

SCHEMAS = {"rubric-v2": "*.rubric.yaml", "agentv-a7": "*.eval.yaml"}
BAND = "expected_outcome: States the total"
AGENTV = """\
tests:
  - id: refund
    input: Where is my refund?
    criteria: States the date
    assertions:
      - type: rubrics
        criteria:
          - {id: date, outcome: States the date of the refund, wieght: 2}
          - {id: tone, outcome: ''}
"""
IGNORED = "# rubric-lint: ignore"

# What the YAML server says, and what ours does.
SAID = {
    "sound": (f"rubrics:\n  - {{id: a, {BAND}}}\n", [], []),
    "a key in two notations": (
        f"rubrics:\n  - {{id: a, score_ranges: {{0: No sum, 6: Names it, 8: Adds it, '8': Proves it}}, {BAND}}}\n",
        [],
        ["duplicate-key"],
    ),
    "a control character": ("rubrics:\n  - Names it \x92 twice\n", [], ["syntax"]),
    "a key twice": (f"rubrics:\n  - {{id: a, weight: 1, weight: 2, {BAND}}}\n", ["Map keys must be unique"], []),
    "a misspelt field": (f"rubrics:\n  - {{id: a, wieght: 2, {BAND}}}\n", [], ["unknown-field"]),
    "one that is ignored": (f"rubrics:\n  - id: a\n    {BAND}\n    wieght: 2 {IGNORED}[unknown-field]\n", [], []),
    "a wrong type": (f"rubrics:\n  - {{id: a, weight: heavy, {BAND}}}\n", [], ["schema"]),
    "one that is not counted": (f"rubrics:\n  - id: a\n    {BAND}\n    weight: heavy {IGNORED}[schema]\n", [], []),
    "a bound": (f"rubrics:\n  - {{id: a, required_min_score: 11, {BAND}}}\n", [], ["bounds"]),
    "a missing field": ("rubrics:\n  - {id: a}\n", [], ["schema"]),
    "no list": ("rubrics: {}\n", [], ["schema"]),
    "an AgentV suite": (AGENTV, [], ["unknown-field", "empty-outcome"]),
}


@pytest.fixture(scope="module", params=["1", "2"])
def servers(request, tmp_path_factory):
    """The YAML server with the schemas that the extension for VS Code brings, and ours, which knows of it."""
    if not node():
        pytest.skip("the language server runs on Node.js, and there is none")
    folder = tmp_path_factory.mktemp("editor")
    schemas = {
        (ROOT / f"schemas/bundled/{name}.completion.schema.json").as_uri(): [files] for name, files in SCHEMAS.items()
    }
    settings = {"yaml": {"schemas": schemas, "schemaStore": {"enable": False}}}
    program = install_locked() / f"yaml-language-server-{request.param}/bin/yaml-language-server"
    theirs = StdioServer([node(), program, "--stdio"], folder, settings)
    ours = StdioServer([Path(sys.executable).with_name("rubric-lint"), "lsp"], folder, {})
    ours.tell("rubric-lint/schemaServer", {"active": True})
    yield theirs, ours
    theirs.close()
    ours.close()


@pytest.mark.parametrize("case", SAID)
def test_each_mistake_is_reported_by_one_of_two_servers(servers, case):
    text, by_theirs, by_ours = SAID[case]
    theirs, ours = servers
    uri = (ours.folder / f"{[*SAID].index(case)}.{'eval' if text is AGENTV else 'rubric'}.yaml").as_uri()
    assert [each["message"] for each in theirs.show(uri, text)] == by_theirs
    assert [each["code"] for each in ours.show(uri, text)] == by_ours

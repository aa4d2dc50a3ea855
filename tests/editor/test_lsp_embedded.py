"""The language server in a program that hands it messages: without a process, stdin or stdout."""

import asyncio

from embedded import Client

FAULTY = "rubrics:\n  - id: a\n    expected_outcome: Says so\n    wieght: 2\n"


async def session(uri):
    client = Client()
    known = await client.start(capabilities={})
    client.open(uri, FAULTY)
    (diagnostic,) = await client.diagnostics(uri)
    params = {"textDocument": {"uri": uri}, "range": diagnostic["range"], "context": {"diagnostics": [diagnostic]}}
    actions = await client.ask("textDocument/codeAction", params)
    wrong = await client.ask("textDocument/hover", {"textDocument": 1})
    client.send({"nothing": "known"})
    over = await client.ask("shutdown", None)
    was_open = client.is_open
    client.notify("exit", None)
    return {
        "name": known["result"]["serverInfo"]["name"],
        "place": (diagnostic["range"]["start"], diagnostic["code"]),
        "edits": actions["result"][0]["edit"],
        "wrong": wrong["error"]["code"],
        "over": over["result"],
        "open": (was_open, client.is_open),
    }


def test_a_client_in_the_same_program_gets_findings_and_fixes():
    uri = "file:///somewhere/a.rubric.yaml"
    place = {"line": 3, "character": 4}
    edit = {"range": {"start": place, "end": {"line": 3, "character": 10}}, "newText": "weight"}
    assert asyncio.run(session(uri)) == {
        "name": "rubric-lint",
        "place": (place, "unknown-field"),
        "edits": {"changes": {uri: [edit]}},
        "wrong": -32602,
        "over": None,
        "open": (True, False),
    }

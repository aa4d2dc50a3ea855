"""The language server in a program that hands it messages: without a process, stdin or stdout."""

import asyncio
import json

from rubric_lint.lsp.server import Server

FAULTY = "rubrics:\n  - id: a\n    expected_outcome: Says so\n    wieght: 2\n"


class Client:
    """A client that answers every request with null, and keeps what it receives."""

    def __init__(self):
        self.received = asyncio.Queue()
        self.give = Server().attach(self.take)
        self.is_open = True

    def take(self, text):
        message = json.loads(text)
        if "id" in message and "method" in message:
            asyncio.get_running_loop().call_soon(self.send, {"id": message["id"], "result": None})
        else:
            self.received.put_nowait(message)

    def send(self, message):
        self.is_open = self.give(json.dumps({"jsonrpc": "2.0", **message}))

    async def ask(self, method, params):
        self.send({"id": method, "method": method, "params": params})
        return await self.expect(lambda message: message.get("id") == method)

    async def expect(self, is_wanted):
        async with asyncio.timeout(30):
            while not is_wanted(message := await self.received.get()):
                pass
        return message


async def session(uri):
    client = Client()
    known = await client.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    client.send({"method": "initialized", "params": {}})
    item = {"uri": uri, "languageId": "yaml", "version": 1, "text": FAULTY}
    client.send({"method": "textDocument/didOpen", "params": {"textDocument": item}})
    published = await client.expect(lambda message: message.get("method") == "textDocument/publishDiagnostics")
    (diagnostic,) = published["params"]["diagnostics"]
    params = {"textDocument": {"uri": uri}, "range": diagnostic["range"], "context": {"diagnostics": [diagnostic]}}
    actions = await client.ask("textDocument/codeAction", params)
    wrong = await client.ask("textDocument/hover", {"textDocument": 1})
    client.send({"nothing": "known"})
    over = await client.ask("shutdown", None)
    was_open = client.is_open
    client.send({"method": "exit", "params": None})
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

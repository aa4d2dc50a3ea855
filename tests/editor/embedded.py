"""A language server in this process, which is handed messages: no start of a process, so a test of it is quick."""

import asyncio
import inspect
import json

from rubric_lint.editor.features import Server

EDITOR = {
    "workspace": {"configuration": True, "workspaceFolders": True, "workspaceEdit": {"documentChanges": True}},
    "textDocument": {"codeAction": {"dataSupport": True, "resolveSupport": {"properties": ["edit"]}}},
}
"""The capabilities of a modern editor that gets diagnostics as they are found."""


class Client:
    """A client that answers every request with null or by `answers`, and keeps what it receives.

    An answer may be awaitable: then it is sent later.
    """

    def __init__(self, answers=None, connect=None):
        self.messages = []
        self._received = asyncio.Queue()
        self._results = {}
        self._answering = []
        self.give = (connect or Server().attach)(self.take)
        self.is_open = True
        self._answers = {"workspace/configuration": lambda params: [None] * len(params["items"]), **(answers or {})}
        self._asked = 0

    async def start(self, *folders, capabilities=EDITOR, options=None):
        """Begin a session in folders, given by their URIs; the answer to `initialize`."""
        params = {"processId": None, "rootUri": None, "capabilities": capabilities, "initializationOptions": options}
        params["workspaceFolders"] = [{"uri": uri, "name": uri} for uri in folders] or None
        known = await self.ask("initialize", params)
        self.notify("initialized", {})
        return known

    def take(self, text):
        message = json.loads(text)
        if "id" in message and "method" in message:
            self._answering.append(asyncio.ensure_future(self._answer(message)))
        elif "id" in message:
            self._results[message["id"]].set_result(message)
        else:
            self.messages.append(message)
            self._received.put_nowait(message)

    async def _answer(self, message):
        answer = self._answers.get(message["method"], lambda _: None)(message.get("params"))
        self.send({"id": message["id"], "result": await answer if inspect.isawaitable(answer) else answer})

    def send(self, message):
        self.is_open = self.give(json.dumps({"jsonrpc": "2.0", **message}))

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def open(self, uri, text, language="yaml", version=1):
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    async def ask(self, method, *params):
        """Send a request at once; the message that answers it, once it comes."""
        return await asyncio.wait_for(self.request(method, *params), 30)

    def request(self, method, *params):
        """Send a request, perhaps without parameters; a future with the message that answers it."""
        self._asked += 1
        self._results[self._asked] = asyncio.get_running_loop().create_future()
        self.send({"id": self._asked, "method": method, **dict(zip(["params"], params, strict=False))})
        return self._results[self._asked]

    async def at(self, method, uri, line, character, **more):
        """The answer to a request about a place in a document."""
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return await self.ask(f"textDocument/{method}", {**place, **more})

    async def diagnostics(self, uri):
        """The next diagnostics of a document."""
        published = "textDocument/publishDiagnostics"
        message = await self.expect(lambda item: item.get("method") == published and item["params"]["uri"] == uri)
        return message["params"]["diagnostics"]

    async def expect(self, is_wanted):
        async with asyncio.timeout(30):
            while not is_wanted(message := await self._received.get()):
                pass
        return message

    async def end(self):
        answer = await self.ask("shutdown", None)
        self.notify("exit", None)
        return answer

    @property
    def logged(self):
        return [item["params"]["message"] for item in self.messages if item.get("method") == "window/logMessage"]

    @property
    def told(self):
        return [item["params"]["message"] for item in self.messages if item.get("method") == "window/showMessage"]

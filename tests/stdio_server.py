"""A language server over its standard streams, spoken to as an editor does."""

import json
import queue
import subprocess
import threading
from pathlib import Path


class StdioServer:
    """A running language server. Opened documents get a diagnosis; a position is a line and a character, from 0."""

    def __init__(self, command, folder, settings, *, options=None, wait=30):
        self.settings, self.wait, self.folder = settings, wait, Path(folder)
        self._number = 0
        self._inbox = queue.Queue()
        self._kept = []
        self._process = subprocess.Popen(
            [*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
        )
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._drain, daemon=True).start()
        self.errors = b""
        capabilities = {
            "workspace": {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}, "workspaceFolders": True},
            "textDocument": {
                "publishDiagnostics": {"relatedInformation": True},
                "hover": {"contentFormat": ["markdown", "plaintext"]},
                "completion": {
                    "completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"], "deprecatedSupport": True}
                },
            },
        }
        root = self.folder.as_uri()
        self.initialized = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": "test"}],
                "capabilities": capabilities,
                "initializationOptions": options or {},
            },
        )
        self.notify("initialized", {})
        self.notify("workspace/didChangeConfiguration", {"settings": settings})

    def request(self, method, params):
        """What the server answers; an error fails."""
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        answer = self._next(lambda message: message.get("id") == number and "method" not in message)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def notify(self, method, params):
        self._send({"method": method, "params": params})

    def open(self, uri, text, language="yaml"):
        """The diagnostics of a document that is opened."""
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        published = "textDocument/publishDiagnostics"
        return self._next(lambda m: m.get("method") == published and m["params"]["uri"] == uri)["params"]["diagnostics"]

    def at(self, method, uri, line, character):
        """What the server says of a position."""
        position = {"line": line, "character": character}
        return self.request(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": position})

    def close(self):
        try:
            self.request("shutdown", None)
            self.notify("exit", None)
            self._process.wait(10)
        finally:
            self._process.kill()
            self._process.wait()

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _next(self, wanted):
        for message in self._kept:
            if wanted(message):
                self._kept.remove(message)
                return message
        while True:
            try:
                message = self._inbox.get(timeout=self.wait)
            except queue.Empty:
                raise TimeoutError(f"no answer in {self.wait} s; the server wrote: {self.errors.decode()}") from None
            assert message is not None, f"the server ended: {self.errors.decode()}"
            if "method" in message and "id" in message:
                self._answer(message)
            elif wanted(message):
                return message
            else:
                self._kept.append(message)

    def _answer(self, asked):
        result = None
        if asked["method"] == "workspace/configuration":
            result = [self.settings.get(item.get("section"), {}) for item in asked["params"]["items"]]
        self._send({"id": asked["id"], "result": result})

    def _read(self):
        stream = self._process.stdout
        while header := stream.readline():
            length = int(header.split(b":")[1]) if header.lower().startswith(b"content-length") else length
            if header == b"\r\n":
                self._inbox.put(json.loads(stream.read(length)))
        self._inbox.put(None)

    def _drain(self):
        for line in self._process.stderr:
            self.errors += line

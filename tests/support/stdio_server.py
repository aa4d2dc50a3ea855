"""A language server over its standard streams, spoken to as an editor does."""

import json
import queue
import subprocess
import threading
from pathlib import Path

CAPABILITIES = {
    "workspace": {"configuration": True, "workspaceFolders": True},
    "textDocument": {
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}},
    },
}


class StdioServer:
    """A running language server. Lines and characters count from 0."""

    def __init__(self, command, folder, settings, *, answers=None, wait=60):
        self.folder = Path(folder)
        self._settings, self._wait = settings, wait
        self._answers = {"workspace/configuration": self._configure, **(answers or {})}
        self._asked, self._kept, self._inbox = 0, [], queue.Queue()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen([*map(str, command)], cwd=folder, **pipes)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        root = self.folder.as_uri()
        folders = [{"uri": root, "name": self.folder.name}]
        offer = {"processId": None, "rootUri": root, "workspaceFolders": folders, "capabilities": CAPABILITIES}
        self.initialized = self.request("initialize", offer)
        self.notify("initialized", {})
        self.notify("workspace/didChangeConfiguration", {"settings": settings})

    def request(self, method, params):
        """What the server answers; an error fails."""
        self._asked += 1
        number = self._asked
        self._send({"id": number, "method": method, "params": params})
        answer = self._next(lambda message: message.get("id") == number and "method" not in message)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def notify(self, method, params):
        self._send({"method": method, "params": params})

    def open(self, uri, text, language="yaml"):
        """The diagnostics of a document that is opened."""
        self.notify(
            "textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": text}}
        )
        published = "textDocument/publishDiagnostics"
        return self._next(lambda each: each.get("method") == published and each["params"]["uri"] == uri)["params"][
            "diagnostics"
        ]

    def at(self, method, uri, line, character):
        """What the server says of a position."""
        position = {"line": line, "character": character}
        return self.request(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": position})

    def close(self):
        try:
            self.request("shutdown", None)
            self.notify("exit", None)
            self._process.wait(20)
        finally:
            self._process.kill()
            self._process.wait()
            self._reader.join(10)
            self._process.stdin.close()
            self._process.stdout.close()

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
            message = self._inbox.get(timeout=self._wait)
            assert message is not None, "the server ended"
            if "method" in message and "id" in message:
                self._answer(message)
            elif wanted(message):
                return message
            else:
                self._kept.append(message)

    def _answer(self, asked):
        answer = self._answers.get(asked["method"], lambda _: None)
        self._send({"id": asked["id"], "result": answer(asked["params"])})

    def _configure(self, params):
        return [self._settings.get(item.get("section"), {}) for item in params["items"]]

    def _read(self):
        stream, length = self._process.stdout, 0
        while header := stream.readline():
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
            elif header == b"\r\n":
                self._inbox.put(json.loads(stream.read(length)))
        self._inbox.put(None)

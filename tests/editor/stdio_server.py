"""A language server in a process of its own, spoken to as an editor does."""

import asyncio
import subprocess
from pathlib import Path

from editor import loop, run
from embedded import Client

CAPABILITIES = {
    "workspace": {"configuration": True, "workspaceFolders": True},
    "textDocument": {
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}},
    },
}


class StdioServer(Client):
    """A server behind the standard streams of a process. Lines and characters count from 0; an error fails."""

    def __init__(self, command, folder, settings, *, answers=None):
        def configure(params):
            return [settings.get(item.get("section"), {}) for item in params["items"]]

        super().__init__({"workspace/configuration": configure, **(answers or {})}, lambda _: self._write)
        self.folder = Path(folder)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process = run(asyncio.create_subprocess_exec(*map(str, command), cwd=folder, limit=1 << 24, **pipes))
        self._reading = asyncio.run_coroutine_threadsafe(self._read(), loop())
        self.initialized = run(self.start(self.folder.as_uri(), capabilities=CAPABILITIES))["result"]
        self.tell("workspace/didChangeConfiguration", {"settings": settings})

    def _write(self, text):
        body = text.encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return True

    async def _read(self):
        stream, length = self._process.stdout, 0
        while header := await stream.readline():
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
            elif header == b"\r\n":
                self.take(await stream.readexactly(length))

    def tell(self, method, params):
        loop().call_soon_threadsafe(self.notify, method, params)

    def show(self, uri, text, language="yaml"):
        """The diagnostics of a document that is opened."""
        loop().call_soon_threadsafe(self.open, uri, text, language)
        return run(self.diagnostics(uri))

    def look(self, method, uri, line, character):
        """What the server says of a position."""
        return run(self.at(method, uri, line, character))["result"]

    def close(self):
        run(self.end())
        run(self._process.wait())
        self._reading.result(10)

"""An editor for tests: a real server process, talked to over its standard input and output."""

import asyncio
import atexit
import contextlib
import re
import sys
import threading
from functools import cache
from itertools import accumulate
from operator import attrgetter
from pathlib import Path

from lsprotocol import types
from pytest_lsp import client as protocol
from pytest_lsp import client_capabilities, make_test_lsp_client

# A converter generates code for each kind of message, which takes longer than most tests.
protocol.default_converter = cache(protocol.default_converter)
protocol.get_converter = cache(protocol.get_converter)

TIMEOUT = 30
LONGEST = 300
SERVER = (sys.executable, "-m", "rubric_lint", "lsp")
CLIENT = "visual-studio-code"


class Editor:
    """One session. `published` has every publishDiagnostics message; `client` is pytest-lsp's."""

    def __init__(self, client):
        self.client = client
        self.published = []
        self.registered = []
        self._news = asyncio.Condition()

    async def publish(self, params):
        async with self._news:
            self.published.append(params)
            self._news.notify_all()

    def open(self, place, text, language="yaml", version=1):
        """Open a document, of which the path or the URI is given; return its URI."""
        uri = place if isinstance(place, str) else uri_of(place)
        item = types.TextDocumentItem(uri, language, version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri, version, *changes):
        document = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    def replace(self, uri, version, text):
        self.change(uri, version, types.TextDocumentContentChangeWholeDocument(text))

    def close(self, uri):
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def diagnostics(self, uri, version=1):
        """The diagnostics of a version, once they come."""
        wanted = [version]

        def latest():
            return next((item for item in reversed(self.published) if (item.uri, item.version) == (uri, *wanted)), None)

        async with self._news:
            await asyncio.wait_for(self._news.wait_for(latest), TIMEOUT)
        return latest().diagnostics

    async def next_diagnostics(self, uri):
        """The next diagnostics of a document, whatever its version."""
        before = len(self.published)

        def newer():
            return next((item for item in self.published[before:] if item.uri == uri), None)

        async with self._news:
            await asyncio.wait_for(self._news.wait_for(newer), TIMEOUT)
        return newer().diagnostics

    async def after(self, uri, send, *arguments):
        """The next diagnostics of a document once a message is sent."""
        news = asyncio.create_task(self.next_diagnostics(uri))
        await asyncio.sleep(0)
        send(*arguments)
        return await news

    async def touch(self, uri, path):
        """The next diagnostics of a document after a file that the editor watches has changed."""
        event = types.FileEvent(uri_of(path), types.FileChangeType.Changed)
        watched = types.DidChangeWatchedFilesParams([event])
        return await self.after(uri, self.client.workspace_did_change_watched_files, watched)

    async def configure(self, uri, settings=None):
        """The next diagnostics of a document after the settings of the editor have changed."""
        params = types.DidChangeConfigurationParams(settings)
        return await self.after(uri, self.client.workspace_did_change_configuration, params)

    async def found(self, uri, version=1):
        """The codes and lines of a version's diagnostics."""
        return [(item.code, item.range.start.line) for item in await self.diagnostics(uri, version)]

    async def actions(self, uri, start=(0, 0), end=(10_000, 0), only=None):
        place = types.Range(types.Position(*start), types.Position(*end))
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, types.CodeActionContext([], only))
        return await self.client.text_document_code_action_async(params) or []

    async def resolve(self, action):
        return await self.client.code_action_resolve_async(action)

    async def ask(self, method, uri, *place, **more):
        """The answer to a request about a document, or about a line and a character of it."""
        params_type = types.METHOD_TO_TYPES[f"textDocument/{method}"][2]
        if place:
            more["position"] = types.Position(*place)
        params = params_type(text_document=types.TextDocumentIdentifier(uri), **more)
        return await asyncio.wait_for(
            self.client.protocol.send_request_async(f"textDocument/{method}", params), TIMEOUT
        )

    async def complete(self, uri, line, character):
        return await self.ask("completion", uri, line, character) or []

    @property
    def logged(self):
        return [item.message for item in self.client.log_messages]

    async def end(self):
        """Shut the server down in order; its exit code."""
        await asyncio.wait_for(self.client.shutdown_session(), TIMEOUT)
        return self.client._server.returncode


def uri_of(path):
    return Path(path).as_uri()


@contextlib.asynccontextmanager
async def start(
    *folders, encodings=None, settings=None, options=None, client=CLIENT, can=None, command=SERVER, env=None
):
    """A session in these folders. `settings`: those of the editor by folder; `can`: its capabilities by path."""
    connection = make_test_lsp_client()
    editor = Editor(connection)
    for folder, value in (settings or {}).items():
        connection.set_configuration({"rubric-lint": value}, scope_uri=folder and uri_of(folder))
    del connection.protocol.fm.features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS]
    connection.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(
        lambda params: asyncio.ensure_future(editor.publish(params))
    )
    connection.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: editor.registered.extend(params.registrations))
    capabilities = client_capabilities(client)
    if encodings:
        capabilities.general = capabilities.general or types.GeneralClientCapabilities()
        capabilities.general.position_encodings = encodings
    for path, value in (can or {}).items():
        group, _, name = path.rpartition(".")
        setattr(attrgetter(group)(capabilities), name, value)
    await connection.start_io(*command, env=env)
    try:
        params = types.InitializeParams(
            capabilities=capabilities,
            workspace_folders=[types.WorkspaceFolder(uri_of(folder), Path(folder).name) for folder in folders],
            initialization_options=options,
        )
        editor.result = await asyncio.wait_for(connection.initialize_session(params), TIMEOUT)
        yield editor
        assert connection.messages == [], "the server pops something up"
    finally:
        if connection._server.returncode is None:
            connection._server.kill()
        await connection._server.wait()
        await connection.stop()


@cache
def loop():
    """The one loop of all tests that are coroutines."""
    found = asyncio.new_event_loop()
    threading.Thread(target=found.run_forever, daemon=True).start()
    return found


def run(test):
    """Run a coroutine on that loop, with an end."""
    return asyncio.run_coroutine_threadsafe(asyncio.wait_for(test, LONGEST), loop()).result()


@cache
def common():
    """A session outside of any folder, for all tests that need no settings; a server takes a second to start."""
    session = start()
    atexit.register(lambda: run(session.__aexit__(None, None, None)))
    return run(session.__aenter__())


def apply_edits(text, edits, encoding="utf-16"):
    """The text after edits, made as the protocol says."""
    lines = re.split("(?<=\r)(?!\n)|(?<=\n)", text)
    starts = [0, *accumulate(map(len, lines))]

    def offset(position):
        line = lines[position.line]
        ends = [units(line[:end], encoding) for end in range(len(line) + 1)]
        return starts[position.line] + ends.index(position.character)

    for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def is_inside_line_end(content, offset):
    return offset > 0 and content[offset - 1 : offset + 1] == "\r\n"


def place(content, offset, encoding):
    """The line and character of an offset into all that the editor has; inside of CRLF it is the end of the line."""
    lines = re.split("\r\n|\r|\n", content[: offset - is_inside_line_end(content, offset)])
    return len(lines) - 1, units(lines[-1], encoding)


def units(text, encoding):
    """How long a text is for an editor, by another way than the code's."""
    sizes = {
        "utf-8": lambda char: len(char.encode("utf-8", "surrogatepass")),
        "utf-16": lambda char: 1 + (ord(char) > 0xFFFF),
        "utf-32": lambda _: 1,
    }
    return sum(map(sizes[encoding], text))

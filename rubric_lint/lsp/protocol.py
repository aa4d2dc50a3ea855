"""pygls with some habits changed: texts are ours, all questions answered in their time, faults only logged."""

import asyncio
import json
import re
import sys
from collections.abc import Callable, Generator
from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcServerNotInitialized
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from rubric_lint.version import __version__

_LONGEST_WAIT = 10.0
_MAGIC = re.compile(r"[*?{}\[\]!,]")  # what a pattern for names of files gives a meaning to


class Protocol(LanguageServerProtocol):
    """Hands changes of documents on as they come.

    pygls would apply them to a text of its own, whose lines end where Python ends them: at form feeds too.
    """

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        """Hand it on."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        """Hand it on."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Generator[Any, Any, None]:
        """Hand it on."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE], (params,), None

    def _execute_handler(
        self,
        msg_id: str | int,
        handler: Callable[..., Any],
        callback: Callable[[Any], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """Run a handler; afterwards its future is dropped, which pygls does only for requests."""

        def finish(future: Any) -> None:
            if not future.cancelled():  # pygls may be going through all of them
                self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, finish, args, kwargs)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Make a message of its data; one that asks with faulty parameters is answered too, which pygls does not do."""
        try:
            return super().structure_message(data)
        except JsonRpcException as fault:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=fault.to_response_error())
            raise

    def handle_message(self, message: Any) -> None:
        """Handle a message at its time; one that asks at another is refused, so that nobody waits."""
        refusal = self._find_refusal(message.method) if hasattr(message, "method") else None
        if refusal is None:
            super().handle_message(message)
        elif hasattr(message, "id"):
            self._send_response(message.id, error=refusal.to_response_error())

    def _find_refusal(self, method: str) -> JsonRpcException | None:
        """Why it is not the time for a message, which for the last one it always is."""
        if method == types.EXIT:
            return None
        if self._shutdown:
            return JsonRpcInvalidRequest("the server was shut down")
        if method == types.INITIALIZE:
            return JsonRpcInvalidRequest("the server is initialized already") if self._workspace else None
        return None if self._workspace else JsonRpcServerNotInitialized("`initialize` comes first")

    def send_notification(self, method: str, params: str) -> None:
        """Send a notification whose parameters are JSON: for thousands of findings they are not made on the loop."""
        body = f'{{"jsonrpc": "{self.VERSION}", "method": {json.dumps(method)}, "params": {params}}}'
        if self.writer is not None:
            head = f"Content-Length: {len(body)}\r\nContent-Type: {self.CONTENT_TYPE}; charset={self.CHARSET}\r\n\r\n"
            self.writer.write((head + body).encode("ascii"))

    @property
    def is_shut_down(self) -> bool:
        """Whether the client has asked for an orderly end."""
        return self._shutdown


class Connection(LanguageServer):
    """The connection with one client, over standard input and output."""

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__(
            "rubric-lint",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            protocol_cls=Protocol,
        )

        self._watched: set[str] = set()

    def log(self, message: str, kind: types.MessageType = types.MessageType.Error) -> None:
        """Write to the log that an editor has for a server; nothing pops up."""
        self.window_log_message(types.LogMessageParams(kind, message))

    def tell(self, message: str) -> None:
        """Say something to the person who has asked for it."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"rubric-lint: {message}"))

    def report_server_error(self, error: Exception, _source: Any) -> None:
        """Log what went wrong with a message."""
        self.log(f"{type(error).__name__}: {error}")

    def run(self) -> bool:
        """Serve until the client ends it or is gone; True when it was an orderly end."""
        stdout = sys.stdout.buffer
        # Whatever is printed by accident must not end up between the messages.
        sys.stdout = sys.stderr
        self.start_io(sys.stdin.buffer, stdout)
        return self.protocol.is_shut_down

    def watch(self, *names: str) -> list[types.Registration]:
        """What to register so that the client tells when files of these names change, as far as it does not yet."""
        new = [name for name in names if name not in self._watched]
        if not new or not self.can("workspace.did_change_watched_files.dynamic_registration"):
            return []
        self._watched.update(new)
        watchers = [types.FileSystemWatcher(f"**/{_MAGIC.sub('?', name)}") for name in new]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        return [types.Registration(" ".join(new), types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)]

    async def register(self, registrations: list[types.Registration]) -> None:
        """Ask the client for what it does on demand."""
        if registrations:
            await self.ask(types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams(registrations))

    def can(self, capability: str) -> Any:
        """What the client says of one of its capabilities."""
        return get_capability(self.client_capabilities, capability)

    async def ask(self, method: str, params: Any) -> Any:
        """Ask the client something; None where it has no answer."""
        try:
            return await asyncio.wait_for(self.protocol.send_request_async(method, params), _LONGEST_WAIT)
        except Exception as fault:
            self.log(
                f"no answer from the editor to {method}: {fault or type(fault).__name__}", types.MessageType.Warning
            )
            return None

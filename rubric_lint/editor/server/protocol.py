"""Adapt pygls: keep our own texts, answer every request, and only log errors."""

import asyncio
import json
import os
import posixpath
import re
import sys
from collections.abc import Callable, Generator, Mapping
from enum import Enum
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import unquote

from cattrs import ClassValidationError, transform_error
from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import (
    FeatureRequestError,
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from rubric_lint.source.source import SIGNED_SUFFIXES, SUFFIXES
from rubric_lint.version import __version__

_DISCONNECTED = 1  # the exit code if the client does not end the server
_LONGEST_WAIT = 10.0
_MAGIC = re.compile(r"[*?{}\[\]!,]")  # the special characters of glob patterns

_REFRESHED = {types.WORKSPACE_INLAY_HINT_REFRESH: "inlay_hint", types.WORKSPACE_CODE_LENS_REFRESH: "code_lens"}


def as_data(value: Any) -> Any:
    """Convert untyped values from a client to plain data; pygls turns some of them into objects."""
    if isinstance(value, Mapping):
        return {str(key): as_data(inner) for key, inner in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return as_data(value._asdict())
    return value


class AnsweredError(JsonRpcException):
    """An error in a message that has reached whoever waits for an answer, so that nothing else has to report it."""


class Plain(NamedTuple):
    """An answer made of lists and dicts, as the protocol has it. pygls takes 50 times as long to convert its types."""

    data: Any


def _hand_on(method: str) -> Any:
    @lsp_method(method)
    def hand_on(self: Any, params: Any) -> Generator[Any, Any, None]:
        yield self.fm.features[method], (params,), None

    return hand_on


class Protocol(LanguageServerProtocol):
    """A protocol that passes on document changes as they arrive.

    pygls would apply them to its own text, whose lines also end at form feeds, as in Python.
    """

    lsp_text_document__did_open = _hand_on(types.TEXT_DOCUMENT_DID_OPEN)
    lsp_text_document__did_change = _hand_on(types.TEXT_DOCUMENT_DID_CHANGE)
    lsp_text_document__did_close = _hand_on(types.TEXT_DOCUMENT_DID_CLOSE)

    def _execute_handler(
        self, msg_id: str | int, handler: Any, callback: Callable[[Any], None], *args: Any, **kwargs: Any
    ) -> None:
        """Run a handler, and drop its future afterwards, which pygls does only for requests."""

        def finish(future: Any) -> None:
            if not future.cancelled():  # pygls may be iterating over them
                self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, finish, *args, **kwargs)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Parse a message; unlike pygls, answer invalid requests, and wait no longer for an answer that is invalid."""
        method = data.get("method")
        if isinstance(method, str) and self.get_message_type(method) is None:
            data = {"params": None, **data}  # pygls requires them of a method that it does not know
        try:
            return super().structure_message(data)
        except JsonRpcException as fault:
            named = fault
            if isinstance(fault.__cause__, ClassValidationError):  # name the invalid parameters as they were sent
                faults = "; ".join(transform_error(fault.__cause__))
                faults = re.sub(r"(?<=[a-z])_([a-z])", lambda letter: letter[1].upper(), faults)
                if method:
                    faults = f"{method}: {faults}"
                named = JsonRpcInvalidParams(faults)
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=named.to_response_error())
                raise AnsweredError from fault
            number = data.get("id")
            future = self._request_futures.pop(number, None) if isinstance(number, str) else None
            if future:
                future.set_exception(named)
                raise AnsweredError from fault
            raise named from fault

    def handle_message(self, message: Any) -> None:
        """Handle a message; reject a request that comes too early or too late, so that the client does not wait."""
        method = getattr(message, "method", types.EXIT)  # which is always allowed, as are answers
        refusal: JsonRpcException | None = None
        if method != types.EXIT and self._shutdown:
            refusal = JsonRpcInvalidRequest("the server was shut down")
        elif method == types.INITIALIZE and self._workspace:
            refusal = JsonRpcInvalidRequest("the server is initialized already")
        elif method not in (types.EXIT, types.INITIALIZE) and not self._workspace:
            refusal = JsonRpcServerNotInitialized("`initialize` comes first")
        if refusal is None:
            super().handle_message(message)
        elif hasattr(message, "id"):
            self._send_response(message.id, error=refusal.to_response_error())

    def send_plain(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification whose parameters need no conversion."""
        self._send_data({"jsonrpc": self.VERSION, "method": method, "params": params})

    def _send_response(self, msg_id: str | int, result: Any = None, error: Any = None) -> None:
        if error is None and isinstance(result, Plain):
            self._result_types.pop(msg_id, None)
            self._send_data({"jsonrpc": self.VERSION, "id": msg_id, "result": result.data})
        else:
            super()._send_response(msg_id, result, error)

    def _send_data(self, data: Any) -> None:
        """Send a message; the process ends once the client no longer reads them, as nobody would see an error."""
        try:
            super()._send_data(data)
        except BrokenPipeError:
            os._exit(_DISCONNECTED)

    @property
    def is_shut_down(self) -> bool:
        """Whether the client has requested a shutdown."""
        return self._shutdown


class Connection(LanguageServer):
    """The connection to one client, over stdin and stdout or the messages of a program that embeds the server."""

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__(
            "rubric-lint",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            protocol_cls=Protocol,
            converter_factory=_make_converter,
        )
        self._watched: set[str] = set()

    def log(self, message: str, kind: types.MessageType = types.MessageType.Error) -> None:
        """Write to the editor's log for this server, without a pop-up."""
        self.window_log_message(types.LogMessageParams(kind, message))

    def show_message(self, message: str) -> None:
        """Show a message to the user."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"rubric-lint: {message}"))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error in handling a message, unless it is the answer to a request and no fault of the server."""
        is_fault = isinstance(error, JsonRpcInternalError) or not isinstance(error, JsonRpcException)
        if is_fault or not (source is FeatureRequestError or isinstance(error, AnsweredError)):
            self.log(f"{type(error).__name__}: {error}")

    def run(self) -> bool:
        """Serve until the client exits or disconnects; return whether it shut down in order."""
        stdout = sys.stdout.buffer
        # Accidental prints must not end up between the messages.
        sys.stdout = sys.stderr
        self.start_io(sys.stdin.buffer, stdout)
        return self.protocol.is_shut_down

    def attach(self, send: Callable[[str], None]) -> None:
        """Pass each message for the client to `send`, as JSON, instead of writing to stdout."""
        # The program that embeds the server ends it, so there is nothing to close.
        writer: Any = SimpleNamespace(write=lambda data: send(data.decode("ascii")), close=lambda: None)
        self.protocol.set_writer(writer, include_headers=False)

    def receive(self, message: str) -> bool:
        """Handle one message of the client, which is JSON, on the running loop; return False once the client exits."""
        try:
            self.protocol.handle_message(json.loads(message, object_hook=self.protocol.structure_message))
        except SystemExit:
            return False
        except Exception as fault:
            self._report_server_error(fault, JsonRpcException)
        return True

    def watch(self, *names: str) -> list[types.Registration]:
        """Return new registrations so that the client reports changes of files with these names."""
        new = [name for name in names if name not in self._watched]
        self._watched.update(new)
        return self._make_watch(" ".join(new), [f"**/{_MAGIC.sub('?', name)}" for name in new])

    def watch_kinds(self) -> list[types.Registration]:
        """Return registrations so that the client reports changes of all files that may hold rubrics."""
        return self._make_watch("files", [f"**/*{suffix}" for suffix in (*SUFFIXES, *SIGNED_SUFFIXES)])

    def _make_watch(self, name: str, patterns: list[str]) -> list[types.Registration]:
        if not patterns or not self.can("workspace.did_change_watched_files.dynamic_registration"):
            return []
        watchers = [types.FileSystemWatcher(pattern) for pattern in patterns]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        return [types.Registration(name, types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)]

    def is_watched_by_name(self, uri: str) -> bool:
        """Return whether a change of a file was to be reported because of its name, and not for its kind alone."""
        return unquote(posixpath.basename(uri)) in self._watched

    async def register(self, registrations: list[types.Registration]) -> None:
        """Register for features that the client enables on request."""
        if registrations:
            await self.ask(types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams(registrations))

    def refresh(self) -> None:
        """Have the client request again what depends on settings, not only on the text."""
        for method, capability in _REFRESHED.items():
            if self.can(f"workspace.{capability}.refresh_support"):
                self.protocol.send_request(method, None)

    def can(self, capability: str) -> Any:
        """Return the client's value for one of its capabilities."""
        return get_capability(self.client_capabilities, capability)

    async def ask(self, method: str, params: Any) -> Any:
        """Send a request to the client; return None if it fails."""
        try:
            return await asyncio.wait_for(self.protocol.send_request_async(method, params), _LONGEST_WAIT)
        except Exception as fault:
            self.log(
                f"no answer from the editor to {method}: {str(fault) or type(fault).__name__}",
                types.MessageType.Warning,
            )
            return None


def _make_converter() -> Any:
    """Make a converter of messages that keeps values which a newer version of the protocol may have."""

    def read(value: Any, kind: type[Enum]) -> Any:
        try:
            return kind(value)
        except ValueError:
            return value

    converter = default_converter()  # type: ignore[no-untyped-call]
    for kind in vars(types).values():
        if isinstance(kind, type) and issubclass(kind, Enum):
            converter.register_structure_hook(kind, read)
            converter.register_unstructure_hook(kind, lambda value: getattr(value, "value", value))
    return converter

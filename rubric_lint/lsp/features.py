"""Register the features that a client can request, and pass each to the module that implements it."""

import gc
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from rubric_lint.lsp.answers.actions import ActionRequests
from rubric_lint.lsp.answers.commands import CAN_RUN, Commands, make_lenses
from rubric_lint.lsp.answers.commands import NAMES as COMMANDS
from rubric_lint.lsp.answers.formatting import Formatting
from rubric_lint.lsp.answers.hover import make_hover
from rubric_lint.lsp.answers.links import make_links
from rubric_lint.lsp.answers.renaming import IdRequests
from rubric_lint.lsp.answers.symbols import WorkspaceSymbols, write_folds, write_outline
from rubric_lint.lsp.complete.completion import complete
from rubric_lint.lsp.places.scored import make_hints
from rubric_lint.lsp.server.diagnostics import has_schema
from rubric_lint.lsp.server.open_documents import OpenDocuments
from rubric_lint.lsp.server.positions import Text
from rubric_lint.lsp.server.protocol import Connection, Written, as_data
from rubric_lint.lsp.server.pulling import Pulling
from rubric_lint.lsp.server.workspace import SECTION, Options, build_workspace, read_options
from rubric_lint.project.settings_file import NAMES

SCHEMA_SERVER = "rubric-lint/schemaServer"
"""The notification that a server with our JSON Schemas has started or stopped."""

Handler = Callable[[Any], Awaitable[Any]]


class Server:
    """A language server for one client."""

    def __init__(self) -> None:
        self._connection = Connection()
        self._desk: OpenDocuments
        self._commands: Commands
        self._pulling: Pulling
        self._formatting: Formatting
        self._pulls = False
        self._options: dict[str, Options] = {}
        self._given: Any = None
        self._faults: set[str] = set()
        self._turn = 0
        self._register()

    def run(self) -> bool:
        """Serve over stdin and stdout until the client exits; return whether it shut down in order."""
        _prepare()
        return self._connection.run()

    def attach(self, send: Callable[[str], None]) -> Callable[[str], bool]:
        """Serve a client in the same program, as the VS Code extension does where no Python is installed.

        Every message, in both directions, is a JSON string. `send` gets those for the client. The returned function
        takes those of the client, one by one, on the running loop; it returns False once the client exits.
        """
        _prepare()
        self._connection.attach(send)
        return self._connection.receive

    def _register(self) -> None:
        notes: dict[str, Callable[[Any], None]] = {
            types.INITIALIZE: self._initialize,
            types.SHUTDOWN: self._shut_down,
            types.TEXT_DOCUMENT_DID_OPEN: self._open,
            types.TEXT_DOCUMENT_DID_CHANGE: self._change,
            types.TEXT_DOCUMENT_DID_CLOSE: self._close,
            types.TEXT_DOCUMENT_DID_SAVE: self._saved,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._note_files,
            SCHEMA_SERVER: self._note_schema_server,
        }
        questions: dict[str, Handler] = {
            types.INITIALIZED: self._start,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self._configure,
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._read_configuration,
            types.TEXT_DOCUMENT_HOVER: self._hover,
            types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: self._outline,
            types.TEXT_DOCUMENT_FOLDING_RANGE: self._fold,
            types.TEXT_DOCUMENT_DOCUMENT_LINK: self._link,
            types.TEXT_DOCUMENT_COMPLETION: self._complete,
            types.TEXT_DOCUMENT_INLAY_HINT: self._hint,
            types.TEXT_DOCUMENT_CODE_LENS: self._offer,
        }
        options: dict[str, Any] = {
            types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=[" ", "[", "/", "#", '"']),
        }
        for name, note in notes.items():
            self._connection.feature(name)(partial(note))  # pygls sets attributes; methods have none
        for name, question in questions.items():
            self._connection.feature(name, options.get(name))(self._guard(question))
        for name in COMMANDS:
            self._connection.command(name)(self._guard_command(name))

    def _guard(self, handle: Handler) -> Handler:
        """Return a handler that logs crashes and answers None, because some editors show errors as pop-ups.

        A refusal is an answer, so the client gets it.
        """

        async def answer(params: Any) -> Any:
            try:
                return await handle(params)
            except JsonRpcException:
                raise
            except Exception as fault:
                document = getattr(params, "text_document", None)
                self._desk.report(fault, document.uri if document else "")
                return None

        return answer

    def _guard_command(self, name: str) -> Callable[..., Awaitable[Any]]:
        """Return a handler of a command, which gets its arguments one by one; see `_guard`."""
        run = self._guard(lambda arguments: self._commands.run(name, arguments))

        async def answer(*arguments: Any) -> Any:
            return await run(arguments)

        return answer

    # Settings

    def _initialize(self, params: types.InitializeParams) -> None:
        self._desk = OpenDocuments(self._connection)
        self._commands = Commands(self._connection, self._desk)
        self._pulling = Pulling(self._connection, self._desk)
        self._pulls = self._pulling.register(self._guard)
        ActionRequests(self._connection, self._desk, self._guard)
        IdRequests(self._connection, self._desk, self._guard)
        WorkspaceSymbols(self._connection, self._desk, self._guard)
        given = as_data(params.initialization_options)
        if isinstance(given, Mapping):
            self._desk.has_schema_server = given.get("schemaServer") is True
            self._given = given.get("settings", given)
        is_on = read_options(self._given)[0].formatting
        self._formatting = Formatting(self._connection, self._desk, self._guard, is_on=is_on)

    async def _start(self, _params: types.InitializedParams) -> None:
        self._formatting.start()
        registrations = self._connection.watch(*NAMES)
        registrations += self._pulling.watch() if self._pulls else []
        if self._connection.can("workspace.did_change_configuration.dynamic_registration"):
            options = types.DidChangeConfigurationRegistrationOptions(SECTION)
            registrations.append(types.Registration("options", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options))
        await self._read_configuration(None)
        await self._connection.register(registrations)
        await self._desk.run(Text.of(""), _warm_up)

    async def _configure(self, params: types.DidChangeConfigurationParams) -> None:
        given = as_data(params.settings)
        if isinstance(given, Mapping):
            self._given = given.get(SECTION, given)
        await self._read_configuration(None)

    async def _read_configuration(self, _params: Any) -> None:
        """Request the settings of each folder, unless the client can only send them; the last request counts."""
        turn = self._turn = self._turn + 1
        uris = self._folder_uris()
        values: Any = [self._given] * (len(uris) + 1)
        if self._connection.can("workspace.configuration"):
            items = [types.ConfigurationItem(section=SECTION)]
            items += [types.ConfigurationItem(scope_uri=uri, section=SECTION) for uri in uris]
            answer = await self._connection.ask(types.WORKSPACE_CONFIGURATION, types.ConfigurationParams(items))
            if isinstance(answer, list | tuple) and len(answer) == len(values):
                values = [self._given if value is None else as_data(value) for value in answer]
        if turn != self._turn:
            return
        faults: dict[str, None] = {}
        for uri, value in zip(["", *uris], values, strict=True):
            self._options[uri], found = read_options(value)
            faults |= dict.fromkeys(found)
        for fault in faults:
            if fault not in self._faults:
                self._connection.log(f"the setting {fault}; using its default", types.MessageType.Warning)
        self._faults = set(faults)
        self._reload(None)
        await self._formatting.offer(is_on=any(options.formatting for options in self._options.values()))

    def _folder_uris(self) -> list[str]:
        workspace = self._connection.workspace
        uris = [folder.uri for folder in workspace.folders.values()]
        return uris or ([workspace.root_uri] if workspace.root_uri else [])

    def _reload(self, _params: Any) -> None:
        """Reload settings files and baselines."""
        self._desk.use(build_workspace(self._folder_uris(), self._options))
        self._connection.refresh()

    def _note_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        """Note changes of files: reload if settings, baselines or judge outputs may be among them."""
        if any(self._connection.is_watched_by_name(change.uri) for change in params.changes):
            self._reload(None)
        self._pulling.note_files()

    def _note_schema_server(self, params: Any) -> None:
        active = as_data(params)
        self._desk.has_schema_server = isinstance(active, Mapping) and active.get("active") is True
        self._desk.look_again()

    def _shut_down(self, _params: None) -> None:
        self._desk.end()
        self._pulling.end()
        self._commands.end()

    # Documents

    def _open(self, params: types.DidOpenTextDocumentParams) -> None:
        encoding = types.PositionEncodingKind(self._connection.workspace.position_encoding or "utf-16")
        self._desk.open(params.text_document, encoding.value)

    def _change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._desk.change(params.text_document.uri, params.text_document.version, params.content_changes)

    def _close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._desk.close(params.text_document.uri)

    def _saved(self, _params: types.DidSaveTextDocumentParams) -> None:
        if not self._connection.can("workspace.did_change_watched_files.dynamic_registration"):
            self._reload(None)  # the client does not report changes of settings and baselines

    # Requests

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        found = await self._desk.analysis(params.text_document.uri)
        if found is None:
            return None
        text = found.state.text
        effects = (await self._desk.options_for(params.text_document.uri)).score_hover
        return await self._desk.run(text, partial(make_hover, effects=effects), found, text.offset(params.position))

    async def _hint(self, params: types.InlayHintParams) -> list[types.InlayHint] | None:
        uri = params.text_document.uri
        options = await self._desk.options_for(uri)
        if not (options.share_hints or options.verdict_hints or options.range_hints):
            return None
        found = await self._desk.analysis(uri)
        if found is None:
            return None
        text = found.state.text
        return await self._desk.run(text, make_hints, found, text.span(params.range), options) or None

    async def _offer(self, params: types.CodeLensParams) -> list[types.CodeLens] | None:
        uri = params.text_document.uri
        if not (CAN_RUN and (await self._desk.options_for(uri)).lenses):
            return None
        found = await self._desk.analysis(uri)
        if found is None:
            return None
        return await self._desk.run(found.state.text, make_lenses, found) or None

    async def _outline(self, params: types.DocumentSymbolParams) -> Written | None:
        found = await self._desk.readable(params.text_document.uri)
        if found is None:
            return None
        is_tree = bool(self._connection.can("text_document.document_symbol.hierarchical_document_symbol_support"))
        return Written(await self._desk.run(found.state.text, partial(write_outline, is_tree=is_tree), found))

    async def _fold(self, params: types.FoldingRangeParams) -> Written | None:
        found = await self._desk.analysis(params.text_document.uri)
        limit = self._connection.can("text_document.folding_range.range_limit")
        return Written(await self._desk.run(found.state.text, write_folds, found, limit)) if found else None

    async def _link(self, params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        found = await self._desk.analysis(params.text_document.uri)
        roots = [folder.path for folder in self._desk.workspace.folders if folder.path]
        return await self._desk.run(found.state.text, make_links, found, roots) if found else None

    async def _complete(self, params: types.CompletionParams) -> list[types.CompletionItem] | None:
        uri = params.text_document.uri
        when = (await self._desk.options_for(uri)).completion
        state = await self._desk.state(uri)
        if state is None or when == "never":
            return None
        is_served, found = False, await self._desk.readable(uri)
        if when == "auto" and self._desk.has_schema_server and found:
            is_served = await self._desk.run(found.state.text, has_schema, found)
        snippets = bool(self._connection.can("text_document.completion.completion_item.snippet_support"))
        task = partial(complete, state, params.position, snippets=snippets, is_served=is_served, before=found)
        return await self._desk.run(state.text, task) or None


def _prepare() -> None:
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # `Connection` writes its errors to the client's log
    gc.freeze()  # keep everything loaded so far out of garbage collection


def _warm_up() -> None:
    """Load the modules for findings, fixes and cards, so that the first ones are not slow."""
    from rubric_lint.fix import fix  # noqa: PLC0415

    fix("a.rubric.yaml", b"rubrics:\n  - id: a\n    description: b\n    wieght: 1\n")

"""Register the features that a client can request, with the function that answers each, and follow its settings."""

import gc
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from rubric_lint.editor.answers.actions import KINDS, answer_actions, resolve_action
from rubric_lint.editor.answers.commands import NAMES as COMMANDS
from rubric_lint.editor.answers.commands import Commands, answer_lenses
from rubric_lint.editor.answers.completion import answer_completion
from rubric_lint.editor.answers.formatting import Formatting
from rubric_lint.editor.answers.hover import answer_hover
from rubric_lint.editor.answers.ids import (
    answer_definition,
    answer_highlights,
    answer_references,
    answer_rename,
    prepare_rename,
)
from rubric_lint.editor.answers.links import answer_links
from rubric_lint.editor.answers.scores import answer_hints
from rubric_lint.editor.answers.symbols import WorkspaceSymbols, answer_folds, answer_outline
from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.editor.server.protocol import Connection, as_data
from rubric_lint.editor.server.unopened import UnopenedFiles
from rubric_lint.editor.server.workspace import SECTION, EditorOptions, build_workspace, read_options
from rubric_lint.lint.project.settings import NAMES

SCHEMA_SERVER = "rubric-lint/schemaServer"
"""The notification that a server with our JSON Schemas has started or stopped."""

_ANSWERS: dict[str, Callable[[OpenDocuments, Any], Awaitable[Any]]] = {
    types.TEXT_DOCUMENT_CODE_ACTION: answer_actions,
    types.CODE_ACTION_RESOLVE: resolve_action,
    types.TEXT_DOCUMENT_CODE_LENS: answer_lenses,
    types.TEXT_DOCUMENT_COMPLETION: answer_completion,
    types.TEXT_DOCUMENT_DEFINITION: answer_definition,
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: answer_highlights,
    types.TEXT_DOCUMENT_DOCUMENT_LINK: answer_links,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: answer_outline,
    types.TEXT_DOCUMENT_FOLDING_RANGE: answer_folds,
    types.TEXT_DOCUMENT_HOVER: answer_hover,
    types.TEXT_DOCUMENT_INLAY_HINT: answer_hints,
    types.TEXT_DOCUMENT_PREPARE_RENAME: prepare_rename,
    types.TEXT_DOCUMENT_REFERENCES: answer_references,
    types.TEXT_DOCUMENT_RENAME: answer_rename,
}
_OPTIONS: dict[str, Any] = {
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(KINDS, resolve_provider=True),
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=[" ", "[", "{", '"']),
}


class Server:
    """A language server for one client."""

    def __init__(self) -> None:
        self._connection = Connection()
        self._documents = OpenDocuments(self._connection)
        self._commands = Commands(self._documents)
        self._unopened = UnopenedFiles(self._documents)
        self._formatting = Formatting(self._documents)
        self._options: dict[str, EditorOptions] = {}
        self._given: Any = None
        self._faults: set[str] = set()
        self._turn = 0
        logging.getLogger("pygls").setLevel(logging.CRITICAL)  # `Connection` writes its errors to the client's log
        notes: dict[str, Callable[[Any], None]] = {
            types.INITIALIZE: self._initialize,
            types.SHUTDOWN: self._shut_down,
            types.TEXT_DOCUMENT_DID_OPEN: self._documents.open,
            types.TEXT_DOCUMENT_DID_CHANGE: self._documents.change,
            types.TEXT_DOCUMENT_DID_CLOSE: self._documents.close,
            types.TEXT_DOCUMENT_DID_SAVE: self._saved,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._note_files,
            SCHEMA_SERVER: self._note_schema_server,
        }
        for name, note in notes.items():
            self._connection.feature(name)(partial(note))  # pygls sets attributes; methods have none
        questions: dict[str, Callable[[Any], Awaitable[Any]]] = {
            types.INITIALIZED: self._start,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self._configure,
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._read_configuration,
            types.WORKSPACE_SYMBOL: partial(WorkspaceSymbols().answer, self._documents),
            **{name: partial(answer, self._documents) for name, answer in _ANSWERS.items()},
        }
        for name, question in questions.items():
            self._connection.feature(name, _OPTIONS.get(name))(self._guard(question))
        for name in COMMANDS:
            self._connection.command(name)(self._guard_command(name))

    def run(self) -> bool:
        """Serve over stdin and stdout until the client exits; return whether it shut down in order."""
        return self._connection.run()

    def attach(self, send: Callable[[str], None]) -> Callable[[str], bool]:
        """Serve a client in the same program, as the VS Code extension does where no Python is installed.

        Every message, in both directions, is a JSON string. `send` gets those for the client. The returned function
        takes those of the client, one by one, on the running loop; it returns False once the client exits.
        """
        self._connection.attach(send)
        return self._connection.receive

    def _guard(self, handle: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
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
                uri = document.uri if document else ""
                self._documents.report(fault, uri)
                return None

        return answer

    def _guard_command(self, name: str) -> Callable[..., Awaitable[Any]]:
        """Return a handler of a command, which gets its arguments one by one; see `_guard`."""
        run = self._guard(lambda arguments: self._commands.run(name, arguments))

        async def answer(*arguments: Any) -> Any:
            return await run(arguments)

        return answer

    def _initialize(self, params: types.InitializeParams) -> None:
        given = as_data(params.initialization_options)
        if isinstance(given, Mapping):
            self._documents.has_schema_server = given.get("schemaServer") is True
            self._documents.names_schemas = given.get("nameSchemas") is True
            self._given = given.get("settings", given)
        self._formatting.register(self._guard, is_on=read_options(self._given)[0].formatting)

    async def _start(self, _params: types.InitializedParams) -> None:
        self._formatting.start()
        registrations = [*self._connection.watch(*NAMES), *self._connection.watch_kinds()]
        if self._connection.can("workspace.did_change_configuration.dynamic_registration"):
            options = types.DidChangeConfigurationRegistrationOptions(SECTION)
            registrations.append(types.Registration("options", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options))
        await self._read_configuration(None)
        await self._connection.register(registrations)
        await self._documents.run(_warm_up)

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
                self._connection.log(f"the setting {fault}", types.MessageType.Warning)
        self._faults = set(faults)
        self._reload()
        await self._formatting.offer(is_on=any(options.formatting for options in self._options.values()))

    def _folder_uris(self) -> list[str]:
        workspace = self._connection.workspace
        uris = [folder.uri for folder in workspace.folders.values()]
        if not uris and workspace.root_uri:
            return [workspace.root_uri]
        return uris

    def _reload(self) -> None:
        self._documents.use(build_workspace(self._folder_uris(), self._options))
        self._connection.refresh()

    def _note_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        """Note changes of files: reload if settings, baselines or judge outputs may be among them."""
        if any(self._connection.is_watched_by_name(change.uri) for change in params.changes):
            self._reload()
        self._unopened.look_again()

    def _note_schema_server(self, params: Any) -> None:
        active = as_data(params)
        self._documents.has_schema_server = isinstance(active, Mapping) and active.get("active") is True
        self._documents.lint_again()

    def _saved(self, _params: types.DidSaveTextDocumentParams) -> None:
        if not self._connection.can("workspace.did_change_watched_files.dynamic_registration"):
            self._reload()  # the client does not report changes of settings and baselines

    def _shut_down(self, _params: None) -> None:
        self._documents.end()
        self._unopened.end()
        self._commands.end()


def _warm_up() -> None:
    """Load the modules for findings, fixes and cards, so that the first ones are not slow."""
    from rubric_lint.lint.fix import fix  # noqa: PLC0415

    fix("a.rubric.yaml", b"rubrics:\n  - id: a\n    description: b\n    wieght: 1\n")
    gc.freeze()  # collections need not look at what is loaded
    # A new analysis exists next to the old one for a moment: hundreds of thousands of objects, none of them in a cycle.
    gc.set_threshold(200_000)

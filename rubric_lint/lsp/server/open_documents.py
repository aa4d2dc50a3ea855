"""Track the open documents, and lint each again when it has changed and its author pauses."""

import asyncio
import json
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types

from rubric_lint.dialects.search.byte_signs import could_hold_rubrics
from rubric_lint.lint.engine import lint
from rubric_lint.lsp.server.analysis import Analysis, State, analyse
from rubric_lint.lsp.server.diagnostics import write_diagnostics
from rubric_lint.lsp.server.judged import JudgedDocuments
from rubric_lint.lsp.server.positions import Change, Text
from rubric_lint.lsp.server.protocol import Connection
from rubric_lint.lsp.server.threads import Answer, WorkerThreads
from rubric_lint.lsp.server.workspace import Folder, Options, Origin, Workspace, expand, find_origin, identify
from rubric_lint.project.files import File, Unreadable, read
from rubric_lint.project.settings_file import SettingsError
from rubric_lint.report.visible import visible
from rubric_lint.text.source import Source, UndecodableError
from rubric_lint.version import __version__


class OpenText(NamedTuple):
    """The text of an open document now."""

    uri: str
    version: int | None
    text: Text


@dataclass(slots=True, eq=False)
class Open:
    """A document that is open in the editor. `job` is the analysis of its current state, once requested.

    `due` is the time of the loop at which its author has paused.
    """

    uri: str
    language: str
    version: int | None
    text: Text
    timer: asyncio.Task[None] | None = None
    job: asyncio.Future[Analysis | None] | None = None
    due: float = 0
    readable: Analysis | None = None
    told: set[str] = field(default_factory=set)

    @property
    def origin(self) -> Origin:
        """The path and name of the document."""
        return find_origin(self.uri, self.language)


class OpenDocuments:
    """The open documents; analyses them one at a time, and publishes the findings unless the client asks for them.

    For a client that asks, `changed` is called when findings may have changed without an edit, `closed` when a
    document has been closed.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lanes = WorkerThreads()
        self._documents: dict[str, Open] = {}
        self._workspace = Workspace(Folder.of("", Options()))
        self._is_ready = asyncio.Event()
        self._judged = JudgedDocuments()
        self._lacking: dict[Any, Sequence[tuple[str, str]]] = {}
        self.has_schema_server = False
        self.changed: Callable[[], None] | None = None
        self.closed: Callable[[str], None] = _ignore

    @property
    def workspace(self) -> Workspace:
        """The folders of the editor."""
        return self._workspace

    def find_open_files(self) -> dict[str, OpenText]:
        """Return the open documents that are files, by path."""
        return {
            path: OpenText(uri, document.version, document.text)
            for uri, document in self._documents.items()
            if (path := document.origin.path)
        }

    def is_switched_off(self, path: str) -> bool:
        """Return whether the editor's settings switch rubric-lint off for a file."""
        return not self._workspace.folder_of(path).options.enable

    async def run_across(self, task: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run a task on several files, open or not."""
        return await self._lanes.run_across(task, *arguments)

    async def run_behind(self, task: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run a task on files that are not open, when nothing else is to be done."""
        return await self._lanes.run_behind(task, *arguments)

    async def run(self, text: Text, task: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run a task on a text in a worker thread, so that the loop can still receive changes."""
        return await self._lanes.run(text.length, task, *arguments)

    def use(self, workspace: Workspace) -> None:
        """Lint all documents again, with these settings."""
        self._workspace = workspace
        self._is_ready.set()
        for document in self._documents.values():
            document.told.clear()
        self.look_again()

    def look_again(self) -> None:
        """Lint all documents again."""
        for document in self._documents.values():
            self._schedule(document, 0)
        if self.changed:
            self.changed()

    def open(self, item: types.TextDocumentItem, encoding: str) -> None:
        """Add a document."""
        self._drop(item.uri)
        document = Open(item.uri, item.language_id, item.version, Text.of(item.text, encoding))
        self._documents[item.uri] = document
        self._schedule(document, 0)

    def change(self, uri: str, version: int, changes: Iterable[Change]) -> None:
        """Apply changes to a document."""
        if document := self._documents.get(uri):
            document.text, document.version = document.text.change(changes), version
            self._schedule(document, self._folder_of(document).options.debounce / 1000)

    def close(self, uri: str) -> None:
        """Remove a document and its findings."""
        if self._drop(uri):
            self.closed(uri)
            self._connection.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def end(self) -> None:
        """Remove all documents; requests that wait for the settings are answered without any."""
        for uri in list(self._documents):
            self._drop(uri)
        self._is_ready.set()

    async def options_for(self, uri: str) -> Options:
        """Return the editor's settings for a document, once they are known."""
        await self._wait_for(uri)
        document = self._documents.get(uri)
        return self._folder_of(document).options if document else Options()

    def settings_file_for(self, uri: str) -> str | None:
        """Return the settings file that the editor names for a document, or None if it names none."""
        document = self._documents.get(uri)
        folder = self._folder_of(document) if document else None
        return expand(folder.options.configuration, folder.path) if folder and folder.options.configuration else None

    async def state(self, uri: str) -> State | None:
        """Return the current state of a document once the editor's settings are known, or None if it is not open."""
        await self._wait_for(uri)
        document = self._documents.get(uri)
        if document is None:
            return None
        return await self.run(document.text, self._read_state, document, document.version, document.text)

    async def analysis(self, uri: str) -> Analysis | None:
        """Return the analysis of the current state of a document once the editor's settings are known.

        It is computed if necessary, or None if the document is not open.
        """
        await self._wait_for(uri)
        while document := self._documents.get(uri):
            job = document.job
            if job is None:
                work = self.run(document.text, self._analyse, document, document.version, document.text)
                job = document.job = asyncio.ensure_future(work)
            found = await asyncio.shield(job)
            if found is not None and document.job is job:
                self._tell_fault(document, found)
                self._tell_lacking(document, found)
                return found
        return None

    async def _wait_for(self, uri: str) -> None:
        if uri in self._documents:
            await self.wait_for_settings()

    async def wait_for_settings(self) -> None:
        """Wait until the settings of the editor are known."""
        await self._is_ready.wait()

    async def diagnostics(self, uri: str) -> str | None:
        """Return the diagnostics of a document as JSON once its author pauses, or None if it is not open."""
        await self.wait_for_settings()
        while document := self._documents.get(uri):
            await asyncio.sleep(document.due - asyncio.get_running_loop().time())
            if document.due > asyncio.get_running_loop().time() or (found := await self.analysis(uri)) is None:
                continue
            text = await self.run(found.state.text, self._write, document, found)
            if self._documents.get(uri) is document and document.text is found.state.text:
                await self._watch_sources(document)
                return text
        return None

    def lint_file(self, path: str, uri: str) -> str:
        """Return the diagnostics of a file that is not open as JSON."""
        document = Open(uri, "", None, Text.of(""))
        state = self._read_state(document, None, document.text)
        if state.settings is None:
            return self._write(document, analyse(state)) if state.obstacle else "[]"
        data = read(File(path, state.settings), may_be_stdin=False)
        if isinstance(data, Unreadable):
            return self._write(document, Analysis(state, notice=data.reason))
        if not state.settings.claimed and not could_hold_rubrics(data, path):
            return "[]"
        encoding = self._connection.workspace.position_encoding or "utf-16"
        try:
            source = Source.from_bytes(path, data)
        except UndecodableError as fault:
            result = lint(path, data, state.settings)
            state = replace(state, text=Text.of(fault.source.text, encoding))
            return self._write(document, Analysis(state, result, result.findings))
        document.text = Text.of(source.text, encoding)
        found = self._analyse(document, None, document.text)
        return self._write(document, found) if found else "[]"

    async def readable(self, uri: str) -> Analysis | None:
        """Return the analysis of the last readable state of a document."""
        found = await self.analysis(uri)
        document = self._documents.get(uri)
        if found is None or document is None:
            return found
        if document.readable is None or await self.run(document.text, lambda: bool(found.documents)):
            document.readable = found
        return document.readable

    def _drop(self, uri: str) -> bool:
        document = self._documents.pop(uri, None)
        if document and document.timer:
            document.timer.cancel()
        return document is not None

    def _schedule(self, document: Open, delay: float) -> None:
        document.job = None
        if document.timer:
            document.timer.cancel()
        document.due = asyncio.get_running_loop().time() + delay
        if self._is_ready.is_set() and not self.changed:  # otherwise `use` follows, or the client asks
            document.timer = asyncio.ensure_future(self._publish(document, delay))

    async def _publish(self, document: Open, delay: float) -> None:
        try:
            await asyncio.sleep(delay)
            if (found := await self.analysis(document.uri)) is None:
                return
            params = await self.run(found.state.text, self._write_params, document, found)
            if self._documents.get(document.uri) is document and document.text is found.state.text:
                self._connection.protocol.send_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)
            await self._watch_sources(document)
        except Exception as fault:
            self.report(fault, document.uri)

    async def _watch_sources(self, document: Open) -> None:
        sources = self._folder_of(document).find_sources(document.origin)
        await self._connection.register(self._connection.watch(*(Path(source).name for source in sources)))

    def _write(self, document: Open, found: Analysis) -> str:
        shape_errors = self._folder_of(document).options.shape_errors
        return write_diagnostics(found, shape_errors=shape_errors, schema_server=self.has_schema_server)

    def _write_params(self, document: Open, found: Analysis) -> str:
        head = json.dumps({"uri": document.uri, "version": found.state.version})
        return f'{head[:-1]}, "diagnostics": {self._write(document, found)}}}'

    def _folder_of(self, document: Open) -> Folder:
        return self._workspace.folder_of(document.origin.path)

    def _analyse(self, document: Open, version: int | None, text: Text) -> Analysis | None:
        if document.text is not text:
            return None  # superseded while it waited
        folder = self._folder_of(document)
        sift = partial(folder.sift, document.origin) if folder.has_baseline(document.origin) else None
        state = self._read_state(document, version, text)
        paths = folder.find_judged(document.origin)
        if paths is None or state.settings is None:
            return analyse(state, sift)
        also, lacking = self._judged.look(paths, state.name)
        return replace(analyse(state, sift, also), lacking=lacking)

    def _read_state(self, document: Open, version: int | None, text: Text) -> State:
        name = document.origin.name
        state = State(document.uri, name, document.language, version, text, None, find_open=self._find_text)
        try:
            return state.under(self._folder_of(document).settings_for(document.origin, document.language))
        except SettingsError as fault:
            return state.blocked(fault)

    def _find_text(self, path: str) -> str | None:
        """Return the text of a file if it is open, however its path is written."""
        real = identify(path)
        opened = ((document.origin.path, document.text) for document in list(self._documents.values()))
        return next((text.body for each, text in opened if each and identify(each) == real), None)

    def _tell_fault(self, document: Open, found: Analysis) -> None:
        if found.fault and str(found.fault) not in document.told:
            document.told.add(str(found.fault))
            self.report(found.fault, document.uri)

    def _tell_lacking(self, document: Open, found: Analysis) -> None:
        """Log the files of judge outputs that cannot be read, each once until it can."""
        paths = self._folder_of(document).find_judged(document.origin)
        known, self._lacking[paths] = self._lacking.get(paths, ()), found.lacking
        for file, reason in found.lacking:
            if (file, reason) not in known:
                message = f"{visible(file)}: {reason}; `judged` or `labels` in the settings names it"
                self._connection.log(message, types.MessageType.Warning)

    def report(self, fault: Exception, uri: str) -> None:
        """Log a crash, with the details to report."""
        origin = fault.__cause__ or fault
        frames = traceback.extract_tb(origin.__traceback__)
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        self._connection.log(
            f"{uri}: rubric-lint {__version__} crashed: {type(fault).__name__}: {fault}{place}; "
            f"please report this bug with this message and the file\n{''.join(traceback.format_exception(fault))}"
        )


def _ignore(_uri: str) -> None:
    """Do nothing."""

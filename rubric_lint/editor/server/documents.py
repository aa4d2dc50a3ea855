"""Hold the open documents, and lint each again when it has changed and its author pauses."""

import asyncio
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types

from rubric_lint.editor.server.analysis import Analysis, State, analyse
from rubric_lint.editor.server.diagnostics import write_diagnostics
from rubric_lint.editor.server.positions import DocumentText
from rubric_lint.editor.server.protocol import Connection
from rubric_lint.editor.server.schemas import SCHEMA, find_schema
from rubric_lint.editor.server.workspace import EditorOptions, Folder, Workspace, identify, name_document, path_of
from rubric_lint.formats.dialects import could_hold_rubrics
from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.files import File, Unreadable, read
from rubric_lint.lint.project.settings import SettingsError
from rubric_lint.model.messages import visible
from rubric_lint.source.source import Source, UndecodableError
from rubric_lint.version import __version__

if TYPE_CHECKING:
    from rubric_lint.assess.judged.review import RecordCache

Answer = TypeVar("Answer")

_THREADS = 3
_LONGEST_WAIT = 0.2  # seconds that work in the background waits for other work


@dataclass(slots=True, eq=False)
class OpenDocument:
    """A document that is open in the editor: its current `state`, without settings, and its analysis, once requested.

    `due` is the time of the loop at which its author has paused. `logged` are the crashes in the editor's log, and
    `schema` is the file name of the last schema that was sent to the editor.
    """

    state: State
    timer: asyncio.Task[None] | None = None
    job: asyncio.Future[Analysis | None] | None = None
    due: float = 0
    readable: Analysis | None = None
    logged: set[str] = field(default_factory=set)
    schema: str = ""


class OpenDocuments:
    """The open documents; analyses them in threads, and publishes the findings.

    `is_ready` is set once the settings of the editor are known. With `names_schemas`, the server tells the editor which
    schema a document follows, for the YAML server that runs with ours. `changed` is called when findings of files may
    have changed without an edit, `closed` with the path of a document that has been closed.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.workspace = Workspace(Folder.of("", EditorOptions()))
        self.has_schema_server = False
        self.names_schemas = False
        self.changed: Callable[[], None] = lambda: None
        self.closed: Callable[[str], None] = lambda _path: None
        self._documents: dict[str, OpenDocument] = {}
        self.is_ready = asyncio.Event()
        self._threads = _Threads()
        self._running = 0
        self._judged: RecordCache | None = None
        self._unreadable: dict[Any, Sequence[tuple[str, str]]] = {}

    @property
    def encoding(self) -> str:
        """The unit in which the editor counts characters."""
        encoding = self.connection.workspace.position_encoding
        return types.PositionEncodingKind(encoding or "utf-16").value

    def find_open_files(self) -> dict[str, State]:
        """Return the open documents that are files, by path."""
        return {
            document.state.path: document.state for document in list(self._documents.values()) if document.state.path
        }

    async def run(self, task: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run a task in a thread, so that the loop can still receive changes."""
        self._running += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, partial(task, *arguments))
        finally:
            self._running -= 1

    async def run_behind(self, task: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run a task that nobody waits for: when no other is running, or after a while."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _LONGEST_WAIT
        while self._running and loop.time() < until:
            await asyncio.sleep(_LONGEST_WAIT / 20)
        return await loop.run_in_executor(self._threads, partial(task, *arguments))

    def use(self, workspace: Workspace) -> None:
        """Lint all documents again, with these settings."""
        self.workspace = workspace
        self.is_ready.set()
        for document in self._documents.values():
            document.logged.clear()
        self.lint_again()

    def lint_again(self) -> None:
        """Lint all documents again."""
        for document in self._documents.values():
            self._schedule(document, 0)
        self.changed()

    def open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Add a document."""
        item = params.text_document
        self._drop(item.uri)
        text = DocumentText.of(item.text, self.encoding)
        document = self._documents[item.uri] = OpenDocument(
            self._make_state(item.uri, item.language_id, item.version, text)
        )
        self._schedule(document, 0)

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply changes to a document."""
        document = self._documents.get(params.text_document.uri)
        if document:
            text = document.state.text.change(params.content_changes)
            document.state = replace(document.state, text=text, version=params.text_document.version)
            self._schedule(document, self._folder_of(document).options.debounce / 1000)

    def close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Remove a document and its findings."""
        uri = params.text_document.uri
        if self._drop(uri):
            self.connection.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
            path = path_of(uri)
            if path:
                self.closed(path)

    def end(self) -> None:
        """Remove all documents; requests that wait for the settings are answered without any."""
        for uri in list(self._documents):
            self._drop(uri)
        self.is_ready.set()

    async def _find(self, uri: str) -> OpenDocument | None:
        """Return an open document once the editor's settings are known."""
        if uri in self._documents:
            await self.is_ready.wait()
        return self._documents.get(uri)

    async def options_for(self, uri: str) -> EditorOptions:
        """Return the editor's settings for a document, once they are known."""
        document = await self._find(uri)
        return self._folder_of(document).options if document else EditorOptions()

    async def state(self, uri: str) -> State | None:
        """Return the current state of a document once the editor's settings are known, or None if it is not open."""
        document = await self._find(uri)
        return await self.run(self._add_settings, document.state) if document else None

    async def analysis(self, uri: str) -> Analysis | None:
        """Return the analysis of the current state of a document once the editor's settings are known.

        It is computed if necessary, or None if the document is not open.
        """
        while document := await self._find(uri):
            job = document.job
            if job is None:
                job = document.job = asyncio.ensure_future(self.run(self._analyse, document.state, document))
            found = await asyncio.shield(job)
            if found is not None and document.job is job:
                self._log_faults(document, found)
                return found
        return None

    async def ask(self, uri: str, task: Callable[..., Answer], *arguments: Any) -> Answer | None:
        """Run a task on the analysis of a document, in a thread; return None if the document is not open."""
        found = await self.analysis(uri)
        return None if found is None else await self.run(task, found, *arguments)

    async def readable(self, uri: str) -> Analysis | None:
        """Return the analysis of the last readable state of a document."""
        found = await self.analysis(uri)
        document = self._documents.get(uri)
        if found is None or document is None:
            return found
        if document.readable is None or await self.run(lambda: bool(found.documents)):
            document.readable = found
        return document.readable

    async def _settle(self, uri: str) -> tuple[Analysis, list[dict[str, Any]]] | None:
        """Return the analysis and diagnostics of a document once its author pauses, or None if it is not open."""
        while document := self._documents.get(uri):
            await asyncio.sleep(document.due - asyncio.get_running_loop().time())
            if document.due > asyncio.get_running_loop().time():
                continue
            found = await self.analysis(uri)
            if found is None:
                continue
            diagnostics = await self.run(self._write, found)
            if self._documents.get(uri) is document and document.state.text is found.state.text:
                return found, diagnostics
        return None

    def lint_file(self, path: str, uri: str) -> list[dict[str, Any]]:
        """Return the diagnostics of a file that is not open."""
        state = self._add_settings(self._make_state(uri))
        if state.settings is None:
            return self._write(analyse(state), is_open=False) if state.obstacle else []
        data = read(File(path, state.settings), may_be_stdin=False)
        if isinstance(data, Unreadable):
            return self._write(Analysis(state, notice=data.reason), is_open=False)
        if not state.settings.is_named and not could_hold_rubrics(data, path):
            return []
        try:
            source = Source.from_bytes(path, data)
        except UndecodableError as fault:
            result = lint(path, data, state.settings)
            state = replace(state, text=DocumentText.of(fault.source.text, self.encoding))
            return self._write(Analysis(state, result, result.findings), is_open=False)
        found = self._analyse(replace(state, text=DocumentText.of(source.text, self.encoding)))
        return self._write(found, is_open=False) if found else []

    def _drop(self, uri: str) -> bool:
        document = self._documents.pop(uri, None)
        if document and document.timer:
            document.timer.cancel()
        return document is not None

    def _schedule(self, document: OpenDocument, delay: float) -> None:
        document.job = None
        if document.timer:
            document.timer.cancel()
        document.due = asyncio.get_running_loop().time() + delay
        if self.is_ready.is_set():  # otherwise `use` follows
            document.timer = asyncio.ensure_future(self._publish(document))

    async def _publish(self, document: OpenDocument) -> None:
        uri = document.state.uri
        try:
            settled = await self._settle(uri)
            if settled:
                found, diagnostics = settled
                params = {"uri": uri, "version": document.state.version, "diagnostics": diagnostics}
                self.connection.protocol.send_plain(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)
                schema = await self.run(find_schema, found) if self.names_schemas else ""
                if schema and schema != document.schema:
                    document.schema = schema
                    self.connection.protocol.send_plain(SCHEMA, {"uri": uri, "schema": schema})
            if uri in self._documents:
                sources = self._folder_of(document).find_sources(document.state.path)
                await self.connection.register(self.connection.watch(*(Path(source).name for source in sources)))
        except Exception as fault:
            self.report(fault, uri)

    def _write(self, found: Analysis, *, is_open: bool = True) -> list[dict[str, Any]]:
        shape_errors = self.workspace.folder_of(found.state.path).options.shape_errors
        schema_server = self.has_schema_server and is_open  # it reads open documents only
        return write_diagnostics(found, shape_errors=shape_errors, schema_server=schema_server)

    def _folder_of(self, document: OpenDocument) -> Folder:
        return self.workspace.folder_of(document.state.path)

    def _analyse(self, state: State, document: OpenDocument | None = None) -> Analysis | None:
        if document and document.state is not state:
            return None  # superseded while it waited
        folder = self.workspace.folder_of(state.path)
        sift = partial(folder.sift, state.path)
        state = self._add_settings(state)
        paths = folder.find_judged(state.path)
        if paths is None or state.settings is None:
            return analyse(state, sift)
        # The scorer takes a while to load, and few projects name judge outputs.
        from rubric_lint.assess.judged.review import JudgedFinder, RecordCache  # noqa: PLC0415

        # What was read is kept until a file or the meaning of a rubric changes. An editor does not know the rubrics of
        # other files, so a record that names none counts only if its hash, or the name of its file, is the rubric's.
        cache = self._judged = self._judged or RecordCache()
        sources = cache.load(paths)
        also = JudgedFinder(cache, sources, state.name, is_only=False)
        return replace(analyse(state, sift, also), unreadable=sources.unreadable, reviews=tuple(also.reviews))

    def _make_state(
        self, uri: str, language: str = "", version: int | None = None, text: DocumentText | None = None
    ) -> State:
        name = name_document(uri, language)
        return State(
            uri, name, language, version, text or DocumentText.of(""), path=path_of(uri), find_open=self._find_text
        )

    def _add_settings(self, state: State) -> State:
        try:
            settings = self.workspace.folder_of(state.path).settings_for(state.path, state.name, state.language)
            return replace(state, settings=settings)
        except SettingsError as fault:
            return state.blocked(fault)

    def _find_text(self, path: str) -> str | None:
        """Return the text of a file if it is open, however its path is written."""
        real = identify(path)
        return next(
            (state.text.body for other, state in self.find_open_files().items() if identify(other) == real), None
        )

    def _log_faults(self, document: OpenDocument, found: Analysis) -> None:
        """Log a crash once for a document, and each file of judge outputs that cannot be read once until it can."""
        if found.fault and str(found.fault) not in document.logged:
            document.logged.add(str(found.fault))
            self.report(found.fault, document.state.uri)
        paths = self._folder_of(document).find_judged(document.state.path)
        known, self._unreadable[paths] = self._unreadable.get(paths, ()), found.unreadable
        for file, reason in found.unreadable:
            if (file, reason) not in known:
                message = f"{visible(file)}: {reason}; `judged` or `labels` in the settings names it"
                self.connection.log(message, types.MessageType.Warning)

    def report(self, fault: Exception, uri: str) -> None:
        """Log a crash, with the details to report."""
        origin = fault.__cause__ or fault  # the rule or the file in which it began
        frames = traceback.extract_tb(origin.__traceback__)
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        self.connection.log(
            f"{uri}: rubric-lint {__version__} crashed: {type(fault).__name__}: {fault}{place}; "
            f"please report this bug with this message and the file\n{''.join(traceback.format_exception(fault))}"
        )


class _Threads(Executor):
    """A few daemon threads: those of ThreadPoolExecutor would keep the process alive while a text is linted.

    The loop of Pyodide, which has no threads, runs tasks itself and submits none.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._started = 0

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        if self._started < _THREADS:
            self._started += 1
            Thread(target=self._work, daemon=True).start()
        future: Future[Any] = Future()
        self._tasks.put((future, partial(task, *arguments, **options)))
        return future

    def _work(self) -> None:
        while True:
            future, call = self._tasks.get()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as fault:
                    future.set_exception(fault)
            del future, call  # do not keep the last result alive until the next task

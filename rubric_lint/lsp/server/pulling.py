"""Answer clients that request diagnostics: of one document, or of all files in the folders."""

# Paths are str here, as in project/files.py.
# ruff: noqa: PTH100, PTH110

import asyncio
import hashlib
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from uuid import uuid4

from lsprotocol import types

from rubric_lint.lsp.server.analysis import CRASHED, Analysis, State
from rubric_lint.lsp.server.diagnostics import SOURCE, write_diagnostics
from rubric_lint.lsp.server.documents import OpenDocuments
from rubric_lint.lsp.server.positions import Text
from rubric_lint.lsp.server.protocol import Connection, Plain
from rubric_lint.lsp.server.workspace import Folder, path_of, uri_of
from rubric_lint.project.files import File, Unreadable, find
from rubric_lint.project.opening import stat_path
from rubric_lint.project.settings import SettingsError
from rubric_lint.text.source import SIGNED_SUFFIXES, SUFFIXES

_PATIENCE = 1.0  # seconds of work before it is shown
_LONGEST_WAIT = 10.0  # seconds for an answer of the client
_TOGETHER = 0.3  # seconds in which changes of files are taken together

Handler = Callable[[Any], Awaitable[Any]]
Diagnostics = list[dict[str, Any]]

Stamp = tuple[tuple[int, ...], ...]
"""The identity, size and time of change of a file and of those that affect its findings."""


class Found(NamedTuple):
    """A file to lint, its folder, its size in bytes, and its stamp; `reason` says why it cannot be read."""

    path: str
    folder: Folder
    size: int = 0
    stamp: Stamp = ()
    reason: str = ""


class Pulling:
    """Diagnostics on request. A client that can ask for them is never sent any, or it would show them twice."""

    def __init__(self, documents: OpenDocuments) -> None:
        self._connection = documents.connection
        self._documents = documents
        self._linted: dict[str, tuple[Stamp, Diagnostics]] = {}
        self._closed: set[str] = set()
        self._news = asyncio.Event()
        self._refreshing: asyncio.Task[None] | None = None
        self._hears = False
        self._is_over = False
        self._is_on = False

    def register(self, guard: Callable[[Handler], Handler]) -> None:
        """Register for the requests if the client makes them and can be asked to make them again."""
        can = self._connection.can
        if can("text_document.diagnostic") is None or not can("workspace.diagnostics.refresh_support"):
            return
        self._is_on = True
        options = types.DiagnosticOptions(
            identifier=SOURCE, inter_file_dependencies=False, workspace_diagnostics=True, work_done_progress=True
        )
        self._connection.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(guard(self.answer_document))
        self._connection.feature(types.WORKSPACE_DIAGNOSTIC)(guard(self.answer_workspace))
        self._documents.changed, self._documents.closed = self._note_change, self._note_close

    def watch(self) -> list[types.Registration]:
        """Return registrations for changes of files that may hold rubrics, if the client requests diagnostics."""
        registrations = self._connection.watch_kinds((*SUFFIXES, *SIGNED_SUFFIXES)) if self._is_on else []
        self._hears = bool(registrations)
        return registrations

    def note_files(self) -> None:
        """Lint the files again, because some have changed."""
        self._news.set()

    def end(self) -> None:
        """Answer the requests that wait for changes."""
        self._is_over = True
        self._news.set()

    async def answer_document(self, params: types.DocumentDiagnosticParams) -> Plain:
        """Return the diagnostics of a document, open or not, or that they are unchanged."""
        uri = params.text_document.uri
        diagnostics = await self._documents.diagnostics(uri)
        if diagnostics is None:
            path = path_of(uri)
            diagnostics = await self._documents.run_behind(self._lint, path, uri) if path else []
            return Plain({"kind": "full", "items": diagnostics})
        if params.previous_result_id == (name := _name(diagnostics)):
            return Plain({"kind": "unchanged", "resultId": name})
        return Plain({"kind": "full", "resultId": name, "items": diagnostics})

    async def answer_workspace(self, params: types.WorkspaceDiagnosticParams) -> Plain:
        """Return the diagnostics of all files, open ones as they are typed.

        A client that takes partial results gets them as they come. If there is nothing new for it, its request waits
        until there is, if the client reports changes of files.
        """
        await self._documents.is_ready.wait()
        previous = {path_of(each.uri) or each.uri: each for each in params.previous_result_ids}
        token = params.partial_result_token
        while True:
            self._news.clear()
            items = []
            async for item in self._report_files(params.work_done_token, previous, brief=token is not None):
                items.append(item)
                if token is not None:
                    partial = {"token": token, "value": {"items": [item]}}
                    self._connection.protocol.send_plain(types.PROGRESS, partial)
            if items or token is None or not self._hears or self._is_over:
                return Plain({"items": items if token is None else []})
            await self._news.wait()
            await asyncio.sleep(_TOGETHER)

    async def _report_files(
        self, token: types.ProgressToken | None, previous: Mapping[str, types.PreviousResultId], *, brief: bool
    ) -> AsyncIterator[dict[str, Any]]:
        """Lint all files once; yield the items of the answer, with `brief` only those that are new.

        Small files come first, so that a large one delays no small one; open ones come last.
        """
        all_files, opened = await self._find_files(), self._documents.find_open_files()
        anew, self._closed = self._closed, set()
        files = [file for file in all_files if file.path not in opened]
        progress = _Progress(self._connection, token, len(files))
        try:
            for number, file in enumerate(files, 1):
                uri, known = uri_of(file.path), previous.get(file.path)
                stamp, diagnostics = self._linted.get(file.path, ((), []))
                if file.reason:
                    diagnostics = _write_reason(file.path, uri, file.reason)
                elif stamp != file.stamp:  # otherwise it has not changed
                    diagnostics = await self._documents.run_behind(self._lint, file.path, uri)
                    self._linted[file.path] = file.stamp, diagnostics
                if item := _write_item(uri, diagnostics, known, brief=brief, anew=file.path in anew):
                    yield item
                await progress.advance(number)
        finally:
            progress.end()
        for path in (file.path for file in all_files if file.path in opened):
            uri, known = opened[path].uri, previous.get(path)
            if (open_diagnostics := await self._documents.diagnostics(uri)) is not None and (
                item := _write_item(uri, open_diagnostics, known, brief=brief)
            ):
                yield item
        for path in sorted(previous.keys() - {file.path for file in all_files}):
            yield _write_full(previous[path].uri, [])

    async def _find_files(self) -> list[Found]:
        found: dict[str, Found] = {}
        workspace = self._documents.workspace
        for folder in workspace.folders:
            if folder.path and folder.options.enable and folder.options.unopened_files:
                for file in await self._documents.run_behind(find_files, folder):
                    if workspace.folder_of(file.path) is folder or file.reason:
                        found.setdefault(file.path, file)
        self._linted = {path: each for path, each in self._linted.items() if path in found}
        return sorted(found.values(), key=lambda file: file.size)

    def _lint(self, path: str, uri: str) -> Diagnostics:
        """Return the diagnostics of one file; one that does not exist has no findings."""
        try:
            return self._documents.lint_file(path, uri) if os.path.exists(path) else []
        except Exception as fault:
            self._documents.report(fault, uri)
            return _write_reason(path, uri, CRASHED)

    def _note_change(self) -> None:
        """Make the client ask again, because settings or judge outputs have changed."""
        self._linted.clear()
        self._news.set()

        async def refresh() -> None:
            await asyncio.sleep(0)  # changes that come together
            await self._connection.ask(types.WORKSPACE_DIAGNOSTIC_REFRESH, None)

        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.ensure_future(refresh())

    def _note_close(self, uri: str) -> None:
        """Report a file anew: the editor may show the findings of a text that was not saved."""
        if path := path_of(uri):
            self._closed.add(path)
        self._news.set()


def find_files(folder: Folder) -> list[Found]:
    """Find the files of a folder, and what cannot be read, such as an invalid settings file, with the reason."""
    if isinstance(folder.finder, SettingsError):
        return [Found(os.path.abspath(folder.finder.path), folder, reason="; ".join(folder.finder.faults))]
    stamps: dict[str, Stamp] = {}
    found = []
    for item in find([folder.path or ""], folder.finder):
        path = os.path.abspath(item.name if isinstance(item, File) else item.path)
        if isinstance(item, Unreadable):
            found.append(Found(path, folder, reason=item.reason))
            continue
        place = os.path.dirname(path)  # noqa: PTH120
        if place not in stamps:
            stamps[place] = tuple(_list_stamps(folder.find_sources(path)))
        own = tuple(_list_stamps([path]))
        found.append(Found(path, folder, own[0][2], own + stamps[place]))
    return found


def _list_stamps(paths: Iterable[str]) -> Iterator[tuple[int, ...]]:
    for path in paths:
        try:
            status = stat_path(path)
            yield status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        except OSError:
            yield 0, 0, 0, 0


def _write_reason(path: str, uri: str, reason: str) -> Diagnostics:
    state = State(uri, path, "", None, Text.of(""))
    return write_diagnostics(Analysis(state, notice=reason), shape_errors="always", schema_server=False)


def _name(diagnostics: Diagnostics) -> str:
    """Return the result id: the same for the same diagnostics."""
    return hashlib.sha256(json.dumps(diagnostics).encode()).hexdigest()


def _write_item(
    uri: str, diagnostics: Diagnostics, known: types.PreviousResultId | None, *, brief: bool, anew: bool = False
) -> dict[str, Any] | None:
    """Write the item for a file; None if the client knows it, or if it knows of nothing and there is nothing."""
    name = _name(diagnostics) if diagnostics else None
    if name == (known and known.value) and not (anew and name):
        if name is None or brief:
            return None
        return {"kind": "unchanged", "uri": uri, "version": None, "resultId": name}
    return _write_full(known.uri if known else uri, diagnostics)


def _write_full(uri: str, diagnostics: Diagnostics) -> dict[str, Any]:
    name = {"resultId": _name(diagnostics)} if diagnostics else {}
    return {"kind": "full", "uri": uri, "version": None, **name, "items": diagnostics}


class _Progress:
    """The progress of a search: shown at once if the client asks for it, else when it takes long."""

    def __init__(self, connection: Connection, token: types.ProgressToken | None, total: int) -> None:
        self._shown = connection.work_done_progress
        self._token = token
        self._total = total
        self._since = asyncio.get_running_loop().time()
        self._can_create = token is None and bool(connection.can("window.work_done_progress"))
        self._begin()

    def _begin(self) -> None:
        if self._token is not None:
            title = "rubric-lint: checking files"
            self._shown.begin(self._token, types.WorkDoneProgressBegin(title=title, percentage=0))

    async def advance(self, done: int) -> None:
        is_long = asyncio.get_running_loop().time() - self._since > _PATIENCE
        if self._can_create and is_long and done < self._total:
            self._can_create, token = False, str(uuid4())
            with suppress(Exception):  # the client answers nothing, or that it cannot show progress
                await asyncio.wait_for(self._shown.create_async(token), _LONGEST_WAIT)
                self._token = token
                self._begin()
        if self._token is not None:
            message, share = f"{done} of {self._total} files", done * 100 // max(self._total, 1)
            self._shown.report(self._token, types.WorkDoneProgressReport(message=message, percentage=share))

    def end(self) -> None:
        if self._token is not None:
            self._shown.end(self._token, types.WorkDoneProgressEnd())
            self._shown.tokens.pop(self._token, None)

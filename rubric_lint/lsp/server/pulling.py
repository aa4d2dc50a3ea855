"""Answer clients that request diagnostics: of one document, or of all files in the folders."""

# Paths are str here, as in project/files.py.
# ruff: noqa: PTH100, PTH110

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple
from uuid import uuid4

from lsprotocol import types

from rubric_lint.lsp.server.analysis import CRASHED, Analysis, State
from rubric_lint.lsp.server.diagnostics import SOURCE, write_diagnostics
from rubric_lint.lsp.server.open_documents import OpenDocuments
from rubric_lint.lsp.server.positions import Text
from rubric_lint.lsp.server.protocol import Connection, Written
from rubric_lint.lsp.server.workspace import Folder, Origin, path_of, uri_of
from rubric_lint.project.files import File, Unreadable, find
from rubric_lint.project.opening import stat_path
from rubric_lint.project.settings_file import SettingsError
from rubric_lint.text.source import SIGNED_SUFFIXES, SUFFIXES

_SLICE = 0.05  # seconds of work in the background before open documents have their turn
NOTHING = "[]"
"""The diagnostics of a file without findings."""

Stamp = tuple[tuple[int, ...], ...]
"""What tells whether files have changed."""


class Report(NamedTuple):
    """The diagnostics of a file as JSON; `id` is the same while they are, and None if there are none."""

    uri: str
    id: str | None
    diagnostics: str


class Found(NamedTuple):
    """A file to lint, its folder, its size in bytes, and its stamp; `reason` says why it cannot be read."""

    path: str
    folder: Folder
    size: int = 0
    stamp: Stamp = ()
    reason: str = ""


@dataclass(slots=True)
class _Kept:
    stamp: Stamp | None
    report: Report


class UnopenedFiles:
    """The files that a search of the editor's folders finds, as they are on the disk."""

    def __init__(self, desk: OpenDocuments) -> None:
        self._desk = desk
        self._kept: dict[str, _Kept] = {}
        self._serial = count(1)

    def outdate(self) -> None:
        """Lint all files again when they are next asked for."""
        for kept in list(self._kept.values()):
            kept.stamp = None

    def forget(self, path: str) -> None:
        """Forget a file, so that it is reported anew even if its findings are as before."""
        self._kept.pop(path, None)

    async def find(self) -> list[Found]:
        """Find the files, small ones first, so that a large one delays no small one."""
        found: dict[str, Found] = {}
        for folder in self._desk.workspace.folders:
            if folder.path and folder.options.enable and folder.options.unopened_files:
                for file in await self._desk.run_behind(find_files, folder):
                    if self._desk.workspace.folder_of(file.path) is folder or file.reason:
                        found.setdefault(file.path, file)
        for path in self._kept.keys() - found.keys():
            del self._kept[path]
        return sorted(found.values(), key=lambda file: file.size)

    async def look(self, files: Sequence[Found]) -> AsyncIterator[list[Report]]:
        """Yield the reports of files, a few at a time."""
        done = 0
        while done < len(files):
            reports = await self._desk.run_behind(self._look_for_a_while, files, done)
            done += len(reports)
            yield reports

    def look_at(self, path: str, uri: str) -> Report:
        """Return the report of one file; one that does not exist has no findings."""
        try:
            diagnostics = self._desk.lint_file(path, uri) if os.path.exists(path) else NOTHING
        except Exception as fault:
            self._desk.report(fault, uri)
            diagnostics = _word_reason(path, uri, CRASHED)
        return Report(uri, None, diagnostics)

    def _look_for_a_while(self, files: Sequence[Found], start: int) -> list[Report]:
        reports: list[Report] = []
        until = time.monotonic() + _SLICE
        while start + len(reports) < len(files) and (not reports or time.monotonic() < until):
            reports.append(self._report(files[start + len(reports)]))
        return reports

    def _report(self, file: Found) -> Report:
        kept = self._kept.get(file.path)
        if kept and kept.stamp == file.stamp and not file.reason:
            return kept.report
        uri = uri_of(file.path)
        diagnostics = (
            _word_reason(file.path, uri, file.reason) if file.reason else self.look_at(file.path, uri).diagnostics
        )
        if kept and kept.report.diagnostics == diagnostics:
            kept.stamp = file.stamp
            return kept.report
        report = Report(uri, None if diagnostics == NOTHING else str(next(self._serial)), diagnostics)
        self._kept[file.path] = _Kept(file.stamp, report)
        return report


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
            stamps[place] = tuple(_list_stamps(folder.find_sources(Origin(path, path))))
        own = tuple(_list_stamps([path]))
        found.append(Found(path, folder, own[0][2], own + stamps[place]))
    return found


def _list_stamps(paths: Iterator[str] | list[str]) -> Iterator[tuple[int, ...]]:
    for path in paths:
        try:
            status = stat_path(path)
            yield status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        except OSError:
            yield 0, 0, 0, 0


def _word_reason(path: str, uri: str, reason: str) -> str:
    state = State(uri, path, "", None, Text.of(""), None)
    return write_diagnostics(Analysis(state, notice=reason), shape_errors="always", schema_server=False)


_PATIENCE = 1.0  # seconds of work before it is shown
_TOGETHER = 0.3  # seconds in which changes of files are taken together

Handler = Callable[[Any], Awaitable[Any]]


class _Known(NamedTuple):
    id: str
    diagnostics: str


class Pulling:
    """Diagnostics on request. A client that can ask for them is never sent any, or it would show them twice."""

    def __init__(self, connection: Connection, desk: OpenDocuments) -> None:
        self._connection = connection
        self._desk = desk
        self._files = UnopenedFiles(desk)
        self._known: dict[str, _Known] = {}
        self._serial = count(1)
        self._news = asyncio.Event()
        self._refreshing: asyncio.Task[None] | None = None
        self._hears = False
        self._is_over = False

    def register(self, guard: Callable[[Handler], Handler]) -> bool:
        """Register for the requests if the client makes them and can be told to make them again."""
        can = self._connection.can
        if can("text_document.diagnostic") is None or not can("workspace.diagnostics.refresh_support"):
            return False
        options = types.DiagnosticOptions(
            identifier=SOURCE, inter_file_dependencies=False, workspace_diagnostics=True, work_done_progress=True
        )
        self._connection.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(guard(self.answer_document))
        self._connection.feature(types.WORKSPACE_DIAGNOSTIC)(guard(self.answer_workspace))
        self._desk.changed, self._desk.closed = self._note_change, self._note_close
        return True

    def watch(self) -> list[types.Registration]:
        """Return registrations for changes of files that may hold rubrics."""
        registrations = self._connection.watch_kinds((*SUFFIXES, *SIGNED_SUFFIXES))
        self._hears = bool(registrations)
        return registrations

    def note_files(self) -> None:
        """Look at the files again, because some have changed."""
        self._news.set()

    def end(self) -> None:
        """Answer the requests that wait for changes."""
        self._is_over = True
        self._news.set()

    async def answer_document(self, params: types.DocumentDiagnosticParams) -> Written:
        """Return the diagnostics of a document, open or not, or that they are unchanged."""
        uri = params.text_document.uri
        if known := await self._ask(uri):
            if params.previous_result_id == known.id:
                return Written(json.dumps({"kind": "unchanged", "resultId": known.id}))
            return Written(f'{{"kind": "full", "resultId": {json.dumps(known.id)}, "items": {known.diagnostics}}}')
        path = path_of(uri)
        report = await self._desk.run_behind(self._files.look_at, path, uri) if path else None
        return Written(f'{{"kind": "full", "items": {report.diagnostics if report else NOTHING}}}')

    async def _ask(self, uri: str) -> _Known | None:
        """Return the diagnostics of an open document."""
        diagnostics = await self._desk.diagnostics(uri)
        if diagnostics is None:
            return None
        known = self._known.get(uri)
        if known is None or known.diagnostics != diagnostics:
            known = self._known[uri] = _Known(f"open {next(self._serial)}", diagnostics)
        return known

    async def answer_workspace(self, params: types.WorkspaceDiagnosticParams) -> Written:
        """Return the diagnostics of all files, open ones as they are typed.

        A client that takes partial results gets them as they come. If there is nothing new for it, its request waits
        until there is, if the client reports changes of files.
        """
        await self._desk.wait_for_settings()
        previous = {path_of(each.uri) or each.uri: each for each in params.previous_result_ids}
        token = params.partial_result_token
        while True:
            self._news.clear()
            is_new, items = False, []
            async for some in self._look(params.work_done_token, previous, brief=token is not None):
                is_new = is_new or bool(some)
                if token is None:
                    items += some
                elif some:
                    text = f'{{"token": {json.dumps(token)}, "value": {_write_items(some)}}}'
                    self._connection.protocol.send_notification(types.PROGRESS, text)
            if is_new or token is None or not self._hears or self._is_over:
                return Written(_write_items(items))
            await self._news.wait()
            await asyncio.sleep(_TOGETHER)

    async def _look(
        self, token: types.ProgressToken | None, previous: Mapping[str, types.PreviousResultId], *, brief: bool
    ) -> AsyncIterator[list[str]]:
        """Look at all files once; yield items of the answer as JSON, with `brief` only those that are new."""
        all_files, opened = await self._files.find(), self._desk.find_open_files()
        files = [file for file in all_files if file.path not in opened]
        progress = _Progress(self._connection, token, len(files))
        try:
            start = 0
            async for reports in self._files.look(files):
                before = (previous.get(file.path) for file in files[start : start + len(reports)])
                yield [item for pair in zip(reports, before, strict=True) if (item := _write_item(*pair, brief=brief))]
                start += len(reports)
                await progress.advance(start)
        finally:
            progress.end()
        for path in (file.path for file in all_files if file.path in opened):
            if known := await self._ask(opened[path].uri):
                report = Report(opened[path].uri, None if known.diagnostics == NOTHING else known.id, known.diagnostics)
                item = _write_item(report, previous.get(path), brief=brief)
                yield [item] if item else []
        gone = previous.keys() - {file.path for file in all_files}
        yield [_write_full(previous[path].uri, None, NOTHING) for path in sorted(gone)]

    def _note_change(self) -> None:
        """Make the client ask again, because settings or judge outputs have changed."""
        self._files.outdate()
        self._news.set()
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.ensure_future(self._refresh())

    async def _refresh(self) -> None:
        await asyncio.sleep(0)  # changes that come together
        await self._connection.ask(types.WORKSPACE_DIAGNOSTIC_REFRESH, None)

    def _note_close(self, uri: str) -> None:
        """Report a file anew: the editor may show the findings of a text that was not saved."""
        self._known.pop(uri, None)
        if path := path_of(uri):
            self._files.forget(path)
        self._news.set()


def _write_items(items: list[str]) -> str:
    return f'{{"items": [{", ".join(items)}]}}'


def _write_item(report: Report, known: types.PreviousResultId | None, *, brief: bool) -> str | None:
    """Write the item for a file; None if the client knows it, or if it knows of nothing and there is nothing."""
    if report.id == (known and known.value):
        if report.id is None or brief:
            return None
        return json.dumps({"kind": "unchanged", "uri": report.uri, "version": None, "resultId": report.id})
    return _write_full(known.uri if known else report.uri, report.id, report.diagnostics)


def _write_full(uri: str, name: str | None, diagnostics: str) -> str:
    head = {"kind": "full", "uri": uri, "version": None} | ({} if name is None else {"resultId": name})
    return f'{json.dumps(head)[:-1]}, "items": {diagnostics}}}'


class _Progress:
    """The progress of a search: shown at once if the client asks for it, else when it takes long."""

    def __init__(self, connection: Connection, token: types.ProgressToken | None, total: int) -> None:
        self._connection = connection
        self._token = token
        self._total = total
        self._is_shown = token is not None
        self._since = asyncio.get_running_loop().time()
        self._can_create = bool(connection.can("window.work_done_progress"))
        if self._is_shown:
            self._begin()

    async def advance(self, done: int) -> None:
        """Show how many files are done."""
        is_long = asyncio.get_running_loop().time() - self._since > _PATIENCE
        if not self._is_shown and is_long and self._can_create and done < self._total:
            self._token, self._can_create = str(uuid4()), False
            params = types.WorkDoneProgressCreateParams(self._token)
            self._is_shown = await self._connection.is_done(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params)
            self._begin()
        message, share = f"{done} of {self._total} files", done * 100 // max(self._total, 1)
        self._notify(types.WorkDoneProgressReport(message=message, percentage=share))

    def end(self) -> None:
        """Show that the search is over."""
        self._notify(types.WorkDoneProgressEnd())

    def _begin(self) -> None:
        self._notify(types.WorkDoneProgressBegin(title="rubric-lint: checking files", percentage=0))

    def _notify(self, value: Any) -> None:
        if self._is_shown and self._token is not None:
            self._connection.protocol.notify(types.PROGRESS, types.ProgressParams(self._token, value))

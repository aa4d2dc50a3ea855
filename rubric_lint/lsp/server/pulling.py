"""Answer clients that ask for diagnostics: of one document, and of all files of the folders."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from itertools import count
from typing import Any, NamedTuple
from uuid import uuid4

from lsprotocol import types

from rubric_lint.lsp.server.diagnostics import SOURCE
from rubric_lint.lsp.server.open_documents import OpenDocuments
from rubric_lint.lsp.server.protocol import Connection, Written
from rubric_lint.lsp.server.unopened import NOTHING, Report, UnopenedFiles
from rubric_lint.lsp.server.uris import path_of
from rubric_lint.text.source import SIGNED_SUFFIXES, SUFFIXES

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

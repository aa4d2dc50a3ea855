"""Publish the findings of the files in the folders that are not open."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types

from rubric_lint.editor.server.analysis import CRASHED, Analysis, State
from rubric_lint.editor.server.diagnostics import write_diagnostics
from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.editor.server.positions import DocumentText
from rubric_lint.editor.server.workspace import Folder, uri_of
from rubric_lint.lint.project.files import File, Unreadable, find
from rubric_lint.lint.project.opening import stat_path
from rubric_lint.lint.project.paths import exists, make_absolute
from rubric_lint.lint.project.settings import SettingsError

_TOGETHER = 0.3  # seconds in which changes of files are taken together

Stamp = tuple[Any, ...]
"""The identity, size and time of change of a file and of those that affect its findings, and its settings."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to lint, its folder, its size in bytes, and its stamp; `reason` says why it cannot be read."""

    path: str
    folder: Folder
    size: int = 0
    stamp: Stamp = ()
    reason: str = ""


class UnopenedFiles:
    """Lints the files that are not open: once at the start, and each again when it or its settings have changed."""

    def __init__(self, documents: OpenDocuments) -> None:
        self._documents = documents
        self._linted: dict[str, Stamp] = {}
        self._shown: set[str] = set()
        """The files with findings in the editor."""
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        documents.changed, documents.closed = self.look_again, self._note_close

    def look_again(self) -> None:
        """Lint the files that have changed."""
        self._news.set()
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())

    def end(self) -> None:
        """Stop."""
        if self._task:
            self._task.cancel()

    def _note_close(self, path: str) -> None:
        """Publish what the file on the disk has, in place of a text that may not have been saved."""
        self._linted.pop(path, None)
        self.look_again()

    async def _run(self) -> None:
        while self._news.is_set():
            await asyncio.sleep(_TOGETHER)
            self._news.clear()
            try:
                await self._lint_all()
            except Exception as fault:
                self._documents.report(fault, "files that are not open")

    async def _lint_all(self) -> None:
        """Lint what has changed, small files first, so that a large one delays no small one."""
        found = await self._find_files()
        for file in sorted(found.values(), key=lambda file: file.size):
            stamp = (*file.stamp, file.reason)
            if self._linted.get(file.path) == stamp or self._is_open(file.path):
                continue
            diagnostics = await self._documents.run_behind(self._lint, file)
            if not self._is_open(file.path):
                self._linted[file.path] = stamp
                self._publish(file.path, diagnostics)
        for path in self._shown - found.keys():
            if not self._is_open(path):
                self._publish(path, [])
        self._linted = {path: stamp for path, stamp in self._linted.items() if path in found}

    def _is_open(self, path: str) -> bool:
        return path in self._documents.find_open_files()

    def _publish(self, path: str, diagnostics: list[dict[str, Any]]) -> None:
        """Send the diagnostics of a file, unless it has none and had none."""
        if diagnostics or path in self._shown:
            params = {"uri": uri_of(path), "diagnostics": diagnostics}
            self._documents.connection.protocol.send_plain(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)
        if diagnostics:
            self._shown.add(path)
        else:
            self._shown.discard(path)

    async def _find_files(self) -> dict[str, FoundFile]:
        found: dict[str, FoundFile] = {}
        workspace = self._documents.workspace
        for folder in workspace.folders:
            if folder.path and folder.options.enable and folder.options.unopened_files:
                for file in await self._documents.run_behind(find_files, folder):
                    if workspace.folder_of(file.path) is folder or file.reason:
                        found.setdefault(file.path, file)
        return found

    def _lint(self, file: FoundFile) -> list[dict[str, Any]]:
        """Return the diagnostics of one file; one that does not exist has no findings."""
        uri = uri_of(file.path)
        if file.reason:
            return _write_reason(file.path, uri, file.reason)
        try:
            return self._documents.lint_file(file.path, uri) if exists(file.path) else []
        except Exception as fault:
            self._documents.report(fault, uri)
            return _write_reason(file.path, uri, CRASHED)


def find_files(folder: Folder) -> list[FoundFile]:
    """Find the files of a folder, and what cannot be read, such as an invalid settings file, with the reason."""
    if isinstance(folder.finder, SettingsError):
        return [FoundFile(str(make_absolute(folder.finder.path)), folder, reason="; ".join(folder.finder.faults))]
    stamps: dict[Path, Stamp] = {}
    found = []
    for item in find([folder.path or ""], folder.finder):
        name = item.name if isinstance(item, File) else item.path
        path = str(make_absolute(name))
        if isinstance(item, Unreadable):
            found.append(FoundFile(path, folder, reason=item.reason))
            continue
        place = Path(path).parent
        if place not in stamps:
            settings = folder.find_settings(path)
            table = (settings.origin, settings.table) if settings else ()
            stamps[place] = (folder.options, table, *_list_stamps(folder.find_sources(path)))
        own = tuple(_list_stamps([path]))
        found.append(FoundFile(path, folder, own[0][2], own + stamps[place]))
    return found


def _list_stamps(paths: Iterable[str]) -> Iterator[tuple[int, ...]]:
    for path in paths:
        try:
            status = stat_path(path)
            yield status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        except OSError:
            yield 0, 0, 0, 0


def _write_reason(path: str, uri: str, reason: str) -> list[dict[str, Any]]:
    state = State(uri, path, "", None, DocumentText.of(""))
    return write_diagnostics(Analysis(state, notice=reason), shape_errors="always", schema_server=False)

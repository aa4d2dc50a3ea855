"""Lint the files of the editor's folders that are not open, and keep the findings until a file changes."""

# Paths are str here, as in project/files.py.
# ruff: noqa: PTH100, PTH110

import os
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from rubric_lint.lsp.server.analysis import CRASHED, Analysis, State
from rubric_lint.lsp.server.diagnostics import write_diagnostics
from rubric_lint.lsp.server.open_documents import OpenDocuments
from rubric_lint.lsp.server.positions import Text
from rubric_lint.lsp.server.uris import uri_of
from rubric_lint.lsp.server.workspace import Folder, Origin
from rubric_lint.project.files import File, Unreadable, find
from rubric_lint.project.opening import stat_path
from rubric_lint.project.settings import SettingsError

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

"""Lint again whenever files change, as watchfiles reports it, and show all findings."""

# Paths are str, see project/settings.py.
# ruff: noqa: PTH100, PTH112, PTH114, PTH116, PTH118, PTH120

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import NamedTuple, NoReturn, cast

import click

from rubric_lint.messages import join_words, visible
from rubric_lint.project.files import File, Skipped, Unreadable, find
from rubric_lint.project.settings import NAMES, Overrides, Settings, SettingsError, SettingsFinder
from rubric_lint.run.batch import FileOutcome, Found, lighten, lint_files
from rubric_lint.run.console import Progress, complain
from rubric_lint.run.linting import Find
from rubric_lint.run.summary import counted

_STEP = 50
"""Milliseconds without a change after which a batch of changes ends."""

_TICK = 20_000_000
"""Nanoseconds within which two writes may leave the same timestamp."""

_EMPTY = 250_000_000
"""Nanoseconds after which an empty file counts as empty; editors often truncate a file before saving."""

_DECIDING = frozenset({*NAMES, ".gitignore", ".git", "exclude"})
"""Names of files that affect others, also above the searched folders."""

_MOST_NAMES = 3
_UNKNOWN = Unreadable("", "")

_Stamp = tuple[int, ...]


class _Known(NamedTuple):
    """The last outcome of a file; `is_settled` if any later write changes its stamps.

    `stamps` are those of the file and of the others that it needs, by name.
    """

    file: Found
    stamps: dict[str, _Stamp]
    is_settled: bool
    outcome: FileOutcome

    def is_rewritten(self, before: "_Known") -> bool:
        """Return whether the file itself, not only its settings, has changed."""
        if self.stamps != before.stamps:
            return True
        has_news = not isinstance(self.outcome, Exception) and self.outcome != before.outcome
        return self.file == before.file and has_news

    def list_written(self, before: "_Known | None") -> list[str]:
        """Return the names of the files that have changed: what it needs, or else itself."""
        itself = _name(self.file)
        if before is None:
            return [itself]
        changed = [name for name, stamp in self.stamps.items() if before.stamps.get(name) != stamp]
        return changed or [name for name in before.stamps if name not in self.stamps] or [itself]


class _Finder(SettingsFinder):
    """A finder that records the folders it is asked about: those searched and those of files."""

    def __init__(self, overrides: Overrides, *, file: str | None, isolated: bool) -> None:
        self.folders: set[str] = set()
        super().__init__(overrides, file=file, isolated=isolated)

    def for_folder(self, folder: str) -> Settings:
        self.folders.add(os.path.realpath(folder))
        return super().for_folder(folder)


class WatchError(Exception):
    """Files cannot be watched, and why."""


class Watch:
    """Watch the files at `paths`; `show` reports on the files it is given.

    `find` finds the files, `lint` lints them, and `needs` returns the names of other files that the outcome of a file
    depends on, by the settings of this moment.
    """

    def __init__(
        self,
        paths: Sequence[str],
        show: Callable[..., object],
        progress: Progress,
        overrides: Overrides,
        *,
        config: str | None,
        isolated: bool,
        find: Find = find,
        lint: Callable[..., Iterator[tuple[Found, FileOutcome]]] = lint_files,
        needs: Callable[[str, SettingsFinder], Sequence[str]] = lambda _name, _finder: (),
    ) -> None:
        self._paths = paths
        self._show = show
        self._progress = progress
        self._config = config
        self._make_finder = partial(_Finder, overrides, file=config, isolated=isolated)
        self._search = find
        self._lint = lint
        self._needs = needs
        self._finder = SettingsFinder(isolated=True)
        self._known: dict[str | Unreadable, _Known] = {}
        self._skipped = Skipped()
        self._searched: set[str] = set()
        self._fault: SettingsError | None = None

    def run(self) -> NoReturn:
        """Watch until the program is interrupted.

        Raises:
            WatchError: when the system cannot watch, or the package for it is missing.
            SettingsError: when the settings cannot be used at the start.
        """
        try:
            from watchfiles import watch  # noqa: PLC0415  (an extra)
        except ImportError:
            needed = "--watch needs the watchfiles package; install it with: pip install 'rubric-lint[watch]'"
            raise WatchError(needed) from None
        with self._progress.reporting_interrupt(lambda: "while watching; nothing is checked any more"):
            self._watch(watch)

    def _watch(self, watch: Callable[..., Iterator[object]]) -> NoReturn:
        self._look(is_first=True)
        while True:
            folders = self._folders()
            changes = watch(
                *sorted(folders),
                watch_filter=lambda _, path: self._matters(path),
                step=_STEP,
                rust_timeout=_STEP,
                yield_on_timeout=True,
                recursive=False,
                ignore_permission_denied=True,
            )
            with closing(cast("Generator[object]", changes)):
                try:
                    next(changes)  # no change after this call is missed
                except FileNotFoundError:  # a folder was deleted meanwhile
                    continue
                except OSError as fault:
                    raise WatchError(f"{counted(len(folders), 'folder')} cannot be watched: {fault}") from fault
                self._look()
                if self._folders() == folders:
                    next(filter(None, changes))
            self._look()

    def _look(self, *, is_first: bool = False) -> None:
        """Search again, lint new and changed files, and show all findings if anything changed."""
        try:
            finder = self._make_finder()
            self._skipped, self._finder = Skipped(), finder
            found = ((file, _name(file)) for file in self._search(self._paths, finder, self._skipped))
            # One that vanished during the search is left out, unless the user named it.
            files = [file for file, name in found if name in self._paths or os.path.lexists(name)]
            news = self._learn(files, processes=None if is_first else 1)
            names = [file.name for file in files if isinstance(file, File)]
            linked = {os.path.dirname(os.path.realpath(name)) for name in names if os.path.islink(name)}
            needed = {os.path.dirname(os.path.realpath(each)) for name in names for each in self._needs(name, finder)}
            self._searched = finder.folders | linked | needed
            if is_first or news or self._fault:
                click.clear()
                _print_note(f"Changed: {join_words(news)}" if news and not is_first else "Checking everything")
                known = self._known
                self._show(
                    finder, find=self._find, lint=lambda files: ((file, known[_key(file)].outcome) for file in files)
                )
                _print_note(f"Watching {counted(len(names), 'file')}; press Ctrl+C to stop")
            self._fault = None
        except SettingsError as fault:
            if is_first:
                raise
            self._tell_fault(fault)

    def _find(self, _paths: object, _finder: object, skipped: Skipped) -> Iterator[Found]:
        """Yield the known files as `files.find` would."""
        yield from (each.file for each in self._known.values())
        skipped.add(self._skipped)

    def _learn(self, files: list[Found], *, processes: int | None) -> list[str]:
        """Lint new and changed files; return the names of new, changed and deleted files."""
        stamps = {_key(file): self._stamp(file) for file in files}
        before, self._known = self._known, {}
        due = []
        for file in files:
            key = _key(file)
            old = before.get(key)
            if old and old.is_settled and (old.file, old.stamps) == (file, stamps[key][0]):
                self._known[key] = old
            else:
                due.append(file)
                self._known[key] = _Known(file, {}, is_settled=False, outcome=_UNKNOWN)  # keeps the order
        # Once watchfiles has started a thread, forking a process is not safe.
        for file, outcome in self._progress.over(self._lint(self._progress.count(due), processes=processes)):
            self._known[_key(file)] = _Known(file, *stamps[_key(file)], lighten(outcome))
        now = self._known
        written = [key for key in now if key not in before or now[key].is_rewritten(before[key])]
        gone = [key for key in before if key not in now]
        # A file that could not be read before and now can is both deleted and new, under one name.
        changed = [name for key in written for name in now[key].list_written(before.get(key))]
        changed += [key if isinstance(key, str) else key.path for key in gone]
        news = [*dict.fromkeys(map(visible, changed))]
        if len(news) > _MOST_NAMES:
            news[_MOST_NAMES:] = [f"{len(news) - _MOST_NAMES} more"]
        others = sum(before[key].file != now[key].file for key in now.keys() - written)
        return [*news, f"the settings of {counted(others, 'file')}"] if others else news

    def _stamp(self, file: Found) -> tuple[dict[str, _Stamp], bool]:
        """Return stamps that change when a file or one that it needs is written, and whether they are reliable yet."""
        if isinstance(file, Unreadable):
            return {}, True
        stamp, is_settled = _stamp(file)
        stamps = {file.name: stamp}
        for name in self._needs(file.name, self._finder):
            stamps[name], is_more_settled = _stamp(file._replace(name=name))
            is_settled = is_settled and (is_more_settled or not stamps[name])
        return stamps, is_settled

    def _tell_fault(self, error: SettingsError) -> None:
        if self._fault is None or self._fault.faults != error.faults:
            self._fault = error
            for line in error.lines:
                complain(line)
            _print_note("Watching; nothing is checked until the settings are fixed")

    def _named(self) -> set[str]:
        """Return the absolute paths named on the command line; for a symlink, the link and its target."""
        names = [*self._paths, *([self._config] if self._config else [])]
        paths = [os.path.split(os.path.abspath(name)) for name in names]
        links = {os.path.join(os.path.realpath(folder), base) for folder, base in paths}
        return links | {os.path.realpath(name) for name in names}

    def _folders(self) -> set[str]:
        """Return the folders to watch: those searched, and all above them, which may hold settings and .gitignore."""
        folders = set(self._searched)
        pending = [*folders, *map(os.path.dirname, self._named())]
        while pending:
            folder = pending.pop()
            folders.add(folder)
            exclude = os.path.join(folder, ".git", "info")
            if os.path.isdir(exclude):
                folders.add(exclude)
            above = os.path.dirname(folder)
            if above not in folders:
                pending.append(above)
        return {folder for folder in folders if os.path.isdir(folder)}

    def _matters(self, path: str) -> bool:
        """Return whether a change at `path` may affect the findings."""
        folder, base = os.path.split(path)
        if base in _DECIDING or folder in self._searched:
            return True
        return any(name == path or name.startswith(path + os.sep) for name in self._named() | self._searched)


def _name(file: Found) -> str:
    return file.name if isinstance(file, File) else file.path


def _key(file: Found) -> str | Unreadable:
    return file.name if isinstance(file, File) else file


def _stamp(file: File) -> tuple[_Stamp, bool]:
    """Return a stamp that changes when a file is written, and whether it is reliable yet."""
    try:
        status = os.stat(file.name)
        while not status.st_size and 0 <= _age(status) < _EMPTY:
            time.sleep(_STEP / 1000)
            status = os.stat(file.name)
    except OSError:
        return (), False
    is_settled = abs(_age(status)) > _TICK
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns), is_settled


def _age(status: os.stat_result) -> int:
    """Return the nanoseconds since the file changed; negative if its clock is ahead."""
    return time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns)


def _print_note(text: str) -> None:
    click.echo(f"[{time.strftime('%H:%M:%S')}] {text}.")

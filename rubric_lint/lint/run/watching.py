"""Report again whenever files change, as watchfiles notices it."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

import click

from rubric_lint.lint.project.files import LINKED, OUTSIDE, File, Skipped, Unreadable
from rubric_lint.lint.project.paths import exists, follow_links, is_folder, is_link, make_absolute, trace_links
from rubric_lint.lint.project.settings import NAMES, Overrides, Settings, SettingsError, SettingsFinder, shorten_path
from rubric_lint.lint.project.suites import find
from rubric_lint.lint.run.batch import FoundFile
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.lint.run.linting import Find
from rubric_lint.model.messages import UserError, counted, join_words, pluralize, visible
from rubric_lint.model.suggest import format_need

_STEP = 100
"""Milliseconds without a change after which a batch of changes ends; editors may empty a file before they write it."""

_DECIDING = frozenset({*NAMES, ".gitignore", ".git", "exclude"})
"""Names of files that affect others, also above the searched folders."""

_MOST_NAMES = 3

_Batch = AbstractSet[tuple[object, str]]
"""Changes that watchfiles reports together: of each its kind and the path."""


class _RecordingFinder(SettingsFinder):
    """A finder that records the folders it is asked about: those searched and those of files."""

    def __init__(self, overrides: Overrides, *, file: str | None, isolated: bool) -> None:
        self.folders: set[Path] = set()
        super().__init__(overrides, file=file, isolated=isolated)

    def for_folder(self, folder: Path) -> Settings:
        self.folders.add(follow_links(folder))
        return super().for_folder(folder)


@dataclass(frozen=True)
class _Snapshot:
    """What a search found.

    `names` has the files that the findings rest on, by their absolute paths: those found, those that these need, and
    the settings file that an option names.
    `above` has these paths, those the user named, and each folder and link on the way to one of them.
    """

    finder: _RecordingFinder
    files: list[FoundFile]
    names: dict[Path, str]
    above: frozenset[Path]
    folders: frozenset[Path]
    unfollowed: int
    """The number of links that the search does not follow."""

    def matters(self, path: Path) -> bool:
        """Return whether a change at `path` may change what a search finds, or the findings."""
        return path.name in _DECIDING or path.parent in self.finder.folders or path in self.above

    def list_news(self, before: "_Snapshot", changed: set[Path]) -> list[str]:
        """Return the names of the files that are new or gone since another search, or among the `changed` paths."""
        known = {*self.names.items(), *before.names.items()}
        names = {name for path, name in known if path in changed}
        names |= {shorten_path(path) for path in changed if path.name in _DECIDING}
        names |= {name for _, name in self.names.items() ^ before.names.items()}  # also where a link leads elsewhere
        return sorted(names)


class Watch:
    """Watch the files at `paths`; `report` lints them and shows all findings.

    `find` finds the files, and `needs` returns the names of other files that the outcome of a file depends on.
    """

    def __init__(
        self,
        paths: Sequence[str],
        report: Callable[..., object],
        progress: Progress,
        overrides: Overrides,
        *,
        config: str | None,
        isolated: bool,
        find: Find = find,
        needs: Callable[[str, SettingsFinder], Sequence[str]] = lambda _name, _finder: (),
    ) -> None:
        self._paths = paths
        self._config = [config] if config else []
        self._report = report
        self._progress = progress
        self._make_finder = partial(_RecordingFinder, overrides, file=config, isolated=isolated)
        self._find = find
        self._needs = needs
        self._shown: _Snapshot | None = None  # by the last report
        self._changed: set[Path] = set()  # since then
        self._faults: tuple[str, ...] = ()

    def run(self) -> NoReturn:
        """Watch until the program is interrupted.

        Raises:
            UserError: when no path exists, the system cannot watch, or the package for it is missing.
            SettingsError: when the settings cannot be used at the start.
        """
        try:
            from watchfiles import watch  # noqa: PLC0415  (an extra)
        except ImportError:
            raise UserError(f"--watch {format_need('watch')}") from None
        with self._progress.reporting_interrupt(lambda: "while watching; nothing is checked any more"):
            self._watch(watch)

    def _watch(self, watch: Callable[..., Generator[_Batch]]) -> NoReturn:
        search = self._search()
        if not any(map(exists, self._paths)):
            raise UserError(*(f"{file.path}: {file.reason}" for file in search.files if isinstance(file, Unreadable)))
        while True:
            batches = watch(
                *sorted(search.folders),
                watch_filter=None,
                step=_STEP,
                rust_timeout=_STEP,
                yield_on_timeout=True,
                recursive=False,
                ignore_permission_denied=True,
            )
            with closing(batches):
                try:
                    self._changed |= {Path(path) for _, path in next(batches)}  # no change after this call is missed
                except FileNotFoundError:  # a folder was deleted meanwhile
                    search = self._search()
                except OSError as fault:
                    count = counted(len(search.folders), "folder")
                    raise UserError(f"{count} cannot be watched: {fault}") from fault
                else:
                    search = self._follow(search, batches)

    def _follow(self, search: _Snapshot, batches: Iterator[_Batch]) -> _Snapshot:
        """Report whenever something changes, until a search finds that other folders have to be watched."""
        folders = search.folders
        while True:
            try:
                search = self._search()
                if search.folders != folders:
                    return search
                self._show_news(search)
            except SettingsError as error:
                self._complain(error)
            self._changed = set()
            while not any(map(search.matters, self._changed)):
                self._changed = {Path(path) for _, path in next(batches)}

    def _search(self) -> _Snapshot:
        finder = self._make_finder()
        skipped = Skipped(reasons={})
        files = list(self._find(self._paths, finder, skipped))
        needed = list(self._config)
        for file in files:
            if isinstance(file, File):
                needed += [file.name, *self._needs(file.name, finder)]
        above = trace_links([*needed, *finder.folders, *self._paths])
        deciding = [folder / name for folder in above for name in _DECIDING]
        needed += [shorten_path(path) for path in deciding if is_link(path)]
        above |= trace_links(needed)
        names: dict[Path, str] = {}
        for name in needed:
            names |= dict.fromkeys(_locate(name), name)
        folders = {*above, *(folder / ".git" / "info" for folder in above)}
        unfollowed = [reason for reason in (skipped.reasons or {}).values() if reason in (LINKED, OUTSIDE)]
        watched = frozenset(filter(is_folder, folders))
        return _Snapshot(finder, files, names, frozenset(above), watched, len(unfollowed))

    def _show_news(self, search: _Snapshot) -> None:
        """Report all findings if what they rest on has changed since the last report."""
        shown = self._shown
        news = search.list_news(shown, self._changed) if shown else []
        if shown and not news and not self._faults:
            return
        if len(news) > _MOST_NAMES:
            news = [*news[:_MOST_NAMES], f"{len(news) - _MOST_NAMES} more"]
        click.clear()
        note = f"Changed: {join_words(list(map(visible, news)))}" if news else "Checking everything"
        _print_note(note)
        self._report(search.finder)
        count = sum(isinstance(file, File) for file in search.files)
        links, advice = search.unfollowed, ""
        if links:
            verb, them = pluralize(links, "is", "are"), pluralize(links, "it", "them")
            advice = f"; {counted(links, 'symlink')} {verb} not followed: name {them} to watch what is behind {them}"
        _print_note(f"Watching {counted(count, 'file')}{advice}; press Ctrl+C to stop")
        self._shown, self._faults = search, ()

    def _complain(self, error: SettingsError) -> None:
        """Report broken settings once; raise them again if they are broken from the start."""
        if self._shown is None:
            raise error
        if error.faults != self._faults:
            for line in error.lines:
                complain(line)
            _print_note("Watching; nothing is checked until the settings are fixed")
        self._faults = error.faults


def _locate(name: str) -> set[Path]:
    """Return the absolute paths at which a file changes: its own, and for a symlink that of the target."""
    path = make_absolute(name)
    return {follow_links(path.parent) / path.name, follow_links(name)}


def _print_note(text: str) -> None:
    click.echo(f"[{time.strftime('%H:%M:%S')}] {text}.")

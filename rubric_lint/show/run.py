"""Describe many files: read, describe and report each one before the next, and continue after errors."""

# Paths are str, see project/settings.py.
# ruff: noqa: PTH202

import gc
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain

from rubric_lint.messages import join_words
from rubric_lint.project.files import File, Skipped, Unreadable, find, read, read_stdin, split_stdin, tidy
from rubric_lint.project.opening import LIMIT
from rubric_lint.project.settings import SettingsFinder
from rubric_lint.run.console import Progress, complain, report_crash
from rubric_lint.run.linting import Find
from rubric_lint.run.summary import EMPTY, UNKNOWN, Summary, counted
from rubric_lint.show import Shown
from rubric_lint.show.source import show


class ShowRun:
    """Describes the files at `paths` and calls `report` for each that has something to tell, or that is named.

    `refuse` gets a message for each file that cannot be read.
    """

    def __init__(
        self,
        report: Callable[[Shown], object],
        progress: Progress,
        *,
        find: Find = find,
        read: Callable[[File], bytes | Unreadable] = read,
        refuse: Callable[[str], object] = complain,
        report_crash: Callable[[Exception, str], object] = report_crash,
    ) -> None:
        self._report = report
        self._progress = progress
        self._find = find
        self._read = read
        self._tell_refusal = refuse
        self._report_crash = report_crash
        self._named: frozenset[str] = frozenset()
        self._refused: set[str] = set()

    def show_all(self, paths: Iterable[str], stdin_name: str, finder: SettingsFinder) -> Summary:
        """Describe everything at `paths`; `stdin_name` is the file name of stdin.

        Raises:
            SettingsError: if the settings for stdin are invalid.
        """
        summary, skipped = Summary(), Skipped()

        def word() -> str:
            done = join_words([counted(summary.files, "file"), counted(summary.rubrics, "rubric")])
            return f"after {done}; the other files were not read"

        with self._progress.reporting_interrupt(word):
            paths, stdin = split_stdin(paths, stdin_name, finder)
            self._named = frozenset([*map(tidy, paths), *(file.name for file in stdin)])
            gc.freeze()  # objects loaded so far stay, so no collection needs to visit them
            for file in self._progress.over(self._progress.count(chain(stdin, self._find(paths, finder, skipped)))):
                summary = summary.plus(self._take(file, is_stdin=any(file is each for each in stdin)))
        for line in skipped.word_other_kinds():
            complain(line)
        return summary.plus(Summary.left_out(skipped))

    def _take(self, file: File | Unreadable, *, is_stdin: bool) -> Summary:
        data = file if isinstance(file, Unreadable) else read_stdin(file.name) if is_stdin else self._read(file)
        if isinstance(file, Unreadable) or isinstance(data, Unreadable):
            return self._refuse(data)  # type: ignore[arg-type]
        try:
            shown = show(file.name, data, file.settings)
        except Exception as fault:
            self._progress.clear()
            self._report_crash(fault, file.name)
            return Summary(faults=1)
        if shown.reason == EMPTY and not is_stdin and _is_too_large(file.name):
            shown = shown._replace(reason=f"{UNKNOWN} in its first {LIMIT / 1e6:.0f} MB")
        if shown.rubrics or shown.unread or shown.errors or shown.warnings or file.name in self._named:
            self._report(shown)
        return Summary(
            files=1,
            files_with_rubrics=int(bool(shown.rubrics)),
            rubrics=len(shown.rubrics),
            criteria=sum(len(rubric.criteria) for rubric in shown.rubrics),
            errors=shown.errors,
            warnings=shown.warnings,
            ignored=shown.ignored,
            unread=sum(each.is_known for each in shown.unread),
        )

    def _refuse(self, what: Unreadable) -> Summary:
        self._progress.clear()
        self._tell_refusal(f"{what.path}: {what.reason}")
        known = what.path in self._refused  # a settings file may have several errors
        self._refused.add(what.path)
        return Summary(unreadable=int(not known))


def _is_too_large(name: str) -> bool:
    """Return whether only the head of a file was read."""
    with suppress(OSError):
        return os.path.getsize(name) > LIMIT
    return False

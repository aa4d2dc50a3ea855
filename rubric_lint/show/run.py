"""Describe many files: read, describe and report each one before the next."""

# Paths are str, see project/settings.py.
# ruff: noqa: PTH202

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from rubric_lint.messages import join_words
from rubric_lint.project.files import File, Unreadable
from rubric_lint.project.opening import LIMIT
from rubric_lint.project.settings import SettingsFinder
from rubric_lint.run.console import Progress
from rubric_lint.run.linting import FileRun
from rubric_lint.run.summary import EMPTY, UNKNOWN, Summary, counted
from rubric_lint.show import Shown
from rubric_lint.show.source import show


class ShowRun(FileRun[Shown]):
    """Describes files and calls `report` for each that has something to tell, or that is named; see `FileRun`."""

    def __init__(self, report: Callable[[Shown], object], progress: Progress, **how: Any) -> None:
        super().__init__(progress, **how)
        self._report = report
        self._summary = Summary()

    def show_all(self, paths: Iterable[str], stdin_name: str, finder: SettingsFinder) -> Summary:
        """Describe everything at `paths`; `stdin_name` is the file name of stdin.

        Raises:
            SettingsError: if the settings for stdin are invalid.
        """
        self.go(paths, stdin_name, finder)
        others = Summary(unreadable=len(self.unreadable), faults=self.crashes)
        return self._summary.plus(others).plus(Summary.left_out(self.skipped))

    def word(self) -> str:
        """Return how much an interrupted run has described."""
        done = join_words([counted(self._summary.files, "file"), counted(self._summary.rubrics, "rubric")])
        return f"after {done}; the other files were not read"

    def work(self, file: File, data: bytes) -> Shown:
        """Describe one file."""
        shown = show(file.name, data, file.settings)
        if shown.reason == EMPTY and not file.is_stdin:
            with suppress(OSError):
                if os.path.getsize(file.name) > LIMIT:  # only its head was read
                    return shown._replace(reason=f"{UNKNOWN} in its first {LIMIT / 1e6:.0f} MB")
        return shown

    def take(self, file: File | Unreadable, outcome: Shown) -> None:  # noqa: ARG002
        """Report one file."""
        shown = outcome
        if shown.rubrics or shown.unread or shown.errors or shown.warnings or shown.file in self.named:
            self._report(shown)
        self._summary = self._summary.plus(
            Summary(
                files=1,
                files_with_rubrics=int(bool(shown.rubrics)),
                rubrics=len(shown.rubrics),
                criteria=sum(len(rubric.criteria) for rubric in shown.rubrics),
                errors=shown.errors,
                warnings=shown.warnings,
                ignored=shown.ignored,
                unread=sum(each.is_known for each in shown.unread),
            )
        )

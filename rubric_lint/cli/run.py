"""One run of the linter: each file reported in its turn, whatever becomes of it."""

import gc
import sys
from collections.abc import Iterable

from rubric_lint.batch import Outcome, lint_bytes, lint_files
from rubric_lint.cli.exits import complain, report_fault
from rubric_lint.cli.progress import Progress
from rubric_lint.config import SettingsFinder
from rubric_lint.files import LIMIT, File, Unreadable, find
from rubric_lint.report import Reporter, Summary

STDIN = "-"
"""The path that means standard input."""


class Run:
    """Lints the files at `paths` and tells `reporter`; standard input goes by `stdin_name`."""

    def __init__(self, reporter: Reporter, progress: Progress) -> None:
        self._reporter = reporter
        self._progress = progress
        self._refused: set[str] = set()

    def lint_all(self, paths: Iterable[str], stdin_name: str, finder: SettingsFinder) -> Summary:
        """Lint everything.

        Raises:
            SettingsError: when the settings that hold for standard input cannot be used.
        """
        paths = list(paths)
        stdin: list[File] = []
        if STDIN in paths:
            paths = [path for path in paths if path != STDIN]
            stdin = [File(stdin_name, finder.for_file(stdin_name))]
        # What is loaded by now stays: no collection needs to look at it again.
        gc.freeze()
        summary = Summary()
        for file in stdin:
            summary = summary.plus(self._lint_stdin(file))
        files: Iterable[File | Unreadable] = find(paths, finder)
        total = len(files := list(files)) if self._progress.is_shown else 0
        for found, outcome in self._progress.over(lint_files(files), total):
            summary = summary.plus(self._report(found, outcome))
        return summary

    def _report(self, file: File | Unreadable, outcome: Outcome) -> Summary:
        if isinstance(outcome, Unreadable):
            return self._refuse(outcome)
        try:
            if not isinstance(outcome, Exception):
                self._reporter.add(outcome)
                return Summary.of(outcome)
        except OSError:
            raise  # standard output, not the file
        except Exception as fault:
            outcome = fault
        self._progress.clear()
        report_fault(outcome, file.name if isinstance(file, File) else file.path)
        return Summary(faults=1)

    def _refuse(self, what: Unreadable) -> Summary:
        self._progress.clear()
        complain(f"{what.path}: {what.reason}")
        known = what.path in self._refused  # a settings file may have several faults
        self._refused.add(what.path)
        return Summary(unreadable=int(not known))

    def _lint_stdin(self, file: File) -> Summary:
        if sys.stdin is None:
            return self._refuse(Unreadable(file.name, "standard input is closed"))
        data = sys.stdin.buffer.read(LIMIT + 1)
        if len(data) > LIMIT:
            return self._refuse(
                Unreadable(file.name, f"has more than {LIMIT / 1e6:.0f} MB, and no more are read; split it")
            )
        return self._report(file, lint_bytes(file, data))

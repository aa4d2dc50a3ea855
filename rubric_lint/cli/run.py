"""One run of the linter: each file read, linted and reported before the next, whatever becomes of it."""

import gc
import sys
from collections.abc import Iterable
from itertools import chain

from rubric_lint.cli.exits import complain, report_fault
from rubric_lint.cli.progress import Progress
from rubric_lint.config import SettingsFinder
from rubric_lint.files import LIMIT, File, Unreadable, find, read
from rubric_lint.lint import lint
from rubric_lint.report import Reporter, Summary

STDIN = "-"
"""The path that means standard input."""


class Run:
    """Lints the files at `paths` and tells `reporter`; standard input goes by `stdin_name`."""

    def __init__(self, reporter: Reporter, progress: Progress) -> None:
        self._reporter = reporter
        self._progress = progress
        self._stdin: File | None = None
        self._refused: set[str] = set()

    def lint_all(self, paths: Iterable[str], stdin_name: str, finder: SettingsFinder) -> Summary:
        """Lint everything.

        Raises:
            SettingsError: when the settings that hold for standard input cannot be used.
        """
        paths = list(paths)
        stdin = []
        if STDIN in paths:
            paths = [path for path in paths if path != STDIN]
            self._stdin = File(stdin_name, finder.for_file(stdin_name))
            stdin = [self._stdin]
        # What is loaded by now stays: no collection needs to look at it again.
        gc.freeze()
        summary = Summary()
        for file in self._progress.over(chain(stdin, find(paths, finder))):
            summary = summary.plus(self._take(file))
        return summary

    def _take(self, file: File | Unreadable) -> Summary:
        if isinstance(file, Unreadable):
            return self._refuse(file)
        data = self._read(file)
        return self._refuse(data) if isinstance(data, Unreadable) else self._lint(file, data)

    def _refuse(self, what: Unreadable) -> Summary:
        self._progress.clear()
        complain(f"{what.path}: {what.reason}")
        known = what.path in self._refused  # a settings file may have several faults
        self._refused.add(what.path)
        return Summary(unreadable=int(not known))

    def _lint(self, file: File, data: bytes) -> Summary:
        try:
            result = lint(file.name, data, file.settings)
            self._reporter.add(result)
        except OSError:
            raise  # standard output, not the file
        except Exception as fault:
            self._progress.clear()
            report_fault(fault, file.name)
            return Summary(faults=1)
        return Summary.of(result)

    def _read(self, file: File) -> bytes | Unreadable:
        if file is not self._stdin:
            return read(file)
        data = sys.stdin.buffer.read(LIMIT + 1)
        if len(data) <= LIMIT:
            return data
        return Unreadable(file.name, f"has more than {LIMIT / 1e6:.0f} MB, and no more are read; split it")

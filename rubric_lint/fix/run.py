"""Run the fixer: read, fix, write and report each file before the next, and continue after errors."""

import gc
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain

from rubric_lint.fix import Fixed, Wish, fix
from rubric_lint.fix.totals import FixOutcome, FixTotals
from rubric_lint.project.files import File, Skipped, Unreadable, find, read, read_stdin, split_stdin
from rubric_lint.project.settings import FileSettings, SettingsFinder
from rubric_lint.project.writing import STOPS, WriteError, holding, replace_file
from rubric_lint.run.console import Progress, complain, report_crash
from rubric_lint.run.linting import Find
from rubric_lint.run.summary import Unchecked, counted

Rewrite = Callable[[str, bytes, FileSettings], Fixed]
"""What is done to a file, by its name, its bytes and its settings."""


class FixRun:
    """Fixes the files at `paths` and calls `report` for each; `unsafe` and `choices` are those of `fix`.

    With `is_dry`, nothing is written. With `rewrite`, each file is rewritten by that instead. stdin is fixed to
    stdout. `refuse` gets a message for each file that cannot be read.
    """

    def __init__(
        self,
        report: Callable[[FixOutcome], object],
        progress: Progress,
        *,
        is_dry: bool = False,
        unsafe: bool = False,
        choices: Sequence[str] = (),
        refuse: Callable[[str], object] = complain,
        report_crash: Callable[[Exception, str], object] = report_crash,
        find: Find = find,
        rewrite: Rewrite | None = None,
    ) -> None:
        self._report = report
        self._progress = progress
        self._is_dry = is_dry
        self._wish = Wish(unsafe, tuple(choices))
        self._tell_refusal = refuse
        self._report_crash = report_crash
        self._find = find
        self._rewrite = rewrite
        self._stdin: File | None = None
        self._refused: set[str] = set()
        self._totals = FixTotals()
        self.explaining = Unchecked(())

    def fix_all(self, paths: Iterable[str], stdin_name: str, finder: SettingsFinder) -> FixTotals:
        """Fix all files at `paths`.

        Raises:
            SettingsError: if the settings for stdin are invalid.
        """
        totals = self._totals
        done = "would change" if self._is_dry else "changed"

        def word() -> str:
            return f"after {counted(totals.files, 'file')}: {totals.changed} {done}; the other files were not read"

        with self._progress.reporting_interrupt(word):
            paths, stdin = split_stdin(paths, stdin_name, finder)
            self._stdin = next(iter(stdin), None)
            gc.freeze()  # objects loaded so far stay, so no collection needs to visit them
            skipped = Skipped()
            for file in self._progress.over(self._progress.count(chain(stdin, self._find(paths, finder, skipped)))):
                self._take(file)
        for line in skipped.word_other_kinds():
            complain(line)
        totals.skipped = skipped
        return totals

    def _take(self, file: File | Unreadable) -> None:
        data = file if isinstance(file, Unreadable) else self._read(file)
        if isinstance(file, Unreadable) or isinstance(data, Unreadable):
            self._refuse(data)  # type: ignore[arg-type]
            return
        try:
            fixed = self._fix(file, data)
        except Exception as fault:
            self._progress.clear()
            self._report_crash(fault, file.name)
            self._totals.faults += 1
            self._totals.crashes += 1
            return
        for place in fixed.faults():
            line, column, _ = fixed.result.source.position(place.span.start)
            verb = "formatted" if self._rewrite else "fixed"
            self._progress.clear()
            self._tell_refusal(f"{file.name}: not {verb}: {line}:{column} syntax: {place.message}")
        outcome = FixOutcome(fixed, self._wish)
        with holding(*STOPS):  # what is written is counted
            if not self._is_dry:
                outcome = self._write(file, data, outcome)
            self._totals.add(outcome)
        self.explaining.add(file.name, fixed.result)
        self._report(outcome)

    def _fix(self, file: File, data: bytes) -> Fixed:
        if self._rewrite is not None:
            return self._rewrite(file.name, data, file.settings)
        return fix(file.name, data, file.settings, **self._wish._asdict())

    def _read(self, file: File) -> bytes | Unreadable:
        return read_stdin(file.name) if file is self._stdin else read(file)

    def _refuse(self, what: Unreadable) -> None:
        self._progress.clear()
        self._tell_refusal(f"{what.path}: {what.reason}")
        self._totals.unreadable += what.path not in self._refused  # a settings file may have several errors
        self._refused.add(what.path)

    def _write(self, file: File, data: bytes, outcome: FixOutcome) -> FixOutcome:
        fixed = outcome.fixed
        if file is self._stdin:
            sys.stdout.buffer.write(fixed.data if fixed.is_changed else data)
            sys.stdout.buffer.flush()
        elif fixed.is_changed:
            try:
                return replace(outcome, others=replace_file(file.name, data, fixed.data).others)
            except WriteError as fault:
                return replace(outcome, failure=str(fault))
        return outcome

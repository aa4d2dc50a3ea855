"""One run of `--add-ignores`: each file read, silenced, written and told of, whatever becomes of it."""

from collections.abc import Iterable

import click

from rubric_lint.cli.exits import Exit, complain, report_fault
from rubric_lint.cli.progress import Progress
from rubric_lint.config import SettingsFinder
from rubric_lint.files import File, Unreadable, find, read
from rubric_lint.finding import Severity
from rubric_lint.fix.silence import Silenced, silence
from rubric_lint.fix.write import WriteError, replace_file
from rubric_lint.report.summary import counted, word_outside, word_passed_over
from rubric_lint.report.visible import visible
from rubric_lint.skipped import Skipped


class Silencing:
    """Writes ignore comments into the files at paths, with `reason`, and counts."""

    def __init__(self, progress: Progress, reason: str, *, quiet: bool) -> None:
        self._progress = progress
        self._reason = reason
        self._quiet = quiet
        self._files = self._changed = self._findings = self._comments = self._left = 0
        self._skipped = Skipped()
        self._refused: set[str] = set()
        self._worst: set[Severity] = set()
        self._exit = Exit.CLEAN

    def silence_all(self, paths: Iterable[str], finder: SettingsFinder, fail_on: str) -> Exit:
        """Silence everything, and tell of it; how the run ends."""
        with self._progress.reporting_interrupt(lambda: f"{counted(self._files, 'file')}: {self._changed} changed"):
            files: Iterable[File | Unreadable] = find(paths, finder, self._skipped)
            total = len(files := list(files)) if self._progress.is_shown else 0
            for file in self._progress.over(files, total):
                self._take(file)
        for line in self._skipped.word_other_kinds():
            complain(line)
        if not self._quiet:
            click.echo(self._word())
        failing = {"error": {Severity.ERROR}, "warning": set(Severity), "never": set[Severity]()}[fail_on]
        return max(self._exit, Exit.FOUND if self._worst & failing else Exit.CLEAN)

    def _take(self, file: File | Unreadable) -> None:
        data = file if isinstance(file, Unreadable) else read(file)
        if isinstance(data, Unreadable) or isinstance(file, Unreadable):
            self._refuse(data.path, data.reason)  # type: ignore[union-attr]
            return
        try:
            done = silence(file.name, data, file.settings, self._reason)
        except Exception as fault:
            self._progress.clear()
            report_fault(fault, file.name)
            self._exit = Exit.FAULT
            return
        self._files += 1
        if done.is_changed and not self._write(file.name, data, done):
            return
        self._tell(file.name, done)

    def _write(self, name: str, data: bytes, done: Silenced) -> bool:
        try:
            others = replace_file(name, data, done.data).others
        except WriteError as fault:
            self._refuse(name, f"left as it was: {fault}")
            return False
        if others:
            self._progress.clear()
            complain(f"{name}: warning: {counted(others, 'other hard link')} to the file still hold the old text")
        self._changed += 1
        self._findings += done.findings
        self._comments += done.comments
        return True

    def _tell(self, name: str, done: Silenced) -> None:
        self._progress.clear()
        if done.is_changed and not self._quiet:
            click.echo(f"{visible(name)}: {counted(done.findings, 'finding')} silenced")
        for finding, why in done.left:
            line, column, _ = done.result.source.position(finding.span.start)
            click.echo(f"{visible(name)}:{line}:{column}: {finding.rule} not silenced: {visible(why)}")
            self._left += 1
            self._worst.add(finding.severity)

    def _refuse(self, name: str, why: str) -> None:
        self._progress.clear()
        complain(f"{name}: {why}")
        self._refused.add(name)  # a settings file may have several faults
        self._exit = max(self._exit, Exit.USAGE)

    def _word(self) -> str:
        if self._changed:
            done = f"Silenced {counted(self._findings, 'finding')} by {counted(self._comments, 'comment')}"
            text = f"{done} in {self._changed} of {counted(self._files, 'file')}."
        else:
            text = f"No comment written in {counted(self._files, 'file')}."
        more = [
            (self._left, f"{counted(self._left, 'finding')} left that no comment silences"),
            (len(self._skipped.dead), word_passed_over(len(self._skipped.dead))),
            (len(self._skipped.outside), word_outside(len(self._skipped.outside))),
            (len(self._refused), f"{counted(len(self._refused), 'file')} could not be read or written"),
        ]
        notes = "; ".join(note for count, note in more if count)
        return text + (f"\n{notes}." if notes else "")

"""Add ignore comments to many files: read, silence, write and report each file before the next."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rubric_lint.finding import Severity
from rubric_lint.fix.silence import Silenced, silence
from rubric_lint.project.files import File, Skipped, Unreadable, find, read
from rubric_lint.project.settings import SettingsFinder
from rubric_lint.project.writing import STOPS, WriteError, holding, replace_file
from rubric_lint.run.console import Progress, complain, report_crash
from rubric_lint.run.summary import counted, word_hard_links, word_nothing_read, word_skipped


@dataclass(slots=True)
class SilenceTotals:
    """Counts over the files of a run, and the severities of the findings that no comment silences.

    `refused` has the names of the files that could not be read or written; `crashes` counts our bugs.
    """

    files: int = 0
    changed: int = 0
    findings: int = 0
    comments: int = 0
    left: int = 0
    crashes: int = 0
    severities_left: set[Severity] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    skipped: Skipped = field(default_factory=Skipped)

    def word(self) -> str:
        """Return a summary of all files, and a second line with what was left or skipped."""
        more = [
            (self.left, f"{counted(self.left, 'finding')} left that no comment silences"),
            *word_skipped(self.skipped),
            (len(self.refused), f"{counted(len(self.refused), 'file')} could not be read or written"),
        ]
        notes = "; ".join(note for count, note in more if count)
        if self.changed:
            done = f"Silenced {counted(self.findings, 'finding')} by {counted(self.comments, 'comment')}"
            text = f"{done} in {self.changed} of {counted(self.files, 'file')}."
        elif not self.files:
            text = word_nothing_read("read", has_notes=bool(notes))
        elif not (self.left or self.refused or self.crashes):
            text = f"No findings to silence in {counted(self.files, 'file')}."
        else:
            text = f"No comment written in {counted(self.files, 'file')}."
        return text + (f"\n{notes}." if notes else "")


class SilenceRun:
    """Adds ignore comments with `reason` to files, and calls `report` with the outcome of each."""

    def __init__(self, progress: Progress, reason: str, report: Callable[[str, Silenced], object]) -> None:
        self._progress = progress
        self._reason = reason
        self._report = report
        self._totals = SilenceTotals()

    def silence_all(self, paths: Iterable[str], finder: SettingsFinder) -> SilenceTotals:
        """Silence everything at `paths`."""
        totals = self._totals

        def word() -> str:
            return f"after {counted(totals.files, 'file')}: {totals.changed} changed; the other files were not read"

        with self._progress.reporting_interrupt(word):
            for file in self._progress.over(self._progress.count(find(paths, finder, totals.skipped))):
                self._take(file)
        for line in totals.skipped.word_other_kinds():
            complain(line)
        return totals

    def _take(self, file: File | Unreadable) -> None:
        data = file if isinstance(file, Unreadable) else read(file)
        if isinstance(data, Unreadable) or isinstance(file, Unreadable):
            self._refuse(data.path, data.reason)  # type: ignore[union-attr]
            return
        try:
            done = silence(file.name, data, file.settings, self._reason)
        except Exception as fault:
            self._progress.clear()
            report_crash(fault, file.name)
            self._totals.crashes += 1
            return
        with holding(*STOPS):  # what is written is counted
            self._totals.files += 1
            if done.is_changed and not self._write(file.name, data, done):
                return
        self._totals.left += len(done.left)
        self._totals.severities_left.update(finding.severity for finding, _ in done.left)
        self._progress.clear()
        self._report(file.name, done)

    def _write(self, name: str, data: bytes, done: Silenced) -> bool:
        """Write a changed file; return whether that worked."""
        try:
            others = replace_file(name, data, done.data).others
        except WriteError as fault:
            self._refuse(name, f"left as it was: {fault}")
            return False
        if others:
            self._progress.clear()
            complain(f"{name}: warning: {word_hard_links(others)}")
        self._totals.changed += 1
        self._totals.findings += done.findings
        self._totals.comments += done.comments
        return True

    def _refuse(self, name: str, why: str) -> None:
        self._progress.clear()
        complain(f"{name}: {why}")
        self._totals.refused.add(name)  # a settings file may have several errors

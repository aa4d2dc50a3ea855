"""Go through files: read each one, work on it and report it before the next, and continue after errors."""

import gc
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Generic, Protocol, TypeVar

from rubric_lint.lint.project.files import File, Skipped, Unreadable, read, split_stdin, tidy
from rubric_lint.lint.project.settings import FileSettings, Overrides, SettingsError, SettingsFinder
from rubric_lint.lint.project.suites import find, look_at_stdin
from rubric_lint.lint.run.batch import FileOutcome, FoundFile, lint_bytes, lint_files
from rubric_lint.lint.run.console import Progress, complain, report_crash
from rubric_lint.lint.run.summary import EMPTY, Failure, Reporter, RunScope, Summary, Unchecked
from rubric_lint.model.finding import Result
from rubric_lint.model.messages import counted, join_words

Find = Callable[[Iterable[str], SettingsFinder, Skipped], Iterable[FoundFile]]
Lint = Callable[[Iterable[FoundFile]], Iterator[tuple[FoundFile, FileOutcome]]]
Outcome = TypeVar("Outcome")
Done = tuple[FoundFile, Outcome | Unreadable | Exception]


class FileRun(ABC, Generic[Outcome]):
    """A run over files.

    A subclass says what is done to a file (`work`) and with its outcome (`record`), and what was done so far if the run
    is interrupted (`format_progress`).

    A file that cannot be read, and a crash, is reported, and the run continues: `unreadable` has the names of such
    files, and `crashes` counts the crashes. `refuse` gets a message for each file that cannot be read, `report_crash`
    each crash.
    """

    def __init__(
        self,
        progress: Progress,
        *,
        find: Find = find,
        read: Callable[[File], bytes | Unreadable] = read,
        refuse: Callable[[str], object] = complain,
        report_crash: Callable[[Exception, str], object] = report_crash,
    ) -> None:
        self.progress = progress
        self.unreadable: set[str] = set()  # a settings file may have several errors
        self.crashes = 0
        self.skipped = Skipped()
        self.named: frozenset[str] = frozenset()
        self.scope = RunScope()
        self.fixable: list[str] = []
        self.by_hook = False
        self.explaining = Unchecked(())
        self._find = find
        self._read = read
        self._complain = refuse
        self._report_crash = report_crash

    @abstractmethod
    def work(self, file: File, data: bytes) -> Outcome:
        """Return the outcome of a file."""

    @abstractmethod
    def record(self, file: FoundFile, outcome: Outcome) -> None:
        """Count and report the outcome of a file."""

    @abstractmethod
    def format_progress(self) -> str:
        """Say what an interrupted run has done and what not."""

    def needs_file(self, file: FoundFile) -> bool:  # noqa: ARG002
        """Return whether to read a file that was found."""
        return True

    def process(self, stdin: list[File], found: Iterable[FoundFile]) -> Iterator[Done[Outcome]]:
        """Yield each file with its outcome."""
        return self.process_in_turn(chain(stdin, found))

    def process_in_turn(self, files: Iterable[FoundFile]) -> Iterator[Done[Outcome]]:
        """Read files and work on them one by one."""
        for file in files:
            if isinstance(file, Unreadable):
                yield file, file
                continue
            data = self._read(file)
            if isinstance(data, Unreadable):
                yield file, data
                continue
            outcome: Outcome | Exception
            try:
                input_file = look_at_stdin(file, data) if file.is_stdin else file
                outcome = self.work(input_file, data)
            except Exception as fault:
                outcome = fault
            yield file, outcome

    def run_over(self, paths: Iterable[str], stdin_name: str, finder: SettingsFinder) -> None:
        """Go through everything at `paths`; `stdin_name` is the file name of stdin.

        Raises:
            SettingsError: if the settings for stdin are invalid.
            click.Abort: on Ctrl+C, after a message that says what was done.
        """
        paths = tuple(paths)
        self.scope = RunScope(paths, stdin_name, finder.overrides, finder.options, self.fixable)
        with self.progress.reporting_interrupt(self.format_progress):
            paths, stdin = split_stdin(paths, stdin_name, finder)
            self.by_hook = finder.overrides.force_exclude
            self.named = frozenset([*map(tidy, paths), *(file.name for file in stdin)])
            gc.freeze()  # objects loaded so far stay, so no collection needs to visit them
            found = self.progress.count(filter(self.needs_file, self._find(paths, finder, self.skipped)))
            for file, outcome in self.progress.over(self.process(stdin, found)):
                if isinstance(outcome, Unreadable):
                    self.refuse(outcome)
                    continue
                fault = outcome
                if not isinstance(outcome, Exception):
                    try:
                        self.record(file, outcome)
                    except (OSError, SettingsError):
                        raise  # from stdout or a baseline, not from the file
                    except Exception as crash:
                        fault = crash
                if isinstance(fault, Exception):
                    self.crashes += 1
                    name = file.name if isinstance(file, File) else file.path
                    self.crash(name, fault)
        for line in self.skipped.format_other_kinds():
            complain(line)

    def note_fixable(self, file: FoundFile) -> None:
        """Remember a file that has fixes to suggest."""
        if isinstance(file, File):
            name = "-" if file.is_stdin else file.name
            self.fixable.append(name)

    def refuse(self, what: Unreadable) -> None:
        """Report a file that cannot be read or written."""
        self.progress.clear()
        self._complain(f"{what.path}: {what.reason}")
        self.unreadable.add(what.path)

    def crash(self, name: str, fault: Exception) -> None:
        """Report a crash, which is a bug of ours."""
        self.progress.clear()
        self._report_crash(fault, name)


class Filter(Protocol):
    """Leaves out findings for one reason; the run counts them.

    `counted_as` is the field of the summary for left-out findings, `skipped_as` the one for files that are not read.
    """

    counted_as: str
    skipped_as: str

    def needs_file(self, name: str) -> bool:
        """Return whether the file `name` must be read at all."""

    def filter(self, result: Result, settings: FileSettings) -> Result:
        """Return the result without the findings to leave out; `settings` are those of the file."""


class LintRun(FileRun[Result]):
    """Lints files and passes the findings that `filters` keep to `reporter`.

    `undone` says what an interrupted run did not do, and `unable` has rules for which the run has no data.
    """

    def __init__(
        self,
        reporter: Reporter,
        progress: Progress,
        filters: Sequence[Filter] = (),
        *,
        find: Find = find,
        lint: Lint = lint_files,
        undone: str = "the other files were not checked",
        unable: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(progress, find=find)
        self._reporter = reporter
        self._filters = filters
        self._skipped: Counter[str] = Counter()
        self._lint = lint
        self._undone = undone
        self._unable = unable
        self._enabled: set[frozenset[str] | None] = set()
        self._summary = Summary()
        self._is_stdin_empty = False

    def lint_all(self, paths: Collection[str], stdin_name: str, finder: SettingsFinder) -> Summary:
        """Lint everything at `paths`; `stdin_name` is the file name of stdin.

        Raises:
            SettingsError: when the settings of stdin, or a baseline, cannot be used.
        """
        self.run_over(paths, stdin_name, finder)
        others = Summary(unreadable=len(self.unreadable), faults=self.crashes, **dict[str, Any](self._skipped))
        summary = self._summary.plus(others).plus(Summary.left_out(self.skipped))
        return summary._replace(scope=self.scope, **self._find_idle(finder.overrides))

    def format_progress(self) -> str:
        """Say what an interrupted run has found."""
        summary = self._summary
        found = [counted(summary.errors, "error"), counted(summary.warnings, "warning")]
        return f"after {counted(summary.files, 'file')}: {join_words(found)}; {self._undone}"

    def work(self, file: File, data: bytes) -> Result:
        """Lint stdin."""
        self._is_stdin_empty = not data.strip()
        outcome = lint_bytes(file, data)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def process(self, stdin: list[File], found: Iterable[FoundFile]) -> Iterator[tuple[FoundFile, FileOutcome]]:
        """Lint stdin here, and the files with as many processes as are worth it."""
        self.explaining = Unchecked(self.named, by_hook=self.by_hook)
        return chain(self.process_in_turn(stdin), self._lint(found))

    def needs_file(self, file: FoundFile) -> bool:
        """Return whether to lint a file; count those that a filter leaves out."""
        for finding_filter in self._filters:
            if isinstance(file, File) and not finding_filter.needs_file(file.name):
                self._skipped[finding_filter.skipped_as] += 1
                return False
        return True

    def record(self, file: FoundFile, outcome: Result) -> None:
        """Report the findings of one file."""
        left_out: dict[str, Any] = {}
        if isinstance(file, File):
            reason = EMPTY if file.is_stdin and self._is_stdin_empty else ""
            self.explaining.add(file.name, outcome, reason, group=file.group)
            if outcome.rubrics:
                self._enabled.add(file.settings.enabled)
            for finding_filter in self._filters:
                left = finding_filter.filter(outcome, file.settings)
                left_out[finding_filter.counted_as] = len(outcome.findings) - len(left.findings)
                outcome = left
        self._reporter.add(outcome)
        counts = Summary.of(outcome)
        if counts.safe_fixes + counts.unsafe_fixes + counts.choices:
            self.note_fixable(file)
        if any(left_out.values()):
            counts = counts.plus(Summary(**left_out))
        self._summary = self._summary.plus(counts)

    def refuse(self, what: Unreadable) -> None:
        """Report a file that cannot be read."""
        super().refuse(what)
        self._reporter.fail(Failure(what.path, what.reason))

    def crash(self, name: str, fault: Exception) -> None:
        """Report a crash."""
        super().crash(name, fault)
        self._reporter.fail(Failure(name, f"{type(fault).__name__}: {fault}", is_fault=True))

    def _find_idle(self, overrides: Overrides) -> dict[str, Any]:
        """Return the rules that were selected and ran, and those that did not run on all or some files with rubrics."""
        limits = [enabled for enabled in self._enabled if enabled is not None]
        if not limits:
            return {}
        from rubric_lint.rules import BY_NAME, rows  # noqa: PLC0415  (runs of all rules need no list of them)

        of_lint = frozenset(name for name, rule in BY_NAME.items() if rule.command in ("rubric-lint", rows.JUDGED))
        chosen = of_lint if overrides.select is None else overrides.select - overrides.ignore
        asked = frozenset(chosen)
        runnable = of_lint - self._unable
        missing = [asked - (enabled & runnable) for enabled in limits]
        idle = frozenset.intersection(*missing) if len(limits) == len(self._enabled) else frozenset[str]()
        names = {
            "selected": asked - idle if overrides.select is not None else (),
            "idle": idle,
            "partly_idle": frozenset.union(*missing) - idle,
        }
        return {name: tuple(sorted(rules)) for name, rules in names.items()}

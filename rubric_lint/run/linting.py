"""Run the linter over files and report each one in turn."""

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from rubric_lint.finding import Result
from rubric_lint.messages import join_words
from rubric_lint.project.files import File, Skipped, Unreadable, find, read_stdin, split_stdin, tidy
from rubric_lint.project.settings import Overrides, SettingsError, SettingsFinder
from rubric_lint.run.batch import FileOutcome, lint_bytes, lint_files
from rubric_lint.run.console import Progress, complain, report_crash
from rubric_lint.run.filters import Filter
from rubric_lint.run.summary import EMPTY, Failure, Reporter, Summary, Unchecked, counted

Find = Callable[[Iterable[str], SettingsFinder, Skipped], Iterable[File | Unreadable]]
Lint = Callable[[Iterable[File | Unreadable]], Iterator[tuple[File | Unreadable, FileOutcome]]]


class LintRun:
    """Lint files and pass the findings that `sieves` keep to `reporter`.

    `undone` says what an interrupted run did not do, and `unable` has rules for which the run has no data.
    """

    def __init__(
        self,
        reporter: Reporter,
        progress: Progress,
        sieves: Sequence[Filter] = (),
        *,
        find: Find = find,
        lint: Lint = lint_files,
        undone: str = "the other files were not checked",
        unable: frozenset[str] = frozenset(),
    ) -> None:
        self._reporter = reporter
        self._progress = progress
        self._sieves = sieves
        self._skipped: Counter[str] = Counter()
        self._find = find
        self._lint = lint
        self._refused: set[str] = set()
        self._undone = undone
        self.explaining = Unchecked(())
        self._unable = unable
        self._enabled: set[frozenset[str] | None] = set()

    def lint_all(self, paths: Iterable[str], stdin_name: str, finder: SettingsFinder) -> Summary:
        """Lint everything at `paths`; `stdin_name` is the file name of stdin.

        Raises:
            SettingsError: when the settings of stdin, or a baseline, cannot be used.
        """
        summary = Summary()

        def word() -> str:
            found = [counted(summary.errors, "error"), counted(summary.warnings, "warning")]
            return f"after {counted(summary.files, 'file')}: {join_words(found)}; {self._undone}"

        with self._progress.reporting_interrupt(word):
            paths, stdin = split_stdin(paths, stdin_name, finder)
            self.explaining = Unchecked([*map(tidy, paths), *(file.name for file in stdin)])
            # All objects so far stay: exempt them from garbage collection.
            gc.freeze()
            for file in stdin:
                summary = summary.plus(self._lint_stdin(file))
            skipped = Skipped()
            files = self._progress.count(filter(self._wants, self._find(paths, finder, skipped)))
            for found, outcome in self._progress.over(self._lint(files)):
                summary = summary.plus(self._report(found, outcome))
        for line in skipped.word_other_kinds():
            complain(line)
        summary = summary.plus(Summary(**dict[str, Any](self._skipped))).plus(Summary.left_out(skipped))
        return summary._replace(**self._find_idle(finder.overrides))

    def _find_idle(self, overrides: Overrides) -> dict[str, Any]:
        """Return the rules that were selected and ran, and those that did not run on all or some files with rubrics."""
        limits = [each for each in self._enabled if each is not None]
        if not limits:
            return {}
        from rubric_lint.rules import BY_NAME  # noqa: PLC0415  (runs of all rules need no list of them)
        from rubric_lint.rules.rows import JUDGED  # noqa: PLC0415

        of_lint = frozenset(name for name, rule in BY_NAME.items() if rule.command in ("rubric-lint", JUDGED))
        asked = frozenset(of_lint if overrides.select is None else overrides.select - overrides.ignore)
        runnable = of_lint - self._unable
        missing = [asked - (each & runnable) for each in limits]
        idle = frozenset.intersection(*missing) if len(limits) == len(self._enabled) else frozenset[str]()
        names = {
            "selected": asked - idle if overrides.select is not None else (),
            "idle": idle,
            "partly_idle": frozenset.union(*missing) - idle,
        }
        return {name: tuple(sorted(rules)) for name, rules in names.items()}

    def _wants(self, file: File | Unreadable) -> bool:
        for sieve in self._sieves:
            if isinstance(file, File) and not sieve.wants(file.name):
                self._skipped[sieve.skipped_as] += 1
                return False
        return True

    def _report(self, file: File | Unreadable, outcome: FileOutcome, reason: str = "") -> Summary:
        if isinstance(outcome, Unreadable):
            return self._refuse(outcome)
        try:
            if not isinstance(outcome, Exception):
                if isinstance(file, File):
                    self.explaining.add(file.name, outcome, reason)
                    if outcome.rubrics:
                        self._enabled.add(file.settings.enabled)
                left, left_out = self._sift(outcome, file)
                self._reporter.add(left)
                counts = Summary.of(left)
                return counts.plus(Summary(**left_out)) if any(left_out.values()) else counts
        except (OSError, SettingsError):
            raise  # from stdout or a baseline, not from the file
        except Exception as fault:
            outcome = fault
        self._progress.clear()
        name = file.name if isinstance(file, File) else file.path
        report_crash(outcome, name)
        self._reporter.fail(Failure(name, f"{type(outcome).__name__}: {outcome}", is_fault=True))
        return Summary(faults=1)

    def _sift(self, result: Result, file: File | Unreadable) -> tuple[Result, dict[str, Any]]:
        """Return what the sieves keep, and how many findings each of them removes."""
        counts: dict[str, Any] = {}
        if isinstance(file, Unreadable):
            return result, counts
        for sieve in self._sieves:
            left = sieve.sift(result, file.settings)
            counts[sieve.counted_as] = len(result.findings) - len(left.findings)
            result = left
        return result, counts

    def _refuse(self, what: Unreadable) -> Summary:
        self._progress.clear()
        complain(f"{what.path}: {what.reason}")
        self._reporter.fail(Failure(what.path, what.reason))
        known = what.path in self._refused  # a settings file may have several errors
        self._refused.add(what.path)
        return Summary(unreadable=int(not known))

    def _lint_stdin(self, file: File) -> Summary:
        data = read_stdin(file.name)
        if isinstance(data, Unreadable):
            return self._report(file, data)
        return self._report(file, lint_bytes(file, data), "" if data.strip() else EMPTY)

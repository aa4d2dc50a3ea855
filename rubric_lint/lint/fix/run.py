"""Fix, rewrite and silence files: read, write and report each file before the next."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import CONVERSIONS, SAFE, Fixed, FixSelection, fix
from rubric_lint.lint.fix.silence import Silenced, silence
from rubric_lint.lint.project.files import File, Skipped, Unreadable
from rubric_lint.lint.project.settings import FileSettings, SettingsFinder
from rubric_lint.lint.project.writing import STOPS, WriteError, check_writable, holding, replace_file
from rubric_lint.lint.run.batch import FoundFile
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.lint.run.linting import Done, FileRun
from rubric_lint.lint.run.summary import (
    RunScope,
    format_hard_links,
    format_nothing_read,
    format_open,
    format_skipped,
    format_unsafe,
    join_notes,
)
from rubric_lint.model.finding import LIST_CHOICES, Finding, Severity
from rubric_lint.model.messages import counted, join_words


@dataclass(frozen=True, slots=True)
class FixOutcome:
    """The outcome of one file: `failure` says why it was not written, `others` how many hard links keep the old text.

    `wish` is what was requested, and `remaining` counts the findings of the file as it is now.
    """

    fixed: Fixed
    wish: FixSelection = SAFE
    failure: str = ""
    others: int = 0
    remaining: int = 0

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.fixed.before.name

    @property
    def is_changed(self) -> bool:
        """True if the file has changed, or would change."""
        return self.fixed.is_changed and not self.failure


@dataclass(slots=True)
class _RunTotals:
    """Counts over the files of a run; `crashes` counts our bugs, and `scope` is what the run read."""

    files: int = 0
    changed: int = 0
    crashes: int = 0
    skipped: Skipped = field(default_factory=Skipped)
    scope: RunScope = field(default_factory=RunScope)

    def format_progress(self, changed: str = "changed") -> str:
        """Say how many files an interrupted run has changed."""
        return f"after {counted(self.files, 'file')}: {self.changed} {changed}; the other files were not read"


@dataclass(slots=True)
class FixTotals(_RunTotals):
    """Counts over the files of a run.

    `remaining` counts the findings that the linter reports afterwards. Of these, `blocked` ones have a fix that cannot
    be made, `unsafe` ones one that may change the meaning, and `open` ones wait for a choice. `unmet` counts what is in
    the way of a target; of these, `gaps` are in files that were converted. `unreadable` files could not be read or
    written, `broken` ones have syntax errors, `faults` were left unchanged because of doubt or a crash, and `crashes`
    are the latter. `suites` counts those that a target could have by what became of them.
    """

    remaining: int = 0
    blocked: int = 0
    unmet: int = 0
    gaps: int = 0
    unsafe: int = 0
    open: int = 0
    unreadable: int = 0
    broken: int = 0
    faults: int = 0
    rubrics: int = 0
    fixes: Counter[str] = field(default_factory=Counter)
    suites: Counter[str] = field(default_factory=Counter)

    def add(self, outcome: FixOutcome) -> None:
        """Count one file."""
        self.files += 1
        self.rubrics += outcome.fixed.result.rubrics
        self.faults += bool(outcome.fixed.doubt)
        self.unreadable += bool(outcome.failure)
        self.broken += any(outcome.fixed.faults())
        self.changed += outcome.is_changed
        self.remaining += outcome.remaining
        if not (outcome.fixed.doubt or outcome.failure):
            self.unmet += len(outcome.fixed.unmet)
            self.gaps += len(outcome.fixed.unmet) if outcome.fixed.conversion else 0
            for finding in outcome.fixed.result.findings:
                self._sort(finding, outcome.wish)
        if outcome.fixed.is_suite:
            self.suites[_name_state(outcome)] += 1
        if outcome.is_changed:
            self.fixes.update(applied.rule for applied in outcome.fixed.applied)

    def _sort(self, finding: Finding, wish: FixSelection) -> None:
        """Count a finding by why it remains."""
        if wish.pick(finding):
            self.blocked += 1
        elif finding.fix:
            self.unsafe += 1
        elif finding.choices:
            if LIST_CHOICES not in wish.choices:  # otherwise each is listed with its names
                self.open += 1
        elif finding.obstacle:
            self.blocked += 1

    def format_unreadable(self) -> list[tuple[int, str]]:
        """Return how many files could not be parsed, and not be read or written, each with a note that says so."""
        return [
            (self.broken, f"{counted(self.broken, 'file has', 'files have')} syntax errors"),
            (self.unreadable, f"{counted(self.unreadable, 'file')} could not be read or written"),
        ]

    def format(self, *, is_dry: bool, is_rewriting: bool = False) -> str:
        """Return a summary of all files, which says nothing of findings if it was for another release."""
        read = counted(self.files, "file")
        doubts, before = self.faults - self.crashes, self.unmet - self.gaps
        became = join_words([f"{count} {what}" for what, count in sorted(self.suites.items())])
        remaining = 0 if is_rewriting else self.remaining
        remain = counted(remaining, "finding remains", "findings remain")
        if is_dry:
            remain = f"{counted(remaining, 'finding')} would remain"
        notes = join_notes(
            [
                (self.suites.total() > 1, f"{counted(self.suites.total(), 'suite')}: {became}"),
                (before, f"{counted(before, 'place')} to change first, listed above"),
                (self.gaps, f"{counted(self.gaps, 'place')} to change by hand, listed above"),
                (remaining, remain),
                (self.blocked, f"{counted(self.blocked, 'fix was', 'fixes were')} blocked"),
                (self.unsafe, f"up to {format_unsafe(self.unsafe, self.scope)}"),  # not proved yet
                (self.open, format_open(self.open, self.scope)),
                *format_skipped(self.skipped),
                *self.format_unreadable(),
                (doubts, f"{counted(doubts, 'file')} left unchanged because the proof of the fixes failed"),
                (self.crashes, f"{counted(self.crashes, 'file')} left unchanged because rubric-lint crashed"),
            ]
        )
        if not self.files:
            text = format_nothing_read("read", self.scope, has_notes=bool(notes))
        elif self.changed:
            text = self._format_changes(read, is_dry=is_dry)
        elif not self.rubrics + self.remaining + self.unmet + self.faults + self.unreadable + self.broken:
            text = f"0 rubrics found in {read}, so there was nothing to fix."
        elif self.faults + self.unreadable + self.broken:
            text = f"Nothing fixed in {read}."
        elif self.unmet:
            text = f"Nothing rewritten in {read}."
        else:
            safely = " safely" if self.unsafe or self.open else ""
            text = f"Nothing to fix{safely} in {read}."
        if notes:
            text += f"\n{notes[0].upper()}{notes[1:]}."
        return text

    def _format_changes(self, read: str, *, is_dry: bool) -> str:
        """Say how many suites were converted and how many findings fixed, in how many of the files that were read."""
        converted = {rule: count for rule, count in self.fixes.items() if rule.startswith(CONVERSIONS)}
        fixes = {rule: count for rule, count in sorted(self.fixes.items()) if rule not in converted}
        done = []
        if converted:
            count = sum(converted.values())
            if count != self.suites["converted"] and not fixes:  # some are files of cases, or templates
                verb = "Would convert" if is_dry else "Converted"
                return f"{verb} {count:,} of {read}."
            verb = "convert" if is_dry else "converted"
            kind = "suite" if self.suites["converted"] else "file"
            done.append(f"{verb} {counted(count, kind)}")
        if fixes:
            verb = "fix" if is_dry else "fixed"
            done.append(f"{verb} {counted(sum(fixes.values()), 'finding')}")
        text = f"{join_words(done)} in {self.changed:,} of {read}"
        if is_dry:
            text = f"would {text}"
        text = text[0].upper() + text[1:]
        kinds = ", ".join(f"{count:,} {rule}" for rule, count in fixes.items())
        return f"{text}: {kinds}." if kinds else f"{text}."


def _name_state(outcome: FixOutcome) -> str:
    """Name what became of a suite."""
    fixed = outcome.fixed
    if fixed.unmet or fixed.doubt or outcome.failure or fixed.is_kept_back:
        return "in the way"
    return "current" if fixed.conversion is None else "converted"


def format_faults(fixed: Fixed, verb: str) -> Iterable[str]:
    """Yield a line for each syntax error, for which a file is not what `verb` says."""
    for fault in fixed.faults():
        line, column, _ = fixed.result.source.position(fault.span.start)
        yield f"{fixed.before.name}: not {verb}: {line}:{column} syntax: {fault.message}"


Rewrite = Callable[[str, bytes, FileSettings], Fixed]
"""What is done to a file, by its name, its bytes and its settings."""


class FixRun(FileRun[tuple[bytes, Fixed]]):
    """Fixes files and calls `report` for each; `unsafe` and `choices` are those of `fix`, `how` are those of `FileRun`.

    With `is_dry`, nothing is written. With `rewrite`, each file is rewritten by that instead, for the release of the
    name `target`, if any; `verb` says so of a file that is not. stdin is fixed to stdout.
    """

    def __init__(
        self,
        report: Callable[[FixOutcome], object],
        progress: Progress,
        *,
        is_dry: bool = False,
        unsafe: bool = False,
        choices: Sequence[str] = (),
        rewrite: Rewrite | None = None,
        target: str = "",
        verb: str = "fixed",
        **how: Any,
    ) -> None:
        super().__init__(progress, **how)
        self._report = report
        self._is_dry = is_dry
        self._wish = FixSelection(unsafe, tuple(choices))
        self._rewrite = rewrite
        self._target = target
        self._verb = verb
        self._totals = FixTotals(skipped=self.skipped)

    def fix_all(self, paths: Collection[str], stdin_name: str, finder: SettingsFinder) -> FixTotals:
        """Fix all files at `paths`.

        Raises:
            SettingsError: if the settings for stdin are invalid.
        """
        self.run_over(paths, stdin_name, finder)
        self._totals.scope = self.scope
        if self._is_dry or "-" in paths:
            lists = LIST_CHOICES in self._wish.choices
            wish = {"unsafe_fixes": self._wish.unsafe, "choose": lists or self._wish.choices}
            self._totals.scope = self.scope._replace(wish=wish)
        self._totals.unreadable += len(self.unreadable)
        self._totals.faults += self.crashes
        self._totals.crashes = self.crashes
        return self._totals

    def format_progress(self) -> str:
        """Say how many files an interrupted run has changed."""
        verb = "would change" if self._is_dry else "changed"
        return self._totals.format_progress(verb)

    def process(self, stdin: list[File], found: Iterable[FoundFile]) -> Iterator[Done[tuple[bytes, Fixed]]]:
        """Fix the files one by one, and for a release, those that belong together before the first of them."""
        if not self._target:
            yield from super().process(stdin, found)
            return
        groups: dict[object, list[FoundFile]] = {}
        for at, file in enumerate([*stdin, *found]):
            group = file.group if isinstance(file, File) else ""
            groups.setdefault(group or at, []).append(file)
        for members in groups.values():
            yield from self._convert(members)

    def _convert(self, members: list[FoundFile]) -> Iterator[Done[tuple[bytes, Fixed]]]:
        """Convert files that belong together."""
        from rubric_lint.lint.fix.together import convert_together  # noqa: PLC0415  (few runs have a target)

        done = list(self.process_in_turn(members))
        first = members[0]
        if isinstance(first, Unreadable) or not (first.group or first.settings.unfollowed):
            yield from done
            return
        converted: list[tuple[File, Fixed]] = []
        bytes_of: dict[str, bytes] = {}
        failed: list[str] = []
        for file, outcome in done:
            if isinstance(file, Unreadable) or isinstance(outcome, Unreadable | Exception):
                name = file.path if isinstance(file, Unreadable) else file.name
                failed.append(name)
                yield file, outcome
                continue
            data, fixed = outcome
            try:
                if fixed.is_changed and not file.is_stdin:
                    check_writable(Path(file.name))
            except WriteError as fault:
                failed.append(file.name)
                yield file, Unreadable(file.name, str(fault))
                continue
            bytes_of[file.name] = data
            converted.append((file, fixed))
        for member, fixed in convert_together(converted, self._target, failed):
            yield member, (bytes_of[member.name], fixed)

    def work(self, file: File, data: bytes) -> tuple[bytes, Fixed]:
        """Fix one file; return what it was, too."""
        if self._rewrite is not None:
            return data, self._rewrite(file.name, data, file.settings)
        return data, fix(file.name, data, file.settings, **self._wish._asdict())

    def record(self, file: FoundFile, outcome: tuple[bytes, Fixed]) -> None:
        """Write and report one file."""
        data, fixed = outcome
        name = fixed.before.name
        for line in format_faults(fixed, self._verb):
            self.progress.clear()
            self._complain(line)
        result = FixOutcome(fixed, self._wish, remaining=len(fixed.result.findings))
        with holding(*STOPS):  # what is written is counted
            if self._is_dry:
                pass
            elif isinstance(file, File) and file.is_stdin:
                written = fixed.data if fixed.is_changed else data
                sys.stdout.buffer.write(written)
                sys.stdout.buffer.flush()
            elif fixed.is_changed:
                try:
                    result = replace(result, others=replace_file(Path(name), data, fixed.data))
                except WriteError as fault:
                    remaining = len(lint(name, data, file.settings).findings) if isinstance(file, File) else 0
                    result = replace(result, failure=str(fault), remaining=remaining)
            waiting = self._totals.unsafe + self._totals.open
            self._totals.add(result)
            if self._totals.unsafe + self._totals.open > waiting:
                self.note_fixable(file)
        self.explaining.add(name, fixed.result)
        self._report(result)


@dataclass(slots=True)
class SilenceTotals(_RunTotals):
    """Counts over the files of a run, and the severities of the findings that no comment silences.

    `refused` has the names of the files that could not be read or written.
    """

    findings: int = 0
    comments: int = 0
    left: int = 0
    severities_left: set[Severity] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)

    def format(self) -> str:
        """Return a summary of all files, and a second line with what was left or skipped."""
        notes = join_notes(
            [
                (self.left, f"{counted(self.left, 'finding')} left that no comment silences"),
                *format_skipped(self.skipped),
                (len(self.refused), f"{counted(len(self.refused), 'file')} could not be read or written"),
            ]
        )
        if self.changed:
            done = f"Silenced {counted(self.findings, 'finding')} by {counted(self.comments, 'comment')}"
            text = f"{done} in {self.changed:,} of {counted(self.files, 'file')}."
        elif not self.files:
            text = format_nothing_read("read", self.scope, has_notes=bool(notes))
        elif not (self.left or self.refused or self.crashes):
            text = f"No findings to silence in {counted(self.files, 'file')}."
        else:
            text = f"No comment written in {counted(self.files, 'file')}."
        if notes:
            text += f"\n{notes}."
        return text


class SilenceRun(FileRun[tuple[bytes, Silenced]]):
    """Adds ignore comments with `reason` to files, and calls `report` with the outcome of each."""

    def __init__(self, progress: Progress, reason: str, report: Callable[[str, Silenced], object]) -> None:
        super().__init__(progress)
        self._reason = reason
        self._report = report
        self._totals = SilenceTotals(refused=self.unreadable, skipped=self.skipped)

    def silence_all(self, paths: Iterable[str], finder: SettingsFinder) -> SilenceTotals:
        """Silence everything at `paths`."""
        self.run_over(paths, "", finder)
        self._totals.scope = self.scope
        self._totals.crashes = self.crashes
        return self._totals

    def format_progress(self) -> str:
        """Say how many files an interrupted run has changed."""
        return self._totals.format_progress()

    def work(self, file: File, data: bytes) -> tuple[bytes, Silenced]:
        """Silence the findings of one file; return what it was, too."""
        return data, silence(file.name, data, file.settings, self._reason)

    def record(self, file: FoundFile, outcome: tuple[bytes, Silenced]) -> None:  # noqa: ARG002
        """Write and report one file."""
        data, done = outcome
        name, totals = done.result.source.name, self._totals
        with holding(*STOPS):  # what is written is counted
            totals.files += 1
            if done.is_changed:
                try:
                    others = replace_file(Path(name), data, done.data)
                except WriteError as fault:
                    self.refuse(Unreadable(name, f"left as it was: {fault}"))
                    return
                if others:
                    self.progress.clear()
                    complain(f"{name}: warning: {format_hard_links(others)}")
                totals.changed += 1
                totals.findings += done.findings
                totals.comments += done.comments
        totals.left += len(done.left)
        totals.severities_left.update(finding.severity for finding, _ in done.left)
        self.progress.clear()
        self._report(name, done)

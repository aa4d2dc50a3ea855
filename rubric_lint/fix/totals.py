"""Count what a run of the fixer did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rubric_lint.fix import SAFE, Fixed, Wish
from rubric_lint.project.files import Skipped
from rubric_lint.run.summary import counted, word_nothing_read, word_skipped


@dataclass(frozen=True, slots=True)
class FixOutcome:
    """The outcome of one file: `failure` says why it was not written, `others` how many hard links keep the old text.

    `wish` is what was requested.
    """

    fixed: Fixed
    wish: Wish = SAFE
    failure: str = ""
    others: int = 0

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.fixed.before.name

    @property
    def is_changed(self) -> bool:
        """True if the file has changed, or would change."""
        return self.fixed.is_changed and not self.failure


@dataclass(slots=True)
class FixTotals:
    """Counts over the files of a run.

    `unsafe` counts the findings that only unsafe fixes change, `open` those that wait for a choice. `unreadable` files
    could not be read or written, `broken` ones have syntax errors,
    `faults` were left unchanged because of doubt or a crash, and `crashes` are the latter.
    """

    files: int = 0
    changed: int = 0
    left: int = 0
    unsafe: int = 0
    open: int = 0
    unreadable: int = 0
    broken: int = 0
    faults: int = 0
    crashes: int = 0
    rubrics: int = 0
    fixes: Counter[str] = field(default_factory=Counter)
    skipped: Skipped = field(default_factory=Skipped)

    def add(self, outcome: FixOutcome) -> None:
        """Count one file."""
        self.files += 1
        self.rubrics += outcome.fixed.result.rubrics
        self.faults += bool(outcome.fixed.doubt)
        self.unreadable += bool(outcome.failure)
        self.broken += any(outcome.fixed.faults())
        self.changed += outcome.is_changed
        if not outcome.fixed.doubt:
            self.left += sum(1 for _ in outcome.fixed.left(**outcome.wish._asdict()))
            if not outcome.wish.unsafe:
                findings = [each for each in outcome.fixed.result.findings if not outcome.wish.pick(each)]
                self.unsafe += sum(not each.fix.safe for each in findings if each.fix)
                self.open += sum(1 for each in findings if each.choices and not each.fix)
        if outcome.is_changed:
            self.fixes.update(applied.rule for applied in outcome.fixed.applied)

    def word_unreadable(self) -> list[tuple[int, str]]:
        """Return how many files could not be parsed, and not be read or written, each with a note that says so."""
        have = "has" if self.broken == 1 else "have"
        return [
            (self.broken, f"{counted(self.broken, 'file')} {have} syntax errors"),
            (self.unreadable, f"{counted(self.unreadable, 'file')} could not be read or written"),
        ]

    def word(self, *, is_dry: bool) -> str:
        """Return a summary of all files."""
        kinds = ", ".join(f"{count} {rule}" for rule, count in sorted(self.fixes.items()))
        read = counted(self.files, "file")
        doubts = self.faults - self.crashes
        more = [
            (self.unsafe, f"up to {self.unsafe} fixable with rubric-fix --unsafe-fixes"),  # not proved yet
            (self.open, f"{self.open} fixable with rubric-fix --choose NAME"),
            (self.left, f"{counted(self.left, 'finding')} left to fix by hand"),
            *word_skipped(self.skipped),
            *self.word_unreadable(),
            (doubts, f"{counted(doubts, 'file')} left unchanged because the proof of the fixes failed"),
            (self.crashes, f"{counted(self.crashes, 'file')} left unchanged because rubric-lint crashed"),
        ]
        notes = "; ".join(note for count, note in more if count)
        if not self.files:
            text = word_nothing_read("read", has_notes=bool(notes))
        elif self.changed:
            verb = "Would fix" if is_dry else "Fixed"
            text = f"{verb} {counted(self.fixes.total(), 'finding')} in {self.changed} of {read}: {kinds}."
        elif not self.rubrics + self.left + self.faults + self.unreadable + self.broken:
            text = f"0 rubrics found in {read}, so there was nothing to fix."
        elif self.faults + self.unreadable + self.broken:
            text = f"Nothing fixed in {read}."
        else:
            text = f"Nothing to fix{' safely' if self.unsafe or self.open else ''} in {read}."
        return text + (f"\n{notes[0].upper()}{notes[1:]}." if notes else "")

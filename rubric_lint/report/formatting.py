"""Write what `rubric-lint format` did or would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rubric_lint.fix.formatting import Formatted
from rubric_lint.report.fixes import write_place
from rubric_lint.report.visible import visible
from rubric_lint.run.summary import counted, word_hard_links, word_nothing_read, word_skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rubric_lint.fix.totals import FixOutcome, FixTotals


def word_formatted(outcome: FixOutcome, *, is_dry: bool) -> Iterator[str]:
    """Yield the line of a file that is formatted, if it is."""
    if outcome.is_changed:
        yield f"{visible(outcome.name)}: {'would be formatted' if is_dry else 'formatted'}"


def word_unformatted(outcome: FixOutcome) -> Iterator[str]:
    """Yield a line for each reason why a file, or a part of it, is left alone."""
    fixed, name = outcome.fixed, visible(outcome.name)
    if fixed.doubt:
        yield f"{name}{write_place(fixed, fixed.doubt_at)}: not formatted: {visible(fixed.doubt)}"
    if outcome.failure:
        yield f"{name}: not formatted: {visible(outcome.failure)}"
    if outcome.others:
        yield f"{name}: warning: {word_hard_links(outcome.others)}"
    for note in fixed.notes:
        yield f"{name}{write_place(fixed, note.at)}: {visible(note.message)}"


@dataclass(slots=True)
class FormatCounts:
    """Counts what the totals of a run do not have: rubrics of other systems, and files of a kind that stays as it is."""

    foreign: int = 0
    kinds: int = 0

    def add(self, outcome: FixOutcome) -> None:
        """Count one file."""
        if isinstance(outcome.fixed, Formatted):
            self.foreign += outcome.fixed.foreign
        self.kinds += bool(outcome.fixed.notes)

    def word(self, totals: FixTotals, *, is_dry: bool) -> str:
        """Return a summary of all files."""
        read, refused = counted(totals.files, "file"), totals.faults - totals.crashes
        more = [
            (refused, f"{counted(refused, 'file')} left unchanged because a part cannot be moved safely"),
            (self.foreign, f"{counted(self.foreign, 'rubric')} of other systems left unchanged"),
            (self.kinds, f"{counted(self.kinds, 'file')} left unchanged because only YAML and JSON are formatted"),
            *word_skipped(totals.skipped),
            (totals.unreadable, f"{counted(totals.unreadable, 'file')} could not be read or written"),
            (totals.crashes, f"{counted(totals.crashes, 'file')} left unchanged because rubric-lint crashed"),
        ]
        notes = "; ".join(note for count, note in more if count)
        left_alone = refused + totals.unreadable + totals.crashes + self.kinds
        if not totals.files:
            text = word_nothing_read("read", has_notes=bool(notes))
        elif totals.changed:
            text = f"{'Would format' if is_dry else 'Formatted'} {totals.changed} of {read}."
        elif left_alone or self.foreign:
            text = f"Nothing formatted in {read}."
        elif totals.rubrics:
            text = f"Nothing to format in {read}."
        else:
            text = f"0 rubrics found in {read}, so there was nothing to format."
        return text + (f"\n{notes}." if notes else "")

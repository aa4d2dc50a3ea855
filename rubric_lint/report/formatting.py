"""Write what `rubric-lint format` did or would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rubric_lint.fix.formatting import Formatted
from rubric_lint.report.fixes import write_place
from rubric_lint.report.visible import visible
from rubric_lint.run.summary import counted, word_hard_links, word_nothing_read, word_skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rubric_lint.fix.run import FixOutcome, FixTotals


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


def count_foreign(outcome: FixOutcome) -> int:
    """Return the number of rubrics of other systems in a file."""
    return outcome.fixed.foreign if isinstance(outcome.fixed, Formatted) else 0


def word_totals(totals: FixTotals, foreign: int, *, is_dry: bool) -> str:
    """Return a summary of all files, which have `foreign` rubrics of other systems."""
    read, refused = counted(totals.files, "file"), totals.faults - totals.crashes
    more = [
        (refused, f"{counted(refused, 'file')} left unchanged because a part cannot be moved safely"),
        (foreign, f"{counted(foreign, 'rubric')} of other systems left unchanged"),
        *word_skipped(totals.skipped),
        *totals.word_unreadable(),
        (totals.crashes, f"{counted(totals.crashes, 'file')} left unchanged because rubric-lint crashed"),
    ]
    notes = "; ".join(note for count, note in more if count)
    left_alone = refused + totals.unreadable + totals.broken + totals.crashes
    if not totals.files:
        text = word_nothing_read("read", has_notes=bool(notes))
    elif totals.changed:
        text = f"{'Would format' if is_dry else 'Formatted'} {totals.changed} of {read}."
    elif left_alone or foreign:
        text = f"Nothing formatted in {read}."
    elif totals.rubrics:
        text = f"Nothing to format in {read}."
    else:
        text = f"0 rubrics found in {read}, so there was nothing to format."
    return text + (f"\n{notes}." if notes else "")

"""Choose the fixes that can be applied to a text at once."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from rubric_lint.lint.fix.outcome import FixSelection
from rubric_lint.model.finding import Finding
from rubric_lint.source.edits.intents import Arrange, Fix, InsertItems, MoveItems
from rubric_lint.source.path import Path
from rubric_lint.source.source import Edit, Span

_PartOfFile = tuple[str, Path]
"""A path, after the first step of a JSON Pointer, which in a file of several documents is the number of one."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A wanted fix of a finding, with the scale or list that no other fix may change, and the criterion it copies."""

    finding: Finding
    fix: Fix
    reserved: _PartOfFile | None
    copied: _PartOfFile | None

    @property
    def rank(self) -> tuple[bool, tuple[Edit, ...]]:
        """The order in which fixes are chosen: copies last."""
        return self.copied is not None, self.fix.edits


def choose(findings: Iterable[Finding], wish: FixSelection) -> Iterator[tuple[Finding, Fix]]:
    """Choose the fixes that can be applied at once: of those that touch the same text, the first.

    A scale is arranged by one fix at a time, and a list of criteria split by one.
    A criterion is copied last, after the fixes in it, which the copies would need too. Each may add a document to the
    end of the file, after those that the others before it add.
    """
    candidates: list[_Candidate] = []
    for finding in findings:
        fix = wish.pick(finding)
        if fix:
            reserved = find_arranged(finding, fix) or _find_first(finding, fix, MoveItems)
            copied = _find_first(finding, fix, InsertItems) if fix.choice and not reserved else None
            candidates.append(_Candidate(finding, fix, reserved, copied))
    candidates.sort(key=attrgetter("rank"))
    has_copies = bool(candidates) and candidates[-1].copied is not None
    edited: list[Span] = []
    settled: set[_PartOfFile] = set()
    changed: set[_PartOfFile] = set()
    added = 0
    for candidate in candidates:
        fix = candidate.fix
        if candidate.copied in changed or candidate.reserved in settled:
            continue
        is_adding = any(intent.adds_document for intent in fix.intents)
        edits = fix.edits[:-1] if is_adding and added else fix.edits  # the last one adds the document
        if not all(_is_free(edit.span, edited) for edit in edits):
            continue
        if candidate.reserved:
            settled.add(candidate.reserved)
        for edit in edits:
            edited.insert(bisect_left(edited, edit.span), edit.span)
        if has_copies:
            changed.update(_find_changed(candidate.finding, fix))
        fitting = _renumber(fix, added) if is_adding and added else fix
        yield candidate.finding, fitting
        added += is_adding


def _locate(finding: Finding, path: Path) -> _PartOfFile:
    return finding.pointer.split("/", 2)[1], path


def find_arranged(finding: Finding, fix: Fix) -> _PartOfFile | None:
    """Return the scale that a fix arranges, if it does."""
    first = fix.intents[0] if fix.intents else None
    return _locate(finding, first.path) if isinstance(first, Arrange) else None


def _find_first(finding: Finding, fix: Fix, kind: type[InsertItems | MoveItems]) -> _PartOfFile | None:
    """Return the path of the first intent of a kind; None if a fix has none."""
    for intent in fix.intents:
        if isinstance(intent, kind):
            return _locate(finding, intent.path)
    return None


def _find_changed(finding: Finding, fix: Fix) -> Iterator[_PartOfFile]:
    """Yield what a fix changes, and all that holds it."""
    for intent in fix.intents:
        place = intent.place or ()
        yield from (_locate(finding, place[:length]) for length in range(1, len(place) + 1))


def _is_free(span: Span, edited: list[Span]) -> bool:
    at = bisect_left(edited, span)
    if at < len(edited) and (edited[at] == span or edited[at].start < span.end):
        return False
    return at == 0 or edited[at - 1].end <= span.start


def _renumber(fix: Fix, others: int) -> Fix:
    """Return a fix that adds its document after those that others add at the same time."""
    intents = list(fix.intents)
    for at, intent in enumerate(intents):
        if isinstance(intent, MoveItems) and not intent.holder:
            intents[at] = intent.replace(number=intent.number + others)
    return fix.with_intents(tuple(intents))

"""Trace what is found in a text that was rewritten in several steps back to its place in the original text."""

from collections.abc import Sequence
from typing import NamedTuple

from rubric_lint.fix import Left
from rubric_lint.fix.following import DataChange, find_old
from rubric_lint.fix.proof import find_doubt
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.path import Part
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Edit, Source, Span, splice

Steps = Sequence[tuple[str, Sequence[Edit]]]
"""The text before each step, and the edits of the step, sorted."""


class Trouble(NamedTuple):
    """Why a rewriting is in doubt, and the offset of the cause in the original text."""

    doubt: str
    at: int


def trace_back(at: int, history: Steps) -> int:
    """Return the offset in the text before all steps of an offset after them."""
    for text, edits in reversed(history):
        at = find_old(at, edits, text)
    return at


def trace_left(left: Left, history: Steps) -> Left:
    """Return a reason with its place in the text before all steps."""
    start, end = (trace_back(at, history) for at in left.finding.span)
    return left._replace(finding=left.finding._replace(span=Span(start, max(start, end))))


def find_cause(source: Source, changes: Sequence[DataChange], settings: FileSettings) -> int:
    """Return the offset of the first change that is in doubt without the others; of the first one if none is."""
    for change in changes:
        text = splice(source.text, sorted(change.edits))
        if find_doubt(source, Source(source.name, text, source.encoding, source.bom), [change], settings):
            return _find_start(source, change)
    return _find_start(source, changes[0])


def _find_start(source: Source, change: DataChange) -> int:
    """Return where the value is that a change is about, or else where its first edit is."""
    number = int(change.pointer[1:])
    for document in read_documents(source)[0]:
        for intent in change.intents if (document.number or 0) == number else ():
            if (place := intent.place) is not None:
                return document.span(place, Part.VALUE).start
    return min((edit.span.start for edit in change.edits), default=0)

"""Reorder the items of a list or the fields of a mapping, each in the place of another."""

from collections.abc import Sequence
from itertools import pairwise

from rubric_lint.finding import Edit
from rubric_lint.lint.edits.removal import ObstacleError
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.source import Span


def reorder(document: Document, path: Path, steps: Sequence[str | int]) -> list[Edit]:
    """Return the edits that put the children of the collection at `path` in the order of `steps`.

    Raises:
        ObstacleError: if there are comments, anchors or tags between them.
    """
    text, code = document.source.text, document.tree.code
    value = document.value(path)
    old = list(value) if isinstance(value, dict) else list(range(len(value)))
    spans = [_whole(document, (*path, step)) for step in old]
    start, end = min(span.start for span in spans), max(span.end for span in spans)
    if text[start:end] != code[start:end]:
        raise ObstacleError("there are comments between them; sort them by hand")
    if any(before.end > after.start for before, after in pairwise(spans)):
        raise ObstacleError("some of them are written elsewhere; sort them by hand")
    columns = {span.start - text.rfind("\n", 0, span.start) for span in spans if "\n" in text[slice(*span)]}
    if len(columns) > 1:
        raise ObstacleError("they are indented differently; sort them by hand")
    pieces = {step: text[slice(*span)] for step, span in zip(old, spans, strict=True)}
    return [
        Edit(span, pieces[step]) for span, step in zip(spans, steps, strict=True) if text[slice(*span)] != pieces[step]
    ]


def _whole(document: Document, path: Path) -> Span:
    """Return the span of an item, or of a field with its key."""
    if isinstance(path[-1], str):
        return document.extent(path)
    if document.is_shared(path):
        raise ObstacleError("one of them is an alias; sort them by hand")
    return document.span(path)

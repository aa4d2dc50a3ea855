"""Reorder the items of a list or the fields of a mapping, each in the place of another."""

from collections.abc import Sequence
from itertools import pairwise

from rubric_lint.finding import Edit
from rubric_lint.lint.edits.removal import ObstacleError, line_end, line_start
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.source import Span


def reorder(document: Document, path: Path, steps: Sequence[str | int]) -> list[Edit]:
    """Return the edits that put the children of the collection at `path` in the order of `steps`.

    Comments move with their child: those on its lines, and those directly above it.

    Raises:
        ObstacleError: if there are anchors or tags between the children, or it is unclear which one a comment is about.
    """
    text, code = document.source.text, document.tree.code
    value = document.value(path)
    old = list(value) if isinstance(value, dict) else list(range(len(value)))
    spans = [_whole(document, (*path, step)) for step in old]
    if any(before.end > after.start for before, after in pairwise(spans)):
        raise ObstacleError("some of them are written elsewhere; sort them by hand")
    is_block = not document.is_flow((*path, old[0]))
    start, end = spans[0].start, line_end(text, spans[-1].end).start if is_block else spans[-1].end
    if text[start:end] != code[start:end]:
        if not is_block:
            raise ObstacleError("there are comments between them; sort them by hand")
        spans = _with_comments(document, spans)
    else:
        columns = {span.start - text.rfind("\n", 0, span.start) for span in spans if "\n" in text[slice(*span)]}
        if len(columns) > 1:
            raise ObstacleError("they are indented differently; sort them by hand")
    pieces = {step: text[slice(*span)] for step, span in zip(old, spans, strict=True)}
    return [
        Edit(span, pieces[step]) for span, step in zip(spans, steps, strict=True) if text[slice(*span)] != pieces[step]
    ]


def _with_comments(document: Document, spans: Sequence[Span]) -> list[Span]:
    """Return the lines of each child of a block, with the comments directly above it, without the last line end."""
    text, code = document.source.text, document.tree.code
    found: list[Span] = []
    for span in spans:
        start = line_start(text, span.start)
        if code[start : span.start].strip(" -"):
            raise ObstacleError("they do not start their own lines; sort them by hand")
        limit = found[-1].end if found else 0
        while (above := _line_above(text, start)) > limit and _is_comment(document, above):
            start = above
        content = span.start + len(text[slice(*span)].rstrip())
        found.append(Span(start, line_end(text, content).start))
    if found[0].start != line_start(text, spans[0].start):
        raise ObstacleError("the comment above the first one may be about all of them; sort them by hand")
    if any("#" in text[before.end : after.start] for before, after in pairwise(found)):
        raise ObstacleError("it is unclear which of them a comment is about; sort them by hand")
    return found


def _line_above(text: str, start: int) -> int:
    """Return the start of the line above the one that starts at an offset; 0 if there is none."""
    end = start - 2 if text[start - 2 : start] == "\r\n" else start - 1
    return line_start(text, max(end, 0))


def _is_comment(document: Document, start: int) -> bool:
    """Return whether there is a comment and nothing else on the line that starts at an offset."""
    end = line_end(document.source.text, start).start
    return bool(document.source.text[start:end].strip()) and not document.tree.code[start:end].strip()


def _whole(document: Document, path: Path) -> Span:
    """Return the span of an item, or of a field with its key."""
    if isinstance(path[-1], str):
        return document.extent(path)
    if document.is_shared(path):
        raise ObstacleError("one of them is an alias; sort them by hand")
    return document.span(path)

"""Write changed data into the text that it was read from, and read it back to prove the new text."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from rubric_lint.edits.lines import ObstacleError
from rubric_lint.patch.pieces import Piece, join, make_edits
from rubric_lint.patch.plan import Plan, RefusedError, same
from rubric_lint.patch.render import Renderer
from rubric_lint.patch.tracked import plain
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path, pointer
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Edit, Kind, Source, Span, splice
from rubric_lint.text.tree import AliasNode, walk_nodes


@dataclass(frozen=True)
class Refused:
    """Why nothing was written: the reason, and the path of what it is about in the old document, or in the new data."""

    reason: str
    path: Path

    def __str__(self) -> str:
        return f"{pointer(self.path) if self.path else 'the document'}: {self.reason}"


def write(document: Document, value: Any, *, keep_comments: bool = True) -> str | Refused:
    """Return the text of the whole file with other data in a document, or the reason why they cannot be written.

    `value` is what `track` returned, changed, or any plain data with tracked values in it. Without `keep_comments`,
    comments of what was removed may be lost.
    """
    return write_all([(document, value)], keep_comments=keep_comments)


def write_all(changes: Sequence[tuple[Document, Any]], *, keep_comments: bool = True) -> str | Refused:
    """Return the text of the whole file with other data in some of its documents, or why they cannot be written."""
    edits: list[Edit] = []
    for document, value in changes:
        found = edits_between(document, value, keep_comments=keep_comments)
        if isinstance(found, Refused):
            return found
        edits += found
    document, _ = changes[0]
    text = splice(document.source.text, edits)
    try:
        _check(document.source, text, changes, keep_comments=keep_comments)
    except RefusedError as refused:
        return Refused(refused.reason, refused.path)
    return text


def edits_between(document: Document, value: Any, *, keep_comments: bool = True) -> list[Edit] | Refused:
    """Return the edits of the text that put other data in a document, or the reason why they cannot be written.

    They are not proved: `write` reads the new text back.
    """
    try:
        if document.kind not in (Kind.YAML, Kind.JSON):
            raise RefusedError(f"{document.kind} is not rewritten; change it by hand", ())
        plan = Plan(document, value)
        if plan.is_unchanged(value):
            return []
        pieces, region = Renderer(document, plan).render(value)
        _check_copies(document, pieces, region, keep_comments=keep_comments)
        return make_edits(join(document.source.text, _end_as_before(document, pieces, region)), region)
    except RefusedError as refused:
        return Refused(refused.reason, refused.path)


def _end_as_before(document: Document, pieces: list[Piece], region: Span) -> list[Piece]:
    """Leave out the last line end if the text had none, and still ends with the same entry."""
    text = document.source.text
    pieces = [piece for piece in pieces if piece.text]
    if region.end < len(text) or text.endswith(("\n", "\r")) or len(pieces) < 2:
        return pieces
    before, last = pieces[-2:]
    ends_alike = last.span is None and before.span is not None and before.span.end == region.end
    return pieces[:-1] if ends_alike else pieces


def _check_copies(document: Document, pieces: list[Piece], region: Span, *, keep_comments: bool) -> None:
    """Refuse pieces that hold a comment or an anchor twice, or a comment not at all."""
    comments = [span for span in document.tree.comments if region.start <= span.start < region.end]
    for comment, count in zip(comments, _count_copies(pieces, comments), strict=True):
        if count > 1 or (count == 0 and keep_comments):
            happens = "lost" if count == 0 else "written twice"
            written = document.source.slice(comment)
            raise RefusedError(f"the comment `{written}` would be {happens}", _find_path(document, comment.start))
    _check_anchors(document, pieces)


def _check_anchors(document: Document, pieces: list[Piece]) -> None:
    """Refuse pieces that hold an anchor twice, or an alias without its anchor before it."""
    if not document.has_aliases:
        return
    nodes = list(walk_nodes(document.root))
    targets = {node.target for node in nodes if type(node) is AliasNode}
    marked = sorted((node.start_mark.index, number) for number, node in enumerate(nodes) if type(node) is AliasNode or node in targets)
    starts = [start for start, _ in marked]
    seen: set[Any] = set()
    for piece in pieces:
        start, end = piece.span or Span(0, 0)
        for at, number in marked[bisect_left(starts, start) : bisect_left(starts, end)]:
            node = nodes[number]
            if type(node) is not AliasNode and node not in seen:
                seen.add(node)
            elif type(node) is not AliasNode or node.target not in seen:
                name = document.source.text[at:].split(maxsplit=1)[0].rstrip(",]}")
                reason = f"`{name}` would be written twice" if type(node) is not AliasNode else f"`{name}` would lose its anchor"
                raise RefusedError(f"{reason}; write it out", _find_path(document, at))


def _count_copies(pieces: Iterable[Piece], spans: list[Span]) -> list[int]:
    """Return how often each of some spans, which are in order, is copied."""
    starts = [span.start for span in spans]
    changes = [0] * (len(spans) + 1)
    for piece in pieces:
        if piece.span is not None:
            changes[bisect_left(starts, piece.span.start)] += 1
            changes[bisect_left(starts, piece.span.end)] -= 1
    return list(accumulate(changes))[:-1]


def _find_path(document: Document, at: int) -> Path:
    """Return the path of the innermost field or item around an offset, or of the last one before it."""
    found: Path = ()
    for path, (start, end) in document.entries():
        is_around = start <= at < end
        is_before = end <= at and "\n" not in document.source.text[end:at]
        if is_around or is_before:
            found = path
    return found


def _check(source: Source, text: str, changes: Sequence[tuple[Document, Any]], *, keep_comments: bool) -> None:
    """Refuse a new text that does not mean the new data, or has other comments."""
    before, _ = read_documents(source)
    after, faults = read_documents(Source(source.name, text, source.encoding, source.bom))
    if faults or len(before) != len(after):
        reason = faults[0].message if faults else "the number of documents would change"
        raise RefusedError(f"the new text could not be read: {reason}", ())
    new_values = {document.number or 0: value for document, value in changes}
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        expected = new_values.get(old.number or number, old.data)
        merged = {id(data) for data in new.merging.values()}
        difference = _find_difference(expected, new.data, merged, ())
        if difference is not None:
            raise RefusedError("it would not be read back as intended", difference)
    comments = [Counter(each.source.slice(span) for span in _list_comments(each)) for each in (before[0], after[0])]
    if comments[1] - comments[0] or (keep_comments and comments[0] != comments[1]):
        raise RefusedError("a comment would be lost or written twice", ())


def _list_comments(document: Document) -> list[Span]:
    return document.tree.comments


def _find_difference(expected: Any, found: Any, merged: set[int], path: Path) -> Path | None:
    """Return the path at which data differ, also in the order of fields, unless a merge key brings them in."""
    if isinstance(expected, dict) and isinstance(found, dict):
        if expected.keys() != found.keys() or (id(found) not in merged and list(expected) != list(found)):
            return path
        pairs = [(key, value, found[key]) for key, value in expected.items()]
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return path
        pairs = [(index, value, found[index]) for index, value in enumerate(expected)]
    else:
        is_scalar = not isinstance(expected, dict | list) and not isinstance(found, dict | list)
        return None if is_scalar and same(expected, found) else path
    differences = (_find_difference(one, other, merged, (*path, step)) for step, one, other in pairs)
    return next((difference for difference in differences if difference is not None), None)

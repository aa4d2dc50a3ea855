"""Write changed data into the text that it was read from, and read it back to prove the new text."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from typing import Any

from rubric_lint.edits.lines import new_line
from rubric_lint.patch.layout import Layouts
from rubric_lint.patch.pieces import Piece, copy, join, make_edits
from rubric_lint.patch.plan import Plan, RefusedError, find_path, same
from rubric_lint.patch.render import Renderer
from rubric_lint.patch.tracked import children_of, find_origin
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.reading import read_documents, without_collections
from rubric_lint.text.source import Edit, Kind, Span, splice

_LONGEST_NAME = 100


@dataclass(frozen=True)
class Refused:
    """Why nothing was written: the reason, and the path of what it is about in the old document, or in the new data."""

    reason: str
    path: Path
    document: Document

    def __str__(self) -> str:
        return f"{self.document.pointer(self.path) if self.path else 'the document'}: {self.reason}"

    @property
    def span(self) -> Span:
        """The place in the old text, or that of what is around something new."""
        path = self.path
        while path:
            with suppress(KeyError, IndexError, AttributeError):
                return self.document.extent(path)
            path = path[:-1]
        return self.document.span(())


def write(document: Document, value: Any, *, keep_comments: bool = True) -> str | Refused:
    """Return the text of the whole file with other data in a document, or the reason why they cannot be written.

    `value` is what `track` returned, changed, or any plain data with tracked values in it. Without `keep_comments`,
    comments of what was removed may be lost.
    """
    return write_all([(document, value)], keep_comments=keep_comments)


def write_all(changes: Sequence[tuple[Document, Any]], *, keep_comments: bool = True) -> str | Refused:
    """Return the text of the whole file with other data in some of its documents, or why they cannot be written."""
    edits: list[Edit] = []
    with without_collections():
        for document, value in changes:
            found = edits_between(document, value, keep_comments=keep_comments)
            if isinstance(found, Refused):
                return found
            edits += found
        text = splice(changes[0][0].source.text, edits)
        return _check(text, changes, keep_comments=keep_comments) or text


def edits_between(
    document: Document,
    value: Any,
    *,
    keep_comments: bool = True,
    layouts: Layouts | None = None,
    added: Sequence[Any] = (),
) -> list[Edit] | Refused:
    """Return the edits of the text that put other data in a document, or the reason why they cannot be written.

    `value` may also be the part of it that `track` returned for a path. `layouts` may be those of other edits of the
    document. `added` are changed copies of the document, which become new ones at the end of the file; the last edit
    adds them. The edits are not proved: `write` reads the new text back.
    """
    if document.kind not in (Kind.YAML, Kind.JSON):
        return Refused(f"{document.kind} is not rewritten; change it by hand", (), document)
    layouts = layouts or Layouts(document)
    origin = find_origin(value)
    part = origin if origin is not None and origin.document is document and origin.parent is not None else None
    try:
        plan = Plan(document, [value, *added], part) if added else Plan(document, value, part)
        if plan.is_unchanged(value):
            return []
        renderer, text = Renderer(layouts, plan), document.source.text
        pieces, region = renderer.render(value)
        pieces = pieces if added else _end_as_before(document, pieces, region)
        for copied in added:
            rest, end = copy(text, region.end, len(text)), new_line(document)
            is_cut = rest.text and not rest.text.endswith(("\n", "\r"))
            pieces += [rest, Piece(f"{end if is_cut else ''}---{end}")]
            pieces += [piece._replace(is_same=False) for piece in renderer.render_copy(copied)]
            region = Span(region.start, len(text))
        _check_copies(layouts, pieces, region, keep_comments=keep_comments)
        return make_edits(text, join(text, pieces), region)
    except RefusedError as refused:
        return Refused(refused.reason, refused.path, document)


def _end_as_before(document: Document, pieces: list[Piece], region: Span) -> list[Piece]:
    """Leave out the last line end if the text had none, and still ends with the same entry."""
    text = document.source.text
    pieces = [piece for piece in pieces if piece.text]
    if region.end < len(text) or text.endswith(("\n", "\r")) or len(pieces) < 2:
        return pieces
    before, last = pieces[-2:]
    ends_alike = last.span is None and before.span is not None and before.span.end == region.end
    return pieces[:-1] if ends_alike else pieces


def find_within(spans: Sequence[Span], around: Span) -> Sequence[Span]:
    """Return those of some spans, which are in order, that are within one."""
    return spans[bisect_left(spans, around) : bisect_left(spans, Span(around.end, 0))]


def _check_copies(layouts: Layouts, pieces: list[Piece], region: Span, *, keep_comments: bool) -> None:
    """Refuse pieces that hold a comment or an anchor twice, or a comment not at all."""
    document = layouts.document
    comments = find_within(document.tree.comments, region)
    for comment, count in zip(comments, _count_copies(pieces, comments), strict=True):
        if count > 1 or (count == 0 and keep_comments):
            happens = "lost" if count == 0 else "written twice"
            written = document.source.slice(comment)
            reason = f"the comment `{written}` would be {happens}; move it, or remove it"
            raise RefusedError(reason, find_path(document, comment.start))
    if layouts.anchors:
        rest = Span(region.end, len(document.source.text))
        _check_anchors(layouts, [Span(0, region.start), *(piece.span for piece in pieces if piece.span), rest])


def _check_anchors(layouts: Layouts, copied: Iterable[Span]) -> None:
    """Refuse a text of copies that holds an anchor twice, or an alias without its anchor before it."""
    document, marked = layouts.document, layouts.anchors
    seen: set[Any] = set()
    for start, end in copied:
        first, last = (bisect_left(marked, limit, key=itemgetter(0)) for limit in (start, end))
        for at, node, is_alias in marked[first:last]:
            name = document.source.text[at : at + _LONGEST_NAME].split(maxsplit=1)[0].rstrip(",]}")
            if is_alias and node not in seen:
                raise RefusedError(f"`{name}` would lose its anchor; write it out", find_path(document, at))
            if not is_alias and node in seen:
                raise RefusedError(f"`{name}` would be written twice; write its aliases out", find_path(document, at))
            seen.add(node)


def _count_copies(pieces: Iterable[Piece], spans: Sequence[Span]) -> list[int]:
    """Return how often each of some spans, which are in order, is copied."""
    starts = [span.start for span in spans]
    changes = [0] * (len(spans) + 1)
    for piece in pieces:
        if piece.span is not None:
            changes[bisect_left(starts, piece.span.start)] += 1
            changes[bisect_left(starts, piece.span.end)] -= 1
    return list(accumulate(changes))[:-1]


def _check(text: str, changes: Sequence[tuple[Document, Any]], *, keep_comments: bool) -> Refused | None:
    """Refuse a new text that does not mean the new data, or has other comments."""
    first, _ = changes[0]
    before, faults = ([first], []) if first.number is None else read_documents(first.source)
    after, new_faults = read_documents(first.source._replace(text=text))
    if len(new_faults) != len(faults) or len(before) != len(after):
        reason = new_faults[0].message if new_faults else "the number of documents would change"
        return Refused(f"the new text could not be read: {reason}", (), first)
    values = {changed.number: value for changed, value in changes}
    for old, new in zip(before, after, strict=True):
        expected = values.get(old.number, old.data)
        merged = {id(data) for data in new.merging.values()}
        difference = _find_difference(expected, new.data, merged, ())
        if difference is not None:
            return Refused(_explain(expected, new, difference), difference, old)
    one, other = (Counter(map(each.source.slice, each.tree.comments)) for each in (before[0], after[0]))
    if other - one or (keep_comments and one != other):
        return Refused("a comment would be lost or written twice", (), first)
    return None


def _explain(expected: Any, new: Document, path: Path) -> str:
    """Return why the data at a path would differ."""
    found = new.value(path)
    for step in path:
        expected = expected[step]
    if (path and new.is_merged(path)) or any(found is data for data in new.merging.values()):
        return "a merge key brings in some of it; write it out"
    is_text = isinstance(expected, str) and isinstance(found, str)
    if is_text and expected.rstrip("\n") == found.rstrip("\n"):
        return "the line ends below this text block are part of it; begin it with `|-`, or end the file with a line end"
    return "it would not be read back as intended"


def _find_difference(expected: Any, found: Any, merged: set[int], path: Path) -> Path | None:
    """Return the path at which data differ, also in the order of fields, unless a merge key brings them in."""
    is_dict, is_list = isinstance(found, dict), isinstance(found, list)
    if is_dict != isinstance(expected, dict) or is_list != isinstance(expected, list):
        return path
    if not is_dict and not is_list:
        return None if same(expected, found) else path
    steps, others = ([step for step, _ in children_of(value)] for value in (expected, found))
    if steps != others and (id(found) not in merged or sorted(steps) != sorted(others)):
        return path
    for step in steps:
        difference = _find_difference(expected[step], found[step], merged, (*path, step))
        if difference is not None:
            return difference
    return None

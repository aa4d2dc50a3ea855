"""Write changed data into the text that it was read from, and read it back to prove the new text."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any

from rubric_lint.source.document import Document
from rubric_lint.source.lines import new_line
from rubric_lint.source.patch.layout import Layouts
from rubric_lint.source.patch.pieces import TextPiece, copy, join, make_edits
from rubric_lint.source.patch.plan import ChangePlan, UnwritableError, find_within, same
from rubric_lint.source.patch.render import Renderer
from rubric_lint.source.patch.tracked import find_origin, former_path
from rubric_lint.source.path import Part, Path
from rubric_lint.source.reading import read_documents, without_collections
from rubric_lint.source.source import Edit, Kind, Span, splice
from rubric_lint.source.tree import BLOCK_STYLES, items_of

_LONGEST_NAME = 100


@dataclass(frozen=True)
class RefusedChange:
    """Why nothing was written: the reason, and the path of what it is about in the old document.

    `place` is that of what has no path, such as a comment.
    """

    reason: str
    path: Path
    document: Document
    place: Span | None = None

    def __str__(self) -> str:
        where = self.document.pointer(self.path) if self.path else "the document"
        return f"{where}: {self.reason}"

    @property
    def span(self) -> Span:
        """The place in the old text, or that of what is around something new."""
        return self.place or self.document.nearest_span(self.path, Part.ENTRY)


def write(changes: Sequence[tuple[Document, Any]]) -> str | RefusedChange:
    """Return the text of the whole file with other data in some of its documents, or why they cannot be written.

    The data are what `track` returned, changed, or any plain data with tracked values in it.
    """
    edits: list[Edit] = []
    with without_collections():
        for document, value in changes:
            found = edits_between(document, value)
            if isinstance(found, RefusedChange):
                return found
            edits += found
        text = splice(changes[0][0].source.text, edits)
        return _check(text, changes) or text


def edits_between(
    document: Document,
    value: Any,
    *,
    layouts: Layouts | None = None,
    added: Sequence[Any] = (),
) -> list[Edit] | RefusedChange:
    """Return the edits of the text that put other data in a document, or the reason why they cannot be written.

    `value` may also be the part of it that `track` returned for a path. `layouts` may be those of other edits of the
    document. `added` is a changed copy of the document, if any, which becomes a new one at the end of the file: the
    last edit adds it. The edits are not proved: `write` reads the new text back.
    """
    if document.kind not in (Kind.YAML, Kind.JSON):
        return RefusedChange(f"{document.kind} is not rewritten; change it by hand", (), document)
    layouts = layouts or Layouts(document)
    origin = find_origin(value)
    part = origin if origin is not None and origin.document is document and origin.parent is not None else None
    try:
        plan = ChangePlan(document, [value, *added], part) if added else ChangePlan(document, value, part)
        if plan.is_unchanged(value):
            return []
        renderer, text = Renderer(layouts, plan), document.source.text
        pieces, region = renderer.render(value)
        copies = list(chain.from_iterable(map(renderer.render_copy, added)))
        rest = copy(text, region.end, len(text))
        _check_copies(layouts, [*pieces, rest, *copies], region)
        pieces = pieces if added else _end_as_before(document, value, pieces, region)
        edits = make_edits(text, join(text, pieces), region)
        return [*edits, _append(document, added[-1], copies)] if added else edits
    except UnwritableError as refused:
        return RefusedChange(refused.reason, refused.path, document, refused.place)


def _append(document: Document, value: Any, pieces: list[TextPiece]) -> Edit:
    """Return the edit that adds a document to the end of the file, which ends with a line end if it did."""
    end, line_end = len(document.source.text), new_line(document)
    start = "---" + line_end
    if not document.source.text.endswith(("\n", "\r")):
        start, pieces = line_end + start, _end_as_before(document, value, pieces, Span(end, end))
    return Edit(Span(end, end), start + "".join(piece.text for piece in pieces))


def _end_as_before(document: Document, value: Any, pieces: list[TextPiece], region: Span) -> list[TextPiece]:
    """Leave out the last line end if the text had none, unless it may be part of a text block that ended elsewhere."""
    text = document.source.text
    *before, last = [piece for piece in pieces if piece.text]
    if region.end < len(text) or text.endswith(("\n", "\r")):
        return pieces
    span = before[-1].span if before and last.span is None else None
    ends_alike = span is not None and span.end == region.end
    if not ends_alike and _ends_with_text_block(value):
        return pieces
    line = last.text.rstrip("\r\n")
    last_piece = last if line == last.text else TextPiece(line, last.span)
    return [*before, last_piece]


def _ends_with_text_block(value: Any) -> bool:
    while isinstance(value, dict | list) and value:
        value = list(value.values())[-1] if isinstance(value, dict) else value[-1]
    origin = find_origin(value)
    is_block = origin is not None and getattr(origin.node, "style", None) in BLOCK_STYLES
    return is_block or (isinstance(value, str) and "\n" in value)


def _check_copies(layouts: Layouts, pieces: list[TextPiece], region: Span) -> None:
    """Refuse pieces that hold a comment or an anchor twice, or a comment not at all."""
    document = layouts.document
    comments = find_within(document.tree.comments, region)
    for comment, count in zip(comments, _count_copies(pieces, comments), strict=True):
        if count != 1:
            happens = "lost" if count == 0 else "written twice"
            written = document.source.slice(comment)
            reason = f"the comment `{written}` would be {happens}; move it, or remove it"
            raise UnwritableError(reason, document.find_path(comment.start), comment)
    if layouts.anchors:
        _check_anchors(layouts, [Span(0, region.start), *(piece.span for piece in pieces if piece.span)])


def _check_anchors(layouts: Layouts, copied: Iterable[Span]) -> None:
    """Refuse a text of copies that holds an anchor twice, or an alias without its anchor before it."""
    document, marked = layouts.document, layouts.anchors
    seen: set[Any] = set()
    for start, end in copied:
        first, last = (bisect_left(marked, limit, key=itemgetter(0)) for limit in (start, end))
        for at, node, is_alias in marked[first:last]:
            name = document.source.text[at : at + _LONGEST_NAME].split(maxsplit=1)[0].rstrip(",]}")
            if is_alias and node not in seen:
                raise UnwritableError(f"`{name}` would lose its anchor; write it out", document.find_path(at))
            if not is_alias and node in seen:
                raise UnwritableError(f"`{name}` would be written twice; write its aliases out", document.find_path(at))
            seen.add(node)


def _count_copies(pieces: Iterable[TextPiece], spans: Sequence[Span]) -> list[int]:
    """Return how often each of some spans, which are in order, is copied."""
    starts = [span.start for span in spans]
    changes = [0] * (len(spans) + 1)
    for piece in pieces:
        if piece.span is not None:
            changes[bisect_left(starts, piece.span.start)] += 1
            changes[bisect_left(starts, piece.span.end)] -= 1
    return list(accumulate(changes))[:-1]


def _check(text: str, changes: Sequence[tuple[Document, Any]]) -> RefusedChange | None:
    """Refuse a new text that does not mean the new data, or has other comments."""
    first, _ = changes[0]
    before, faults = ([first], []) if first.number is None else read_documents(first.source)
    after, new_faults = read_documents(first.source._replace(text=text))
    if len(new_faults) != len(faults) or len(before) != len(after):
        reason = new_faults[0].message if new_faults else "the number of documents would change"
        return RefusedChange(f"the new text could not be read: {reason}", (), first)
    values = {changed.number: value for changed, value in changes}
    for old, new in zip(before, after, strict=True):
        expected = values.get(old.number, old.data)
        merged = {id(data) for data in new.merging.values()}
        difference = _find_difference(expected, new.data, merged, ())
        if difference is not None:
            return RefusedChange(_explain(expected, new, difference), former_path(expected, difference), old)
    if _count_comments(before[0]) != _count_comments(after[0]):
        return RefusedChange("a comment would be lost or written twice", (), first)
    return None


def _count_comments(document: Document) -> Counter[str]:
    return Counter(map(document.source.slice, document.tree.comments))


def _explain(expected: Any, new: Document, path: Path) -> str:
    """Return why the data at a path would differ."""
    found = new.value(path)
    for step in path:
        expected = expected[step]
    if (path and new.is_merged(path)) or any(found is data for data in new.merging.values()):
        return "a merge key brings in some of it; write it out"
    return explain_text(expected, found) or "it would not be read back as intended"


def explain_text(expected: Any, found: Any) -> str:
    """Return why a text block would not be read back as intended; empty if it is none, or differs in other ways."""
    is_text = isinstance(expected, str) and isinstance(found, str)
    if not is_text or expected.rstrip("\n") != found.rstrip("\n"):
        return ""
    return "the line ends below this text block are part of it; begin it with `|-`, or end the file with a line end"


def _find_difference(expected: Any, found: Any, merged: set[int], path: Path) -> Path | None:
    """Return the path at which data differ, also in the order of fields, unless a merge key brings them in."""
    is_dict, is_list = isinstance(found, dict), isinstance(found, list)
    if is_dict != isinstance(expected, dict) or is_list != isinstance(expected, list):
        return path
    if not is_dict and not is_list:
        return None if same(expected, found) else path
    steps = [step for step, _ in items_of(expected)]
    others = [step for step, _ in items_of(found)]
    if steps != others and (id(found) not in merged or sorted(steps) != sorted(others)):
        return path
    for step in steps:
        difference = _find_difference(expected[step], found[step], merged, (*path, step))
        if difference is not None:
            return difference
    return None

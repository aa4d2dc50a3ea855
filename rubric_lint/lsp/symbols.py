"""Build the outline and the folding ranges of a document."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from lsprotocol import types

from rubric_lint.format.criterion import Criterion, Shape
from rubric_lint.lsp.analysis import Analysis, Located
from rubric_lint.lsp.positions import Text
from rubric_lint.messages import shorten
from rubric_lint.report.visible import visible
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Span

_LONGEST = 60


@dataclass(slots=True)
class Node:
    """One entry of the outline: `extent` is its whole span, `head` the part to select."""

    name: str
    kind: types.SymbolKind
    extent: Span
    head: Span
    detail: str = ""
    children: list["Node"] = field(default_factory=list)


def make_outline(analysis: Analysis) -> list[Node]:
    """Build the outline: cases, their rubrics, criteria and bands."""
    roots: list[Node] = []
    for document, mine in groupby(analysis.rubrics, attrgetter("document")):
        _Outline(document, roots).add_all(mine)
    return roots


_WHOLE = "rubrics"
"""The name of a rubric that is a whole document."""


class _Outline:
    """The outline of one document."""

    def __init__(self, document: Document, roots: list[Node]) -> None:
        self._document = document
        self._roots = roots
        self._extents = {(): document.span(()), **dict(document.entries())}
        self._parts: dict[Path, Node] = {}

    def add_all(self, rubrics: Iterable[Located]) -> None:
        for located in rubrics:
            rubric = located.rubric
            node = self._make(str(rubric.path[-1]) if rubric.path else _WHOLE, types.SymbolKind.Array, rubric.path)
            if node is None:  # an alias of a rubric defined elsewhere
                continue
            node.detail = (rubric.shape or "").replace("_", " ")
            self._siblings(rubric.path).append(node)
            for criterion in rubric.entries:
                self._add_criterion(node, criterion, located.place)

    def _siblings(self, path: Path) -> list[Node]:
        """Return the list to which the node at `path` belongs: that of the innermost part of a suite around it."""
        siblings = self._roots
        for part in (path[:end] for end in range(1, len(path))):
            if part not in self._parts:
                value = self._document.value(part)
                node = isinstance(value, dict) and self._make(_name_part(part, value), types.SymbolKind.Object, part)
                if not node:
                    continue
                siblings.append(node)
                self._parts[part] = node
            siblings = self._parts[part].children
        return siblings

    def _add_criterion(self, parent: Node, criterion: Criterion, place: Callable[[Path], Path]) -> None:
        is_band = criterion.shapes[:1] == (Shape.HOLISTIC,)
        kind = types.SymbolKind.EnumMember if is_band else types.SymbolKind.Field
        node = self._make(_clip(criterion.id), kind, place(criterion.path))
        if node is None:
            return
        parent.children.append(node)
        if is_band and criterion.scale:
            node.name, node.detail = _range_of(criterion), _clip(criterion.outcome or "")
            return
        node.detail = _clip(criterion.outcome or "") if not criterion.scale and not criterion.levels else ""
        for path, name, outcome in _parts_of(criterion):
            if band := self._make(name, types.SymbolKind.EnumMember, place(path)):
                band.detail = _clip(outcome or "")
                node.children.append(band)

    def _make(self, name: str, kind: types.SymbolKind, path: Path) -> Node | None:
        extent = self._extents.get(path)
        if extent is None:
            return None
        head = self._document.span(path, Part.KEY if path and isinstance(path[-1], str) else Part.ENTRY)
        if not (extent.start <= head.start and head.end <= extent.end):
            head = extent
        return Node(name or "?", kind, extent, head)


def _parts_of(criterion: Criterion) -> Iterator[tuple[Path, str, str | None]]:
    for band in criterion.scale.bands if criterion.scale else ():
        path = band.path[:-1] if band.path[-1] == "score_range" else band.path
        yield path, _word_range(band.lower, band.upper), band.outcome
    for level in criterion.levels or ():
        yield level.path, " ".join(filter(None, (str(level.number), _clip(level.name or "")))), level.outcome


def _range_of(criterion: Criterion) -> str:
    band = criterion.scale.bands[0] if criterion.scale else None
    return _word_range(band.lower, band.upper) if band else "?"


def _word_range(lower: float | None, upper: float | None) -> str:
    return " to ".join("?" if bound is None else str(bound) for bound in (lower, upper))


def _name_part(path: Path, value: dict[str, object]) -> str:
    called = next((value[key] for key in ("id", "name", "type") if isinstance(value.get(key), str)), "")
    if called:
        return _clip(str(called))
    return str(path[-1]) if isinstance(path[-1], str) else f"{path[-2] if len(path) > 1 else ''}[{path[-1]}]"


def _clip(text: str) -> str:
    return shorten(visible(" ".join(text.split())), _LONGEST)


def as_tree(nodes: list[Node], text: Text) -> list[types.DocumentSymbol]:
    """Return the outline for editors that show a tree."""
    return [
        types.DocumentSymbol(
            name=node.name,
            kind=node.kind,
            range=text.range(node.extent),
            selection_range=text.range(node.head),
            detail=node.detail or None,
            children=as_tree(node.children, text),
        )
        for node in nodes
    ]


def as_list(nodes: list[Node], text: Text, uri: str, within: str | None = None) -> list[types.SymbolInformation]:
    """Return the outline for editors that show a list."""
    found = []
    for node in nodes:
        location = types.Location(uri, text.range(node.extent))
        found.append(types.SymbolInformation(location=location, name=node.name, kind=node.kind, container_name=within))
        found += as_list(node.children, text, uri, node.name)
    return found


def make_folds(analysis: Analysis, limit: int | None) -> list[types.FoldingRange] | None:
    """Return every multi-line field and list item; None without rubrics, so that the editor folds by indentation."""
    text = analysis.state.text
    folds: dict[int, tuple[int, int]] = {}
    for document, _ in groupby(analysis.rubrics, attrgetter("document")):
        for path, (start, end) in document.entries():
            first, last = text.line(start), text.line(max(end - 1, start))
            if last > first and first not in folds:
                folds[first] = (len(path), last)
    outermost = sorted(folds, key=lambda line: (folds[line][0], line))[:limit]
    return [types.FoldingRange(line, folds[line][1]) for line in sorted(outermost)] or None

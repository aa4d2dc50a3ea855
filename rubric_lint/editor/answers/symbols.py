"""Build the outline and the folding ranges of a document, and search the cases and criteria of all files."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, groupby
from operator import attrgetter
from typing import Any

from lsprotocol import types

from rubric_lint.editor.server.analysis import Analysis, LocatedRubric
from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.editor.server.library import Library, UnreadError
from rubric_lint.editor.server.positions import DocumentText
from rubric_lint.editor.server.protocol import Plain
from rubric_lint.editor.server.unopened import find_files
from rubric_lint.model.criterion import SPAN, Criterion, Shape
from rubric_lint.model.messages import shorten, visible
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path

_LONGEST = 60


Node = dict[str, Any]
"""One entry of the outline as the protocol has it: `range` is its whole extent, `selectionRange` the part to select."""


def make_outline(analysis: Analysis) -> list[Node]:
    """Build the outline: cases, their rubrics, criteria and bands."""
    roots: list[Node] = []
    for document, mine in groupby(analysis.rubrics, attrgetter("document")):
        _OutlineBuilder(document, analysis.state.text, roots).add_all(mine)
    return roots


def write_outline(analysis: Analysis, *, is_tree: bool) -> list[dict[str, Any]]:
    """Return the outline for editors that show a tree or a list."""
    nodes = make_outline(analysis)
    return nodes if is_tree else list(_list_nodes(nodes, analysis.state.uri, is_search=False))


async def answer_outline(documents: OpenDocuments, params: types.DocumentSymbolParams) -> Plain | None:
    """Return the outline of a document."""
    found = await documents.readable(params.text_document.uri)
    if found is None:
        return None
    is_tree = bool(documents.connection.can("text_document.document_symbol.hierarchical_document_symbol_support"))
    return Plain(await documents.run(partial(write_outline, found, is_tree=is_tree)))


async def answer_folds(documents: OpenDocuments, params: types.FoldingRangeParams) -> Plain:
    """Return the folding ranges of a document."""
    limit = documents.connection.can("text_document.folding_range.range_limit")
    return Plain(await documents.ask(params.text_document.uri, make_folds, limit))


_WHOLE = "rubrics"
"""The name of a rubric that is a whole document."""


class _OutlineBuilder:
    """Adds the rubrics of a document to the outline `roots`, each within the parts of a suite that are around it."""

    def __init__(self, document: Document, text: DocumentText, roots: list[Node]) -> None:
        self._document = document
        self._text = text
        self._roots = roots
        self._extents = document.extents
        self._parts: dict[Path, Node] = {}

    def add_all(self, rubrics: Iterable[LocatedRubric]) -> None:
        for located in rubrics:
            path, shape = located.rubric.path, located.rubric.shape or ""
            if path and path not in self._extents:  # an alias of a rubric defined elsewhere
                continue
            name = str(path[-1]) if path else _WHOLE
            node = self._add(self._siblings(path), name, types.SymbolKind.Array, path, shape.replace("_", " "))
            if node:
                self._add_parts(node, located)

    def _add_parts(self, root: Node, located: LocatedRubric) -> None:
        """Add the criteria of a rubric, in the groups that they are in."""
        nodes: dict[Path, Node] = {}
        for criterion in located.rubric.entries:
            place, parent = located.rubric.place(criterion.path), root
            for group in located.rubric.groups:
                if place[: len(group.path)] == group.path:
                    if group.path not in nodes:
                        kind = types.SymbolKind.Object
                        added = self._add(parent["children"], _clip(group.id), kind, group.path, group.outcome)
                        nodes[group.path] = added or parent
                    parent = nodes[group.path]
            self._add_criterion(parent, criterion, located.rubric.place)

    def _siblings(self, path: Path) -> list[Node]:
        """Return the list to which the node at `path` belongs: that of the innermost part of a suite around it."""
        siblings = self._roots
        for part in (path[:end] for end in range(1, len(path))):
            if part not in self._parts:
                value = self._document.value(part)
                if not isinstance(value, dict):
                    continue
                # Its name, else its key or its number in a list.
                name = next((value[key] for key in ("id", "name", "type") if isinstance(value.get(key), str)), "")
                number = str(part[-1])
                if isinstance(part[-1], int):
                    number = f"{part[-2]}[{number}]" if len(part) > 1 else f"[{number}]"
                node = self._add(siblings, _clip(name) or number, types.SymbolKind.Object, part)
                if node is None:
                    continue
                self._parts[part] = node
            siblings = self._parts[part]["children"]
        return siblings

    def _add_criterion(self, parent: Node, criterion: Criterion, place: Callable[[Path], Path]) -> None:
        is_band = criterion.shapes[:1] == (Shape.HOLISTIC,)
        kind = types.SymbolKind.EnumMember if is_band else types.SymbolKind.Field
        steps = list(_list_steps(criterion))
        has_open_scale = SPAN in (criterion.fields or {})  # of which only some levels are described
        name, detail = _clip(criterion.id), criterion.outcome
        if is_band and criterion.scale:
            name = steps[0][1] if steps else "?"
            steps = []
        elif criterion.scale or (criterion.levels and not has_open_scale):
            detail = ""
        node = self._add(parent["children"], name, kind, place(criterion.path), detail)
        if node:
            for path, step, outcome in steps:
                self._add(node["children"], step, types.SymbolKind.EnumMember, place(path), outcome)

    def _add(
        self, siblings: list[Node], name: str, kind: types.SymbolKind, path: Path, detail: str | None = ""
    ) -> Node | None:
        """Add the node at a path to its siblings; return None if an alias stands there."""
        extent = self._extents.get(path) if path else self._document.span(())
        if extent is None:
            return None
        part = Part.KEY if path and isinstance(path[-1], str) else Part.ENTRY
        head = self._document.span(path, part)
        if not (extent.start <= head.start and head.end <= extent.end):
            head = extent
        node: Node = {
            "name": name or "?",
            "kind": kind.value,
            "range": self._text.write_range(extent),
            "selectionRange": self._text.write_range(head),
        }
        clipped = _clip(detail or "")
        if clipped:
            node["detail"] = clipped
        node["children"] = []
        siblings.append(node)
        return node


def _list_steps(criterion: Criterion) -> Iterator[tuple[Path, str, str | None]]:
    """Yield the path, the name and the outcome of each band and each described level of a criterion."""
    if criterion.scale:
        for band in criterion.scale.bands:
            path = band.path[:-1] if band.path[-1] == "score_range" else band.path
            bounds = ["?" if bound is None else str(bound) for bound in (band.lower, band.upper)]
            yield path, " to ".join(bounds), band.outcome
    is_open = SPAN in (criterion.fields or {})
    for level in criterion.levels or ():
        if level.outcome or level.name or not is_open:
            name = _clip(level.name or "")
            level_name = f"{level.number} {name}" if name else str(level.number)
            yield level.path, level_name, level.outcome


def _clip(text: str) -> str:
    return shorten(visible(" ".join(text.split())), _LONGEST)


_CASE = types.SymbolKind.Object.value
_SEARCHED_KINDS = (_CASE, types.SymbolKind.Field.value)  # what a search finds: cases and criteria


def _list_nodes(
    nodes: Iterable[Node], uri: str, within: str | None = None, *, is_search: bool
) -> Iterator[dict[str, Any]]:
    """Yield the entries of an outline with the name of what holds each; with `is_search`, that of its case."""
    for node in nodes:
        name, kind = node["name"], node["kind"]
        if not is_search or kind in _SEARCHED_KINDS:
            holder = {} if within is None else {"containerName": within}
            yield {"location": {"uri": uri, "range": node["range"]}, "name": name, "kind": kind, **holder}
        container = within if is_search and kind != _CASE else name
        yield from _list_nodes(node["children"], uri, container, is_search=is_search)


def make_folds(analysis: Analysis, limit: int | None) -> list[dict[str, int]] | None:
    """Return every multi-line field and list item; None without rubrics, so that the editor folds by indentation."""
    depths: dict[int, tuple[int, int]] = {}  # by first line: of what begins in one line, the outermost
    text = analysis.state.text
    for document, _ in groupby(analysis.rubrics, attrgetter("document")):
        for path, (start, end) in document.extents.items():
            first, last = text.line(start), text.line(max(end - 1, start))
            if last > first:
                depths.setdefault(first, (len(path), last))
    outermost = sorted(depths, key=lambda first: (depths[first][0], first))[:limit]
    return [{"startLine": first, "endLine": depths[first][1]} for first in sorted(outermost)] or None


class WorkspaceSymbols:
    """Searches for one client; a file is read again only when it has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, list[dict[str, Any]]]] = {}
        """The stamp of each file, or its text in the editor, and its symbols then."""

    async def answer(self, documents: OpenDocuments, params: types.WorkspaceSymbolParams) -> Plain:
        """Return the symbols that match a query, ordered by file."""
        await documents.is_ready.wait()
        opened = documents.find_open_files()
        library = Library(documents.workspace, opened, documents.encoding)

        wanted = [character for character in params.query.casefold() if not character.isspace()]

        def matches(name: str) -> bool:
            rest = iter(name)
            return all(character in rest for character in wanted)  # in this order

        def search() -> list[dict[str, Any]]:
            states: dict[str, object] = {}
            for folder in documents.workspace.folders:
                if folder.path and folder.options.enable and folder.options.unopened_files:
                    states |= {file.path: file.stamp for file in find_files(folder) if not file.reason}
            folder_of = documents.workspace.folder_of
            states |= {path: state.text for path, state in opened.items() if folder_of(path).options.enable}
            known: dict[str, tuple[object, list[dict[str, Any]]]] = {}
            for path, state in sorted(states.items()):
                kept = self._known.get(path)
                known[path] = kept if kept and kept[0] == state else (state, _read(library, path))
            self._known = known
            symbols = chain.from_iterable(symbols for _, symbols in known.values())
            return [symbol for symbol in symbols if matches(symbol["name"].casefold())]

        return Plain(await documents.run(search))


def _read(library: Library, path: str) -> list[dict[str, Any]]:
    try:
        state = library.find_state(path)
    except UnreadError:
        return []  # its reason is among the diagnostics
    # Editors show the name of the file themselves.
    return list(_list_nodes(make_outline(Analysis(state)), state.uri, is_search=True)) if state else []

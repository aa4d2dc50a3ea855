"""Build the outline and the folding ranges of a document, and search the cases and criteria of all files."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from lsprotocol import types

from rubric_lint.editor.server.analysis import Analysis, Located
from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.editor.server.library import Library, UnreadError
from rubric_lint.editor.server.positions import Text
from rubric_lint.editor.server.protocol import Plain
from rubric_lint.editor.server.unopened import find_files
from rubric_lint.model.criterion import SPAN, Criterion, Shape
from rubric_lint.model.messages import shorten
from rubric_lint.report.terminal import visible
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path

_LONGEST = 60


Node = dict[str, Any]
"""One entry of the outline as the protocol has it: `range` is its whole extent, `selectionRange` the part to select."""


def make_outline(analysis: Analysis) -> list[Node]:
    """Build the outline: cases, their rubrics, criteria and bands."""
    roots: list[Node] = []
    for document, mine in groupby(analysis.rubrics, attrgetter("document")):
        _Outline(document, analysis.state.text, roots).add_all(mine)
    return roots


def write_outline(analysis: Analysis, *, is_tree: bool) -> list[dict[str, Any]]:
    """Return the outline for editors that show a tree or a list."""
    nodes = make_outline(analysis)
    return nodes if is_tree else list(_list_nodes(nodes, analysis.state.uri, is_search=False))


async def answer_outline(documents: OpenDocuments, params: types.DocumentSymbolParams) -> Plain | None:
    """Return the outline of a document."""
    if (found := await documents.readable(params.text_document.uri)) is None:
        return None
    is_tree = bool(documents.connection.can("text_document.document_symbol.hierarchical_document_symbol_support"))
    return Plain(await documents.run(partial(write_outline, found, is_tree=is_tree)))


async def answer_folds(documents: OpenDocuments, params: types.FoldingRangeParams) -> Plain | None:
    """Return the folding ranges of a document."""
    if (found := await documents.analysis(params.text_document.uri)) is None:
        return None
    limit = documents.connection.can("text_document.folding_range.range_limit")
    return Plain(await documents.run(make_folds, found, limit))


_WHOLE = "rubrics"
"""The name of a rubric that is a whole document."""


class _Outline:
    def __init__(self, document: Document, text: Text, roots: list[Node]) -> None:
        self._document = document
        self._text = text
        self._roots = roots
        self._extents = document.extents
        self._parts: dict[Path, Node] = {}

    def add_all(self, rubrics: Iterable[Located]) -> None:
        for located in rubrics:
            path, shape = located.rubric.path, located.rubric.shape or ""
            if path and path not in self._extents:  # an alias of a rubric defined elsewhere
                continue
            name = str(path[-1]) if path else _WHOLE
            node = self._add(self._siblings(path), name, types.SymbolKind.Array, path, shape.replace("_", " "))
            if node:
                self._add_parts(node, located)

    def _add_parts(self, root: Node, located: Located) -> None:
        """Add the criteria of a rubric, in the groups that they are in."""
        nodes: dict[Path, Node] = {}
        for criterion in located.rubric.entries:
            place, parent = located.place(criterion.path), root
            for group in located.rubric.groups:
                if place[: len(group.path)] == group.path:
                    if group.path not in nodes:
                        kind = types.SymbolKind.Object
                        added = self._add(parent["children"], _clip(group.id), kind, group.path, group.outcome)
                        nodes[group.path] = added or parent
                    parent = nodes[group.path]
            self._add_criterion(parent, criterion, located.place)

    def _siblings(self, path: Path) -> list[Node]:
        """Return the list to which the node at `path` belongs: that of the innermost part of a suite around it."""
        siblings = self._roots
        for part in (path[:end] for end in range(1, len(path))):
            if part not in self._parts:
                value = self._document.value(part)
                if not isinstance(value, dict):
                    continue
                # Its name, else its key or its number in a list.
                called = next((value[key] for key in ("id", "name", "type") if isinstance(value.get(key), str)), "")
                number = f"{part[-2] if len(part) > 1 else ''}[{part[-1]}]" if isinstance(part[-1], int) else part[-1]
                node = self._add(siblings, _clip(called) or number, types.SymbolKind.Object, part)
                if node is None:
                    continue
                self._parts[part] = node
            siblings = self._parts[part]["children"]
        return siblings

    def _add_criterion(self, parent: Node, criterion: Criterion, place: Callable[[Path], Path]) -> None:
        is_band = criterion.shapes[:1] == (Shape.HOLISTIC,)
        kind = types.SymbolKind.EnumMember if is_band else types.SymbolKind.Field
        scale, levels, fields = criterion.scale, criterion.levels, criterion.fields or {}
        bands = [
            (
                each.path[:-1] if each.path[-1] == "score_range" else each.path,
                " to ".join("?" if bound is None else str(bound) for bound in (each.lower, each.upper)),
                each.outcome,
            )
            for each in (scale.bands if scale else ())
        ]
        if is_band and scale:
            name, detail, bands = bands[0][1] if bands else "?", criterion.outcome, []
        else:
            name, detail = _clip(criterion.id), "" if scale or (levels and SPAN not in fields) else criterion.outcome
            for each in (level for level in levels or () if level.outcome or level.name or SPAN not in fields):
                named = " ".join(filter(None, (str(each.number), _clip(each.name or ""))))
                bands.append((each.path, named, each.outcome))
        if node := self._add(parent["children"], name, kind, place(criterion.path), detail):
            for path, name, outcome in bands:
                self._add(node["children"], name, types.SymbolKind.EnumMember, place(path), outcome)

    def _add(
        self, siblings: list[Node], name: str, kind: types.SymbolKind, path: Path, detail: str | None = ""
    ) -> Node | None:
        """Add the node at a path to its siblings; return None if an alias stands there."""
        extent = self._extents.get(path) if path else self._document.span(())
        if extent is None:
            return None
        head = self._document.span(path, Part.KEY if path and isinstance(path[-1], str) else Part.ENTRY)
        if not (extent.start <= head.start and head.end <= extent.end):
            head = extent
        node: Node = {
            "name": name or "?",
            "kind": kind.value,
            "range": self._text.write_range(extent),
            "selectionRange": self._text.write_range(head),
            **({"detail": told} if (told := _clip(detail or "")) else {}),
            "children": [],
        }
        siblings.append(node)
        return node


def _clip(text: str) -> str:
    return shorten(visible(" ".join(text.split())), _LONGEST)


_CASE = types.SymbolKind.Object.value
_FOUND = (_CASE, types.SymbolKind.Field.value)  # what a search finds: cases and criteria


def _list_nodes(
    nodes: Iterable[Node], uri: str, within: str | None = None, *, is_search: bool
) -> Iterator[dict[str, Any]]:
    """Yield the entries of an outline with the name of what holds each; with `is_search`, that of its case."""
    for node in nodes:
        name, kind = node["name"], node["kind"]
        if not is_search or kind in _FOUND:
            holder = {} if within is None else {"containerName": within}
            yield {"location": {"uri": uri, "range": node["range"]}, "name": name, "kind": kind, **holder}
        yield from _list_nodes(
            node["children"], uri, within if is_search and kind != _CASE else name, is_search=is_search
        )


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
            states |= {path: each.text for path, each in opened.items() if folder_of(path).options.enable}
            known = {
                path: kept if (kept := self._known.get(path)) and kept[0] == state else (state, _read(library, path))
                for path, state in sorted(states.items())
            }
            self._known = known
            return [each for _, symbols in known.values() for each in symbols if matches(each["name"].casefold())]

        return Plain(await documents.run(search))


def _read(library: Library, path: str) -> list[dict[str, Any]]:
    try:
        state = library.find_state(path)
    except UnreadError:
        return []  # its reason is among the diagnostics
    # Editors show the name of the file themselves.
    return list(_list_nodes(make_outline(Analysis(state)), state.uri, is_search=True)) if state else []

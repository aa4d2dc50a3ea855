"""Answer searches for cases and criteria in all files of the editor's folders."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, NamedTuple

from lsprotocol import types

from rubric_lint.lsp.answers.symbols import Node, make_outline
from rubric_lint.lsp.server.analysis import Analysis
from rubric_lint.lsp.server.library import Library, UnreadError
from rubric_lint.lsp.server.open_documents import OpenDocuments
from rubric_lint.lsp.server.protocol import Connection
from rubric_lint.lsp.server.unopened import find_files

_KINDS = (types.SymbolKind.Object, types.SymbolKind.Field)  # cases and criteria


class _Symbol(NamedTuple):
    name: str
    kind: types.SymbolKind
    place: types.Range
    within: str | None
    """The case that it is in. Editors show the name of the file themselves."""


class _Kept(NamedTuple):
    """The symbols of a file, and what tells whether it has changed: its stamp, or its text in the editor."""

    state: object
    uri: str
    symbols: list[_Symbol]


class WorkspaceSymbols:
    """Searches for one client; a file is read again only when it has changed."""

    def __init__(
        self,
        connection: Connection,
        desk: OpenDocuments,
        guard: Callable[[Callable[[Any], Awaitable[Any]]], Callable[[Any], Awaitable[Any]]],
    ) -> None:
        self._connection = connection
        self._desk = desk
        self._kept: dict[str, _Kept] = {}
        connection.feature(types.WORKSPACE_SYMBOL)(guard(self.answer))

    async def answer(self, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        """Return the symbols that match a query, ordered by file."""
        await self._desk.wait_for_settings()
        opened = self._desk.find_open_files()
        encoding = self._connection.workspace.position_encoding or "utf-16"
        library = Library(self._desk.workspace, opened, encoding)

        def search() -> list[types.WorkspaceSymbol]:
            states: dict[str, object] = {}
            for folder in self._desk.workspace.folders:
                if folder.path and folder.options.enable and folder.options.unopened_files:
                    states |= {file.path: file.stamp for file in find_files(folder) if not file.reason}
            states |= {path: each.text for path, each in opened.items() if not self._desk.is_switched_off(path)}
            for path in self._kept.keys() - states.keys():
                del self._kept[path]
            return list(_select(params.query, (self._look(library, path, states[path]) for path in sorted(states))))

        return await self._desk.run_across(search)

    def _look(self, library: Library, path: str, state: object) -> _Kept:
        kept = self._kept.get(path)
        if kept is None or kept.state != state:
            kept = self._kept[path] = _Kept(state, *_read(library, path))
        return kept


def _read(library: Library, path: str) -> tuple[str, list[_Symbol]]:
    try:
        if (state := library.find_state(path)) is None:
            return "", []
    except UnreadError:
        return "", []  # its reason is among the diagnostics
    nodes = make_outline(Analysis(state))
    return state.uri, [
        _Symbol(node.name, node.kind, state.text.range(node.extent), within)
        for node, within in _list_nodes(nodes, None)
    ]


def _list_nodes(nodes: Iterable[Node], within: str | None) -> Iterator[tuple[Node, str | None]]:
    for node in nodes:
        if node.kind in _KINDS:
            yield node, within
        yield from _list_nodes(node.children, node.name if node.kind is types.SymbolKind.Object else within)


def _select(query: str, files: Iterable[_Kept]) -> Iterator[types.WorkspaceSymbol]:
    wanted = query.casefold()
    for file in files:
        for symbol in file.symbols:
            if _matches(wanted, symbol.name.casefold()):
                yield types.WorkspaceSymbol(
                    location=types.Location(file.uri, symbol.place),
                    name=symbol.name,
                    kind=symbol.kind,
                    container_name=symbol.within,
                )


def _matches(wanted: str, name: str) -> bool:
    """Return whether a name has the characters of a query, in order."""
    rest = iter(name)
    return all(character in rest for character in wanted if not character.isspace())

"""Answer requests about the ids of criteria: definition, references, highlights and rename."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from rubric_lint.lsp.answers.id_sites import list_record_sites, list_records, list_test_sites
from rubric_lint.lsp.answers.ids import Target, find_targets, find_uses
from rubric_lint.lsp.answers.renaming import FileEdit, RefusedError, check_target, rename
from rubric_lint.lsp.server.library import Library, Reading, UnreadError
from rubric_lint.lsp.server.open_documents import OpenDocuments
from rubric_lint.lsp.server.protocol import Connection
from rubric_lint.lsp.server.uris import path_of
from rubric_lint.text.source import Span

Handler = Callable[[Any], Awaitable[Any]]

_REQUEST_FAILED = -32803  # the protocol's code for a request that is sound, but cannot be met


class _Found(NamedTuple):
    """What is at a place: the file, and the criteria whose id is there, each with the place of that id."""

    library: Library
    reading: Reading
    targets: Sequence[tuple[Target, Span]]


class IdRequests:
    """Answers for one client; an id of a file that is not on the disk is not looked for."""

    def __init__(self, connection: Connection, desk: OpenDocuments, guard: Callable[[Handler], Handler]) -> None:
        self._connection = connection
        self._desk = desk
        features: dict[str, Handler] = {
            types.TEXT_DOCUMENT_DEFINITION: self._define,
            types.TEXT_DOCUMENT_REFERENCES: self._refer,
            types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: self._highlight,
            types.TEXT_DOCUMENT_PREPARE_RENAME: self._prepare,
            types.TEXT_DOCUMENT_RENAME: self._rename,
        }
        for name, answer in features.items():
            aloud = name in (types.TEXT_DOCUMENT_PREPARE_RENAME, types.TEXT_DOCUMENT_RENAME)
            connection.feature(name)(guard(_answer_refusals(answer, aloud=aloud)))

    async def _ask(self, params: Any, task: Callable[[_Found], Any], *, quick: bool = False) -> Any:
        """Run a task on what is at the place of a request; return None if the document is not open.

        `quick`: syntax errors in it do not matter, so what is known of it is not read again.

        Raises:
            RefusedError: if the document is not a file, or cannot be read.
        """
        await self._desk.wait_for_settings()
        path, position = path_of(params.text_document.uri), params.position
        opened = self._desk.find_open_files()
        if path is None:
            raise RefusedError("save this document as a file first; ids are looked up in files")
        if path not in opened or self._desk.is_switched_off(path):
            return None
        encoding = self._connection.workspace.position_encoding or "utf-16"
        library = Library(self._desk.workspace, opened, encoding)
        analysis = await self._desk.analysis(params.text_document.uri) if quick else None

        def answer() -> Any:
            if analysis:
                library.know(analysis, path)
            try:
                reading = library.read(path)
            except UnreadError as fault:
                raise RefusedError(str(fault)) from None
            targets = find_targets(library, reading, reading.text.offset(position))
            return task(_Found(library, reading, targets))

        return await self._desk.run_across(answer)

    async def _define(self, params: types.DefinitionParams) -> list[types.Location] | None:
        def task(found: _Found) -> list[types.Location] | None:
            return _locate((target.reading, target.span) for target, _ in found.targets)

        return await self._ask(params, task, quick=True)  # type: ignore[no-any-return]

    async def _refer(self, params: types.ReferenceParams) -> list[types.Location] | None:
        def task(found: _Found) -> list[types.Location] | None:
            places: list[tuple[Reading, Span]] = []
            for target, _ in found.targets:
                if params.context.include_declaration:
                    places.append((target.reading, target.span))
                uses = find_uses(found.library, target, _records_in(found, target)).found
                places += [(use.reading, use.span) for use in uses if use.site.is_use]
            return _locate(places)

        return await self._ask(params, task)  # type: ignore[no-any-return]

    async def _highlight(self, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        def task(found: _Found) -> list[types.DocumentHighlight] | None:
            reading = found.reading
            spans: dict[Span, types.DocumentHighlightKind] = {}
            for target, _ in found.targets:
                if target.reading.path == reading.path:
                    spans[target.span] = types.DocumentHighlightKind.Write
                for span in _find_beside(reading, target.criterion.id):
                    spans.setdefault(span, types.DocumentHighlightKind.Read)
            return [
                types.DocumentHighlight(reading.text.range(span), kind) for span, kind in sorted(spans.items())
            ] or None

        return await self._ask(params, task)  # type: ignore[no-any-return]

    async def _prepare(self, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        def task(found: _Found) -> types.PrepareRenamePlaceholder:
            target = _choose(found)
            return types.PrepareRenamePlaceholder(found.reading.text.range(found.targets[0][1]), target.criterion.id)

        return await self._ask(params, task)  # type: ignore[no-any-return]

    async def _rename(self, params: types.RenameParams) -> types.WorkspaceEdit | None:
        def task(found: _Found) -> list[FileEdit]:
            target = _choose(found)
            return rename(found.library, target, params.new_name, _records_in(found, target))

        files = await self._ask(params, task)
        return None if files is None else self._write(files)

    def _write(self, files: list[FileEdit]) -> types.WorkspaceEdit:
        if not self._connection.can("workspace.workspace_edit.document_changes"):
            return types.WorkspaceEdit(changes={file.uri: file.edits for file in files})
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(file.uri, file.version), list(file.edits)
                )
                for file in files
            ]
        )


def _choose(found: _Found) -> Target:
    """Return the criterion to rename.

    Raises:
        RefusedError: if there is none, perhaps because of a syntax error, or it cannot be renamed.
    """
    reading = found.reading
    if reading.faults and not found.targets:
        raise RefusedError(f"{reading.name_line(reading.faults[0].span.start)}: {reading.faults[0].message}")
    return check_target([target for target, _ in found.targets])


def _answer_refusals(handle: Handler, *, aloud: bool) -> Handler:
    """Return a handler that answers a refusal with an error, which editors show, or with None if not `aloud`."""

    async def answer(params: Any) -> Any:
        try:
            return await handle(params)
        except RefusedError as fault:
            if not aloud:
                return None
            raise JsonRpcException(f"rubric-lint: {fault}", _REQUEST_FAILED) from None

    return answer


def _locate(places: Iterable[tuple[Reading, Span]]) -> list[types.Location] | None:
    """Return each place once; criteria that an alias repeats have the same one."""
    unique = {(reading.uri, span): reading for reading, span in places}
    return [types.Location(uri, reading.text.range(span)) for (uri, span), reading in unique.items()] or None


def _records_in(found: _Found, target: Target) -> str:
    """Return the file of a request if it has records of the rubric."""
    is_other = found.reading.path != target.reading.path and not found.reading.settings.is_test_file
    return found.reading.path if is_other else ""


def _find_beside(reading: Reading, name: str) -> list[Span]:
    """Return the uses of an id in a file with tests or records."""
    spans = []
    for document in reading.documents:
        if reading.settings.is_test_file:
            sites = list(list_test_sites(document.data))
        else:
            sites = [site for path, record in list_records(document.data) for site in list_record_sites(record, path)]
        spans += [site.span(document) for site in sites if site.id == name and site.is_use]
    return spans

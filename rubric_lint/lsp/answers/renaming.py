"""Answer requests about the ids of criteria: definition, references, highlights and rename."""

# Paths are str here, as in project/files.py.
# ruff: noqa: PTH119

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from rubric_lint.edits.intents import Intent, RenameKey, Repair, ReplaceValue
from rubric_lint.edits.lines import ObstacleError
from rubric_lint.edits.making import make_fix
from rubric_lint.fix.following import DataChange
from rubric_lint.fix.proof import find_doubt
from rubric_lint.lint.engine import lint
from rubric_lint.lint.mending import find_sharing
from rubric_lint.lsp.answers.ids import (
    Meaning,
    Site,
    Target,
    Use,
    find_targets,
    find_uses,
    list_record_sites,
    list_records,
    list_targets,
    list_test_sites,
    read_meaning,
)
from rubric_lint.lsp.complete.snippets import write_scalar
from rubric_lint.lsp.server.documents import OpenDocuments
from rubric_lint.lsp.server.library import Library, Reading, UnreadError
from rubric_lint.lsp.server.positions import replace_surrogates
from rubric_lint.lsp.server.workspace import path_of
from rubric_lint.testing.recordings import HASHES
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path, pointer
from rubric_lint.text.source import Edit, Source, Span, splice

Answer = TypeVar("Answer")

_REQUEST_FAILED = -32803  # the protocol's code for a request that is sound, but cannot be met


class RefusedError(JsonRpcException):
    """A rename that is not possible, with the reason, which editors show."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"rubric-lint: {reason}", _REQUEST_FAILED)


_Changes = dict[str, tuple[Reading, dict[int, tuple[Document, list[Intent]]]]]
"""The intents by file, and in a file by document."""


def check_target(targets: Sequence[Target]) -> Target:
    """Return the criterion to rename.

    Raises:
        RefusedError: if there is none, or it cannot be renamed.
    """
    if not targets:
        raise RefusedError("put the cursor on the id of a criterion")
    target, *others = targets
    if any((other.reading.path, other.span) != (target.reading.path, target.span) for other in others):
        places = ", ".join(each.reading.name_line(each.span.start) for each in targets)
        raise RefusedError(f"this id may be that of several criteria ({places})")
    if target.place is None:
        place = target.reading.name_line(target.span.start)
        raise RefusedError(f"the criterion at {place} has no `id` of its own; give it one first")
    same_place = [each for each in list_targets(target.reading) if each.place and each.span == target.span]
    if target.criterion.borrows_id or len(same_place) > 1 or target.loaded.document.is_shared(target.place):
        raise RefusedError(f"the id at {target.reading.name_line(target.span.start)} is shared by an anchor or alias")
    return target


def rename(library: Library, target: Target, name: str, also: str = "") -> list[types.TextDocumentEdit]:
    """Return the edits that give a criterion another id in all files; `also` is a file with records of its rubric.

    Records that were judged by the rubric as it is now get the hashes of the renamed one, so that they still count.

    Raises:
        RefusedError: if another criterion has the id, a file cannot be read, or an edit cannot be proved.
    """
    old = target.criterion.id
    if not name.strip() or name != name.strip():
        raise RefusedError("an id cannot be empty, or begin or end with a space")
    if replace_surrogates(name) != name:
        raise RefusedError("an id cannot contain half a surrogate pair")
    if name == old:
        return []
    _check_rubric(target, name)
    uses = find_uses(library, target, also)
    if uses.obstacles:
        raise RefusedError("; ".join(uses.obstacles[:3]))
    changes: _Changes = {}
    _add(changes, target.reading, target.loaded.document, _intend(Site(target.place or (), old), name))
    new_rubric = _rewrite(target.reading, changes[target.reading.path][1])[0]
    _check_findings(target.reading, new_rubric)
    before = read_meaning(target.reading, target.loaded.name)
    after = read_meaning(target.reading, target.loaded.name, new_rubric)
    for use in uses.found:
        _check_collision(use, name)
        _add(changes, use.reading, use.document, _intend(use.site, name))
        for intent in _update_hashes(use, name, before, after):
            _add(changes, use.reading, use.document, intent)
    return [_write(reading, documents) for reading, documents in changes.values()]


def _check_rubric(target: Target, name: str) -> None:
    """Refuse an id that the rubric has, or one that two criteria have already."""
    others = [each for each in list_targets(target.reading) if each.loaded.name == target.loaded.name]
    for other in others:
        if other.criterion.path != target.criterion.path and other.criterion.id in (name, target.criterion.id):
            place = target.reading.name_line(other.span.start)
            raise RefusedError(f"the criterion at {place} has the id `{other.criterion.id}`")


def _check_findings(reading: Reading, new: str) -> None:
    """Refuse a text with findings that the one before it does not have."""
    before, after = (lint(reading.path, text.encode(), reading.settings) for text in (reading.source.text, new))
    known = Counter(finding.rule for finding in before.findings)
    for finding in after.findings:
        known[finding.rule] -= 1
        if known[finding.rule] < 0:
            raise RefusedError(f"{finding.rule}: {finding.message}")


def _check_collision(use: Use, name: str) -> None:
    """Refuse an id that is used beside this one already."""
    path, data = use.site.path, use.document
    if use.site.part is Part.KEY:
        is_there = name in data.value(path[:-1])
    elif path[-1] == "id":
        is_there = any(isinstance(each, dict) and each.get("id") == name for each in data.value(path[:-2]))
    else:
        is_there = name in data.value(path[:-1])
    if is_there:
        raise RefusedError(f"{use.reading.name_line(use.span.start)} has `{name}` beside `{use.site.id}` already")


def _intend(site: Site, name: str) -> Intent:
    return RenameKey(site.path, name) if site.part is Part.KEY else ReplaceValue(site.path, write_scalar(name))


def _update_hashes(use: Use, name: str, before: Meaning, after: Meaning) -> list[Intent]:
    """Return the intents that write the new hashes into a record of the rubric, so that its results stay valid."""
    if use.record is None or not before.hash or not after.hash:
        return []
    intents: list[Intent] = []
    for path, value in ((use.at, use.record), ((*use.at, "judge"), use.record.get("judge"))):
        if isinstance(value, dict) and value.get("rubric_hash") == before.hash:
            intents.append(ReplaceValue((*path, "rubric_hash"), after.hash))
    path, old = use.site.path, use.site.id
    if path[-2:] == (HASHES, old) and use.document.value(path) == before.criteria.get(old):
        intents.append(ReplaceValue(path, after.criteria[name]))
    return intents


def _add(changes: _Changes, reading: Reading, document: Document, intent: Intent) -> None:
    _, documents = changes.setdefault(reading.path, (reading, {}))
    _, intents = documents.setdefault(document.number or 0, (document, []))
    if intent not in intents:
        intents.append(intent)


def _rewrite(reading: Reading, documents: dict[int, tuple[Document, list[Intent]]]) -> tuple[str, list[Edit]]:
    """Return the new text of a file and its edits, proved.

    Raises:
        RefusedError: if there is a doubt.
    """
    edits: list[Edit] = []
    changes: list[DataChange] = []
    for document, intents in documents.values():
        try:
            fix = make_fix(find_sharing(document), Repair("rename", tuple(intents), safe=False))
        except ObstacleError as fault:
            place = reading.name_line(document.span(_path_of(intents[0])).start)
            raise RefusedError(f"{place}: {fault}") from None
        edits += fix.edits
        place_of = "" if document.number is None else f"/{document.number}"
        changes.append(DataChange(place_of + pointer(()), fix.intents, fix.edits, safe=False))
    new = splice(reading.source.text, sorted(edits))
    source = Source(reading.source.name, reading.source.text)
    if doubt := find_doubt(source, Source(source.name, new), changes, reading.settings):
        raise RefusedError(f"{os.path.basename(reading.path)}: {doubt}")
    return new, edits


def _path_of(intent: Intent) -> Path:
    return intent.path if isinstance(intent, RenameKey | ReplaceValue) else ()


def _write(reading: Reading, documents: dict[int, tuple[Document, list[Intent]]]) -> types.TextDocumentEdit:
    _, edits = _rewrite(reading, documents)
    document = types.OptionalVersionedTextDocumentIdentifier(reading.uri, reading.version)
    return types.TextDocumentEdit(document, [reading.text.edit(edit) for edit in sorted(edits)])


class _Found(NamedTuple):
    """What is at a place: the file, and the criteria whose id is there, each with the place of that id."""

    library: Library
    reading: Reading
    targets: Sequence[tuple[Target, Span]]


async def _find(
    documents: OpenDocuments, params: Any, task: Callable[[_Found], Answer], *, is_quiet: bool = False
) -> Answer | None:
    """Run a task on what is at the place of a request; return None if the document is not open.

    Raises:
        RefusedError: if the document is not a file, cannot be read, or the task refuses. With `is_quiet`, the answer is
            None instead: an editor would show a refusal to define what is not an id.
    """
    await documents.wait_for_settings()
    path, opened = path_of(params.text_document.uri), documents.find_open_files()
    if path is None and not is_quiet:
        raise RefusedError("save this document as a file first; ids are looked up in files")
    if path is None or path not in opened or documents.is_switched_off(path):
        return None
    library = Library(documents.workspace, opened, documents.encoding)

    def answer() -> Answer:
        try:
            reading = library.read(path)
        except UnreadError as fault:
            raise RefusedError(str(fault)) from None
        targets = find_targets(library, reading, reading.text.offset(params.position))
        return task(_Found(library, reading, targets))

    try:
        return await documents.run(answer)
    except RefusedError:
        if is_quiet:
            return None
        raise


async def answer_definition(documents: OpenDocuments, params: types.DefinitionParams) -> list[types.Location] | None:
    """Return the place of the id in its rubric."""

    def task(found: _Found) -> list[types.Location] | None:
        return _locate((target.reading, target.span) for target, _ in found.targets)

    return await _find(documents, params, task, is_quiet=True)


async def answer_references(documents: OpenDocuments, params: types.ReferenceParams) -> list[types.Location] | None:
    """Return the uses of the id in all files."""

    def task(found: _Found) -> list[types.Location] | None:
        places: list[tuple[Reading, Span]] = []
        for target, _ in found.targets:
            if params.context.include_declaration:
                places.append((target.reading, target.span))
            uses = find_uses(found.library, target, _records_in(found, target)).found
            places += [(use.reading, use.span) for use in uses if use.site.is_use]
        return _locate(places)

    return await _find(documents, params, task, is_quiet=True)


async def answer_highlights(
    documents: OpenDocuments, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight] | None:
    """Return the uses of the id in the document."""

    def task(found: _Found) -> list[types.DocumentHighlight] | None:
        reading = found.reading
        spans: dict[Span, types.DocumentHighlightKind] = {}
        for target, _ in found.targets:
            if target.reading.path == reading.path:
                spans[target.span] = types.DocumentHighlightKind.Write
            for span in _find_beside(reading, target.criterion.id):
                spans.setdefault(span, types.DocumentHighlightKind.Read)
        return [types.DocumentHighlight(reading.text.range(span), kind) for span, kind in sorted(spans.items())] or None

    return await _find(documents, params, task, is_quiet=True)


async def prepare_rename(
    documents: OpenDocuments, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    """Return the id to rename, and its place."""

    def task(found: _Found) -> types.PrepareRenamePlaceholder:
        target = _choose(found)
        return types.PrepareRenamePlaceholder(found.reading.text.range(found.targets[0][1]), target.criterion.id)

    return await _find(documents, params, task)


async def answer_rename(documents: OpenDocuments, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Return the edits of all files."""

    def task(found: _Found) -> list[types.TextDocumentEdit]:
        target = _choose(found)
        return rename(found.library, target, params.new_name, _records_in(found, target))

    files = await _find(documents, params, task)
    if files is None or documents.connection.can("workspace.workspace_edit.document_changes"):
        return None if files is None else types.WorkspaceEdit(document_changes=list(files))
    return types.WorkspaceEdit(changes={file.text_document.uri: list(file.edits) for file in files})  # type: ignore[arg-type]


def _choose(found: _Found) -> Target:
    """Return the criterion to rename.

    Raises:
        RefusedError: if there is none, perhaps because of a syntax error, or it cannot be renamed.
    """
    reading = found.reading
    if reading.faults and not found.targets:
        raise RefusedError(f"{reading.name_line(reading.faults[0].span.start)}: {reading.faults[0].message}")
    return check_target([target for target, _ in found.targets])


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

"""Answer requests about the id of a criterion: its definition, its uses in rubrics, tests and outputs, renames."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from rubric_lint.assess.rubric_tests.reading import find_recordings, is_test_file, list_needed
from rubric_lint.editor.answers.cards import read_reference
from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.editor.server.library import Library, LibraryFile, UnreadError
from rubric_lint.editor.server.workspace import identify, path_of
from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix.new_findings import DataChange
from rubric_lint.lint.fix.proof import find_proof_failure
from rubric_lint.lint.fix_builder import build_alias_graph
from rubric_lint.lint.project.paths import exists, make_absolute
from rubric_lint.model.criterion import Criterion
from rubric_lint.model.messages import visible, whole
from rubric_lint.scoring.loading import LoadedRubric, RubricError, load_models, name_rubrics
from rubric_lint.scoring.output import read_judged_by
from rubric_lint.source.document import Document
from rubric_lint.source.edits.intents import RenameKey, Repair, ReplaceValue
from rubric_lint.source.edits.lines import ObstacleError
from rubric_lint.source.edits.making import make_fix
from rubric_lint.source.path import Part, Path
from rubric_lint.source.scalar import write_scalar
from rubric_lint.source.source import Edit, Source, Span, splice, stem_of

_REQUEST_FAILED = -32803  # the protocol's code for a request that is sound, but cannot be met
_TEXT = "this output is a string, in which ids cannot be renamed"

# Where ids are written: `*` is each item of a list, and `{}` at the end each key of a mapping.
_OF_TEST = ("expect/gates/{}", "expect/groups/{}", "expect/criteria/{}", "output/checks/*/id")
_OF_RECORD = ("checks/*/id", "outputs/*/checks/*/id", "output/checks/*/id", "criteria/*/id", "groups/*/id")


class RequestRefusedError(JsonRpcException):
    """A rename that is not possible, with the reason, which editors show."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"rubric-lint: {reason}", _REQUEST_FAILED)


def inside_quotes(document: Document, span: Span) -> Span:
    """Return a span without the quotes of its text, if it has any."""
    is_quoted = span.end - span.start > 1 and document.source.text[span.start] in "\"'"
    return Span(span.start + 1, span.end - 1) if is_quoted else span


def _find_matching(data: Any, steps: Sequence[str], path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield what matches a pattern such as `checks/*/id` in data, with its path; `path` is that of the data."""
    if not steps:
        yield path, data
    elif steps[0] == "{}":
        if isinstance(data, dict):
            for key in data:
                yield (*path, key), key
    elif steps[0] == "*":
        if isinstance(data, list):
            for number, item in enumerate(data):
                yield from _find_matching(item, steps[1:], (*path, number))
    elif isinstance(data, dict) and steps[0] in data:
        yield from _find_matching(data[steps[0]], steps[1:], (*path, steps[0]))


def _list_records(data: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the records of a document with their paths: all of a list, or the document itself."""
    if isinstance(data, dict):
        yield (), data
    if isinstance(data, list):
        for number, item in enumerate(data):
            if isinstance(item, dict):
                yield (number,), item


@dataclass(frozen=True, slots=True)
class IdOwner:
    """A criterion at `path`, or a group, whose id is a path of ids, with which those of what is in it begin.

    `place` is the path of its id in the document, None if the id is not written there. `borrows_id`: it comes from an
    alias or a merge key.
    """

    reading: LibraryFile
    loaded: LoadedRubric
    id: str
    path: Path
    place: Path | None
    borrows_id: bool = False
    is_group: bool = False

    @property
    def prefix(self) -> str:
        """The ids of the groups around it, with which its id begins: `code/`."""
        written = "" if self.place is None else self.loaded.document.value(self.place)
        return self.id[: len(self.id) - len(written)]

    def owns(self, name: str) -> bool:
        """Return whether an id is its own, or that of something in it."""
        return name == self.id or (self.is_group and name.startswith(f"{self.id}/"))

    @property
    def span(self) -> Span:
        """The id, or the criterion if it has none of its own."""
        document = self.loaded.document
        if self.place is not None:
            return inside_quotes(document, document.span(self.place))
        return document.span(self.loaded.rubric.place(self.path), Part.ENTRY)


@dataclass(frozen=True, slots=True)
class IdUse:
    """An id in a document of a file: the key or the value at `path`.

    `record` is the judge output that it is in, if any, and `at` the path of that or of its test.
    """

    reading: LibraryFile
    document: Document
    path: Path
    id: str
    part: Part
    record: dict[str, Any] | None
    at: Path

    @property
    def span(self) -> Span:
        """Its place, without quotes."""
        return inside_quotes(self.document, self.document.span(self.path, self.part))


@dataclass(frozen=True, slots=True)
class IdUses:
    """The uses of an id outside its rubric, and what may hide others in tests: a file or a line with the reason."""

    found: list[IdUse]
    obstacles: list[str]


def hash_rubric(reading: LibraryFile, name: str) -> str:
    """Return the hash of a rubric of a file; empty if it has errors."""
    try:
        return load_models(reading.path, reading.source.text.encode(), reading.settings)[name].prepare().hash
    except (RubricError, KeyError):
        return ""


def list_owners(reading: LibraryFile, *, claimed: bool = False) -> list[IdOwner]:
    """Return all criteria and groups of a file. `claimed`: a test or a record says that it holds rubrics."""
    found: list[IdOwner] = []
    for loaded in name_rubrics(reading.path, reading.build_rubrics(claimed=claimed)):
        for criterion in loaded.rubric.criteria:
            place = _find_place(loaded, criterion)
            found.append(IdOwner(reading, loaded, criterion.id, criterion.path, place, criterion.borrows_id))
        named = [group for group in loaded.rubric.groups if "id" in loaded.document.value(group.path)]
        found += [IdOwner(reading, loaded, group.id, group.path, (*group.path, "id"), is_group=True) for group in named]
    return found


def _find_place(loaded: LoadedRubric, criterion: Criterion) -> Path | None:
    path = (*criterion.path, "id")
    try:
        place = loaded.rubric.place(path)
        written = loaded.document.value(place) if criterion.has_own_id and place else None
        is_in_group = bool(loaded.rubric.groups) and criterion.id.endswith(f"/{written}")
        is_there = isinstance(written, str) and (written == criterion.id or is_in_group)
    except (KeyError, IndexError, TypeError):
        return None
    return place if is_there else None


def find_owners(library: Library, reading: LibraryFile, offset: int) -> list[tuple[IdOwner, Span]]:
    """Return the criteria whose id is at an offset of a file, each with the place of the id there."""
    is_test = reading.settings.is_test_file
    own = [] if is_test else [(owner, owner.span) for owner in list_owners(reading) if owner.place is not None]
    found = [(owner, span) for owner, span in own if span.start <= offset <= span.end]
    if found:
        return found
    documents = reading.documents[:1] if is_test else reading.documents
    for document in documents:
        if not document.span(()).start <= offset <= document.span(()).end:
            continue
        for use in _list_uses(reading, document, is_test=is_test):
            span = use.span
            if span.start <= offset <= span.end:
                if use.record is None:
                    owners = _find_tested(library, reading.path, document)
                else:
                    owners = _find_judged(library, reading.path, use.record, use.id)
                found += [(owner, span) for owner in owners if owner.id == use.id]
    return found


def _list_uses(reading: LibraryFile, document: Document, *, is_test: bool) -> Iterator[IdUse]:
    """Yield the ids in a document of a file: in what its tests expect and in their outputs, or in its records."""
    places = _find_matching(document.data, ("tests", "*"), ()) if is_test else _list_records(document.data)
    patterns = _OF_TEST if is_test else _OF_RECORD
    for at, data in places:
        record = None if is_test else data
        for pattern in patterns:
            part = Part.KEY if pattern.endswith("{}") else Part.VALUE
            for path, name in _find_matching(data, pattern.split("/"), at):
                if isinstance(name, str):
                    yield IdUse(reading, document, path, name, part, record, at)


def _find_tested(library: Library, file: str, document: Document) -> list[IdOwner]:
    """Return the criteria of the rubric that a file with tests names."""
    reference = read_reference(file, document.data)
    if reference is None:
        return []
    path, name = reference
    try:
        owners = list_owners(library.read(library.find(str(make_absolute(path)))), claimed=True)
    except UnreadError:
        return []
    names = {owner.loaded.name for owner in owners}
    return [owner for owner in owners if owner.loaded.name == name or (not name and len(names) == 1)]


def _find_judged(library: Library, file: str, record: dict[str, Any], name: str) -> list[IdOwner]:
    """Return the criteria of an id in a record: of the rubric whose tests name the file, or that the record is of."""
    files = library.list_once(library.list_files(file))
    found: list[IdOwner] = []
    for path in filter(is_test_file, files):
        with suppress(UnreadError):
            for document in library.read(path).documents[:1]:
                if identify(file) in map(identify, list_needed(path, document)[1:]):
                    found += _find_tested(library, path, document)
    others = [] if found else files
    for path in others:
        if path == file or is_test_file(path) or path.lower().endswith(".jsonl"):
            continue
        with suppress(UnreadError):
            owners = list_owners(library.read(path)) if library.may_hold(path, name) else []
            for owner in owners:
                if owner.id == name:
                    meaning = hash_rubric(owner.reading, owner.loaded.name)
                    if belongs(record, owner.loaded, meaning, file, is_recorded=False):
                        found.append(owner)
    rubric_name = record.get("rubric")
    unique = {
        (owner.reading.path, owner.loaded.name, owner.path): owner
        for owner in found
        if owner.id == name and rubric_name in (None, owner.loaded.name)
    }
    return list(unique.values())


def belongs(record: dict[str, Any], loaded: LoadedRubric, meaning: str, file: str, *, is_recorded: bool | None) -> bool:
    """Return whether a record is of a rubric: by the name that it gives, else by its hash or its file.

    `is_recorded`: a test names the file; None: only its records can say the rubric.
    """
    name, judged_by = record.get("rubric"), read_judged_by(record)
    if is_recorded is None:
        return bool(meaning) and judged_by == meaning and name in (None, loaded.name)
    if name is not None:
        return bool(name == loaded.name)
    return is_recorded or judged_by == meaning or (judged_by is None and stem_of(file) == stem_of(loaded.name))


def find_uses(library: Library, owner: IdOwner, also: str = "") -> IdUses:
    """Find the uses of an id in all files that belong to its rubric; `also` is another file with records of it."""
    uses = IdUses([], [])
    path = owner.reading.path
    linked = dict.fromkeys(filter(None, [*library.find_judged(path), find_recordings(path), also]), False)
    for file in library.list_once(filter(is_test_file, library.list_files(path))):
        try:
            linked |= dict.fromkeys(_add_tests(uses, library, file, owner), True)
        except UnreadError as fault:
            uses.obstacles.append(f"{FilePath(file).name}: {fault}")
    meaning = hash_rubric(owner.reading, owner.loaded.name)
    by_hash = []
    files = library.list_files(path) if meaning else []
    for file in files:
        if file.lower().endswith((".jsonl", ".json")):
            with suppress(UnreadError):  # nothing says that such a file belongs to the rubric
                if library.holds(file, meaning):
                    by_hash.append(file)
    recorded = {identify(file): is_recorded for file, is_recorded in sorted(linked.items(), key=lambda link: link[1])}
    for file in library.list_once([*linked, *by_hash]):
        if exists(file) or file in library.files:
            _add_records(uses, library, file, owner, meaning, is_recorded=recorded.get(identify(file)))
    return uses


def _add_tests(uses: IdUses, library: Library, file: str, owner: IdOwner) -> list[str]:
    """Add the uses in a file of tests, or raise UnreadError; return its files with records if it tests the rubric."""
    name = owner.id
    needed: list[str] = []
    is_used = library.may_hold(file, name)
    if not is_used and not library.may_hold(file, FilePath(owner.reading.path).name):
        return needed
    reading = library.read(file)
    if reading.faults and is_used:
        uses.obstacles.append(f"{reading.name_line(reading.faults[0].span.start)}: {reading.faults[0].message}")
    for document in reading.documents[:1]:
        reference = read_reference(file, document.data)
        if reference is None or identify(reference[0]) != identify(owner.reading.path):
            continue
        names = {owner.loaded.name} if reference[1] else {other.loaded.name for other in list_owners(owner.reading)}
        if names == {reference[1] or owner.loaded.name}:
            needed = list_needed(file, document)[1:]
            found = _list_uses(reading, document, is_test=True)
            uses.found.extend(use for use in found if owner.owns(use.id))
            for number, test in enumerate(document.data.get("tests") or ()):
                if isinstance(test, dict) and isinstance(test.get("output"), str) and name in test["output"]:
                    start = document.span(("tests", number, "output")).start
                    uses.obstacles.append(f"{reading.name_line(start)}: {_TEXT}")
    return needed


def _add_records(
    uses: IdUses, library: Library, file: str, owner: IdOwner, meaning: str, *, is_recorded: bool | None
) -> None:
    """Add the uses in a file of records; see `belongs`."""
    name = owner.id
    with suppress(UnreadError):
        if not file.lower().endswith((".json", ".jsonl")) or not library.may_hold(file, name):
            return
        reading = library.read(file)
        for document in reading.documents:
            mine = {
                at
                for at, record in _list_records(document.data)
                if belongs(record, owner.loaded, meaning, file, is_recorded=is_recorded)
            }
            found = _list_uses(reading, document, is_test=False)
            uses.found.extend(use for use in found if owner.owns(use.id) and use.at in mine)


_Intent = RenameKey | ReplaceValue
_Changes = dict[str, tuple[LibraryFile, dict[Document, list[_Intent]]]]
"""The intents by file, and in a file by document."""


def rename(library: Library, owner: IdOwner, name: str) -> tuple[list[types.TextDocumentEdit], list[str]]:
    """Give a criterion or a group another id in its rubric and in the tests of that.

    Judge outputs stay as they were recorded: return the edits, and the files of judge outputs that have the old id. An
    id in a group may begin with that of the group.

    Raises:
        RequestRefusedError: if another criterion has the id, a file cannot be read, or an edit cannot be proved.
    """
    reading, old = owner.reading, owner.id
    if not name.strip() or name != name.strip():
        raise RequestRefusedError("an id cannot be empty, or begin or end with a space")
    if whole(name) != name:
        raise RequestRefusedError("an id cannot contain half a surrogate pair")
    name = name.removeprefix(owner.prefix)
    new = owner.prefix + name
    if new == old:
        return [], []
    for other in list_owners(reading):
        is_beside = other.loaded.name == owner.loaded.name and other.path != owner.path
        if is_beside and other.id in (new, old):
            place = reading.name_line(other.span.start)
            raise RequestRefusedError(f"the criterion at {place} has the id `{other.id}`")
    uses = find_uses(library, owner)
    if uses.obstacles:
        raise RequestRefusedError("; ".join(uses.obstacles[:3]))
    changes: _Changes = {}
    _add(changes, reading, owner.loaded.document, ReplaceValue(owner.place or (), write_scalar(name)))
    _refuse_new_findings(reading, _rewrite(reading, changes[reading.path][1])[0])
    for use in uses.found:
        if use.record is None:
            _add(changes, use.reading, use.document, _change_use(use, new + use.id[len(old) :]))
    files = [
        types.TextDocumentEdit(
            types.OptionalVersionedTextDocumentIdentifier(changed.uri, changed.version),
            [changed.text.edit(edit) for edit in sorted(_rewrite(changed, documents)[1])],
        )
        for changed, documents in changes.values()
    ]
    return files, sorted({use.reading.path for use in uses.found if use.record is not None})


def _refuse_new_findings(reading: LibraryFile, new: str) -> None:
    """Refuse a text with findings that the one before it does not have."""
    before = lint(reading.path, reading.source.text.encode(), reading.settings)
    after = lint(reading.path, new.encode(), reading.settings)
    known = Counter(finding.rule for finding in before.findings)
    for finding in after.findings:
        known[finding.rule] -= 1
        if known[finding.rule] < 0:
            raise RequestRefusedError(f"{finding.rule}: {finding.message}")


def _change_use(use: IdUse, name: str) -> _Intent:
    """Return the intent that renames a use; raise RequestRefusedError if the new id is there."""
    path = use.path
    siblings = use.document.value(path[:-1])
    if use.part is Part.VALUE and path[-1] == "id":
        siblings = [item.get("id") for item in use.document.value(path[:-2]) if isinstance(item, dict)]
    if name in siblings:
        raise RequestRefusedError(f"{use.reading.name_line(use.span.start)} has `{name}` next to `{use.id}` already")
    return RenameKey(path, name) if use.part is Part.KEY else ReplaceValue(path, write_scalar(name))


def _add(changes: _Changes, reading: LibraryFile, document: Document, intent: _Intent) -> None:
    intents = changes.setdefault(reading.path, (reading, {}))[1].setdefault(document, [])
    if intent not in intents:
        intents.append(intent)


def _rewrite(reading: LibraryFile, documents: dict[Document, list[_Intent]]) -> tuple[str, list[Edit]]:
    """Return the new text of a file and its edits, proved; raise RequestRefusedError if there is a doubt."""
    edits: list[Edit] = []
    changes: list[DataChange] = []
    for document, intents in documents.items():
        try:
            fix = make_fix(build_alias_graph(document), Repair("rename", tuple(intents), safe=False))
        except ObstacleError as fault:
            place = reading.name_line(document.span(intents[0].path).start)
            raise RequestRefusedError(f"{place}: {fault}") from None
        edits += fix.edits
        changes.append(DataChange(document.pointer(()), fix.intents, fix.edits, safe=False))
    new = splice(reading.source.text, sorted(edits))
    source = Source(reading.source.name, reading.source.text)
    doubt = find_proof_failure(source, Source(source.name, new), changes, reading.settings)
    if doubt:
        raise RequestRefusedError(f"{FilePath(reading.path).name}: {doubt}")
    return new, edits


@dataclass(frozen=True, slots=True)
class _IdAtCursor:
    """What is at a place: the file, and the criteria whose id is there, each with the place of that id."""

    library: Library
    reading: LibraryFile
    owners: Sequence[tuple[IdOwner, Span]]

    def choose(self) -> IdOwner:
        """Return the criterion to rename; raise RequestRefusedError if there is none, or if it cannot be renamed."""
        if not self.owners:
            for fault in self.reading.faults[:1]:
                raise RequestRefusedError(f"{self.reading.name_line(fault.span.start)}: {fault.message}")
            raise RequestRefusedError("put the cursor on the id of a criterion")
        (owner, _), *others = self.owners
        if self.records_of(owner):
            raise RequestRefusedError(
                "judge outputs stay as they were recorded; rename the id in the rubric or in its tests"
            )
        reading, line = owner.reading, owner.reading.name_line(owner.span.start)
        if any((other.reading.path, other.span) != (reading.path, owner.span) for other, _ in others):
            places = ", ".join(owner.reading.name_line(owner.span.start) for owner, _ in self.owners)
            raise RequestRefusedError(f"this id may be that of several criteria ({places})")
        if owner.place is None:
            raise RequestRefusedError(f"the criterion at {line} has no `id` of its own; give it one first")
        same_place = [other for other in list_owners(reading) if other.place and other.span == owner.span]
        if owner.borrows_id or len(same_place) > 1 or owner.loaded.document.is_shared(owner.place):
            raise RequestRefusedError(f"the id at {line} is shared by an anchor or alias")
        return owner

    def records_of(self, owner: IdOwner) -> str:
        """Return the file of the request if it has records of the rubric."""
        is_other = self.reading.path != owner.reading.path and not self.reading.settings.is_test_file
        return self.reading.path if is_other else ""


_Handler = Callable[[OpenDocuments, Any], Awaitable[Any]]


def _about_id(task: Callable[[_IdAtCursor, Any], Any], *, is_quiet: bool) -> _Handler:
    """Return a handler that runs a task on what is at the place of a request; it answers None about what is not open.

    It refuses if the document is not a file, cannot be read, or the task refuses. With `is_quiet`, the answer is None
    instead: an editor would show a refusal to define what is not an id.
    """

    async def handle(documents: OpenDocuments, params: Any) -> Any:
        await documents.is_ready.wait()
        path, opened = path_of(params.text_document.uri), documents.find_open_files()
        if path is None and not is_quiet:
            raise RequestRefusedError("save this document as a file first; ids are looked up in files")
        if path is None or path not in opened or not documents.workspace.folder_of(path).options.enable:
            return None
        library = Library(documents.workspace, opened, documents.encoding)

        def answer() -> Any:
            try:
                reading = library.read(path)
            except UnreadError as fault:
                raise RequestRefusedError(str(fault)) from None
            owners = find_owners(library, reading, reading.text.offset(params.position))
            return task(_IdAtCursor(library, reading, owners), params)

        try:
            return await documents.run(answer)
        except RequestRefusedError:
            if is_quiet:
                return None
            raise

    return handle


def _locate(places: Iterable[tuple[LibraryFile, Span]]) -> list[types.Location] | None:
    """Return each place once; criteria that an alias repeats have the same one."""
    unique = {(reading.uri, span): reading for reading, span in places}
    return [types.Location(uri, reading.text.range(span)) for (uri, span), reading in unique.items()] or None


@partial(_about_id, is_quiet=True)
def answer_definition(found: _IdAtCursor, _params: Any) -> list[types.Location] | None:
    """Return the place of the id in its rubric."""
    return _locate((owner.reading, owner.span) for owner, _ in found.owners)


@partial(_about_id, is_quiet=True)
def answer_references(found: _IdAtCursor, params: types.ReferenceParams) -> list[types.Location] | None:
    """Return the uses of the id in all files."""
    places: list[tuple[LibraryFile, Span]] = []
    for owner, _ in found.owners:
        if params.context.include_declaration:
            places.append((owner.reading, owner.span))
        uses = find_uses(found.library, owner, found.records_of(owner)).found
        places += [(use.reading, use.span) for use in uses]
    return _locate(places)


@partial(_about_id, is_quiet=True)
def answer_highlights(found: _IdAtCursor, _params: Any) -> list[types.DocumentHighlight] | None:
    """Return the uses of the id in the document."""
    reading = found.reading
    spans: dict[Span, types.DocumentHighlightKind] = {}
    for owner, _ in found.owners:
        if owner.reading.path == reading.path:
            spans[owner.span] = types.DocumentHighlightKind.Write
        for document in reading.documents:
            for use in _list_uses(reading, document, is_test=reading.settings.is_test_file):
                if use.id == owner.id:
                    spans.setdefault(use.span, types.DocumentHighlightKind.Read)
    return [types.DocumentHighlight(reading.text.range(span), kind) for span, kind in sorted(spans.items())] or None


@partial(_about_id, is_quiet=False)
def prepare_rename(found: _IdAtCursor, _params: Any) -> types.PrepareRenamePlaceholder:
    """Return the id to rename, and its place."""
    owner, span = found.choose(), found.owners[0][1]
    is_use = (owner.reading.path, owner.span) != (found.reading.path, span)
    written = owner.id if is_use else owner.id.removeprefix(owner.prefix)
    return types.PrepareRenamePlaceholder(found.reading.text.range(span), written)


@partial(_about_id, is_quiet=False)
def _rename(found: _IdAtCursor, params: types.RenameParams) -> tuple[list[types.TextDocumentEdit], list[str]]:
    return rename(found.library, found.choose(), params.new_name)


async def answer_rename(documents: OpenDocuments, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Return the edits of all files, and name the judge outputs that they do not reach."""
    renamed = await _rename(documents, params)
    if renamed is None:
        return None
    files, recordings = renamed
    if recordings:
        names = ", ".join(visible(FilePath(path).name) for path in recordings[:3])
        more = f" and {len(recordings) - 3} more" if len(recordings) > 3 else ""
        documents.connection.show_message(
            f"the judge outputs in {names}{more} still have the old id, so they no longer count; judge again"
        )
    if documents.connection.can("workspace.workspace_edit.document_changes"):
        return types.WorkspaceEdit(document_changes=files)
    # The edits of all these files are plain ones.
    return types.WorkspaceEdit(changes={file.text_document.uri: file.edits for file in files})

"""Convert a suite of AgentV and the files that it names together, or none of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rubric_lint.formats.agentv.files import (
    Effect,
    OtherFile,
    Unfollowed,
    find_other_files,
    find_values,
    format_unread,
)
from rubric_lint.formats.agentv.suites import CASES
from rubric_lint.lint.fix import Fixed, Left, Note
from rubric_lint.lint.project.files import File
from rubric_lint.model.finding import Finding, Severity
from rubric_lint.model.messages import list_names
from rubric_lint.rules import BY_NAME
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source


def convert_together(
    files: Sequence[tuple[File, Fixed]], target: str, failed: Sequence[str] = ()
) -> list[tuple[File, Fixed]]:
    """Return the outcomes of files that belong together; if one of them is in the way, none of them is changed.

    `failed` has the names of those that cannot be read, or that made the tool crash.
    """
    completed = [(file, _resolve_others(file, fixed, target)) for file, fixed in files]
    blocked = [*failed, *(file.name for file, fixed in completed if _is_blocked(fixed))]
    if not blocked or len(completed) + len(failed) < 2:
        return completed
    return [(file, _keep_back(fixed, blocked)) for file, fixed in completed]


def explain_unread(other: OtherFile, why: Unfollowed) -> str:
    """Say why a file is not read with its suite: in the words of the finding if AgentV does not load it either."""
    if why.effect is Effect.LOST:
        return BY_NAME["lost-rubric"].write("agentv-file", find_values(other, why))
    return format_unread(other, why)


def _is_blocked(fixed: Fixed) -> bool:
    """Return whether a file stays as it is because something prevents its conversion."""
    return bool(fixed.doubt or any(fixed.faults()) or (fixed.unmet and fixed.conversion is None))


def _keep_back(fixed: Fixed, blocked: Sequence[str]) -> Fixed:
    """Return the outcome of a file that stays as it is because of those that are in the way."""
    if _is_blocked(fixed):
        return replace(fixed, applied=(), is_kept_back=True)
    notes: tuple[Note, ...] = ()
    if fixed.is_changed:
        reason = "a suite and the files that it names are rewritten together or not at all"
        notes = (Note(f"not rewritten, as {list_names(blocked, 3)} cannot be: {reason}"),)
    return replace(_leave(fixed), notes=notes, is_kept_back=True)


def _leave(fixed: Fixed) -> Fixed:
    """Return the outcome of a file that could be converted and stays as it is."""
    result = fixed.result._replace(source=fixed.before, findings=(), unread=())
    return replace(fixed, applied=(), unmet=(), result=result)


def _resolve_others(file: File, fixed: Fixed, target: str) -> Fixed:
    """Replace the notes and blockers about other files by what becomes of each of these files."""
    documents = _read(fixed.before, file)
    others = _list_others(documents)
    places = {document.span(other.path).start for document, other in others}
    notes = [note for note in fixed.notes if note.at not in places]
    unfollowed = {named.text: named for named in file.settings.unfollowed}
    for document, other in others:
        why = unfollowed.get(other.text)
        if why and why.effect is Effect.ONLY_NEW and target != "agentv-4":
            reason = f"the {other.holds} in `{other.text}` stay as they are: only AgentV 5 reads them"
            notes.append(Note(reason, document.span(other.path).start))
    if _is_blocked(fixed):
        documents = _read(fixed.result.source, file)
    blockers = list(_find_blockers(file, fixed, target, documents))
    if blockers:
        fixed = replace(fixed, applied=()) if _is_blocked(fixed) else _leave(fixed)
    known = {format_unread(other, unfollowed[other.text]) for _, other in others if other.text in unfollowed}
    unread = tuple(place for place in fixed.result.unread if place.reason not in known)
    return replace(
        fixed,
        result=fixed.result._replace(unread=unread),
        unmet=tuple(sorted([*fixed.unmet, *blockers], key=lambda blocker: blocker.finding.span)),
        notes=tuple(notes),
        is_suite=fixed.is_suite and not file.settings.part,
    )


def _read(source: Source, file: File) -> list[Document]:
    documents = read_documents(source)[0]
    for document in documents:
        document.part = file.settings.part
    return documents


def _list_others(documents: Sequence[Document]) -> list[tuple[Document, OtherFile]]:
    others: list[tuple[Document, OtherFile]] = []
    for document in documents:
        others += ((document, other) for other in find_other_files(document))
    return others


def _find_blockers(file: File, fixed: Fixed, target: str, documents: Sequence[Document]) -> Iterator[Left]:
    """Find the files that block the conversion, and cases in a form that does, unless they are findings already."""
    reported = {left.finding.pointer for left in fixed.unmet}
    unfollowed = {named.text: named for named in file.settings.unfollowed}
    found: list[tuple[Document, Path, Part, str]] = []
    for document, other in _list_others(documents):
        why = unfollowed.get(other.text)
        if why is None or document.pointer(other.path) in reported:
            continue
        if why.effect is not Effect.ONLY_NEW:
            found.append((document, other.path, Part.VALUE, explain_unread(other, why)))
        elif target == "agentv-4":
            reason = f"AgentV 4 does not read {other.holds} from `{other.text}`"
            found.append((document, other.path, Part.VALUE, reason))
    if file.settings.part:
        for document in documents:
            if isinstance(document.data, dict) and CASES in document.data and fixed.is_changed:
                reason = f"cases below `{CASES}` in a file of cases are not rewritten; write the list alone"
                found.append((document, (CASES,), Part.KEY, reason))
    for document, path, part, reason in found:
        finding = Finding(target, Severity.ERROR, reason, document.span(path, part), document.pointer(path))
        yield Left(finding, reason)

"""Raise files of our format to version 3: thresholds that only the settings have move into the file.

A list of criteria of version 2 is one of version 3, so a file whose settings have none changes only the schema that it
names. All else stays as it is, to the byte, and the proof is that each rubric scores as before without the settings.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rubric_lint.formats.agentv.convert import at_path
from rubric_lint.formats.search.locate import find_claim
from rubric_lint.lint.engine import DEFAULTS, Examined, build_rubrics, examine_file, lint
from rubric_lint.lint.fix import Applied, Fixed, Left, Note, find_version, fix
from rubric_lint.lint.fix.new_findings import format_new_finding
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.criterion import USUAL_THRESHOLDS, Mark, Thresholds
from rubric_lint.model.finding import Finding, Severity
from rubric_lint.model.recognition import CRITERIA, FIELD
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema_files import VERSION_3, SchemaFile, newest
from rubric_lint.model.suggest import suggest
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.loading import UnscorableError, prepare
from rubric_lint.source.document import Document
from rubric_lint.source.lines import new_line
from rubric_lint.source.patch import RefusedChange, put, rename, track, write
from rubric_lint.source.path import Path
from rubric_lint.source.reading import read_documents
from rubric_lint.source.scalar import resolve
from rubric_lint.source.source import Edit, Source, Span, splice

_SCHEMA = "$schema"

_Marks = Mapping[Path, Sequence[tuple[str, Mark]]]
"""What each rubric of a document says of its thresholds, by its path; nothing if the settings say nothing else."""


def raise_file(
    name: str, data: bytes, settings: FileSettings = DEFAULTS, *, unsafe: bool = False, choices: Sequence[str] = ()
) -> Fixed:
    """Apply the safe fixes to a file, and others as `fix` does, and then raise its rubrics to version 3, all or none.

    Raises:
        RuleError: if a rule crashes, which no `data` should cause.
    """
    fixed = fix(name, data, settings, unsafe=unsafe, choices=choices)
    source = fixed.result.source
    before = examine_file(name, source.to_bytes(source.text), settings)
    raised = _find_raised(before, settings)
    if fixed.doubt or before.result.is_stopped:
        return fixed
    if not raised:
        has_others = any(rubric.dialect for _, rubric in before.rubrics)
        note = Note(f"its rubrics are not in our format; `{suggest('convert', name, to='rubric')}` writes them so")
        return replace(fixed, notes=(*fixed.notes, note)) if has_others else fixed
    obstacles = tuple(_find_obstacles(before, raised))
    if obstacles:
        return replace(fixed, unmet=obstacles)
    text = _write(source, raised)
    if isinstance(text, RefusedChange):
        return replace(fixed, unmet=(_leave(text.document, text.path, text.reason, text.span),))
    source = source._replace(text=text)
    after = examine_file(name, source.to_bytes(text), _without_thresholds(settings))
    unmet = tuple(_find_new(before, after))
    doubt = "" if unmet else _find_doubt(before, after)
    if source.to_bytes(fixed.before.text) != data:
        doubt = "its bytes cannot be reproduced exactly"
    if unmet or doubt:
        applied = () if doubt else fixed.applied
        return replace(fixed, unmet=unmet, doubt=doubt, applied=applied)
    result = lint(name, source.to_bytes(text), settings)._replace(source=source)
    applied = (*fixed.applied, Applied(VERSION_3, "raised to version 3"))
    notes = list(fixed.notes)
    if any(any(marks.values()) for _, marks in raised):
        reason = "its thresholds are in the file now"
        notes.append(Note(f"{reason}: `pass` and `borderline` of the settings decide nothing there any more"))
    return replace(fixed, result=result, applied=applied, notes=tuple(notes))


def _leave(document: Document, path: Path, reason: str, span: Span | None = None) -> Left:
    """Return the obstacle to raising a file: a value of a document, at its own place if there is no `span`."""
    place = document.span(path) if span is None else span
    return Left(Finding(VERSION_3, Severity.ERROR, reason, place, document.pointer(path)), reason)


def _without_thresholds(settings: FileSettings) -> FileSettings:
    return settings._replace(pass_at=USUAL_THRESHOLDS.pass_at, borderline_at=USUAL_THRESHOLDS.borderline_at)


def _find_raised(examined: Examined, settings: FileSettings) -> list[tuple[Document, _Marks]]:
    """Find the documents with rubrics of an older version, each with the marks that the settings give to these."""
    raised: list[tuple[Document, _Marks]] = []
    for document in examined.documents:
        usual = {rubric.path: rubric.thresholds for rubric in build_rubrics(document, _without_thresholds(settings))}
        marks = {}
        for owner, rubric in examined.rubrics:
            if owner is document and rubric.view is None:
                marks[rubric.path] = list(_list_marks(rubric, usual.get(rubric.path)))
        if marks:
            raised.append((document, marks))
    return raised


def _list_marks(rubric: Rubric, usual: Thresholds | None) -> Iterator[tuple[str, Mark]]:
    """Yield the fields with the thresholds of a rubric, if they are others without the settings."""
    pass_at, borderline_at = rubric.thresholds
    if rubric.thresholds != usual:
        yield "pass_threshold", pass_at
        if borderline_at < pass_at:
            yield "borderline_threshold", borderline_at


def _find_obstacles(examined: Examined, raised: Sequence[tuple[Document, _Marks]]) -> Iterator[Left]:
    """Find what prevents raising a file."""
    for finding in examined.result.findings:
        if finding.severity is Severity.ERROR:
            yield Left(finding, f"{finding.message}; fix errors before you convert to version 3")
    for document, marks in raised:
        if document.part:
            reason = "a suite of AgentV names this file, and it reads no rubric of version 3"
            yield _leave(document, next(iter(marks)), reason)


def _find_new(before: Examined, after: Examined) -> Iterator[Left]:
    """Find what is no rubric so far, as nothing says so, and would be one in version 3."""
    known = {(document.number, rubric.path) for document, rubric in before.rubrics}
    documents = {document.number: document for document in before.documents}
    for new, rubric in after.rubrics:
        path = rubric.path
        if path and (new.number, path) not in known and len(after.rubrics) > len(before.rubrics):
            reason = f"`{path[-1]}` is not read as a rubric now, and would be in version 3; remove it, or let the file "
            reason += f"name the schema `{newest('suite', 'v2').bundled_id}` first"
            yield _leave(documents[new.number], path, reason)


def _write(source: Source, raised: Sequence[tuple[Document, _Marks]]) -> str | RefusedChange:
    """Return the text in which the rubrics have their marks, and the documents name the schema of version 3."""
    changed = []
    unnamed = [document for document, _ in raised if find_claim(document) is None]
    for document, marks in raised:
        data = track(document)
        for path, fields in marks.items():
            if fields:
                _move_marks(data, path, fields)
        needs_field = document in unnamed and document.kind.is_json
        if needs_field:
            put(data, next(iter(data)), _SCHEMA, _choose_schema(marks).bundled_id)
        if needs_field or any(marks.values()):
            changed.append((document, data))
    text = write(changed) if changed else source.text
    if isinstance(text, RefusedChange):
        return text
    versions = map(find_version, read_documents(source._replace(text=text))[0])
    edits = [Edit(span, VERSION_3) for span in versions if span is not None]
    if unnamed and not unnamed[0].kind.is_json:
        line_end = new_line(unnamed[0])
        edits.append(Edit(Span(0, 0), _choose_schema(raised[0][1]).modeline.replace("\n", line_end)))
    return splice(text, edits)


def _choose_schema(marks: _Marks) -> SchemaFile:
    name = "rubric" if (FIELD,) in marks else "suite"
    return newest(name, VERSION_3)


def _move_marks(data: Any, path: Path, fields: Sequence[tuple[str, Mark]]) -> None:
    """Write the marks of a rubric into the mapping that it becomes, which is the whole document if that has no more."""
    owner, field = at_path(data, path[:-1]), path[-1]
    if path == (FIELD,) and owner.keys() <= {FIELD, _SCHEMA}:
        rename(owner, {FIELD: CRITERIA})
    else:
        owner[field] = owner = {CRITERIA: owner[field]}
    for name, mark in fields:
        put(owner, CRITERIA, name, resolve(f"{mark:f}"))


def _find_doubt(before: Examined, after: Examined) -> str:
    """Return why the new text does not say what the old one did with its settings; empty if it does."""
    old_counts = Counter(finding.rule for finding in before.result.findings)
    new_counts = Counter(finding.rule for finding in after.result.findings)
    for finding in after.result.findings:
        if new_counts[finding.rule] > old_counts[finding.rule]:
            return format_new_finding(after.result, finding)
    old_rubrics = [_describe(rubric) for _, rubric in before.rubrics]
    new_rubrics = [_describe(rubric) for _, rubric in after.rubrics]
    is_raised = all(rubric.version == VERSION_3 for _, rubric in after.rubrics)
    return "" if is_raised and old_rubrics == new_rubrics else "a rubric would be scored differently"


def _describe(rubric: Rubric) -> Any:
    """Return all that decides the scores and the verdicts of a rubric; None if it cannot be scored."""
    try:
        scoring: ScoringRubric = prepare(rubric, "")
    except UnscorableError:
        return None
    return scoring.hash, scoring.criteria, scoring.full, scoring.pass_from, scoring.borderline_from

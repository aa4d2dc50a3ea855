"""Rewrite a suite for another version of AgentV, completely or not at all, and prove that its meaning is the same."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from rubric_lint.formats.agentv import suite_4 as agentv_4_suite
from rubric_lint.formats.agentv.convert import RELEASE_CHECKS, SCALE, Converted, convert, find_blockers
from rubric_lint.formats.agentv.messages import format_message
from rubric_lint.formats.agentv.parts import Blocker, find_unloaded, is_suite, is_suite_of_agentv, is_template
from rubric_lint.formats.agentv.releases import RELEASES, Release
from rubric_lint.formats.agentv.suites import EVAL_FILES
from rubric_lint.formats.agentv.unconvertible import find_custom, find_unconverted_files, is_foreign, is_read_as_it_is
from rubric_lint.formats.search.locate import find_claim_span
from rubric_lint.lint.engine import DEFAULTS, build_rubrics, lint
from rubric_lint.lint.fix import DEPRECATIONS, Applied, Fixed, Left, Note, fix
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.criterion import HIGHEST, Criterion, Scale, Shape
from rubric_lint.model.finding import Finding, Result, Severity
from rubric_lint.model.messages import counted, pluralize
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema import suite_lists
from rubric_lint.model.schema_files import BASE
from rubric_lint.rules import BY_NAME
from rubric_lint.source.document import Document
from rubric_lint.source.nunjucks import name_variables
from rubric_lint.source.patch import RefusedChange, former_path
from rubric_lint.source.patch import write as write_documents
from rubric_lint.source.path import Part, Path
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Edit, Source, UndecodableError, splice


def is_agentv_suite(name: str, data: bytes, settings: FileSettings) -> bool:
    """Return whether a file is a suite, a file of cases or a template of AgentV, of any age, or a suite of ours.

    Such a file is rewritten. A file that only has a rubric or follows version 3, and one of another system, is written
    anew.
    """
    with suppress(UndecodableError):
        documents, faults = read_documents(Source.from_bytes(name, data))
        if faults:
            return name.lower().endswith(EVAL_FILES)
        return any(_is_agentvs(document, build_rubrics(document, settings)) for document in documents)
    return False


def _is_agentvs(document: Document, rubrics: list[Rubric]) -> bool:
    if not rubrics:
        return is_suite_of_agentv(document)
    if any(rubric.is_version_3 for rubric in rubrics):
        return False  # which no release reads in its place
    own = [rubric for rubric in rubrics if not rubric.dialect or rubric.dialect.startswith("agentv")]
    lists = suite_lists("cases")
    is_row = isinstance(document.data, list) or document.source.name.lower().endswith(".jsonl")
    is_inside = any(not lists.isdisjoint(map(str, rubric.path)) for rubric in own)  # also cases of inner suites
    return bool(own) and (is_row or is_inside or is_suite(document) or is_template(document))


def rewrite(
    name: str,
    data: bytes,
    target: str,
    settings: FileSettings = DEFAULTS,
    *,
    unsafe: bool = False,
    choices: Sequence[str] = (),
    unsaid_is_required: bool = True,
) -> Fixed:
    """Apply the safe fixes to a file, and others as `fix` does, and then the changes for the target of this name.

    With `unsaid_is_required`, a checklist criterion in our format without a gate field must be met, as in AgentV.
    Deprecated fields are left to the rewriting, because without `required: false` a criterion would lose its meaning.

    Raises:
        RuleError: if a rule crashes, which no `data` should cause.
    """
    enabled = frozenset(BY_NAME) if settings.enabled is None else settings.enabled
    settings = settings._replace(enabled=enabled - DEPRECATIONS, implicit_required=unsaid_is_required)
    fixed = fix(name, data, settings, unsafe=unsafe, choices=choices)
    release = RELEASES[target]
    if not fixed.result.source.text:  # the linter does not read files in which nothing speaks of rubrics
        with suppress(UndecodableError):
            source = Source.from_bytes(name, data)
            fixed = replace(fixed, before=source, result=fixed.result._replace(source=source))
    file = _SuiteFile(fixed.result.source, settings)
    rewriting = _Rewriting(replace(fixed, is_suite=True), release, settings, file)
    if name.lower().endswith(EVAL_FILES) and not fixed.result.findings:
        unmet = tuple(
            Left(Finding("syntax", Severity.ERROR, fault.message, fault.span, ""), fault.message)
            for fault in read_documents(file.source)[1]
        )
        if unmet:
            return replace(rewriting.fixed, unmet=unmet)
    if fixed.doubt or not file.suites:
        return fixed
    fixed = rewriting.fixed
    errors = [
        Left(finding, format_message("errors-first", {"message": finding.message, "release": release.title}))
        for finding in _find_obstacles(fixed.result, settings)
    ]
    unmet = rewriting.find_later() or tuple(errors)
    if unmet:
        return replace(fixed, unmet=unmet, notes=tuple(rewriting.find_outdated()))
    unmet = rewriting.find_obstacles()
    if unmet:
        return replace(fixed, unmet=unmet, notes=(_note("whole"),))
    rewritten = rewriting.run()
    if rewritten.is_changed and fixed.before.to_bytes(fixed.before.text) != data:
        return replace(fixed, doubt=format_message("bytes", {}), applied=())
    return rewritten


def _find_obstacles(result: Result, settings: FileSettings) -> Iterator[Finding]:
    """Find the errors that prevent a rewriting.

    Criteria in the wrong field move anyway, as do parts of a half-migrated suite, and AgentV runs tests of one name.
    """
    moving: set[str] = set()
    if any(finding.rule == "lost-rubric" for finding in result.findings):
        for document in read_documents(result.source)[0]:
            moving |= {document.pointer(rubric.path) for rubric in build_rubrics(document, settings)}
    for finding in result.findings:
        is_moving = finding.rule == "lost-rubric" and finding.pointer in moving
        is_moving = is_moving or finding.code.startswith(("lost-rubric.agentv-5-", "repeated-case."))
        if finding.severity is Severity.ERROR and not is_moving:
            yield finding


class _ProofFailure(NamedTuple):
    """Why a rewriting is in doubt, and the offset of the cause in the new text."""

    reason: str
    offset: int


class _SuiteFile:
    """The documents of a file, and the rubrics in them that are or may become AgentV's."""

    def __init__(self, source: Source, settings: FileSettings) -> None:
        self.source = source
        self.documents = read_documents(source)[0]
        self._settings = settings

    @cached_property
    def rubrics(self) -> dict[Document, list[Rubric]]:
        """The rubrics by their document."""
        found: dict[Document, list[Rubric]] = {}
        for document in self.documents:
            for rubric in build_rubrics(document, self._settings):
                if not is_foreign(rubric) or not is_read_as_it_is(document, rubric):
                    found.setdefault(document, []).append(rubric)
        return found

    @cached_property
    def suites(self) -> list[Document]:
        """The documents that have rubrics, and the suites of AgentV without any; of JSON Lines, all or none."""
        is_part = bool(self._settings.part)  # of a suite that names the file
        found = [
            document
            for document in self.documents
            if is_part or document in self.rubrics or is_suite_of_agentv(document)
        ]
        if found and self.source.name.lower().endswith(".jsonl"):
            return [document for document in self.documents if isinstance(document.data, dict)]
        return found

    @cached_property
    def meanings(self) -> list["_RubricMeaning"]:
        """What all rubrics mean; a checklist criterion must be met or not."""
        return [_find_meaning(document, rubric) for document, found in self.rubrics.items() for rubric in found]


@dataclass
class _Rewriting:
    """The rewriting of one file: the outcome of its fixes, the target, the settings, and the file after the fixes."""

    fixed: Fixed
    target: Release
    settings: FileSettings
    file: _SuiteFile

    def find_later(self) -> tuple[Left, ...]:
        """Find the first place in each document that shows a later release than the target."""
        if self.target.name != "agentv-4":
            return ()
        found = []
        for document in self.file.suites:
            signs = agentv_4_suite.find_later(document, self.file.rubrics.get(document, []))
            found += [self._leave(document, unmet) for unmet in signs][:1]
        return tuple(found)

    def find_outdated(self) -> Iterator[Note]:
        """Say that deprecated fields, whose fixes are safe, stay with the rest of a suite that is not rewritten."""
        if any(rubric.outdated for found in self.file.rubrics.values() for rubric in found):
            yield _note("deprecated")

    def find_obstacles(self) -> tuple[Left, ...]:
        """Find all that prevents the rewriting, in the order of the text: a file is rewritten whole or not at all."""
        suites = self.file.suites
        found: list[Left] = []
        if suites[0].number is not None and not self.file.source.name.lower().endswith(".jsonl"):
            several = Blocker("several-documents", (), Part.HEAD, {"release": self.target.title})
            found.append(self._leave(suites[-1], several))
        for document in suites:
            blockers = find_blockers(document, self.file.rubrics.get(document, []), self.target)
            found += [self._leave(document, blocker) for blocker in blockers]
        return _sort(found)

    def run(self) -> Fixed:
        """Convert the suites, write them, and prove that their rubrics mean the same."""
        suites = self.file.suites
        notes = tuple(self._list_notes())
        converted = [convert(document, self.file.rubrics.get(document, []), self.target) for document in suites]
        blockers: list[Left] = []
        for suite in converted:
            blockers += [self._leave(suite.document, blocker) for blocker in suite.blockers]
        if blockers:
            return replace(self.fixed, unmet=_sort(blockers))
        text = write_documents([(suite.document, suite.data) for suite in converted])
        if isinstance(text, RefusedChange):
            refusal = Blocker("obstacle", text.path, Part.VALUE, {"reason": text.reason})
            return replace(self.fixed, unmet=(self._leave(text.document, refusal),))
        numbers = {document.number for document in suites}
        new = _SuiteFile(self._name_schema(self.file.source._replace(text=text), numbers), self.settings)
        after = [document for document in new.documents if document.number in numbers]
        found = [
            (suite.document, unmet._replace(path=_find_former(suite, unmet.path)))
            for document, suite in zip(after, converted, strict=True)
            for unmet in find_unloaded(document, self.target)
        ]
        unread = [self._leave(document, unmet) for document, unmet in found if not unmet.is_note]
        if unread:
            return replace(self.fixed, unmet=_sort(unread), notes=(_note("whole"),))
        seldom_meant = tuple(self._place_note(document, unmet) for document, unmet in found)
        find_gaps = RELEASE_CHECKS[self.target.name].find_gaps
        gaps = _sort(self._leave(document, gap) for document in after for gap in find_gaps(document))
        if new.source.text == self.file.source.text:
            return replace(self.fixed, unmet=gaps, notes=seldom_meant)
        data = new.source.to_bytes(new.source.text)
        result = lint(new.source.name, data, self.settings)._replace(source=new.source)
        failure = self._find_fault(result, new) or self._find_misreading(new)
        if failure:
            return self._refuse(failure, after, converted)
        applied = (*self.fixed.applied, Applied(self.target.name, f"converted to {self.target.title}"))
        return replace(self.fixed, result=result, applied=applied, unmet=gaps, notes=notes + seldom_meant)

    def _name_schema(self, source: Source, numbers: Container[int | None]) -> Source:
        """Return a text in which documents that name one of our schemas name that of the target."""
        if "$schema" not in source.text:
            return source
        edits = []
        for document in read_documents(source)[0]:
            if document.number not in numbers:
                continue
            span = find_claim_span(document)
            if span is None:
                continue
            written = document.source.slice(span)
            address, folder = written.strip("\"'"), BASE
            if address.endswith(".schema.json"):
                folder = address[: address.rfind("/") + 1]
            url = f"{folder}{self.target.table.replace('/', '-').removesuffix('.json')}.schema.json"
            if written[0] in "\"'":
                url = f"{written[0]}{url}{written[0]}"
            edits.append(Edit(span, url))
        return source._replace(text=splice(source.text, edits))

    def _refuse(self, failure: _ProofFailure, after: Sequence[Document], converted: Sequence[Converted]) -> Fixed:
        """Return the file as it was, with the reason for the doubt and where its cause was before."""
        at = None
        for document, suite in zip(after, converted, strict=True):
            if document.preamble.start <= failure.offset:
                old = former_path(suite.data, document.find_path(failure.offset))
                at = self._find_place(suite.document, old, Part.VALUE)
        return replace(self.fixed, doubt=failure.reason, doubt_at=at, applied=())

    def _find_fault(self, result: Result, new: _SuiteFile) -> _ProofFailure | None:
        """Return why a reader of the target would fail on the result; None if it would not."""
        for finding in result.findings:
            if finding.severity is Severity.ERROR and finding.rule != "repeated-case":
                doubt = format_message("new-finding", {"rule": finding.rule, "message": finding.message})
                return _ProofFailure(doubt, finding.span.start)
        for document, rubrics in new.rubrics.items():
            for rubric in rubrics:
                # Where the target reads `rubrics`, their words need not mark them as AgentV's.
                is_plain = self.target.reads_both and not rubric.dialect and rubric.path[-1:] == ("rubrics",)
                if rubric.dialect not in self.target.dialects and not is_plain:
                    doubt = format_message("unrecognized", {"release": self.target.title})
                    return _ProofFailure(doubt, document.span(rubric.path, Part.VALUE).start)
        return None

    def _find_misreading(self, new: _SuiteFile) -> _ProofFailure | None:
        """Return why a rubric would be read differently; more may be read, such as rubrics of other systems.

        Strings among assertions may lose what showed us whose they are; AgentV still reads them.
        """
        old_meanings = self.file.meanings
        new_meanings = new.meanings if old_meanings else []
        missing = Counter(meaning.rubric for meaning in old_meanings if not meaning.is_plain)
        missing.subtract(meaning.rubric for meaning in new_meanings)
        known = {meaning.rubric for meaning in old_meanings}
        for meaning in new_meanings:
            if not meaning.is_plain and (meaning.rubric not in known or missing[meaning.rubric] < 0):
                return _ProofFailure(format_message("scored-otherwise", {}), meaning.offset)
        for rubric, count in missing.items():
            if count > 0:
                doubt = format_message("read-otherwise", {"release": self.target.title, "id": rubric[0].id})
                return _ProofFailure(doubt, 0)
        return None

    def _list_notes(self) -> Iterator[Note]:
        """Yield what the target reads otherwise, and what is in other files, which stay as they are."""
        rubrics = [rubric for found in self.file.rubrics.values() for rubric in found]
        scales = sum(rubric.shape is Shape.HOLISTIC for rubric in rubrics)
        if scales:
            yield _note("scales", scales=counted(scales, "holistic scale is", "holistic scales are"), id=SCALE)
        entries = [criterion for rubric in rubrics if not rubric.dialect for criterion in rubric.criteria]
        checks = [criterion.fields or {} for criterion in entries if criterion.is_check]
        count = sum(not fields.keys() & {"required", "required_min_score"} for fields in checks)
        if count and self.settings.implicit_required:
            them = pluralize(count, "it", "them")
            criteria = counted(count, "criterion has", "criteria have")
            yield _note("no-gates", criteria=criteria, release=self.target.title, them=them)
        idle = sum(fields.get("required_min_score") == 0 for fields in checks)
        if idle:
            yield _note("idle-gates", criteria=counted(idle, "criterion has", "criteria have"))
        judged = [(document, rubric) for document, found in self.file.rubrics.items() for rubric in found]
        graded = [(document, rubric) for document, rubric in judged if rubric.borderline is not None]
        for document, rubric in graded[:1]:
            many = counted(len(graded), "rubric")
            what = {"mark": rubric.borderline, "rubrics": many, "release": self.target.title}
            yield self._place_note(document, Blocker("no-borderline", rubric.path, Part.VALUE, what))
        for document in self.file.suites:
            for code, values in RELEASE_CHECKS[self.target.name].list_assumptions(document):
                yield _note(code, **values)
            for outside in (*find_unconverted_files(document), *find_custom(document)):
                yield self._place_note(document, outside)

    def _place_note(self, document: Document, unmet: Blocker) -> Note:
        return _note(unmet.code, self._find_place(document, unmet.path, unmet.part), **unmet.values)

    def _find_place(self, document: Document, path: Path, part: Part) -> int:
        """Return the offset of a part of a document in the text before the fixes, as far as it was there."""
        return self._before.get(document.number, document).nearest_span(path, part).start

    @cached_property
    def _before(self) -> dict[int | None, Document]:
        """The documents before the fixes by their numbers; a file may have thousands of notes."""
        source = self.fixed.before
        documents = self.file.documents if source == self.file.source else read_documents(source)[0]
        return {document.number: document for document in documents}

    def _leave(self, document: Document, unmet: Blocker) -> Left:
        span, place = document.nearest_span(unmet.path, unmet.part), document.pointer(unmet.path)
        finding = Finding(self.target.name, Severity.ERROR, unmet.reason, span, place)
        return Left(finding._replace(code=f"{finding.rule}.{unmet.code}", values=unmet.values), unmet.reason)


def _note(code: str, at: int | None = None, **values: object) -> Note:
    return Note(format_message(code, values), at, f"agentv.{code}", values)


def _find_former(converted: Converted, path: Path) -> Path:
    """Return where the value at a path of the new data was before.

    `true`, `false` and `null` do not know where they were read; their key tells if there is only one of it.
    """
    former = former_path(converted.data, path)
    if path and former == former_path(converted.data, path[:-1]):
        places = [(*owner, path[-1]) for owner, mapping in converted.document.mappings if path[-1] in mapping]
        if len(places) == 1:
            return places[0]
    return former


def _sort(found: Iterable[Left]) -> tuple[Left, ...]:
    """Sort obstacles in the order of the text, with each reason once at a place."""
    reasons = {(unfixed.finding.span, unfixed.reason): unfixed for unfixed in found}
    return tuple(reasons[key] for key in sorted(reasons))


class AgentVCriterion(NamedTuple):
    """A criterion as AgentV reads it; `gate` is the lowest score out of 10 that meets it, or None."""

    id: str
    outcome: str | None
    weight: float
    gate: int | None
    bands: tuple[tuple[int, int, str], ...] = ()


class _RubricMeaning(NamedTuple):
    """What a rubric means, its offset in the text, and whether it is strings, which no rewriting changes."""

    rubric: tuple[AgentVCriterion, ...]
    offset: int
    is_plain: bool


def _find_meaning(document: Document, rubric: Rubric) -> _RubricMeaning:
    meant = tuple(map(_as_read, rubric.entries))
    if rubric.shape is Shape.HOLISTIC:
        scale = rubric.scales[0]
        meant = (AgentVCriterion(SCALE, None, 1.0, scale.gate or None, _read_bands(scale)),)
    places = [rubric.place(entry.path) for entry in rubric.entries]
    is_plain = all(isinstance(document.value(place), str) for place in places)
    return _RubricMeaning(meant, document.span(rubric.path, Part.VALUE).start, is_plain)


def _as_read(entry: Criterion) -> AgentVCriterion:
    """Return the meaning of a criterion in the form of AgentV's own reading."""
    gate = entry.gate or None  # nothing misses a gate of 0
    if gate and entry.scale is None:
        gate = HIGHEST
    bands = _read_bands(entry.scale) if entry.scale else ()
    outcome = entry.outcome and name_variables(entry.outcome)
    weight = 1.0 if entry.weight is None else float(entry.weight)
    return AgentVCriterion(entry.id, outcome, weight, gate, bands)


def _read_bands(scale: Scale) -> tuple[tuple[int, int, str], ...]:
    return tuple(
        (int(band.lower or 0), int(band.upper or 0), name_variables(band.outcome or "")) for band in scale.bands
    )

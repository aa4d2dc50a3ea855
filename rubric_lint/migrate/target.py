"""Rewrite a suite for another version of AgentV, completely or not at all, and prove that its meaning is the same."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from rubric_lint.dialects.search.agentv_suites import EVAL_FILES
from rubric_lint.dialects.search.locate import find_claim_span
from rubric_lint.finding import Finding, Result, Severity
from rubric_lint.fix import DEPRECATIONS, Applied, Fixed, Left, Note, fix
from rubric_lint.format.criterion import HIGHEST, Criterion, Scale, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema_files import BASE
from rubric_lint.lint.engine import DEFAULTS, build_rubrics, lint
from rubric_lint.migrate import agentv_4_suite, agentv_5_suite
from rubric_lint.migrate.agentv import (
    TARGETS,
    Rewriting,
    Unmet,
    find_custom,
    find_other_files,
    find_unloaded,
    is_foreign,
    is_of_agentv,
    is_read_as_it_is,
)
from rubric_lint.migrate.agentv_reading import Read, read_suite
from rubric_lint.migrate.convert import SCALE, Converted, convert, find_blockers
from rubric_lint.patch import Refused, former_path, write_all
from rubric_lint.project.settings import FileSettings
from rubric_lint.rules import BY_NAME
from rubric_lint.run.summary import counted
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import name_variables
from rubric_lint.text.path import Part
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Edit, Source, UndecodableError, splice


class Trouble(NamedTuple):
    """Why a rewriting is in doubt, and the offset of the cause in the new text."""

    doubt: str
    at: int


_WHOLE = (
    "nothing is rewritten before these are changed, and others may be found then: "
    "a suite is rewritten whole or not at all"
)
_DEPRECATED = (
    "deprecated fields are rewritten with the suite, not before; `rubric-lint fix` without `--to` rewrites them alone"
)
_SUITES = {"agentv-4": agentv_4_suite, "agentv-5": agentv_5_suite}


def find_unread(document: Document, target: Rewriting) -> Iterator[Unmet]:
    """Find what a release refuses, skips or never reads of a suite as it stands."""
    yield from (unmet for unmet in find_unloaded(document, target) if not unmet.is_note)
    yield from _SUITES[target.name].find_gaps(document)


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
    wanted = TARGETS[target]
    if not fixed.result.source.text:  # the linter does not read files in which nothing speaks of rubrics
        with suppress(UndecodableError):
            source = Source.from_bytes(name, data)
            fixed = replace(fixed, before=source, result=fixed.result._replace(source=source))
    rewriting = _Rewriting(replace(fixed, is_suite=True), wanted, settings)
    if name.lower().endswith(EVAL_FILES) and not fixed.result.findings:
        faults = [*read_documents(fixed.result.source)[1]]
        found = [Finding("syntax", Severity.ERROR, fault.message, fault.span, "") for fault in faults]
        if found:
            return replace(rewriting.fixed, unmet=tuple(Left(each, each.message) for each in found))
    if fixed.doubt or not rewriting.find_documents(fixed.result.source):
        return fixed
    fixed = rewriting.fixed
    reason = f"not rewritten for {wanted.title} before its errors are fixed"
    errors = [Left(finding, f"{finding.message}; {reason}") for finding in _find_obstacles(fixed.result, settings)]
    if unmet := rewriting.find_later() or tuple(errors):
        return replace(fixed, unmet=unmet, notes=tuple(rewriting.find_outdated(fixed.result.source)))
    if unmet := rewriting.find_obstacles():
        return replace(fixed, unmet=unmet, notes=(Note(_WHOLE),))
    rewritten = rewriting.run()
    if rewritten.is_changed and fixed.before.to_bytes(fixed.before.text) != data:
        return replace(fixed, doubt="its bytes cannot be reproduced exactly", applied=())
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


@dataclass
class _Rewriting:
    """The rewriting of one file: the outcome of its fixes, the target, and the settings."""

    fixed: Fixed
    target: Rewriting
    settings: FileSettings

    def find_later(self) -> tuple[Left, ...]:
        """Find the first place in each document that shows a later release than the target."""
        if self.target.name != "agentv-4":
            return ()
        source = self.fixed.result.source
        rubrics = self._group_rubrics(source)
        found = []
        for document in self.find_documents(source):
            signs = agentv_4_suite.find_later(document, rubrics.get(document.number, []))
            found += [self._leave(document, unmet) for unmet in signs][:1]
        return tuple(found)

    def find_outdated(self, source: Source) -> Iterator[Note]:
        """Say that deprecated fields, whose fixes are safe, stay with the rest of a suite that is not rewritten."""
        if any(rubric.outdated for _, rubric in self._rubrics(source)):
            yield Note(_DEPRECATED)

    def find_obstacles(self) -> tuple[Left, ...]:
        """Find all that prevents the rewriting, in the order of the text: a file is rewritten whole or not at all."""
        source = self.fixed.result.source
        documents = self.find_documents(source)
        found: list[Left] = []
        if documents[0].number is not None and not source.name.lower().endswith(".jsonl"):
            reason = f"{self.target.title} loads no file with several documents; write each to a file of its own"
            found.append(self._leave(documents[-1], Unmet(reason, (), Part.HEAD)))
        rubrics = self._group_rubrics(source)
        for document in documents:
            blockers = find_blockers(document, rubrics.get(document.number, []), self.target)
            found += [self._leave(document, blocker) for blocker in blockers]
        return _sort(found)

    def run(self) -> Fixed:
        """Convert the documents, write them, and prove that their rubrics mean the same."""
        source = self.fixed.result.source
        documents, rubrics = self.find_documents(source), self._group_rubrics(source)
        meant = list(self._read(source))
        notes = tuple(self._tell(source, documents))
        converted = [convert(document, rubrics.get(document.number, []), self.target) for document in documents]
        if shared := [self._leave(each.document, blocker) for each in converted for blocker in each.shared]:
            return replace(self.fixed, unmet=_sort(shared))
        text = write_all([(each.document, each.data) for each in converted])
        if isinstance(text, Refused):
            refusal = Unmet(text.reason, text.path, Part.VALUE)
            return replace(self.fixed, unmet=(self._leave(text.document, refusal),))
        numbers = {document.number for document in documents}
        new = self._name_schema(source._replace(text=text), numbers)
        after = [document for document in read_documents(new)[0] if document.number in numbers]
        found = [
            (each.document, unmet._replace(path=former_path(each.data, unmet.path)))
            for document, each in zip(after, converted, strict=True)
            for unmet in find_unloaded(document, self.target)
        ]
        if unread := [self._leave(document, unmet) for document, unmet in found if not unmet.is_note]:
            return replace(self.fixed, unmet=_sort(unread), notes=(Note(_WHOLE),))
        seldom_meant = tuple(
            Note(unmet.reason, document.span(unmet.path, unmet.part).start) for document, unmet in found
        )
        find_gaps = _SUITES[self.target.name].find_gaps
        gaps = tuple(self._leave(document, gap) for document in after for gap in find_gaps(document))
        if new.text == source.text:
            return replace(self.fixed, unmet=gaps, notes=seldom_meant)
        result = lint(new.name, new.to_bytes(new.text), self.settings)._replace(source=new)
        trouble = self._find_fault(result) or self._find_misreading(new, meant)
        if trouble:
            return self._doubt(trouble, after, converted)
        applied = (*self.fixed.applied, Applied(self.target.name, f"converted to {self.target.title}"))
        return replace(self.fixed, result=result, applied=applied, unmet=gaps, notes=notes + seldom_meant)

    def _name_schema(self, source: Source, numbers: Container[int | None]) -> Source:
        """Return a text in which documents that name one of our schemas name that of the target."""
        edits = []
        for document in read_documents(source)[0]:
            span = find_claim_span(document) if document.number in numbers else None
            if span is None:
                continue
            written = document.source.slice(span)
            quote = written[0] if written[0] in "\"'" else ""
            address = written.strip("\"'")
            folder = address[: address.rfind("/") + 1] if address.endswith(".schema.json") else BASE
            url = f"{folder}{self.target.table.replace('/', '-').removesuffix('.json')}.schema.json"
            edits.append(Edit(span, f"{quote}{url}{quote}"))
        return source._replace(text=splice(source.text, edits))

    def _doubt(self, trouble: Trouble, after: Sequence[Document], converted: Sequence[Converted]) -> Fixed:
        """Return the file as it was, with the reason for the doubt and where its cause was before."""
        at = None
        for document, each in zip(after, converted, strict=True):
            if document.preamble.start <= trouble.at:
                old = former_path(each.data, document.find_path(trouble.at))
                at = each.document.span(old, Part.VALUE).start
        return replace(self.fixed, doubt=trouble.doubt, doubt_at=at, applied=())

    def _find_fault(self, result: Result) -> Trouble | None:
        """Return why a reader of the target would fail on the result; None if it would not."""
        for finding in result.findings:
            if finding.severity is Severity.ERROR and finding.rule != "repeated-case":
                told = f"there would be a new finding, {finding.rule}: {finding.message}"
                return Trouble(told, finding.span.start)
        rubrics = list(self._rubrics(result.source))
        if self.target.reads_beside:  # where it reads `rubrics`, their words need not mark them as AgentV's
            rubrics = [each for each in rubrics if each[1].dialect or each[1].path[-1:] != ("rubrics",)]
        other = next((each for each in rubrics if each[1].dialect not in self.target.dialects), None)
        if other is None:
            return None
        told = f"it would not be recognized as a suite for {self.target.title}"
        return Trouble(told, other[0].span(other[1].path, Part.VALUE).start)

    def _find_misreading(self, source: Source, meant: list["_Meant"]) -> Trouble | None:
        """Return why AgentV would read a rubric differently; it may read more, such as rubrics of other systems."""
        # Strings among assertions may lose what showed us whose they are; AgentV still reads them.
        known = Counter(each.rubric for each in meant)
        now = list(self._read(source)) if meant else []
        if other := next(iter(Counter(each.rubric for each in now if not each.is_plain) - known), None):
            at = next(each.at for each in now if each.rubric == other)
            return Trouble("a rubric would be scored differently", at)
        documents = read_documents(source)[0]
        read = [rubric for document in documents for rubric in read_suite(document.data, self.target.name)]
        for place, (rubric, *_) in enumerate(meant):
            if rubric not in read:
                told = f"{self.target.title} would not read `{rubric[0].id}` and the criteria beside it as intended"
                same = [each.at for each in now if each.rubric == rubric]
                return Trouble(told, same[sum(each.rubric == rubric for each in meant[:place])] if same else 0)
            read.remove(rubric)
        return None

    def find_documents(self, source: Source) -> list[Document]:
        """Return the documents that have rubrics, and the suites of AgentV without any; of JSON Lines, all or none."""
        documents = read_documents(source)[0]
        rubrics = {document.number for document, _ in self._rubrics(source)}
        found = [each for each in documents if each.number in rubrics or is_of_agentv(each)]
        if found and source.name.lower().endswith(".jsonl"):
            return [each for each in documents if isinstance(each.data, dict)]
        return found

    def _rubrics(self, source: Source) -> Iterator[tuple[Document, Rubric]]:
        """Yield the rubrics that are or may become AgentV's."""
        for document in read_documents(source)[0]:
            for rubric in build_rubrics(document, self.settings):
                if not is_foreign(rubric) or not is_read_as_it_is(document, rubric):
                    yield document, rubric

    def _group_rubrics(self, source: Source) -> dict[int | None, list[Rubric]]:
        """Return the rubrics by the number of their document."""
        found: dict[int | None, list[Rubric]] = {}
        for document, rubric in self._rubrics(source):
            found.setdefault(document.number, []).append(rubric)
        return found

    def _read(self, source: Source) -> Iterator["_Meant"]:
        """Yield the meaning of all rubrics, each with its offset; a checklist criterion must be met or not."""
        for document, rubric in self._rubrics(source):
            meant = tuple(map(_as_read, rubric.entries))
            if rubric.shape is Shape.HOLISTIC:
                scale = rubric.scales[0]
                meant = (Read(SCALE, None, 1.0, scale.gate or None, _read_bands(scale)),)
            view = rubric.view
            places = [view.place(entry.path) if view else entry.path for entry in rubric.entries]
            is_plain = all(isinstance(document.value(place), str) for place in places)
            yield _Meant(meant, document.span(rubric.path, Part.VALUE).start, is_plain)

    def _tell(self, source: Source, documents: list[Document]) -> Iterator[Note]:
        """Yield what the target reads otherwise, and what is in other files, which stay as they are."""
        rubrics = [rubric for _, rubric in self._rubrics(source)]
        if scales := sum(rubric.shape is Shape.HOLISTIC for rubric in rubrics):
            yield Note(
                f"{counted(scales, 'holistic scale is', 'holistic scales are')} now the bands of one criterion, "
                f"`{SCALE}`: scores stay the same, judges answer in `checks`"
            )
        entries = [each for rubric in rubrics if not rubric.dialect for each in rubric.criteria]
        checks = [each.fields or {} for each in entries if each.is_check]
        count = sum(not fields.keys() & {"required", "required_min_score"} for fields in checks)
        if count and self.settings.implicit_required:
            them = "it" if count == 1 else "them"
            yield Note(
                f"{counted(count, 'criterion has', 'criteria have')} no gate and no `required`: {self.target.title} "
                f"requires {them}, so nothing is written; to make {them} optional, run this on the original suite with "
                "--unsaid optional"
            )
        if idle := sum(fields.get("required_min_score") == 0 for fields in checks):
            yield Note(
                f"{counted(idle, 'criterion has', 'criteria have')} `required_min_score: 0`, which is no gate here, so "
                "`required: false` is written: AgentV before February 2026 required them all; if that is meant, remove "
                "it"
            )
        for document in documents:
            yield from map(Note, _SUITES[self.target.name].list_assumptions(document))
            for outside in (*find_other_files(document), *find_custom(document)):
                yield Note(outside.reason, document.span(outside.path, outside.part).start)

    def _leave(self, document: Document, unmet: Unmet) -> Left:
        span, place = document.span(unmet.path, unmet.part), document.pointer(unmet.path)
        return Left(Finding(self.target.name, Severity.ERROR, unmet.reason, span, place), unmet.reason)


def _sort(found: Iterable[Left]) -> tuple[Left, ...]:
    """Return what is left in the order of the text, one reason for each place."""
    places = {each.finding.span: each for each in reversed([*found])}
    return tuple(places[span] for span in sorted(places))


class _Meant(NamedTuple):
    """What a rubric means, its offset in the text, and whether it is strings, which no rewriting changes."""

    rubric: tuple[Read, ...]
    at: int
    is_plain: bool


def _as_read(entry: Criterion) -> Read:
    """Return the meaning of a criterion in the form of AgentV's own reading."""
    is_checklist = entry.scale is None
    gate = (HIGHEST if entry.gate else None) if is_checklist else entry.gate or None
    bands = _read_bands(entry.scale) if entry.scale else ()
    outcome = entry.outcome and name_variables(entry.outcome)
    return Read(entry.id, outcome, float(entry.weight if entry.weight is not None else 1), gate, bands)


def _read_bands(scale: Scale) -> tuple[tuple[int, int, str], ...]:
    return tuple((int(b.lower or 0), int(b.upper or 0), name_variables(b.outcome or "")) for b in scale.bands)

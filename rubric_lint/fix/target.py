"""Rewrite a suite for another version of AgentV, completely or not at all, and prove that its meaning is the same."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from rubric_lint.dialects.search.locate import find_claim_span
from rubric_lint.finding import (
    AddField,
    Edit,
    Finding,
    Intent,
    NestField,
    RemoveField,
    RenameKey,
    Repair,
    Replace,
    ReplaceValue,
    Result,
    Severity,
    WrapText,
    pointer,
)
from rubric_lint.fix import DEPRECATIONS, Applied, Fixed, Left, fix, splice
from rubric_lint.fix.agentv import (
    TARGETS,
    Rewriting,
    Unmet,
    convert_criteria,
    find_unloadable,
    find_unsaid,
    is_foreign,
    is_read_as_it_is,
    move_criteria,
    rename_cases,
)
from rubric_lint.fix.agentv_reading import Read, read_suite
from rubric_lint.fix.proof import DataChange, find_doubt
from rubric_lint.format.bands import HIGHEST
from rubric_lint.format.criterion import Criterion
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema_files import BASE
from rubric_lint.lint.edits import ObstacleError, Sharing, make_fix
from rubric_lint.lint.engine import DEFAULTS, build_rubrics, lint
from rubric_lint.project.settings import FileSettings
from rubric_lint.rules import BY_NAME
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import RENDERS, is_template
from rubric_lint.text.path import Part, Path
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source

_Step = Callable[[Document, list[Rubric], Rewriting], Iterable[Intent | Unmet]]


def rewrite(
    name: str,
    data: bytes,
    target: str,
    settings: FileSettings = DEFAULTS,
    *,
    unsafe: bool = False,
    unsaid_is_required: bool = True,
) -> Fixed:
    """Apply the safe fixes to a file, and then the changes for the target of this name.

    With `unsaid_is_required`, a checklist criterion in our format without a gate field must be met, as in AgentV.
    Deprecated fields are left to the rewriting, because without `required: false` a criterion would lose its meaning.

    Raises:
        RuleError: if a rule crashes, which no `data` should cause.
    """
    enabled = frozenset(BY_NAME) if settings.enabled is None else settings.enabled
    settings = settings._replace(enabled=enabled - DEPRECATIONS, implicit_required=unsaid_is_required)
    fixed = fix(name, data, settings, unsafe=unsafe)
    wanted = TARGETS[target]
    if fixed.doubt or not fixed.result.rubrics:
        return fixed
    if errors := [*_find_obstacles(fixed.result, settings)]:
        reason = f"not rewritten for {wanted.title} before its errors are fixed"
        return replace(fixed, unmet=tuple(Left(finding, f"{finding.message}; {reason}") for finding in errors))
    rewriting = _Rewriting(fixed, wanted, settings)
    if made := tuple(rewriting.find_made_templates()):
        return replace(fixed, unmet=made)
    rewritten = rewriting.run()
    if rewritten.is_changed and fixed.before.to_bytes(fixed.before.text) != data:
        return replace(fixed, doubt="its bytes cannot be reproduced exactly", applied=())
    return rewritten


def _find_obstacles(result: Result, settings: FileSettings) -> Iterator[Finding]:
    """Find the errors that prevent a rewriting: all but criteria in the wrong field, which move anyway."""
    moving: set[str] = set()
    if any(finding.rule == "lost-rubric" for finding in result.findings):
        for document in read_documents(result.source)[0]:
            start = () if document.number is None else (document.number,)
            moving |= {pointer((*start, *rubric.path)) for rubric in build_rubrics(document, settings)}
    for finding in result.findings:
        is_moving = finding.rule == "lost-rubric" and finding.pointer in moving
        if finding.severity is Severity.ERROR and not is_moving:
            yield finding


@dataclass
class _Rewriting:
    """The rewriting of one file: the outcome of its fixes, the target, and the settings."""

    fixed: Fixed
    target: Rewriting
    settings: FileSettings

    def run(self) -> Fixed:
        """Rewrite the criteria, then move them to their place, then prove that they mean the same."""
        source = self.fixed.result.source
        meant = list(self._read(source))
        notes = tuple(self._tell_unsaid(source))
        applied: list[Applied] = []
        for step in _STEPS:
            planned = list(self._plan(source, step))
            if unmet := [each for each in planned if isinstance(each, Left)]:
                return replace(self.fixed, unmet=tuple(unmet))
            changes = [each for each in planned if isinstance(each, DataChange)]
            text = splice(source.text, {edit for change in changes for edit in change.edits})
            new = Source(source.name, text, source.encoding, source.bom)
            if doubt := find_doubt(source, new, changes, self.settings):
                return self._doubt(doubt)
            applied += [
                Applied(self.target.name, _describe_intent(change.intents[0]) if change.intents else "name its schema")
                for change in changes
            ]
            source = new
        left = tuple(self._find_unloadable(source))
        if not applied:
            return replace(self.fixed, unmet=left)
        result = lint(source.name, source.to_bytes(source.text), self.settings)
        if list(self._read(source)) != meant:
            return self._doubt("a rubric would be scored differently")
        if fault := self._find_fault(result) or self._find_misreading(source, meant):
            return self._doubt(fault)
        left += tuple(self._find_templates(source))
        applied = [*self.fixed.applied, *applied]
        return replace(self.fixed, result=result, applied=tuple(applied), unmet=left, notes=notes)

    def _doubt(self, doubt: str) -> Fixed:
        return replace(self.fixed, doubt=doubt, applied=())

    def _find_fault(self, result: Result) -> str:
        """Return why a reader of the target would fail on the result; empty if it would not."""
        for finding in result.findings:
            if finding.severity is Severity.ERROR:
                line = result.source.position(finding.span.start).line
                return f"line {line} would be a new finding, {finding.rule}: {finding.message}"
        others = {rubric.dialect for _, rubric in self._rubrics(result.source)} - self.target.dialects
        return f"it would not be recognised as a suite for {self.target.title}" if others else ""

    def _find_misreading(self, source: Source, meant: list[list[Read]]) -> str:
        """Return why AgentV would read a rubric differently; it may read more, such as rubrics of other systems."""
        read = [
            rubric for document in read_documents(source)[0] for rubric in read_suite(document.data, self.target.name)
        ]
        for rubric in meant:
            if tuple(rubric) not in read:
                return f"{self.target.title} would not read `{rubric[0].id}` and the criteria beside it as intended"
            read.remove(tuple(rubric))
        return ""

    def _find_unloadable(self, source: Source) -> Iterator[Left]:
        for document, _ in groupby(self._rubrics(source), itemgetter(0)):
            for unmet in find_unloadable(document, self.target):
                yield self._leave(document, unmet)

    def find_made_templates(self) -> Iterator[Left]:
        """Find the criteria in our format whose strings the target would read as templates."""
        if self.target.dialects.isdisjoint(RENDERS):
            return
        reason = (
            f"{self.target.title} fills in `{{{{`, `{{%` and `{{#` in a text, so nothing is written; "
            f"`rubric-lint convert --to {self.target.name}` escapes them"
        )
        for document, rubric in self._rubrics(self.fixed.result.source):
            if not rubric.dialect:
                yield from self._leave_templates(document, [entry.path for entry in rubric.entries], reason)

    def _find_templates(self, source: Source) -> Iterator[Left]:
        """Find the strings of AgentV 4, which fills in only a few names, that are now templates as a whole."""
        reason = f'{self.target.title} renders templates in texts: write `{{{{ "{{{{" }}}}` for `{{{{`'
        for document, rubric in self._rubrics(source):
            if rubric.view and rubric.dialect in RENDERS:
                places = [rubric.view.place(entry.path) for entry in rubric.entries]
                yield from self._leave_templates(document, places, reason)

    def _leave_templates(self, document: Document, places: Iterable[Path], reason: str) -> Iterator[Left]:
        """Leave the criteria at these places that are templates to their author, for this reason."""
        for place in places:
            if is_template(document.value(place)):
                yield self._leave(document, Unmet(reason, place, Part.VALUE))

    def _rubrics(self, source: Source) -> Iterator[tuple[Document, Rubric]]:
        """Yield the rubrics that are or may become AgentV's."""
        for document in read_documents(source)[0]:
            for rubric in build_rubrics(document, self.settings):
                if not is_foreign(rubric) or not is_read_as_it_is(document, rubric):
                    yield document, rubric

    def _read(self, source: Source) -> Iterator[list[Read]]:
        """Yield the meaning of all rubrics, without their places; a checklist criterion must be met or not."""
        for _, rubric in self._rubrics(source):
            yield [_as_read(entry) for entry in rubric.entries]

    def _tell_unsaid(self, source: Source) -> Iterator[str]:
        count = sum(len(find_unsaid(rubric)) for _, rubric in self._rubrics(source))
        if count and self.settings.implicit_required:
            criteria, them = ("1 criterion has", "it") if count == 1 else (f"{count} criteria have", "them")
            yield (
                f"{criteria} no gate and no `required`: {self.target.title} requires {them}, so nothing is written; "
                f"to make {them} optional, run this on the original suite with --unsaid optional"
            )

    def _plan(self, source: Source, step: _Step) -> Iterator[DataChange | Left]:
        """Yield the changes of one step, one per intent, or what prevents it."""
        for document, pairs in groupby(self._rubrics(source), itemgetter(0)):
            rubrics = [rubric for _, rubric in pairs]
            # Only the fields of criteria must not be shared with anything else; the structure around them may be.
            sharing = Sharing(document, [rubric.path for rubric in rubrics] if step is _convert else ())
            for intent in dict.fromkeys(step(document, rubrics, self.target)):
                yield self._make(sharing, intent)
            if step is _move:
                yield from self._claim(document)

    def _make(self, sharing: Sharing, intent: Intent | Unmet) -> DataChange | Left:
        document = sharing.document
        if isinstance(intent, Unmet):
            return self._leave(document, intent)
        try:
            made = make_fix(sharing, Repair(_describe_intent(intent), (intent,), safe=False))
        except ObstacleError as obstacle:
            path = () if isinstance(intent, Replace) else intent.path
            return self._leave(document, Unmet(str(obstacle), path, Part.VALUE))
        return DataChange(f"/{document.number or 0}", made.intents, made.edits, safe=False)

    def _claim(self, document: Document) -> Iterator[DataChange]:
        """Make a document that names one of our schemas name that of the target."""
        span = find_claim_span(document)
        if span is None:
            return
        written = document.source.slice(span)
        quote = written[0] if written[0] in "\"'" else ""
        address = written.strip("\"'")
        folder = address[: address.rfind("/") + 1] if address.endswith(".schema.json") else BASE
        url = folder + self.target.schema
        intents = () if span.end <= document.preamble.end else (ReplaceValue(("$schema",), url),)
        yield DataChange(f"/{document.number or 0}", intents, (Edit(span, f"{quote}{url}{quote}"),), safe=False)

    def _leave(self, document: Document, unmet: Unmet) -> Left:
        path = unmet.path if document.number is None else (document.number, *unmet.path)
        span = document.span(unmet.path, unmet.part)
        return Left(Finding(self.target.name, Severity.ERROR, unmet.reason, span, pointer(path)), unmet.reason)


def _as_read(entry: Criterion) -> Read:
    """Return the meaning of a criterion in the form of AgentV's own reading."""
    is_checklist = entry.scale is None
    gate = (HIGHEST if entry.gate else None) if is_checklist else entry.gate or None
    bands = (
        tuple((int(b.lower or 0), int(b.upper or 0), b.outcome or "") for b in entry.scale.bands) if entry.scale else ()
    )
    return Read(entry.id, entry.outcome, float(entry.weight if entry.weight is not None else 1), gate, bands)


def _convert(document: Document, rubrics: list[Rubric], target: Rewriting) -> Iterator[Intent | Unmet]:
    for rubric in rubrics:
        yield from convert_criteria(document, rubric, target)


def _move(document: Document, rubrics: list[Rubric], target: Rewriting) -> Iterator[Intent | Unmet]:
    for rubric in rubrics:
        yield from move_criteria(document, rubric.path, target)
    yield from rename_cases(document, [rubric.path for rubric in rubrics])


_STEPS: tuple[_Step, ...] = (_convert, _move)


def _describe_intent(intent: Intent) -> str:
    """Describe an intent in a few words."""
    words = "rewrite"
    match intent:
        case RenameKey(path, name):
            words = f"rename `{path[-1]}` to `{name}`"
        case ReplaceValue(path, text):
            words = f"write `{text}`"
        case RemoveField(path):
            words = f"remove `{path[-1]}`"
        case AddField(_, name, text):
            words = f"write `{name}: {text}`"
        case WrapText(_, name, _, after):
            words = f"write a text as `{name}` with `{after[0]}: {after[1]}`"
        case NestField(path, name, before, _):
            words = f"move `{path[-1]}` to `{name}`, as `{before[0]}: {before[1]}`"
        case _:
            pass
    return words

"""Rewriting a suite for another version of AgentV, whole or not at all, with the proof that it means what it did."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from rubric_lint.bands import HIGHEST
from rubric_lint.catalogue import BASE
from rubric_lint.config import FileSettings
from rubric_lint.document import Document
from rubric_lint.edit import ObstacleError, Sharing, make_fix
from rubric_lint.finding import (
    AddField,
    Edit,
    Finding,
    Intent,
    NestField,
    Part,
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
from rubric_lint.fix import Applied, Fixed, Left, fix, splice
from rubric_lint.fix.agentv import TARGETS, Target, Unmet, convert_criteria, move_criteria, rename_cases
from rubric_lint.fix.proof import Change, describe, find_doubt
from rubric_lint.lint import DEFAULTS, build_rubrics, lint
from rubric_lint.locate import find_claim_span
from rubric_lint.reading import read_documents
from rubric_lint.rubric import Rubric, Shape
from rubric_lint.source import Source

_Step = Callable[[Document, list[Rubric], Target], Iterable[Intent | Unmet]]


def rewrite(name: str, data: bytes, target: str, settings: FileSettings = DEFAULTS, *, unsafe: bool = False) -> Fixed:
    """Make all safe fixes in a file, and then what the target of that name asks for.

    Raises:
        RuleError: when a rule crashes; nothing that stands in `data` should make one.
    """
    fixed = fix(name, data, settings, unsafe=unsafe)
    wanted = TARGETS[target]
    if fixed.doubt or not fixed.result.rubrics:
        return fixed
    if errors := [finding for finding in fixed.result.findings if finding.severity is Severity.ERROR]:
        reason = f"not rewritten for {wanted.title} before its errors are mended"
        return replace(fixed, unmet=tuple(Left(finding, f"{finding.message}; {reason}") for finding in errors))
    rewritten = _Rewriting(fixed, wanted, settings).run()
    if rewritten.is_changed and fixed.before.to_bytes(fixed.before.text) != data:
        return replace(fixed, doubt="its bytes cannot be written again as they are", applied=())
    return rewritten


@dataclass
class _Rewriting:
    """One file on its way: what the fixes left, where it goes, and what has been done to it."""

    fixed: Fixed
    target: Target
    settings: FileSettings

    def run(self) -> Fixed:
        """Rewrite the criteria, then bring them to their place, then prove that they mean the same."""
        source = self.fixed.result.source
        meant = list(self._read(source))
        applied: list[Applied] = []
        for step in _STEPS:
            planned = list(self._plan(source, step))
            if unmet := [each for each in planned if isinstance(each, Left)]:
                return replace(self.fixed, unmet=tuple(unmet))
            changes = [each for each in planned if isinstance(each, Change)]
            text = splice(source.text, {edit for change in changes for edit in change.edits})
            new = Source(source.name, text, source.encoding, source.bom)
            if doubt := find_doubt(source, new, changes, self.settings):
                return self._doubt(doubt)
            applied += [
                Applied(self.target.name, _word(change.intents[0]) if change.intents else "name its schema")
                for change in changes
            ]
            source = new
        if not applied:
            return self.fixed
        result = lint(source.name, source.to_bytes(source.text), self.settings)
        if list(self._read(source)) != meant:
            return self._doubt("a rubric would be scored in another way")
        if fault := self._find_fault(result):
            return self._doubt(fault)
        return replace(self.fixed, result=result, applied=(*self.fixed.applied, *applied))

    def _doubt(self, doubt: str) -> Fixed:
        return replace(self.fixed, doubt=doubt, applied=())

    def _find_fault(self, result: Result) -> str:
        """What a reader of the target would stumble over."""
        for finding in result.findings:
            if finding.severity is Severity.ERROR:
                line = result.source.position(finding.span.start).line
                return f"line {line} would be a new finding, {finding.rule}: {finding.message}"
        others = {rubric.dialect for _, rubric in self._rubrics(result.source)} - self.target.dialects
        return f"it would not be read as a suite of {self.target.title}" if others else ""

    def _rubrics(self, source: Source) -> Iterator[tuple[Document, Rubric]]:
        for document in read_documents(source)[0]:
            for rubric in build_rubrics(document, self.settings):
                yield document, rubric

    def _read(self, source: Source) -> Iterator[Any]:
        """What all rubrics mean, apart from where they are: a checklist criterion is a must or none."""
        for _, rubric in self._rubrics(source):
            is_checklist = rubric.shape is Shape.CHECKLIST
            entries = [
                entry._replace(gate=HIGHEST if is_checklist and entry.gate else entry.gate) for entry in rubric.entries
            ]
            yield rubric.shape, [describe(entry) for entry in entries]

    def _plan(self, source: Source, step: _Step) -> Iterator[Change | Left]:
        """The changes of one step, one for each intent, or what keeps it from being done."""
        for document, pairs in groupby(self._rubrics(source), itemgetter(0)):
            rubrics = [rubric for _, rubric in pairs]
            # The fields of criteria must be nobody else's; what is around them is not theirs in the first place.
            sharing = Sharing(document, [rubric.path for rubric in rubrics] if step is _convert else ())
            for intent in dict.fromkeys(step(document, rubrics, self.target)):
                yield self._make(sharing, intent)
            if step is _move:
                yield from self._claim(document)

    def _make(self, sharing: Sharing, intent: Intent | Unmet) -> Change | Left:
        document = sharing.document
        if isinstance(intent, Unmet):
            return self._leave(document, intent)
        try:
            made = make_fix(sharing, Repair(_word(intent), (intent,), safe=False))
        except ObstacleError as obstacle:
            path = () if isinstance(intent, Replace) else intent.path
            return self._leave(document, Unmet(str(obstacle), path, Part.VALUE))
        return Change(f"/{document.number or 0}", made.intents, made.edits, safe=False)

    def _claim(self, document: Document) -> Iterator[Change]:
        """A document that names a schema of ours names that of the target."""
        span = find_claim_span(document)
        if span is None:
            return
        written = document.source.slice(span)
        quote = written[0] if written[0] in "\"'" else ""
        address = written.strip("\"'")
        folder = address[: address.rfind("/") + 1] if address.endswith(".schema.json") else BASE
        url = folder + self.target.schema
        intents = () if span.end <= document.preamble.end else (ReplaceValue(("$schema",), url),)
        yield Change(f"/{document.number or 0}", intents, (Edit(span, f"{quote}{url}{quote}"),), safe=False)

    def _leave(self, document: Document, unmet: Unmet) -> Left:
        path = unmet.path if document.number is None else (document.number, *unmet.path)
        span = document.span(unmet.path, unmet.part)
        return Left(Finding(self.target.name, Severity.ERROR, unmet.reason, span, pointer(path)), unmet.reason)


def _convert(document: Document, rubrics: list[Rubric], target: Target) -> Iterator[Intent | Unmet]:
    for rubric in rubrics:
        yield from convert_criteria(document, rubric, target)


def _move(document: Document, rubrics: list[Rubric], target: Target) -> Iterator[Intent | Unmet]:
    for rubric in rubrics:
        yield from move_criteria(document, rubric.path, target)
    yield from rename_cases(document, [rubric.path for rubric in rubrics])


_STEPS: tuple[_Step, ...] = (_convert, _move)


def _word(intent: Intent) -> str:
    """What an intent does, in a few words."""
    words = "write anew"
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

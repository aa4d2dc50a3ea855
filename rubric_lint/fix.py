"""Fixing a file: findings to new text, again until nothing changes, and the proof that nothing else has changed."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rubric_lint.config import FileSettings
from rubric_lint.finding import Edit, Finding, Fix
from rubric_lint.lint import DEFAULTS, Result, lint
from rubric_lint.proof import Change, find_doubt, move, name_findings
from rubric_lint.rules import BY_NAME
from rubric_lint.source import Source, Span

MAX_ROUNDS = 20
"""How often a text is fixed and linted again. Two or three times is what it takes; more would be a fault of a rule."""


class Applied(NamedTuple):
    """A fix that was made: the rule that asked for it, and what it did."""

    rule: str
    title: str


class Left(NamedTuple):
    """A finding that a fix was expected for and that stays, with the reason."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """What became of one file. Where `doubt` says something the text is as it was, and nothing must be written.

    `result` is what the linter says of the text after the fixes.
    """

    before: Source
    result: Result
    applied: tuple[Applied, ...] = ()
    doubt: str = ""

    @property
    def is_changed(self) -> bool:
        """Whether there is something to write."""
        return bool(self.applied)

    @property
    def text(self) -> str:
        """The text after the fixes."""
        return self.result.source.text if self.applied else self.before.text

    @property
    def data(self) -> bytes:
        """The bytes after the fixes."""
        return self.before.to_bytes(self.text)

    def left(self, *, unsafe: bool = False) -> Iterator[Left]:
        """The findings that a fix was to be expected for, and why there is none."""
        for finding in self.result.findings:
            if finding.fix:
                if unsafe or finding.fix.safe:
                    yield Left(finding, self.doubt or "it would clash with another fix")
            elif finding.obstacle or BY_NAME[finding.rule].fix == "safe":
                yield Left(finding, finding.obstacle or finding.message)


def fix(name: str, data: bytes, settings: FileSettings = DEFAULTS, *, unsafe: bool = False) -> Fixed:
    """Make all safe fixes in one file, with `unsafe` the others too, and prove the outcome.

    Unsafe fixes that the proof refuses are left out, and the safe ones made without them.

    Raises:
        RuleError: when a rule crashes; nothing that stands in `data` should make one.
    """
    first = lint(name, data, settings)
    fixed = _fix_until_stable(first, data, settings, unsafe=unsafe)
    if fixed.doubt and unsafe:
        safely = _fix_until_stable(first, data, settings, unsafe=False)
        return safely if safely.applied else fixed
    return fixed


def _fix_until_stable(first: Result, data: bytes, settings: FileSettings, *, unsafe: bool) -> Fixed:
    result, before = first, first.source
    known = name_findings(first.findings)
    applied: list[Applied] = []
    for _ in range(MAX_ROUNDS):
        chosen = list(choose(result.findings, unsafe=unsafe))
        if not chosen:
            break
        if not applied and before.to_bytes(before.text) != data:
            return Fixed(before, first, doubt="its bytes cannot be written again as they are")
        changes = [Change(finding.pointer, fix.intents, fix.edits, fix.safe) for finding, fix in chosen]
        source = result.source
        text = splice(source.text, (edit for _, fix in chosen for edit in fix.edits))
        new = Source(source.name, text, source.encoding, source.bom)
        if doubt := find_doubt(source, new, changes, settings):
            return Fixed(before, first, doubt=doubt)
        result = lint(source.name, new.to_bytes(text), settings)
        known = move(known, changes)
        applied += [Applied(finding.rule, fix.title) for finding, fix in chosen]
    else:
        return Fixed(before, first, doubt=f"its fixes do not come to an end in {MAX_ROUNDS} rounds")
    for finding in result.findings:
        if (finding.rule, finding.pointer) not in known:
            line = result.source.position(finding.span.start).line
            return Fixed(before, first, doubt=f"line {line} would be a new finding, {finding.rule}: {finding.message}")
    return Fixed(before, result, tuple(applied))


def choose(findings: Iterable[Finding], *, unsafe: bool) -> Iterator[tuple[Finding, Fix]]:
    """The fixes that can be made at once: of those that touch the same text the first."""
    taken: list[Span] = []
    fixable = ((finding, finding.fix) for finding in findings if finding.fix and (unsafe or finding.fix.safe))
    for finding, fix in sorted(fixable, key=lambda pair: pair[1].edits):
        if all(_is_free(edit.span, taken) for edit in fix.edits):
            for edit in fix.edits:
                taken.insert(bisect_left(taken, edit.span), edit.span)
            yield finding, fix


def _is_free(span: Span, taken: list[Span]) -> bool:
    at = bisect_left(taken, span)
    if at < len(taken) and (taken[at] == span or taken[at].start < span.end):
        return False
    return at == 0 or taken[at - 1].end <= span.start


def splice(text: str, edits: Iterable[Edit]) -> str:
    """The text after disjoint edits."""
    pieces, before = [], 0
    for (start, end), new in sorted(edits):
        pieces += [text[before:start], new]
        before = end
    return "".join([*pieces, text[before:]])

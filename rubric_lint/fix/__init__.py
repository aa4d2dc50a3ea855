"""Fixing a file: findings to new text, again until nothing changes, and the proof that nothing else has changed."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

from rubric_lint.catalogue import CURRENT
from rubric_lint.config import FileSettings
from rubric_lint.finding import Edit, Finding, Fix, ReplaceValue, Result, Severity
from rubric_lint.fix.proof import Change, Known, find_doubt, move, name_findings
from rubric_lint.lint import DEFAULTS, lint
from rubric_lint.locate import find_claim, find_claim_span
from rubric_lint.reading import read_documents
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


Refused = Mapping[str, Known]
"""The findings that are not fixed as there would be doubt, by what it would be."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """What became of one file. Where `doubt` says something the text is as it was, and nothing must be written.

    `original` holds the bytes as they came, `result` is what the linter says of the text after the fixes. `left_out`
    says why some fixes were not even tried: with them there would have been doubt. `refused` names the findings that
    this holds for one by one. `unmet` is what a target cannot say or does not load. `notes` tell what a rewriting took
    for granted.
    """

    before: Source
    original: bytes
    result: Result
    applied: tuple[Applied, ...] = ()
    doubt: str = ""
    left_out: str = ""
    refused: Refused = field(default_factory=dict)
    unmet: tuple[Left, ...] = ()
    notes: tuple[str, ...] = ()

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
        """The bytes after the fixes; where none was made, those that came in."""
        return self.before.to_bytes(self.text) if self.applied else self.original

    def faults(self) -> Iterator[Finding]:
        """The places where the file cannot be read."""
        return (finding for finding in self.result.findings if finding.rule == "syntax")

    def left(self, *, unsafe: bool = False) -> Iterator[Left]:
        """The findings that a fix was to be expected for, and why there is none."""
        yield from self.unmet
        for finding in self.result.findings:
            if finding.fix:
                if unsafe or finding.fix.safe:
                    yield Left(finding, self.doubt or self._refusal(finding) or "it would clash with another fix")
            elif finding.obstacle or BY_NAME[finding.rule].fix == "safe":
                yield Left(finding, finding.obstacle or finding.message)

    def _refusal(self, finding: Finding) -> str:
        name = (finding.rule, finding.pointer)
        reason = next((reason for reason, names in self.refused.items() if name in names), "")
        return reason or ("" if finding.fix and finding.fix.safe else self.left_out)


def fix(name: str, data: bytes, settings: FileSettings = DEFAULTS, *, unsafe: bool = False) -> Fixed:
    """Make all safe fixes in one file, with `unsafe` the others too, and prove the outcome.

    A file that names the schema of an older version names the current one afterwards. Where the proof refuses that, or
    some of the fixes, the others are made without them.

    Raises:
        RuleError: when a rule crashes; nothing that stands in `data` should make one.
    """
    first = lint(name, data, settings)
    if first.is_stopped:  # without all findings there is no proof that a fix brings no new one
        return Fixed(first.source, data, first)
    claims = list(_renew_claims(first.source, settings)) if first.rubrics else []
    attempts = product([claims, []] if claims else [[]], [True, False] if unsafe else [False])
    fixed = _fix_until_stable(first, data, settings, *next(attempts))
    if fixed.doubt and unsafe:
        fixed = _fix_in_part(first, data, settings, fixed, claims, unsafe=True)
    for attempt in attempts:
        if not fixed.doubt:
            break
        fixed = replace(_fix_until_stable(first, data, settings, *attempt), left_out=fixed.left_out or fixed.doubt)
    return _fix_in_part(first, data, settings, fixed, [], unsafe=False) if fixed.doubt else fixed


MAX_TRIALS = 20
"""How many parts of the fixes of a file are tried where all of them together are refused."""


_Claims = list[tuple[Applied, Change]]


def _fix_in_part(
    first: Result, data: bytes, settings: FileSettings, whole: Fixed, claims: "_Claims", *, unsafe: bool
) -> Fixed:
    """Make the fixes without those that bring doubt, which are found by halving; return `whole` where none is left."""
    names = [
        (finding.rule, finding.pointer) for finding in first.findings if finding.fix and (unsafe or finding.fix.safe)
    ]
    parts: list[tuple[Sequence[tuple[str, str]], str]] = [(list(dict.fromkeys(names)), whole.doubt)]
    kept, is_useful = frozenset[tuple[str, str]](), False
    refused: dict[str, Known] = {}
    for _ in range(MAX_TRIALS):
        while parts and len(parts[-1][0]) < 2 and parts[-1][1]:
            part, doubt = parts.pop()
            refused[doubt] = refused.get(doubt, frozenset()) | frozenset(part)
        if not parts:
            break
        part, doubt = parts.pop()
        if doubt:
            middle = len(part) // 2
            parts += [(part[middle:], ""), (part[:middle], "")]
            part, doubt = parts.pop()
        trial = kept.union(part)
        others = {whole.doubt: frozenset(names) - trial}
        fixed = _fix_until_stable(first, data, settings, claims, unsafe=unsafe, refused=others)
        if fixed.doubt:
            parts.append((part, fixed.doubt))
        else:
            kept, is_useful = trial, is_useful or fixed.is_changed
    for part, doubt in parts:  # not tried any more
        reason = doubt or whole.doubt
        refused[reason] = refused.get(reason, frozenset()) | frozenset(part)
    if not is_useful:
        return whole
    fixed = _fix_until_stable(first, data, settings, claims, unsafe=unsafe, refused=refused)
    return replace(fixed, left_out=whole.left_out)


def _fix_until_stable(
    first: Result,
    data: bytes,
    settings: FileSettings,
    claims: "_Claims",
    unsafe: bool,
    *,
    refused: Refused | None = None,
) -> Fixed:
    result, before = first, first.source
    known, refused = name_findings(first.findings), refused or {}
    applied: list[Applied] = []
    for _ in range(MAX_ROUNDS):
        chosen = claims or [
            (Applied(finding.rule, fix.title), Change(finding.pointer, fix.intents, fix.edits, fix.safe))
            for finding, fix in choose(_without(result.findings, refused), unsafe=unsafe)
        ]
        claims = []
        if not chosen:
            break
        if not applied and before.to_bytes(before.text) != data:
            return Fixed(before, data, first, doubt="its bytes cannot be written again as they are")
        changes = [change for _, change in chosen]
        source = result.source
        text = splice(source.text, (edit for change in changes for edit in change.edits))
        new = Source(source.name, text, source.encoding, source.bom)
        if doubt := find_doubt(source, new, changes, settings):
            return Fixed(before, data, first, doubt=doubt)
        result = lint(source.name, new.to_bytes(text), settings)
        known = move(known, changes)
        refused = {reason: move(names, changes) for reason, names in refused.items()}
        applied += [each for each, _ in chosen]
    else:
        return Fixed(before, data, first, doubt=f"its fixes do not come to an end in {MAX_ROUNDS} rounds")
    cures_error = unsafe and _count_errors(result) < _count_errors(first)
    for finding in result.findings:
        if cures_error and finding.severity is not Severity.ERROR:
            continue  # an error that is mended may have hidden this one
        # A fault of syntax was there before, as is proven, though the old text may not have been known as meant for us.
        if finding.rule != "syntax" and (finding.rule, finding.pointer) not in known:
            line = result.source.position(finding.span.start).line
            doubt = f"line {line} would be a new finding, {finding.rule}: {finding.message}"
            return Fixed(before, data, first, doubt=doubt)
    return Fixed(before, data, result, tuple(applied), refused=refused)


def _count_errors(result: Result) -> int:
    return sum(finding.severity is Severity.ERROR for finding in result.findings)


def _without(findings: Iterable[Finding], refused: Refused) -> list[Finding]:
    names = frozenset[tuple[str, str]]().union(*refused.values())
    return [finding for finding in findings if (finding.rule, finding.pointer) not in names]


DEPRECATIONS = frozenset({"deprecated-description", "deprecated-required"})
_VERSION = re.compile(r"(?<=[-/])v\d+(?=[./])")


def _renew_claims(source: Source, settings: FileSettings) -> Iterator[tuple[Applied, Change]]:
    """The changes that make the documents of a file name the schema of the current version."""
    if "$schema" not in source.text or not (settings.enabled is None or settings.enabled >= DEPRECATIONS):
        return
    for document in read_documents(source)[0]:
        claim, span = find_claim(document), find_claim_span(document)
        if claim is None or span is None or claim.version == CURRENT:
            continue
        version = list(_VERSION.finditer(source.text, *span))[-1]
        url = source.text[span.start : version.start()] + CURRENT + source.text[version.end() : span.end]
        is_modeline = span.end <= document.preamble.end
        intents = () if is_modeline else (ReplaceValue(("$schema",), url.strip("\"'")),)
        edits = (Edit(Span(*version.span()), CURRENT),)
        yield (
            Applied("schema", f"follow {CURRENT}"),
            Change(f"/{document.number or 0}/$schema", intents, edits, safe=True),
        )


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

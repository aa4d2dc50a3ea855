"""Fix a file: apply fixes until nothing changes, and prove that nothing else has changed."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

from rubric_lint.dialects.search.locate import find_claim, find_claim_span
from rubric_lint.finding import Edit, Finding, Fix, ReplaceValue, Result, Severity
from rubric_lint.fix.following import DataChange, Known, move, name_findings
from rubric_lint.fix.proof import adds_document, find_doubt, renumber
from rubric_lint.format.schema_files import CURRENT
from rubric_lint.lint.engine import DEFAULTS, lint
from rubric_lint.messages import join_words
from rubric_lint.project.settings import FileSettings
from rubric_lint.rules import BY_NAME
from rubric_lint.text.reading import read_documents, without_collections
from rubric_lint.text.source import Source, Span

MAX_ROUNDS = 20
"""The maximum number of rounds in which a text is fixed and linted; three are enough unless a rule has a bug."""


class Wish(NamedTuple):
    """Which fixes to apply besides the safe ones: the plain `unsafe` ones, and those that are named in `choices`.

    Where a finding has several of the named choices, the one that is named first is applied.
    """

    unsafe: bool = False
    choices: tuple[str, ...] = ()

    def pick(self, finding: Finding) -> Fix | None:
        """Return the fix of a finding that is to be applied."""
        for name in self.choices if finding.choices else ():
            for fix in finding.choices:
                if fix.choice == name:
                    return fix
        return finding.fix if finding.fix and (self.unsafe or finding.fix.safe) else None


SAFE = Wish()
"""Only the safe fixes."""


class Applied(NamedTuple):
    """An applied fix: its rule and its title."""

    rule: str
    title: str


class Left(NamedTuple):
    """A finding that a user may expect to be fixed but that stays, with the reason."""

    finding: Finding
    reason: str


class Note(NamedTuple):
    """What a user should know of a rewriting, with the offset in the original text that it is about, if any."""

    message: str
    at: int | None = None


Refused = Mapping[str, Known]
"""The findings that are not fixed because of doubt, by the reason."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The outcome of fixing one file; with a `doubt`, the text is unchanged and nothing may be written.

    `original` are the bytes as read, `result` is the lint result after the fixes. `left_out` says why some fixes were
    not tried: with them there would have been doubt. `refused` are the findings that this was true of one by one.
    `unmet` is what a target cannot express or load. `notes` are assumptions of a rewriting. `doubt_at` is
    the offset of the cause of the doubt, if it is known.
    """

    before: Source
    original: bytes
    result: Result
    applied: tuple[Applied, ...] = ()
    doubt: str = ""
    left_out: str = ""
    refused: Refused = field(default_factory=dict)
    unmet: tuple[Left, ...] = ()
    notes: tuple[Note, ...] = ()
    doubt_at: int | None = None

    @property
    def is_changed(self) -> bool:
        """True if there is something to write."""
        return bool(self.applied)

    @property
    def text(self) -> str:
        """The text after the fixes."""
        return self.result.source.text if self.applied else self.before.text

    @property
    def data(self) -> bytes:
        """The bytes after the fixes; without any, the original bytes."""
        return self.before.to_bytes(self.text) if self.applied else self.original

    def faults(self) -> Iterator[Finding]:
        """Return the syntax errors of the file."""
        return (finding for finding in self.result.findings if finding.rule == "syntax")

    def left(self, *, unsafe: bool = False, choices: Sequence[str] = ()) -> Iterator[Left]:
        """Find the findings that a user may expect to be fixed, with the reason why they are not."""
        wish = Wish(unsafe, tuple(choices))
        yield from self.unmet
        for finding in self.result.findings:
            if wish.pick(finding):
                yield Left(finding, self.doubt or self._refusal(finding) or "it conflicts with another fix")
            elif finding.fix or (finding.choices and not wish.unsafe):
                continue
            elif finding.choices:
                answers = [f"{fix.title} (--choose {fix.choice})" for fix in finding.choices]
                yield Left(finding, f"only you can choose: {join_words(answers, 'or')}")
            elif finding.obstacle or BY_NAME[finding.rule].fix == "safe":
                yield Left(finding, finding.obstacle or finding.message)

    def _refusal(self, finding: Finding) -> str:
        name = (finding.rule, finding.pointer)
        reason = next((reason for reason, names in self.refused.items() if name in names), "")
        return reason or ("" if finding.fix and finding.fix.safe else self.left_out)


@without_collections()
def fix(
    name: str,
    data: bytes,
    settings: FileSettings = DEFAULTS,
    *,
    unsafe: bool = False,
    choices: Sequence[str] = (),
) -> Fixed:
    """Apply all safe fixes to one file, with `unsafe` the others too, and prove the outcome.

    `choices` are names of answers that only an author can pick. Of those that one finding has, the first is applied.

    If the file names the schema of an older version, it names the current one afterwards. If the proof refuses that, or
    some of the fixes, only the others are applied.

    Raises:
        RuleError: if a rule crashes, which no `data` should cause.
    """
    first, wish = lint(name, data, settings), Wish(unsafe, tuple(choices))
    if first.is_stopped:  # without all findings, nothing proves that a fix causes no new one
        return Fixed(first.source, data, first)
    claims = list(_renew_claims(first.source, settings)) if first.rubrics else []
    attempts = product([claims, []] if claims else [[]], [SAFE] if wish == SAFE else [wish, SAFE])
    fixed = _fix_until_stable(first, data, settings, *next(attempts))
    if fixed.doubt and wish != SAFE:
        fixed = _fix_in_part(first, data, settings, fixed, claims, wish=wish)
    for attempt in attempts:
        if not fixed.doubt:
            break
        fixed = replace(_fix_until_stable(first, data, settings, *attempt), left_out=fixed.left_out or fixed.doubt)
    return _fix_in_part(first, data, settings, fixed, [], wish=SAFE) if fixed.doubt else fixed


MAX_TRIALS = 20
"""The maximum number of subsets of the fixes of a file that are tried if all of them together are refused."""


_Claims = list[tuple[Applied, DataChange]]


def _fix_in_part(
    first: Result, data: bytes, settings: FileSettings, whole: Fixed, claims: "_Claims", *, wish: Wish
) -> Fixed:
    """Apply the fixes without those that cause doubt, found by bisection; return `whole` if none is left."""
    names = [(finding.rule, finding.pointer) for finding in first.findings if wish.pick(finding)]
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
        fixed = _fix_until_stable(first, data, settings, claims, wish, refused=others)
        if fixed.doubt:
            parts.append((part, fixed.doubt))
        else:
            kept, is_useful = trial, is_useful or fixed.is_changed
    for part, doubt in parts:  # not tried any more
        reason = doubt or whole.doubt
        refused[reason] = refused.get(reason, frozenset()) | frozenset(part)
    if not is_useful:
        return whole
    fixed = _fix_until_stable(first, data, settings, claims, wish, refused=refused)
    return replace(fixed, left_out=whole.left_out)


def _fix_until_stable(
    first: Result,
    data: bytes,
    settings: FileSettings,
    claims: "_Claims",
    wish: Wish,
    *,
    refused: Refused | None = None,
) -> Fixed:
    result, before = first, first.source
    known, refused = name_findings(first.findings), refused or {}
    applied: list[Applied] = []
    for _ in range(MAX_ROUNDS):
        chosen = claims or [
            (Applied(finding.rule, fix.title), DataChange(finding.pointer, fix.intents, fix.edits, fix.safe))
            for finding, fix in choose(_without(result.findings, refused), wish)
        ]
        claims = []
        if not chosen:
            break
        if not applied and before.to_bytes(before.text) != data:
            return Fixed(before, data, first, doubt="its bytes cannot be reproduced exactly")
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
        return Fixed(before, data, first, doubt=f"its fixes do not converge in {MAX_ROUNDS} rounds")
    if doubt := find_new(first, result, known, is_safe=wish == SAFE):
        return Fixed(before, data, first, doubt=doubt)
    return Fixed(before, data, result, tuple(applied), refused=refused)


def find_new(before: Result, after: Result, known: Known, *, is_safe: bool) -> str:
    """Return the first finding after some fixes that is not `known`, in words; empty if there is none.

    An error that unsafe fixes remove may have hidden a warning.
    """
    cures_error = not is_safe and _count_errors(after) < _count_errors(before)
    for finding in after.findings:
        if cures_error and finding.severity is not Severity.ERROR:
            continue
        # The proof covers syntax errors; the old text may not have been recognised as a rubric, so they seem new.
        if finding.rule != "syntax" and (finding.rule, finding.pointer) not in known:
            line = after.source.position(finding.span.start).line
            return f"line {line} would be a new finding, {finding.rule}: {finding.message}"
    return ""


def _count_errors(result: Result) -> int:
    return sum(finding.severity is Severity.ERROR for finding in result.findings)


def _without(findings: Iterable[Finding], refused: Refused) -> list[Finding]:
    names = frozenset[tuple[str, str]]().union(*refused.values())
    return [finding for finding in findings if (finding.rule, finding.pointer) not in names]


DEPRECATIONS = frozenset({"deprecated-description", "deprecated-required"})
_VERSION = re.compile(r"(?<=[-/])v\d+(?=[./])")


def _renew_claims(source: Source, settings: FileSettings) -> Iterator[tuple[Applied, DataChange]]:
    """Find the changes that make the documents of a file name the schema of the current version."""
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
            DataChange(f"/{document.number or 0}/$schema", intents, edits, safe=True),
        )


def choose(findings: Iterable[Finding], wish: Wish) -> Iterator[tuple[Finding, Fix]]:
    """Choose the fixes that can be applied at once: of those that touch the same text, the first.

    Each may add a document to the end of the file, after those that the others before it add.
    """
    taken: list[Span] = []
    added = 0
    fixable = ((finding, fix) for finding in findings if (fix := wish.pick(finding)))
    for finding, fix in sorted(fixable, key=lambda pair: pair[1].edits):
        is_adding = adds_document(fix)
        edits = fix.edits[:-1] if is_adding and added else fix.edits  # the last one adds the document
        if all(_is_free(edit.span, taken) for edit in edits):
            for edit in edits:
                taken.insert(bisect_left(taken, edit.span), edit.span)
            yield finding, renumber(fix, added) if is_adding and added else fix
            added += is_adding


def _is_free(span: Span, taken: list[Span]) -> bool:
    at = bisect_left(taken, span)
    if at < len(taken) and (taken[at] == span or taken[at].start < span.end):
        return False
    return at == 0 or taken[at - 1].end <= span.start


def splice(text: str, edits: Iterable[Edit]) -> str:
    """Return the text after disjoint edits."""
    pieces, before = [], 0
    for (start, end), new in sorted(edits, key=lambda edit: edit.span):  # those at one place stay in their order
        pieces += [text[before:start], new]
        before = end
    return "".join([*pieces, text[before:]])

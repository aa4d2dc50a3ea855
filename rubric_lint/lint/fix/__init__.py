"""Fix a file: apply fixes until nothing changes, and prove that nothing else has changed.

Call `fix`. `search` finds the fixes that pass the proof together, `choosing` those that can be applied at once, `proof`
compares data, and `new_findings` findings. `formatting` and `silence` change a file in other ways, `run` many files.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from rubric_lint.formats.search.locate import find_claim, find_claim_span
from rubric_lint.lint.engine import DEFAULTS, examine, examine_file
from rubric_lint.lint.fix.choosing import choose
from rubric_lint.lint.fix.new_findings import (
    DataChange,
    describe_change,
    find_new,
    format_new_finding,
    identify,
    list_edits,
    list_renames,
)
from rubric_lint.lint.fix.outcome import CONVERSIONS, SAFE, Applied, Fixed, FixSelection, Left, Note
from rubric_lint.lint.fix.proof import find_proof_failure
from rubric_lint.lint.fix.search import MAX_ROUNDS, ChosenFix, FixSearch, TimeLimitError
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.finding import Finding, Result
from rubric_lint.model.schema_files import CURRENT
from rubric_lint.source.document import Document
from rubric_lint.source.edits.intents import Fix, ReplaceValue
from rubric_lint.source.reading import read_documents, without_collections
from rubric_lint.source.source import Edit, Source, Span, splice

__all__ = [
    "CONVERSIONS",
    "DEPRECATIONS",
    "SAFE",
    "Applied",
    "FixSelection",
    "Fixed",
    "Left",
    "Note",
    "any_unsafe",
    "choose",
    "find_trouble",
    "find_version",
    "fix",
]


@without_collections()
def fix(
    name: str, data: bytes, settings: FileSettings = DEFAULTS, *, unsafe: bool = False, choices: Sequence[str] = ()
) -> Fixed:
    """Apply all safe fixes to one file, with `unsafe` the others too, and prove the outcome.

    `choices` are names of answers that only an author can pick. Of those that one finding has, the first is applied.

    If the file names the schema of an older version, it names the current one afterwards. If the proof refuses that, or
    some of the fixes, only the others are applied.

    Raises:
        RuleError: if a rule crashes, which no `data` should cause.
    """
    first, wish = examine_file(name, data, settings), FixSelection(unsafe, tuple(choices))
    source, result = first.result.source, first.result
    if result.is_stopped:  # without all findings, nothing proves that a fix causes no new one
        return Fixed(source, data, result)
    if source.to_bytes(source.text) != data and any(map(wish.pick, result.findings)):
        return Fixed(source, data, result, doubt="its bytes cannot be reproduced exactly")
    examined, applied = first, list[Applied]()
    for _ in range(MAX_ROUNDS):
        claims = list(_renew_claims(examined.result.source, settings)) if examined.rubrics else []
        try:
            trial, refused, left_out = FixSearch(examined, settings, SAFE).run(claims, {})
            done = trial.applied
            if wish != SAFE:  # on top of the safe fixes, so that no unsafe one can cost any of these
                trial, refused, _ = FixSearch(trial.examined, settings, wish).run([], refused)
                done = [*done, *trial.applied]
        except TimeLimitError:
            return Fixed(source, data, result, doubt="the time limit was reached before its fixes were proved")
        examined, applied = trial.examined, applied + done
        if not (done and (refused or left_out)):  # otherwise one of them may have become possible
            return Fixed(source, data, examined.result, tuple(applied), left_out=left_out, refused=refused)
    return Fixed(source, data, result, doubt=f"its fixes do not converge in {MAX_ROUNDS} rounds")


def find_trouble(result: Result, chosen: Sequence[tuple[Finding, Fix]], settings: FileSettings) -> str:
    """Return why fixes of findings of a text must not be applied to it together; empty if they may be.

    They may be if the data changes as they say and no other way, no comment is lost, their findings are gone, and no
    finding is new. `result` has all findings of the text.
    """
    old = result.source
    changes = [describe_change(finding, fix) for finding, fix in chosen]
    new = old._replace(text=splice(old.text, list_edits(changes)))
    reason = find_proof_failure(old, new, changes, settings)
    if reason:
        return reason
    after = examine(new, settings).result
    for finding in find_new(result, after, changes):
        return format_new_finding(after, finding)
    renames = list_renames(changes)
    then = Counter(identify(finding, renames) for finding in result.findings)
    now = Counter(identify(finding, renames) for finding in after.findings)
    for finding, _ in chosen:
        subjects = identify(finding, renames)
        if now[subjects] >= then[subjects]:
            return f"{finding.rule} would still be found"
    return ""


def any_unsafe(chosen: Sequence[tuple[Finding, Fix]]) -> bool:
    """Return whether one of some fixes may change what a rubric means."""
    return not all(fix.safe for _, fix in chosen)


DEPRECATIONS = frozenset({"deprecated-description", "deprecated-required"})
_VERSION = re.compile(r"(?<=[-/])v\d+(?=[./])")


def find_version(document: Document) -> Span | None:
    """Return where a document names the version of our schema that it follows; None if it names none itself."""
    span = find_claim_span(document)
    if span is None:
        return None
    *_, last = _VERSION.finditer(document.source.text, *span)
    return Span(*last.span())


def _renew_claims(source: Source, settings: FileSettings) -> Iterator[ChosenFix]:
    """Find the changes that make the documents of a file with an older version name the schema of the current one."""
    if "$schema" not in source.text or not (settings.enabled is None or settings.enabled >= DEPRECATIONS):
        return
    for document in read_documents(source)[0]:
        claim, span = find_claim(document), find_claim_span(document)
        if claim is None or span is None or claim.version >= CURRENT:
            continue
        start, end = find_version(document) or span
        url = source.text[span.start : start] + CURRENT + source.text[end : span.end]
        is_modeline = span.end <= document.preamble.end
        intents = () if is_modeline else (ReplaceValue(("$schema",), url.strip("\"'")),)
        edits = (Edit(Span(start, end), CURRENT),)
        change = DataChange(f"/{document.number or 0}/$schema", intents, edits, safe=True)
        yield ChosenFix([Applied("schema", f"follow {CURRENT}")], None, change)

"""Fix a file: apply fixes until nothing changes, and prove that nothing else has changed."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from rubric_lint.formats.search.locate import find_claim, find_claim_span
from rubric_lint.lint.engine import DEFAULTS, Examined, examine, examine_file
from rubric_lint.lint.fix.new_findings import (
    DataChange,
    Offsets,
    find_added,
    identify,
    list_edits,
    list_intents,
    list_renames,
)
from rubric_lint.lint.fix.proof import ParsedText, ProofFailure, find_proof_failure, find_proof_failures, renumber
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.finding import LIST_CHOICES, Finding, Result, Severity
from rubric_lint.model.messages import join_words
from rubric_lint.model.schema_files import CURRENT, VERSION_3
from rubric_lint.rules import BY_NAME
from rubric_lint.source.document import Document
from rubric_lint.source.edits.intents import Arrange, Fix, InsertItems, MoveItems, RenameKey, ReplaceValue, WrapText
from rubric_lint.source.path import Path
from rubric_lint.source.reading import read_documents, without_collections
from rubric_lint.source.source import Edit, Source, Span, splice

MAX_ROUNDS = 20
"""The maximum number of rounds in which a text is fixed and linted; three are enough unless a rule has a bug."""


class FixSelection(NamedTuple):
    """Which fixes to apply besides the safe ones: the plain `unsafe` ones, and those that are named in `choices`.

    Where a finding has several of the named choices, the one that is named first is applied.
    """

    unsafe: bool = False
    choices: tuple[str, ...] = ()

    def pick(self, finding: Finding) -> Fix | None:
        """Return the fix of a finding that is to be applied."""
        if finding.choices and self.choices:
            wanted = self.choices
            chosen = [fix for fix in finding.choices if fix.choice in wanted or {*fix.choice.split(",")} <= {*wanted}]
            if len(chosen) == 1:
                return chosen[0]
            if chosen:  # of those that begin with the first name, the one that takes up most of the names
                return min(chosen, key=self._rank)
        return finding.fix if finding.fix and (self.unsafe or finding.fix.safe) else None

    def _rank(self, fix: Fix) -> tuple[int, int]:
        names = fix.choice.split(",")  # two go together, as in `upper-keeps,add-band`
        return min(self.choices.index(name) for name in names), -len(names)


SAFE = FixSelection()
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


CONVERSIONS = ("agentv-", VERSION_3)
"""What the names of conversions begin with, which stand among those of the rules of fixes."""

Refused = Mapping[tuple[str, str], str]
"""Why fixes were refused, by the rule and the JSON Pointer of their finding."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The outcome of fixing one file; with a `doubt`, the text is unchanged and nothing may be written.

    `original` are the bytes as read, `result` is the lint result after the fixes. `left_out` says why the file keeps
    naming the schema of an older version. `refused` has the reason for each finding, by its rule and its JSON Pointer,
    whose fix was tried and did not pass the proof.
    `unmet` is what a target cannot express or load, `is_suite` whether the file is a suite that a target could have.
    `notes` are assumptions of a rewriting. `doubt_at` is the offset of the cause of the doubt, if it is known.
    `is_kept_back`: it could be rewritten, but not all files that belong together can.
    """

    before: Source
    original: bytes
    result: Result
    applied: tuple[Applied, ...] = ()
    doubt: str = ""
    left_out: str = ""
    refused: Mapping[tuple[str, str], str] = field(default_factory=dict)
    unmet: tuple[Left, ...] = ()
    notes: tuple[Note, ...] = ()
    doubt_at: int | None = None
    is_suite: bool = False
    is_kept_back: bool = False

    @property
    def is_changed(self) -> bool:
        """True if there is something to write."""
        return bool(self.applied)

    @property
    def conversion(self) -> Applied | None:
        """The conversion to a release of AgentV or to version 3, one of the applied fixes; None if there was none."""
        return next((applied for applied in self.applied if applied.rule.startswith(CONVERSIONS)), None)

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
        wish = FixSelection(unsafe, tuple(choices))
        yield from self.unmet
        for finding in self.result.findings:
            if wish.pick(finding):
                reason = self.doubt or self.refused.get((finding.rule, finding.pointer))
                yield Left(finding, reason or "it conflicts with another fix")
            elif finding.choices and (wish.unsafe or LIST_CHOICES in wish.choices):
                answers = [f"{fix.title} (--choose {fix.choice})" for fix in finding.choices]
                yield Left(finding, f"only you can choose: {join_words(answers, 'or')}")
            elif finding.fix or finding.choices:
                continue
            elif finding.obstacle or BY_NAME[finding.rule].fix == "safe":
                yield Left(finding, finding.obstacle or finding.message)


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
        claims = [*_renew_claims(examined.result.source, settings)] if examined.rubrics else []
        try:
            trial, refused, left_out = _FixSearch(examined, settings, SAFE).run(claims, {})
            done = trial.applied
            if wish != SAFE:  # on top of the safe fixes, so that no unsafe one can cost any of these
                trial, refused, _ = _FixSearch(trial.examined, settings, wish).run([], refused)
                done = [*done, *trial.applied]
        except _StoppedError:
            return Fixed(source, data, result, doubt="the time limit was reached before its fixes were proved")
        examined, applied = trial.examined, applied + done
        if not (done and (refused or left_out)):  # otherwise one of them may have become possible
            return Fixed(source, data, examined.result, tuple(applied), left_out=left_out, refused=refused)
    return Fixed(source, data, result, doubt=f"its fixes do not converge in {MAX_ROUNDS} rounds")


MAX_TRIALS = 100
"""The maximum number of sets of fixes that are tried. Each trial that fails refuses some, or halves those in doubt."""


class _FixId(NamedTuple):
    """The identity of an applied fix: the round in which it was applied, and its finding then."""

    round: int
    rule: str
    pointer: str


_LeftOut = dict[tuple[str, int], _FixId]
"""The findings whose fixes are left out, by their rule and offset, each with the identity of the fix."""


@dataclass(frozen=True)
class _ChosenFix:
    """A fix of a round: `applied` has one entry for each finding that it cures. The change of a claim has no `id`."""

    applied: Sequence[Applied]
    id: _FixId | None
    change: DataChange


class _FixRound:
    """One round: what was examined before it, and the fixes."""

    def __init__(self, examined: Examined, chosen: Sequence[_ChosenFix]) -> None:
        self.examined = examined
        self.changes = [fix.change for fix in chosen]
        self._changes_by_id = [(fix.id, fix.change) for fix in chosen if fix.id]

    @property
    def ids(self) -> list[_FixId]:
        return [fix_id for fix_id, _ in self._changes_by_id]

    @cached_property
    def edits(self) -> list[Edit]:
        return list_edits(self.changes)

    def find_touching(self, start: int, end: int, *, is_renaming: bool = False) -> Iterator[_FixId]:
        """Find the fixes with an edit that overlaps a span or touches it; of those, maybe only who renames a field."""
        named = self._renaming if is_renaming else self._named
        for at in range(bisect_right(named, (end, len(self.examined.result.source.text) + 1)) - 1, -1, -1):
            *_, stop, name = named[at]
            if stop < start:
                return
            yield name

    @cached_property
    def _named(self) -> list[tuple[int, int, _FixId]]:
        edits: list[tuple[int, int, _FixId]] = []
        for fix_id, change in self._changes_by_id:
            edits += [(*edit.span, fix_id) for edit in change.edits]
        return sorted(edits)

    @cached_property
    def _renaming(self) -> list[tuple[int, int, _FixId]]:
        ids: set[_FixId] = set()
        for fix_id, change in self._changes_by_id:
            if any(isinstance(intent, RenameKey) for intent in change.intents):
                ids.add(fix_id)
        return [named for named in self._named if named[-1] in ids]

    def find_old(self, span: Span, length: int) -> Span:
        """Return a span of the text after the round, of a length, before it; in a new document, what goes there."""
        for change in reversed(self._adding):
            length -= len(change.edits[-1].text)
            if span.start >= length:
                return change.edits[0].span
        return Span(*map(self._offsets.find_old, span))

    @cached_property
    def _adding(self) -> list[DataChange]:
        return [change for change in self.changes if change.adds_document]

    @cached_property
    def _offsets(self) -> Offsets:
        return Offsets(self.edits)

    def find_entry(self, at: int) -> Span | None:
        """Return the extent of the criterion at an offset."""
        number = bisect_right(self._entries, at, key=itemgetter(0)) - 1
        return self._entries[number] if number >= 0 and at <= self._entries[number].end else None

    @cached_property
    def _entries(self) -> list[Span]:
        extents: list[Span] = []
        for document, rubric in self.examined.rubrics:
            extents += map(document.extent, rubric.entries_by_place)
        return sorted(extents)


@dataclass(frozen=True, slots=True)
class _Trial:
    """What some fixes came to: the rounds, what is examined after them, and the failures.

    `left` are the places afterwards of the fixes that were left out. The places of failures are in the text before the
    last round, and with `is_broken` about this round only.
    """

    rounds: list[_FixRound]
    examined: Examined
    applied: list[Applied]
    left: dict[tuple[str, str], _FixId]
    failures: list[ProofFailure]
    is_broken: bool = False

    def suspect(self, proven: Collection[_FixId], *, is_strict: bool) -> tuple[dict[_FixId, str], dict[_FixId, str]]:
        """Return the fixes to refuse, and those that wait until others are proved, each with the reason.

        If it `is_strict`, only fixes that touch the place of a failure are, and none if any failure has no such fix.
        """
        seen = set[tuple[Span, ...]]()
        found = [
            (failure, self._find_suspects(failure, proven, seen, is_strict=is_strict)) for failure in self.failures
        ]
        refused, waiting = dict[_FixId, str](), dict[_FixId, str]()
        if is_strict and not all(suspects for _, suspects in found):
            return refused, waiting
        kept: set[_FixId] = set()  # something has to be left to try
        for failure, suspects in sorted(found, key=lambda pair: len(pair[1])):
            if len(suspects) == 1:
                refused.setdefault(suspects[0], failure.reason)
            elif refused.keys().isdisjoint(suspects):
                suspects.sort(key=attrgetter("round"))  # those of a later round may be possible only after these
                kept |= {name for name in suspects[: len(suspects) // 2] if name not in waiting}
                waiting |= {name: failure.reason for name in suspects[len(suspects) // 2 :] if name not in kept}
        return refused, waiting

    def _find_suspects(
        self, failure: ProofFailure, proven: Collection[_FixId], seen: set[tuple[Span, ...]], *, is_strict: bool
    ) -> list[_FixId]:
        """Return the fixes that touch the place of a failure, or else those of its criterion, or else all.

        With those that touch it come those that give a field of its criterion a name by which it is read.

        Of several failures about one criterion that no fix touches, only the first one yields any; `seen` has these.
        """
        rounds = self.rounds[-1:] if self.is_broken else self.rounds
        places: list[tuple[_FixRound, Span]] = []
        for place in failure.places:  # in the text before the last round; it is traced back through the others
            span = place
            for number in range(len(rounds) - 1, -1, -1):
                places.append((rounds[number], span))
                if number:
                    span = rounds[number - 1].find_old(span, len(rounds[number].examined.result.source.text))
        touching = _find_unproven(places, proven)
        if is_strict:
            return touching
        entries: list[tuple[_FixRound, Span]] = []
        for fix_round, span in places:
            entry = fix_round.find_entry(span.start)
            if entry:
                entries.append((fix_round, entry))
        if touching:
            return [*dict.fromkeys([*touching, *_find_unproven(entries, proven, is_renaming=True)])]
        key = tuple(entry for _, entry in entries)
        if key in seen:
            return []
        seen.add(key)
        every_id = chain.from_iterable(fix_round.ids for fix_round in rounds)
        return _find_unproven(entries, proven) or [fix_id for fix_id in every_id if fix_id not in proven]


def _find_unproven(
    places: Iterable[tuple[_FixRound, Span]], proven: Collection[_FixId], *, is_renaming: bool = False
) -> list[_FixId]:
    """Return the fixes that touch one of some places, without those that are proven."""
    found: dict[_FixId, None] = {}
    for fix_round, span in places:
        found |= dict.fromkeys(fix_round.find_touching(*span, is_renaming=is_renaming))
    return [fix_id for fix_id in found if fix_id not in proven]


@dataclass(frozen=True, slots=True)
class _FixSearch:
    """The search for the fixes that pass the proof together.

    All are tried at once. If that fails, each failure has a place: the fixes that touch it, or else those of its
    criterion or of the file, are suspected. One suspect is refused; of several, half wait until the others are proved.
    So fixes of different criteria do not cost each other, and many failures take hardly more trials than one.
    """

    first: Examined
    settings: FileSettings
    wish: FixSelection

    def run(self, claims: Sequence[_ChosenFix], given: Refused) -> tuple[_Trial, Refused, str]:
        """Try sets of fixes until all that are left have either passed the proof or been refused.

        Return the last trial that passed, what was refused, besides what is `given`, and why `claims` were left out.
        """
        known = {_FixId(0, *name): reason for name, reason in given.items()}
        refused, waiting = dict(known), list[dict[_FixId, str]]()
        doubted, last = dict[_FixId, str](), ""
        best: tuple[frozenset[_FixId], _Trial] | None = None
        left_out = ""
        for _ in range(MAX_TRIALS):
            excluded = frozenset(refused).union(*waiting)
            trial = best[1] if best and best[0] == excluded else self._try(excluded, claims)
            if not trial.failures:
                best = excluded, trial
                if not waiting:
                    break
                waiting.pop()
                continue
            proven: set[_FixId] = set()
            if best:
                proven.update(*(fix_round.ids for fix_round in best[1].rounds))
            causes, suspected = trial.suspect(proven, is_strict=bool(claims))
            refused |= causes
            if suspected:
                waiting.append(suspected)
            doubted, last = doubted | suspected, trial.failures[0].reason
            if causes or suspected:
                continue
            if not claims:
                break
            claims, left_out = (), trial.failures[0].reason
            best, refused, waiting = None, dict(known), []
        if not best:
            fixable = [finding for finding in self.first.result.findings if self.wish.pick(finding)]
            names = frozenset(_FixId(0, finding.rule, finding.pointer) for finding in fixable)
            best = names, self._try(names, ())
        reasons = doubted | refused
        _, passed = best
        return passed, {place: reasons.get(fix_id, last) for place, fix_id in passed.left.items()}, left_out

    def _try(self, excluded: frozenset[_FixId], claims: Sequence[_ChosenFix]) -> _Trial:
        """Apply all fixes but the excluded ones; prove the data after each round, and the findings at the end."""
        first = self.first.result
        examined, reading = self.first, ParsedText(first.source, self.settings, self.first)
        left: _LeftOut = {}
        rounds, applied, changes = list[_FixRound](), list[Applied](), list[DataChange]()
        failures = [ProofFailure(f"its fixes do not converge in {MAX_ROUNDS} rounds")]
        for number in range(MAX_ROUNDS):
            chosen = claims or self._choose(number, examined.result, excluded, left)
            claims = ()
            if not chosen:
                failures = [*self._find_added(rounds, examined.result, changes)]
                break
            this_round = _FixRound(examined, chosen)
            rounds.append(this_round)
            text = splice(examined.result.source.text, this_round.edits)
            examined = examine(examined.result.source._replace(text=text), self.settings)
            if examined.result.is_stopped:
                raise _StoppedError
            after = ParsedText(examined.result.source, self.settings, examined)
            broken = [*find_proof_failures(reading, after, this_round.changes)]
            if broken:
                return _Trial(rounds, examined, applied, _place_all(examined.result, left), broken, is_broken=True)
            reading, left = after, _shift(left, this_round.edits)
            changes += this_round.changes
            applied += chain.from_iterable(fix.applied for fix in chosen)
        return _Trial(rounds, examined, applied, _place_all(examined.result, left), failures)

    def _choose(self, number: int, result: Result, excluded: frozenset[_FixId], left: _LeftOut) -> list[_ChosenFix]:
        """Choose the fixes of a round; add what the excluded ones would fix to those that are `left`."""
        groups: dict[Any, list[tuple[Finding, Fix]]] = {}  # by scale or edits: one fix cures all findings of a scale
        for finding in result.findings:
            fix = self.wish.pick(finding)
            if fix is not None and (finding.rule, finding.span.start) not in left:
                key = _find_arranged(finding, fix) or fix.edits
                groups.setdefault(key, []).append((finding, fix))
        candidates = {}
        for pairs in groups.values():
            first, _ = min(pairs, key=lambda pair: pair[1].edits)
            name = _FixId(number, first.rule, first.pointer)
            if name in excluded:
                left |= {(finding.rule, finding.span.start): name for finding, _ in pairs}
            else:
                candidates[id(first)] = first, pairs
        chosen: list[_ChosenFix] = []
        for finding, fix in choose([first for first, _ in candidates.values()], self.wish):
            _, pairs = candidates[id(finding)]
            applied = [Applied(cured.rule, fix.title) for cured, _ in pairs]
            fix_id = _FixId(number, finding.rule, finding.pointer)
            chosen.append(_ChosenFix(applied, fix_id, _describe_change(finding, fix)))
        return chosen

    def _find_added(
        self, rounds: Sequence[_FixRound], result: Result, changes: Sequence[DataChange]
    ) -> Iterator[ProofFailure]:
        """Find the findings that the changes bring, and where they come from in the text before the last round."""
        length = len(result.source.text)
        for finding in find_new(self.first.result, result, changes):
            spans = [finding.span, *(place.span for place in finding.related if place.source is None)]
            places = [rounds[-1].find_old(span, length) for span in spans]
            yield ProofFailure(format_new_finding(result, finding), tuple(places))


def _shift(left: _LeftOut, edits: Sequence[Edit]) -> _LeftOut:
    """Move the offsets of what was left out as some sorted edits do."""
    ends = [edit.span.end for edit in edits]
    shifts = [0, *accumulate(len(new) - (end - start) for (start, end), new in edits)]
    return {(rule, at + shifts[bisect_right(ends, at)]): name for (rule, at), name in left.items()}


def _place_all(result: Result, left: _LeftOut) -> dict[tuple[str, str], _FixId]:
    """Return the places of the findings whose fixes were left out."""
    return {
        (finding.rule, finding.pointer): left[finding.rule, finding.span.start]
        for finding in result.findings
        if (finding.rule, finding.span.start) in left
    }


class _StoppedError(Exception):
    """The time limit was reached while the fixes were proved."""


def find_new(before: Result, after: Result, changes: Sequence[DataChange]) -> Iterator[Finding]:
    """Find the new findings after some changes.

    A text that is put where it belongs may be warned of, as it is read now, and so may what a field with a new name
    decides, or a scale in a rubric of its own, as it decides a verdict now.
    """
    intents = list_intents(changes)
    is_moved = any(isinstance(intent, MoveItems) for intent in intents)
    names = {*list_renames(changes).values(), *(intent.name for intent in intents if isinstance(intent, WrapText))}
    for finding in find_added(before.findings, after.findings, changes):
        steps = chain(finding.pointer.split("/"), *(place.path for place in finding.related))
        is_read_now = is_moved or not names.isdisjoint(steps)
        # The proof covers syntax errors; the old text may not have been recognised as a rubric, so they seem new.
        if finding.rule != "syntax" and not (is_read_now and finding.severity is not Severity.ERROR):
            yield finding


def find_trouble(result: Result, chosen: Sequence[tuple[Finding, Fix]], settings: FileSettings) -> str:
    """Return why fixes of findings of a text must not be applied to it together; empty if they may be.

    They may be if the data changes as they say and no other way, no comment is lost, their findings are gone, and no
    finding is new. `result` has all findings of the text.
    """
    old = result.source
    changes = [_describe_change(finding, fix) for finding, fix in chosen]
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


def _describe_change(finding: Finding, fix: Fix) -> DataChange:
    return DataChange(finding.pointer, fix.intents, fix.edits, fix.safe)


def any_unsafe(chosen: Sequence[tuple[Finding, Fix]]) -> bool:
    """Return whether one of some fixes may change what a rubric means."""
    return not all(fix.safe for _, fix in chosen)


def format_new_finding(after: Result, finding: Finding) -> str:
    """Describe a new finding."""
    line = after.source.position(finding.span.start).line
    return f"line {line} would be a new finding, {finding.rule}: {finding.message}"


DEPRECATIONS = frozenset({"deprecated-description", "deprecated-required"})
_VERSION = re.compile(r"(?<=[-/])v\d+(?=[./])")


def find_version(document: Document) -> Span | None:
    """Return where a document names the version of our schema that it follows; None if it names none itself."""
    span = find_claim_span(document)
    if span is None:
        return None
    *_, last = _VERSION.finditer(document.source.text, *span)
    return Span(*last.span())


def _renew_claims(source: Source, settings: FileSettings) -> Iterator[_ChosenFix]:
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
        yield _ChosenFix([Applied("schema", f"follow {CURRENT}")], None, change)


def choose(findings: Iterable[Finding], wish: FixSelection) -> Iterator[tuple[Finding, Fix]]:
    """Choose the fixes that can be applied at once: of those that touch the same text, the first.

    A scale is arranged by one fix at a time, and a list of criteria split by one.
    A criterion is copied last, after the fixes in it, which the copies would need too. Each may add a document to the
    end of the file, after those that the others before it add.
    """
    candidates = []
    for finding in findings:
        fix = wish.pick(finding)
        if fix:
            scale = _find_arranged(finding, fix) or _find_split(finding, fix)
            copied = None if scale else _find_copied(finding, fix)
            candidates.append((copied is not None, fix.edits, finding, fix, scale, copied))
    candidates.sort(key=itemgetter(0, 1))
    has_copies = bool(candidates) and candidates[-1][0]
    edited: list[Span] = []
    arranged, changed = set[tuple[str, Path] | None](), set[tuple[str, Path] | None]()
    added = 0
    for _, every_edit, finding, fix, scale, copied in candidates:
        if (copied and copied in changed) or (scale and scale in arranged):
            continue
        is_adding = any(intent.adds_document for intent in fix.intents)
        edits = every_edit[:-1] if is_adding and added else every_edit  # the last one adds the document
        if all(_is_free(edit.span, edited) for edit in edits):
            arranged.add(scale)
            for edit in edits:
                edited.insert(bisect_left(edited, edit.span), edit.span)
            if has_copies:
                changed.update(_find_changed(finding, fix))
            yield finding, renumber(fix, added) if is_adding and added else fix
            added += is_adding


def _find_copied(finding: Finding, fix: Fix) -> tuple[str, Path] | None:
    """Return the criterion that a fix copies which arranges no scale, with the first step of its pointer."""
    if not fix.choice:
        return None
    copied = [intent.path for intent in fix.intents if isinstance(intent, InsertItems)]
    return (finding.pointer.split("/", 2)[1], copied[0]) if copied else None


def _find_changed(finding: Finding, fix: Fix) -> Iterator[tuple[str, Path]]:
    """Yield what a fix changes, and all that holds it, with the first step of its pointer."""
    step = finding.pointer.split("/", 2)[1]
    for intent in fix.intents:
        place = intent.place or ()
        yield from ((step, place[:length]) for length in range(1, len(place) + 1))


def _find_arranged(finding: Finding, fix: Fix) -> tuple[str, Path] | None:
    """Return the scale that a fix arranges, with the first step of its pointer: of several documents, the number."""
    first = fix.intents[0] if fix.intents else None
    return (finding.pointer.split("/", 2)[1], first.path) if isinstance(first, Arrange) else None


def _find_split(finding: Finding, fix: Fix) -> tuple[str, Path] | None:
    """Return the list whose items a fix moves to another rubric, with the first step of its pointer."""
    moved = [intent.path for intent in fix.intents if isinstance(intent, MoveItems)]
    return (finding.pointer.split("/", 2)[1], moved[0]) if moved else None


def _is_free(span: Span, edited: list[Span]) -> bool:
    at = bisect_left(edited, span)
    if at < len(edited) and (edited[at] == span or edited[at].start < span.end):
        return False
    return at == 0 or edited[at - 1].end <= span.start

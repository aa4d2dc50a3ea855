"""Search for the fixes of a file that pass the proof together."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from rubric_lint.lint.engine import Examined, examine
from rubric_lint.lint.fix.choosing import choose, find_arranged
from rubric_lint.lint.fix.new_findings import (
    DataChange,
    Offsets,
    describe_change,
    find_new,
    format_new_finding,
    list_edits,
)
from rubric_lint.lint.fix.outcome import Applied, FixSelection
from rubric_lint.lint.fix.proof import ParsedText, ProofFailure, find_proof_failures
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.finding import Finding, Result
from rubric_lint.source.edits.intents import Fix, RenameKey
from rubric_lint.source.source import Edit, Span, splice

MAX_ROUNDS = 20
"""The maximum number of rounds in which a text is fixed and linted; three are enough unless a rule has a bug."""


Refused = Mapping[tuple[str, str], str]
"""Why fixes were refused, by the rule and the JSON Pointer of their finding."""


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
class ChosenFix:
    """A fix of a round: `applied` has one entry for each finding that it cures. The change of a claim has no `id`."""

    applied: Sequence[Applied]
    id: _FixId | None
    change: DataChange


class _FixRound:
    """One round: what was examined before it, and the fixes."""

    def __init__(self, examined: Examined, chosen: Sequence[ChosenFix]) -> None:
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
            return list(dict.fromkeys([*touching, *_find_unproven(entries, proven, is_renaming=True)]))
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
class FixSearch:
    """The search for the fixes that pass the proof together.

    All are tried at once. If that fails, each failure has a place: the fixes that touch it, or else those of its
    criterion or of the file, are suspected. One suspect is refused; of several, half wait until the others are proved.
    So fixes of different criteria do not cost each other, and many failures take hardly more trials than one.
    """

    first: Examined
    settings: FileSettings
    wish: FixSelection

    def run(self, claims: Sequence[ChosenFix], given: Refused) -> tuple[_Trial, Refused, str]:
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

    def _try(self, excluded: frozenset[_FixId], claims: Sequence[ChosenFix]) -> _Trial:
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
                failures = list(self._find_added(rounds, examined.result, changes))
                break
            this_round = _FixRound(examined, chosen)
            rounds.append(this_round)
            text = splice(examined.result.source.text, this_round.edits)
            examined = examine(examined.result.source._replace(text=text), self.settings)
            if examined.result.is_stopped:
                raise TimeLimitError
            after = ParsedText(examined.result.source, self.settings, examined)
            broken = list(find_proof_failures(reading, after, this_round.changes))
            if broken:
                return _Trial(rounds, examined, applied, _place_all(examined.result, left), broken, is_broken=True)
            reading, left = after, _shift(left, this_round.edits)
            changes += this_round.changes
            applied += chain.from_iterable(fix.applied for fix in chosen)
        return _Trial(rounds, examined, applied, _place_all(examined.result, left), failures)

    def _choose(self, number: int, result: Result, excluded: frozenset[_FixId], left: _LeftOut) -> list[ChosenFix]:
        """Choose the fixes of a round; add what the excluded ones would fix to those that are `left`."""
        groups: dict[Any, list[tuple[Finding, Fix]]] = {}  # by scale or edits: one fix cures all findings of a scale
        for finding in result.findings:
            fix = self.wish.pick(finding)
            if fix is not None and (finding.rule, finding.span.start) not in left:
                key = find_arranged(finding, fix) or fix.edits
                groups.setdefault(key, []).append((finding, fix))
        candidates = {}
        for pairs in groups.values():
            first, _ = min(pairs, key=lambda pair: pair[1].edits)
            name = _FixId(number, first.rule, first.pointer)
            if name in excluded:
                left |= {(finding.rule, finding.span.start): name for finding, _ in pairs}
            else:
                candidates[id(first)] = first, pairs
        chosen: list[ChosenFix] = []
        for finding, fix in choose([first for first, _ in candidates.values()], self.wish):
            _, pairs = candidates[id(finding)]
            applied = [Applied(cured.rule, fix.title) for cured, _ in pairs]
            fix_id = _FixId(number, finding.rule, finding.pointer)
            chosen.append(ChosenFix(applied, fix_id, describe_change(finding, fix)))
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


class TimeLimitError(Exception):
    """The time limit was reached while the fixes were proved."""

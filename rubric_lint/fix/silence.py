"""Silence a file: write ignore comments for its findings, and prove that nothing else has changed."""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from rubric_lint.edits.making import NEVER_REWRITTEN
from rubric_lint.finding import Finding, Result
from rubric_lint.fix import Left
from rubric_lint.fix.comment_places import CommentPlace, Places
from rubric_lint.fix.proof import find_differences
from rubric_lint.lint.engine import DEFAULTS, lint
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Edit, Kind, Source, Span, kind_of, splice

MAX_TRIES = 20
"""The maximum number of places that are tried for a comment; usually the first one works."""


@dataclass(frozen=True, slots=True)
class Silenced:
    """The outcome of silencing one file; `result` is its new lint result, `left` its findings with the reasons.

    `comments` were added or extended, for `findings`. Without comments, the text is unchanged.
    """

    before: Source
    result: Result
    findings: int = 0
    comments: int = 0
    left: tuple[Left, ...] = ()

    @property
    def is_changed(self) -> bool:
        """True if there is something to write."""
        return self.comments > 0

    @property
    def data(self) -> bytes:
        """The bytes with the comments."""
        return self.before.to_bytes(self.result.source.text)


def silence(name: str, data: bytes, settings: FileSettings = DEFAULTS, reason: str = "") -> Silenced:
    """Write an ignore comment for each finding, with a `reason` after it, and prove that no data has changed.

    Raises:
        RuleError: if a rule crashes, which no `data` should cause.
    """
    first = lint(name, data, settings)
    source = first.source
    if first.is_stopped:
        return _leave(first, "linting this file was stopped, so not all findings are known")
    if not first.findings:
        return Silenced(source, first)
    kind = kind_of(source.name)
    if kind.is_json:
        return _leave(first, "JSON has no comments; list it in a baseline, or under `per-file-ignores`")
    if kind is not Kind.YAML:
        why = NEVER_REWRITTEN if kind.is_program else "comments are written into YAML only"
        return _leave(first, f"{why}; write the comment yourself, or list it in a baseline")
    if source.to_bytes(source.text) != data:
        return _leave(first, "the bytes of the file cannot be reproduced exactly")
    result, comments = _Attempt(first, settings, reason).run()
    left = tuple(Left(finding, _why(finding)) for finding in result.findings)
    return Silenced(source, result, len(first.findings) - len(left), comments, left)


def can_be_silenced(name: str, finding: Finding) -> bool:
    """Return whether a comment could silence a finding in a file of this name; there may still be no place for it."""
    return finding.rule not in ("syntax", "unused-ignore") and kind_of(name) is Kind.YAML


def silence_one(result: Result, finding: Finding, settings: FileSettings = DEFAULTS) -> str | None:
    """Return the text with an ignore comment for one finding of a result; None if there is no place for it."""
    if not can_be_silenced(result.source.name, finding):
        return None
    silenced, comments = _Attempt(result, settings, "").place(result, [finding])
    return silenced.source.text if comments else None


def _leave(result: Result, why: str) -> Silenced:
    return Silenced(result.source, result, left=tuple(Left(finding, why) for finding in result.findings))


def _why(finding: Finding) -> str:
    match finding.rule:
        case "syntax":
            return "comments in a file with a syntax error are not read; fix the error"
        case "unused-ignore":
            return "the finding is about the comment itself; correct it or remove it"
        case _:
            return "no comment can be placed to silence it"


Key = tuple[str, str]
"""The identity of a finding: comments change neither its rule nor its JSON Pointer."""


def _key(finding: Finding) -> Key:
    return finding.rule, finding.pointer


class _Attempt:
    """The search for places; each is tried by linting the text with the comment."""

    def __init__(self, first: Result, settings: FileSettings, reason: str) -> None:
        self._first = first
        self._settings = settings
        self._reason = reason

    def run(self) -> tuple[Result, int]:
        """Return the result with comments, and their number."""
        found = [finding for finding in self._first.findings if _could_be_silenced(finding)]
        found = [finding for finding in found if finding.rule != "unused-ignore"]
        result, comments = self.place(self._first, found)
        # Only now unused comments show, some of them because of the new ones above.
        idle = [finding for finding in result.findings if finding.rule == "unused-ignore" and finding.fix]
        result, more = self.place(result, idle)
        return result, comments + more

    def place(self, base: Result, wanted: list[Finding]) -> tuple[Result, int]:
        """Return the result with comments for the wanted findings, and their number."""
        if not wanted:
            return base, 0
        source = base.source
        longest = len("  # rubric-lint: ignore[]") + len(self._reason) + max(len(finding.rule) for finding in wanted)
        choice = _Choice(Places(source, read_documents(source)[0], longest), wanted)
        while chosen := choice.make():
            edits = {place: place.edit(rules, self._reason) for place, rules in chosen.items()}
            new = _rewrite(source, splice(source.text, edits.values()))
            if only_comments_differ(source, new):
                result = lint(new.name, new.to_bytes(new.text), self._settings)
                if not choice.fails({_key(finding) for finding in result.findings if _could_be_silenced(finding)}):
                    return result, len(chosen)
            elif not choice.refuses(set(_find_culprits(source, edits))):
                break
        return base, 0


def _could_be_silenced(finding: Finding) -> bool:
    """Return whether a comment can be tried; for unused comments, only if they have a fix and so name a rule."""
    return finding.rule != "syntax" and (finding.rule != "unused-ignore" or finding.fix is not None)


class _Choice:
    """A place for each finding; after each failure, the next one."""

    def __init__(self, places: Places, wanted: list[Finding]) -> None:
        self._places = places
        self._wanted = wanted
        self._tries: Counter[Key] = Counter()
        self._refused: set[CommentPlace] = set()

    def make(self) -> dict[CommentPlace, set[str]]:
        """Return places and the rules to name there; wide places first, because one may be enough for many findings."""
        pairs = [(place, finding) for finding in self._wanted if (place := self._candidate(finding))]
        chosen: dict[CommentPlace, set[str]] = {}
        wide: dict[str, list[Span]] = {}  # disjoint and in order
        for place, finding in sorted(pairs, key=lambda pair: pair[0].reach.start - pair[0].reach.end):
            reaches = wide.setdefault(finding.rule, [])
            number = bisect_left(reaches, (max(*finding.span, finding.span.start + 1),))
            if number and reaches[number - 1].end > finding.span.start:
                continue
            chosen.setdefault(place, set()).add(finding.rule)
            if place.is_wide:
                insort(reaches, place.reach)
        return chosen

    def _candidate(self, finding: Finding) -> CommentPlace | None:
        tries = self._tries[_key(finding)]
        if tries >= MAX_TRIES:
            return None
        candidates = (place for place in self._places.around(finding) if place not in self._refused)
        return next(islice(candidates, tries, None), None)

    def fails(self, remaining: set[Key]) -> bool:
        """Return whether a chosen place has failed, given the remaining findings."""
        failed = {_key(finding) for finding in self._wanted if _key(finding) in remaining and self._candidate(finding)}
        self._tries.update(failed)
        return bool(failed)

    def refuses(self, culprits: set[CommentPlace]) -> bool:
        """Exclude places from the choice; return whether there were any."""
        self._refused |= culprits
        return bool(culprits)


def _rewrite(source: Source, text: str) -> Source:
    return Source(source.name, text, source.encoding, source.bom)


def _find_culprits(source: Source, edits: Mapping[CommentPlace, Edit]) -> Iterator[CommentPlace]:
    """Find the places at which a comment would not be read as one."""
    for place, edit in edits.items():
        if not only_comments_differ(source, _rewrite(source, splice(source.text, [edit]))):
            yield place


def only_comments_differ(old: Source, new: Source) -> bool:
    """Return whether two texts have the same data in the same characters, except for comments and white space."""
    (before, faults), (after, new_faults) = read_documents(old), read_documents(new)
    if faults or new_faults or len(before) != len(after):
        return False
    if any(True for pair in zip(before, after, strict=True) for _ in find_differences(*pair, frozenset())):
        return False
    return [document.tree.code.split() for document in before[:1]] == [
        document.tree.code.split() for document in after[:1]
    ]

"""Silence a file: write ignore comments for its findings, and prove that nothing else has changed."""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

from rubric_lint.lint.engine import DEFAULTS, lint
from rubric_lint.lint.fix import Left
from rubric_lint.lint.fix.proof import find_differences
from rubric_lint.lint.ignore_comments import EntriesByLine, Ignore, find_ignores, is_alone
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.finding import Finding, Result
from rubric_lint.source.document import Document
from rubric_lint.source.edits.making import NEVER_REWRITTEN
from rubric_lint.source.lines import line_end, line_start
from rubric_lint.source.path import Part
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Edit, Kind, Source, Span, kind_of, splice

_COLUMNS = 120
"""The preferred maximum length of a line with a comment."""


_LEVELS = 10
"""The number of entries around a finding that are tried, from the innermost outwards."""


@dataclass(frozen=True, slots=True)
class CommentPlace:
    """A place for an ignore comment, or an existing one: `at` its end, `reach` the range in which it silences.

    Text at a new place goes between `before` and `after`, and is of a `kind`. With `is_wide`, it reaches beyond its own
    line.
    """

    at: int
    reach: Span
    before: str = ""
    after: str = ""
    kind: str = ""
    is_wide: bool = False

    def reaches(self, finding: Finding) -> bool:
        """Return whether a comment here could silence the finding."""
        start, end = finding.span
        return self.reach.start <= max(start, end - 1) and start < self.reach.end

    def edit(self, rules: set[str], reason: str) -> Edit:
        """Return the edit that silences findings of `rules` from here."""
        names = ", ".join(sorted(rules))
        if self.kind:
            tail = f" {reason}" if reason else ""
            names = f"{self.before}# rubric-lint: {self.kind}[{names}]{tail}{self.after}"
        else:
            names = f", {names}"
        return Edit(Span(self.at, self.at), names)


class CommentPlaces:
    """The places for comments in a YAML file, read into `documents`; places that disturb a reader come last."""

    def __init__(self, source: Source, documents: list[Document], longest: int) -> None:
        self._source = source
        self._documents = documents
        self._room = _COLUMNS - longest
        self._ignores = [ignore for ignore in find_ignores(source, documents) if ignore.names]

    def around(self, finding: Finding) -> Iterator[CommentPlace]:
        """Yield places where a comment may silence the finding; the caller must try them."""
        if finding.rule == "unused-ignore":
            for ignore in self._ignores:
                if any(name.span == finding.span for name in ignore.names):
                    yield _in(ignore)
            return
        line = self._line(finding.span.start)
        last = self._line(max(finding.span.start, finding.span.end - 1))
        suits = {number: self._suits(number) for number in (line, last)}
        if suits[line]:
            yield from self._behind(line)
        yield from self._above(line, finding)
        if suits[last] and last != line:
            yield from self._behind(last)
        around = chain.from_iterable(self._above(above, finding) for above in range(line - 1, 0, -1))
        yield from islice(around, _LEVELS)
        for number, is_suitable in suits.items():
            if not is_suitable:
                yield from self._behind(number)
        everywhere = Span(0, len(self._source.text) + 1)
        ignore_of_file = self._standing.get(everywhere)
        if ignore_of_file:
            yield _in(ignore_of_file, is_wide=True)
            return
        preamble_end = self._documents[0].preamble.end if self._documents else 0
        start = line_start(self._source.text, preamble_end)
        yield CommentPlace(start, everywhere, "", self._new_line(start), "ignore-file", is_wide=True)

    def _line(self, at: int) -> int:
        return self._source.position(at).line

    def _suits(self, line: int) -> bool:
        """Return whether a comment after a line disturbs nobody: it is short, and every YAML reader accepts it."""
        start, end = self._source.line_span(line)
        return line in self._trailing or (end - start <= self._room and line not in self._unfinished)

    def _behind(self, line: int) -> Iterator[CommentPlace]:
        start, end = self._source.line_span(line)
        code = self._documents[0].tree.code[start:end]
        starts, ends = self._scalars
        number = bisect_right(starts, end) - 1
        # In a scalar, a comment would be text, or follow the `|` of a block scalar.
        if not code.strip() or (number >= 0 and end < ends[number]):
            return
        ignore = self._trailing.get(line)
        if ignore:
            yield _in(ignore)
            return
        text = self._source.text[start:end]
        blanks = len(text) - len(text.rstrip())
        wanted = 2 if code == text else 1  # before a second comment one blank is enough
        yield CommentPlace(end, Span(start, end + 1), " " * max(wanted - blanks, 0), kind="ignore")

    def _above(self, line: int, finding: Finding) -> Iterator[CommentPlace]:
        """Yield the place above the entry that begins on `line`, if the finding is in it."""
        reach = self._entries.at(line)
        if reach is None:
            return
        start, end = self._source.line_span(line)
        text = self._source.text[start:end]
        indent = text[: len(text) - len(text.lstrip(" \t"))]
        place = CommentPlace(start, reach, indent, self._new_line(start), "ignore", is_wide=True)
        if place.reaches(finding):
            ignore = self._standing.get(reach)
            yield _in(ignore, is_wide=True) if ignore else place

    def _new_line(self, at: int) -> str:
        text = self._source.text
        return text[slice(*line_end(text, at))] or text[slice(*line_end(text, 0))] or "\n"

    @cached_property
    def _scalars(self) -> tuple[list[int], list[int]]:
        text = self._source.text
        spans = self._documents[0].tree.scalars if self._documents else []
        # The lines of a block scalar begin at a line end; after the last line there is no room either.
        ends = [end + (text[start] in "\r\n") for start, end in spans]
        return [start for start, _ in spans], ends

    @cached_property
    def _entries(self) -> EntriesByLine:
        return EntriesByLine(self._source, self._documents)

    @cached_property
    def _unfinished(self) -> set[int]:
        """The lines from a key to a scalar below it, where a comment makes ruamel.yaml's round-trip reader fail."""
        lines: set[int] = set()
        for document in self._documents:
            for path, _ in document.entries():
                if isinstance(path[-1], str) and not isinstance(document.value(path), dict | list):
                    key, value = document.span(path, Part.KEY), document.span(path, Part.ENTRY)
                    lines.update(range(self._line(key.start), self._line(value.start)))
        return lines

    @cached_property
    def _trailing(self) -> dict[int, Ignore]:
        behind = [ignore for ignore in self._ignores if not is_alone(self._source, ignore.comment.start)]
        by_line: dict[int, Ignore] = {}
        for ignore in behind:
            line = self._line(ignore.comment.start)
            if ignore.silences.start == self._source.line_span(line).start:
                by_line.setdefault(line, ignore)
        return by_line

    @cached_property
    def _standing(self) -> dict[Span, Ignore]:
        """The ignore comments alone on a line, and those for the whole file, by the range that they silence."""
        behind = {ignore.comment for ignore in self._trailing.values()}
        return {ignore.silences: ignore for ignore in reversed(self._ignores) if ignore.comment not in behind}


def _in(ignore: Ignore, *, is_wide: bool = False) -> CommentPlace:
    return CommentPlace(ignore.names[-1].span.end, ignore.silences, is_wide=is_wide)


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
    found = [finding for finding in first.findings if finding.rule not in ("syntax", "unused-ignore")]
    result, comments = _place(first, found, settings, reason)
    # Only now unused comments show, some of them because of the new ones above.
    idle = [finding for finding in result.findings if finding.rule == "unused-ignore" and finding.fix]
    result, more = _place(result, idle, settings, reason)
    left = tuple(
        Left(finding, _REASONS.get(finding.rule, "no comment can be placed to silence it"))
        for finding in result.findings
    )
    return Silenced(source, result, len(first.findings) - len(left), comments + more, left)


def can_be_silenced(name: str, finding: Finding) -> bool:
    """Return whether a comment could silence a finding in a file of this name; there may still be no place for it."""
    return finding.rule not in ("syntax", "unused-ignore") and kind_of(name) is Kind.YAML


def silence_one(result: Result, finding: Finding, settings: FileSettings = DEFAULTS) -> str | None:
    """Return the text with an ignore comment for one finding of a result; None if there is no place for it."""
    if not can_be_silenced(result.source.name, finding):
        return None
    silenced, comments = _place(result, [finding], settings, "")
    return silenced.source.text if comments else None


def _leave(result: Result, why: str) -> Silenced:
    return Silenced(result.source, result, left=tuple(Left(finding, why) for finding in result.findings))


Key = tuple[str, str]
"""The identity of a finding: comments change neither its rule nor its JSON Pointer."""

_REASONS = {
    "syntax": "comments in a file with a syntax error are not read; fix the error",
    "unused-ignore": "the finding is about the comment itself; correct it or remove it",
}


def _key(finding: Finding) -> Key:
    return finding.rule, finding.pointer


def _place(base: Result, wanted: list[Finding], settings: FileSettings, reason: str) -> tuple[Result, int]:
    """Return the result with comments for the wanted findings, and their number; each place is tried by linting."""
    if not wanted:
        return base, 0
    source = base.source
    longest = len("  # rubric-lint: ignore[]") + len(reason) + max(len(finding.rule) for finding in wanted)
    choice = _PlaceChoice(CommentPlaces(source, read_documents(source)[0], longest), wanted)
    while chosen := choice.make():
        edits = {place: place.edit(rules, reason) for place, rules in chosen.items()}
        new = source._replace(text=splice(source.text, edits.values()))
        if only_comments_differ(source, new):
            result = lint(new.name, new.to_bytes(new.text), settings)
            # An unused comment without a fix names no rule, so that none was tried for it.
            left = [
                finding for finding in result.findings if finding.rule != "unused-ignore" or finding.fix is not None
            ]
            if not choice.fails(set(map(_key, left))):
                return result, len(chosen)
            continue
        alone = {place: source._replace(text=splice(source.text, [edit])) for place, edit in edits.items()}
        culprits = {place for place, new in alone.items() if not only_comments_differ(source, new)}
        if not culprits:
            break
        choice.refused |= culprits
    return base, 0


class _PlaceChoice:
    """A place for each finding; after each failure, the next one."""

    def __init__(self, places: CommentPlaces, wanted: list[Finding]) -> None:
        self._places = places
        self._wanted = wanted
        self._tries: Counter[Key] = Counter()
        self.refused: set[CommentPlace] = set()

    def make(self) -> dict[CommentPlace, set[str]]:
        """Return places and the rules to name there; wide places first, because one may be enough for many findings."""
        candidates = ((self._candidate(finding), finding) for finding in self._wanted)
        pairs = [(place, finding) for place, finding in candidates if place]
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
        candidates = (place for place in self._places.around(finding) if place not in self.refused)
        return next(islice(candidates, tries, None), None)

    def fails(self, remaining: set[Key]) -> bool:
        """Return whether a chosen place has failed, given the remaining findings."""
        failed = {_key(finding) for finding in self._wanted if _key(finding) in remaining and self._candidate(finding)}
        self._tries.update(failed)
        return bool(failed)


def only_comments_differ(old: Source, new: Source) -> bool:
    """Return whether two texts have the same data in the same characters, except for comments and white space."""
    (before, faults), (after, new_faults) = read_documents(old), read_documents(new)
    if faults or new_faults or len(before) != len(after):
        return False
    for one, other in zip(before, after, strict=True):
        if any(True for _ in find_differences(one, other, frozenset())):
            return False
    # All documents of a text have the same tree.
    return not before or before[0].tree.code.split() == after[0].tree.code.split()

"""Find the places where a comment could silence a finding, the narrowest first."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from rubric_lint.edits.lines import line_end, line_start
from rubric_lint.finding import Finding
from rubric_lint.lint.ignore_comments import Entries, Ignore, find_ignores, is_alone
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part
from rubric_lint.text.source import Edit, Source, Span

_COLUMNS = 120
"""The preferred maximum length of a line with a comment."""


_LEVELS = 10
"""The number of entries around a finding that are tried, from the innermost outwards."""


class CommentPlace(NamedTuple):
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


class Places:
    """The places for comments in a YAML file, read into `documents`; places that disturb a reader come last."""

    def __init__(self, source: Source, documents: list[Document], longest: int) -> None:
        self._source = source
        self._documents = documents
        self._room = _COLUMNS - longest
        self._ignores = [ignore for ignore in find_ignores(source, documents) if ignore.names]

    def around(self, finding: Finding) -> Iterator[CommentPlace]:
        """Yield places where a comment may silence the finding; the caller must try them."""
        if finding.rule == "unused-ignore":
            yield from (_in(ignore) for ignore in self._ignores if any(n.span == finding.span for n in ignore.names))
            return
        line = self._line(finding.span.start)
        last = self._line(max(finding.span.start, finding.span.end - 1))
        last_resorts: list[CommentPlace] = []
        for place in self._behind(line):
            if self._suits(line):
                yield place
            else:
                last_resorts.append(place)
        yield from self._above(line, finding)
        for place in self._behind(last) if last != line else ():
            if self._suits(last):
                yield place
            else:
                last_resorts.append(place)
        around = (place for above in range(line - 1, 0, -1) for place in self._above(above, finding))
        yield from islice(around, _LEVELS)
        yield from last_resorts
        yield self._at_the_top()

    def _line(self, at: int) -> int:
        return self._source.position(at).line

    def _suits(self, line: int) -> bool:
        """Return whether a comment after a line disturbs nobody: it is short, and every YAML reader accepts it."""
        start, end = self._source.line_span(line)
        return line in self._trailing or (end - start <= self._room and line not in self._unfinished)

    def _behind(self, line: int) -> Iterator[CommentPlace]:
        """Yield the place at the end of the line."""
        start, end = self._source.line_span(line)
        code = self._documents[0].tree.code[start:end]
        if not code.strip() or self._is_in_scalar(end):
            return
        if ignore := self._trailing.get(line):
            yield _in(ignore)
            return
        text = self._source.text[start:end]
        blanks = len(text) - len(text.rstrip())
        has_comment = code != text
        yield CommentPlace(end, Span(start, end + 1), " " * max((1 if has_comment else 2) - blanks, 0), kind="ignore")

    def _above(self, line: int, finding: Finding) -> Iterator[CommentPlace]:
        """Yield the place above the entry that begins on `line`, if the finding is in it."""
        reach = self._entries.at(line)
        if reach is None:
            return
        start, end = self._source.line_span(line)
        place = CommentPlace(start, reach, self._indentation(start, end), self._new_line(start), "ignore", is_wide=True)
        if place.reaches(finding):
            ignore = self._standing.get(reach)
            yield _in(ignore, is_wide=True) if ignore else place

    def _at_the_top(self) -> CommentPlace:
        everywhere = Span(0, len(self._source.text) + 1)
        if ignore := self._standing.get(everywhere):
            return _in(ignore, is_wide=True)
        first = self._documents[0].preamble.end if self._documents else 0
        start = line_start(self._source.text, first)
        return CommentPlace(start, everywhere, "", self._new_line(start), "ignore-file", is_wide=True)

    def _indentation(self, start: int, end: int) -> str:
        text = self._source.text[start:end]
        return text[: len(text) - len(text.lstrip(" \t"))]

    def _new_line(self, at: int) -> str:
        text = self._source.text
        return text[slice(*line_end(text, at))] or text[slice(*line_end(text, 0))] or "\n"

    def _is_in_scalar(self, at: int) -> bool:
        """Return whether a comment at the end of a line would be text, or follow the `|` of a block scalar."""
        starts, ends = self._scalars
        number = bisect_right(starts, at) - 1
        return number >= 0 and at < ends[number]

    @cached_property
    def _scalars(self) -> tuple[list[int], list[int]]:
        text = self._source.text
        spans = self._documents[0].tree.scalars if self._documents else []
        # The lines of a block scalar begin at a line end; after the last line there is no room either.
        ends = [end + (text[start] in "\r\n") for start, end in spans]
        return [start for start, _ in spans], ends

    @cached_property
    def _entries(self) -> Entries:
        return Entries(self._source, self._documents)

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
        """The ignore comments after content, by line."""
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

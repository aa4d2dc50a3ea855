"""Cache the findings of each case of a suite while its text stays the same.

A case is linted in an excerpt: the suite with only that case. If nothing in it depends on the other cases, its findings
are those of the whole suite, except for the place of the case.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from rubric_lint.dialects import find_families
from rubric_lint.dialects.search.locate import search
from rubric_lint.finding import Edit, Finding, Fix, Intent, MoveItems, Replace, Result
from rubric_lint.lint.engine import examine
from rubric_lint.lint.message_context import write_lines
from rubric_lint.lsp.cases import Cut, compose_case, cut, cut_json, is_plain
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.deadline import Clock
from rubric_lint.text.events import has_old_line_ends, read_yaml
from rubric_lint.text.kinds import Kind, kind_of
from rubric_lint.text.path import Path
from rubric_lint.text.source import Source, Span
from rubric_lint.text.tree import SyntaxFaultError

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True, eq=False)
class Excerpt:
    """The findings of a case.

    `place` is the place of the case in the excerpt's source, `items` its number of entries of the list `list_key`. The
    messages of `findings` have placeholders for lines. `is_plain`: all parsers agree on it. `is_apart`: each of its
    rubrics is in an entry of the list, and is not one itself. `kept` caches what is made of it.
    """

    source: Source
    place: Span
    items: int
    findings: tuple[Finding, ...]
    rubrics: int
    criteria: int
    is_plain: bool
    is_apart: bool
    list_key: str
    kept: dict[str, tuple[Hashable, Any]] = field(default_factory=dict)

    @property
    def lines(self) -> int:
        """The number of lines in the case."""
        return self.source.text.count("\n", *self.place)

    @property
    def names_lines(self) -> bool:
        """Whether messages may name lines, and so depend on where the case begins."""
        return any(finding.related for finding in self.findings)

    def keep(self, name: str, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return what `make` makes of the case; the last of each name is cached, and made anew for another `key`."""
        found = self.kept.get(name)
        if found is None or found[0] != key:
            found = self.kept[name] = key, make()
        made: Kept = found[1]
        return made


class Placed(NamedTuple):
    """An excerpt at its place: how many more characters, lines and entries precede it than in its source."""

    excerpt: Excerpt
    offset: int
    lines: int
    items: int

    def word(self, finding: Finding) -> Finding:
        """Return a finding of the excerpt with line numbers of the whole text in its message."""
        position = self.excerpt.source.position
        lines = (position(place.span.start).line + self.lines for place in finding.related)
        return finding._replace(message=write_lines(finding.message, lines)) if finding.related else finding

    def findings(self) -> Iterator[Finding]:
        """Yield the findings with their places in the whole text."""
        for finding in map(self.word, self.excerpt.findings):
            _, key, index, *rest = finding.pointer.split("/")
            yield finding._replace(
                span=self._move(finding.span),
                pointer="/".join(["", key, str(int(index) + self.items), *rest]),
                related=tuple(place._replace(span=self._move(place.span)) for place in finding.related),
                fix=finding.fix and self._move_fix(finding.fix),
                choices=tuple(map(self._move_fix, finding.choices)),
            )

    def _move(self, span: Span) -> Span:
        return Span(span.start + self.offset, span.end + self.offset)

    def _move_fix(self, fix: Fix) -> Fix:
        edits = tuple(Edit(self._move(edit.span), edit.text) for edit in fix.edits)
        return fix._replace(edits=edits, intents=tuple(map(self._move_intent, fix.intents)))

    def _move_intent(self, intent: Intent) -> Intent:
        if isinstance(intent, Replace):
            return intent._replace(span=self._move(intent.span))
        path = self._move_path(intent.path)
        if isinstance(intent, MoveItems):
            return intent._replace(path=path, holder=self._move_path(intent.holder))
        return intent._replace(path=path)

    def _move_path(self, path: Path) -> Path:
        key, index, *rest = path
        return (key, int(index) + self.items, *rest)


class Memory:
    """The cached cases of one document."""

    def __init__(self) -> None:
        self._of: tuple[str, FileSettings] | None = None
        self._known: dict[tuple[str, str, str], Excerpt] = {}
        self._last: Cut | None = None

    def examine(self, source: Source, settings: FileSettings) -> list[Placed] | None:
        """Lint a suite case by case, only new ones; return None if it must be linted as a whole."""
        if self._of != (source.name, settings):
            self._of, self._known, self._last = (source.name, settings), {}, None
        kind = kind_of(source.name)
        if settings.claimed or kind not in (Kind.YAML, Kind.JSON):
            return None
        parts = cut(source.text) if kind is Kind.YAML else cut_json(source.text)
        if parts is None:
            return None
        known: dict[tuple[str, str, str], Excerpt] = {}
        placed: list[Placed] = []
        offset = lines = items = 0
        for case in parts.cases:
            key = (parts.head, case, parts.tail)
            excerpt = self._known.get(key) or _read(source.name, parts, case, settings)
            if excerpt is None:
                self._known = self._last_excerpts() | known
                return None
            known[key] = excerpt
            placed.append(Placed(excerpt, offset, lines, items))
            offset, lines, items = offset + len(case), lines + excerpt.lines, items + excerpt.items
        self._known, self._last = known, parts
        return placed

    def _last_excerpts(self) -> dict[tuple[str, str, str], Excerpt]:
        parts = self._last
        keys = [(parts.head, case, parts.tail) for case in parts.cases] if parts else []
        return {key: self._known[key] for key in keys}

    def find_fault(self, source: Source, settings: FileSettings) -> SyntaxFaultError | None:
        """Find the syntax error in a text without reading the cases above it; return None if that is not possible.

        All parsers are in the same state before each skipped case and before the one after it. Only cases on which all
        parsers agree are skipped.
        """
        text, parts = source.text, self._last
        if (
            parts is None
            or parts.kind is not Kind.YAML
            or not text.startswith(parts.head)
            or has_old_line_ends(text)
            or "%YAML" in text
        ):
            return None
        starts = [len(parts.head)]
        for case in parts.cases:
            if not text.startswith(case, starts[-1]):
                break
            starts.append(starts[-1] + len(case))
        while starts and not text.startswith(" " * parts.indent + "- ", starts[-1]):
            starts.pop()  # no case follows, so the one above may not have ended
        if not starts:
            return None
        alike = parts.cases[: len(starts) - 1]
        doubtful = (case for case in alike if not self._known[parts.head, case, parts.tail].is_plain)
        at, above = starts[-1], "".join([parts.head, *doubtful])
        gap, lines, clock = at - len(above), text.count("\n", 0, at) - above.count("\n"), Clock(settings.time_limit)
        with clock.phase():
            try:
                read_yaml(above + text[at:], lines)
            except SyntaxFaultError as fault:
                if fault.span.start >= len(above):
                    return SyntaxFaultError(fault.message, Span(fault.span.start + gap, fault.span.end + gap))
        return None


def join_cases(source: Source, cases: Sequence[Placed]) -> Result:
    """Combine the results of the cases of a suite."""
    return Result(
        source,
        tuple(finding for case in cases for finding in case.findings()),
        rubrics=sum(case.excerpt.rubrics for case in cases),
        criteria=sum(case.excerpt.criteria for case in cases),
    )


_IN_CASE = 2  # the list of the cases, and the case; the rubric follows


def _read(name: str, parts: Cut, case: str, settings: FileSettings) -> Excerpt | None:
    """Lint a case; return None if its findings may depend on the other cases or on its place."""
    source, place = Source(name, parts.excerpt(case)), Span(len(parts.head), len(parts.head) + len(case))
    composed = compose_case(parts, case)
    if composed is None or not all(family.is_at_top for family in find_families(source.text, parts.kind)):
        return None
    result, (document, *_), rubrics = examine(source, settings, write=lambda message, _: message)
    inner = place if parts.kind is Kind.YAML else _find_inner(source.text, place)
    if result.is_stopped or not all(_is_within(finding, place, inner) for finding in result.findings):
        return None
    if any(rubric.path[0] != composed.key or len(rubric.path) == 1 for _, rubric in rubrics):
        return None  # it would be counted once for each case, or the cases are its criteria, which rules compare
    if not rubrics and (document.duplicates or search(document, version=settings.version).leftovers):
        return None  # whether these are errors depends on the rubrics of the other cases
    return Excerpt(
        source=source,
        place=place,
        items=composed.items,
        findings=result.findings,
        rubrics=result.rubrics,
        criteria=result.criteria,
        is_plain=parts.kind is Kind.YAML and is_plain(source.text, composed.root),
        is_apart=all(len(rubric.path) > _IN_CASE for _, rubric in rubrics),
        list_key=composed.key,
    )


def _find_inner(text: str, place: Span) -> Span:
    """Return what is between the brackets of a case in JSON; outside, an edit may need the comma to the next one."""
    return Span(text.index("{", *place) + 1, text.rindex("}", *place))


def _is_within(finding: Finding, place: Span, inner: Span) -> bool:
    """Return whether all that a finding mentions is inside a case, and what its fix edits in the `inner` part of it."""
    spans = [finding.span, *(related.span for related in finding.related)]
    paths = [finding.pointer.split("/")[1:]]
    for fix in (*([finding.fix] if finding.fix else []), *finding.choices):
        if not all(inner.start <= edit.span.start and edit.span.end <= inner.end for edit in fix.edits):
            return False
        paths += [[*map(str, intent.path)] for intent in fix.intents if not isinstance(intent, Replace)]
    return all(place.start <= span.start and span.end <= place.end for span in spans) and all(
        len(path) > 1 and path[1].isdecimal() for path in paths
    )

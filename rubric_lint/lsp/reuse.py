"""Cache the findings of each case of a suite while its text stays the same.

A case is linted in an excerpt: the suite with only that case. If nothing in it depends on the other cases, its findings
are those of the whole suite, except for the place of the case.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from rubric_lint.dialects import choose_families, find_words
from rubric_lint.dialects.search.case_signs import find_signs
from rubric_lint.dialects.search.locate import Location
from rubric_lint.finding import Finding, Fix, MoveItems, Replace
from rubric_lint.lint.edits.splitting import LABELS
from rubric_lint.lint.engine import examine
from rubric_lint.lsp.cases import Cut, compose_case, cut, cut_json, is_plain
from rubric_lint.lsp.excerpts import Excerpt, Placed, Suite
from rubric_lint.lsp.surroundings import leave_out
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.deadline import Clock
from rubric_lint.text.events import has_old_line_ends, read_yaml
from rubric_lint.text.kinds import Kind, kind_of
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source, Span
from rubric_lint.text.tree import SyntaxFaultError


class _Read(NamedTuple):
    """What was read of a suite: its `parts`, the `core` of them that was read with each case, and the excerpts."""

    parts: Cut
    core: Cut
    cases: list[Excerpt]
    frame: Excerpt

    def place(self) -> Suite:
        """Return the excerpts at their places."""
        offset, lines, items = len(self.parts.head), self.parts.head.count("\n"), 0
        above, cases = self.core.head.count("\n"), list[Placed]()
        for excerpt in self.cases:
            cases.append(Placed(excerpt, offset - len(self.core.head), lines - above, items))
            offset, lines, items = offset + len(excerpt.case), lines + excerpt.lines, items + excerpt.items
        last, more = cases[-1], len(self.core.head) - len(self.parts.head)
        frame = Placed(self.frame, last.offset + more, last.lines + above - self.parts.head.count("\n"), last.items)
        return Suite(cases, frame)


class Memory:
    """The cached cases of one document."""

    def __init__(self) -> None:
        self._of: tuple[str, FileSettings] | None = None
        self._known: dict[_Key, Excerpt] = {}
        self._last: _Read | None = None
        self._around = frozenset[str]()

    def examine(self, source: Source, settings: FileSettings) -> Suite | None:
        """Lint a suite case by case, only new ones; return None if it must be linted as a whole."""
        if self._of != (source.name, settings):
            self._of, self._known, self._last, self._around = (source.name, settings), {}, None, frozenset()
        kind = kind_of(source.name)
        if settings.claimed or kind not in (Kind.YAML, Kind.JSON):
            return None
        parts = cut(source.text) if kind is Kind.YAML else cut_json(source.text)
        if parts is None:
            return None
        around = self._around
        for _ in range(_MOST_ROUNDS):
            read = self._read_all(source.name, parts, settings, around)
            if read is None or _have_clashes(read.cases):
                return None
            if (shown := _join_signs([read.frame, *read.cases], parts.kind)) == around:
                self._last, self._around = read, around
                self._known = self._last_excerpts()
                return read.place()
            around = shown
        return None

    def _read_all(self, name: str, parts: Cut, settings: FileSettings, around: frozenset[str]) -> _Read | None:
        """Return an excerpt of each case, read anew if it is not known; None if one cannot be read on its own.

        If nothing is known to be `around` them, each is read with what the ones above it show: most with all there is.
        """
        found: dict[_Key, Excerpt] = {}
        telling, shown, is_first = list[tuple[Cut, str]](), list[Excerpt](), not around

        def read_known(parts: Cut, case: str) -> Excerpt | None:
            key = _key(parts, case, around)
            excerpt = self._known.get(key) or found.get(key) or _read(name, parts, case, settings, around)
            if excerpt is None:
                self._known = self._last_excerpts() | found
            else:
                found[key] = excerpt
            return excerpt

        def read(parts: Cut, case: str) -> Excerpt | None:
            nonlocal around, shown
            excerpt = read_known(parts, case)
            if excerpt and is_first and not any(map(excerpt.shows_no_more, shown)):
                telling.append((parts, case))
                for _ in range(_MOST_ROUNDS):  # with more around them, the ones above may show something else
                    shown = list(filter(None, (read_known(*each) for each in telling)))
                    if around == (around := _join_signs(shown, parts.kind)):
                        break
            return excerpt

        frame = read(parts, parts.cases[-1])
        if frame is None:
            return None
        head, tail = frame.keep("around", None, partial(_leave_out, frame))
        core = parts._replace(head=head, tail=tail)
        if is_first and not all(read(core, case) for case in core.cases):
            return None
        cases = [excerpt for case in core.cases if (excerpt := read_known(core, case))]
        frame = read_known(parts, parts.cases[-1])
        if frame is None or len(cases) < len(core.cases):
            return None
        self._known |= found
        return _Read(parts, core, cases, frame)

    def _last_excerpts(self) -> dict["_Key", Excerpt]:
        last, around = self._last, self._around
        if last is None:
            return {}
        found = {_key(last.core, excerpt.case, around): excerpt for excerpt in last.cases}
        return {_key(last.parts, last.frame.case, around): last.frame, **found}

    def find_fault(self, source: Source, settings: FileSettings) -> SyntaxFaultError | None:
        """Find the syntax error in a text without reading the cases above it; return None if that is not possible.

        All parsers are in the same state before each skipped case and before the one after it. Only cases on which all
        parsers agree are skipped.
        """
        text, last = source.text, self._last
        if last is None:
            return None
        parts = last.parts
        if parts.kind is not Kind.YAML or not text.startswith(parts.head) or has_old_line_ends(text) or "%YAML" in text:
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
        doubtful = (excerpt.case for excerpt in last.cases[: len(starts) - 1] if not excerpt.is_plain)
        at, above = starts[-1], "".join([parts.head, *doubtful])
        gap, lines, clock = at - len(above), text.count("\n", 0, at) - above.count("\n"), Clock(settings.time_limit)
        with clock.phase():
            try:
                read_yaml(above + text[at:], lines)
            except SyntaxFaultError as fault:
                if fault.span.start >= len(above):
                    return SyntaxFaultError(fault.message, Span(fault.span.start + gap, fault.span.end + gap))
        return None


_MOST_ROUNDS = 6  # some signs depend on others
_Key = tuple[str, str, str, frozenset[str]]


def _key(parts: Cut, case: str, around: frozenset[str]) -> _Key:
    return parts.head, case, parts.tail, around


def _join_signs(found: Iterable[Excerpt], kind: Kind) -> frozenset[str]:
    """Return what the cases show of the whole file together."""
    words = frozenset[str]().union(*{excerpt.words for excerpt in found})
    families = (family.module for family in choose_families(words, kind))
    return frozenset(families).union(*{excerpt.signs for excerpt in found})


def _have_clashes(found: Iterable[Excerpt]) -> bool:
    """Return whether a fix of a case takes a name that another case has, because it knows only its own."""
    new = frozenset[str]().union(*(excerpt.new_names for excerpt in found if excerpt.new_names))
    return bool(new) and any(new & excerpt.names for excerpt in found)


_IN_CASE = 2  # the list of the cases, and the case; the rubric follows


def _read(name: str, parts: Cut, case: str, settings: FileSettings, around: frozenset[str]) -> Excerpt | None:
    """Lint a case; return None if its findings may depend on more of the other cases, or on its place."""
    source = Source(name, parts.excerpt(case), around=around)
    place = Span(len(parts.head), len(parts.head) + len(case))
    composed = compose_case(parts, case)
    words = find_words(source.text, parts.kind)
    if composed is None or not all(family.is_by_case for family in choose_families(words | around, parts.kind)):
        return None
    result, (document, *_), rubrics, _ = examine(source, settings, write=lambda message, _: message)
    inner = place if parts.kind is Kind.YAML else _find_inner(source.text, place)
    if result.is_stopped or not all(_is_within(finding, place, inner) for finding in result.findings):
        return None
    if any(rubric.path[0] != composed.key or len(rubric.path) == 1 for _, rubric in rubrics):
        return None  # it would be counted once for each case, or the cases are its criteria, which rules compare
    locations = [Location(rubric.path, rubric.version, rubric.view) for _, rubric in rubrics]
    return Excerpt(
        source=source,
        case=case,
        place=place,
        items=composed.items,
        lines=case.count("\n"),
        findings=result.findings,
        rubrics=result.rubrics,
        criteria=result.criteria,
        is_plain=parts.kind is Kind.YAML and is_plain(source.text, composed.root),
        is_apart=all(len(rubric.path) > _IN_CASE for _, rubric in rubrics),
        list_key=composed.key,
        signs=find_signs(document, locations),
        words=words,
        names=(names := _find_names(document.data[composed.key])),
        new_names=frozenset(f"{name}-2" for name in names) if any(map(_copies_case, result.findings)) else frozenset(),
    )


def _leave_out(frame: Excerpt) -> tuple[str, str]:
    """Return the text around the cases with only what may matter to them."""
    (document, *_), _ = read_documents(frame.source)
    return leave_out(document, frame.list_key, frame.place)


def _find_names(items: list[Any]) -> frozenset[str]:
    return frozenset(
        item[label] for item in items for label in LABELS if isinstance(item, dict) and isinstance(item.get(label), str)
    )


def _copies_case(finding: Finding) -> bool:
    """Return whether a fix makes a second case of one."""
    return any(
        isinstance(intent, MoveItems) and len(intent.holder) == _IN_CASE
        for fix in _list_fixes(finding)
        for intent in fix.intents
    )


def _list_fixes(finding: Finding) -> list[Fix]:
    return [*([finding.fix] if finding.fix else []), *finding.choices]


def _find_inner(text: str, place: Span) -> Span:
    """Return what is between the brackets of a case in JSON; outside, an edit may need the comma to the next one."""
    return Span(text.index("{", *place) + 1, text.rindex("}", *place))


def _is_within(finding: Finding, place: Span, inner: Span) -> bool:
    """Return whether all that a finding mentions is inside a case, and what its fix edits in the `inner` part of it."""
    spans = [finding.span, *(related.span for related in finding.related)]
    paths = [finding.pointer.split("/")[1:]]
    for fix in _list_fixes(finding):
        if not all(inner.start <= edit.span.start and edit.span.end <= inner.end for edit in fix.edits):
            return False
        paths += [[*map(str, intent.path)] for intent in fix.intents if not isinstance(intent, Replace)]
    return all(place.start <= span.start and span.end <= place.end for span in spans) and all(
        len(path) > 1 and path[1].isdecimal() for path in paths
    )

"""Cache the findings of each case of a suite while its text stays the same.

A case is linted in an excerpt: the suite with only that case. If nothing in it depends on the other cases, its findings
are those of the whole suite, except for the place of the case.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from rubric_lint.dialects import choose_families, find_words
from rubric_lint.dialects.search.case_signs import find_signs
from rubric_lint.dialects.search.locate import Location
from rubric_lint.finding import Edit, Finding, Fix, Intent, MoveItems, Replace, Result
from rubric_lint.lint.edits.splitting import LABELS
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

    `place` is where the `case` is in the excerpt's source, `items` its number of entries of the list `list_key`. The
    messages of `findings` have placeholders for lines. `is_plain`: all parsers agree on it. `is_apart`: each of its
    rubrics is in an entry of the list, and is not one itself. `signs` and `words` are what it shows of the whole file.
    `names` are those of the case, `new_names` those that fixes give to its copies. `kept` caches what is made of it.
    """

    source: Source
    case: str
    place: Span
    items: int
    lines: int
    findings: tuple[Finding, ...]
    rubrics: int
    criteria: int
    is_plain: bool
    is_apart: bool
    list_key: str
    signs: frozenset[str]
    words: frozenset[str]
    names: frozenset[str]
    new_names: frozenset[str]
    kept: dict[str, tuple[Hashable, Any]] = field(default_factory=dict)

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

    def touches(self, place: Span) -> bool:
        """Return whether the case, with its ends, has a part of a place in the whole text."""
        start, end = self._move(self.excerpt.place)
        return start <= place.end and place.start <= end

    def findings(self, rule: str = "") -> Iterator[Finding]:
        """Yield the findings with their places in the whole text, perhaps only those of a rule."""
        for finding in map(self.word, (each for each in self.excerpt.findings if rule in ("", each.rule))):
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
        self._known: dict[_Key, Excerpt] = {}
        self._last: Cut | None = None
        self._around = frozenset[str]()

    def examine(self, source: Source, settings: FileSettings) -> list[Placed] | None:
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
            found = self._read_all(source.name, parts, settings, around)
            if found is None:
                return None
            if _have_clashes(found):
                return None
            if (shown := _join_signs(found, parts.kind)) == around:
                self._last, self._around = parts, around
                self._known = {_key(parts, excerpt.case, around): excerpt for excerpt in found}
                return list(_place(found))
            around = shown
        return None

    def _read_all(self, name: str, parts: Cut, settings: FileSettings, around: frozenset[str]) -> list[Excerpt] | None:
        """Return an excerpt of each case, read anew if it is not known; None if one cannot be read on its own.

        If nothing is known to be `around` them, each is read with what the ones above it show: most with all there is.
        """
        found: dict[_Key, Excerpt] = {}
        excerpts, telling, is_first = list[Excerpt](), list[Excerpt](), not around
        for case in parts.cases:
            key = _key(parts, case, around)
            excerpt = self._known.get(key) or found.get(key) or _read(name, parts, case, settings, around)
            if excerpt is None:
                self._known = self._last_excerpts() | found
                return None
            found[key] = excerpt
            excerpts.append(excerpt)
            if is_first and not any(excerpt.signs <= each.signs and excerpt.words <= each.words for each in telling):
                telling.append(excerpt)
                around = _join_signs(telling, parts.kind)
        self._known |= found
        return excerpts

    def _last_excerpts(self) -> dict["_Key", Excerpt]:
        parts = self._last
        keys = [_key(parts, case, self._around) for case in parts.cases] if parts else []
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
        doubtful = (case for case in alike if not self._known[_key(parts, case, self._around)].is_plain)
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


def _place(found: Iterable[Excerpt]) -> Iterator[Placed]:
    offset = lines = items = 0
    for excerpt in found:
        yield Placed(excerpt, offset, lines, items)
        offset, lines, items = offset + len(excerpt.case), lines + excerpt.lines, items + excerpt.items


def join_cases(source: Source, cases: Sequence[Placed]) -> Result:
    """Combine the results of the cases of a suite."""
    return Result(
        source,
        tuple(finding for case in cases for finding in case.findings()),
        rubrics=sum(case.excerpt.rubrics for case in cases),
        criteria=sum(case.excerpt.criteria for case in cases),
    )


_IN_CASE = 2  # the list of the cases, and the case; the rubric follows


def _read(name: str, parts: Cut, case: str, settings: FileSettings, around: frozenset[str]) -> Excerpt | None:
    """Lint a case; return None if its findings may depend on more of the other cases, or on its place."""
    source = Source(name, parts.excerpt(case), around=around)
    place = Span(len(parts.head), len(parts.head) + len(case))
    composed = compose_case(parts, case)
    words = find_words(source.text, parts.kind)
    if composed is None or not all(family.is_by_case for family in choose_families(words | around, parts.kind)):
        return None
    result, (document, *_), rubrics = examine(source, settings, write=lambda message, _: message)
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

"""The findings of each case of a suite in an excerpt, and their places in the whole text."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from rubric_lint.finding import Edit, Finding, Fix, Intent, MoveItems, Replace, Result
from rubric_lint.lint.message_context import write_lines
from rubric_lint.text.path import Path
from rubric_lint.text.source import Source, Span

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

    def shows_no_more(self, other: "Excerpt") -> bool:
        """Return whether another case shows all that this one shows of the whole file."""
        return self.signs <= other.signs and self.words <= other.words

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


class Suite(NamedTuple):
    """The cases of a suite at their places, and its `frame`: the last of them with all the text around the cases."""

    cases: list[Placed]
    frame: Placed


def join_cases(source: Source, cases: Sequence[Placed]) -> Result:
    """Combine the results of the cases of a suite."""
    return Result(
        source,
        tuple(finding for case in cases for finding in case.findings()),
        rubrics=sum(case.excerpt.rubrics for case in cases),
        criteria=sum(case.excerpt.criteria for case in cases),
    )

"""Follow findings through the changes of fixes, to tell the new ones of a text from the old ones."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rubric_lint.edits.intents import InsertItems, Intent, MoveItems, RenameKey, Reorder, WrapText
from rubric_lint.finding import Finding
from rubric_lint.format.rubric import is_placeholder
from rubric_lint.text.path import Path, list_above, pointer
from rubric_lint.text.scalar import read_scalar
from rubric_lint.text.source import Edit


class DataChange(NamedTuple):
    """The purpose of a fix: its intents on the document at `pointer`; without intents, its edits."""

    pointer: str
    intents: tuple[Intent, ...]
    edits: tuple[Edit, ...]
    safe: bool

    @property
    def adds_document(self) -> bool:
        """Whether it puts a new document at the end of the file."""
        return any(intent.adds_document for intent in self.intents)


Known = frozenset[tuple[str, str]]
"""Findings by rule and JSON Pointer, to compare those of two texts."""


def name_findings(findings: Iterable[Finding]) -> Known:
    """Return the keys of findings, to look for them in another text."""
    return frozenset((finding.rule, finding.pointer) for finding in findings)


def move(known: Known, changes: Iterable[DataChange]) -> Known:
    """Return findings after the changes, which follow what is renamed, wrapped or moved, and those of new placeholders.

    A placeholder that a fix writes is meant to be reported until it is replaced.
    """
    changes = list(changes)
    intents = [intent for change in changes for intent in change.intents]
    moved = set(known)
    wraps = [intent for intent in intents if isinstance(intent, WrapText)]
    for name in {name for wrap in wraps for name in (wrap.name, wrap.before[0])}:
        moved |= {(rule, f"{place}/{name}") for rule, place in known}
    for old, name in {(str(intent.path[-1]), intent.name) for intent in intents if isinstance(intent, RenameKey)}:
        moved |= {(rule, "/".join(name if step == old else step for step in place.split("/"))) for rule, place in moved}
    return _follow_all(moved, changes)


def _follow_all(known: Iterable[tuple[str, str]], changes: Iterable[DataChange]) -> Known:
    """Return findings after all changes of lists, and those of new placeholders."""
    each = list(enumerate((intent, change) for change in changes for intent in change.intents))
    places = _Places(_Entry(*entry) for entry in known)
    for number, (intent, change) in each:
        for path in _find_placeholders(intent):
            places.add(_Entry("placeholder", _point(path, change), number))
    lists = [
        (number, intent, _point(intent.path[:-1] if isinstance(intent, InsertItems) else intent.path, change))
        for number, (intent, change) in each
        if isinstance(intent, InsertItems | MoveItems | Reorder)
    ]
    for number, intent, above in lists:
        if not isinstance(intent, MoveItems):
            for rule, place, writer in places.below(above):
                if writer != number:
                    places.add(_Entry(rule, intent.follow(place, above), writer))
    for _, intent, above in reversed(lists):  # the places of those further up stay valid
        if isinstance(intent, MoveItems):
            there = places.below(intent.reach(above))
            places.remove(there)  # all of them first: one may move to where another was
            for entry in there:
                places.add(entry._replace(place=intent.follow(entry.place, above)))
    return frozenset((rule, place) for rule, place, _ in places)


def _find_placeholders(intent: Intent) -> Iterator[Path]:
    for path, text in intent.list_written():
        value = read_scalar(text)
        if isinstance(value, str) and is_placeholder(value):
            yield path


class _Entry(NamedTuple):
    """A finding by rule and JSON Pointer; for a new placeholder, also the number of the intent that writes it."""

    rule: str
    place: str
    writer: int | None = None


class _Places:
    """Findings, and for each place those below it."""

    def __init__(self, entries: Iterable[_Entry]) -> None:
        self._below: dict[str, dict[_Entry, None]] = {"": {}}
        for entry in entries:
            self.add(entry)

    def __iter__(self) -> Iterator[_Entry]:
        return iter(self._below[""])

    def add(self, entry: _Entry) -> None:
        for above in list_above(entry.place):
            self._below.setdefault(above, {})[entry] = None

    def remove(self, entries: Iterable[_Entry]) -> None:
        for entry in entries:
            for above in list_above(entry.place):
                del self._below[above][entry]

    def below(self, place: str) -> list[_Entry]:
        return list(self._below.get(place, ()))


def _point(path: Path, change: DataChange) -> str:
    """Return the pointer of a path in the document of a change, whose pointer may begin with its number."""
    own, steps = pointer(path), change.pointer.split("/")[1:2]
    return own if not steps or steps == own.split("/")[1:2] else f"/{steps[0]}{own}"


def find_old(at: int, edits: Sequence[Edit], text: str = "") -> int:
    """Return the offset before some sorted edits of an offset after them.

    In what an edit writes, that is where the edit begins, or the place in `text` from where the rest of the line moved.
    """
    shift = 0
    for (start, end), new in edits:
        if at < start + shift:
            break
        if at < start + shift + len(new):
            rest = new[at - start - shift :].partition("\n")[0].strip()
            places = [text.find(rest, *span) for span, _ in edits] if rest else []
            return next((place for place in places if place >= 0), 0) or start
        shift += len(new) - (end - start)
    return at - shift

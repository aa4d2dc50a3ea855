"""Follow findings through the changes of fixes, to tell the new ones of a text from the old ones."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rubric_lint.finding import (
    AddField,
    Edit,
    Finding,
    InsertField,
    InsertItems,
    Intent,
    MoveItems,
    RenameKey,
    Reorder,
    ReplaceValue,
    WrapText,
    pointer,
)
from rubric_lint.fix.restructured_data import find_index
from rubric_lint.format.rubric import is_placeholder
from rubric_lint.text.path import Path
from rubric_lint.text.scalar import read_scalar


class DataChange(NamedTuple):
    """The purpose of a fix: its intents on the document at `pointer`; without intents, its edits."""

    pointer: str
    intents: tuple[Intent, ...]
    edits: tuple[Edit, ...]
    safe: bool


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
    for name in {
        name for intent in intents if isinstance(intent, WrapText) for name in (intent.name, intent.before[0])
    }:
        moved |= {(rule, f"{place}/{name}") for rule, place in known}
    for old, name in {(str(intent.path[-1]), intent.name) for intent in intents if isinstance(intent, RenameKey)}:
        moved |= {(rule, "/".join(name if step == old else step for step in place.split("/"))) for rule, place in moved}
    return _follow_all(moved, changes)


def _follow_all(known: Iterable[tuple[str, str]], changes: Iterable[DataChange]) -> Known:
    """Return findings after all changes of lists, and those of new placeholders."""
    each = list(enumerate((intent, change) for change in changes for intent in change.intents))
    places = _Places((*entry, None) for entry in known)
    for number, (intent, change) in each:
        for rule, place in _find_placeholders(intent, change):
            places.add((rule, place, number))
    for number, (intent, change) in each:
        if isinstance(intent, Reorder | InsertItems):
            above = _point(intent.path[:-1] if isinstance(intent, InsertItems) else intent.path, change)
            for rule, place, writer in places.below(above):
                if writer != number:
                    places.add((rule, _follow(place, intent, above), writer))
    for _, (intent, change) in reversed(each):  # the places of those further up stay valid
        if isinstance(intent, MoveItems):
            above = _point(intent.path, change)
            there = places.below(_find_reach(intent, above))
            places.remove(there)  # all of them first: one may move to where another was
            for entry in there:
                places.add(entry._replace(place=_follow_move(entry.place, intent, above)))
    return frozenset((rule, place) for rule, place, _ in places)


class _Entry(NamedTuple):
    """A finding by rule and JSON Pointer; for a new placeholder, also the number of the intent that writes it."""

    rule: str
    place: str
    writer: int | None


class _Places:
    """Findings, and for each place those below it."""

    def __init__(self, entries: Iterable[tuple[str, str, int | None]]) -> None:
        self._below: dict[str, dict[_Entry, None]] = {"": {}}
        for entry in entries:
            self.add(entry)

    def __iter__(self) -> Iterator[_Entry]:
        return iter(self._below[""])

    def add(self, entry: tuple[str, str, int | None]) -> None:
        made = _Entry(*entry)
        for above in list_above(made.place):
            self._below.setdefault(above, {})[made] = None

    def remove(self, entries: Iterable[_Entry]) -> None:
        for entry in entries:
            for above in list_above(entry.place):
                del self._below[above][entry]

    def below(self, place: str) -> list[_Entry]:
        return list(self._below.get(place, ()))


def list_above(place: str) -> Iterator[str]:
    """Yield the pointers of all that is above a place, and "" in any case."""
    yield ""
    at = place.find("/", 1)
    while at > 0:
        yield place[:at]
        at = place.find("/", at + 1)


def _find_reach(intent: MoveItems, above: str) -> str:
    """Return the place below which something moves: the list of holders, the list, or all documents if one gets two."""
    if not intent.holder:
        return "" if intent.number == 1 else above
    return above.rsplit("/", len(intent.path) - len(intent.holder) + 1)[0]


def _follow_move(place: str, intent: MoveItems, items: str) -> str:
    """Return the path of a value after items of the list `items` have moved into a copy of what holds the list."""
    steps, above = place.split("/"), items.split("/")
    holder = len(above) - len(intent.path) + len(intent.holder)  # the steps to the holder
    depth, index = len(above), _read_index(steps, above)
    is_moved = index in intent.steps
    if index is not None:
        left = sum(step < index for step in intent.steps)
        steps[depth] = str(left if is_moved else index - left)
    if intent.holder:
        at = _read_index(steps, above[: holder - 1])
        if at is not None and (is_moved or at > int(intent.holder[-1])):
            steps[holder - 1] = str(at + 1)
    elif intent.number == 1:  # of several documents each has a number
        steps.insert(1, "1" if is_moved else "0")
    elif is_moved:
        steps[1] = str(intent.number)
    return "/".join(steps)


def _read_index(steps: Sequence[str], above: Sequence[str]) -> int | None:
    """Return the index of the item of a list that a path leads through; None if it leads elsewhere."""
    depth = len(above)
    is_below = len(steps) > depth and [*steps[:depth]] == [*above] and steps[depth].isdecimal()
    return int(steps[depth]) if is_below else None


def _follow(place: str, intent: Reorder | InsertItems, items: str) -> str:
    """Return the path of a value after items of the list `items` above it were reordered, or others were inserted."""
    steps, above = place.split("/"), items.split("/")
    depth, index = len(above), _read_index(steps, above)
    if index is None:
        return place
    if isinstance(intent, InsertItems):
        new = index + (len(intent.copies) if index >= find_index(intent) else 0)
    else:
        new = intent.steps.index(index) if index in intent.steps else index
    return "/".join([*above, str(new), *steps[depth + 1 :]])


def _point(path: Path, change: DataChange) -> str:
    """Return the pointer of a path in the document of a change, whose pointer may begin with its number."""
    own, steps = pointer(path), change.pointer.split("/")[1:2]
    return own if not steps or steps == own.split("/")[1:2] else f"/{steps[0]}{own}"


def _find_placeholders(intent: Intent, change: DataChange) -> Iterator[tuple[str, str]]:
    """Find the placeholders that an intent of a change writes, as findings."""
    written: list[tuple[Path, str]] = []
    match intent:
        case ReplaceValue(path, text):
            written = [(path, text)]
        case AddField(path, name, text):
            written = [((*path, name), text)]
        case InsertField(path, name, text):
            written = [((*path[:-1], name), text)]
        case InsertItems(path, copies):
            written = [
                ((*path[:-1], number, *place), text)
                for number, changes in enumerate(copies, find_index(intent))
                for place, text in changes
            ]
    for path, text in written:
        value = read_scalar(text)
        if isinstance(value, str) and is_placeholder(value):
            yield "placeholder", _point(path, change)


def find_old(at: int, edits: Sequence[Edit], text: str = "") -> int:
    """Return the offset before some sorted edits of an offset after them.

    In what an edit writes, that is where the edit begins, or the place in `text` from where the rest of the line moved.
    """
    shift = 0
    for (start, end), new in edits:
        if at < start + shift:
            break
        if at < start + shift + len(new):
            return _find_moved(new, at - start - shift, text, edits) or start
        shift += len(new) - (end - start)
    return at - shift


def _find_moved(new: str, at: int, text: str, edits: Sequence[Edit]) -> int | None:
    """Return where the rest of a line that was written at an offset has been taken from; None if it is new."""
    rest = new[at:].partition("\n")[0].strip()
    places = [text.find(rest, *span) for span, _ in edits] if rest else []
    return next((place for place in places if place >= 0), None)

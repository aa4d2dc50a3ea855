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
from rubric_lint.format.outcomes import is_placeholder
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
    each = [(intent, change) for change in changes for intent in change.intents]
    shifts = [(intent, change) for intent, change in each if isinstance(intent, Reorder | InsertItems)]
    for shift, change in shifts:
        moved |= {(rule, _follow(place, shift, change)) for rule, place in moved}
    for intent, change in each:
        new = set(_find_placeholders(intent, change))
        for shift, other in shifts if new else ():
            if shift is not intent:
                new |= {(rule, _follow(place, shift, other)) for rule, place in new}
        moved |= new
    moves = [(intent, change) for intent, change in each if isinstance(intent, MoveItems)]
    for intent, change in reversed(moves):  # the places of those further up stay valid
        moved = {(rule, _follow_move(place, intent, change)) for rule, place in moved}
    return frozenset(moved)


def _follow_move(place: str, intent: MoveItems, change: DataChange) -> str:
    """Return the path of a value after items of a list have moved into a copy of what holds the list."""
    steps, above = place.split("/"), _point(intent.path, change).split("/")
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


def _follow(place: str, intent: Reorder | InsertItems, change: DataChange) -> str:
    """Return the path of a value after the items of a list above it were reordered, or others were inserted."""
    items = intent.path[:-1] if isinstance(intent, InsertItems) else intent.path
    steps, above = place.split("/"), _point(items, change).split("/")
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

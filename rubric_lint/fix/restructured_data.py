"""Make on plain data the changes that move whole parts of a document, to compare them with the edited text."""

import json
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from rubric_lint.finding import (
    Dissolve,
    EscapeText,
    InsertField,
    InsertItems,
    Intent,
    JoinLists,
    MoveField,
    MoveItems,
    PutUnder,
    Reorder,
    Restructuring,
    UnwrapValue,
    WrapValue,
)
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import escape
from rubric_lint.text.path import Path
from rubric_lint.text.scalar import read_scalar

REORDERS_COMMENTS = (MoveField, JoinLists, Reorder, MoveItems)
"""The intents that move comments past others."""


def prepare(document: Document, intents: Iterable[Intent]) -> list[Callable[[], None]]:
    """Return the changes that the restructuring intents ask for; look up the values before anything changes."""
    intents = list(intents)
    insertions = [intent for intent in intents if isinstance(intent, InsertItems)]
    return [
        *(_prepare(document, intent) for intent in intents if isinstance(intent, Restructuring)),
        *(_prepare_copies(document, intent) for intent in sorted(insertions, key=_find_place, reverse=True)),
    ]


def _find_place(intent: InsertItems) -> tuple[int, bool]:
    """Return the index, and whether others come before the copies there: those that belong to the item above."""
    return find_index(intent), intent.before


def find_index(intent: InsertItems) -> int:
    """Return where the copies go in the list as it is; those that go further down must be inserted first."""
    return int(intent.path[-1]) + (not intent.before)


def _prepare_copies(document: Document, intent: InsertItems) -> Callable[[], None]:
    items, index = document.value(intent.path[:-1]), find_index(intent)
    copies = [deepcopy(document.value(intent.path)) for _ in intent.copies]
    for copy, changes in zip(copies, intent.copies, strict=True):
        for place, written in changes:
            _put(copy, place, read_scalar(written))

    def insert() -> None:
        items[index:index] = copies

    return insert


def split_off(document: Document, intent: MoveItems) -> Any:
    """Return the copy of a holder with the items that move into it; call this before the data changes."""
    items = document.value(intent.path)
    copy = deepcopy(document.value(intent.holder))
    depth = len(intent.holder)
    _put(copy, intent.path[depth:], [deepcopy(items[step]) for step in intent.steps])
    for place, written in intent.changes:
        _put(copy, place, read_scalar(written))
    return copy


def _put(holder: Any, place: Path, value: Any) -> None:
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = value


def _prepare_move(document: Document, intent: MoveItems) -> Callable[[], None]:
    items, copy = document.value(intent.path), split_off(document, intent)
    kept = [item for index, item in enumerate(items) if index not in intent.steps]
    holder = document.value(intent.holder)
    holders = document.value(intent.holder[:-1]) if intent.holder else []

    def move() -> None:
        items[:] = kept
        for index, each in enumerate(holders):
            if each is holder:
                holders.insert(index + 1, copy)
                break

    return move


def _prepare(document: Document, intent: Restructuring) -> Callable[[], None]:
    if isinstance(intent, MoveItems):
        return _prepare_move(document, intent)
    owner, step = document.value(intent.path[:-1]), intent.path[-1]
    if isinstance(intent, MoveField | JoinLists):
        target = document.value(intent.to)
        return lambda: _move(owner, step, target)
    if isinstance(intent, PutUnder | Dissolve | InsertField):
        return lambda: _replace_field(owner, step, intent)
    return lambda: _replace_value(owner, step, intent)


def _move(owner: dict[Any, Any], step: Any, target: Any) -> None:
    value = owner.pop(step)
    if isinstance(target, list):
        target.extend(value)
    else:
        target[step] = value


def _replace_field(owner: dict[Any, Any], step: Any, intent: PutUnder | Dissolve | InsertField) -> None:
    fields: list[tuple[Any, Any]] = []
    for key, value in owner.items():
        match intent:
            case _ if key != step:
                fields.append((key, value))
            case PutUnder(_, name, inner):
                fields.append((name, {inner or step: value}))
            case Dissolve():
                fields += value.items()
            case InsertField(_, name, text):
                fields += [(name, json.loads(text)), (step, value)]
    owner.clear()
    owner.update(fields)


def _replace_value(owner: Any, step: Any, intent: WrapValue | UnwrapValue | EscapeText) -> None:
    match intent:
        case WrapValue():
            owner[step] = [owner[step]]
        case UnwrapValue():
            owner[step] = owner[step][0]
        case EscapeText(_, has_escapes, marks):
            owner[step] = escape(owner[step], has_escapes=has_escapes, marks=marks)

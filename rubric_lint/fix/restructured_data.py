"""Make on plain data the changes that move whole parts of a document, to compare them with the edited text."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from rubric_lint.finding import (
    Dissolve,
    EscapeText,
    InsertField,
    Intent,
    JoinLists,
    MoveField,
    PutUnder,
    Restructuring,
    UnwrapValue,
    WrapValue,
)
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import escape

REORDERS_COMMENTS = (MoveField, JoinLists)
"""The intents that move comments past others."""


def prepare(document: Document, intents: Iterable[Intent]) -> list[Callable[[], None]]:
    """Return the changes that the restructuring intents ask for; look up the values before anything changes."""
    return [_prepare(document, intent) for intent in intents if isinstance(intent, Restructuring)]


def _prepare(document: Document, intent: Restructuring) -> Callable[[], None]:
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
            case PutUnder(_, name):
                fields.append((name, {step: value}))
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
        case EscapeText(_, has_escapes):
            owner[step] = escape(owner[step], has_escapes=has_escapes)

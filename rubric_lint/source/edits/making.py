"""Turn intents of a rule into edits that leave every other byte of the text alone."""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import chain
from typing import Any

from rubric_lint.source.document import Document
from rubric_lint.source.edits import fields, intents
from rubric_lint.source.edits.alias_graph import AliasGraph
from rubric_lint.source.edits.intents import (
    AddField,
    Fix,
    Intent,
    RenameKey,
    Reorder,
    Repair,
    ReplaceValue,
    change_all,
    find_common,
)
from rubric_lint.source.edits.lines import ObstacleError
from rubric_lint.source.patch import RefusedChange, edits_between, find_within, track
from rubric_lint.source.path import Path
from rubric_lint.source.source import Edit, Kind, Span

NEVER_REWRITTEN = "Python is checked, never rewritten"


def make_fix(aliases: AliasGraph, repair: Repair) -> Fix:
    """Return the edits of a repair, sorted and disjoint.

    Raises:
        ObstacleError: if the repair is impossible, or would change other places through an anchor or a merge key.
    """
    if aliases.document.kind.is_program:
        raise ObstacleError(f"{NEVER_REWRITTEN}; change it by hand")
    is_renaming = all(isinstance(intent, RenameKey) for intent in repair.intents)
    if aliases.document.kind is Kind.TOML and not is_renaming:
        raise ObstacleError("in TOML only keys are renamed; change it by hand")
    wanted = list(dict.fromkeys(repair.intents))
    if aliases.document.may_borrow or aliases.document.duplicates:
        for intent in wanted:
            intent.check(aliases)
    wanted = [intent.complete(aliases) for intent in wanted]
    changes: list[Intent] = []
    if any(intent.is_structural for intent in wanted):
        changes = [intent for intent in wanted if intent.scope is not None]
    edits = _edit_all(aliases.document, [intent for intent in wanted if intent not in changes])
    edits += _write(aliases, changes) if changes else []
    return Fix(repair.title, tuple(sorted(edits)), repair.safe, tuple(wanted), repair.choice)


def _edit_all(document: Document, wanted: Sequence[Intent]) -> list[Edit]:
    """Return the edits of the text for intents, each on its own."""
    edits: dict[Edit, None] = {}
    for intent in wanted:
        edits |= dict.fromkeys(_edit(intent, document))
    inserted: dict[Span, str] = {}  # what is inserted at one place is one edit
    replacing: list[Edit] = []
    for edit in edits:
        if edit.span.start == edit.span.end:
            inserted[edit.span] = inserted.get(edit.span, "") + edit.text
        else:
            replacing.append(edit)
    return [*replacing, *(Edit(span, text) for span, text in inserted.items())]


def _write(aliases: AliasGraph, wanted: Sequence[Intent]) -> list[Edit]:
    """Return the edits of the text for intents that change the data of one part of the document together."""
    document, layouts = aliases.document, aliases.layouts
    part, items = _find_part(aliases, wanted)
    data = track(document, part, items)
    if items is not None:
        wanted = [intent.shift(len(part), items.start) for intent in wanted]
    view = document.with_data(reduce(lambda inner, step: {step: inner}, reversed(part), data))
    changes = change_all(view, wanted)
    added = [found[-1] for intent, found in changes if intent.adds_document]
    edits = edits_between(document, data, layouts=layouts, added=added)
    if isinstance(edits, RefusedChange):
        raise ObstacleError(f"line {document.source.position(edits.span.start).line}: {edits.reason}")
    return edits


def is_usual(aliases: AliasGraph, wanted: Sequence[Intent]) -> bool:
    """Return whether a document that `is_plain` is written as usual where intents change its data, so that they can."""
    document, (part, _) = aliases.document, _find_part(aliases, wanted)
    comments = document.tree.comments
    replaced = [document.span(intent.path) for intent in wanted if isinstance(intent, ReplaceValue)]
    if any(find_within(comments, span) for span in replaced):  # in the first line of a text block
        return False
    paths: set[Path] = set()
    for scope in chain.from_iterable(intent.list_scopes() for intent in wanted):
        paths |= {scope[:length] for length in range(len(part), len(scope) + 1)}
    for path in paths:
        layout = aliases.layouts.of(document.child(path).node)
        if layout.unusual or (layout.is_flow and find_within(comments, Span(layout.start, layout.end))):
            return False
    return True


def _find_part(aliases: AliasGraph, wanted: Sequence[Intent]) -> tuple[Path, range | None]:
    """Return the path of the smallest collection that holds all changes and begins on a line of its own.

    Of a list in which only items change, return which ones: from the first to the last of them.
    """
    part = find_common([intent.scope for intent in wanted if intent.scope is not None])
    while True:
        items, layout = None, aliases.layouts.of(aliases.document.child(part).node)
        steps = [_step_below(part, intent) for intent in wanted if intent.scope is not None]
        indices = [step for step in steps if isinstance(step, int)]
        if layout.is_list and len(indices) == len(steps):
            items = range(min(indices), max(indices) + 1)
        if not part or not layout.is_inline or (items and items.start):
            return part, items
        part = part[:-1]


def _step_below(part: Path, intent: Intent) -> str | int | None:
    """Return the step from a part of a document to what an intent changes; None if it changes the part itself."""
    place = intent.scope if isinstance(intent, Reorder | AddField) else intent.place
    place = place or ()
    return place[len(part)] if len(place) > len(part) else None


def _edit(intent: Intent, document: Document) -> list[Edit]:
    """Return the edits of the text for one intent; raise ObstacleError if the notation does not allow it."""
    edits = _MAKERS[type(intent)](document, *intent.values)
    return [edits] if isinstance(edits, Edit) else edits


_MAKERS: dict[type[Intent], Callable[..., Any]] = {
    intents.AddField: fields.add_field,
    intents.Arrange: lambda _document, _path: [],
    intents.EscapeText: fields.escape_text,
    intents.RemoveField: fields.remove_field,
    intents.RenameKey: fields.rename_key,
    intents.Replace: lambda _document, span, text: Edit(span, text),
    intents.ReplaceValue: fields.replace_value,
}
"""What makes the edits of an intent, given the document and the fields of the intent."""

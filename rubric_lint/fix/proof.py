"""Prove from the data alone, without the edits, that a new text has the intended content."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rubric_lint.finding import (
    AddField,
    Fix,
    Intent,
    MoveItems,
    NestField,
    RemoveField,
    RenameKey,
    Reorder,
    ReplaceValue,
    WrapText,
    pointer,
)
from rubric_lint.fix.following import DataChange
from rubric_lint.fix.restructured_data import REORDERS_COMMENTS, prepare, split_off
from rubric_lint.format.bands import LOWEST
from rubric_lint.format.criterion import Criterion, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.lint.edits.removal import line_start
from rubric_lint.lint.edits.sharing import Sharing
from rubric_lint.lint.engine import build_rubrics
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.reading import read_documents
from rubric_lint.text.scalar import read_scalar, resolve
from rubric_lint.text.source import Source, Span
from rubric_lint.text.tree import SyntaxFaultError


def find_doubt(old: Source, new: Source, changes: Sequence[DataChange], settings: FileSettings) -> str:
    """Return why `new` is not what `changes` should make of `old`; empty if it is."""
    (before, faults), (after, new_faults) = read_documents(old), read_documents(new)
    if _lines(old, faults) != _lines(new, new_faults):
        return "it would have a syntax error"
    added = sum(map(adds_document, changes))
    if len(before) + added != len(after) or added > 1:
        return "the number of documents would change"
    comments = _edited_comments(before, changes), [new.slice(span) for span in _comments(after)]
    is_moved = any(isinstance(intent, REORDERS_COMMENTS) for change in changes for intent in change.intents)
    if comments[0] != comments[1] and not (is_moved and sorted(comments[0]) == sorted(comments[1])):
        return "a comment would be lost"
    if sum(map(_count_outdented, after)) > sum(map(_count_outdented, before)):
        return "a line between brackets would be too far left for strict readers of YAML"
    return _compare_all(before, after, changes, settings)


def adds_document(change: Fix | DataChange) -> bool:
    """Return whether a change puts a new document at the end of the file."""
    return any(isinstance(intent, MoveItems) and not intent.holder for intent in change.intents)


def _compare_all(
    before: Sequence[Document], after: Sequence[Document], changes: Sequence[DataChange], settings: FileSettings
) -> str:
    """Return why the documents, or a new one, are not what the changes should make of them; empty if they are."""
    parts = _part(changes) if len(before) > 1 else {}
    for then, now in zip(before, after[: len(before)], strict=True):
        mine = changes if then.number is None else parts.get(then.number, ())
        moves = [intent for change in mine for intent in change.intents if isinstance(intent, MoveItems)]
        wanted = [*_describe_parts(then, moves, settings)] if moves else []
        expected = [split_off(then, intent) for intent in moves if not intent.holder]
        if doubt := _compare(then, now, mine, settings):
            return doubt
        copies = [after[-1]] if expected else []
        for data, copy in zip(expected, copies, strict=True):
            if (path := _find_difference(data, copy.data, frozenset(), frozenset())) is not None:
                return f"the value at `{pointer(path)}` of the new document would not be as intended"
        found = [_describe_rubric(*each) for each in _list_rubrics([now, *copies], settings)] if moves else []
        if any(each not in found for each in wanted):
            return "some criteria would not be read as before"
    return ""


def _list_rubrics(
    documents: Iterable[Document], settings: FileSettings
) -> Iterator[tuple[Rubric, Sequence[Criterion]]]:
    for document in documents:
        for rubric in build_rubrics(document, settings):
            yield rubric, rubric.entries


def _describe_parts(document: Document, moves: Iterable[MoveItems], settings: FileSettings) -> Iterator[Any]:
    """Describe the two rubrics that each move makes of one; call this before the data changes."""
    rubrics = {rubric.path: rubric for rubric, _ in _list_rubrics([document], settings)}
    for intent in moves:
        rubric = rubrics[intent.path]
        for is_moved in (False, True):
            places = rubric.entries_by_place.items()
            entries = [entry for place, entry in places if (place[-1] in intent.steps) is is_moved]
            yield _describe_rubric(rubric, entries)


def _describe_rubric(rubric: Rubric, entries: Iterable[Criterion]) -> Any:
    """Return all of some criteria that decides their scores, without the ids that their places give them."""
    told = [(entry.has_own_id and entry.id, describe(entry)[1:]) for entry in entries]
    return rubric.version, rubric.dialect, told


def _part(changes: Iterable[DataChange]) -> dict[int, list[DataChange]]:
    """Group the changes by the number of their document."""
    parts: dict[int, list[DataChange]] = {}
    for change in changes:
        parts.setdefault(int(change.pointer.split("/")[1]) if change.intents else 0, []).append(change)
    return parts


def _compare(then: Document, now: Document, changes: Sequence[DataChange], settings: FileSettings) -> str:
    """Return why one document is not what its changes should make of it; empty if it is."""
    is_safe = all(change.safe for change in changes)
    models = [list(_model(document, settings)) for document in (then, now)] if is_safe else [[], []]
    intents = [intent for change in changes for intent in change.intents]
    _apply(then, intents)
    added = frozenset(intent.name for intent in intents if isinstance(intent, AddField))
    if (path := find_difference(then, now, added)) is not None:
        return f"the value at `{pointer(path)}` would not be as intended"
    return "" if models[0] == models[1] else "a rubric would be scored differently"


def _lines(source: Source, faults: Iterable[SyntaxFaultError]) -> list[int]:
    """Return the lines with errors; in JSON Lines the others can be read, and no fix adds or removes a line."""
    return [source.position(fault.span.start).line for fault in faults]


def _count_outdented(document: Document) -> int:
    """Count the flow collections that continue at or before the column of their key or dash, which YAML 1.2 forbids."""
    code, count = document.tree.code, 0
    for node, path in document.paths.items():
        if not path or not node.flow_style or document.is_flow(path):
            continue
        span = document.span(path)
        own = document.span(path, Part.KEY).start if isinstance(path[-1], str) else code.rfind("-", 0, span.start)
        column = own - line_start(code, own)
        _, *lines = re.split(r"\r\n|\r|\n", code[span.start : span.end])
        count += any(line.strip() and len(line) - len(line.lstrip(" \t")) <= column for line in lines)
    return count


def _comments(documents: Sequence[Document]) -> list[Span]:
    return documents[0].tree.comments if documents else []


def _edited_comments(documents: Sequence[Document], changes: Iterable[DataChange]) -> list[str]:
    """Return the comments of a text after the changes without intents, which edit comments."""
    edits = sorted((edit for change in changes if not change.intents for edit in change.edits), reverse=True)
    comments = []
    for start, end in _comments(documents):
        text = documents[0].source.text[start:end]
        for span, new in edits:
            if span.start < end and span.end > start:
                text = text[: max(span.start - start, 0)] + new + text[min(span.end, end) - start :]
        if text:
            comments.append(text)
    return comments


def _apply(document: Document, intents: Iterable[Intent]) -> None:
    """Apply the intents to the data of a document."""
    sharing = Sharing(document)
    # Looked up before anything changes: a path is invalid after a key in it is renamed.
    targets = [(intent, sharing.holders(intent.path)) for intent in intents if isinstance(intent, _OnField)]
    additions = [(intent, *sharing.locate(intent.path)) for intent in intents if isinstance(intent, AddField)]
    wraps = [(intent, *sharing.locate(intent.path)) for intent in intents if isinstance(intent, WrapText)]
    nests = [(intent, *sharing.locate(intent.path)) for intent in intents if isinstance(intent, NestField)]
    restructurings = prepare(document, intents)
    for order in (intent for intent in intents if isinstance(intent, Reorder)):
        _reorder(document.value(order.path), order.steps)
    for adding, container, step in additions:
        mapping = container[step]
        for each in [mapping, *sharing.heirs(adding.path)]:
            each.setdefault(adding.name, resolve(adding.text))
    for wrap, container, step in wraps:
        fields = (wrap.before, (wrap.name, None), wrap.after)
        wrapped: dict[str, Any] = {name: None if text is None else resolve(text) for name, text in fields}
        wrapped[wrap.name] = container[step]
        container[step] = wrapped
    for nest, container, step in nests:
        inner = {nest.before[0]: resolve(nest.before[1]), nest.inner: container[step]}
        nested = [(nest.name, [inner]) if key == step else (key, value) for key, value in container.items()]
        container.clear()
        container.update(nested)
    for intent, holders in sorted(targets, key=lambda target: isinstance(target[0], RenameKey)):
        for holder in holders:
            _change(holder, intent)
    for restructure in restructurings:
        restructure()


def _reorder(value: Any, steps: Sequence[str | int]) -> None:
    if isinstance(value, dict):
        fields = {str(step): value[str(step)] for step in steps}
        value.clear()
        value.update(fields)
    else:
        value[:] = [value[int(step)] for step in steps]


_OnField = RenameKey | ReplaceValue | RemoveField


def _change(mapping: dict[str, Any] | list[Any], intent: RenameKey | ReplaceValue | RemoveField) -> None:
    if isinstance(mapping, list):
        if isinstance(intent, ReplaceValue):
            mapping[int(intent.path[-1])] = read_scalar(intent.text)
        return
    key = str(intent.path[-1])
    if key not in mapping:  # two intents for one field, by two paths to it
        return
    match intent:
        case RenameKey(_, name):
            fields = [(name if field == key else field, value) for field, value in mapping.items()]
            if name in mapping:  # a field of its own overrides a merged one
                fields = [(field, value) for field, value in mapping.items() if field != key]
            mapping.clear()
            mapping.update(fields)
        case ReplaceValue(_, text):
            mapping[key] = read_scalar(text)
        case RemoveField():
            del mapping[key]


def find_difference(expected: Document, found: Document, added: frozenset[str]) -> Path | None:
    """Return where the data of two documents differs: in a value, its type, or the order of fields except `added`."""
    merging = frozenset(id(value) for document in (expected, found) for value in document.merging.values())
    return _find_difference(expected.data, found.data, merging, added)


def _find_difference(expected: Any, found: Any, merging: frozenset[int], added: frozenset[str]) -> Path | None:
    stack: list[tuple[Path, Any, Any]] = [((), expected, found)]
    seen: set[tuple[int, int]] = set()
    while stack:
        path, one, other = stack.pop()
        if type(one) is not type(other):
            return path
        if isinstance(one, dict | list):
            if (id(one), id(other)) in seen:
                continue
            seen.add((id(one), id(other)))
        if isinstance(one, dict):
            # The order of merged keys depends on which mapping is merged first, so it means nothing.
            in_order = id(one) not in merging and id(other) not in merging
            if one.keys() != other.keys() or (in_order and _order(one, added) != _order(other, added)):
                return path
            stack += [((*path, key), value, other[key]) for key, value in one.items()]
        elif isinstance(one, list):
            if len(one) != len(other):
                return path
            stack += [((*path, index), value, other[index]) for index, value in enumerate(one)]
        elif one != other and not (isinstance(one, float) and math.isnan(one) and math.isnan(other)):
            return path
    return None


def _order(mapping: dict[str, Any], added: frozenset[str]) -> list[str]:
    return [key for key in mapping if key not in added]


def _model(document: Document, settings: FileSettings) -> Iterator[Any]:
    """Yield all that scores and verdicts depend on, rubric by rubric; call this before the data changes."""
    for rubric in build_rubrics(document, settings):
        yield rubric.path, rubric.shape, [describe(criterion) for criterion in rubric.entries]


def describe(criterion: Criterion) -> Any:
    """Return all of a criterion that decides its score, in a comparable form."""
    # A gate at the lowest score is never missed, so it is the same as none.
    is_idle = criterion.gate == LOWEST and criterion.shapes[0] is not Shape.LEVELS
    bands = [(band.lower, band.upper, band.outcome) for band in criterion.scale.bands] if criterion.scale else None
    levels = [(level.number, level.name, level.outcome) for level in criterion.levels or ()]
    gate = None if is_idle else criterion.gate
    return criterion.id, criterion.shapes, criterion.outcome, criterion.weight, gate, bands, levels

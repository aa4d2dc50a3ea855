"""Read texts, and prove from the data alone, without the edits, that a new text has the intended content."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rubric_lint.lint.engine import Examined, build_rubrics
from rubric_lint.lint.fix.new_findings import DataChange, Offsets, list_edits, list_intents
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.criterion import LOWEST, Criterion, Shape
from rubric_lint.model.rubric import Rubric
from rubric_lint.source.document import Document
from rubric_lint.source.edits.intents import AddField, MoveItems, change_all
from rubric_lint.source.lines import line_start
from rubric_lint.source.patch import explain_text
from rubric_lint.source.path import Part, Path, pointer
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, Span


class ParsedText:
    """A text with its documents and syntax errors."""

    def __init__(self, source: Source, settings: FileSettings, examined: Examined | None = None) -> None:
        self.source = source
        self.settings = settings
        self.documents, self.faults = (examined.documents, examined.faults) if examined else read_documents(source)
        if examined:  # it was read to be linted
            by_document: dict[int, list[Rubric]] = {id(document): [] for document in self.documents}
            for document, rubric in examined.rubrics:
                by_document[id(document)].append(rubric)
            self.rubrics = list(by_document.values())

    @cached_property
    def rubrics(self) -> list[list[Rubric]]:
        """The rubrics of each document, also those of other systems."""
        return [build_rubrics(document, self.settings) for document in self.documents]

    @cached_property
    def models(self) -> list[Any]:
        """For each document all that scores and verdicts depend on, in a comparable form."""
        return [[_describe_model(rubric) for rubric in rubrics] for rubrics in self.rubrics]

    @cached_property
    def outdented(self) -> int:
        """The number of flow collections that go on at or before the column of their key or dash: no YAML 1.2."""
        count = 0
        for document in self.documents:
            for node, path in document.paths.items():
                if path and node.flow_style and not document.is_flow(path):
                    count += _is_outdented(document, path)
        return count


def _is_outdented(document: Document, path: Path) -> bool:
    code, span = document.tree.code, document.span(path)
    is_field = isinstance(path[-1], str)
    start = document.span(path, Part.KEY).start if is_field else code.rfind("-", 0, span.start)
    column = start - line_start(code, start)
    _, *lines = re.split(r"\r\n|\r|\n", code[span.start : span.end])
    return any(line.strip() and len(line) - len(line.lstrip(" \t")) <= column for line in lines)


def _describe_model(rubric: Rubric) -> tuple[Path, Shape | None, list[Any], list[Any]]:
    """Return all that scores and verdicts of a rubric depend on: its path, shape, groups and entries."""
    groups = [(group.id, group.weight, group.gate, group.applies_if) for group in rubric.groups]
    entries = [(entry.path, describe(entry)) for entry in rubric.entries]
    return rubric.path, rubric.shape, groups, entries


def describe(criterion: Criterion) -> Any:
    """Return all of a criterion that decides its score, in a comparable form."""
    # A gate at the lowest score is never missed, so it is the same as none.
    is_idle = criterion.gate == LOWEST and criterion.shapes[0] is not Shape.LEVELS
    bands = [(band.lower, band.upper, band.outcome) for band in criterion.scale.bands] if criterion.scale else None
    levels = [(level.number, level.name, level.outcome) for level in criterion.levels or ()]
    gate = None if is_idle else criterion.gate
    return criterion.id, criterion.shapes, criterion.outcome, criterion.weight, gate, bands, levels


def find_proof_failure(old: Source, new: Source, changes: Sequence[DataChange], settings: FileSettings) -> str:
    """Return why `new` is not what `changes` should make of `old`; empty if it is."""
    return compare(ParsedText(old, settings), ParsedText(new, settings), changes)


def compare(before: ParsedText, after: ParsedText, changes: Sequence[DataChange]) -> str:
    """Return why `after` is not what `changes` should make of `before`; empty if it is."""
    return next((doubt.reason for doubt in find_proof_failures(before, after, changes)), "")


@dataclass(frozen=True, slots=True)
class ProofFailure:
    """Why changes must not be made, and the places in the text before them that this is about, if they are known."""

    reason: str
    places: tuple[Span, ...] = ()


def find_proof_failures(before: ParsedText, after: ParsedText, changes: Sequence[DataChange]) -> Iterator[ProofFailure]:
    """Find the reasons why `after` is not what `changes` should make of `before`."""
    if _lines(before) != _lines(after):
        offsets = Offsets(list_edits(changes))
        starts = [offsets.find_old(fault.span.start) for fault in after.faults[:1]]
        yield ProofFailure("it would have a syntax error", tuple(Span(at, at) for at in starts))
        return
    if after.source.text[:1] == "\ufeff":
        yield ProofFailure("a byte order mark would become the first character of the file", (Span(0, 0),))
        return
    added = sum(change.adds_document for change in changes)
    if len(before.documents) + added != len(after.documents):
        yield ProofFailure("the number of documents would change")
        return
    expected = _edited_comments(before, changes)
    found = [after.source.slice(span) for span in _comments(after)]
    may_move = any(intent.moves_comments for intent in list_intents(changes))
    if expected != found and not (may_move and sorted(expected) == sorted(found)):
        yield ProofFailure("a comment would be lost")
        return
    if after.outdented > before.outdented:
        yield ProofFailure("a line between brackets would be too far left for strict readers of YAML")
        return
    yield from _compare_all(before, after, changes)


def _compare_all(before: ParsedText, after: ParsedText, changes: Sequence[DataChange]) -> Iterator[ProofFailure]:
    """Find where the documents, or a new one, are not what the changes should make of them."""
    by_document: dict[int, list[DataChange]] = {}
    if len(before.documents) > 1:
        for change in changes:
            number = int(change.pointer.split("/")[1]) if change.intents else 0
            by_document.setdefault(number, []).append(change)
    for place, document in enumerate(before.documents):
        mine = changes if document.number is None else by_document.get(document.number, ())
        yield from _compare_document(before, after, place, mine)


def _compare_document(
    before: ParsedText, after: ParsedText, place: int, changes: Sequence[DataChange]
) -> Iterator[ProofFailure]:
    """Find where a document, by its place among others, and those split off it are not what the changes should make."""
    document, intents = before.documents[place], list_intents(changes)
    moves = [intent for intent in intents if isinstance(intent, MoveItems)]
    adding = [intent for intent in moves if not intent.holder]
    parts = list(_describe_parts(before.rubrics[place], moves)) if moves else []
    split_off = [intent.split_off(document) for intent in adding]
    added_fields = frozenset(intent.name for intent in intents if isinstance(intent, AddField))
    expected, found = document, after.documents[place]
    if intents:
        expected = document.with_own_data()
        change_all(expected, intents)
    differences = list(find_differences(expected, found, added_fields))
    for path in differences:
        yield ProofFailure(_explain(expected, found, path), _find_places(document, path))
    if differences:
        return
    if all(change.safe for change in changes) and before.models[place] != after.models[place]:
        for path in _find_rescored(before.models[place], after.models[place]):
            yield ProofFailure("a rubric would be scored differently", _find_places(document, path))
    rubrics = list(after.rubrics[place]) if moves else []
    for data, intent in zip(split_off, adding, strict=True):
        rubrics += after.rubrics[intent.number]
        for path in _find_differences(data, after.documents[intent.number].data, frozenset(), frozenset()):
            reason = f"the value at `{pointer(path)}` of the new document would not be as intended"
            yield ProofFailure(reason, _find_places(document, intent.path))
    described = [_describe_rubric(rubric, rubric.entries) for rubric in rubrics]
    if any(part not in described for part in parts):
        yield ProofFailure("some criteria would not be recognized as those of a rubric any more")


def _explain(expected: Document, found: Document, path: Path) -> str:
    reason = explain_text(expected.value(path), found.value(path))
    where = f"the value at `{pointer(path)}` would not be as intended"
    return f"{where}: {reason}" if reason else where


def _find_places(document: Document, path: Path) -> tuple[Span, ...]:
    """Return where the value at a path is written, or what is left of it."""
    while path:
        with suppress(KeyError, IndexError, AttributeError):
            document.child(path)
            break
        path = path[:-1]
    extent = document.extent(path) if path else Span(0, len(document.source.text))
    return (extent,)


def _find_rescored(before: Any, after: Any) -> Iterator[Path]:
    """Yield the paths of the criteria that are scored differently, or of a rubric that is, or of the document."""
    if len(before) != len(after):
        yield ()
        return
    for (path, *_, entries), (*_, others) in zip(before, after, strict=True):
        differing = [entry for entry, other in zip(entries, others, strict=False) if entry != other]
        yield from [entry[0] for entry in differing] or [path]


def _describe_parts(rubrics: Iterable[Rubric], moves: Iterable[MoveItems]) -> Iterator[Any]:
    """Describe the two rubrics that each move makes of one."""
    by_path = {rubric.path: rubric for rubric in rubrics}
    for intent in moves:
        rubric = by_path[intent.path]
        for is_moved in (False, True):
            places = rubric.entries_by_place.items()
            entries = [entry for place, entry in places if (place[-1] in intent.steps) is is_moved]
            yield _describe_rubric(rubric, entries)


def _describe_rubric(rubric: Rubric, entries: Iterable[Criterion]) -> Any:
    """Describe some criteria by all that decides their scores, without the ids that their places give them."""
    described = [(entry.has_own_id and entry.id, describe(entry)[1:]) for entry in entries]
    return rubric.version, rubric.dialect, described


def _lines(reading: ParsedText) -> list[int]:
    """Return the lines with errors; in JSON Lines the others can be read, and no fix adds or removes a line."""
    return [reading.source.position(fault.span.start).line for fault in reading.faults]


def _comments(reading: ParsedText) -> list[Span]:
    return reading.documents[0].tree.comments if reading.documents else []


def _edited_comments(reading: ParsedText, changes: Iterable[DataChange]) -> list[str]:
    """Return the comments of a text after the changes without intents, which edit comments."""
    edits = sorted(list_edits([change for change in changes if not change.intents]))
    starts, ends = [edit.span.start for edit in edits], [edit.span.end for edit in edits]
    comments = []
    for start, end in _comments(reading):
        text = reading.source.text[start:end]
        for span, new in reversed(edits[bisect_right(ends, start) : bisect_left(starts, end)]):
            text = text[: max(span.start - start, 0)] + new + text[min(span.end, end) - start :]
        if text:
            comments.append(text)
    return comments


def find_differences(expected: Document, found: Document, added: frozenset[str]) -> Iterator[Path]:
    """Find where the data of two documents differs: in a value, its type, or the order of fields except `added`."""
    merging = frozenset(map(id, [*expected.merging.values(), *found.merging.values()]))
    return _find_differences(expected.data, found.data, merging, added)


def _find_differences(expected: Any, found: Any, merging: frozenset[int], added: frozenset[str]) -> Iterator[Path]:
    stack: list[tuple[Path, Any, Any]] = [((), expected, found)]
    seen: set[tuple[int, int]] = set()
    while stack:
        path, one, other = stack.pop()
        if type(one) is not type(other):
            yield path
            continue
        if isinstance(one, dict | list):
            if (id(one), id(other)) in seen:
                continue
            seen.add((id(one), id(other)))
        if isinstance(one, dict):
            # The order of merged keys depends on which mapping is merged first, so it means nothing.
            in_order = id(one) not in merging and id(other) not in merging
            if one.keys() != other.keys() or (in_order and _order(one, added) != _order(other, added)):
                yield path
            else:
                stack += [((*path, key), value, other[key]) for key, value in one.items()]
        elif isinstance(one, list):
            if len(one) != len(other):
                yield path
            else:
                stack += [((*path, index), value, other[index]) for index, value in enumerate(one)]
        elif one != other and not (isinstance(one, float) and math.isnan(one) and math.isnan(other)):
            yield path


def _order(mapping: dict[str, Any], added: frozenset[str]) -> list[str]:
    return [key for key in mapping if key not in added]

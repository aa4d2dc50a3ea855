"""Format the rubrics of a file: put them into canonical order and notation, and prove that nothing else has changed."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from operator import getitem
from typing import Any

from rubric_lint.lint.engine import DEFAULTS, examine_file, lint
from rubric_lint.lint.fix import Applied, Fixed
from rubric_lint.lint.fix.new_findings import DataChange, find_new, format_new_finding, list_edits
from rubric_lint.lint.fix.proof import ParsedText, compare
from rubric_lint.lint.fix_builder import build_alias_graph
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.criterion import SHAPE_FIELDS, Scale, Shape
from rubric_lint.model.finding import Result
from rubric_lint.model.recognition import CRITERIA, FIELD
from rubric_lint.model.repairs import order_bands
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema import schema_for
from rubric_lint.model.schema_files import VERSION_3
from rubric_lint.source.document import Document
from rubric_lint.source.edits.alias_graph import AliasGraph
from rubric_lint.source.edits.fields import write_range
from rubric_lint.source.edits.intents import Intent, Reorder, Repair, Replace
from rubric_lint.source.edits.lines import ObstacleError
from rubric_lint.source.edits.making import make_fix
from rubric_lint.source.path import Part, Path
from rubric_lint.source.reading import without_collections
from rubric_lint.source.source import Source, Span, splice
from rubric_lint.source.values import as_list

FORMATTING = "format"
"""The name in reports of what formatting changes, in the place of a rule."""

_RANGES, _KEYS, _BANDS = "write ranges as `[lowest, highest]`", "put keys in order", "sort the bands"

_ORDER_RULES = frozenset({"band-order"})
"""The rules about order: formatting removes their findings."""

_EntryKey = tuple[int, Path]
"""An entry of a rubric, by the number of its document and its path."""


@dataclass(frozen=True, slots=True)
class _CollectionChange:
    """A change of one collection; `at` is the offset to report if it cannot be made."""

    title: str
    path: Path
    intents: tuple[Intent, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Formatted(Fixed):
    """The outcome of formatting one file; `foreign` counts the rubrics of other systems, which stay as they are."""

    foreign: int = 0


class _FormatRefusedError(Exception):
    def __init__(self, reason: str, at: int | None) -> None:
        super().__init__(reason)
        self.reason, self.at = reason, at


@without_collections()  # until the readings are freed: collecting them would take longer than all else
def format_file(name: str, data: bytes, settings: FileSettings = DEFAULTS, *, within: Span | None = None) -> Formatted:
    """Put the rubrics of one file into canonical order and notation, or leave all of it unchanged.

    Nothing is changed if there are syntax errors or if something cannot be moved safely: then `doubt` is the reason,
    and `doubt_at` its place. Rubrics of other systems stay as they are, as do all in TOML and Python. With `within`,
    only the criteria that it touches are formatted.

    Raises:
        RuleError: if a rule crashes, which no `data` should cause.
    """
    examined = examine_file(name, data, settings)
    first, source = examined.result, examined.result.source
    own = [(document, rubric) for document, rubric in examined.rubrics if not rubric.dialect]
    unchanged = Formatted(source, data, first, foreign=len(examined.rubrics) - len(own))
    if first.is_stopped or not own or any(finding.rule == "syntax" for finding in first.findings):
        return unchanged
    reading = ParsedText(source, settings)
    if reading.faults:
        line = source.position(reading.faults[0].span.start).line
        return replace(unchanged, doubt=f"line {line}: {reading.faults[0].message}")
    if source.to_bytes(source.text) != data:
        return replace(unchanged, doubt="its bytes cannot be reproduced exactly")
    parts = None if within is None else frozenset(_find_parts(own, within))
    try:
        new, applied, changes = _format(reading, parts)
    except _FormatRefusedError as refusal:
        return replace(unchanged, doubt=refusal.reason, doubt_at=refusal.at)
    if not applied:
        return unchanged
    result = lint(name, new.to_bytes(new.text), settings)
    doubt = _compare(first, result, changes)
    return replace(unchanged, doubt=doubt) if doubt else replace(unchanged, result=result, applied=tuple(applied))


def _find_parts(rubrics: Sequence[tuple[Document, Rubric]], within: Span) -> Iterator[_EntryKey]:
    """Find the entries that a span touches; and each rubric, and each document, that it has all of."""
    for document, rubric in rubrics:
        number = document.number or 0
        home, entries = _find_entries(rubric, document.data)
        for index in range(len(entries)):
            span = document.extent((*home, index))
            if span.start <= within.end and within.start <= span.end:
                yield number, (*home, index)
        for path in (rubric.path, ()):
            span = document.span(path)
            if within.start <= span.start and span.end <= within.end:
                yield number, path


def _format(reading: ParsedText, parts: frozenset[_EntryKey] | None) -> tuple[Source, list[Applied], list[DataChange]]:
    """Return the formatted text and what was changed, innermost first; refuse what cannot be moved."""
    applied: list[Applied] = []
    done: list[DataChange] = []
    planned = _plan(reading, parts)
    while planned:
        # What holds others is planned anew for the text in which they have moved.
        chosen = _find_innermost(planned)
        changes = [change for _, change in chosen]
        text = splice(reading.source.text, dict.fromkeys(list_edits(changes)))
        new = ParsedText(reading.source._replace(text=text), reading.settings)
        doubt = compare(reading, new, changes)
        if doubt:
            raise _FormatRefusedError(doubt, None)
        reading = new
        applied += [Applied(FORMATTING, step.title) for step, _ in chosen]
        done += changes
        if len(chosen) == len(planned):
            break
        before = len(planned)
        try:
            planned = _plan(reading, parts)
        except _FormatRefusedError as refusal:  # its offset says nothing to the user, whose text is another one
            raise _FormatRefusedError(refusal.reason, None) from None
        if len(planned) >= before:
            raise _FormatRefusedError("its order would change again and again", None)
    return reading.source, applied, done


_Ordering = tuple[Path, tuple[str | int, ...] | None]
"""A collection and its children in canonical order; None: they have none, because of invalid ranges."""

_PlannedChange = tuple[_CollectionChange, DataChange]
"""A change of a collection, and what it does to the data."""


def _plan(reading: ParsedText, parts: frozenset[_EntryKey] | None) -> list[_PlannedChange]:
    """Return all changes that a text needs, of each rubric the ranges first, then the innermost collections.

    Raises:
        _FormatRefusedError: if something cannot be moved.
    """
    planned: list[_PlannedChange] = []
    for document, rubrics in zip(reading.documents, reading.rubrics, strict=True):
        own = [rubric for rubric in rubrics if not rubric.dialect]
        aliases = build_alias_graph(document, [rubric.path for rubric in own])
        seen: set[tuple[str, int]] = set()
        for rubric in own:
            for step in _list_steps(document, rubric, partial(_is_in, document, rubric, parts)):
                node = (step.title, id(document.child(step.path).node))
                if node not in seen:
                    seen.add(node)
                    planned.append((step, _make_change(aliases, step)))
    return planned


def _find_innermost(planned: Sequence[_PlannedChange]) -> list[_PlannedChange]:
    """Return the changes of collections in which nothing else changes."""
    holders: set[str] = set()
    for _, change in planned:
        steps = change.pointer.split("/")
        holders.update("/".join(steps[:length]) for length in range(1, len(steps)))
    return [pair for pair in planned if pair[1].pointer not in holders]


def _list_steps(document: Document, rubric: Rubric, is_in: Callable[[Path], bool]) -> Iterator[_CollectionChange]:
    for path in filter(is_in, _list_ranges(rubric)):
        at = document.span(path).start
        try:
            edits = write_range(document, path)
        except ObstacleError as obstacle:
            raise _FormatRefusedError(f"the range cannot be written as `[lowest, highest]`: {obstacle}", at) from None
        if edits:
            yield _CollectionChange(_RANGES, path, tuple(Replace(*edit) for edit in edits), at)
    for path, steps in _list_orderings(rubric, document.data):
        if is_in(path):
            yield from _reorder(document, path, steps)


def _is_in(document: Document, rubric: Rubric, parts: frozenset[_EntryKey] | None, path: Path) -> bool:
    """Return whether a value is among the parts to format, and not written elsewhere for an alias to repeat."""
    home, span = document.span(rubric.path), document.span(path)
    if path and not (home.start <= span.start and span.end <= home.end):
        return False
    depth = len(_find_entries(rubric, document.data)[0])
    part = path[: depth + 1] if len(path) > depth else path
    return parts is None or (document.number or 0, part) in parts


@cache
def _ranks(version: str, *definitions: str) -> Mapping[str, tuple[int, bool]]:
    """Return the places of fields by the order in the schema; a deprecated field has that of its replacement."""
    schema = schema_for(version)
    fields: dict[str, Any] = {}
    for definition in definitions:
        found = schema.fields_of(definition) if definition else schema.contents["properties"]
        fields.update((name, field) for name, field in found.items() if name not in fields)
    places = {name: at for at, name in enumerate(fields)}
    return {
        name: (places[field.get("x-replaced-by", name)], "x-replaced-by" in field) for name, field in fields.items()
    }


def _order(mapping: Mapping[str, Any], path: Path, version: str, *definitions: str) -> _Ordering:
    ranks = _ranks(version, *definitions)
    return path, tuple(sorted(mapping, key=lambda name: ranks.get(str(name), (len(ranks), False))))


def _find_entries(rubric: Rubric, data: Any) -> tuple[Path, list[Any]]:
    """Return where the list of the entries of a rubric is, and the list; an empty one if there is something else."""
    value = reduce(getitem, rubric.path, data)
    home = (*rubric.path, CRITERIA) if isinstance(value, dict) else rubric.path
    entries = value.get(CRITERIA) if isinstance(value, dict) else value
    return home, as_list(entries)


def _list_ranges(rubric: Rubric) -> Iterator[Path]:
    """Yield the path of each range that is written as a list."""
    for entry in rubric.entries:
        if entry.scale is None:
            continue
        for band in entry.scale.bands:
            if band.path[-1] == "score_range" and band.lower is not None and band.upper is not None:
                yield rubric.place(band.path)


def _list_nodes(value: Any, path: Path, *, has_groups: bool) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the mappings that are a rubric, a group or a criterion with their places, the innermost first."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _list_nodes(item, (*path, index), has_groups=has_groups)
    elif isinstance(value, dict):
        if has_groups and isinstance(value.get(CRITERIA), list):
            yield from _list_nodes(value[CRITERIA], (*path, CRITERIA), has_groups=has_groups)
        yield path, value


_LISTS = {"score_ranges": "band", "levels": "level", "critical_failures": "failure"}
"""The fields of a node that may hold a list of mappings, with the definition of those in the schema."""


def _list_orderings(rubric: Rubric, data: Any) -> Iterator[_Ordering]:
    """Yield the canonical orders of the collections of a rubric, given the data of the whole document."""
    nodes = list(_list_nodes(reduce(getitem, rubric.path, data), rubric.path, has_groups=rubric.version == VERSION_3))
    yield from _order_items(rubric, nodes)
    for scale in rubric.scales:
        if scale.bands and scale.path != rubric.path:
            path, steps = _sort(scale)
            yield rubric.place(path), steps
    for path, fields in nodes:
        yield _order(fields, path, rubric.version, *_name_definitions(rubric, path, fields))
    home, entries = _find_entries(rubric, data)
    for scale in rubric.scales:
        if scale.bands and scale.path == rubric.path and len(scale.bands) == len(entries):
            yield home, _sort(scale)[1]
    if rubric.path == (FIELD,) and data.keys() <= rubric.schema.contents["properties"].keys():
        yield _order(data, (), rubric.version, "")


def _order_items(rubric: Rubric, nodes: Iterable[tuple[Path, Mapping[str, Any]]]) -> Iterator[_Ordering]:
    """Yield the orders of the bands, levels and critical failures of nodes."""
    for path, fields in nodes:
        for field, definition in _LISTS.items():
            items = fields.get(field)
            if not isinstance(items, list):
                continue
            for index, child in enumerate(items):
                if isinstance(child, dict):
                    yield _order(child, (*path, field, index), rubric.version, definition)


def _name_definitions(rubric: Rubric, path: Path, fields: Mapping[str, Any]) -> list[str]:
    """Return the definitions of the schema that have the fields of a rubric, a group or a criterion."""
    if path == rubric.path:
        return [rubric.schema.whole if path else ""]
    shape = next((shape for field, shape in SHAPE_FIELDS.items() if field in fields), None)
    return ["band", rubric.schema.item] if shape is Shape.HOLISTIC else [rubric.schema.item]


def _sort(scale: Scale) -> _Ordering:
    """Return the order of bands by their lowest scores; they need one only if those that are known do not ascend."""
    depth = len(scale.path)
    lowest = [band.lower for band in scale.bands if band.lower is not None]
    written = tuple(band.path[depth] for band in scale.bands)
    if lowest == sorted(lowest):
        return scale.path, written
    return scale.path, order_bands(scale)


def _reorder(document: Document, path: Path, steps: tuple[str | int, ...] | None) -> Iterator[_CollectionChange]:
    """Yield the change that a collection needs, if any; refuse one that has no order or cannot be sorted."""
    at = document.span(path, Part.HEAD).start if path else document.span(path).start
    if steps is None:
        raise _FormatRefusedError("the bands cannot be sorted, because the range of one is invalid", at)
    value = document.value(path)
    is_mapping = isinstance(value, dict)
    node = document.child(path).node
    own = list(value) if is_mapping else list(range(len(value)))
    if is_mapping and node in document.merging:
        merged = {name for name, _ in document.merged_fields(path)}
        own, steps = [name for name in own if name not in merged], tuple(name for name in steps if name not in merged)
        if own != list(steps):
            raise _FormatRefusedError("the keys cannot be sorted, because they include a merge key (`<<`)", at)
        return
    if own == list(steps):
        return
    for duplicate in document.duplicates:
        if duplicate.mapping is node:
            raise _FormatRefusedError(
                f"the keys cannot be sorted, because `{duplicate.key}` is written twice", duplicate.second.start
            )
    what = _KEYS if is_mapping and path[-1:] != ("score_ranges",) else _BANDS
    yield _CollectionChange(what, path, (Reorder(path, steps),), at)


def _make_change(aliases: AliasGraph, step: _CollectionChange) -> DataChange:
    try:
        made = make_fix(aliases, Repair(step.title, step.intents, safe=step.title != _BANDS))
    except ObstacleError as obstacle:
        what = "bands" if step.title == _BANDS else "keys"
        raise _FormatRefusedError(f"the {what} cannot be sorted: {obstacle}", step.at) from None
    return DataChange(aliases.document.pointer(step.path), made.intents, made.edits, made.safe)


def _compare(before: Result, after: Result, changes: Sequence[DataChange]) -> str:
    """Return why the findings differ apart from those about order; empty if they do not."""
    for finding in find_new(before, after, changes):
        return format_new_finding(after, finding)
    then = Counter(finding.rule for finding in before.findings)
    now = Counter(finding.rule for finding in after.findings)
    lost = sorted(set(then - now) - _ORDER_RULES)
    return f"a finding of {lost[0]} would be lost" if lost else ""

"""Format the rubrics of a file: put them into canonical order and notation, and prove that nothing else has changed."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    orderings = _list_orderings(reading)
    for number, planned in enumerate(_plan(reading, parts, [None, *orderings])):
        if not planned:
            continue
        # Planned for the text as it is now, in which what this round changes may have moved.
        chosen = planned
        if done:
            try:
                (chosen,) = _plan(reading, parts, [None, *orderings][number : number + 1])
            except _FormatRefusedError as refusal:  # its offset says nothing to the user, whose text is another one
                raise _FormatRefusedError(refusal.reason, None) from None
        changes = [change for _, change in chosen]
        source = reading.source
        text = splice(source.text, dict.fromkeys(list_edits(changes)))
        new = ParsedText(source._replace(text=text), reading.settings)
        doubt = compare(reading, new, changes)
        if doubt:
            raise _FormatRefusedError(doubt, None)
        reading = new
        applied += [Applied(FORMATTING, title) for title, _ in chosen]
        done += changes
    return reading.source, applied, done


_Ordering = tuple[Path, tuple[str | int, ...] | None]
"""A collection and its children in canonical order; None: they have none, because of invalid ranges."""

_OrderingsOf = Callable[[Rubric, Any], Iterator[_Ordering]]
"""What finds the orders of collections of a rubric, from the data of the whole document."""

_Round = list[tuple[str, DataChange]]
"""Changes with their titles, none inside another."""


def _plan(
    reading: ParsedText, parts: frozenset[_EntryKey] | None, orderings: Sequence[_OrderingsOf | None]
) -> list[_Round]:
    """Return the changes of a round for each of some orderings, and of one for the ranges in the place of None.

    Raises:
        _FormatRefusedError: if something cannot be moved.
    """
    plan: list[_Round] = [[] for _ in orderings]
    for document, rubrics in zip(reading.documents, reading.rubrics, strict=True):
        own = [rubric for rubric in rubrics if not rubric.dialect]
        aliases = build_alias_graph(document, [rubric.path for rubric in own])
        seen: set[tuple[str, int]] = set()
        for rubric in own:
            is_in = partial(_is_in, document, rubric, parts)
            for find, planned in zip(orderings, plan, strict=True):
                for step in _list_steps(document, rubric, is_in, find):
                    node = (step.title, id(document.child(step.path).node))
                    if node not in seen:
                        seen.add(node)
                        planned.append((step.title, _make_change(aliases, step)))
    return plan


def _list_steps(
    document: Document, rubric: Rubric, is_in: Callable[[Path], bool], find: _OrderingsOf | None
) -> Iterator[_CollectionChange]:
    for path in filter(is_in, _list_ranges(rubric)) if find is None else ():
        at = document.span(path).start
        try:
            edits = write_range(document, path)
        except ObstacleError as obstacle:
            raise _FormatRefusedError(f"the range cannot be written as `[lowest, highest]`: {obstacle}", at) from None
        if edits:
            yield _CollectionChange(_RANGES, path, tuple(Replace(*edit) for edit in edits), at)
    for path, steps in find(rubric, document.data) if find else ():
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
    return home, entries if isinstance(entries, list) else []


def _list_ranges(rubric: Rubric) -> Iterator[Path]:
    """Yield the path of each range that is written as a list."""
    for entry in rubric.entries:
        for band in entry.scale.bands if entry.scale is not None else ():
            if band.path[-1] == "score_range" and band.lower is not None and band.upper is not None:
                yield rubric.place(band.path)


@dataclass(frozen=True, slots=True)
class _RubricNode:
    """A mapping that is a rubric, a group or a criterion; `height` is the number of nodes below it, one in another."""

    height: int
    path: Path
    fields: Mapping[str, Any]


def _list_nodes(rubric: Rubric, data: Any) -> list[_RubricNode]:
    """List the nodes of a rubric, the innermost first."""
    return list(_walk(reduce(getitem, rubric.path, data), rubric.path, has_groups=rubric.version == VERSION_3))


def _walk(value: Any, path: Path, *, has_groups: bool) -> Iterator[_RubricNode]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, (*path, index), has_groups=has_groups)
    elif isinstance(value, dict):
        criteria = value.get(CRITERIA) if has_groups else None
        below: list[_RubricNode] = []
        if isinstance(criteria, list):
            below = list(_walk(criteria, (*path, CRITERIA), has_groups=has_groups))
        yield from below
        yield _RubricNode(1 + max((node.height for node in below), default=-1), path, value)


_LISTS = {"score_ranges": "band", "levels": "level", "critical_failures": "failure"}
"""The fields of a node that may hold a list of mappings, with the definition of those in the schema."""


def _order_items(rubric: Rubric, data: Any) -> Iterator[_Ordering]:
    for node in _list_nodes(rubric, data):
        for field, definition in _LISTS.items():
            items = node.fields.get(field)
            for index, child in enumerate(items if isinstance(items, list) else ()):
                if isinstance(child, dict):
                    yield _order(child, (*node.path, field, index), rubric.version, definition)


def _sort_scales(rubric: Rubric, _data: Any) -> Iterator[_Ordering]:
    for scale in rubric.scales:
        if scale.bands and scale.path != rubric.path:
            path, steps = _sort(scale)
            yield rubric.place(path), steps


def _order_nodes(rubric: Rubric, data: Any, height: int) -> Iterator[_Ordering]:
    """Find the orders of the nodes of one height, of which none is inside another."""
    for node in _list_nodes(rubric, data):
        if node.height != height:
            continue
        definitions = [rubric.schema.item]
        if node.path == rubric.path:
            definitions = [rubric.schema.whole if node.path else ""]
        elif next((shape for field, shape in SHAPE_FIELDS.items() if field in node.fields), None) is Shape.HOLISTIC:
            definitions = ["band", *definitions]
        yield _order(node.fields, node.path, rubric.version, *definitions)


def _sort_entries(rubric: Rubric, data: Any) -> Iterator[_Ordering]:
    home, entries = _find_entries(rubric, data)
    for scale in rubric.scales:
        if scale.bands and scale.path == rubric.path and len(scale.bands) == len(entries):
            yield home, _sort(scale)[1]


def _order_root(rubric: Rubric, data: Any) -> Iterator[_Ordering]:
    if rubric.path == (FIELD,) and data.keys() <= rubric.schema.contents["properties"].keys():
        yield _order(data, (), rubric.version, "")


def _list_orderings(reading: ParsedText) -> list[_OrderingsOf]:
    """List what finds the canonical orders of the collections of a rubric, from the data of the whole document.

    Innermost collections come first; none that one of them finds is inside another.
    """
    highest = 0
    for document, rubrics in zip(reading.documents, reading.rubrics, strict=True):
        for rubric in rubrics:
            if not rubric.dialect:
                heights = (node.height for node in _list_nodes(rubric, document.data))
                highest = max(highest, *heights, 0)
    of_nodes = [partial(_order_nodes, height=height) for height in range(highest + 1)]
    return [_order_items, _sort_scales, *of_nodes[:1], _sort_entries, *of_nodes[1:], _order_root]


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

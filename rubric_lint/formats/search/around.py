"""Find what is around rubrics and may decide but is not read, and the threshold of their suite."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from rubric_lint.formats.agentv.suites import (
    ASSERTION_LISTS,
    PassMark,
    find_gate,
    find_grader,
    find_negation,
    find_pass_mark,
    look_up,
)
from rubric_lint.formats.home_made.columns import PlacedCriterion
from rubric_lint.formats.home_made.direction import format_fall
from rubric_lint.formats.home_made.format_table import FormatTable, split_words
from rubric_lint.formats.home_made.roles import Role, is_pass_mark, is_unwanted, role_of, says_penalty
from rubric_lint.formats.home_made.scores import Ends, is_amount, read_ends, read_levels, read_scale_around
from rubric_lint.formats.home_made.unmapped import (
    UnmappedSearch,
    find_around_in_suite,
    find_at_top_of_suite,
    find_scales_and_unwanted,
    is_of_rubric,
)
from rubric_lint.formats.home_made.unmapped_key import UnmappedKey
from rubric_lint.formats.home_made.vocabulary import SETS, Containers
from rubric_lint.model.criterion import is_number, read_number
from rubric_lint.model.messages import describe, shorten
from rubric_lint.model.recognition import CRITERIA, KNOWN_IN_GRADERS, KNOWN_IN_SUITES, KNOWN_IN_TESTS, Around, is_plain
from rubric_lint.model.schema import RubricSchema, schema_for, schema_of
from rubric_lint.model.schema_files import VERSION_3
from rubric_lint.model.view import View, read_threshold
from rubric_lint.rules import BY_NAME
from rubric_lint.rules.inverted_scale import find_fall
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path, list_prefixes, pointer
from rubric_lint.source.tree import parts_of
from rubric_lint.source.values import as_mapping

_SCHEMA = "agentv/a6.json"
"""Suites of our format are those of AgentV up to version 4."""

_SCALE = (Fraction(0), Fraction(10))
_CHECKLIST = (Fraction(0), Fraction(1))
NEXT_TO_OTHERS = "holds criteria next to rubrics of another format, so it is not read;"
"""The end of the reason for criteria that are not read because others are."""

MOVE_AWAY = "to a file of its own"
_MARK_OF_SUITE = "write the mark as `threshold`, from 0 to 1, into `execution`, or remove it if it does not count"

_READ_IN_SUITES = frozenset(
    """
    rubrics criteria tests cases evalcases eval_cases assert assertions evaluators input inputs expected_output
    execution metadata vars tags
    """.split()  # noqa: SIM905 (it reads better)
)
"""What holds no other criteria in suites: it is read, or says what a test is about."""

_SEVERAL_MARKS = (
    "the file has several marks, and the settings of rubric-lint hold one: write that as `pass` and `borderline` "
    "there, from 0 to 1, and remove all of them here"
)
_MARK_OF_GRADER = "write the mark as `min_score`, from 0 to 1, with `required: true`, or remove it if it does not count"


def find_around(document: Document, path: Path) -> Around:
    """Return the doubts that the values around a rubric of our format raise."""
    if len(path) > 1:
        return find_in_suite(document, path, _SCHEMA, KNOWN_IN_GRADERS - {"min_score"})
    value = document.value(path)
    usual = _find_usual(value)
    fields = {} if usual is None else dict(_find_fields_of_3(document, path, usual))
    search = UnmappedSearch(document, FormatTable("", pointer(path)), path, (), _list_scales(value))
    found = _drop_usual(search.find_next_to(len(path) - 1), lambda: usual)
    found += _find_limits(document, path, {key.place for key in found})
    if document.may_borrow:  # then what a mapping or a list says may be a part of the criteria
        found = [key for key in found if len(key.place) == len(path) and (not key.is_several or key.role is Role.SCALE)]
    mark = _advise_on_marks(document) if found else ""
    found = [key for key in found if key.role is not Role.SCALE or key.place not in fields]
    doubts = [(key.place, key.format_without_table(mark)) for key in found]
    known = {key.place for key in found}
    doubts += [(place, reason) for place, reason in fields.items() if place not in known]
    if not document.may_borrow:  # an alias may repeat what another list holds in the criteria
        holder = document.value(path[:-1])
        values = {(*path[:-1], key): value for key, value in holder.items() if key != path[-1]}
        doubts += find_other_criteria(values)
    return Around(doubts=tuple(doubts))


def _find_limits(document: Document, path: Path, known: Collection[Path]) -> Iterator[UnmappedKey]:
    """Find the numbers next to a list of criteria by their keys, and lists of numbers, but for what is `known`."""
    for key, value in document.value(path[:-1]).items():
        if not value or isinstance(value, str | dict):
            continue
        place = (*path[:-1], key)
        is_limit = is_number(value) and not split_words(key).isdisjoint(SETS["least"] | SETS["mark"])
        is_range = isinstance(value, list) and all(map(is_number, value))
        if (is_limit or is_range) and place not in known and role_of(key, value, is_around=True) is Role.OPEN:
            yield UnmappedKey(place, Role.OPEN, value, is_around=True)


def _find_fields_of_3(document: Document, path: Path, usual: Collection[Any]) -> Iterator[tuple[Path, str]]:
    """Find the fields of version 3 next to a list of criteria, but a scale that is `usual`; yield place and reason."""
    from rubric_lint.model.schema_problems import find_misplaced, format_claim  # noqa: PLC0415  (few files have any)

    for problem in find_misplaced(schema_for(VERSION_3), document, path, in_suite=True):
        key = problem.path[-1]
        if key != CRITERIA and read_ends(document.value(problem.path)) not in usual:
            values = {"field": key, "how": format_claim(document, path)}
            message = BY_NAME["unknown-field"].write("version-3", values)
            yield problem.path, f"{message}; there {problem.values['reason']}"


def _find_usual(value: Any) -> set[Any] | None:
    """Return what repeats a list of criteria of our format, see `_list_usual`; None if they have scales of their own.

    Those of version 3 do, and anything but a list is an error.
    """
    criteria = [as_mapping(part) for part in parts_of(value)]
    if not isinstance(value, list) or any(CRITERIA in criterion or "scale" in criterion for criterion in criteria):
        return None
    return _list_usual([*map(_find_scale, criteria)], criteria)


def _find_usual_of(view: View) -> set[Any]:
    """Return what repeats the criteria of another system; see `_list_usual`."""
    return _list_usual(_list_scales_of(view), [as_mapping(part) for part in view.data])


def _drop_usual(found: Iterable[UnmappedKey], find_usual: Callable[[], set[Any] | None]) -> list[UnmappedKey]:
    """Return some doubts without the scales that are usual, all of them if `find_usual` returns None."""
    found = list(found)
    if all(key.role is not Role.SCALE for key in found):
        return found
    usual = find_usual()
    return [
        key
        for key in found
        if key.role is not Role.SCALE or (usual is not None and read_scale_around(key.value) not in usual)
    ]


def _list_usual(scales: Sequence[Ends], criteria: Sequence[Mapping[str, Any]]) -> set[Any]:
    """Return what repeats criteria: the sum of their weights, and the scale and its end if all have the same one.

    `scales` are those of the criteria that have one; the others are checks. A criterion without a weight may count 1.
    """
    weights = [read_number(criterion.get("weight")) for criterion in criteria]
    usual: set[Any] = {
        sum(weight or 0 for weight in weights),
        sum(1 if weight is None else weight for weight in weights),
    }
    known = {*scales} if len(scales) == len(criteria) else {*scales, _CHECKLIST}
    return usual if len(known) > 1 else usual.union(known, [high for _, high in known])


def _find_scale(criterion: Mapping[str, Any]) -> Ends:
    """Return the scale of a criterion: that of its bands or its levels, or of a checklist."""
    levels = read_levels(criterion.get("levels"))
    scores = [Fraction(level.score) for level in levels.levels if level.score is not None] if levels else []
    if scores:
        return min(scores), max(scores)
    return _CHECKLIST if criterion.keys().isdisjoint(("score_ranges", "score_range")) else _SCALE


@lru_cache(maxsize=1)  # the rubrics of a file are asked about one after the other
def _advise_on_marks(document: Document) -> str:
    """Return the advice for the pass marks of a file with several, of which the settings hold one; else empty.

    The advice for one of them would contradict the advice for another.
    """
    marks: set[Any] = set()
    for _, mapping in document.mappings:
        marks.update(read_number(value) for key, value in mapping.items() if is_pass_mark(key))
    marks.discard(None)
    return _SEVERAL_MARKS if len(marks) > 1 else ""


def _list_scales(criteria: Any) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return the scale of criteria that have bands, as AgentV and this format have them."""
    has_bands = any(isinstance(criterion, dict) and "score_ranges" in criterion for criterion in parts_of(criteria))
    return (_SCALE,) if has_bands else ()


def find_in_suite(
    document: Document, path: Path, schema: str, known: frozenset[str] = KNOWN_IN_GRADERS, view: View | None = None
) -> Around:
    """Return the threshold and the doubts of a rubric in a suite; a release of AgentV reads what its schema has.

    `known` are the fields of its assertion that are read or do nothing there. `view` is the rubric if it is AgentV's.
    """
    negation = find_negation(document, path)
    doubts = [negation] if negation else []
    threshold, place, is_gate = None, None, False
    mark = find_pass_mark(document, path, schema)
    if mark:
        threshold = None if mark.reason else read_threshold(document, mark.path)
        if threshold is None:
            doubts.append((mark.path, _format_mark(document, mark)))
        else:
            place = mark.path
    scales = _list_scales(document.value(path))

    def find_usual() -> set[Any] | None:
        return _find_usual(document.value(path)) if view is None else _find_usual_of(view)

    grader = find_grader(document, path)
    if grader is not None:
        gate = _find_gate(document, grader, known)
        least = _read_gate(document, gate, schema) if gate else None
        if gate and least is None:
            doubts.append((gate, _format_gate(document, gate, schema)))
        elif least is not None and (threshold is None or least > threshold):
            is_gate = threshold is None
            threshold, place = least, gate  # an answer has to pass the test and its gate
        criteria = path if path != grader else (*grader, "value")
        found = find_around_in_suite(document, criteria, scales, known, is_grader=True)
        found = _drop_usual((doubt for doubt in found if doubt.place != gate), find_usual)
        doubts += [(doubt.place, doubt.format_without_table(_MARK_OF_GRADER)) for doubt in found]
    doubts += _find_in_holders(document, path, grader, scales, find_usual)
    return Around(threshold, place, tuple(doubts), is_gate)


def _find_gate(document: Document, grader: Path, known: frozenset[str]) -> Path | None:
    """Return where an assertion has its gate, or a number that can be none and that AgentV leaves out in silence."""
    gate = find_gate(document, grader)
    place = (*grader, "min_score")
    is_idle = gate is None and "min_score" in document.value(grader) and "min_score" in known
    return place if is_idle and read_threshold(document, place) is None else gate


def _find_in_holders(
    document: Document,
    path: Path,
    grader: Path | None,
    scales: tuple[Ends, ...],
    find_usual: Callable[[], set[Any] | None],
) -> Iterator[tuple[Path, str]]:
    """Find what may decide in the mappings around a rubric in a suite but its own assertion, and other criteria."""
    for end in range(1, len(path) + 1):
        above = path[: end - 1]
        holder = document.value(above)
        if not isinstance(holder, dict) or is_plain(holder):
            continue
        if above != grader:
            is_assertion = end > 2 and path[end - 3] in ASSERTION_LISTS
            known = KNOWN_IN_SUITES if is_assertion else KNOWN_IN_TESTS
            find = find_around_in_suite if end > 1 else find_at_top_of_suite
            found = _drop_usual(find(document, path[:end], scales, known), find_usual)
            if end == len(path) and not document.may_borrow:
                places = {doubt.place for doubt in found}.union((*above, key) for key in known)
                found += [key for key in _find_limits(document, path, places) if is_of_rubric(key)]
            yield from ((doubt.place, doubt.format_without_table(_MARK_OF_SUITE)) for doubt in found)
        if not document.may_borrow:
            others = {(*above, key): value for key, value in holder.items() if key not in _READ_IN_SUITES}
            yield from find_other_criteria(others)


def _read_gate(document: Document, gate: Path, schema: str) -> Decimal | None:
    """Return the lowest score that passes a gate; None if the release does not read it."""
    is_read = gate[-1] == "min_score" or schema == _SCHEMA
    return read_threshold(document, gate) if is_read else None


def _format_gate(document: Document, gate: Path, schema: str) -> str:
    found = describe(document.value(gate), document.written_at(gate))
    if gate[-1] == "min_score":
        return f"`min_score` is {found}, expected a number from 0 to 1"
    if schema == _SCHEMA:
        return f"`required` is {found}, expected true, or a number from 0 to 1"
    return f"`required` is {found}, expected true or false; write a mark as `min_score`, with `required: true`"


def _format_mark(document: Document, mark: PassMark) -> str:
    if mark.reason:
        return f"{mark.field}: {mark.reason}"
    found = describe(document.value(mark.path), document.written_at(mark.path))
    return f"`{shorten(str(mark.path[-1]))}` is {found}, expected a number from 0 to 1"


def find_doubts_of_views(views: Sequence[View]) -> Iterator[View]:
    """Yield the rubrics of another system in a document, each with what is not read of it and may decide its score."""
    above = list_prefixes(view.path for view in views)

    @cache  # a table reads all rubrics of a file or none
    def have_table() -> bool:
        from rubric_lint.formats.search.describable import can_describe  # noqa: PLC0415  (few rubrics have any doubts)

        return all(map(can_describe, views))

    yield from (_add_doubts(view, above, have_table) for view in views)


def _add_doubts(view: View, above: Collection[Path], have_table: Callable[[], bool]) -> View:
    """Return a rubric with what is not read of it and may decide; `above` are the places that lead to all rubrics.

    `have_table` says whether a table of the settings can describe these.

    The fields that its schema has are known where it has them. What AgentV does not have is an error anyway, and what
    is around its rubrics is found with them.
    """
    view = replace(view, doubts=view.doubts + tuple(_find_falls(view)))
    if view.dialect.name.startswith("agentv-"):
        return view
    schema = schema_of(view.schema)
    entries = _list_entries(view)
    holders = _list_holders(view, [place for place, _ in entries])
    around: dict[Path, Any] = {}
    read = set(view.sources)
    for holder, path in holders.items():
        around |= {(*holder, key): value for key, value in view.document.value(holder).items()}
        read.update(_list_known(view, schema, holder, path))
    if view.threshold is not None:
        read.add(view.threshold_path or (*view.path[:-1], "threshold"))
    found = list(_find_second_fields(view, entries))
    found += _find_in_group(view, schema, entries, read, schema.entry_fields)
    for group in _list_inner(view, entries):
        found += _find_in_group(view, schema, group, read)
    if not around.keys() <= read:
        found += _find_around(view, holders, read)
    noted = {place for place, _ in view.doubts}.union(above)  # a rubric is no doubt
    new: dict[Path, UnmappedKey] = {}
    for doubt in found:
        if doubt.place not in noted and not _is_of_case(doubt):
            new.setdefault(doubt.place, doubt)
    parts: dict[Path, Any] = {}
    for place, entry in entries:
        parts |= {(*place, key): value for key, value in entry.items()}
    parts |= around
    others = {place: value for place, value in parts.items() if place not in read and place not in above}
    doubts = [*view.doubts, *_format_doubts(view, list(new.values()), have_table), *find_other_criteria(others)]
    return replace(view, doubts=tuple(doubts))


def _is_of_case(doubt: UnmappedKey) -> bool:
    """Return whether a doubt is about one of several cases."""
    return doubt.is_of_case and any(isinstance(step, int) for step in doubt.place)


def _format_doubts(
    view: View, found: Sequence[UnmappedKey], have_table: Callable[[], bool]
) -> Iterator[tuple[Path, str]]:
    """Yield the places of doubts, each with its reason."""
    if not found:
        return
    has_table = have_table()
    mark = f"write the mark as {view.dialect.title} reads it, or remove it if it does not count"
    if view.dialect.has_borderline and view.threshold is None:
        mark = _advise_on_marks(view.document)
    for doubt in found:
        reason = doubt.reason if has_table else doubt.format_without_table(mark)
        yield doubt.place, reason


def find_other_criteria(values: Mapping[Path, Any]) -> Iterator[tuple[Path, str]]:
    """Find those of some values that may hold criteria by their keys; yield the place and the reason."""
    for place, value in values.items():
        name = str(place[-1])
        if not (isinstance(value, list | dict) and value and not split_words(name).isdisjoint(Containers.strong)):
            continue
        from rubric_lint.formats.home_made.understand import is_like_criteria  # noqa: PLC0415  (few files get here)

        if is_like_criteria(name, value):
            yield place, f"`{shorten(name)}` {NEXT_TO_OTHERS} move it {MOVE_AWAY}"


def _find_in_group(
    view: View,
    schema: RubricSchema,
    group: Sequence[PlacedCriterion],
    read: Collection[Path],
    fields: Iterable[str] = (),
) -> Iterator[UnmappedKey]:
    """Find what is not read of mappings of one kind: criteria, or what holds fields of theirs, such as levels.

    `fields` are those of all of them.
    """
    known, patterns = set(fields), set[str]()
    for place, _ in group:  # criteria may lie deeper than the items of the list, such as in sections
        own = schema.find(place[len(view.path) :]) if place[: len(view.path)] == view.path else {}
        known |= own.get("properties", {}).keys()
        patterns.update(_list_patterns(own))
    if patterns:
        keys = set().union(*(entry for _, entry in group))
        known |= {key for key in keys if _matches_any(patterns, key)}
    yield from _find_kinds(group, read)
    if not all(entry.keys() <= known for _, entry in group):
        shape = FormatTable(view.dialect.title, pointer(view.path), unused=tuple(known))
        search = UnmappedSearch(view.document, shape, view.path, read, _list_scales_of(view))
        yield from search.find_in_criteria(group)
        yield from _drop_usual(_find_scales_in(group, known, read), lambda: _find_usual_of(view))


def _find_scales_in(
    group: Iterable[PlacedCriterion], known: Iterable[str], read: Collection[Path]
) -> Iterator[UnmappedKey]:
    """Find the scales and the lists of what an answer must not do in criteria, each where it is first."""
    keys = set(known)
    for place, entry in group:
        fields = [(key, value) for key, value in entry.items() if key not in keys]
        for found in find_scales_and_unwanted(place, fields, read, is_around=False):
            keys.add(found.name)
            yield found


def _find_kinds(group: Iterable[PlacedCriterion], read: Collection[Path]) -> Iterator[UnmappedKey]:
    """Find what says that a criterion is a penalty, also in a field that the dialect has."""
    firsts: dict[str, UnmappedKey] = {}
    for place, entry in group:
        for key, value in entry.items():
            if (*place, key) in read:
                continue
            is_kind = isinstance(value, str) and not split_words(key).isdisjoint(SETS["kinds"])
            if says_penalty(key, value) or (is_kind and " " not in value and is_unwanted(value)):
                firsts.setdefault(key, UnmappedKey((*place, key), Role.NEGATIVE, value))
    yield from firsts.values()


def _find_around(view: View, holders: Mapping[Path, Path], read: Collection[Path]) -> Iterator[UnmappedKey]:
    """Find what is not read of the mappings around criteria.

    One farther away may be of other criteria: another metric, or what holds for tests without a mark. Its texts may be
    answers, or what these are about, and only a mapping of settings in it says how to score.
    """
    yield from _find_weights_around(view, holders, read)
    shape, scales = FormatTable(view.dialect.title, pointer(view.path)), _list_scales_of(view)
    for holder, path in holders.items():
        is_near = len(holder) >= len(view.path) - 1
        search = UnmappedSearch(view.document, shape, path, read, scales)
        found = search.find_next_to(len(holder))
        near = (doubt for doubt in found if is_near or _bears_from_afar(doubt, holder))
        yield from _drop_usual(near, lambda: _find_usual_of(view))


def _bears_from_afar(doubt: UnmappedKey, holder: Path) -> bool:
    """Return whether a doubt is about what a key says or about a setting, not about texts or how judges are joined."""
    key = str(doubt.place[len(holder)])
    if doubt.quote:
        return False
    if len(doubt.place) == len(holder) + 1:
        if doubt.role in (Role.SCALE, Role.NEGATIVE):
            return True
        return doubt.role is role_of(key, doubt.value, is_around=True)
    return doubt.role is not Role.COMBINE and not split_words(key).isdisjoint(SETS["settings"])


def _list_entries(view: View) -> list[PlacedCriterion]:
    """Return the criteria of a rubric, each with its place and its fields: none of a text; nothing of texts alone.

    A mapping of levels is both the criterion and what is around them.
    """
    places = dict.fromkeys(view.place((*view.path, index)) for index in range(len(view.data)))
    entries: list[PlacedCriterion] = [
        (place, as_mapping(view.document.value(place))) for place in places if place != view.path
    ]
    return entries if any(entry for _, entry in entries) else []


def _list_inner(view: View, entries: Sequence[PlacedCriterion]) -> list[list[PlacedCriterion]]:
    """Return the mappings in criteria that hold fields of theirs, such as levels, by their place in a criterion."""
    places = {place for place, _ in entries}
    ways = set[Path]()
    for depth in {len(place) for place in places}:
        for source in [source for source in view.sources if source[:depth] in places]:
            ways |= {source[depth:end] for end in range(depth + 1, len(source))}
    groups: dict[Path, list[PlacedCriterion]] = {}
    for way in ways:
        kind = tuple("*" if isinstance(step, int) else step for step in way)
        for place, entry in entries:
            found = look_up(entry, way)
            if isinstance(found, dict):
                groups.setdefault(kind, []).append(((*place, *way), found))
            elif "*" not in kind:
                groups.setdefault(kind, []).append(((*place, *way), {}))
    return list(groups.values())


def _list_holders(view: View, places: Iterable[Path]) -> dict[Path, Path]:
    """Return the mappings around the criteria at some places, each with the path to a list or a mapping that it holds.

    In a program, only the call that takes the criteria is about them.
    """
    document, path = view.document, view.path
    holders: dict[Path, Path] = {}
    if document.kind.is_program:
        if view.holder is not None:
            holders[view.holder] = (*view.holder, path[-1])
    elif view.data:
        lists = dict.fromkeys([path, *(place[:-1] for place in places if place[: len(path)] == path)])
        for within in reversed(lists):
            holders |= {within[:depth]: within for depth in range(len(within))}
    holders.setdefault(path, path)  # a mapping of levels
    return {holder: within for holder, within in holders.items() if isinstance(document.value(holder), dict)}


def _list_patterns(schema: Mapping[str, Any]) -> list[str]:
    """Return the patterns of the fields that a part of a schema has: a choice or a level may have any name."""
    patterns = list(schema.get("patternProperties", ()))
    if isinstance(schema.get("additionalProperties"), dict):
        patterns.append("")
    return patterns


def _matches_any(patterns: Iterable[str], key: str) -> bool:
    return any(re.search(pattern, key) for pattern in patterns)


def _list_known(view: View, schema: RubricSchema, holder: Path, path: Path) -> list[Path]:
    """Return the places in a mapping around criteria that the dialect has there; `path` leads through it to them."""
    names = set[str]()
    if holder == view.path:
        whole = schema.find(())
        patterns = _list_patterns(whole)
        names |= whole.get("properties", {}).keys()
        names |= {key for key in view.document.value(holder) if _matches_any(patterns, key)}
    if view.document.kind.is_program:
        names |= schema.contents.get("x-around-rubrics", {}).keys()
    schemas = [schema]
    definition = view.holder_definition or view.dialect.holder_definition
    if definition:
        schemas.append(schema_of(definition))
        at = view.path[:-1] if view.holder_path is None else view.holder_path
        if holder == at:
            names |= schemas[-1].find(()).get("properties", {}).keys()
    if len(path) > len(holder):
        step = str(path[len(holder)])
        names.add(step)
        for known in schemas:
            names.update(known.list_siblings(step))
    return [(*holder, name) for name in names]


_ROLES = {"weight": Role.WEIGHT, "required_min_score": Role.GATE}
"""The roles of our fields that numbers may be."""


@lru_cache(maxsize=1 << 6)
def _list_rivals(schema: str) -> Mapping[str, str]:
    """Return our fields by the names that a schema has for them, if it has several for one."""
    fields = schema_of(schema).entry_fields
    means = {name: field["x-reads-as"] for name, field in fields.items() if field.get("x-reads-as") in _ROLES}
    return means if len({*means.values()}) < len(means) else {}


def _find_second_fields(view: View, entries: Iterable[PlacedCriterion]) -> Iterator[UnmappedKey]:
    """Find the numbers that another field of their criterion is read for: a `weight` next to a `score`."""
    means = _list_rivals(view.schema)
    if not means:
        return
    firsts: dict[str, UnmappedKey] = {}
    for place, entry in entries:
        numbers = {name: entry[name] for name in means if is_amount(entry.get(name))}
        read = {means[name]: value for name, value in numbers.items() if (*place, name) in view.sources}
        for name, value in numbers.items():
            ours = means[name]
            if (*place, name) not in view.sources and ours in read and read[ours] != value:
                firsts.setdefault(name, UnmappedKey((*place, name), _ROLES[ours], value))
    yield from firsts.values()


def _find_weights_around(view: View, holders: Iterable[Path], read: Collection[Path]) -> Iterator[UnmappedKey]:
    """Find the weight of a section, and one around criteria of which some have none: it may be theirs."""
    have = [isinstance(criterion, dict) and "weight" in criterion for criterion in view.data]
    for holder in holders:
        place, value = (*holder, "weight"), view.document.value(holder).get("weight")
        if value is None:
            continue
        is_section = len(holder) > len(view.path)
        is_default = holder == view.path[:-1] and any(have) and not all(have)
        if place not in read and is_amount(value) and (is_section or is_default):
            yield UnmappedKey(place, Role.WEIGHT, value, is_around=True)


def _find_falls(view: View) -> Iterator[tuple[Path, str]]:
    """Find the levels of another system whose names or texts get worse while the numbers rise."""
    if view.is_text:
        return
    for index, criterion in enumerate(view.data):
        levels = parts_of(criterion.get("levels")) if isinstance(criterion, dict) else ()
        steps = {
            at: (Decimal(level["level"]), str(level.get("name") or level.get("expected_outcome") or ""))
            for at, level in enumerate(levels)
            if isinstance(level, dict) and type(level.get("level")) is int
        }
        fall = find_fall(steps.values())
        if fall:
            lowest = min(steps, key=lambda at: steps[at][0])
            place = view.place((*view.path, index, "levels", lowest, "level"))
            yield place, f"{format_fall(fall)}; turn the numbers around"


def _list_scales_of(view: View) -> list[Ends]:
    """Return the scales of the criteria that have bands, or levels whose numbers are those in the document."""
    bottom, top = (0, 10) if view.span is None else view.span
    scales: list[Ends] = []
    for index, criterion in enumerate(view.data):
        if not isinstance(criterion, dict):
            continue
        numbers = []
        for at, level in enumerate(parts_of(criterion.get("levels"))):
            number = level.get("level") if isinstance(level, dict) else None
            written = view.find_written((*view.path, index, "levels", at, "level"))
            if type(number) is int and written and (written[1] or view.document.value(written[0]) == number):
                numbers.append(number)
        if len(numbers) > 1:
            scales.append((Fraction(min(numbers)), Fraction(max(numbers))))
        elif not criterion.keys().isdisjoint(("score_ranges", "score_range")):
            scales.append((Fraction(bottom), Fraction(top)))
    return scales

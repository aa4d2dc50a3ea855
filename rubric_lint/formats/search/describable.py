"""Write the table of the settings that describes what another system reads, with the fields that it does not have."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from rubric_lint.formats.home_made import describing
from rubric_lint.formats.home_made.candidate import Candidate
from rubric_lint.formats.home_made.columns import CriteriaColumns, ParsedValues, read_columns
from rubric_lint.formats.home_made.format_table import YES_NO, Names
from rubric_lint.formats.home_made.places import CriteriaGroup
from rubric_lint.formats.home_made.roles import Role
from rubric_lint.formats.home_made.surroundings import find_surroundings
from rubric_lint.formats.home_made.table_writer import StatedScale, TableWriter, generalize
from rubric_lint.model.criterion import ASKED
from rubric_lint.model.schema import schema_of
from rubric_lint.model.view import View
from rubric_lint.source.path import Path, pointer

_TEXT = "description"
"""Stands for the text of a criterion, whatever the system calls it."""

_FIELDS = {"id": Role.ID, "expected_outcome": Role.TEXT, "weight": Role.WEIGHT, "required_min_score": Role.GATE}
"""The roles of our fields that a table can have under other names."""

_OF_TABLES = frozenset({*_FIELDS, ASKED})


def can_describe(view: View) -> bool:
    """Return whether a table can describe a rubric of another system, and loses nothing that decides its score."""
    return describe(view, YES_NO) is not None or describing.can_describe(view)


def describe(view: View, scale: StatedScale) -> Candidate | None:
    """Return the candidate whose table reads a rubric alone; None if no table reads it as its system does."""
    group = _read_criteria(view)
    return _make_candidate([view], [group], group.path, scale) if group else None


def describe_all(views: Sequence[View], scale: StatedScale) -> Candidate | None:
    """Return the candidate whose one table reads rubrics of one form, also those added later; None if none does."""
    groups = [group for group in map(_read_criteria, views) if group]
    paths = [group.path for group in groups]
    if len({len(path) for path in paths}) != 1:
        return None
    at: list[Any] = []
    for steps in zip(*paths, strict=True):
        is_same = len({*steps}) == 1 and isinstance(steps[0], str)
        at.append(steps[0] if is_same else "*")
    return _make_candidate(views, groups, tuple(at), scale)


def _make_candidate(
    views: Sequence[View], groups: Sequence[CriteriaGroup], at: Path, scale: StatedScale
) -> Candidate | None:
    """Return the candidate whose table reads the criteria at a path with `*`; None if their system reads others."""
    known = set[str]()
    for view, group in zip(views, groups, strict=True):
        known |= _find_known(view, group)
    columns = _read_columns(groups, known)
    parsed = ParsedValues()
    surroundings = [find_surroundings(parsed, group) for group in groups]
    table = TableWriter(parsed, groups, columns, at, scale, is_of_system=True).write(surroundings)
    if not columns.has(Role.SCALE):
        table["scale"] = scale
    if known:
        table["unused"] = sorted(known)
    if views[0].threshold is not None:
        table["pass"] = _find_pass_mark(views[0], at)
    found = Candidate(groups, at, columns, surroundings, frozenset(), table)
    return found if _is_whole(found, views, groups) else None


def _is_whole(found: Candidate, views: Sequence[View], groups: Sequence[CriteriaGroup]) -> bool:
    """Return whether the table of a candidate reads some rubrics, and these alone, as their system does."""
    by_place = {(view.document, view.path): view for view in found.views}
    places = [(group.document, group.path) for group in groups]
    return by_place.keys() == {*places} and all(
        describing.keeps(view, by_place[place]) for view, place in zip(views, places, strict=True)
    )


def _find_pass_mark(view: View, at: Path) -> Any:
    """Return the pointer to the pass mark of a rubric, or the mark itself if the system has it without a word."""
    place = view.threshold_path or (*view.path[:-1], "threshold")
    holder = view.document.value(place[:-1])
    is_written = isinstance(holder, dict) and place[-1] in holder
    return pointer(generalize(place, at, view.path)) if is_written else view.threshold


def _read_criteria(view: View) -> CriteriaGroup | None:
    """Return the criteria of a rubric as a table can read them: the mappings of one list, with the names of its system.

    None if they are elsewhere, have bands or levels, or are negated.
    """
    document = view.document
    data = [entry for entry in view.data if isinstance(entry, dict)]
    are_plain = bool(data) and all(entry.keys() <= _OF_TABLES and not _is_negated(entry) for entry in data)
    places = [view.place((*view.path, index)) for index in range(len(view.data))]
    paths = {place[:-1] for place in places}
    path = paths.pop() if len(paths) == 1 else ()
    holder = document.value(path)
    is_whole = isinstance(holder, list) and not paths and len(holder) == len(places)
    if document.kind.is_program or not (are_plain and is_whole):
        return None
    values = {place[-1]: document.value(place) for place in places}
    items = {step: value for step, value in values.items() if isinstance(value, dict)}
    names = _find_names(view, places)
    if Role.TEXT not in names:
        return None
    return CriteriaGroup(document, path, items, CriteriaColumns([*items.values()], names))


def _find_known(view: View, group: CriteriaGroup) -> set[str]:
    """Return the keys of criteria that their system knows, that a table need not read, and that are in no doubt."""
    schema = schema_of(view.schema)
    known = set(schema.entry_fields)
    for step in group.items:
        known.update(schema.find((*group.path, step)[len(view.path) :]).get("properties", ()))
    known &= set().union(*group.items.values())
    known -= {str(place[-1]) for place, _ in view.doubts if place[:-2] == group.path}
    return known - _list_first_steps(group.columns.roles)


def _list_first_steps(names: Mapping[Role, Names]) -> set[str]:
    """Return the keys of criteria that some names lead through: `content` of `content.text`."""
    steps: set[str] = set()
    for own in names.values():
        steps |= {name.partition(".")[0] for name in own}
    return steps


def _find_names(view: View, places: Sequence[Path]) -> dict[Role, Names]:
    """Return the names of the fields that are read of criteria; empty if no name of a table leads to one."""
    found: dict[Role, dict[str, None]] = {}
    for index, place in enumerate(places):
        for ours, role in _FIELDS.items():
            written = view.find_written((*view.path, index, ours))
            steps = written[0][len(place) :] if written else ()
            if not all(isinstance(step, str) and "." not in step for step in steps):
                return {}
            if steps:
                found.setdefault(role, {})[".".join(map(str, steps))] = None
    return {role: tuple(names) for role, names in found.items()}


def _is_negated(criterion: Mapping[str, Any]) -> bool:
    asked = criterion.get(ASKED)
    return asked is not None and asked.is_negated


def _read_columns(groups: Iterable[CriteriaGroup], known: set[str]) -> CriteriaColumns:
    """Return the keys of criteria by their role: those of the system as it reads them, others by their words."""
    entries: list[Mapping[str, Any]] = []
    names: dict[Role, Names] = {}
    for group in groups:
        entries += group.items.values()
        for role, own in group.columns.roles.items():
            names[role] = tuple(dict.fromkeys(names.get(role, ()) + own))
    used = known | _list_first_steps(names)
    others = [{_TEXT: "Is as the system says", **_leave_out(entry, used)} for entry in entries]
    columns = read_columns(ParsedValues(), others, is_map=False)
    roles = dict(columns.roles) if columns else {}
    replaced = [Role.TEXT, Role.ID]
    if Role.WEIGHT in names:
        replaced += [Role.WEIGHT, Role.WEIGHT_WORDS]
    for role in replaced:
        roles.pop(role, None)
    gates = roles.get(Role.GATE, ()) + names.get(Role.GATE, ())
    roles |= names
    if gates:
        roles[Role.GATE] = gates
    return CriteriaColumns(entries, roles)


def _leave_out(entry: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in names and key != _TEXT}

"""Say what a table of the settings can describe: criteria that are nearly read, and rubrics of other systems.

The table for another system has its names, with the fields that it does not have.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any

from rubric_lint.formats.home_made.candidate import Candidate, EvidenceKind, choose_likely
from rubric_lint.formats.home_made.columns import CriteriaColumns, ParsedValues, read_columns
from rubric_lint.formats.home_made.format_table import YES_NO, Names, first_steps
from rubric_lint.formats.home_made.places import CriteriaGroup, is_container
from rubric_lint.formats.home_made.roles import Role
from rubric_lint.formats.home_made.surroundings import find_surroundings
from rubric_lint.formats.home_made.table_writer import StatedScale, TableWriter, generalize, join_paths
from rubric_lint.formats.home_made.understand import Hints, understand_all
from rubric_lint.formats.home_made.vocabulary import SETS
from rubric_lint.model.criterion import ASKED, USUAL_THRESHOLDS, Criterion
from rubric_lint.model.rubric import build_rubric
from rubric_lint.model.schema import schema_of
from rubric_lint.model.schema_files import CURRENT
from rubric_lint.model.view import View
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path, pointer

_TEXT = "description"
"""Stands for the text of a criterion, whatever the system calls it."""

_FIELDS = {"id": Role.ID, "expected_outcome": Role.TEXT, "weight": Role.WEIGHT, "required_min_score": Role.GATE}
"""The roles of our fields that a table can have under other names."""

_OF_TABLES = frozenset({*_FIELDS, ASKED})


def find_criteria(documents: Sequence[Document], hints: Hints) -> list[Candidate]:
    """Return the criteria that a table can describe, in documents of which the user says that they hold some.

    Where none are found so, they are those of the near misses.
    """
    return understand_all(documents, hints, _choose_criteria) or understand_all(documents, Hints(hints.scale))


def _choose_criteria(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those of some candidates that a table can describe, if the user says that documents hold criteria.

    What looks like criteria comes before anything else; cases with what is expected of them are none.
    """
    found = [candidate for candidate in candidates if not (candidate.is_apart or _asks_only(candidate))]
    with_text = [candidate for candidate in found if candidate.columns.has_text]
    sure = [candidate for candidate in with_text if candidate.is_rubric or candidate.is_near]
    return (
        sure
        or choose_likely(with_text)
        or [candidate for candidate in with_text if _is_marked(candidate)]
        or [candidate for candidate in found if EvidenceKind.NAME in candidate.evidence or candidate.is_near]
    )


def _is_marked(candidate: Candidate) -> bool:
    """Return whether a mark, a name or the form of the items says that they are criteria."""
    group = candidate.groups[0]
    is_named = EvidenceKind.NAME in candidate.evidence or is_container(group.key)
    return group.is_marked or candidate.are_texts or is_named


def _asks_only(candidate: Candidate) -> bool:
    """Return whether what is found has no text but what a case asks, and no name says that it is a rubric."""
    is_named = candidate.is_own or EvidenceKind.NAME in candidate.evidence or candidate.groups[0].is_marked
    asks = SETS["asks"]
    return not is_named and asks.issuperset(candidate.columns.names(Role.TEXT) or ("",))


def can_adopt(document: Document, path: Path) -> bool:
    """Return whether a table can describe what is at a path, or all that is below it: criteria with texts."""
    return path in _find_adoptable(document)


@lru_cache(maxsize=1)  # the near misses of a file are asked about one after the other
def _find_adoptable(document: Document) -> frozenset[Path]:
    """Return the places of criteria that a table can describe, and those above them."""
    found = find_criteria([document], Hints(asks=True))
    adoptable: set[Path] = set()
    for candidate in found:
        if not candidate.columns.has_text:
            continue
        for place in candidate.paths:
            adoptable.update(place[:length] for length in range(len(place) + 1))
    return frozenset(adoptable)


def can_describe(view: View) -> bool:
    """Return whether a table can describe a rubric of another system, and loses nothing that decides its score.

    The bands of one score are no criteria, and a suite says more than a table can.
    """
    if describe([view], YES_NO) is not None:
        return True
    are_bands = any(isinstance(entry, dict) and "score_range" in entry for entry in view.data)
    if are_bands or view.dialect.name.startswith("agentv-"):
        return False
    other = _read_by_tables(view.document).get(view.path)
    return other is not None and _keeps(view, other)


@lru_cache(maxsize=1)  # the rubrics of a file are asked about one after the other
def _read_by_tables(document: Document) -> Mapping[Path, View]:
    """Return the rubrics that the tables for a document read, by their place: criteria with texts and marks."""
    candidates = understand_all([document], Hints(YES_NO, asks=True))
    marked = [candidate for candidate in candidates if candidate.groups[0].is_marked]
    able: set[Path] = set()
    for candidate in marked:
        if candidate.columns.has_text:
            able.update(candidate.paths)
    return {view.path: view for candidate in marked for view in candidate.views if view.path in able}


def _keeps(own: View, other: View) -> bool:
    """Return whether another reading has all criteria of a rubric, with their gates, signs, weights and levels."""
    if own.threshold not in (None, other.threshold):
        return False
    before, after = _list_criteria(own), _list_criteria(other)
    if len(before) != len(after) or len(before) != len(own.data):
        return False
    are_weighted = any(criterion.fields and "weight" in criterion.fields for criterion in before)
    if are_weighted and not all(map(_keeps_part, _find_parts(before), _find_parts(after))):
        return False
    return all(map(_keeps_criterion, before, after))


def _keeps_part(own: Fraction, other: Fraction) -> bool:
    """Return whether another reading has the part of a criterion, or takes as much off for a mark that is not read."""
    return own == other or (own > 0 and own == -other)


def _list_criteria(view: View) -> Sequence[Criterion]:
    return build_rubric(view.document, view.path, CURRENT, USUAL_THRESHOLDS, view=view).criteria


def _find_parts(criteria: Sequence[Criterion]) -> list[Fraction]:
    """Return the weight of each criterion as a part of all."""
    weights = [Fraction(0 if criterion.weight is None else criterion.weight) for criterion in criteria]
    total = sum(map(abs, weights)) or 1
    return [weight / total for weight in weights]


def _keeps_criterion(own: Criterion, other: Criterion) -> bool:
    """Return whether another reading of a criterion asks the same, with the same scores and the same gate."""
    if own.is_negated or own.outcome not in (None, other.outcome):
        return False
    if own.levels is None and own.scale is None:
        return own.gate is None or other.gate is not None
    return own.gate in (None, other.gate) and _list_scores(own) == _list_scores(other)


def _list_scores(criterion: Criterion) -> list[tuple[Any, ...]]:
    """Return the scores of a criterion with their texts."""
    bands = criterion.scale.bands if criterion.scale else ()
    scores: list[tuple[Any, ...]] = [(level.number, level.outcome or level.name) for level in criterion.levels or ()]
    scores += [(band.lower, band.upper, band.outcome) for band in bands]
    return scores


def describe(views: Sequence[View], scale: StatedScale, *, is_open: bool = False) -> Candidate | None:
    """Return the candidate whose one table reads rubrics of one form, and nothing else, as their system does.

    None if no table does. With `is_open`, the table reads those that are added later too.
    """
    groups = [group for group in map(_read_criteria, views) if group]
    paths = [group.path for group in groups]
    if len({len(path) for path in paths}) != 1:
        return None
    at = join_paths(paths) if is_open else paths[0]
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
        _keeps(view, by_place[place]) for view, place in zip(views, places, strict=True)
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
    are_plain = bool(data) and all(entry.keys() <= _OF_TABLES for entry in data)
    are_negated = any(ASKED in entry and entry[ASKED].is_negated for entry in data)
    places = [view.place((*view.path, index)) for index in range(len(view.data))]
    paths = {place[:-1] for place in places}
    path = paths.pop() if len(paths) == 1 else ()
    holder = document.value(path)
    is_whole = isinstance(holder, list) and not paths and len(holder) == len(places)
    if document.kind.is_program or are_negated or not (are_plain and is_whole):
        return None
    values = {place[-1]: document.value(place) for place in places}
    items = {step: value for step, value in values.items() if isinstance(value, dict)}
    names = _find_names(view, places)
    if Role.TEXT not in names:
        return None
    return CriteriaGroup(document, path, items, CriteriaColumns(list(items.values()), names))


def _find_known(view: View, group: CriteriaGroup) -> set[str]:
    """Return the keys of criteria that their system knows, that a table need not read, and that are in no doubt."""
    schema = schema_of(view.schema)
    known = set(schema.entry_fields)
    for step in group.items:
        known.update(schema.find((*group.path, step)[len(view.path) :]).get("properties", ()))
    known &= set().union(*group.items.values())
    known -= {str(place[-1]) for place, _ in view.doubts if place[:-2] == group.path}
    return known - first_steps(chain.from_iterable(group.columns.roles.values()))


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


def _read_columns(groups: Iterable[CriteriaGroup], known: set[str]) -> CriteriaColumns:
    """Return the keys of criteria by their role: those of the system as it reads them, others by their words."""
    entries: list[Mapping[str, Any]] = []
    names: dict[Role, Names] = {}
    for group in groups:
        entries += group.items.values()
        for role, own in group.columns.roles.items():
            names[role] = tuple(dict.fromkeys(names.get(role, ()) + own))
    used = known | first_steps(chain.from_iterable(names.values()))
    others: list[Mapping[str, Any]] = []
    for entry in entries:
        left = {key: value for key, value in entry.items() if key not in used and key != _TEXT}
        others.append({_TEXT: "Is as the system says", **left})
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

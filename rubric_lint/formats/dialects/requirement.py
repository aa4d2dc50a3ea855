"""Read rubrics of the packages rubric and autorubric: criteria with a `weight` and a `requirement`."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from rubric_lint.model.criterion import ASKED, JudgeQuestion, as_levels, read_number
from rubric_lint.model.messages import find_near
from rubric_lint.model.view import OF_FILES, Dialect, View, ViewBuilder
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

REQUIREMENT = Dialect(
    "requirement",
    "rubric and autorubric",
    "requirement/v1.json",
    {"id": "name", "expected_outcome": "requirement", "levels": "options"},
    without=frozenset({"missing-id", "mixing", "vague-outcome", "duplicate-outcome"}),
    has_deductions=True,
)

_NAMES = {"name": "id", "requirement": "expected_outcome", "weight": "weight"}
_FIELDS = ("name", "requirement", "weight", "options", "scale_type", "aggregation")
_HOLDERS = ("rubric", "criteria", "sections")
_OF_HOLDERS = OF_FILES | {"id", "weight", "metadata", "aggregation", "scale_type"}  # a tender has more
_SECTIONS = "requirement/v1.json#/definitions/sections"
_LOST = JudgeQuestion("met or unmet", 0, is_negated=True)
_USUAL = 10
"""The weight of a criterion without one in autorubric; the package rubric asks for it."""
_MIXED = "criteria with and without `options` are not scored together; write `options` for each, or for none"
_NARROW = "the values of some `options` do not go from 0 to 1, and levels here always do"


def find(document: Document) -> Iterator[View]:
    """Find the criteria: in the list that is the document, under `rubric` or `criteria`, and in sections."""
    lists: list[tuple[Path, list[Any]]] = []
    if isinstance(document.data, list):
        lists.append(((), document.data))
    for path, mapping in document.mappings:
        for field in _HOLDERS:
            is_holder = field != "criteria" or mapping.keys() <= _OF_HOLDERS
            if is_holder and isinstance(mapping.get(field), list):
                lists.append(((*path, field), mapping[field]))
    wholes: list[Path] = []
    for path, items in lists:
        sections = _find_sections(path, items)
        if sections:
            wholes.append(path)
            entries: list[tuple[Path, Any]] = []
            for place, criteria in sections:
                entries += _list_entries(place, criteria)
            yield _view(document, path, entries, _SECTIONS)
    for path, items in lists:
        is_in_section = any(path[: len(whole)] == whole for whole in wholes)
        if not is_in_section and _is_rubric(items):
            yield _view(document, path, _list_entries(path, items))


def _find_sections(path: Path, items: list[Any]) -> list[tuple[Path, list[Any]]]:
    """Return the criteria of the sections in a list, each with its place, if one of them is a rubric."""
    lists = [((*path, at, "criteria"), item.get("criteria")) for at, item in enumerate(items) if isinstance(item, dict)]
    sections = [(place, criteria) for place, criteria in lists if isinstance(criteria, list)]
    return sections if any(_is_rubric(criteria) for _, criteria in sections) else []


def _list_entries(path: Path, items: list[Any]) -> list[tuple[Path, Any]]:
    return [((*path, at), item) for at, item in enumerate(items)]


def _is_rubric(items: list[Any]) -> bool:
    """Return whether an entry has both fields, and none has one that means something else."""
    mappings = [item for item in items if isinstance(item, dict)]
    has_both = any({"weight", "requirement"} <= item.keys() for item in mappings)
    fields = set().union(*mappings)
    return has_both and all(field in _FIELDS or find_near(field, _FIELDS) for field in fields)


def _view(document: Document, path: Path, entries: list[tuple[Path, Any]], around: str = "") -> View:
    draft = ViewBuilder(document, path)
    weights = [item.get("weight", _USUAL) for _, item in entries if isinstance(item, dict)]
    # Without points to earn, an answer starts at 1 and loses its share of all points: it earns what it does not do.
    turns = all(type(weight) in (int, float) and weight <= 0 for weight in weights) and any(weights)
    data: list[Any] = []
    is_whole = True
    for index, (place, item) in enumerate(entries):
        draft.put((index,), place)
        if not isinstance(item, dict):
            data.append(item)
            continue
        entry = draft.rename(item, _NAMES, (index,), place)
        entry.setdefault("weight", _USUAL)
        if turns:
            entry |= {"weight": abs(entry["weight"]), ASKED: _LOST}
        options = item.get("options")
        if isinstance(options, list):
            spot = (*place, "options")
            scored = [at for at, option in enumerate(options) if _has_score(option)]
            scores = {at: document.decimal((*spot, at, "value")) for at in scored}
            entry["levels"] = _read_levels(draft, index, spot, scores, turns=turns)
            if len(scores) > 1 and (min(scores.values()) != 0 or max(scores.values()) != 1):
                is_whole = False
        data.append(entry)
    doubts = tuple((place, _MIXED) for place in _find_other(entries))
    unscorable = "" if is_whole else _NARROW
    return draft.finish(REQUIREMENT, data, around=around, unscorable=unscorable, doubts=doubts)


def _find_other(entries: list[tuple[Path, Any]]) -> list[Path]:
    """Return the place of the first criterion that has `options` where the first one has none, or the other way."""
    written = [(place, isinstance(item.get("options"), list)) for place, item in entries if isinstance(item, dict)]
    return [place for place, has_options in written if has_options != written[0][1]][:1]


def _read_levels(draft: ViewBuilder, index: int, place: Path, scores: dict[int, Decimal], *, turns: bool) -> list[Any]:
    """Return the options as levels, numbered by their scores, or from the other end for what an answer loses."""
    options = draft.document.value(place)
    draft.put((index, "levels"), place)
    numbers = as_levels(list(scores.values()))
    top = max(numbers.values(), default=0)
    levels: list[Any] = []
    for at, score in scores.items():
        own = (index, "levels", len(levels))
        draft.put(own, (*place, at))
        draft.put((*own, "level"), (*place, at, "value"))
        draft.put((*own, "expected_outcome"), (*place, at, "label"))
        level = top - numbers[score] if turns else numbers[score]
        levels.append({"level": level, "expected_outcome": options[at].get("label")})
    return levels


def _has_score(option: Any) -> bool:
    return isinstance(option, dict) and read_number(option.get("value")) is not None and option.get("na") is not True

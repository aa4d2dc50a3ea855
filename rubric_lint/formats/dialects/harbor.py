"""Read rubrics of Harbor's rewardkit: the `[[criterion]]` tables of a judge TOML, and the tables around them."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from rubric_lint.model.criterion import is_number
from rubric_lint.model.finding import Problem, RelatedPlace
from rubric_lint.model.messages import find_near, shorten
from rubric_lint.model.schema import schema_of
from rubric_lint.model.view import Dialect, View, ViewBuilder, read_text
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.values import as_mapping

_NAMES = {"name": "id", "description": "expected_outcome", "weight": "weight"}

HARBOR = Dialect(
    "harbor",
    "Harbor rewardkit",
    "harbor/v1.json",
    {name: key for key, name in _NAMES.items()},
    without=frozenset({"missing-id"}),  # it makes names from the descriptions
    has_borderline=False,
)

_LIST = "criterion"
_FOREIGN = ("statement", "status", "check", "rationale")
_OF_JUDGES = frozenset({"judge", "model", "files", "mode", "prompt_template", "reference", "atif-trajectory"})
_SUM = "weighted-sum"
_MEAN = "weighted-mean"

# Its weights are not those of an average: they may be below 0.
_SUMMED = replace(HARBOR, without=HARBOR.without | {"weight"})


def find(document: Document) -> Iterator[View]:
    """Find `[[criterion]]` tables with a `description`, next to a `[judge]` or without signs of another tool."""
    data = document.data
    items = data.get(_LIST)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return
    if not any(isinstance(item.get("description"), str) for item in items):
        return
    judge, schema = data.get("judge"), schema_of(HARBOR.schema)
    # Judges of programming contests have other fields, and task trackers some that do not resemble Harbor's.
    has_judge = isinstance(judge, dict) and (not judge or not judge.keys().isdisjoint(_OF_JUDGES))
    keys = set().union(*items)
    is_foreign = any(key in _FOREIGN or not schema.knows(key) for key in keys)
    if has_judge or (not is_foreign and all(find_near(key, ("judge", "criterion", "scoring")) for key in data)):
        yield _view(document, data, items)


def _view(document: Document, data: dict[str, Any], items: list[dict[str, Any]]) -> View:
    draft = ViewBuilder(document, ())
    aggregation = _read_aggregation(data)
    kinds = [_read_kind(item) for item in items]
    has_levels = any(kind.type != "binary" or kind.is_negated for kind in kinds)  # then yes and no are levels too
    entries = []
    for index, (item, kind) in enumerate(zip(items, kinds, strict=True)):
        source = (_LIST, index)
        for name in _NAMES.values():  # also of what is not written
            draft.put((index, name), source)
        entry = draft.rename(item, _NAMES, (index,), source)
        for key in item.keys() & {"type", "points", "negate"}:  # the levels, or yes and no, say the same
            draft.put((index, key), (*source, key))
        if has_levels:
            entry["levels"] = _levels(draft, index, item, kind)
        entries.append(entry)
    unscorable = ""
    if aggregation != _MEAN:
        unscorable = f"`{shorten(aggregation)}` is not an average of the criteria, and only averages are scored"
    elif any(kind.type == "numeric" for kind in kinds):
        unscorable = "a criterion of the type `numeric` is answered with any number, and only listed answers are scored"
    dialect = _SUMMED if aggregation == _SUM else HARBOR
    return draft.finish(
        dialect,
        entries,
        unscorable=unscorable,
        problems=tuple(_find_problems(data, items, kinds)),
    )


class _AnswerKind(NamedTuple):
    """How a criterion is answered, and whether a high answer is bad."""

    type: str
    is_negated: bool
    is_optional: bool


def _read_kind(item: dict[str, Any]) -> _AnswerKind:
    notes = as_mapping(item.get("annotations"))
    is_negated = item.get("negate", "negative" in str(notes.get("type", "")).lower())
    is_optional = item.get("optional", "optional" in str(notes.get("importance", "")).lower())
    return _AnswerKind(str(item.get("type", "binary")), is_negated is True, is_optional is True)


def _read_aggregation(data: Mapping[str, Any]) -> str:
    scoring = data.get("scoring")
    aggregation = read_text(scoring, "aggregation") if isinstance(scoring, dict) else ""
    return aggregation.replace("_", "-") or _MEAN


def _levels(draft: ViewBuilder, index: int, item: dict[str, Any], kind: _AnswerKind) -> list[Mapping[str, Any]]:
    """Return the answers as levels; the rank of a negated one is counted from the other end."""
    source = (_LIST, index)
    field = {"likert": "points", "rubric": "levels"}.get(kind.type, "")
    written = item.get(field)
    place = (*source, field) if field in item else source
    answers: list[Any] = ["no", "yes"]
    if kind.type == "likert":
        points = written if isinstance(written, int) and not isinstance(written, bool) else 5
        most = min(max(points, 2), 1000)  # a judge tells fewer than ten apart
        answers = [f"{point} of {points}" for point in range(1, most + 1)]
    elif kind.type == "rubric" and isinstance(written, list):
        answers = written
    is_written = answers is written
    levels = []
    for rank, answer in enumerate(answers):
        level = len(answers) - 1 - rank if kind.is_negated else rank
        if is_written:
            levels.append(({"level": level, "expected_outcome": answer}, (*place, rank)))
        else:
            levels.append(({"level": level, "name": answer}, place))
    return draft.make_levels((index,), place, levels)


def _find_problems(
    data: Mapping[str, Any], items: list[dict[str, Any]], kinds: list[_AnswerKind]
) -> Iterator[tuple[str, Problem]]:
    """Find what Harbor refuses or does in silence, beyond the schema."""
    aggregation = _read_aggregation(data)
    for index, item in enumerate(items):
        place = (_LIST, index)
        weight, low, high = item.get("weight", 1), item.get("min", 0), item.get("max", 1)
        if is_number(weight) and not abs(weight) < math.inf and (aggregation == _SUM or weight < 0):
            yield "weight", Problem("harbor-infinite", (*place, "weight"))
        elif is_number(weight) and weight < 0 and aggregation != _SUM:
            yield "weight", Problem("harbor-negative", (*place, "weight"), values={"found": shorten(str(weight))})
        if kinds[index].type == "numeric" and is_number(low) and is_number(high) and not high > low:
            field = "max" if "max" in item else "min"
            values = {"highest": shorten(str(high)), "lowest": shorten(str(low))}
            yield "bounds", Problem("harbor-range", (*place, field), values=values)
    if aggregation == "required-pass" and all(kind.is_optional for kind in kinds):
        yield "schema", Problem("all-optional", ("scoring", "aggregation"))
    yield from _find_equal_names(data, items)


def _find_equal_names(data: Mapping[str, Any], items: list[dict[str, Any]]) -> Iterator[tuple[str, Problem]]:
    """Find names that are equal, one of which Harbor makes from a description; a rule finds equal written ones."""
    judge = data.get("judge")
    mode = read_text(judge, "mode") if isinstance(judge, dict) else ""
    seen: dict[str, tuple[Path, bool]] = {}
    for index, item in enumerate(items):
        is_written = isinstance(item.get("name"), str)
        field = "name" if is_written else "description"
        name, place = item.get(field), (_LIST, index, field)
        if not isinstance(name, str):
            continue
        if not is_written:
            name = re.sub(r"[^a-z0-9]+", "_", name[:40].lower()).strip("_")
        first, is_first_written = seen.setdefault(name, (place, is_written))
        if first != place and not (is_written and is_first_written):
            effect = "reports both under it" if mode == "individual" else "refuses the file"
            values, related = {"name": name, "effect": effect}, (RelatedPlace("the first one", first),)
            yield "duplicate-id", Problem("harbor-name", place, Part.VALUE, values, related)

"""Repair what is wrong in bands, outcomes, levels and shapes, and deprecated fields, as intents on paths."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rubric_lint.model.criterion import HIGHEST, Criterion, Scale, weigh_nothing
from rubric_lint.model.finding import Problem
from rubric_lint.model.messages import shorten
from rubric_lint.model.recognition import FIELD
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema import suite_lists
from rubric_lint.source.edits.intents import (
    AddField,
    InsertItems,
    Intent,
    MoveItems,
    RemoveField,
    RenameKey,
    Repair,
    ReplaceValue,
    WrapText,
)
from rubric_lint.source.path import Part, Path
from rubric_lint.source.scalar import write_numbered
from rubric_lint.source.values import as_mapping

MESSAGES = {
    "left-out": "`{field}: {value}` is deprecated; leave it out",
    "renamed": "`{field}` is deprecated; write `{name}`",
    "replaced": "`{field}: {value}` is deprecated; write `{name}: {new}`",
}
"""What the rules on deprecated fields say of them."""


def format_rivals(old: str, other: str, name: str) -> str:
    """Say why two fields stay that may both mean the field `name`."""
    return f"`{old}` and `{other}` may both mean `{name}`; keep one of them by hand"


def find_deprecated(
    rubric: Rubric, mapping: Mapping[str, Any], path: Path, field: str, best: int = HIGHEST
) -> Iterator[Problem]:
    """Find the deprecated `field` of a mapping, unless its replacement is there too; `best` is the highest gate."""
    replacement = rubric.replacements.get(field)
    if replacement is None or field not in mapping or replacement.name in mapping:
        return
    value, place, name = mapping[field], (*path, field), replacement.name
    if not replacement.covers(value):
        return  # the wrong value comes first
    new = replacement.value_for(value)
    new = best if replacement.values is not None and new == HIGHEST else new
    old_text, new_text = _write_plain(value), _write_plain(new)
    intents: tuple[Intent, ...]
    if new is None and replacement.values is not None:
        code, title, intents = "left-out", f"remove `{field}`", (RemoveField(place),)
    elif new == value and type(new) is type(value):
        code, title, intents = "renamed", f"rename `{field}` to `{name}`", (RenameKey(place, name),)
    else:
        code, title = "replaced", f"write `{name}: {new_text}`"
        intents = (RenameKey(place, name), ReplaceValue(place, new_text))
    values = {"field": field, "name": name}
    if code != "renamed":  # whatever the text of a renamed field is, the finding is the same
        values |= {"value": old_text, "new": new_text}
    for old, other in rubric.schema.find_rivals(mapping, name):
        if old == field:
            yield Problem(code, place, Part.KEY, values, obstacle=format_rivals(old, shorten(other), name))
            return
    yield Problem(code, place, Part.KEY, values, (), Repair(title, intents, safe=True))


def _write_plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


AS_LEVELS = "as-levels"


def turn_to_levels(scales: Sequence[Scale]) -> Repair | None:
    """Write the bands of all criteria of a rubric as levels; None if a gate is none of them."""
    intents: list[Intent] = []
    for scale in scales:
        numbers = {band.scores.start for band in scale.bands}
        if scale.gate is not None:
            if scale.gate not in numbers or scale.gate_path[-1] != "required_min_score":
                return None
            intents.append(RenameKey(scale.gate_path, "required_min_level"))
        if not scale.is_map:
            for band in scale.bands:
                intents += [RenameKey(band.path, "level"), ReplaceValue(band.path, str(band.scores.start))]
        intents.append(RenameKey(scale.path, "levels"))
    return _repair("write levels instead of bands", *intents, choice=AS_LEVELS)


SPLIT = "split"
"""The choice that makes a criterion of each part of an outcome."""


def split_outcome(rubric: Rubric, criterion: Criterion, parts: Sequence[str]) -> Iterator[Repair]:
    """Yield the repair that makes a criterion of each part, if a weight that is written has such parts.

    Its title says if parts have the whole weight each, and if criteria below get other generated ids.
    """
    has_groups = rubric.view is not None and (bool(rubric.dialect) or rubric.view.outline is not None)
    if has_groups or criterion.weight is None or criterion.borrows_id:
        return
    if criterion.is_text and criterion.fields is not None:  # its scale is that of what is around it
        return
    texts = [part[:1].upper() + part[1:].rstrip() for part in parts]
    adding = divide(rubric, criterion, texts)
    if adding is None:
        return
    count, share = ("two", "half") if len(texts) == 2 else (str(len(texts)), f"1/{len(texts)} of")
    title = f"split it into {count} criteria of "
    if isinstance(adding[0], ReplaceValue | AddField):
        title += f"{share} the weight, {adding[0].text}"
    elif len(rubric.criteria) > 1:
        title += f"the weight 1 each, together {len(texts)} times the weight it has now"
    else:
        title += "the weight 1"
    last = rubric.last_without_id
    if last > int(criterion.path[-1]):
        title += f"; generated ids below it change, such as `rubric-{last + 1}` to `rubric-{last + len(texts)}`"
    first = ReplaceValue(criterion.outcome_path, json.dumps(texts[0], ensure_ascii=False))
    yield Repair(title, (first, *adding), safe=False, choice=SPLIT)


def divide(rubric: Rubric, criterion: Criterion, parts: Sequence[str]) -> list[Intent] | None:
    """Add a criterion for each part behind the first one, with a share of its weight.

    None if a weight that is written has no exact part for each. Where none is written, each part keeps the weight 1 if
    it is a string, if 1 has no such parts, or if there is no other criterion to be outweighed.
    """
    own = criterion.outcome_path[len(criterion.path) :]
    adding: list[Intent] = []
    more: list[tuple[Path, str]] = []
    if criterion.fields is not None and criterion.weight is not None:
        is_written = "weight" in criterion.fields
        share = criterion.weight / len(parts)
        is_exact = share * len(parts) == criterion.weight
        text = f"{share.normalize():f}"
        if is_written and not is_exact:
            return None
        if is_written:
            adding.append(ReplaceValue(criterion.path_of("weight"), text))
        elif is_exact and len(rubric.criteria) > 1:
            adding.append(AddField(criterion.path, "weight", text))
        more = [(("weight",), text)] if adding else []
    copies, number = [], 1
    for text in parts[1:]:
        changes = [(own, json.dumps(text, ensure_ascii=False)), *more]
        if criterion.has_own_id:
            number = rubric.find_free(criterion.id, number + 1)
            changes.append((("id",), write_numbered(criterion.own_id, number)))
        copies.append(tuple(sorted(changes)))
    return [*adding, InsertItems(criterion.path, tuple(copies))]


def order_bands(scale: Scale) -> tuple[str | int, ...] | None:
    """Return the keys or indices of the bands in ascending order; None if some bands are invalid."""
    if not all(band.is_sound for band in scale.bands):
        return None
    depth = len(scale.path)
    return tuple(band.path[depth] for band in sorted(scale.bands, key=lambda band: band.scores[0]))


def _repair(title: str, *intents: Intent, choice: str = "") -> Repair:
    return Repair(title, intents, safe=False, choice=choice)


PLACEHOLDER = "placeholder"
FIRST_LOWEST, FIRST_HIGHEST = "first-lowest", "first-highest"


def write_placeholder(entry: Any, at: Path, place: Path) -> Repair:
    """Write a placeholder for the outcome at `place`, which is in the entry at the path `at`, or is the entry."""
    name = "band" if "score_range" in as_mapping(entry) else "criterion"
    if at and isinstance(at[-1], int):
        name = f"{name} {at[-1] + 1}"
    within = place[len(at) :]
    if len(within) > 1:
        kind, part = "score", within[1]
        if isinstance(part, int):
            kind, part = "band", part + 1
        if within[0] == "levels":
            kind = "level"
        name = f"{kind} {part} of {name}"
    text = f"TODO - say what an observer sees for {name}"
    return _repair("write a placeholder", ReplaceValue(place, text), choice=PLACEHOLDER)


def quote(place: Path, written: str) -> Repair:
    """Write a plain scalar as a string, in quotes."""
    text = json.dumps(written, ensure_ascii=False)
    return _repair(f"write `{text}`", ReplaceValue(place, text))


def number_levels(place: Path, count: int) -> tuple[Repair, ...]:
    """Give each name in a list its number, from the lowest or from the highest level on."""
    repairs = []
    for numbers, choice in ((range(count), FIRST_LOWEST), (range(count)[::-1], FIRST_HIGHEST)):
        intents = [
            WrapText((*place, index), "expected_outcome", ("level", str(number)))
            for index, number in enumerate(numbers)
        ]
        repairs.append(_repair(f"number the levels {numbers[0]} to {numbers[-1]}", *intents, choice=choice))
    return tuple(repairs)


OWN_RUBRIC = "own-rubric"


def move_apart(rubric: Rubric, moved: Sequence[Criterion], what: str) -> Repair | None:
    """Move entries, which messages call `what`, to a rubric of their own; None if there is no place for one."""
    holder = _find_holder(rubric)
    places = [rubric.place(entry.path) for entry in moved]
    if holder is None or any(place[:-1] != rubric.path for place in places):
        return None
    going = {entry.path for entry in moved}
    if weigh_nothing(moved) or weigh_nothing([entry for entry in rubric.entries if entry.path not in going]):
        return None
    where = "next to this one" if holder else "in a document of its own"
    title = f"move {what} to a new rubric {where}, with a score of its own"
    intent = MoveItems(rubric.path, tuple(int(place[-1]) for place in places), holder)
    return _repair(title, intent, choice=OWN_RUBRIC)


def _find_holder(rubric: Rubric) -> Path | None:
    """Find what a second rubric needs a copy of: the evaluator, or the document; None if there is no place for one.

    A case has one `rubrics`, and so have the defaults of a suite.
    """
    path, view = rubric.path, rubric.view
    if view and (view.around or view.definition):
        return None
    indices = [index for index, step in enumerate(path) if isinstance(step, int)]
    if not indices:
        return () if path == (FIELD,) and not rubric.dialect else None
    last = indices[-1]
    return path[: last + 1] if last and path[last - 1] in suite_lists("evaluators") else None


def rename_fields(names: list[tuple[Path, str]]) -> Repair:
    """Return the unsafe repair that gives each field at a path a new name."""
    (path, target), *others = names
    more = f", and {len(others)} more" if others else ""
    intents = tuple(RenameKey(place, name) for place, name in names)
    return Repair(f"rename `{path[-1]}` to `{target}`{more}", intents, safe=False)

"""Repair what is wrong in bands, outcomes, levels and shapes, and deprecated fields, as intents on paths."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from rubric_lint.edits.intents import (
    AddField,
    InsertField,
    InsertItems,
    Intent,
    MoveItems,
    RemoveField,
    RenameKey,
    Reorder,
    Repair,
    ReplaceValue,
    WrapText,
)
from rubric_lint.finding import Problem
from rubric_lint.format.criterion import HIGHEST, LOWEST, Band, Criterion, Replacement, Scale, weigh_nothing
from rubric_lint.format.recognition import FIELD
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import suite_lists
from rubric_lint.messages import join_words, name_scores
from rubric_lint.text.path import Part, Path
from rubric_lint.text.scalar import write_numbered

MESSAGES = {
    "left-out": "`{field}: {value}` is deprecated; leave it out",
    "renamed": "`{field}` is deprecated; write `{name}`",
    "replaced": "`{field}: {value}` is deprecated; write `{name}: {new}`",
}
"""What the rules on deprecated fields say of them."""


def find_deprecated(
    mapping: Mapping[str, Any], path: Path, field: str, replacement: Replacement | None
) -> Iterator[Problem]:
    """Find the deprecated `field` of a mapping, unless its replacement is there too."""
    if replacement is None or field not in mapping or replacement.name in mapping:
        return
    value, place, name = mapping[field], (*path, field), replacement.name
    if not replacement.covers(value):
        return  # the wrong value comes first
    new = replacement.value_for(value)
    old_text, new_text = (str(each).lower() if isinstance(each, bool) else str(each) for each in (value, new))
    intents: tuple[Intent, ...]
    if new is None and replacement.values is not None:
        code, title, intents = "left-out", f"remove `{field}`", (RemoveField(place),)
    elif new == value and type(new) is type(value):
        code, title, intents = "renamed", f"rename `{field}` to `{name}`", (RenameKey(place, name),)
    else:
        code, title = "replaced", f"write `{name}: {new_text}`"
        intents = (RenameKey(place, name), ReplaceValue(place, new_text))
    values = {"field": field, "value": old_text, "name": name, "new": new_text}
    yield Problem(code, place, Part.KEY, values, (), Repair(title, intents, safe=True))


UPPER_KEEPS, LOWER_KEEPS = "upper-keeps", "lower-keeps"
WIDEN_LOWER, WIDEN_UPPER, ADD_BAND = "widen-lower", "widen-upper", "add-band"
AS_LEVELS = "as-levels"


Answers = tuple[Repair | None, tuple[Repair, ...]]
"""The repairs of one problem: the one plain answer, if there is one, and the others, which an author chooses."""


def swap_bounds(band: Band) -> Repair:
    """Exchange the bounds of a range."""
    lower, upper = band.upper, band.lower
    return _repair(f"write `[{lower}, {upper}]`", _write(band, "start", lower), _write(band, "end", upper))


def cut(scale: Scale, band: Band, other: Band) -> Answers:
    """Take the shared scores from one of two bands: from the one that has others if only one has, else from either."""
    low, high = sorted((band, other), key=lambda each: (each.scores.start, -each.scores.stop))
    if scale.is_map or not (low.is_sound and high.is_sound) or low.scores == high.scores:
        return None, ()
    ends, starts = high.scores.start - 1, low.scores.stop
    if low.scores.start == high.scores.start:  # the one that is longer goes on after the other
        return _move(low, "start", high.scores.stop), ()
    if low.scores.stop == high.scores.stop:
        return _move(low, "end", ends), ()
    if low.scores.stop > high.scores.stop:
        return None, ()
    lower, upper = _move(low, "end", ends), _move(high, "start", starts)
    return None, (lower._replace(choice=UPPER_KEEPS), upper._replace(choice=LOWER_KEEPS))


def turn_to_levels(scales: Sequence[Scale]) -> Repair | None:
    """Write the bands of all criteria of a rubric as levels; None if a gate is none of them."""
    intents: list[Intent] = []
    for scale in scales:
        numbers = {band.scores.start for band in scale.bands}
        if scale.gate is not None:
            if scale.gate not in numbers or scale.gate_path[-1] != "required_min_score":
                return None
            intents.append(RenameKey(scale.gate_path, "required_min_level"))
        for band in () if scale.is_map else scale.bands:
            intents += [RenameKey(band.path, "level"), ReplaceValue(band.path, str(band.scores.start))]
        intents.append(RenameKey(scale.path, "levels"))
    return _repair("write levels instead of bands", *intents, choice=AS_LEVELS)


class _Gap(NamedTuple):
    """Scores without a band, and the bands that end before and start after them."""

    scores: range
    below: Band | None
    above: Band | None


def fill(scale: Scale) -> Answers:
    """Widen a band next to each gap, or add bands; nothing if bands are invalid, or two of them end at one gap.

    A gap in the middle may go to the band below or above it.
    """
    bands = sorted(scale.bands, key=lambda band: band.scores.start if band.scores else HIGHEST)
    edges = [LOWEST - 1, *sorted({score for band in bands for score in band.scores}), HIGHEST + 1]
    gaps = []
    for last, following in pairwise(edges):
        if last + 1 < following:
            below = [band for band in bands if band.scores.stop == last + 1]
            above = [band for band in bands if band.scores.start == following]
            if len(below) > 1 or len(above) > 1:
                return None, ()
            gaps.append(_Gap(range(last + 1, following), next(iter(below), None), next(iter(above), None)))
    if not (gaps and bands and all(band.is_sound for band in bands)):
        return None, ()
    if scale.is_map:
        first = bands[0].path
        text = _write_placeholder(gaps[0].scores)
        plain = _repair(f"start the lowest band at {LOWEST}", RenameKey(first, str(LOWEST)))
        return plain, (_add(gaps, InsertField(first, str(LOWEST), json.dumps(text))),)
    wider = [_widen(gaps, to_lower=to_lower) for to_lower in (True, False)]
    inserted = []
    for gap in gaps:
        like = gap.below or gap.above
        assert like  # noqa: S101 (there are bands)
        inserted.append(InsertItems(like.path[:-1], (_copy(like, gap.scores),), before=gap.below is None))
    adding = _add(gaps, *inserted)
    if all(gap.below is None or gap.above is None for gap in gaps):
        return wider[0]._replace(choice=""), (adding,)
    return None, (*wider, adding)


def _widen(gaps: Sequence[_Gap], *, to_lower: bool) -> Repair:
    """Extend a band over each gap: the one below or the one above it, if there are both."""
    changes = []
    for gap in gaps:
        if gap.below and (to_lower or not gap.above):
            changes.append(_move(gap.below, "end", gap.scores[-1]))
        elif gap.above:
            changes.append(_move(gap.above, "start", gap.scores[0]))
    title = ", ".join(change.title for change in changes)
    intents = [intent for change in changes for intent in change.intents]
    return _repair(title, *intents, choice=WIDEN_LOWER if to_lower else WIDEN_UPPER)


def _add(gaps: Sequence[_Gap], *intents: Intent) -> Repair:
    told = join_words([f"[{gap.scores[0]}, {gap.scores[-1]}]" for gap in gaps])
    title = f"add the band{'' if len(gaps) == 1 else 's'} {told} with a placeholder as the outcome"
    return _repair(title, *intents, choice=ADD_BAND)


def _copy(band: Band, scores: range) -> tuple[tuple[Path, str], ...]:
    """Return what a copy of a band says instead: other scores, and a text as the outcome."""
    field = str(band.path[-1])
    outcome = band.outcome_path[len(band.path) - 1 :]
    return (((field, 0), str(scores[0])), ((field, 1), str(scores[-1])), (outcome, _write_placeholder(scores)))


def _write_placeholder(scores: range) -> str:
    """Return a placeholder for an outcome, which its rule reports until it is replaced."""
    return f"TODO - say what earns {name_scores(scores)}"


def start_at(scale: Scale, band: Band, following: Band, start: int) -> Repair:
    """Start the following band at a score inside this one."""
    title = f"start the next band at {start}"
    if scale.is_map:
        return _repair(title, RenameKey(following.path, str(start)))
    return _repair(title, _write(band, "end", start - 1), _write(following, "start", start))


SPLIT = "split"
"""The choice that makes a criterion of each part of an outcome."""


def split_outcome(rubric: Rubric, criterion: Criterion, parts: Sequence[str]) -> Iterator[Repair]:
    """Yield the repair that makes a criterion of each part, if a weight that is written has such parts."""
    if rubric.view is not None or criterion.weight is None or criterion.borrows_id:
        return
    texts = [part[:1].upper() + part[1:] for part in parts]
    adding = divide(criterion, texts)
    if adding is None:
        return
    count, share = ("two", "half") if len(texts) == 2 else (str(len(texts)), f"1/{len(texts)} of")
    shared = f"{share} the weight, {adding[0].text}" if isinstance(adding[0], ReplaceValue) else "the weight 1"
    first = ReplaceValue(criterion.outcome_path, json.dumps(texts[0], ensure_ascii=False))
    yield Repair(f"split it into {count} criteria of {shared}", (first, *adding), safe=False, choice=SPLIT)


def divide(criterion: Criterion, parts: Sequence[str]) -> list[Intent] | None:
    """Return what adds a criterion for each part behind the first one; a weight that is written is shared.

    None if that weight has no exact part for each.
    """
    own = criterion.outcome_path[len(criterion.path) :]
    adding: list[Intent] = []
    more: list[tuple[Path, str]] = []
    if criterion.fields is not None and "weight" in criterion.fields and criterion.weight is not None:
        share = criterion.weight / len(parts)
        if share * len(parts) != criterion.weight:
            return None
        more = [(("weight",), f"{share.normalize():f}")]
        adding.append(ReplaceValue(criterion.path_of("weight"), more[0][1]))
    copies = []
    for number, text in enumerate(parts[1:], 2):
        changes = [(own, json.dumps(text, ensure_ascii=False)), *more]
        changes += [(("id",), write_numbered(criterion.id, number))] if criterion.has_own_id else []
        copies.append(tuple(sorted(changes)))
    return [*adding, InsertItems(criterion.path, tuple(copies))]


def split(scale: Scale, band: Band, starts: Sequence[int]) -> Repair | None:
    """Start a new band with a placeholder at each of some scores inside a band; None if it has no outcome to copy."""
    parts = [range(start, stop) for start, stop in pairwise([*starts, band.scores.stop])]
    told = join_words([f"[{part[0]}, {part[-1]}]" for part in parts])
    title = f"start {'a new band' if len(parts) == 1 else 'new bands'} {told} with a placeholder as the outcome"
    if not scale.is_map:
        if band.outcome is None:
            return None
        copies = tuple(_copy(band, part) for part in parts)
        ending = _write(band, "end", starts[0] - 1)
        return _repair(title, ending, InsertItems(band.path[:-1], copies), choice=ADD_BAND)
    above = [each for each in scale.bands if each.scores and each.scores.start == band.scores.stop]
    new = [(str(part[0]), _write_placeholder(part)) for part in parts]
    if above:
        following = above[0].path
        return _repair(title, *(InsertField(following, key, json.dumps(text)) for key, text in new), choice=ADD_BAND)
    return _repair(title, *(AddField(scale.path, key, text) for key, text in new), choice=ADD_BAND)


def order_bands(scale: Scale) -> tuple[str | int, ...] | None:
    """Return the keys or indices of the bands in ascending order; None if some bands are invalid."""
    if not all(band.is_sound for band in scale.bands):
        return None
    depth = len(scale.path)
    return tuple(band.path[depth] for band in sorted(scale.bands, key=lambda band: band.scores[0]))


def sort_bands(scale: Scale) -> Repair | None:
    """Put the bands in ascending order; None if some are invalid."""
    steps = order_bands(scale)
    return _repair("sort the bands", Reorder(scale.path, steps)) if steps else None


def _repair(title: str, *intents: Intent, choice: str = "") -> Repair:
    return Repair(title, intents, safe=False, choice=choice)


def _move(band: Band, end: Literal["start", "end"], bound: int) -> Repair:
    return _repair(f"{end} {band.written} at {bound}", _write(band, end, bound))


def _write(band: Band, end: Literal["start", "end"], bound: float | None) -> ReplaceValue:
    return ReplaceValue((*band.path, ("start", "end").index(end)), str(bound))


PLACEHOLDER = "placeholder"
FIRST_LOWEST, FIRST_HIGHEST = "first-lowest", "first-highest"


def write_placeholder(entry: Any, at: Path, place: Path) -> Repair:
    """Write a placeholder for the outcome at `place`, which is in the entry at the path `at`, or is the entry."""
    number = f"{int(at[-1]) + 1}" if at and isinstance(at[-1], int) else ""
    is_band = isinstance(entry, dict) and "score_range" in entry
    name = f"{'band' if is_band else 'criterion'} {number}".strip()
    within = place[len(at) :]
    if len(within) > 1:
        kind = "level" if within[0] == "levels" else "band" if isinstance(within[1], int) else "score"
        part = int(within[1]) + 1 if isinstance(within[1], int) else within[1]
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
        levels = enumerate(map(str, numbers))
        intents = (WrapText((*place, index), "expected_outcome", ("level", number)) for index, number in levels)
        repairs.append(_repair(f"number the levels {numbers[0]} to {numbers[-1]}", *intents, choice=choice))
    return tuple(repairs)


OWN_RUBRIC = "own-rubric"


def move_apart(rubric: Rubric, moved: Sequence[Criterion], what: str) -> Repair | None:
    """Move entries, which messages call `what`, to a rubric of their own; None if there is no place for one."""
    holder = _find_holder(rubric)
    places = [rubric.view.place(entry.path) if rubric.view else entry.path for entry in moved]
    if holder is None or any(place[:-1] != rubric.path for place in places):
        return None
    going = {entry.path for entry in moved}
    if weigh_nothing(moved) or weigh_nothing([entry for entry in rubric.entries if entry.path not in going]):
        return None
    where = "beside this one" if holder else "in a document of its own"
    title = f"move {what} to a new rubric {where}, with a score of its own"
    intent = MoveItems(rubric.path, tuple(int(place[-1]) for place in places), holder)
    return _repair(title, intent, choice=OWN_RUBRIC)


def _find_holder(rubric: Rubric) -> Path | None:
    """Return what a second rubric needs a copy of: the evaluator, or the document; None if there is no place for one.

    A case has one `rubrics`, and so have the defaults of a suite.
    """
    path, view = rubric.path, rubric.view
    if view and (view.around or view.definition):
        return None
    indices = [index for index, step in enumerate(path) if isinstance(step, int)]
    if not indices:
        return () if path == (FIELD,) and not view else None
    last = indices[-1]
    return path[: last + 1] if last and path[last - 1] in suite_lists("evaluators") else None


def rename_fields(names: list[tuple[Path, str]]) -> Repair:
    """Return the unsafe repair that gives each field at a path a new name."""
    (path, target), *others = names
    more = f", and {len(others)} more" if others else ""
    intents = tuple(RenameKey(place, name) for place, name in names)
    return Repair(f"rename `{path[-1]}` to `{target}`{more}", intents, safe=False)

"""Repair outcomes that are empty, strings written as other scalars, and levels without numbers; no repair is safe."""

import json
from typing import Any

from rubric_lint.edits.intents import Repair, ReplaceValue, WrapText
from rubric_lint.text.path import Path

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
    intents = (ReplaceValue(place, text),)
    return Repair("write a placeholder", intents, safe=False, choice=PLACEHOLDER, is_local=True)


def quote(place: Path, written: str) -> Repair:
    """Write a plain scalar as a string, in quotes."""
    text = json.dumps(written, ensure_ascii=False)
    return Repair(f"write `{text}`", (ReplaceValue(place, text),), safe=False, is_local=True)


def number_levels(place: Path, count: int) -> tuple[Repair, Repair]:
    """Give each name in a list its number, from the lowest or from the highest level on."""
    return _number(place, range(1, count + 1), FIRST_LOWEST), _number(place, range(count, 0, -1), FIRST_HIGHEST)


def _number(place: Path, numbers: range, choice: str) -> Repair:
    levels = enumerate(map(str, numbers))
    intents = tuple(WrapText((*place, index), "expected_outcome", ("level", number)) for index, number in levels)
    return Repair(f"number the levels {numbers[0]} to {numbers[-1]}", intents, safe=False, choice=choice, is_local=True)

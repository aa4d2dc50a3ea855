"""Bands of scores: what a criterion's `score_ranges`, or a holistic rubric, say about 0 to 10."""

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from rubric_lint.finding import Part, Path

LOWEST, HIGHEST = 0, 10
SCORES = range(LOWEST, HIGHEST + 1)
"""The scores that a judge may give."""


class Band(NamedTuple):
    """A range of scores and its outcome.

    `scores` are the scores of 0..10 that lie in the band for certain: none for bounds that make no sense. `reach` are
    those that may have been meant: all of 0..10 for bounds that cannot be read. For a sound band both are the same.
    `path` and `part` say where the range stands, `outcome_path` where the outcome does.
    """

    path: Path
    part: Part
    lower: float | None
    upper: float | None
    scores: range
    reach: range
    outcome: str | None
    outcome_path: Path

    @property
    def is_sound(self) -> bool:
        """Whether both bounds are scores, in the right order."""
        return self.lower in SCORES and self.upper in SCORES and len(self.scores) > 0 and self.scores == self.reach

    @property
    def written(self) -> str:
        """The range as people write it, in the map form too."""
        return f"[{self.lower}, {self.upper}]"


def looks_like_bands(value: Any) -> bool:
    """Whether a value has the form, right or wrong inside, that `score_ranges` takes: many bands, not one range."""
    kind, items = (str, value.values()) if isinstance(value, dict) else (dict, value if isinstance(value, list) else ())
    return bool(items) and all(isinstance(item, kind) for item in items)


class Scale(NamedTuple):
    """A set of bands that together should cover 0..10: those of a criterion, or those of a holistic rubric.

    `path` is that of the field that holds them, `gate` the gate on its score and where it stands. `is_map`: the bands
    are written in the short form.
    """

    path: Path
    bands: tuple[Band, ...]
    gate: int | None
    gate_path: Path
    is_map: bool


def read_scale(entry: dict[str, Any], path: Path, gate: int | None, gate_path: Path) -> Scale | None:
    """The bands of an entry, as a list, as a map, or its one range of a holistic scale; None where it has none."""
    if "score_ranges" in entry:
        ranges, field = entry["score_ranges"], (*path, "score_ranges")
        if isinstance(ranges, dict):
            return Scale(field, _read_map(ranges, field), gate, gate_path, is_map=True)
        items = ranges if isinstance(ranges, list) else []
        bands = tuple(_read_band(item, (*field, index)) for index, item in enumerate(items))
        return Scale(field, bands, gate, gate_path, is_map=False)
    if "score_range" in entry:
        return Scale(path, (_read_band(entry, path),), None, gate_path, is_map=False)
    return None


_BANDS: Mapping[tuple[float | None, float | None], range] = {
    (lower, upper): range(lower, upper + 1) for lower in SCORES for upper in range(lower, HIGHEST + 1)
}


def _read_band(item: Any, path: Path) -> Band:
    if not isinstance(item, dict):
        return Band(path, Part.HEAD, None, None, range(0), SCORES, None, path)
    outcome_path = (*path, "expected_outcome" if "expected_outcome" in item else "description")
    outcome = item.get(outcome_path[-1])
    if not isinstance(outcome, str):
        outcome = None
    if "score_range" not in item:
        return Band(path, Part.HEAD, None, None, range(0), SCORES, outcome, outcome_path)
    lower, upper = _read_bounds(item["score_range"])
    scores, reach = _reach(lower, upper)
    return Band((*path, "score_range"), Part.VALUE, lower, upper, scores, reach, outcome, outcome_path)


def _read_bounds(value: Any) -> tuple[float | None, float | None]:
    if not isinstance(value, list) or len(value) != 2:
        return None, None
    lower, upper = value
    if type(lower) is int and type(upper) is int:
        return lower, upper
    return read_number(lower), read_number(upper)


def read_number(value: Any) -> float | None:
    """The finite number that a value is, None for anything else."""
    if type(value) is int:
        return value
    return value if type(value) is float and math.isfinite(value) else None


def _reach(lower: float | None, upper: float | None) -> tuple[range, range]:
    """The scores that lie between two bounds for certain, and those that may."""
    sound = _BANDS.get((lower, upper))
    return (sound, sound) if sound else (_certain(lower, upper), _possible(lower, upper))


def _certain(lower: float | None, upper: float | None) -> range:
    if lower is None or upper is None:
        return range(0)
    return range(max(math.ceil(lower), LOWEST), min(math.floor(upper), HIGHEST) + 1)


def _possible(lower: float | None, upper: float | None) -> range:
    if lower is None or upper is None:
        return SCORES
    lowest, highest = min(lower, upper), max(lower, upper)
    return range(max(math.floor(lowest), LOWEST), min(math.ceil(highest), HIGHEST) + 1)


_MAP_BOUND = re.compile(r"0|[1-9][0-9]{0,2}")


def _read_map(ranges: dict[str, Any], path: Path) -> tuple[Band, ...]:
    bounds = {key: int(key) if _MAP_BOUND.fullmatch(key) else None for key in ranges}
    known = sorted({bound for bound in bounds.values() if bound is not None})
    # A bound that cannot be read may start anywhere, so the bands around it may be shorter than they look.
    bands = []
    for key, outcome in ranges.items():
        lower, text = bounds[key], outcome if isinstance(outcome, str) else None
        upper = None
        if lower is not None:
            upper = next((bound - 1 for bound in known if bound > lower), max(HIGHEST, lower))
        scores, reach = _reach(lower, upper)
        bands.append(Band((*path, key), Part.KEY, lower, upper, scores, reach, text, (*path, key)))
    return tuple(bands)


def read_outcome(entry: Mapping[str, Any]) -> str | None:
    """What a mapping says is seen, under the new name of the field or the old one; None where that is no text."""
    outcome = entry.get("expected_outcome", entry.get("description"))
    return outcome if isinstance(outcome, str) else None


def as_integer(value: Any) -> int | None:
    """The integer that a value is, `7.0` too (JSON Schema, draft-07, 6.1.1); None for anything else."""
    number = read_number(value)
    return int(number) if number is not None and number == math.floor(number) else None

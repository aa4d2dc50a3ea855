"""Model bands of scores: the `score_ranges` of a criterion, or a holistic rubric."""

import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from rubric_lint.text.path import Part, Path

LOWEST, HIGHEST = 0, 10
SCORES = range(LOWEST, HIGHEST + 1)
"""The scores that a judge can give."""


class Band(NamedTuple):
    """A score range and its outcome.

    `scores` are the scores of 0..10 that are certainly in the band: none if a bound is invalid. `reach` are those that
    may have been meant: an invalid bound may mean any score, but the other bound still counts. For a valid band both
    are the same. `path` and `part` locate the range, `outcome_path` the outcome.
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
        """Whether both bounds are scores in the right order."""
        return self.lower in SCORES and self.upper in SCORES and len(self.scores) > 0 and self.scores == self.reach

    @property
    def written(self) -> str:
        """The range as written in the map form."""
        return f"[{self.lower}, {self.upper}]"


_new_band = partial(tuple.__new__, Band)  # without a Python-level call: there are dozens in a file


def looks_like_bands(value: Any) -> bool:
    """Return whether a value has the form of `score_ranges`, valid or not: many bands, not one range."""
    kind, items = (str, value.values()) if isinstance(value, dict) else (dict, value if isinstance(value, list) else ())
    return bool(items) and all(isinstance(item, kind) for item in items)


class Scale(NamedTuple):
    """The bands of a criterion or of a holistic rubric, which together should cover 0..10.

    `path` is the path of their field; `gate` is the gate on the score, with its place. `is_map`: the bands are written
    in the short form.
    """

    path: Path
    bands: tuple[Band, ...]
    gate: int | None
    gate_path: Path
    is_map: bool

    @property
    def is_whole(self) -> bool:
        """Whether the bands cover 0 to 10 in order, each with valid bounds."""
        following = LOWEST
        for _, _, _, _, scores, reach, _, _ in self.bands:
            if scores is not reach or scores.start != following:
                return False
            following = scores.stop
        return following == HIGHEST + 1


def looks_like_levels(scale: Scale) -> bool:
    """Return whether the bands of a criterion are rather levels: scores of a scale of their own, such as 1 to 5.

    They are if each stands for one score below 10, without a gap between them. In the short form, which does not say
    where a band ends, they are numbered from 1, or start at 1 and reach at most 5.
    """
    if scale.path[-1:] != ("score_ranges",) or len(scale.bands) < 2 or not all(band.is_sound for band in scale.bands):
        return False
    starts = sorted(band.scores.start for band in scale.bands)
    is_counted = starts == list(range(starts[0], starts[-1] + 1))
    if scale.is_map:
        return starts[0] == 1 and (is_counted or starts[-1] <= HIGHEST // 2)
    return is_counted and starts[-1] < HIGHEST and all(len(band.scores) == 1 for band in scale.bands)


def read_scale(entry: dict[str, Any], path: Path, gate: int | None, gate_path: Path) -> Scale | None:
    """Read the bands of an entry: a list, a map, or the one range of a holistic rubric; None without bands."""
    if "score_ranges" in entry:
        ranges, field = entry["score_ranges"], (*path, "score_ranges")
        if isinstance(ranges, dict):
            return Scale(field, _read_map(ranges, field), gate, gate_path, is_map=True)
        items = ranges if isinstance(ranges, list) else []
        bands = tuple([_read_band(item, (*field, index)) for index, item in enumerate(items)])
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
    field = outcome_field(item)
    outcome_path = (*path, field) if field in item else path
    outcome = item.get(field)
    if not isinstance(outcome, str):
        outcome = None
    if "score_range" not in item:
        return Band(path, Part.HEAD, None, None, range(0), SCORES, outcome, outcome_path)
    lower, upper = _read_bounds(item["score_range"])
    scores, reach = _reach(lower, upper)
    return _new_band(((*path, "score_range"), Part.VALUE, lower, upper, scores, reach, outcome, outcome_path))


def _read_bounds(value: Any) -> tuple[float | None, float | None]:
    if not isinstance(value, list) or len(value) != 2:
        return None, None
    lower, upper = value
    if type(lower) is type(upper) is int:
        return lower, upper
    return read_number(lower), read_number(upper)


def read_number(value: Any) -> float | None:
    """Return a value if it is a finite number, else None."""
    if type(value) is int:
        return value
    return value if type(value) is float and math.isfinite(value) else None


def _reach(lower: float | None, upper: float | None) -> tuple[range, range]:
    """Return the scores that are certainly between two bounds, and those that may be."""
    sound = _BANDS.get((lower, upper))
    return (sound, sound) if sound else (range(0), _possible(lower, upper))


def _possible(lower: float | None, upper: float | None) -> range:
    lowest, highest = _inside(lower, LOWEST), _inside(upper, HIGHEST)
    if _is_inside(lower) and _is_inside(upper):  # the bounds may be swapped
        lowest, highest = min(lowest, highest), max(lowest, highest)
    return range(math.floor(lowest), math.ceil(highest) + 1)


def _inside(bound: float | None, otherwise: int) -> float:
    return bound if bound is not None and _is_inside(bound) else otherwise


def _is_inside(bound: float | None) -> bool:
    return bound is not None and LOWEST <= bound <= HIGHEST


_KEY = re.compile(r"(0|-?[1-9][0-9]{0,99})(?:\.0+)?")


RANGE = re.compile(r"(\d{1,2})(?:\s*(?:[-\u2010-\u2015]|\.{2,3})\s*|\s+[^\W\d]{1,3}\s+)(\d{1,2})")
"""A range of scores as people write it: `0-3`, `0..3`, `0 to 3`."""


def read_key(key: str) -> int | None:
    """Return a key of a short form as an integer (`7.0` counts), or None."""
    found = _KEY.fullmatch(key)
    return int(found[1]) if found else None


def _read_map(ranges: dict[str, Any], path: Path) -> tuple[Band, ...]:
    bounds = {key: read_key(key) for key in ranges}
    known = sorted({bound for bound in bounds.values() if bound is not None and bound in SCORES})
    # A band with an invalid bound may start anywhere, so the bands around it may be shorter than they look.
    bands = []
    for key, outcome in ranges.items():
        lower, text = bounds[key], outcome if isinstance(outcome, str) else None
        upper = None
        if lower is not None and lower in SCORES:
            upper = next((bound - 1 for bound in known if bound > lower), HIGHEST)
        scores, reach = _reach(lower, upper)
        bands.append(Band((*path, key), Part.KEY, lower, upper, scores, reach, text, (*path, key)))
    return tuple(bands)


def outcome_field(entry: Mapping[str, Any]) -> str:
    """Return the name of the outcome field of a mapping: the new name, or the old one if only that is used."""
    if "expected_outcome" in entry or "description" not in entry:
        return "expected_outcome"
    return "description"


def read_outcome(entry: Mapping[str, Any]) -> str | None:
    """Return the outcome in a mapping, or None if it is not a string."""
    outcome = entry.get(outcome_field(entry))
    return outcome if isinstance(outcome, str) else None


def as_integer(value: Any) -> int | None:
    """Return a value as an integer (`7.0` counts, see JSON Schema draft-07, 6.1.1), or None."""
    number = read_number(value)
    return int(number) if number is not None and number == math.floor(number) else None

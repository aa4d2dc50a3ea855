"""The model: rubrics, criteria, bands and levels, each with its path. Made of whatever part of a value is sound."""

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from rubric_lint.deprecation import Replacement
from rubric_lint.document import Document
from rubric_lint.finding import Part, Path
from rubric_lint.scalar import Ambiguity
from rubric_lint.schema import schema_for

LOWEST, HIGHEST = 0, 10
SCORES = range(LOWEST, HIGHEST + 1)
"""The scores that a judge may give."""

ONE = Decimal(1)


class Shape(StrEnum):
    """The four shapes of a rubric, by the names that SPEC and reports use."""

    CHECKLIST = "checklist"
    SCORE_RANGES = "score_ranges"
    HOLISTIC = "holistic"
    LEVELS = "levels"


class Thresholds(NamedTuple):
    """From which score in 0..1 a verdict is `pass`, and from which it is `borderline`."""

    pass_at: Decimal
    borderline_at: Decimal


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


class Level(NamedTuple):
    """One level of a named scale; `number` is None where it is not an integer."""

    path: Path
    number: int | None
    name: str | None
    outcome: str | None


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


class Criterion(NamedTuple):
    """One thing that is judged.

    `id` is its own or, by its place, `rubric-N`; `fields` the mapping as read, None for a plain text; `weight` is exact
    (the decimal that is written), None where it is not a finite number >= 0; `gate` is the least score (0..10), or for
    levels the least level, None for no gate. `borrows_id`: an alias or a merge key brings the id in from elsewhere.
    """

    path: Path
    id: str
    fields: Mapping[str, Any] | None
    shapes: tuple[Shape, ...]
    outcome: str | None
    weight: Decimal | None
    gate: int | None
    gate_path: Path
    scale: Scale | None
    levels: tuple[Level, ...] | None
    borrows_id: bool

    @property
    def has_own_id(self) -> bool:
        """Whether the id is written, not made from the place in the list."""
        return self.fields is not None and isinstance(self.fields.get("id"), str)


@dataclass(frozen=True)
class Rubric:
    """One `rubrics` value, sound or not. `entries` that are neither text nor mapping are left out."""

    path: Path
    version: str
    entries: tuple[Criterion, ...]
    thresholds: Thresholds
    implicit_required: bool
    replacements: Mapping[str, Replacement]
    ambiguous: tuple[tuple[Path, Ambiguity], ...]

    @cached_property
    def shape(self) -> Shape | None:
        """The shape of most entries, the first of them where two shapes are as frequent; None without entries."""
        shapes = [shape for entry in self.entries for shape in entry.shapes[:1]]
        return max(dict.fromkeys(shapes), key=shapes.count) if shapes else None

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """What is judged one by one; a holistic scale has none."""
        return () if self.shape is Shape.HOLISTIC else self.entries

    @cached_property
    def mappings(self) -> tuple[tuple[Path, Mapping[str, Any]], ...]:
        """Every mapping in which the fields of criteria and bands stand: the entries, and the items of band lists."""
        found: list[tuple[Path, Mapping[str, Any]]] = []
        for entry in self.entries:
            if entry.fields is not None:
                found.append((entry.path, entry.fields))
                if entry.scale and isinstance(ranges := entry.fields.get("score_ranges"), list):
                    path = entry.scale.path
                    found += [((*path, index), band) for index, band in enumerate(ranges) if isinstance(band, dict)]
        return tuple(found)

    @cached_property
    def scales(self) -> tuple[Scale, ...]:
        """The bands of every criterion that has some, or the one scale of a holistic rubric."""
        if self.shape is not Shape.HOLISTIC:
            return tuple(entry.scale for entry in self.entries if entry.scale and Shape.SCORE_RANGES in entry.shapes)
        bands = tuple(band for entry in self.entries if entry.scale for band in entry.scale.bands)
        return (Scale(self.path, bands, None, self.path, is_map=False),)


def build_rubric(
    document: Document,
    path: Path,
    version: str,
    thresholds: Thresholds,
    *,
    implicit_required: bool = False,
) -> Rubric:
    """The model of the `rubrics` value at `path`; never raises, what is unsound is None in it or left out."""
    value: Any = document.data
    for step in path:
        value = value[step]
    entries = value if isinstance(value, list) else []
    schema = schema_for(version)
    implied = HIGHEST if implicit_required else None
    return Rubric(
        path=path,
        version=version,
        entries=tuple(
            _build_criterion(document, (*path, index), index, entries, known=schema.entry_fields, implied=implied)
            for index, entry in enumerate(entries)
            if isinstance(entry, str | dict)
        ),
        thresholds=thresholds,
        implicit_required=implicit_required,
        replacements=schema.replacements,
        ambiguous=tuple(document.ambiguous_scalars(path)),
    )


def _build_criterion(
    document: Document, path: Path, index: int, entries: list[Any], *, known: Mapping[str, Any], implied: int | None
) -> Criterion:
    entry = entries[index]
    generated = f"rubric-{index + 1}"
    borrows_id = document.is_alias(entries, index) or (isinstance(entry, dict) and document.is_merged(entry, "id"))
    if isinstance(entry, str):
        return Criterion(path, generated, None, (Shape.CHECKLIST,), entry, ONE, implied, path, None, None, borrows_id)
    own_id = entry.get("id")
    shapes = _read_shapes(entry, known)
    gate, gate_path = _read_gate(entry, path, shapes[0])
    if implied is not None and gate is None and shapes is _CHECKLIST and gate_path[-1] not in entry:
        gate = implied
    levels = _read_levels(entry["levels"], (*path, "levels")) if isinstance(entry.get("levels"), list) else None
    identifier = own_id if isinstance(own_id, str) else generated
    outcome, weight = _read_outcome(entry), _read_weight(document, entry)
    scale = _read_scale(entry, path, gate, gate_path)
    # By position: by name would take twice the time, for every criterion there is.
    return Criterion(path, identifier, entry, shapes, outcome, weight, gate, gate_path, scale, levels, borrows_id)


_CHECKLIST = (Shape.CHECKLIST,)
_SHAPE_FIELDS = {"score_ranges": Shape.SCORE_RANGES, "levels": Shape.LEVELS, "score_range": Shape.HOLISTIC}


def _read_shapes(entry: dict[str, Any], known: Mapping[str, Any]) -> tuple[Shape, ...]:
    if _SHAPE_FIELDS.keys().isdisjoint(entry):
        return _CHECKLIST
    return tuple(shape for field, shape in _SHAPE_FIELDS.items() if field in entry and field in known) or _CHECKLIST


def _read_outcome(entry: Mapping[str, Any]) -> str | None:
    outcome = entry.get("expected_outcome", entry.get("description"))
    return outcome if isinstance(outcome, str) else None


def _read_weight(document: Document, entry: dict[str, Any]) -> Decimal | None:
    weight = entry.get("weight", 1)
    if weight == 1 and type(weight) is int:
        return ONE
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
        return None
    return Decimal(document.written(entry, "weight") if isinstance(weight, float) else weight)


def _read_gate(entry: Mapping[str, Any], path: Path, shape: Shape) -> tuple[int | None, Path]:
    field = "required_min_level" if shape is Shape.LEVELS else "required_min_score"
    if field in entry or shape is Shape.LEVELS:
        return as_integer(entry.get(field)), (*path, field)
    gate = HIGHEST if entry.get("required") is True else None
    return gate, (*path, "required")


def as_integer(value: Any) -> int | None:
    """The integer that a value is, `7.0` too (JSON Schema, draft-07, 6.1.1); None for anything else."""
    number = read_number(value)
    return int(number) if number is not None and number == math.floor(number) else None


def _read_levels(levels: list[Any], path: Path) -> tuple[Level, ...]:
    return tuple(
        Level(
            path=(*path, index),
            number=as_integer(level.get("level")),
            name=level["name"] if isinstance(level.get("name"), str) else None,
            outcome=_read_outcome(level),
        )
        for index, level in enumerate(levels)
        if isinstance(level, dict)
    )


def _read_scale(entry: dict[str, Any], path: Path, gate: int | None, gate_path: Path) -> Scale | None:
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
    sound = _BANDS.get((lower, upper))
    scores, reach = (sound, sound) if sound else (_certain(lower, upper), _possible(lower, upper))
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
        scores, reach = _certain(lower, upper), _possible(lower, upper)
        bands.append(Band((*path, key), Part.KEY, lower, upper, scores, reach, text, (*path, key)))
    return tuple(bands)


def fold_id(identifier: str) -> str:
    """The form in which two ids are compared: what looks the same on screen is the same (Unicode NFC)."""
    return identifier if identifier.isascii() else unicodedata.normalize("NFC", identifier)

"""Convert a rubric of the model to plain data: the list under `rubrics:` in version 2."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from rubric_lint.format.criterion import SCORES, Band, Criterion, Level, Scale, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import schema_for
from rubric_lint.text.path import Path

Data = dict[str, Any]


def as_entries(rubric: Rubric, target: str = "rubric") -> list[Data | str]:
    """Return a valid rubric as version 2 writes it, with the fields that a target carries; weights are decimals."""
    if rubric.shape is Shape.HOLISTIC:
        bands = ((band, entry) for entry in rubric.entries if entry.scale for band in entry.scale.bands)
        return [_band(band, entry.fields or {}, target) for band, entry in bands]
    return [_criterion(criterion, number, target) for number, criterion in enumerate(rubric.criteria, 1)]


def bounds(band: Band) -> tuple[int, int]:
    """Return the lowest and the highest score of a valid band."""
    return band.scores[0], band.scores[-1]


def word_band(band: Band) -> str:
    """Write the scores of a valid band so that no spreadsheet makes a date of them: `0 to 3`, `10`."""
    lower, upper = bounds(band)
    return str(lower) if lower == upper else f"{lower} to {upper}"


def uncovered(scale: Scale) -> set[int]:
    """Return the scores that no band of a scale covers."""
    return set(SCORES).difference(*(band.scores for band in scale.bands))


def sort_levels(criterion: Criterion) -> list[Level]:
    """Return the levels of a criterion in ascending order."""
    return sorted(criterion.levels or (), key=lambda level: level.number or 0)


def shares(rubric: Rubric) -> tuple[Fraction, ...]:
    """Return the exact share of each criterion in the average; all 0 if all weights are 0."""
    weights = [Fraction(criterion.weight or 0) for criterion in rubric.criteria]
    total = sum(weights)
    return tuple(weight / total if total else weight for weight in weights)


def as_number(value: Decimal) -> int | Decimal:
    """Return a decimal that is written as an integer as an int."""
    return int(value) if value.as_tuple().exponent == 0 else value


def _criterion(criterion: Criterion, number: int, target: str) -> Data | str:
    fields = criterion.fields
    if fields is None and criterion.gate is None and criterion.id == f"rubric-{number}":
        return criterion.outcome or ""
    return _fill("entry", fields or {}, _of_criterion(criterion, target), target)


def _fill(definition: str, fields: Mapping[str, Any], known: Mapping[str, Any], target: str) -> Data:
    """Return the fields of a definition in its order: those in `known`, and others that a target carries as written.

    Our own format has them all.
    """
    format_fields = schema_for().definitions[definition]["properties"]
    found: Data = {}
    for name, schema in format_fields.items():
        if name in known:
            found |= {} if known[name] is None else {name: known[name]}
        elif name in fields and "x-replaced-by" not in schema and target in {"rubric", *schema.get("x-carried-by", ())}:
            found[name] = fields[name]
    return found


def _of_criterion(criterion: Criterion, target: str) -> Data:
    """Return the fields of a criterion that the model has, None for those that are absent."""
    has_weight = "weight" in (criterion.fields or {}) and criterion.weight is not None
    return {
        "id": criterion.id,
        "expected_outcome": criterion.outcome,
        "weight": as_number(criterion.weight) if has_weight and criterion.weight is not None else None,
        "required_min_score": None if criterion.levels else criterion.gate,
        "required_min_level": criterion.gate if criterion.levels else None,
        "score_ranges": _ranges(criterion, criterion.scale, target) if criterion.scale else None,
        "levels": _levels(criterion, criterion.levels, target) if criterion.levels else None,
    }


def _levels(criterion: Criterion, levels: Iterable[Level], target: str) -> dict[int | None, str | None] | list[Data]:
    if isinstance((criterion.fields or {}).get("levels"), dict):
        return {level.number: level.outcome for level in levels}
    return [_level(level, _written(criterion, level.path), target) for level in levels]


def _level(level: Level, fields: Mapping[str, Any], target: str) -> Data:
    known = {"level": level.number, "name": level.name, "expected_outcome": level.outcome}
    return _fill("level", fields, known, target)


def _ranges(criterion: Criterion, scale: Scale, target: str) -> dict[int, str | None] | list[Data]:
    if scale.is_map:
        return {band.scores[0]: band.outcome for band in scale.bands}
    return [_band(band, _written(criterion, band.path), target) for band in scale.bands]


def _band(band: Band, fields: Mapping[str, Any], target: str) -> Data:
    return _fill("band", fields, {"score_range": list(bounds(band)), "expected_outcome": band.outcome}, target)


def _written(criterion: Criterion, path: Path) -> Mapping[str, Any]:
    """Return a band or level of a criterion as written."""
    value: Any = criterion.fields or {}
    for step in path[len(criterion.path) :]:
        is_there = step in value if isinstance(value, dict) else isinstance(value, list)
        value = value[step] if is_there else {}
    return value if isinstance(value, dict) else {}

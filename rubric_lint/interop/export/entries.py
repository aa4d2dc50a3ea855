"""The model of a rubric back to plain data: what would stand under `rubrics:` in version 2."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from rubric_lint.bands import SCORES, Band, Scale
from rubric_lint.rubric import Criterion, Level, Rubric, Shape

Data = dict[str, Any]


def as_entries(rubric: Rubric) -> list[Data | str]:
    """A sound rubric as version 2 writes it; weights are decimals, as they are written."""
    if rubric.shape is Shape.HOLISTIC:
        return [dict(_band(band)) for scale in rubric.scales for band in scale.bands]
    return [_criterion(criterion) for criterion in rubric.criteria]


def bounds(band: Band) -> tuple[int, int]:
    """The lowest and the highest score of a sound band."""
    return band.scores[0], band.scores[-1]


def uncovered(scale: Scale) -> set[int]:
    """The scores that no band of a scale covers."""
    return set(SCORES).difference(*(band.scores for band in scale.bands))


def sort_levels(criterion: Criterion) -> list[Level]:
    """The levels of a criterion in ascending order."""
    return sorted(criterion.levels or (), key=lambda level: level.number or 0)


def shares(rubric: Rubric) -> tuple[Fraction, ...]:
    """The share of each criterion in the average, exact; all 0 where no weight counts."""
    weights = [Fraction(criterion.weight or 0) for criterion in rubric.criteria]
    total = sum(weights)
    return tuple(weight / total if total else weight for weight in weights)


def as_number(value: Decimal) -> int | Decimal:
    """A decimal that is written as an integer, as one."""
    return int(value) if value.as_tuple().exponent == 0 else value


def _criterion(criterion: Criterion) -> Data | str:
    fields = criterion.fields
    if fields is None and criterion.gate is None:
        return criterion.outcome or ""
    return dict(_fields(criterion))


def _fields(criterion: Criterion) -> Iterator[tuple[str, Any]]:
    fields = criterion.fields or {}
    if criterion.has_own_id:
        yield "id", criterion.id
    if criterion.outcome is not None:
        yield "expected_outcome", criterion.outcome
    if "weight" in fields and criterion.weight is not None:
        yield "weight", as_number(criterion.weight)
    if criterion.gate is not None:
        yield "required_min_level" if criterion.levels else "required_min_score", criterion.gate
    if criterion.scale:
        yield "score_ranges", _ranges(criterion.scale)
    if criterion.levels:
        yield (
            "levels",
            [
                {
                    "level": level.number,
                    **({} if level.name is None else {"name": level.name}),
                    "expected_outcome": level.outcome,
                }
                for level in criterion.levels
            ],
        )


def _ranges(scale: Scale) -> dict[int, str | None] | list[Data]:
    if scale.is_map:
        return {band.scores[0]: band.outcome for band in scale.bands}
    return [dict(_band(band)) for band in scale.bands]


def _band(band: Band) -> Iterator[tuple[str, Any]]:
    yield "score_range", list(bounds(band))
    yield "expected_outcome", band.outcome

"""Lay a rubric out as a table: one row for each criterion, or for each of its bands or levels."""

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from rubric_lint.dialects.export.entries import as_number, bounds
from rubric_lint.dialects.export.target import Loss, shape_of
from rubric_lint.format.criterion import Band, Criterion, Level, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.text.path import Path


class Value(NamedTuple):
    """What a cell holds: a text, a number or nothing, and its path in the rubric."""

    content: str | int | Decimal | None
    path: Path


class Sheet(NamedTuple):
    """A table: its header, and its rows with a value for each column."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


def as_sheet(name: str, rubric: Rubric) -> Sheet:
    """Return the table of a valid rubric, without columns in which nothing would be.

    The header names the fields as `rubric-lint import` reads them.

    Raises:
        ExportError: if the rubric has no entries.
    """
    shape = shape_of(name, rubric)
    if shape is Shape.HOLISTIC:
        rows = [dict(_band(band)) for band in rubric.scales[0].bands]
    else:
        rows = [row for criterion in rubric.criteria for row in _rows(criterion)]
    heads = tuple(head for head in _HEADS if any(head in row and row[head].content not in {None, ""} for row in rows))
    empty = Value(None, ())
    return Sheet(heads, tuple(tuple(row.get(head, empty) for head in heads) for row in rows))


_HEADS = (
    *("id", "what is judged", "weight", "required_min_score", "required_min_level"),
    *("score_range", "level", "name", "expected_outcome"),
)


def _rows(criterion: Criterion) -> Iterator[dict[str, Value]]:
    scale = [dict(_band(band)) for band in criterion.scale.bands] if criterion.scale else []
    scale += [dict(_level(level)) for level in criterion.levels or ()]
    judged = "what is judged" if scale else "expected_outcome"
    gate = "required_min_level" if criterion.levels else "required_min_score"
    own = {"id": Value(criterion.id, criterion.path_of("id"))}
    if criterion.outcome is not None:
        own[judged] = Value(criterion.outcome, criterion.outcome_path)
    if "weight" in (criterion.fields or {}) and criterion.weight is not None:
        own["weight"] = Value(as_number(criterion.weight), criterion.path_of("weight"))
    if criterion.gate is not None:
        own[gate] = Value(criterion.gate, criterion.gate_path)
    yield from ({**own, **row} for row in scale or [{}])


def _band(band: Band) -> Iterator[tuple[str, Value]]:
    yield "score_range", Value(word_band(band), band.path)
    yield "expected_outcome", Value(band.outcome, band.outcome_path)


def _level(level: Level) -> Iterator[tuple[str, Value]]:
    yield "level", Value(level.number, level.number_path)
    yield "name", Value(level.name, level.path)
    yield "expected_outcome", Value(level.outcome, level.outcome_path)


def word_band(band: Band) -> str:
    """Write the scores of a valid band so that no spreadsheet makes a date of them: `0 to 3`, `10`."""
    lower, upper = bounds(band)
    return str(lower) if lower == upper else f"{lower} to {upper}"


def texts_of(sheet: Sheet) -> Iterator[tuple[str, Path]]:
    """Yield the texts of a table with their paths."""
    return ((value.content, value.path) for row in sheet.rows for value in row if isinstance(value.content, str))


def lost_space(name: str, sheet: Sheet) -> Iterator[Loss]:
    """Find the texts with white space around them, which import leaves out."""
    for text, path in texts_of(sheet):
        if text != text.strip():
            yield Loss(name, path, "the white space around this text: `rubric-lint import` leaves it out")

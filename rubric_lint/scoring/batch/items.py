"""Define a portion of outputs, and make one of columns."""

from collections.abc import Mapping
from math import isnan
from typing import Any, NamedTuple

from rubric_lint.scoring.records import HELD, SHOWN

READ = ("id", "rubric", *sorted(HELD), *SHOWN, "judge", "rubric_hash")
"""The columns of a table that are read."""


class Items(NamedTuple):
    """Some outputs, one after the other; `id_type` is the Arrow type of their ids, if they have one."""

    items: list[Any]
    id_type: Any = None


def gather(columns: Mapping[Any, list[Any]], rows: int, id_type: Any = None) -> Items:
    """Return the rows of some columns: records without null fields, or without a column `output`, all fields."""
    names = [name for name in READ if name in columns]
    if HELD.isdisjoint(names):
        names = list(columns)
    given = [columns[name] for name in names]
    if not names:
        return Items([{} for _ in range(rows)])
    return Items(
        [
            {name: value for name, value in zip(names, row, strict=True) if not is_null(value)}
            for row in zip(*given, strict=True)
        ],
        id_type,
    )


def is_null(value: Any) -> bool:
    """Return whether a value is absent, as Python, Arrow and pandas say it."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return True
    return type(value).__name__ in {"NAType", "NaTType"}

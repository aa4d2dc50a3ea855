"""Define a portion of outputs, and make one of columns."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple, Protocol

from rubric_lint.messages import list_names
from rubric_lint.outputs.inputs.mapping import HELD, SHOWN
from rubric_lint.scoring.output import Known
from rubric_lint.scoring.scorer import Scorer

READ = ("id", "rubric", *sorted(HELD), *SHOWN, "judge", "rubric_hash")
"""The columns of a table that are read."""


class Items(NamedTuple):
    """Some outputs, one after the other; `id_type` is the Arrow type of their ids, if they have one."""

    items: list[Any]
    id_type: Any = None


class Plain(Protocol):
    """Some records that have just an id, or None, and an output."""

    @property
    def ids(self) -> list[Any]:
        """The id of each."""

    @property
    def id_type(self) -> Any:
        """The Arrow type of the ids."""

    def glance(self, scorer: Scorer) -> list[Known | None]:
        """Return the result of each that has just the fields of the expected form, else None."""

    def gather(self, places: list[int]) -> list[Any]:
        """Return the records at these places."""


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


def refuse_repeated(names: Sequence[Any], kept: Iterable[str] = ()) -> None:
    """Refuse a table that has a column twice that is read, or is one of `kept`.

    Raises:
        ValueError: naming the columns.
    """
    read = names if HELD.isdisjoint(names) else (*READ, *kept)
    if twice := [name for name in dict.fromkeys(read) if names.count(name) > 1]:
        raise ValueError(f"the table has {list_names(twice)} more than once; rename one of the columns")


def is_null(value: Any) -> bool:
    """Return whether a value is absent, as Python, Arrow and pandas say it."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return True
    return type(value).__name__ in {"NAType", "NaTType"}

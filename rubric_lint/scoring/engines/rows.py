"""Hold rows to score and rows of results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isnan
from typing import Any, NamedTuple, TypeVar

from rubric_lint.model.messages import list_names
from rubric_lint.scoring.grading import ReadingNotes, Scored
from rubric_lint.scoring.records.mapping import INPUT_FIELDS, OUTPUT_FIELDS


class RowError(NamedTuple):
    """Why an output of a batch is invalid: the reason, a JSON Pointer, and the line where its entry begins in a file.

    `line` is 1-based, and None for outputs that are not lines of JSON.
    """

    message: str
    path: str
    line: int | None = None


RowResult = Scored | str | None
"""What a row has: one of a few results, which many rows share, or if it is invalid, the name of its rubric if known."""

RowValue = TypeVar("RowValue")


def read_column(kind: RowResult, name: str) -> Any:
    """Return what a column of results, except that of errors, has for a kind; None if an invalid output has none."""
    if not isinstance(kind, Scored):
        return kind if name == "rubric" else None
    if name == "rubric":
        return kind.rubric.name
    if name == "rubric_hash":
        return kind.rubric.hash
    if name == "groups":
        return [group.to_json() for group in kind.groups]
    if name in {"points", "full"} and kind.full > LARGEST:
        return None  # only where the points depend on the answer
    found = getattr(kind, name)
    return float(found) if isinstance(found, Fraction) else found


LARGEST = 2**63 - 1
"""The largest integer that a column holds."""


@dataclass(eq=False, slots=True)
class BatchRows:
    """The rows of a batch: the id and the kind of each, and by row the errors.

    `notes` says what reading some rows passed over, `judged_otherwise` has the rows whose judge used a rubric with
    another meaning. `id_type` is the Arrow type of ids.
    """

    ids: list[Any] = field(default_factory=list)
    kinds: list[RowResult] = field(default_factory=list)
    errors: dict[int, RowError] = field(default_factory=dict)
    notes: dict[int, Sequence[ReadingNotes]] = field(default_factory=dict)
    judged_otherwise: list[int] = field(default_factory=list)
    id_type: Any = None

    def find_different(self) -> dict[int, RowResult]:
        """Return the different kinds by their identity, which takes less time to compare than their values."""
        return dict(zip(map(id, self.kinds), self.kinds, strict=True))

    def take(self, count: int) -> "BatchRows":
        """Return the first rows, and remove them here."""
        first = BatchRows(self.ids[:count], self.kinds[:count], id_type=self.id_type)
        self.ids, self.kinds = self.ids[count:], self.kinds[count:]
        first.errors, self.errors = _cut(self.errors, count)
        first.notes, self.notes = _cut(self.notes, count)
        first.judged_otherwise = [row for row in self.judged_otherwise if row < count]
        self.judged_otherwise = [row - count for row in self.judged_otherwise if row >= count]
        return first


def _cut(given: Mapping[int, RowValue], count: int) -> tuple[dict[int, RowValue], dict[int, RowValue]]:
    """Return what belongs to the first rows, and what to the others, which count from 0 again."""
    first = {row: item for row, item in given.items() if row < count}
    return first, {row - count: item for row, item in given.items() if row >= count}


READ = ("id", "rubric", *sorted(OUTPUT_FIELDS), *INPUT_FIELDS, "judge", "rubric_hash", "error")
"""The columns of a table that are read."""


class OutputItems(NamedTuple):
    """Some outputs, one after the other; `id_type` is the Arrow type of their ids, if they have one."""

    items: list[Any]
    id_type: Any = None


def gather(columns: Mapping[Any, list[Any]], rows: int, id_type: Any = None) -> OutputItems:
    """Return the rows of some columns: records without null fields, or without a column `output`, all fields."""
    names = [name for name in READ if name in columns]
    if OUTPUT_FIELDS.isdisjoint(names):
        names = list(columns)
    given = zip(*[columns[name] for name in names], strict=True) if names else [()] * rows
    records = [{name: value for name, value in zip(names, row, strict=True) if not is_null(value)} for row in given]
    return OutputItems(records, id_type)


def refuse_repeated(names: Sequence[Any], kept: Iterable[str] = ()) -> None:
    """Refuse a table that has a column twice that is read, or is one of `kept`.

    Raises:
        ValueError: naming the columns.
    """
    read = names if OUTPUT_FIELDS.isdisjoint(names) else (*READ, *kept)
    if twice := [name for name in dict.fromkeys(read) if names.count(name) > 1]:
        raise ValueError(f"the table has {list_names(twice)} more than once; rename one of the columns")


def is_null(value: Any) -> bool:
    """Return whether a value is absent, as Python, Arrow and pandas say it."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return True
    return type(value).__name__ in {"NAType", "NaTType"}

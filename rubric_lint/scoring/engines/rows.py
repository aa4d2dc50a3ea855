"""Hold rows to score and rows of results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isnan
from typing import Any, NamedTuple, TypeVar

from rubric_lint.model.messages import list_names
from rubric_lint.scoring.grading import ReadingNotes, Scored
from rubric_lint.scoring.records.mapping import OUTPUT_FIELDS, RECORD_FIELDS


class RowError(NamedTuple):
    """Why an output of a batch is invalid: the reason, a JSON Pointer, and the line where its entry begins in a file.

    `line` is 1-based, and None for outputs that are not lines of JSON.
    """

    message: str
    path: str
    line: int | None = None


RowResult = Scored | str | None
"""The result of a row, which many rows share; if it is invalid, the name of its rubric, None if that is unknown."""

RowValue = TypeVar("RowValue")


def read_column(result: RowResult, name: str) -> Any:
    """Return the value of a result in a column, except that of errors; None if an invalid output has none."""
    if not isinstance(result, Scored):
        return result if name == "rubric" else None
    if name == "rubric":
        return result.rubric.name
    if name == "rubric_hash":
        return result.rubric.hash
    if name == "groups":
        return [group.to_json() for group in result.groups]
    if name in {"points", "full"} and result.full > LARGEST:
        return None  # only where the points depend on the answer
    value = getattr(result, name)
    return float(value) if isinstance(value, Fraction) else value


LARGEST = 2**63 - 1
"""The largest integer that a column holds."""


@dataclass(eq=False, slots=True)
class BatchRows:
    """The rows of a batch: the id and the result of each, and by row the errors.

    `notes` says what reading some rows passed over, `judged_otherwise` has the rows whose judge used a rubric with
    another meaning. `id_type` is the Arrow type of ids.
    """

    ids: list[Any] = field(default_factory=list)
    results: list[RowResult] = field(default_factory=list)
    errors: dict[int, RowError] = field(default_factory=dict)
    notes: dict[int, Sequence[ReadingNotes]] = field(default_factory=dict)
    judged_otherwise: list[int] = field(default_factory=list)
    id_type: Any = None

    def list_different(self) -> dict[int, RowResult]:
        """Return the different results by their identity, which takes less time to compare than their values."""
        return dict(zip(map(id, self.results), self.results, strict=True))

    def take(self, count: int) -> "BatchRows":
        """Return the first rows, and remove them here."""
        first = BatchRows(self.ids[:count], self.results[:count], id_type=self.id_type)
        self.ids, self.results = self.ids[count:], self.results[count:]
        first.errors, self.errors = _cut(self.errors, count)
        first.notes, self.notes = _cut(self.notes, count)
        first.judged_otherwise = [row for row in self.judged_otherwise if row < count]
        self.judged_otherwise = [row - count for row in self.judged_otherwise if row >= count]
        return first


def _cut(given: Mapping[int, RowValue], count: int) -> tuple[dict[int, RowValue], dict[int, RowValue]]:
    """Return the values of the first rows, and those of the others, which count from 0 again."""
    first = {row: item for row, item in given.items() if row < count}
    return first, {row - count: item for row, item in given.items() if row >= count}


READ = (*RECORD_FIELDS, "error")
"""The columns of a table that are read."""


@dataclass(frozen=True, slots=True)
class OutputItems:
    """Some outputs, one after the other; `id_type` is the Arrow type of their ids, if they have one."""

    items: list[Any]
    id_type: Any = None


def gather(columns: Mapping[Any, list[Any]], rows: int, id_type: Any = None) -> OutputItems:
    """Return the rows of some columns: records without null fields, or without a column `output`, all fields."""
    names = [name for name in READ if name in columns]
    if OUTPUT_FIELDS.isdisjoint(names):
        names = list(columns)
    given = zip(*[columns[name] for name in names], strict=True) if names else [()] * rows
    records = []
    for row in given:
        pairs = zip(names, row, strict=True)
        records.append({name: value for name, value in pairs if not is_null(value)})
    return OutputItems(records, id_type)


def refuse_repeated(names: Sequence[Any], kept: Iterable[str] = ()) -> None:
    """Refuse a table that has a column twice that is read, or is one of `kept`.

    Raises:
        ValueError: naming the columns.
    """
    read = names if OUTPUT_FIELDS.isdisjoint(names) else [*READ, *kept]
    twice = [name for name in dict.fromkeys(read) if names.count(name) > 1]
    if twice:
        raise ValueError(f"the table has {list_names(twice)} more than once; rename one of the columns")


def is_null(value: Any) -> bool:
    """Return whether a value is absent, as Python, Arrow and pandas say it."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return True
    return type(value).__name__ in {"NAType", "NaTType"}

"""Keep the rows of a batch: for each, its id and which of a few results it has."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from rubric_lint.scoring.grading import Scored
from rubric_lint.scoring.output import Known


class RowError(NamedTuple):
    """Why an output of a batch is invalid: the reason, a JSON Pointer, and the line where its entry begins in a file.

    `line` is 1-based, and None for outputs that are not lines of JSON.
    """

    message: str
    path: str
    line: int | None = None


class Invalid:
    """What invalid outputs have instead of a result: the name of their rubric, if it is known."""

    __slots__ = ("rubric",)

    def __init__(self, rubric: str | None) -> None:
        self.rubric = rubric


Kind = Known | Invalid
"""What a row has: one of a few results, which many rows share."""

Item = TypeVar("Item")


class Rows:
    """The rows of a batch: the id and the kind of each, and by row the errors and the medians of several outputs.

    `judged_otherwise` has the rows whose judge used a rubric with another meaning. `id_type` is the Arrow type of ids.
    """

    __slots__ = ("errors", "id_type", "ids", "judged_otherwise", "kinds", "medians")

    def __init__(self) -> None:
        self.ids: list[Any] = []
        self.kinds: list[Kind] = []
        self.errors: dict[int, RowError] = {}
        self.medians: dict[int, Scored] = {}
        self.judged_otherwise: list[int] = []
        self.id_type: Any = None

    def take(self, count: int) -> "Rows":
        """Return the first rows, and remove them here."""
        taken = Rows()
        taken.id_type = self.id_type
        taken.ids, self.ids = self.ids[:count], self.ids[count:]
        taken.kinds, self.kinds = self.kinds[:count], self.kinds[count:]
        taken.errors, self.errors = _cut(self.errors, count)
        taken.medians, self.medians = _cut(self.medians, count)
        taken.judged_otherwise = [row for row in self.judged_otherwise if row < count]
        self.judged_otherwise = [row - count for row in self.judged_otherwise if row >= count]
        return taken


def _cut(given: Mapping[int, Item], count: int) -> tuple[dict[int, Item], dict[int, Item]]:
    """Return what belongs to the first rows, and what to the others, which count from 0 again."""
    first = {row: item for row, item in given.items() if row < count}
    return first, {row - count: item for row, item in given.items() if row >= count}

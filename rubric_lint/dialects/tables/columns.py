"""Find out which column of a table holds what, by the words in its header."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rubric_lint.dialects.tables.cells import (
    Cell,
    Note,
    Place,
    Range,
    Rescale,
    Row,
    Table,
    TableError,
    find_range,
    to_number,
)
from rubric_lint.messages import find_near, join_words, list_names, shorten

HEADERS: Mapping[str, str] = {
    "id": "id",
    "criterion": "id",
    "what is judged": "what_is_judged",
    "weight": "weight",
    "share": "share",
    "required_min_score": "required_min_score",
    "required_min_level": "required_min_level",
    "minimum": "minimum",
    "required": "required",
    "score_range": "score_range",
    "score": "score_range",
    "level": "level",
    "name": "name",
    "expected_outcome": "expected_outcome",
    "outcome": "expected_outcome",
    "description": "expected_outcome",
}
"""The words in headers, and the fields that they name. Capitals, spaces, hyphens and underscores make no difference."""

FIELDS: Mapping[str, str] = {
    "id": "The id of the criterion. The rows of a criterion repeat it.",
    "what_is_judged": "What is judged on a scale; on a checklist the outcome itself.",
    "weight": "The weight of the criterion: a number, or a share such as `25%`.",
    "share": "Not read: shares follow from the weights.",
    "required_min_score": "The lowest score that does not fail the answer: `7`, `7 of 10`, `must be met`.",
    "required_min_level": "The lowest level that does not fail the answer.",
    "minimum": "One of these two, whichever the scale needs.",
    "required": "Whether a checklist criterion must be met: `yes` or `no`.",
    "score_range": "The scores of the band in this row.",
    "level": "The number of the level in this row.",
    "name": "The name of the level in this row.",
    "expected_outcome": "The outcome of the criterion, band or level in this row.",
}
"""The fields that columns can hold, and what is in them."""


def fold(word: str) -> str:
    """Return a word of a header in the form in which headers are compared, without emphasis in Markdown."""
    return re.sub(r"[\s_-]+", "_", word.strip(" \t\r\n*`_")).casefold()


_FIELDS = {fold(word): field for word, field in HEADERS.items()}


class Step(NamedTuple):
    """A band or a level that a column describes: its bounds, which are equal for a level, and its name, if any."""

    kind: str
    range: Range
    name: str

    @property
    def label(self) -> str:
        """The step in words: `0 to 3`, `4 Good`."""
        lower, upper = self.range
        return f"{lower}" + (f" to {upper}" if lower != upper else "") + (f" {self.name}" if self.name else "")


BAND, LEVEL, EITHER = "band", "level", "either"


class Columns(NamedTuple):
    """The columns of a table: by field, those that describe a band or a level each, and notes on what is not read.

    `header` are the cells that name them; `used` the folded words of those that an option names.
    """

    fields: Mapping[str, int]
    steps: tuple[tuple[int, Step, Place], ...]
    header: Row
    notes: tuple[Note, ...]
    used: frozenset[str]

    def has(self, *fields: str) -> bool:
        """Return whether there is a column for one of some fields."""
        return any(field in self.fields for field in fields)

    def cell(self, row: Row, field: str) -> Cell | None:
        """Return the cell of a row for a field; None if the table has no such column, or the cell is empty."""
        if field not in self.fields:
            return None
        cell = row.cell(self.fields[field])
        return None if cell.is_empty else cell

    def place(self, field: str) -> Place:
        """Return the place of the header of a field."""
        return self.header.cell(self.fields[field]).place


class Choices(NamedTuple):
    """What options say of a file: the fields of columns and the ignored ones, both by folded word, and the scale.

    `only` names the one table to read; `header_row` is the row of the header.
    """

    fields: Mapping[str, str] = {}
    ignored: frozenset[str] = frozenset()
    rescale: Rescale | None = None
    only: str | None = None
    header_row: int | None = None

    @property
    def mapped(self) -> Mapping[str, str]:
        """The fields of columns, empty for those that are ignored."""
        return {**self.fields, **dict.fromkeys(self.ignored, "")}


def read_columns(table: Table, choices: Choices) -> Columns:
    """Find out what each column of a table holds.

    Raises:
        TableError: if a header is unknown, or two name the same field.
    """
    fields: dict[str, int] = {}
    steps: list[tuple[int, Step, Place]] = []
    notes: list[Note] = []
    used: set[str] = set()
    for column in _columns(table):
        cell = table.header.cell(column)
        word = fold(cell.value)
        used.update({word} & (choices.fields.keys() | choices.ignored))
        if word in choices.ignored:
            notes.append(Note(cell.place, f"column `{shorten(cell.value)}` is not read, as --ignore-column says"))
            continue
        meant = _read_header(cell, choices)
        if isinstance(meant, Step):
            steps.append((column, meant, cell.place))
        elif meant in fields:
            first = table.header.cell(fields[meant])
            message = f"columns `{shorten(first.value)}` ({first.place.short}) and `{shorten(cell.value)}` both hold "
            advice = "rename one" if fold(first.value) == word else "leave one out with --ignore-column"
            raise TableError(cell.place, f"{message}`{meant}`; {advice}")
        else:
            fields[meant] = column
    if "share" in fields:
        cell = table.header.cell(fields.pop("share"))
        if "weight" not in fields:
            told = "a share follows from weights, and there is no column `weight`"
            raise TableError(cell.place, f"{told}; name it with --map weight=share")
        notes.append(Note(cell.place, f"column `{cell.value}` is not read: shares follow from the weights"))
    return Columns(fields, tuple(_settle(steps, choices, notes)), table.header, tuple(notes), frozenset(used))


def _columns(table: Table) -> Iterator[int]:
    """Yield the columns that have a header; raise TableError if another column has content."""
    named = [column for column, cell in sorted(table.header.cells.items()) if not cell.is_empty]
    for row in table.rows:
        for column, cell in row.cells.items():
            if column not in named and not cell.is_empty:
                message = "this cell is in a column without a header; name the column, or empty it"
                title = shorten(table.header.cell(named[0]).text.strip()) if named else ""
                if len(named) == 1:
                    message += f"; if `{title}` is a title, name the row of the header with --header-row"
                elif all(each.is_empty or is_known(each.text) or find_step(each.text) for each in row.cells.values()):
                    message += "; if the header has two rows, name the lower one with --header-row"
                raise TableError(cell.place, message)
    yield from named


_NUMBER = r"-?\d{1,18}"
_LEVEL = re.compile(rf"level\s+(?P<number>{_NUMBER})(?:\s*[:.\N{{EN DASH}}-]\s*(?P<name>(?!\d)\S.*))?", re.IGNORECASE)
_NAMED = re.compile(rf"(?P<number>{_NUMBER})\s*[:=.\N{{EN DASH}}\N{{EM DASH}}-]\s+(?P<name>(?!\d)\S.*)")
_BRACKETED = re.compile(rf"(?P<number>{_NUMBER})\s*\((?P<name>(?![\d.])[^()]+)\)")


def find_step(text: str) -> Step | None:
    """Return the band or level that a header describes, such as `0 to 3`, `level 4` or `Good (4)`; else None."""
    text = " ".join(text.split())
    score = re.fullmatch(r"scores?\s+(?P<range>.+)", text, re.IGNORECASE)
    if found := find_range(score["range"] if score else text):
        return Step(BAND, found, "")
    if score and re.fullmatch(_NUMBER, score["range"]):
        return Step(BAND, Range(int(score["range"]), int(score["range"])), "")
    if re.fullmatch(_NUMBER, text):
        return Step(EITHER, Range(int(text), int(text)), "")
    if found_level := _LEVEL.fullmatch(text) or _NAMED.fullmatch(text) or _BRACKETED.fullmatch(text):
        number = to_number(found_level["number"])
        return Step(LEVEL, Range(number, number), found_level["name"] or "")
    name, bracket, inside = text.removesuffix(")").rpartition("(")
    inner = find_step(inside) if text.endswith(")") and bracket and name.strip() else None
    if inner and not inner.name:
        return inner._replace(kind=LEVEL if inner.kind == EITHER else inner.kind, name=name.strip())
    return None


def _read_header(cell: Cell, choices: Choices) -> str | Step:
    """Return the field or the step of a column; raise TableError if its word is unknown."""
    word = fold(cell.value)
    if asked := choices.fields.get(word):
        if fold(asked) in _FIELDS:
            return _FIELDS[fold(asked)]
        step = find_step(asked)
        if step is None:
            expected = f"{_list_fields()}, `level 4` or `score 0-3`"
            raise TableError(cell.place, f"--map: `{asked}` is not a field; expected {expected}")
        is_named = step.kind == LEVEL and not step.name and find_step(cell.value) is None
        return step._replace(name=" ".join(cell.value.split())) if is_named else step
    if word in _FIELDS:
        return _FIELDS[word]
    step = find_step(cell.value)
    if step and not is_known(step.name):  # `Score (0-10)` says the scale of a field
        return step
    name = shorten(cell.value)
    near = find_near(cell.value, HEADERS)
    hint = f"; did you mean `{near[0]}`?" if near else f"; expected {_list_fields()}, a range such as `0 to 3`, or"
    hint += "" if near else " a level such as `Good (4)`"
    advice = f"say what it holds with --map 'FIELD={name}', or leave it out with --ignore-column '{name}'"
    raise TableError(cell.place, f"unknown column `{name}`{hint}; {advice}")


def _list_fields() -> str:
    return list_names(FIELDS, most=len(FIELDS))


def _settle(
    steps: list[tuple[int, Step, Place]], choices: Choices, notes: list[Note]
) -> Iterator[tuple[int, Step, Place]]:
    """Yield the columns of a scale as bands or as levels, and note it; raise TableError if they may be both."""
    kinds = {step.kind for _, step, _ in steps} - {EITHER}
    if len(kinds) > 1 and not choices.rescale:
        band = next(place for _, step, place in steps if step.kind == BAND)
        level = next(place for _, step, place in steps if step.kind == LEVEL)
        raise TableError(level, f"this column describes a level, and another a range of scores ({band.short}); use one")
    if not kinds and steps and not choices.rescale:
        _, step, place = steps[0]
        number = step.range.lower
        advice = f"say which with --map 'level {number}={number}' or --map 'score {number}={number}'"
        raise TableError(place, f"column `{number}` may be a level or a score; {advice} for each such column")
    for column, step, place in steps:
        settled = BAND if choices.rescale else step.kind if step.kind != EITHER else next(iter(kinds))
        yield column, step._replace(kind=settled), place
    if steps:
        read = "scores" if choices.rescale or BAND in kinds else "levels"
        notes.append(Note(steps[0][2], f"read as {read}: {join_words([step.label for _, step, _ in steps])}"))
    if read_names := [step.name for _, step, _ in steps if step.name and (choices.rescale or step.kind == BAND)]:
        told = "bands have no names"
        notes.append(Note(steps[0][2], f"not imported: the names {list_names(read_names, most=20)}; {told}"))


def is_known(word: str) -> bool:
    """Return whether a word of a header names a field."""
    return fold(word) in _FIELDS

"""Read the rubric that a table holds, and write it as JSON with a line for each part, which knows its cell."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
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
    read_answer,
    read_gate,
    read_number,
    read_range,
)
from rubric_lint.dialects.tables.columns import LEVEL, Choices, Columns, find_step, is_known, read_columns
from rubric_lint.format.criterion import HIGHEST
from rubric_lint.messages import list_names, shorten

Scalar = str | int | Decimal | tuple[int | Decimal, ...]


class Part(NamedTuple):
    """A value with its place: a scalar, the bounds of a band, a list of parts, or fields that are parts."""

    value: "Scalar | list[Part] | dict[str, Part]"
    place: Place


class Draft(NamedTuple):
    """A rubric file as JSON, and the place in the table of each of its lines."""

    text: str
    places: tuple[Place, ...]


def write_draft(entries: Part) -> Draft:
    """Return a rubric file whose `rubrics` are `entries`; each value that has a place of its own begins a line."""
    lines = [*_write(Part({"rubrics": entries}, entries.place))]
    return Draft("\n".join(text for text, _ in lines), tuple(place for _, place in lines))


def _write(part: Part, before: str = "") -> Iterator[tuple[str, Place]]:
    value = part.value
    if isinstance(value, list | dict):
        yield f"{before}{'[' if isinstance(value, list) else '{'}", part.place
        parts = value.items() if isinstance(value, dict) else (("", item) for item in value)
        for number, (name, item) in enumerate(parts):
            yield from _write(item, "," * (number > 0) + (f"{json.dumps(name)}: " if name else ""))
        yield "]" if isinstance(value, list) else "}", part.place
    elif isinstance(value, tuple):
        yield f"{before}[{', '.join(map(str, value))}]", part.place
    else:
        yield before + (json.dumps(value) if isinstance(value, str) else str(value)), part.place


_OF_CRITERIA = ("what_is_judged", "weight", "required_min_score", "required_min_level", "minimum", "required")
_GATES = ("required_min_score", "required_min_level", "minimum")


class TableRubric(NamedTuple):
    """The rubric of a table: its name, the list under `rubrics`, notes, and the folded words of options it used.

    `texts` are those of its case, by field, `rows` is the number of rows that it comes from.
    """

    name: str
    entries: Part
    notes: tuple[Note, ...]
    used: frozenset[str]
    texts: Mapping[str, str] = {}
    rows: int = 0


def read_rubric(table: Table, choices: Choices) -> TableRubric:
    """Return the rubric that a table holds.

    Raises:
        TableError: if its columns, or what is in a cell, have no single meaning.
    """
    if table.span and not choices.rescale:
        choices = choices._replace(rescale=Rescale(*table.span))
    columns = read_columns(table, choices)
    reader = _Reader(table, columns, choices.rescale, [*table.notes, *columns.notes])
    return reader.read(choices)


class _Row(NamedTuple):
    """A band or a level as a table has it: its bounds with their place, its name and its outcome."""

    range: Range
    place: Place
    name: Part | None
    outcome: Part


@dataclass
class _Reader:
    """Reads one table whose columns are known; `rescaled` are the changes of scale already noted."""

    table: Table
    columns: Columns
    rescale: Rescale | None
    notes: list[Note]
    rescaled: set[str] = field(default_factory=set)

    def read(self, choices: Choices) -> TableRubric:
        """Read the rubric in the layout that the columns show."""
        used = set(self.columns.used)
        rows = [row for row in self.table.rows if not row.is_empty]
        if not rows:
            raise TableError(self.table.header.place, "the table has no rows below its header")
        header = [cell.text.strip() for _, cell in sorted(self.table.header.cells.items()) if not cell.is_empty]
        for row in rows:
            if len(header) > 1 and [cell.text.strip() for _, cell in sorted(row.cells.items()) if cell.text] == header:
                raise TableError(row.place, "this row repeats the header; import one table at a time")
            words = [cell.text.strip() for _, cell in sorted(row.cells.items()) if not cell.is_empty]
            if len(words) > 1 and all(map(is_known, words)):
                told = "this row looks like the header of another table; put that on a sheet or in a file of its own"
                raise TableError(row.place, told)
        self._check_weights(rows)
        has_scale = self.columns.has("score_range", "level")
        if self.columns.has("score_range") and self.columns.has("level"):
            message = "a table has a column for score ranges or one for levels, not both"
            raise TableError(self.columns.place("level"), message)
        if self.columns.steps and has_scale:
            there = "level" if self.columns.has("level") else "score_range"
            message = "this column names the band or level of a row, and other columns are one each; use one layout"
            raise TableError(self.columns.place(there), message)
        if self.columns.steps or self.table.parts:
            entries = [self._wide(row) if self.columns.steps else self._apart(row, choices, used) for row in rows]
        elif has_scale:
            entries = list(self._long(rows))
        else:
            entries = [self._item(row) for row in rows]
        whole = Part(entries, self.table.header.place)
        texts = {name: cell.text for name, cell in self.table.texts}
        return TableRubric(self.table.name, whole, tuple(self.notes), frozenset(used), texts, len(rows))

    # Layouts

    def _item(self, row: Row) -> Part:
        self._refuse_names()
        if self.rescale:
            raise TableError(self.table.header.place, "--rescale has no scores to change: this table is a checklist")
        if not self.columns.has("expected_outcome", "what_is_judged"):
            message = "no column says what is expected (`expected_outcome`) or holds a scale (`score_range`, `level`)"
            raise TableError(self.table.header.place, f"{message}; name one with --map expected_outcome=COLUMN")
        fields = self._of_criterion([row], "checklist")
        return fields["expected_outcome"] if {*fields} == {"expected_outcome"} else Part(fields, row.place)

    def _wide(self, row: Row) -> Part:
        """Read a row that is a criterion with its whole scale."""
        self._refuse_names()
        is_levels = self.columns.steps[0][1].kind == LEVEL
        fields = self._of_criterion([row], "levels" if is_levels else "score_ranges")
        found = []
        for column, step, _ in self.columns.steps:
            cell = row.cell(column)
            name = Part(step.name, cell.place) if step.name and is_levels else None
            found.append(_Row(step.range, cell.place, name, _text(cell)))
        found.sort(key=lambda each: each.range, reverse=is_levels)  # the order of columns says nothing
        return Part(fields | self._scale(found, row.place, is_levels=is_levels), row.place)

    def _long(self, rows: list[Row]) -> Iterator[Part]:
        """Read rows that are a band or a level each."""
        is_levels = self.columns.has("level")
        shape = "levels" if is_levels else "score_ranges"
        if not self.columns.has("id") and not is_levels:
            self._refuse_of_criteria("it is the scale of the whole answer")
            yield from self._bands(self._rows(rows))
            return
        if not self.columns.has("id"):
            yield Part(self._of_criterion(rows, shape) | self._scale_of(rows, is_levels=True), rows[0].place)
            return
        seen: dict[str, Place] = {}
        for identifier, group in groupby(rows, self._identify):
            own = list(group)
            if identifier in seen:
                message = f"criterion `{shorten(identifier)}` is also at {seen[identifier].short}, with others between"
                raise TableError(self._place_of_id(own[0]), f"{message}; put its rows together")
            seen[identifier] = own[0].place
            scale = self._scale_of(own, is_levels=is_levels)
            yield Part(self._of_criterion(own, shape) | scale, own[0].place)

    def _apart(self, row: Row, choices: Choices, used: set[str]) -> Part:
        """Read a row whose scale is a table of its own."""
        identifier = self._identify(row)
        part = next((part for name, part in self.table.parts if name == identifier), None)
        if part is None:
            return Part(self._of_criterion([row], "checklist"), row.place)
        columns = read_columns(part, choices)
        used |= columns.used
        reader = _Reader(part, columns, self.rescale, self.notes, self.rescaled)
        self.notes += columns.notes
        reader._refuse_of_criteria("its criterion is in the table above")
        if columns.steps or not columns.has("score_range", "level"):
            raise TableError(part.header.place, "expected a column `score` or `level`: one row for each band or level")
        is_levels = columns.has("level")
        fields = self._of_criterion([row], "levels" if is_levels else "score_ranges")
        rows = [each for each in part.rows if not each.is_empty]
        if not rows:
            raise TableError(part.header.place, "the table has no rows below its header")
        return Part(fields | reader._scale_of(rows, is_levels=is_levels), row.place)

    # Parts of a criterion

    def _identify(self, row: Row) -> str:
        cell = self.columns.cell(row, "id")
        if cell is None:
            advice = "write its id in each of its rows"
            raise TableError(self._place_of_id(row), f"this row does not say which criterion it belongs to; {advice}")
        return cell.value

    def _place_of_id(self, row: Row) -> Place:
        return row.cell(self.columns.fields["id"]).place if "id" in self.columns.fields else row.place

    def _of_criterion(self, rows: list[Row], shape: str) -> dict[str, Part]:
        """Return the fields of a criterion, which its rows repeat or leave empty."""
        found: dict[str, Part] = {}
        if cell := self._agreed(rows, "id"):
            found["id"] = _text(cell)
        # In a row for one band, the outcome is that of the band.
        is_per_row = self.columns.has("score_range", "level")
        outcomes = ("what_is_judged",) if is_per_row else ("what_is_judged", "expected_outcome")
        told = [cell for name in outcomes if (cell := self._agreed(rows, name))]
        if len(told) > 1:
            message = "`what is judged` and `expected_outcome` are one field where a row is a criterion; leave one out"
            raise TableError(told[1].place, message)
        if told:
            found["expected_outcome"] = _text(told[0])
        if cell := self._agreed(rows, "weight"):
            found["weight"] = Part(read_number(cell), cell.place)
        return found | self._gate(rows, shape)

    def _agreed(self, rows: list[Row], name: str) -> Cell | None:
        """Return the cell of a field that the rows of a criterion share; None if it is empty in all."""
        cells = [cell for row in rows if (cell := self.columns.cell(row, name))]
        for cell in cells[1:]:
            if cell.value != cells[0].value:
                message = f"`{shorten(cell.value)}` differs from `{shorten(cells[0].value)}` ({cells[0].place.short})"
                raise TableError(cell.place, f"{message} for the same criterion; write one of them in each row")
        return cells[0] if cells else None

    def _gate(self, rows: list[Row], shape: str) -> dict[str, Part]:
        found = [(name, cell) for name in _GATES if (cell := self._agreed(rows, name))]
        if answer := self._agreed(rows, "required"):
            if shape != "checklist":
                message = "`required` is for criteria without a scale; write the lowest score that passes as `minimum`"
                raise TableError(answer.place, message)
            if read_answer(answer):
                found.append(("required_min_score", answer._replace(text=str(HIGHEST))))
        if not found:
            return {}
        if len(found) > 1:
            message = f"a second minimum, after the one at {found[0][1].place.short}; leave one out"
            raise TableError(found[1][1].place, message)
        ((name, cell),) = found
        is_level = shape == "levels" and not self.rescale
        top = self.rescale.highest if self.rescale else None if is_level else HIGHEST
        gate, is_met_or_not = read_gate(cell, top)
        if is_met_or_not and shape != "checklist":
            raise TableError(cell.place, f"`{cell.value}` is for criteria without a scale; write a number")
        if name == "minimum" or self.rescale:
            name = "required_min_level" if is_level else "required_min_score"
        if self.rescale:
            new = self.rescale.convert_gate(gate, cell.place)
            told = f"the minimum {gate} becomes {new} (worth {self.rescale.word_worth(new)})"
            self.notes.append(Note(cell.place, f"--rescale {self.rescale.label}: {told}"))
            gate = new
        return {name: Part(gate, cell.place)}

    def _scale_of(self, rows: list[Row], *, is_levels: bool) -> dict[str, Part]:
        return self._scale(self._rows(rows), rows[0].place, is_levels=is_levels)

    def _rows(self, rows: list[Row]) -> list[_Row]:
        is_levels = self.columns.has("level")
        if not is_levels:
            self._refuse_names()
        if not self.columns.has("expected_outcome"):
            message = "no column holds the outcome of each row; name it with --map expected_outcome=COLUMN"
            raise TableError(self.table.header.place, message)
        found = []
        for row in rows:
            cell = row.cell(self.columns.fields["level" if is_levels else "score_range"])
            if cell.is_empty:
                raise TableError(cell.place, "this row does not say its score or level")
            name = self.columns.cell(row, "name")
            called = _text(name) if name else None
            if not is_levels:
                bounds = read_range(cell)
            elif (step := find_step(cell.value)) and step.kind == LEVEL and not (step.name and called):
                bounds, called = step.range, Part(step.name, cell.place) if step.name else called
            else:
                number = read_number(cell)
                bounds = Range(number, number)
            outcome = row.cell(self.columns.fields["expected_outcome"])
            found.append(_Row(bounds, cell.place, called, _text(outcome)))
        return found

    def _scale(self, rows: list[_Row], place: Place, *, is_levels: bool) -> dict[str, Part]:
        if is_levels and not self.rescale:
            levels: list[Part] = []
            for row in rows:
                named = {"name": row.name} if row.name else {}
                level = {"level": Part(row.range.lower, row.place), **named, "expected_outcome": row.outcome}
                levels.append(Part(level, row.place))
            return {"levels": Part(levels, place)}
        if is_levels and (names := [str(row.name.value) for row in rows if row.name]):
            told = f"not imported: the names {list_names(names, most=20)}; bands have no names"
            self.notes.append(Note(rows[0].place, told))
        return {"score_ranges": Part([*self._bands(rows)], place)}

    def _bands(self, rows: list[_Row]) -> Iterator[Part]:
        """Yield the bands; on another scale, what becomes of them."""
        if not self.rescale:
            for row in rows:
                scores = Part(tuple(row.range), row.place)
                yield Part({"score_range": scores, "expected_outcome": row.outcome}, row.place)
            return
        spread = self.rescale.spread((row.range, row.place) for row in rows)
        told = "; ".join(self.rescale.word(row.range, scores) for row, scores in zip(rows, spread, strict=True))
        if told not in self.rescaled:
            self.rescaled.add(told)
            self.notes.append(Note(rows[0].place, f"--rescale {self.rescale.label}: {told}"))
        for row, new in sorted(zip(rows, spread, strict=True), key=lambda each: each[1].start):
            scores = Part((new[0], new[-1]), row.place)
            yield Part({"score_range": scores, "expected_outcome": row.outcome}, row.place)

    # Refusals

    def _check_weights(self, rows: list[Row]) -> None:
        """Refuse `25%` beside `2`: whether that is 2 or 2% is anyone's guess. Note percents of another whole.

        Rounding explains up to 1 % a row.
        """
        cells = [cell for row in rows if (cell := self.columns.cell(row, "weight"))]
        other = next((cell for cell in cells if ("%" in cell.value) != ("%" in cells[0].value)), None)
        if other:
            message = f"`{shorten(other.value)}` is a weight of another kind than `{shorten(cells[0].value)}`"
            raise TableError(other.place, f"{message} ({cells[0].place.short}); write all with % or none")
        if cells and "%" in cells[0].value and not self.columns.has("score_range", "level"):
            total = sum((Decimal(read_number(cell)) for cell in cells), Decimal(0)) * 100
            if abs(total - 100) > len(cells):
                self.notes.append(Note(cells[0].place, f"the weights add up to {total.normalize():f}%, not to 100%"))

    def _refuse_names(self) -> None:
        if self.columns.has("name"):
            message = "`name` is the name of a level, and no column holds a level of each row; leave it out"
            raise TableError(self.columns.place("name"), f"{message} with --ignore-column")

    def _refuse_of_criteria(self, reason: str) -> None:
        for name in ("id", *_OF_CRITERIA):
            if self.columns.has(name):
                message = f"`{name}` is a field of a criterion, and this table names none: {reason}"
                raise TableError(self.columns.place(name), message)


def _text(cell: Cell) -> Part:
    """Return the text of a cell without white space around it; raise TableError if its content cannot be used."""
    return Part(cell.value, cell.place)

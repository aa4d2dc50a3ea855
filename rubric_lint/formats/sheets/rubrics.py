"""Read the rubric that a table holds, and write it as JSON with a line for each part, which knows its cell."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import groupby, pairwise
from typing import NamedTuple

from rubric_lint.formats.home_made.scores import find_other_kind, is_statement
from rubric_lint.formats.sheets.cells import (
    Cell,
    CellPlace,
    CellTable,
    Number,
    Rescale,
    Row,
    ScaleStep,
    ScoreRange,
    TableColumns,
    TableError,
    TableNote,
    find_amount,
    find_range,
    read_answer,
    read_gate,
    read_number,
    read_range,
    split_weight,
)
from rubric_lint.formats.sheets.columns import (
    Choices,
    HeaderReader,
    find_step,
    fold,
    is_level_word,
    is_own,
    is_points,
    is_unscored,
)
from rubric_lint.model.criterion import HIGHEST, LOWEST
from rubric_lint.model.messages import join_words, list_names, shorten
from rubric_lint.rules.weight import RULE as WEIGHT

Scalar = str | int | Decimal | tuple[int | Decimal, ...]


class SourcedValue(NamedTuple):
    """A value with its place: a scalar, the bounds of a band, a list of parts, or fields that are parts."""

    value: "Scalar | list[SourcedValue] | dict[str, SourcedValue]"
    place: CellPlace


def write_json(entries: SourcedValue) -> tuple[str, list[CellPlace]]:
    """Return a rubric file with `rubrics`, and the place in the table of each of its lines.

    Each value that has a place of its own begins a line.
    """
    lines = list(_write(SourcedValue({"rubrics": entries}, entries.place)))
    return "\n".join(text for text, _ in lines), [place for _, place in lines]


def _write(part: SourcedValue, before: str = "") -> Iterator[tuple[str, CellPlace]]:
    value = part.value
    if isinstance(value, dict):
        yield f"{before}{{", part.place
        comma = ""
        for name, item in value.items():
            yield from _write(item, f"{comma}{json.dumps(name)}: ")
            comma = ","
        yield "}", part.place
    elif isinstance(value, list):
        yield f"{before}[", part.place
        for number, item in enumerate(value):
            comma = "," if number else ""
            yield from _write(item, comma)
        yield "]", part.place
    elif isinstance(value, tuple):
        yield f"{before}[{', '.join(map(str, value))}]", part.place
    else:
        written = json.dumps(value) if isinstance(value, str) else str(value)
        yield before + written, part.place


_OF_CRITERIA = ("what_is_judged", "weight", "required_min_score", "required_min_level", "minimum", "required")
_GATES = ("required_min_score", "required_min_level", "minimum")
_TOTALS = re.compile(r"(?:sub-?|weighted |grand )?total\b.*|sum|overall|max(?:imum)? score", re.IGNORECASE)


_IS_SUM = re.compile(r"\W*(?:grand )?(?:total|sum)\b", re.IGNORECASE)
"""The names of rows that add up all others, not a part of them or their scores by weight."""


def is_total(name: str) -> bool:
    """Return whether the name of a row says that it adds up the others."""
    return _TOTALS.fullmatch(name.strip().strip("*")) is not None


class TableRubric(NamedTuple):
    """The rubric of a table: its name, what is under `rubrics`, notes, and the folded words of options it used.

    `entries` are a list of version 2, or a mapping of version 3 if only that says what the table does. `texts` are
    those of its case, by field, `rows` is the number of rows that it comes from.
    """

    name: str
    entries: SourcedValue
    notes: tuple[TableNote, ...]
    used: frozenset[str]
    texts: Mapping[str, str] = {}
    rows: int = 0


class ScaleRow(NamedTuple):
    """A band or a level as a table has it: its scores with their place, its name and its outcome."""

    range: ScoreRange
    place: CellPlace
    name: str
    outcome: Cell


def read_rubric(table: CellTable, choices: Choices) -> TableRubric:
    """Return the rubric that a table holds.

    Raises:
        TableError: if its columns, or what is in a cell, have no single meaning.
    """
    columns = table.columns or HeaderReader(table, choices).read()
    reader = _TableReader(table, columns, choices.rescale, [*table.notes, *columns.notes])
    return reader.read()


def read_scale(rows: Sequence[Row], columns: TableColumns, notes: list[TableNote]) -> list[ScaleRow]:
    """Return the bands or levels of rows that are one each; note the rows for answers to which no score applies.

    Raises:
        TableError: if a row does not say its score, or no column holds the outcomes.
    """
    is_level = columns.has("level")
    text = next((name for name in ("expected_outcome", "what_is_judged", "id") if columns.has(name)), "")
    if not text:
        message = "no column holds the outcome of each row; name it with --map expected_outcome=COLUMN"
        raise TableError(columns.header.place, message)
    found = []
    for row in rows:
        field = "level" if is_level else "score_range"
        cell = row.cell(columns.fields[field])
        if is_unscored(cell):
            notes.append(TableNote(row.place, "not read: this row, which has no score"))
            continue
        if cell.is_empty:
            raise TableError(cell.place, "this row does not say its score or level")
        step = find_step(cell.value)
        if step is None and is_level_word(cell.value):
            name = shorten(cell.value)
            message = f"`{name}` names a level, and nothing says its score; write one before it, such as `3: {name}`"
            raise TableError(cell.place, message)
        if step is None:
            number = read_number(cell) if is_level else None
            scores = read_range(cell) if number is None else ScoreRange(number, number)
            step = ScaleStep(scores)
        own_name = columns.cell(row, "name")
        called = own_name.value if own_name else step.name
        found.append(ScaleRow(step.range, cell.place, called, row.cell(columns.fields[text])))
    if not found:
        raise TableError(columns.header.place, "the table has no rows below its header")
    return found


_CriterionRows = tuple[list[Row], list[ScaleRow]]
"""The rows of a criterion, and its bands or levels if it has some."""


@dataclass
class _TableReader:
    """Reads one table whose columns are known.

    `scale` is that of all criteria if it is not 0 to 10, which only version 3 says. So it is with weights below 0.
    """

    table: CellTable
    columns: TableColumns
    rescale: Rescale | None
    notes: list[TableNote]
    factor: int = 1
    are_levels: bool = False
    scale: tuple[int, int] | None = None
    has_penalties: bool = False
    totals: list[Row] = field(default_factory=list)

    def read(self) -> TableRubric:
        """Read the rubric in the layout that the columns show."""
        if self.columns.fault:
            raise self.columns.fault
        rows = list(self._list_rows())
        if not rows:
            raise TableError(self.table.header.place, "the table has no rows below its header")
        self._check_layout(rows)
        self._check_weights(rows)
        criteria = self._group(rows)
        self._choose_scale([row for _, scale in criteria for row in scale])
        if self.columns.shared:
            lowest, highest = map(int, self.columns.shared)
            self._set_scale(lowest, highest, self.table.header.place)
        is_whole = self.columns.has_scale and not self.columns.has("id")
        if is_whole and not self.are_levels:
            self._refuse_fields_of_criteria()
            entries = list(self._bands(criteria[0][1]))
        else:
            entries = [self._write_criterion(*criterion) for criterion in criteria]
        whole = SourcedValue(entries, self.table.header.place)
        if self.scale:
            scale = SourcedValue(self.scale, whole.place)
            whole = SourcedValue({"scale": scale, "criteria": whole}, whole.place)
        elif self.has_penalties:
            whole = SourcedValue({"criteria": whole}, whole.place)
        texts = {name: cell.text for name, cell in self.table.texts.items()}
        return TableRubric(self.table.name, whole, tuple(self.notes), self.columns.used, texts, len(rows))

    # Rows

    def _list_rows(self) -> Iterator[Row]:
        """Yield the rows that hold something; raise TableError for the header of another table."""
        header = [cell.text.strip() for _, cell in sorted(self.table.header.cells.items()) if not cell.is_empty]
        for row in self.table.rows:
            cells = [cell for _, cell in sorted(row.cells.items()) if not cell.is_empty]
            words = [cell.text.strip() for cell in cells]
            if len(header) > 1 and words == header:
                raise TableError(row.place, "this row repeats the header; import one table at a time")
            if len(words) > 1 and all(map(is_own, words)):
                message = "this row looks like the header of another table; put that on a sheet or in a file of its own"
                raise TableError(row.place, message)
            if len(words) > 1 and is_total(words[0]) and self._has_no_text(row, cells[0]):
                self.notes.append(TableNote(row.place, f"not read: the row `{shorten(words[0])}`"))
                if _IS_SUM.match(words[0]):
                    self.totals.append(row)
            elif words:
                yield row

    def _has_no_text(self, row: Row, name: Cell) -> bool:
        """Return whether a row has a name and numbers only, as one that adds up the others."""
        columns = [self.columns.fields.get(field, -1) for field in ("expected_outcome", "what_is_judged")]
        columns += [column for column, _ in self.columns.steps]
        cells = [row.cell(column) for column in columns]
        is_text = name in cells and fold(self.table.header.cell(columns[cells.index(name)]).text) == "expected_outcome"
        return not self.table.parts and not is_text and all(cell is name or cell.is_empty for cell in cells)

    def _check_layout(self, rows: list[Row]) -> None:
        columns = self.columns
        if columns.has("score_range") and columns.has("level"):
            message = "a table has a column for score ranges or one for levels, not both"
            raise TableError(columns.head("level").place, message)
        if columns.steps and columns.has_scale:
            there = "level" if columns.has("level") else "score_range"
            message = "this column names the band or level of a row, and other columns are one each; use one layout"
            raise TableError(columns.head(there).place, message)
        if self.rescale and not (columns.steps or columns.has_scale or self.table.parts):
            raise TableError(columns.header.place, "--rescale has no scores to change: this table is a checklist")
        if not (columns.has_text or columns.steps or self.table.parts or columns.has_scale):
            names = columns.cells(rows, "id")
            if 2 * sum(is_statement(name.text) for name in names) <= len(rows):
                message = "no column says what earns a criterion its score, and their names do not"
                if columns.unknown:
                    message += f"; {list_names(columns.unknown)} may, and is not read"
                advice = "name the column with --map expected_outcome=COLUMN, or write a column `description`"
                raise TableError(columns.header.place, f"{message}; {advice}")

    def _group(self, rows: list[Row]) -> list[_CriterionRows]:
        """Return the criteria, each with its rows and its scale."""
        columns = self.columns
        parts = dict(self.table.parts)
        if parts:
            return [([row], self._read_part(parts.get(self._identify(row)))) for row in rows]
        if columns.steps:
            return [([row], self._read_wide(row)) for row in rows]
        if not columns.has_scale:
            return [([row], []) for row in rows]
        if not columns.has("id"):
            return [(rows, read_scale(rows, columns, self.notes))]
        found: list[_CriterionRows] = []
        seen: dict[str, CellPlace] = {}
        for identifier, group in groupby(rows, self._identify):
            own = list(group)
            if identifier in seen:
                message = f"criterion `{shorten(identifier)}` is also at {seen[identifier].short}, with others between"
                raise TableError(own[0].cell(columns.fields["id"]).place, f"{message}; put its rows together")
            seen[identifier] = own[0].place
            found.append((own, read_scale(own, columns, self.notes)))
        return found

    def _read_wide(self, row: Row) -> list[ScaleRow]:
        found = []
        for column, step in self.columns.steps:
            cell = row.cell(column)
            found.append(ScaleRow(step.range, cell.place, step.name, cell))
        are_numbers = all(scores.range.lower == scores.range.upper for scores in found)
        return sorted(found, key=lambda scores: scores.range, reverse=are_numbers)  # the order of columns says nothing

    def _read_part(self, part: CellTable | None) -> list[ScaleRow]:
        """Read the scale of a criterion that is a table of its own."""
        rows = [row for row in part.rows if not row.is_empty] if part else []
        if part is None or part.columns is None:
            return []
        return read_scale(rows, part.columns, self.notes)

    def _identify(self, row: Row) -> str:
        cell = self.columns.cell(row, "id")
        if cell is None:
            place = row.cell(self.columns.fields["id"]).place if self.columns.has("id") else row.place
            advice = "write its id in each of its rows"
            raise TableError(place, f"this row does not say which criterion it belongs to; {advice}")
        return cell.value

    # Scales

    def _choose_scale(self, scale: list[ScaleRow]) -> None:
        """Decide for the whole table whether its scores are levels or bands, and of which scale."""
        if not scale:
            return
        digits = max(max(map(_count_decimals, row.range)) for row in scale)
        self.factor = 10**digits  # the smallest that makes integers of the scores, as of 0.5 and 1.0
        ranges = {row.range for row in scale}
        first_range = next((row for row in scale if row.range.lower != row.range.upper), None)
        is_own_scale = self.columns.has("score_range") and fold(self.columns.head("score_range").text) == "score_range"
        parts = [part.columns for _, part in self.table.parts]
        says_level = any(columns and columns.has("level") for columns in [self.columns, *parts])
        if first_range and not self.rescale and self.columns.has("level"):
            raise TableError(first_range.place, "a range of scores, and this table has levels; use one of them")
        if self.rescale:
            self.factor = 1
        elif not first_range and not is_own_scale and (says_level or len(ranges) <= HIGHEST):
            self.are_levels = True
            numbers = sorted({self._scale_up(row.range.lower) for row in scale})
            if len(numbers) > 1 and any(later - earlier > 1 for earlier, later in pairwise(numbers)):
                message = f"read as the levels {join_words(list(map(str, numbers)))}"
                message += ": a judge picks one of them, and none between"
                self.notes.append(TableNote(scale[0].place, message))
        elif not is_own_scale:
            lowest = self._scale_up(min(min(scores) for scores in ranges))
            highest = self._scale_up(max(max(scores) for scores in ranges))
            if digits and lowest < highest:
                self.rescale = Rescale(lowest, highest)
            elif lowest < highest and (lowest, highest) != (LOWEST, HIGHEST):
                self._set_scale(lowest, highest, scale[0].place)
        elif digits:
            self.factor = 1
        else:
            self._note_beyond(scale)

    def _note_beyond(self, scale: list[ScaleRow]) -> None:
        """Say how to write another scale than ours, for the first score that is above it."""
        row = next((row for row in scale if max(row.range) > HIGHEST), None)
        if row:
            title = shorten(self.columns.head("score_range").text)
            message = f"scores above {HIGHEST}: for another scale, call column `{title}` `Score`"
            self.notes.append(TableNote(row.place, message))

    def _set_scale(self, lowest: int, highest: int, place: CellPlace) -> None:
        """Set the scale of all criteria, which only version 3 of the format has, and note it."""
        self.scale = lowest, highest
        self.notes.append(TableNote(place, f"read as the scale {lowest} to {highest}, so the file follows version 3"))

    def _scale_up(self, score: Number) -> int:
        return int(score * self.factor)

    def _write_scale(self, scale: list[ScaleRow], place: CellPlace) -> dict[str, SourcedValue]:
        if not scale:
            return {}
        if not self.are_levels:
            return {"score_ranges": SourcedValue(list(self._bands(scale)), place)}
        levels: list[SourcedValue] = []
        for row in scale:
            number = self._scale_up(row.range.lower) if self.factor > 1 else row.range.lower
            level = {"level": SourcedValue(number, row.place)}
            if row.name:
                level["name"] = SourcedValue(row.name, row.place)
            level["expected_outcome"] = _text(row.outcome)
            levels.append(SourcedValue(level, row.place))
        return {"levels": SourcedValue(levels, place)}

    def _bands(self, scale: list[ScaleRow]) -> Iterator[SourcedValue]:
        """Yield the bands, or what becomes of them on another scale; their names go into their texts."""
        bands = list(zip(self._list_bounds(scale), scale, strict=True))
        if self.rescale or self.scale:
            bands.sort(key=lambda band: band[0])
        for bounds, row in bands:
            text = _text(row.outcome)
            outcome = text._replace(value=f"{row.name}: {text.value}") if row.name else text
            yield SourcedValue({"score_range": SourcedValue(bounds, row.place), "expected_outcome": outcome}, row.place)

    def _list_bounds(self, scale: list[ScaleRow]) -> list[ScoreRange]:
        """Return the bounds of bands, in their order; those on another scale are noted once."""
        ranges = [row.range for row in scale]
        if all(lower >= upper for lower, upper in ranges):  # written from the highest score down
            ranges = [ScoreRange(upper, lower) for lower, upper in ranges]
        if self.factor > 1:
            ranges = [ScoreRange(self._scale_up(lower), self._scale_up(upper)) for lower, upper in ranges]
        if not self.rescale:
            return ranges
        spread = self.rescale.spread(zip(ranges, [row.place for row in scale], strict=True))
        change = "; ".join(map(self.rescale.format_change, ranges, spread))
        message = f"--rescale {self.rescale.label}: {change}"
        if all(note.message != message for note in self.notes):
            self.notes.append(TableNote(scale[0].place, message))
        return [ScoreRange(scores[0], scores[-1]) for scores in spread]

    # Parts of a criterion

    def _write_criterion(self, rows: list[Row], scale: list[ScaleRow]) -> SourcedValue:
        fields = self._fields(rows, has_scale=bool(scale)) | self._write_scale(scale, rows[0].place)
        return fields["expected_outcome"] if {*fields} == {"expected_outcome"} else SourcedValue(fields, rows[0].place)

    def _fields(self, rows: list[Row], *, has_scale: bool) -> dict[str, SourcedValue]:
        """Return the fields of a criterion, which its rows repeat or leave empty."""
        found: dict[str, SourcedValue] = {}
        cell = self._agreed(rows, "id")
        if cell:
            found["id"] = _text(cell)
        text = self._find_text(rows)
        if not text and not has_scale and not self.columns.has_text:
            text = cell
        if text:
            found["expected_outcome"] = _text(text)
        weight = self._agreed(rows, "weight")
        if cell and not self.columns.has("weight") and fold(self.columns.head("id").text) != "id":
            name, share = split_weight(cell.text)
            if share:
                found["id"], weight = SourcedValue(name, cell.place), cell._replace(text=share)
        if weight:
            amount = None if weight.fault else find_amount(weight.text)
            number = read_number(weight._replace(text=amount or weight.text))
            if number < 0 and not self.has_penalties:
                self.has_penalties = True
                self.notes.append(TableNote(weight.place, "a weight below 0, so the file follows version 3"))
            found["weight"] = SourcedValue(number, weight.place)
        return found | self._gate(rows, has_scale=has_scale)

    def _find_text(self, rows: list[Row]) -> Cell | None:
        """Return the text of a criterion; in a row for one band, the outcome is that of the band."""
        text = self._agreed(rows, "what_is_judged")
        outcome = None if self.columns.has_scale else self._agreed(rows, "expected_outcome")
        if text and outcome:
            message = "`what is judged` and `expected_outcome` are one field where a row is a criterion; leave one out"
            raise TableError(outcome.place, message)
        return text or outcome

    def _agreed(self, rows: list[Row], name: str) -> Cell | None:
        """Return the cell of a field that the rows of a criterion share; None if it is empty in all."""
        cells = self.columns.cells(rows, name)
        for cell in cells[1:]:
            if cell.value != cells[0].value:
                message = f"`{shorten(cell.value)}` differs from `{shorten(cells[0].value)}` ({cells[0].place.short})"
                raise TableError(cell.place, f"{message} for the same criterion; write one of them in each row")
        return cells[0] if cells else None

    def _gate(self, rows: list[Row], *, has_scale: bool) -> dict[str, SourcedValue]:
        name, cell = self._find_gate(rows, has_scale=has_scale)
        if cell is None:
            return {}
        top: int | None = HIGHEST
        if self.are_levels:
            top = None
        elif self.rescale:
            top = self.rescale.highest
        elif self.scale:
            top = self.scale[1]
        gate, is_met_or_not = read_gate(cell, top)
        if is_met_or_not and has_scale:
            raise TableError(cell.place, f"`{cell.value}` is for criteria without a scale; write a number")
        if name == "minimum" or self.rescale:
            name = "required_min_level" if self.are_levels else "required_min_score"
        if has_scale and self.factor > 1:
            gate = self._scale_up(gate)
        if self.rescale:
            new = self.rescale.convert_gate(gate, cell.place)
            change = f"the minimum {gate} becomes {new} (worth {self.rescale.format_worth(new)})"
            self.notes.append(TableNote(cell.place, f"--rescale {self.rescale.label}: {change}"))
            gate = new
        return {name: SourcedValue(gate, cell.place)}

    def _find_gate(self, rows: list[Row], *, has_scale: bool) -> tuple[str, Cell | None]:
        """Return the field and the cell of the minimum of a criterion; None if it has none."""
        found: list[tuple[str, Cell]] = []
        for name in _GATES:
            cell = self._agreed(rows, name)
            if cell:
                found.append((name, cell))
        answer = self._agreed(rows, "required")
        if answer and has_scale:
            message = "`required` is for criteria without a scale; write the lowest score that passes as `minimum`"
            raise TableError(answer.place, message)
        if answer and read_answer(answer):
            found.append(("required_min_score", answer._replace(text=str(HIGHEST))))
        if len(found) > 1:
            message = f"a second minimum, after the one at {found[0][1].place.short}; leave one out"
            raise TableError(found[1][1].place, message)
        return found[0] if found else ("", None)

    # Refusals

    def _check_weights(self, rows: list[Row]) -> None:
        """Refuse weights of two kinds and those that only repeat a scale; note percents of another whole.

        Rounding explains up to 1 % a row.
        """
        cells = self.columns.cells(rows, "weight")
        if not cells:
            return
        texts = [find_amount(cell.value) or cell.value for cell in cells]
        other = find_other_kind(texts)
        if other is not None:
            values = {"weight": shorten(texts[other]), "other": shorten(texts[0]), "line": cells[0].place.short}
            raise TableError(cells[other].place, WEIGHT.messages["two-kinds"].format(**values))
        title = self.columns.head("weight").text
        ranges = [find_range(cell.value) for cell in cells]
        has_scale = bool(self.columns.steps or self.columns.has_scale or self.table.parts)
        first = ranges[0]
        if is_points(title) and first and len({*ranges}) == 1 < len(ranges):
            if has_scale or not all(isinstance(end, int) for end in first):
                message = f"`{shorten(cells[0].value)}` is the scale of each criterion"
                raise TableError(cells[0].place, f"{message}; write a column for each score, and none for the scale")
            fields = {name: column for name, column in self.columns.fields.items() if name != "weight"}
            self.columns = replace(self.columns, fields=fields)
            self._set_scale(int(first.lower), int(first.upper), cells[0].place)
            return
        if is_points(title):
            message = f"column `{shorten(title)}` is read as the weight"
            if not has_scale:
                message += ", and each criterion is met or not"
            self.notes.append(TableNote(self.columns.head("weight").place, message))
        if not self.columns.has_scale:
            self._note_sum(cells, texts)

    def _note_sum(self, cells: list[Cell], texts: list[str]) -> None:
        """Note percents of another whole, and else a row of totals with another sum than that of the weights."""
        total = _add_up(texts, cells[0].place)
        are_percents = texts[0].endswith("%")
        if are_percents and abs(total - 1) * 100 > len(cells):
            message = f"the weights add up to {(total * 100).normalize():f}%, not to 100%"
            self.notes.append(TableNote(cells[0].place, message))
            return
        stated = self.columns.cells(self.totals, "weight") if len(self.totals) == 1 else []
        written = find_amount(stated[0].value) if stated else None
        if written and not are_percents and not written.endswith("%"):
            other = _add_up([written], stated[0].place)
            if other != total:
                message = f"the row says {other.normalize():f}, but the weights add up to {total.normalize():f}"
                self.notes.append(TableNote(stated[0].place, f"{message}; correct one of them"))

    def _refuse_fields_of_criteria(self) -> None:
        """Refuse the fields of criteria in a table that is the scale of the whole answer."""
        for name in ["id", *_OF_CRITERIA]:
            if self.columns.has(name):
                reason = "it is the scale of the whole answer"
                message = f"`{name}` is a field of a criterion, and this table names none: {reason}"
                raise TableError(self.columns.head(name).place, message)


def _add_up(texts: Iterable[str], place: CellPlace) -> Decimal:
    return sum((Decimal(read_number(Cell(text, place))) for text in texts), Decimal(0))


def _count_decimals(number: Number) -> int:
    """Return how many digits a number has after the point, without zeros at the end."""
    return len(str(number).partition(".")[2].rstrip("0"))


def _text(cell: Cell) -> SourcedValue:
    """Return the text of a cell without white space around it; raise TableError if its content cannot be used."""
    return SourcedValue(cell.value, cell.place)

"""Define tables of cells that know their places, whatever file they come from."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from rubric_lint.formats.home_made.scores import DASH
from rubric_lint.model.criterion import HIGHEST, SCORES
from rubric_lint.model.messages import shorten
from rubric_lint.source.source import Source


class CellPlace(NamedTuple):
    """A place in a table: `full` as messages begin, and `short` as messages refer to another place of the file."""

    full: str
    short: str


def place_in(source: Source, offset: int) -> CellPlace:
    """Return the place of an offset in a text."""
    line, column, _ = source.position(offset)
    return CellPlace(f"{source.name}:{line}:{column}", f"line {line}")


class TableError(Exception):
    """Refuses a table, with the reason and its place."""

    def __init__(self, place: CellPlace, message: str) -> None:
        super().__init__(message)
        self.place = place
        self.message = message


class UnreadableError(TableError):
    """Refuses a file that cannot be read as its name says."""


class TableNote(NamedTuple):
    """Something about a table that the user should know: what is not read or was changed, and why.

    `is_loss`: cells with content are not read. `rows` are those that are not read.
    """

    place: CellPlace
    message: str
    is_loss: bool = False
    rows: "tuple[Row, ...]" = ()


class Cell(NamedTuple):
    """A cell: its text, and its place. `fault` says why its content cannot be used, if so."""

    text: str
    place: CellPlace
    fault: str = ""

    @property
    def value(self) -> str:
        """The text without white space around it.

        Raises:
            TableError: if the content cannot be used.
        """
        if self.fault:
            raise TableError(self.place, self.fault)
        return self.text.strip()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in the cell."""
        return not self.fault and not self.text.strip()


class Row(NamedTuple):
    """A row: its cells by column number, and its place. A missing cell is empty."""

    cells: dict[int, Cell]
    place: CellPlace

    def cell(self, column: int) -> Cell:
        """Return the cell in a column; an empty one at the place of the row if there is none."""
        return self.cells.get(column) or Cell("", self.place)

    @property
    def is_empty(self) -> bool:
        """Whether all its cells are empty."""
        return all(cell.is_empty for cell in self.cells.values())


Number = int | Decimal


class ScoreRange(NamedTuple):
    """The inclusive bounds of a band."""

    lower: Number
    upper: Number


class ScaleStep(NamedTuple):
    """The scores that a header or a cell names, which are equal for a single one, and the name next to them, if any."""

    range: ScoreRange
    name: str = ""


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table: by field, those that are a step of a scale each, and notes on what is not read.

    `header` are the cells that name them; `used` the folded words of those that an option names. `unknown` are the
    headers of columns that are not read, `fault` is the reason why one of them may bear on the score.
    `shared` is the scale that a column says for each criterion.
    """

    fields: Mapping[str, int]
    steps: tuple[tuple[int, ScaleStep], ...]
    header: Row
    notes: tuple[TableNote, ...] = ()
    used: frozenset[str] = frozenset()
    fault: TableError | None = None
    unknown: tuple[str, ...] = ()
    shared: ScoreRange | None = None

    def has(self, *fields: str) -> bool:
        """Return whether there is a column for one of some fields."""
        return any(field in self.fields for field in fields)

    @property
    def has_text(self) -> bool:
        """Whether a column says what is judged."""
        return self.has("expected_outcome", "what_is_judged")

    @property
    def has_scale(self) -> bool:
        """Whether a column says the score or the level of each row."""
        return self.has("score_range", "level")

    def cell(self, row: Row, field: str) -> Cell | None:
        """Return the cell of a row for a field; None if the table has no such column, or the cell is empty."""
        if field not in self.fields:
            return None
        cell = row.cell(self.fields[field])
        return None if cell.is_empty else cell

    def cells(self, rows: Iterable[Row], field: str) -> list[Cell]:
        """Return the cells of some rows for a field that are not empty."""
        cells = [self.cell(row, field) for row in rows]
        return [cell for cell in cells if cell]

    def head(self, field: str) -> Cell:
        """Return the header of a field."""
        return self.header.cell(self.fields[field])


class CellTable(NamedTuple):
    """A table: the name of its rubric, its header, and the rows below.

    `parts` are the scales of single criteria, by id, where a document has them apart, `texts` those of its case, by
    field. `columns` are those that are known without a header, as of criteria that are sections.
    """

    name: str
    header: Row
    rows: tuple[Row, ...]
    notes: tuple[TableNote, ...] = ()
    parts: "tuple[tuple[str, CellTable], ...]" = ()
    texts: Mapping[str, Cell] = {}
    columns: TableColumns | None = None

    def with_notes(self, notes: Iterable[TableNote]) -> "CellTable":
        """Return the table with notes before its own."""
        return self._replace(notes=(*notes, *self.notes))


_PLAIN = r"[+-]?(?:\d{1,30}(?:\.\d{1,30})?|\.\d{1,30})"
_NUMBER = re.compile(rf"(?P<number>{_PLAIN}(?:[eE][+-]?\d{{1,3}})?)(?P<percent>\s?%)?")
_RANGE = re.compile(rf"(?P<lower>{_PLAIN})\s*{DASH}\s*(?P<upper>{_PLAIN})", re.IGNORECASE)
_LIST = re.compile(rf"\[\s*(?P<lower>{_PLAIN})\s*,\s*(?P<upper>{_PLAIN})\s*\]")
_OPEN = re.compile(rf"(?P<number>{_PLAIN})\s*\+|(?:>=?|≥|from|at least)\s*(?P<least>{_PLAIN})", re.IGNORECASE)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_DATE = re.compile(
    rf"\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}(?:[ T].*)?|\d{{1,4}}[- ](?:{_MONTHS.replace(' ', '|')})[a-z]*\.?"
    rf"|(?:{_MONTHS.replace(' ', '|')})[a-z]*\.?[- ]\d{{1,4}}",
    re.IGNORECASE,
)
_OF = re.compile(rf"(?P<number>{_PLAIN})\s+(?:of|/)\s+(?P<top>{_PLAIN})|(?P<short>{_PLAIN})/(?P<over>{_PLAIN})")
ANSWERS = {"true": True, "yes": True, "false": False, "no": False}
"""The texts of cells that answer whether a criterion is required."""

_WEIGHT = (
    r"(?:weight(?:ed|ing)?[ \t]*+[:=]?[ \t]*+)?[x\u00d7]?[ \t]*+"
    r"(\d{1,3}(?:\.\d{1,3})?[ \t]*+%?)[ \t]*+(?:points?|pts?\.?|marks?)?"
)
_WEIGHED = re.compile(
    rf"(?<!\s)\s*+(?:[(\[]\s*+{_WEIGHT}\s*+[)\]]|(?<=\s)[\u2013\u2014-]\s++{_WEIGHT})\s*+:?\s*+$",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"(?:weight(?:ed|ing)?[ \t]*+[:=]?[ \t]*+)?(?:0\s?[-\N{EN DASH}]\s?|/\s?|[x\N{MULTIPLICATION SIGN}+]\s?)?"
    r"(?P<number>\d{1,4}(?:\.\d{1,3})?(?:[ \t]*+%)?)[ \t]*+(?:points?|pts?\.?|marks?|[x\N{MULTIPLICATION SIGN}])?",
    re.IGNORECASE,
)

MUST_BE_MET = "must be met"
"""What a document for readers says of a checklist criterion with a gate."""

DATE_ADVICE = "spreadsheets make dates of ranges such as 1-3; format the cell as text and write it as `1 to 3`"


def to_number(text: str) -> Number:
    """Return an integer or an exact decimal."""
    number = Decimal(text)
    return int(number) if number.as_tuple().exponent == 0 else number


def read_number(cell: Cell) -> Number:
    """Return the number in a cell, exactly as written; `25%` is 0.25.

    Raises:
        TableError: if it is not one.
    """
    text = cell.value
    found = _NUMBER.fullmatch(text)
    if not found:
        raise TableError(cell.place, f"`{shorten(text)}` is not a number{_correct(text)}")
    return Decimal(found["number"]) / 100 if found["percent"] else to_number(found["number"])


def _correct(text: str) -> str:
    """Say how to write a number that has a decimal comma or separators between thousands; else nothing."""
    percent = "%" if text.endswith("%") else ""
    bare = text.removesuffix("%").strip()
    grouped = re.fullmatch(r"[+-]?[1-9]\d{0,2}(?P<mark>[.,'\s])\d{3}(?:(?P=mark)\d{3})*(?:[.,]\d+)?", bare)
    whole = ""
    if grouped:
        whole = bare.replace(grouped["mark"], "").replace(",", ".") + percent
    if not re.fullmatch(r"[+-]?\d+,\d+", bare):
        return f"; write {whole}" if whole else ""
    point = bare.replace(",", ".") + percent
    return f"; write {whole}, or {point} with a point" if whole else f"; write {point}, with a point"


def is_date(text: str) -> bool:
    """Return whether a text is a date, which spreadsheets make of ranges."""
    return _DATE.fullmatch(text) is not None


def find_amount(text: str) -> str | None:
    """Return the number of a weight as people write it: `20 points`, `0-20`, `/20`, `x2`, `25%`; None if it is none."""
    found = _AMOUNT.fullmatch(text.strip().strip("*"))
    return found["number"] if found else None


def split_weight(name: str) -> tuple[str, str]:
    """Return a name without the weight at its end, such as `Tone (40%)` or `Tone - 2 points`, and the weight."""
    found = _WEIGHED.search(name)
    if not found:
        return name, ""
    return name[: found.start()].replace("**", "").strip(), found[1] or found[2]


def find_range(text: str) -> ScoreRange | None:
    """Return the range that a whole text is, such as `0 to 3`, `0-3` or `[0, 3]`; else None."""
    found = _RANGE.fullmatch(text) or _LIST.fullmatch(text)
    return ScoreRange(to_number(found["lower"]), to_number(found["upper"])) if found else None


def read_range(cell: Cell) -> ScoreRange:
    """Return the range of scores in a cell; a single number is a band of one score.

    Raises:
        TableError: if there is none, or it is open at one end.
    """
    text = cell.value
    whole = find_range(text)
    if whole:
        return whole
    if re.fullmatch(_PLAIN, text):
        return ScoreRange(to_number(text), to_number(text))
    advice = "expected a form such as `0 to 3`, `0-3` or `10`"
    open_range = _OPEN.fullmatch(text)
    if open_range:
        end = f"`{open_range['number'] or open_range['least']} to 10` or the end you mean"
        advice = f"it does not say where it ends; write {end}"
    elif is_date(text):
        advice = f"it looks like a date: {DATE_ADVICE}"
    raise TableError(cell.place, f"`{shorten(text)}` is not a range of scores; {advice}")


def read_gate(cell: Cell, top: int | None) -> tuple[Number, bool]:
    """Return a minimum, and whether it counts on a scale from 0 to 10: `7`, `7 of 10`, or `must be met`, which is 10.

    `top` is the highest score of the table's scale; None for levels, whose minimum is the number of one.

    Raises:
        TableError: if it is something else.
    """
    text = cell.value
    if text.casefold() == MUST_BE_MET:
        return 10, True
    found = _OF.fullmatch(text)
    if found:
        over = found["top"] or found["over"]
        if top is None:
            lowest = found["number"] or found["short"]
            raise TableError(cell.place, f"`{shorten(text)}` on levels; write the lowest level alone: `{lowest}`")
        if to_number(over) != top:
            raise TableError(cell.place, f"`{shorten(text)}` counts to {over}, and the scores here to {top}")
        return to_number(found["number"] or found["short"]), False
    if not re.fullmatch(_PLAIN, text):
        expected = "the number of a level" if top is None else f"a number, `7 of {top}` or `{MUST_BE_MET}`"
        raise TableError(cell.place, f"`{shorten(text)}` is not a minimum; expected {expected}")
    return to_number(text), False


def read_answer(cell: Cell) -> bool:
    """Return the answer in a cell: true for `yes` or `true`, false for `no` or `false`.

    Raises:
        TableError: if it is something else.
    """
    answer = ANSWERS.get(cell.value.casefold())
    if answer is None:
        raise TableError(cell.place, f"`{shorten(cell.value)}` does not answer whether it is required; write yes or no")
    return answer


class Rescale(NamedTuple):
    """A scale of whole scores that a table uses: its lowest and its highest one."""

    lowest: int
    highest: int

    @property
    def label(self) -> str:
        """The scale as the option writes it."""
        return f"{self.lowest}..{self.highest}"

    def worth(self, score: int) -> Fraction:
        """Return the score of this scale for one from 0 to 10: `lowest + score * (highest - lowest) / 10`."""
        return self.lowest + Fraction(score * (self.highest - self.lowest), HIGHEST)

    def nearest(self, score: int) -> int:
        """Return the whole score of this scale that is nearest to a score from 0 to 10; of two, the lower."""
        return math.ceil(self.worth(score) - Fraction(1, 2))

    def spread(self, bands: Iterable[tuple[ScoreRange, CellPlace]]) -> list[range]:
        """Return the scores from 0 to 10 of each band: those whose nearest score of this scale is in the band.

        Raises:
            TableError: if a band leaves the scale or gets no score, or two share a score.
        """
        rows: dict[int, CellPlace] = {}  # by the score from 0 to 10 that they have
        found: list[range] = []
        for (lower, upper), place in bands:
            label = format_range(lower, upper)
            if not (self._has(lower) and self._has(upper) and lower <= upper):
                raise TableError(place, f"{label} is not a range of whole scores from {self.lowest} to {self.highest}")
            scores = [score for score in SCORES if lower <= self.nearest(score) <= upper]
            if not scores:
                advice = f"join it with a neighbor: 0 to 10 has 11 scores, and {self.label} has more"
                raise TableError(place, f"{label} of {self.label} lies between two scores from 0 to 10; {advice}")
            for score in scores:
                if score in rows:
                    message = f"{label} shares {self.nearest(score)} with another row ({rows[score].short})"
                    raise TableError(place, f"{message}; end one where the other starts")
                rows[score] = place
            found.append(range(scores[0], scores[-1] + 1))
        return found

    def convert_gate(self, gate: Number, place: CellPlace) -> int:
        """Return the lowest score from 0 to 10 that reaches a minimum of this scale.

        Raises:
            TableError: if the minimum is not on the scale.
        """
        if not self.lowest <= gate <= self.highest:
            raise TableError(place, f"the minimum {gate} is not on the scale {self.label}")
        return next(score for score in SCORES if self.nearest(score) >= gate)

    def format_change(self, source: ScoreRange, scores: range) -> str:
        """Say what becomes of a band, and what its scores are worth on this scale."""
        new = format_range(scores[0], scores[-1])
        worth = format_range(self.format_worth(scores[0]), self.format_worth(scores[-1]))
        return f"{format_range(*source)} becomes {new} (worth {worth})"

    def format_worth(self, score: int) -> str:
        """Write what a score from 0 to 10 is on this scale."""
        number = self.worth(score)
        return f"{Decimal(number.numerator) / number.denominator:f}"

    def _has(self, score: Number) -> bool:
        return isinstance(score, int) and self.lowest <= score <= self.highest


def format_range(lower: Number | str, upper: Number | str) -> str:
    """Write a range: `3`, `0 to 3`."""
    return str(lower) if lower == upper else f"{lower} to {upper}"


def parse_rescale(text: str) -> Rescale | None:
    """Return the scale that `LOW..HIGH` names; None if it names none."""
    found = re.fullmatch(r"\s*(-?\d{1,9})\s*\.\.\s*(-?\d{1,9})\s*", text)
    if not found or int(found[1]) >= int(found[2]):
        return None
    return Rescale(int(found[1]), int(found[2]))

"""Find out what each column of a table holds, by the words in its header and by what is in its cells."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rubric_lint.formats.home_made.format_table import split_words
from rubric_lint.formats.home_made.roles import is_gate
from rubric_lint.formats.home_made.scores import is_prose, is_statement, split_score
from rubric_lint.formats.home_made.vocabulary import SETS, Fields, Headers, LevelWords
from rubric_lint.formats.sheets.cells import (
    ANSWERS,
    Cell,
    Columns,
    Note,
    Range,
    Rescale,
    Step,
    Table,
    TableError,
    find_amount,
    find_range,
    is_date,
    to_number,
)
from rubric_lint.model.messages import find_near, list_names, quote_names, shorten

FIELDS: Mapping[str, str] = {
    "id": "The id of the criterion. The rows of a criterion repeat it.",
    "what_is_judged": "What is judged on a scale; on a checklist the outcome itself.",
    "weight": "The weight of the criterion: a number, or a share such as `25%`.",
    "share": "Not read if there are weights: shares follow from them.",
    "required_min_score": "The lowest score that does not fail the answer: `7`, `7 of 10`, `must be met`.",
    "required_min_level": "The lowest level that does not fail the answer.",
    "minimum": "One of these two, whichever the scale needs.",
    "required": "Whether a checklist criterion must be met: `yes` or `no`. Words such as `critical` say so too.",
    "score_range": "The scores of the band in this row.",
    "level": "The number of the level in this row.",
    "name": "The name of the level in this row.",
    "expected_outcome": "The outcome of the criterion, band or level in this row.",
}
"""The fields that columns can hold, and what is in them."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "number": Headers.number,
    "id": ("id", *Headers.name, *Fields.id),
    "what_is_judged": ("what_is_judged",),
    "expected_outcome": ("expected_outcome", "outcome", *Fields.text, *Headers.text, *Headers.name),
    "weight": (*Fields.weight, *Headers.weight),
    "share": ("share",),
    "required_min_score": ("required_min_score",),
    "required_min_level": ("required_min_level",),
    "minimum": ("minimum", *Headers.gate, *(word for word in Fields.gate if word != "required")),
    "required": ("required",),
    "level": ("level",),
    "score_range": ("score_range", *LevelWords.score, *Headers.score, *Fields.scale),
    "name": ("name",),
}
"""The words in headers by field. Capitals, spaces, hyphens and underscores make no difference.

A `number` is an id if nothing else is.
"""


def fold(word: str) -> str:
    """Return a word of a header in the form in which headers are compared, without emphasis in Markdown."""
    return re.sub(r"[\s_-]+", "_", word.strip(" \t\r\n*`_?:")).casefold()


_MEANINGS: dict[str, list[str]] = {}
for _field, _listed in WORDS.items():
    for _word in dict.fromkeys(_listed):
        _MEANINGS.setdefault(_word, []).append(_field)
_SCORED = frozenset(WORDS["score_range"])
_HIGHEST = frozenset({"max", "maximum", "max_points", "max_score"})
_TEXTS = ("expected_outcome", "what_is_judged")
_BEARING = frozenset().union(
    *(SETS[name] for name in ("weights", "penalty", "gate", "changes", "must", "bearing", "conditions"))
)
"""Words of columns that bear on the score."""
_NO_TEXT = frozenset().union(*(SETS[name] for name in ("against", "notes", "apart")))
"""Words of columns that never say what is judged."""


class Choices(NamedTuple):
    """What options say of a file: the fields of columns and the ignored ones, both by folded word, and the scale.

    `only` names the one table to read; `header_row` is the row of the header.
    """

    fields: Mapping[str, str] = {}
    ignored: frozenset[str] = frozenset()
    rescale: Rescale | None = None
    only: str | None = None
    header_row: int | None = None


def read_columns(table: Table, choices: Choices) -> Columns:
    """Find out what each column of a table holds.

    Raises:
        TableError: if a cell has no header, or two headers are the same word.
    """
    reader = _ColumnReader(table, choices)
    return reader.read()


def is_level_word(title: str) -> bool:
    """Return whether a header is a word for a level: `Good`, `Excellent (A)`."""
    return fold(title.partition("(")[0]) in LevelWords.words


def is_points(word: str) -> bool:
    """Return whether a word of a header may be a weight, and scores as well: `Points`, `Max`."""
    return "weight" in _find_meanings(word) and fold(word.partition("(")[0]) in _SCORED | _HIGHEST


def is_known(word: str) -> bool:
    """Return whether a word of a header names a field."""
    return bool(_find_meanings(word))


def is_own(word: str) -> bool:
    """Return whether a word is one of the headers that we write."""
    return fold(word) in {*WORDS, "criterion", "score", "outcome", "description"}


def _find_meanings(word: str) -> list[str]:
    bare = word.partition("(")[0]
    return _MEANINGS.get(fold(word)) or (_MEANINGS.get(fold(bare), []) if bare != word else [])


class _ColumnReader:
    """Reads the header of one table: the fields of its columns, its steps, and what has no meaning yet."""

    def __init__(self, table: Table, choices: Choices) -> None:
        self.table, self.header, self.choices = table, table.header, choices
        self.rows = [row for row in table.rows if not row.is_empty]
        self.fields: dict[str, int] = {}
        self.steps: dict[int, Step] = {}
        self.unknown: list[int] = []
        self.notes: list[Note] = []
        self.faults: list[TableError] = []
        self.used: set[str] = set()
        self.shared: Range | None = None  # the scale that each row says
        self.settled: set[int] = set()  # columns of which an option says what they hold

    def read(self) -> Columns:
        """Read the words of the header, then what they leave open from the cells."""
        self._read_words()
        self._read_marks()
        self._read_scores()
        self._tell_labels()
        self._read_texts()
        self._note_unknown()
        unknown = tuple(self.header.cell(column).text.strip() for column in self.unknown)
        steps, notes, used, faults = tuple(self.steps.items()), tuple(self.notes), frozenset(self.used), self.faults
        return Columns(self.fields, steps, self.header, notes, used, tuple(faults), unknown, self.shared)

    # Words

    def _read_words(self) -> None:
        several: dict[int, list[str]] = {}
        words: dict[str, Cell] = {}
        for column in _list_columns(self.table):
            cell = self.header.cell(column)
            word = fold(cell.value)
            if word in words and word not in self.choices.ignored:
                message = f"columns `{shorten(words[word].value)}` ({words[word].place.short}) and"
                raise TableError(cell.place, f"{message} `{shorten(cell.value)}` have the same name; rename one")
            words[word] = cell
            meanings, step = self._find_meaning(column, word)
            if step:
                self.steps[column] = step
            elif meanings:
                several[column] = meanings
        # Words with one meaning come first, and those of our own before others.
        is_other = {column: fold(self.header.cell(column).text) not in WORDS for column in several}
        for column in sorted(several, key=lambda each: (len(several[each]), is_other[each])):
            self._add(several[column], column)

    def _find_meaning(self, column: int, word: str) -> tuple[list[str], Step | None]:
        """Return the fields that a column may hold, or the step that it is; raise TableError if --map names neither."""
        cell = self.header.cell(column)
        self.used.update({word} & (self.choices.fields.keys() | self.choices.ignored))
        if word in self.choices.ignored:
            self.notes.append(Note(cell.place, f"column `{shorten(cell.value)}` is not read, as --ignore-column says"))
            return [], None
        if asked := self.choices.fields.get(word):
            asked_field = "score_range" if fold(asked) == "score" else fold(asked)
            meanings = _MEANINGS.get(asked_field, [])
            if meanings:
                self.settled.add(column)
                return meanings[:1], None
            step = find_step(asked)
            if step is None:
                expected = f"{list_names(FIELDS, most=len(FIELDS))}, `level 4` or `score 0-3`"
                raise TableError(cell.place, f"--map: `{asked}` is not a field; expected {expected}")
            is_named = not step.name and find_step(cell.value) is None
            return [], step._replace(name=" ".join(cell.value.split())) if is_named else step
        meanings = _find_meanings(cell.value)
        cells = self._cells(column)
        if is_gate(word) and cells and all(each.text.strip().casefold() in ANSWERS for each in cells):
            meanings = ["required"]
        step = None if meanings else find_step(cell.value)
        if not meanings and step is None:
            self.unknown.append(column)
        return meanings, step

    def _add(self, meanings: Sequence[str], column: int) -> None:
        """Give a column the first of its meanings that no other column has."""
        free = next((field for field in meanings if field not in self.fields), None)
        if free is None:
            self.unknown.append(column)
        else:
            self.fields[free] = column

    # Cells

    def _cells(self, column: int) -> list[Cell]:
        return [cell for row in self.rows if not (cell := row.cell(column)).is_empty]

    def _move(self, field: str, to: str) -> None:
        self.fields[to] = self.fields.pop(field)

    def _read_marks(self) -> None:
        """Tell shares from weights, and names of levels from criteria."""
        if "share" in self.fields and "weight" not in self.fields:
            self._move("share", "weight")
        elif "share" in self.fields:
            cell = self.header.cell(self.fields.pop("share"))
            self.notes.append(Note(cell.place, f"column `{cell.value}` is not read: shares follow from the weights"))
        for field in ("level", "score_range"):
            column = self.fields.get(field)
            others = [self.fields[name] for name in ("level", "score_range", "weight") if name in self.fields]
            has_others = any(each != column and self._is_scored(each) for each in others)
            texts = [cell.text for cell in self._cells(column)] if column is not None else []
            if texts and has_others and not re.search(r"\d", "".join(texts)):
                self._move(field, "name")  # `Good` beside the scores
        for field in ("id", "expected_outcome"):
            column = self.fields.get(field)
            if column is not None and self.has("level") and fold(self.header.cell(column).text) == "name":
                self._move(field, "name")

    def _tell_labels(self) -> None:
        """Take the labels of scores for names where another column has their texts: `Score | Label | Meaning`."""
        labels = self.fields.get("expected_outcome")
        if labels is None or "name" in self.fields or not self.has("level", "score_range"):
            return
        is_label = fold(self.header.cell(labels).text) in LevelWords.named
        texts = [each for each in self.unknown if "expected_outcome" in _find_meanings(self.header.cell(each).value)]
        if is_label and texts:
            self._move("expected_outcome", "name")
            self.fields["expected_outcome"] = texts[0]
            self.unknown.remove(texts[0])

    def has(self, *fields: str) -> bool:
        """Return whether a column holds one of some fields."""
        return not self.fields.keys().isdisjoint(fields)

    def _read_scores(self) -> None:
        """Tell the scores of a scale in the rows from the weight of a criterion each: `points` and `score` are both."""
        now = "score_range" if "score_range" in self.fields else "weight"
        column = self.fields.get(now)
        if column is None or self.has("level") or not self._is_scored(column) or column in self.settled:
            return
        if self.fields.get("id", -1) > column and not self.has("number", *_TEXTS):
            self._move("id", "expected_outcome")  # `| Score | Criteria |`
        cells = [cell for cell in self._cells(column) if not is_unscored(cell)]
        ids = [cell.text for name in ("id", "number") if name in self.fields for cell in self._cells(self.fields[name])]
        scores = [find_step(cell.text) for cell in cells]
        is_weight = now == "weight" or "weight" in _find_meanings(self.header.cell(column).text)
        is_weight = is_weight and "weight" not in self.fields.keys() - {now}
        if not ids:
            ranges = {step.range for step in scores if step}
            is_several = len(ranges) > 1 or any(each.lower < each.upper for each in ranges)
            texts = [self.fields[name] for name in _TEXTS if name in self.fields]
            is_scale = is_several and len(ranges) == len(scores) and all(column < each for each in texts)
            self._move(now, "weight" if is_weight and (self.steps or not is_scale) else "score_range")
        elif (len({*ids}) < len(ids) or self.choices.rescale) and not self.steps:
            self._move(now, "score_range")
        elif is_weight and self._find_word(column) in Headers.weight:
            self._move(now, "weight")
        elif now == "score_range" and self._share_scale(scores):
            del self.fields[now]
        else:
            cell = self.header.cell(column)
            title = shorten(cell.text)
            message = f"column `{title}` has one value for each criterion; "
            if "weight" in self.fields.keys() - {now}:
                message += f"to leave it out, use --ignore-column '{title}', and if a row is a band,"
            else:
                message += f"if that is its weight, say so with --map 'weight={title}', and if a row is a band, with"
            message += f" --map 'score_range={title}'"
            self.faults.append(TableError(cell.place, message))

    def _share_scale(self, scores: list[Step | None]) -> bool:
        """Read one range in all rows as the scale of each criterion, whose weight is elsewhere: `1-5`, `1-5`."""
        ranges = {step.range if step else None for step in scores}
        shared = next(iter(ranges)) if len(ranges) == 1 and len(scores) == len(self.rows) else None
        is_scale = shared is not None and all(bound == int(bound) for bound in shared) and shared.lower < shared.upper
        if (
            not is_scale
            or self.steps
            or not self.has("weight")
            or self.has("minimum", "required", "required_min_score", "required_min_level")
        ):
            return False
        self.shared = shared
        return True

    def _find_word(self, column: int) -> str:
        return fold(self.header.cell(column).text.partition("(")[0])

    def _is_scored(self, column: int) -> bool:
        """Return whether a column may hold the scores of a scale."""
        return self._find_word(column) in _SCORED - {"score_range"}

    def _read_texts(self) -> None:
        """Find the text of each criterion, and its name, in columns whose headers say neither."""
        if not self.has(*_TEXTS) and not self.steps:
            self._guess_text()
        if self.has("id") and "number" in self.fields and not self.has(*_TEXTS) and not self.steps:
            names = self._cells(self.fields["id"])
            if 2 * sum(is_statement(cell.text) for cell in names) > len(self.rows):
                self._move("id", "expected_outcome")
        if "number" in self.fields and not self.has("id"):
            self._move("number", "id")
        if not self.has("level", "score_range"):
            self._read_ids()

    def _guess_text(self) -> None:
        """Read the column with the longest texts as that of each criterion."""
        lengths = {}
        for column in self.unknown:
            title, cells = self.header.cell(column).text, self._cells(column)
            texts = [cell for cell in cells if is_prose(cell.text) and re.search(r"[^\W\d_]", cell.text)]
            is_other = re.search(r"\d", title) or is_level_word(title) or split_words(title) & (_NO_TEXT | _BEARING)
            if 2 * len(texts) > len(self.rows) and not is_other:
                lengths[column] = sum(len(cell.text) for cell in cells)
        if lengths:
            column = max(lengths, key=lambda each: lengths[each])
            self.unknown.remove(column)
            self.fields["expected_outcome"] = column
            cell = self.header.cell(column)
            message = f"column `{shorten(cell.text)}` is read as the text of each criterion"
            self.notes.append(Note(cell.place, message))

    def _read_ids(self) -> None:
        """Find the names that tell the criteria apart; next to weights or a scale, they may be under any header."""
        is_rated = bool(self.steps) or self.has("weight", "minimum", "required")
        own = self.fields.get("id")
        text = self.fields.get("expected_outcome")
        for column in (own, text if own is not None else None, *self.unknown):
            if column is None:
                continue
            names = [cell.text for cell in self._cells(column)]
            may_be = "id" in _find_meanings(self.header.cell(column).text)
            may_be = may_be or (is_rated and own is None and not any(map(find_amount, names)))
            if may_be and len({*names}) == len(names) == len(self.rows):
                self.fields = {field: each for field, each in self.fields.items() if each != column}
                self.unknown = [each for each in (*self.unknown, own) if each not in {None, column}]
                self.fields["id"] = column
                return

    def _note_unknown(self) -> None:
        """Say which columns are not read; those that may bear on the score are faults."""
        self.fields.pop("number", None)  # it counts the rows
        if "name" in self.fields and not self.has("level", "score_range"):
            self.unknown.append(self.fields.pop("name"))
        titles = [self.header.cell(column).text.strip() for column in self.unknown]
        names = [title for title in titles if is_level_word(title)]
        for column in sorted(self.unknown):
            cell = self.header.cell(column)
            name, cells = shorten(cell.text), self._cells(column)
            fault = ""
            if near := find_near(cell.text, FIELDS):
                fault = f"unknown column `{name}`; did you mean `{near[0]}`?"
            elif (self.steps or len(names) > 1) and cell.text.strip() in names:
                shown = quote_names(names)
                fault = f"{shown} may name levels, and nothing says their scores; say them with --map 'level 3={name}'"
            elif split_words(cell.text) & _BEARING or self._are_amounts(cells):
                fault = f"column `{name}` may bear on the score, and its header does not say how"
                fault += f"; say what it holds with --map 'FIELD={name}', or leave it out with --ignore-column '{name}'"
            if fault:
                self.faults.append(TableError(cell.place, fault))
            else:
                message = f"column `{name}` is not read; say what it holds with --map 'FIELD={name}'"
                self.notes.append(Note(cell.place, message))

    def _are_amounts(self, cells: Sequence[Cell]) -> bool:
        """Return whether most rows have a number; numbers that count the rows say nothing."""
        numbers = [find_amount(cell.text) for cell in cells]
        is_count = [each for each in numbers if each] == [str(number) for number in range(1, len(cells) + 1)]
        return 2 * sum(each is not None for each in numbers) > len(self.rows) and not is_count


def _list_columns(table: Table) -> Iterator[int]:
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


_SCORE = re.compile(r"(?:scores?|points?)\s+(?=-?\d+\s*\D)", re.IGNORECASE)
_OF_HIGHEST = re.compile(r"(?<=\d)\s?/\s?\d{1,4}\Z")
_OTHERS = re.compile(r"[sgp]\s?\d", re.IGNORECASE)
"""What numbers anything, such as `S1` and `P2`."""


def is_unscored(cell: Cell) -> bool:
    """Return whether a cell says in the place of a score that none applies."""
    return not cell.fault and fold(cell.text) in {"n/a", "na", "not_applicable"}


def find_step(text: str) -> Step | None:
    """Return the scores that a text names, such as `0 to 3`, `level 4`, `Good (4)` or `5 pts`; else None."""
    text = _OF_HIGHEST.sub("", " ".join(re.sub(r"[*`]", "", text).split()))
    if found := find_range(_SCORE.sub("", text).removesuffix("%").rstrip()):
        return Step(found)
    named = None if _OTHERS.match(text) or is_date(text) else split_score(text)
    if named and not named[1][:1].isdigit():
        number = to_number(str(named[0]))
        return Step(Range(number, number), named[1])
    name, bracket, inside = text.removesuffix(")").rpartition("(")
    inner = find_step(inside) if text.endswith(")") and bracket and name.strip() else None
    if inner and not inner.name:
        return inner._replace(name=name.strip())
    return None

"""Find out what each column of a table holds, by the words in its header and by what is in its cells."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rubric_lint.formats.home_made.format_table import split_words
from rubric_lint.formats.home_made.roles import FEW, is_gate
from rubric_lint.formats.home_made.scores import is_prose, is_statement, split_score
from rubric_lint.formats.home_made.vocabulary import SETS, Fields, Headers, LevelWords
from rubric_lint.formats.sheets.cells import (
    ANSWERS,
    Cell,
    CellTable,
    Rescale,
    ScaleStep,
    ScoreRange,
    TableColumns,
    TableError,
    TableNote,
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


def _list_meanings() -> dict[str, list[str]]:
    """Return the fields by the words in headers that name them."""
    meanings: dict[str, list[str]] = {}
    for field, words in WORDS.items():
        for word in dict.fromkeys(words):
            meanings.setdefault(word, []).append(field)
    return meanings


_MEANINGS = _list_meanings()
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
    """The options for a file: the fields of columns and the ignored ones, both by folded word, and the scale.

    `only` names the one table to read; `header_row` is the row of the header.
    """

    fields: Mapping[str, str] = {}
    ignored: frozenset[str] = frozenset()
    rescale: Rescale | None = None
    only: str | None = None
    header_row: int | None = None


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
    return _MEANINGS.get(fold(word)) or _MEANINGS.get(fold(bare), [])


class HeaderReader:
    """Reads the header of one table: the fields of its columns, its steps, and what has no meaning yet."""

    def __init__(self, table: CellTable, choices: Choices) -> None:
        self.table, self.header, self.choices = table, table.header, choices
        self.rows = [row for row in table.rows if not row.is_empty]
        self.fields: dict[str, int] = {}
        self.steps: dict[int, ScaleStep] = {}
        self.unknown: list[int] = []
        self.notes: list[TableNote] = []
        self.fault: TableError | None = None  # the first reason why a column that is not read may bear on the score
        self.used: set[str] = set()
        self.shared: ScoreRange | None = None  # the scale that each row says
        self.settled: set[int] = set()  # columns of which an option says what they hold

    def read(self) -> TableColumns:
        """Find out what each column holds: read the words of the header, then what they leave open from the cells.

        Raises:
            TableError: if a cell has no header, or two headers are the same word.
        """
        self._read_words()
        self._read_marks()
        self._read_scores()
        self._name_labels()
        self._read_texts()
        self._note_unknown()
        unknown = tuple(self.header.cell(column).text.strip() for column in self.unknown)
        steps, notes, used = tuple(self.steps.items()), tuple(self.notes), frozenset(self.used)
        return TableColumns(self.fields, steps, self.header, notes, used, self.fault, unknown, self.shared)

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
        # Each column gets the first of its meanings that no other has: words with one come first, then ours.
        is_other = {column: fold(self.header.cell(column).text) not in WORDS for column in several}
        for column in sorted(several, key=lambda column: (len(several[column]), is_other[column])):
            free = next((field for field in several[column] if field not in self.fields), None)
            if free is None:
                self.unknown.append(column)
            else:
                self.fields[free] = column

    def _find_meaning(self, column: int, word: str) -> tuple[list[str], ScaleStep | None]:
        """Return the fields that a column may hold, or the step that it is; raise TableError if --map names neither."""
        cell = self.header.cell(column)
        chosen = self.choices.fields.get(word)
        if chosen is not None or word in self.choices.ignored:
            self.used.add(word)
        if word in self.choices.ignored:
            self._note(column, f"column `{shorten(cell.value)}` is not read, as --ignore-column says")
            return [], None
        if chosen:
            return self._find_chosen(column, chosen)
        meanings = _find_meanings(cell.value)
        cells = self._cells(column)
        if is_gate(word) and cells and all(cell.text.strip().casefold() in ANSWERS for cell in cells):
            meanings = ["required"]
        step = None if meanings else find_step(cell.value)
        if not meanings and step is None:
            self.unknown.append(column)
        return meanings, step

    def _find_chosen(self, column: int, chosen: str) -> tuple[list[str], ScaleStep | None]:
        """Return the field, or else the step, that --map says for a column."""
        cell = self.header.cell(column)
        word = fold(chosen)
        if word == "score":  # though it may head a column of weights too
            word = "score_range"
        if word in _MEANINGS:
            self.settled.add(column)
            return _MEANINGS[word][:1], None
        step = find_step(chosen)
        if step is None:
            expected = f"{list_names(FIELDS, most=len(FIELDS))}, `level 4` or `score 0-3`"
            raise TableError(cell.place, f"--map: `{chosen}` is not a field; expected {expected}")
        if not step.name and find_step(cell.value) is None:
            step = step._replace(name=" ".join(cell.value.split()))
        return [], step

    def _note(self, column: int, message: str) -> None:
        self.notes.append(TableNote(self.header.cell(column).place, message))

    # Cells

    def _cells(self, column: int) -> list[Cell]:
        """Return the cells of a column that are not empty."""
        cells = [row.cell(column) for row in self.rows]
        return [cell for cell in cells if not cell.is_empty]

    def _move(self, field: str, to: str) -> None:
        self.fields[to] = self.fields.pop(field)

    def _read_marks(self) -> None:
        """Tell shares from weights, and names of levels from criteria."""
        if "share" in self.fields and "weight" not in self.fields:
            self._move("share", "weight")
        elif "share" in self.fields:
            share = self.fields.pop("share")
            name = self.header.cell(share).value
            self._note(share, f"column `{name}` is not read: shares follow from the weights")
        for field in ("level", "score_range"):
            column = self.fields.get(field)
            others = [self.fields[name] for name in ("level", "score_range", "weight") if name in self.fields]
            has_others = any(other != column and self._is_scored(other) for other in others)
            texts = [cell.text for cell in self._cells(column)] if column is not None else []
            if texts and has_others and not re.search(r"\d", "".join(texts)):
                self._move(field, "name")  # `Good` next to the scores
        for field in ("id", "expected_outcome"):
            column = self.fields.get(field)
            if column is not None and self.has("level") and fold(self.header.cell(column).text) == "name":
                self._move(field, "name")

    def _name_labels(self) -> None:
        """Take the labels of scores for names where another column has their texts: `Score | Label | Meaning`."""
        labels = self.fields.get("expected_outcome")
        if labels is None or "name" in self.fields or not self.has("level", "score_range"):
            return
        is_label = fold(self.header.cell(labels).text) in LevelWords.named
        if not is_label:
            return
        for column in self.unknown:
            if "expected_outcome" in _find_meanings(self.header.cell(column).value):
                self._move("expected_outcome", "name")
                self.fields["expected_outcome"] = column
                self.unknown.remove(column)
                return

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
        ids: list[str] = []
        for name in ("id", "number"):
            if name in self.fields:
                ids += [cell.text for cell in self._cells(self.fields[name])]
        scores = [find_step(cell.text) for cell in self._cells(column) if not is_unscored(cell)]
        is_weight = now == "weight" or "weight" in _find_meanings(self.header.cell(column).text)
        is_weight = is_weight and "weight" not in self.fields.keys() - {now}
        if not ids:
            is_scale = self._is_scale(column, scores)
            meaning = "weight" if is_weight and (self.steps or not is_scale) else "score_range"
            self._move(now, meaning)
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
            self.fault = TableError(cell.place, message)

    def _is_scale(self, column: int, scores: list[ScaleStep | None]) -> bool:
        """Return whether a column before the texts has several scores, a different one in each row."""
        ranges = {step.range for step in scores if step}
        is_several = len(ranges) > 1 or any(bounds.lower < bounds.upper for bounds in ranges)
        texts = [self.fields[name] for name in _TEXTS if name in self.fields]
        return is_several and len(ranges) == len(scores) and all(column < text for text in texts)

    def _share_scale(self, scores: list[ScaleStep | None]) -> bool:
        """Read one range in all rows as the scale of each criterion, whose weight is elsewhere: `1-5`, `1-5`."""
        ranges = {step.range if step else None for step in scores}
        shared = next(iter(ranges)) if len(ranges) == 1 and len(scores) == len(self.rows) else None
        has_gates = self.has("minimum", "required", "required_min_score", "required_min_level")
        if shared is None or self.steps or has_gates or not self.has("weight"):
            return False
        if shared.lower >= shared.upper or not all(bound == int(bound) for bound in shared):
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
            column = max(lengths, key=lambda column: lengths[column])
            self.unknown.remove(column)
            self.fields["expected_outcome"] = column
            name = shorten(self.header.cell(column).text)
            self._note(column, f"column `{name}` is read as the text of each criterion")

    def _read_ids(self) -> None:
        """Find the names that tell the criteria apart; next to weights or a scale, they may be under any header."""
        is_rated = bool(self.steps) or self.has("weight", "minimum", "required")
        has_ids = "id" in self.fields
        candidates = list(self.unknown)
        if has_ids:
            own = [self.fields[name] for name in ("id", "expected_outcome") if name in self.fields]
            candidates = own + candidates
        for column in candidates:
            names = [cell.text for cell in self._cells(column)]
            may_be = "id" in _find_meanings(self.header.cell(column).text)
            may_be = may_be or (is_rated and not has_ids and not any(map(find_amount, names)))
            if may_be and len({*names}) == len(names) == len(self.rows):
                self._set_ids(column)
                return

    def _set_ids(self, column: int) -> None:
        """Read a column as the ids, and not as anything else; the one that had them before is unknown."""
        former = self.fields.get("id", column)
        self.fields = {field: other for field, other in self.fields.items() if other != column}
        self.fields["id"] = column
        self.unknown = [other for other in [*self.unknown, former] if other != column]

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
            similar = find_near(cell.text, FIELDS)
            if similar:
                fault = f"unknown column `{name}`; did you mean `{similar[0]}`?"
            elif (self.steps or len(names) > 1) and cell.text.strip() in names:
                shown = quote_names(names)
                fault = f"{shown} may name levels, and nothing says their scores; say them with --map 'level 3={name}'"
            elif split_words(cell.text) & _BEARING or self._are_amounts(cells) or any(map(_says_change, cells)):
                fault = f"column `{name}` may bear on the score, and its header does not say how"
                fault += f"; say what it holds with --map 'FIELD={name}', or leave it out with --ignore-column '{name}'"
            if fault:
                self.fault = self.fault or TableError(cell.place, fault)
            else:
                self._note(column, f"column `{name}` is not read; say what it holds with --map 'FIELD={name}'")

    def _are_amounts(self, cells: Sequence[Cell]) -> bool:
        """Return whether most rows have a number; numbers that count the rows say nothing."""
        amounts = [amount for amount in (find_amount(cell.text) for cell in cells) if amount is not None]
        is_count = amounts == [str(number) for number in range(1, len(cells) + 1)]
        return 2 * len(amounts) > len(self.rows) and not is_count


def _says_change(cell: Cell) -> bool:
    """Return whether a cell is a word or two of which one is a penalty or a bonus: `bonus`, `Penalty item`."""
    return len(cell.text.split()) < FEW and not split_words(cell.text).isdisjoint(SETS["penalty"] | SETS["changes"])


def _list_columns(table: CellTable) -> Iterator[int]:
    """Yield the columns that have a header; raise TableError if another column has content."""
    named = [column for column, cell in sorted(table.header.cells.items()) if not cell.is_empty]
    for row in table.rows:
        for column, cell in row.cells.items():
            if column not in named and not cell.is_empty:
                message = "this cell is in a column without a header; name the column, or empty it"
                title = shorten(table.header.cell(named[0]).text.strip()) if named else ""
                if len(named) == 1:
                    message += f"; if `{title}` is a title, name the row of the header with --header-row"
                elif all(map(_may_be_header, row.cells.values())):
                    message += "; if the header has two rows, name the lower one with --header-row"
                raise TableError(cell.place, message)
    yield from named


def _may_be_header(cell: Cell) -> bool:
    return cell.is_empty or is_known(cell.text) or find_step(cell.text) is not None


_SCORE = re.compile(r"(?:scores?|points?)\s+(?=-?\d+\s*\D)", re.IGNORECASE)
_OF_HIGHEST = re.compile(r"(?<=\d)\s?/\s?\d{1,4}\Z")
_OTHERS = re.compile(r"[sgp]\s?\d", re.IGNORECASE)
"""What numbers anything, such as `S1` and `P2`."""


def is_unscored(cell: Cell) -> bool:
    """Return whether a cell says in the place of a score that none applies."""
    return not cell.fault and fold(cell.text) in {"n/a", "na", "not_applicable"}


def find_step(text: str) -> ScaleStep | None:
    """Return the scores that a text names, such as `0 to 3`, `level 4`, `Good (4)` or `5 pts`; else None."""
    text = _OF_HIGHEST.sub("", " ".join(re.sub(r"[*`]", "", text).split()))
    whole = find_range(_SCORE.sub("", text).removesuffix("%").rstrip())
    if whole:
        return ScaleStep(whole)
    named = None if _OTHERS.match(text) or is_date(text) else split_score(text)
    if named and not named[1][:1].isdigit():
        number = to_number(str(named[0]))
        return ScaleStep(ScoreRange(number, number), named[1])
    name, bracket, inside = text.removesuffix(")").rpartition("(")
    inner = find_step(inside) if text.endswith(")") and bracket and name.strip() else None
    if inner and not inner.name:
        return inner._replace(name=name.strip())
    return None

"""Read the criteria of a document that people wrote: tables under any header, and sections with a weight or a scale.

They become tables with the headers that `rubric-lint convert --to markdown` writes. What is not read is noted.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from rubric_lint.dialects.search.scales_in_text import find_steps
from rubric_lint.dialects.tables.cells import (
    Cell,
    Note,
    Place,
    Range,
    Row,
    Table,
    TableError,
    find_range,
    place_in,
)
from rubric_lint.dialects.tables.columns import EITHER, HEADERS, Step, find_step, fold, is_known
from rubric_lint.dialects.tables.markdown_file import Blocks, Found, blank
from rubric_lint.format.criterion import HIGHEST, LOWEST
from rubric_lint.messages import find_near, join_words, list_names, point_to_known, shorten
from rubric_lint.text.source import Edit, Source, Span, splice, stem_of

# The headers that people use, by what they hold. Those of `HEADERS` come first.
_WORDS = {
    "id": """dimension, aspect, item, metric, category, area, factor, check, criteria, principle, quality, criterio,
        critère, critério, kriterium, 維度""",
    "expected_outcome": """meaning, anchor, anchors, definition, descriptor, details, explanation, requirement,
        guidance, indicator, indicators, what it means, what it measures, what it looks like, looks like,
        what to look for, behavior, behaviour, pass condition, pass criteria, pass if, question,
        what to measure, pregunta, descripción, significado, descrição, beschreibung, 描述, 具體描述, 檢查項""",
    "weight": """points, pts, max, maximum, max points, max score, weighting, weight (%), weight %, peso, poids,
        gewicht, 權重, 权重""",
    "score_range": "rating, grade, mark, value, points, pts, puntuación, note, punkte, 分, 分數, 分数",
    "minimum": "min, threshold, pass threshold, pass mark, minimum score, floor",
    "number": "#, no, no., nr, nr., code, ref, key",
}
_MEANT: dict[str, list[str]] = {fold(word): [of] for word, of in HEADERS.items()}
for _of, _listed in _WORDS.items():
    for _word in _listed.split(","):
        _MEANT.setdefault(fold(_word), []).append(_of)
_TITLES = {"id": "id", "expected_outcome": "outcome", "what_is_judged": "what is judged", "score_range": "score"}

_TOTALS = re.compile(r"(?:sub-?|weighted |grand )?total\b.*|sum|overall|max(?:imum)? score", re.IGNORECASE)
_OF_RESULTS = re.compile(r"\b(?:interpret\w*|overall|totals?|verdicts?|thresholds?|mapping|results?)\b", re.IGNORECASE)
_OF_SCALES = re.compile(r"\b(?:scal\w+|scor\w+|ratings?|levels?|anchors?)\b", re.IGNORECASE)
_AMOUNT = (
    r"(?:weight(?:ed|ing)?[ \t]*+[:=]?[ \t]*+)?(?:x|×)?[ \t]*+"  # noqa: RUF001
    r"(\d{1,3}(?:\.\d{1,3})?[ \t]*+%?)[ \t]*+(?:points?|pts?\.?|marks?)?"
)
_IN_TITLE = re.compile(
    rf"(?<!\s)\s*+(?:[(\[]\s*+{_AMOUNT}\s*+[)\]]|(?<=\s)[–—-]\s++{_AMOUNT})\s*+:?\s*+$",  # noqa: RUF001
    re.IGNORECASE,
)
_FULL_AMOUNT = re.compile(rf"(?:[01]\s?[-–]\s?|/\s?)?{_AMOUNT}", re.IGNORECASE)  # noqa: RUF001
_NUMBERING = re.compile(
    r"\A(?:§\s*)?(?:\d{1,2}(?:\.\d{1,2})*[.):]?|[A-Z]\d{0,2}[.):])\s+"
    r"|\A(?:criterion|dimension|item)\s+\d{1,2}\s*(?:[:.]|\s[—–-])\s*",  # noqa: RUF001
    re.IGNORECASE,
)
_LABEL = re.compile(r"\*\*[^*\n]{1,40}(?::\*\*|\*\*\s*:)\s*")
_SCALE_AFTER = re.compile(r"(?<!\s)\s*+\(\d{1,3}(?:\.\d)?\s*+[-–]\s*+\d{1,3}\b[^()]*+\)$")  # noqa: RUF001
_FRONT = re.compile(r"\A---\r?\n.*?\n---[ \t]*(?=\r?\n)", re.DOTALL)


@dataclass
class _Section:
    """A heading with what is below it up to the next one; `text` has blanks in the place of its tables and of code."""

    title: str
    place: Place
    depth: int
    parent: "_Section | None"
    at: int
    text: str
    tables: "list[_Tabled]" = field(default_factory=list)

    @property
    def scale(self) -> "_Scale | None":
        """The scale that it has as its first table."""
        return self.tables[0].scale if self.tables else None


class _Scale(NamedTuple):
    """A scale: the scores, the name and the text of each step; and where its table begins and ends in the text."""

    steps: list[tuple[Range, str, Cell, Cell]]
    at: int
    end: int

    @property
    def scores(self) -> list[Range]:
        """The scores of the steps, in ascending order."""
        return sorted(step[0] for step in self.steps)


class _Criterion(NamedTuple):
    """A criterion that a section describes."""

    name: Cell
    told: Cell
    weight: Cell | None
    scale: _Scale | None
    section: _Section


class _Columns(NamedTuple):
    """What the columns of a table hold: by field, those of a scale, and the headers that say nothing known.

    `named` are those that an option names, whose headers stay as they are.
    """

    fields: dict[str, int]
    steps: dict[int, Step]
    unknown: list[int]
    named: list[int]


class _Tabled(NamedTuple):
    """A table with what its columns hold, and the scale that its rows are the steps of."""

    found: Found
    columns: _Columns
    scale: "_Scale | None"

    @property
    def is_list(self) -> bool:
        """Whether its rows are criteria."""
        fields = self.columns.fields
        has_text = "expected_outcome" in fields or "what_is_judged" in fields
        is_named = "id" in fields or (has_text and ("number" in fields or "weight" in fields))
        return not self.scale and is_named and (has_text or len(self.columns.steps) > 1 or "weight" in fields)

    @property
    def is_plain(self) -> bool:
        """Whether its rows are criteria without a scale."""
        return self.is_list and not self.columns.steps and not {"score_range", "level"} & self.columns.fields.keys()

    @property
    def has_points(self) -> bool:
        """Whether each criterion has one score, so that it is the highest that it gives."""
        fields = self.columns.fields
        column = fields.get("id", fields.get("number"))
        if "score_range" not in fields or "weight" in fields or column is None:
            return False
        ids = [row.cell(column).text for row in self.found.rows]
        return len(set(ids)) == len(ids)


class _Group(NamedTuple):
    """Criteria that are one rubric, and the section that names it."""

    section: _Section
    criteria: list[_Criterion]


def read_outline(source: Source, blocks: Blocks, only: str | None, mapped: Mapping[str, str]) -> list[Table] | None:
    """Return the rubrics of a document as tables; None if it has none, or only tables in our own layout.

    `only` names one of them, `mapped` has the fields of headers by folded word, empty for those that are not read.

    Raises:
        TableError: if `only` names none of them, a header is nearly a known one, or a scale is not in a table.
    """
    text = _FRONT.sub(blank, blocks.text)
    text = splice(text, [Edit(Span(each.at, each.end), blank(text[each.at : each.end])) for each in blocks.tables])
    heads = [each for each in blocks.headings if text[each.at : each.end].strip()]
    ends = [*(head.at for head in heads), len(text)]
    sections = [_Section(stem_of(source.name), place_in(source, 0), 0, None, 0, text[: ends[0]])]
    for head, end in zip(heads, ends[1:], strict=True):
        parent: _Section | None = sections[-1]
        while parent and parent.depth >= head.depth:
            parent = parent.parent
        place = place_in(source, head.at)
        sections.append(_Section(head.title, place, head.depth, parent, head.end, text[head.end : end]))
    starts = [each.at for each in sections]
    for table in blocks.tables:
        columns = _read_columns(table, mapped)
        section = sections[bisect_right(starts, table.at) - 1]
        section.tables.append(_Tabled(table, columns, _find_scale_in(table, columns.fields)))
    return None if _is_ours(sections) else _Outline(source, sections, blocks.unread).read(only)


def _is_ours(sections: list[_Section]) -> bool:
    """Return whether no table that is understood needs an interpretation, as in documents that we write."""
    tables = [(section, table) for section in sections for table in section.tables]
    ids = {cell.text for _, table in tables for row in table.found.rows for cell in row.cells.values()}
    ours, alone = 0, 0
    for section, table in tables:
        fields, steps, unknown, _ = table.columns
        heads = [table.found.header.cell(column).text for column in fields.values()]
        is_numbered = bool(steps) and all(step.kind == EITHER for step in steps.values())
        if table.scale or table.is_list:
            is_told = steps or fields.keys() & {"expected_outcome", "what_is_judged", "score_range", "level"}
            if unknown or is_numbered or not is_told or not all(map(is_known, heads)):
                return False
            scores = table.scale.scores if table.scale and "level" not in fields else []
            if scores and (_are_numbers(scores) or _span(scores)):
                return False
            with_points = table.found.rows if table.has_points else []
            points = (find_range(row.cell(fields["score_range"]).text.strip()) for row in with_points)
            if any(each and each.upper > HIGHEST for each in points):
                return False
        ours += not unknown
        alone += table.scale is not None and section.title not in ids
    return ours > 0 and alone < 2


def _read_columns(table: Found, mapped: Mapping[str, str]) -> _Columns:
    found = _Columns({}, {}, [], [])
    for column, cell in table.header.cells.items():
        word = fold(cell.text)
        meant = _MEANT.get(word) or _MEANT.get(fold(cell.text.partition("(")[0])) or []
        step = find_step(cell.text)
        if word in mapped:
            found.named.append(column)
            meant, step = _MEANT.get(fold(mapped[word]), [])[:1], find_step(mapped[word])
        if free := [name for name in meant if name not in found.fields]:
            found.fields[free[0]] = column
        elif step:
            found.steps[column] = step
        elif word and word not in mapped:
            found.unknown.append(column)
    if found.fields.keys().isdisjoint(("expected_outcome", "what_is_judged")):  # beside an id, a criterion is a text
        words = {"criterion", "criteria", "check"}
        told = [column for column in found.unknown if fold(table.header.cell(column).text) in words]
        for column in told[:1]:
            found.unknown.remove(column)
            found.fields["what_is_judged"] = column
    return found


def _find_scale_in(table: Found, fields: Mapping[str, int]) -> _Scale | None:
    """Return the scale of a table whose rows are its steps."""
    columns = [fields[name] for name in ("level", "score_range", "weight") if name in fields]
    texts = [fields[name] for name in ("id", "what_is_judged", "expected_outcome") if name in fields]
    if not columns or len(texts) != 1 or ("id" in fields and fields["id"] < columns[0]):
        return None
    steps = []
    for row in table.rows:
        cell, told = row.cell(columns[0]), row.cell(texts[0])
        if fold(cell.text) in {"n/a", "na", "not_applicable", ""}:
            continue
        step = find_step(re.sub(r"[*`]|(?<!\s)\s*+(?:points?|pts?)\b\.?", "", cell.text))
        if step is None:
            return None
        name = row.cell(fields["name"]).text if "name" in fields else step.name
        steps.append((step.range, name, cell, told))
    return _Scale(steps, table.at, table.end) if len(steps) > 1 else None


def _are_numbers(scores: Sequence[Range]) -> bool:
    """Return whether the scores are numbers that do not cover 0 to 10, so that they are levels."""
    return all(lower == upper for lower, upper in scores) and len(scores) <= HIGHEST


def _span(scores: Sequence[Range]) -> tuple[int, int] | None:
    """Return the lowest and the highest of some scores, unless they are 0 and 10."""
    ends = min(int(lower) for lower, _ in scores), max(int(upper) for _, upper in scores)
    return ends if ends != (LOWEST, HIGHEST) else None


class _Outline:
    """Finds the criteria of a document and puts them together to rubrics."""

    def __init__(self, source: Source, sections: list[_Section], unread: list[Note]) -> None:
        self._source = source
        self._sections = sections
        self._notes = [*unread]
        self._read: set[int] = set()  # the ids of sections and tables that are read

    def read(self, only: str | None) -> list[Table] | None:
        """Return the rubrics in the order of the document, the notes with the first."""
        self._refuse_prose()
        groups = list(self._group_sections())
        lists = [(section, table) for section in self._sections for table in section.tables if table.is_list]
        for group in groups:
            lists = [each for each in lists if not self._weigh(group, *each)]
        shared = [group for group in groups if self._is_shared(group)]
        if len(groups) + len(lists) > len(shared):
            groups = [group for group in groups if group not in shared]
            if any(not each.criteria[0].scale for each in groups) or any(table.is_plain for _, table in lists):
                self._refuse_shared(shared)
        made = [(group.criteria[0].section.at, self._make_group(group)) for group in groups]
        made += [(table.found.at, self._make_list(section, table)) for section, table in lists]
        tables = [table for _, table in sorted(made, key=lambda each: each[0])]
        if not tables:
            return None
        if only is not None:
            names = [table.name for table in tables]
            tables = [table for table in tables if table.name == only]
            if not tables:
                message = f"no rubric is under `{shorten(only)}`; {point_to_known(only, names)}"
                raise TableError(place_in(self._source, 0), message)
        notes = (*self._notes, *self._note_unread())
        return [tables[0]._replace(notes=(*notes, *tables[0].notes)), *tables[1:]]

    # What a section holds

    def _cell(self, text: str, at: int) -> Cell:
        return Cell(" ".join(text.split()), place_in(self._source, at))

    def _refuse_prose(self) -> None:
        """Refuse a scale that is written in lines, such as `5: ...`."""
        for section in self._sections:
            lines = find_steps(section.text)
            is_scale = len(lines) > 2 or (len(lines) == 2 and self._split_title(section)[2] is not None)
            if is_scale and not _OF_RESULTS.search(section.title):
                advice = "write a table with the columns `score` and `outcome`"
                raise TableError(place_in(self._source, section.at + lines[0]), f"a scale in lines of text; {advice}")

    @staticmethod
    def _refuse_shared(groups: Sequence[_Group]) -> None:
        """Refuse a scale that is for criteria elsewhere, which have none of their own."""
        for group in groups:
            section = group.criteria[0].section
            if not _OF_RESULTS.search(section.title):
                advice = "write it as columns of their table, or as a table below each"
                raise TableError(section.place, f"this scale is for criteria that stand elsewhere; {advice}")

    def _split_title(self, section: _Section) -> tuple[Cell, Cell, Cell | None]:
        """Return the name of a criterion, what the title says of it, and its weight."""
        title = _NUMBERING.sub("", section.title.replace("**", "").replace("`", ""), count=1).strip()
        weight = None
        if found := _IN_TITLE.search(title):
            weight, title = found[1] or found[2], title[: found.start()]
        title = _SCALE_AFTER.sub("", title)
        name, _, told = title.partition(" — ")
        place = section.place
        return Cell(name.strip(), place), Cell(told.strip(), place), Cell(weight, place) if weight else None

    def _make_criterion(self, section: _Section, named: _Section) -> _Criterion:
        """Return the criterion of a section; `named` has its name, where the section only holds the scale."""
        scale = section.scale
        name, told, weight = self._split_title(named)
        if named is not section:
            weight = weight or self._split_title(section)[2]
        at = scale.at - section.at if scale else len(section.text)
        parts = [named.text] if named is not section else []
        text = "\n".join([*parts, section.text[: max(at, 0)]]).strip()
        text = _LABEL.sub("", re.sub(r"\A[-*+]\s+", "", text), count=1) if re.search(r"\w", text) else ""
        if scale and (rest := section.text[scale.end - section.at :].strip(" \t\r\n-*_")):
            start = section.text.index(rest[:20], scale.end - section.at)
            place = place_in(self._source, section.at + start)
            self._notes.append(Note(place, f"not read: the text below the scale of `{shorten(name.text)}`"))
        told = self._cell(text, named.at)._replace(place=named.place) if text.strip() else told
        return _Criterion(name, told, weight, scale, section)

    def _group_sections(self) -> Iterator[_Group]:
        """Yield the sections that are a criterion each, by the section around them."""
        titles = Counter(each.title for each in self._sections)
        found: dict[int, list[tuple[_Section, _Section]]] = {}
        for section in self._sections:
            scale, named = section.scale, section
            if scale and titles[section.title] > 1 and section.parent:
                named = section.parent
            is_weighed = section.depth > 0 and self._split_title(named)[2] is not None
            if scale or (is_weighed and not section.tables and section.text.strip()):
                found.setdefault(id(named.parent), []).append((section, named))
        for pairs in found.values():
            kept = [each for each in pairs if each[0].scale] or pairs
            for section, _ in pairs:
                if kept[0][0].scale and not section.scale:
                    told = f"`{shorten(section.title)}` has no scale, and the criteria beside it have one"
                    self._notes.append(Note(section.place, f"not read: {told}"))
            if len(kept) > 1 or kept[0][0].scale:
                criteria = [self._make_criterion(section, named) for section, named in kept]
                yield _Group((len(kept) > 1 and kept[0][1].parent) or kept[0][1], criteria)

    @staticmethod
    def _is_shared(group: _Group) -> bool:
        """Return whether the one scale of a group is for criteria elsewhere, or for a result of all of them."""
        (first, *others) = group.criteria
        title = first.section.title
        if others or not first.scale or first.name.text not in title:
            return False
        return bool(_OF_SCALES.search(title) or _OF_RESULTS.search(title))

    def _weigh(self, group: _Group, section: _Section, table: _Tabled) -> bool:
        """Take the weights of the criteria in a group from a table that lists them, if it does."""
        fields = table.columns.fields
        if not ({"id", "weight"} <= fields.keys() and all(each.scale for each in group.criteria)):
            return False
        rows = table.found.rows
        weights = {fold(row.cell(fields["id"]).text): row.cell(fields["weight"]) for row in rows}
        if not all(fold(each.name.text) in weights for each in group.criteria):
            return False
        for at, each in enumerate(group.criteria):
            group.criteria[at] = each._replace(weight=_read_weight(weights.pop(fold(each.name.text))))
        self._read.update((id(table), id(section)))
        for name, cell in weights.items():
            if not _TOTALS.fullmatch(name.replace("_", " ")):
                self._notes.append(Note(cell.place, f"not read: this row, as no section describes `{shorten(name)}`"))
        return True

    # Rubrics as tables

    def _make_group(self, group: _Group) -> Table:
        self._read.update(id(each.section) for each in group.criteria)
        spread = _Spread([each.scale for each in group.criteria if each.scale])
        rows, parts = [], []
        for each in group.criteria:
            told = each.told if each.told.text or each.scale else each.name
            cells = {0: each.name, 1: told, 2: each.weight or Cell("", each.name.place)}
            rows.append(Row(cells, each.name.place))
            if each.scale:
                parts.append((each.name.text, spread.write(each.name.text, each.scale)))
        place = group.criteria[0].name.place
        header = _make_row(("id", "what is judged", "weight"), place)
        name, notes = _name(group.section), tuple(spread.notes)
        return Table(name, header, tuple(rows), notes, tuple(parts), span=spread.span)

    def _make_list(self, section: _Section, table: _Tabled) -> Table:
        """Return a table of criteria with our headers, without the columns that hold nothing known."""
        self._read.update((id(table), id(section)))
        fields, steps, unknown, named = table.columns
        head = table.found.header
        notes = [_note_unknown(head.cell(column)) for column in unknown]
        fields = dict(fields)
        if table.has_points:
            fields["weight"] = fields.pop("score_range")
        if "weight" in fields and not fold((cell := head.cell(fields["weight"])).text).startswith("weight"):
            told = "" if steps else ", and each criterion is met or not"
            notes.append(Note(cell.place, f"column `{shorten(cell.text)}` is read as the weight{told}"))
        number = fields.pop("number", None)
        if number is not None:
            fields.setdefault("id", number)
        titles = {column: _TITLES.get(name, name) for name, column in fields.items()}
        is_level = _are_numbers([step.range for step in steps.values()])
        for column, step in steps.items():
            is_bare = is_level and step.kind == EITHER
            titles[column] = f"level {step.range.lower}" if is_bare else head.cell(column).text
        titles |= {column: head.cell(column).text for column in named}
        if not ({"expected_outcome", "what_is_judged"} & fields.keys() or steps):
            titles[max(head.cells) + 1] = "what is judged"  # which is what the criterion is called
        rows = []
        for row in table.found.rows:
            name = row.cell(fields.get("id", 0))
            if _TOTALS.fullmatch(name.text.strip()):
                notes.append(Note(row.place, f"not read: the row `{shorten(name.text.strip())}`"))
                continue
            held = [column for column in titles if column in row.cells or column not in head.cells]
            cells = {column: row.cells.get(column, name) for column in held}
            if (column := fields.get("weight", -1)) in cells:
                cells[column] = _read_weight(cells[column])
            rows.append(Row(cells, row.place))
        header = Row({column: head.cell(column)._replace(text=title) for column, title in titles.items()}, head.place)
        return Table(_name(section), header, tuple(rows), tuple(notes))

    def _note_unread(self) -> Iterator[Note]:
        """Say which tables, rows of scales and sections are not read."""
        for section in self._sections:
            for table in section.tables:
                if table.scale:
                    read = {cell.place for _, _, cell, _ in table.scale.steps}
                    for row in table.found.rows:
                        if not read & {cell.place for cell in row.cells.values()}:
                            yield Note(row.place, "not read: this row, which has no score")
                if id(table) not in self._read and not (table is section.tables[0] and id(section) in self._read):
                    head = table.found.header
                    heads = list_names([cell.text for cell in head.cells.values()], most=5)
                    told = f"the table with the columns {heads}, under `{shorten(section.title)}`"
                    yield Note(head.place, f"not read: {told}")
        left = [each for each in self._sections if id(each) not in self._read and each.depth and each.text.strip()]
        if left:
            told = list_names([each.title for each in left], most=20)
            yield Note(left[0].place, f"not read: the text under {told}")


class _Spread:
    """Writes the scales of one rubric alike: as levels if all their scores are numbers, else as bands."""

    def __init__(self, scales: Sequence[_Scale]) -> None:
        written = [str(bound) for scale in scales for score in scale.scores for bound in score]
        digits = max((len(each.partition(".")[2].rstrip("0")) for each in written), default=0)
        self._factor = 10**digits  # the smallest that makes integers of the scores, as of 0.5 and 1.0
        scales = [self._make_whole(scale) for scale in scales]
        self._is_levels = all(_are_numbers(scale.scores) for scale in scales)
        scores = [score for scale in scales for score in scale.scores]
        self.span = _span(scores) if scores and not self._is_levels else None
        self.notes: list[Note] = []
        numbers = [lower for lower, _ in scales[0].scores] if scales and self._is_levels else []
        if any(later - earlier > 1 for earlier, later in pairwise(numbers)):  # no score between them can be given
            told = f"read as the levels {join_words([*map(str, numbers)])}"
            self.notes.append(Note(scales[0].steps[0][2].place, f"{told}: a judge picks one of them, and none between"))

    def _make_whole(self, scale: _Scale) -> _Scale:
        steps = [(Range(*(int(bound * self._factor) for bound in step[0])), *step[1:]) for step in scale.steps]
        return scale._replace(steps=steps)

    def write(self, name: str, scale: _Scale) -> Table:
        """Return a scale as the table of a criterion."""
        scale = self._make_whole(scale)
        place = scale.steps[0][2].place
        rows = []
        for (lower, upper), called, cell, told in scale.steps:
            cells = [cell._replace(text=str(lower)), cell._replace(text=called), told]
            if not self._is_levels:
                said = f"{called}: {told.text}" if called else told.text
                cells = [cell._replace(text=f"{lower} to {upper}"), told._replace(text=said)]
            rows.append(Row(dict(enumerate(cells)), cell.place))
        header = ("level", "name", "outcome") if self._is_levels else ("score", "outcome")
        return Table(name, _make_row(header, place), tuple(rows))


def _note_unknown(cell: Cell) -> Note:
    """Say that a column is not read; raise TableError if its header is nearly one that is."""
    name = shorten(cell.text)
    if near := find_near(cell.text, HEADERS):
        raise TableError(cell.place, f"unknown column `{name}`; did you mean `{near[0]}`?")
    return Note(cell.place, f"column `{name}` is not read; say what it holds with --map 'FIELD={name}'")


def _read_weight(cell: Cell) -> Cell:
    """Return the number of a weight such as `20 points` or `0-20`, or the cell as it is."""
    found = _FULL_AMOUNT.fullmatch(cell.text.strip())
    return cell._replace(text=found[1]) if found else cell


def _make_row(texts: Sequence[str], place: Place) -> Row:
    return Row({column: Cell(text, place) for column, text in enumerate(texts)}, place)


def _name(section: _Section) -> str:
    return _NUMBERING.sub("", section.title, count=1).strip() or section.title

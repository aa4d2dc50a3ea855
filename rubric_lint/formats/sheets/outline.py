"""Read the rubrics of a document that people wrote: tables of criteria, and sections with a weight or a scale."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rubric_lint.formats.search.scales_in_text import find_labels
from rubric_lint.formats.sheets.cells import (
    Cell,
    CellPlace,
    CellTable,
    Row,
    TableColumns,
    TableError,
    TableNote,
    place_in,
    split_weight,
)
from rubric_lint.formats.sheets.columns import Choices, HeaderReader, fold, is_points
from rubric_lint.formats.sheets.markdown_file import VERDICT, Blocks, check_width
from rubric_lint.formats.sheets.rubrics import is_total
from rubric_lint.model.messages import list_names, point_to_known, shorten
from rubric_lint.source.source import Source, Span, stem_of

_OF_RESULTS = re.compile(
    r"\b(?:interpret\w*|overall|totals?|verdicts?|thresholds?|mapping|results?|grades?)\b", re.IGNORECASE
)
_OF_SCALES = re.compile(r"\b(?:scal\w+|scor\w+|ratings?|levels?|anchors?)\b", re.IGNORECASE)
_OF_ALL = re.compile(
    r"\b(?:all|each|every|per)\b[^.\n]{0,40}\b(?:criteri\w+|dimension|categor\w+|item|metric)", re.IGNORECASE
)
_NUMBERING = re.compile(
    r"\A(?:§\s*)?(?:\d{1,2}(?:\.\d{1,2})*[.):]?|[A-Z]\d{0,2}[.):])\s+"
    r"|\A[A-Z][a-z]?\d{0,2}\s+—\s+|\A(?:criterion|dimension|item)\s+\d{1,2}\s*(?:[:.]|\s[—–-])\s*",  # noqa: RUF001
    re.IGNORECASE,
)
_LABEL = re.compile(r"\*\*[^*\n]{1,40}(?::\*\*|\*\*\s*:)\s*")
_SCALE_AFTER = re.compile(r"(?<!\s)\s*+\(\d{1,3}(?:\.\d)?\s*+[-–]\s*+\d{1,3}\b[^()]*+\)$")  # noqa: RUF001


@dataclass(eq=False)
class _ReadTable:
    """A table with what its columns hold, and its place in the text."""

    table: CellTable
    columns: TableColumns
    span: Span
    is_used: bool = False

    @property
    def is_scale(self) -> bool:
        """Whether its rows are the steps of one scale."""
        return self.columns.has_scale and self.columns.has_text and not self.columns.has("id")

    @property
    def is_list(self) -> bool:
        """Whether its rows are criteria."""
        columns = self.columns
        is_named = columns.has("id") or (columns.has_text and columns.has("weight"))
        is_described = columns.has_text or len(columns.steps) > 1 or columns.has("weight", "level", "score_range")
        return is_named and is_described and not self.is_scale

    @property
    def has_points(self) -> bool:
        """Whether its weights are points, which may be those of a scale."""
        return self.columns.has("weight") and is_points(self.columns.head("weight").text)

    @property
    def is_plain(self) -> bool:
        """Whether its rows are criteria without a scale."""
        return self.is_list and not self.columns.steps and not self.columns.has_scale

    def as_rubric(self, name: str) -> CellTable:
        """Return the table with a name and its columns."""
        return self.table._replace(name=name, columns=self.columns)


@dataclass(eq=False)
class _DocumentSection:
    """A heading with what is below it up to the next one; `text` has blanks in the place of its tables and of code."""

    title: str
    place: CellPlace
    depth: int
    parent: "_DocumentSection | None"
    at: int
    text: str
    tables: list[_ReadTable] = field(default_factory=list)
    is_used: bool = False

    @property
    def scale(self) -> _ReadTable | None:
        """The scale that it has as its first table."""
        return self.tables[0] if self.tables and self.tables[0].is_scale else None

    @property
    def is_own(self) -> bool:
        """Whether it is a rubric that `--to markdown` wrote."""
        return VERDICT.search(self.text) is not None

    @property
    def name(self) -> str:
        """The name of a rubric that it holds."""
        bare = "" if self.is_own else _NUMBERING.sub("", self.title, count=1).strip()
        return bare or self.title

    @property
    def is_of_results(self) -> bool:
        """Whether it says what the scores of all criteria mean."""
        return _OF_RESULTS.search(self.title) is not None


class _SectionCriterion(NamedTuple):
    """A criterion that a section describes."""

    name: Cell
    text: Cell
    weight: Cell
    scale: _ReadTable | None
    section: _DocumentSection

    def mark_used(self) -> None:
        """Mark the section, and the table of its scale, as read."""
        self.section.is_used = True
        if self.scale:
            self.scale.is_used = True


class _SectionGroup(NamedTuple):
    """Criteria that are one rubric, and the section that names it."""

    section: _DocumentSection
    criteria: list[_SectionCriterion]


class OutlineReader:
    """Finds the criteria of a document and puts them together to rubrics."""

    def __init__(self, source: Source, blocks: Blocks, choices: Choices) -> None:
        self._source = source
        self._only = choices.only
        self._notes = list(blocks.unread)
        self._sections = list(_list_sections(source, blocks))
        starts = [section.at for section in self._sections]
        for table, span in blocks.tables:
            section = self._sections[bisect_right(starts, span.start) - 1]
            section.tables.append(_ReadTable(table, _read_columns(table, choices), span))

    def read(self) -> list[CellTable]:
        """Return the rubrics as tables with known columns, in the order of the document.

        The first one has the notes on the document.

        Raises:
            TableError: if there is none, or their parts have no single meaning.
        """
        self._refuse_prose()
        groups = list(self._group_sections())
        made: list[tuple[int, CellTable]] = []
        plain: list[tuple[_DocumentSection, _ReadTable]] = []
        for section in self._sections:
            for table in section.tables:
                if section.is_of_results and not table.columns.has("id"):
                    continue
                group = self._find_group(section, table, groups) if table.is_list else None
                if group:
                    groups.remove(group)
                    made.append((table.span.start, self._make_list(section, table, group)))
                elif table.is_plain:
                    plain.append((section, table))
                elif table.is_list:
                    made.append((table.span.start, self._make_list(section, table)))
        groups = self._share_scale(groups, plain, made)
        made += [(group.criteria[0].section.at, self._make_group(group)) for group in groups]
        tables = [table for _, table in sorted(made, key=lambda pair: pair[0])]
        if not tables:
            raise self._find_fault()
        if self._only is not None:
            names = [table.name for table in tables]
            tables = [table for table in tables if table.name == self._only]
            if not tables:
                message = f"no rubric is under `{shorten(self._only)}`; {point_to_known(self._only, names)}"
                raise TableError(place_in(self._source, 0), message)
        return [tables[0].with_notes([*self._notes, *self._note_unread()]), *tables[1:]]

    def _share_scale(
        self,
        groups: list[_SectionGroup],
        plain: Sequence[tuple[_DocumentSection, _ReadTable]],
        made: list[tuple[int, CellTable]],
    ) -> list[_SectionGroup]:
        """Add the tables of criteria without a scale, with the one scale for all if there is one.

        Return the groups that are rubrics by themselves; raise TableError for a scale whose criteria are not known.
        """
        shared = [group for group in groups if _is_shared(group)]
        others = [group for group in groups if group not in shared]
        common: _SectionGroup | None = None
        is_unclear = any(table.has_points or not table.columns.has("id") for _, table in plain)
        is_alone = not (plain or others or made)
        is_of_all = len(shared) == 1 and bool(_OF_ALL.search(shared[0].criteria[0].section.text))
        if len(shared) == 1 and is_alone and not is_of_all:
            return shared
        if is_of_all and plain and not others and not is_unclear and not shared[0].criteria[0].section.is_of_results:
            common = shared[0]
        elif plain or is_alone or not all(group.criteria[0].scale for group in others):
            _refuse_shared(shared)
        made += [(table.span.start, self._make_list(section, table, common)) for section, table in plain]
        return others

    def _refuse_prose(self) -> None:
        """Refuse a scale that is written in lines, such as `5: ...`."""
        for section in self._sections:
            lines = find_labels(section.text)
            is_scale = len(lines) > 2 or (len(lines) == 2 and bool(_split_title(section)[2].text))
            if is_scale and not section.is_of_results:
                advice = "write a table with the columns `score` and `outcome`"
                raise TableError(place_in(self._source, section.at + lines[0]), f"a scale in lines of text; {advice}")

    def _find_fault(self) -> TableError:
        """Return why a document has no criteria: the first table that is none of them, if there is one."""
        if self._notes:
            return TableError(self._notes[0].place, self._notes[0].message)
        tables = [table for section in self._sections for table in section.tables]
        expected = (
            "expected a table with columns such as `criterion`, `weight` and `description`, or headings with a weight "
            "such as `### Tone (40%)`"
        )
        if not tables:
            return TableError(place_in(self._source, 0), f"no criteria found; {expected}")
        columns = tables[0].columns
        if columns.fault and (not columns.fields or columns.has("id")):
            return columns.fault
        heads = list_names([cell.text for cell in columns.header.cells.values()], most=5)
        reason = f"no criteria found: nothing says that the columns {heads} describe some"
        advice = f"{expected}, or say what a column holds with --map"
        return TableError(columns.header.cell(0).place, f"{reason}; {advice}")

    # Sections

    def _group_sections(self) -> Iterator[_SectionGroup]:
        """Yield the sections that are a criterion each, by the section around them."""
        titles = Counter(section.title for section in self._sections)
        ids = self._list_ids()
        found: dict[int, list[tuple[_DocumentSection, _DocumentSection]]] = {}
        for section in self._sections:
            named = section
            if section.scale and titles[section.title] > 1 and section.parent and section.title not in ids:
                named = section.parent
            is_weighed = section.depth > 0 and bool(_split_title(named)[2].text)
            if section.scale or (is_weighed and not section.tables and section.text.strip()):
                key = section if section.is_own else named.parent
                found.setdefault(id(key), []).append((section, named))
        for pairs in found.values():
            scaled = [pair for pair in pairs if pair[0].scale]
            if scaled:
                for section, _ in pairs:
                    if not section.scale:
                        reason = f"`{shorten(section.title)}` has no scale, and the criteria next to it have one"
                        self._notes.append(TableNote(section.place, f"not read: {reason}"))
            kept = scaled or pairs
            if len(kept) > 1 or scaled:
                criteria = [self._make_criterion(section, named) for section, named in kept]
                first = kept[0][1]
                holder = first.parent if len(kept) > 1 and first.parent else first
                yield _SectionGroup(holder, criteria)

    def _list_ids(self) -> set[str]:
        """Return the ids in the tables of criteria."""
        ids: set[str] = set()
        for section in self._sections:
            for table in section.tables:
                if table.is_list and table.columns.has("id"):
                    ids |= {row.cell(table.columns.fields["id"]).text for row in table.table.rows}
        return ids

    def _make_criterion(self, section: _DocumentSection, named: _DocumentSection) -> _SectionCriterion:
        """Return the criterion of a section; `named` has its name, where the section only holds the scale."""
        scale = section.scale
        name, description, weight = _split_title(named)
        if named is not section and not weight.text:
            weight = _split_title(section)[2]
        start = len(section.text)
        if scale:
            start = scale.span.start - section.at
            below = section.text[scale.span.end - section.at :]
            rest = below.strip(" \t\r\n-*_")
            if rest:
                place = place_in(self._source, scale.span.end + below.index(rest))
                self._notes.append(TableNote(place, f"not read: the text below the scale of `{shorten(name.text)}`"))
        above = named.text if named is not section else ""
        text = f"{above}\n{section.text[:start]}".strip()
        text = _LABEL.sub("", re.sub(r"\A[-*+]\s+", "", text), count=1)
        if re.search(r"\w", text):
            description = Cell(" ".join(text.split()), named.place)
        return _SectionCriterion(name, description, weight, scale, section)

    # Rubrics as tables

    def _make_group(self, group: _SectionGroup) -> CellTable:
        """Return the table of criteria that are sections, or of the one scale of a rubric that we wrote."""
        first = group.criteria[0]
        name, place = group.section.name, first.name.place
        if first.section.is_own and first.scale:
            first.mark_used()
            return first.scale.as_rubric(name)
        parts, rows = [], []
        for criterion in group.criteria:
            criterion.mark_used()
            if criterion.scale:
                parts.append((criterion.name.text, criterion.scale.as_rubric(criterion.name.text)))
            text = criterion.text if criterion.text.text or criterion.scale else criterion.name
            rows.append(Row({0: criterion.name, 1: text, 2: criterion.weight}, criterion.name.place))
        columns = TableColumns({"id": 0, "what_is_judged": 1, "weight": 2}, (), Row({}, place))
        return CellTable(name, columns.header, tuple(rows), parts=tuple(parts), columns=columns)

    @staticmethod
    def _find_group(
        section: _DocumentSection, table: _ReadTable, groups: Sequence[_SectionGroup]
    ) -> _SectionGroup | None:
        """Return the sections that hold the scales of the criteria in a table, those below it first."""
        if not table.is_plain or "id" not in table.columns.fields:
            return None
        ids = {fold(row.cell(table.columns.fields["id"]).text) for row in table.table.rows}
        for group in sorted(groups, key=lambda group: group.criteria[0].section.parent is not section):
            if all(criterion.scale and fold(criterion.name.text) in ids for criterion in group.criteria):
                return group
        return None

    def _make_list(self, section: _DocumentSection, table: _ReadTable, group: _SectionGroup | None = None) -> CellTable:
        """Return a table of criteria, with the scales that a group of sections has for them, or one for all."""
        section.is_used = table.is_used = True
        made = table.as_rubric(section.name)
        if group is None:
            return made
        place = group.criteria[0].section.place
        is_shared = _is_shared(group)
        found = {fold(criterion.name.text): criterion for criterion in group.criteria}
        column = max(table.table.header.cells, default=0) + 1
        rows, parts, notes = [], [], []
        for row in made.rows:
            name = row.cell(table.columns.fields.get("id", 0))
            criterion = group.criteria[0] if is_shared else found.get(fold(name.text))
            if criterion is None or criterion.scale is None:
                if not is_total(name.text):
                    reason = f"this row, as no section describes `{shorten(name.text)}`"
                    notes.append(TableNote(row.place, f"not read: {reason}"))
                continue
            criterion.mark_used()
            rows.append(Row({**row.cells, column: criterion.text}, row.place))
            parts.append((name.value, criterion.scale.as_rubric(name.text)))
        if is_shared:
            reason = f"the scale under `{shorten(group.criteria[0].section.title)}` is read for each criterion"
            notes.append(TableNote(place, f"{reason} of `{shorten(made.name)}`"))
        columns = table.columns
        if not (columns.has_text or is_shared):
            columns = replace(columns, fields={**columns.fields, "what_is_judged": column})
        return made._replace(rows=tuple(rows), parts=tuple(parts), notes=tuple(notes), columns=columns)

    def _note_unread(self) -> Iterator[TableNote]:
        """Say which tables and sections are not read."""
        for section in self._sections:
            for table in section.tables:
                if not table.is_used:
                    head = table.table.header
                    heads = list_names([cell.text for cell in head.cells.values()], most=5)
                    reason = f"the table with the columns {heads}, under `{shorten(section.title)}`"
                    yield TableNote(head.place, f"not read: {reason}")
        unread = [section for section in self._sections if not section.is_used and section.depth]
        unread = [section for section in unread if section.text.strip()]
        if unread:
            titles = list_names([section.title for section in unread], most=20)
            yield TableNote(unread[0].place, f"not read: the text under {titles}")


def _read_columns(table: CellTable, choices: Choices) -> TableColumns:
    """Return the columns of a table with what they hold; one that cannot be read is no reason to refuse the others."""
    try:
        check_width(table)
        return HeaderReader(table, choices).read()
    except TableError as fault:
        return TableColumns({}, (), table.header, fault=fault)


def _list_sections(source: Source, blocks: Blocks) -> Iterator[_DocumentSection]:
    """Yield the sections of a document; the first is what is above all headings."""
    heads = [head for head in blocks.headings if blocks.text[head.at : head.end].strip()]
    ends = [*(head.at for head in heads), len(blocks.text)]
    section = _DocumentSection(stem_of(source.name), place_in(source, 0), 0, None, 0, blocks.text[: ends[0]])
    yield section
    for head, end in zip(heads, ends[1:], strict=True):
        parent: _DocumentSection | None = section
        while parent and parent.depth >= head.depth:
            parent = parent.parent
        text = blocks.text[head.end : end]
        section = _DocumentSection(head.title, place_in(source, head.at), head.depth, parent, head.end, text)
        yield section


def _split_title(section: _DocumentSection) -> tuple[Cell, Cell, Cell]:
    """Return the name of a criterion in the title of a section, the description behind it, and the weight."""
    title = _NUMBERING.sub("", section.title.replace("**", "").replace("`", ""), count=1).strip()
    title, weight = split_weight(title)
    title = _SCALE_AFTER.sub("", title)
    name, _, description = title.partition(" — ")
    place = section.place
    return Cell(name.strip(), place), Cell(description.strip(), place), Cell(weight, place)


def _is_shared(group: _SectionGroup) -> bool:
    """Return whether the one scale of a group is for criteria elsewhere, or for a result of all of them."""
    (first, *others) = group.criteria
    title = first.section.title
    if others or not first.scale or first.section.is_own or first.name.text not in title:
        return False
    return bool(_OF_SCALES.search(title)) or first.section.is_of_results


def _refuse_shared(groups: Sequence[_SectionGroup]) -> None:
    """Refuse a scale that is for criteria elsewhere, if nothing says how the two go together."""
    for group in groups:
        section = group.criteria[0].section
        if not section.is_of_results:
            advice = "write it as columns of their table, or as a table below each"
            raise TableError(section.place, f"this scale is for criteria that stand elsewhere; {advice}")

"""Read tables from Markdown: those that `rubric-lint convert --to markdown` writes, and those of other documents."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from rubric_lint.dialects.tables.cells import Cell, Note, Row, Table, TableError, place_in
from rubric_lint.format.criterion import Thresholds
from rubric_lint.messages import point_to_known, shorten
from rubric_lint.text.source import Source, stem_of

CASE_TEXTS = {"input": "Input", "expected_output": "Expected output"}
"""What a document calls the texts of a case, by field."""

_UNSEEN = re.compile(r"\\([!-/:-@\[-`{-~])|<br\s*/?>|&#8203;", re.IGNORECASE)


def unescape(text: str) -> str:
    """Return a text as Markdown shows it, except that emphasis, links and code stay as they are written.

    A backslash before punctuation goes, and `<br>` is a line end.
    """
    # A backslash protects what follows it, so both are read from left to right.
    return _UNSEEN.sub(lambda found: found[1] or "\n" * found[0].startswith("<"), text)


_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_BLOCK = re.compile(
    r" {0,3}(?:#{1,6}(?:[ \t]|$)|>|[-*+][ \t]|\d{1,9}[.)][ \t]|</?[a-z!?]|(?:[-*_][ \t]*){3,}$)|[ \t]{4}", re.IGNORECASE
)
"""The start of a block that ends a table: a heading, a quote, an item of a list, HTML, a rule, indented code."""

_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_DELIMITER = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_VERDICT = re.compile(
    r"(?m)\bThe answer passes from a score of (\d+(?:\.\d+)?)(?: and is borderline from (\d+(?:\.\d+)?))?[,.]"
)
_CELL = re.compile(r"(?:\\.|[^\\|]|\\\Z)*")

_TEXT = re.compile(rf"\*\*({'|'.join(CASE_TEXTS.values())}):\*\* (.*\S)\s*")
"""A text of a case, as `--to markdown` writes it."""

_BOLD = re.compile(r"\*\*([^*\s](?:[^*]*[^*\s\\])?)\*\*")
"""A whole cell in bold type, as tables have in their first column."""


@dataclass
class Found:
    """A table of the document, with the heading above it, the depth of that, and the texts between them.

    `at` and `end` are where it begins and ends in the text.
    """

    heading: str
    depth: int
    header: Row
    texts: dict[str, Cell]
    at: int
    end: int
    rows: list[Row] = field(default_factory=list)


def read_markdown(source: Source, only: str | None = None) -> list[Table]:
    """Return the tables of a document, each with the tables of its criteria, which are under a heading with their id.

    With `only`, return the table under this heading.

    Raises:
        TableError: if there are none, or a table below another one belongs to none of its criteria.
    """
    tables: list[Table] = []
    main: Found | None = None
    seen: list[str] = []
    unread = list(find_unread(source))
    for found in read_blocks(source)[1]:
        name = found.heading or stem_of(source.name)
        seen.append(name)
        if main and found.depth > main.depth and name != only:
            _check_widths(found)
            tables[-1] = _attach(tables[-1], found, is_chosen=only is not None)
            continue
        main = found if only in {None, name} else None
        if main:
            _check_widths(found)
            tables.append(Table(name, found.header, tuple(found.rows), texts=tuple(found.texts.items())))
    if only is not None and seen and not tables:
        raise TableError(place_in(source, 0), f"no table is under `{shorten(only)}`; {point_to_known(only, seen)}")
    if not tables:
        if unread:
            raise TableError(unread[0].place, unread[0].message)
        table = "a table with a header such as `| id | expected_outcome |` and `|---|---|` below it"
        told = f"no criteria found; expected {table}, or headings with a weight such as `### Tone (40%)`"
        raise TableError(place_in(source, 0), told)
    first, *others = tables
    return [first._replace(notes=(*unread, *first.notes)), *others]


def _attach(table: Table, found: Found, *, is_chosen: bool) -> Table:
    """Return a table with the table of one of its criteria; if it was chosen by name, others below it are not read."""
    ids = [cell.text for row in table.rows for cell in row.cells.values()]
    if found.heading not in ids:
        told = f"this table is under `{shorten(found.heading)}`, below `{shorten(table.name)}`"
        if is_chosen:
            note = Note(found.header.place, f"not read: {told}, and no criterion there has that id")
            return table._replace(notes=(*table.notes, note))
        message = f"{told}, and no criterion there has that id; name the table to import with --rubric"
        raise TableError(found.header.place, message)
    if any(name == found.heading for name, _ in table.parts):
        message = f"a second table under `{shorten(found.heading)}`; give each criterion one"
        raise TableError(found.header.place, message)
    part = Table(found.heading, found.header, tuple(found.rows))
    return table._replace(parts=(*table.parts, (found.heading, part)))


_PASS_MARK = re.compile(
    r"\b(?:pass(?:ing)?(?:[ -](?:mark|score|threshold|grade))?|threshold|cut-?off)\b"
    r"[ \t*]{0,4}(?:[:=\u2265]|>=)[ \t*]{0,4}\d{1,6}(?:\.\d{1,6})?%?",
    re.IGNORECASE,
)
"""A sentence that names a pass mark: `Pass: 4`, `**Passing score**: 70%`."""


def note_thresholds(source: Source, thresholds: Thresholds) -> Iterator[Note]:
    """Find the thresholds that a document of ours names and the settings do not have."""
    for found in _VERDICT.finditer(source.text):
        if (found[1], found[2] or found[1]) != tuple(map(str, thresholds)):
            asked = f"`pass = {found[1]}`" + (f" and `borderline = {found[2]}`" if found[2] else "")
            message = f"not imported: the thresholds, which are not part of a rubric: set {asked} in the settings"
            yield Note(place_in(source, found.start()), message)
    for line, start in _lines(source):
        mark = _PASS_MARK.search(line)
        if mark and "|" not in line and not _VERDICT.search(line):
            message = f"not imported: `{shorten(mark[0])}`, which is not part of a rubric: set `pass` in the settings, "
            yield Note(place_in(source, start + mark.start()), f"{message}as a part of the scale from 0 to 1")


class Heading(NamedTuple):
    """A heading, its depth, and where it begins and ends in the text."""

    title: str
    depth: int
    at: int
    end: int


def read_blocks(source: Source) -> tuple[list[Heading], list[Found]]:
    """Return the headings and the tables of a document, none in code or comments."""
    headings = [Heading("", 0, 0, 0)]
    tables: list[Found] = []
    is_in_table = False
    before = ("", 0)
    texts: dict[str, Cell] = {}
    for line, start in _lines(source):
        end = start + len(line)
        is_in_table = is_in_table and line.strip() != "" and not _BLOCK.match(line)
        if is_in_table:
            tables[-1].rows.append(_read_row(source, line, start))
            tables[-1].end = end
            before = ("", 0)
            continue
        heading = None
        if found := _HEADING.fullmatch(line):
            heading = Heading(unescape((found[2] or "").strip()), len(found[1]), start, end)
        elif "|" in before[0] + line and _DELIMITER.fullmatch(line):
            header = _read_row(source, *before)
            is_in_table = len(header.cells) == len(_read_row(source, line, start).cells)
            if is_in_table:
                tables.append(Found(headings[-1].title, headings[-1].depth, header, texts, before[1], end))
        elif before[0].strip() and _UNDERLINE.fullmatch(line):
            heading = Heading(unescape(before[0].strip()), 1 if "=" in line else 2, before[1], end)
        elif told := _TEXT.fullmatch(line):
            name = next(name for name, word in CASE_TEXTS.items() if word == told[1])
            texts[name] = Cell(unescape(told[2]), place_in(source, start + told.start(2)))
        if heading:
            headings.append(heading)
            texts = {}
        before = (line, start)
    return headings[1:], tables


def find_unread(source: Source) -> Iterator[Note]:
    """Find the tables inside a quote or a list, or in HTML, which are not read."""
    before = ""
    for line, start in _lines(source):
        inner, above = _WITHIN.sub("", line, count=1), _WITHIN.sub("", before, count=1)
        is_within = (inner, above) != (line, before)
        at = len(line) - len(inner)
        if is_within and "|" in inner and "|" in above and _DELIMITER.fullmatch(inner):
            told = "not read: a table inside a quote or a list; move it to the left margin"
            yield Note(place_in(source, start + at), told)
        elif found := re.match(r"[ \t]*<table\b", line, re.IGNORECASE):
            told = "not read: a table in HTML; write it with `|`, or save it as .csv"
            yield Note(place_in(source, start + found.end() - len("<table")), told)
        before = line


_WITHIN = re.compile(r"^(?:(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))+[ \t]*|[ \t]{4,}|\t)")
"""What is before a line inside quotes and lists, or inside an item whose text is indented."""


def _check_widths(table: Found) -> None:
    width = len(table.header.cells)
    for row in table.rows:
        for number, cell in row.cells.items():
            if number >= width and not cell.is_empty:
                raise TableError(cell.place, "this row has more cells than the header; escape each inner pipe as \\|")


_HIDDEN = re.compile(
    r"^ {0,3}(?:<!--.*?(?:-->|\Z)|(?P<fence>`{3,}|~{3,})[^\n]*(?:\n.*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*\r?$|\Z)|\Z))",
    re.DOTALL | re.MULTILINE,
)
"""Code between fences, and comments."""


def hide(source: Source) -> str:
    """Return the text with blanks in the place of code and comments."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\r\n]", " ", found[0]), source.text)


def _lines(source: Source) -> Iterator[tuple[str, int]]:
    """Yield the lines with their offsets; those of code and comments are blank."""
    text = hide(source)
    for number in range(1, source.line_count + 1):
        start, end = source.line_span(number)
        yield text[start:end], start


def _read_row(source: Source, line: str, start: int) -> Row:
    begin = len(line) - len(line.lstrip())
    at = begin + line.startswith("|", begin)
    cells: dict[int, Cell] = {}
    while at < len(line) or not cells:
        found = _CELL.match(line, at)
        content = found[0] if found else ""
        lead = len(content) - len(content.lstrip(" \t"))
        place = place_in(source, start + at + (lead if content.strip() else 0))
        bold = _BOLD.fullmatch(content.strip(" \t"))
        cells[len(cells)] = Cell(unescape(bold[1] if bold else content.strip(" \t")), place)
        at += len(content) + 1
        if not line[at:].strip():
            break
    return Row(cells, place_in(source, start + begin))

"""Find the headings and tables of a Markdown document, as GitHub's Markdown has them."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from rubric_lint.formats.sheets.cells import Cell, CellTable, Row, TableError, TableNote, place_in
from rubric_lint.model.criterion import Thresholds
from rubric_lint.model.messages import shorten
from rubric_lint.source.source import Edit, Source, Span, splice

if TYPE_CHECKING:
    from markdown_it.token import Token

CASE_TEXTS = {"input": "Input", "expected_output": "Expected output"}
"""What a document calls the texts of a case, by field."""

_UNSEEN = re.compile(r"\\([!-/:-@\[-`{-~])|<br\s*/?>|&#8203;", re.IGNORECASE)


def unescape(text: str) -> str:
    """Return a text as Markdown shows it, except that emphasis, links and code stay as they are written.

    A backslash before punctuation goes, and `<br>` is a line end.
    """
    # A backslash protects what follows it, so both are read from left to right.
    return _UNSEEN.sub(_show, text)


def _show(unseen: re.Match[str]) -> str:
    """Return the text that Markdown shows for an escape, a line break or a zero-width space."""
    if unseen[1]:
        return unseen[1]
    return "\n" if unseen[0].startswith("<") else ""


VERDICT = re.compile(
    r"(?m)\bThe answer passes from a score of (\d+(?:\.\d+)?)(?: and is borderline from (\d+(?:\.\d+)?))?[,.]"
)
"""The sentence of a rubric that `--to markdown` writes."""

_CELL = re.compile(r"(?:\\.|[^\\|]|\\\Z)*")

_TEXT = re.compile(rf"\*\*({'|'.join(CASE_TEXTS.values())}):\*\* (.*\S)\s*")
"""A text of a case, as `--to markdown` writes it."""

_BOLD = re.compile(r"\*\*([^*\s](?:[^*]*[^*\s\\])?)\*\*")
"""A whole cell in bold type, as tables have in their first column."""


class Heading(NamedTuple):
    """A heading, its depth, and where it begins and ends in the text."""

    title: str
    depth: int
    at: int
    end: int


class Blocks(NamedTuple):
    """The blocks of a document that are not inside others: its headings, and its tables, each with its place.

    `unread` are notes on tables inside other blocks; `text` is the whole text with blanks for code, comments and
    tables.
    """

    headings: list[Heading]
    tables: list[tuple[CellTable, Span]]
    unread: list[TableNote]
    text: str


_PASS_MARK = re.compile(
    r"\b(?:pass(?:ing)?(?:[ -](?:mark|score|threshold|grade))?|threshold|cut-?off)\b"
    r"[ \t*]{0,4}(?:[:=\u2265]|>=)[ \t*]{0,4}\d{1,6}(?:\.\d{1,6})?%?",
    re.IGNORECASE,
)
"""A sentence that names a pass mark: `Pass: 4`, `**Passing score**: 70%`."""


def note_thresholds(source: Source, blocks: Blocks, thresholds: Thresholds) -> Iterator[TableNote]:
    """Find the thresholds that a document of ours names and the settings do not have."""
    for found in VERDICT.finditer(source.text):
        stated = Thresholds(Decimal(found[1]), Decimal(found[2] or found[1]))
        if stated != thresholds:
            asked = f"set {stated.as_settings} in the settings"
            message = f"not imported: the thresholds, which are not part of a rubric: {asked}"
            yield TableNote(place_in(source, found.start()), message)
    for number in range(1, source.line_count + 1):
        start, end = source.line_span(number)
        line = blocks.text[start:end]
        mark = _PASS_MARK.search(line)
        if mark and not VERDICT.search(line):
            message = f"not imported: `{shorten(mark[0])}`, which is not part of a rubric: set `pass` and "
            message += "`borderline` in the settings, as parts of the scale from 0 to 1"
            yield TableNote(place_in(source, start + mark.start()), message)


def read_blocks(source: Source) -> Blocks:
    """Return the blocks of a document, as GitHub's Markdown has them."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  (few files are Markdown)

    headings: list[Heading] = []
    tables: list[tuple[CellTable, Span]] = []
    texts: dict[str, Cell] = {}
    tokens = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"]).parse(source.text)
    for at, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        lines = _lines_of(source, token)
        start, end = lines[0].start, lines[-1].end
        if token.type == "heading_open":
            title = unescape(" ".join(tokens[at + 1].content.split()))
            headings.append(Heading(title, int(token.tag.removeprefix("h")), start, end))
            texts = {}
        elif token.type == "table_open":
            header, _, *rows = [_read_row(source, source.slice(line), line.start) for line in lines]
            tables.append((CellTable("", header, tuple(rows), texts=texts), Span(start, end)))
        elif token.type == "paragraph_open":
            texts.update(_read_texts(source, lines))
    return Blocks(headings, tables, list(_find_unread(source, tokens)), splice(source.text, _hide(source, tokens)))


def _lines_of(source: Source, token: "Token") -> list[Span]:
    first, end = token.map or (0, 0)
    return [Span(*source.line_span(line)) for line in range(first + 1, end + 1)]


def _read_texts(source: Source, lines: Iterable[Span]) -> Iterator[tuple[str, Cell]]:
    """Yield the texts of a case in a paragraph, by field."""
    for line in lines:
        found = _TEXT.fullmatch(source.slice(line))
        if found:
            name = next(name for name, word in CASE_TEXTS.items() if word == found[1])
            yield name, Cell(unescape(found[2]), place_in(source, line.start + found.start(2)))


_FRONT = re.compile(r"\A---\r?\n.*?\n---[ \t]*(?=\r?\n)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def _hide(source: Source, tokens: Iterable["Token"]) -> Iterator[Edit]:
    """Yield the edits that put blanks in the place of tables, code, comments and the settings above the text."""
    front = _FRONT.match(source.text)
    front_end = front.end() if front else 0
    if front:
        yield Edit(Span(*front.span()), _blank(front))
    for token in tokens:
        if token.level or token.type not in {"fence", "code_block", "html_block", "table_open"}:
            continue
        lines = _lines_of(source, token)
        span = Span(lines[0].start, lines[-1].end)
        if span.start >= front_end:
            block = source.slice(span)
            blank = _COMMENT.sub(_blank, block) if token.type == "html_block" else _blank(block)
            yield Edit(span, blank)


_DELIMITER = re.compile(r"(?m)^[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+\|[ \t:|-]*+$")
"""The line below the header of a table."""

_MARKERS = re.compile(r"(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)]))*[ \t]*")
"""What is before the text of a block in quotes and lists."""


def _find_unread(source: Source, tokens: Iterable["Token"]) -> Iterator[TableNote]:
    """Find the tables in other blocks and in HTML, which are not read."""
    for token in tokens:
        reason = ""
        if token.type == "html_block":
            block = _COMMENT.sub("", token.content)
            if re.search(r"<table\b", block, re.IGNORECASE):
                reason = "a table in HTML; write it with `|`, or save it as .csv"
            elif _DELIMITER.search(block):
                reason = "a table right below HTML; put a blank line above it"
        elif token.type == "table_open" and token.level:
            reason = "a table inside a quote or a list; move it to the left margin"
        elif token.type == "code_block" and _DELIMITER.search(token.content):
            reason = "a table in indented code; move it to the left margin"
        if reason:
            line = _lines_of(source, token)[0]
            markers = _MARKERS.match(source.slice(line))
            markers_end = markers.end() if markers else 0
            yield TableNote(place_in(source, line.start + markers_end), f"not read: {reason}")


def _blank(text: str | re.Match[str]) -> str:
    """Return blanks in the place of a text, and its line ends."""
    written = text if isinstance(text, str) else text[0]
    return re.sub(r"[^\r\n]", " ", written)


def check_width(table: CellTable) -> None:
    """Raise TableError if a row has more cells than the header."""
    width = len(table.header.cells)
    for row in table.rows:
        for number, cell in row.cells.items():
            if number >= width and not cell.is_empty:
                raise TableError(cell.place, "this row has more cells than the header; escape each inner pipe as \\|")


def _read_row(source: Source, line: str, start: int) -> Row:
    begin = len(line) - len(line.lstrip())
    at = begin + line.startswith("|", begin)
    cells: dict[int, Cell] = {}
    while at < len(line) or not cells:
        found = _CELL.match(line, at)
        content = found[0] if found else ""
        lead = len(content) - len(content.lstrip(" \t")) if content.strip() else 0
        place = place_in(source, start + at + lead)
        bold = _BOLD.fullmatch(content.strip(" \t"))
        text = bold[1] if bold else content.strip(" \t")
        cells[len(cells)] = Cell(unescape(text), place)
        at += len(content) + 1
        if not line[at:].strip():
            break
    return Row(cells, place_in(source, start + begin))

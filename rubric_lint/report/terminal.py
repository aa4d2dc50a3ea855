"""Write for terminals: colors, visible text and its width in cells, wrapped prose, and tables of figures.

Figures are never cut: names are shortened, and whole columns left out.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple
from unicodedata import category, east_asian_width

import click

from rubric_lint.model.messages import visible

Write = Callable[[str], object]
"""Writes the next piece of the output."""

_STYLES: dict[str, dict[str, Any]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "hint": {"fg": "cyan"},
    "other": {"fg": "cyan"},
    "gutter": {"fg": "blue"},
    "place": {"bold": True},
    "fix": {"fg": "green"},
}

VERDICT_ROLES = {"pass": "fix", "borderline": "warning", "fail": "error", "invalid": "error", "no score": "warning"}
"""The roles of verdicts."""


class Style(NamedTuple):
    """The appearance of a report for humans; `columns` is the width of tables and code frames in cells.

    With `wraps`, as on a terminal, prose is wrapped at words too; elsewhere a message is one line, for other programs.
    """

    color: bool = False
    quiet: bool = False
    columns: int = 120
    wraps: bool = False

    def paint(self, role: str, text: str) -> str:
        """Return the text in the color of its role, or unchanged without color."""
        return click.style(text, **_STYLES[role]) if self.color else text

    def wrap(self, text: str, indent: str = "", *, in_use: int = 0) -> list[str]:
        """Return prose as lines; `in_use` cells before the first line are in use."""
        return list(wrap(text, self.columns, indent, in_use=in_use)) if self.wraps else [indent + text]


def name_answer(answer: bool | int | str) -> str:
    """Return the judgement of a criterion as a word: yes, no or the number."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return str(answer)


def dump(value: object, **style: Any) -> str:
    """Return a value as JSON in ASCII, which every stdout encoding supports."""
    import json  # noqa: PLC0415  (not needed by formats for humans)

    # `##[` and `##vso[` are commands of CI systems anywhere in a log.
    return json.dumps(value, **style).replace("##", r"#\u0023")


_JOINER = "\N{ZERO WIDTH JOINER}"
_EMOJI_STYLE = "\N{VARIATION SELECTOR-16}"
_SKIN_TONES = "\N{EMOJI MODIFIER FITZPATRICK TYPE-1-2}", "\N{EMOJI MODIFIER FITZPATRICK TYPE-6}"
_TAB = "    "
_CUT = "..."


def shown(line: str) -> str:
    """Return part of a line as a code frame prints it: escaped, with each tab as four spaces."""
    return visible(line.replace("\t", _TAB))


def width(text: str) -> int:
    """Return the width of visible `text` in terminal cells."""
    if text.isascii():
        return len(text)
    cells = last = 0
    joined = False
    for char in text:
        if joined or char == _JOINER:  # an emoji sequence is as wide as its first emoji
            joined = char == _JOINER
        elif char == _EMOJI_STYLE:
            if last == 1:
                cells += 1
            last = 2
        elif last == 2 and _SKIN_TONES[0] <= char <= _SKIN_TONES[1]:
            continue
        else:
            of_char = _cells(char)
            cells += of_char
            last = of_char or last
    return cells


def head(line: str, room: int) -> str:
    """Return the longest prefix of `line` that is at most `room` cells wide when shown."""
    if line.isascii() and line.isprintable():
        return line[: max(room, 0)]
    widths = accumulate(width(shown(char)) for char in line)
    return line[: sum(1 for used in widths if used <= room)]


def tail(line: str, room: int) -> str:
    """Return the longest suffix of `line` that is at most `room` cells wide when shown."""
    return head(line[::-1], room)[::-1]


def cut(text: str, room: int) -> str:
    """Return visible `text`, with `...` for what exceeds `room` cells."""
    return text if width(text) <= room else head(text, room - len(_CUT)).rstrip() + _CUT


def _cells(char: str) -> int:
    # Of Hangul, these combine with what is before them.
    if category(char) in {"Mn", "Me", "Cf"} or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


_SHORTEST = 12
"""The fewest cells of a name in a table."""

_LONGEST = 40
"""The most cells of a name in prose."""


class TextColumn(NamedTuple):
    """A column of a table; those with the highest `rank` are left out first where the table is too wide.

    `intervals` are those of its figures, which stand in a column of their own next to it.
    """

    name: str
    cells: Sequence[str]
    rank: int = 0
    intervals: Sequence[str] = ()
    rank_of_intervals: int = 0


def shorten_name(name: str, room: int = _LONGEST) -> str:
    """Return a name as it is shown, shortened to `room` cells."""
    shown = visible(name)
    return shown if width(shown) <= room else head(shown, room - 1) + "…"


_COMMAND = re.compile("`rubric-[^`]*`")


def wrap(text: str, room: int, indent: str = "", *, in_use: int = 0) -> Iterator[str]:
    """Break prose between words; lines after the first are indented further. `in_use` cells before it are in use.

    A command in backticks stays on one line, so that it can be copied.
    """
    line = indent
    joined = _COMMAND.sub(lambda command: command[0].replace(" ", "\0"), text)
    for word in (part.replace("\0", " ") for part in joined.split(" ")):
        if (in_use or line.strip()) and in_use + width(line) + 1 + width(word) > room:
            yield line
            line, in_use = f"{indent}  {word}", 0
        else:
            line += f" {word}" if line.strip() else word
    yield line


_LONGEST_TWICE = 100
"""The most characters of an explanation that is written again for another finding."""


def refer(text: str, reference: str, seen: dict[str, str]) -> str:
    """Return a text, or if it is long and was `seen`, the reference to where it stands; remember it otherwise."""
    if len(text) <= _LONGEST_TWICE:
        return text
    if text in seen:
        return seen[text]
    seen[text] = reference
    return text


def reflow(page: str, room: int) -> str:
    """Return a page of Markdown with its paragraphs and list items broken at `room` cells, and the rest as it is."""
    lines: list[str] = []
    prose: list[str] = []
    is_code = False
    for line in page.splitlines():
        is_fence = line.startswith("```")
        continues = bool(line) and not is_code and not is_fence and not line.startswith(("#", "|", "- "))
        if prose and not continues:
            lines += _fill(prose, room)
            prose = []
        if continues or (line.startswith("- ") and not is_code):
            prose.append(line.strip())
        else:
            lines.append(line)
        if is_fence:
            is_code = not is_code
    return "\n".join([*lines, *_fill(prose, room)]) + "\n"


def _fill(prose: list[str], room: int) -> list[str]:
    import textwrap  # noqa: PLC0415  (few runs need it)

    indent = "  " if prose and prose[0].startswith("- ") else ""
    return textwrap.wrap(
        " ".join(prose), max(room, 1), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def draw(columns: Sequence[TextColumn], room: int) -> Iterator[str]:
    """Draw a table; the first column has the names of the rows. Columns without any cell are left out."""
    parts: list[TextColumn] = []
    for column in columns:
        parts += [column, TextColumn("95%", column.intervals, column.rank_of_intervals)]
    columns = [column for column in parts if any(column.cells)]
    every = len(columns)
    # Those of rank 0 always stay: without them the table says nothing.
    for rank in sorted({column.rank for column in columns if column.rank}, reverse=True):
        if _measure(columns, shortest=True) > room:
            columns = [column for column in columns if column.rank < rank]
    names = columns[0]
    spare = max(_SHORTEST, room - (_measure(columns) - _width(names)))
    cells = [shorten_name(cell, spare) for cell in names.cells]
    columns = [names._replace(cells=cells), *columns[1:]]
    widths = [_width(column) for column in columns]
    for row in zip(*([column.name, *column.cells] for column in columns), strict=True):
        yield align(row, widths).rstrip()
    if len(columns) < every:
        yield from wrap("(some columns do not fit; a wider terminal and --format json show them)", room, "  ")


def align(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return the cells of a row side by side, the first one aligned on the left and the others on the right."""
    blanks = [" " * (space - width(cell)) for cell, space in zip(row, widths, strict=True)]
    others = [f"  {blank}{cell}" for blank, cell in zip(blanks[1:], row[1:], strict=True)]
    return f"  {row[0]}{blanks[0]}{''.join(others)}"


def _width(column: TextColumn) -> int:
    return max(map(width, [column.name, *column.cells]))


def _measure(columns: Sequence[TextColumn], *, shortest: bool = False) -> int:
    """Return the width of a table, with the names as short as they may become or as they are."""
    first = min(_width(columns[0]), _SHORTEST) if shortest else _width(columns[0])
    return first + sum(2 + _width(column) for column in columns[1:]) + 2

"""The text of a file: its kind by its name, its encoding, and the lines and columns of its offsets."""

import codecs
import os
import re
from bisect import bisect_right
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from itertools import accumulate, count
from operator import add
from typing import NamedTuple


class Kind(StrEnum):
    """A kind of text, with its name for messages."""

    YAML = "YAML"
    JSON = "JSON"
    JSON_LINES = "JSON Lines"
    TOML = "TOML"
    PYTHON = "Python"

    @property
    def is_json(self) -> bool:
        """Whether it is JSON, or lines of JSON: without comments."""
        return self in (Kind.JSON, Kind.JSON_LINES)

    @property
    def is_program(self) -> bool:
        """Whether it is source code, in which rubrics are literals; it is never rewritten."""
        return self is Kind.PYTHON


_KINDS = {
    ".yaml": Kind.YAML,
    ".yml": Kind.YAML,
    ".json": Kind.JSON,
    ".jsonl": Kind.JSON_LINES,
    ".py": Kind.PYTHON,
    ".pyi": Kind.PYTHON,
    ".pyw": Kind.PYTHON,
    ".toml": Kind.TOML,
}

DATA = frozenset({Kind.YAML, Kind.JSON, Kind.JSON_LINES})
"""The kinds in which our own format is written."""

SUFFIXES = tuple(suffix for suffix, kind in _KINDS.items() if kind in DATA)
"""The suffixes of the files that are found in folders."""

SIGNED_SUFFIXES = tuple(suffix for suffix, kind in _KINDS.items() if kind not in DATA)
"""The suffixes of the files that are found in folders if their bytes show that they may hold a rubric."""


def kind_of(name: str) -> Kind:
    """Return the kind of a file by the suffix of its name; anything else is YAML."""
    at = name.rfind(".")
    return _KINDS.get(name[at:].lower(), Kind.YAML) if at >= 0 else Kind.YAML


class Span(NamedTuple):
    """A half-open range of code points in the text after a BOM: `start` is in, `end` is not."""

    start: int
    end: int


class Edit(NamedTuple):
    """Replace the text at `span` with `text`."""

    span: Span
    text: str


def splice(text: str, edits: Iterable[Edit]) -> str:
    """Return the text after disjoint edits; those at one place stay in their order."""
    pieces, before = [], 0
    for (start, end), new in sorted(edits, key=lambda edit: edit.span):
        pieces += [text[before:start], new]
        before = end
    return "".join([*pieces, text[before:]])


class Position(NamedTuple):
    """A place for readers and the JSON report: 1-based line and column, 0-based offset, in code points."""

    line: int
    column: int
    offset: int


class UndecodableError(Exception):
    """Bytes that are not text; `source` has U+FFFD for invalid bytes, and `span` is the first of these."""

    def __init__(self, message: str, source: "Source", span: Span) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.span = span


def as_bytes(data: bytes | str) -> bytes:
    """Encode a text in UTF-8, like a file; surrogates are kept, to be refused later."""
    return data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")


def stem_of(name: str) -> str:
    """Return the name of a file up to its first dot, without its folder: `summary` for `a/summary.rubric.yaml`.

    What has no name, as stdin, is called `rubric`.
    """
    if name == "<stdin>":
        return "rubric"
    return os.path.basename(name).split(".")[0]  # noqa: PTH119  (a Path would drop a `/` at the end)


# The line ends of YAML 1.2 and of all editors; NEL, U+2028 and U+2029 are not among them.
_LINE_END = r"\r\n|\r|\n"

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARK_STARTS = frozenset(mark[:1] for mark, _ in _MARKS)


class _SourceFields(NamedTuple):
    name: str
    text: str
    encoding: str = "utf-8"
    bom: bytes = b""


class Source(_SourceFields):
    """The text of one file: `name` as messages show it, `bom` the byte order marks, `encoding` the name of a codec."""

    @classmethod
    def from_bytes(cls, name: str, data: bytes) -> "Source":
        """Decode UTF-8, or UTF-16 and UTF-32 with a BOM.

        Raises:
            UndecodableError: with the place of the first invalid byte.
        """
        mark, encoding = b"", "utf-8"
        if data[:1] in _MARK_STARTS:
            mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (mark, encoding))
        # Some tools add a mark before an existing one.
        marks = re.match(b"(?:%b)+" % re.escape(mark), data) if mark else None
        bom = marks[0] if marks else b""
        body = data[len(bom) :]
        try:
            return cls(name, body.decode(encoding), encoding, bom)
        except UnicodeDecodeError as fault:
            before = len(body[: fault.start].decode(encoding))
            source = cls(name, body.decode(encoding, "replace"), encoding, bom)
            found = body[fault.start : fault.end].hex(" ")
            place = f"byte {found} at byte offset {fault.start + len(bom)}"
            message = f"{place} is not {encoding.upper()} ({fault.reason}); save the file as UTF-8"
            raise UndecodableError(message, source, Span(before, before + 1)) from None

    def to_bytes(self, text: str) -> bytes:
        """Encode `text` as this file is encoded, with its BOM."""
        return self.bom + text.encode(self.encoding)

    @cached_property
    def may_be_tagged(self) -> bool:
        """Whether the text holds what begins a YAML tag; asked once, however many documents it holds."""
        return "!" in self.text

    @cached_property
    def _line_starts(self) -> list[int]:
        if "\r" in self.text:
            return [0, *(match.end() for match in re.finditer(_LINE_END, self.text))]
        lengths = map(len, self.text.split("\n"))
        return list(map(add, accumulate(lengths, initial=0), count()))[:-1]  # the last one is behind the last line

    @property
    def line_count(self) -> int:
        """The number of lines; if the text ends with a line end, its last line is empty."""
        return len(self._line_starts)

    def position(self, offset: int) -> Position:
        """Return the line and column of an offset."""
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1, offset)

    def line_span(self, line: int) -> Span:
        """Return the span of the 1-based `line` without its line end."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        return Span(start, end)

    def slice(self, span: Span) -> str:
        """Return the text between `span.start` and `span.end`."""
        return self.text[span.start : span.end]

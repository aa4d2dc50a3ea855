"""Read TOML to a node tree: `tomllib` says whether it is valid and what it means, a scanner where everything is."""

import re
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.source.deadline import check_time
from rubric_lint.source.source import Kind, Source, Span
from rubric_lint.source.tree import MAX_DEPTH, UNTAGGED, Mark, Root, SyntaxFaultError, Tree, too_deep

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = r'"""(?:[^\\]|\\[\s\S])*?""""{0,2}|' + r"'''[\s\S]*?''''{0,2}|" + r'"(?:[^"\\\r\n]|\\.)*"|' + r"'[^'\r\n]*'"
_KEY = re.compile(rf"{_STRING}|[A-Za-z0-9_-]+")
_SCALAR = re.compile(rf"{_STRING}|\d{{4}}-\d\d-\d\d(?:[Tt ]\d\d:[0-9:.]+(?:[Zz]|[-+]\d\d:\d\d)?)?|[^\s,\]}}#]+")
_PLACE = re.compile(r" ?\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)\Z")


@dataclass(slots=True)
class _TomlTable:
    """A table: its span, and its fields with the spans of their keys."""

    start: int
    end: int
    fields: dict[str, tuple[Span, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class _TomlArray:
    """An array, or the tables under one `[[header]]`."""

    start: int
    end: int
    items: list[Any] = field(default_factory=list)


def read_toml(source: Source) -> Tree:
    """Read a TOML file.

    Raises:
        SyntaxFaultError: if it is not valid TOML, or nested too deep.
    """
    text = source.text
    scanner = _TomlScanner(text)
    with suppress(*_NOT_TOML):
        scanner.read()  # finds what is nested too deep, for which `tomllib` needs the square of its depth
    try:
        data = _load(text)
    except tomllib.TOMLDecodeError as fault:
        raise _explain(str(fault), source) from None
    check_time()
    return Tree(source, [Root(_make(scanner.root, data, text, 0), 0)], Kind.TOML, lambda: scanner.comments)


_NOT_TOML = (AttributeError, IndexError, ValueError)
"""What the scanner raises in text that is not TOML: it ends in the middle, or gives a key two meanings."""


def _load(text: str) -> dict[str, Any]:
    """Return the data; an integer with more digits than Python converts is infinite."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        return tomllib.loads(_LONG_INTEGER.sub(lambda found: f"{found[1]}inf".ljust(len(found[0])), text))


_MOST_DIGITS = 4000
_LONG_INTEGER = re.compile(rf"(?<![^\s=,\[])([-+]?)(?:[0-9]_?){{{_MOST_DIGITS},}}+(?![^\s,\]}}#])")

_LONGEST = 60  # characters of a key in a message
_SECOND = re.compile(r"Cannot overwrite|Cannot declare|Duplicate inline table key|Cannot mutate|Cannot redefine")


def _explain(message: str, source: Source) -> SyntaxFaultError:
    found = _PLACE.search(message)
    at = max(len(source.text.rstrip()) - 1, 0)
    if found and found["line"]:
        at = min(source.line_span(int(found["line"])).start + int(found["column"]) - 1, max(len(source.text) - 1, 0))
    words = message[: found.start()] if found else message
    if _SECOND.match(words):
        before = _TomlScanner(source.text[:at])
        with suppress(*_NOT_TOML):
            before.read()
        key = before.last_key
        if key is not None:
            name = source.slice(key)[:_LONGEST]
            return SyntaxFaultError(f"not TOML: `{name}` is already set above; remove one of them", key)
    return SyntaxFaultError(f"not TOML: {words[:1].lower()}{words[1:]}", Span(at, min(at + 1, len(source.text))))


def _extend(tables: Iterable[_TomlTable | _TomlArray], end: int) -> None:
    """Let tables end no earlier than what is written in them."""
    for table in tables:
        table.end = max(table.end, end)


class _TomlScanner:
    """Finds the places of everything in valid TOML; `comments` are filled on the way."""

    def __init__(self, text: str) -> None:
        self.comments: list[Span] = []
        self.last_key: Span | None = None
        self.root = _TomlTable(0, 0)
        self._text = text
        self._at = 0

    def read(self) -> None:
        """Fill the table `root`, from the first statement on; raise SyntaxFaultError for what is too deep."""
        text = self._text
        self._skip(_BLANK)
        self.root.start = self.root.end = last = self._at
        open_tables: list[_TomlTable | _TomlArray] = [self.root]
        while self._at < len(text):
            if text[self._at] == "[":
                _extend(open_tables, last)
                start = self._at
                is_item = text.startswith("[[", start)
                self._at += 1 + is_item
                keys = self._read_keys()
                self._skip(_SPACE)
                self._at += 1 + is_item
                open_tables = self._open(keys, Span(start, self._at), is_item=is_item)
            else:
                self._read_pair(open_tables[-1], 0)  # type: ignore[arg-type]
            last = self._at
            self._skip(_BLANK)
        _extend(open_tables, last)

    def _open(self, keys: list[tuple[str, Span]], header: Span, *, is_item: bool) -> list[_TomlTable | _TomlArray]:
        """Return the tables from the root to that of a header; the last one is that of the header."""
        table, way = self.root, list[_TomlTable | _TomlArray]([self.root])
        for number, (name, span) in enumerate(keys):
            is_last = number == len(keys) - 1
            if name not in table.fields:
                kind = _TomlArray if is_last and is_item else _TomlTable
                table.fields[name] = span, kind(header.start, header.end)
            found = table.fields[name][1]
            way.append(found)
            if isinstance(found, _TomlArray):
                if is_last and is_item:
                    found.items.append(_TomlTable(header.start, header.end))
                found = found.items[-1]
                way.append(found)
            table = found
        return way

    def _read_keys(self) -> list[tuple[str, Span]]:
        keys: list[tuple[str, Span]] = []
        while True:
            if len(keys) > MAX_DEPTH:
                raise too_deep(self._at)
            self._skip(_SPACE)
            place = self._advance(_KEY.match(self._text, self._at))
            written = self._text[slice(*place)]
            key = next(iter(tomllib.loads(f"{written}=0"))) if written[0] in "\"'" else written
            keys.append((key, place))
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                self.last_key = Span(keys[0][1].start, keys[-1][1].end)
                return keys
            self._at += 1

    def _read_pair(self, table: _TomlTable, depth: int) -> None:
        """Read a key and its value into a table; a dotted key makes tables on its way."""
        keys = self._read_keys()
        self._at += 1  # =
        self._skip(_SPACE)
        value = self._read_value(depth)
        for name, span in keys[:-1]:
            _, inner = table.fields.setdefault(name, (span, _TomlTable(span.start, self._at)))
            inner.end = max(inner.end, self._at)
            table = inner
        name, span = keys[-1]
        table.fields[name] = span, value

    def _read_value(self, depth: int) -> Any:
        text, start = self._text, self._at
        if depth > MAX_DEPTH:
            raise too_deep(start)
        if text[start] == "[":
            array = _TomlArray(start, start)
            self._at += 1
            while self._next_item("]"):
                array.items.append(self._read_value(depth + 1))
            array.end = self._at
            return array
        if text[start] == "{":
            table = _TomlTable(start, start)
            self._at += 1
            while self._next_item("}"):
                self._read_pair(table, depth + 1)
            table.end = self._at
            return table
        return self._advance(_SCALAR.match(self._text, self._at))

    def _next_item(self, closing: str) -> bool:
        """Skip to the next item of an array or an inline table; return whether there is one."""
        self._skip(_BLANK)
        if self._text.startswith(",", self._at):
            self._at += 1
            self._skip(_BLANK)
        if self._text.startswith(closing, self._at):
            self._at += 1
            return False
        return True

    def _advance(self, found: re.Match[str] | None) -> Span:
        start = self._at
        self._at = found.end() if found else len(self._text)
        return Span(start, self._at)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        start, end = self._advance(pattern.match(self._text, self._at))
        if pattern is _BLANK and "#" in self._text[start:end]:
            self.comments += [Span(*found.span()) for found in _COMMENT.finditer(self._text, start, end)]


_COMMENT = re.compile(r"#[^\r\n]*")


def _make(part: Any, data: Any, text: str, depth: int) -> Any:
    """Return the node of a scanned part, with the value that `tomllib` read."""
    if depth > MAX_DEPTH:
        raise too_deep(part.start)
    start, end = Mark(part.start), Mark(part.end)
    if isinstance(part, _TomlTable):
        pairs = []
        for name, (span, value) in part.fields.items():
            key = ScalarNode(UNTAGGED, name, Mark(span.start), Mark(span.end), style='"')
            pairs.append((key, _make(value, data[name], text, depth + 1)))
        return MappingNode(UNTAGGED, pairs, start, end, flow_style=True)
    if isinstance(part, _TomlArray):
        items = [_make(item, value, text, depth + 1) for item, value in zip(part.items, data, strict=True)]
        return SequenceNode(UNTAGGED, items, start, end, flow_style=True)
    value, style = _write(data, text[part.start : part.end])
    return ScalarNode(UNTAGGED, value, start, end, style=style)


_TOO_LARGE = 10**4000
"""Integers from here on are read as infinite, as in YAML; Python refuses to write them as decimals."""


def _write(value: Any, written: str) -> tuple[str, str | None]:
    """Return a scalar as YAML writes it, and its style; a date is a string."""
    match value:
        case bool():
            return str(value).lower(), None
        case int() if abs(value) < _TOO_LARGE:
            return str(value), None
        case int():
            number = ".inf" if value > 0 else "-.inf"
            return number, None
        case float():
            plain = written.replace("_", "").lstrip("+")
            return plain.replace("inf", ".inf").replace("nan", ".nan"), None
        case str():
            return value, '"'
    return str(value), '"'

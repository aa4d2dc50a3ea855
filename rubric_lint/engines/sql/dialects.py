"""Write SQL expressions for each engine."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from textwrap import indent

from rubric_lint.engines.sql.patterns import Patterns

_SAFE = re.compile(r"[\w .,/()@+=!<>\[\]#&|~^*\"`:-]*")
"""A text that may stand in a literal as it is: nothing that ends it, escapes, is filled in or is invisible."""


def choose(ways: Iterable[tuple[str, str]], default: str = "") -> str:
    """Return the expression for the first condition that is true."""
    lines = [f"WHEN {condition} THEN {value}" for condition, value in ways]
    if default:
        lines.append(f"ELSE {default}")
    return "\n".join(["CASE", indent("\n".join(lines), "  "), "END"])


def _enclose(items: Iterable[str]) -> str:
    return "\n" + indent(",\n".join(items), "  ") + "\n"


class Dialect(ABC):
    """The SQL of an engine. Arguments and results are SQL expressions unless their names say otherwise."""

    name: str
    label: str
    text_type: str
    list_type: str
    patterns: Patterns
    quote: str
    known_texts: str
    unknown_types: str
    is_collated: str

    def identifier(self, name: str) -> str:
        """Return a quoted name."""
        return f"{self.quote}{name.replace(self.quote, 2 * self.quote)}{self.quote}"

    def table(self, name: str) -> str:
        """Return a quoted name of a table, which may be preceded by those of its schema and catalog."""
        parts = name.split(".") if re.fullmatch(r"\w+(?:\.\w+){0,2}", name) else [name]
        return ".".join(map(self.identifier, parts))

    def text(self, value: str) -> str:
        """Return a literal; a text with special characters is written in hexadecimal."""
        if _SAFE.fullmatch(value) and value.isprintable():
            return f"'{value}'"
        return self.decode(value.encode().hex())

    def texts(self, values: Iterable[str]) -> str:
        """Return a list of literals."""
        return self.array(map(self.text, values))

    @abstractmethod
    def decode(self, digits: str) -> str:
        """Return a text given as the hexadecimal digits of its UTF-8."""

    @abstractmethod
    def pattern(self, pattern: str) -> str:
        """Return a literal with a regular expression."""

    @abstractmethod
    def trim(self, text: str, characters: str) -> str:
        """Return a text without these characters at both ends."""

    @abstractmethod
    def trim_left(self, text: str, characters: str) -> str:
        """Return a text without these characters at its start."""

    @abstractmethod
    def matches(self, text: str, pattern: str) -> str:
        """Return whether a regular expression is found in a text."""

    @abstractmethod
    def replace(self, text: str, pattern: str, by: str) -> str:
        """Return a text with all matches replaced by a literal text."""

    @abstractmethod
    def extract(self, text: str, pattern: str) -> str:
        """Return the first group of the first match, empty without a match."""

    @abstractmethod
    def extract_all(self, text: str, pattern: str) -> str:
        """Return all matches."""

    @abstractmethod
    def array(self, items: Iterable[str]) -> str:
        """Return a list."""

    @abstractmethod
    def struct(self, **fields: str) -> str:
        """Return a struct."""

    @abstractmethod
    def transform(self, items: str, item: str, index: str, body: str) -> str:
        """Return the list of what `body` makes of each item; `index` is the name of its place, see `first`."""

    @abstractmethod
    def keep(self, items: str, item: str, index: str, condition: str) -> str:
        """Return the items for which the condition is true."""

    @abstractmethod
    def at(self, items: str, place: str) -> str:
        """Return the item at a place, counted from 1, or NULL."""

    @abstractmethod
    def place(self, items: str, value: str) -> str:
        """Return the place of the first item with a value, counted from 1; NULL or 0 without one."""

    @abstractmethod
    def count(self, items: str) -> str:
        """Return the number of items."""

    @abstractmethod
    def distinct(self, items: str) -> str:
        """Return the items without repetitions."""

    @abstractmethod
    def ordered(self, items: str) -> str:
        """Return the items in ascending order."""

    @abstractmethod
    def join(self, items: str) -> str:
        """Return the texts of a list, one a line."""

    @abstractmethod
    def to_json(self, struct: str) -> str:
        """Return a struct as JSON text."""

    @abstractmethod
    def counted(self, index: str, first: int) -> str:
        """Return the place that an index stands for, where the first item has the number `first`."""


class DuckDB(Dialect):
    """The SQL of DuckDB; tested with 2.0."""

    name = "duckdb"
    label = "DuckDB"
    text_type = "VARCHAR"
    list_type = "VARCHAR[]"
    patterns = Patterns(backtracks=False)
    quote = '"'
    known_texts = r"\A(?:VARCHAR|JSON|\x22NULL\x22)\z"
    unknown_types = (
        r"\b(?:DECIMAL|U?HUGEINT|BIGNUM|VARINT|DATE|TIME\w*|INTERVAL|BLOB|BIT|UUID|ENUM|MAP|UNION|JSON|VARIANT"
        r"|GEO\w*)\b"
    )
    is_collated = "lower(current_setting('default_collation')) NOT IN ('', 'binary', 'c', 'posix')"

    def decode(self, digits: str) -> str:
        """Return a text given as the hexadecimal digits of its UTF-8."""
        return f"decode(unhex('{digits}'))"

    def pattern(self, pattern: str) -> str:
        """Return a literal with a regular expression; backslashes mean nothing in literals."""
        return f"'{pattern}'"

    def trim(self, text: str, characters: str) -> str:
        """Return a text without these characters at both ends."""
        return f"trim({text}, {characters})"

    def trim_left(self, text: str, characters: str) -> str:
        """Return a text without these characters at its start."""
        return f"ltrim({text}, {characters})"

    def matches(self, text: str, pattern: str) -> str:
        """Return whether a regular expression is found in a text."""
        return f"regexp_matches({text}, {self.pattern(pattern)})"

    def replace(self, text: str, pattern: str, by: str) -> str:
        """Return a text with all matches replaced by a literal text."""
        return f"regexp_replace({text}, {self.pattern(pattern)}, '{by}', 'g')"

    def extract(self, text: str, pattern: str) -> str:
        """Return the first group of the first match, empty without a match."""
        return f"regexp_extract({text}, {self.pattern(pattern)}, 1)"

    def extract_all(self, text: str, pattern: str) -> str:
        """Return all matches."""
        return f"regexp_extract_all({text}, {self.pattern(pattern)}, 0)"

    def array(self, items: Iterable[str]) -> str:
        """Return a list."""
        return f"[{', '.join(items)}]"

    def struct(self, **fields: str) -> str:
        """Return a struct."""
        parts = _enclose(f"{self.identifier(name)}: {value}" for name, value in fields.items())
        return f"{{{parts}}}"

    def transform(self, items: str, item: str, index: str, body: str) -> str:
        """Return the list of what `body` makes of each item."""
        return f"list_transform({items}, lambda {item}, {index}: {body})"

    def keep(self, items: str, item: str, index: str, condition: str) -> str:
        """Return the items for which the condition is true."""
        return f"list_filter({items}, lambda {item}, {index}: {condition})"

    def at(self, items: str, place: str) -> str:
        """Return the item at a place, counted from 1, or NULL."""
        return f"list_extract({items}, {place})"

    def place(self, items: str, value: str) -> str:
        """Return the place of the first item with a value, counted from 1; NULL without one."""
        return f"list_position({items}, {value})"

    def count(self, items: str) -> str:
        """Return the number of items."""
        return f"len({items})"

    def distinct(self, items: str) -> str:
        """Return the items without repetitions."""
        return f"list_distinct({items})"

    def ordered(self, items: str) -> str:
        """Return the items in ascending order."""
        return f"list_sort({items})"

    def join(self, items: str) -> str:
        """Return the texts of a list, one a line."""
        return f"array_to_string({items}, chr(10))"

    def to_json(self, struct: str) -> str:
        """Return a struct as JSON text; null fields are written."""
        return f"CAST(to_json({struct}) AS VARCHAR)"

    def counted(self, index: str, first: int) -> str:
        """Return the place that an index, counted from 1, stands for."""
        return index if first == 1 else f"({index} - 1)"


class Spark(Dialect):
    """The SQL of Spark; tested with 4.3."""

    name = "spark-sql"
    label = "Spark SQL"
    text_type = "STRING"
    list_type = "ARRAY<STRING>"
    patterns = Patterns(backtracks=True)
    quote = "`"
    known_texts = r"\A(?:string|varchar|char|void)\b"
    unknown_types = (
        r"[:<](?:decimal|date|timestamp|timestamp_\w+|time|interval|binary|map|variant|void|char|varchar|geo\w+)\b"
    )
    is_collated = "collation('') <> 'SYSTEM.BUILTIN.UTF8_BINARY'"

    def decode(self, digits: str) -> str:
        """Return a text given as the hexadecimal digits of its UTF-8."""
        return f"decode(unhex('{digits}'), 'UTF-8')"

    def pattern(self, pattern: str) -> str:
        """Return a raw literal with a regular expression."""
        return f"r'{pattern}'"

    def trim(self, text: str, characters: str) -> str:
        """Return a text without these characters at both ends."""
        return f"trim(BOTH {characters} FROM {text})"

    def trim_left(self, text: str, characters: str) -> str:
        """Return a text without these characters at its start."""
        return f"trim(LEADING {characters} FROM {text})"

    def matches(self, text: str, pattern: str) -> str:
        """Return whether a regular expression is found in a text."""
        return f"regexp_like({text}, {self.pattern(pattern)})"

    def replace(self, text: str, pattern: str, by: str) -> str:
        """Return a text with all matches replaced by a literal text."""
        return f"regexp_replace({text}, {self.pattern(pattern)}, '{by}')"

    def extract(self, text: str, pattern: str) -> str:
        """Return the first group of the first match, empty without a match."""
        return f"regexp_extract({text}, {self.pattern(pattern)}, 1)"

    def extract_all(self, text: str, pattern: str) -> str:
        """Return all matches."""
        return f"regexp_extract_all({text}, {self.pattern(pattern)}, 0)"

    def array(self, items: Iterable[str]) -> str:
        """Return a list."""
        return f"array({', '.join(items)})"

    def struct(self, **fields: str) -> str:
        """Return a struct."""
        parts = _enclose(f"'{name}', {value}" for name, value in fields.items())
        return f"named_struct({parts})"

    def transform(self, items: str, item: str, index: str, body: str) -> str:
        """Return the list of what `body` makes of each item."""
        return f"transform({items}, ({item}, {index}) -> {body})"

    def keep(self, items: str, item: str, index: str, condition: str) -> str:
        """Return the items for which the condition is true."""
        return f"filter({items}, ({item}, {index}) -> {condition})"

    def at(self, items: str, place: str) -> str:
        """Return the item at a place, counted from 1, or NULL."""
        return f"get({items}, CAST({place} AS INT) - 1)"

    def place(self, items: str, value: str) -> str:
        """Return the place of the first item with a value, counted from 1; 0 without one."""
        return f"array_position({items}, {value})"

    def count(self, items: str) -> str:
        """Return the number of items."""
        return f"size({items})"

    def distinct(self, items: str) -> str:
        """Return the items without repetitions."""
        return f"array_distinct({items})"

    def ordered(self, items: str) -> str:
        """Return the items in ascending order."""
        return f"array_sort({items})"

    def join(self, items: str) -> str:
        """Return the texts of a list, one a line."""
        return f"array_join({items}, chr(10))"

    def to_json(self, struct: str) -> str:
        """Return a struct as JSON text."""
        return f"to_json({struct})"

    def counted(self, index: str, first: int) -> str:
        """Return the place that an index, counted from 0, stands for."""
        return index if first == 0 else f"({index} + 1)"


DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (DuckDB(), Spark())}
"""The dialects by name."""

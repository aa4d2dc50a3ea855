"""Write SQL expressions for each engine."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The SQL of an engine, by templates; arguments and results of its methods are SQL expressions.

    `known_texts` matches the types of columns of texts, `unknown_types` types that JSON does not have; `is_collated` is
    whether texts may be equal that are written in different ways. Places count from 1, `at` gives NULL without an item,
    and `place` NULL or 0.
    """

    label: str
    text_type: str
    list_type: str
    patterns: Patterns
    quote: str
    known_texts: str
    unknown_types: str
    is_collated: str
    templates: Mapping[str, str]

    def __call__(self, template: str, *values: str) -> str:
        """Return an expression.

        `matches` tells whether a regular expression is found in a text, `replace` replaces all its matches by a literal
        text, `extract` gives the first group of the first match, or an empty text, and `extract_all` all matches.
        `trim` and `trim_left` take characters from both ends or the start of a text. Of a list, `transform` gives what
        its last argument makes of each item, and `keep` those for which it is true; the arguments before are names for
        the item and for its index, which `counted` counts from 1. `at` gives the item at a place, `place` that of the
        first item with a value, `count` how many items there are, `distinct` those without repetitions, `join` their
        texts, one a line. `to_json` gives the JSON text of a struct.
        """
        return self.templates[template].format(*values)

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
        return self("decode", value.encode().hex())

    def array(self, items: Iterable[str]) -> str:
        """Return a list."""
        return self("array", ", ".join(items))

    def struct(self, **fields: str) -> str:
        """Return a struct."""
        parts = ",\n".join(self("field", name, value) for name, value in fields.items())
        return self("struct", f"\n{indent(parts, '  ')}\n")


_DUCKDB = Dialect(  # tested with 2.0
    label="DuckDB",
    text_type="VARCHAR",
    list_type="VARCHAR[]",
    patterns=Patterns(backtracks=False),
    quote='"',
    known_texts=r"\A(?:VARCHAR|JSON|\x22NULL\x22)\z",
    unknown_types=(
        r"\b(?:DECIMAL|U?HUGEINT|BIGNUM|VARINT|DATE|TIME\w*|INTERVAL|BLOB|BIT|UUID|ENUM|MAP|UNION|JSON|VARIANT"
        r"|GEO\w*)\b"
    ),
    is_collated="lower(current_setting('default_collation')) NOT IN ('', 'binary', 'c', 'posix')",
    templates={
        "decode": "decode(unhex('{}'))",
        "trim": "trim({}, {})",
        "trim_left": "ltrim({}, {})",
        "matches": "regexp_matches({}, '{}')",
        "replace": "regexp_replace({}, '{}', '{}', 'g')",
        "extract": "regexp_extract({}, '{}', 1)",
        "extract_all": "regexp_extract_all({}, '{}', 0)",
        "array": "[{}]",
        "field": '"{}": {}',
        "struct": "{{{}}}",
        "transform": "list_transform({}, lambda {}, {}: {})",
        "keep": "list_filter({}, lambda {}, {}: {})",
        "counted": "{}",
        "at": "list_extract({}, {})",
        "place": "list_position({}, {})",
        "count": "len({})",
        "distinct": "list_distinct({})",
        "join": "array_to_string({}, chr(10))",
        "to_json": "CAST(to_json({}) AS VARCHAR)",  # null fields are written
    },
)

_SPARK = Dialect(  # tested with 4.3
    label="Spark SQL",
    text_type="STRING",
    list_type="ARRAY<STRING>",
    patterns=Patterns(backtracks=True),
    quote="`",
    known_texts=r"\A(?:string|varchar|char|void)\b",
    unknown_types=(
        r"[:<](?:decimal|date|timestamp|timestamp_\w+|time|interval|binary|map|variant|void|char|varchar|geo\w+)\b"
    ),
    is_collated="collation('') <> 'SYSTEM.BUILTIN.UTF8_BINARY'",
    templates={
        "decode": "decode(unhex('{}'), 'UTF-8')",
        "trim": "trim(BOTH {1} FROM {0})",
        "trim_left": "trim(LEADING {1} FROM {0})",
        "matches": "regexp_like({}, r'{}')",
        "replace": "regexp_replace({}, r'{}', '{}')",
        "extract": "regexp_extract({}, r'{}', 1)",
        "extract_all": "regexp_extract_all({}, r'{}', 0)",
        "array": "array({})",
        "field": "'{}', {}",
        "struct": "named_struct({})",
        "transform": "transform({}, ({}, {}) -> {})",
        "keep": "filter({}, ({}, {}) -> {})",
        "counted": "({} + 1)",
        "at": "get({}, CAST({} AS INT) - 1)",
        "place": "array_position({}, {})",
        "count": "size({})",
        "distinct": "array_distinct({})",
        "join": "array_join({}, chr(10))",
        "to_json": "to_json({})",
    },
)

DIALECTS = {"duckdb": _DUCKDB, "spark-sql": _SPARK}
"""The dialects by name."""

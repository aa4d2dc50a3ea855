"""Write new scalars, keys and collections as the document around them is written."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.nodes import MappingNode, SequenceNode

from rubric_lint.source.document import Document
from rubric_lint.source.lines import new_line
from rubric_lint.source.patch.layout import Layouts, is_block
from rubric_lint.source.scalar import read_plain, write_scalar
from rubric_lint.source.tree import walk_nodes

_PLAIN_KEY = re.compile(r"[\w./~](?:[\w ./-]*[\w./-])?")
_PLAIN_TEXT = re.compile(r"(?:\w|\((?=\w))(?:[^\W]|[-.,;!?()\[\]{}'\"/&%$+*=<>]|:(?=\w)| (?=[^ #]))*")
_NOT_PRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NOT_LITERAL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_JSON = re.compile(r"[\[{\s]*\"(?:[^\"\\]|\\.)*\"\s*:")
_INDENT = 2


@dataclass(frozen=True)
class DocumentStyle:
    """How a document is written: its line ends, its indentation, and in brackets its separators.

    `field_indent` and `item_indent` are the columns by which a mapping and a list are indented below their key.
    `indent` is the white space of one level between brackets, None if everything is on one line. `flow_keys` are the
    keys whose values are in brackets.
    """

    is_json: bool
    new_line: str
    field_indent: int = _INDENT
    item_indent: int = _INDENT
    indent: str | None = None
    colon: str = ": "
    comma: str = ", "
    flow_keys: frozenset[str] = frozenset()

    def write_key(self, name: str, old: str = "") -> str:
        """Return the text of a key, in the quotes of the old one."""
        if self.is_json or old[:1] == '"':
            return _quote(name)
        if old[:1] == "'":
            return _quote_once(name)
        return name if _PLAIN_KEY.fullmatch(name) else _quote(name)

    def write_scalar(self, value: Any, quotes: str = "", column: int | None = None) -> str:
        """Return the text of a scalar, in the quotes of an old one.

        The further lines of a text block are indented more than `column`; None means that there can be none.
        """
        if not isinstance(value, str):
            return _write_number(value)
        if self.is_json or quotes == '"':
            return _quote(value)
        if quotes == "'":
            return _quote_once(value)
        if "\n" in value and column is not None and _is_literal(value):
            head = "|" if value.endswith("\n") else "|-"
            indent = " " * (column + _INDENT)
            lines = [indent + line if line else "" for line in value.removesuffix("\n").split("\n")]
            return self.new_line.join([head, *lines])
        if column is not None and _PLAIN_TEXT.fullmatch(value) and read_plain(value) == (value, None):
            return value
        is_clear = value.isprintable() and ":" not in value  # libyaml refuses a URL between brackets
        return write_scalar(value) if is_clear else _quote(value)


def _write_number(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        names = {math.inf: ".inf", -math.inf: "-.inf"}
        return names.get(value, ".nan")
    return json.dumps(value)


def _quote(value: str) -> str:
    return _NOT_PRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def _quote_once(value: str) -> str:
    is_simple = value.isprintable() and not _NOT_PRINTABLE.search(value)
    return "'" + value.replace("'", "''") + "'" if is_simple else _quote(value)


def _is_literal(value: str) -> bool:
    """Return whether a text block can hold a string with line ends."""
    lines = value.split("\n")
    has_blanks = any(line and not line.strip() for line in lines)
    is_clear = lines[0][:1] not in ("", " ") and not value.endswith("\n\n")
    return is_clear and not has_blanks and not _NOT_LITERAL.search(value)


def find_style(layouts: Layouts) -> DocumentStyle:
    """Find out how a document is written."""
    found: DocumentStyle | None = layouts.style
    if found is None:
        found = layouts.style = _find_style(layouts)
    return found


def _find_style(layouts: Layouts) -> DocumentStyle:
    document, end = layouts.document, new_line(layouts.document)
    text, layout = document.source.text, layouts.of(document.root)
    is_json = document.kind.is_json or (layout.is_flow and _JSON.match(text, layout.start) is not None)
    if not is_json:
        fields, items = _find_indents(document, layouts)
        flow_keys = frozenset(_find_flow_keys(document))
        return DocumentStyle(is_json=False, new_line=end, field_indent=fields, item_indent=items, flow_keys=flow_keys)
    if not layout.entries:
        return DocumentStyle(is_json=True, new_line=end)
    opening = text[layout.start + 1 : layout.entries[0].start]
    indent = opening.rpartition("\n")[2][layout.column :] if "\n" in opening else None
    mapping = next((node for node in walk_nodes(document.root) if type(node) is MappingNode and node.value), None)
    colon = ": "
    if mapping is not None:
        key, value = mapping.value[0]
        colon = text[key.end_mark.index : value.start_mark.index]
    comma = "," + colon.partition(":")[2]
    return DocumentStyle(is_json=True, new_line=end, indent=indent, colon=colon, comma=comma)


def _find_indents(document: Document, layouts: Layouts) -> tuple[int, int]:
    """Return by how much the first mapping and the first list below a key are indented."""
    found: dict[type, int] = {}
    for node in walk_nodes(document.root):
        if type(node) is MappingNode and is_block(node):
            for _, value in node.value:
                if is_block(value):
                    found.setdefault(type(value), layouts.column_of(value) - layouts.column_of(node))
        if len(found) == 2:
            break
    fields = max(found.get(MappingNode, _INDENT), 1)
    return fields, max(found.get(SequenceNode, fields), 0)


def _find_flow_keys(document: Document) -> Iterator[str]:
    """Find the keys that have collections in brackets, and none over lines."""
    has_lines: dict[str, bool] = {}
    for node in walk_nodes(document.root):
        if type(node) is not MappingNode:
            continue
        for key, value in node.value:
            if type(value) in (MappingNode, SequenceNode) and value.value:
                name = document.name_key(key)
                has_lines[name] = has_lines.get(name, False) or is_block(value)
    yield from (name for name, has in has_lines.items() if not has)

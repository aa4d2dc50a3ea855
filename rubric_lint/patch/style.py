"""Write new scalars, keys and collections as the document around them is written."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.edits.lines import new_line
from rubric_lint.patch.layout import Layouts, is_block
from rubric_lint.text.document import Document
from rubric_lint.text.scalar import write_scalar
from rubric_lint.text.tree import walk_nodes

_PLAIN_KEY = re.compile(r"[\w./~](?:[\w ./-]*[\w./-])?")
_NOT_PRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NOT_LITERAL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_INDENT = 2


@dataclass(frozen=True)
class DocumentStyle:
    """How a document is written: its line ends, its indentation, and in brackets its separators.

    `field_indent` and `item_indent` are the columns by which a mapping and a list are indented below their key.
    `indent` is the white space of one level between brackets, None if everything is on one line.
    """

    is_json: bool
    new_line: str
    field_indent: int = _INDENT
    item_indent: int = _INDENT
    indent: str | None = None
    colon: str = ": "
    comma: str = ", "
    has_short_lists: bool = False

    def write_key(self, name: str, old: str = "") -> str:
        """Return the text of a key, in the quotes of the old one."""
        if self.is_json or old[:1] == '"':
            return _quote(name)
        if old[:1] == "'":
            return _quote_once(name)
        return name if _PLAIN_KEY.fullmatch(name) else _quote(name)

    def write_scalar(self, value: Any, old: ScalarNode | None = None, column: int | None = None) -> str:
        """Return the text of a scalar, in the style of an old one.

        The further lines of a text block are indented more than `column`; None means that there can be none.
        """
        if not isinstance(value, str):
            return _write_number(value)
        if self.is_json:
            return _quote(value)
        style = "" if old is None else old.style or ""
        if style == "'":
            return _quote_once(value)
        if style == '"':
            return _quote(value)
        if "\n" in value and column is not None and _is_literal(value):
            return self._write_block(value, " " * (column + _INDENT))
        return _quote(value) if _needs_quotes(value) else write_scalar(value)

    def _write_block(self, value: str, indent: str) -> str:
        head = "|" if value.endswith("\n") else "|-"
        lines = [indent + line if line else "" for line in value.removesuffix("\n").split("\n")]
        return self.new_line.join([head, *lines])


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


def _needs_quotes(value: str) -> bool:
    return not value.isprintable() or " #" in value


def _is_literal(value: str) -> bool:
    """Return whether a text block can hold a string with line ends."""
    lines = value.split("\n")
    has_blanks = any(line and not line.strip() for line in lines)
    is_clear = lines[0][:1] not in ("", " ") and not value.endswith("\n\n")
    return is_clear and not has_blanks and not _NOT_LITERAL.search(value)


def find_style(document: Document, layouts: Layouts) -> DocumentStyle:
    """Find out how a document is written."""
    text, end = document.source.text, new_line(document)
    collections = [node for node in walk_nodes(document.root) if type(node) in _COLLECTIONS and node.value]
    if not document.kind.is_json:
        fields, items = _find_indents(collections, layouts)
        return DocumentStyle(False, end, fields, items)
    if not collections:
        return DocumentStyle(True, end)
    layout = layouts.of(collections[0])
    opening = text[layout.start + 1 : layout.entries[0].start]
    return DocumentStyle(
        True,
        end,
        indent=opening.rpartition("\n")[2][layout.column :] if "\n" in opening else None,
        colon=_find_colon(text, collections),
        comma=_find_comma(text, collections),
        has_short_lists=_has_short_lists(text, collections),
    )


_COLLECTIONS = (MappingNode, SequenceNode)


def _find_indents(collections: list[Any], layouts: Layouts) -> tuple[int, int]:
    """Return by how much the first mapping and the first list below a key are indented."""
    found: dict[type, int] = {}
    for node in collections:
        if type(node) is SequenceNode or node.flow_style:
            continue
        for _, value in node.value:
            if type(value) not in found and is_block(value):
                found[type(value)] = layouts.column_of(value) - layouts.column_of(node)
        if len(found) == len(_COLLECTIONS):
            break
    fields = max(found.get(MappingNode, _INDENT), 1)
    return fields, max(found.get(SequenceNode, fields), 0)


def _find_colon(text: str, collections: list[Any]) -> str:
    """Return the colon between a key and its value, with the blanks after it."""
    for node in collections:
        if type(node) is MappingNode:
            key, value = node.value[0]
            return text[key.end_mark.index : value.start_mark.index]
    return ": "


def _find_comma(text: str, collections: list[Any]) -> str:
    """Return the comma between two values on one line, with the blanks after it."""
    for node in collections:
        if len(node.value) > 1:
            first, second = node.value[:2]
            if type(node) is MappingNode:
                first, second = first[1], second[0]
            separator = text[first.end_mark.index : second.start_mark.index]
            if "\n" not in separator:
                return separator
    return ", "


def _has_short_lists(text: str, collections: list[Any]) -> bool:
    """Return whether the first list of scalars is on one line."""
    for node in collections:
        is_list = type(node) is SequenceNode and len(node.value) > 1
        if is_list and all(type(item) is ScalarNode for item in node.value):
            return "\n" not in text[node.start_mark.index : node.end_mark.index]
    return False

"""Write what a key or a value becomes when the user accepts it, in YAML, JSON or TOML, with stops to fill in."""

import json
import re
from collections.abc import Mapping
from itertools import count
from typing import Any

from rubric_lint.format.bands import HIGHEST, LOWEST
from rubric_lint.lsp.schema_walk import Spot, find_words, list_fields_at, merge, open_below
from rubric_lint.text.kinds import Kind

_DEEPEST = 4
_IN_CHOICE = re.compile(r"([\\,|])")
_ESCAPED = re.compile(r"([\\$}])")


class Writer:
    """A writer of keys with their values, with numbered stops if the editor supports snippets.

    `margin` is the indentation below the line of the cursor: editors indent further lines like that line.
    """

    def __init__(self, kind: Kind, *, is_flow: bool, margin: str, snippets: bool) -> None:
        self._kind = kind
        self._is_flow = is_flow or kind.is_json
        self._margin = margin
        self._snippets = snippets
        self._stops = count(1)

    def write_key(self, name: str) -> str:
        """Write a key."""
        if self._kind.is_json:
            return json.dumps(name, ensure_ascii=False)
        return name if re.fullmatch(r"[\w$.-]+", name) else json.dumps(name, ensure_ascii=False)

    def write_field(self, name: str, spots: list[Spot], margin: str | None = None, depth: int = 0) -> str:
        """Write a key, a colon, and the value that its schema suggests."""
        sign = " =" if self._kind is Kind.TOML else ":"
        value = self._write_value(spots, self._margin if margin is None else margin, depth)
        key = self._escape(self.write_key(name))
        return f"{key}{sign}{value}" if value.startswith("\n") or not value else f"{key}{sign} {value}"

    def _write_value(self, spots: list[Spot], margin: str, depth: int) -> str:
        facts = merge(spots)
        words = find_words(spots)
        types = facts.get("type", ())
        types = [types] if isinstance(types, str) else list(types)
        if words:
            return self._choice(words)
        if "array" in types and facts.get("maxItems") == 2:
            return f"[{self._stop(str(LOWEST))}, {self._stop(str(HIGHEST))}]"
        suggested = _suggest(facts)
        if suggested is not None:
            return self._stop(self._scalar(suggested))
        if "string" in types or not types:
            return self._text()
        if "array" in types:
            return self._write_list(spots, margin, depth)
        if "object" in types:
            return self._write_mapping(spots, margin, depth)
        return self._stop("1") if {"number", "integer"} & {*types} else self._stop("")

    def _write_list(self, spots: list[Spot], margin: str, depth: int) -> str:
        below = open_below(spots, 0, {})
        fields = self._needed(below) if depth < _DEEPEST else []
        if not fields:
            item = self._choice(words) if (words := find_words(below)) else self._text()
            return f"[{item}]" if self._is_flow or self._kind is Kind.TOML else f"\n{margin}  - {item}"
        if self._is_flow:
            return f"[{{{self._join(fields, margin, depth)}}}]"
        return f"\n{margin}  - " + self._join(fields, margin + "    ", depth)

    def _write_mapping(self, spots: list[Spot], margin: str, depth: int) -> str:
        fields = self._needed(spots) if depth < _DEEPEST else []
        if self._is_flow or self._kind is Kind.TOML:
            return f"{{{self._join(fields, margin, depth)}}}" if fields else f"{{{self._stop('')}}}"
        inner = self._join(fields, margin + "  ", depth) if fields else self._stop("")
        return f"\n{margin}  {inner}"

    def _join(self, fields: Mapping[str, list[Spot]] | list[tuple[str, list[Spot]]], margin: str, depth: int) -> str:
        pairs = fields.items() if isinstance(fields, Mapping) else fields
        written = [self.write_field(name, spots, margin, depth + 1) for name, spots in pairs]
        return (", " if self._is_flow else f"\n{margin}").join(written)

    def _needed(self, spots: list[Spot]) -> list[tuple[str, list[Spot]]]:
        """Return the fields that a mapping must have, with their subschemas."""
        needed = {name for spot in spots if not spot.is_asked for name in spot.node.get("required", ())}
        fields = list_fields_at(spots, {})
        return [(name, open_below(spots, name)) for name in fields if name in needed]

    def _text(self) -> str:
        return f'"{self._stop("")}"' if self._kind is not Kind.YAML else self._stop("")

    def _choice(self, words: list[Any]) -> str:
        written = [self._scalar(word) for word in words]
        if not self._snippets:
            return ""
        if len(written) == 1:
            return self._stop(written[0])
        choices = ",".join(_IN_CHOICE.sub(r"\\\1", each) for each in written)
        return f"${{{next(self._stops)}|{choices}|}}"

    def _scalar(self, value: Any) -> str:
        return write_value(value, self._kind)

    def _stop(self, default: str) -> str:
        if not self._snippets:
            return default
        return f"${{{next(self._stops)}:{self._escape(default)}}}" if default else f"${next(self._stops)}"

    def _escape(self, text: str) -> str:
        return _ESCAPED.sub(r"\\\1", text) if self._snippets else text


def write_value(value: Any, kind: Kind) -> str:
    """Write a scalar as every reader of this kind of file reads it."""
    if isinstance(value, str) and kind is Kind.YAML:
        from rubric_lint.lsp.test_values import write_scalar  # noqa: PLC0415

        return write_scalar(value)
    return json.dumps(value, ensure_ascii=False)


def _suggest(facts: Mapping[str, Any]) -> Any:
    """Return the scalar that a schema suggests: its only snippet, or its default; None without one."""
    bodies = [snippet["body"] for snippet in facts.get("x-snippets", ())]
    found = bodies[0] if len(bodies) == 1 else facts.get("default")
    return found if isinstance(found, str | int | float) and found != "" else None

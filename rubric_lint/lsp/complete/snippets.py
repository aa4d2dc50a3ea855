"""Write what a key or a value becomes when the user accepts it, in YAML, JSON or TOML, with stops to fill in."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from rubric_lint.format.criterion import HIGHEST, LOWEST, SCORES, as_integer
from rubric_lint.lsp.complete.schemas import Subschema, find_words, list_fields_at, merge, open_below
from rubric_lint.lsp.complete.slots import Slot
from rubric_lint.text.scalar import read_plain
from rubric_lint.text.source import Kind

_DEEPEST = 4
_MOST_ITEMS = 3
_NAME = "name"
_ESCAPED = re.compile(r"([\\$}])")
_PLAIN = re.compile(r"[\w./](?:[\w./#-]|:(?=/))*(?: [\w./#-]+)*")
_IN_CHOICE = re.compile(r"([\\,|])")


@dataclass(frozen=True, slots=True)
class Plan:
    """A value to be filled in: a mapping or a list of such, or a place with `words` or a `suggestion`.

    `is_text`: what is filled in is a string. `is_short`: a list is on one line. `is_named`: the name of the only field
    is to be filled in, too.
    """

    fields: Mapping[str, "Plan"] | None = None
    items: "tuple[Plan, ...] | None" = None
    words: tuple[Any, ...] = ()
    suggestion: Any = None
    is_text: bool = False
    is_short: bool = False
    is_named: bool = False

    def sample(self) -> Any:
        """Return a value as it may be filled in."""
        if self.fields is not None:
            return {name: plan.sample() for name, plan in self.fields.items()}
        if self.items is not None:
            samples = [plan.sample() for plan in self.items]
            return [f"{each} {at}" if isinstance(each, str) and at else each for at, each in enumerate(samples)]
        if self.words:
            return self.words[0]
        return "Says so" if self.suggestion is None else self.suggestion


def make_plan(name: str, subschemas: list[Subschema], slot: Slot) -> Plan:
    """Plan the value of a new field in a slot."""
    beside: list[dict[str, Any]] = []  # the other mappings of the list that holds the mapping of the slot
    if slot.path and isinstance(slot.path[-1], int):
        others = enumerate(slot.find(slot.path[:-1]) or ())
        beside = [each for index, each in others if index != slot.path[-1] and isinstance(each, dict)]
    if merge(subschemas).get("maxItems") == 2:
        taken: set[int] = set()
        for band in beside:
            bounds = band.get(name)
            if isinstance(bounds, list) and len(bounds) == 2:
                low, high = map(as_integer, bounds)
                if low is not None and high is not None:
                    taken.update(score for score in SCORES if low <= score <= high)
        free = [score for score in SCORES if score not in taken] or [*SCORES]
        return _plan_range(free[0], next((each for each in free if each + 1 not in free), HIGHEST))
    if name == "level" and (levels := _read_levels(beside)):
        criterion = slot.find(slot.path[:-2])
        gate = as_integer(criterion.get("required_min_level")) if isinstance(criterion, dict) else None
        unused = next(number for number in range(min(levels), max(levels) + 2) if number not in levels)
        return Plan(suggestion=gate if gate is not None and gate not in levels else unused)
    if name == "levels" and (gate := as_integer(slot.mapping.get("required_min_level"))) is not None:
        return _plan(subschemas, 0, gate - 2)
    if name == "required_min_level":
        levels = sorted(_read_levels(slot.mapping.get("levels")))
        return Plan(suggestion=levels[1] if len(levels) > 1 else 1)
    return _plan(subschemas, 0, 0)


def _read_levels(levels: Any) -> list[int]:
    mappings = [each for each in levels if isinstance(each, dict)] if isinstance(levels, list) else []
    return [number for each in mappings if (number := as_integer(each.get("level"))) is not None]


def _plan_range(lowest: int, highest: int) -> Plan:
    return Plan(items=(Plan(suggestion=lowest), Plan(suggestion=highest)), is_short=True)


def _plan(subschemas: list[Subschema], depth: int, index: int) -> Plan:  # noqa: PLR0911 (one for each form of a value)
    """Plan a value; `index` is its place among items, which must differ."""
    facts, types = merge(subschemas), _list_types(subschemas)
    words = find_words(subschemas) or (find_words(open_below(subschemas, 0)) if {*types} == {"string", "array"} else [])
    if words:
        return Plan(words=tuple(words))
    if "array" in types and facts.get("maxItems") == 2:
        return _plan_range(LOWEST, HIGHEST)
    bodies = [snippet["body"] for snippet in facts.get("x-snippets", ())]
    suggested = bodies[0] if len(bodies) == 1 else facts.get("default")
    if isinstance(suggested, str | int | float) and suggested != "":
        if type(suggested) is int and "maximum" not in facts and depth > 1:
            suggested += index  # a count
        return Plan(suggestion=suggested)
    if "string" in types or not types:
        return Plan(is_text=True)
    if "array" in types or "object" in types:
        return _plan_container(subschemas, facts, depth, index, is_list="array" in types)
    if {"number", "integer"} & {*types}:
        number = index % 2 if facts.get("maximum") == 1 else 1 if "maximum" in facts else 1 + index
        return Plan(suggestion=number if depth else 1)
    return Plan()


def _plan_container(
    subschemas: list[Subschema], facts: Mapping[str, Any], depth: int, index: int, *, is_list: bool
) -> Plan:
    if is_list:
        below = open_below(subschemas, 0, {})
        items = []
        for at in range(index, index + min(max(facts.get("minItems", 1), 1), _MOST_ITEMS)):
            fields = _plan_fields(below, depth, at)
            items.append(
                Plan(fields=fields) if fields else _plan(below, depth + 1, at) if below else Plan(is_text=True)
            )
        return Plan(items=tuple(items))
    fields = _plan_fields(subschemas, depth, index)
    if fields or not facts.get("minProperties"):
        return Plan(fields=fields)
    first = next(iter(list_fields_at(subschemas, {})), None)
    below = open_below(subschemas, first or _NAME)
    return Plan(fields={first or _NAME: _plan(below, depth + 1, index)}, is_named=first is None)


def _plan_fields(subschemas: list[Subschema], depth: int, index: int) -> dict[str, Plan]:
    """Plan the fields that a mapping must have."""
    needed = {name for each in subschemas if not each.is_asked for name in each.node.get("required", ())}
    return {
        name: _plan(open_below(subschemas, name), depth + 1, index)
        for name in list_fields_at(subschemas, {})
        if name in needed and depth < _DEEPEST
    }


def read_body(body: Any) -> Plan:
    """Return the plan of a value in a snippet of a schema, such as `"$1"` or `"^[0, ${2:4}]"`."""
    if isinstance(body, dict):
        return Plan(fields={name: read_body(value) for name, value in body.items()})
    if isinstance(body, list):
        return Plan(items=tuple(map(read_body, body)))
    if not isinstance(body, str):
        return Plan(suggestion=body)
    plain = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", body.removeprefix("^"))
    if body[:1] == "^":
        value = json.loads(plain)
        is_range = isinstance(value, list)
        return Plan(items=tuple(map(read_body, value)), is_short=True) if is_range else Plan(suggestion=value)
    return Plan(is_text=True) if plain[:1] == "$" else Plan(suggestion=plain)


class Writer:
    """A writer of keys with their values, with numbered stops if the editor supports snippets.

    `margin` is the indentation below the line of the cursor: editors indent further lines like that line.
    """

    def __init__(self, kind: Kind, *, is_flow: bool, margin: str, snippets: bool) -> None:
        self._kind = kind
        self._is_flow = is_flow or kind is not Kind.YAML
        self._margin = margin
        self._snippets = snippets
        self._stops = count(1)

    def write_key(self, name: str) -> str:
        """Write a key."""
        is_plain = (
            re.fullmatch(r"[A-Za-z0-9_-]+", name)
            if self._kind is Kind.TOML
            else self._kind is Kind.YAML and re.fullmatch(r"[\w$.-]+", name) and read_plain(name) == (name, None)
        )
        return name if is_plain else json.dumps(name, ensure_ascii=False)

    def write_table(self, name: str, brackets: int, fields: Mapping[str, Plan]) -> str:
        """Write the name of a TOML table, the brackets after it, and fields on lines of their own."""
        head = self._escape(self.write_key(name)) + "]" * brackets
        return "\n".join((head, *(self._write_field(each, plan, "") for each, plan in fields.items())))

    def write_fields(self, fields: Mapping[str, Plan]) -> str:
        """Write fields, one per line or on one line in braces."""
        return self._join(fields, self._margin)

    def _join(self, fields: Mapping[str, Plan], margin: str, is_named: bool = False) -> str:
        return (", " if self._is_flow else f"\n{margin}").join(
            self._write_field(name, plan, margin, is_named) for name, plan in fields.items()
        )

    def _write_field(self, name: str, plan: Plan, margin: str, is_named: bool = False) -> str:
        written = self.write_key(name)
        key = (self._stop(written) if is_named else self._escape(written)) + (" =" if self._kind is Kind.TOML else ":")
        if not (self._snippets or self._is_flow or plan.items is None or plan.is_short):
            return key
        value = self._write(plan, margin)
        return key + value if value[:1] == "\n" else f"{key} {value}"

    def _write(self, plan: Plan, margin: str) -> str:  # noqa: PLR0911 (one for each form of a plan)
        if plan.fields is not None:
            if self._is_flow:
                return f"{{{self._join(plan.fields, margin, plan.is_named) or self._stop('')}}}"
            inner = self._join(plan.fields, f"{margin}  ", plan.is_named) or self._stop("")
            return f"\n{margin}  {inner}"
        if plan.items is not None:
            if self._is_flow or plan.is_short:
                return f"[{', '.join(self._write(item, margin) for item in plan.items)}]"
            items = (
                self._write(item, margin) if item.fields is None else self._join(item.fields, f"{margin}    ")
                for item in plan.items
            )
            return "".join(f"\n{margin}  - {item}" for item in items)
        if plan.words:
            return self._choose([write_value(word, self._kind) for word in plan.words])
        if plan.suggestion is not None:
            return self._stop(write_value(plan.suggestion, self._kind))
        if self._kind is Kind.YAML:
            return self._stop("")
        return self._stop("null") if self._kind.is_json and not plan.is_text else f'"{self._stop("")}"'

    def _choose(self, written: list[str]) -> str:
        if not self._snippets:
            return written[0] if self._is_flow else ""
        if len(written) == 1:
            return self._stop(written[0])
        choices = ",".join(_IN_CHOICE.sub(r"\\\1", each) for each in written)
        return f"${{{next(self._stops)}|{choices}|}}"

    def _stop(self, default: str) -> str:
        if not self._snippets:
            return default
        return f"${{{next(self._stops)}:{self._escape(default)}}}" if default else f"${next(self._stops)}"

    def _escape(self, text: str) -> str:
        return _ESCAPED.sub(r"\\\1", text) if self._snippets else text


def write_scalar(text: str) -> str:
    """Write a string as a YAML scalar that every reader reads as this string."""
    return text if _PLAIN.fullmatch(text) and read_plain(text) == (text, None) else json.dumps(text, ensure_ascii=False)


def write_value(value: Any, kind: Kind) -> str:
    """Write a scalar as every reader of this kind of file reads it."""
    if isinstance(value, str) and kind is Kind.YAML:
        return write_scalar(value)
    return json.dumps(value, ensure_ascii=False)


def _list_types(subschemas: list[Subschema]) -> list[str]:
    lists = [subschema.node["type"] for subschema in subschemas if "type" in subschema.node and not subschema.is_asked]
    found = [[each] if isinstance(each, str) else each for each in lists]
    return [name for name in found[0] if all(name in each for each in found)] if found else []


_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}


def is_of_type(value: Any, subschemas: list[Subschema]) -> bool:
    """Return whether subschemas allow the type of a value."""
    types = _list_types(subschemas)
    return not types or _TYPES.get(type(value)) in types or (type(value) is int and "number" in types)

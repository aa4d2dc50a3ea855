"""Find what a schema says about a place in a document: the fields that it may have there, and the listed values."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urljoin

from rubric_lint.format.schema import RubricSchema, python_validator, resolve
from rubric_lint.format.schema_files import BASE, join, load, registry
from rubric_lint.text.path import Path

_TYPES = {"array": "list", "object": "mapping"}


class FieldFacts(NamedTuple):
    """One field: its subschema with what it refers to drawn in, the outer words before the inner."""

    name: str
    schema: Mapping[str, Any]

    @property
    def facts(self) -> Iterator[str]:
        """The values that it takes, each fact in a few words."""
        types = self.schema.get("type", [])
        names = [types] if isinstance(types, str) else types
        yield self.schema.get("x-expected") or " or ".join(_TYPES.get(name, name) for name in names)
        if "default" in self.schema:
            yield f"default {self.schema['default']}"
        if "minimum" in self.schema and "x-expected" not in self.schema:
            yield f"at least {self.schema['minimum']}"
        if replacement := self.schema.get("x-replaced-by"):
            yield f"deprecated, replaced by `{replacement}`"

    @property
    def description(self) -> str:
        """The meaning of the field."""
        return str(self.schema.get("description", ""))

    @property
    def is_deprecated(self) -> bool:
        """Whether the field is deprecated."""
        return bool(self.schema.get("deprecated"))


def find_field(schema: RubricSchema, steps: Path, name: str) -> FieldFacts | None:
    """Return the field `name` at `steps` below a rubric; without steps, the field that contains the rubric."""
    node = schema.find(steps)
    return FieldFacts(name, node) if "description" in node else None


def find_suite_field(source: str, name: str) -> FieldFacts | None:
    """Return a field of a suite that may lead to rubrics, such as its list of cases, if a schema defines it."""
    contents = join(source)
    schema = contents["definitions"].get("part", {}).get("properties", {}).get(name)
    resolved = resolve(contents, schema) if schema else {}
    return FieldFacts(name, {"description": resolved["description"]}) if "description" in resolved else None


_DEEPEST = 40
_KEPT = ("allOf", "if", "then", "else", "$ref", "anyOf", "oneOf")


class Subschema(NamedTuple):
    """A subschema, and the file that its references start from. `is_asked`: it belongs to the question of an `if`."""

    home: Mapping[str, Any]
    node: Mapping[str, Any]
    is_asked: bool = False


@cache
def load_once(source: str) -> Mapping[str, Any]:
    """Return an authored schema."""
    return load(source)


def find_subschemas(source: str, definition: str, data: Any, steps: Path) -> list[Subschema]:
    """Return the subschemas for the value at `steps` below `data`, which follows a definition of a schema.

    Without a definition, it follows the whole schema.
    """
    home = load_once(source)
    start: Any = home["definitions"].get(definition) if definition else home
    subschemas = [Subschema(home, start)] if isinstance(start, dict) else []
    for step in steps:
        subschemas = [below for subschema in _open_all(subschemas, data) for below in _descend(subschema, step)]
        data = _step(data, step)
    return list(_open_all(subschemas, data))


def list_fields_at(subschemas: list[Subschema], data: Any) -> dict[str, FieldFacts]:
    """Return the fields that a mapping may have; `data` is the mapping."""
    found: dict[str, FieldFacts] = {}
    for subschema in subschemas:
        if subschema.is_asked:
            continue
        for name in subschema.node.get("properties", {}):
            if name not in found:
                below = [each for one in subschemas if not one.is_asked for each in _named(one, name)]
                facts = merge(list(_open_all(below, _step(data, name))))
                found[name] = FieldFacts(name, {**facts, "deprecated": _is_deprecated(below)})
    return found


def _is_deprecated(subschemas: list[Subschema]) -> bool:
    """Return whether a field is deprecated in each of the schemas that know it."""
    said: dict[str, bool] = {}
    for subschema in subschemas:
        home = subschema.home["$id"]
        is_deprecated = any(each.node.get("deprecated") for each in _open_all([subschema], None))
        said[home] = said.get(home, False) or is_deprecated
    return bool(said) and all(said.values())


def find_words(subschemas: list[Subschema]) -> list[Any]:
    """Return the values that the schema lists for a place, or on which it makes something depend."""
    found: list[Any] = []
    for subschema in subschemas:
        words = [*subschema.node.get("enum", ())]
        if "const" in subschema.node:
            words.append(subschema.node["const"])
        types = subschema.node.get("type", ())
        if types == "boolean":
            words += [True, False]
        found += [word for word in words if not any(word is each or word == each for each in found)]
    return found


def merge(subschemas: list[Subschema]) -> Mapping[str, Any]:
    """Return one subschema with the keywords of all, those of the first winning."""
    merged: dict[str, Any] = {}
    for subschema in subschemas:
        if not subschema.is_asked:
            for keyword, value in subschema.node.items():
                if keyword not in _KEPT:
                    merged.setdefault(keyword, value)
    return merged


def open_below(subschemas: list[Subschema], step: str | int, data: Any = None) -> list[Subschema]:
    """Return the subschemas for what is below a place."""
    return list(_open_all([below for subschema in subschemas for below in _descend(subschema, step)], data))


def open_names(subschemas: list[Subschema]) -> list[Subschema]:
    """Return the subschemas for the names of the fields of a mapping."""
    named = [subschema for subschema in subschemas if "propertyNames" in subschema.node]
    return list(_open_all([subschema._replace(node=subschema.node["propertyNames"]) for subschema in named], None))


def _named(subschema: Subschema, name: str) -> Iterator[Subschema]:
    below = subschema.node.get("properties", {}).get(name)
    if isinstance(below, dict):
        yield Subschema(subschema.home, below, subschema.is_asked)


def _descend(subschema: Subschema, step: str | int) -> Iterator[Subschema]:
    if isinstance(step, int):
        below = subschema.node.get("items")
    else:
        below = subschema.node.get("properties", {}).get(step)
        if below is None:
            patterns = subschema.node.get("patternProperties", {})
            below = next((each for pattern, each in patterns.items() if re.search(pattern, step)), None)
        if below is None:
            below = subschema.node.get("additionalProperties")
    if isinstance(below, dict):
        yield Subschema(subschema.home, below, subschema.is_asked)


def _step(data: Any, step: str | int) -> Any:
    if isinstance(data, dict) and isinstance(step, str):
        return data.get(step)
    if isinstance(data, list) and isinstance(step, int) and step < len(data):
        return data[step]
    return None


def _open_all(subschemas: list[Subschema], data: Any) -> Iterator[Subschema]:
    seen: set[tuple[int, bool]] = set()
    for subschema in subschemas:
        yield from _open(subschema, data, seen, 0)


def _open(subschema: Subschema, data: Any, seen: set[tuple[int, bool]], depth: int) -> Iterator[Subschema]:
    """Yield a subschema with all that it refers to and that applies to the data."""
    home, node, is_asked = subschema
    if (id(node), is_asked) in seen or depth > _DEEPEST:
        return
    seen.add((id(node), is_asked))
    yield subschema
    inner: list[Subschema] = []
    if "$ref" in node:
        inner.append(_resolve(home, node["$ref"], is_asked=is_asked))
    for keyword in ("allOf", "anyOf", "oneOf"):
        inner += [Subschema(home, each, is_asked) for each in node.get(keyword, ()) if isinstance(each, dict)]
    if isinstance(node.get("if"), dict):
        branch = node.get("then" if _is_met(home, node["if"], data) else "else")
        inner.append(Subschema(home, node["if"], is_asked=True))
        if isinstance(branch, dict):
            inner.append(Subschema(home, branch, is_asked))
    for each in inner:
        yield from _open(each, data, seen, depth + 1)


def _resolve(home: Mapping[str, Any], reference: str, *, is_asked: bool) -> Subschema:
    file, _, name = reference.partition("#/definitions/")
    there = load_once(urljoin(home["$id"], file).removeprefix(BASE)) if file else home
    return Subschema(there, there["definitions"][name] if name else there, is_asked)


def _is_met(home: Mapping[str, Any], condition: Mapping[str, Any], data: Any) -> bool:
    return bool(_validator()(_absolute(condition, home["$id"]), registry=registry()).is_valid(data))


@cache
def _validator() -> Any:
    return python_validator()


def _absolute(part: Any, home: str) -> Any:
    """Return a part of a schema with references that are right anywhere."""
    if isinstance(part, dict):
        return {key: urljoin(home, value) if key == "$ref" else _absolute(value, home) for key, value in part.items()}
    return [_absolute(each, home) for each in part] if isinstance(part, list) else part

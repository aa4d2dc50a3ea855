"""What the schemas say about the field at a path: its description, kind, default, bounds and replacement."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urljoin

from rubric_lint.catalogue import BASE, load
from rubric_lint.finding import Path
from rubric_lint.schema import RubricSchema

_TYPES = {"string": "text", "array": "list", "object": "mapping"}


class Field(NamedTuple):
    """One field: its subschema with what it refers to drawn in, the outer words before the inner."""

    name: str
    schema: Mapping[str, Any]

    @property
    def facts(self) -> Iterator[str]:
        """What it takes, each fact in a few words."""
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
        """What it means."""
        return str(self.schema.get("description", ""))

    @property
    def is_deprecated(self) -> bool:
        """Whether it is better not written any more."""
        return bool(self.schema.get("deprecated"))


def find_field(schema: RubricSchema, steps: Path, name: str) -> Field | None:
    """The field at `steps` below a rubric, which is called `name`; with no steps, the one that holds the rubric."""
    node = _descend(schema, steps)
    return Field(name, node) if "description" in node else None


def list_fields(schema: RubricSchema, steps: Path) -> list[Field]:
    """The fields that a mapping at `steps` below a `rubrics` value may have."""
    properties = _descend(schema, steps).get("properties", {})
    return [Field(name, _resolve(schema.contents, field)) for name, field in properties.items()]


def needed_fields(schema: RubricSchema, steps: Path) -> list[Field]:
    """Those of them that it must have, when no deprecated one stands in."""
    node = _descend(schema, steps)
    needed = {*node.get("required", ()), *node.get("then", {}).get("required", ())}
    return [field for field in list_fields(schema, steps) if field.name in needed]


def _descend(schema: RubricSchema, steps: Path) -> Mapping[str, Any]:
    contents = schema.contents
    node = _resolve(contents, schema.definitions[schema.whole])
    for step in steps:
        node = _resolve(contents, _step(node, step))
    return node


def find_suite_field(source: str, name: str) -> Field | None:
    """A field of a suite that may lead to rubrics, such as its list of cases, where a schema knows of suites."""
    contents = load(source)
    schema = contents["definitions"].get("part", {}).get("properties", {}).get(name)
    resolved = _resolve(contents, schema) if schema else {}
    return Field(name, {"description": resolved["description"]}) if "description" in resolved else None


def _step(node: Mapping[str, Any], step: str | int) -> Mapping[str, Any]:
    if isinstance(step, int):
        below = node.get("items")
    else:
        below = node.get("properties", {}).get(step, node.get("additionalProperties"))
    return below if isinstance(below, dict) else {}


def _resolve(contents: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A subschema with what its references say, as far as it does not say it itself."""
    merged = dict(schema)
    for part in (schema, *(part for part in schema.get("allOf", ()) if "$ref" in part)):
        file, _, name = part.get("$ref", "").partition("#/definitions/")
        if name:
            home = load(urljoin(contents["$id"], file).removeprefix(BASE)) if file else contents
            merged = {**_resolve(home, home["definitions"][name]), **merged}
    return merged

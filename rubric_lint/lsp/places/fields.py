"""Look up what the schemas say about a field: description, type, default, bounds and replacement."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rubric_lint.format.schema import RubricSchema, resolve
from rubric_lint.format.schema_files import load
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
    contents = load(source)
    schema = contents["definitions"].get("part", {}).get("properties", {}).get(name)
    resolved = resolve(contents, schema) if schema else {}
    return FieldFacts(name, {"description": resolved["description"]}) if "description" in resolved else None

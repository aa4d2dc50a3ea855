"""Validate rubrics against their schema, list the errors, and look up facts in the schema."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any
from urllib.parse import urljoin

from rubric_lint.format.bands import HIGHEST, LOWEST, looks_like_bands
from rubric_lint.format.deprecation import Replacement
from rubric_lint.format.schema_errors import SchemaFault, read_faults, read_slow_faults
from rubric_lint.format.schema_files import BASE, CURRENT, load, load_bundled, registry
from rubric_lint.format.validator import is_fast, open_validator, python_validator
from rubric_lint.messages import find_near
from rubric_lint.text.path import Path


class RubricSchema:
    """The schema of the rubrics of one version of the format or of one dialect.

    `version` is empty for a dialect. `whole` names the definition of a list of criteria.
    """

    def __init__(self, source: str, version: str = "", whole: str = "rubrics") -> None:
        self.source = source
        self.version = version
        self.whole = whole
        self.contents = load(source)

    @property
    def definitions(self) -> Mapping[str, Any]:
        """The parts of the schema by name."""
        return self.contents["definitions"]  # type: ignore[no-any-return]

    @cached_property
    def item(self) -> str:
        """The name of the definition of an item in such a list."""
        items = self.definitions[self.whole].get("items", {})
        return str(items.get("$ref", "entry")).rpartition("/")[2]

    @cached_property
    def entry_fields(self) -> Mapping[str, Any]:
        """The fields of a criterion, each with its subschema."""
        return self.fields_of(self.item)

    def fields_of(self, definition: str) -> Mapping[str, Any]:
        """Return the fields of a mapping that follows a definition, each with its subschema."""
        found = self.definitions.get(definition, {})
        return resolve(self.contents, found).get("properties", {})  # type: ignore[no-any-return]

    @cached_property
    def distinctive(self) -> Mapping[str, str]:
        """The fields that only this format has; `list of numbers` if only such a value proves it."""
        return {name: field["x-distinctive"] for name, field in self.entry_fields.items() if "x-distinctive" in field}

    @cached_property
    def replacements(self) -> Mapping[str, Replacement]:
        """The deprecated fields of criteria and bands."""
        return {
            name: Replacement(field["x-replaced-by"], field.get("x-replaced-values"))
            for name, field in self.entry_fields.items()
            if "x-replaced-by" in field
        }

    def is_valid(self, rubrics: Any) -> bool:
        """Return whether a `rubrics` value matches the schema."""
        return self._fast(self.whole).is_valid(rubrics)  # type: ignore[no-any-return]

    def is_valid_entry(self, entry: Any) -> bool:
        """Return whether one entry of the list matches the schema."""
        return self._fast(self.item).is_valid(entry)  # type: ignore[no-any-return]

    def find(self, steps: Path) -> Mapping[str, Any]:
        """Return the subschema for a value at `steps` below a rubric, with references resolved."""
        node = resolve(self.contents, self.definitions[self.whole])
        for step in steps:
            node = resolve(self.contents, _descend(node, step))
        return node

    @cache  # noqa: B019
    def fields_of_shape(self, present: frozenset[str]) -> tuple[str, ...]:
        """Return the fields allowed in a criterion with these fields, without deprecated ones."""
        found = []
        for name, field in self.entry_fields.items():
            sample = {each: _SAMPLES.get(each) for each in (*present, name)}
            is_refused = any("x-reason" in fault.schema for fault in self.find_faults(self.item, sample))
            if not (is_refused or field.get("deprecated")):
                found.append(name)
        return tuple(found)

    def find_faults(self, definition: str, value: Any) -> list[SchemaFault]:
        """List all errors of a value against a definition; one mistake may cause many errors."""

        def find_slowly() -> Iterator[Any]:
            return self._slow(definition).iter_errors(value)  # type: ignore[no-any-return]

        # The bundled file of a dialect has no keywords of ours.
        if not (is_fast() and self.version) or _holds_long_map(value):
            return list(read_slow_faults(find_slowly()))
        faults = self._fast(definition).iter_errors(value)
        return read_faults(faults, self._joined, value, find_slowly)

    def holds_bands_as_range(self, entry: Any) -> bool:
        """Return whether the `score_range` of an entry has the value of a `score_ranges`."""
        value = entry.get("score_range") if isinstance(entry, dict) else None
        return "score_ranges" in self.entry_fields and looks_like_bands(value)

    def suggest(self, name: str, known: Iterable[str]) -> list[str]:
        """Return the fields in `known` that an unknown name may mean: similar names, or synonyms."""
        known = list(known)
        return find_near(name, known) or [field for field in known if name.lower() in self._synonyms.get(field, ())]

    def knows(self, name: str) -> bool:
        """Return whether a name is a field of an entry, or may mean one."""
        return name in self.entry_fields or bool(self.suggest(name, self.entry_fields))

    @cached_property
    def _synonyms(self) -> Mapping[str, list[str]]:
        return {name: field.get("x-synonyms", []) for name, field in self.entry_fields.items()}

    @cached_property
    def _joined(self) -> dict[str, Any]:
        """The definitions with all their references; only the bundled file of a dialect has those of other schemas."""
        contents = self.contents if self.version else load_bundled(self.source)
        return {"definitions": contents["definitions"]}

    @cache  # noqa: B019 (schemas are few and live as long as the process)
    def _fast(self, definition: str) -> Any:
        return open_validator({"$ref": f"#/definitions/{definition}", **self._joined})

    @cache  # noqa: B019
    def _slow(self, definition: str) -> Any:
        reference = {"$ref": f"{self.contents['$id']}#/definitions/{definition}"}
        return python_validator()(reference, registry=registry())


_LONG = 50


def _holds_long_map(entry: Any) -> bool:
    """Return whether a field of an entry is a long map: each fast error about one of its keys copies all of it."""
    return isinstance(entry, dict) and any(isinstance(value, dict) and len(value) > _LONG for value in entry.values())


_SAMPLES = {"score_range": [LOWEST, HIGHEST]}
"""Values for fields whose value, not just presence, determines the shape in a condition."""


def _descend(node: Mapping[str, Any], step: str | int) -> Mapping[str, Any]:
    if isinstance(step, int):
        below = node.get("items")
    else:
        below = node.get("properties", {}).get(step, node.get("additionalProperties"))
    return below if isinstance(below, dict) else {}


def resolve(contents: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a subschema of a file merged with its references; its own keywords win."""
    merged = dict(schema)
    for part in (schema, *(part for part in schema.get("allOf", ()) if "$ref" in part)):
        file, _, name = part.get("$ref", "").partition("#/definitions/")
        if name:
            home = load(urljoin(contents["$id"], file).removeprefix(BASE)) if file else contents
            found = resolve(home, home["definitions"][name])
            merged = {**(_point_from_elsewhere(found, home["$id"]) if file else found), **merged}
    return merged


def _point_from_elsewhere(part: Any, home: str) -> Any:
    """Return a part of the file `home` with references that are right in other files too."""
    if isinstance(part, dict):
        return {
            key: f"{home}{value}" if key == "$ref" and value[:1] == "#" else _point_from_elsewhere(value, home)
            for key, value in part.items()
        }
    return [_point_from_elsewhere(each, home) for each in part] if isinstance(part, list) else part


@cache
def schema_for(version: str = CURRENT) -> RubricSchema:
    """Return the schema of one version of the format."""
    return RubricSchema(f"{version}/rubric.json", version)


@cache
def schema_of(reference: str) -> RubricSchema:
    """Return the schema of a dialect, such as `lightspeed/v1.json`; a fragment selects a definition."""
    source, _, whole = reference.partition("#/definitions/")
    return RubricSchema(source, whole=whole or "rubrics")


@cache
def suite_fields(version: str = CURRENT) -> frozenset[str]:
    """Return the top-level fields of a suite that can contain rubrics."""
    return frozenset(load(f"{version}/suite.json")["definitions"]["part"]["properties"])


@cache
def case_lists(version: str = CURRENT) -> frozenset[str]:
    """Return the names of the lists in a suite whose entries (cases and evaluators) have rubrics."""
    definitions = load(f"{version}/suite.json")["definitions"]
    holders = {f"#/definitions/{name}" for name, schema in definitions.items() if schema.get("x-holds-rubrics")}
    fields = definitions["part"]["properties"].items()
    return frozenset(name for name, schema in fields if schema.get("$ref") in holders)


@cache
def suite_lists(definition: str) -> frozenset[str]:
    """Return the names of the lists in a suite that follow one definition: `cases` or `evaluators`."""
    fields = load(f"{CURRENT}/suite.json")["definitions"]["part"]["properties"].items()
    return frozenset(name for name, schema in fields if schema.get("$ref") == f"#/definitions/{definition}")

"""Validate values against JSON Schemas, list the errors, and look up facts in the schemas."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from math import isfinite
from typing import Any, NamedTuple, Protocol

from rubric_lint.model.criterion import HIGHEST, LOWEST, Replacement, looks_like_bands
from rubric_lint.model.messages import find_near, list_types
from rubric_lint.model.schema_files import CURRENT, join, load
from rubric_lint.source.path import Path
from rubric_lint.source.values import as_mapping


class Validator(Protocol):
    """A validator for a schema; it raises a ValueError for a value of a type that JSON does not have."""

    def is_valid(self, value: Any) -> bool:
        """Return whether the schema allows the value."""

    def iter_errors(self, value: Any) -> Iterator[Any]:
        """Yield the schema errors of the value, as `_PureFault` has them."""


def open_validator(schema: dict[str, Any]) -> Validator:
    """Return the fastest installed validator for a draft-07 schema."""
    try:
        from jsonschema_rs import Draft7Validator  # noqa: PLC0415  (a library that not every command needs)
    except ImportError:
        return _PureValidator(schema)
    return Draft7Validator(schema)


@cache
def is_fast() -> bool:
    """Return whether the fast validator is installed."""
    try:
        import jsonschema_rs  # noqa: F401, PLC0415  (see above)
    except ImportError:
        return False
    return True


def is_valid(schema: dict[str, Any], value: Any) -> bool:
    """Return whether a schema allows a value; values that JSON does not have, such as a TOML date, are not allowed."""
    return allows(open_validator(schema), value)


def allows(validator: Validator, value: Any) -> bool:
    """Return whether the schema of a validator allows a value; see `is_valid`."""
    try:
        return validator.is_valid(value)
    except ValueError:
        return False


class _PureFault(NamedTuple):
    """A schema error: the path to the value, the path to the keyword in the schema, and the details."""

    instance_path: tuple[str | int, ...]
    schema_path: tuple[str | int, ...]
    kind: Any = None


class _PureValidator:
    """The validator of python-jsonschema, adapted to accept the same values as the fast one."""

    def __init__(self, schema: dict[str, Any]) -> None:
        from jsonschema import validators  # noqa: PLC0415  (100 ms that the fast validator saves)

        checker = python_validator().TYPE_CHECKER
        for kind in ("array", "boolean", "integer", "null", "number", "object", "string"):
            checker = checker.redefine(kind, lambda _, value, kind=kind: kind in _kinds(value))
        keywords = {name: _reading(python_validator().VALIDATORS[name]) for name in ("const", "enum", "pattern")}
        keywords["type"] = _find_wrong_type
        extended = validators.extend(python_validator(), keywords, type_checker=checker)  # type: ignore[no-untyped-call]
        self._validator: Any = extended(_without_false(schema))

    def is_valid(self, value: Any) -> bool:
        _refuse_halves(value)
        return self._validator.is_valid(value)  # type: ignore[no-any-return]

    def iter_errors(self, value: Any) -> Iterator[_PureFault]:
        _refuse_halves(value)
        for error in self._validator.iter_errors(value):
            way = tuple(error.absolute_schema_path)
            if error.schema == _NEVER:
                way = way[:-1]
            yield _PureFault(tuple(error.absolute_path), way)


def _refuse_halves(value: Any) -> None:
    """Raise a ValueError for a string with half a surrogate pair, which UTF-8 cannot hold."""
    if isinstance(value, str):
        value.encode()


def _reading(keyword: Any) -> Any:
    """Return a keyword for strings that rejects half surrogate pairs as the fast validator does."""

    def check(validator: Any, wanted: Any, value: Any, schema: Any) -> Any:
        _refuse_halves(value)
        return keyword(validator, wanted, value, schema)

    return check


def _find_wrong_type(validator: Any, _types: str | list[str], value: Any, schema: Any) -> Iterator[Any]:
    """Check the type without quoting the value in the message; it may be a number with 5,000 digits."""
    from jsonschema import ValidationError  # noqa: PLC0415  (see above)

    if not any(validator.is_type(value, kind) for kind in list_types(schema)):
        yield ValidationError("wrong type")


_NEVER: dict[str, Any] = {"not": {}}


def _without_false(schema: Any) -> Any:
    """Replace `false` subschemas, for which python-jsonschema does not report the place of a value."""
    if isinstance(schema, list):
        return [_without_false(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {name: _without_false(inner) for name, inner in schema.items()}
    fields = as_mapping(schema.get("properties"))
    forbidden = [name for name, field in fields.items() if field is False]
    if forbidden:
        changed["properties"] |= dict.fromkeys(forbidden, _NEVER)
    return changed


_BEYOND = 10**4300
"""The size from which Python does not convert an integer to text, and no validator compares it with a bound."""

_KINDS = {str: ("string",), bool: ("boolean",), type(None): ("null",), list: ("array",), tuple: ("array",)}


def _kinds(value: Any) -> tuple[str, ...]:
    """Return the JSON types of a value, none if it is not finite; raise ValueError if JSON has no such type."""
    kind = type(value)
    if kind in _KINDS:
        return _KINDS[kind]
    if kind in (int, float, Decimal):
        if not Decimal(value).is_finite():
            return ()
        if kind is int and abs(value) >= _BEYOND:
            return ("integer",)
        # Not by `int`, which writes the 100 million digits of 1e99999999 out.
        return ("integer", "number") if Decimal(value) == Decimal(value).to_integral_value() else ("number",)
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return ("object",)
    raise ValueError(f"a value of the type {kind.__name__} is not JSON")


# Patterns as in JSON Schema and the fast validator; Python's white space and `$` differ.
_NO_SPACE = r"[^ \t\n\r\f\v\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"


@cache
def python_validator() -> Any:
    """Return the validator class of python-jsonschema, with the patterns of JSON Schema."""
    from jsonschema import Draft7Validator, ValidationError, validators  # noqa: PLC0415  (see above)

    def find_mismatch(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[Any]:
        if isinstance(value, str) and not re.search(pattern.replace(r"\S", _NO_SPACE).replace("$", r"\Z"), value):
            yield ValidationError(f"{value!r} does not match {pattern!r}")

    def find_excess(_validator: Any, highest: float, value: Any, _schema: Any) -> Iterator[Any]:
        if type(value) in (int, float, Decimal) and not value <= highest:  # NaN is not at most anything
            yield ValidationError(f"more than {highest}")

    def find_additional(validator: Any, schema: Any, value: Any, whole: Any) -> Iterator[Any]:
        errors = Draft7Validator.VALIDATORS["additionalProperties"](validator, schema, value, whole)
        keys = list(value) if isinstance(value, dict) else []
        # python-jsonschema takes the keys from a set, whose order differs from run to run.
        yield from sorted(errors, key=lambda error: [keys.index(step) for step in list(error.path)[:1]])

    keywords = {"pattern": find_mismatch, "maximum": find_excess, "additionalProperties": find_additional}
    return validators.extend(Draft7Validator, keywords)  # type: ignore[no-untyped-call]


class SchemaFault(NamedTuple):
    """A schema error: the path of the value, the violated keyword, and the subschema with the keyword.

    `is_key`: the error is in the key `value` of the mapping at `path`, not in the value under it.
    """

    path: Path
    keyword: str
    schema: Mapping[str, Any]
    value: Any
    is_key: bool = False

    @property
    def wanted(self) -> Any:
        """The value of the keyword."""
        return self.schema[self.keyword]


class _UnclearError(Exception):
    """An error of the fast validator has no clear place or meaning."""


def _read_fault(fault: Any, schema: Any, value: Any) -> SchemaFault:
    *steps, keyword = fault.schema_path
    path: list[str | int] = []
    for step in fault.instance_path:
        known = step
        if type(value) is dict and type(step) is int:  # keys of digits arrive as numbers, `01` and `1` as the same one
            found = [key for key in value if key == str(step).zfill(len(key))]
            if len(found) != 1:
                raise _UnclearError
            known = found[0]
        path.append(known)
        value = value[known]
    if type(value) is float and not isfinite(value):
        raise _UnclearError  # the fast validator does not treat it as a number
    is_key = "propertyNames" in steps
    for step in steps:
        schema = schema[step]
    schema = schema if type(schema) is dict else {}
    if is_key:
        value = fault.kind.error.instance
    return SchemaFault(tuple(path), str(keyword), schema, value, is_key)


def read_slow_faults(errors: Iterable[Any]) -> Iterator[SchemaFault]:
    """Yield the errors of python-jsonschema."""
    for error in errors:
        is_key = "propertyNames" in error.absolute_schema_path
        schema = error.schema if type(error.schema) is dict else {}
        yield SchemaFault(tuple(error.absolute_path), error.validator, schema, error.instance, is_key)


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
        return self.joined["definitions"]  # type: ignore[no-any-return]

    @cached_property
    def item(self) -> str:
        """The name of the definition of an item in such a list."""
        items = self.definitions[self.whole].get("items", {})
        return str(items.get("$ref", "entry")).rpartition("/")[2]

    @cached_property
    def entry_fields(self) -> Mapping[str, Any]:
        """The fields of a criterion, each with its subschema."""
        return self.fields_of(self.item)

    @cache  # noqa: B019 (schemas are few and live as long as the process)
    def list_siblings(self, name: str) -> frozenset[str]:
        """Return the names of the fields of the mappings that may have a field, which holds criteria."""
        siblings: set[str] = set()
        for holder in [self.joined, *self.joined["definitions"].values()]:
            fields = holder.get("properties", {})
            if name in fields:
                siblings |= fields.keys()
        return frozenset(siblings)

    def fields_of(self, definition: str) -> Mapping[str, Any]:
        """Return the fields of a mapping that follows a definition, each with its subschema."""
        found = self.joined["definitions"].get(definition, {})
        return resolve(self.joined, found).get("properties", {})  # type: ignore[no-any-return]

    @cached_property
    def distinctive(self) -> Mapping[str, str]:
        """The fields that only this format has; `list of numbers` if only such a value proves it."""
        return {name: field["x-distinctive"] for name, field in self.entry_fields.items() if "x-distinctive" in field}

    @cached_property
    def idle(self) -> Mapping[str, Mapping[str, Any]]:
        """The fields that are not read with or without others, and when."""
        return {name: field["x-idle"] for name, field in self.entry_fields.items() if "x-idle" in field}

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

    @lru_cache(maxsize=4096)  # noqa: B019 (schemas are few and live as long as the process)
    def find(self, steps: Path) -> Mapping[str, Any]:
        """Return the subschema for a value at `steps` below a rubric, with references resolved."""
        return find_below(self.joined, self.joined["definitions"][self.whole], steps)

    @cache  # noqa: B019
    def fields_of_shape(self, present: frozenset[str]) -> tuple[str, ...]:
        """Return the fields allowed in a criterion with these fields, without deprecated ones."""
        found = []
        for name, field in self.entry_fields.items():
            sample = {other: _SAMPLES.get(other) for other in [*present, name]}
            is_refused = any("x-reason" in fault.schema for fault in self.find_faults(self.item, sample))
            if not (is_refused or field.get("deprecated")):
                found.append(name)
        return tuple(found)

    def find_faults(self, definition: str, value: Any) -> list[SchemaFault]:
        """List all errors of a value against a definition; one mistake may cause many errors."""
        fields = value.values() if isinstance(value, dict) else ()
        # Each fast error about a key of a long map would copy all of it.
        has_long_map = any(isinstance(field, dict) and len(field) > _LONG for field in fields)
        if is_fast() and not has_long_map:
            with suppress(_UnclearError):
                return [_read_fault(fault, self.joined, value) for fault in self._fast(definition).iter_errors(value)]
        return list(read_slow_faults(self._slow(definition).iter_errors(value)))

    def holds_bands_as_range(self, entry: Any) -> bool:
        """Return whether the `score_range` of an entry has the value of a `score_ranges`."""
        value = as_mapping(entry).get("score_range")
        return "score_ranges" in self.entry_fields and looks_like_bands(value)

    def suggest(self, name: str, known: Iterable[str]) -> list[str]:
        """Return the fields in `known` that an unknown name may mean: similar names, or synonyms."""
        known = list(known)
        return find_near(name, known) or [field for field in known if name.lower() in self._synonyms.get(field, ())]

    def find_rivals(self, mapping: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
        """Find pairs of a deprecated field and an unknown one in a mapping that may both mean the field `name`."""
        if name in mapping:
            return
        for old, replacement in self.replacements.items():
            may_mean_it = replacement.name == name and old in mapping and replacement.covers(mapping[old])
            if may_mean_it and replacement.value_for(mapping[old]) is not None:
                for key in mapping:
                    if key not in self.entry_fields and self.suggest(key, (name,)):
                        yield old, key

    def knows(self, name: str) -> bool:
        """Return whether a name is a field of an entry, or may mean one."""
        return name in self.entry_fields or bool(self.suggest(name, self.entry_fields))

    @cached_property
    def _synonyms(self) -> Mapping[str, list[str]]:
        fields = {**self.fields_of(self.whole), **self.entry_fields}
        return {name: field.get("x-synonyms", []) for name, field in fields.items()}

    @cached_property
    def joined(self) -> dict[str, Any]:
        """The schema with the definitions of others that it refers to."""
        return join(self.source)

    @cache  # noqa: B019 (schemas are few and live as long as the process)
    def _fast(self, definition: str) -> Any:
        return open_validator(self._whole(definition))

    def is_valid_field(self, fields: Mapping[str, Any], name: str, value: Any) -> bool:
        """Return whether one of the fields of a mapping, by the subschema that it has there, may have a value."""
        return is_valid({"allOf": [fields[name]], "definitions": self.joined["definitions"]}, value)

    @cache  # noqa: B019
    def _slow(self, definition: str) -> Any:
        return python_validator()(self._whole(definition))

    def _whole(self, definition: str) -> dict[str, Any]:
        return {"$ref": f"#/definitions/{definition}", "definitions": self.joined["definitions"]}


_LONG = 50


_SAMPLES = {"score_range": [LOWEST, HIGHEST]}
"""Values for fields whose value, not just presence, determines the shape in a condition."""


def resolve(joined: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part of a joined schema merged with what it refers to; its own keywords win."""
    merged = dict(schema)
    for part in [schema, *schema.get("allOf", ())]:
        if "$ref" in part:
            name = part["$ref"].rpartition("/")[2]
            merged = {**resolve(joined, joined["definitions"][name]), **merged}
    return merged


def find_below(joined: Mapping[str, Any], schema: Mapping[str, Any], steps: Path) -> Mapping[str, Any]:
    """Return the subschema for a value at `steps` below one that follows a part of a joined schema, resolved."""
    node = resolve(joined, schema)
    for step in steps:
        if isinstance(step, int):
            below = node.get("items")
        else:
            below = node.get("properties", {}).get(step, node.get("additionalProperties"))
        node = resolve(joined, as_mapping(below))
    return node


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
def suite_fields() -> frozenset[str]:
    """Return the top-level fields of a suite that can contain rubrics."""
    return frozenset(load(f"{CURRENT}/suite.json")["definitions"]["part"]["properties"])


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

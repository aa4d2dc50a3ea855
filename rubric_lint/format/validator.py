"""Validate values against JSON Schemas, with the fast validator if it is installed; both give the same result."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple, Protocol


class Fault(Protocol):
    """A schema error: the path to the value, and the path to the keyword in the schema."""

    @property
    def instance_path(self) -> Sequence[str | int]:
        """Return the path to the value."""

    @property
    def schema_path(self) -> Sequence[str | int]:
        """Return the path to the keyword."""


class Validator(Protocol):
    """A validator for a schema; it raises a ValueError for a value of a type that JSON does not have."""

    def is_valid(self, value: Any) -> bool:
        """Return whether the schema allows the value."""

    def iter_errors(self, value: Any) -> Iterator[Fault]:
        """Yield the schema errors of the value."""


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
    try:
        return open_validator(schema).is_valid(value)
    except ValueError:
        return False


class _PureFault(NamedTuple):
    instance_path: tuple[str | int, ...]
    schema_path: tuple[str | int, ...]


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

    def iter_errors(self, value: Any) -> Iterator[Fault]:
        _refuse_halves(value)
        for error in self._validator.iter_errors(value):
            way = (*error.absolute_schema_path,)
            yield _PureFault((*error.absolute_path,), way[:-1] if error.schema == _NEVER else way)


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


def _find_wrong_type(validator: Any, types: str | list[str], value: Any, _schema: Any) -> Iterator[Any]:
    """Check the type without quoting the value in the message; it may be a number with 5,000 digits."""
    from jsonschema import ValidationError  # noqa: PLC0415  (see above)

    if not any(validator.is_type(value, kind) for kind in ([types] if isinstance(types, str) else types)):
        yield ValidationError("wrong type")


_NEVER: dict[str, Any] = {"not": {}}


def _without_false(schema: Any) -> Any:
    """Replace `false` subschemas, for which python-jsonschema does not report the place of a value."""
    if isinstance(schema, list):
        return [_without_false(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    known = schema.get("properties", {})
    forbidden = {name: _NEVER for name, each in known.items() if each is False} if isinstance(known, dict) else {}
    changed = {name: _without_false(each) for name, each in schema.items()}
    return {**changed, "properties": {**changed["properties"], **forbidden}} if forbidden else changed


_BEYOND = 10**4300
"""The size from which Python does not convert an integer to text, and no validator compares it with a bound."""

_KINDS = {
    str: ("string",),
    bool: ("boolean",),
    type(None): ("null",),
    list: ("array",),
    tuple: ("array",),
}


def _kinds(value: Any) -> tuple[str, ...]:
    """Return the JSON types of a value; none for a number that is not finite.

    Raises:
        ValueError: if JSON has no such type.
    """
    kind = type(value)
    if kind in _KINDS:
        return _KINDS[kind]
    if kind in (int, float, Decimal):
        if not Decimal(value).is_finite():
            return ()
        if kind is int and abs(value) >= _BEYOND:
            return ("integer",)
        return ("integer", "number") if value == int(value) else ("number",)
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

    keywords = {"pattern": find_mismatch, "maximum": find_excess}
    return validators.extend(Draft7Validator, keywords)  # type: ignore[no-untyped-call]

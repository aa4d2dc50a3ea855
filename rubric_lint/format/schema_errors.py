"""Read schema errors, with the violated part of the schema, from the fast or the slow validator."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from rubric_lint.format.validator import Fault
from rubric_lint.text.path import Path


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


def read_faults(
    faults: Iterable[Fault], schema: Any, value: Any, find_slowly: Callable[[], Iterable[Any]]
) -> list[SchemaFault]:
    """Return the errors of the fast validator, or those of the slow one if the fast one is unclear."""
    try:
        return [_read_fast(fault, schema, value) for fault in faults]
    except (_UnclearError, LookupError, ValueError):
        return list(read_slow_faults(find_slowly()))


class _UnclearError(Exception):
    """An error of the fast validator has no clear place or meaning."""


def _read_fast(fault: Fault, schema: Any, value: Any) -> SchemaFault:
    *steps, keyword = fault.schema_path
    if "propertyNames" in steps:
        raise _UnclearError  # the error names the mapping, not the key
    path: list[str | int] = []
    for step in fault.instance_path:
        known = _find_key(value, step) if type(value) is dict else step
        path.append(known)
        value = value[known]
    if type(value) is float and not isfinite(value):
        raise _UnclearError  # the fast validator does not treat it as a number
    for step in steps:
        schema = schema[step]
    return SchemaFault(tuple(path), str(keyword), schema if type(schema) is dict else {}, value)


def _find_key(mapping: Mapping[str, Any], step: str | int) -> str:
    """Return the key for a step of a path: keys of digits arrive as numbers, `01` and `1` as the same one."""
    if type(step) is str:
        return step
    found = [key for key in mapping if key.isdigit() and int(key) == step]
    if len(found) != 1:
        raise _UnclearError
    return found[0]


def read_slow_faults(errors: Iterable[Any]) -> Iterator[SchemaFault]:
    """Yield the errors of python-jsonschema."""
    for error in errors:
        is_key = "propertyNames" in error.absolute_schema_path
        schema = error.schema if type(error.schema) is dict else {}
        yield SchemaFault(tuple(error.absolute_path), error.validator, schema, error.instance, is_key)

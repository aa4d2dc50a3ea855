"""Read the values of Arrow columns, which may have bytes that are not UTF-8 even where they must not."""

from collections.abc import Mapping
from typing import Any


def list_values(column: Any) -> list[Any]:
    """Return the values of a column; bytes of a string that are not UTF-8 become lone surrogates."""
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:  # Arrow does not look at the bytes, and a damaged file has any
        return [*map(_read_scalar, column)]
    return values


def _read_scalar(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        if isinstance(scalar, Mapping):  # a struct
            return {name: _read_scalar(scalar[name]) for name in scalar}
        if hasattr(scalar, "as_buffer"):
            return scalar.as_buffer().to_pybytes().decode("utf-8", "surrogateescape")
        inner = getattr(scalar, "value", None)  # of a dictionary or an extension
        return [*map(_read_scalar, scalar.values)] if inner is None else _read_scalar(inner)

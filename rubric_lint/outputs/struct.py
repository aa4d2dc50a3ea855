"""Convert struct values from Arrow, pandas and NumPy to plain data."""

from collections.abc import Mapping
from typing import Any

from rubric_lint.outputs.extract import OutputError


def read_struct(value: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a struct to plain data: without null fields, and with lists and Python numbers.

    Each struct of a column has all fields, with null where a row lacks one. Values with `tolist` (NumPy) or `as_py`
    (Arrow) are converted by that method.

    Raises:
        OutputError: if the struct is nested too deeply.
    """
    try:
        return {key: _simplify(item) for key, item in value.items() if item is not None}
    except RecursionError:
        raise OutputError("nested too deeply to be read") from None


def _simplify(value: Any) -> Any:
    for convert in ("tolist", "as_py"):
        if hasattr(value, convert):
            value = getattr(value, convert)()
    if isinstance(value, Mapping):
        return {key: _simplify(item) for key, item in value.items() if item is not None}
    return [_simplify(item) for item in value] if isinstance(value, list | tuple) else value

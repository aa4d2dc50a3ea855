"""Read judge outputs out of columns of structs, as Arrow, pandas and NumPy hand them over."""

from collections.abc import Mapping
from typing import Any

from rubric_lint.scoring.extract import OutputError


def read_struct(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a struct as plain data: no fields that are null, lists for arrays, and Python's numbers.

    A column of structs has every field in each of them, null where a row lacks it. What has `tolist`, as arrays and
    numbers of NumPy have, or `as_py`, as values of Arrow have, says itself what it is.

    Raises:
        OutputError: for one that is nested too deeply.
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

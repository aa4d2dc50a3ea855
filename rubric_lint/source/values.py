"""Read a value of a file as what it should be; one of another type counts as empty."""

from typing import Any


def as_list(value: Any) -> list[Any]:
    """Return a value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_mapping(value: Any) -> dict[str, Any]:
    """Return a value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_string(value: Any) -> str | None:
    """Return a value if it is a string, else None."""
    return value if isinstance(value, str) else None

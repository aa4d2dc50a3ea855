"""Define paths to the values of a document, and the parts of a value."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

Path = tuple[str | int, ...]
"""The path from a document's root to a value: keys as they are written, and 0-based indices."""


class Part(StrEnum):
    """A part of the node at a path.

    `KEY`: the key of a field. `VALUE`: its value; for an alias, the value at its definition. `HEAD`: the first key of
    a mapping, to mark the mapping without marking ten lines; otherwise the value. `ENTRY`: the same, but for an alias,
    the alias itself.
    """

    KEY = "key"
    VALUE = "value"
    HEAD = "head"
    ENTRY = "entry"


def part_of(path: Path) -> Part:
    """Return the part of a value that shows where it is: its key, or the value if it is an item."""
    return Part.KEY if path and isinstance(path[-1], str) else Part.VALUE


def pointer(path: Path) -> str:
    """Return the JSON Pointer of a path (RFC 6901)."""
    plain = "/".join(map(str, path))
    if "~" not in plain and plain.count("/") == len(path) - 1:
        return "/" + plain
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def split_pointer(pointer: str) -> tuple[str, ...]:
    """Return the steps of a JSON Pointer."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def follow(value: Any, steps: Iterable[str | int]) -> Path:
    """Return the path to which some steps lead in a value, as far as it has them; digits count as an index."""
    path: Path = ()
    for step in steps:
        key = int(step) if isinstance(value, list) and str(step).isdecimal() else step
        if isinstance(value, dict):
            has_key = key in value
        else:
            has_key = isinstance(value, list) and key in range(len(value))
        if not has_key:
            break
        value, path = value[key], (*path, key)
    return path


def find_strings(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    """Find all strings in a value, which is at `path`."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for step, item in items:
            yield from find_strings((*path, step), item)


def list_prefixes(paths: Iterable[Path]) -> set[Path]:
    """Return the paths from the top to some paths, with these."""
    return {path[:length] for path in paths for length in range(len(path) + 1)}


def list_above(place: str) -> Iterator[str]:
    """Yield the pointers of all that is above a place, from the outside in, and "" in any case."""
    yield ""
    at = place.find("/", 1)
    while at > 0:
        yield place[:at]
        at = place.find("/", at + 1)

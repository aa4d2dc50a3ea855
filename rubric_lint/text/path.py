"""Define paths to the values of a document, and the parts of a value."""

from collections.abc import Iterator
from enum import StrEnum

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


def pointer(path: Path) -> str:
    """Return the JSON Pointer of a path (RFC 6901)."""
    plain = "/".join(map(str, path))
    if "~" not in plain and plain.count("/") == len(path) - 1:
        return "/" + plain
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def list_above(place: str) -> Iterator[str]:
    """Yield the pointers of all that is above a place, from the outside in, and "" in any case."""
    yield ""
    at = place.find("/", 1)
    while at > 0:
        yield place[:at]
        at = place.find("/", at + 1)

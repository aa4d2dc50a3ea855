"""Name values of a document: the path to each, and the part of it that is meant."""

from enum import StrEnum

Path = tuple[str | int, ...]
"""The way from a document's root to a value: keys as they are written, and 0-based indices."""


class Part(StrEnum):
    """Which part of the thing at a path is meant.

    `KEY`: the key of a field. `VALUE`: its value; where that is an alias, the value at its definition. `HEAD`: the
    first key of a mapping, to speak of the whole of it without marking ten lines; of anything else the value.
    `ENTRY`: the same, but where an alias stands for it, the alias.
    """

    KEY = "key"
    VALUE = "value"
    HEAD = "head"
    ENTRY = "entry"

"""Tell the kind of a file by its name: how its text is parsed, and what may be written to it."""

from enum import StrEnum


class Kind(StrEnum):
    """A kind of text, with its name for messages."""

    YAML = "YAML"
    JSON = "JSON"
    JSON_LINES = "JSON Lines"
    TOML = "TOML"
    PYTHON = "Python"
    NOTEBOOK = "a notebook"

    @property
    def is_json(self) -> bool:
        """Whether it is JSON, or lines of JSON: without comments."""
        return self in (Kind.JSON, Kind.JSON_LINES)

    @property
    def is_program(self) -> bool:
        """Whether it is source code, in which rubrics are literals; it is never rewritten."""
        return self in (Kind.PYTHON, Kind.NOTEBOOK)


_KINDS = {
    ".yaml": Kind.YAML,
    ".yml": Kind.YAML,
    ".json": Kind.JSON,
    ".jsonl": Kind.JSON_LINES,
    ".py": Kind.PYTHON,
    ".pyi": Kind.PYTHON,
    ".pyw": Kind.PYTHON,
    ".ipynb": Kind.NOTEBOOK,
    ".toml": Kind.TOML,
}

DATA = frozenset({Kind.YAML, Kind.JSON, Kind.JSON_LINES})
"""The kinds in which our own format is written."""

SUFFIXES = tuple(suffix for suffix, kind in _KINDS.items() if kind in DATA)
"""The suffixes of the files that are found in folders."""

SIGNED_SUFFIXES = tuple(suffix for suffix, kind in _KINDS.items() if kind not in DATA)
"""The suffixes of the files that are found in folders if their bytes show that they may hold a rubric."""


def kind_of(name: str) -> Kind:
    """Return the kind of a file by the suffix of its name; anything else is YAML."""
    at = name.rfind(".")
    return _KINDS.get(name[at:].lower(), Kind.YAML) if at >= 0 else Kind.YAML

"""What the editor's own settings say, read with patience: what makes no sense is told and takes its default."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

SECTION = "rubric-lint"
"""What the names of the settings begin with in an editor."""

When = Literal["auto", "always", "never"]


class Options(NamedTuple):
    """The settings of an editor for one folder.

    `configuration`: the settings file for everything, "" for the nearest one. `shape_errors`, `completion`: whether to
    say what a server with our JSON Schemas says too; `auto`: where there is none. `debounce`: milliseconds of silence.
    """

    enable: bool = True
    configuration: str = ""
    shape_errors: When = "auto"
    completion: When = "auto"
    debounce: int = 150


_NAMES = {
    "enable": "enable",
    "configuration": "configuration",
    "shapeErrors": "shape_errors",
    "completion": "completion",
    "debounce": "debounce",
}
_WHEN = ("auto", "always", "never")
_LONGEST_DEBOUNCE = 10_000


def read_options(value: Any) -> tuple[Options, list[str]]:
    """The options that an editor sends, and what is wrong with them. Names that are the client's own are left alone."""
    settings = value if isinstance(value, Mapping) else {}
    given = {field: settings[name] for name, field in _NAMES.items() if settings.get(name) is not None}
    faults = list(_find_faults(given))
    wrong = {name for name, _ in faults}
    shown = {field: name for name, field in _NAMES.items()}
    good = {field: value for field, value in given.items() if field not in wrong}
    return Options(**good), [f"{SECTION}.{shown[field]} {fault}" for field, fault in faults]


def _find_faults(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field, value in given.items():
        default = Options._field_defaults[field]
        if field in ("shape_errors", "completion"):
            if value not in _WHEN:
                yield field, f"is {value!r}, expected one of {', '.join(_WHEN)}"
        elif type(value) is not type(default):
            kind = {bool: "true or false", str: "a string", int: "an integer"}[type(default)]
            yield field, f"is {value!r}, expected {kind}"
        elif type(value) is int and not 0 <= value <= _LONGEST_DEBOUNCE:
            yield field, f"is {value}, expected 0 to {_LONGEST_DEBOUNCE} milliseconds"


def expand(path: str, folder: str | None) -> str:
    """A path from the settings as an absolute one; relative paths start at the folder."""
    path = path.replace("${workspaceFolder}", folder or "")
    return os.path.abspath(os.path.join(folder or "", os.path.expanduser(path)))  # noqa: PTH100, PTH111, PTH118

"""Read the editor's settings; an invalid one is reported and replaced with its default."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

from rubric_lint.lsp.server.positions import replace_surrogates

SECTION = "rubric-lint"
"""The prefix of the settings' names in an editor."""

When = Literal["auto", "always", "never"]

_WHEN = get_args(When)
_LONGEST_DEBOUNCE = 10_000


class Options(NamedTuple):
    """The settings of an editor for one folder.

    `configuration`: the settings file for all files, "" for the nearest one. `shape_errors`: whether to report what the
    JSON Schema finds; `auto`: all but what a YAML server beside ours also reports. `completion`: whether to complete
    fields; `auto`: if no server with our JSON Schemas does. `debounce`: milliseconds.
    `share_hints`, `verdict_hints`, `range_hints`: which hints to show between the words of a rubric.
    `score_hover`: whether to say on hover what an answer does to the score and the verdict.
    `lenses`: whether to offer commands above rubrics and tests.
    `unopened_files`: whether to lint the files of the folder that are not open, if the editor asks for them.
    `formatting`: whether to format documents on request.
    """

    enable: bool = True
    configuration: str = ""
    shape_errors: When = "auto"
    completion: When = "auto"
    debounce: int = 150
    share_hints: bool = True
    verdict_hints: bool = True
    range_hints: bool = True
    score_hover: bool = True
    lenses: bool = True
    unopened_files: bool = True
    formatting: bool = False


def setting_name(field: str) -> str:
    """Return the name that a setting has in an editor: `share_hints` is `shareHints` there."""
    first, *others = field.split("_")
    return first + "".join(map(str.capitalize, others))


def read_options(value: Any) -> tuple[Options, list[str]]:
    """Return the options that an editor sends, and the errors in them; ignore names that are the client's own."""
    settings = value if isinstance(value, Mapping) else {}
    values = {field: settings.get(setting_name(field)) for field in Options._fields}
    given = {field: value for field, value in values.items() if value is not None}
    faults = list(_find_faults(given))
    wrong = {name for name, _ in faults}
    good = {field: value for field, value in given.items() if field not in wrong}
    return Options(**good), [f"{SECTION}.{setting_name(field)} {fault}" for field, fault in faults]


def _find_faults(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field, value in given.items():
        default = Options._field_defaults[field]
        if field in ("shape_errors", "completion"):
            if value not in _WHEN:
                yield field, f"is {value!r}, expected one of {', '.join(_WHEN)}"
        elif type(value) is not type(default):
            kind = {bool: "true or false", str: "a string", int: "an integer"}[type(default)]
            yield field, f"is {value!r}, expected {kind}"
        elif type(value) is str and not _is_path(value):
            yield field, f"is {value!r}, expected a path; no path has a null character or half a surrogate pair"
        elif type(value) is int and not 0 <= value <= _LONGEST_DEBOUNCE:
            yield field, f"is {value}, expected 0 to {_LONGEST_DEBOUNCE} milliseconds"


def _is_path(text: str) -> bool:
    return "\0" not in text and replace_surrogates(text) == text


def expand(path: str, folder: str | None) -> str:
    """Make a path from the settings absolute, relative to the folder."""
    path = path.replace("${workspaceFolder}", folder or "")
    return os.path.abspath(os.path.join(folder or "", os.path.expanduser(path)))  # noqa: PTH100, PTH111, PTH118

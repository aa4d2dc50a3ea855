"""Try a completion on the part of the document that matters, to see whether it adds an error."""

import json
from collections import Counter
from collections.abc import Callable
from copy import copy
from typing import Any

from rubric_lint.finding import Severity
from rubric_lint.lint.engine import lint
from rubric_lint.lsp.analysis import State
from rubric_lint.lsp.slots import Slot
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.kinds import DATA, kind_of
from rubric_lint.text.path import Path

_OF_KEYS = frozenset({"schema", "unknown-field", "conflicting-field", "mixing", "lost-rubric"})
"""The rules that a field can break, whatever its value; what others find is up to what the user fills in."""


_OTHERS: tuple[Any, ...] = ("Says so", "says_so", 1, True, [], {})


_SMALL = 8_000  # characters; of a longer document only the case around the slot is linted, to answer in time

_LACK = "missing field"
"""The words of the error for a field that is not there."""


class Proof:
    """What the linter says of the data of a document; of a long one, only of the case around the slot."""

    def __init__(self, state: State, slot: Slot) -> None:
        self._name = state.name if kind_of(state.name) in DATA else f"{state.name}.json"
        self._settings = state.settings or FileSettings()
        self._slot = slot
        holder = slot.path if slot.is_key else slot.path[:-1]
        is_small = state.text.length <= _SMALL
        self._data, self._path = (slot.data, holder) if is_small else _cut_out(slot.data, holder)
        self._known = self._find_errors(self._data)

    def is_sound_value(self, value: Any) -> bool:
        """Return whether there is no new error with a value in the slot."""
        return not self._find_errors(_put(self._data, self._path, self._slot.path[-1], value)) - self._known

    def is_sound_field(self, name: str, sample: Any) -> bool:
        """Return whether a field of this name adds no error with the sample, or with a value of another type."""
        return any(
            (self._find_errors(_put(self._data, self._path, name, value)) - self._known).keys().isdisjoint(_OF_KEYS)
            for value in (sample, *_OTHERS)
        )

    def is_sound_entry(self, name: str) -> Callable[[Any], bool]:
        """Return a function that tells whether a field of this name adds no error with a value."""
        return lambda value: not self._find_errors(_put(self._data, self._path, name, value)) - self._known

    def is_sound_mapping(self, value: Any) -> bool:
        """Return whether there is no new error with a whole mapping in the slot."""
        return not self._find_errors(_replace(self._data, self._path, value)) - self._known

    def _find_errors(self, data: Any) -> Counter[str]:
        if self._settings.is_test_file:  # what a test expects must fit its rubric, which only the user knows
            return Counter()
        text = json.dumps(data)
        found = lint(self._name, text.encode(), self._settings).findings
        errors = (finding for finding in found if finding.severity is Severity.ERROR)
        is_begun = bool(self._slot.mapping)  # in an empty mapping, what it lacks is written next
        return Counter(finding.rule for finding in errors if is_begun or _LACK not in finding.message)


def _cut_out(data: Any, path: Path) -> tuple[Any, Path]:
    """Return data with less of it beside a path, and the path there.

    Of a list of cases, only the case on the path is kept; criteria of the same rubric stay, as they belong together.
    """
    cases = next((at for at, step in enumerate(path) if isinstance(step, int)), None)
    if cases is None or cases + 1 >= len(path) or not any(isinstance(step, int) for step in path[cases + 1 :]):
        return data, path
    top = path[:cases]
    holder = data
    for step in top:
        holder = holder[step]
    kept = [holder[path[cases]]]
    return _replace(data, top, kept), (*top, 0, *path[cases + 1 :])


def _replace(data: Any, path: Path, value: Any) -> Any:
    """Return data with another value at a path; what is on the way is copied."""
    if not path:
        return value
    other = copy(data)
    other[path[0]] = _replace(data[path[0]], path[1:], value)
    return other


def _put(data: Any, path: Path, step: str | int, value: Any) -> Any:
    holder = data
    for each in path:
        holder = holder[each]
    if isinstance(holder, list) and isinstance(step, int):
        return _replace(data, path, [*holder[:step], value, *holder[step:]])
    if not isinstance(holder, dict):
        holder = {}
    return _replace(data, path, {**holder, step: value})

"""Try a completion on the part of the document that matters, to see whether it adds an error."""

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

from rubric_lint.finding import Severity
from rubric_lint.lint.engine import Held, find_problems, is_enabled, severity_of
from rubric_lint.lsp.slots import Slot, follow, write_data
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.path import Part, Path
from rubric_lint.text.reading import read_documents, without_collections
from rubric_lint.text.source import Source

Errors = Counter[tuple[str, str]]
"""How often each rule finds an error; for a violation of the schema, also the keyword."""

LOST = ("lost-rubric", "")
"""The error for a rubric that its system does not read."""

_LACKS = frozenset({"required", "minItems", "minProperties", "contains"})
"""The keywords of the errors for what is not there."""

_OTHERS: tuple[Any, ...] = ("Says so", "says_so", 1, True, [], {})
"""Values of all types, for a field whose schema does not say enough to make one."""


class Proof:
    """What the linter says of the data around a slot, and of what a completion makes of it."""

    def __init__(self, settings: FileSettings, slot: Slot) -> None:
        self._settings = settings
        self._slot = slot
        self._cached: dict[str, tuple[Errors, frozenset[Path]]] = {}
        self._known = self._find_errors(slot.data)[0]

    def is_sound_value(self, value: Any) -> bool:
        """Return whether there is no new error with a value in the slot."""
        return not self.find_new(self._slot.path[-1], value)

    def find_new(self, step: str | int, value: Any) -> Errors:
        """Return the errors that a field or an item adds."""
        return self._find_errors(put(self._slot.data, self._slot.holder, step, value))[0] - self._known

    def find_sound(self, name: str, samples: Iterable[Any]) -> tuple[Any, Errors]:
        """Return a value with which a field adds no error, the samples first; or None, and the errors of the first.

        No other value is tried if the error is in the key.
        """
        first: Errors | None = None
        for value in (*samples, *_OTHERS):
            found, keys = self._find_errors(put(self._slot.data, self._slot.holder, name, value))
            new = found - self._known
            if not new:
                return value, new
            first = new if first is None else first
            if (*self._slot.holder, name) in keys:
                break
        return None, first or Counter()

    def is_sound_mapping(self, value: Mapping[str, Any]) -> bool:
        """Return whether there is no new error with a whole mapping in the slot."""
        return not self._find_errors(_replace(self._slot.data, self._slot.holder, value))[0] - self._known

    @without_collections()
    def _find_errors(self, data: Any) -> tuple[Errors, frozenset[Path]]:
        """Return the errors in data, and the paths of the keys that are errors."""
        source = self._slot.document.source
        if self._settings.is_test_file:  # what a test expects must fit its rubric, which only the user knows
            return Counter(), frozenset()
        text = write_data(data, self._slot.document.kind)
        if text not in self._cached:
            claim = source.text[: source.text.find("\n") + 1] if source.text[:1] == "#" else ""
            documents = read_documents(Source(source.name, claim + text))[0]
            problems = [
                (rule, problem)
                for rule, problem, *_ in find_problems(documents, self._settings, Held([], []))
                if is_enabled(rule, self._settings) and severity_of(rule, self._settings) is Severity.ERROR
            ]
            is_begun = bool(self._slot.mapping)  # in an empty mapping, what it lacks is written next
            self._cached[text] = (
                Counter((rule, each.keyword) for rule, each in problems if is_begun or each.keyword not in _LACKS),
                frozenset(each.path for _, each in problems if each.part is Part.KEY),
            )
        return self._cached[text]


def _replace(data: Any, path: Path, value: Any) -> Any:
    """Return data with another value at a path; what is on the way is copied."""
    if not path:
        return value
    other = copy(data)
    other[path[0]] = _replace(data[path[0]], path[1:], value)
    return other


def put(data: Any, path: Path, step: str | int, value: Any) -> Any:
    """Return data with a field or an item at the step from `path`."""
    holder = follow(data, path)
    if isinstance(holder, list) and isinstance(step, int):
        return _replace(data, path, [*holder[:step], value, *holder[step:]])
    return _replace(data, path, {**(holder if isinstance(holder, dict) else {}), step: value})

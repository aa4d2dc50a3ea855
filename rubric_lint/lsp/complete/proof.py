"""Try a completion on the part of the document that matters, to see whether it adds an error."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from copy import copy
from decimal import Decimal
from typing import Any, NamedTuple

from rubric_lint.finding import Problem, Severity
from rubric_lint.lint.engine import Located, find_problems, is_enabled, severity_of
from rubric_lint.lsp.complete.schemas import find_table, is_settings_file
from rubric_lint.lsp.complete.slots import Slot, follow, write_data
from rubric_lint.lsp.server.analysis import Analysis
from rubric_lint.project.settings import FileSettings, find_faults
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.reading import read_documents, without_collections
from rubric_lint.text.source import Source, Span, kind_of

Errors = Counter[tuple[str, str]]
"""How often each rule finds an error; for a violation of the schema, also the keyword, and for a setting its path."""

_OF_ALL = frozenset({"coverage"})
"""The rules that look at all bands together: an error of theirs is not that of the band that is written now."""

_OF_FORM = frozenset({"schema", "unknown-field"})
"""The rules whose errors show that a value is not that of a field."""

_LACKS = frozenset({"required", "minItems", "minProperties", "contains"})
"""The keywords of the errors for what is not there."""

_LACKS_BESIDE = "dependencies"
"""The keyword of the error of a field that needs another one beside it, which is written next."""

_OTHERS: tuple[Any, ...] = ("Says so", "says_so", 1, 0, True, [], {})
"""Values of all types, for a field whose schema does not say enough to make one."""


class _Linted(NamedTuple):
    """The errors in data, and the paths of the keys that are errors."""

    errors: Errors
    keys: frozenset[Path]


class Proof:
    """What the linter says of the data around a slot, and of what a completion makes of it.

    `before` is an earlier state of the document, if only that had the rubric around the slot: its errors are not new.
    """

    def __init__(self, settings: FileSettings, slot: Slot, before: Analysis | None = None) -> None:
        self._settings = settings
        self._slot = slot
        self._excused = {each.rule for each in before.findings} if before else set()
        self._known = self._lint(slot.document.data, slot.holder).errors

    def find_best(self, values: Iterable[Any]) -> list[Any]:
        """Return the values that add no error in the slot; where some of them mend errors, those that mend most."""
        tried = [(value, *self._try(self._slot.path[-1], value)) for value in values]
        sound = [(value, seen.errors.total()) for value, new, seen in tried if not new]
        least = min((count for _, count in sound), default=0)
        return [value for value, count in sound if count == least]

    def is_sound_field(self, name: str, value: Any) -> bool:
        """Return whether a field with a value adds no error but that other values of a list are still missing."""
        return all(rule in _OF_ALL for rule, _ in self._try(name, value)[0])

    def weigh(self, name: str, value: Any) -> tuple[int, int, int]:
        """Return how bad a field with a value is, also in place of the one that is there: three counts of errors.

        The first are added and about its form, the second are added and others, the third are all that there are.
        """
        new, seen = self._try(name, value)
        of_form = sum(count for (rule, _), count in new.items() if rule in _OF_FORM)
        return of_form, new.total() - of_form, seen.errors.total()

    def find_sound(self, name: str, samples: Iterable[Any]) -> tuple[Any] | None:
        """Return a value with which a field adds no error, the samples first; else one that is right by itself.

        Return None without such a value. No other is tried if the error is in the key.
        """
        fitting: tuple[Any] | None = None
        for value in (*samples, *_OTHERS):
            new, seen = self._try(name, value)
            if not new:
                return (value,)
            if fitting is None and all(rule in _OF_ALL for rule, _ in new):
                fitting = (value,)
            if (*self._slot.holder, name) in seen.keys:
                break
        return fitting

    def is_sound_mapping(self, value: Mapping[str, Any]) -> bool:
        """Return whether there is no new error with a whole mapping in the slot."""
        holder = self._slot.holder
        return not self._compare(self._lint(_replace(self._slot.document.data, holder, value), holder))

    def _try(self, step: str | int, value: Any) -> tuple[Errors, _Linted]:
        """Return the errors that a field or an item adds, and all that there are with it."""
        holder = self._slot.holder
        seen = self._lint(put(self._slot.document.data, holder, step, value), (*holder, step))
        return self._compare(seen), seen

    def _compare(self, seen: _Linted) -> Errors:
        new = seen.errors - self._known
        return Counter({each: count for each, count in new.items() if each[0] not in self._excused})

    @without_collections()
    def _lint(self, data: Any, added: Path) -> _Linted:
        """Return the errors in data.

        What is lacking in the value that was `added` is an error; what is lacking around it is to be written next.
        """
        source = self._slot.document.source
        text = write_data(data, kind_of(source.name))
        if is_settings_file(source.name):
            table = follow(tomllib.loads(text, parse_float=Decimal), find_table(source.name))
            faults = find_faults(table) if isinstance(table, dict) else ()
            wrong = Counter(("settings", ".".join(fault.way)) for fault in faults if not fault.is_lack)
            return _Linted(wrong, frozenset())
        claim = source.text[: source.text.find("\n") + 1] if source.text[:1] == "#" else ""
        problems = _find_errors(read_documents(Source(source.name, claim + text))[0], self._settings)
        errors = Counter(
            (rule, each.keyword)
            for rule, each in problems
            if each.keyword != _LACKS_BESIDE and (each.keyword not in _LACKS or each.path[: len(added)] == added)
        )
        return _Linted(errors, frozenset(each.path for _, each in problems if each.part is Part.KEY))


def choose_best(source: Source, at: Span, texts: Iterable[str], settings: FileSettings) -> list[str]:
    """Return the texts that make the fewest errors in a file if they replace what is at a span."""
    written = {each: f"{source.text[: at.start]}{each}{source.text[at.end :]}" for each in texts}
    counts = {
        each: len(_find_errors(read_documents(Source(source.name, text))[0], settings))
        for each, text in written.items()
    }
    return [each for each, count in counts.items() if count == min(counts.values())]


@without_collections()
def _find_errors(documents: list[Document], settings: FileSettings) -> list[tuple[str, Problem]]:
    return [
        (rule, problem)
        for rule, problem, *_ in find_problems(documents, settings, Located([], []))
        if is_enabled(rule, settings) and severity_of(rule, settings) is Severity.ERROR
    ]


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

"""Deprecated fields: what the schema says they become, as problems with their fixes."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rubric_lint.finding import Intent, Part, Path, Problem, RemoveField, RenameKey, Repair, ReplaceValue


class Replacement(NamedTuple):
    """What a deprecated field becomes: another field, with the value as it is, another value, or (None) nothing."""

    name: str
    values: Mapping[str, Any] | None

    def covers(self, value: Any) -> bool:
        """Whether the schema says what `value` becomes."""
        return self.values is None or _key_of(value) in self.values

    def value_for(self, value: Any) -> Any:
        """What the replacing field holds for `value`; None where it is left out."""
        return value if self.values is None else self.values[_key_of(value)]


def _key_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else ""


def find_deprecated(
    mapping: Mapping[str, Any], path: Path, field: str, replacement: Replacement | None
) -> Iterator[Problem]:
    """The deprecated `field` of a mapping, unless the field that replaces it stands beside it."""
    if replacement is None or field not in mapping or replacement.name in mapping:
        return
    value, place, name = mapping[field], (*path, field), replacement.name
    if not replacement.covers(value):
        return  # the wrong value is the first thing to mend
    new = replacement.value_for(value)
    if new is None and replacement.values is not None:
        message = f"`{field}: {_write(value)}` is deprecated; leave it out"
        yield Problem(message, place, Part.KEY, repair=_repair(f"remove `{field}`", RemoveField(place)))
    elif new == value and type(new) is type(value):
        message = f"`{field}` is deprecated; write `{name}`"
        repair = _repair(f"rename `{field}` to `{name}`", RenameKey(place, name))
        yield Problem(message, place, Part.KEY, repair=repair)
    else:
        message = f"`{field}: {_write(value)}` is deprecated; write `{name}: {_write(new)}`"
        repair = _repair(f"write `{name}: {_write(new)}`", RenameKey(place, name), ReplaceValue(place, _write(new)))
        yield Problem(message, place, Part.KEY, repair=repair)


def _repair(title: str, *intents: Intent) -> Repair:
    return Repair(title, intents, safe=True)


def _write(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

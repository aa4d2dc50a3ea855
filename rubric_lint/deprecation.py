"""Deprecated fields: what the schema says they become, as problems with their fixes."""

from collections.abc import Iterator, Mapping
from typing import Any

from rubric_lint.finding import Intent, Part, Path, Problem, RemoveField, RenameKey, Repair, ReplaceValue
from rubric_lint.schema import Replacement


def find_deprecated(
    mapping: Mapping[str, Any], path: Path, field: str, replacement: Replacement | None
) -> Iterator[Problem]:
    """The deprecated `field` of a mapping, unless the field that replaces it stands beside it."""
    if replacement is None or field not in mapping or replacement.name in mapping:
        return
    value, place, name = mapping[field], (*path, field), replacement.name
    if not replacement.covers(value):
        yield Problem(f"`{field}` is deprecated; write `{name}`", place, Part.KEY)
        return
    new = replacement.value_for(value)
    if new is None:
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

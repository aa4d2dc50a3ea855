"""Report deprecated fields, with fixes from what the schema says replaces them."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rubric_lint.finding import Intent, Problem, RemoveField, RenameKey, Repair, ReplaceValue
from rubric_lint.text.path import Part, Path


class Replacement(NamedTuple):
    """The field that replaces a deprecated one; `values`, if any, maps old values to new ones (None: no field)."""

    name: str
    values: Mapping[str, Any] | None

    def covers(self, value: Any) -> bool:
        """Return whether the schema says what replaces `value`."""
        return self.values is None or _key_of(value) in self.values

    def value_for(self, value: Any) -> Any:
        """Return the value of the new field for `value`; None if it is left out."""
        return value if self.values is None else self.values[_key_of(value)]


def _key_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else ""


MESSAGES = {
    "left-out": "`{field}: {value}` is deprecated; leave it out",
    "renamed": "`{field}` is deprecated; write `{name}`",
    "replaced": "`{field}: {value}` is deprecated; write `{name}: {new}`",
}
"""What the rules on deprecated fields say of them."""


def find_deprecated(
    mapping: Mapping[str, Any], path: Path, field: str, replacement: Replacement | None
) -> Iterator[Problem]:
    """Find the deprecated `field` of a mapping, unless its replacement is there too."""
    if replacement is None or field not in mapping or replacement.name in mapping:
        return
    value, place, name = mapping[field], (*path, field), replacement.name
    if not replacement.covers(value):
        return  # the wrong value comes first
    new = replacement.value_for(value)
    values = {"field": field, "value": _write(value), "name": name, "new": _write(new)}
    if new is None and replacement.values is not None:
        yield Problem("left-out", place, Part.KEY, values, repair=_repair(f"remove `{field}`", RemoveField(place)))
    elif new == value and type(new) is type(value):
        repair = _repair(f"rename `{field}` to `{name}`", RenameKey(place, name))
        yield Problem("renamed", place, Part.KEY, values, repair=repair)
    else:
        repair = _repair(f"write `{name}: {_write(new)}`", RenameKey(place, name), ReplaceValue(place, _write(new)))
        yield Problem("replaced", place, Part.KEY, values, repair=repair)


def _repair(title: str, *intents: Intent) -> Repair:
    return Repair(title, intents, safe=True)


def _write(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

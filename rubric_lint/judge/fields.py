"""Find the fields of an answer under the names that a file uses."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from rubric_lint.messages import find_near
from rubric_lint.outputs.decoding import OutputError

MISSING = object()
"""Stands for a field that a record does not have."""


class Fields(NamedTuple):
    """Where a record has what a judge needs: the name of a field, or a JSON Pointer such as `/response/text`."""

    id: str = "id"
    answer: str = "answer"
    question: str = "question"
    reference: str = "reference"
    rubric: str = "rubric"

    @property
    def is_default(self) -> bool:
        """Whether the records use our names."""
        return self == Fields()

    def rename(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record under our names. What it holds under other names stays, except fields that were renamed.

        Raises:
            OutputError: if the record has a field of our name that is not meant by it.
        """
        if self.is_default:
            return dict(record)
        places = self._asdict()
        found = {name: value for name, place in places.items() if (value := look_up(record, place)) is not MISSING}
        moved = {place for name, place in places.items() if place != name and not place.startswith("/")}
        kept = {name: value for name, value in record.items() if name not in moved}
        for name, place in places.items():
            if place != name and name in kept:
                raise OutputError(
                    f"`{name}` is not read, because --{name}-field names `{place}`; rename it, or say what it is with "
                    "another option"
                )
        return {**kept, **found}

    def word_missing(self, name: str, record: Mapping[str, Any]) -> str:
        """Return the message for a field that a record does not have."""
        place = getattr(self, name)
        if place.startswith("/"):
            return f"nothing at `{place}` (--{name}-field)"
        near = find_near(place, record)
        option = f" (--{name}-field)" if place != name else ""
        return f"missing field `{place}`{option}" + (f"; did you misspell it as `{near[0]}`?" if near else "")


def look_up(record: Any, place: str) -> Any:
    """Return the value of a field, or at a JSON Pointer (RFC 6901); `MISSING` if there is none."""
    if not place.startswith("/"):
        return record.get(place, MISSING)
    value = record
    for step in place[1:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value

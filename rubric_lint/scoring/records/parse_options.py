"""Options of how strictly judge outputs are read."""

from enum import StrEnum
from typing import Any, NamedTuple, Never, Self

from rubric_lint.model.messages import join_words


class Extract(StrEnum):
    """What of a raw text, without its thoughts, may be the verdict: the text, its end, or the only one in it."""

    WHOLE = "whole"
    LAST = "last"
    ONLY = "only"

    @classmethod
    def _missing_(cls, value: object) -> Never:
        _refuse_choice("extract", value, cls)


class ExtraFields(StrEnum):
    """Whether fields of an output that neither its schema nor the request has are refused, or accepted unread."""

    REFUSE = "refuse"
    ACCEPT = "accept"

    @classmethod
    def _missing_(cls, value: object) -> Never:
        _refuse_choice("extra_fields", value, cls)


def _refuse_choice(name: str, value: object, choices: type[StrEnum]) -> Never:
    expected = join_words([repr(choice.value) for choice in choices], "or")
    raise ValueError(f"{name} is {value!r}; expected {expected}")


class ParseOptions(NamedTuple):
    """How outputs are read. Without `extra_fields`, `whole` refuses them; the others refuse numbers and booleans.

    `grades` has what letter grades are worth.
    """

    extract: Extract = Extract.LAST
    extra_fields: ExtraFields | None = None
    grades: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, extract: str, extra_fields: str | None = None, grades: tuple[tuple[str, int], ...] = ()) -> Self:
        """Return the options with these names.

        Raises:
            ValueError: if one of them has another value.
        """
        others = None if extra_fields is None else ExtraFields(extra_fields)
        return cls(Extract(extract), others, grades)

    def refuses(self, value: Any) -> bool:
        """Return whether a field that nobody asked for makes an output invalid by its value."""
        if self.extra_fields:
            return self.extra_fields is ExtraFields.REFUSE
        return self.extract is Extract.WHOLE or isinstance(value, int | float)


DEFAULT_OPTIONS = ParseOptions()
WHOLE = ParseOptions(Extract.WHOLE)

"""Recognize outputs that have exactly the fields and types of their form, as most do, without the schema.

With msgspec, decoding them is one step. Without it, they are recognized once they are decoded.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, NoReturn

from rubric_lint.format.criterion import Shape
from rubric_lint.scoring.form import form_of

try:
    from msgspec import MsgspecError, convert, defstruct, field
    from msgspec.json import Decoder
except ImportError:  # it is compiled, and not for every system
    IS_INSTALLED = False
    REFUSALS: tuple[type[Exception], ...] = (ValueError,)
else:
    IS_INSTALLED = True
    REFUSALS = (MsgspecError, ValueError, TypeError, RecursionError)


def _refuse(_line: bytes) -> NoReturn:
    raise ValueError


class _Check(NamedTuple):
    id: str
    answer: bool | int
    reasoning: str | None = None


class _Output(NamedTuple):
    checks: list[_Check]
    overall_reasoning: str | None = None


class _Holistic(NamedTuple):
    score: int
    reasoning: str | None = None


class PlainTypes:
    """The types of the outputs of one shape.

    `decode_record` decodes a record of just a string `id` and an output or raw text, and raises one of `REFUSALS` for
    any other.
    """

    decode_record: Callable[[bytes], Any] = staticmethod(_refuse)

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.output = _define_output(shape) if IS_INSTALLED else None
        if IS_INSTALLED:
            self._decode_output = Decoder(self.output).decode
            self.decode_record = Decoder(_define("Record", ("id", str), ("output", self.output | str))).decode

    def convert(self, value: Any) -> Any:
        """Convert an object to an output; return None unless it has exactly these fields."""
        if not IS_INSTALLED:
            return _take_output(value, self._shape)
        try:
            return convert(value, self.output)
        except REFUSALS:
            return None

    def decode(self, text: str) -> Any:
        """Decode JSON as an output; return None unless it has exactly these fields."""
        if not IS_INSTALLED:
            return None
        try:
            return self._decode_output(text)
        except REFUSALS:
            return None


@cache
def types_of(shape: Shape) -> PlainTypes:
    """Return the types of the outputs of a shape."""
    return PlainTypes(shape)


def _take_output(value: Any, shape: Shape) -> Any:
    """Convert an object to an output as msgspec would; return None if a field or a type differs."""
    if shape is Shape.HOLISTIC:
        return _take(value, {"score": int}, "reasoning", _Holistic)
    output = _take(value, {"checks": list}, "overall_reasoning", _Output)
    if output is None:
        return None
    fields = {"id": str, form_of(shape).field: bool if shape is Shape.CHECKLIST else int}
    checks = [_take(check, fields, "reasoning", _Check) for check in output.checks]
    return None if None in checks else output._replace(checks=checks)


def _take(value: Any, fields: Mapping[str, type], reasoning: str, kind: Callable[..., Any]) -> Any:
    """Make a `kind` of the fields of a mapping and its optional reasoning; return None for any other value."""
    if type(value) is not dict or len(value) != len(fields) + (reasoning in value):
        return None
    taken = [value.get(name) for name in fields]
    if [type(each) for each in taken] != list(fields.values()):
        return None
    if reasoning not in value:
        return kind(*taken)
    return kind(*taken, value[reasoning]) if type(value[reasoning]) is str else None


def _define_output(shape: Shape) -> Any:
    reason = (str, None)
    if shape is Shape.HOLISTIC:
        return _define("Output", ("score", int), ("reasoning", *reason))
    kind = bool if shape is Shape.CHECKLIST else int
    check = _define("Check", ("id", str), ("answer", kind, field(name=form_of(shape).field)), ("reasoning", *reason))
    return _define("Output", ("checks", list[check]), ("overall_reasoning", *reason))  # type: ignore[valid-type]


def _define(name: str, *fields: Any) -> Any:
    return defstruct(name, fields, forbid_unknown_fields=True, gc=False)

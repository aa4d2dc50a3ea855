"""Read JSON strictly: no key twice, no NaN, no number that a double would round."""

import json
import math
import re
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, Self

from rubric_lint.finding import pointer
from rubric_lint.messages import visible


class OutputError(Exception):
    """What is wrong with a judge output: a JSON Pointer into it, and the 1-based line of the raw text, if known.

    What the message quotes of the judge's text has no unseen characters. `offset` is where in the text JSON breaks,
    None where it does not or where no more is to be read.
    """

    def __init__(self, message: str, path: str = "", line: int | None = None, offset: int | None = None) -> None:
        self.message = visible(message)
        super().__init__(self.message)
        self.path = path
        self.line = line
        self.offset = offset


class _Flaw(NamedTuple):
    """Stands for a value that Python's JSON reader takes and JSON, or a judge output, does not."""

    message: str


class _Repetitive(dict[str, Any]):
    """An object that has a key twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        times = Counter(key for key, _ in pairs)
        self.keys_twice = tuple(key for key, count in times.items() if count > 1)


class Fractional(float):
    """A number that is no integer, though the double nearest to it is one; as text it is what was written."""

    text: str

    def __new__(cls, text: str) -> Self:
        """From the text of the number."""
        found = super().__new__(cls, text)
        found.text = text
        return found

    def __str__(self) -> str:
        """As it was written."""
        return self.text


MOST_DIGITS = 300
"""How many digits an integer may have."""


_DIGIT_ABOVE_0 = re.compile(r"-?[0.]*[1-9]")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Repetitive(pairs)


def read_constant(text: str) -> Any:
    """`NaN` and `Infinity`, which are none of the values of JSON."""
    return _Flaw(f"{text} is not JSON")


def read_float(text: str) -> Any:
    """A number with a point or an exponent, exactly: an integer is one only as it is written, not as a double."""
    number = float(text)
    if not number.is_integer():
        return number if math.isfinite(number) else _Flaw(f"the number {text[:20]} is too large")
    if not _DIGIT_ABOVE_0.match(text):
        return number
    try:
        exact = Decimal(text)
    except InvalidOperation:  # an exponent beyond those of decimals, and as the double is finite, one far below 0
        return Fractional(text)
    if exact == number:
        return number
    return int(exact) if exact == exact.to_integral_value() else Fractional(text)


def _read_integer(text: str) -> Any:
    return int(text) if len(text) <= MOST_DIGITS else _Flaw(f"the number {text[:20]}... has {len(text)} digits")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_read_object, parse_constant=read_constant, parse_float=read_float, parse_int=_read_integer
)


def decode(text: str, start: int = 0) -> tuple[Any, int]:
    """The JSON value at `start`, and where it ends.

    Raises:
        OutputError: for what is not JSON, for a key that stands twice, and for numbers beyond the range of doubles.
    """
    value, end = decode_with_flaws(text, start)
    refuse_flaws(value)
    return value, end


def decode_with_flaws(text: str, start: int = 0) -> tuple[Any, int]:
    """The same, but single values in it may be none that stand in JSON.

    Raises:
        OutputError: for what is not JSON as a whole.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as fault:
        place = f"column {fault.colno}" if fault.lineno == 1 else f"line {fault.lineno}, column {fault.colno}"
        raise OutputError(f"not JSON at {place}: {word_fault(fault)}", line=fault.lineno, offset=fault.pos) from None
    except RecursionError:
        raise OutputError("nested too deeply to be read", line=line_of(text, start)) from None
    return value, end


def word_fault(fault: json.JSONDecodeError, whole: str = "text") -> str:
    """What is wrong with JSON, without the place; `whole` is what to call that which was read."""
    if fault.pos >= len(fault.doc.rstrip()):
        return f"the {whole} ends too early"
    if fault.msg.startswith("Unterminated string"):
        return "this text has no closing quote"
    return fault.msg[:1].lower() + fault.msg[1:].removesuffix(" at")


def keys_twice(value: Any) -> tuple[str, ...]:
    """The keys that stand more than once in an object."""
    return value.keys_twice if isinstance(value, _Repetitive) else ()


def refuse_flaws(value: Any) -> None:
    """Refuse a value with something in it that does not stand in JSON.

    Raises:
        OutputError: at the first such place.
    """
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, _Flaw):
            raise OutputError(item.message, pointer(path))
        if isinstance(item, _Repetitive):
            key = item.keys_twice[0]
            raise OutputError(f"the key `{key}` stands twice in one object", pointer((*path, key)))
        if isinstance(item, dict):
            pending += [((*path, key), child) for key, child in reversed(item.items())]
        elif isinstance(item, list):
            pending += [((*path, index), item[index]) for index in range(len(item) - 1, -1, -1)]


def line_of(text: str, offset: int) -> int:
    """The 1-based line of an offset."""
    return text.count("\n", 0, offset) + 1


def shorten(text: str) -> str:
    """Return the begin of a text in quotes, in one line."""
    shown = " ".join(text[:200].split())
    return json.dumps(shown if len(shown) <= 60 else shown[:59] + "…", ensure_ascii=False)

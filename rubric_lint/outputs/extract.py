"""Read JSON strictly: reject duplicate keys, NaN, and numbers that a double would round."""

import json
import math
import re
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, Self

from rubric_lint.messages import visible
from rubric_lint.text.path import pointer


class OutputError(Exception):
    """An invalid judge output: the reason, a JSON Pointer, and the 1-based line of the raw text, if known.

    The message escapes invisible characters of the judge's text, and the path half surrogate pairs. `offset` is where
    the JSON breaks, or None if it does not break or no more text is available.
    """

    def __init__(self, message: str, path: str = "", line: int | None = None, offset: int | None = None) -> None:
        self.message = visible(message)
        super().__init__(self.message)
        self.path = path.encode("utf-8", "backslashreplace").decode()
        self.line = line
        self.offset = offset


class _Flaw(NamedTuple):
    """A placeholder for a value that Python's JSON reader accepts but JSON or a judge output does not allow."""

    message: str


class _Repetitive(dict[str, Any]):
    """An object with a duplicate key."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        times = Counter(key for key, _ in pairs)
        self.keys_twice = tuple(key for key, count in times.items() if count > 1)


class Fractional(float):
    """A fractional number whose nearest double is an integer; `str` gives it as written."""

    text: str

    def __new__(cls, text: str) -> Self:
        """Create it from the text of the number."""
        found = super().__new__(cls, text)
        found.text = text
        return found

    def __str__(self) -> str:
        """Return the number as written."""
        return self.text


MOST_DIGITS = 300
"""The most digits an integer may have."""


_DIGIT_ABOVE_0 = re.compile(r"-?[0.]*[1-9]")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Repetitive(pairs)


def read_constant(text: str) -> Any:
    """Return a placeholder for `NaN` or `Infinity`, which JSON does not have."""
    return _Flaw(f"{text} is not JSON")


def read_float(text: str) -> Any:
    """Read a number with a point or an exponent exactly, so that rounding to a double never makes an integer of it."""
    number = float(text)
    if not number.is_integer():
        return number if math.isfinite(number) else _Flaw(f"the number {text[:20]} is too large")
    if not _DIGIT_ABOVE_0.match(text):
        return number
    try:
        exact = Decimal(text)
    except InvalidOperation:  # the exponent is out of range for Decimal; as the double is finite, it is far below 0
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
    """Decode the JSON value at `start`; return it and its end offset.

    Raises:
        OutputError: for invalid JSON, a duplicate key, or a number beyond the range of doubles.
    """
    value, end = decode_with_flaws(text, start)
    refuse_flaws(value)
    return value, end


def decode_with_flaws(text: str, start: int = 0) -> tuple[Any, int]:
    """Decode like `decode`, but allow single values that are invalid in JSON.

    Raises:
        OutputError: if the text as a whole is not JSON.
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
    """Describe a JSON error without its place; `whole` names the thing that was read."""
    if fault.pos >= len(fault.doc.rstrip()):
        return f"the {whole} ends too early"
    if fault.msg.startswith("Unterminated string"):
        return "this string has no closing quote"
    return fault.msg[:1].lower() + fault.msg[1:].removesuffix(" at")


def keys_twice(value: Any) -> tuple[str, ...]:
    """Return the keys that occur more than once in an object."""
    return value.keys_twice if isinstance(value, _Repetitive) else ()


def refuse_flaws(value: Any) -> None:
    """Raise an error if a value contains anything that JSON does not allow.

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
            raise OutputError(f"the key `{key}` occurs twice in one object", pointer((*path, key)))
        if isinstance(item, dict):
            pending += [
                ((*path, key), child) for key, child in reversed(item.items()) if isinstance(child, _MAY_BE_FLAWED)
            ]
        elif isinstance(item, list):
            pending += [
                ((*path, index), item[index])
                for index in range(len(item) - 1, -1, -1)
                if isinstance(item[index], _MAY_BE_FLAWED)
            ]


_MAY_BE_FLAWED = (dict, list, _Flaw)


def line_of(text: str, offset: int) -> int:
    """Return the 1-based line of an offset."""
    return text.count("\n", 0, offset) + 1


def shorten(text: str) -> str:
    """Return the start of a text in quotes, on one line."""
    shown = " ".join(text[:200].split())
    return json.dumps(shown if len(shown) <= 60 else shown[:59] + "…", ensure_ascii=False)

"""Decode JSON strictly: reject duplicate keys, NaN, and numbers that a double would round.

msgspec is several times faster than the standard library, but it silently keeps the last of two equal keys. So what it
decodes counts only if it has as many strings as the JSON has pairs of quotes. For anything else, and where msgspec is
not installed, the strict reader decides.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeAlias

from rubric_lint.model.messages import visible
from rubric_lint.source.path import pointer


class OutputError(Exception):
    """An invalid judge output: the reason, a JSON Pointer, and the 1-based line of the raw text, if known.

    The message escapes invisible characters of the judge's text, and the path half surrogate pairs. `offset` is where
    the JSON breaks, or None if it does not break or no more text is available. `record` has the fields of the entry
    that can be read all the same. `place` is where it was found, if not in the entry itself. `inside` is the JSON
    Pointer to the record in a list inside the entry, which `path` does not have yet.
    """

    inside = ""

    def __init__(
        self,
        message: str,
        path: str = "",
        line: int | None = None,
        offset: int | None = None,
        *,
        record: Mapping[str, Any] = MappingProxyType({}),
        place: Mapping[str, Any] | None = None,
    ) -> None:
        self.message = visible(message)
        super().__init__(self.message)
        self.path = path.encode("utf-8", "backslashreplace").decode()
        self.line = line
        self.offset = offset
        self.record = record
        self.place = place

    def forget_frames(self) -> Self:
        """Return it without what is kept for a traceback, to keep it: all local variables of the functions."""
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self


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
    digits = len(text.removeprefix("-"))
    return int(text) if digits <= MOST_DIGITS else _Flaw(f"the number {text[:20]}... has {digits} digits")


def read_constant(text: str) -> Any:
    """Return a placeholder for `NaN`, `Infinity` or `-Infinity`, which `decode_entry` refuses."""
    return _Flaw(f"{text} is not JSON")


def _open_decoder(*, strict: bool) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_read_object,
        parse_constant=read_constant,
        parse_float=read_float,
        parse_int=_read_integer,
        strict=strict,
    )


_STRICT, _LENIENT = _open_decoder(strict=True), _open_decoder(strict=False)


def decode(text: str, start: int = 0) -> tuple[Any, int]:
    """Decode the JSON value that a model wrote at `start`; return it and its end offset.

    Raises:
        OutputError: for invalid JSON, a duplicate key, or a number beyond the range of doubles.
    """
    value, end = _decode_by(_LENIENT, text, start)
    refuse_flaws(value)
    return value, end


def decode_with_flaws(text: str, start: int = 0) -> tuple[Any, int]:
    """Decode like `decode`, but allow single values that are invalid in JSON.

    Raises:
        OutputError: if the text as a whole is not JSON.
    """
    return _decode_by(_STRICT, text, start)


def decode_leniently(text: str, start: int = 0) -> tuple[Any, int]:
    """Decode like `decode_with_flaws` what a model wrote: strings may hold line breaks and tabs as they are.

    They are unambiguous, and small models often forget to escape them.

    Raises:
        OutputError: if the text as a whole is not JSON; it says so if the text ends early, as at a token limit.
    """
    return _decode_by(_LENIENT, text, start, may_be_cut=True)


def decode_cell(text: str, place: str) -> Any:
    """Decode a cell that holds JSON; None if it does not. `place` is the JSON Pointer to the cell.

    Raises:
        OutputError: if something in it is not allowed in JSON.
    """
    body = text.strip()
    try:
        value, end = decode_leniently(body)
    except OutputError:
        return None
    if end < len(body):
        return None
    try:
        refuse_flaws(value)
    except OutputError as fault:
        raise OutputError(fault.message, place + fault.path) from None
    return value


def has_raw_controls(text: str, start: int, end: int) -> bool:
    """Return whether a string in a JSON value holds line breaks or other control characters as they are."""
    if not _CONTROL.search(text, start, end):
        return False
    try:
        _PLAIN.raw_decode(text, start)
    except ValueError:
        return True
    return False


_CONTROL = re.compile(r"[\x00-\x1f]")
_PLAIN = json.JSONDecoder()


def _decode_by(decoder: json.JSONDecoder, text: str, start: int, *, may_be_cut: bool = False) -> tuple[Any, int]:
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as fault:
        place = f"column {fault.colno}" if fault.lineno == 1 else f"line {fault.lineno}, column {fault.colno}"
        message = f"not JSON at {place}: {format_json_error(fault)}"
        if may_be_cut and _is_cut(fault):
            message = f"cut off: the text ends inside its JSON, after {place}; if a token limit was reached, raise it"
        raise OutputError(message, line=fault.lineno, offset=fault.pos) from None
    except RecursionError:
        raise OutputError("nested too deeply to be read", line=line_of(text, start)) from None
    return value, end


def _is_cut(fault: json.JSONDecodeError) -> bool:
    """Return whether a text ends before its JSON does; a string that goes on to a closing bracket lacks its quote."""
    text = fault.doc.rstrip()
    return fault.pos >= len(text) or (fault.msg.startswith("Unterminated string") and text[-1] not in "}]`")


def format_json_error(fault: json.JSONDecodeError, whole: str = "text") -> str:
    """Describe a JSON error without its place; `whole` names the thing that was read."""
    if fault.pos >= len(fault.doc.rstrip()):
        return f"the {whole} ends too early"
    if fault.msg.startswith("Unterminated string"):
        return "this string has no closing quote"
    return fault.msg[:1].lower() + fault.msg[1:].removesuffix(" at")


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
        children: Iterable[tuple[str | int, Any]] = ()
        if isinstance(item, dict):
            children = reversed(item.items())
        elif isinstance(item, list):
            children = reversed(list(enumerate(item)))
        pending += [((*path, step), child) for step, child in children if isinstance(child, _MAY_BE_FLAWED)]


_MAY_BE_FLAWED = (dict, list, _Flaw)


def line_of(text: str, offset: int) -> int:
    """Return the 1-based line of an offset."""
    return text.count("\n", 0, offset) + 1


def quote_start(text: str) -> str:
    """Return the start of a text in quotes, on one line."""
    shown = " ".join(text[:200].split())
    if len(shown) > 60:
        shown = f"{shown[:59]}…"
    return json.dumps(shown, ensure_ascii=False)


def _read_sound_float(text: str) -> Any:
    number = read_float(text)
    if isinstance(number, _Flaw):
        raise ValueError(number.message)  # noqa: TRY004 (msgspec gives it back, and the strict reader says more)
    return number


try:
    from msgspec import MsgspecError
    from msgspec.json import Decoder, Encoder
except ImportError:  # it is compiled, and not for every system
    IS_INSTALLED = False
else:
    IS_INSTALLED = True
    _decode, _encode = Decoder(float_hook=_read_sound_float).decode, Encoder().encode
    _REFUSALS = (MsgspecError, ValueError, TypeError, ArithmeticError, RecursionError)


_BLANK = " \t\r\n\ufeff"
QUOTE, _BACKSLASH = b'"\\'  # as numbers: searched for as bytes, they would be taken for numbers first, and refused


class NestedRecord(dict[str, Any]):
    """A record that is an item of a list inside an entry; `inside` is the JSON Pointer to it."""

    inside = ""


def place_inside(content: Any, fault: OutputError) -> OutputError:
    """Return an error in the content of an entry with the place of the item in it, if the content is an item."""
    inside: str = getattr(content, "inside", "")
    if not fault.path.startswith(inside):  # it may be the content itself, and have its place
        fault.path = inside + fault.path
    return fault


def place_in_output(content: Any, fault: OutputError) -> OutputError:
    """Return an error in the content of an entry with its place; one within its judge output starts there."""
    inside: str = getattr(content, "inside", "")
    if not inside or not fault.path.startswith(inside):
        fault.path = re.sub(r"^/output(?=/)", "", fault.path)
    return place_inside(content, fault)


Content: TypeAlias = "bytes | dict[str, Any] | OutputError"
"""What an entry of a file holds: the text of JSON, the object of a row, or the error that prevents reading it."""

_EXPECTED = "a judge output or a record that holds one"


def decode_entry(content: Content, expected: str = _EXPECTED) -> dict[str, Any]:
    """Decode an entry, which must be an object, as `expected` says; that of a row is one already.

    Raises:
        OutputError: if it is not valid JSON, with the fields that are, or if the entry is an error.
    """
    if isinstance(content, OutputError):
        raise content
    if IS_INSTALLED and not isinstance(content, dict):
        try:
            decoded: dict[str, Any] = _decode(content)
            is_sound = type(decoded) is dict and count_quotes(content) == count_quotes(_encode(decoded))
            # Of the digits in an integer msgspec knows no limit.
            digits = len(content) - len(content.translate(None, b"0123456789"))
            is_long = digits > MOST_DIGITS and re.search(b"[0-9]{%d}" % MOST_DIGITS, content)
            if is_sound and not is_long:
                return decoded
        except _REFUSALS:
            pass
    value = content if isinstance(content, dict) else _read_strictly(content, expected)
    try:
        refuse_flaws(value)
    except OutputError as fault:
        fault.record = {name: item for name, item in value.items() if _is_sound(value, name)}
        raise
    return value


def _is_sound(value: dict[str, Any], name: str) -> bool:
    if isinstance(value, _Repetitive) and name in value.keys_twice:
        return False
    try:
        refuse_flaws(value[name])
    except OutputError:
        return False
    return True


def _read_strictly(text: bytes, expected: str) -> dict[str, Any]:
    try:
        decoded = text.decode()
    except UnicodeDecodeError as fault:
        column = len(text[: fault.start].decode()) + 1
        raise OutputError(f"byte {text[fault.start]:02x} at column {column} is not UTF-8") from None
    body = decoded.strip(_BLANK)
    value, end = decode_with_flaws(body)
    if end < len(body):
        raise OutputError(f"unexpected text after the JSON value, at column {end + 1}; expected one entry a line")
    if not isinstance(value, dict):
        raise OutputError(f"expected an object, {expected}")
    return value


def count_quotes(text: str | bytes) -> int:
    """Count the quotes that begin or end a string in JSON."""
    if isinstance(text, str):
        if "\\" not in text:
            return text.count('"')
        text = text.encode()
    if _BACKSLASH not in text:
        return text.count(QUOTE)
    rest = text.replace(b"\\\\", b"")
    return rest.count(QUOTE) - rest.count(b'\\"')


def read_struct(value: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a struct to plain data: without null fields, and with lists and Python numbers.

    Each struct of a column has all fields, with null where a row lacks one. Values with `tolist` (NumPy) or `as_py`
    (Arrow) are converted by that method.

    Raises:
        OutputError: if the struct is nested too deeply.
    """
    try:
        return {key: _simplify(item) for key, item in value.items() if item is not None}
    except RecursionError:
        raise OutputError("nested too deeply to be read") from None


def _simplify(value: Any) -> Any:
    for convert in ("tolist", "as_py"):
        if hasattr(value, convert):
            value = getattr(value, convert)()
    if isinstance(value, Mapping):
        return {key: _simplify(item) for key, item in value.items() if item is not None}
    return [_simplify(item) for item in value] if isinstance(value, list | tuple) else value


_OTHER_BYTE = re.compile("[\udc80-\udcff]")


def find_other_byte(text: str) -> int | None:
    """Return the first byte that was not UTF-8 in a text that has such bytes as lone surrogates; None without one."""
    found = None if text.isascii() else _OTHER_BYTE.search(text)
    return ord(found[0]) & 0xFF if found else None


def list_values(column: Any) -> list[Any]:
    """Return the values of a column; bytes of a string that are not UTF-8 become lone surrogates."""
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):  # bytes at which Arrow does not look, and times that Python does not have
        return list(map(_read_scalar, column))
    return values


def _read_scalar(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        if isinstance(scalar, Mapping):  # a struct
            return {name: _read_scalar(scalar[name]) for name in scalar}
        if hasattr(scalar, "as_buffer"):
            return scalar.as_buffer().to_pybytes().decode("utf-8", "surrogateescape")
        inner = getattr(scalar, "value", None)  # of a dictionary or an extension
        if isinstance(inner, int):  # of a time
            return scalar.cast("string").as_py()
        return list(map(_read_scalar, scalar.values)) if inner is None else _read_scalar(inner)

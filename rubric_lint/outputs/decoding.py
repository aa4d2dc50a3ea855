"""Decode JSON with a fast reader, and fall back to the strict one where the fast one is unsure.

msgspec is several times faster than the standard library, but it silently keeps the last of two equal keys. So the
caller counts the strings in the decoded value, keys and values, and compares that with the number of quotes in the
JSON. If msgspec is not installed or refuses the JSON, the strict reader decodes it.
"""

from typing import Any, NamedTuple

from rubric_lint.outputs.extract import (
    MOST_DIGITS,
    Fractional,
    OutputError,
    decode_with_flaws,
    read_float,
    refuse_flaws,
)

try:
    from msgspec import MsgspecError
    from msgspec.json import Decoder
except ImportError:  # it is compiled, and not for every system
    IS_INSTALLED = False
else:
    IS_INSTALLED = True
    _decode = Decoder(float_hook=read_float).decode
    _REFUSALS = (MsgspecError, ValueError, TypeError, RecursionError)

_BLANK = " \t\r\n"
QUOTE, _BACKSLASH = b'"\\'  # as numbers: searched for as bytes, they would be taken for numbers first, and refused

_ODD = -(10**12)
"""The string count of a value that may not be valid JSON: negative enough to equal no count of quotes."""

_BEYOND, _BELOW = 10**MOST_DIGITS, -(10 ** (MOST_DIGITS - 1))
"""The smallest positive and the largest negative integer with too many digits."""


class Decoded(NamedTuple):
    """An entry, its JSON if it may contain duplicate keys, and whether it may contain half surrogate pairs."""

    value: dict[str, Any]
    text: bytes | None = None
    has_halves: bool = True

    def settle(self, texts: int) -> None:
        """Raise an error for a duplicate key, unless `texts` equals the number of strings in the JSON.

        Raises:
            OutputError: for a duplicate key or anything else that is not valid JSON.
        """
        if self.text is not None and count_quotes(self.text) != 2 * texts:
            refuse_flaws(read_entry(self.text))


def decode_entry(text: bytes | OutputError) -> Decoded:
    """Decode an entry of OUTPUTS, which must be an object.

    Raises:
        OutputError: if the text is not JSON, if an error is given instead of the text, or (not always) for equal keys.
    """
    if IS_INSTALLED and not isinstance(text, OutputError):
        try:
            value = _decode(text)
        except _REFUSALS:
            value = None
        if type(value) is dict:
            return Decoded(value, text, has_halves=False)
    value = read_entry(text)
    refuse_flaws(value)
    return Decoded(
        value, has_halves=not isinstance(text, bytes) or b"\\u" in text
    )  # only an escape can make half a pair


def read_entry(text: bytes | OutputError) -> dict[str, Any]:
    """Decode an entry with the strict reader; single values in it may be invalid in JSON.

    Raises:
        OutputError: if the text is not JSON or not an object.
    """
    if isinstance(text, OutputError):
        raise text
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
        raise OutputError("expected an object, a judge output or a record that holds one")
    return value


def read_again(text: bytes | OutputError) -> tuple[dict[str, Any], bool]:
    """Decode an entry like `read_entry`, but with the fast reader if that sees all there is; then return true with it.

    Raises:
        OutputError: if the text is not JSON or not an object.
    """
    if IS_INSTALLED and not isinstance(text, OutputError):
        try:
            value = _decode(text)
        except _REFUSALS:
            value = None
        if type(value) is dict and count_quotes(text) == 2 * count_texts(value):
            return value, True
    return read_entry(text), False


def count_texts(value: Any) -> int:
    """Count the strings in a value, keys and values; return a negative number if it may be invalid in JSON."""
    try:
        return _count_texts(value)
    except RecursionError:
        return _ODD


def _count_texts(value: Any) -> int:
    kind = type(value)
    if kind is str:
        return 1
    if kind is dict:
        return len(value) + sum(map(_count_texts, value.values()))
    if kind is list:
        return sum(map(_count_texts, value))
    if kind is int:
        return 0 if _BELOW < value < _BEYOND else _ODD
    return 0 if value is None or kind in (bool, float, Fractional) else _ODD


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

"""Decode JSON fast, and let the strict reader decide what the fast one leaves open.

msgspec needs a fraction of the time that the standard library does, but of two equal keys it keeps the last in silence.
So whoever reads its values counts the texts that he meets, keys and values, and compares that with the quotes that the
JSON has. Where msgspec is not installed or refuses JSON, the strict reader decodes it.
"""

from typing import Any, NamedTuple

from rubric_lint.scoring.extract import (
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
_QUOTE, _BACKSLASH = b'"\\'  # as numbers: searched for as bytes, they would be taken for numbers first, and refused

_ODD = -(10**12)
"""The number of texts in a value that may not stand in JSON: so few that no count of quotes equals it."""

_BEYOND, _BELOW = 10**MOST_DIGITS, -(10 ** (MOST_DIGITS - 1))
"""The first integers that have too many characters."""


class Decoded(NamedTuple):
    """An entry and, if keys may stand twice in it, its JSON; and whether it may hold half surrogate pairs."""

    value: dict[str, Any]
    text: bytes | None = None
    has_halves: bool = True

    def settle(self, texts: int) -> None:
        """Refuse a key that stands twice, unless the JSON has just as many texts as the entry.

        Raises:
            OutputError: for that, and for other things that do not stand in JSON.
        """
        if self.text is not None and count_quotes(self.text) != 2 * texts:
            refuse_flaws(read_entry(self.text))


def decode_entry(text: bytes | OutputError) -> Decoded:
    """Decode an entry of OUTPUTS, which is an object.

    Raises:
        OutputError: for what is not JSON, for one that is given instead of the text, and maybe for equal keys.
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
    return Decoded(value)


def read_entry(text: bytes | OutputError) -> dict[str, Any]:
    """Decode an entry by the strict reader; single values in it may be none that stand in JSON.

    Raises:
        OutputError: for what is not JSON as a whole, or no object.
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
        raise OutputError(f"more text behind the JSON value, at column {end + 1}; expected one entry a line")
    if not isinstance(value, dict):
        raise OutputError("expected an object, a judge output or a record that holds one")
    return value


def count_texts(value: Any) -> int:
    """Return how many texts a value has, keys and values; a number below 0 where it may not stand in JSON."""
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


def is_whole_pair(text: bytes, name: str, output: str) -> bool:
    """Return whether JSON of an object has nothing but two fields with these texts; it may say no of one that has."""
    return b"\\u0022" not in text and text.count(_QUOTE) == 8 + name.count('"') + output.count('"')


def count_quotes(text: str | bytes) -> int:
    """Return how many quotes begin or end a text in JSON."""
    if isinstance(text, str):
        if "\\" not in text:
            return text.count('"')
        text = text.encode()
    if _BACKSLASH not in text:
        return text.count(_QUOTE)
    rest = text.replace(b"\\\\", b"")
    return rest.count(_QUOTE) - rest.count(b'\\"')

"""Read plain scalars by YAML 1.2, and by YAML 1.1 as many other readers do."""

import json
import math
import re
from functools import lru_cache
from typing import NamedTuple

_INFINITE = (".inf", ".Inf", ".INF")
_CONSTANTS: dict[str, float | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((*_INFINITE, "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}

# The regular expressions of the YAML 1.2.2 core schema, section 10.3.2.
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")

# Python does not convert longer runs of digits to int; no rubric needs such a number, so only its size counts.
_MOST_DIGITS = 4000


PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*\s+(?:#[^\r\n]*\s+)*)+")
"""The anchor and the tag of a value, up to the value itself."""

NON_SPECIFIC = re.compile(r"(?:&[^\s,\[\]{}]*+\s++(?:#[^\r\n]*+\s++)*+)?!(?=\s)")
"""The tag that makes any value a string, with the anchor that may precede it."""


def resolve(text: str) -> str | int | float | bool | None:
    """Return the value of a plain scalar by the core schema of YAML 1.2."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= _MOST_DIGITS else float(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _BASED.fullmatch(text):
        return int(text, 0) if len(text) <= _MOST_DIGITS else math.inf
    return text


_WRITTEN_RANGE = r"\[\d+, \d+\]"


def read_scalar(text: str) -> str | int | float | bool | list[int] | None:
    """Return the value of a scalar that is plain or, as in JSON, in double quotes; or of a range such as `[0, 3]`."""
    if re.fullmatch(_WRITTEN_RANGE, text):
        return [int(bound) for bound in json.loads(text)]
    return str(json.loads(text)) if text.startswith('"') else resolve(text)


class Ambiguity(NamedTuple):
    """A plain scalar, how two kinds of reader read it, and how to write each meaning."""

    text: str
    readings: str
    advice: str


# Nearly all numbers are written so, and are the same to every reader.
_PLAIN_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")

# YAML 1.1 (yaml.org/type). Few files need these patterns, so `re` compiles them only then.
_OLD_BOOLEANS = dict.fromkeys(("y", "yes", "on"), "true") | dict.fromkeys(("n", "no", "off"), "false")
_OLD_BASED = r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]+)"
_OLD_INTEGER = r"[-+]?(?:0|[1-9][0-9_]*)"
_OLD_SEXAGESIMAL = r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
_OLD_FLOAT = r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9_]*[0-9]_*)(?:[eE][-+][0-9]+)?"
_OLD_DATE = r"\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d\d:\d\d.*)?"

SPECIAL_STARTS = frozenset(["", *"~+-.0123456789nNtTfFyYoO"])
"""The first characters of plain scalars that may be more than strings; most scalars need no second look."""

LONGEST_WORD = len("false")
"""The longest plain scalar that begins with a letter, which is above `:`, and may be more than a string."""

# The longest scalar that a reader may read as a date, a boolean or a sensible number.
_LONGEST = 40


def read_plain(text: str) -> tuple[str | int | float | bool | None, Ambiguity | None]:
    """Return the value of a plain scalar, and its ambiguity if other readers read another value."""
    return _read_short(text) if len(text) <= _LONGEST else (resolve(text), None)


_SURE = re.compile(r"[\w./](?:[\w./#-]|:(?=/))*(?: [\w./-][\w./#-]*)*")


def write_scalar(text: str) -> str:
    """Write a string as a YAML scalar that every reader reads as this string."""
    is_plain = _SURE.fullmatch(text) and read_plain(text) == (text, None)
    return text if is_plain else json.dumps(text, ensure_ascii=False)


@lru_cache(maxsize=4096)
def _read_short(text: str) -> tuple[str | int | float | bool | None, Ambiguity | None]:
    return resolve(text), find_ambiguity(text)


def find_ambiguity(text: str) -> Ambiguity | None:
    """Find how readers of YAML 1.1 (yaml.org/type) and YAML 1.2 differ over a plain scalar; None if they agree."""
    if _PLAIN_DECIMAL.fullmatch(text):
        return None
    value = resolve(text)
    if isinstance(value, float) and math.isinf(value):
        return None  # a number that is too large is reported wherever a number is expected
    older, newer = _describe_older(text), _describe(value)
    if older != newer:
        readings = f"{older} in YAML 1.1 but {newer} in YAML 1.2"
        if older in ("true", "false"):
            return Ambiguity(text, readings, f"write {older}, or put it in quotes if it is a string")
        is_number = "number" in older + newer
        advice = _DECIMAL if is_number else "put it in quotes if it is a string"
        return Ambiguity(text, readings, advice)
    if text[:2] == "0x" and not isinstance(
        value, str
    ):  # a number in both core schemas, but not in the JSON schema of YAML 1.2
        readings = f"{older} to most readers but a string to those that know decimal numbers only"
        return Ambiguity(text, readings, _DECIMAL)
    return None


_DECIMAL = "write a plain decimal number, or put it in quotes if it is a string"


def _describe_older(text: str) -> str:  # noqa: PLR0911 (one return per type of YAML 1.1)
    boolean = _OLD_BOOLEANS.get(text.lower())
    if boolean is not None:
        return boolean
    if text[:1].isalpha():
        return _describe(resolve(text))
    digits = text.replace("_", "")
    if re.fullmatch(_OLD_BASED, text) and digits.lstrip("+-")[-1:].isalnum():
        sign, body = ("-", digits[1:]) if digits[0] == "-" else ("", digits.lstrip("+"))
        base = {"0b": 2, "0x": 16}.get(body[:2], 8)
        numerals = body if base == 8 else body[2:]
        number = int(numerals, base) if numerals.strip("0") else 0
        return _describe(int(f"{sign}{number}"))
    if re.fullmatch(_OLD_INTEGER, text):
        return _describe(int(digits))
    if re.fullmatch(_OLD_SEXAGESIMAL, text):
        total = 0.0
        for part in digits.lstrip("+-").split(":"):
            total = total * 60 + float(part)
        if digits[0] == "-":
            total = -total
        return f"the number {total:g}"
    if re.fullmatch(_OLD_FLOAT, text):
        return _describe(float(digits))
    if re.fullmatch(_OLD_DATE, text):
        return "a date"
    plain = resolve(text)
    is_new_number = isinstance(plain, int | float) and not isinstance(plain, bool) and text.lstrip("+-.")[:1].isdigit()
    return "a string" if is_new_number else _describe(plain)


def _describe(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value:g}" if isinstance(value, float) else f"the number {value}"
        case _:
            return "a string"


_NAME = r"[^\W\d_][\w./-]*(?: [\w./-]+)*"


def write_numbered(name: str, number: int) -> str:
    """Return the name with a number, as in `tone-2`: plain if all readers take it for that string, else in quotes."""
    written = f"{name}-{number}"
    return written if re.fullmatch(_NAME, written) else json.dumps(written, ensure_ascii=False)

"""Write YAML and JSON that every reader reads the same: numbers as written, strings as strings."""

import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from rubric_lint.model.messages import is_obeyed, visible_json, visible_yaml
from rubric_lint.source.scalar import read_plain


class CommentedItem(NamedTuple):
    """An item of a list with the comments above it."""

    item: Any
    comments: Sequence[str]


def to_yaml(data: dict[Any, Any]) -> str:
    """Return YAML in block style, with lists of numbers on one line. Every key is a string or a number."""
    return visible_yaml("".join(f"{line}\n" for line in _mapping(data, "")))


def _mapping(mapping: dict[Any, Any], pad: str) -> Iterator[str]:
    for key, value in mapping.items():
        text = _write_value(key, "")
        name = _quote(key) if isinstance(key, str) and "\n" in text else text
        # Readers look for the colon within 1024 characters.
        head = f"{pad}{name}:" if len(name) < 1000 else f"{pad}? {name}\n{pad}:"
        if isinstance(value, dict) and value:
            yield head
            yield from _mapping(value, f"{pad}  ")
        elif isinstance(value, list) and not _is_flow(value):
            yield head
            yield from _sequence(value, f"{pad}  ")
        else:
            yield f"{head} {_write_value(value, pad)}".rstrip(" ")


def _sequence(items: list[Any], pad: str) -> Iterator[str]:
    for noted in items:
        item, comments = noted if isinstance(noted, CommentedItem) else (noted, ())
        yield from (f"{pad}{comment}" for comment in comments)
        if isinstance(item, dict) and item:
            inner = _mapping(item, f"{pad}  ")
        elif isinstance(item, list) and not _is_flow(item):
            inner = _sequence(item, f"{pad}    ")
        else:
            yield f"{pad}- {_write_value(item, pad)}".rstrip(" ")
            continue
        yield f"{pad}- {next(inner)[len(pad) + 2 :]}"
        yield from inner


def _is_flow(items: list[Any]) -> bool:
    return all(type(item) in {int, float, Decimal} for item in items)


def _write_value(value: Any, pad: str) -> str:
    """Return a scalar, an empty container or a list of numbers; further lines of a block stand after `pad`."""
    if isinstance(value, str):
        return _write_text(value, pad)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, Decimal | float):
        return write_decimal(Decimal(str(value)))
    if isinstance(value, list):
        items = ", ".join(_write_value(item, "") for item in value)
        return f"[{items}]"
    return str(value)


_BLOCK = re.compile(r"[^\s](?:[^\n]*[^\s])?(?:\n+[^\n]*[^\s])*\n?")
_INDICATED = re.compile(r"(?:=|<<)$|---|\.\.\.|[#,\[\]{}&*!|>'\"%@`]|[?-](?: |$)|.*?(?::(?: |$)| #)")


def _write_text(text: str, pad: str) -> str:
    """Return a string as a block, plain, or in quotes if some reader could read something else."""
    if is_obeyed(text):  # a CI system would obey it in a log: double quotes put it on one line, escaped
        return _quote(text)
    if text.isprintable():
        is_plain = text == text.strip() and read_plain(text) == (text, None)
        if is_plain and not _INDICATED.match(text):
            return text
        if is_plain and "'" not in text:
            return f"'{text}'"
        return _quote(text)
    lines = text.removesuffix("\n").split("\n")
    if len(lines) > 1 and all(line.isprintable() for line in lines) and _BLOCK.fullmatch(text):
        mark = "|" if text.endswith("\n") else "|-"
        return "\n".join([mark, *(f"{pad}  {line}" if line else "" for line in lines)])
    return _quote(text)


_ESCAPED = re.compile('["\\\\\x85\u2028\u2029\ufeff]|[^ -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')
_ESCAPES = {"\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e"}
_ESCAPES |= {'"': '"', "\\": "\\", "\x85": "N", "\u2028": "L", "\u2029": "P"}


def _quote(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char in _ESCAPES:
        return f"\\{_ESCAPES[char]}"
    return f"\\x{ord(char):02X}" if char <= "\xff" else f"\\u{ord(char):04X}"


_LONGEST = 30
"""The most digits before and after its point that a decimal has without an exponent."""


def write_decimal(number: Decimal) -> str:
    """Return a decimal that YAML 1.1, YAML 1.2 and JSON read as a number: with digits after its point."""
    if abs(number.adjusted()) <= _LONGEST and abs(int(number.as_tuple().exponent)) <= _LONGEST:
        text = f"{number:f}"
        return text if "." in text else f"{text}.0"
    digits, _, exponent = f"{number:E}".partition("E")
    if "." not in digits:
        digits += ".0"
    return f"{digits}e{int(exponent):+d}"


def to_json(data: Any) -> str:
    """Return indented JSON."""
    return visible_json(json.dumps(data, ensure_ascii=False, indent=2)) + "\n"


def to_python(value: Any, pad: str = "") -> str:
    """Return a literal as formatters of Python write it: a line for each part, and the quotes that need fewer escapes.

    Texts do not hold what the log of a CI system would obey.
    """
    inner = f"{pad}    "
    if isinstance(value, dict) and value:
        lines = (f"{inner}{to_python(key)}: {to_python(part, inner)},\n" for key, part in value.items())
        return f"{{\n{''.join(lines)}{pad}}}"
    if isinstance(value, list) and not _is_flow(value):
        return "\n".join(["[", *(f"{inner}{to_python(part, inner)}," for part in value), f"{pad}]"])
    written = repr(value)
    if isinstance(value, str) and written[0] == "'" and value.count('"') <= value.count("'"):
        body = written[1:-1].replace("\\'", "'").replace('"', '\\"')
        written = f'"{body}"'
    return visible_yaml(written)  # the escapes of YAML in double quotes are those of Python


def render(template: str, **values: Any) -> str:
    """Return a program by its template, in which the filters `python` and `decimal` write literals."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415  (few targets are programs)

    environment = Environment(  # noqa: S701 (programs, not pages)
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"python": to_python, "decimal": write_decimal}
    return environment.get_template(f"{template}.py.txt").render(values)

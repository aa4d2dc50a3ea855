"""Write YAML and JSON that every reader reads the same: numbers as written, strings as strings."""

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from rubric_lint.messages import is_obeyed, visible_json, visible_toml, visible_yaml
from rubric_lint.text.scalar import read_plain


def to_yaml(data: Any) -> str:
    """Return YAML in block style, with lists of numbers on one line."""
    from ruamel.yaml import YAML  # noqa: PLC0415  (two thirds of the time of a small run)
    from ruamel.yaml.representer import RoundTripRepresenter  # noqa: PLC0415

    class Representer(RoundTripRepresenter):
        """Writes numbers as they are and quotes every string that some reader could read as another type."""

        def represent_text(self, text: str) -> Any:
            return self.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text))

        def represent_decimal(self, number: Decimal) -> Any:
            return self.represent_scalar("tag:yaml.org,2002:float", write_decimal(number))

        def represent_sequence_of(self, items: list[Any]) -> Any:
            flow = bool(items) and all(type(item) is int for item in items)
            return self.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=flow)

        def ignore_aliases(self, _data: Any) -> bool:
            return True

    Representer.add_representer(str, Representer.represent_text)
    Representer.add_representer(Decimal, Representer.represent_decimal)
    Representer.add_representer(list, Representer.represent_sequence_of)
    yaml = YAML()
    yaml.Representer = Representer
    yaml.width = 1_000_000
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    yaml.dump(data, stream)
    return visible_yaml(stream.getvalue())


_BLOCK = re.compile(r"[^\s](?:[^\n]*[^\s])?(?:\n+[^\n]*[^\s])*\n?")


def _style(text: str) -> str | None:
    """Choose the style of a string: a block, plain (None; the writer quotes if it must), or in double quotes."""
    if is_obeyed(text):  # a CI system would obey it in a log: double quotes put it on one line, escaped
        return '"'
    lines = text.removesuffix("\n").split("\n")
    if len(lines) > 1 and _BLOCK.fullmatch(text) and all(line.isprintable() for line in lines):
        return "|"
    if text.isprintable() and text == text.strip() and read_plain(text) == (text, None):
        return None
    return '"'


def write_decimal(number: Decimal) -> str:
    """Return a decimal that YAML 1.1, YAML 1.2 and JSON read as a number: with digits after its point."""
    if abs(number.adjusted()) <= _LONGEST and abs(int(number.as_tuple().exponent)) <= _LONGEST:
        text = f"{number:f}"
        return text if "." in text else f"{text}.0"
    digits, _, exponent = f"{number:E}".partition("E")
    return f"{digits if '.' in digits else f'{digits}.0'}e{int(exponent):+d}"


_LONGEST = 30


def to_json(data: Any) -> str:
    """Return indented JSON, with lists of plain values on one line and decimals as written."""
    return visible_json("".join(_dump(data, "\n"))) + "\n"


def _dump(value: Any, line: str) -> Iterator[str]:
    inner = f"{line}  "
    if isinstance(value, dict) and value:
        yield from _join(
            "{}", ([f"{json.dumps(k, ensure_ascii=False)}: ", *_dump(v, inner)] for k, v in value.items()), line
        )
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        yield from _join("[]", (_dump(item, inner) for item in value), line)
    elif isinstance(value, list):
        yield f"[{', '.join(''.join(_dump(item, '')) for item in value)}]"
    elif isinstance(value, Decimal):
        yield write_decimal(value)
    else:
        yield json.dumps(value, ensure_ascii=False)


def _join(brackets: str, parts: Iterable[Iterable[str]], line: str) -> Iterator[str]:
    mark = brackets[0]
    for part in parts:
        yield f"{mark}{line}  "
        yield from part
        mark = ","
    yield f"{line}{brackets[1]}"


def to_toml(tables: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Return TOML of tables with their heads, `[a]` or `[[a]]`; values are strings, numbers and lists of strings."""
    parts = (
        "\n".join([head, *(f"{key} = {''.join(_write_toml(value))}" for key, value in table.items())])
        for head, table in tables
    )
    return visible_toml("\n\n".join(parts)) + "\n"


def _write_toml(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield "[\n" if len(value) > 1 else "["
        for item in value:
            yield from ("    ", *_write_toml(item), ",\n") if len(value) > 1 else _write_toml(item)
        yield "]"
    elif isinstance(value, Decimal) or (isinstance(value, int) and abs(value) > _LARGEST):
        yield write_decimal(Decimal(value))
    else:
        yield json.dumps(value, ensure_ascii=False)  # its strings are the basic strings of TOML


_LARGEST = (1 << 63) - 1

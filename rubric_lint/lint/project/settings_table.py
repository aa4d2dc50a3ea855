"""Read a table of settings, and find what is wrong with it by its schema."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

from rubric_lint.lint.project.opening import SMALL_LIMIT, read_file
from rubric_lint.model.messages import find_near, join_words
from rubric_lint.model.schema import is_valid
from rubric_lint.model.schema_files import load
from rubric_lint.source.source import Source, UndecodableError

_TYPES = {"array": "a list", "boolean": "true or false", "number": "a number", "object": "a table"}


class InvalidTableError(Exception):
    """A settings file that cannot be used: `faults` are its errors."""

    def __init__(self, *faults: str) -> None:
        super().__init__(*faults)
        self.faults = faults


class SettingFault(NamedTuple):
    """An error in the settings: the path of the setting, and the message."""

    keys: tuple[str, ...]
    text: str


def load_table(path: Path) -> Mapping[str, Any] | None:
    """Return the settings in a file; None for a pyproject.toml without our table. Numbers with a point are Decimals.

    Raises:
        InvalidTableError: if the file cannot be read, is not TOML, or has an invalid setting.
    """
    table: Any = _parse(path)
    label = ""
    if path.name == "pyproject.toml":
        label = f"[tool.{_OURS}]"
        tools = table.get("tool")
        tools = tools if isinstance(tools, dict) else {}
        misspelled = [f"[{name}]" for name in table if _is_ours(name, table[name])]
        misspelled += [f"[tool.{name}]" for name in tools if name != _OURS and _is_ours(name, tools[name])]
        if misspelled:
            raise InvalidTableError(
                *(f"{name}: this table is not read; did you mean `{label}`?" for name in misspelled)
            )
        if _OURS not in tools:
            return None
        table = tools[_OURS]
    faults = [(" ".join(filter(None, (label, _dot(keys)))), text) for keys, text in find_faults(table)]
    if faults:
        raise InvalidTableError(*(f"{place}: {text}" if place else text for place, text in faults))
    return table  # type: ignore[no-any-return]


_OURS = "rubric-lint"
"""The name of our table in a pyproject.toml."""


def _is_ours(name: str, table: Any) -> bool:
    """Return whether a table is ours but for its spelling: it has a setting, which one of another tool may lack."""
    if not isinstance(table, dict) or not find_near(name, (_OURS,)):
        return False
    return not load("config/v1.json")["properties"].keys().isdisjoint(table)


def find_unknown_rules(names: Iterable[str]) -> Iterator[str]:
    """Yield a message for each name that is not a rule."""
    from rubric_lint.rules import BY_NAME, find_near_rules  # noqa: PLC0415  (they are many, and few settings name one)

    for name in names:
        if name not in BY_NAME:
            hint = _hint(find_near_rules(name)) or "`rubric-lint explain` lists them"
            yield f"{_show(name)} is not the name of a rule; {hint}"


def _hint(near: list[str]) -> str:
    return f"did you mean {_join(near, 'or')}?" if near else ""


def _parse(path: Path) -> dict[str, Any]:
    try:
        source = Source.from_bytes(str(path), read_file(path, SMALL_LIMIT))
    except OSError as fault:
        raise InvalidTableError(f"cannot be read: {fault.strerror or fault}") from None
    except UndecodableError as fault:
        place = fault.source.position(fault.span.start)
        raise InvalidTableError(f"line {place.line}, column {place.column}: {fault.message}") from None
    line = _find_long_key(source.text)
    if line:
        reason = f"line {line} has a key of more than {MAX_PARTS} parts"
        raise InvalidTableError(f"cannot be parsed: {reason}")
    try:
        return tomllib.loads(source.text, parse_float=_read_number)
    except tomllib.TOMLDecodeError as fault:
        end = source.position(len(source.text))
        reason = str(fault).replace("at end of document", f"at line {end.line}, column {end.column}")
        raise InvalidTableError(f"is not valid TOML: {reason}") from None
    except (ValueError, RecursionError) as fault:  # an integer of 5,000 digits, 1,000 brackets
        raise InvalidTableError(f"cannot be parsed: {fault}") from None


MAX_PARTS = 32
"""The maximum number of parts of a dotted key: reading one takes time and memory that grow with their square."""

_KEY_PART = r"""(?:[\w-]++|"[^"]*+"?|'[^']*+'?)[ \t]*+"""
_KEY = re.compile(rf"""(?P<long>(?:{_KEY_PART}\.[ \t]*+){{{MAX_PARTS}}})|{_KEY_PART}|.""")


def _find_long_key(text: str) -> int:
    """Return the number of the first line in which more than MAX_PARTS words are joined by dots, or 0."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") >= MAX_PARTS and any(found["long"] for found in _KEY.finditer(line)):
            return number
    return 0


def _read_number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent of 20 digits
        return Decimal("inf")


def find_faults(table: Any) -> Iterator[SettingFault]:
    """Yield the errors in a table of settings, whose numbers with a point are Decimals."""
    schema = load("config/v1.json")
    faults = dict.fromkeys(_find_shape_faults(table, schema))  # each missing key is an error that names them all
    yield from faults
    if faults:
        return
    names_by_keys: dict[tuple[str, ...], Iterable[str]] = {
        (key,): table.get(key, ()) for key in ("select", "ignore", "severity")
    }
    names_by_keys |= {
        ("per-file-ignores", pattern): names for pattern, names in table.get("per-file-ignores", {}).items()
    }
    for keys, names in names_by_keys.items():
        yield from (SettingFault(keys, fault) for fault in find_unknown_rules(names))
    known = schema["properties"]
    high, low = (Decimal(str(table.get(key, known[key]["default"]))) for key in ("pass", "borderline"))
    if low > high and "borderline" in table:
        end = "" if "pass" in table else " by default"
        yield SettingFault(("borderline",), f"{low} is above `pass`, which is {high}{end}")
    elif low > high:
        yield SettingFault(("pass",), f"{high} is below `borderline`, which is {low} by default")
    for shape in table.get("shape", ()):
        from rubric_lint.formats.home_made.format_table import find_contradictions  # noqa: PLC0415  (few settings describe a format)

        for key, text in find_contradictions(shape):
            keys = ("shape", shape["name"])
            place = (*keys, key) if key else keys
            yield SettingFault(place, text)
    if table.get("labels") and not table.get("judged"):
        yield SettingFault(("labels",), "requires `judged`, the judge outputs for the same answers")


def _find_shape_faults(table: Any, schema: dict[str, Any]) -> Iterator[SettingFault]:
    if is_valid(schema, table):
        return
    from jsonschema import Draft7Validator, validators  # noqa: PLC0415  (100 ms that good settings do not need)

    def is_number(_: Any, value: Any) -> bool:
        # Only finite numbers are numbers here; jsonschema would fail on an infinite Decimal.
        return isinstance(value, int | Decimal) and not isinstance(value, bool) and Decimal(value).is_finite()

    checker = Draft7Validator.TYPE_CHECKER.redefine("number", is_number)
    validator: Any = validators.extend(Draft7Validator, type_checker=checker)  # type: ignore[no-untyped-call]
    for error in validator(schema).iter_errors(table):
        keys = tuple(_name_steps(error.absolute_path, table))
        if error.validator == "additionalProperties":
            known = list(error.schema["properties"])
            for key in (key for key in error.instance if key not in known):
                hint = _hint(find_near(key, known)) or f"the settings are {_join(known, 'and')}"
                yield SettingFault(keys, f"{_show(key)} is not a setting; {hint}")
        else:
            yield SettingFault(keys, _explain_violation(error.validator, error.instance, error.schema))


def _name_steps(path: Iterable[str | int], table: Any) -> Iterator[str]:
    """Return the keys of a path in the settings; a table of a list has its name as a key, if it has one."""
    for step in path:
        table = table[step]
        if isinstance(step, str):
            yield step
        elif isinstance(table, dict):
            yield str(table.get("name", step + 1))


def _explain_violation(keyword: str, value: Any, schema: Mapping[str, Any]) -> str:
    match keyword:
        case "enum":
            hint = _hint(find_near(value, schema["enum"])) if isinstance(value, str) else ""
            return f"{_show(value)} is not one of {', '.join(map(_show, schema['enum']))}{hint and f'; {hint}'}"
        case "minimum" | "maximum":
            return f"{_show(value)} is outside {schema['minimum']}..{schema['maximum']}"
        case "minItems":
            return "the list is empty; name at least one, or leave the setting out"
        case "required":
            lacking = [name for name in schema["required"] if name not in value]
            return f"lacks {_join(lacking, 'and')}"
        case _:  # a type, or the pattern of a string
            return f"{_show(value)} is not {_TYPES.get(schema.get('type', '')) or schema['title']}"


def _dot(keys: tuple[str, ...]) -> str:
    return ".".join(step if re.fullmatch(r"[\w-]+", step, re.ASCII) else _show(step) for step in keys)


def _join(names: list[str], word: str) -> str:
    return join_words(list(map(_show, names)), word)


def _show(value: Any) -> str:
    match value:
        case dict():
            return "a table"
        case list():
            return "a list"
        case str() | bool():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)

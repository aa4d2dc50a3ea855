"""Read a settings file, validate it against the schema in schemas/config, and word its errors."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from rubric_lint.messages import find_near
from rubric_lint.project.opening import SMALL_LIMIT, read_file
from rubric_lint.text.source import Source, UndecodableError

NAMES = ("rubric-lint.toml", "pyproject.toml")
"""The names of settings files; if a folder has both, the first is used."""

_TYPES = {"array": "a list", "boolean": "true or false", "number": "a number", "object": "a table"}


class Fault(NamedTuple):
    """An error in the settings: the path of the setting, the message, and whether another setting is missing."""

    way: tuple[str, ...]
    text: str
    is_lack: bool = False


class SettingsError(Exception):
    """An invalid settings file: `faults` are its errors, and `lines` the same with the path of the file."""

    def __init__(self, path: str, *faults: str) -> None:
        self.path = path
        self.faults = faults
        super().__init__("\n".join(self.lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """The errors as messages, each on its own line after the path of the file."""
        return tuple(f"{self.path}: {fault}" for fault in self.faults)


def read_table(path: str, shown: str) -> Mapping[str, Any] | None:
    """Return the settings in a file; None for a pyproject.toml without our table. Numbers with a point are Decimals.

    Raises:
        SettingsError: if the file cannot be read, is not TOML, or has an invalid setting.
    """
    table: Any = _parse(path, shown)
    label = ""
    if os.path.basename(path) == "pyproject.toml":  # noqa: PTH119 (paths are str, see settings.py)
        label = "[tool.rubric-lint]"
        tools = table.get("tool")
        if not isinstance(tools, dict) or "rubric-lint" not in tools:
            return None
        table = tools["rubric-lint"]
    faults = [(" ".join(filter(None, (label, _dot(way)))), text) for way, text, _ in find_faults(table)]
    if faults:
        raise SettingsError(shown, *(f"{place}: {text}" if place else text for place, text in faults))
    return table  # type: ignore[no-any-return]


def find_unknown_rules(names: Iterable[str]) -> Iterator[str]:
    """Yield a message for each name that is not a rule."""
    from rubric_lint.rules import BY_NAME  # noqa: PLC0415  (they are many, and few settings name one)

    for name in names:
        if name not in BY_NAME:
            near = find_near(name, BY_NAME)
            hint = f"did you mean {_join(near, 'or')}?" if near else "`rubric-lint --rules` lists them"
            yield f"{_show(name)} is not the name of a rule; {hint}"


def _parse(path: str, shown: str) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415  (most folders have no settings file)

    try:
        source = Source.from_bytes(shown, read_file(path, SMALL_LIMIT))
    except OSError as fault:
        raise SettingsError(shown, f"cannot be read: {fault.strerror or fault}") from None
    except UndecodableError as fault:
        place = fault.source.position(fault.span.start)
        raise SettingsError(shown, f"line {place.line}, column {place.column}: {fault.message}") from None
    if line := _find_long_key(source.text):
        reason = f"line {line} has a key of more than {MAX_PARTS} parts"
        raise SettingsError(shown, f"cannot be parsed: {reason}")
    try:
        return tomllib.loads(source.text, parse_float=_read_number)
    except tomllib.TOMLDecodeError as fault:
        end = source.position(len(source.text))
        reason = str(fault).replace("at end of document", f"at line {end.line}, column {end.column}")
        raise SettingsError(shown, f"is not valid TOML: {reason}") from None
    except (ValueError, RecursionError) as fault:  # an integer of 5,000 digits, 1,000 brackets
        raise SettingsError(shown, f"cannot be parsed: {fault}") from None


MAX_PARTS = 32
"""The maximum number of parts of a dotted key: reading one takes time and memory that grow with their square."""

_KEY_PIECE = re.compile(r"""[\w-]++|"[^"]*+"?|'[^']*+'?|[ \t]++|.""")


def _find_long_key(text: str) -> int:
    """Return the number of the first line in which more than MAX_PARTS words are joined by dots, or 0."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") >= MAX_PARTS:
            dots, is_word = 0, False
            for piece in filter(str.strip, _KEY_PIECE.findall(line)):
                if piece == "." and is_word:
                    dots, is_word = dots + 1, False
                else:
                    dots = 0 if is_word else dots
                    is_word = piece[0] in "_-\"'" or piece[0].isalnum()
                    dots *= is_word
                if dots >= MAX_PARTS:
                    return number
    return 0


def _read_number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent of 20 digits
        return Decimal("inf")


def find_faults(table: Any) -> Iterator[Fault]:
    """Yield the errors in a table of settings, whose numbers with a point are Decimals."""
    from rubric_lint.format.schema_files import load  # noqa: PLC0415  (only for those who have settings)

    schema = load("config/v1.json")
    faults = [*_find_shape_faults(table, schema)]
    yield from faults
    if not faults:
        yield from _find_rule_faults(table)
        yield from _find_threshold_faults(table, schema["properties"])
        if table.get("labels") and not table.get("judged"):
            yield Fault(("labels",), "requires `judged`, the judge outputs for the same answers", is_lack=True)


def _find_shape_faults(table: Any, schema: dict[str, Any]) -> Iterator[Fault]:
    from rubric_lint.format.schema import is_valid  # noqa: PLC0415  (only for those who have settings)

    if is_valid(schema, table):
        return
    from jsonschema import Draft7Validator, validators  # noqa: PLC0415  (100 ms that good settings do not need)

    # Only finite numbers are numbers here; jsonschema would fail on an infinite Decimal.
    checker = Draft7Validator.TYPE_CHECKER.redefine("number", lambda _, value: _is_number(value))
    validator: Any = validators.extend(Draft7Validator, type_checker=checker)  # type: ignore[no-untyped-call]
    for error in validator(schema).iter_errors(table):
        way = tuple(step for step in error.absolute_path if isinstance(step, str))
        if error.validator == "additionalProperties":
            known = list(error.schema["properties"])
            yield from (Fault(way, _word_unknown(key, known)) for key in error.instance if key not in known)
        else:
            yield Fault(way, _explain_violation(error.validator, error.instance, error.schema))


def _find_rule_faults(table: Mapping[str, Any]) -> Iterator[Fault]:
    ways: dict[tuple[str, ...], Iterable[str]] = {
        (key,): table.get(key, ()) for key in ("select", "ignore", "severity")
    }
    ways |= {("per-file-ignores", pattern): names for pattern, names in table.get("per-file-ignores", {}).items()}
    for way, names in ways.items():
        yield from (Fault(way, fault) for fault in find_unknown_rules(names))


def _find_threshold_faults(table: Mapping[str, Any], properties: Mapping[str, Any]) -> Iterator[Fault]:
    high, low = (Decimal(str(table.get(key, properties[key]["default"]))) for key in ("pass", "borderline"))
    if low > high and "borderline" in table:
        end = "" if "pass" in table else " by default"
        yield Fault(("borderline",), f"{low} is above `pass`, which is {high}{end}")
    elif low > high:
        yield Fault(("pass",), f"{high} is below `borderline`, which is {low} by default")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool) and Decimal(value).is_finite()


def _word_unknown(key: str, known: list[str]) -> str:
    near = find_near(key, known)
    hint = f"did you mean {_join(near, 'or')}?" if near else f"the settings are {_join(known, 'and')}"
    return f"{_show(key)} is not a setting; {hint}"


def _explain_violation(keyword: str, value: Any, schema: Mapping[str, Any]) -> str:
    match keyword:
        case "enum":
            near = find_near(value, schema["enum"]) if isinstance(value, str) else []
            hint = f"; did you mean {_join(near, 'or')}?" if near else ""
            return f"{_show(value)} is not one of {', '.join(map(_show, schema['enum']))}{hint}"
        case "minimum" | "maximum":
            return f"{_show(value)} is outside {schema['minimum']}..{schema['maximum']}"
        case "minItems":
            return "the list is empty; name at least one, or leave the setting out"
        case _:  # a type, or the pattern of a string
            return f"{_show(value)} is not {_TYPES.get(schema['type']) or schema['title']}"


def _dot(way: tuple[str, ...]) -> str:
    return ".".join(step if re.fullmatch(r"[\w-]+", step, re.ASCII) else _show(step) for step in way)


def _join(names: list[str], word: str) -> str:
    *first, last = map(_show, names)
    return f"{', '.join(first)} {word} {last}" if first else last


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

"""Read, validate and write a baseline file."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from rubric_lint.format.schema import is_valid
from rubric_lint.format.schema_files import load
from rubric_lint.project.opening import LIMIT, read_file
from rubric_lint.project.settings_file import SettingsError

VERSION = 1
"""The version of the format, and of its schema."""


class KnownFinding(NamedTuple):
    """A finding in a baseline: its file relative to the folder of the baseline, its rule, and its fingerprint."""

    file: str
    rule: str
    fingerprint: str


_AGAIN = "if it was a baseline, delete it and write it again with --write-baseline"
"""The hint for a file that is not a baseline; it may be another file, named by mistake."""


def read_known(path: str, shown: str) -> set[KnownFinding]:
    """Return the findings in a baseline.

    Raises:
        SettingsError: if the baseline is invalid.
    """
    try:
        text = read_file(path, LIMIT).decode("utf-8-sig")
        data = json.loads(text)
    except FileNotFoundError:
        raise SettingsError(shown, "the baseline does not exist; write it with --write-baseline") from None
    except OSError as fault:
        raise SettingsError(shown, f"the baseline cannot be read: {fault.strerror or fault}") from None
    except json.JSONDecodeError as fault:
        place = f"line {fault.lineno}, column {fault.colno}"
        hint = _AGAIN
        if "\n<<<<<<< " in text and "\n>>>>>>> " in text:
            hint = f"it has the marks of a merge: keep the lines of both sides, or {hint}"
        raise SettingsError(shown, f"the baseline is not JSON at {place}: {fault.msg}; {hint}") from None
    except (ValueError, RecursionError) as fault:
        raise SettingsError(shown, f"the baseline cannot be read: {fault}; {_AGAIN}") from None
    version = data.get("version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise SettingsError(
            shown, f"the baseline is of version {version}, and this rubric-lint knows {VERSION}; update it"
        )
    if reason := _find_fault(data):
        raise SettingsError(shown, f"{reason}; {_AGAIN}")
    return {KnownFinding(**each) for each in data["findings"]}


def _find_fault(data: Any) -> str:
    schema = load(f"baseline/v{VERSION}.json")
    if is_valid(schema, data):
        return ""
    from jsonschema import Draft7Validator  # noqa: PLC0415  (100 ms that a good baseline does not need)

    fault = next(Draft7Validator(schema).iter_errors(data))
    place = "/".join(map(str, fault.absolute_path))
    where = f" at {place}" if place else ""
    return f"the baseline does not match its schema{where}: {fault.message[:100]}"


def write_known(path: str, shown: str, known: Iterable[KnownFinding]) -> None:
    """Write a baseline atomically, with a line for each finding, so that changes of several branches merge.

    Raises:
        SettingsError: if it cannot be written.
    """
    lines = ",\n".join(f"  {_dump(each)}" for each in sorted(known))
    findings = f"[\n{lines}\n ]" if lines else "[]"
    data = f'{{"version": {VERSION},\n "findings": {findings}}}\n'.encode()
    from rubric_lint.project.writing import WriteError, write_file  # noqa: PLC0415  (most runs write none)

    try:
        write_file(path, data)
    except WriteError as fault:
        raise SettingsError(shown, f"the baseline {fault}") from None


def _dump(known: KnownFinding) -> str:
    try:
        json.dumps(known, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a file whose name is not UTF-8
        return json.dumps(known._asdict())
    return json.dumps(known._asdict(), ensure_ascii=False)

"""Read, validate and write a baseline file: the known findings of the files below its folder."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rubric_lint.lint.project.opening import LIMIT, read_file
from rubric_lint.lint.project.repository import find_root
from rubric_lint.lint.project.settings import FileSettings, SettingsError
from rubric_lint.lint.project.writing import WriteError, write_file
from rubric_lint.lint.run.fingerprint import fingerprints
from rubric_lint.model.finding import Result
from rubric_lint.model.schema import is_valid
from rubric_lint.model.schema_files import load
from rubric_lint.rules import JUDGED_RULES

VERSION = 1
"""The version of the format, and of its schema."""


class KnownFinding(NamedTuple):
    """A finding in a baseline: its file relative to the folder of the baseline, its rule, and its fingerprint."""

    file: str
    rule: str
    fingerprint: str


_AGAIN = "if it was a baseline, delete it and write it again with --write-baseline"
"""The hint for a file that is not a baseline; it may be another file, named by mistake."""


def read_known(path: Path, shown: str) -> set[KnownFinding]:
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
    reason = _find_fault(data)
    if reason:
        raise SettingsError(shown, f"{reason}; {_AGAIN}")
    return {KnownFinding(**fields) for fields in data["findings"]}


def _find_fault(data: Any) -> str:
    schema = load(f"baseline/v{VERSION}.json")
    if is_valid(schema, data):
        return ""
    from jsonschema import Draft7Validator  # noqa: PLC0415  (100 ms that a good baseline does not need)

    fault = next(Draft7Validator(schema).iter_errors(data))
    place = "/".join(map(str, fault.absolute_path))
    where = f" at {place}" if place else ""
    return f"the baseline does not match its schema{where}: {fault.message[:100]}"


def write_known(path: Path, shown: str, known: Iterable[KnownFinding]) -> None:
    """Write a baseline atomically, with a line for each finding, so that changes of several branches merge.

    Raises:
        SettingsError: if it cannot be written.
    """
    lines = ",\n".join(f"  {_dump(finding)}" for finding in sorted(known))
    findings = f"[\n{lines}\n ]" if lines else "[]"
    data = f'{{"version": {VERSION},\n "findings": {findings}}}\n'.encode()
    try:
        write_file(path, data)
    except WriteError as fault:
        raise SettingsError(shown, f"the baseline was not written: {fault}") from None


def _dump(known: KnownFinding) -> str:
    try:
        json.dumps(known, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a file whose name is not UTF-8
        return json.dumps(known._asdict())
    return json.dumps(known._asdict(), ensure_ascii=False)


def identify(result: Result, file: str) -> list[KnownFinding]:
    """Return the findings of a result as a baseline has them; `file` is the path from the folder of the baseline."""
    # Under this name, a file has the same fingerprints whatever the current folder is.
    name = str(Path(find_root(), file.replace("../", "__/")))
    identities = fingerprints(result._replace(source=result.source._replace(name=name)))
    rules = [finding.rule for finding in result.findings]
    return [KnownFinding(file, rule, fingerprint) for rule, fingerprint in zip(rules, identities, strict=True)]


def find_settled(known: Iterable[KnownFinding], result: Result, settings: FileSettings) -> Iterator[KnownFinding]:
    """Find the findings that this run confirms or refutes: of its rules or, after a syntax error, of `syntax`.

    A rule on judged data runs only if there are enough of them.
    """
    is_broken = any(finding.rule == "syntax" for finding in result.findings)
    for entry in known:
        is_run = settings.enabled is None or entry.rule in settings.enabled
        is_run = is_run and (entry.rule not in JUDGED_RULES or entry.rule in result.judged)
        if is_run and (not is_broken or entry.rule == "syntax"):
            yield entry

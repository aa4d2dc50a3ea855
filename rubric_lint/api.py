"""What the package does, for programs: each function takes the text or the bytes of one file, and reads no other."""

import os
from dataclasses import replace

from rubric_lint.config import FileSettings, SettingsFinder, claim_by_name
from rubric_lint.finding import Result
from rubric_lint.fix import Fixed, fix
from rubric_lint.lint import DEFAULTS, lint
from rubric_lint.source import Source, UndecodableError, as_bytes


def lint_source(name: str, data: bytes | str, settings: FileSettings = DEFAULTS) -> Result:
    """Check one file; the suffix of `name` says whether it is YAML, JSON or JSON Lines.

    Text that cannot be read is a finding, if it was meant to hold rubrics; a file without any has no findings.

    Raises:
        RuleError: when a rule crashes; nothing that stands in `data` should make one.
    """
    data = as_bytes(data)
    result = lint(name, data, claim_by_name(name, settings))
    return result if result.source.text else result._replace(source=_decode(name, data))


def fix_source(name: str, data: bytes | str, settings: FileSettings = DEFAULTS, *, unsafe: bool = False) -> Fixed:
    """Make all safe fixes in one file, with `unsafe` the others too, and prove the outcome; nothing is written.

    Raises:
        RuleError: when a rule crashes; nothing that stands in `data` should make one.
    """
    data = as_bytes(data)
    fixed = fix(name, data, claim_by_name(name, settings), unsafe=unsafe)
    if fixed.before.text:
        return fixed
    source = _decode(name, data)
    return replace(fixed, before=source, result=fixed.result._replace(source=source))


def find_settings(path: str | os.PathLike[str]) -> FileSettings:
    """What the settings nearest to the file at `path` say of it, as for the commands. The file need not exist.

    Raises:
        SettingsError: when these settings cannot be used.
    """
    return SettingsFinder().for_file(path)


def _decode(name: str, data: bytes) -> Source:
    """The text of a file that the linter did not have to read, as it holds no rubrics."""
    try:
        return Source.from_bytes(name, data)
    except UndecodableError as fault:
        return fault.source

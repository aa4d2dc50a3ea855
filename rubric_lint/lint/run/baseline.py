"""Read, validate and write a baseline file."""

# Paths are str, see lint/project/settings.py.
# ruff: noqa: PTH100, PTH110, PTH112, PTH113, PTH118, PTH120

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rubric_lint.lint.project.files import RealFolders
from rubric_lint.lint.project.opening import LIMIT, read_file
from rubric_lint.lint.project.settings import FileSettings, SettingsError, SettingsFinder, shorten
from rubric_lint.model.finding import Result

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
    reason = _find_fault(data)
    if reason:
        raise SettingsError(shown, f"{reason}; {_AGAIN}")
    return {KnownFinding(**fields) for fields in data["findings"]}


def _find_fault(data: Any) -> str:
    from rubric_lint.model.schema import is_valid  # noqa: PLC0415  (most runs have no baseline)
    from rubric_lint.model.schema_files import load  # noqa: PLC0415

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
    lines = ",\n".join(f"  {_dump(finding)}" for finding in sorted(known))
    findings = f"[\n{lines}\n ]" if lines else "[]"
    data = f'{{"version": {VERSION},\n "findings": {findings}}}\n'.encode()
    from rubric_lint.lint.project.writing import WriteError, write_file  # noqa: PLC0415  (most runs write none)

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


class _Baseline(NamedTuple):
    """One baseline in use; `settled` are its findings that this run can confirm or refute."""

    folder: str
    known: "dict[str, set[KnownFinding]]"
    found: "set[KnownFinding]"
    settled: "set[KnownFinding]"
    files: set[str]


class Baselines:
    """Leaves out the findings in the baseline at `path`, or else in the one that a file's settings name.

    With `renews`, all findings are left out and recorded for a new baseline.
    """

    counted_as = "known"
    skipped_as = ""

    def __init__(self, finder: SettingsFinder, path: str | None, *, renews: bool) -> None:
        self._finder = finder
        self._path = None if path is None else os.path.abspath(path)
        self._renews = renews
        self._baselines: dict[str, _Baseline] = {}
        self._folders = RealFolders()
        if self._path:
            self._open(self._path)

    def needs_file(self, name: str) -> bool:  # noqa: ARG002 (the interface of a filter)
        """Return True, as every file may have new findings."""
        return True

    def filter(self, result: Result, settings: FileSettings) -> Result:
        """Return the result without the findings in the baseline.

        Raises:
            SettingsError: if a baseline is invalid.
        """
        name = result.source.name
        path = self._path or self._find(name)
        if path is None:
            return result
        baseline = self._open(path)
        from unicodedata import normalize  # noqa: PLC0415  (most runs have no baseline)

        path = os.path.relpath(self._folders.locate(name), baseline.folder)
        file = normalize("NFC", path.replace(os.sep, "/"))
        baseline.files.add(file)
        found = self._identify(result, file)
        baseline.found.update(found)
        baseline.settled.update(_settle(baseline.known.get(file, set()), result, settings))
        if self._renews:
            return result._replace(findings=())
        known = baseline.known.get(file, set())
        left = (finding for finding, identity in zip(result.findings, found, strict=True) if identity not in known)
        return result._replace(findings=tuple(left))

    def _find(self, name: str) -> str | None:
        """Return the baseline that settings name; raise SettingsError to write one outside of their repository."""
        settings = self._finder.for_folder(os.path.dirname(name))
        path = settings.baseline
        if path is not None and settings.origin and self._renews and path not in self._baselines:
            from rubric_lint.lint.project.repository import find_root  # noqa: PLC0415  (few runs write a baseline)

            root = find_root(os.path.realpath(os.path.dirname(settings.origin)))
            if not os.path.realpath(path).startswith(os.path.join(root, "")):
                reason = f"the baseline {shorten(path)} is outside the repository; name it with --baseline to write it"
                raise SettingsError(shorten(settings.origin), reason)
        return path

    def _open(self, path: str) -> _Baseline:
        if path not in self._baselines:
            is_new = self._renews and not os.path.exists(path)
            if self._renews and not is_new and not (os.path.isfile(path) or os.path.isdir(path)):
                raise SettingsError(shorten(path), "the baseline is not a file that can be replaced; name another one")
            known: dict[str, set[KnownFinding]] = {}
            for finding in () if is_new else read_known(path, shorten(path)):
                known.setdefault(finding.file, set()).add(finding)
            self._baselines[path] = _Baseline(os.path.realpath(os.path.dirname(path)), known, set(), set(), set())
        return self._baselines[path]

    def _identify(self, result: Result, file: str) -> "list[KnownFinding]":
        if not result.findings:
            return []
        from rubric_lint.lint.project.repository import find_root  # noqa: PLC0415
        from rubric_lint.lint.run.fingerprint import fingerprints  # noqa: PLC0415

        # Under this name, a file has the same fingerprints whatever the current folder is.
        name = os.path.join(find_root(), file.replace("../", "__/"))
        names = fingerprints(result._replace(source=result.source._replace(name=name)))
        return [KnownFinding(file, finding.rule, name) for finding, name in zip(result.findings, names, strict=True)]

    def gone(self) -> Iterator[tuple[str, str, str, int, bool]]:
        """Find the findings in the baselines that the files of this run do not have.

        Yield the baseline, the file, the rule, their number, and whether the file itself is gone.
        """
        for path, baseline in self._baselines.items():
            missing = {file for file in baseline.known.keys() - baseline.files if not self._exists(baseline, file)}
            lost = {finding for file in missing for finding in baseline.known[file]} | (
                baseline.settled - baseline.found
            )
            for (file, rule), count in sorted(Counter((finding.file, finding.rule) for finding in lost).items()):
                yield shorten(path), file, rule, count, file in missing

    def write(self) -> Iterator[tuple[str, int, int, int]]:
        """Rewrite the baselines; findings that this run can neither confirm nor refute stay.

        Yield each baseline, with the numbers of its findings, of new ones and of those that are gone.

        Raises:
            SettingsError: if one cannot be written.
        """
        for path, baseline in self._baselines.items():
            before = set[KnownFinding]().union(*baseline.known.values())
            kept = {finding for finding in before - baseline.settled if self._exists(baseline, finding.file)}
            after = kept | baseline.found
            write_known(path, shorten(path), after)
            yield shorten(path), len(after), len(after - before), len(before - after)

    @staticmethod
    def _exists(baseline: _Baseline, file: str) -> bool:
        return os.path.exists(os.path.join(baseline.folder, file))


def _settle(known: "set[KnownFinding]", result: Result, settings: FileSettings) -> "Iterator[KnownFinding]":
    """Find the findings that this run confirms or refutes: of its rules or, after a syntax error, of `syntax`.

    A rule on judged data runs only if there are enough of them.
    """
    from rubric_lint.rules import JUDGED_RULES  # noqa: PLC0415  (most runs have no baseline)

    is_broken = any(finding.rule == "syntax" for finding in result.findings)
    for entry in known:
        is_run = settings.enabled is None or entry.rule in settings.enabled
        is_run = is_run and (entry.rule not in JUDGED_RULES or entry.rule in result.judged)
        if is_run and (not is_broken or entry.rule == "syntax"):
            yield entry

"""Find the settings for a file: from the nearest settings file above it, overridden by the command line."""

# Paths are str here and in files.py: pathlib would cost a large run more than reading its files does.
# ruff: noqa: PTH100, PTH109, PTH113, PTH118, PTH120

import os
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from rubric_lint.finding import Severity
from rubric_lint.format.criterion import USUAL_THRESHOLDS
from rubric_lint.project.gitignore import Patterns
from rubric_lint.project.settings_file import NAMES, SettingsError, read_table
from rubric_lint.text.deadline import TIME_LIMIT

PASS_AT, BORDERLINE_AT = USUAL_THRESHOLDS
"""The default thresholds: the lowest score that passes, and the lowest that is borderline."""

_NOTHING = Patterns("", ())
_RUBRIC_SUFFIXES = (".rubric.yaml", ".rubric.yml", ".rubric.json")
TEST_SUFFIXES = (".rubric-test.yaml", ".rubric-test.yml", ".rubric-test.json")
"""The ends of the names of files with rubric tests."""


class FileSettings(NamedTuple):
    """The settings for one file.

    `enabled`: the rules that run (None: all). `version`: from `versions` (None: not set). `claimed`: every `rubrics` in
    the file is a rubric. `is_rubric_file`: the file must have `rubrics` at its top level. `is_test_file`: it has rubric
    tests instead.
    """

    enabled: frozenset[str] | None = None
    severities: Mapping[str, Severity] = {}
    version: str | None = None
    claimed: bool = False
    is_rubric_file: bool = False
    implicit_required: bool = False
    pass_at: Decimal = PASS_AT
    borderline_at: Decimal = BORDERLINE_AT
    time_limit: float = TIME_LIMIT
    is_test_file: bool = False


def claim_by_name(name: str, settings: FileSettings) -> FileSettings:
    """Return the settings for a file of this name: `NAME.rubric.yaml` says that it holds a rubric."""
    if name.lower().endswith(TEST_SUFFIXES):
        return settings._replace(claimed=True, is_test_file=True)
    if not name.lower().endswith(_RUBRIC_SUFFIXES):
        return settings
    return settings._replace(claimed=True, is_rubric_file=True)


class Overrides(NamedTuple):
    """The options of the command line: `select` replaces that of the settings, `ignore` adds to theirs.

    With `force_exclude`, `exclude` applies to named paths too.
    """

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    force_exclude: bool = False


_NO_OVERRIDES = Overrides()


class _SettingsFields(NamedTuple):
    root: str
    origin: str | None = None
    baseline: str | None = None
    judged: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    require_rubrics: bool = False
    fail_on_unread: bool = False
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    include: Patterns = _NOTHING
    exclude: Patterns = _NOTHING
    per_file_ignores: tuple[tuple[Patterns, frozenset[str]], ...] = ()
    versions: tuple[tuple[Patterns, str], ...] = ()
    everywhere: FileSettings = FileSettings()
    table: Mapping[str, Any] = {}


class Settings(_SettingsFields):
    """One settings file: `origin` is its path, None for the defaults; patterns are relative to `root`.

    `table` is the settings as written. `baseline` is the path of the baseline file, `judged` and `labels` are those of
    judge outputs and of people's labels. With `require_rubrics`, a run that
    finds no rubric fails; with `fail_on_unread`, one that does not read what looks like a rubric.
    """

    @classmethod
    def from_table(cls, root: str, origin: str, table: Mapping[str, Any]) -> "Settings":
        """Return the settings of a valid table."""
        severity = table.get("severity", {})
        return cls(
            root=root,
            origin=origin,
            baseline=os.path.join(os.path.dirname(origin), table["baseline"]) if "baseline" in table else None,
            judged=_find_files(origin, table.get("judged", ())),
            labels=_find_files(origin, table.get("labels", ())),
            require_rubrics=table.get("require-rubrics", False),
            fail_on_unread=table.get("fail-on-unread", False),
            select=frozenset(table["select"]) if "select" in table else None,
            ignore=frozenset(table.get("ignore", ())) | {rule for rule, level in severity.items() if level == "off"},
            include=Patterns.parse(root, table.get("include", ())),
            exclude=Patterns.parse(root, table.get("exclude", ())),
            per_file_ignores=tuple(
                (Patterns.parse(root, [pattern]), frozenset(rules))
                for pattern, rules in table.get("per-file-ignores", {}).items()
            ),
            versions=tuple(
                (Patterns.parse(root, [pattern]), version) for pattern, version in table.get("versions", {}).items()
            ),
            table=table,
            everywhere=FileSettings(
                severities={rule: Severity(level) for rule, level in severity.items() if level != "off"},
                implicit_required=table.get("implicit-required", False),
                time_limit=float(table.get("time-limit", TIME_LIMIT)),
                pass_at=Decimal(table.get("pass", PASS_AT)),
                borderline_at=Decimal(table.get("borderline", BORDERLINE_AT)),
            ),
        )

    def override(self, overrides: Overrides) -> "Settings":
        """Return these settings, overridden by the command line."""
        if overrides.select is None:
            return self._replace(ignore=self.ignore | overrides.ignore)
        # A rule that is selected on the command line runs even if the settings ignore it.
        return self._replace(select=overrides.select, ignore=(self.ignore - overrides.select) | overrides.ignore)

    def for_file(self, path: str | os.PathLike[str]) -> FileSettings:
        """Return the settings for the file at `path`; these must be its nearest."""
        name = os.fspath(path)
        ignored: frozenset[str] = frozenset()
        version = None
        if self.per_file_ignores or self.versions:
            file = os.path.abspath(name)
            ignored = ignored.union(*(rules for patterns, rules in self.per_file_ignores if patterns.covers(file)))
            version = next((version for patterns, version in reversed(self.versions) if patterns.covers(file)), None)
        suffixed = name.lower()
        key = (ignored, version, suffixed.endswith(_RUBRIC_SUFFIXES), suffixed.endswith(TEST_SUFFIXES))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._combine(*key)
        return found

    @cached_property
    def _known(self) -> dict[tuple[frozenset[str], str | None, bool, bool], FileSettings]:
        return {}

    def _combine(
        self, ignored: frozenset[str], version: str | None, is_rubric_file: bool, is_test_file: bool
    ) -> FileSettings:
        enabled = self.select
        ignored |= self.ignore
        if ignored:
            from rubric_lint.rules import BY_NAME  # noqa: PLC0415  (rules are many; finding files needs none)

            enabled = (frozenset(BY_NAME) if enabled is None else enabled) - ignored
        if enabled is not None:
            enabled |= {"syntax"}  # a syntax error hides all other findings, so nothing leaves it out
        return self.everywhere._replace(
            enabled=enabled,
            version=version,
            claimed=is_rubric_file or is_test_file or version is not None,
            is_rubric_file=is_rubric_file,
            is_test_file=is_test_file,
        )


def _find_files(origin: str, names: Iterable[str]) -> tuple[str, ...]:
    folder = os.path.dirname(origin)
    return tuple(os.path.normpath(os.path.join(folder, name)) for name in names)


class SettingsFinder:
    """Finds the settings of each folder, and caches them.

    `file`: use this settings file for all files, with patterns relative to the folder `here` (default: the current
    folder). `isolated`: read no settings file.

    Raises:
        SettingsError: if `file` is invalid.
    """

    def __init__(
        self,
        overrides: Overrides = _NO_OVERRIDES,
        *,
        file: str | os.PathLike[str] | None = None,
        isolated: bool = False,
        here: str | None = None,
    ) -> None:
        here = here or os.getcwd()
        self._overrides = overrides
        self._built_in = Settings(here).override(overrides)
        self._only = self._built_in if isolated else None
        self._folders: dict[str, Settings | SettingsError] = {}
        if file is not None:
            path = os.path.abspath(file)
            self._only = self._read(path, here)
            if self._only is None:
                raise SettingsError(shorten(path), "has no [tool.rubric-lint] table")

    @property
    def overrides(self) -> Overrides:
        """The options of the command line."""
        return self._overrides

    def for_file(self, path: str | os.PathLike[str]) -> FileSettings:
        """Return the settings for the file at `path`, which need not exist.

        Raises:
            SettingsError: if its nearest settings file is invalid.
        """
        name = os.fspath(path)
        return self.for_folder(os.path.dirname(name)).for_file(name)

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Return whether the settings exclude the file or folder at `path`, although it is named.

        Raises:
            SettingsError: if its nearest settings file is invalid.
        """
        if not self._overrides.force_exclude:
            return False
        return self.for_folder(os.path.dirname(path)).exclude.covers(os.path.abspath(path) + os.sep * is_folder)

    def for_folder(self, folder: str) -> Settings:
        """Return the nearest settings for files in `folder`.

        Raises:
            SettingsError: if they are invalid.
        """
        found = self._only or self._folders.get(folder)
        if found is None:
            found = self._folders[folder] = self._climb(os.path.abspath(folder))
        if isinstance(found, SettingsError):
            raise found.with_traceback(None)
        return found

    def _climb(self, folder: str) -> Settings | SettingsError:
        passed = []
        while (found := self._folders.get(folder) or self._look_in(folder)) is None:
            passed.append(folder)
            above = os.path.dirname(folder)
            if above == folder:
                found = self._built_in
                break
            folder = above
        self._folders.update(dict.fromkeys((*passed, folder), found))
        return found

    def _look_in(self, folder: str) -> Settings | SettingsError | None:
        for name in NAMES:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                try:
                    found = self._read(path, folder)
                except SettingsError as fault:
                    return fault
                if found is not None:
                    return found
        return None

    def _read(self, path: str, root: str) -> Settings | None:
        table = read_table(path, shorten(path))
        return None if table is None else Settings.from_table(root, path, table).override(self._overrides)


def shorten(path: str) -> str:
    """Return an absolute path as messages show it: relative if it is below the current folder."""
    return path.removeprefix(os.path.join(os.getcwd(), ""))

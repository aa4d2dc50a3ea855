"""Find the settings for a file: from the nearest settings file above it, overridden by the command line."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rubric_lint.lint.project.gitignore import Patterns
from rubric_lint.lint.project.paths import is_file, is_folder, make_absolute, simplify
from rubric_lint.model.criterion import USUAL_THRESHOLDS, Mark
from rubric_lint.model.finding import Severity
from rubric_lint.model.messages import UserError
from rubric_lint.source.deadline import TIME_LIMIT

if TYPE_CHECKING:
    from rubric_lint.formats.agentv.files import Unfollowed
    from rubric_lint.formats.home_made.format_table import FormatTable

NAMES = ("rubric-lint.toml", "pyproject.toml")
"""The names of settings files; if a folder has both, the first is used."""


class SettingsError(UserError):
    """An invalid settings file: `faults` are its errors, and `lines` the same with the path of the file."""

    def __init__(self, path: str, *faults: str) -> None:
        super().__init__(*(f"{path}: {fault}" for fault in faults))
        self.path = path
        self.faults = faults


def read_table(path: Path) -> Mapping[str, Any] | None:
    """Return the settings in a file; None for a pyproject.toml without our table. Numbers with a point are Decimals.

    Raises:
        SettingsError: if the file cannot be read, is not TOML, or has an invalid setting.
    """
    from rubric_lint.lint.project.settings_table import InvalidTableError, load_table  # noqa: PLC0415  (most have none)

    try:
        return load_table(path)
    except InvalidTableError as invalid:
        raise SettingsError(shorten_path(path), *invalid.faults) from None


PASS_AT, BORDERLINE_AT = USUAL_THRESHOLDS
"""The default thresholds: the lowest score that passes, and the lowest that is borderline."""

SKIPPED_FOLDERS = frozenset({
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d",
    ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode", "__pypackages__", "_build",
    "buck-out", "dist", "node_modules", "site-packages", "venv",
})  # fmt: skip
"""Names of folders of tools and of other people's files, which a search skips unless `exclude` keeps them, as in ruff.

The schema of the settings lists them for users.
"""

_NOTHING = Patterns("", ())
_RUBRIC_SUFFIXES = (".rubric.yaml", ".rubric.yml", ".rubric.json")
TEST_SUFFIXES = (".rubric-test.yaml", ".rubric-test.yml", ".rubric-test.json")
"""The ends of the names of files with rubric tests."""


class FileSettings(NamedTuple):
    """The settings for one file.

    `enabled`: the rules that run (None: all). `version`: from `versions` (None: not set). `claimed`: every `rubrics` in
    the file is a rubric. `is_rubric_file`: the file must have `rubrics` at its top level. `is_test_file`: it has rubric
    tests instead. `shapes`: the tables that say how it writes rubrics. `part`: what a suite of AgentV needs the file
    for, if one names it. `unfollowed`: what the suite itself names and what is not read with it. `is_followed`: what it
    names has been looked for. `is_for_five`: it is for AgentV 5, or a part of such a suite.
    """

    enabled: frozenset[str] | None = None
    severities: Mapping[str, Severity] = {}
    version: str | None = None
    claimed: bool = False
    is_rubric_file: bool = False
    implicit_required: bool = False
    pass_at: Mark = PASS_AT
    borderline_at: Mark = BORDERLINE_AT
    time_limit: float = TIME_LIMIT
    is_test_file: bool = False
    shapes: "tuple[FormatTable, ...]" = ()
    part: str = ""
    unfollowed: "tuple[Unfollowed, ...]" = ()
    is_followed: bool = False
    is_for_five: bool = False

    @property
    def is_named(self) -> bool:
        """Whether the name of the file, the settings or a suite say that it holds rubrics or belongs to some."""
        return self.claimed or bool(self.shapes or self.part or self.unfollowed)


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


@dataclass(frozen=True, eq=False)
class Settings:
    """One settings file: `origin` is its path, None for the defaults; patterns are relative to `root`.

    `table` is the settings as written. `baseline` is the absolute name of the baseline file, which messages show,
    `judged` and `labels` are those of judge outputs and of people's labels. With `require_rubrics`, a run that
    finds no rubric fails; with `fail_on_unread`, one that does not read what looks like a rubric.
    """

    root: Path
    origin: Path | None = None
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
    shapes: "tuple[tuple[Patterns, FormatTable], ...]" = ()
    everywhere: FileSettings = field(default_factory=FileSettings)
    table: Mapping[str, Any] = field(default_factory=dict)
    _known: dict[tuple[object, ...], FileSettings] = field(default_factory=dict, init=False)

    @classmethod
    def from_table(cls, root: Path, origin: Path, table: Mapping[str, Any]) -> "Settings":
        """Return the settings of a valid table."""
        severity = table.get("severity", {})
        shapes = _read_shapes(root, table.get("shape", ()))
        include = chain(table.get("include", ()), *(shape.files for _, shape in shapes))
        # Messages show it with the `./` that the settings may have.
        baseline = os.path.join(origin.parent, table["baseline"]) if "baseline" in table else None  # noqa: PTH118
        select = frozenset(table["select"]) if "select" in table else None
        return cls(
            root=root,
            origin=origin,
            baseline=baseline,
            judged=tuple(str(simplify(origin.parent / name)) for name in table.get("judged", ())),
            labels=tuple(str(simplify(origin.parent / name)) for name in table.get("labels", ())),
            require_rubrics=table.get("require-rubrics", False),
            fail_on_unread=table.get("fail-on-unread", False),
            select=select,
            ignore=frozenset(table.get("ignore", ())) | {rule for rule, level in severity.items() if level == "off"},
            include=Patterns.parse(root, include),
            exclude=Patterns.parse(root, table.get("exclude", ()), SKIPPED_FOLDERS),
            per_file_ignores=tuple(
                (Patterns.parse(root, [pattern]), frozenset(rules))
                for pattern, rules in table.get("per-file-ignores", {}).items()
            ),
            versions=tuple(
                (Patterns.parse(root, [pattern]), version) for pattern, version in table.get("versions", {}).items()
            ),
            table=table,
            shapes=shapes,
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
            return replace(self, ignore=self.ignore | overrides.ignore)
        # A rule that is selected on the command line runs even if the settings ignore it.
        return replace(self, select=overrides.select, ignore=(self.ignore - overrides.select) | overrides.ignore)

    def for_file(self, name: str) -> FileSettings:
        """Return the settings for a file; these must be its nearest."""
        ignored: frozenset[str] = frozenset()
        version = None
        shapes: tuple[FormatTable, ...] = ()
        if self.per_file_ignores or self.versions or self.shapes:
            file = str(make_absolute(name))
            ignored = ignored.union(*(rules for patterns, rules in self.per_file_ignores if patterns.covers(file)))
            version = next((version for patterns, version in reversed(self.versions) if patterns.covers(file)), None)
            shapes = tuple(shape for patterns, shape in self.shapes if patterns.covers(file))
        is_rubric_file, is_test_file = name.lower().endswith(_RUBRIC_SUFFIXES), name.lower().endswith(TEST_SUFFIXES)
        key = (ignored, version, is_rubric_file, is_test_file, shapes)
        found = self._known.get(key)
        if found is not None:
            return found
        enabled = self.select
        ignored |= self.ignore
        if ignored:
            from rubric_lint.rules import BY_NAME  # noqa: PLC0415  (rules are many; finding files needs none)

            if enabled is None:
                enabled = frozenset(BY_NAME)
            enabled -= ignored
        if enabled is not None:
            enabled |= {"syntax"}  # a syntax error hides all other findings, so nothing leaves it out
        self._known[key] = self.everywhere._replace(
            enabled=enabled,
            version=version,
            claimed=is_rubric_file or is_test_file or version is not None,
            is_rubric_file=is_rubric_file,
            is_test_file=is_test_file,
            shapes=shapes,
        )
        return self._known[key]

    def list_idle_shapes(self) -> "list[FormatTable]":
        """Return the formats whose `files` cover none of the files that were asked for so far."""
        used = {*chain.from_iterable(known.shapes for known in self._known.values())}
        return [shape for _, shape in self.shapes if shape not in used]


def _read_shapes(root: Path, tables: Iterable[Mapping[str, Any]]) -> "tuple[tuple[Patterns, FormatTable], ...]":
    if not tables:
        return ()
    from rubric_lint.formats.home_made.format_table import FormatTable  # noqa: PLC0415  (few settings describe a format)

    shapes = map(FormatTable.from_table, tables)
    return tuple((Patterns.parse(root, shape.files), shape) for shape in shapes)


class SettingsFinder:
    """Finds the settings of each folder, and caches them.

    `file`: use this settings file for all files, with patterns relative to the folder `here` (default: the current
    folder). `isolated`: read no settings file. `options` repeats both, for commands that are suggested.

    Raises:
        SettingsError: if `file` is invalid.
    """

    def __init__(
        self,
        overrides: Overrides | None = None,
        *,
        file: str | None = None,
        isolated: bool = False,
        here: Path | None = None,
    ) -> None:
        here = here or Path.cwd()
        self.overrides = overrides or Overrides()
        self.options = {"config": file, "isolated": isolated}
        self._built_in = Settings(here, exclude=Patterns.parse(here, (), SKIPPED_FOLDERS)).override(self.overrides)
        self._only = self._built_in if isolated else None
        self._folders: dict[Path, Settings | SettingsError] = {}
        self._named: dict[str, Settings] = {}
        if file is not None:
            path = make_absolute(file)
            self._only = self._read(path, here)
            if self._only is None:
                raise SettingsError(shorten_path(path), "has no [tool.rubric-lint] table")

    def for_file(self, name: str) -> FileSettings:
        """Return the settings for a file, which need not exist.

        Raises:
            SettingsError: if its nearest settings file is invalid.
        """
        return self.find_nearest(name).for_file(name)

    def leaves_out(self, name: str, *, is_folder: bool, is_named: bool = True) -> bool:
        """Return whether the settings exclude a file or folder; what is named only if the overrides say so.

        Raises:
            SettingsError: if its nearest settings file is invalid.
        """
        if is_named and not self.overrides.force_exclude:
            return False
        return self.find_nearest(name).exclude.covers(str(make_absolute(name)) + os.sep * is_folder)

    def find_nearest(self, name: str) -> Settings:
        """Return the nearest settings for a file.

        Raises:
            SettingsError: if they are invalid.
        """
        # Each file of a run asks this, and to look for text takes 1 µs where a Path takes 9.
        folder = os.path.dirname(name)  # noqa: PTH120
        if folder not in self._named:
            self._named[folder] = self.for_folder(Path(folder))
        return self._named[folder]

    def for_folder(self, folder: Path) -> Settings:
        """Return the nearest settings for files in `folder`.

        Raises:
            SettingsError: if they are invalid.
        """
        found = self._only or self._folders.get(folder)
        if found is None:
            place, passed = make_absolute(folder), [folder]
            for above in (place, *place.parents):
                passed.append(above)
                found = self._folders.get(above) or self._look_in(above)
                if found is not None:
                    break
            found = found or self._built_in
            self._folders.update(dict.fromkeys(passed, found))
        if isinstance(found, SettingsError):
            raise found.with_traceback(None)
        return found

    def format_idle_shapes(self, searched: Iterable[str]) -> Iterator[str]:
        """Yield a message for each format whose `files` match nothing, though the whole of its folder was searched."""
        folders = [make_absolute(name) for name in searched if is_folder(name)]
        for settings in dict.fromkeys([self._only, *self._folders.values()]):  # each once
            if not isinstance(settings, Settings):
                continue
            if any(settings.root.is_relative_to(folder) for folder in folders):
                for shape in settings.list_idle_shapes():
                    advice = "correct the patterns, or remove the table"
                    files = ", ".join(f"`{pattern}`" for pattern in shape.files)
                    file = shorten_path(settings.origin or "")
                    yield f"{file}: format `{shape.name}`: no file matches {files}; {advice}"

    def _look_in(self, folder: Path) -> Settings | SettingsError | None:
        for name in NAMES:
            path = folder / name
            if is_file(path):
                try:
                    found = self._read(path, folder)
                except SettingsError as fault:
                    return fault
                if found is not None:
                    return found
        return None

    def _read(self, path: Path, root: Path) -> Settings | None:
        table = read_table(path)
        return None if table is None else Settings.from_table(root, path, table).override(self.overrides)


def shorten_path(path: str | Path) -> str:
    """Return an absolute path as messages show it: relative if it is below the current folder."""
    return str(path).removeprefix(os.path.join(Path.cwd(), ""))  # noqa: PTH118 (one `/`, also for the folder `/`)

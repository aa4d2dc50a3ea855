"""Find the files to read and read them; a file that cannot be read becomes a value, and the run continues."""

# The search keeps paths as text: for each file it joins two, in 0.1 µs, where a Path takes 2.5 µs; and to find that a
# name is in a known folder takes 2.5 µs and not 12. Names are as the user typed them.
# ruff: noqa: PTH114, PTH116, PTH118, PTH119

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from rubric_lint.formats.dialects import could_hold_rubrics
from rubric_lint.formats.search.documents import NOTEBOOK, is_document, name_successor
from rubric_lint.lint.project.gitignore import Patterns, is_ignored, read_ignores, read_ignores_above
from rubric_lint.lint.project.opening import LIMIT, STDIN, RefusedFileError, explain_os_error, read_file, read_head
from rubric_lint.lint.project.paths import follow_links, is_folder, is_there, make_absolute
from rubric_lint.lint.project.repository import find_root
from rubric_lint.lint.project.settings import SKIPPED_FOLDERS, FileSettings, Settings, SettingsError, SettingsFinder
from rubric_lint.model.suggest import name_in
from rubric_lint.source.source import SIGNED_SUFFIXES, SUFFIXES

_OTHER_KINDS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".xlsx": "an Excel workbook",
    ".xlsm": "an Excel workbook",
    ".md": "Markdown",
    ".markdown": "Markdown",
    ".rst": "reStructuredText",
    ".txt": "plain text",
    ".log": "a log",
    NOTEBOOK: "a notebook",
    ".js": "JavaScript",
    ".ts": "TypeScript",
    ".sh": "a shell script",
    ".html": "HTML",
    ".xml": "XML",
    ".ini": "INI",
    ".gz": "compressed",
    ".zip": "compressed",
    ".zst": "compressed",
    ".parquet": "Parquet",
}
"""Kinds of files that are not read, by suffix."""

_TABLE = "`rubric-lint import FILE` makes a rubric file of a table"
_ADVICE = {"CSV": _TABLE, "TSV": _TABLE, "an Excel workbook": _TABLE, "a notebook": "save its code as .py"}
_READ = "rubric-lint reads YAML, JSON, JSON Lines, TOML and Python"


def name_other_kind(name: str) -> str:
    """Return the kind of a file by its name; empty if it may hold rubrics."""
    base = name.lower()
    return next((kind for suffix, kind in _OTHER_KINDS.items() if base.endswith(suffix)), "")


def format_other_kind(name: str, kind: str) -> str:
    """Say that a file of another kind is not read, and what to do."""
    return f"{name}: not read, as it is {kind}; {name_in(_ADVICE.get(kind, _READ), name)}"


@dataclass
class Skipped:
    """What a search skipped.

    `dead`: broken links, pipes and the like. `outside`: links to files outside the repository (or else the searched
    folder). `other_kinds`: named files of kinds that are not read, each with its kind. `files` and `folders` count
    what the settings exclude. `reasons` says for each path why it is left out; None: this is not recorded.
    """

    dead: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    other_kinds: list[tuple[str, str]] = field(default_factory=list)
    files: int = 0
    folders: int = 0
    reasons: dict[str, str] | None = None

    def note(self, name: str, reason: str) -> None:
        """Record why a file or folder is left out, if reasons are wanted."""
        if self.reasons is not None:
            self.reasons[name] = reason

    def exclude(self, name: str, *, is_folder: bool) -> None:
        """Count a file or folder that the settings exclude; of the folders of tools, those that one can see."""
        base = os.path.basename(name)
        by_default = is_folder and base in SKIPPED_FOLDERS
        reason = "skipped by default" if by_default else "excluded by the settings"
        self.note(name + os.sep * is_folder, reason)
        if by_default and base.startswith("."):
            return
        if is_folder:
            self.folders += 1
        else:
            self.files += 1

    def format_other_kinds(self) -> list[str]:
        """Return a message for each file of another kind."""
        return [format_other_kind(name, kind) for name, kind in self.other_kinds]


_LOCK = ".#"
"""The prefix of the dangling link that Emacs makes while it edits a file."""

_OTHER = "not YAML, JSON, TOML or Python"
_BARE = "no sign of a rubric in it"
_IMPORTED = "next to a file of that name that takes its place"
_FOREIGN = "in a virtual environment"
LINKED = "symlink to a folder"
OUTSIDE = "symlink out of the repository"
_DEAD = "broken symlink or pipe"
"""Reasons to leave a file out."""

_VCS_FOLDERS = frozenset({".git", ".hg", ".svn"})
_OVERLAP = 1 << 10  # longer than any word that is searched for


class File(NamedTuple):
    """A file to read, or stdin: its name as the user gave it, and its settings.

    `group` is the name of the first of the files that belong together: suites and the files that these name.
    """

    name: str
    settings: FileSettings
    is_stdin: bool = False
    group: str = ""


class Unreadable(NamedTuple):
    """A path that cannot be read, and the reason."""

    path: str
    reason: str


class _Folder(NamedTuple):
    """A folder to search; each path ends in a separator."""

    prefix: str  # as the user wrote it
    path: str  # absolute
    real: str  # absolute, links resolved
    root: str  # absolute, links resolved: links that are found must stay in it
    ignores: tuple[Patterns, ...]  # the nearest first
    is_foreign: bool = False  # a virtual environment, whose files are those of others


_Reached = tuple[File | Unreadable, object]
"""An item that a search found, and an identity, which is the same if it is found again."""


def find(names: Iterable[str], finder: SettingsFinder, skipped: Skipped | None = None) -> Iterator[File | Unreadable]:
    """Find the files at `names` and in the folders among them, each once, in the order of `names` and then of theirs.

    A named file is found whatever its name and even if it is ignored, unless `force_exclude` is set. In a folder, files
    with one of `SUFFIXES` or in `include` are found, and those with one of `SIGNED_SUFFIXES` that may hold a rubric,
    except those that .gitignore files or `exclude` name. Links to folders, and links to files outside the repository
    (or else the folder), are followed only if they are named. `skipped` records what is left out, and named files of
    kinds that are not read.
    """
    if skipped is None:
        skipped = Skipped()
    search = FileSearch(finder, skipped)
    seen = set()
    for name in names:
        for item, identity in search.reach(tidy(name)):
            if identity not in seen:
                seen.add(identity)
                yield item


def read(file: File, *, may_be_stdin: bool = True) -> bytes | Unreadable:
    """Return the bytes of a file; empty if it is too large and its head does not look like rubrics.

    `may_be_stdin`: stdin could be named in its place, which is the advice for what is not a regular file.
    """
    name = file.name
    if file.is_stdin:
        return read_stdin(name)
    try:
        try:
            return read_file(name, LIMIT)
        except RefusedFileError as refused:
            if refused.size and not file.settings.is_named and not _could_hold_rubrics(read_head(name, LIMIT), name):
                return b""
            advice = ""
            if refused.size:
                advice = "; split it into smaller ones"
            elif may_be_stdin:
                advice = "; use `-` for stdin"
            return Unreadable(name, explain_os_error(name, refused) + advice)
    except (OSError, ValueError) as fault:
        return Unreadable(name, explain_os_error(name, fault))


def read_stdin(name: str) -> bytes | Unreadable:
    """Return the content of stdin; `name` is its name in messages."""
    if sys.stdin is None:
        return Unreadable(name, "stdin is closed")
    data = sys.stdin.buffer.read(LIMIT + 1)
    if len(data) > LIMIT:
        return Unreadable(name, f"cannot be read: it has more than {LIMIT / 1e6:.0f} MB, the limit; split it")
    return data


def split_stdin(paths: Iterable[str], name: str, finder: SettingsFinder) -> tuple[list[str], list[File]]:
    """Return the paths but stdin, and stdin as a file with this name if it is among them.

    Raises:
        SettingsError: if the settings for stdin are invalid.
    """
    paths = list(paths)
    others = [path for path in paths if path != STDIN]
    stdin = [File(name, finder.for_file(name), is_stdin=True)] if len(others) < len(paths) else []
    return others, stdin


class RealFolders:
    """The real paths of folders; each is looked up once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def locate(self, name: str) -> str:
        """Return the path of `name` with its folder resolved; the file itself may be a link."""
        folder, base = os.path.split(name)
        if folder not in self._known:
            self._known[folder] = str(follow_links(folder))
        return os.path.join(self._known[folder], base)

    def resolve(self, name: str) -> str:
        """Return the path of `name` without links."""
        return str(follow_links(name)) if os.path.islink(name) else self.locate(name)


class FileSearch:
    """A search for the files of a run; `skipped` records what it leaves out."""

    def __init__(self, finder: SettingsFinder, skipped: Skipped) -> None:
        self._finder = finder
        self._skipped = skipped
        self._folders = RealFolders()

    def reach(self, name: str, *, is_named: bool = True) -> Iterator[_Reached]:
        """Find the file at `name`, or the files of a folder; unless the user named it, `exclude` applies to it."""
        try:
            is_folder = stat.S_ISDIR(os.stat(name).st_mode)
            if self._finder.leaves_out(name, is_folder=is_folder, is_named=is_named):
                self._skipped.exclude(name, is_folder=is_folder)
            elif is_folder:
                yield from self._search(name)
            elif self._is_other_kind(name):
                self._skipped.other_kinds.append((name, name_other_kind(name)))
                self._skipped.note(name, _OTHER)
            else:
                yield File(name, self._finder.for_file(name)), self._folders.resolve(name)
        except SettingsError as fault:
            yield from _refuse_settings(fault)
        except (OSError, ValueError) as fault:
            yield _refuse(name, fault)

    def _is_other_kind(self, name: str) -> bool:
        """Return whether a file is of a kind that is not read, unless it describes a rubric or the settings name it."""
        if not name_other_kind(name):
            return False
        settings = self._finder.find_nearest(name)
        if settings.include.covers(str(make_absolute(name))) or settings.for_file(name).claimed:
            return False
        return not is_document(name) or bool(self._find_exclusion(name))

    def _search(self, name: str) -> Iterator[_Reached]:
        path, real = make_absolute(name), follow_links(name)
        try:
            ignores = read_ignores_above(path)
        except OSError as fault:
            yield _refuse(str(fault.filename), fault)
            ignores = ()
        prefix = "" if name == "." else _end(name)
        start = _Folder(prefix, _end(path), _end(real), _end(find_root(real)), ignores)
        # A stack, because folders may be nested deeper than calls.
        pending: list[_Folder | _Reached] = [start]
        while pending:
            item = pending.pop()
            if isinstance(item, _Folder):
                pending.extend(reversed(list(self._list(item))))
            else:
                yield item

    def _list(self, folder: _Folder) -> Iterator[_Folder | _Reached]:
        prefix, path, real, root, ignores, is_foreign = folder
        try:
            with os.scandir(prefix or ".") as listing:
                entries = {entry.name: entry for entry in sorted(listing, key=attrgetter("name"))}
        except OSError as fault:
            yield _refuse(prefix[:-1] or ".", fault)
            return
        try:
            settings = self._finder.for_folder(Path(path))
        except SettingsError as fault:
            yield from _refuse_settings(fault)
            return
        try:
            ignores = read_ignores(Path(path), entries.keys(), ignores)
        except OSError as fault:
            yield _refuse(prefix + str(fault.filename).removeprefix(path), fault)
        here = _Folder(prefix, path, real, root, ignores, is_foreign or "pyvenv.cfg" in entries)
        for entry in entries.values():
            name = entry.name
            if not entry.is_dir(follow_symlinks=False):
                yield from self._check_file(entry, here, settings)
            elif name not in _VCS_FOLDERS and not self._is_left_out(prefix + name, here, settings, is_folder=True):
                below = name + os.sep
                yield _Folder(prefix + below, path + below, real + below, root, ignores, here.is_foreign)

    def _check_file(self, entry: os.DirEntry[str], parent: _Folder, settings: Settings) -> Iterator[_Reached]:
        path = parent.path + entry.name
        name = parent.prefix + entry.name
        if not entry.name.lower().endswith(SUFFIXES) and not settings.include.covers(path):
            reason = _FOREIGN if parent.is_foreign else self._find_exclusion(name)
            if reason:
                why = LINKED if entry.is_symlink() and is_folder(path) else reason
                self._skipped.note(name, why)
                return
        if self._is_left_out(name, parent, settings, is_folder=False):
            return
        try:
            if entry.is_file():
                real = str(follow_links(path)) if entry.is_symlink() else parent.real + entry.name
                if entry.is_symlink() and not real.startswith(parent.root):
                    self._skipped.outside.append(name)
                    self._skipped.note(name, OUTSIDE)
                    return
                yield File(name, settings.for_file(name)), real
            elif entry.is_dir():
                self._skipped.note(name, LINKED)
            elif not entry.name.startswith(_LOCK):
                self._skipped.dead.append(name)
                self._skipped.note(name, _DEAD)
        except OSError as fault:
            # A circular link leads to no file, like a broken one; nobody named it.
            if fault.errno == errno.ELOOP:
                self._skipped.dead.append(name)
                self._skipped.note(name, _DEAD)
            else:
                yield _refuse(name, fault)

    @staticmethod
    def _find_exclusion(name: str) -> str:
        """Return why a file is left out; empty if its bytes show that it may hold a rubric."""
        if is_document(name):
            if is_there(name_successor(name)):
                return _IMPORTED
        elif not name.lower().endswith(SIGNED_SUFFIXES):
            return _OTHER
        try:
            return "" if could_hold_rubrics(read_file(name, LIMIT), name) else _BARE
        except RefusedFileError as refused:
            return "" if refused.size else _BARE  # too large: its head is searched when it is read
        except (OSError, ValueError):
            return _BARE  # nobody named it

    def _is_left_out(self, name: str, parent: _Folder, settings: Settings, *, is_folder: bool) -> bool:
        path = parent.path + name.removeprefix(parent.prefix)
        if is_ignored(path, parent.ignores, is_folder=is_folder):
            self._skipped.note(name + os.sep * is_folder, "ignored by Git")
            return True
        if settings.exclude.match(path, is_folder=is_folder):
            self._skipped.exclude(name, is_folder=is_folder)
            return True
        return False


def tidy(name: str) -> str:
    """Return a path as messages show it, without `./` at the start."""
    while name.startswith(("./", "." + os.sep)):
        name = name[2:].lstrip("/" + os.sep)
    return name or "."


def _end(path: str | Path) -> str:
    """Return a path with a separator at its end."""
    return os.path.join(path, "")


def _refuse(name: str, fault: OSError | ValueError) -> _Reached:
    item = Unreadable(name, explain_os_error(name, fault))
    return item, item


def _refuse_settings(error: SettingsError) -> Iterator[_Reached]:
    items = (Unreadable(error.path, fault) for fault in error.faults)
    return ((item, item) for item in items)


def _could_hold_rubrics(chunks: Iterable[bytes], name: str) -> bool:
    before = b""
    for chunk in chunks:
        if could_hold_rubrics(before + chunk, name):
            return True
        before = chunk[-_OVERLAP:]
    return False

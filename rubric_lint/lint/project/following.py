"""Follow what suites of AgentV name to the files that have their cases and assertions."""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rubric_lint.formats.agentv.files import (
    Effect,
    Holds,
    OtherFile,
    Unfollowed,
    find_other_files,
    is_written_for_five,
)
from rubric_lint.formats.agentv.suites import CASE_FILES, EVAL_FILES
from rubric_lint.formats.dialects import may_name_files
from rubric_lint.lint.project.files import File, FileSearch, Unreadable
from rubric_lint.lint.project.opening import LIMIT, explain_os_error, read_file
from rubric_lint.lint.project.paths import find_ending, follow_links, is_file, is_folder, is_there, simplify
from rubric_lint.lint.project.repository import find_root
from rubric_lint.source.deadline import Clock
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, UndecodableError

_YAML = (".yaml", ".yml")
_READ = (*_YAML, ".json", ".jsonl")
_PROGRAMS = (".js", ".mjs", ".cjs", ".py")


class _NotReadError(Exception):
    """A file that is not read with the suite that names it: what that means, and why."""

    def __init__(self, effect: Effect, reason: str) -> None:
        super().__init__(reason)
        self.effect = effect
        self.reason = reason


class _OutsideError(_NotReadError):
    def __init__(self) -> None:
        super().__init__(Effect.UNREAD, "the file is outside the repository; name it too")


def refuse_all(file: File, data: bytes, reason: str) -> File:
    """Return a suite that is read without the files that it names, for one reason."""
    unfollowed = tuple(Unfollowed(other.text, Effect.UNREAD, reason) for other in _list_named(file, data)[0])
    return file._replace(settings=file.settings._replace(unfollowed=unfollowed)) if unfollowed else file


def _list_named(file: File, data: bytes) -> tuple[list[OtherFile], bool]:
    """List the files that a suite, or a part of one, names, and return whether it is for AgentV 5.

    A file that cannot be read names nothing: linting it reports why.
    """
    others: list[OtherFile] = []
    is_for_five = file.settings.is_for_five
    with Clock(file.settings.time_limit):
        try:
            documents, _ = read_documents(Source.from_bytes(file.name, data))
        except UndecodableError:
            documents = []
        for document in documents:
            document.part = file.settings.part
            others += find_other_files(document)
            is_for_five = is_for_five or (bool(others) and is_written_for_five(document))
    return others, is_for_five


@dataclass(frozen=True, slots=True)
class _FileToFollow:
    """A file to look at: the folder from which it names others, and the files that led to it."""

    identity: object
    folder: Path
    above: tuple[object, ...] = ()


class Following:
    """The files that a search found, to which those that suites name are added.

    `found` has them by their identities: two paths of one file have one.
    """

    def __init__(self, search: FileSearch, found: dict[object, File | Unreadable]) -> None:
        self._search = search
        self._found = found
        self._parts: dict[object, list[object]] = {}
        self._groups: dict[object, list[object]] = {}

    def follow(self, suites: list[object]) -> list[File | Unreadable]:
        """Return all files; those that nothing but a suite names come after the first suite that does.

        `suites` are the identities of the files that may name others.
        """
        searched = list(self._found)
        pending = [_FileToFollow(suite, Path(self._file(suite).name).parent) for suite in reversed(suites)]
        seen: set[object] = set()
        while pending:
            task = pending.pop()
            if task.identity not in seen:
                seen.add(task.identity)
                pending += self._look_at(task)
        for identity, members in self._groups.items():
            self._found[identity] = self._file(identity)._replace(group=self._file(members[0]).name)
        new = self._found.keys() - {*searched}
        ordered: dict[object, File | Unreadable] = {}
        waiting = list(reversed(searched))
        while waiting:
            identity = waiting.pop()
            if identity not in ordered:
                ordered[identity] = self._found[identity]
                waiting += [part for part in reversed(self._parts.get(identity, ())) if part in new]
        return list(ordered.values())

    def _file(self, identity: object) -> File:
        file = self._found[identity]
        if isinstance(file, Unreadable):
            raise TypeError(f"{file.path} names no files")
        return file

    def _look_at(self, task: _FileToFollow) -> list[_FileToFollow]:
        """Add the files that a file names, and return those of them that may name others."""
        suite = self._file(task.identity)
        try:
            others, is_for_five = _list_named(suite, read_file(suite.name, LIMIT))
        except (OSError, ValueError):  # reading it again reports why
            return []
        unfollowed: dict[Unfollowed, None] = {}
        more: list[_FileToFollow] = []
        for other in others:
            try:
                for path in _locate(other, task.folder):
                    more += self._add(str(path), other, task)
            except _NotReadError as fault:
                unfollowed[Unfollowed(other.text, fault.effect, fault.reason)] = None
        settings = suite.settings._replace(unfollowed=tuple(unfollowed), is_followed=True, is_for_five=is_for_five)
        if is_for_five:
            for part in self._parts.get(task.identity, ()):
                file = self._file(part)
                self._found[part] = file._replace(settings=file.settings._replace(is_for_five=True))
        self._found[task.identity] = suite._replace(settings=settings)
        return more

    def _add(self, name: str, other: OtherFile, task: _FileToFollow) -> list[_FileToFollow]:
        """Add a file that a suite names; return it if it may name others."""
        try:
            data = read_file(name, LIMIT)
        except (OSError, ValueError) as fault:
            raise _NotReadError(Effect.LOST, explain_os_error(name, fault)) from None
        reached = next(iter(self._search.reach(name, is_named=False)), None)
        if reached is None:
            raise _NotReadError(Effect.EXCLUDED, "the settings exclude the file")
        file, identity = reached
        if isinstance(file, Unreadable):  # its settings
            raise _NotReadError(Effect.UNREAD, f"{file.path}: {file.reason}")
        if identity in (task.identity, *task.above):
            raise _NotReadError(Effect.LOST, "is in a circle of files that name each other")
        if identity in self._found:
            file = self._file(identity)
        elif not _is_inside(Path(str(identity)), task.folder):
            raise _OutsideError
        part = "" if other.holds is Holds.SUITE else other.holds
        self._found[identity] = file._replace(settings=file.settings._replace(part=part))
        self._parts.setdefault(task.identity, []).append(identity)
        self._join(task.identity, identity)
        folder = Path(name).parent if other.holds is Holds.SUITE else task.folder
        return [_FileToFollow(identity, folder, (*task.above, task.identity))] if may_name_files(data) else []

    def _join(self, one: object, other: object) -> None:
        """Put two files into one group."""
        members, added = self._groups.setdefault(one, [one]), self._groups.setdefault(other, [other])
        if members is not added:
            members += added
            self._groups.update(dict.fromkeys(added, members))


def resolve(other: OtherFile, folder: Path) -> Path:
    """Return the path of what a suite in a folder names, as it is written there."""
    return simplify(folder / _read_name(other))


def _read_name(other: OtherFile) -> str:
    return other.text.strip().removeprefix("file://")


def _locate(other: OtherFile, folder: Path) -> list[Path]:
    """Return the paths of the files that a suite in a folder names.

    Raises:
        _NotReadError: if they are not read.
    """
    text, path = _read_name(other), resolve(other, folder)
    if "://" in text:
        raise _NotReadError(Effect.ONLY_NEW, "only files are read")
    if other.holds is Holds.SCENARIOS:
        raise _NotReadError(Effect.ONLY_NEW, "scenarios are read only in a suite; write them there")
    if other.holds in (Holds.DEFAULTS, Holds.ASSERTIONS):
        candidates = _list_candidates(text, folder, is_template=other.holds is Holds.ASSERTIONS)
        return [next(filter(is_there, candidates), path)]
    if other.holds is Holds.CASES:
        _refuse_kinds(text, is_included=isinstance(other.path[-1], str) and other.path[-1] == "include")
    if is_folder(path):
        found: list[Path] = []
        for inner in sorted(path.iterdir(), key=str):
            found += filter(is_file, (inner / name for name in CASE_FILES))
        if not found:
            raise _NotReadError(Effect.LOST, "has no folder with a `case.yaml`")
        return found
    is_pattern = not {*"*?{"}.isdisjoint(str(path))
    return _match(path, folder) if is_pattern and not is_there(path) else [path]


def _refuse_kinds(text: str, *, is_included: bool) -> None:
    """Refuse what holds no cases, or cases that are not read.

    Raises:
        _NotReadError: if it does.
    """
    suffix = find_ending(text).lower().partition(":")[0]
    if suffix in _PROGRAMS:
        raise _NotReadError(Effect.ONLY_NEW, "a program makes them")
    if suffix == ".csv":
        raise _NotReadError(Effect.ONLY_NEW, "CSV is not supported; write them as YAML or JSON Lines")
    if text.lower().endswith(EVAL_FILES) and not is_included:
        raise _NotReadError(Effect.LOST, "is a suite, not a list of cases; `include` it with `type: suite`")
    if suffix and suffix not in _READ and {"*", "?", "{"}.isdisjoint(suffix):
        raise _NotReadError(Effect.LOST, "is not YAML, JSON, JSON Lines or CSV")


def _list_candidates(text: str, folder: Path, *, is_template: bool) -> Iterator[Path]:
    """Yield where AgentV looks for a file: in the folder of the suite and in those above it, up to the repository's."""
    texts = [text]
    if is_template and not text.startswith(".") and {"/", "\\"}.isdisjoint(text):
        texts = [f".agentv/templates/{text}{suffix}" for suffix in _YAML]
    root = find_root(follow_links(folder))
    place = folder
    while follow_links(place).is_relative_to(root):
        yield from (simplify(place / candidate) for candidate in texts)
        place /= os.pardir


def _match(pattern: Path, folder: Path) -> list[Path]:
    """Return the files that a pattern matches.

    Raises:
        _NotReadError: if it is not one that is read, or matches none.
    """
    if "{" in str(pattern):
        raise _NotReadError(Effect.UNREAD, "only `*` and `?` are read in a pattern; list the files")
    start = next(above for above in pattern.parents if {*"*?"}.isdisjoint(str(above)))
    if not _is_inside(follow_links(start), folder):
        raise _OutsideError
    # `Path.glob` would also find hidden files.
    matches = sorted(glob.glob(str(pattern).replace("[", "[[]"), recursive=True))  # noqa: PTH207
    found = [path for path in map(Path, matches) if is_file(path)]
    if not found:
        raise _NotReadError(Effect.LOST, "matches no file")
    return found


def _is_inside(real: Path, folder: Path) -> bool:
    """Return whether a path without links is in the repository around a folder or around the current one."""
    return any(real.is_relative_to(find_root(follow_links(place))) for place in (folder, Path()))

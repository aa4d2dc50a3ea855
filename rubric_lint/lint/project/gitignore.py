"""Match paths against .gitignore patterns as git does; pathspec translates each pattern.

Its GitIgnoreSpec matches the whole path of a file, where git matches each folder on the way: `*`, `!*/` and `!*.yaml`
let it find nothing. And 5 stars in a pattern keep it busy for 20 seconds with one long name: a pattern of others could
stop a run.
"""

# ruff: noqa: PTH118  (a Path has no separator at its end)

import codecs
import os
import re
import stat
import warnings
from collections.abc import Container, Iterable
from pathlib import Path
from typing import NamedTuple

from rubric_lint.lint.project.opening import SMALL_LIMIT, read_file
from rubric_lint.lint.project.paths import is_file, is_there


class _Pattern(NamedTuple):
    ignores: bool
    folders_only: bool
    regex: re.Pattern[str]


class Patterns(NamedTuple):
    """The patterns of one .gitignore file or setting, for paths in `root`, which ends in a separator.

    What they match is text: absolute paths, without a separator at the end. Folders with one of the names in `folders`
    are ignored, wherever they are, unless a pattern keeps them.
    """

    root: str
    latest_first: tuple[_Pattern, ...]
    folders: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, root: Path, lines: Iterable[str], folders: frozenset[str] = frozenset()) -> "Patterns":
        """Parse one pattern per line; like git, skip lines that are not patterns."""
        patterns = [pattern for pattern in map(_parse, lines) if pattern is not None]
        return cls(os.path.join(root, ""), tuple(reversed(patterns)), folders)

    def match(self, path: str, *, is_folder: bool) -> bool | None:
        """Return whether the absolute `path` is ignored (True), kept (False) or not matched (None).

        The folders above it are not matched: a search never enters an ignored folder.
        """
        if self.latest_first and path.startswith(self.root):
            name = path[len(self.root) :].replace(os.sep, "/")
            for pattern in self.latest_first:
                if (is_folder or not pattern.folders_only) and pattern.regex.fullmatch(name):
                    return pattern.ignores
        return True if is_folder and path.rpartition(os.sep)[2] in self.folders else None

    def covers(self, file: str) -> bool:
        """Return whether the absolute `file`, or a folder between it and the root, is ignored."""
        if not file.startswith(self.root):
            return False
        ends = (end for end in range(len(self.root), len(file)) if file[end] == os.sep)
        return any(self.match(file[:end], is_folder=True) for end in ends) or bool(self.match(file, is_folder=False))


def is_ignored(path: str, ignores: Iterable[Patterns], *, is_folder: bool) -> bool:
    """Return whether the absolute `path` is ignored by the first of `ignores` that matches it."""
    verdicts = (patterns.match(path, is_folder=is_folder) for patterns in ignores)
    return next((verdict for verdict in verdicts if verdict is not None), False)


def read_ignores(folder: Path, names: Container[str], above: tuple[Patterns, ...]) -> tuple[Patterns, ...]:
    """Return the patterns for a folder with these `names` in it, nearest first; `above` are those for its parent.

    Raises:
        OSError: if a file of patterns cannot be read.
    """
    if ".git" in names:  # a repository of its own: patterns of the one around it do not apply
        git = folder / ".git"
        if is_file(git):  # with the path of the repository
            git = folder / _read_line(git).removeprefix("gitdir:").strip()
        common = git / "commondir"  # where a linked worktree shares the files of the main one
        if is_file(common):
            git /= _read_line(common)
        above = _read(folder, git / "info" / "exclude")
    if ".gitignore" in names:
        above = _read(folder, folder / ".gitignore") + above
    return above


def read_ignores_above(folder: Path) -> tuple[Patterns, ...]:
    """Return the patterns of the folders above an absolute one, up to its repository; none if they ignore all of it.

    Raises:
        OSError: if a file of patterns cannot be read.
    """
    chain = [folder]  # up to the repository's folder
    while not is_there(chain[-1] / ".git"):
        if chain[-1].parent == chain[-1]:
            return ()
        chain.append(chain[-1].parent)
    ignores: tuple[Patterns, ...] = ()
    for place in reversed(chain[1:]):
        names = (".git", ".gitignore") if place == chain[-1] else (".gitignore",)
        ignores = read_ignores(place, names, ignores)
    return () if any(is_ignored(str(place), ignores, is_folder=True) for place in chain[:-1]) else ignores


def _read(root: Path, file: Path) -> tuple[Patterns, ...]:
    """Return the patterns of a file; none if it is missing or, like git, if it is a link."""
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            return ()
        text = os.fsdecode(read_file(file, SMALL_LIMIT).removeprefix(codecs.BOM_UTF8))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    return (Patterns.parse(root, (line.removesuffix("\r") for line in text.split("\n"))),)


def _read_line(file: Path) -> str:
    return os.fsdecode(read_file(file, SMALL_LIMIT)).partition("\n")[0].removesuffix("\r")


def _parse(line: str) -> _Pattern | None:
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if line.startswith("#"):
        return None
    kept = line.startswith("!")
    glob = line.removeprefix("!") if kept else line
    folders_only = glob.endswith("/")
    glob = glob.removesuffix("/")
    if glob.startswith(("!", "#")):
        glob = "\\" + glob
    regex = _translate(glob)
    return None if regex is None else _Pattern(not kept, folders_only, regex)


def _translate(glob: str) -> re.Pattern[str] | None:
    """Return the expression whose full matches are the paths that `glob` names; None if it can name none."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415  (most folders have no patterns)

    with warnings.catch_warnings():
        # `[[` in a pattern makes `re` warn of a future change.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            (pattern,) = GitIgnoreSpec.from_lines([glob]).patterns
        except (ValueError, re.error):  # like git, a range such as [z-a] matches nothing
            return None
        if pattern.regex is None:
            return None
        # pathspec's expressions end in `(/|$)`, with `/` for paths below the match, which a full match leaves out;
        # those of `**`, `*` and `folder/**` end early and match all that follows.
        source = pattern.regex.pattern
        if not source.endswith("$)"):
            source += ".*"
        return re.compile(_commit(source), re.DOTALL)


_STAR, _FOLDERS, _FOLDERS_FIRST = "[^/]*", "(?:/.+)?/", "^(?:.+/)?"
"""The translations by pathspec of `*` within a name, `/**/`, and `**/` at the start."""


def _commit(source: str) -> str:
    """Return a pathspec expression with each `*` and `**` but the last bound to the first match of what follows.

    No other match can be better, because what follows has a fixed number of characters or folders. This saves trying
    the others, of which there are as many as ways to divide a name among the stars.
    """
    parts = [_commit_stars(part) for part in source.split(_FOLDERS)]
    if len(parts) == 1:
        return parts[0]
    if parts[0].startswith(_FOLDERS_FIRST):
        parts[0] = f"^(?>(?:.+?/)??{parts[0].removeprefix(_FOLDERS_FIRST)}(?=/))"
    between = [f"(?>(?:/.+?)??/{part}(?=/))" for part in parts[1:-1]]
    return "".join([parts[0], *between, _FOLDERS, parts[-1]])


_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+(?:\]|\Z)|.", re.DOTALL)


def _commit_stars(source: str) -> str:
    # In git, no character set contains `/`; in a regular expression, a negated one would.
    tokens = (piece[0] for piece in _PIECE.finditer(source))
    source = "".join(f"(?!/){piece}" if piece[0] == "[" and piece != "[^/]" else piece for piece in tokens)
    head, *parts = source.split(_STAR)
    for number, part in enumerate(parts):
        ends_name = number == len(parts) - 1 or "/" in part.replace("[^/]", "").replace("(?!/)", "")
        head += _STAR + part if ends_name else f"(?>[^/]*?{part})"
    return head

"""Run git in an untrusted repository: git starts no program that the repository's settings name."""

import os
import re
import subprocess
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from rubric_lint.lint.project.files import RealFolders
from rubric_lint.lint.project.paths import follow_links, is_file
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.finding import Finding, Result
from rubric_lint.source.document import Document
from rubric_lint.source.path import follow, split_pointer
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, Span


class GitError(Exception):
    """The reason why Git cannot answer, and what to do."""


# Disable settings with which a repository could have git start programs. Set the format of answers too: quoted paths
# cannot break lines.
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.untrackedCache=false",
    "core.quotePath=true",
)
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",  # no locks, because others may commit meanwhile
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would otherwise fetch missing objects, with any program
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
_REMOVED = ("GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_TRACE2_EVENT", "GIT_TRACE")


def run_git(*arguments: str, given: bytes = b"", settings: tuple[str, ...] = ()) -> tuple[int, bytes, bytes]:
    """Return the exit code, standard output and standard error of a git command; `given` is its stdin.

    Raises:
        GitError: if git cannot be run.
    """
    options: list[str] = []
    for setting in _SETTINGS + settings:
        options += ("-c", setting)
    environment = {name: value for name, value in os.environ.items() if name not in _REMOVED}
    try:
        done = subprocess.run(  # noqa: S603 (a list, no shell)
            [_find_git(), "--no-pager", *options, *arguments],
            env={**environment, **_ENVIRONMENT},
            input=given,
            capture_output=True,
            check=False,
        )
    except OSError as fault:
        raise GitError(f"it needs the program git, which cannot be run: {fault.strerror or fault}") from None
    return done.returncode, done.stdout, done.stderr


def _require_git(trouble: str, *arguments: str, given: bytes = b"", settings: tuple[str, ...] = ()) -> bytes:
    """Return the standard output of a git command; raise GitError with the `trouble` and what git says if it fails."""
    code, answer, fault = run_git(*arguments, given=given, settings=settings)
    if code:
        raise GitError(f"{trouble}: {format_git_error(fault)}")
    return answer


@cache
def _find_git() -> str:
    """Return the git program in PATH; never one in the current folder, where Windows would look first."""
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in map(Path, os.get_exec_path()):
        path = folder / name
        if path.is_absolute() and is_file(path) and os.access(path, os.X_OK):
            return str(path)
    raise GitError("it needs the program git, which is not in any folder of PATH")


def silence_filters(folder: Path) -> tuple[str, ...]:
    """Return settings under which git starts no filters that the repository around `folder` defines.

    Filters that the user or the system defines, such as Git LFS, keep working.

    Raises:
        GitError: if git cannot list its settings, or a filter's name cannot be written on a command line.
    """
    trouble = "git cannot list its settings by their scope (it can from version 2.26 on)"
    listed = _require_git(trouble, "-C", str(folder), "config", "--list", "--name-only", "--show-scope", "-z")
    parts = [os.fsdecode(part) for part in listed.split(b"\0")]
    scoped = zip(parts[::2], parts[1::2], strict=False)
    keys = [key for scope, key in scoped if scope not in _TRUSTED and key.startswith("filter.")]
    names = sorted({key.removeprefix("filter.").rpartition(".")[0] for key in keys})
    odd = [name for name in names if "=" in name or "\n" in name]
    if odd:
        raise GitError(f"the settings of this repository define the filter {odd[0]!r}, which cannot be switched off")
    settings: list[str] = []
    for name in names:
        # A filter without a command does nothing, if it is not required.
        settings += (f"filter.{name}.{rest}" for rest in ("clean=", "smudge=", "process=", "required=0"))
    return tuple(settings)


_TRUSTED = ("system", "global", "command")


def format_git_error(fault: bytes) -> str:
    """Return the messages of git on one line."""
    lines = fault.decode("utf-8", "replace").strip().splitlines()
    return "; ".join(line.strip().removeprefix("fatal: ") for line in lines if line.strip()) or "nothing"


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """The changed lines of a file, as Git counts them: from 1, each ended by a line feed.

    `added` are runs of lines, from the first to the last; `cuts` are the lines below which others were removed.
    """

    added: tuple[tuple[int, int], ...] = ()
    cuts: tuple[int, ...] = ()


UNCHANGED = ChangedLines()


@dataclass(slots=True)
class WorkTreeChanges:
    """The differences of the work tree at `root` from a revision; files are relative to it, with `/`.

    `files` has the changed files (None: all of the file is new), `tracked` all files that Git tracks; those of
    submodules are not among them.
    """

    root: Path
    files: dict[str, ChangedLines | None] = field(default_factory=dict)
    tracked: set[str] = field(default_factory=set)

    def of(self, path: Path) -> ChangedLines | None:
        """Return the changed lines of the file at an absolute `path` without links; None if all of it is new to Git."""
        if self.root not in path.parents:
            return None
        name = path.relative_to(self.root).as_posix()
        if name in self.files:
            return self.files[name]
        return UNCHANGED if name in self.tracked else None


# These options undo all user settings for diffs, and treat every file as text, whatever .gitattributes says.
_DIFF = (
    "diff",
    "--raw",
    "--patch",
    "--unified=0",
    "--inter-hunk-context=0",
    "--no-ext-diff",
    "--no-textconv",
    "--text",
    "--no-color",
    "--no-relative",
    "--find-renames",
    "--ignore-submodules",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


def _find_root() -> tuple[Path, bool]:
    """Return the root of the work tree around the current folder, and whether its clone is shallow."""
    trouble = "it needs a Git repository around the current folder, and git says"
    answer = _require_git(trouble, "rev-parse", "--show-toplevel", "--is-shallow-repository")
    top, _, is_shallow = answer.rstrip(b"\n").rpartition(b"\n")
    return follow_links(os.fsdecode(top)), is_shallow == b"true"


def read_changes(revision: str) -> WorkTreeChanges:
    """Find the differences between the work tree around the current folder and the point where it left `revision`.

    Raises:
        GitError: if there is no Git, no repository or no such revision.
    """
    root, is_shallow = _find_root()
    base = _find_base(revision, is_shallow=is_shallow)
    tree, trouble = ("-C", str(root)), f"git cannot compare the work tree with {revision}"
    diff = _require_git(trouble, *tree, *_DIFF, base, "--", settings=silence_filters(root))
    tracked = _require_git(trouble, *tree, "ls-files", "-z")
    files = _read_diff(diff)
    for name in _find_filtered([name for name, lines in files.items() if lines], tree):
        files[name] = None
    return WorkTreeChanges(root, files, {os.fsdecode(name) for name in tracked.split(b"\0")[:-1]})


def _find_filtered(names: Iterable[str], tree: tuple[str, ...]) -> Iterator[str]:
    """Find the files whose text in Git differs from the work tree by a filter, such as the pointers of Git LFS.

    Git counts changed lines in its own text.
    """
    given = b"".join(os.fsencode(name) + b"\0" for name in names)
    trouble = "git cannot list its filters"
    parts = _require_git(trouble, *tree, "check-attr", "--stdin", "-z", "filter", given=given).split(b"\0")
    for name, value in zip(parts[::3], parts[2::3], strict=False):
        if value not in (b"unspecified", b"unset"):
            yield os.fsdecode(name)


@dataclass(frozen=True, slots=True)
class Branch:
    """What the work tree changed since it left `base`: its commit, the root, and pairs of old and new paths.

    A path is None where a file is new or gone; paths are relative to the root, with `/`.
    """

    base: str
    commit: str
    root: Path
    files: tuple[tuple[str | None, str | None], ...]


def read_branch(revision: str | None) -> Branch:
    """Find the files that differ from where the work tree left `revision`, by default the base of its branch.

    Raises:
        GitError: if there is no Git, no repository, no such revision, or no base.
    """
    root, is_shallow = _find_root()
    names = ["origin/HEAD", "origin/main", "origin/master", "main", "master"]
    # Compared with another branch than its target, a pull request could seem to change nothing.
    target = os.environ.get("GITHUB_BASE_REF")
    base = revision
    if not base and target:
        base = f"origin/{target}"
    elif not base:
        base = next(filter(_is_commit, names), None)
    if base is None:
        raise GitError(
            f"no base of this branch found (looked for {', '.join(names)}); fetch it, or name a revision, such as HEAD"
        )
    commit = _find_base(base, is_shallow=is_shallow)
    tree, trouble = ("-C", str(root)), f"git cannot compare the work tree with {base}"
    how = ("diff", "--name-status", "-z", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-relative")
    silenced = silence_filters(root)
    changed = _require_git(trouble, *tree, *how, "--ignore-submodules", commit, "--", settings=silenced)
    new = _require_git(trouble, *tree, "ls-files", "--others", "--exclude-standard", "-z")
    files: list[tuple[str | None, str | None]] = [(None, os.fsdecode(name)) for name in new.split(b"\0")[:-1]]
    parts = iter(changed.split(b"\0")[:-1])
    for kind in parts:
        old = os.fsdecode(next(parts))
        other = os.fsdecode(next(parts)) if kind[:1] in b"RC" else old
        before = None if kind[:1] in b"AC" else old
        after = None if kind[:1] == b"D" else other
        files.append((before, after))
    return Branch(base, commit, root, tuple(sorted(files, key=lambda pair: pair[1] or pair[0] or "")))


def _find_base(revision: str, *, is_shallow: bool) -> str:
    """Return the commit at which HEAD left `revision`."""
    code, answer, fault = run_git("merge-base", "--", revision, "HEAD")
    if not code:
        return answer.decode("ascii").strip()
    deepen = "; this clone is shallow: fetch all of it (`git fetch --unshallow`, in GitHub Actions `fetch-depth: 0`)"
    hint = deepen if is_shallow else ""
    if _is_commit(revision):
        if not _is_commit("HEAD"):
            raise GitError("this repository has no commits yet, so there is nothing to compare with")
        if code == 1:
            raise GitError(f"{revision} and HEAD have no commit in common" + (hint or "; name another revision"))
        raise GitError(f"git cannot compare HEAD with {revision}: {format_git_error(fault)}{hint}")
    if not _is_commit("HEAD"):
        raise GitError("this repository has no commits yet, so there is nothing to compare with")
    if _is_commit(f"origin/{revision}"):
        raise GitError(f"{revision} is not a commit that git knows here; did you mean origin/{revision}?")
    raise GitError(f"{revision} is not a commit that git knows here" + (hint or "; fetch it first, or name another"))


def _is_commit(revision: str) -> bool:
    return not run_git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")[0]


_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_RAW = re.compile(rb":\d+ \d+ \w+ \w+ ([A-Z])\d*\t(?:[^\t]*\t)?([^\t]+)$")


def _read_diff(diff: bytes) -> dict[str, ChangedLines | None]:
    """Return the changed lines of each file."""
    files: dict[str, ChangedLines | None] = {}
    lines = iter(diff.split(b"\n"))
    name = ""
    for line in lines:
        raw, hunk = _RAW.match(line), _HUNK.match(line)
        if raw:
            kind, path = raw.groups()
            # A new file may be empty; an unmerged file, or a former link, has no lines to compare.
            files[_unquote(path)] = UNCHANGED if kind in b"MR" else None
        elif line.startswith(b"+++ "):
            name = _unquote(line[4:].removesuffix(b"\t"))[2:]
        elif hunk:
            removed, first, added = (1 if number is None else int(number) for number in hunk.groups())
            _skip_hunk(lines, removed + added)
            known = files.get(name, UNCHANGED)
            if known is not None and added:
                known = ChangedLines((*known.added, (first, first + added - 1)), known.cuts)
            elif known is not None:  # the number is that of the line above the removed ones
                known = ChangedLines(known.added, (*known.cuts, first))
            files[name] = known
    return files


def _skip_hunk(lines: Iterator[bytes], count: int) -> None:
    """Skip the lines of a hunk, which may look like heads; remarks of Git about the end of a file are not counted."""
    while count:
        count -= not next(lines).startswith(b"\\")


def _unquote(name: bytes) -> str:
    """Return a path without the quotes and escapes that Git may have added."""
    if name.startswith(b'"'):
        name = name[1:-1].decode("unicode_escape").encode("latin-1")  # its escapes are those of C
    return os.fsdecode(name)


class ChangedLinesFilter:
    """Keeps the findings whose place, related place or value has a changed line.

    A gap between bands is reported at the key above them, whichever band was changed; so the whole value at the pointer
    of the finding counts, and for removed lines those next to them.
    """

    counted_as = "untouched"
    skipped_as = "unchanged_files"

    def __init__(self, changes: WorkTreeChanges) -> None:
        self._changes = changes
        self._folders = RealFolders()

    def needs_file(self, name: str) -> bool:
        """Return whether anything in the file has changed."""
        return self._lines(name) != UNCHANGED

    def filter(self, result: Result, settings: FileSettings) -> Result:  # noqa: ARG002 (the interface of a filter)
        """Return the result without the findings in unchanged lines."""
        if not result.findings:
            return result
        lines = self._lines(result.source.name)
        # Git ends lines at the bytes of line feeds, which in UTF-16 and UTF-32 may be something else.
        if lines is None or result.source.encoding != "utf-8":
            return result
        touch = _ChangedText(result.source, lines)
        return result._replace(findings=tuple(filter(touch.concerns, result.findings)))

    def _lines(self, name: str) -> ChangedLines | None:
        return self._changes.of(Path(self._folders.resolve(name)))


class _ChangedText:
    """The changed lines of one text, to compare findings with."""

    def __init__(self, source: Source, lines: ChangedLines) -> None:
        self._source = source
        self._added, self._cuts = lines.added, lines.cuts
        self._last_added = [last for _, last in lines.added]
        self._ends = [at for at, character in enumerate(source.text) if character == "\n"]

    def concerns(self, finding: Finding) -> bool:
        spans = [finding.span, *(place.span for place in finding.related if place.source is None)]
        return any(map(self._is_touched, spans)) or any(map(self._is_touched, self._extents(finding)))

    def _is_touched(self, span: Span) -> bool:
        first = bisect_left(self._ends, span.start) + 1
        last = bisect_left(self._ends, max(span.start, span.end - 1)) + 1
        # The first run of lines, and the first cut, that are not completely above.
        run, cut = bisect_left(self._last_added, first), bisect_left(self._cuts, first - 1)
        is_added = run < len(self._added) and self._added[run][0] <= last
        is_cut = cut < len(self._cuts) and self._cuts[cut] <= last
        return is_added or is_cut

    def _extents(self, finding: Finding) -> Iterator[Span]:
        """Yield the spans of the value of a finding: where it is written, and where an alias refers to it."""
        steps = list(split_pointer(finding.pointer))
        document = self._documents.get("")
        if document is None and steps:
            document = self._documents.get(steps.pop(0))
        if document is None:
            return
        path = follow(document.data, steps)  # if the field is missing, that of the value that lacks it
        if path:
            yield document.extent(path)
        yield document.span(path)

    @cached_property
    def _documents(self) -> dict[str, Document]:
        """The documents by their step in a pointer, which is empty for a single document."""
        documents = read_documents(self._source)[0]
        return {"" if document.number is None else str(document.number): document for document in documents}

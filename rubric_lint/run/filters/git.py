"""Run git in an untrusted repository: git starts no program that the repository's settings name."""

# Paths are str, see project/settings.py.
# ruff: noqa: PTH113, PTH118

import os
import subprocess
import sys
from functools import cache


class GitError(Exception):
    """The reason why Git cannot answer, and what to do."""


# Disable settings with which a repository could have git start programs. Set the format of answers too: quoted paths
# cannot break lines.
_SETTINGS = (
    *("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.sshCommand=false"),
    *("core.untrackedCache=false", "core.quotePath=true"),
)
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",  # no locks, because others may commit meanwhile
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would otherwise fetch missing objects, with any program
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
_REMOVED = ("GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_TRACE2_EVENT", "GIT_TRACE")


def ask(*arguments: str, given: bytes = b"", settings: tuple[str, ...] = ()) -> tuple[int, bytes, bytes]:
    """Return the exit code, standard output and standard error of a git command; `given` is its stdin.

    Raises:
        GitError: if git cannot be run.
    """
    options = [part for setting in (*_SETTINGS, *settings) for part in ("-c", setting)]
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


@cache
def _find_git() -> str:
    """Return the git program in PATH; never one in the current folder, where Windows would look first."""
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in filter(os.path.isabs, os.get_exec_path()):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise GitError("it needs the program git, which is not in any folder of PATH")


def silence_filters(folder: str) -> tuple[str, ...]:
    """Return settings under which git starts no filters that the repository around `folder` defines.

    Filters that the user or the system defines, such as Git LFS, keep working.

    Raises:
        GitError: if git cannot list its settings, or a filter's name cannot be written on a command line.
    """
    code, listed, fault = ask("-C", folder, "config", "--list", "--name-only", "--show-scope", "-z")
    if code:
        raise GitError(f"git cannot list its settings by their scope (it can from version 2.26 on): {tell(fault)}")
    parts = [os.fsdecode(part) for part in listed.split(b"\0")]
    scoped = zip(parts[::2], parts[1::2], strict=False)
    keys = [key for scope, key in scoped if scope not in _TRUSTED and key.startswith("filter.")]
    names = sorted({key.removeprefix("filter.").rpartition(".")[0] for key in keys})
    if odd := [name for name in names if "=" in name or "\n" in name]:
        raise GitError(f"the settings of this repository define the filter {odd[0]!r}, which cannot be switched off")
    # A filter without a command does nothing, if it is not required.
    return tuple(f"filter.{name}.{rest}" for name in names for rest in ("clean=", "smudge=", "process=", "required=0"))


_TRUSTED = ("system", "global", "command")


def tell(fault: bytes) -> str:
    """Return the messages of git on one line."""
    lines = fault.decode("utf-8", "replace").strip().splitlines()
    return "; ".join(line.strip().removeprefix("fatal: ") for line in lines if line.strip()) or "nothing"

"""Load one file argument: from disk, from stdin or from a Git revision."""

import re
from typing import NamedTuple

from rubric_lint.lint.project.files import File, Unreadable, read, read_stdin
from rubric_lint.lint.project.opening import LIMIT, STDIN
from rubric_lint.lint.project.paths import is_there
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.lint.run.git import GitError, format_git_error, run_git
from rubric_lint.model.messages import UserError


class FileArgument(NamedTuple):
    """A file argument: its name in messages, the path that selects its format and settings, and its bytes."""

    label: str
    path: str
    data: bytes


class UnusableFileError(UserError):
    """A file argument that cannot be used."""


def load_argument(text: str, stdin_name: str | None = None) -> FileArgument:
    """Read the file at a path, stdin for `-`, or a file in a Git revision for REV:PATH.

    Raises:
        UnusableFileError: when it cannot be read.
    """
    data: bytes | Unreadable
    if text == STDIN:
        text = path = stdin_name or "<stdin>"
        data = read_stdin(text)
    elif ":" in text and not is_there(text):
        path, data = _find_path(text), _git("cat-file", "blob", text)
        root = "" if path.startswith(("./", "../")) else _git("rev-parse", "--show-cdup").decode().strip()
        path = root + path
    else:
        data, path = read(File(text, FileSettings(claimed=True))), text
    if isinstance(data, Unreadable):
        raise UnusableFileError(f"{data.path}: {data.reason}")
    if len(data) > LIMIT:
        raise UnusableFileError(f"{text}: is larger than the limit of {LIMIT / 1e6:.0f} MB; split it")
    return FileArgument(text, path, data)


def _find_path(text: str) -> str:
    """Return the path in REV:PATH, where Git finds it: after the first colon outside braces, or after a stage."""
    stage = re.match(r":[0-3]:", text)
    if stage:
        return text[stage.end() :]
    depth = 0
    for at, character in enumerate(text):
        depth = max(depth + {"{": 1, "}": -1}.get(character, 0), 0)
        if character == ":" and not depth:
            return text[at + 1 :]
    raise UnusableFileError(f"{text}: no such file, and no path after a Git revision; write REV:PATH")


def _git(*arguments: str) -> bytes:
    try:
        code, answer, fault = run_git(*arguments)
    except GitError:
        raise UnusableFileError(
            f"{arguments[-1]}: no such file, and Git is not installed, so it cannot be a revision"
        ) from None
    if code:
        raise UnusableFileError(
            f"{arguments[-1]}: no such file, and not a file in a Git revision: {format_git_error(fault)}"
        )
    return answer

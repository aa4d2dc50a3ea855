"""Name files by their path from the root of the repository, with `/`, as systems outside this machine do."""

import os
from functools import cache
from unicodedata import normalize

_SET_BY_CI = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""The variables in which CI systems give the folder of the repository."""


def repository_path(name: str) -> str:
    """Return the path of a file from the root of the repository; a file outside keeps its absolute path.

    The result is the same on every machine: with `/` between folders, and in one Unicode form (macOS uses another).
    """
    path = os.path.abspath(name)  # noqa: PTH100 (a Path would not take `..` away)
    root = find_root()
    inside = _strip(path, root) or _strip(os.path.realpath(path), os.path.realpath(root))
    return normalize("NFC", (inside or path).replace(os.sep, "/"))


def find_root(folder: str | None = None) -> str:
    """Return the root of the repository around a folder (by default the current one), or else the folder itself."""
    return _find_root(folder or os.getcwd())  # noqa: PTH109 (as above: text in, text out)


def _strip(path: str, root: str) -> str:
    root = root.rstrip(os.sep) + os.sep
    return path[len(root) :] if path.startswith(root) else ""


@cache
def _find_root(folder: str) -> str:
    above = folder
    while True:
        if os.path.exists(os.path.join(above, ".git")):  # noqa: PTH110, PTH118 (a file in worktrees and submodules)
            return above
        parent = os.path.dirname(above)  # noqa: PTH120
        if parent == above:
            break
        above = parent
    for name in _SET_BY_CI:
        root = os.environ.get(name)
        if root and _strip(folder + os.sep, root):
            return root
    return folder

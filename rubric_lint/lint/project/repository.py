"""Name files by their path from the root of the repository, with `/`, as systems outside this machine do."""

import os
from functools import cache
from pathlib import Path
from unicodedata import normalize

from rubric_lint.lint.project.paths import exists, follow_links, make_absolute

_SET_BY_CI = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""The variables in which CI systems give the folder of the repository."""


def repository_path(name: str) -> str:
    """Return the path of a file from the root of the repository; a file outside keeps its absolute path.

    The result is the same on every machine: with `/` between folders, and in one Unicode form (macOS uses another).
    """
    path, root = make_absolute(name), find_root()
    if root not in path.parents and follow_links(root) in follow_links(path).parents:
        path, root = follow_links(path), follow_links(root)
    if root in path.parents:
        path = path.relative_to(root)
    return normalize("NFC", path.as_posix())


def find_root(folder: Path | None = None) -> Path:
    """Return the root of the repository around a folder (by default the current one), or else the folder itself."""
    return _find_root(folder or Path.cwd())


@cache
def _find_root(folder: Path) -> Path:
    for above in (folder, *folder.parents):
        if exists(above / ".git"):  # a file in worktrees and submodules
            return above
    for name in _SET_BY_CI:
        root = os.environ.get(name)
        if root and folder.is_relative_to(root):
            return Path(root)
    return folder

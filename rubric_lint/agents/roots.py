"""Keep the tools inside the folders that the user allowed, and read the files and texts that a call names."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rubric_lint.lint.project.files import File, Skipped, Unreadable
from rubric_lint.lint.project.opening import STDIN
from rubric_lint.lint.project.paths import follow_links
from rubric_lint.lint.project.settings import SettingsFinder
from rubric_lint.lint.project.suites import find
from rubric_lint.model.messages import join_words, visible

CRASHED = "rubric-lint crashed, which is a bug, please report it"
"""What is said of a call, or of a file in it, that made a tool crash."""


class ToolAnswer(NamedTuple):
    """The answer of a tool: a text for the agent, and the JSON report of the command that does the same."""

    text: str
    data: dict[str, Any]


class ToolError(Exception):
    """A call that cannot be answered; the message tells the agent why, and what to do."""


class Roots:
    """The allowed folders. Relative paths start at the current folder, which is the first of them."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = list(dict.fromkeys(map(follow_links, folders)))

    def require(self, path: str) -> str:
        """Return a path that is in an allowed folder, with its links resolved.

        Raises:
            ToolError: when it is elsewhere, or cannot be a path.
        """
        if not path:
            raise ToolError("a path is empty; name a file or a folder")
        if path == STDIN:
            raise ToolError(f"`{STDIN}` means stdin, which carries the protocol here; give the text as an argument")
        if "\0" in path:
            raise ToolError("a path contains a null character")
        if not self.contains(path):
            allowed = join_words([str(folder) for folder in self._folders], "or")
            where = f"{visible(path)}: is outside {allowed}"
            raise ToolError(f"{where}; start the server with --root to allow another folder")
        return path

    def contains(self, path: str) -> bool:
        """Return whether a path is in an allowed folder, with its links resolved."""
        real = follow_links(path)
        return any(real.is_relative_to(folder) for folder in self._folders)

    def find(
        self, paths: Iterable[str], finder: SettingsFinder, skipped: Skipped | None = None
    ) -> Iterator[File | Unreadable]:
        """Find files as the commands do; what a link or a suite leads to must be in an allowed folder."""
        for file in find(paths, finder, skipped):
            if isinstance(file, File) and not self.contains(file.name):
                yield Unreadable(file.name, "is outside the allowed folders; not read")
            else:
                yield file

"""The fenced blocks of a page, and a clone of this checkout."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import commands

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<marks>`{3,})(?P<kind>\w*)(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=indent)(?P=marks)$",
    re.MULTILINE | re.DOTALL,
)
_TITLE = re.compile(r'title="([^"]+)"')


class Block(NamedTuple):
    """A fenced block: its language, the `title` it has, its text without the indentation, and its line in the page."""

    kind: str
    title: str | None
    text: str
    line: int


def read_blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page that are not inside another one."""
    blocks = []
    for found in _FENCE.finditer(page):
        indent = found["indent"]
        text = "".join(line.removeprefix(indent) for line in found["body"].splitlines(keepends=True))
        title = _TITLE.search(found["info"])
        blocks.append(Block(found["kind"], title and title[1], text, page.count("\n", 0, found.start()) + 1))
    return blocks


def clone(folder: Path) -> None:
    """Write the files of this checkout that Git knows or would add, as a repository with one commit, into a folder."""
    listed = commands.run_git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (source := ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name)  # with its mode: some are programs
    commands.commit_all(folder)

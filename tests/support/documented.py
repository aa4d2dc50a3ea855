"""The commands that a page shows, with the output that it shows for each."""

import os
import re
import shutil
import subprocess
import sys
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import NamedTuple

import commands

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<marks>`{3,})(?P<kind>\w*)(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=indent)(?P=marks)$",
    re.MULTILINE | re.DOTALL,
)
_TITLE = re.compile(r'title="([^"]+)"')
_DOTS = re.compile(r"^\.\.\.\n", re.MULTILINE)
_MARK = "\x1e"


class Block(NamedTuple):
    """A fenced block: its language, the `title` it has, its text without the indentation, and its line in the page."""

    kind: str
    title: str | None
    text: str
    line: int


class Command(NamedTuple):
    """A command, the lines that the page shows below it, and its line in the page."""

    text: str
    output: str
    line: int


class Ran(NamedTuple):
    """What a command really wrote, on stdout and stderr, and its exit code."""

    output: str
    code: int


def read_blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page that are not inside another one."""
    blocks = []
    for found in _FENCE.finditer(page):
        indent = found["indent"]
        text = "".join(line.removeprefix(indent) for line in found["body"].splitlines(keepends=True))
        title = _TITLE.search(found["info"])
        blocks.append(Block(found["kind"], title and title[1], text, page.count("\n", 0, found.start()) + 1))
    return blocks


def read_commands(block: Block) -> list[Command]:
    """Return the commands of a `console` block; a backslash at the end continues a command on the next line."""
    commands: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), start=block.line + 1):
        last = commands[-1] if commands else None
        if line.startswith("$ "):
            commands.append(Command(line[2:], "", number))
        elif last is None:
            raise ValueError(f"line {number}: output before the first command: {line!r}")
        elif last.text.endswith("\\") and not last.output:
            commands[-1] = last._replace(text=f"{last.text}\n{line}")
        else:
            commands[-1] = last._replace(output=f"{last.output}{line}\n")
    return commands


def agrees(shown: str, written: str) -> bool:
    """Return whether the output is the one shown, where a line `...` stands for any number of lines."""
    pieces = [re.escape(piece) for piece in _DOTS.split(shown)]
    return (
        re.fullmatch(r"(?:.*\n)*?".join(pieces), written.rstrip("\n") + "\n" * bool(written.rstrip("\n"))) is not None
    )


def shorten_alike(shown: str, written: str) -> str:
    """Return what a command wrote, with a line `...` where the page leaves lines out now.

    The first and the last piece stay at the ends; one between dots is where the output is most like it.
    """
    pieces = [piece.splitlines(keepends=True) for piece in _DOTS.split(shown)]
    lines = written.splitlines(keepends=True)
    kept = []
    begin = 0
    for number, piece in enumerate(pieces):
        last = len(lines) - len(piece)
        if last < begin:
            return written  # there is nothing to leave out any more
        if number == len(pieces) - 1:
            begin = last
        elif number:
            begin = max(range(begin, last + 1), key=partial(_likeness, piece, lines))
        kept.append("".join(lines[begin : begin + len(piece)]))
        begin += len(piece)
    return "...\n".join(kept)


def _likeness(piece: list[str], lines: list[str], begin: int) -> float:
    return SequenceMatcher(None, "".join(piece), "".join(lines[begin : begin + len(piece)])).ratio()


def renew_page(page: str, runs: list[tuple[Command, Ran]]) -> str:
    """Return the page with what its commands wrote where it shows something else."""
    lines = page.splitlines(keepends=True)
    for command, ran in reversed(runs):
        if agrees(command.output, ran.output):
            continue
        output = ran.output.rstrip("\n")
        if _DOTS.search(command.output):
            output = shorten_alike(command.output, ran.output).rstrip("\n")
        first = lines[command.line - 1]
        indent = first[: len(first) - len(first.lstrip())]
        begin = command.line + command.text.count("\n")
        new = [f"{indent}{line}\n" if line else "\n" for line in output.splitlines()]
        lines[begin : begin + command.output.count("\n")] = new
    return "".join(lines)


def clone(folder: Path) -> None:
    """Write the files of this checkout that Git knows or would add, as a repository with one commit, into a folder."""
    listed = commands.run_git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (source := ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / name)
    commands.commit_all(folder)


def run_page(page: str, folder: Path, environment: dict[str, str]) -> list[tuple[Command, Ran]]:
    """Run the commands of a page in one shell, in a folder, and write its titled blocks where they come.

    A file that a block titles is written before the commands below the block run, as a reader would.
    """
    commands: list[Command] = []
    script = ["exec 2>&1"]
    for block in read_blocks(page):
        if block.title:
            script.append(
                f"mkdir -p \"$(dirname '{block.title}')\" && cat > '{block.title}' <<'{_MARK}'\n{block.text}{_MARK}"
            )
        elif block.kind == "console":
            for command in read_commands(block):
                commands.append(command)
                script.append(f"{command.text}\ncode=$?; printf '{_MARK}%d{_MARK}' $code; (exit $code)")
    done = subprocess.run(
        ["bash"], input="\n".join(script).encode(), cwd=folder, env=environment, capture_output=True, check=False
    )
    parts = done.stdout.decode().split(_MARK)
    runs = [Ran(written, int(code)) for written, code in zip(parts[::2], parts[1::2], strict=False)]
    return list(zip(commands, runs, strict=True))


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a new user: the programs of this checkout, an empty home, Git's usual settings."""
    kept = {name: value for name, value in os.environ.items() if name in {"TERM", "TZ", "LC_ALL"}}
    return {
        **kept,
        "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
        "HOME": str(home),
        "RUBRIC_LINT_CACHE_DIR": str(home / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
    }

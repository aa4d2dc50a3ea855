"""Each command that the README and the site show is run in a fresh clone, and writes what the page shows.

`make renew` writes what the commands say into the pages; read the diff.
"""

import os
import re
import shutil
import subprocess
import sys
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from documented import ROOT, Block, clone, read_blocks

pytestmark = pytest.mark.repository

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")])

# What a line of a `sh` block may begin with, and why no test runs it here.
NOT_RUN_HERE = {
    "code": "opens VS Code",
    "docker": "needs a Docker daemon",
    "eval": "changes the reader's shell",
    "git": "clones over the network",
    "make": "CI runs the README's commands word for word",
    "npm": "installs from a registry",
    "pip": "installs from an index; test_packaging installs the wheel",
    "pipx": "installs from an index",
    "prek": "installs hooks; test_hooks runs them",
    "pre-commit": "installs hooks; test_hooks runs them",
    "rubric-lint": "stays (a server or --watch) or asks an endpoint, which other tests start",
    "claude": "configures another program",
    "codex": "configures another program",
    "uv": "installs from an index",
    "uvx": "installs from an index",
}
STAYING = (
    "rubric-lint assess",
    "rubric-lint improve",
    "rubric-lint improve",
    "rubric-lint lsp",
    "rubric-lint mcp",
    "rubric-lint --watch",
    "rubric-lint judge",
    "rubric-lint test --record",
    "rubric-lint test --watch",
)


_DOTS = re.compile(r"^\.\.\.\n", re.MULTILINE)
_MARK = "\x1e"


class Command(NamedTuple):
    """A command, the lines that the page shows below it, and its line in the page."""

    text: str
    output: str
    line: int


class Ran(NamedTuple):
    """What a command really wrote, on stdout and stderr, and its exit code."""

    output: str
    code: int


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
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(home),
        "RUBRIC_LINT_CACHE_DIR": str(home / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
    }


@pytest.fixture(scope="session")
def fresh_clone(tmp_path_factory):
    if not (ROOT / ".git").exists():
        pytest.skip("a fresh clone needs the Git repository, which the sdist is without")
    folder = tmp_path_factory.mktemp("clone")
    clone(folder)
    return folder


def check_page(page, fresh_clone, tmp_path, renews):
    folder = tmp_path / "rubric-lint"
    shutil.copytree(fresh_clone, folder)
    text = (ROOT / page).read_text("utf-8")
    runs = run_page(text, folder, environment(tmp_path))
    if renews:
        (ROOT / page).write_text(renew_page(text, runs), "utf-8")
    for command, ran in runs:
        where = f"{page}:{command.line}: $ {command.text}"
        if not renews:
            assert agrees(command.output, ran.output), f"{where}\nshown:\n{command.output}\nwritten:\n{ran.output}"
        assert ran.code in {0, 1} or ran.output, f"{where}\nexit code {ran.code}, and the page does not say why"
        assert "Traceback" not in ran.output, where


def test_the_commands_of_the_readme_write_what_it_shows(fresh_clone, tmp_path, renews):
    check_page("README.md", fresh_clone, tmp_path, renews)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md"])
def test_the_commands_of_a_page_write_what_it_shows(page, fresh_clone, tmp_path, renews):
    check_page(page, fresh_clone, tmp_path, renews)


@pytest.mark.parametrize("page", PAGES)
def test_each_command_that_is_not_run_here_says_why_by_its_program(page):
    for block in read_blocks((ROOT / page).read_text("utf-8")):
        assert block.kind not in {"bash", "shell"}, f"{page}:{block.line}: write `console` or `sh`"
        if block.kind != "sh":
            continue
        for line in filter(None, block.text.splitlines()):
            program = line.split()[0]
            assert program in NOT_RUN_HERE, (
                f"{page}:{block.line}: {line}: write it in a `console` block, with its output"
            )
            if program.startswith("rubric-"):
                assert line.startswith(STAYING), f"{page}:{block.line}: {line}: this can be run; use a `console` block"


def test_a_block_gives_its_commands_with_their_output():
    page = "1. Do it:\n\n   ```console\n   $ a \\\n     --b\n   one\n\n   two\n   $ c\n   ```\n"
    (block,) = read_blocks(page)
    assert Block("console", None, "$ a \\\n  --b\none\n\ntwo\n$ c\n", 3) == block
    assert [("a \\\n  --b", "one\n\ntwo\n", 4), ("c", "", 9)] == read_commands(block)


@pytest.mark.parametrize(
    ("shown", "written", "is_same"),
    [
        ("", "", True),
        ("", "x\n", False),
        ("x\n", "x\n", True),
        ("x\n", "x\n\n", True),
        ("x\n", "y\n", False),
        ("...\n", "", True),
        ("...\n", "x\ny\n", True),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("a\n...\nd\n", "a\nb\n", False),
        ("a\n...\n", "b\na\n", False),
    ],
)
def test_dots_on_a_line_of_their_own_stand_for_any_lines(shown, written, is_same):
    assert agrees(shown, written) is is_same


@pytest.mark.parametrize(
    ("shown", "written", "renewed"),
    [
        ("old\n", "new\n", "new\n"),
        ("old\n", "", ""),
        ("one\n...\nold end\n", "one\ntwo\nnew end\n", "one\n...\nnew end\n"),
        ("...\nold, it fits\n...\n", "a\nnew, it fits\nb\n", "...\nnew, it fits\n...\n"),
        ("one\n...\ntwo\n", "new\n", "new\n"),
        ("...\n", "new\n", "...\n"),
        ("old and ...\n", "new\nand more\n", "new\nand more\n"),
    ],
)
@pytest.mark.parametrize("indent", ["", "   "])
def test_an_output_is_renewed_and_keeps_its_dots_and_its_indentation(indent, shown, written, renewed):
    page = "Do:\n\n{0}```console\n{0}$ a \\\n{0}  --b\n{1}{0}$ c\n{0}d\n{0}```\n"
    before, after = (
        page.format(indent, "".join(indent + line for line in text.splitlines(keepends=True)))
        for text in (shown, renewed)
    )
    runs = [
        (Command("a \\\n  --b", shown, 4), Ran(written, 0)),
        (Command("c", "d\n", 6 + shown.count("\n")), Ran("d\n", 0)),
    ]
    assert renew_page(before, runs) == after


def test_a_page_runs_in_one_shell_and_writes_its_files(tmp_path):
    page = (
        '```yaml title="sub/a.yaml"\nx: 1\n```\n\n```console\n$ cat sub/a.yaml\nx: 1\n$ cd sub\n$ ls\na.yaml\n'
        "$ (exit 3)\n$ echo $? >&2\n```\n"
    )
    runs = [ran for _, ran in run_page(page, tmp_path, environment(tmp_path))]
    assert [("x: 1\n", 0), ("", 0), ("a.yaml\n", 0), ("", 3), ("3\n", 0)] == runs

"""Each command that the README and the site show is run in a fresh clone, and writes what the page shows.

`make renew` writes what the commands say into the pages; read the diff.
"""

import shutil
from pathlib import Path

import pytest
from documented import (
    Block,
    Command,
    Ran,
    agrees,
    clone,
    environment,
    read_blocks,
    read_commands,
    renew_page,
    run_page,
)

pytestmark = pytest.mark.repository

ROOT = Path(__file__).parents[2]
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

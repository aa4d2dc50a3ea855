"""The configuration for Neovim that docs/editors.md shows, in Neovim: findings, fixes, hover, saving, completion."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import edited
import pytest
from node import ROOT, install_locked, node

from rubric_lint.model.schema import schema_for

pytestmark = pytest.mark.slow

BIN = Path(sys.executable).parent
SNIPPETS = dict(
    re.findall(r"<!-- (neovim[^>]*) -->\n```lua\n(.*?)```", (ROOT / "docs/editors.md").read_text("utf-8"), re.DOTALL)
)
SUITE = """\
tests:
  - id: first
    rubrics:
      - id: accuracy
        description: Names the source 😀
        weight: 2   # twice
      - id: again
        description: 'Names the date'
      - id: accuracy
        expected_outcome: Names the author
"""


def run(tmp_path, name, text, *snippets, servers, expected, **variables):
    """What neovim.lua reports of a file that Neovim opens with snippets of the page as its configuration."""
    neovim = shutil.which("nvim", path=str(BIN))
    if not neovim:
        pytest.skip("Neovim is not installed")
    folder = tmp_path / "my project"
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    (folder / "rubric-lint.toml").touch()
    (folder / ".git").mkdir(exist_ok=True)
    configuration = tmp_path / "init.lua"
    configuration.write_text("\n".join(SNIPPETS[snippet] for snippet in snippets), "utf-8")
    programs = tmp_path / "bin"
    programs.mkdir(exist_ok=True)
    server = install_locked() / "yaml-language-server-2/bin/yaml-language-server"
    script = programs / "yaml-language-server"
    script.write_text(f'#!/bin/sh\nexec "{node()}" "{server}" "$@"\n', "utf-8")
    script.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(programs), str(BIN), os.environ["PATH"]]),
        "XDG_STATE_HOME": str(tmp_path),
        "NVIM_FILE": str(file),
        "NVIM_RESULT": str(tmp_path / "result.json"),
        "NVIM_SERVERS": " ".join(servers),
        "NVIM_EXPECTED": str(expected),
        **variables,
    }
    command = [neovim, "--headless", "--clean", "-n", "-c", f"luafile {configuration}"]
    command += ["-c", f"luafile {Path(__file__).with_name('neovim.lua')}"]
    quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": 120}
    done = subprocess.run(command, check=False, env=environment, cwd=folder, **quiet)
    result = tmp_path / "result.json"
    assert result.exists(), done.stderr.decode()
    report = json.loads(result.read_text("utf-8"))
    assert "fault" not in report, (report, done.stderr.decode())
    assert sorted(servers) == sorted(report["servers"])
    return report, file


def test_the_page_has_its_snippets():
    assert set(SNIPPETS) == {"neovim", "neovim with yaml", "neovim on saving"}


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_findings_a_fix_hover_and_saving(tmp_path, ending):
    text = SUITE.replace("\n", ending)
    report, file = run(tmp_path, "evals/my suite.yaml", text, "neovim", servers=["rubric_lint"], expected=3)
    found = [(line, column, code) for line, column, _, code, _ in sorted(report["diagnostics"])]
    assert [(5, 9, "deprecated-description"), (8, 9, "deprecated-description"), (9, 13, "duplicate-id")] == found
    assert {"rubric-lint"} == {source for _, _, source, _, _ in report["diagnostics"]}
    assert "expected_outcome" in report["hover"]
    fixed = text.replace("description: Names the source", "expected_outcome: Names the source")
    assert fixed.encode() == file.read_bytes()


def test_all_that_is_safe_is_fixed_on_saving(tmp_path):
    _, file = run(tmp_path, "suite.yaml", SUITE, "neovim", "neovim on saving", servers=["rubric_lint"], expected=3)
    assert SUITE.replace("description:", "expected_outcome:").encode() == file.read_bytes()


def test_the_language_server_of_yaml_completes(tmp_path):
    text = "rubrics:\n  - id: a\n    expected_outcome: It\n    weight: x\n  - id: a\n    \n"
    report, _ = run(
        tmp_path,
        "my.rubric.yaml",
        text,
        "neovim",
        "neovim with yaml",
        servers=["rubric_lint", "yamlls"],
        expected=3,
        NVIM_YAML="1",
    )
    found = sorted((line, source, code) for line, _, source, code, _ in report["diagnostics"])
    assert [(4, "rubric-lint", "schema"), (5, "rubric-lint", "duplicate-id"), (5, "rubric-lint", "schema")] == found
    assert schema_for().entry_fields["weight"]["description"] in report["hover"]
    assert {"expected_outcome", "score_ranges"} <= set(report["offered"])
    assert [] == report["offered_by_us"]


def test_hints_and_lenses_are_those_that_the_page_describes(tmp_path):
    band = "  - {{score_range: {}, expected_outcome: {}}}\n"
    text = "rubrics:\n" + band.format([0, 5], "Wrong 😀") + band.format([6, 10], "Right")
    report, _ = run(tmp_path, "a.rubric.yaml", text, "neovim", servers=["rubric_lint"], expected=0, NVIM_LENSES="yes")
    assert report["hints"] == [[2, "fail"], [3, "scores 6 and 7 are borderline, 8 to 10 pass"]]
    assert report["lens"] == "Show prompt"
    assert report["report"].startswith("$ rubric-score prompt a.rubric.yaml --answer '(the answer)'\n\n")
    assert "Wrong 😀" in report["report"]


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_findings_a_fix_and_a_rename_in_two_files(tmp_path, ending):
    folder = tmp_path / "my project"
    edited.write(folder, ending)
    report, _ = run(
        tmp_path,
        edited.NAME,
        edited.RUBRIC.replace("\n", ending),
        "neovim",
        servers=["rubric_lint"],
        expected=len(edited.FINDINGS),
        NVIM_RENAME="period",
    )
    found = [(line, column, code) for line, column, _, code, _ in sorted(report["diagnostics"])]
    assert found == [(line, len(text_before(line, column)) + 1, code) for line, column, code in edited.FINDINGS]
    assert edited.read(folder) == edited.expected(ending)


def text_before(line, column):
    """What is before a place, in the bytes that Neovim counts."""
    return edited.RUBRIC.splitlines()[line - 1][: column - 1].encode()

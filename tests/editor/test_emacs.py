"""The configuration for Emacs that docs/editors.md shows, in Emacs: findings, a fix, a rename in two files, saving."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import edited
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
SNIPPETS = dict(
    re.findall(r"<!-- (emacs[^>]*) -->\n```elisp\n(.*?)```", (ROOT / "docs/editors.md").read_text("utf-8"), re.DOTALL)
)


def run(tmp_path, ending, *snippets, **variables):
    """What emacs.el reports of the files of `edited`, with snippets of the page as the configuration."""
    emacs = shutil.which("emacs")
    if not emacs:
        pytest.skip("Emacs is not installed (Debian: emacs-nox, elpa-eglot and elpa-yaml-mode)")
    folder = tmp_path / "my project"
    edited.write(folder, ending)
    configuration = tmp_path / "init.el"
    configuration.write_text("\n".join(SNIPPETS[snippet] for snippet in snippets), "utf-8")
    result = tmp_path / "result.json"
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
        "EMACS_FILE": str(folder / edited.NAME),
        "EMACS_RESULT": str(result),
        "EMACS_EXPECTED": str(len(edited.FINDINGS)),
        **variables,
    }
    command = [emacs, "--batch", "--eval", "(package-initialize)", "--load", configuration]
    command += ["--load", Path(__file__).with_name("emacs.el")]
    quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": 120}
    done = subprocess.run(command, check=False, env=environment, cwd=folder, **quiet)
    assert result.exists(), done.stderr.decode()
    report = json.loads(result.read_text("utf-8"))
    assert "fault" not in report, (report, done.stderr.decode())
    return report, edited.read(folder)


def test_the_page_has_its_snippets():
    assert set(SNIPPETS) == {"emacs", "emacs on saving"}


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_findings_a_fix_and_a_rename_in_two_files(tmp_path, ending):
    report, files = run(tmp_path, ending, "emacs")
    found = [(line, column, re.search(r"\[(.+?)\]", text)[1]) for line, column, text in report["diagnostics"]]
    assert found == edited.FINDINGS
    assert report["offered"][0] == "Rename `description` to `expected_outcome`"
    assert files == edited.expected(ending)


def test_all_that_is_safe_is_fixed_on_saving(tmp_path):
    _, files = run(tmp_path, "\n", "emacs", "emacs on saving", EMACS_ONLY_SAVE="yes")
    assert files[edited.NAME] == edited.RUBRIC.replace("description:", "expected_outcome:")

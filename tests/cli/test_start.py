"""What a run loads: it is most of the time that a commit waits for a run whose results are at hand."""

import sys

import commands
import pytest

CLEAN = "rubrics:\n  - {id: a, expected_outcome: Cites two sources}\n"
FAULTY = "rubrics:\n  - expected_outcome: Cites two sources\n    wieght: 1\n"

# What click loads is its own affair, and not the same in all versions of Python.
PROGRAM = """
import atexit, sys, click
before = set(sys.modules)
atexit.register(lambda: print(*sorted(set(sys.modules) - before), file=sys.stderr))
from rubric_lint.cli.start import lint
lint()
"""

SLOW = {
    "_hashlib", "difflib", "email", "hashlib", "logging", "multiprocessing", "random", "shutil",
    "subprocess", "tempfile", "tomllib", "traceback",
}  # fmt: skip


def modules_of_run(folder, *arguments):
    command = [sys.executable, "-c", PROGRAM, *arguments]
    ran = commands.run_process(command, cwd=folder)
    assert ran.returncode in {0, 1}
    return set(ran.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize("text", [CLEAN, FAULTY])
@pytest.mark.parametrize("form", ["full", "concise"])
def test_a_run_whose_results_are_known_loads_no_library_and_nothing_slow(text, form, tmp_path):
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    first = modules_of_run(tmp_path, "--format", form, "a.yaml")
    again = modules_of_run(tmp_path, "--format", form, "a.yaml")
    assert "rubric_lint.lint.engine" in first - again
    assert {name.partition(".")[0] for name in again} - sys.stdlib_module_names == {"rubric_lint"}
    assert again & SLOW == set()


@pytest.mark.slow
def test_a_first_run_does_without_openssl(tmp_path):
    (tmp_path / "a.yaml").write_text(CLEAN, "utf-8")
    loaded = modules_of_run(tmp_path, "a.yaml")
    assert "rubric_lint.lint.run.cache" in loaded
    assert loaded & {"hashlib", "_hashlib"} == set()

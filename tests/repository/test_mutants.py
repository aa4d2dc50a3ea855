"""`make mutants`, on a package of one function."""

import sys
from pathlib import Path

import commands
import pytest

pytestmark = pytest.mark.slow  # each change is a run of Pytest

TOOL = Path(__file__).parents[2] / "tools/mutants.py"
MODULE = "rubric_lint/more.py"
FILES = {
    "pytest.ini": "[pytest]\n",
    MODULE: "def is_more(a, b):\n    return a > b\n\n\ndef is_unused(a):\n    return a\n",
    "rubric_lint/__init__.py": "",
    "test_more.py": "from rubric_lint.more import is_more\n\n\ndef test_more():\n    assert is_more(2, 1)\n",
    "test_fails.py": "def test_fails():\n    assert False\n",
    "test_none.py": "",
}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param([MODULE, "--tests", "test_more.py"], 1, id="one of three is noticed"),
        pytest.param([MODULE, "--tests", "test_more.py", "--most", "1", "--seed", "1"], 0, id="a sample"),
        pytest.param(["--tests", "test_more.py"], 1, id="what changed since the last commit but one"),
        pytest.param(["--base", "HEAD"], 0, id="nothing changed"),
        pytest.param(["--base", "nowhere"], 2, id="no such commit"),
        pytest.param(["rubric_lint/__init__.py", "--tests", "test_more.py"], 0, id="nothing to change"),
        pytest.param([MODULE, "--tests", "test_fails.py"], 2, id="the tests fail without a change"),
        pytest.param([MODULE, "--tests", "test_none.py"], 2, id="no tests"),
        pytest.param(["rubric_lint/none.py"], 2, id="no such module"),
    ],
)
def test_what_no_test_notices_is_named(folder, said, arguments, code):
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("" if name == MODULE else text, "utf-8")
    commands.commit_all()
    (folder / MODULE).write_text(FILES[MODULE], "utf-8")
    commands.run_git("commit", "--quiet", "--all", "--message", "b")

    done = commands.run_process([sys.executable, TOOL, *arguments], timeout=600)

    assert done.returncode == code, done.stderr
    said(done.stdout, *(line for line in done.stderr.splitlines() if line.startswith("mutants.py: ")))
    assert (folder / MODULE).read_text("utf-8") == FILES[MODULE]

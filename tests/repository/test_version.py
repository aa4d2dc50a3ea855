"""The version is that of rubric_lint/version.py everywhere, and `make version` sets it everywhere."""

import re
import shutil
import sys
from pathlib import Path

import commands
import pytest

from rubric_lint import __version__

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / ".ci"))
from set_version import FILES, MENTION, find_pages, find_places  # noqa: E402 (a script beside the package)

PAGE = """\
    pip install rubric-lint==0.0.1
    uses: rubric-lint/rubric-lint@v0.0.1
    uvx 'rubric-lint[lsp]==0.0.1'
  - repo: https://github.com/rubric-lint/rubric-lint
    rev: v0.0.1
"""


@pytest.fixture
def copy(tmp_path):
    """The files that name the version, and a page that names it in each way."""
    for name in (*FILES, *find_pages(), ".ci/set_version.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "docs/install.md").write_text(PAGE, "utf-8")
    return tmp_path


def set_version(folder, version):
    command = [sys.executable, folder / ".ci/set_version.py", version]
    return commands.run_process(command)


def test_no_place_names_another_version():
    assert {name: version for name, version in find_places() if version != __version__} == {}
    assert set(FILES) <= {name for name, _ in find_places()}


@pytest.mark.slow
def test_a_new_version_is_set_everywhere(copy):
    done = set_version(copy, "12.34.56")
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.splitlines()) == {name for name, _ in find_places()} | {"docs/install.md"}
    assert (copy / "docs/install.md").read_text("utf-8") == PAGE.replace("0.0.1", "12.34.56")
    for name in FILES:
        assert (copy / name).read_text("utf-8") != (ROOT / name).read_text("utf-8")
    assert set_version(copy, __version__).returncode == 0
    for name in (*FILES, *find_pages()):
        assert (copy / name).read_bytes() == (ROOT / name).read_bytes() or name == "docs/install.md"


@pytest.mark.parametrize("version", ["v1.2.3", "1.2", "1.2.3rc1", ""])
def test_what_no_market_takes_is_refused(copy, version):
    done = set_version(copy, version)
    told = f"{version} is not a version such as 1.2.3; the VS Code Marketplace takes no other form\n"
    assert (done.returncode, done.stdout) == (1, told)
    assert (copy / "docs/install.md").read_text("utf-8") == PAGE


def test_a_page_about_something_else_is_left_alone():
    assert re.findall(MENTION, "ruff==0.0.1, other/rubric-lint@v0.0.1, not-rubric-lint==0.0.1") == []

"""The configuration for Helix in docs/editors.md, in Helix: findings, a fix, a rename in two files, hover."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import edited
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
SETTINGS = re.search(r"<!-- helix -->\n```toml\n(.*?)```", (ROOT / "docs/editors.md").read_text("utf-8"), re.DOTALL)[1]
SECONDS = 60


def poll(look, is_done):
    """What `look` returns, once that is done; a test fails with it if that takes too long."""
    end = time.monotonic() + SECONDS
    while not is_done(seen := look()):
        assert time.monotonic() < end, seen
        time.sleep(0.05)
    return seen


class Helix:
    """Helix in a terminal of tmux: press keys, and wait for what the screen shows."""

    def __init__(self, folder, name, home):
        self.tmux = ["tmux", "-S", str(home / "tmux"), "-f", "/dev/null"]
        environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "LC_ALL": "C.UTF-8",
            "TMUX": "",
        }
        command = [*self.tmux, "new-session", "-d", "-x", "160", "-y", "50", "-c", str(folder), "hx", name]
        subprocess.run(command, check=True, env=environment, stdin=subprocess.DEVNULL)

    def press(self, *keys):
        subprocess.run([*self.tmux, "send-keys", *keys], check=True, stdin=subprocess.DEVNULL)

    def type(self, text):
        self.press("-l", text)

    def screen(self):
        done = subprocess.run(
            [*self.tmux, "capture-pane", "-p"], check=True, stdin=subprocess.DEVNULL, capture_output=True
        )
        return done.stdout.decode()

    def until(self, *patterns):
        """The screen, once it shows something for each pattern."""
        return poll(self.screen, lambda shown: all(re.search(pattern, shown, re.MULTILINE) for pattern in patterns))

    def leave(self, pattern):
        """Press Escape, and wait until what matches is gone: Escape and a key at once are Alt and this key."""
        self.press("Escape")
        poll(self.screen, lambda shown: not re.search(pattern, shown))

    def command(self, text):
        self.type(f":{text}")
        self.press("Enter")

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], check=False, stdin=subprocess.DEVNULL, capture_output=True)


@pytest.fixture(params=["\n", "\r\n"], ids=["LF", "CRLF"])
def ending(request):
    return request.param


@pytest.fixture
def folder(tmp_path, ending):
    folder = tmp_path / "my project"
    edited.write(folder, ending)
    return folder


@pytest.fixture
def helix(tmp_path, folder):
    for program, package in (("hx", "Helix"), ("tmux", "tmux")):
        if not shutil.which(program):
            pytest.skip(f"{package} is not installed")
    configuration = tmp_path / ".config/helix/languages.toml"
    configuration.parent.mkdir(parents=True)
    configuration.write_text(SETTINGS, "utf-8")
    helix = Helix(folder, edited.NAME, tmp_path)
    yield helix
    helix.close()


def text_of(path):
    """What a file holds, or None at the moment at which Helix replaces it."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None


def wait_for(text, path):
    """Wait until a file holds this text."""
    poll(lambda: text_of(path), lambda found: found == text)


def test_findings_a_fix_and_a_rename_in_two_files(helix, folder, ending):
    helix.until(*(rf"^[^ ]\s+{line}  " for line, _, _ in edited.FINDINGS))
    helix.press("Space", "d")
    listed = helix.until(r"\b4/4\b", r"(?s)(\b(ERROR|WARN) .*){4}")
    found = re.findall(r"(?:ERROR|WARN) +(\S+)", listed)
    assert sorted(found) == sorted(rule for _, _, rule in edited.FINDINGS)
    helix.leave(r"\b4/4\b")
    helix.command("4")
    helix.press("w")
    helix.press("Space", "a")
    helix.until(
        "Rename `description` to `expected_outcome`",
        "Fix all 2 findings of deprecated-description in this file",
        "Ignore deprecated-description here",
        "Make all safe fixes of rubric-lint",
    )
    helix.press("Enter")
    helix.until(r"4      expected_outcome: Stays friendly")
    helix.type("/accuracy,")
    helix.press("Enter")
    helix.until(r"\b5:\d+ *$")
    helix.press("Space", "r")
    helix.until("rename-to:accuracy")
    helix.press("C-u")
    helix.type("period")
    helix.press("Enter")
    helix.until("id: period,")
    helix.command("write-all")
    for name, text in edited.expected(ending).items():
        wait_for(text, folder / name)


def test_hover_and_a_refused_rename(helix):
    helix.until(r"^[^ ]\s+4  ")
    helix.type("/description")
    helix.press("Enter")
    helix.until(r"\b4:\d+ *$")
    helix.press("Space", "k")
    helix.until("lint explain deprecated-description", "use expected_outcome")
    helix.leave("lint explain")
    helix.press("Space", "r")
    helix.until("rubric-lint: put the cursor on the id of a criterion")

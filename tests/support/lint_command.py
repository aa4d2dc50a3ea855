"""Call `rubric-lint` on a folder of three files: one with an error, one with a warning, one sound."""

import os
import re
import select
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path

import commands
import pytest
from found import message

from rubric_lint.lint.run.summary import Summary

with suppress(ImportError):  # not on Windows
    import pty

BAD = """\
rubrics:
  - id: accuracy
    score_ranges:
      - score_range: [0, 5]
        expected_outcome: States a wrong result.
      - score_range: [5, 7]
        expected_outcome: States the right result with slips.
      - score_range: [8, 10]
        expected_outcome: States the right result.
  - id: tone
    score_ranges: {0: Blames the customer., 5: Helps the customer.}
"""

OLD = """\
rubrics:
  - id: a
    description: States the result.
"""

GOOD = """\
rubrics:
  - id: a
    expected_outcome: States the result.
"""

BROKEN = "rubrics:\n  - expected_outcome: 'open\n"

SCORE_5 = "criterion `accuracy`: " + message(
    "overlap.shared-scores", scores="score 5", are="is", band="[5, 7]", other="[0, 5]", line="line 4"
)

OVERLAP = f"bad.yaml:6:22 error overlap: {SCORE_5}\n"

RENAME = "criterion `a`: " + message("deprecated-description.renamed", field="description", name="expected_outcome")

DESCRIPTION = f"old.yaml:3:5 warning deprecated-description: {RENAME}\n"


def call(*args, stdin="", program="rubric-lint", **more):
    """What a call prints on standard output and standard error, and its exit code."""
    return commands.call(program, *args, stdin=stdin, env=os.environ | more)


def adopt_as_advised(name):
    """Run `adopt` on a file, then what it prints first until nothing is open; return the last errors and exit code."""
    _, errors, code = call("adopt", name)
    while code == 1 and (answered := re.search(r"^    rubric-lint (adopt .*)$", errors, re.MULTILINE)):
        _, errors, code = call(*shlex.split(answered[1]))
    return errors, code


def call_after(before, *args, **more):
    """What a call does in a process that runs some code before."""
    done = commands.run_process(commands.command("rubric-lint", *args, before=before), env=os.environ | more)
    return done.stdout, done.stderr, done.returncode


def on_terminal(command, *, stdin=subprocess.DEVNULL, stdout=None, columns=80, **more):
    """What a command writes to a terminal, by standard output and standard error alike, and its exit code."""
    leader, follower = pty.openpty()
    streams = {"stdin": stdin, "stdout": stdout or follower, "stderr": follower}
    process = subprocess.Popen(command, env=os.environ | {"COLUMNS": str(columns), **more}, **streams)
    os.close(follower)
    return read_terminal(leader), process.wait()


def read_terminal(leader):
    """What is written to a terminal until nobody can write any more."""
    written = b""
    with suppress(OSError):  # the other end is closed
        while select.select([leader], [], [], 60)[0]:
            piece = os.read(leader, 1 << 16)
            if not piece:  # what macOS gives instead
                break
            written += piece
    os.close(leader)
    return written.decode().replace("\r\n", "\n")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("bad.yaml", BAD), ("good.yaml", GOOD), ("old.yaml", OLD)):
        Path(name).write_text(text, "utf-8")
    return tmp_path


COUNTS = Summary(
    files=3,
    files_with_rubrics=3,
    files_with_findings=2,
    rubrics=3,
    criteria=4,
    errors=1,
    warnings=1,
    safe_fixes=1,
    choices=1,
)
COUNTED, FIXABLE = f"{COUNTS}\n".splitlines(keepends=True)

BROKEN_RULE = """
from rubric_lint.lint import engine

def crash(rubric):
    if rubric.entries[0].id == "accuracy":
        raise ZeroDivisionError("no rule is perfect")
    return iter(())

known = engine.checks_for
engine.checks_for = lambda signs: (*known(signs), ("broken", crash))
"""

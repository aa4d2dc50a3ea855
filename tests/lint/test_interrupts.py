"""Ctrl+C on a terminal and SIGTERM end every command with one line, whole files and no worker left behind."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from cases import read_cases
from lint_command import read_terminal

COMMANDS = read_cases(__file__)["COMMANDS"]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")]

MANY = "rubrics:\n" + "".join(
    f"  - id: c{number}\n    description: States result {number}.\n" for number in range(6_000)
)
SMALL = "rubrics:\n  - id: a\n    expected_outcome: States the result\n"
OUTPUT = '{"checks": [{"id": "a", "satisfied": true}]}\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("long")
    for number in range(300):
        (made / f"a{number:03}.yaml").write_text(MANY if number % 3 == 0 else SMALL, "utf-8")
    (made / "large.yaml").write_text(
        MANY * 1 + "".join(f"  - id: d{number}\n    description: States fact {number}.\n" for number in range(100_000)),
        "utf-8",
    )
    (made / "s.rubric.yaml").write_text(SMALL, "utf-8")
    (made / "many.rubric.yaml").write_text("rubrics:\n" + "".join(map(write_criterion, range(29))), "utf-8")
    checks = ", ".join(f"{{id: c{number}, score: 9}}" for number in range(29))
    first = f"  - {{id: t, expect: &any {{verdict: [pass, borderline, fail]}}, output: &all {{checks: [{checks}]}}}}\n"
    tests = first + "".join(f"  - {{id: t{number}, expect: *any, output: *all}}\n" for number in range(5_000))
    (made / "large.rubric-test.yaml").write_text(f"rubric: many.rubric.yaml\ntests:\n{tests}", "utf-8")
    (made / "large.jsonl").write_text(OUTPUT * 3_000_000, "utf-8")
    return made


def write_criterion(number):
    return f"  - {{id: c{number}, score_ranges: {{0: Leaves out step {number}, 3: Names step {number}}}}}\n"


def wait_until_busy(leader, process):
    """Wait until a program has written something, worked for a while, or waits for work itself."""
    deadline, idle_since, before = time.monotonic() + 60, time.monotonic(), 0
    while time.monotonic() < deadline and not select.select([leader], [], [], 0.05)[0]:
        state, *fields = Path(f"/proc/{process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        used = (int(fields[10]) + int(fields[11])) / os.sysconf("SC_CLK_TCK")
        if state != "S" or used != before:
            idle_since, before = time.monotonic(), used
        if used > 1.5 or (used > 0.2 and time.monotonic() - idle_since > 1):
            break


def children(pid):
    """The processes that this one started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


# The program gets the terminal as its own, so that it receives SIGINT from it.
BEHIND_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


# SIGTERM does what Ctrl+C does, in one place for all commands: a run with workers, one that writes, servers.
STOPS = [
    *((line, "Ctrl+C") for line in COMMANDS),
    *((line, "SIGTERM") for line in COMMANDS[:1] + COMMANDS[3:4] + COMMANDS[-2:]),
]


@pytest.mark.parametrize(("line", "stop"), STOPS)
def test_a_stopped_command_says_what_it_did_and_leaves_nothing_half_done(folder, line, stop, said):
    before = {file.name: file.read_bytes() for file in folder.iterdir() if file.stat().st_size < 1_000_000}
    program, *args = line.split()
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 200))  # messages are wrapped at its width
    process = subprocess.Popen(
        [sys.executable, "-c", BEHIND_TERMINAL, Path(sys.executable).with_name(program), *args],
        stdin=follower, stdout=subprocess.DEVNULL, stderr=follower, cwd=folder, start_new_session=True,
        env=dict(os.environ),  # readline, which pytest loads, sets COLUMNS where Python does not see it
    )  # fmt: skip
    os.close(follower)
    wait_until_busy(leader, process)
    workers = children(process.pid)
    if stop == "Ctrl+C":
        os.write(leader, b"\x03")  # the terminal sends SIGINT to the whole group
    else:
        process.send_signal(signal.SIGTERM)
    shown = read_terminal(leader)
    process.wait(60)
    rows = [row for row in re.sub(r"\r[^\n\r]*(?=\r)|\r", "", shown.replace("^C", "")).split("\n") if row.strip()]
    told = [row for row in rows if "interrupted" in row]
    code = {"Ctrl+C": 130, "SIGTERM": 143}[stop]
    assert (process.returncode, "Traceback" in shown, len(told)) == (code, False, 1), shown
    message = told[0].strip()
    assert message.startswith(f"{program}: interrupted"), told
    if "--watch" not in args:  # which may have linted everything, and wait
        said(message.rpartition("; ")[2])  # how far it came differs
    assert [pid for pid in workers if Path(f"/proc/{pid}").exists()] == []
    for name, content in before.items():
        now = (folder / name).read_bytes()
        if now != content:  # whole: every criterion of it is there
            assert now.count(b"- id:") == content.count(b"- id:")
            (folder / name).write_bytes(content)
    assert sorted(file.name for file in folder.iterdir()) == sorted({*before, "large.yaml", "large.jsonl"})

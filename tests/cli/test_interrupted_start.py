"""Ctrl+C while a program still loads its modules, or while it exits, ends it with one line."""

import signal
import sys
import tomllib
from pathlib import Path

import commands
import pytest

SCRIPTS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]

# Runs an entry point as its installed script does, and interrupts it where `{when}` says.
PROGRAM = """
import atexit, importlib, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {when!r}:
            signal.raise_signal(signal.SIGINT)
if {when!r} == "exit":
    atexit.register(signal.raise_signal, signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv = [{name!r}, "--version"]
module, function = {target!r}.split(":")
getattr(importlib.import_module(module), function)()
"""


def run(name, when, **more):
    code = PROGRAM.format(name=name, target=SCRIPTS[name], when=when)
    return commands.run_process([sys.executable, "-c", code], **more)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("when", ["click", "rubric_lint.cli.commands", "exit"])
@pytest.mark.parametrize("name", SCRIPTS)
def test_an_interrupt_while_modules_load_or_the_program_exits_shows_no_traceback(name, when):
    done = run(name, when)
    assert (done.stderr, done.returncode) == (f"{name}: interrupted\n", 130)
    assert bool(done.stdout) == (when == "exit")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_program_that_ignores_interrupts_keeps_ignoring_them():
    done = run("rubric-lint", "click", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert (done.stderr, done.returncode) == ("", 0)

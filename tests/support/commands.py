"""Runs the installed programs, in this process or in one of their own; both return what `subprocess.run` returns.

`run` costs little. What starts, gets a signal, serves, or reads the environment or the locale as an interpreter starts
takes `run_process`, or `subprocess.Popen` with `command`.
"""

import contextlib
import gc
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rubric_lint.cli import start
from rubric_lint.lint.project import repository
from rubric_lint.lint.run import git

STREAMS = {"stdin": "strict", "stdout": "surrogateescape", "stderr": "backslashreplace"}
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGPIPE") if hasattr(signal, name)]


def command(program, *args, before=""):
    """The command of an installed program in a new interpreter, where warnings are errors and `before` runs first."""
    name = program.removeprefix("rubric-")
    code = f"import sys; sys.argv[0] = '{program}'; from rubric_lint.cli.start import {name}; {name}()"
    return [sys.executable, "-W", "error", "-c", before + code, *map(str, args)]


def run_process(args, *, stdin="", check=False, timeout=60, **more):
    """Run a command in a new process, to its end; `more` is for `subprocess.run`."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(args, input=given, capture_output=True, check=check, timeout=timeout, **more)
    return _finish(args, done.returncode, done.stdout, done.stderr)


def run(program, *args, stdin="", cwd=None, env=None):
    """Run an installed program in this process, in a folder and an environment of its own."""
    given = [program, *map(str, args)]
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in STREAMS]
        files[0].write(stdin.encode() if isinstance(stdin, str) else stdin)
        files[0].seek(0)
        with _apart(given, cwd, os.environ if env is None else env), _streams(files):
            code = _call(getattr(start, program.removeprefix("rubric-")))
        printed = []
        for file in files[1:]:
            file.seek(0)
            printed.append(file.read())
    return _finish(given, code, *printed)


def call(program, *args, **more):
    """What a program prints on standard output and standard error, and its exit code; `more` is for `run`."""
    done = run(program, *args, **more)
    return done.stdout, done.stderr, done.returncode


def _finish(args, code, out, err):
    return subprocess.CompletedProcess(
        [*map(str, args)], code, *(text.decode("utf-8", "surrogateescape") for text in (out, err))
    )


def run_git(*arguments, cwd=None):
    """Run Git as somebody who may do all; return what it prints."""
    settings = ["user.name=a", "user.email=a@example.org", "commit.gpgsign=false", "protocol.file.allow=always"]
    options = [word for setting in settings for word in ("-c", setting)]
    return run_process(["git", *options, *arguments], cwd=cwd, check=True).stdout


def commit_all(folder=None):
    """Make a folder, or the current one, a repository on the branch `main` with one commit of what is in it."""
    for arguments in (["init", "-q", "-b", "main"], ["add", "--all"], ["commit", "-qm", "Add"]):
        run_git(*arguments, cwd=folder)


@contextlib.contextmanager
def _apart(argv, cwd, env):
    """Keep what a program changes in its process from the tests that follow, and what tests keep from the program."""
    with contextlib.ExitStack() as stack:
        for number in SIGNALS:
            stack.callback(signal.signal, number, signal.getsignal(number))
        stack.callback(gc.set_threshold, *gc.get_threshold())
        stack.callback(setattr, gc, "freeze", gc.freeze)
        gc.freeze = gc.get_count  # what tests make is not part of a program
        stack.callback(setattr, sys, "argv", sys.argv)
        sys.argv = argv
        stack.callback(_set_environment, dict(os.environ))
        _set_environment(dict(env))
        stack.enter_context(contextlib.chdir(cwd or Path.cwd()))
        for kept in (repository._find_root, git._find_git):  # what holds as long as a process
            kept.cache_clear()
            stack.callback(kept.cache_clear)
        yield


def _set_environment(variables):
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()


@contextlib.contextmanager
def _streams(files):
    """Let the standard streams be files, also for what the program starts, encoded as in the locale of the tests."""
    with contextlib.ExitStack() as stack:
        for number, (name, errors) in enumerate(STREAMS.items()):
            before = os.dup(number)
            stack.callback(os.close, before)
            stack.callback(os.dup2, before, number)
            os.dup2(files[number].fileno(), number)
            raw = io.FileIO(number, "r" if name == "stdin" else "w", closefd=False)
            buffered = io.BufferedReader(raw) if name == "stdin" else io.BufferedWriter(raw)
            stream = io.TextIOWrapper(buffered, encoding="utf-8", errors=errors, line_buffering=name == "stderr")
            for attribute in (name, f"__{name}__"):
                stack.callback(setattr, sys, attribute, getattr(sys, attribute))
                setattr(sys, attribute, stream)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()


def _call(main):
    """Return the exit code of a program; its fault, if it is none of those that it ends with, is the test's."""
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    raise AssertionError


def wait_until(is_true, seconds=60):
    """Wait for what another process or thread brings about; only a test that fails waits long."""
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)


def modules_after(program):
    """What Python has loaded at the end of a program, more than at its start."""
    show = f"import sys\nbefore = set(sys.modules)\n{program}\nprint(*sorted(set(sys.modules) - before))"
    return set(run_process([sys.executable, "-c", show], check=True).stdout.split())


def complaint(done):
    """What a program complains of: of a command line that is refused, the message without the usage."""
    usage = re.fullmatch(r"Usage: .*?^Error: (.*)\n", done.stderr, re.MULTILINE | re.DOTALL)
    return usage[1] if usage else done.stderr

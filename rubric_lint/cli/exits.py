"""Run a command as a program and end it with its exit code."""

# Programs start faster without pathlib.
# ruff: noqa: PTH109, PTH123

import gc
import os
import signal
import sys
from collections.abc import Callable
from enum import IntEnum
from functools import wraps
from io import StringIO
from types import FrameType
from typing import NoReturn, ParamSpec, TypeVar

import click

from rubric_lint.cli.start import end_on_interrupt, raise_on_interrupt
from rubric_lint.report.visible import visible
from rubric_lint.run.console import complain, report_crash
from rubric_lint.run.progress import Progress

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Exit(IntEnum):
    """The exit codes; if several apply, the highest one is used."""

    CLEAN = 0
    FOUND = 1
    USAGE = 2
    FAULT = 3
    INTERRUPTED = 130
    TERMINATED = 143


class Termination:
    """Makes SIGTERM, with which other programs end this one, do what Ctrl+C does: say what was done, and clean up."""

    def __init__(self) -> None:
        self.is_asked = False
        self._process = os.getpid()
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._take)

    def _take(self, _number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # a worker that has not yet replaced this handler
            os._exit(Exit.TERMINATED)
        self.is_asked = True
        interrupt = signal.getsignal(signal.SIGINT)
        if callable(interrupt):
            interrupt(signal.SIGINT, frame)
        else:
            raise KeyboardInterrupt


def end_at_once() -> None:
    """Let a server end on Ctrl+C and SIGTERM: the thread in which it waits for stdin cannot be stopped."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        complain("interrupted")
        os._exit(Exit.INTERRUPTED if number == signal.SIGINT else Exit.TERMINATED)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def writes_at_the_end(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Let a command that writes everything at its end say on Ctrl+C that it has written nothing."""

    @wraps(function)
    def call(*args: Given.args, **options: Given.kwargs) -> Result:
        with Progress(sys.stderr).reporting_interrupt(lambda: "before anything was written"):
            return function(*args, **options)

    return call


def _explain_os_error(fault: OSError) -> str:
    """Describe a system error; one without a file name concerns the current folder or stdout."""
    try:
        os.getcwd()
    except OSError:
        return "the current folder no longer exists; change to one that does"
    return f"{fault.filename or 'stdout'}: {fault.strerror or fault}"


def launch(command: click.Command, name: str) -> NoReturn:
    """Run a command as the program `name` and exit with its return value."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (it is open as long as the program runs)
    if sys.stdout is None:
        complain("stdout is closed")
        sys.exit(Exit.USAGE)
    termination = Termination()
    if hasattr(signal, "SIGPIPE"):
        # When the reader stops (`| head`), end as cat and grep do.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        raise_on_interrupt()
        code = command.main(prog_name=name, standalone_mode=False)
    except click.ClickException as wrong:
        told = StringIO()
        wrong.show(told)
        click.echo("\n".join(map(visible, told.getvalue().removesuffix("\n").split("\n"))), err=True)
        code = wrong.exit_code
    except (click.Abort, KeyboardInterrupt) as end:
        if isinstance(end.__cause__ or end, KeyboardInterrupt):  # the command printed no message of its own
            complain("interrupted")
        code = Exit.INTERRUPTED
    except OSError as fault:
        complain(_explain_os_error(fault))
        # The unwritten rest of stdout must not raise again when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.USAGE
    except Exception as fault:
        report_crash(fault)
        code = Exit.FAULT
    if code == Exit.INTERRUPTED and termination.is_asked:
        code = Exit.TERMINATED
    end_on_interrupt()  # nothing is left to say while the interpreter exits
    gc.freeze()  # spare the interpreter a last garbage collection as it exits
    sys.exit(code)

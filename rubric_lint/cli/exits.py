"""How a command ends: its exit codes, and what it says of a fault of its own."""

# No pathlib here, see config.py.
# ruff: noqa: PTH109, PTH119, PTH123

import gc
import os
import signal
import sys
from enum import IntEnum
from io import StringIO
from typing import NoReturn

import click

from rubric_lint import __version__
from rubric_lint.report.visible import visible

DEBUG = "RUBRIC_LINT_DEBUG"
"""The environment variable that asks for the traceback of a fault."""


class Exit(IntEnum):
    """The exit codes; where several apply, the highest of them counts."""

    CLEAN = 0
    FOUND = 1
    USAGE = 2
    FAULT = 3
    INTERRUPTED = 130


def complain(message: str) -> None:
    """Tell something on standard error, in the name of the command that runs."""
    context = click.get_current_context(silent=True)
    name = (context.find_root().info_name if context else None) or os.path.basename(sys.argv[0])
    click.echo(f"{name if name.startswith('rubric-') else 'rubric-lint'}: {visible(message)}", err=True)


def report_fault(fault: Exception, file: str = "") -> None:
    """Say on standard error that the tool itself is at fault, where, and what to report."""
    python = ".".join(map(str, sys.version_info[:3]))
    subject = f"{file}: " if file else ""
    import traceback  # noqa: PLC0415  (a run without a fault does without)

    complain(f"{subject}a fault of rubric-lint, not of the file: {type(fault).__name__}: {fault}{_place(fault)}")
    which = ", the file" if file else ""
    hint = f"please report this line{which} and: rubric-lint {__version__}, Python {python}, {sys.platform}"
    complain(hint if os.environ.get(DEBUG) else f"{hint} ({DEBUG}=1 shows the traceback)")
    if os.environ.get(DEBUG):
        lines = "".join(traceback.format_exception(fault)).splitlines()
        click.echo("\n".join(map(visible, lines)), err=True)


def _place(fault: Exception) -> str:
    """The last place of our own that the fault came through; a rule's module is the rule's name."""
    import traceback  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    package = Path(__file__).parents[1]
    for frame in reversed(traceback.extract_tb((fault.__cause__ or fault).__traceback__)):
        file = Path(frame.filename)
        if file.is_relative_to(package):
            return f" ({file.relative_to(package.parent).as_posix()}, line {frame.lineno})"
    return ""


def _word(fault: OSError) -> str:
    """What the system did not do; what has no name is the current folder or standard output."""
    try:
        os.getcwd()
    except OSError:
        return "the current folder does not exist any more; change to one that does"
    return f"{fault.filename or 'standard output'}: {fault.strerror or fault}"


def launch(command: click.Command, name: str | None = None) -> NoReturn:
    """Run a command as a program, and exit with its return value. `name` is what it is called, by default as it was."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (it is open as long as the program runs)
    if sys.stdout is None:
        complain("standard output is closed")
        sys.exit(Exit.USAGE)
    if hasattr(signal, "SIGPIPE"):
        # When nobody reads on (`| head`), end as cat and grep do.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        code = command.main(prog_name=name, standalone_mode=False)
    except click.ClickException as wrong:
        told = StringIO()
        wrong.show(told)
        click.echo("\n".join(map(visible, told.getvalue().removesuffix("\n").split("\n"))), err=True)
        code = wrong.exit_code
    except click.Abort as end:
        if isinstance(end.__cause__, KeyboardInterrupt):  # by click: the command itself had nothing to say of it
            complain("interrupted")
        code = Exit.INTERRUPTED
    except OSError as fault:
        complain(_word(fault))
        # What standard output did not take must not come up again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.USAGE
    except Exception as fault:
        report_fault(fault)
        code = Exit.FAULT
    gc.freeze()  # the interpreter, as it ends, need not look for garbage in what ends with it
    sys.exit(code)

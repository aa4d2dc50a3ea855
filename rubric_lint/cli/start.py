"""Start the programs. Ctrl+C ends them with one line even while Python still loads their modules."""

# Programs start faster without pathlib.
# ruff: noqa: PTH119

import os
import signal
import sys

TYPE_CHECKING = False  # not from `typing`, which loads many modules
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def end_on_interrupt() -> None:
    """End the process on Ctrl+C with one line and exit code 130; a process that ignores Ctrl+C keeps ignoring it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_on_interrupt() -> None:
    """Let Ctrl+C raise KeyboardInterrupt again, so that the command can say what it has done."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: "FrameType | None") -> "NoReturn":
    name = os.path.basename(sys.argv[0])
    os.write(2, f"{name if name.startswith('rubric-') else 'rubric-lint'}: interrupted\n".encode())
    os._exit(130)


def _start(program: str) -> "NoReturn":
    end_on_interrupt()
    from importlib import import_module  # noqa: PLC0415  (after Ctrl+C is taken care of)

    cli = import_module(f"rubric_lint.cli.{program}.{program}").cli
    import_module("rubric_lint.cli.commands").launch(cli, f"rubric-{program}")
    raise AssertionError  # `launch` ends the process


def lint() -> "NoReturn":
    """Run `rubric-lint`."""
    _start("lint")


def fix() -> "NoReturn":
    """Run `rubric-fix`."""
    _start("fix")


def score() -> "NoReturn":
    """Run `rubric-score`."""
    _start("score")


def test() -> "NoReturn":
    """Run `rubric-test`."""
    _start("test")

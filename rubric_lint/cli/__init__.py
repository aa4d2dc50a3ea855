"""Commands: options in, exit codes out; a folder for each program.

Call nothing here from other rooms. `start` has what the installed programs run, `commands` the table of commands,
`options` the options that several have, `output` the choice of a format.
"""

# Ctrl+C is caught before anything else is loaded, pathlib too.
# ruff: noqa: PTH119

import gc
import os
import signal
import sys

TYPE_CHECKING = False  # not from `typing`, which loads many modules
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

# Loading modules creates tens of thousands of objects that all stay. Collecting garbage every 700 objects, Python's
# default, would take a twentieth of the time of a small run.
gc.set_threshold(50_000)


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
    if not name.startswith("rubric-"):
        name = "rubric-lint"
    os.write(2, f"{name}: interrupted\n".encode())
    os._exit(130)

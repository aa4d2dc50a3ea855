"""What standard output is: how wide, whether in colour, and how it takes what its encoding lacks."""

import io
import os
import sys

_COLUMNS = 120
"""How wide output is that no terminal shows: the same everywhere, so that it can be compared."""


def wants_color(choice: str) -> bool:
    """Whether to colour: `always`, `never`, or `auto` by NO_COLOR, FORCE_COLOR and whether a terminal shows it."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def columns() -> int:
    """How many cells a row may take."""
    if not sys.stdout.isatty():
        return _COLUMNS
    import shutil  # noqa: PLC0415  (it brings the compressors along)

    return shutil.get_terminal_size().columns


def escape_what_cannot_be_encoded() -> None:
    """Let a character that standard output's encoding lacks come out as an escape instead of a fault."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")

"""What standard output is: how wide, whether in colour, and how it takes what its encoding lacks."""

import io
import os
import sys

_COLUMNS = 120
"""How wide output is that no terminal shows: the same everywhere, so that it can be compared."""


def wants_color(choice: str) -> bool:
    """Return whether to color: `always`, `never`, or `auto`, which asks the environment and then the terminal.

    NO_COLOR (no-color.org) outweighs FORCE_COLOR (force-color.org; 0 and false turn colors off, as in Node.js), which
    outweighs CLICOLOR_FORCE and CLICOLOR (bixense.com/clicolors). An empty variable counts as unset.
    """
    if choice != "auto":
        return choice == "always"
    given = os.environ.get
    if given("NO_COLOR"):
        return False
    if force := given("FORCE_COLOR"):
        return force.lower() not in {"0", "false"}
    if given("CLICOLOR_FORCE", "0") not in {"", "0"}:
        return True
    return sys.stdout.isatty() and given("TERM") != "dumb" and given("CLICOLOR") != "0"


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

"""Find the width and color support of stdout, and make it escape what its encoding lacks."""

import io
import os
import sys

from rubric_lint.report.base import Look

_COLUMNS = 120
"""The width of output that does not go to a terminal, fixed so that reports can be compared."""


def wants_color(choice: str) -> bool:
    """Return whether to use color: `always`, `never`, or `auto`, which depends on the environment and the terminal.

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


def make_look(color: str = "auto", *, quiet: bool = False, is_file: bool = False) -> Look:
    """Return the look of a report on stdout or, with `is_file`, in a file."""
    if is_file:
        return Look(color == "always", quiet)
    return Look(wants_color(color), quiet, columns(), wraps=sys.stdout.isatty())


def columns() -> int:
    """Return the width of a row in terminal cells."""
    if not sys.stdout.isatty():
        return _COLUMNS
    import shutil  # noqa: PLC0415  (it imports the compression modules)

    return shutil.get_terminal_size().columns


def escape_what_cannot_be_encoded() -> None:
    """Make stdout escape characters that its encoding lacks, instead of raising an error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")

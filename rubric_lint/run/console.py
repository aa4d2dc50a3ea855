"""Write messages and crash reports to stderr."""

# Programs start faster without pathlib.
# ruff: noqa: PTH119

import os
import sys

import click

from rubric_lint.messages import visible
from rubric_lint.version import __version__

DEBUG = "RUBRIC_LINT_DEBUG"
"""The environment variable that enables the traceback of a crash."""


def complain(message: str) -> None:
    """Write a message to stderr, prefixed with the name of the running command."""
    context = click.get_current_context(silent=True)
    name = (context.find_root().info_name if context else None) or os.path.basename(sys.argv[0])
    click.echo(f"{name if name.startswith('rubric-') else 'rubric-lint'}: {visible(message)}", err=True)


def report_crash(fault: Exception, file: str = "") -> None:
    """Report a crash on stderr: the exception, its place, and what to include in a bug report."""
    python = ".".join(map(str, sys.version_info[:3]))
    subject = f"{file}: " if file else ""
    import traceback  # noqa: PLC0415  (only a crash needs it)

    complain(f"{subject}rubric-lint crashed, which is a bug: {type(fault).__name__}: {fault}{_find_line(fault)}")
    which = ", the file" if file else ""
    versions = f"rubric-lint {__version__}, Python {python}, {sys.platform}"
    hint = f"please report it with this line{which} and: {versions}"
    complain(hint if os.environ.get(DEBUG) else f"{hint} ({DEBUG}=1 shows the traceback)")
    if os.environ.get(DEBUG):
        lines = "".join(traceback.format_exception(fault)).splitlines()
        click.echo("\n".join(map(visible, lines)), err=True)


def _find_line(fault: Exception) -> str:
    """Return the innermost line of this package in the traceback; a rule's module has the rule's name."""
    import traceback  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    package = Path(__file__).parents[1]
    for frame in reversed(traceback.extract_tb((fault.__cause__ or fault).__traceback__)):
        file = Path(frame.filename)
        if file.is_relative_to(package):
            return f" ({file.relative_to(package.parent).as_posix()}, line {frame.lineno})"
    return ""

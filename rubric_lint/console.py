"""Write messages to stderr: what went wrong, and crashes."""

# No pathlib at the top, see config.py.
# ruff: noqa: PTH119

import os
import sys

import click

import rubric_lint
from rubric_lint.wording import visible

DEBUG = "RUBRIC_LINT_DEBUG"
"""The environment variable that asks for the traceback of a crash."""


def complain(message: str) -> None:
    """Write a message to stderr, after the name of the running command."""
    context = click.get_current_context(silent=True)
    name = (context.find_root().info_name if context else None) or os.path.basename(sys.argv[0])
    click.echo(f"{name if name.startswith('rubric-') else 'rubric-lint'}: {visible(message)}", err=True)


def report_crash(fault: Exception, file: str = "") -> None:
    """Report a crash, a bug of ours, on stderr: what it was, where, and what to put into a bug report."""
    python = ".".join(map(str, sys.version_info[:3]))
    subject = f"{file}: " if file else ""
    import traceback  # noqa: PLC0415  (a run without a crash does without)

    complain(f"{subject}a fault of rubric-lint, not of the file: {type(fault).__name__}: {fault}{_place(fault)}")
    which = ", the file" if file else ""
    hint = f"please report this line{which} and: rubric-lint {rubric_lint.__version__}, Python {python}, {sys.platform}"
    complain(hint if os.environ.get(DEBUG) else f"{hint} ({DEBUG}=1 shows the traceback)")
    if os.environ.get(DEBUG):
        lines = "".join(traceback.format_exception(fault)).splitlines()
        click.echo("\n".join(map(visible, lines)), err=True)


def _place(fault: Exception) -> str:
    """Return the last line of this package that the crash passed through; a rule's module has the rule's name."""
    import traceback  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    package = Path(rubric_lint.__file__).parent
    for frame in reversed(traceback.extract_tb((fault.__cause__ or fault).__traceback__)):
        file = Path(frame.filename)
        if file.is_relative_to(package):
            return f" ({file.relative_to(package.parent).as_posix()}, line {frame.lineno})"
    return ""

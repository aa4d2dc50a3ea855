"""Define what the commands that report findings share: options, and re-running when files change."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.options import Choice, choice
from rubric_lint.messages import join_words
from rubric_lint.report import REPORTERS
from rubric_lint.run.console import complain

TEXT_FORMATS = ("full", "concise", "agent", "vscode")
"""The formats for readers, which --watch can repeat."""

FORMAT: dict[str, Any] = {
    "metavar": "FORMAT",
    "type": Choice(list(REPORTERS)),
    "help": "Report format.  [default: full; github in GitHub Actions; agent for coding agents]",
}
"""The format of the report."""

QUIET: dict[str, Any] = {"is_flag": True, "help": "Do not print the summary."}
"""Leaves the summary out."""

FAIL_ON: dict[str, Any] = {
    "metavar": "SEVERITY",
    **choice("error", "warning", "never"),
    "help": "Lowest severity that makes the exit code 1.",
}
"""The findings that make a run fail."""


def check_watch(form: str | None, *, has_file: bool) -> None:
    """Refuse --watch for a report in a file, or in a format that cannot be repeated.

    Raises:
        click.UsageError: naming the formats that can.
    """
    if has_file or form not in {None, *TEXT_FORMATS}:
        raise click.UsageError(f"--watch supports only --format {join_words(TEXT_FORMATS, 'or')}, on stdout")


def write_figures(lines: Iterable[str], form: str, write: Callable[[str], object]) -> None:
    """Write what else was computed: into a report for readers, else on stderr; the JSON report has the figures."""
    for line in lines:
        if form in TEXT_FORMATS:
            write(f"{line}\n")
        elif form != "json":
            click.echo(line, err=True)


def watch(paths: Sequence[str], show: Callable[..., object], *others: Any, **settings: Any) -> Exit:
    """Run again whenever files change, until the program is interrupted or cannot watch."""
    from rubric_lint.run.watching import Watch, WatchError  # noqa: PLC0415  (few runs watch)

    try:
        Watch(paths, show, *others, **settings).run()
    except WatchError as fault:
        complain(str(fault))
        return Exit.USAGE

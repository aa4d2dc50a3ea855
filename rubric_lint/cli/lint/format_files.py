"""Define `rubric-lint format`, which puts rubrics into canonical order and notation and changes nothing else."""

import sys
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.options import Given, command, rewrite_all
from rubric_lint.cli.output import escape_what_cannot_be_encoded, wants_color
from rubric_lint.run.console import Progress, complain

if TYPE_CHECKING:
    from rubric_lint.fix.run import FixOutcome


@command(
    "paths*",
    "diff check quiet | color force-exclude stdin-filename config isolated",
    name="format",
    examples={
        "rubric-lint format --diff examples/summary.rubric.yaml": "Show what would change",
        "rubric-lint format examples/summary.rubric.yaml": "Format a file in place",
        "rubric-lint format --check": "Fail in CI if a file is not formatted",
    },
    exits={
        Exit.CLEAN: "all files are formatted now, or were before",
        Exit.FOUND: "files would change (--check or --diff)",
        Exit.USAGE: "usage error, invalid settings, or a file that cannot be read, parsed, written or formatted safely",
    },
)
def format_files(given: Given) -> int:
    """Put keys, bands and ranges of rubrics in order; change nothing else.

    PATHS are files and folders, by default the current folder; - formats stdin to stdout.
    """
    # --help and completion do not load the engine.
    from rubric_lint.fix.formatting import format_file  # noqa: PLC0415
    from rubric_lint.fix.run import FixRun  # noqa: PLC0415
    from rubric_lint.project.settings import Overrides  # noqa: PLC0415
    from rubric_lint.report.fixes import (  # noqa: PLC0415
        count_foreign,
        word_formatted,
        word_refusals,
        word_totals,
        write_diff,
    )

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr, "formatting")
    in_color, is_dry = wants_color(given.color), given.check or given.diff
    # Stdout carries only the diff or the formatted text; the report goes to stderr.
    aside = given.diff or "-" in given.paths
    foreign = 0

    def report(outcome: "FixOutcome") -> None:
        nonlocal foreign
        progress.clear()
        foreign += count_foreign(outcome)
        if given.diff:
            click.echo(write_diff(outcome, color=in_color), nl=False, color=in_color)
        for line in word_formatted(outcome, is_dry=is_dry) if not (given.quiet or given.diff) else ():
            click.echo(line, err=aside)
        for line in word_refusals(outcome, "not formatted"):
            complain(line)

    run = FixRun(report, progress, is_dry=is_dry, rewrite=format_file)
    totals = rewrite_all(run, given, Overrides(force_exclude=given.force_exclude))
    if not given.quiet:
        click.echo(word_totals(totals, foreign, is_dry=is_dry), err=aside)
    if totals.crashes:
        return Exit.FAULT
    if totals.faults or totals.unreadable or totals.broken:
        return Exit.USAGE
    return Exit.FOUND if is_dry and totals.changed else Exit.CLEAN

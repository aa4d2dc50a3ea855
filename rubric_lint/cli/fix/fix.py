"""Define the commands that rewrite rubrics: `rubric-fix` updates them to the current format, `format` orders them."""

import sys
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import check_names, command
from rubric_lint.cli.output import escape_what_cannot_be_encoded, make_style, wants_color
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.model.messages import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rubric_lint.lint.fix import Fixed
    from rubric_lint.lint.fix.run import FixOutcome, FixRun, FixTotals
    from rubric_lint.lint.project.settings import FileSettings
    from rubric_lint.report.terminal import Style


@command(
    "paths*",
    "diff check unsafe-fixes choose select ignore to:version format=text,json quiet"
    " | unsaid color force-exclude stdin-filename config isolated version",
    takes_words=True,
    examples={
        "rubric-lint fix --diff examples/": "Show what would change",
        "rubric-lint fix examples/legacy.yaml": "Fix a file in place",
        "rubric-lint fix --check": "Fail in CI if a file could be fixed",
        "rubric-lint fix --to agentv-4 --diff examples/legacy.yaml": "Show how a suite would look for AgentV 4",
    },
    exits={
        Exit.FOUND: "files would change (--check), or findings are left that --to cannot convert",
        Exit.USAGE: "usage error, invalid settings, or a file that cannot be read, parsed or written",
        Exit.FAULT: "crash, or a file left unchanged because its fixes could not be verified",
    },
    clashes="--unsaid needs --to",
)
def fix(given: Given) -> int:
    """Update the rubrics in files and folders to the current format; change nothing else.

    PATHS are files and folders, by default the current folder; - fixes stdin to stdout.
    """
    check_names(given.select, given.ignore)
    if given.target == _VERSION_3 and given.unsaid:
        raise click.UsageError("--unsaid is for suites of AgentV, with --to agentv-4 or agentv-5")
    is_dry = given.check or given.diff
    if given.form == "json" and given.diff:
        raise click.UsageError("--diff cannot be combined with --format json")
    if given.form == "json" and "-" in given.paths and not is_dry:
        raise click.UsageError("stdout cannot carry both the fixed text and the JSON report; add --check")

    # --help and completion do not load the engine.
    from rubric_lint.report.fixes import as_data, as_report, format_outcome, format_troubles, write_diff

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr, "fixing")
    style = make_style(given.color)
    # Stdout carries only the diff or the fixed text; the report goes to stderr.
    to_stderr = given.diff or "-" in given.paths
    files: list[dict[str, Any]] = []

    def report(outcome: "FixOutcome") -> None:
        if given.form == "json":
            files.append(as_data(outcome))
            return
        progress.clear()
        if given.diff:
            click.echo(write_diff(outcome, color=style.color), nl=False, color=style.color)
        lines = format_troubles(outcome) if given.quiet or given.diff else format_outcome(outcome, is_dry=is_dry)
        _print(lines, style, err=to_stderr)

    run = _make_run(given, report, progress)
    totals = _rewrite(run, given)
    if given.form == "json":
        click.echo(as_report(files, totals), nl=False)
    elif not given.quiet:
        _print(totals.format(is_dry=is_dry, is_rewriting=bool(given.target)).split("\n"), style, err=to_stderr)
    return exit_code(totals, check=given.check, is_rewriting=bool(given.target))


def _make_run(given: Given, report: "Callable[[FixOutcome], None]", progress: Progress) -> "FixRun":
    """Return the run that fixes files, and with --to converts them."""
    from rubric_lint.lint.fix.run import FixRun

    def rewrite_file(name: str, data: bytes, settings: "FileSettings") -> "Fixed":
        return rewrite_suite(given, name, data, settings, unsafe=given.unsafe_fixes, choices=given.choices)

    rewrite = rewrite_file if given.target else None
    target = "" if given.target in {None, _VERSION_3} else given.target
    return FixRun(
        report,
        progress,
        is_dry=given.check or given.diff,
        unsafe=given.unsafe_fixes,
        choices=given.choices,
        rewrite=rewrite,
        target=target,
    )


def _print(lines: "Iterable[str]", style: "Style", *, err: bool) -> None:
    for line in lines:
        for row in style.wrap(line):
            click.echo(row, err=err)


def rewrite_suite(given: Given, name: str, data: bytes, settings: "FileSettings", **how: Any) -> "Fixed":
    """Rewrite a file for the version that a command names; `how` is what `rewrite` takes of `fix`."""
    if given.target == _VERSION_3:
        from rubric_lint.convert.raising import raise_file

        return raise_file(name, data, settings, **how)
    from rubric_lint.convert.release import rewrite

    return rewrite(name, data, given.target, settings, unsaid_is_required=given.unsaid != "optional", **how)


_VERSION_3 = "v3"


def exit_code(totals: "FixTotals", *, check: bool = False, is_rewriting: bool = False) -> Exit:
    """Return the exit code of a run with these totals."""
    failed = totals.unreadable or totals.broken
    is_in_the_way = is_rewriting and totals.unmet + totals.blocked
    return Exit.of(crashed=totals.faults, failed=failed, found=(check and totals.changed) or is_in_the_way)


def _rewrite(run: "FixRun", given: Given) -> "FixTotals":
    """Rewrite files, by default those of the current folder, and say what is not read."""
    totals = run.fix_all(given.paths or (".",), given.stdin_filename or "<stdin>", given.finder())
    for line in run.explaining.format_lines():
        complain(line)
    return totals


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
    from rubric_lint.lint.fix.formatting import format_file
    from rubric_lint.lint.fix.run import FixRun
    from rubric_lint.report.fixes import count_foreign, format_refusals, format_totals, write_diff

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr, "formatting")
    in_color, is_dry = wants_color(given.color), given.check or given.diff
    # Stdout carries only the diff or the formatted text; the report goes to stderr.
    to_stderr = given.diff or "-" in given.paths
    foreign = 0

    def report(outcome: "FixOutcome") -> None:
        nonlocal foreign
        progress.clear()
        foreign += count_foreign(outcome)
        if given.diff:
            click.echo(write_diff(outcome, color=in_color), nl=False, color=in_color)
        elif outcome.is_changed and not given.quiet:
            what = "would be formatted" if is_dry else "formatted"
            click.echo(f"{visible(outcome.name)}: {what}", err=to_stderr)
        for line in format_refusals(outcome, "not formatted"):
            complain(line)

    run = FixRun(report, progress, is_dry=is_dry, rewrite=format_file, verb="formatted")
    totals = _rewrite(run, given)
    if not given.quiet:
        click.echo(format_totals(totals, foreign, is_dry=is_dry), err=to_stderr)
    failed = totals.faults or totals.unreadable or totals.broken
    return Exit.of(crashed=totals.crashes, failed=failed, found=is_dry and totals.changed)


cli = fix
"""The program."""

"""Define `rubric-fix`, which updates rubrics to the current format and changes nothing else."""

import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rubric_lint.cli.commands import HELP, Exit, Program, launch, option, reject
from rubric_lint.cli.options import (
    CHOICES,
    COLOR,
    FORCE_EXCLUDE,
    NAMES,
    SOURCE_CLASHES,
    STDIN_FILENAME,
    VERSION,
    AnyPath,
    Choice,
    SettingsOptions,
    check_names,
    choice,
    rewrite_all,
    with_settings,
)
from rubric_lint.cli.output import escape_what_cannot_be_encoded, wants_color
from rubric_lint.run.console import Progress

if TYPE_CHECKING:
    from rubric_lint.fix import Fixed
    from rubric_lint.fix.run import FixOutcome, FixTotals, Rewrite
    from rubric_lint.project.settings import FileSettings


_EXAMPLES = {
    "rubric-fix --diff examples/": "Show what would change",
    "rubric-fix examples/legacy.yaml": "Fix a file in place",
    "rubric-fix --check": "Fail in CI if a file could be fixed",
    "rubric-fix --to agentv-4 --diff examples/legacy.yaml": "Show how a suite would look for AgentV 4",
}


@click.command(
    cls=Program,
    examples=_EXAMPLES,
    exits={
        Exit.FOUND: "files would change (--check), or findings are left that --to cannot convert",
        Exit.USAGE: "usage error, invalid settings, or a file that cannot be read, parsed or written",
        Exit.FAULT: "crash, or a file left unchanged because its fixes could not be verified",
    },
)
@click.argument("paths", nargs=-1, type=AnyPath())
@option("Fixes", "--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@option("Fixes", "--diff", is_flag=True, help="Write nothing; show a diff of the changes.")
@option("Fixes", "--unsafe-fixes", is_flag=True, help="Also apply fixes that may change the meaning of a rubric.")
@option("Fixes", "--choose", "choices", **CHOICES)
@option("Rules", "--select", **NAMES, help="Fix only findings of these rules (comma-separated names).")
@option("Rules", "--ignore", **NAMES, help="Fix findings of all rules except these.")
@option(
    "Conversion",
    "--to",
    "target",
    type=Choice(["agentv-4", "agentv-5"]),
    help="After fixing, convert suites for this version of AgentV.",
)
@option(
    "Conversion",
    "--unsaid",
    type=Choice(["required", "optional"]),
    help="With --to: how to read a criterion without a gate.  [default: required, as in AgentV]",
)
@option("Output", "--format", "form", **choice("text", "json"), help="Report format.")
@option("Output", "-q", "--quiet", is_flag=True, help="Report only problems.")
@option("Output", "--color", **COLOR)
@option("Files", "--force-exclude", **FORCE_EXCLUDE)
@option("Files", "--stdin-filename", **STDIN_FILENAME)
@with_settings
@option(HELP, "--version", **VERSION)
def fix(
    *,
    paths: tuple[str, ...],
    check: bool,
    diff: bool,
    unsafe_fixes: bool,
    choices: tuple[str, ...],
    target: str | None,
    unsaid: str | None,
    select: frozenset[str],
    ignore: frozenset[str],
    form: str,
    quiet: bool,
    color: str,
    stdin_filename: str | None,
    force_exclude: bool,
    settings: SettingsOptions,
) -> int:
    """Update the rubrics in files and folders to the current format; change nothing else.

    PATHS are files and folders, by default the current folder; - fixes stdin to stdout.
    """
    reject(SOURCE_CLASHES)
    check_names(select, ignore)
    if unsaid and not target:
        raise click.UsageError("--unsaid requires --to agentv-4 or --to agentv-5")
    is_dry = check or diff
    _check_output(form, diff=diff, is_stdin_fixed="-" in paths and not is_dry)

    # --help and completion do not load the engine.
    from rubric_lint.fix.run import FixRun  # noqa: PLC0415
    from rubric_lint.project.settings import Overrides  # noqa: PLC0415
    from rubric_lint.report.fixes import as_data, as_report, word_outcome, word_troubles, write_diff  # noqa: PLC0415

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr, "fixing")
    in_color = wants_color(color)
    # Stdout carries only the diff or the fixed text; the report goes to stderr.
    aside = diff or "-" in paths
    files: list[dict[str, Any]] = []

    def report(outcome: "FixOutcome") -> None:
        if form == "json":
            files.append(as_data(outcome))
            return
        progress.clear()
        if diff:
            click.echo(write_diff(outcome, color=in_color), nl=False, color=in_color)
        told = word_troubles(outcome) if quiet or diff else word_outcome(outcome, is_dry=is_dry)
        for line in told:
            click.echo(line, err=aside)

    run = FixRun(
        report,
        progress,
        is_dry=is_dry,
        unsafe=unsafe_fixes,
        choices=choices,
        rewrite=_rewrite_for(target, unsaid, unsafe=unsafe_fixes, choices=choices) if target else None,
    )
    overrides = Overrides(select or None, ignore, force_exclude)
    totals = rewrite_all(run, paths, stdin_filename, overrides, settings)
    if form == "json":
        click.echo(as_report(files, totals), nl=False)
    elif not quiet:
        click.echo(totals.word(is_dry=is_dry), err=aside)
    code = exit_code(totals, check=check)
    return Exit.FOUND if target and totals.left and code is Exit.CLEAN else code


def _rewrite_for(target: str, unsaid: str | None, *, unsafe: bool, choices: tuple[str, ...]) -> "Rewrite":
    """Return what rewrites a suite for a target."""
    from rubric_lint.migrate.target import rewrite  # noqa: PLC0415  (few runs have a target)

    def rewrite_file(name: str, data: bytes, settings: "FileSettings") -> "Fixed":
        is_required = unsaid != "optional"
        return rewrite(name, data, target, settings, unsafe=unsafe, choices=choices, unsaid_is_required=is_required)

    return rewrite_file


def _check_output(form: str, *, diff: bool, is_stdin_fixed: bool) -> None:
    if form == "json" and diff:
        raise click.UsageError("--diff cannot be combined with --format json")
    if form == "json" and is_stdin_fixed:
        raise click.UsageError("stdout cannot carry both the fixed text and the JSON report; add --check")


def exit_code(totals: "FixTotals", *, check: bool = False) -> Exit:
    """Return the exit code of a run with these totals."""
    if totals.faults:
        return Exit.FAULT
    if totals.unreadable or totals.broken:
        return Exit.USAGE
    return Exit.FOUND if check and totals.changed else Exit.CLEAN


def main() -> NoReturn:
    """Run `rubric-fix` as a program."""
    launch(fix, "rubric-fix")

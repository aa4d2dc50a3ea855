"""`rubric-fix`: brings rubrics to the current format, and changes nothing else."""

import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rubric_lint.cli.exits import Exit, launch
from rubric_lint.cli.options import ASKED, CONFIG, FORCE_EXCLUDE, NAMES, AnyPath, check_sources, choice
from rubric_lint.cli.rules import print_version
from rubric_lint.cli.terminal import escape_what_cannot_be_encoded, wants_color
from rubric_lint.console import complain
from rubric_lint.progress import Progress

if TYPE_CHECKING:
    from rubric_lint.fix.totals import FixOutcome, FixTotals


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 files would change (--check), 2 wrong use or a file that cannot be read or written, "
    "3 a file left as it was because the outcome was in doubt, or a fault of rubric-fix.",
)
@click.argument("paths", nargs=-1, type=AnyPath())
@click.option("--check", is_flag=True, help="Write nothing; the exit code is 1 when a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@click.option("--unsafe-fixes", is_flag=True, help="Make fixes too that may change what a rubric means.")
@click.option(
    "--to",
    "target",
    type=click.Choice(["agentv-4", "agentv-5"]),
    help="Then rewrite suites for that version of AgentV.",
)
@click.option(
    "--unsaid",
    type=click.Choice(["required", "optional"]),
    help="With --to: what a criterion is that says nothing of a gate.  [default: required, as AgentV reads it]",
)
@click.option("--select", **NAMES, help="Fix the findings of these rules only; names between commas.")
@click.option("--ignore", **NAMES, help="Fix the findings of all rules but these.")
@click.option("--format", "form", **choice("text", "json"), help="How what was done is written.")
@click.option("-q", "--quiet", is_flag=True, help="Tell only what could not be done.")
@click.option("--color", **choice("auto", "always", "never"), help="Whether to colour.")
@click.option("--stdin-filename", metavar="NAME", help="File name to use for stdin (selects format and settings).")
@click.option("--force-exclude", **FORCE_EXCLUDE)
@click.option("--config", **CONFIG)
@click.option("--isolated", is_flag=True, help="Read no settings file.")
@click.option("--version", is_flag=True, **ASKED, callback=print_version, help="Print the versions.")
def fix(
    *,
    paths: tuple[str, ...],
    check: bool,
    diff: bool,
    unsafe_fixes: bool,
    target: str | None,
    unsaid: str | None,
    select: frozenset[str],
    ignore: frozenset[str],
    form: str,
    quiet: bool,
    color: str,
    stdin_filename: str | None,
    force_exclude: bool,
    config: str | None,
    isolated: bool,
) -> int:
    """Bring the rubrics in files and folders to the current format, and change nothing else.

    Without PATHS, this folder; - is standard input, fixed to standard output.
    """
    check_sources(paths, stdin_filename, config, isolated=isolated)
    if unsaid and not target:
        raise click.UsageError("--unsaid says how --to reads a suite; add --to agentv-4 or --to agentv-5")
    is_dry = check or diff
    _check_output(form, diff=diff, is_stdin_fixed="-" in paths and not is_dry)

    # --help and completion do without the engine.
    from rubric_lint.config import Overrides, SettingsFinder  # noqa: PLC0415
    from rubric_lint.fix.run import FixRun  # noqa: PLC0415
    from rubric_lint.report.fixes import as_data, as_report, word_outcome, word_troubles, write_diff  # noqa: PLC0415
    from rubric_lint.settings_file import SettingsError  # noqa: PLC0415

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr, "fixing")
    in_color = wants_color(color)
    # Standard output is for the one thing that was asked for: a diff, or the text that came in.
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

    try:
        finder = SettingsFinder(Overrides(select or None, ignore, force_exclude), file=config, isolated=isolated)
        fixing = FixRun(
            report, progress, is_dry=is_dry, unsafe=unsafe_fixes, target=target, unsaid_is_required=unsaid != "optional"
        )
        totals = fixing.fix_all(paths or (".",), stdin_filename or "<stdin>", finder)
    except SettingsError as wrong:
        for line in wrong.lines:
            complain(line)
        return Exit.USAGE
    if form == "json":
        click.echo(as_report(files, totals), nl=False)
    elif not quiet:
        click.echo(totals.word(is_dry=is_dry), err=aside)
    code = exit_code(totals, check=check)
    return Exit.FOUND if target and totals.left and code is Exit.CLEAN else code


def _check_output(form: str, *, diff: bool, is_stdin_fixed: bool) -> None:
    if form == "json" and diff:
        raise click.UsageError("--diff is for people and for patch; leave it out for the JSON report")
    if form == "json" and is_stdin_fixed:
        raise click.UsageError("standard output cannot take the fixed text and the JSON report; add --check")


def exit_code(totals: "FixTotals", *, check: bool = False) -> Exit:
    """How a run that came to these totals ends."""
    if totals.faults:
        return Exit.FAULT
    if totals.unreadable:
        return Exit.USAGE
    return Exit.FOUND if check and totals.changed else Exit.CLEAN


def main() -> NoReturn:
    """Run `rubric-fix` as a program."""
    launch(fix)

"""Define `rubric-fix`, which updates rubrics to the current format and changes nothing else."""

import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rubric_lint.cli.commands import Exit, launch
from rubric_lint.cli.options import Given, check_names, command, rewrite_all
from rubric_lint.cli.output import escape_what_cannot_be_encoded, make_style
from rubric_lint.run.console import Progress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rubric_lint.fix import Fixed
    from rubric_lint.fix.run import FixOutcome, FixTotals
    from rubric_lint.project.settings import FileSettings
    from rubric_lint.report.terminal import Style


_EXAMPLES = {
    "rubric-lint fix --diff examples/": "Show what would change",
    "rubric-lint fix examples/legacy.yaml": "Fix a file in place",
    "rubric-lint fix --check": "Fail in CI if a file could be fixed",
    "rubric-lint fix --to agentv-4 --diff examples/legacy.yaml": "Show how a suite would look for AgentV 4",
}


@command(
    "paths*",
    "diff check unsafe-fixes choose select ignore to:version format=text,json quiet"
    " | unsaid color force-exclude stdin-filename config isolated version",
    takes_words=True,
    examples=_EXAMPLES,
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
    is_dry = given.check or given.diff
    if given.form == "json" and given.diff:
        raise click.UsageError("--diff cannot be combined with --format json")
    if given.form == "json" and "-" in given.paths and not is_dry:
        raise click.UsageError("stdout cannot carry both the fixed text and the JSON report; add --check")

    # --help and completion do not load the engine.
    from rubric_lint.fix.run import FixRun  # noqa: PLC0415
    from rubric_lint.project.settings import Overrides  # noqa: PLC0415
    from rubric_lint.report.fixes import as_data, as_report, word_outcome, word_troubles, write_diff  # noqa: PLC0415

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr, "fixing")
    look = make_style(given.color)
    in_color = look.color
    # Stdout carries only the diff or the fixed text; the report goes to stderr.
    aside = given.diff or "-" in given.paths
    files: list[dict[str, Any]] = []

    def report(outcome: "FixOutcome") -> None:
        if given.form == "json":
            files.append(as_data(outcome))
            return
        progress.clear()
        if given.diff:
            click.echo(write_diff(outcome, color=in_color), nl=False, color=in_color)
        told = word_troubles(outcome) if given.quiet or given.diff else word_outcome(outcome, is_dry=is_dry)
        _say(told, look, err=aside)

    def rewrite_file(name: str, data: bytes, settings: "FileSettings") -> "Fixed":
        from rubric_lint.migrate.target import rewrite  # noqa: PLC0415  (few runs have a target)

        how = {"unsafe": given.unsafe_fixes, "choices": given.choices}
        return rewrite(name, data, given.target, settings, unsaid_is_required=given.unsaid != "optional", **how)

    run = FixRun(
        report,
        progress,
        is_dry=is_dry,
        unsafe=given.unsafe_fixes,
        choices=given.choices,
        rewrite=rewrite_file if given.target else None,
    )
    totals = rewrite_all(run, given, Overrides(given.select or None, given.ignore, given.force_exclude))
    if given.form == "json":
        click.echo(as_report(files, totals), nl=False)
    elif not given.quiet:
        _say(totals.word(is_dry=is_dry).split("\n"), look, err=aside)
    code = exit_code(totals, check=given.check)
    return Exit.FOUND if given.target and totals.left and code is Exit.CLEAN else code


def _say(lines: "Iterable[str]", look: "Style", *, err: bool) -> None:
    for line in lines:
        for row in look.wrap(line):
            click.echo(row, err=err)


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

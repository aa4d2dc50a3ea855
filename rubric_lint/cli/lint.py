"""`rubric-lint`: tells the authors of rubrics what is wrong, and where."""

import sys
from typing import Any, NoReturn

import click

from rubric_lint.cli.exits import Exit, complain, launch
from rubric_lint.cli.group import DefaultGroup
from rubric_lint.cli.progress import Progress
from rubric_lint.cli.rules import complete_name, print_page, print_rules, print_version, read_names
from rubric_lint.cli.schema import schema
from rubric_lint.cli.terminal import columns, escape_what_cannot_be_encoded, wants_color
from rubric_lint.report import REPORTERS, Look, Statistics

_NAMES: dict[str, Any] = {"metavar": "NAMES", "multiple": True, "callback": read_names, "shell_complete": complete_name}
_ASKED: dict[str, Any] = {"is_eager": True, "expose_value": False}


def _choice(*names: str) -> dict[str, Any]:
    return {"type": click.Choice(names), "default": names[0], "show_default": True}


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--format", "form", **_choice(*REPORTERS), help="How findings are written.")
@click.option("--select", **_NAMES, help="Run these rules only; names between commas.")
@click.option("--ignore", **_NAMES, help="Run all rules but these.")
@click.option("--fail-on", **_choice("error", "warning", "never"), help="What makes the exit code 1: this or worse.")
@click.option("--statistics", is_flag=True, help="Show how often each rule found something, not where.")
@click.option("-q", "--quiet", is_flag=True, help="Leave the summary out.")
@click.option("--color", **_choice("auto", "always", "never"), help="Whether to colour.")
@click.option("--stdin-filename", metavar="NAME", help="What standard input is called; kind and settings go by it.")
@click.option("--config", metavar="FILE", type=click.Path(), help="The settings file that holds for all files.")
@click.option("--isolated", is_flag=True, help="Read no settings file.")
@click.option(
    "--explain", metavar="NAME", **_ASKED, callback=print_page, shell_complete=complete_name, help="Explain a rule."
)
@click.option("--rules", is_flag=True, **_ASKED, callback=print_rules, help="List the rules.")
@click.option("--version", is_flag=True, **_ASKED, callback=print_version, help="Print the versions.")
def check(
    *,
    paths: tuple[str, ...],
    form: str,
    select: frozenset[str],
    ignore: frozenset[str],
    fail_on: str,
    statistics: bool,
    quiet: bool,
    color: str,
    stdin_filename: str | None,
    config: str | None,
    isolated: bool,
) -> int:
    """Check the rubrics in files and folders.

    Without PATHS, this folder; - is standard input.
    """
    if statistics and form == "json":
        raise click.UsageError("--statistics is for people; count the findings of the JSON report by their rule")
    if config and isolated:
        raise click.UsageError("--config names a settings file, --isolated reads none: give one of them")
    if stdin_filename and "-" not in paths:
        raise click.UsageError("--stdin-filename says what standard input is called; give the path - to read it")

    # --help, --explain and completion do without the engine.
    from rubric_lint.cli.run import Run  # noqa: PLC0415
    from rubric_lint.config import Overrides, SettingsFinder  # noqa: PLC0415
    from rubric_lint.settings_file import SettingsError  # noqa: PLC0415

    escape_what_cannot_be_encoded()
    look = Look(wants_color(color), quiet, columns())
    progress = Progress(sys.stderr)

    def write(text: str) -> None:
        progress.clear()
        click.echo(text, nl=False, color=look.color)

    reporter = Statistics(write, look) if statistics else REPORTERS[form](write, look)
    try:
        finder = SettingsFinder(Overrides(select or None, ignore), file=config, isolated=isolated)
        summary = Run(reporter, progress).lint_all(paths or (".",), stdin_filename or "<stdin>", finder)
    except SettingsError as wrong:
        for fault in wrong.faults:
            complain(f"{wrong.path}: {fault}")
        return Exit.USAGE
    reporter.end(summary)
    if summary.faults:
        return Exit.FAULT
    if summary.unreadable:
        return Exit.USAGE
    failing = {"error": summary.errors, "warning": summary.errors + summary.warnings, "never": 0}
    return Exit.FOUND if failing[fail_on] else Exit.CLEAN


@click.group(
    cls=DefaultGroup,
    default=check,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Tells the authors of rubrics what is wrong with them, and where.",
    epilog="Exit codes: 0 nothing found, 1 findings (see --fail-on), 2 wrong use or a file that cannot be read, "
    "3 a fault of rubric-lint.",
)
def cli() -> None:
    """Nothing of its own: the commands do it all."""


cli.add_command(schema)


def main() -> NoReturn:
    """Run `rubric-lint` as a program."""
    launch(cli)

"""Define `rubric-lint`, which checks rubrics and reports findings."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rubric_lint.cli.exits import Exit, launch
from rubric_lint.cli.group import DefaultGroup
from rubric_lint.cli.help import HELP, Command, option
from rubric_lint.cli.lint.adoption import Adoption, with_adoption
from rubric_lint.cli.lint.judged import Judges, Judging, UnreadableResultsError, with_judged
from rubric_lint.cli.lint.listing import choose_listing
from rubric_lint.cli.options import (
    ASKED,
    CHOICES,
    COLOR,
    FORCE_EXCLUDE,
    NAMES,
    OUTPUT_FILE,
    STDIN_FILENAME,
    VERSION,
    AnyPath,
    check_sources,
    with_settings,
)
from rubric_lint.cli.reporting import FAIL_ON, FORMAT, QUIET, TEXT_FORMATS, check_watch, write_figures
from rubric_lint.cli.reporting import watch as watch_files
from rubric_lint.cli.rule_options import check_names, complete_name, print_page, print_rules
from rubric_lint.cli.terminal import escape_what_cannot_be_encoded, make_look
from rubric_lint.messages import list_names
from rubric_lint.report import REPORTERS, Statistics, counted
from rubric_lint.run.console import complain
from rubric_lint.run.progress import Progress

if TYPE_CHECKING:
    from rubric_lint.fix.totals import FixOutcome
    from rubric_lint.project.settings import SettingsFinder
    from rubric_lint.run.cache import Cache
    from rubric_lint.run.summary import Summary


_WITH_SUMMARY = (Statistics, *(REPORTERS[name] for name in TEXT_FORMATS))
"""The formats that end with the summary."""

_EXAMPLES = {
    "rubric-lint": "Check all files in the current folder and below",
    "rubric-lint --fix examples/legacy.yaml": "Fix what can be fixed safely, then report the rest",
    "rubric-lint --explain overlap": "Explain a rule, with examples",
    "rubric-lint --diff-base HEAD --format sarif --output-file report.sarif": "Report only findings on changed lines",
}


@click.command(
    "check",
    cls=Command,
    examples=_EXAMPLES,
    exits={
        Exit.CLEAN: "no findings as severe as --fail-on",
        Exit.FOUND: "findings as severe as --fail-on, or what --require-rubrics or --fail-on-unread forbids",
    },
)
@click.argument("paths", nargs=-1, type=AnyPath())
@option("Output", "--format", "form", **FORMAT)
@option("Output", "--output-file", **OUTPUT_FILE)
@option("Output", "--statistics", is_flag=True, help="Show the number of findings per rule instead of the findings.")
@option("Output", "-q", "--quiet", **QUIET)
@option("Output", "--color", **COLOR)
@option("Output", "--watch", is_flag=True, help="Re-run when files change.")
@option("Rules", "--select", **NAMES, help="Run only these rules (comma-separated names).")
@option("Rules", "--ignore", **NAMES, help="Run all rules except these.")
@option("Rules", "--fail-on", **FAIL_ON)
@option(
    "Rules",
    "--require-rubrics",
    is_flag=True,
    help="Exit with 1 if no rubrics are found, a named file has none, or one is not checked.",
)
@option("Rules", "--fail-on-unread", is_flag=True, help="Exit with 1 if what looks like a rubric is not read.")
@option("Fixes", "--fix", is_flag=True, help="Apply safe fixes first, as rubric-fix does.")
@option(
    "Fixes",
    "--unsafe-fixes",
    is_flag=True,
    help="With --fix: also apply fixes that may change the meaning of a rubric.",
)
@option("Fixes", "--choose", "choices", **CHOICES)
@with_judged
@with_adoption
@option("Files", "--force-exclude", **FORCE_EXCLUDE)
@option("Files", "--stdin-filename", **STDIN_FILENAME)
@option("Files", "--no-cache", is_flag=True, help="Neither read nor write the cache; see `cache --help`.")
@option("Files", "--show-files", is_flag=True, help="List the files that would be read, and what is skipped and why.")
@with_settings
@option(
    "Settings", "--show-settings", is_flag=True, help="Show the settings of each path, and where each one comes from."
)
@option(
    HELP,
    "--explain",
    metavar="RULE",
    **ASKED,
    callback=print_page,
    shell_complete=complete_name,
    help="Explain a rule.",
)
@option(HELP, "--rules", is_flag=True, help="List the rules.")
@option(HELP, "--version", **VERSION)
def check(  # noqa: C901, PLR0911, PLR0915 (several options replace the run)
    *,
    paths: tuple[str, ...],
    form: str | None,
    output_file: str | None,
    select: frozenset[str],
    ignore: frozenset[str],
    fail_on: str,
    fix: bool,
    unsafe_fixes: bool,
    choices: tuple[str, ...],
    watch: bool,
    require_rubrics: bool,
    fail_on_unread: bool,
    statistics: bool,
    quiet: bool,
    color: str,
    stdin_filename: str | None,
    force_exclude: bool,
    config: str | None,
    isolated: bool,
    no_cache: bool,
    adoption: Adoption,
    judging: Judging,
    rules: bool,
    show_files: bool,
    show_settings: bool,
) -> int:
    """Check LLM-judge rubrics in YAML and JSON.

    PATHS are files and folders, by default the current folder; - reads stdin.
    """
    if rules:
        print_rules(form)
        return Exit.CLEAN
    check_names(select, ignore)
    _check_call(paths, form, statistics=statistics, fix=fix, unsafe_fixes=unsafe_fixes, choices=choices)
    if watch:
        _check_watch(
            paths,
            form,
            fix=fix,
            writes=adoption.add_ignores or adoption.write_baseline,
            has_file=output_file is not None,
        )
    check_sources(paths, stdin_filename, config, isolated=isolated)
    judging.check(paths, add_ignores=adoption.add_ignores)
    listing = choose_listing(paths, form, files=show_files, settings=show_settings)
    adoption.check(paths, fix=fix, has_report=form not in {None, "full"} or output_file is not None or statistics)

    # --help, --explain and completion do not load the engine.
    from rubric_lint.cli.output import choose_format, open_report, spare  # noqa: PLC0415
    from rubric_lint.project.settings import Overrides, SettingsFinder  # noqa: PLC0415
    from rubric_lint.project.settings_file import SettingsError  # noqa: PLC0415
    from rubric_lint.run.batch import lint_files  # noqa: PLC0415
    from rubric_lint.run.linting import LintRun  # noqa: PLC0415

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr)
    look = make_look(color, quiet=quiet, is_file=output_file is not None)
    chosen = "statistics" if statistics else choose_format(form, output_file)
    make_reporter = Statistics if statistics else REPORTERS[chosen]
    judges = Judges(judging)

    fixed = Exit.CLEAN
    bare = 0

    def run(finder: SettingsFinder, **files: Any) -> "Summary":
        nonlocal fixed, bare
        files["unable"] = _find_unable(select, has_results=judging.applies(finder))
        files["lint"] = judges.wrap(files["lint"], finder)
        with open_report(output_file, progress, look) as write:
            # Opened before fixing: if the report cannot be written, no file is changed.
            if fix:
                fixed = _fix(paths or (".",), finder, progress, unsafe=unsafe_fixes, choices=choices, quiet=quiet)
            reporter = make_reporter(write, look)
            sieves = adoption.sieves(finder)
            if output_file is not None or adoption.write_baseline:
                files["undone"] = f"{'the report' if output_file is not None else 'the baseline'} was not written"
            engine = LintRun(reporter, progress, sieves, **files)
            summary = engine.lint_all(paths or (".",), stdin_filename or "<stdin>", finder)
            summary = summary._replace(review=judges.review())
            reporter.end(summary)
            write_figures(() if quiet else judges.list_lines(), chosen, write)
        judges.complain_of_records()
        bare = engine.explaining.bare + summary.other_kinds
        says_summary = output_file is not None or make_reporter in _WITH_SUMMARY
        if summary.is_empty and not says_summary and not quiet:
            complain(f"0 rubrics found in {counted(summary.files, 'file')}")
        for line in engine.explaining.word():
            complain(line)
        adoption.finish(sieves, quiet=quiet)
        return summary

    overrides = Overrides(select or None, ignore, force_exclude)
    try:
        if watch:
            others = {"config": config, "isolated": isolated, "needs": judging.find_needed}
            return watch_files(paths or (".",), run, progress, overrides, **others)
        finder = SettingsFinder(overrides, file=config, isolated=isolated)
        if listing is not None:
            return listing(paths or (".",), finder, adoption.sieves(finder), as_json=form == "json")
        if adoption.add_ignores:
            return adoption.silence(paths or (".",), finder, progress, fail_on=fail_on, quiet=quiet)
        adoption.require_baseline(paths or (".",), stdin_filename or "<stdin>", finder)
        with nullcontext() if no_cache else _open_cache() as cache:
            summary = run(finder, lint=spare(output_file, partial(lint_files, cache=cache)))
    except (SettingsError, UnreadableResultsError) as wrong:
        for line in wrong.lines:
            complain(line)
        return Exit.USAGE
    if output_file is not None and not quiet:
        click.echo(summary)
    if summary.faults:
        return Exit.FAULT
    if summary.unreadable:
        return max(Exit.USAGE, fixed)
    if missing := list(_word_missing(summary, finder, bare, is_required=require_rubrics, is_strict=fail_on_unread)):
        for line in missing:
            complain(line)
        return Exit.FOUND
    failing = {"error": summary.errors, "warning": summary.errors + summary.warnings, "never": 0}
    return max(Exit.FOUND if failing[fail_on] else Exit.CLEAN, fixed)


def _open_cache() -> "Cache":
    from rubric_lint.run.cache import Cache  # noqa: PLC0415  (not needed with --no-cache)

    return Cache.here()


def _word_missing(
    summary: "Summary", finder: "SettingsFinder", bare: int, *, is_required: bool, is_strict: bool
) -> Iterator[str]:
    """Yield why the run fails although its findings may not: rubrics that are missing or were not read.

    `bare` counts the named files without rubrics. Only the option fails on them: a hook names every file, and the
    settings apply there too.
    """
    from rubric_lint.project.settings import Settings  # noqa: PLC0415
    from rubric_lint.project.settings_file import SettingsError  # noqa: PLC0415

    settings = Settings("")
    with suppress(SettingsError):  # broken settings of this folder may not apply to the files
        settings = finder.for_folder("")
    unread = summary.unread + summary.near_misses
    if unread and (is_strict or settings.fail_on_unread):
        them = "which `fail-on-unread` forbids"
        yield f"{counted(unread, 'near miss', 'near misses')} not checked, {them}"
    elif summary.unread and (is_required or settings.require_rubrics):
        yield f"{counted(summary.unread, 'rubric')} not checked, or only in part, but rubrics are required"
    # Unchanged files, which are not read, may have rubrics.
    if not (summary.rubrics or summary.unchanged_files) and (is_required or settings.require_rubrics):
        yield "no rubrics found, but at least one is required"
    elif bare and is_required:
        yield f"no rubrics found in {counted(bare, 'named file')}, but each is required to have one"


def _check_call(
    paths: tuple[str, ...],
    form: str | None,
    *,
    statistics: bool,
    fix: bool,
    unsafe_fixes: bool,
    choices: tuple[str, ...],
) -> None:
    if statistics and form not in {None, "full", "concise"}:
        raise click.UsageError(f"--statistics cannot be combined with --format {form}")
    if unsafe_fixes and not fix:
        raise click.UsageError("--unsafe-fixes requires --fix")
    if choices and not fix:
        raise click.UsageError("--choose requires --fix")
    if fix and "-" in paths:
        raise click.UsageError("--fix cannot be used with stdin; use `rubric-fix -`")


def _find_unable(select: frozenset[str], *, has_results: bool) -> frozenset[str]:
    """Return the rules for which a run has no data; reject a selection of which no rule would run."""
    if not select:
        return frozenset()
    from rubric_lint.rules import BY_NAME, JUDGED_RULES  # noqa: PLC0415  (loads the rules)
    from rubric_lint.rules.rows import JUDGED  # noqa: PLC0415

    others = {BY_NAME[name].command for name in select} - {"rubric-lint", *([JUDGED] if has_results else [])}
    if others and all(BY_NAME[name].command in others for name in select):
        raise click.UsageError(f"--select: {list_names(sorted(select))}: only {min(others)} finds this; run that")
    return frozenset() if has_results else JUDGED_RULES


def _check_watch(paths: tuple[str, ...], form: str | None, *, fix: bool, writes: bool, has_file: bool) -> None:
    if "-" in paths:
        raise click.UsageError("--watch cannot be used with stdin")
    if fix:
        raise click.UsageError("--watch cannot be combined with --fix; run rubric-fix separately")
    if writes:
        raise click.UsageError("--watch cannot be combined with --add-ignores or --write-baseline; run them separately")
    check_watch(form, has_file=has_file)


def _fix(
    paths: Iterable[str],
    finder: "SettingsFinder",
    progress: Progress,
    *,
    unsafe: bool,
    choices: tuple[str, ...],
    quiet: bool,
) -> Exit:
    """Fix the files and report on stderr, because stdout is for the findings."""
    from rubric_lint.cli.fix.fix import exit_code  # noqa: PLC0415
    from rubric_lint.fix.run import FixRun  # noqa: PLC0415
    from rubric_lint.report.fixes import word_troubles  # noqa: PLC0415

    def report(outcome: "FixOutcome") -> None:
        progress.clear()
        for line in word_troubles(outcome):
            complain(line)

    # Linting reports the files that cannot be read.
    totals = FixRun(report, progress, unsafe=unsafe, choices=choices, refuse=lambda _: None).fix_all(paths, "", finder)
    if not quiet:
        click.echo(totals.word(is_dry=False), err=True)
    return exit_code(totals)


_LATE = {name: name for name in ("cache", "convert", "diff", "init", "lsp", "mcp", "schema", "show", "skill")}
_LATE["format"] = "format_files"  # `format` is a function of Python
_LATE["import"] = "import_table"  # `import` cannot be the name of a module


@click.group(cls=DefaultGroup, default=check, late=_LATE)
def cli() -> None:
    """Group the commands."""


def main() -> NoReturn:
    """Run `rubric-lint` as a program."""
    launch(cli, "rubric-lint")

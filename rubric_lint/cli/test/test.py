"""Define `rubric-test`, which runs the tests of rubrics on recorded judge outputs."""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rubric_lint.cli.exits import Exit, launch
from rubric_lint.cli.group import DefaultGroup
from rubric_lint.cli.help import HELP, Command, option
from rubric_lint.cli.options import (
    COLOR,
    FORCE_EXCLUDE,
    OUTPUT_FILE,
    VERSION,
    AnyPath,
    check_sources,
    with_settings,
)
from rubric_lint.cli.reporting import FAIL_ON, FORMAT, QUIET, check_watch, write_figures
from rubric_lint.cli.reporting import watch as watch_files
from rubric_lint.cli.score.judge import judge
from rubric_lint.cli.score.models import MODELS, Model
from rubric_lint.cli.terminal import escape_what_cannot_be_encoded, make_look
from rubric_lint.cli.test.init_tests import init
from rubric_lint.report import REPORTERS
from rubric_lint.run.console import complain
from rubric_lint.run.progress import Progress

if TYPE_CHECKING:
    from rubric_lint.finding import Result
    from rubric_lint.project.files import File, Unreadable
    from rubric_lint.project.settings import SettingsFinder
    from rubric_lint.project.skipped import Skipped
    from rubric_lint.run.batch import FileOutcome
    from rubric_lint.run.summary import Summary
    from rubric_lint.testing.running import Runner

_ASKING = (
    *("base_url", "api_key_env", "temperature", "seed", "max_tokens", "extra_body", "headers", "secret_headers"),
    *("response_format", "samples", "per_criterion", "shuffle", "max_attempts", "concurrency", "rpm", "tpm", "timeout"),
    "retries",
)
_GROUPS = ("Tests", "Output", "Model", "Requests", "Files", "Settings", HELP)

NO_TESTS = "no rubric tests found; their files are named NAME.rubric-test.yaml. `rubric-test init` writes one"


@click.command(
    "run",
    cls=Command,
    examples={
        "rubric-test": "Run all tests in the current folder and below",
        "rubric-test --coverage --mutate examples/": "Also report what the tests do not cover, and changes they miss",
        "rubric-test --catch-rate examples/refund.rubric-test.yaml": "Count the planted bad answers that are caught",
        "rubric-test --record --model gpt-5": "Have a model judge answers without recorded output, then run the tests",
    },
    exits={
        Exit.CLEAN: "all tests passed, and no findings as severe as --fail-on",
        Exit.FOUND: "a test failed, or findings as severe as --fail-on",
        Exit.USAGE: "usage error, invalid settings, a file that cannot be read, or no tests",
    },
    params=[param for param in judge.params if param.name in _ASKING],
)
@click.argument("paths", nargs=-1, type=AnyPath())
@option("Output", "--format", "form", **FORMAT)
@option("Output", "--output-file", **OUTPUT_FILE)
@option("Output", "-q", "--quiet", **QUIET)
@option("Output", "--color", **COLOR)
@option("Output", "--watch", is_flag=True, help="Re-run when a test, a rubric or a recorded output changes.")
@option("Tests", "--coverage", is_flag=True, help="Report bands, levels and gates that no test reaches.")
@option("Tests", "--catch-rate", is_flag=True, help="Count the planted bad answers that each criterion catches.")
@option("Tests", "--mutate", is_flag=True, help="Change the rubric in small ways; report changes that no test notices.")
@option("Tests", "--fail-on", **FAIL_ON)
@option("Tests", "--record", is_flag=True, help="Have a model judge the answers that have no valid recorded output.")
@option(
    "Model",
    "--model",
    "models",
    **MODELS,
    help="The model that judges, for --record: NAME or NAME@URL. Several are a panel.",
)
@option("Files", "--force-exclude", **FORCE_EXCLUDE)
@with_settings
@option(HELP, "--version", **VERSION)
def run_tests(  # long, because click passes each option by itself
    *,
    paths: tuple[str, ...],
    form: str | None,
    output_file: str | None,
    quiet: bool,
    color: str,
    watch: bool,
    coverage: bool,
    catch_rate: bool,
    mutate: bool,
    fail_on: str,
    record: bool,
    models: tuple[Model, ...],
    force_exclude: bool,
    config: str | None,
    isolated: bool,
    **asking: Any,
) -> int:
    """Test rubrics on recorded judge outputs; only --record asks a model.

    PATHS are files named NAME.rubric-test.yaml and folders with such files, by default the current folder.
    """
    _check_call(paths, form, watch=watch, record=record, models=models, has_file=output_file is not None)
    check_sources(paths, None, config, isolated=isolated)

    from rubric_lint.cli.output import choose_format, open_report, spare  # noqa: PLC0415  (not needed by --help)
    from rubric_lint.project.settings import Overrides, SettingsFinder  # noqa: PLC0415
    from rubric_lint.project.settings_file import SettingsError  # noqa: PLC0415
    from rubric_lint.run.linting import LintRun  # noqa: PLC0415
    from rubric_lint.testing.reading import find_needed  # noqa: PLC0415
    from rubric_lint.testing.reviewing import list_figures  # noqa: PLC0415
    from rubric_lint.testing.running import Runner  # noqa: PLC0415

    escape_what_cannot_be_encoded()
    paths = paths or (".",)
    progress = Progress(sys.stderr)
    look = make_look(color, quiet=quiet, is_file=output_file is not None)
    chosen = choose_format(form, output_file)
    asked = {"coverage": coverage, "catch_rate": catch_rate, "mutate": mutate}
    code = Exit.CLEAN

    def run(finder: SettingsFinder, find: Any = find_tests, **_: Any) -> "Summary":
        runner = Runner(finder)
        with open_report(output_file, progress, look) as write:
            reporter = REPORTERS[chosen](write, look)
            lint = spare(output_file, lambda files: _run_all(runner, files, coverage=coverage, mutate=mutate))
            whole = LintRun(reporter, progress, find=find, lint=lint, undone="the rest was not checked")
            summary = whole.lint_all(paths, "", finder)
            summary = summary._replace(review=tuple(list_figures(runner, **asked)))
            reporter.end(summary)
            write_figures(_sum_up(runner, **asked), chosen, write)
        for line in () if quiet else _list_notes(runner):
            complain(line)
        return summary

    overrides = Overrides(force_exclude=force_exclude)
    try:
        if watch:
            files = {"find": find_tests, "lint": _look_for_changes, "needs": lambda name, _finder: find_needed(name)}
            return watch_files(paths, run, progress, overrides, config=config, isolated=isolated, **files)
        finder = SettingsFinder(overrides, file=config, isolated=isolated)
        if record:
            from rubric_lint.cli.test.record_tests import record_outputs  # noqa: PLC0415  (few runs ask a model)

            code = record_outputs(find_tests(paths, finder), Runner(finder), models, **asking)
        summary = run(finder)
    except SettingsError as wrong:
        for line in wrong.lines:
            complain(line)
        return Exit.USAGE
    if output_file is not None and not quiet:
        click.echo(summary)
    return max(code, _judge_summary(summary, fail_on, may_be_empty=force_exclude))


run_tests.params.sort(key=lambda param: _GROUPS.index(getattr(param, "group", _GROUPS[0])))


def _judge_summary(summary: "Summary", fail_on: str, *, may_be_empty: bool) -> Exit:
    """Return the exit code; `may_be_empty` if it is right that the settings exclude all files."""
    if summary.faults:
        return Exit.FAULT
    if summary.unreadable:
        return Exit.USAGE
    excluded = summary.excluded_files + summary.excluded_folders
    if not summary.tests and not summary.findings and not (may_be_empty and excluded):
        complain(NO_TESTS)
        return Exit.USAGE
    failing = {"error": summary.errors, "warning": summary.errors + summary.warnings, "never": 0}
    return Exit.FOUND if failing[fail_on] else Exit.CLEAN


def find_tests(
    paths: Iterable[str], finder: "SettingsFinder", skipped: "Skipped | None" = None
) -> "Iterator[File | Unreadable]":
    """Find the files with rubric tests; a named file of another name is an error."""
    from rubric_lint.project.files import Unreadable, find, tidy  # noqa: PLC0415
    from rubric_lint.testing.reading import is_test_file  # noqa: PLC0415

    paths = list(paths)
    named = {tidy(path) for path in paths}
    for file in find(paths, finder, skipped):
        if isinstance(file, Unreadable) or is_test_file(file.name):
            yield file
        elif file.name in named:
            yield Unreadable(file.name, "not a file with rubric tests; these are named NAME.rubric-test.yaml")


def _run_all(
    runner: "Runner", files: "Iterable[File | Unreadable]", *, coverage: bool, mutate: bool
) -> "Iterator[tuple[File | Unreadable, FileOutcome]]":
    """Run every test file, then look at the rubrics that they test."""
    from rubric_lint.project.files import Unreadable  # noqa: PLC0415
    from rubric_lint.testing.reviewing import review  # noqa: PLC0415

    for file in files:
        try:
            yield file, file if isinstance(file, Unreadable) else runner.run(file)
        except Exception as fault:
            yield file, fault
    if coverage or mutate:
        yield from review(runner, coverage=coverage, mutate=mutate)


def _sum_up(runner: "Runner", *, coverage: bool, catch_rate: bool, mutate: bool) -> Iterator[str]:
    from rubric_lint.testing import reviewing  # noqa: PLC0415

    if coverage:
        yield from reviewing.word_coverage(runner)
    if mutate:
        yield from reviewing.word_mutation(runner)
    if catch_rate:
        yield from reviewing.word_catches(runner)


def _list_notes(runner: "Runner") -> Iterator[str]:
    """Yield what was not tested or could not be compared."""
    for path, count in runner.idle.items():
        if count:
            verb = "output has" if count == 1 else "outputs have"
            yield f"{path}: {count} recorded {verb} no test"
    for path, count in runner.unhashed.items():
        them = "output does" if count == 1 else "outputs do"
        yield (
            f"{path}: {count} recorded {them} not say which meaning of the rubric the judge saw (`rubric_hash`), so "
            "changes of the rubric cannot be found"
        )


def _check_call(
    paths: tuple[str, ...], form: str | None, *, watch: bool, record: bool, models: tuple[Model, ...], has_file: bool
) -> None:
    if "-" in paths:
        raise click.UsageError("tests cannot be read from stdin, as they name other files; name a file")
    if record and not models:
        raise click.UsageError("--record requires --model, the name of the model that judges")
    context = click.get_current_context()
    given = [
        max(param.opts, key=len)
        for param in context.command.params
        if param.name in ("models", *_ASKING)
        and context.get_parameter_source(param.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given and not record:
        raise click.UsageError(f"{given[0]} requires --record; without it no model is asked")
    if watch and record:
        raise click.UsageError("--watch cannot be combined with --record; record separately")
    if watch:
        check_watch(form, has_file=has_file)


def _look_for_changes(
    files: "Iterable[File | Unreadable]", *, processes: int | None = None
) -> "Iterator[tuple[File | Unreadable, Result]]":
    """Yield an empty result for each file: all tests are run again when anything changes."""
    from rubric_lint.finding import Result  # noqa: PLC0415
    from rubric_lint.project.files import File  # noqa: PLC0415
    from rubric_lint.text.source import Source  # noqa: PLC0415

    del processes
    for file in files:
        yield file, Result(Source(file.name if isinstance(file, File) else file.path, ""), ())


@click.group(cls=DefaultGroup, default=run_tests)
def cli() -> None:
    """Group the commands."""


cli.add_command(init)


def main() -> NoReturn:
    """Run `rubric-test` as a program."""
    launch(cli, "rubric-test")

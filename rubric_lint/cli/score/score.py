"""Run `rubric-score`: turn judge outputs into scores and verdicts."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import click

from rubric_lint.cli.commands import HELP, Command, DefaultGroup, Exit, launch, option
from rubric_lint.cli.options import VERSION, Choice, FileName, SettingsOptions, with_settings
from rubric_lint.cli.score.judge import judge
from rubric_lint.cli.score.options import (
    STDIN,
    compact_option,
    extract_option,
    find_files,
    form_option,
    jobs_option,
    load,
    map_option,
    output_option,
    quiet_option,
    report_option,
    require_readable,
    rubric_argument,
    verdict_options,
)
from rubric_lint.cli.score.prompt import prompt, schema
from rubric_lint.cli.score.run import (
    Given,
    Target,
    assess_outputs,
    check_engine,
    check_output,
    judge_totals,
    prepare_extras,
    score_by_engine,
    score_files,
    write_all,
)
from rubric_lint.messages import UserError
from rubric_lint.project.inputs import OF_ENGINE

_EXAMPLES = {
    "rubric-score examples/summary.rubric.yaml examples/summary.outputs.jsonl": "Score judge outputs",
    "rubric-score --format json -q examples/summary.rubric.yaml examples/summary.outputs.jsonl": "Score for a program",
    "rubric-score --report scores.html examples/summary.rubric.yaml examples/summary.outputs.jsonl": "Write a page too",
}


_SHARE: dict[str, Any] = {"metavar": "SHARE", "type": click.FloatRange(0, 1, min_open=True, max_open=True)}


@click.command(
    "score",
    cls=Command,
    examples=_EXAMPLES,
    exits={
        Exit.CLEAN: "no verdict as bad as --fail-on, no invalid output, and no broken limit",
        Exit.FOUND: "a verdict as bad as --fail-on, an invalid output without --allow-invalid, or a broken limit",
        Exit.USAGE: "usage error, or a file that cannot be read or has errors",
    },
)
@click.argument("rubric", type=click.Path())
@click.argument("outputs", nargs=-1, required=True, type=click.Path(allow_dash=True))
@map_option("column or field", "output=response")
@jobs_option
@form_option
@output_option(more="; with --engine, to a folder")
@compact_option
@quiet_option
@option(
    "Cluster",
    "--engine",
    type=Choice(["ray"]),
    help="Score Parquet files in parts with Ray Data. Run it again to resume.",
)
@option(
    "Cluster",
    "--address",
    metavar="HOST:PORT",
    help="Cluster to use, or auto.  [default: RAY_ADDRESS, else one on this machine]",
)
@report_option
@option(
    "Report",
    "--compare",
    metavar="FILE",
    type=FileName(),
    help="List what got worse since another run: judge outputs, or results of rubric-score by any rubric.",
)
@option(
    "Report",
    "--labels",
    multiple=True,
    metavar="FILE",
    type=FileName(),
    help="Show in the report how well the judge agrees with these labels of people. Can be repeated.",
)
@verdict_options
@option(
    "Verdicts",
    "--fail-on-worse",
    is_flag=True,
    help="Exit with 1 if more answers got worse than better since --compare.",
)
@option(
    "Verdicts",
    "--min-pass-share",
    **_SHARE,
    help="Exit with 1 if fewer of the valid outputs pass. This and --fail-on-worse replace the default of --fail-on.",
)
@option(
    "Verdicts",
    "--max-invalid-share",
    **_SHARE,
    help="Exit with 1 if more outputs are invalid, instead of for each.",
)
@option(
    "Verdicts",
    "--fail-under-doubt",
    is_flag=True,
    help="Exit with 1 also where the 95% interval leaves one of these limits undecided.",
)
@extract_option("last")
@with_settings
@option(HELP, "--version", **VERSION)
def score(
    *,
    rubric: str,
    outputs: tuple[str, ...],
    mapping: dict[str, str],
    jobs: int | None,
    form: str | None,
    output: str | None,
    compact: bool,
    pass_at: Decimal | None,
    borderline_at: Decimal | None,
    fail_on: str,
    extract: str,
    allow_invalid: bool,
    quiet: bool,
    engine: str | None,
    address: str | None,
    report: str | None,
    compare: str | None,
    labels: tuple[str, ...],
    fail_on_worse: bool,
    min_pass_share: float | None,
    max_invalid_share: float | None,
    fail_under_doubt: bool,
    settings: SettingsOptions,
) -> int:
    """Score judge outputs by their rubrics.

    RUBRIC is a file with rubrics. OUTPUTS are files, folders or patterns: JSON Lines, JSON, CSV, TSV or Parquet, each
    also in gzip or zstd, or batch results of OpenAI or Anthropic; - reads stdin. An entry is a judge output, or a
    record or row {"id", "rubric", "output"} whose output is the object or the judge's raw text.
    """
    _check_report(outputs, report, compare, labels)
    limited = fail_on_worse, min_pass_share, max_invalid_share
    if fail_on_worse and not compare:
        raise click.UsageError("--fail-on-worse needs the earlier run; add --compare FILE")
    if fail_under_doubt and not any(limited):
        raise click.UsageError(
            "--fail-under-doubt is for limits; add --fail-on-worse, --min-pass-share or --max-invalid-share"
        )
    if engine and (compare or any(limited)):
        raise click.UsageError("--compare and its limits cannot be combined with --engine; score the files without it")
    if (fail_on_worse or min_pass_share) and _is_default("fail_on"):
        fail_on = "never"
    allow_invalid = allow_invalid or max_invalid_share is not None
    check_engine(engine, outputs, output, address, report=report, compact=compact, jobs=jobs, form=form)
    rubrics = load(rubric, settings, pass_at=pass_at, borderline_at=borderline_at)
    outputs = find_files(outputs)
    require_readable((*outputs, *([compare] if compare else []), *labels))
    if engine:
        return score_by_engine(
            rubrics,
            outputs,
            str(output),
            write_all,
            address=address,
            jobs=jobs,
            extract=extract,
            mapping=mapping,
            form=form,
            quiet=quiet,
            judge=lambda totals: judge_totals(totals, fail_on, allow_invalid=allow_invalid),
        )
    extras = None
    if report or compare:
        extras = prepare_extras(
            rubrics, outputs, compare, labels, extract=extract, mapping=mapping, has_page=report is not None
        )
        if extras is None:
            return Exit.USAGE
        if report:
            changed = [name for name in ("mapping", "extract", "pass_at", "borderline_at") if not _is_default(name)]
            assessed = (
                "the options --map, --extract, --pass and --borderline change how outputs are read or scored, which "
                "rubric-lint assess cannot do"
                if changed
                else assess_outputs(rubric, outputs, labels, settings.finder())
            )
            extras = extras._replace(told=extras.told._replace(assessed=assessed))
    limits = None
    if any(limited):
        from rubric_lint.agree.limits import Limits  # noqa: PLC0415  (few runs have limits)

        passing, invalid = (None if share is None else Fraction(str(share)) for share in limited[1:])
        limits = Limits(fail_on_worse, passing, invalid, fail_under_doubt)
    given = Given(rubric, outputs, (*([compare] if compare else []), *labels))
    target = Target(form, output, report, compact, quiet)
    code, totals = score_files(
        rubrics, given, target, extras, jobs=jobs, limits=limits, extract=extract, mapping=mapping
    )
    return code or judge_totals(totals, fail_on, allow_invalid=allow_invalid)


def _is_default(name: str) -> bool:
    """Return whether an option is not on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.DEFAULT


def _check_report(outputs: tuple[str, ...], report: str | None, compare: str | None, labels: tuple[str, ...]) -> None:
    """Reject options of the report that contradict each other.

    Raises:
        click.UsageError: when they do.
    """
    if labels and not report:
        raise click.UsageError("--labels is for the HTML report; add --report FILE.html")
    files = [*outputs, *([compare] if compare else []), *labels]
    if files.count(STDIN) > 1:
        raise click.UsageError("stdin can be read only once")
    if labels and STDIN in files:
        raise click.UsageError("--labels reads the outputs twice, so they cannot come from stdin; name a file")


@click.command(
    "merge",
    cls=Command,
    examples={
        "rubric-score merge examples/summary.rubric.yaml shards/ --format table": "See the totals of all shards",
        "rubric-score merge examples/summary.rubric.yaml 'shards/*.jsonl' -o all.parquet --report all.html": (
            "Write one file and one page"
        ),
    },
    exits={
        Exit.CLEAN: "no verdict as bad as --fail-on and no invalid result",
        Exit.FOUND: "a verdict as bad as --fail-on, or an invalid result without --allow-invalid",
        Exit.USAGE: "usage error, or a file that cannot be read, has errors or is not complete",
    },
)
@rubric_argument
@click.argument("results", nargs=-1, required=True, type=click.Path(allow_dash=True))
@jobs_option
@form_option
@output_option()
@compact_option
@quiet_option
@report_option
@verdict_options
@with_settings
def merge(
    *,
    file: str,
    results: tuple[str, ...],
    jobs: int | None,
    form: str | None,
    output: str | None,
    compact: bool,
    quiet: bool,
    report: str | None,
    pass_at: Decimal | None,
    borderline_at: Decimal | None,
    fail_on: str,
    allow_invalid: bool,
    settings: SettingsOptions,
) -> int:
    """Merge RESULTS of rubric-score by RUBRIC into one file, table and page.

    RESULTS are files of whole results, folders or patterns: JSON Lines, also in gzip or zstd, or Parquet; - reads
    stdin. Each result is checked against RUBRIC and written as it is, in the order of the files. Results by another
    version of the rubric are invalid.
    """
    if results.count(STDIN) > 1:
        raise click.UsageError("stdin can be read only once")
    check_output(output, form, report, compact=compact)
    rubrics = load(file, settings, pass_at=pass_at, borderline_at=borderline_at)
    left: list[str] = []
    found = find_files(results, left)
    require_readable(found)
    _require_complete((*found, *left))
    extras = prepare_extras(rubrics, found, None, (), extract="last", mapping={}) if report else None
    target = Target(form, output, report, compact, quiet)
    code, totals = score_files(rubrics, Given(file, found), target, extras, jobs=jobs, merges=True)
    return code or judge_totals(totals, fail_on, allow_invalid=allow_invalid)


def _require_complete(names: Sequence[str]) -> None:
    """Check that all runs that wrote the files were completed.

    Raises:
        UserError: naming those that were not.
    """
    faults = [
        f"{name}: not complete, as its run was interrupted; run it again, or delete the file"
        for name in names
        if name.endswith(".part")
    ]
    for folder in [Path(name).parent for name in names if Path(name).name == OF_ENGINE]:
        from rubric_lint.engines.cluster import find_progress  # noqa: PLC0415  (loads pyarrow)

        found = find_progress(folder)
        if found is None:
            faults.append(f"{folder / OF_ENGINE}: cannot be read, so it is unknown whether all parts are there")
        elif found.rows < found.of:
            faults.append(
                f"{folder}: not complete, {found.rows:,} of {found.of:,} outputs are scored; run rubric-score --engine "
                "again to score the others"
            )
    if faults:
        raise UserError(*faults)


@click.group(cls=DefaultGroup, default=score, late={"agree": "agree:agree", "compile": "compile_sql:compile_sql"})
def cli() -> None:
    """Group the commands."""


for command in (prompt, schema, judge, merge):
    cli.add_command(command)


def main() -> NoReturn:
    """Run `rubric-score` as a program."""
    launch(cli, "rubric-score")

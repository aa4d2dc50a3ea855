"""Define `rubric-score merge`, which joins results of parts into one table, one file and one page."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.help import Command
from rubric_lint.cli.options import with_settings
from rubric_lint.cli.score.rubric_argument import load, rubric_argument
from rubric_lint.cli.score.score_files import STDIN, are_readable, find_files
from rubric_lint.cli.score.score_options import (
    compact_option,
    form_option,
    jobs_option,
    output_option,
    quiet_option,
    report_option,
    verdict_options,
)
from rubric_lint.cli.score.score_output import check_output
from rubric_lint.cli.score.score_page import prepare_extras
from rubric_lint.cli.score.score_run import Given, Target, judge_totals, score_files
from rubric_lint.project.inputs import OF_ENGINE
from rubric_lint.run.console import complain


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
    config: str | None,
    isolated: bool,
) -> int:
    """Merge RESULTS of rubric-score by RUBRIC into one file, table and page.

    RESULTS are files of whole results, folders or patterns: JSON Lines, also in gzip or zstd, or Parquet; - reads
    stdin. Each result is checked against RUBRIC and written as it is, in the order of the files. Results by another
    version of the rubric are invalid.
    """
    if results.count(STDIN) > 1:
        raise click.UsageError("stdin can be read only once")
    check_output(output, form, report, compact=compact)
    rubrics = load(file, config=config, isolated=isolated, pass_at=pass_at, borderline_at=borderline_at)
    if rubrics is None:
        return Exit.USAGE
    left: list[str] = []
    found = find_files(results, left)
    if found is None or not are_readable(found) or not _are_complete((*found, *left)):
        return Exit.USAGE
    extras = prepare_extras(rubrics, found, None, (), extract="last", mapping={}) if report else None
    target = Target(form, output, report, compact, quiet)
    code, totals = score_files(rubrics, Given(file, found), target, extras, jobs=jobs, merges=True)
    return code or judge_totals(totals, fail_on, allow_invalid=allow_invalid)


def _are_complete(names: Sequence[str]) -> bool:
    """Return whether all runs that wrote the files were completed, and say which were not."""
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
    for fault in faults:
        complain(fault)
    return not faults

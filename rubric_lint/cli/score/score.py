"""Run `rubric-score`: turn judge outputs into scores and verdicts."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.cli.commands import COMMANDS, DefaultGroup, Exit
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import command
from rubric_lint.cli.score.options import check_reading, find_files, load, require_readable
from rubric_lint.lint.project.inputs import OF_ENGINE
from rubric_lint.model.messages import UserError

if TYPE_CHECKING:
    from rubric_lint.assess.diff.limits import RunLimits

_FILES = "examples/summary.rubric.yaml examples/summary.outputs.jsonl"


@command(
    "rubric outputs+",
    "map format:results output:results quiet report compare pass fail-on:verdict"
    " | borderline allow-invalid labels compact engine fail-on-worse min-pass-share max-invalid-share"
    " fail-under-doubt extract extra-fields grades config isolated version",
    examples={
        f"rubric-lint score {_FILES}": "Score judge outputs",
        f"rubric-lint score --format json -q {_FILES}": "Score for a program",
        f"rubric-lint score --report scores.html {_FILES}": "Write a page too",
    },
    exits={
        Exit.CLEAN: "no verdict as bad as --fail-on, no invalid judge output, and no broken limit",
        Exit.FOUND: "a verdict as bad as --fail-on, an invalid judge output without --allow-invalid, or a broken limit",
        Exit.USAGE: "usage error, or a file that cannot be read or has errors",
    },
    clashes="""
        --fail-on-worse needs --compare; it names the earlier run
        --fail-under-doubt needs --fail-on-worse --min-pass-share --max-invalid-share
        --labels needs --report
        --labels excludes -; it reads the outputs twice, so name a file
        --engine needs --output; it writes a folder
        --engine excludes --compare --fail-on-worse --min-pass-share --max-invalid-share; score without it
        --engine excludes --report
        --engine excludes --grades; score without it
        --engine excludes --compact; it writes Parquet
        --engine excludes -; it reads Parquet files
    """,
)
def score(given: Given) -> int:
    """Score judge outputs by their rubrics.

    RUBRIC is a file with rubrics. OUTPUTS are files, folders or patterns: JSON Lines, JSON, CSV, TSV or Parquet, each
    also in gzip or zstd, xlsx, batch results of OpenAI or Anthropic, or what AgentV, promptfoo, Inspect or Agent Skills
    wrote; - reads stdin. An entry is a judge output, or a record or row {"id", "rubric", "output"} that holds the
    object or the raw text.
    """
    from rubric_lint.cli.score import run

    # Who limits the whole allows single answers to fail, unless --fail-on says otherwise.
    if (given.fail_on_worse or given.min_pass_share) and _is_default("fail_on"):
        given.fail_on = "never"
    given.allow_invalid = given.allow_invalid or given.max_invalid_share is not None
    if not given.engine:
        run.check_output(given)
    rubrics = load(given.rubric, given, pass_at=given.pass_at, borderline_at=given.borderline_at)
    check_reading(given, rubrics)
    given.outputs = find_files(given.outputs)
    compared = [given.compare] if given.compare else []
    require_readable([*given.outputs, *compared, *given.labels])
    if given.engine:
        return run.score_by_engine(rubrics, given)
    extras = None
    if given.report or given.compare:
        extras = run.prepare_extras(rubrics, given)
    if extras and given.report:
        assessed = run.assess_outputs(given) if all(map(_is_default, _NOT_FOR_ASSESS)) else _NOT_ASSESSED
        extras = extras._replace(content=extras.content._replace(assessed=assessed))
    code, totals = run.score_files(rubrics, given, extras, limits=_make_limits(given))
    return code or run.judge_totals(totals, given)


_NOT_FOR_ASSESS = ("mapping", "extract", "extra_fields", "grades", "pass_at", "borderline_at")
_NOT_ASSESSED = (
    "--map, --extract, --extra-fields, --grades, --pass and --borderline change how outputs are read or scored, which "
    "`assess` cannot do"
)
"""The options of `score` with which a page has no assessment, and what it says then."""


def _is_default(name: str) -> bool:
    """Return whether the call does not name an option."""
    return click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.DEFAULT


def _make_limits(given: Given) -> "RunLimits | None":
    """Return the limits of the totals; None if no option names one."""
    if not (given.fail_on_worse or given.min_pass_share or given.max_invalid_share):
        return None
    from rubric_lint.assess.diff.limits import RunLimits

    shares = given.min_pass_share, given.max_invalid_share
    least_passing, most_invalid = (None if share is None else Fraction(str(share)) for share in shares)
    return RunLimits(given.fail_on_worse, least_passing, most_invalid, given.fail_under_doubt)


@command(
    "rubric results+",
    "format:results output:merged quiet report pass borderline fail-on:verdict allow-invalid | compact config isolated",
    examples={
        "rubric-lint merge examples/summary.rubric.yaml shards/ --format table": "See the totals of all shards",
        "rubric-lint merge examples/summary.rubric.yaml shards/ -o all.parquet --report all.html": (
            "Write one file and one page"
        ),
    },
    exits={
        Exit.CLEAN: "no verdict as bad as --fail-on and no invalid result",
        Exit.FOUND: "a verdict as bad as --fail-on, or an invalid result without --allow-invalid",
        Exit.USAGE: "usage error, or a file that cannot be read, has errors or is not complete",
    },
)
def merge(given: Given) -> int:
    """Merge RESULTS of `score` by RUBRIC into one file, table and page.

    RESULTS are files of whole results, folders or patterns: JSON Lines, also in gzip or zstd, or Parquet; - reads
    stdin. Each result is checked against RUBRIC and written as it is, in the order of the files. Results by another
    version of the rubric are invalid.
    """
    from rubric_lint.cli.score import run

    run.check_output(given)
    rubrics = load(given.rubric, given, pass_at=given.pass_at, borderline_at=given.borderline_at)
    not_read: list[str] = []
    found = find_files(given.results, not_read)
    require_readable(found)
    names = [*found, *not_read]
    # All runs that wrote the files must be complete.
    faults = [
        f"{name}: not complete, as its run was interrupted; run it again, or delete the file"
        for name in names
        if any(part.endswith(".part") for part in Path(name).parts)
    ]
    faults += [
        f"{name}: an earlier version wrote this folder, and its run may have been interrupted; count the rows, then "
        "delete this file, or score the outputs again"
        for name in names
        if Path(name).name == OF_ENGINE
    ]
    if faults:
        raise UserError(*faults)
    defaults: dict[str, Any] = {"compare": None, "labels": (), "mapping": {}, "outputs": found}
    reading: dict[str, Any] = {"extract": "last", "extra_fields": None, "grades": ()}
    given = Given(**{**vars(given), **defaults, **reading})
    extras = run.prepare_extras(rubrics, given) if given.report else None
    code, totals = run.score_files(rubrics, given, extras, merges=True)
    return code or run.judge_totals(totals, given)


cli = DefaultGroup(
    "cli",
    default=score,
    late={
        **{name: COMMANDS[name] for name in ("agree", "judge", "merge", "prompt")},
        "schema": "score.prompt:schema",
    },
)
"""The program, with the commands that work on judge outputs."""

"""Run `rubric-score`: turn judge outputs into scores and verdicts."""

import gc
import os
import sys
from contextlib import closing, nullcontext
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rubric_lint.cli.exits import Exit, launch
from rubric_lint.cli.group import DefaultGroup
from rubric_lint.cli.help import HELP, Command, option
from rubric_lint.cli.judge import judge
from rubric_lint.cli.options import VERSION, Choice, FileName, choice, open_page, with_settings
from rubric_lint.cli.prompt import prompt, schema
from rubric_lint.cli.rubric_argument import extract_option, load
from rubric_lint.cli.score_engine import check_engine, score_by_engine
from rubric_lint.cli.score_files import STDIN, are_readable, find_files, label, read_mapping_option, total_size
from rubric_lint.cli.score_output import ResultOutput
from rubric_lint.cli.score_page import prepare_extras, start_report, title_of
from rubric_lint.cli.terminal import columns
from rubric_lint.project.opening import open_stream
from rubric_lint.run.console import complain
from rubric_lint.run.progress import Progress

if TYPE_CHECKING:
    from rubric_lint.scoring.run import Scoring
    from rubric_lint.scoring.totals import Totals


def _read_threshold(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Decimal | None:
    """Read a score as an exact decimal."""
    if value is None:
        return None
    try:
        score = Decimal(value)
    except InvalidOperation:
        score = Decimal(-1)
    if not (score.is_finite() and 0 <= score <= 1) or len(value) > 30 or abs(score.adjusted()) > 30:
        raise click.BadParameter(f"{value!r} is not a score; expected a number from 0 to 1")
    return score


_SCORE: dict[str, Any] = {"metavar": "SCORE", "callback": _read_threshold}


_EXAMPLES = {
    "rubric-score examples/summary.rubric.yaml examples/summary.outputs.jsonl": "Score judge outputs",
    "rubric-score --format json -q examples/summary.rubric.yaml examples/summary.outputs.jsonl": "Score for a program",
    "rubric-score --report scores.html examples/summary.rubric.yaml examples/summary.outputs.jsonl": "Write a page too",
}


@click.command(
    "score",
    cls=Command,
    examples=_EXAMPLES,
    exits={
        Exit.CLEAN: "no verdict as bad as --fail-on and no invalid output",
        Exit.FOUND: "a verdict as bad as --fail-on, or an invalid output without --allow-invalid",
        Exit.USAGE: "usage error, or a file that cannot be read or has errors",
    },
)
@click.argument("rubric", type=click.Path())
@click.argument("outputs", nargs=-1, required=True, type=click.Path(allow_dash=True))
@option(
    "Input",
    "--map",
    "mapping",
    multiple=True,
    metavar="FIELD=COLUMN",
    callback=read_mapping_option,
    help="The column or field of the files that has FIELD, such as output=response. Can be repeated.",
)
@option(
    "Input",
    "--jobs",
    metavar="N",
    type=click.IntRange(1),
    help="Processes that score large inputs.  [default: one for each core]",
)
@option(
    "Output",
    "--format",
    "form",
    type=Choice(["jsonl", "json", "table"]),
    help="Output format.  [default: table on a terminal, else jsonl]",
)
@option(
    "Output",
    "-o",
    "--output",
    metavar="FILE",
    type=FileName(),
    help="Write the results to a .jsonl, .csv (also with .gz or .zst) or .parquet file; with --engine, to a folder.",
)
@option("Output", "--compact", is_flag=True, help="Write JSON Lines without criteria and the records' other fields.")
@option("Output", "-q", "--quiet", is_flag=True, help="Do not print the counts that jsonl and json add on stderr.")
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
@option(
    "Report",
    "--report",
    metavar="FILE.html",
    type=click.Path(dir_okay=False),
    help="Also write an HTML report with every answer.",
)
@option(
    "Report",
    "--compare",
    metavar="FILE",
    type=FileName(),
    help="Compare with another run in the report: judge outputs, or results of rubric-score by any rubric.",
)
@option(
    "Report",
    "--labels",
    multiple=True,
    metavar="FILE",
    type=FileName(),
    help="Show in the report how well the judge agrees with these labels of people. Can be repeated.",
)
@option("Verdicts", "--pass", "pass_at", **_SCORE, help="Lowest score that passes.  [default: the settings', or 0.8]")
@option(
    "Verdicts",
    "--borderline",
    "borderline_at",
    **_SCORE,
    help="Lowest score that is borderline.  [default: the settings', or 0.6]",
)
@option(
    "Verdicts",
    "--fail-on",
    metavar="VERDICT",
    **choice("fail", "borderline", "never"),
    help="Verdict that makes the exit code 1; worse ones do too.",
)
@option("Verdicts", "--allow-invalid", is_flag=True, help="Do not exit with 1 for invalid outputs; still show them.")
@extract_option
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
    config: str | None,
    isolated: bool,
) -> int:
    """Score judge outputs by their rubrics.

    RUBRIC is a file with rubrics. OUTPUTS are files, folders or patterns: JSON Lines, JSON, CSV, TSV or Parquet, each
    also in gzip or zstd, or batch results of OpenAI or Anthropic; - reads stdin. An entry is a judge output, or a
    record or row {"id", "rubric", "output"} whose output is the object or the judge's raw text.
    """
    from rubric_lint.report.scores import FORMS, Compact  # noqa: PLC0415
    from rubric_lint.run.batch import count_processors  # noqa: PLC0415
    from rubric_lint.scoring.candidates import Extract  # noqa: PLC0415
    from rubric_lint.scoring.run import Scoring  # noqa: PLC0415  (--help does without the engine)

    _check_report(outputs, report, compare, labels)
    check_engine(engine, outputs, output, address, report=report, compact=compact, jobs=jobs, form=form)
    rubrics = load(rubric, config=config, isolated=isolated, pass_at=pass_at, borderline_at=borderline_at)
    found = None if rubrics is None else find_files(outputs)
    if rubrics is None or found is None or not are_readable((*found, *([compare] if compare else []), *labels)):
        return Exit.USAGE
    outputs = found
    if engine:
        return score_by_engine(
            rubrics,
            outputs,
            str(output),
            _write_all,
            address=address,
            jobs=jobs,
            strict=extract == "strict",
            mapping=mapping,
            form=form,
            quiet=quiet,
            judge=lambda totals: _judge_run(totals, fail_on, allow_invalid=allow_invalid),
        )
    extras = prepare_extras(rubrics, outputs, compare, labels, extract=extract, mapping=mapping) if report else None
    if report and extras is None:
        return Exit.USAGE
    inputs = rubric, *outputs, *([compare] if compare else []), *labels
    results = ResultOutput(output, rubrics, inputs, compact=compact) if output else None
    form = form or ("table" if sys.stdout.isatty() and not (compact or output) else "jsonl")
    progress = Progress(sys.stderr, "scoring", "outputs", total_size(outputs))
    shares_terminal = sys.stdout.isatty()

    def write(text: str) -> None:
        if shares_terminal:
            progress.clear()
        _write_all(text.encode("utf-8", "backslashreplace"))

    writer = results or (Compact(write, rubrics) if compact else FORMS[form](write, columns()))
    page = start_report(rubrics, extras) if extras else None
    several = len(outputs) > 1
    scoring = Scoring(
        rubrics,
        writer.add,
        progress,
        page,
        several=several,
        extract=Extract(extract),
        mapping=mapping,
        jobs=jobs or count_processors(),
    )
    # Collect no garbage: everything loaded stays, and entries are freed without it.
    gc.freeze()
    gc.set_threshold(100_000)
    with (
        closing(page) if page else nullcontext(),
        closing(results) if results else nullcontext(),
        open_page(report, *inputs) as file,
        scoring,
    ):
        code = _score_streams(scoring, outputs, progress)
        writer.end(scoring.totals)
        if results and code is not Exit.INTERRUPTED:
            results.finish()
        for warning in (*scoring.warnings(), *(extras.warnings() if extras else ())):
            complain(warning)
        if code is not Exit.INTERRUPTED and form != "table" and not quiet:
            complain(str(scoring.totals))
        if page and file and extras:
            title = title_of(outputs, rubric) + (", interrupted" if code is Exit.INTERRUPTED else "")
            page.write(file.write, scoring.totals, title, extras.told._replace(repeated=scoring.repeated))
    return code or _judge_run(scoring.totals, fail_on, allow_invalid=allow_invalid)


def _score_streams(scoring: "Scoring", outputs: tuple[str, ...], progress: Progress) -> Exit:
    """Score everything, or until Ctrl-C; write warnings and counts to stderr."""
    from rubric_lint.scoring.blocks import InputError  # noqa: PLC0415

    code = Exit.CLEAN
    for name in outputs:
        try:
            with nullcontext(sys.stdin.buffer) if name == STDIN else open_stream(name) as stream:
                entries = scoring.run(name, stream)
        except KeyboardInterrupt:
            progress.clear()
            place = f"line {scoring.line}" if scoring.line else "the beginning"
            complain(f"interrupted at {place} of {label(name)}, after {scoring.totals}; the rest was not scored")
            return Exit.INTERRUPTED
        except InputError as fault:
            progress.clear()
            complain(f"{label(name)}: {fault}")
            code = Exit.USAGE
            continue
        progress.clear()
        if not entries:
            complain(f"{label(name)}: no outputs found")
            code = Exit.USAGE
    return code


def _check_report(outputs: tuple[str, ...], report: str | None, compare: str | None, labels: tuple[str, ...]) -> None:
    """Reject options of the report that contradict each other.

    Raises:
        click.UsageError: when they do.
    """
    for given, name in ((compare, "--compare"), (labels, "--labels")):
        if given and not report:
            raise click.UsageError(f"{name} is for the HTML report; add --report FILE.html")
    files = [*outputs, *([compare] if compare else []), *labels]
    if files.count(STDIN) > 1:
        raise click.UsageError("stdin can be read only once")
    if labels and STDIN in files:
        raise click.UsageError("--labels reads the outputs twice, so they cannot come from stdin; name a file")


def _write_all(data: bytes) -> None:
    """Write every byte; Python's buffered writer can lose the rest of a write that a signal interrupts."""
    try:
        descriptor = sys.stdout.fileno()
    except OSError:  # not backed by a file, so writes are complete
        sys.stdout.buffer.write(data)
        return
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _judge_run(totals: "Totals", fail_on: str, *, allow_invalid: bool) -> Exit:
    failing = {"fail": ("fail",), "borderline": ("fail", "borderline"), "never": ()}[fail_on]
    found = any(totals.verdicts[verdict] for verdict in totals.verdicts if verdict in failing)
    return Exit.FOUND if found or (totals.invalid and not allow_invalid) else Exit.CLEAN


@click.group(cls=DefaultGroup, default=score, late={"agree": "agree"})
def cli() -> None:
    """Group the commands."""


for command in (prompt, schema, judge):
    cli.add_command(command)


def main() -> NoReturn:
    """Run `rubric-score` as a program."""
    launch(cli, "rubric-score")

"""Score files and write their results, their totals and the HTML report."""

import gc
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.given import Given, repeat_command
from rubric_lint.cli.options import open_page, require_file_name
from rubric_lint.cli.output import choose_by_ending, make_style
from rubric_lint.lint.project.opening import STDIN, name_input, open_input, read_chunks
from rubric_lint.lint.project.paths import is_same
from rubric_lint.lint.project.writing import PartFile, WriteError, naming
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.model.messages import UserError, counted, to_data
from rubric_lint.model.suggest import format_need
from rubric_lint.report.scores import (
    FORMS,
    RESULT_ENDINGS,
    JsonLinesText,
    JsonText,
    TotalsText,
    check_name,
    open_results,
)
from rubric_lint.scoring.grading import ScoringRubric, read_line, stops
from rubric_lint.scoring.records.entries import InputError
from rubric_lint.scoring.records.mapping import JUDGE, select_side
from rubric_lint.scoring.records.parse_options import ParseOptions
from rubric_lint.scoring.records.streams import StreamOptions
from rubric_lint.scoring.run import ScoringRun, warn_of_other_rubric
from rubric_lint.scoring.totals import Totals

if TYPE_CHECKING:
    from rubric_lint.assess.diff.compare_runs import OtherRun
    from rubric_lint.assess.diff.limits import DecidedLimit, RunLimits
    from rubric_lint.report.assessment import AssessmentReport
    from rubric_lint.report.html import HtmlReport, PageContent
    from rubric_lint.scoring.output import RecordResult


_INCOMPLETE = {Exit.INTERRUPTED: ", interrupted", Exit.USAGE: ", without files that cannot be read"}
"""What the title of a page adds if it does not have all outputs."""


_MOST_REASONS = 5
"""How many reasons why records are not compared a run with --quiet warns of."""


def score_files(
    rubrics: Mapping[str, ScoringRubric],
    given: Given,
    extras: "ReportInputs | None",
    *,
    limits: "RunLimits | None" = None,
    merges: bool = False,
) -> tuple[Exit, Totals]:
    """Score files and write everything; return 0, or why something was not scored or fails, and the totals.

    `extras` has the other run, and what the page says, if there is one. With `merges`, the files hold results.

    Raises:
        click.UsageError: when a file cannot be written.
    """
    outputs = given.outputs
    inputs = [given.rubric, *outputs, *given.labels]
    if given.compare:
        inputs.append(given.compare)
    results = ResultOutput(given.output, rubrics, inputs, compact=given.compact) if given.output else None
    size = None if STDIN in outputs else _count_bytes(outputs)
    progress = Progress(sys.stderr, "scoring", "outputs", size)
    is_terminal = sys.stdout.isatty()
    usual = "table" if is_terminal and not (given.compact or given.output) else "jsonl"
    form = given.form or usual

    def write(text: str) -> None:
        if is_terminal:
            progress.clear()
        write_all(text)

    writer = results or _make_writer(form, write, compact=given.compact)
    page, other = (extras.page, extras.other) if extras else (None, None)
    observer = page or other
    add = observer.add if observer else None
    scoring = ScoringRun(
        rubrics,
        writer.add,
        progress,
        add,
        several=len(outputs) > 1,
        reading=ParseOptions.of(given.extract, given.extra_fields, given.grades),
        mapping=select_side(given.mapping, JUDGE),
        is_shared=extras is not None and extras.content.agreement is not None,
        merges=merges,
    )
    # Collect no garbage: everything loaded stays, and entries are freed without it.
    gc.freeze()
    gc.set_threshold(100_000)
    closing_page = closing(page) if page else nullcontext()
    closing_results = closing(results) if results else nullcontext()
    with (
        closing_page,
        closing_results,
        open_page(given.report, *inputs) as file,
    ):
        code = _score_streams(scoring, outputs, progress)
        decided = list(limits.decide(scoring.totals, other)) if limits else []
        parts = to_data({"comparison": other, "limits": decided, "invalid": scoring.causes})
        more = {name: part for name, part in parts.items() if part}
        writer.end(scoring.totals, more)
        warnings = list(scoring.warnings())
        if other:
            show = write if form == "table" else None
            warnings += _write_comparison(other, more["comparison"], given, show)
        if results and code is Exit.CLEAN:
            results.finish()
        for warning in warnings:
            complain(warning)
        if code is not Exit.INTERRUPTED and form != "table" and not given.quiet:
            _complain_of_totals(scoring)
        if page and file and extras:
            content = extras.content._replace(repeated=scoring.repeated, agentv=scoring.compared)
            page.write(file.write, scoring.totals, _write_title(given, code), content)
    if limits and code is Exit.CLEAN:
        code = _complain_of_limits(limits, decided, scoring, quiet=given.quiet)
    return code, scoring.totals


def _write_title(given: Given, code: Exit) -> str:
    first, *others = given.outputs
    name = Path(name_input(first)).name
    if others:
        name += f" and {len(others)} more"
    return f"{name} by {Path(given.rubric).name}{_INCOMPLETE.get(code, '')}"


def _complain_of_totals(scoring: ScoringRun) -> None:
    totals = scoring.totals
    if totals.invalid:
        complain(f"invalid: {scoring.causes.word()}")
    for line in [*totals.reading.format_lines(), str(totals)]:
        complain(line)


def _count_bytes(names: Iterable[str]) -> int:
    return sum(os.stat(name).st_size for name in names)  # noqa: PTH116 (a Path adds nothing here)


def _write_comparison(
    other: "OtherRun", found: "Mapping[str, Any]", given: Given, write: Callable[[str], None] | None
) -> list[str]:
    """Write what got worse since the other run, to the table or to stderr; return the warnings about that run."""
    from rubric_lint.report.changes import format_comparison

    name, warnings = name_input(given.compare), list(other.warnings())
    if given.quiet and not write:
        warnings += other.format_left_out(_MOST_REASONS)
    else:
        for line in format_comparison(found, name):
            if write:
                write(f"{line}\n")
            else:
                complain(line)
    return [f"warning: --compare: {name}: {warning}" for warning in warnings]


def _make_writer(form: str, write: Callable[[str], None], *, compact: bool) -> JsonLinesText | JsonText | TotalsText:
    if compact:
        return JsonLinesText(write, compact=True)
    return FORMS[form](write, make_style())


def _complain_of_limits(
    limits: "RunLimits", decided: "Sequence[DecidedLimit]", scoring: ScoringRun, *, quiet: bool
) -> Exit:
    """Write each limit with its decision, with `quiet` only those that are not kept; return whether one fails."""
    if quiet:
        decided = [limit for limit in decided if limit.is_open]
    if quiet and decided and scoring.totals.invalid:
        _complain_of_totals(scoring)
    for limit in decided:
        complain(str(limit))
    return Exit.FOUND if any(map(limits.fails, decided)) else Exit.CLEAN


def _score_streams(scoring: ScoringRun, outputs: tuple[str, ...], progress: Progress) -> Exit:
    """Score everything, or until Ctrl-C; write warnings and counts to stderr."""
    code = Exit.CLEAN
    for name in outputs:
        try:
            with open_input(name) as stream:
                entries = scoring.run(name, stream)
        except KeyboardInterrupt:
            progress.clear()
            place = f"line {scoring.line}" if scoring.line else "the beginning"
            complain(f"interrupted at {place} of {name_input(name)}, after {scoring.totals}; the rest was not scored")
            return Exit.INTERRUPTED
        except InputError as fault:
            progress.clear()
            complain(f"{name_input(name)}: {fault}")
            code = Exit.USAGE
            continue
        progress.clear()
        if not entries:
            complain(f"{name_input(name)}: no outputs found")
            code = Exit.USAGE
    return code


def write_all(text: str) -> None:
    """Write all of a text to stdout; Python's buffered writer can lose the rest of a write that a signal interrupts."""
    data = text.encode("utf-8", "backslashreplace")
    try:
        descriptor = sys.stdout.fileno()
    except OSError:  # not backed by a file, so writes are complete
        sys.stdout.buffer.write(data)
        return
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def judge_totals(totals: Totals, given: Given) -> Exit:
    """Return the exit code that totals earn."""
    line = read_line(given.fail_on)
    is_bad = given.fail_on != "never" and any(stops(verdict, line) for verdict, n in totals.verdicts.items() if n)
    is_invalid = totals.invalid and not given.allow_invalid and getattr(given, "max_invalid_share", None) is None
    return Exit.FOUND if is_bad or is_invalid else Exit.CLEAN


def check_output(given: Given) -> None:
    """Reject a file of results that cannot be written, and options that contradict it.

    Raises:
        click.UsageError: when there is one.
    """
    if given.output is None:
        if given.compact and given.form in {"json", "table"}:
            raise click.UsageError("--compact is for JSON Lines; leave out --format")
        return
    require_file_name(given.output, "--output")
    if given.form:
        raise click.UsageError("--format is for stdout; the name of --output says the format of the file")
    if given.report and is_same(given.report, given.output):
        raise click.UsageError("--output and --report name the same file")
    choose_by_ending(given.output, RESULT_ENDINGS, advice="; all but .parquet also with .gz or .zst")
    try:
        check_name(given.output, compact=given.compact)
    except (ValueError, ImportError) as fault:
        raise click.UsageError(f"--output: {fault}") from None


class ResultOutput:
    """A file of results, which gets its name when it is complete; use `closing` with it."""

    def __init__(self, name: str, rubrics: Mapping[str, ScoringRubric], read: Sequence[str], *, compact: bool) -> None:
        """Open the file; raise click.UsageError when it cannot be written, or is one of the files `read`."""
        if any(input_name != STDIN and is_same(input_name, name) for input_name in read):
            raise click.UsageError(f"--output: {name}: is also an input; name another file")
        try:
            self._file = PartFile(name)
        except WriteError as fault:
            raise click.UsageError(f"--output: {name}: {fault}") from None
        with naming(self._file.name):
            self._writer = open_results(name, self._file.stream, rubrics, compact=compact)

    def add(self, results: "list[RecordResult]") -> None:
        """Write some results."""
        with naming(self._file.name):
            self._writer.add(results)

    def end(self, _totals: Totals, _more: "Mapping[str, Any]") -> None:
        """Write what is not written yet."""
        with naming(self._file.name):
            self._writer.end()
        count = self._writer.formulas
        if count:
            ids = counted(count, "id begins", "ids begin")
            complain(
                f"warning: {self._file.name}: {ids} like a formula (=, +, - or @), and ids are written as they are; "
                "in a spreadsheet, import that column as text"
            )

    def finish(self) -> None:
        """Give the complete file its name."""
        self._file.finish()

    def close(self) -> None:
        """Say so if the file is not complete."""
        if self._file.stream.closed:
            return
        with suppress(Exception):  # what could not be written cannot be written now
            self._writer.end()
        self._file.leave()
        if self._file.part:
            complain(f"{self._file.name} was not written; {self._file.part} has the results so far")


class ReportInputs(NamedTuple):
    """What a run needs before the first output: the page, what it says, and the other run to compare with, if any."""

    other: "OtherRun | None"
    content: "PageContent"
    page: "HtmlReport | None"


def prepare_extras(rubrics: dict[str, ScoringRubric], given: Given) -> ReportInputs:
    """Read the other run and the labels before the first output; raise UserError if one is unusable."""
    from rubric_lint.cli.score.agree import measure_agreement
    from rubric_lint.report.html import HtmlReport, PageContent
    from rubric_lint.report.page_answers import RecordTexts

    extras = PageContent(made=_read_date(), results=given.output or "", command=_format_command(given))
    other = texts = None
    compare, labels = given.compare, given.labels
    reading = ParseOptions.of(given.extract, given.extra_fields, given.grades)
    if compare is not None:
        from rubric_lint.assess.diff.compare_runs import OtherRun

        texts = RecordTexts() if given.report else None
        keep = texts.add if texts else lambda _: None
        other = OtherRun(rubrics, reading, keep)
        if not other.read(read_chunks(compare), StreamOptions(select_side(given.mapping, JUDGE), compare)):
            if texts:
                texts.close()
            raise UserError(f"--compare: {name_input(compare)}: no outputs found")
        extras = extras._replace(other=Path(name_input(compare)).name)
    if labels:
        results = given.outputs
        if compare and other and other.is_by_our_rubrics:
            results = (*results, compare)
        agreement = measure_agreement(rubrics, results, labels, reading, given.mapping)
        extras = extras._replace(agreement=agreement)
    page = HtmlReport(rubrics, other, texts) if given.report else None
    return ReportInputs(other, extras, page)


def _format_command(given: Given) -> str:
    """Return the command of this run with a table of all results as its output."""
    inputs: tuple[str, ...] = vars(given).get("outputs") or given.results
    is_input = any(is_same(name, "results.csv") for name in inputs)
    # What is for stdout is left out.
    output = "all-results.csv" if is_input else "results.csv"
    return repeat_command(click.get_current_context(), without=("form", "compact", "output"), output=output)


_MOST_ASSESSED = 64 << 20
"""The most bytes of outputs to assess for a page: all are held in memory at once."""


def assess_outputs(given: Given) -> "AssessmentReport | str":
    """Assess the rubrics by these judge outputs as `rubric-lint assess` does, or return why that is not possible."""
    from rubric_lint.assess.measure.decision import MeasureOptions
    from rubric_lint.cli.lint.assessing import LintedFile
    from rubric_lint.report import assessment, trust

    outputs = given.outputs
    if STDIN in outputs:
        return "the outputs came from stdin, which can be read only once"
    if _count_bytes(outputs) > _MOST_ASSESSED:
        return f"the outputs have more than {_MOST_ASSESSED >> 20} MB; `assess` takes them"
    try:
        linted = LintedFile(given.rubric, given.finder())
        found = linted.assess(outputs, given.labels, MeasureOptions(line=read_line(given.fail_on)))
    except UserError as fault:
        return str(fault)
    files = given.rubric, outputs[0], outputs, given.labels
    return assessment.AssessmentReport(
        found,
        trust.RunInputs(
            *files, linted.records, linted.unmatched, linted.ignored, refused=linted.refused, settings=given.settings
        ),
    )


def _read_date() -> date:
    """Return the date for the report: today, or that of SOURCE_DATE_EPOCH, which makes reports reproducible."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        return datetime.now(UTC).date()
    try:
        return datetime.fromtimestamp(int(given), UTC).date()
    except (ValueError, OverflowError, OSError):
        raise click.UsageError(f"SOURCE_DATE_EPOCH: {given!r} is not a number of seconds since 1970") from None


def score_by_engine(rubrics: dict[str, ScoringRubric], given: Given) -> Exit:
    """Score Parquet files with Ray into a folder, and write the totals; return the exit code."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing about the run leaves the cluster
    os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "1")  # not for minutes, if there is no cluster
    try:
        from rubric_lint.arrow import map_batches
        from rubric_lint.scoring.engines.ray_data import score_files

        score = map_batches(rubrics, extract=given.extract, extra_fields=given.extra_fields)
    except ImportError:
        raise UserError(f"--engine ray {format_need('ray')}") from None
    totals, judged_otherwise = score_files(given.outputs, select_side(given.mapping, JUDGE), score, Path(given.output))
    usual = "table" if sys.stdout.isatty() else "jsonl"
    form = given.form or usual
    more: dict[str, Any] = {"invalid": []} if totals.invalid else {}
    FORMS[form](write_all, make_style()).end(totals, more)
    if judged_otherwise:
        complain(warn_of_other_rubric(judged_otherwise))
    if form != "table" and not given.quiet:
        for line in [*totals.reading.format_lines(), str(totals)]:
            complain(line)
    return judge_totals(totals, given)

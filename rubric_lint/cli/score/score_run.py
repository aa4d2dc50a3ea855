"""Score files and write their results, their totals and the HTML report."""

import gc
import os
import sys
from collections.abc import Mapping
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.options import open_page
from rubric_lint.cli.score.score_files import STDIN, label, total_size
from rubric_lint.cli.score.score_output import ResultOutput
from rubric_lint.cli.score.score_page import Prepared, start_report, title_of
from rubric_lint.cli.terminal import make_look
from rubric_lint.project.opening import open_stream
from rubric_lint.run.console import complain
from rubric_lint.run.progress import Progress

if TYPE_CHECKING:
    from rubric_lint.scoring.grading import ScoringRubric
    from rubric_lint.scoring.run import Scoring
    from rubric_lint.scoring.totals import Totals


_HALF = {Exit.INTERRUPTED: ", interrupted", Exit.USAGE: ", without files that cannot be read"}
"""What the title of a page adds if it does not have all outputs."""


class Target(NamedTuple):
    """Where and how results are written: the format on stdout, or a file; and the page, if there is one."""

    form: str | None
    output: str | None
    report: str | None
    compact: bool
    quiet: bool


class Given(NamedTuple):
    """What is scored: the file of the rubrics, the files of outputs, and the other files that are read."""

    rubric: str
    outputs: tuple[str, ...]
    others: tuple[str, ...] = ()


def score_files(
    rubrics: "Mapping[str, ScoringRubric]",
    given: Given,
    target: Target,
    extras: Prepared | None,
    *,
    jobs: int | None,
    extract: str = "last",
    mapping: Mapping[str, str] | None = None,
    merges: bool = False,
) -> "tuple[Exit, Totals]":
    """Score files and write everything; return 0 or why something was not scored, and the totals.

    `extras` is what the page says, if there is one. With `merges`, the files hold results.

    Raises:
        click.UsageError: when a file cannot be written.
    """
    from rubric_lint.outputs.verdict import Extract  # noqa: PLC0415
    from rubric_lint.report.scores import FORMS, Compact  # noqa: PLC0415
    from rubric_lint.run.batch import count_processors  # noqa: PLC0415
    from rubric_lint.scoring.run import Scoring  # noqa: PLC0415  (--help does without the engine)

    rubric, outputs, others = given
    form, output, report, compact, quiet = target
    inputs = rubric, *outputs, *others
    results = ResultOutput(output, rubrics, inputs, compact=compact) if output else None
    form = form or ("table" if sys.stdout.isatty() and not (compact or output) else "jsonl")
    progress = Progress(sys.stderr, "scoring", "outputs", total_size(outputs))
    shares_terminal = sys.stdout.isatty()

    def write(text: str) -> None:
        if shares_terminal:
            progress.clear()
        write_all(text.encode("utf-8", "backslashreplace"))

    writer = results or (Compact(write, rubrics) if compact else FORMS[form](write, make_look()))
    page = start_report(rubrics, extras) if extras else None
    scoring = Scoring(
        rubrics,
        writer.add,
        progress,
        page,
        several=len(outputs) > 1,
        extract=Extract(extract),
        mapping=mapping,
        jobs=jobs or count_processors(),
        merges=merges,
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
        if results and code is Exit.CLEAN:
            results.finish()
        for warning in (*scoring.warnings(), *(extras.warnings() if extras else ())):
            complain(warning)
        if code is not Exit.INTERRUPTED and form != "table" and not quiet:
            complain(str(scoring.totals))
        if page and file and extras:
            title = title_of(outputs, rubric) + _HALF.get(code, "")
            page.write(file.write, scoring.totals, title, extras.told._replace(repeated=scoring.repeated))
    return code, scoring.totals


def _score_streams(scoring: "Scoring", outputs: tuple[str, ...], progress: Progress) -> Exit:
    """Score everything, or until Ctrl-C; write warnings and counts to stderr."""
    from rubric_lint.outputs.blocks import InputError  # noqa: PLC0415

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


def write_all(data: bytes) -> None:
    """Write every byte to stdout; Python's buffered writer can lose the rest of a write that a signal interrupts."""
    try:
        descriptor = sys.stdout.fileno()
    except OSError:  # not backed by a file, so writes are complete
        sys.stdout.buffer.write(data)
        return
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def judge_totals(totals: "Totals", fail_on: str, *, allow_invalid: bool) -> Exit:
    """Return the exit code that totals earn."""
    failing = {"fail": ("fail",), "borderline": ("fail", "borderline"), "never": ()}[fail_on]
    found = any(totals.verdicts[verdict] for verdict in totals.verdicts if verdict in failing)
    return Exit.FOUND if found or (totals.invalid and not allow_invalid) else Exit.CLEAN

"""Define `rubric-lint labels`, which draws answers and writes the sheet in which people judge them."""

from pathlib import Path

import click

from rubric_lint.cli.commands import Command, Exit, option
from rubric_lint.cli.options import FileName, SettingsOptions, require_file_name, with_settings
from rubric_lint.cli.score.options import load, rubric_argument
from rubric_lint.messages import UserError, visible

_CALL = "rubric-lint labels examples/summary.rubric.yaml answers.jsonl"


@click.command(
    "labels",
    cls=Command,
    examples={
        f"{_CALL} -o labels.xlsx": "Write a sheet for 60 answers, drawn at random",
        f"{_CALL} -o labels.csv --sample 100": "Write 100 of them as CSV",
    },
    exits={Exit.USAGE: "usage error, or a file that cannot be read, has errors or exists already"},
)
@rubric_argument
@click.argument("answers", type=click.Path(allow_dash=True))
@option(
    "Output",
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=FileName(),
    help="The sheet to write, .xlsx or .csv. An existing one is never replaced.",
)
@option(
    "Sample", "--sample", metavar="N", type=click.IntRange(1), default=60, show_default=True, help="Answers to draw."
)
@option("Sample", "--seed", metavar="N", type=click.IntRange(0), default=1, show_default=True, help="Seed of the draw.")
@with_settings
def labels(*, file: str, answers: str, output: str, sample: int, seed: int, settings: SettingsOptions) -> None:
    """Draw answers at random, and write the sheet in which people judge them.

    ANSWERS are those of `rubric-score judge`: {"id", "answer", "question"}, or its results. The sheet has the answers
    and an empty column for each criterion. Give each person a copy, named after the person, then pass the copies as
    --labels.
    """
    from rubric_lint.agree.sheets import SheetError, draw, lay_out, write_csv, write_excel  # noqa: PLC0415
    from rubric_lint.cli.score.agree import read_chunks  # noqa: PLC0415
    from rubric_lint.dialects.tables.excel_file import NEEDS, has_openpyxl  # noqa: PLC0415
    from rubric_lint.judge.answers import AnswersError, check_answers, read_answers  # noqa: PLC0415

    require_file_name(output, "--output")
    is_excel = output.lower().endswith(".xlsx")
    if not is_excel and not output.lower().endswith(".csv"):
        raise click.UsageError(f"--output: {output}: the name must end in .xlsx or .csv")
    if is_excel and not has_openpyxl():
        raise click.UsageError(f"--output: writing an Excel file {NEEDS}")
    rubrics = load(file, settings)
    chunks = [*read_chunks(answers)]
    try:
        check_answers(chunks, rubrics, taken=frozenset())  # results have the answers too
        drawn, total = draw(read_answers(chunks, rubrics), sample, seed)
        rows = lay_out(drawn, rubrics)
        data = write_excel(rows, rubrics.values()) if is_excel else write_csv(rows)
    except AnswersError as wrong:
        raise UserError(*(f"{answers}: {fault}" for fault in wrong.faults)) from None
    except SheetError as wrong:
        raise UserError(f"{output}: {wrong}") from None
    try:
        with Path(output).open("xb") as stream:
            stream.write(data)
    except FileExistsError:
        raise click.UsageError(f"{output} already exists and may be filled in; name another file") from None
    except OSError as fault:
        raise click.UsageError(f"cannot write {output}: {fault.strerror}") from None
    chosen = (
        f"{len(drawn):,} of {total:,} answers, drawn at random (seed {seed})" if len(drawn) < total else "all answers"
    )
    click.echo(f"Wrote {visible(output)}: {chosen}. Fill it in, then run:", err=True)
    click.echo(f"  rubric-score agree {visible(file)} RESULTS --labels {visible(output)}", err=True)

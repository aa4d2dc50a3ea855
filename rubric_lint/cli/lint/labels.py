"""Define `rubric-lint labels`, which draws answers and writes the sheet in which people judge them."""

from pathlib import Path

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.options import Given, command, require_file_name
from rubric_lint.cli.score.options import load, require_existing
from rubric_lint.messages import UserError, visible

_CALL = "rubric-lint labels examples/summary.rubric.yaml answers.jsonl"


@command(
    "rubric answers",
    "output:sheet! sample labels:done results:valid seed:draw | config isolated",
    short="Write the sheet in which people judge answers.",
    examples={
        f"{_CALL} -o labels.xlsx": "Write a sheet for 60 answers, drawn at random",
        f"{_CALL} -o labels.csv --sample 100": "Write 100 of them as CSV",
        f"{_CALL} -o labels-2.csv --labels labels.csv": "Write others, without those that are labelled",
    },
    exits={Exit.USAGE: "usage error, or a file that cannot be read, has errors or exists already"},
)
def labels(given: Given) -> None:
    """Draw answers at random, and write the sheet in which people judge them.

    ANSWERS are those of `judge`: {"id", "answer", "question"}, or its results. The sheet has the answers
    and an empty column for each criterion. Give each person a copy, named after the person, then pass the copies as
    --labels.
    """
    from rubric_lint.agree.reading import UnusableError  # noqa: PLC0415
    from rubric_lint.agree.sheets import SheetError, draw, find_open, lay_out, write_csv, write_excel  # noqa: PLC0415
    from rubric_lint.cli.score.agree import read_chunks  # noqa: PLC0415
    from rubric_lint.dialects.tables.excel_file import NEEDS, has_openpyxl  # noqa: PLC0415
    from rubric_lint.judge.answers import AnswersError, check_answers, read_answers  # noqa: PLC0415

    require_file_name(given.output, "--output")
    is_excel = given.output.lower().endswith(".xlsx")
    if not is_excel and not given.output.lower().endswith(".csv"):
        raise click.UsageError(f"--output: {given.output}: the name must end in .xlsx or .csv")
    if is_excel and not has_openpyxl():
        raise click.UsageError(f"--output: writing an Excel file {NEEDS}")
    rubrics = load(given.rubric, given)
    chunks = [*read_chunks(given.answers)]
    try:
        check_answers(chunks, rubrics, taken=frozenset())  # results have the answers too
        for names in (given.results, given.labels):
            require_existing(names)
        results, done = ({name: read_chunks(name) for name in names} for names in (given.results, given.labels))
        allowed = find_open(rubrics, results, done)
        drawn, total = draw(filter(allowed, read_answers(chunks, rubrics)), given.sample, given.seed)
        if not drawn:
            raise UserError(f"{given.answers}: no answer is left to label")
        rows = lay_out(drawn, rubrics)
        data = write_excel(rows, rubrics.values()) if is_excel else write_csv(rows)
    except UnusableError as wrong:
        raise UserError(str(wrong)) from None
    except AnswersError as wrong:
        raise UserError(*(f"{given.answers}: {fault}" for fault in wrong.faults)) from None
    except SheetError as wrong:
        raise UserError(f"{given.output}: {wrong}") from None
    try:
        with Path(given.output).open("xb") as stream:
            stream.write(data)
    except FileExistsError:
        raise click.UsageError(f"{given.output} already exists and may be filled in; name another file") from None
    except OSError as fault:
        raise click.UsageError(f"cannot write {given.output}: {fault.strerror}") from None
    chosen = (
        f"{len(drawn):,} of {total:,} answers, drawn at random (seed {given.seed})"
        if len(drawn) < total
        else f"all {total:,} that are open"
        if given.labels or given.results
        else "all answers"
    )
    click.echo(f"Wrote {visible(given.output)}: {chosen}. Fill it in, then run:", err=True)
    click.echo(f"  rubric-lint agree {visible(given.rubric)} RESULTS --labels {visible(given.output)}", err=True)

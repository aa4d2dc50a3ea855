"""Define `rubric-score compile`, which writes a rubric as a query for a database."""

import os

import click

from rubric_lint.cli.commands import Command, Exit, option
from rubric_lint.cli.options import Choice, FileName, SettingsOptions, choice, open_output, with_settings
from rubric_lint.cli.score.options import extract_option, load, rubric_argument
from rubric_lint.cli.score.prompt import NAME, choose_rubric
from rubric_lint.run.console import complain

_TARGETS = ("duckdb", "spark-sql")

_CALL = "rubric-score compile examples/summary.rubric.yaml --to"


@click.command(
    "compile",
    cls=Command,
    examples={
        f"{_CALL} duckdb -o scores.sql": "Write a query for DuckDB",
        f"{_CALL} spark-sql --table judged.outputs": "Print a query for Spark SQL",
    },
    exits={Exit.USAGE: "usage error, or a file that cannot be read, has errors, or cannot be compiled"},
)
@rubric_argument
@NAME
@option("Input", "--table", metavar="TABLE", default="outputs", show_default=True, help="The table to read.")
@option(
    "Input",
    "--column-type",
    "column",
    **choice("text", "struct"),
    help="What the column `output` is: text or a struct.",
)
@option(
    "Input",
    "--field",
    "fields",
    multiple=True,
    metavar="NAME",
    help="A field that your judge adds, to be ignored. Can be repeated.",
)
@extract_option("last")
@option("Output", "--to", "target", required=True, type=Choice(_TARGETS), help="The database to write for.")
@option("Output", "-o", "--output", metavar="FILE", type=FileName(), help="Write the query to FILE, not to stdout.")
@with_settings
def compile_sql(
    *,
    file: str,
    name: str | None,
    table: str,
    column: str,
    fields: tuple[str, ...],
    extract: str,
    target: str,
    output: str | None,
    settings: SettingsOptions,
) -> int:
    """Write RUBRIC as an SQL query that scores judge outputs in a database.

    The query reads a table with the columns `id` and `output`, and returns a row for each output: points, score and
    verdict as `rubric-score` gives them, in integer arithmetic. Invalid outputs have an error. Outputs that only
    `rubric-score` can read, such as an object within prose, are marked as unread.
    """
    from rubric_lint.engines.sql import FieldError, compile_rubric  # noqa: PLC0415
    from rubric_lint.outputs.verdict import Extract  # noqa: PLC0415
    from rubric_lint.scoring.loading import RubricError  # noqa: PLC0415

    if not table.strip():
        raise click.UsageError("--table is empty; name a table")
    if not table.isprintable():
        raise click.UsageError("--table has an invisible character; name a table without one")
    if output is not None and os.path.realpath(output) == os.path.realpath(file):
        raise click.UsageError(f"--output: {output}: is the rubric and would be overwritten; name another file")
    rubric = choose_rubric(load(file, settings), name)
    how = Extract(extract)
    try:
        query = compile_rubric(rubric, target, table=table, extract=how, is_struct=column == "struct", extra=fields)
    except FieldError as wrong:
        raise click.UsageError(f"--field: {wrong}") from None
    except RubricError as wrong:
        for fault in wrong.faults:
            complain(f"{file}: {fault}")
        return Exit.USAGE
    if output is None:
        click.echo(query, nl=False)
        return Exit.CLEAN
    with open_output(output, "--output") as stream:
        stream.write(query)
    return Exit.CLEAN

"""Define `rubric-score compile`, which writes a rubric as a query for a database."""

import os

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.options import Given, command, open_output
from rubric_lint.cli.score.options import load
from rubric_lint.cli.score.prompt import choose_rubric
from rubric_lint.run.console import complain

_CALL = "rubric-lint compile examples/summary.rubric.yaml --to"


@command(
    "rubric",
    "to=duckdb,spark-sql! output rubric table column-type field | extract config isolated",
    name="compile",
    short="Write a rubric as an SQL query.",
    examples={
        f"{_CALL} duckdb -o scores.sql": "Write a query for DuckDB",
        f"{_CALL} spark-sql --table judged.outputs": "Print a query for Spark SQL",
    },
    exits={Exit.USAGE: "usage error, or a file that cannot be read, has errors, or cannot be compiled"},
)
def compile_sql(given: Given) -> int:
    """Write RUBRIC as an SQL query that scores judge outputs in a database.

    The query reads a table with the columns `id` and `output`, and returns a row for each output: points, score and
    verdict as `score` gives them, in integer arithmetic. Invalid outputs have an error. Outputs that only
    `score` can read, such as an object within prose, are marked as unread.
    """
    from rubric_lint.engines.sql import FieldError, compile_rubric  # noqa: PLC0415
    from rubric_lint.outputs.verdict import Extract  # noqa: PLC0415
    from rubric_lint.scoring.loading import RubricError  # noqa: PLC0415

    if not given.table.strip():
        raise click.UsageError("--table is empty; name a table")
    if not given.table.isprintable():
        raise click.UsageError("--table has an invisible character; name a table without one")
    if given.output is not None and os.path.realpath(given.output) == os.path.realpath(given.rubric):
        raise click.UsageError(f"--output: {given.output}: is the rubric and would be overwritten; name another file")
    rubric = choose_rubric(load(given.rubric, given), given.name)
    how = Extract(given.extract)
    try:
        query = compile_rubric(
            rubric, given.target, table=given.table, extract=how, is_struct=given.column == "struct", extra=given.fields
        )
    except FieldError as wrong:
        raise click.UsageError(f"--field: {wrong}") from None
    except RubricError as wrong:
        for fault in wrong.faults:
            complain(f"{given.rubric}: {fault}")
        return Exit.USAGE
    if given.output is None:
        click.echo(query, nl=False)
        return Exit.CLEAN
    with open_output(given.output, "--output") as stream:
        stream.write(query)
    return Exit.CLEAN

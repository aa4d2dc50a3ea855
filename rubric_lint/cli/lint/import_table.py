"""Define `rubric-lint import`, which makes rubrics of tables: CSV, Excel workbooks and Markdown."""

import sys
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.exits import Exit, writes_at_the_end
from rubric_lint.cli.help import Command, option
from rubric_lint.cli.inputs import find_settings, refuse
from rubric_lint.cli.options import STDIN_FILENAME, FileName, with_settings
from rubric_lint.cli.result_file import refuse_same_file, write_result
from rubric_lint.project.files import STDIN
from rubric_lint.run.console import complain
from rubric_lint.run.given import UnusableError, read_given
from rubric_lint.run.progress import Progress

if TYPE_CHECKING:
    from rubric_lint.project.settings import FileSettings


@click.command(
    "import",
    cls=Command,
    examples={
        "rubric-lint import rubric.csv -o answers.rubric.yaml": "Write a rubric file",
        "rubric-lint import checks.csv --map expected_outcome=Requirement": "Say what a column holds",
        "rubric-lint import marks.csv --rescale 1..3": "Turn another scale into bands from 0 to 10",
    },
    exits={
        Exit.FOUND: "a table without a single meaning, or a rubric with errors; nothing was written",
        Exit.USAGE: "usage error, or a file that cannot be read",
    },
)
@click.argument("file", type=click.Path(allow_dash=True))
@option(
    "Output",
    "-o",
    "--output",
    metavar="FILE",
    type=FileName(),
    help="File to write or replace.  [default: stdout]",
)
@option(
    "Columns",
    "--map",
    "mapped",
    metavar="FIELD=COLUMN",
    multiple=True,
    help="Read a column as a field (such as weight), a level (level 4) or scores (score 0-3). Repeatable.",
)
@option(
    "Columns", "--ignore-column", "ignored", metavar="COLUMN", multiple=True, help="Leave out a column. Repeatable."
)
@option(
    "Columns", "--rescale", metavar="LOW..HIGH", help="Turn whole scores of this scale, such as 1..5, into 0 to 10."
)
@option("Input", "--rubric", "name", metavar="NAME", help="Import only this sheet, or the table under this heading.")
@option("Input", "--header-row", metavar="N", type=click.IntRange(min=1), help="Row, or line of CSV, of the header.")
@option("Input", "--stdin-filename", **STDIN_FILENAME)
@with_settings
@writes_at_the_end
def import_table(
    *,
    file: str,
    output: str | None,
    mapped: tuple[str, ...],
    ignored: tuple[str, ...],
    rescale: str | None,
    name: str | None,
    header_row: int | None,
    stdin_filename: str | None,
    config: str | None,
    isolated: bool,
) -> int:
    """Write the tables of FILE as a rubric file.

    FILE is CSV, an Excel workbook (.xlsx, with the extra `excel`) or Markdown, such as rubric-lint convert writes. Each
    table is a rubric, and the words in its header say what its columns hold. The rubrics are linted at once, and
    findings name the cells. FILE may be - for stdin, or REV:PATH for a file in a Git revision.
    """
    from rubric_lint.lint.importing import ChoiceError, TableFile, choose, import_tables  # noqa: PLC0415

    if stdin_filename and file != STDIN:
        raise click.UsageError("--stdin-filename requires the path -, which reads stdin")
    refuse_same_file(file, output)
    progress = Progress(sys.stderr, "importing", "rows")
    try:
        choices = choose(_read_pairs(mapped), ignored, rescale, name, header_row)
        given = read_given(file, stdin_filename)
        settings = _settings_of(given.path, config, isolated=isolated)
        with progress.reporting_interrupt(lambda: "before anything was written"):
            imported = import_tables(TableFile(*given), settings, choices, progress.show_phase)
    except UnusableError as unusable:
        return refuse(unusable)
    except ChoiceError as wrong:
        raise click.UsageError(str(wrong)) from None
    finally:
        progress.clear()
    for each in imported.messages:
        complain(each.word())
    if not imported.text:
        return Exit.USAGE if imported.is_unreadable else Exit.FOUND
    return write_result(imported.text.encode(), output)


def _settings_of(path: str, config: str | None, *, isolated: bool) -> "FileSettings":
    from rubric_lint.project.settings_file import SettingsError  # noqa: PLC0415

    try:
        return find_settings(config, isolated=isolated).for_file(path)
    except SettingsError as wrong:
        raise UnusableError(*wrong.lines) from None


def _read_pairs(mapped: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the pairs of a column and its field.

    Raises:
        click.UsageError: if an option has a wrong form.
    """
    pairs = []
    for each in mapped:
        field, mark, column = each.partition("=")
        if not (mark and field.strip() and column.strip()):
            raise click.UsageError(f"--map {each}: expected FIELD=COLUMN, such as weight=Points")
        pairs.append((column, field))
    return pairs

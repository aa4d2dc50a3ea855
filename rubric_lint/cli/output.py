"""Where the report goes: to standard output, or to a file that is there whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from rubric_lint.batch import Outcome
from rubric_lint.cli.options import open_output
from rubric_lint.files import File, Unreadable
from rubric_lint.finding import Result
from rubric_lint.linting import Lint
from rubric_lint.progress import Progress
from rubric_lint.report import Look, Write


def choose_format(asked: str | None, output_file: str | None) -> str:
    """The format that was asked for, or the one that fits where the report goes."""
    if asked is not None:
        return asked
    is_on_github = os.environ.get("GITHUB_ACTIONS") == "true" and output_file is None
    return "github" if is_on_github else "full"


@contextmanager
def open_report(name: str | None, progress: Progress, look: Look) -> Iterator[Write]:
    """What takes the report; the file `name`, when given, is replaced at the end, and only if nothing is raised.

    Raises:
        click.UsageError: when the file cannot be written.
    """
    if name is not None:
        with open_output(name, "--output-file") as stream:
            yield stream.write
        return

    def write(text: str) -> None:
        progress.clear()
        click.echo(text, nl=False, color=look.color)

    yield write


def spare(name: str | None, lint: Lint) -> Lint:
    """As `lint`, but the file `name`, to which the report is to go, is not replaced when it holds rubrics itself.

    Raises:
        click.UsageError: by what is returned, when it does.
    """
    if name is None:
        return lint
    real = os.path.realpath(name)

    def lint_all(files: Iterable[File | Unreadable]) -> Iterator[tuple[File | Unreadable, Outcome]]:
        for file, outcome in lint(files):
            # An earlier report is JSON too, and may be found; it holds nothing of ours.
            is_ours = isinstance(outcome, Result) and bool(outcome.rubrics or outcome.findings)
            if is_ours and isinstance(file, File) and os.path.realpath(file.name) == real:
                raise click.UsageError(f"--output-file: {name} holds rubrics, which would be lost; name another file")
            yield file, outcome

    return lint_all

"""Imports a file as `rubric-lint import` does, in this process."""

from pathlib import Path

import click
from click.testing import CliRunner

from rubric_lint.cli.lint.lint import cli

HEAD = "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v2.schema.json\nrubrics:\n"


def import_file(name, content, *options):
    """The exit code, the rubrics without the first lines of a rubric file, and what is said without the program's name.

    The content goes to a file in the current folder, or to stdin for `-`.
    """
    data = content if isinstance(content, bytes) else content.encode()
    if name != "-":
        Path(name).write_bytes(data)
    done = CliRunner().invoke(cli, ["import", name, *options], data, prog_name="rubric-lint", standalone_mode=False)
    if isinstance(done.exception, click.UsageError):
        return 2, done.stdout, f"Error: {done.exception.message}\n"
    assert done.exception is None, done.exception
    return done.return_value, done.stdout.removeprefix(HEAD), done.stderr.replace("rubric-lint: ", "")

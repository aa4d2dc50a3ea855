"""The commands of all programs, and what a command line prints."""

import io
import shlex

import click
from click.testing import CliRunner

from rubric_lint.cli.fix.fix import fix
from rubric_lint.cli.lint.lint import cli as lint
from rubric_lint.cli.score.score import cli as score
from rubric_lint.cli.test.test import cli as rubric_test


PROGRAMS = {"rubric-lint": lint, "rubric-fix": fix, "rubric-score": score, "rubric-test": rubric_test}


def walk(command, path):
    """Each command with the words that call it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path, **command.context_settings)
        for name in command.list_commands(context):
            yield from walk(command.get_command(context, name), f"{path} {name}")


PATHS = dict(pair for name, command in PROGRAMS.items() for pair in walk(command, name))


def call(line, **more):
    """What a command line prints on both streams, and its exit code."""
    program, *args = shlex.split(line)
    done = CliRunner().invoke(PROGRAMS[program], args, prog_name=program, standalone_mode=False, **more)
    told = io.StringIO(done.stderr)
    told.seek(0, io.SEEK_END)
    if isinstance(done.exception, click.ClickException):
        done.exception.show(told)
        return done.stdout, told.getvalue(), done.exception.exit_code
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.stdout, told.getvalue(), done.return_value or done.exit_code

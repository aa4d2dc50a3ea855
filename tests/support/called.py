"""The commands of all programs, and what a command line prints."""

import shlex

import click
import commands

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
    return commands.call(*shlex.split(line), **more)

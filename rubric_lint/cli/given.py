"""The values of a call, and the command that repeats it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import click

from rubric_lint.model.suggest import Value, suggest

if TYPE_CHECKING:
    from collections.abc import Collection

    from rubric_lint.lint.project.settings import Overrides, SettingsFinder

GIVEN = f"{__name__}.given"
"""In the `meta` of a context: the values of options as they were given, by their names, before they are read."""


class Given(SimpleNamespace):
    """The values of the arguments and options of a call, by their names."""

    @property
    def settings(self) -> dict[str, Value]:
        """The options that choose the settings, for commands that are suggested."""
        return {"config": self.config, "isolated": self.isolated}

    @property
    def map(self) -> list[str]:
        """The values of `--map`, for commands that are suggested."""
        return [f"{field}={path}" for field, path in self.mapping.items()]

    @property
    def named_answers(self) -> str:
        """The file of answers for commands that are suggested; FILE if they came from stdin, which is read once."""
        from rubric_lint.lint.project.opening import STDIN

        return "FILE" if self.answers == STDIN else str(self.answers)

    @property
    def overrides(self) -> Overrides:
        """The options that override the settings; a command has all of them, some or none."""
        from rubric_lint.lint.project.settings import Overrides

        values = vars(self)
        select, ignore = values.get("select") or None, values.get("ignore", frozenset())
        return Overrides(select, ignore, values.get("force_exclude", False))

    def finder(self) -> SettingsFinder:
        """Return a finder for the settings of files; raise SettingsError if the named settings file cannot be used."""
        from rubric_lint.lint.project.settings import SettingsFinder

        return SettingsFinder(self.overrides, file=self.config, isolated=self.isolated)


def repeat_command(context: click.Context, *files: str, without: Collection[str] = (), **more: Value) -> str:
    """Return the command line of a run, to run again: for other `files`, `without` some options, and with `more`."""
    arguments, options = list[str](), dict[str, Value]()
    for param in context.command.get_params(context):
        name = str(param.name)
        if name in without or context.get_parameter_source(name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        value = context.meta.get(GIVEN, {}).get(name, context.params[name])
        words = list(map(str, value)) if isinstance(value, tuple) else [str(value)]
        if isinstance(param, click.Argument):
            arguments += words
        else:
            options[max(param.opts, key=len).removeprefix("--")] = True if value is True else words
    program, *words_of_command = context.command_path.split()
    # A program without a command runs the one with its name.
    name_of_command = " ".join(words_of_command) or program.removeprefix("rubric-")
    return suggest(name_of_command, *(files or arguments), **{**options, **more})

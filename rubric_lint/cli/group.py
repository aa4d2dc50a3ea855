"""Define a group of commands with a default command."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.cli.help import CONTEXT, Command, Group
from rubric_lint.cli.near import reject_unknown_word

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


_UNNAMED = ""
"""Stands for the default command among the arguments; no command has this name."""


class DefaultGroup(Group):
    """A group that runs its `default` command when the first argument names none, and shows its help.

    Each command in `late` is loaded on first use, from the module that it maps to in the folder of the default command;
    its function has the module's name.
    """

    def __init__(self, *args: Any, default: Command, late: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, context_settings=CONTEXT, **kwargs)
        self.help, self.examples, self.exits = default.help, default.examples, default.exits
        self.default = default
        self._late = late or {}
        self.add_command(default)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *self._late})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name."""
        if cmd_name in self._late:
            module = self._late[cmd_name]
            folder = str(self.default.callback.__module__).rpartition(".")[0]
            command: click.Command = getattr(import_module(f"{folder}.{module}"), module)
            return command
        return super().get_command(ctx, cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert a word for the default command unless the arguments name a command or ask for help."""
        first = args[0] if args else ""
        named = first in self.list_commands(ctx) or first in ctx.help_option_names
        if not named:
            reject_unknown_word(ctx, self.list_commands(ctx), args)
        # Shell completion passes no arguments for the first word, which may become a command, an option or a path.
        if not named and (args or not ctx.resilient_parsing):
            args = [_UNNAMED, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names; the default one has no name if the user typed none."""
        return (None, self.default, args[1:]) if args[0] == _UNNAMED else super().resolve_command(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage without a command and with one."""
        formatter.write_usage(ctx.command_path, " ".join(self.default.collect_usage_pieces(ctx)))
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...", prefix="       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the default command's options, then the commands."""
        self.default.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete commands, and the options and first argument of the default command."""
        found: list[CompletionItem] = []
        with click.Context(self.default, parent=ctx, info_name=self.default.name, resilient_parsing=True) as inner:
            if not incomplete.startswith("-"):  # paths first: Bash drops the words before the request for file names
                paths = (param for param in self.default.params if isinstance(param, click.Argument))
                found += [item for param in paths for item in param.shell_complete(inner, incomplete)]
            found += super().shell_complete(ctx, incomplete)
            found += [item for item in self.default.shell_complete(inner, incomplete) if item.value != "--help"]
        return found

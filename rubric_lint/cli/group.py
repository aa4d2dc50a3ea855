"""A group of commands one of which also runs when none is named."""

from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class DefaultGroup(click.Group):
    """A click group that runs its `default` command when the first argument names none.

    Each of the commands `late` is in the module of `rubric_lint.cli` of its name, and loaded when it is asked for.
    """

    def __init__(self, *args: Any, default: click.Command, late: Collection[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.default = default
        self._late = late
        self.add_command(default)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted({*super().list_commands(ctx), *self._late})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name in self._late:
            command: click.Command = getattr(import_module(f"rubric_lint.cli.{cmd_name}"), cmd_name)
            return command
        return super().get_command(ctx, cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command's name in front where no command is named and no help is asked for."""
        first = args[0] if args else ""
        named = first in self.list_commands(ctx) or first in ctx.help_option_names
        # Completion of the first word asks with no arguments: it may become a command as well as an option or a path.
        if not named and (args or not ctx.resilient_parsing):
            args = [str(self.default.name), *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show how it is called without a command and with one."""
        formatter.write_usage(ctx.command_path, " ".join(self.default.collect_usage_pieces(ctx)))
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...", prefix="       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the default command's options, then the commands."""
        self.default.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Offer the commands, and what the default command offers for its first argument."""
        found = super().shell_complete(ctx, incomplete)
        with click.Context(self.default, parent=ctx, info_name=self.default.name, resilient_parsing=True) as inner:
            found += [item for item in self.default.shell_complete(inner, incomplete) if item.value != "--help"]
            if not incomplete.startswith("-"):
                paths = (param for param in self.default.params if isinstance(param, click.Argument))
                found += [item for param in paths for item in param.shell_complete(inner, incomplete)]
        return found

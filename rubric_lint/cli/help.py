"""Define commands whose help shows groups of options, examples and exit codes, and whose errors suggest near names."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.near import reject_unknown_word, suggest_command, word_unknown_option
from rubric_lint.messages import join_words
from rubric_lint.run.console import complain

HELP = "Help"
"""The last group of options: those that print something about the tool."""

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""The context settings of each program: help is as wide as the terminal, up to 100 columns."""

_EXITS: dict[int, str] = {
    Exit.CLEAN: "success",
    Exit.USAGE: "usage error, invalid settings, or a file that cannot be read",
    Exit.FAULT: "crash, which is a bug in rubric-lint",
    Exit.INTERRUPTED: "interrupted with Ctrl+C",
    Exit.TERMINATED: "terminated with SIGTERM",
}
"""The exit codes that all commands share."""

_HYPHEN = "\N{NON-BREAKING HYPHEN}"

Function = TypeVar("Function", bound=Callable[..., Any])


class Formatter(click.HelpFormatter):
    """Wraps help between words, never inside an option such as `--allow-invalid`."""

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write terms and their descriptions."""
        super().write_dl([(term, text.replace("-", _HYPHEN)) for term, text in rows], col_max, col_spacing)

    def getvalue(self) -> str:
        """Return the text."""
        return super().getvalue().replace(_HYPHEN, "-")


class Context(click.Context):
    """A context whose help such a formatter writes."""

    formatter_class = Formatter

    @property
    def command_path(self) -> str:
        """The words that the user typed before the arguments; a default command has no word of its own."""
        return super().command_path.rstrip()


class GroupedOption(click.Option):
    """An option that belongs to a group of the help. With a metavar for a choice, the help lists the choices."""

    def __init__(self, *args: Any, group: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.group = group
        if isinstance(self.type, (click.IntRange, click.FloatRange)):
            self.metavar = self.metavar or "N"
        if isinstance(self.type, click.Choice) and self.metavar:
            text, mark, default = (self.help or "").partition("  [")
            self.help = f"{text.removesuffix('.')}: {join_words(self.type.choices, 'or')}.{mark}{default}"


def option(group: str, *names: str, **settings: Any) -> Callable[[Function], Function]:
    """Declare an option of a group, such as `Output`. Groups appear in the order of their first options."""
    return click.option(*names, cls=GroupedOption, group=group, **settings)


def gather_options(
    parameter: str, kind: Any, options: Sequence[Callable[[Any], Any]]
) -> Callable[[Function], Function]:
    """Return a decorator that adds options to a command, which receives their values as one argument `parameter`.

    `kind` is the named tuple of the values, with a field for each option.
    """

    def add_all(command: Function) -> Function:
        @wraps(command)
        def call(**arguments: Any) -> Any:
            given = {name: arguments.pop(name) for name in kind._fields}
            return command(**arguments, **{parameter: kind(**given)})

        found: Any = call
        for add in reversed(options):
            found = add(found)
        return found  # type: ignore[no-any-return]

    return add_all


class Command(click.Command):
    """A command with examples (command line to description) and exit codes (code to meaning) in its help."""

    context_class = Context

    def __init__(
        self, *args: Any, examples: Mapping[str, str] | None = None, exits: Mapping[int, str] | None = None, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.examples = dict(examples or {})
        self.exits: dict[int, str] = _EXITS | dict(exits or {})

    def group_options(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Return the visible options by group, in the order of the help."""
        groups: dict[str, list[click.Option]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and not param.hidden:
                group = param.group if isinstance(param, GroupedOption) else HELP
                groups.setdefault(group, []).append(param)
        last = groups.pop(HELP, [])
        return {**groups, HELP: last} if last else groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group of options."""
        for group, options in self.group_options(ctx).items():
            with formatter.section(group):
                formatter.write_dl([record for each in options if (record := each.get_help_record(ctx))])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the exit codes."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for command, purpose in self.examples.items():
                    formatter.write_text(f"{purpose}:")
                    with formatter.indentation():
                        formatter.write(f"{'':>{formatter.current_indent}}{command}\n")
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), meaning) for code, meaning in sorted(self.exits.items())])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; point from an unknown option to the nearest one."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as unknown:
            known = {
                name: getattr(param.type, "choices", ())
                for param in self.get_params(ctx)
                for name in param.opts
                if name.startswith("--")
            }
            hint = word_unknown_option(unknown.option_name, known)
            raise click.UsageError(f"unknown option `{unknown.option_name}`{hint}", unknown.ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; end on Ctrl+C with one line, where click would write an empty one before it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            complain("interrupted")
            raise click.Abort from None


class Program(Command):
    """A command that is a program of its own and takes paths."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; point from a first word that is not a path to the command to type."""
        reject_unknown_word(ctx, (), args)
        return super().parse_args(ctx, args)


class Group(Command, click.Group):
    """A group of such commands."""

    command_class = Command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with the first sentence of its help, where click would cut it to one line."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(1000)) for name, command in commands if command])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names; point from an unknown name to the command to type."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-") and not ctx.resilient_parsing:
            hint = suggest_command(ctx.command_path, self.list_commands(ctx), args)
            known = f"; the commands are {join_words(self.list_commands(ctx))}"
            raise click.UsageError(f"unknown command `{ctx.command_path} {name}`{hint or known}", ctx)
        return super().resolve_command(ctx, args)

"""Run a command as a program and end it with its exit code."""

# Programs start faster without pathlib.
# ruff: noqa: PTH109, PTH123

import gc
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import wraps
from importlib import import_module
from io import StringIO
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

import click

from rubric_lint.cli.start import end_on_interrupt, raise_on_interrupt
from rubric_lint.messages import UserError, join_words
from rubric_lint.report.terminal import visible
from rubric_lint.run.console import Progress, complain, report_crash

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


Given = ParamSpec("Given")
Result = TypeVar("Result")


class Exit(IntEnum):
    """The exit codes; if several apply, the highest one is used."""

    CLEAN = 0
    FOUND = 1
    USAGE = 2
    FAULT = 3
    INTERRUPTED = 130
    TERMINATED = 143


class Termination:
    """Makes SIGTERM, with which other programs end this one, do what Ctrl+C does: say what was done, and clean up."""

    def __init__(self) -> None:
        self.is_asked = False
        self._process = os.getpid()
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._take)

    def _take(self, _number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # a worker that has not yet replaced this handler
            os._exit(Exit.TERMINATED)
        self.is_asked = True
        interrupt = signal.getsignal(signal.SIGINT)
        if callable(interrupt):
            interrupt(signal.SIGINT, frame)
        else:
            raise KeyboardInterrupt


def end_at_once() -> None:
    """Let a server end on Ctrl+C and SIGTERM: the thread in which it waits for stdin cannot be stopped."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        complain("interrupted")
        os._exit(Exit.INTERRUPTED if number == signal.SIGINT else Exit.TERMINATED)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def writes_at_the_end(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Let a command that writes everything at its end say on Ctrl+C that it has written nothing."""

    @wraps(function)
    def call(*args: Given.args, **options: Given.kwargs) -> Result:
        with Progress(sys.stderr).reporting_interrupt(lambda: "before anything was written"):
            return function(*args, **options)

    return call


def _explain_os_error(fault: OSError) -> str:
    """Describe a system error; one without a file name concerns the current folder or stdout."""
    try:
        os.getcwd()
    except OSError:
        return "the current folder no longer exists; change to one that does"
    return f"{fault.filename or 'stdout'}: {fault.strerror or fault}"


def launch(command: click.Command, name: str) -> NoReturn:
    """Run a command as the program `name` and exit with its return value."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (it is open as long as the program runs)
    if sys.stdout is None:
        complain("stdout is closed")
        sys.exit(Exit.USAGE)
    termination = Termination()
    if hasattr(signal, "SIGPIPE"):
        # When the reader stops (`| head`), end as cat and grep do.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        raise_on_interrupt()
        code = command.main(prog_name=name, standalone_mode=False)
    except click.ClickException as wrong:
        told = StringIO()
        wrong.show(told)
        click.echo("\n".join(map(visible, told.getvalue().removesuffix("\n").split("\n"))), err=True)
        code = wrong.exit_code
    except (click.Abort, KeyboardInterrupt) as end:
        if isinstance(end.__cause__ or end, KeyboardInterrupt):  # the command printed no message of its own
            complain("interrupted")
        code = Exit.INTERRUPTED
    except OSError as fault:
        complain(_explain_os_error(fault))
        # The unwritten rest of stdout must not raise again when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.USAGE
    except Exception as fault:
        report_crash(fault)
        code = Exit.FAULT
    if code == Exit.INTERRUPTED and termination.is_asked:
        code = Exit.TERMINATED
    end_on_interrupt()  # nothing is left to say while the interpreter exits
    gc.freeze()  # spare the interpreter a last garbage collection as it exits
    sys.exit(code)


_LINT, _FIX, _SCORE, _TEST = "rubric-lint", "rubric-fix", "rubric-score", "rubric-test"

WORDS = {
    "agree": f"{_SCORE} agree RUBRIC RESULTS",
    "assess": f"{_LINT} assess RUBRIC ANSWERS",
    "baseline": f"{_LINT} --write-baseline --baseline FILE",
    "cache clean": f"{_LINT} cache clear",
    "check": _LINT,
    "clean": f"{_LINT} cache clear",
    "compare": f"{_LINT} diff OLD NEW",
    "compile": f"{_SCORE} compile RUBRIC --to duckdb",
    "config": f"{_LINT} --show-settings",
    "create": f"{_LINT} init",
    "convert": f"{_LINT} convert FILE",
    "describe": f"{_LINT} show",
    "diff": f"{_LINT} diff OLD NEW",
    "explain": f"{_LINT} --explain RULE",
    "export": f"{_LINT} convert FILE",
    "files": f"{_LINT} --show-files",
    "fix": _FIX,
    "format": f"{_LINT} format",
    "grade": f"{_SCORE} RUBRIC OUTPUTS",
    "import": f"{_LINT} import FILE",
    "init": f"{_LINT} init",
    "judge": f"{_SCORE} judge RUBRIC ANSWERS",
    "inspect": f"{_LINT} show",
    "lint": _LINT,
    "list": f"{_LINT} show",
    "ls": f"{_LINT} show",
    "lsp": f"{_LINT} lsp",
    "migrate": _FIX,
    "mutate": f"{_TEST} --mutate",
    "new": f"{_LINT} init",
    "prompt": f"{_SCORE} prompt RUBRIC",
    "record": f"{_TEST} --record --model MODEL",
    "rule": f"{_LINT} --explain RULE",
    "rules": f"{_LINT} --rules",
    "run": _LINT,
    "schema list": f"{_LINT} schema",
    "schema show": f"{_LINT} schema print NAME",
    "score": f"{_SCORE} RUBRIC OUTPUTS",
    "server": f"{_LINT} lsp",
    "skill add": f"{_LINT} skill install",
    "skill show": f"{_LINT} skill print",
    "show": f"{_LINT} show",
    "settings": f"{_LINT} --show-settings",
    "sql": f"{_SCORE} compile RUBRIC --to duckdb",
    "statistics": f"{_LINT} --statistics",
    "suppress": f"{_LINT} --add-ignores",
    "test": _TEST,
    "update": _FIX,
    "validate": _LINT,
    "version": f"{_LINT} --version",
    "watch": f"{_LINT} --watch",
}
"""Words that people look for, and the command that does it; capitals stand for arguments that follow.

A word of two is looked for in a group of commands.
"""

OPTIONS = {
    "--disable": ("--ignore",),
    "--dry-run": ("--diff", f"{_FIX} --diff"),
    "--enable": ("--select",),
    "--extend-ignore": ("--ignore",),
    "--extend-select": ("--select",),
    "--json": ("--format json",),
    "--list-files": ("--show-files",),
    "--list-rules": ("--rules",),
    "--max-warnings": ("--fail-on warning",),
    "--no-color": ("--color never",),
    "--out": ("--output", "--output-file"),
    "--output": ("--output-file",),
    "--output-file": ("--output",),
    "--output-format": ("--format",),
    "--print-config": ("--show-settings",),
    "--rule": ("--select",),
    "--show-config": ("--show-settings",),
    "--stats": ("--statistics",),
    "--stdin-file-path": ("--stdin-filename",),
    "--strict": ("--fail-on warning",),
    "--threshold": ("--pass",),
    "-f": ("--format",),
    "-i": ("--fix",),
    "-o": ("--output", "--output-file"),
    "-v": ("--version",),
    "-V": ("--version",),
}
"""Options of other tools, and ours in the order of likeness; the first one that a command has is suggested."""


def suggest_command(program: str, commands: Iterable[str], args: list[str]) -> str:
    """Return a hint with the command to type when `args` start with an unknown word; empty if there is none near.

    `program` is what was called so far, such as `rubric-lint schema`, and `commands` are the words that may follow it.
    """
    from rubric_lint.messages import find_near  # noqa: PLC0415  (few calls need it)

    if args[0] == "help":
        return f"; did you mean `{_word_help(program, commands, args[1:])}`?"
    group = f"{program.partition(' ')[2]} "
    known = {word: line for word, line in WORDS.items() if " " not in word}
    known |= {word.removeprefix(group): line for word, line in WORDS.items() if word.startswith(group)}
    known |= {name: f"{program} {name}" for name in commands}
    near = find_near(args[0], known)
    if not near:
        return ""
    words = known[near[0]].split()
    given = args[1:]
    fixed = [word for word in words if not word.isupper()] if given else words
    line = " ".join([*fixed, *map(shlex.quote, given)])
    return f"; did you mean `{line}`?"


def _word_help(program: str, commands: Iterable[str], args: list[str]) -> str:
    """Return the command that shows the help that `help` and `args` ask for."""
    word = args[0] if args else ""
    if word in commands:
        return f"{program} {word} --help"
    named = [each for each in WORDS.get(word, program).split() if not each.isupper() and not each.startswith("-")]
    return f"{' '.join(named)} --help"


def word_unknown_option(name: str, known: Mapping[str, Collection[str]]) -> str:
    """Return a hint with the option to use in place of an unknown one; `known` are the options with their values."""
    for each in OPTIONS.get(name, ()):
        option, _, value = each.partition(" ")
        if (option in known and (not value or value in known[option])) or not option.startswith("-"):
            return f"; did you mean `{each}`?"
    longer = [each for each in known if each.startswith(name) and name.startswith("--")]
    return f"; did you mean `{longer[0]}`?" if len(longer) == 1 else word_unknown(name, known)


def reject_unknown_word(ctx: click.Context, commands: Iterable[str], args: list[str]) -> None:
    """Reject a first argument that is neither a path nor a command but near to one; a path that exists always wins.

    Raises:
        click.UsageError: with the command to type.
    """
    word = args[0] if args else ""
    if not re.fullmatch(r"\w[\w-]*", word) or ctx.resilient_parsing or os.path.lexists(word):
        return
    if hint := suggest_command(ctx.command_path, commands, args):
        raise click.UsageError(f"`{word}` is neither a command nor an existing path{hint}", ctx)


def word_unknown(name: str, known: Collection[str]) -> str:
    """Return a hint with the known names that are near to `name`; empty if there are none."""
    from rubric_lint.messages import find_near, join_words  # noqa: PLC0415

    near = [f"`{each}`" for each in find_near(name, known)[:3]]
    return f"; did you mean {join_words(near, 'or')}?" if near else ""


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


def reject(clashes: Iterable[tuple[Callable[[Any], Any], str]]) -> None:
    """Reject a call with options that contradict each other, or that lack another one.

    Each row is a condition on the values of all options, by their names, and the message, which may quote them.

    Raises:
        click.UsageError: for the first row that applies.
    """
    given = click.get_current_context().params
    for applies, message in clashes:
        if applies(SimpleNamespace(**given)):
            raise click.UsageError(message.format(**given))


class Command(click.Command):
    """A command with examples (command line to description) and exit codes (code to meaning) in its help."""

    context_class = Context

    def __init__(
        self, *args: Any, examples: Mapping[str, str] | None = None, exits: Mapping[int, str] | None = None, **more: Any
    ) -> None:
        super().__init__(*args, **{"context_settings": CONTEXT, **more})
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
        except UserError as wrong:
            for line in wrong.lines:
                complain(line)
            raise click.exceptions.Exit(Exit.USAGE) from None
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


_UNNAMED = ""
"""Stands for the default command among the arguments; no command has this name."""


class DefaultGroup(Group):
    """A group that runs its `default` command when the first argument names none, and shows its help.

    Each command in `late` is loaded on first use: it maps to `module:function`, in the folder of the default command.
    """

    def __init__(self, *args: Any, default: Command, late: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
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
            module, _, name = self._late[cmd_name].partition(":")
            folder = str(self.default.callback.__module__).rpartition(".")[0]
            command: click.Command = getattr(import_module(f"{folder}.{module}"), name)
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

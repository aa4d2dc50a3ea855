"""Run a command as a program and end it with its exit code."""

import gc
import os
import re
import shlex
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import click

from rubric_lint.cli import end_on_interrupt, raise_on_interrupt
from rubric_lint.lint.project.paths import is_there
from rubric_lint.lint.run.console import complain, report_crash
from rubric_lint.model.messages import UserError, find_near, join_words, visible

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Exit(IntEnum):
    """The exit codes; if several apply, the highest one is used."""

    CLEAN = 0
    FOUND = 1
    USAGE = 2
    FAULT = 3
    UNDECIDED = 4
    INTERRUPTED = 130
    TERMINATED = 143

    @classmethod
    def of(cls, *, crashed: object, failed: object, found: object) -> "Exit":
        """Return the code of a run: whether rubric-lint crashed in it, something could not be read, or was found."""
        if crashed:
            return cls.FAULT
        if failed:
            return cls.USAGE
        return cls.FOUND if found else cls.CLEAN


class Termination:
    """Makes SIGTERM, with which other programs end this one, do what Ctrl+C does: say what was done, and clean up."""

    def __init__(self) -> None:
        self.is_requested = False
        self._process = os.getpid()
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._interrupt)

    def _interrupt(self, _number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # a worker that has not yet replaced this handler
            os._exit(Exit.TERMINATED)
        self.is_requested = True
        interrupt = signal.getsignal(signal.SIGINT)
        if callable(interrupt):
            interrupt(signal.SIGINT, frame)
        else:
            raise KeyboardInterrupt


def end_at_once() -> None:
    """Let a server end on Ctrl+C and SIGTERM: the thread in which it waits for stdin cannot be stopped."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        complain("interrupted")
        code = Exit.INTERRUPTED if number == signal.SIGINT else Exit.TERMINATED
        os._exit(code)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def _explain_os_error(fault: OSError) -> str:
    """Describe a system error; one without a file name concerns the current folder or stdout."""
    try:
        Path.cwd()
    except OSError:
        return "the current folder no longer exists; change to one that does"
    if isinstance(fault, FileNotFoundError) and isinstance(fault.filename, str):
        from rubric_lint.lint.project.opening import explain_os_error

        return f"{fault.filename}: {explain_os_error(fault.filename, fault)}"
    return f"{fault.filename or 'stdout'}: {fault.strerror or fault}"


def launch(command: click.Command, name: str) -> NoReturn:
    """Run a command as the program `name` and exit with its return value."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (it is open as long as the program runs)
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
        written = StringIO()
        wrong.show(written)
        text = written.getvalue().removesuffix("\n").replace("\n\t", "\n    ")  # click indents choices by tabs
        click.echo("\n".join(map(visible, text.split("\n"))), err=True)
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
    if code == Exit.INTERRUPTED and termination.is_requested:
        code = Exit.TERMINATED
    end_on_interrupt()  # nothing is left to say while the interpreter exits
    gc.freeze()  # spare the interpreter a last garbage collection as it exits
    sys.exit(code)


COMMANDS = {
    "check": "lint.lint:check",
    "fix": "fix.fix:fix",
    "format": "fix.fix:format_files",
    "show": "lint.show:show",
    "init": "lint.setup:init",
    "adopt": "lint.setup:adopt",
    "import": "lint.convert:import_table",
    "convert": "lint.convert:convert",
    "diff": "lint.show:diff",
    "explain": "lint.setup:explain",
    "test": "test.test:cli",
    "judge": "score.judge:judge",
    "score": "score.score:score",
    "agree": "score.agree:agree",
    "assess": "lint.assess:assess",
    "improve": "lint.assess:improve",
    "labels": "score.agree:labels",
    "cache": "lint.setup:cache",
    "schema": "lint.schema:schema",
    "skill": "lint.setup:skill",
    "lsp": "lint.setup:lsp",
    "mcp": "lint.setup:mcp",
    "merge": "score.score:merge",
    "prompt": "score.prompt:prompt",
    "completion": "lint.setup:completion",
}
"""Where each command of `rubric-lint` is; it is loaded when it is called. The help lists the first ones in full."""

FIRST_OF_MORE = "cache"
"""The first of the commands that the help only names."""

INSTEAD = {
    "baseline": "--write-baseline",
    "clean": "cache clear",
    "compare": "diff",
    "config": "--show-settings",
    "describe": "show",
    "export": "convert",
    "files": "--show-files",
    "fmt": "format",
    "grade": "score",
    "lint": "check",
    "list": "show",
    "ls": "show",
    "migrate": "fix",
    "mutate": "test --mutate",
    "new": "init",
    "rule": "explain",
    "rules": "explain",
    "settings": "--show-settings",
    "validate": "check",
    "version": "--version",
    "watch": "--watch",
    "--disable": "--ignore",
    "--dry-run": "--diff",
    "--enable": "--select",
    "--explain": "rubric-lint explain",
    "--history": "rubric-lint diff --outputs",
    "--json": "--format json",
    "--list-rules": "rubric-lint explain",
    "--output-file": "--output",
    "--output-format": "--format",
    "--rule": "--select",
    "--rules": "rubric-lint explain",
    "--strict": "--fail-on warning",
    "--threshold": "--pass",
    **{f"--{name}-field": f"--map {name}=COLUMN" for name in ("id", "answer", "question", "reference", "rubric")},
}
"""What to type in place of commands and options of other tools and of earlier versions."""

GONE = {
    "compile": "call `rubric_lint.arrow.map_batches` in your engine, such as DuckDB or Polars",
    "--address": "set the environment variable RAY_ADDRESS",
    "--bootstrap": "intervals are exact now, and draw nothing",
    "--jobs": "one process scores",
}
"""What to do in place of commands and options of earlier versions that nothing replaces."""


def suggest_command(ctx: click.Context, commands: Iterable[str], args: list[str]) -> str:
    """Return a hint with the command to type when `args` start with an unknown word; empty if there is none near."""
    known = {name: f"rubric-lint {name}" for name in COMMANDS}
    known |= {name: f"{ctx.command_path} {name}" for name in commands}
    word, *rest = args
    is_program = " " not in ctx.command_path
    if word == "help":
        command = known.get(rest[0], ctx.command_path) if rest else ctx.command_path
        return f"; did you mean `{command} --help`?"
    if is_program and word in GONE:
        return f"; {GONE[word]}"
    near = find_near(word, known)
    if is_program and word in INSTEAD:
        command = f"rubric-lint {INSTEAD[word]}"
    elif near:
        command = known[near[0]]
    else:
        return ""
    return f"; did you mean `{' '.join([command, *map(shlex.quote, rest)])}`?"


def reject_unknown_word(ctx: click.Context, commands: Iterable[str], args: list[str]) -> None:
    """Reject a first argument that is neither a path nor a command; a path that exists always wins.

    Where it is near to no command, it may be a missing file next to others that exist, or that of a program without
    commands: then it is left to be reported as one.

    Raises:
        click.UsageError: with the command to type, if one is near.
    """
    is_word = bool(args and re.fullmatch(r"\w[\w-]*", args[0]))
    if not is_word or ctx.resilient_parsing or is_there(args[0]):
        return
    from rubric_lint.rules import BY_NAME

    if args[0] in BY_NAME:
        raise click.UsageError(f"`{args[0]}` is a rule; did you mean `rubric-lint explain {args[0]}`?", ctx)
    hint = suggest_command(ctx, commands, args)
    if hint or (commands and not any(map(is_there, args[1:]))):
        raise click.UsageError(f"`{args[0]}` is neither a command nor an existing path{hint}", ctx)


def format_unknown(name: str, known: Iterable[str]) -> str:
    """Return a hint with the known names that are near to `name`; empty if there are none."""
    return format_near(find_near(name, known))


def format_near(names: Sequence[str]) -> str:
    """Return a hint with the first of some names; empty if there are none."""
    near = [f"`{name}`" for name in names[:3]]
    return f"; did you mean {join_words(near, 'or')}?" if near else ""


HELP = "Help"
"""The last group of options: those that print something about the tool."""

ALL = "--all"
"""For --help: show everything, not just what most people need."""

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


_SENTENCE = re.compile(r"^(.*?\.)(?: .*?)??(  \[default: .*?\])?(?:  \[.*)?$")
"""The help of an option: its first sentence, which the first screen shows, and its default."""


class Option(click.Option):
    """An option that belongs to a group of the full help, and to the first screen if it `is_first`."""

    group = HELP
    is_first = True


def _list_help(options: Iterable[click.Option], ctx: click.Context) -> list[tuple[str, str]]:
    """Return the names and the help of options, without those that are hidden."""
    records = (option.get_help_record(ctx) for option in options)
    return [record for record in records if record]


class Command(click.Command):
    """A command with examples (command line to description) and exit codes (code to meaning) in its help.

    `--help` shows what most people need; `--help --all` all options and the exit codes.
    """

    context_class = Context

    def __init__(
        self,
        *args: Any,
        examples: Mapping[str, str] | None = None,
        exits: Mapping[int, str] | None = None,
        takes_words: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(*args, **{"context_settings": CONTEXT, **more})
        self.examples = dict(examples or {})
        self.exits: dict[int, str] = _EXITS | dict(exits or {})
        self.takes_words = takes_words

    def group_options(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Return the visible options by group, in the order of the full help."""
        groups: dict[str, list[click.Option]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and not param.hidden:
                group = param.group if isinstance(param, Option) else HELP
                groups.setdefault(group, []).append(param)
        last = groups.pop(HELP, [])
        return {**groups, HELP: last} if last else groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: all by groups, or the first ones."""
        if ctx.meta.get(ALL):
            for group, options in self.group_options(ctx).items():
                with formatter.section(group):
                    formatter.write_dl(_list_help(options, ctx))
            return
        firsts = [param for param in self.get_params(ctx) if isinstance(param, Option) and param.is_first]
        rows = _list_help(firsts, ctx)
        if rows:
            with formatter.section("Options"):
                formatter.write_dl([(names, _SENTENCE.sub(r"\1\2", text)) for names, text in rows])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and the exit codes or how to see them."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for command, purpose in self.examples.items():
                    formatter.write_text(f"{purpose}:")
                    with formatter.indentation():
                        formatter.write(f"{'':>{formatter.current_indent}}{command}\n")
        if ctx.meta.get(ALL):
            with formatter.section("Exit codes"):
                formatter.write_dl([(str(int(code)), meaning) for code, meaning in sorted(self.exits.items())])
        else:
            formatter.write_paragraph()
            formatter.write_text(f"{ctx.command_path} --help --all: every option, and the exit codes.")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; point from an unknown option to the one to type."""
        if ALL in args and {"-h", "--help"} & {*args}:
            ctx.meta[ALL] = True
            args = [argument for argument in args if argument != ALL]
        if self.takes_words:
            reject_unknown_word(ctx, (), args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as unknown:
            name = unknown.option_name
            raise click.UsageError(f"unknown option `{name}`{self._suggest_option(ctx, name)}", unknown.ctx) from None

    def _suggest_option(self, ctx: click.Context, name: str) -> str:
        known = [opt for param in self.get_params(ctx) for opt in param.opts if opt.startswith("--")]
        if name in GONE:
            return f"; {GONE[name]}"
        instead = INSTEAD.get(name, "")
        # An option that only another command has would be of no help.
        if instead.partition(" ")[0] in {"rubric-lint", *known}:
            return f"; did you mean `{instead}`?"
        if name.startswith("--"):
            longer = [opt for opt in known if opt.startswith(name)]
            if len(longer) == 1:
                return f"; did you mean `{longer[0]}`?"
        return format_unknown(name, known)

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
        except EOFError as fault:  # which click takes for the end of an answer to a question, and no command asks one
            report_crash(fault)
            raise click.exceptions.Exit(Exit.FAULT) from None


class CommandGroup(Command, click.Group):
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
            hint = suggest_command(ctx, self.list_commands(ctx), args)
            known = f"; the commands are {join_words(self.list_commands(ctx))}"
            raise click.UsageError(f"unknown command `{ctx.command_path} {name}`{hint or known}", ctx)
        return super().resolve_command(ctx, args)


_UNNAMED = ""
"""Stands for the default command among the arguments; no command has this name."""


class DefaultGroup(CommandGroup):
    """A group that runs its `default` command when the first argument names no other, and shows its help.

    The commands `late`, each at `module:function`, are loaded on first use.
    """

    def __init__(self, *args: Any, default: Command, late: Mapping[str, str] = {}, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.help, self.short_help = default.help, default.short_help
        self.examples, self.exits = default.examples, default.exits
        self.default = default
        self._late = late

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        return list(dict.fromkeys([*self._late, *super().list_commands(ctx)]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name."""
        if cmd_name in self._late and cmd_name not in self.commands:
            module, _, function = self._late[cmd_name].partition(":")
            self.commands[cmd_name] = getattr(import_module(f"rubric_lint.cli.{module}"), function)
        return super().get_command(ctx, cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert a word for the default command unless the arguments name a command or ask for help."""
        names = self.list_commands(ctx)
        is_named = bool(args) and args[0] in {*names, *ctx.help_option_names}
        if not is_named:
            reject_unknown_word(ctx, names, args)
        # Shell completion passes no arguments for the first word, which may become a command, an option or a path.
        if not is_named and (args or not ctx.resilient_parsing):
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
        """Write the default command's options, and the commands.

        The first screen of `rubric-lint` has no options: it lists the first commands, and only names the others.
        """
        if not ctx.meta.get(ALL) and FIRST_OF_MORE in self._late:
            names = list(self._late)
            first_of_more = names.index(FIRST_OF_MORE)
            commands = ((name, self.get_command(ctx, name)) for name in names[:first_of_more])
            with formatter.section("Commands"):
                formatter.write_dl([(name, command.short_help or "") for name, command in commands if command])
                formatter.write_dl([("more", ", ".join(names[first_of_more:]))])
            return
        self.default.format_options(ctx, formatter)
        if ctx.meta.get(ALL):
            self.format_commands(ctx, formatter)
        else:
            formatter.write_paragraph()
            formatter.write_text(f"Commands: {', '.join(self.list_commands(ctx))}.")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete commands, and the options and first argument of the default command."""
        items: list[CompletionItem] = []
        with click.Context(self.default, parent=ctx, info_name=self.default.name, resilient_parsing=True) as inner:
            if not incomplete.startswith("-"):  # paths first: Bash drops the words before the request for file names
                for param in self.default.params:
                    if isinstance(param, click.Argument):
                        items += param.shell_complete(inner, incomplete)
            items += super().shell_complete(ctx, incomplete)
            items += [item for item in self.default.shell_complete(inner, incomplete) if item.value != "--help"]
        return items

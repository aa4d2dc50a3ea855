"""Define the options that several commands share."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from rubric_lint.cli.help import option
from rubric_lint.cli.near import word_unknown
from rubric_lint.cli.rule_options import complete_choice, complete_name, print_version, read_choices, read_names

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


Function = TypeVar("Function", bound=Callable[..., Any])


class AnyPath(click.ParamType):
    """A path, unchecked. `click.Path` would look at the file system and load translations."""

    name = "path"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002
        """Let the shell complete file names."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415

        return [CompletionItem(incomplete, type="file")]


class FileName(AnyPath):
    """The name of a file. It rejects the empty name that an unset shell variable leaves."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name unchanged."""
        if value == "" and param:
            name = param.opts[0].upper() if isinstance(param, click.Argument) else max(param.opts, key=len)
            raise click.UsageError(f"{name} is empty; name a file", ctx)
        return value


class Choice(click.Choice):
    """One of several names. For an unknown one it suggests the nearest."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return the message for an unknown value: the known ones, and which of them may be meant."""
        return f"{value!r} is not one of {', '.join(self.choices)}{word_unknown(str(value), self.choices)}"


NAMES: dict[str, Any] = {"metavar": "NAMES", "multiple": True, "callback": read_names, "shell_complete": complete_name}
"""Names of rules, separated by commas or given by repeating the option."""

CHOICES: dict[str, Any] = {
    "metavar": "NAMES",
    "multiple": True,
    "callback": read_choices,
    "shell_complete": complete_choice,
    "help": "Where a fix has several answers, apply this one: upper-keeps, add-band, ... (the report names them).",
}
"""Names of answers that only an author can pick."""

FORCE_EXCLUDE: dict[str, Any] = {
    "is_flag": True,
    "help": "Apply `exclude` even to paths given on the command line (for pre-commit).",
}
"""Applies `exclude` to named files too."""

ASKED: dict[str, Any] = {"is_eager": True, "expose_value": False}
"""An option that is processed before all others and ends the program."""

OUTPUT_FILE: dict[str, Any] = {
    "metavar": "FILE",
    "type": FileName(),
    "callback": lambda _ctx, _param, value: None if value == "-" else value,
    "help": "Write the report to FILE; print only the summary to stdout.",
}
"""The report file; None is stdout."""


STDIN_FILENAME: dict[str, Any] = {
    "metavar": "NAME",
    "help": "File name to use for stdin (selects format and settings).",
}
"""The name that stands for stdin."""

VERSION: dict[str, Any] = {
    "is_flag": True,
    **ASKED,
    "callback": print_version,
    "help": "Print the version.",
}
"""Prints the version."""


def choice(*names: str) -> dict[str, Any]:
    """Return the option settings for a choice of names, the first of which is the default."""
    return {"type": Choice(names), "default": names[0], "show_default": True}


COLOR: dict[str, Any] = {**choice("auto", "always", "never"), "help": "When to use color."}
"""When to use color."""


def with_settings(function: Function) -> Function:
    """Add the options that choose the settings files."""
    config = option(
        "Settings", "--config", metavar="FILE", type=FileName(), help="Use this settings file for all files."
    )
    isolated = option("Settings", "--isolated", is_flag=True, help="Ignore all settings files.")
    return config(isolated(function))


def require_file_name(name: str, option: str) -> None:
    """Reject `-`, which means stdout in other options and would here create a file of that name.

    Raises:
        click.UsageError: when the name is `-`.
    """
    if name == "-":
        raise click.UsageError(f"{option}: -: does not mean stdout here; name a file")


@contextmanager
def open_output(name: str, option: str) -> Iterator[TextIO]:
    """Yield a stream to the file that an option names; replace the file at the end unless an error is raised.

    Raises:
        click.UsageError: when the file cannot be written.
    """
    from rubric_lint.project.writing import WriteError, open_whole  # noqa: PLC0415  (most output goes to stdout)

    require_file_name(name, option)
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(open_whole(name))
        except WriteError as fault:
            raise click.UsageError(f"{option}: {name}: {fault}") from None
        yield stream


def open_page(report: str | None, *read: str) -> AbstractContextManager[TextIO | None]:
    """Open the file of the HTML report before the first result, so that a long run cannot end without it.

    Raises:
        click.UsageError: when it cannot be written, or is one of the files `read`.
    """
    if report is None:
        return nullcontext()
    real = os.path.realpath(report)
    for name in read:
        if name != "-" and os.path.realpath(name) == real:
            raise click.UsageError(f"--report: {report}: is also an input and would be overwritten; name another file")
    return open_output(report, "--report")


def check_sources(paths: tuple[str, ...], stdin_filename: str | None, config: str | None, *, isolated: bool) -> None:
    """Reject paths and input options that contradict each other.

    Raises:
        click.UsageError: when they do.
    """
    if "" in paths:
        raise click.UsageError("a path is empty; omit it to check the current folder")
    check_settings(config, isolated=isolated)
    if stdin_filename and "-" not in paths:
        raise click.UsageError("--stdin-filename requires the path -, which reads stdin")


def check_settings(config: str | None, *, isolated: bool) -> None:
    """Reject --config together with --isolated.

    Raises:
        click.UsageError: when both are given.
    """
    if config and isolated:
        raise click.UsageError("--config cannot be combined with --isolated")


def _read_seed(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Read the seed, which is optional: what follows the option may be a file."""
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,18}", value):
        advice = "write --shuffle=SEED, or put --shuffle after the files"
        raise click.BadParameter(f"{value!r} is not a seed, an integer from 0; {advice}", ctx, param)
    return int(value)


SHUFFLE: dict[str, Any] = {
    "is_flag": False,
    "flag_value": "1",
    "metavar": "[SEED]",
    "callback": _read_seed,
}
"""Shuffles the criteria; without a value the seed is 1."""

"""Options that several commands have in common."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

from rubric_lint.cli.rules import complete_name, read_names

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class AnyPath(click.ParamType):
    """A path as it is given. `click.Path` looks at what is there, and loads translations of its own name."""

    name = "path"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002
        """What is there, as the shell completes it."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415

        return [CompletionItem(incomplete, type="file")]


class FileName(AnyPath):
    """The name of a file. An empty one, as of a variable that is not set, is no wish to do without."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name, as it is."""
        if value == "" and param:
            name = param.opts[0].upper() if isinstance(param, click.Argument) else max(param.opts, key=len)
            raise click.UsageError(f"{name} names no file", ctx)
        return value


NAMES: dict[str, Any] = {"metavar": "NAMES", "multiple": True, "callback": read_names, "shell_complete": complete_name}
"""Names of rules, between commas or with the option repeated."""

FORCE_EXCLUDE: dict[str, Any] = {
    "is_flag": True,
    "help": "Leave out what the settings exclude also where it is named, as hooks name every file.",
}
"""Whether files that are named may be left out."""

ASKED: dict[str, Any] = {"is_eager": True, "expose_value": False}
"""A question that is answered before anything else is looked at."""

CONFIG: dict[str, Any] = {
    "metavar": "FILE",
    "type": FileName(),
    "help": "The settings file that holds for all files.",
}
"""The one settings file."""

OUTPUT_FILE: dict[str, Any] = {
    "metavar": "FILE",
    "type": FileName(),
    "callback": lambda _ctx, _param, value: None if value == "-" else value,
    "help": "Write the report to FILE, and only the summary to standard output.",
}
"""Where the report goes; None is standard output."""


def choice(*names: str) -> dict[str, Any]:
    """One of several names, the first unless another one is given."""
    return {"type": click.Choice(names), "default": names[0], "show_default": True}


def require_file_name(name: str, option: str) -> None:
    """Refuse `-`, which is standard output elsewhere and would here become a file of that name.

    Raises:
        click.UsageError: for it.
    """
    if name == "-":
        raise click.UsageError(f"{option}: -: is not standard output here; name a file")


@contextmanager
def open_output(name: str, option: str) -> Iterator[TextIO]:
    """Yield a stream for the file that an option names; the file is replaced at the end, unless an error is raised.

    Raises:
        click.UsageError: when the file cannot be written.
    """
    from rubric_lint.write import WriteError, open_whole  # noqa: PLC0415  (most output goes to standard output)

    require_file_name(name, option)
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(open_whole(name))
        except WriteError as fault:
            raise click.UsageError(f"{option}: {name}: {fault}") from None
        yield stream


def check_sources(paths: tuple[str, ...], stdin_filename: str | None, config: str | None, *, isolated: bool) -> None:
    """See to it that the options on what is read, and by which settings, do not contradict each other.

    Raises:
        click.UsageError: when they do.
    """
    if "" in paths:
        raise click.UsageError("a path is empty; leave it out for this folder")
    check_settings(config, isolated=isolated)
    if stdin_filename and "-" not in paths:
        raise click.UsageError("--stdin-filename says what standard input is called; give the path - to read it")


def check_settings(config: str | None, *, isolated: bool) -> None:
    """See to it that settings are not both named and left out.

    Raises:
        click.UsageError: when they are.
    """
    if config and isolated:
        raise click.UsageError("--config names a settings file, --isolated reads none: give one of them")

"""Define the options that several commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeVar

import click

from rubric_lint.cli.commands import Exit, gather_options, option, word_unknown
from rubric_lint.messages import join_words
from rubric_lint.report import REPORTERS
from rubric_lint.run.console import complain
from rubric_lint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from click.shell_completion import CompletionItem

    from rubric_lint.fix.run import FixRun, FixTotals
    from rubric_lint.project.settings import Overrides, SettingsFinder
    from rubric_lint.rules.rule import Rule
    from rubric_lint.run.given import Input
    from rubric_lint.scoring.loading import Loaded


def _rules() -> Mapping[str, Rule]:
    from rubric_lint.rules import BY_NAME  # noqa: PLC0415  (not needed by --help)

    return BY_NAME


def read_name(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return the name of a rule.

    Raises:
        click.BadParameter: when no rule has this name; it suggests the nearest one.
    """
    if value is None or value in _rules():
        return value
    hint = word_unknown(value, _rules()) or "; `rubric-lint --rules` lists them"
    raise click.BadParameter(f"unknown rule {value!r}{hint}")


def read_names(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> frozenset[str]:
    """Return the names of rules in an option that may be repeated and may hold comma-separated names."""
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    if values and not names:
        raise click.BadParameter("is empty; name a rule", ctx, param)
    return frozenset(name for name in names if read_name(ctx, param, name))


def check_names(select: frozenset[str], ignore: frozenset[str]) -> None:
    """Reject a call that selects rules and ignores all of them, because none would run.

    Raises:
        click.UsageError: when it does.
    """
    if select and select <= ignore:
        raise click.UsageError("--ignore names every rule of --select, so none would run; remove one of them")


def read_choices(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of choices in an option that may be repeated and may hold comma-separated names, in order.

    Raises:
        click.BadParameter: when no rule has a choice of this name; it suggests the nearest one.
    """
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    if values and not names:
        raise click.BadParameter("is empty; name a choice", ctx, param)
    for name in names:
        if name not in (known := _choices()):
            hint = word_unknown(name, known) or f"; there are {', '.join(known)}"
            raise click.BadParameter(f"unknown choice {name!r}{hint}", ctx, param)
    return tuple(names)


def _choices() -> tuple[str, ...]:
    from rubric_lint.rules import list_choices  # noqa: PLC0415  (not needed by --help)

    return list_choices()


def complete_choice(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a choice, also after a comma."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  (only completion needs it)

    before, comma, word = incomplete.rpartition(",")
    told = {name: text for rule in _rules().values() for name, text in rule.choices.items()}
    return [
        CompletionItem(before + comma + name, help=text)
        for name, text in told.items()
        if name.startswith(word) and name not in before.split(",")
    ]


def complete_name(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a rule, also after a comma."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  (only completion needs it)

    before, comma, word = incomplete.rpartition(",")
    said = before.split(",")
    return [
        CompletionItem(before + comma + name, help=rule.summary)
        for name, rule in _rules().items()
        if name.startswith(word) and name not in said
    ]


def print_page(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Print the page of a rule with its URL and exit."""
    if value is not None and not ctx.resilient_parsing:
        rule = _rules()[str(read_name(ctx, param, value))]
        click.echo(f"{rule.page}\n{rule.url}")
        ctx.exit()


def print_rules(form: str | None) -> None:
    """Print the rules as a table, or as JSON for programs.

    Raises:
        click.UsageError: when `form` is a format for findings.
    """
    if form == "json":
        import json  # noqa: PLC0415  (the table needs none)

        click.echo(json.dumps([rule.to_json() for rule in _rules().values()], indent=1))
        return
    if form is not None:
        raise click.UsageError("--rules supports only --format json")
    rows = [(rule.name, rule.severity, rule.kinds, rule.summary) for rule in _rules().values()]
    table = [("NAME", "SEVERITY", "FIX", "FINDS"), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        click.echo("  ".join(f"{cell:<{cells}}" for cell, cells in zip(row, widths, strict=True)).rstrip())


def print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    """Print the version and exit."""
    if value and not ctx.resilient_parsing:
        click.echo(f"rubric-lint {__version__}")
        ctx.exit()


Function = TypeVar("Function", bound=Callable[..., Any])


class AnyPath(click.ParamType):
    """A path, unchecked. `click.Path` would look at the file system and load translations."""

    name = "path"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
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


class SettingsOptions(NamedTuple):
    """The values of the options that choose the settings files."""

    config: str | None
    isolated: bool

    def finder(self, overrides: Overrides | None = None) -> SettingsFinder:
        """Return a finder for the settings of files.

        Raises:
            SettingsError: if the named settings file cannot be used.
        """
        from rubric_lint.project.settings import Overrides, SettingsFinder  # noqa: PLC0415  (not needed by --help)

        return SettingsFinder(overrides or Overrides(), file=self.config, isolated=self.isolated)


def _exclude_other(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    if value and ctx.params.get("isolated" if param.name == "config" else "config"):
        raise click.UsageError("--config cannot be combined with --isolated")
    return value


with_settings = gather_options(
    "settings",
    SettingsOptions,
    (
        option(
            "Settings",
            "--config",
            metavar="FILE",
            type=FileName(),
            callback=_exclude_other,
            help="Use this settings file for all files.",
        ),
        option("Settings", "--isolated", is_flag=True, callback=_exclude_other, help="Ignore all settings files."),
    ),
)
"""Adds the options that choose the settings files to a command, which receives them as one argument `settings`."""


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


SOURCE_CLASHES: tuple[tuple[Callable[[Any], Any], str], ...] = (
    (lambda given: "" in given.paths, "a path is empty; omit it to check the current folder"),
    (
        lambda given: given.stdin_filename and "-" not in given.paths,
        "--stdin-filename requires the path -, which reads stdin",
    ),
)
"""Paths and input options that contradict each other."""


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


TEXT_FORMATS = ("full", "concise", "agent", "vscode")
"""The formats for readers, which --watch can repeat."""

FORMAT: dict[str, Any] = {
    "metavar": "FORMAT",
    "type": Choice(list(REPORTERS)),
    "help": "Report format.  [default: full; github in GitHub Actions; agent for coding agents]",
}
"""The format of the report."""

QUIET: dict[str, Any] = {"is_flag": True, "help": "Do not print the summary."}
"""Leaves the summary out."""

FAIL_ON: dict[str, Any] = {
    "metavar": "SEVERITY",
    **choice("error", "warning", "never"),
    "help": "Lowest severity that makes the exit code 1.",
}
"""The findings that make a run fail."""


def check_watch(form: str | None, *, has_file: bool) -> None:
    """Refuse --watch for a report in a file, or in a format that cannot be repeated.

    Raises:
        click.UsageError: naming the formats that can.
    """
    if has_file or form not in {None, *TEXT_FORMATS}:
        raise click.UsageError(f"--watch supports only --format {join_words(TEXT_FORMATS, 'or')}, on stdout")


def write_figures(lines: Iterable[str], form: str, write: Callable[[str], object]) -> None:
    """Write what else was computed: into a report for readers, else on stderr; the JSON report has the figures."""
    for line in lines:
        if form in TEXT_FORMATS:
            write(f"{line}\n")
        elif form != "json":
            click.echo(line, err=True)


def watch(paths: Sequence[str], show: Callable[..., object], *others: Any, **settings: Any) -> Exit:
    """Run again whenever files change, until the program is interrupted or cannot watch."""
    from rubric_lint.run.watching import Watch, WatchError  # noqa: PLC0415  (few runs watch)

    try:
        Watch(paths, show, *others, **settings).run()
    except WatchError as fault:
        complain(str(fault))
        return Exit.USAGE


def load_given(given: Input, finder: SettingsFinder) -> dict[str, Loaded]:
    """Return the rubrics of a file argument by name.

    Raises:
        UnusableError: when there are none.
        InvalidError: when they have errors.
        SettingsError: when the settings of the file are invalid.
    """
    from rubric_lint.run.given import InvalidError, UnusableError  # noqa: PLC0415
    from rubric_lint.scoring.loading import InvalidRubricError, RubricError, load_models  # noqa: PLC0415

    try:
        return load_models(given.label, given.data, finder.for_file(given.path))
    except InvalidRubricError as wrong:
        raise InvalidError(*wrong.faults) from None
    except RubricError as wrong:
        raise UnusableError(*wrong.faults) from None


def rewrite_all(
    run: FixRun, paths: tuple[str, ...], stdin_filename: str | None, overrides: Overrides, settings: SettingsOptions
) -> FixTotals:
    """Rewrite files, by default those of the current folder, and say what is not read."""
    totals = run.fix_all(paths or (".",), stdin_filename or "<stdin>", settings.finder(overrides))
    for line in run.explaining.word():
        complain(line)
    return totals

"""Parse names of rules and print the rules and their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rubric_lint.cli.near import word_unknown
from rubric_lint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from click.shell_completion import CompletionItem

    from rubric_lint.rules.rule import Rule


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
    from rubric_lint.rules import CHOICES  # noqa: PLC0415  (not needed by --help)

    return CHOICES


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

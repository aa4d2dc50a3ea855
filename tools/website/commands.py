"""The reference of the commands, made of what click knows."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import click

from rubric_lint.cli.commands import Command, DefaultGroup, Exit
from rubric_lint.cli.fix import fix
from rubric_lint.cli.lint import lint
from rubric_lint.cli.score import score
from rubric_lint.cli.test import test
from rubric_lint.messages import HOME
from website.sources import page_url

PROGRAMS = {"rubric-lint": lint.cli, "rubric-fix": fix.fix, "rubric-score": score.cli, "rubric-test": test.cli}
MEANINGS = {
    Exit.CLEAN: "Nothing to report.",
    Exit.FOUND: "Something to report: findings at or above `--fail-on`, files that `rubric-fix --check` would change, "
    "invalid outputs, verdicts at or below `rubric-score --fail-on`, or rubric tests that failed.",
    Exit.USAGE: "Wrong use: an option, a path that cannot be read, or invalid settings.",
    Exit.FAULT: "A crash: a bug in rubric-lint. The message says what to report. From `rubric-fix`, also a "
    "file that was left unchanged because its fixes could not be verified.",
    Exit.INTERRUPTED: "Interrupted with Ctrl+C.",
    Exit.TERMINATED: "Terminated with SIGTERM.",
}


class Entry(NamedTuple):
    """One command: its full name, and what click knows of it. A group that runs a default command has its options."""

    name: str
    command: click.Command
    context: click.Context

    @property
    def page(self) -> str:
        """The page in the source of the site."""
        return f"commands/{self.name.replace(' ', '-')}.md"

    @property
    def options(self) -> dict[str, list[click.Option]]:
        """The options that are shown, `--help` included, by group."""
        command = self.command.default if isinstance(self.command, DefaultGroup) else self.command
        assert isinstance(command, Command), self.name
        return command.group_options(self.context)


@cache
def list_commands() -> tuple[Entry, ...]:
    """Return every command of `rubric-lint`, each before its subcommands, and the programs that are names for some."""
    found = [entry for name, program in PROGRAMS.items() for entry in _walk(name, program, None)]
    return tuple(entry for entry in found if entry.name.startswith("rubric-lint") or " " not in entry.name)


def _walk(name: str, command: click.Command, parent: click.Context | None) -> Iterator[Entry]:
    context = click.Context(command, parent=parent, info_name=name, terminal_width=1000, max_content_width=1000)
    yield Entry(context.command_path, command, context)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            if inner and not inner.hidden and inner is not getattr(command, "default", None):
                yield from _walk(each, inner, context)


def write_page(entry: Entry) -> str:
    """Return the page of one command."""
    usage = "\n".join(entry.command.get_usage(entry.context).removeprefix("Usage: ").split("\n"))
    lines = [f"# {entry.name}", *_paragraphs(entry.command.help or "")]
    lines.append("```text\n" + "\n".join(line.strip() for line in usage.splitlines()) + "\n```")
    if isinstance(entry.command, DefaultGroup):
        lines.append(f"`{entry.name} {entry.command.default.name}` does the same.")
        if (said := entry.command.default.help) and said != entry.command.help:
            lines += _paragraphs(said)
    inner = [each for each in list_commands() if each.name.rpartition(" ")[0] == entry.name]
    if inner:
        lines += ["## Commands", "\n".join(_table(inner))]
    assert isinstance(entry.command, Command), entry.name
    if entry.command.examples:
        lines.append("## Examples")
        lines += [f"{purpose}:\n\n```sh\n{line}\n```" for line, purpose in entry.command.examples.items()]
    for group, options in entry.options.items():
        lines.append(f"## Options: {group.lower()}")
        for option in options:
            record = option.get_help_record(entry.context)
            assert record, option.name
            lines += [f"### `{record[0]}` {{ #{option_anchor(option)} }}", _escape(_plain(record[1] or ""))]
    codes = (f"| {int(code)} | {_escape(meaning)} |" for code, meaning in sorted(entry.command.exits.items()))
    lines += [
        "## Exit codes",
        "\n".join(["| exit code | meaning |", "|---|---|", *codes]),
        f"[All exit codes]({HOME}commands/#exit-codes).",
    ]
    return "\n\n".join(lines) + "\n"


def option_anchor(option: click.Option) -> str:
    """Return the anchor of an option on its page: `--fail-on` is at `#fail-on`."""
    return max(option.opts, key=len).lstrip("-")


def list_programs() -> str:
    """Return the table of all commands, with links."""
    return "\n".join(_table(list_commands()))


def list_exit_codes() -> str:
    """Return the table of all exit codes."""
    return "\n".join(
        ["| exit code | meaning |", "|---|---|", *(f"| {code.value} | {MEANINGS[code]} |" for code in Exit)]
    )


def _table(entries: Sequence[Entry]) -> list[str]:
    rows = [
        f"| [`{entry.name}`]({HOME}{page_url(entry.page)}) | {_escape(_first_sentence(entry.command.help or ''))} |"
        for entry in entries
    ]
    return ["| command | what it does |", "|---|---|", *rows]


def _first_sentence(text: str) -> str:
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())


def _plain(said: str) -> str:
    """Return the help of an option with what click adds in brackets as a sentence of its own."""
    return re.sub(
        r"\s*\[((?:default|env var|required|x[<>]|[\d.]+<).*?)\]$",
        lambda found: f" ({found[1].replace('; ', ', ')})",
        said.replace("]  [", "; "),
    )


def _paragraphs(text: str) -> list[str]:
    """Return a help text as Markdown; what click prints as it is becomes a fence."""
    found = []
    for paragraph in re.split(r"\n[ \t]*\n", text.strip("\n")):
        if paragraph.lstrip().startswith("\b"):
            found.append("```text\n" + paragraph.lstrip().removeprefix("\b").strip("\n") + "\n```")
        elif paragraph.strip():
            found.append(_escape(" ".join(paragraph.split())))
    return found


def _escape(text: str) -> str:
    """Escape what Markdown would take for its own, outside of backticks."""
    pieces = re.split(r"(`[^`]+`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_<>\[\]|{}])", r"\\\1", piece) for piece in pieces)

"""The reference of the commands, made of what click knows."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

import click

from rubric_lint.cli.commands import Command, DefaultGroup, Exit
from rubric_lint.cli.fix import fix
from rubric_lint.cli.lint import lint
from rubric_lint.cli.score import score
from rubric_lint.cli.test import test
from rubric_lint.model.messages import HOME

PROGRAMS = {"rubric-lint": lint.cli, "rubric-fix": fix.fix, "rubric-score": score.cli, "rubric-test": test.cli}
ALIASES = frozenset({"rubric-fix", "rubric-score", "rubric-test"})
"""Other names of commands, which have no section of their own."""
MOST = 15
"""An option of more commands than this is one of most of them."""
MEANINGS = {
    Exit.CLEAN: "Nothing to report.",
    Exit.FOUND: "Something to report: findings at or above `--fail-on`, files that `rubric-lint fix --check` would "
    "change, invalid outputs, verdicts at or below `rubric-lint score --fail-on`, or rubric tests that failed.",
    Exit.USAGE: "Wrong use: an option, a path that cannot be read, or invalid settings.",
    Exit.FAULT: "A crash: a bug in rubric-lint. The message says what to report. From `rubric-lint fix`, also a "
    "file that was left unchanged because its fixes could not be verified.",
    Exit.UNDECIDED: "From `rubric-lint assess` and `improve`: too few answers to say.",
    Exit.INTERRUPTED: "Interrupted with Ctrl+C.",
    Exit.TERMINATED: "Terminated with SIGTERM.",
}


class Entry(NamedTuple):
    """One command: its full name, and what click knows of it. A group that runs a default command has its options."""

    name: str
    command: click.Command
    context: click.Context

    @property
    def anchor(self) -> str:
        """The anchor of its section on the page of commands."""
        return self.name.replace(" ", "-")

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
    context = click.Context(
        command,
        parent=parent,
        info_name=name,
        **{**command.context_settings, "terminal_width": 1000, "max_content_width": 1000},
    )
    yield Entry(context.command_path, command, context)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            if inner and not inner.hidden and inner is not getattr(command, "default", None):
                yield from _walk(each, inner, context)


def describe_commands() -> str:
    """Return the sections of the page of commands: a command each, whose options the page of options explains."""
    return "\n\n".join(_describe(entry) for entry in list_commands() if entry.name not in ALIASES)


def _describe(entry: Entry) -> str:
    usage = re.sub(r"\n\s+", "\n", entry.command.get_usage(entry.context).removeprefix("Usage: "))
    lines = [
        f"## `{entry.name}` {{ #{entry.anchor} }}",
        f"```text\n{usage}\n```",
        *_paragraphs(entry.command.help or ""),
    ]
    if isinstance(entry.command, DefaultGroup):
        lines.append(f"`{entry.name} {entry.command.default.name}` does the same.")
        if (said := entry.command.default.help) and said != entry.command.help:
            lines += _paragraphs(said)
    assert isinstance(entry.command, Command), entry.name
    if entry.command.examples:
        lines.append(
            "```sh\n" + "\n".join(f"{line}  # {said}" for line, said in entry.command.examples.items()) + "\n```"
        )
    for group, options in entry.options.items():
        names = (f"[`{_long(option)}`]({HOME}commands/options/#{_long(option).lstrip('-')})" for option in options)
        lines.append(f"**{group}:** {', '.join(names)}")
    return "\n\n".join(lines)


def write_options() -> str:
    """Return the page of options: each with its meanings, and the commands in which it has each."""
    meanings: dict[str, dict[tuple[str, str], list[Entry]]] = {}
    for entry in list_commands():
        for option in chain.from_iterable(entry.options.values()):
            record = option.get_help_record(entry.context)
            assert record, option.name
            meanings.setdefault(_long(option), {}).setdefault(record, []).append(entry)
    lines = [
        "# Options",
        "Every option of every command, in alphabetical order. Those of most commands are not repeated for each.",
    ]
    for name, found in sorted(meanings.items(), key=lambda each: each[0].lstrip("-")):
        lines.append(f"## `{name}` {{ #{name.lstrip('-')} }}")
        for (written, said), entries in found.items():
            links = ", ".join(
                f"[`{entry.name.removeprefix('rubric-lint ')}`]({HOME}commands/#{entry.anchor})"
                for entry in entries
                if entry.name not in ALIASES
            )
            where = "most commands" if len(entries) > MOST else links
            lines.append(f"`{written}` ({where}): {_escape(_plain(said))}")
    return "\n\n".join(lines) + "\n"


def _long(option: click.Option) -> str:
    return max(option.opts, key=len)


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
        f"| [`{entry.name}`]({HOME}commands/#{entry.anchor}) | {_escape(_first_sentence(entry.command.help or ''))} |"
        for entry in entries
        if entry.name not in ALIASES
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

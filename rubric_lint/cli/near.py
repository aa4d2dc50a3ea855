"""Point from an unknown command, option or value to the one that was probably meant."""

import os
import re
import shlex
from collections.abc import Collection, Iterable, Mapping

import click

_LINT, _FIX, _SCORE, _TEST = "rubric-lint", "rubric-fix", "rubric-score", "rubric-test"

WORDS = {
    "agree": f"{_SCORE} agree RUBRIC RESULTS",
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

"""Define the small commands: `init`, `adopt`, `explain`, `cache`, `skill`, `completion`, and two servers."""

import json
import os
import signal
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from rubric_lint.cli.commands import CommandGroup, Exit, end_at_once
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import Choice, command, complete_name, read_name
from rubric_lint.cli.output import AGENTS, SHARED_SKILLS, find_agent, has_content, make_style
from rubric_lint.lint.project.paths import is_folder, is_there
from rubric_lint.lint.run.cache import FOLDER, cache_folder, clear
from rubric_lint.lint.run.console import complain
from rubric_lint.model.messages import UserError, counted, visible
from rubric_lint.model.suggest import format_need, suggest
from rubric_lint.report.terminal import Style, reflow
from rubric_lint.source.source import Kind, kind_of


@command(
    "file?",
    "shape suite force",
    short="Write a rubric to start from.",
    examples={
        "rubric-lint init": "Write a checklist to example.rubric.yaml",
        "rubric-lint init --shape score-ranges quality.rubric.yaml": "Choose how the judge answers, and the name",
        "rubric-lint init --suite support.suite.yaml": "Write a suite with one case",
        "rubric-lint init --shape levels -": "Print it instead",
    },
    exits={Exit.USAGE: "usage error, or FILE exists or cannot be written"},
)
def init(given: Given) -> None:
    """Write a rubric to start from. It has no findings and names its schema for editors.

    FILE defaults to example.rubric.yaml, or with --suite to example.suite.yaml; - writes to stdout. A name that ends
    in .json selects JSON.
    """
    from rubric_lint.lint.project.files import name_other_kind
    from rubric_lint.model.starter import start

    usual = "example.suite.yaml" if given.suite else "example.rubric.yaml"
    name = given.file or usual
    advice = "choose a name that ends in .yaml or .json"
    other_kind, notation = name_other_kind(name), kind_of(name)
    if other_kind:
        raise click.UsageError(f"{name} would not be checked, as it is {other_kind}; {advice}")
    if notation not in (Kind.YAML, Kind.JSON):
        raise click.UsageError(f"{name} would be read as {notation}, which init does not write; {advice}")
    text = start(given.shape, suite=given.suite, as_json=name.lower().endswith(".json"))
    if name == "-":
        click.echo(text, nl=False)
        return
    if is_folder(name):
        raise click.UsageError(f"{name} is a folder; name a file in it")
    try:
        mode = "wb" if given.force else "xb"
        with Path(name).open(mode) as stream:
            stream.write(text.encode())
    except FileExistsError:
        raise click.UsageError(f"{name} already exists; name another file, or use --force to overwrite it") from None
    except OSError as error:
        raise click.UsageError(f"cannot write {name}: {error.strerror}") from error
    click.echo(f"Wrote {visible(name)}. Replace its criteria with your own, then check the file:", err=True)
    place = name if visible(name) == name else "."
    click.echo(f"  {suggest('check', place)}", err=True)


@command(
    "files+",
    "scale pass:adopt better map:adopt check output:settings name | color stdin-filename config isolated",
    short="Describe a format of your own in the settings.",
    examples={
        "rubric-lint adopt evals/rubric.yaml": "Describe the format of a file in the settings",
        "rubric-lint adopt --scale 1-5 --map unused=owner evals/rubric.yaml": "Say what the file leaves open",
        "rubric-lint adopt --output - evals/rubric.yaml": "Print the table instead",
        "rubric-lint adopt --check evals/rubric.yaml": "Fail in CI if the settings do not describe it whole",
    },
    exits={
        Exit.CLEAN: "the settings describe the files",
        Exit.FOUND: "no criteria, an open question, or an error in a file, so that `score` refuses it; with --check, "
        "the settings do not describe a file whole",
        Exit.USAGE: "usage error, a file that cannot be read, or an answer that does not fit the files",
    },
    clashes="""
        --check excludes --output --scale --pass --better --map; it writes nothing
    """,
)
def adopt(given: Given) -> int:
    """Describe the format of files in the settings, so that all commands and editors read them.

    FILE is YAML, JSON or TOML with criteria in a format of your own; several files may share one. Shows what is
    understood, names each key that is not used, and adds a table to the nearest settings file. What the files leave
    open, it asks on a terminal; otherwise, it writes nothing and prints the command that answers it.
    """
    from rubric_lint.cli.lint.adopt import describe_format

    return describe_format(given)


_LEAST_PROSE = 30
"""The cells that prose needs with other columns; in less it goes below them."""

NAME = "rubric-lint"
FILE = "SKILL.md"

FOLDERS = {agent.name: agent.skills for agent in AGENTS if agent.name != "any"}
"""The folder of a project in which each agent looks for skills."""


def find_skill() -> Path:
    """Return the path of the skill: inside the installed package, or next to it in a checkout."""
    package = Path(__file__).parents[2]
    packaged = package / "skills" / NAME / FILE
    return packaged if packaged.is_file() else package.parent / "skills" / NAME / FILE


@command("", "", name="print", examples={"rubric-lint skill print": "Read the skill"})
def print_skill(_given: Given) -> None:
    """Print the skill."""
    click.echo(find_skill().read_text("utf-8"), nl=False)


@command("", "", name="path", examples={"rubric-lint skill path": "Find the file"})
def print_path(_given: Given) -> None:
    """Print the path of the skill in the installed package."""
    click.echo(find_skill())


def read_agent(value: str) -> str:
    """Return the name of an agent, empty if none is given; raise click.BadParameter for an unknown one."""
    return str(Choice(sorted(FOLDERS)).convert(value, None, None)) if value else ""


@command(
    "",
    "agent to:folder force",
    examples={
        "rubric-lint skill install": "Install it for the agents of this project",
        "rubric-lint skill install --agent claude": "Install it for Claude Code",
        "rubric-lint skill install --to ~/.agents/skills": "Install it for all projects of a user",
    },
    exits={Exit.USAGE: "usage error, or the installed skill was changed, or cannot be written"},
    clashes="--agent excludes --to; each names a folder",
)
def install(given: Given) -> None:
    """Install the skill into this project."""
    target = Path(given.folder or _find_skills_folder(given.agent), NAME, FILE)
    text = find_skill().read_bytes()
    try:
        if has_content(target, text):
            click.echo(f"{visible(str(target))} is up to date.", err=True)
            return
        if is_there(target) and not given.force:
            raise click.UsageError(
                f"{target} differs from the skill of this version; compare it with `rubric-lint skill print`, then use "
                "--force to overwrite it"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)
    except OSError as fault:
        raise click.UsageError(f"cannot write {target}: {fault.strerror}") from fault
    click.echo(f"Wrote {visible(str(target))}.", err=True)


def _find_skills_folder(agent: str) -> str:
    """Return the folder of the named agent, or else of the agent that runs this command."""
    if agent:
        return FOLDERS[agent]
    running = find_agent(os.environ)
    return running.skills if running else SHARED_SKILLS


skill = CommandGroup(
    "skill",
    commands=[install, print_path, print_skill],
    help="Install the skill that teaches coding agents to write rubrics.\n\nA skill is a file of instructions that an "
    "agent reads when a task needs it: https://agentskills.io.",
    short_help="Install the skill that teaches coding agents to write rubrics.",
    examples={"rubric-lint skill install": "Install the skill for the agents of this project"},
)


@command("", "", name="dir", examples={"rubric-lint cache dir": "Print the cache folder"})
def show_folder(_given: Given) -> None:
    """Print the cache folder."""
    click.echo(_require_folder())


@command("", "", name="clear", examples={"rubric-lint cache clear": "Delete all results"})
def clear_all(_given: Given) -> None:
    """Delete all cached results, of every version and working folder, and the replies of judges."""
    folder = _require_folder()
    click.echo(f"Removed {counted(clear(), 'file')} from {folder}.")


def _require_folder() -> Path:
    folder = cache_folder()
    if folder is None:
        raise click.UsageError(f"there is no cache because you have no home folder; set {FOLDER} to use one")
    return folder


cache = CommandGroup(
    "cache",
    commands=[clear_all, show_folder],
    help=f"Show or clear the cache of results from earlier runs. Set the environment variable {FOLDER} to move it.",
    short_help="Show or clear the cache of results from earlier runs.",
    examples={"rubric-lint cache dir": "Print the cache folder", "rubric-lint cache clear": "Delete all results"},
)


@command(
    "rule?",
    "format=text,json",
    short="Explain a rule, with examples; without RULE, list the rules.",
    examples={"rubric-lint explain overlap": "Explain a rule", "rubric-lint explain": "List the rules"},
)
def explain(given: Given) -> None:
    """Explain a rule, with examples; without RULE, list all rules."""
    from rubric_lint.rules import BY_NAME

    rules = list(BY_NAME.values()) if given.rule is None else [BY_NAME[read_name(given.rule)]]
    if given.form == "json":
        click.echo(json.dumps([rule.to_json() for rule in rules], indent=1))
    elif given.rule is not None:
        style = make_style()
        page = reflow(rules[0].page, style.columns) if style.wraps else rules[0].page
        click.echo(f"{page}\n{rules[0].url}")
    else:
        rows = [(rule.name, rule.severity, rule.kinds, rule.summary) for rule in rules]
        for line in _draw_rules([("NAME", "SEVERITY", "FIX", "FINDS"), *rows], make_style()):
            click.echo(line)


def _draw_rules(table: list[tuple[str, ...]], style: Style) -> Iterator[str]:
    """Yield the lines of a table; on a terminal, the last cell of a row is broken between words, in its column."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)][:-1]
    indent = sum(widths) + 2 * len(widths)
    is_narrow = style.wraps and style.columns < indent + _LEAST_PROSE
    for *cells, prose in table:
        start = "".join(f"{cell:<{space}}  " for cell, space in zip(cells, widths, strict=True))
        if is_narrow:
            yield from textwrap.wrap("  ".join(filter(None, cells)), style.columns)
            yield from textwrap.wrap(prose, style.columns, initial_indent="  ", subsequent_indent="  ")
        elif style.wraps:
            yield from textwrap.wrap(prose, style.columns, initial_indent=start, subsequent_indent=" " * indent)
        else:
            yield start + prose


explain.params[0]._custom_shell_complete = complete_name


@command(
    "shell",
    "",
    short="Print what makes a shell complete commands and options.",
    examples={
        'eval "$(rubric-lint completion bash)"': "In ~/.bashrc",
        'eval "$(rubric-lint completion zsh)"': "In ~/.zshrc",
        "rubric-lint completion fish | source": "In ~/.config/fish/config.fish",
    },
)
def completion(given: Given) -> None:
    """Print what makes a shell complete commands, options and rules. SHELL is bash, zsh or fish."""
    from rubric_lint.cli.lint.lint import cli

    Choice(["bash", "zsh", "fish"]).convert(given.shell, None, None)
    shell = get_completion_class(given.shell)
    if shell is not None:
        for program in ("rubric-lint", "rubric-fix", "rubric-score", "rubric-test"):
            variable = f"_{program.replace('-', '_')}_complete".upper()
            click.echo(shell(cli, {}, program, variable).source())


@command(
    "",
    "stdio",
    examples={"rubric-lint lsp": "What an editor runs"},
    exits={
        Exit.CLEAN: "the editor asked the server to exit",
        Exit.FOUND: "the editor disconnected",
        Exit.USAGE: "usage error, or pygls is not installed",
    },
)
def lsp(_given: Given) -> int:
    """Start the language server, for use by editors."""
    try:
        import pygls.lsp.server  # noqa: F401  (a third of a second)
    except ImportError:
        raise UserError(f"the language server {format_need('lsp')}") from None
    from rubric_lint.editor.features import Server

    end_at_once()
    if hasattr(signal, "SIGPIPE"):
        # Not as cat and grep do: a thread may still wake the event loop, through a pipe, while that is being closed.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if sys.stdin.isatty():
        complain("waiting for Language Server Protocol messages; this command is meant to be started by an editor")
    return Exit.CLEAN if Server().run() else Exit.FOUND


@command(
    "",
    "root",
    examples={
        "rubric-lint mcp": "What a coding agent runs in the folder of the project",
        "rubric-lint mcp --root examples": "Allow one folder and nothing else",
    },
    exits={Exit.CLEAN: "the agent disconnected", Exit.USAGE: "usage error, or the mcp package is not installed"},
)
def mcp(given: Given) -> int:
    """Start the MCP server over stdin and stdout, for use by coding agents.

    Relative paths start at the first --root. Paths and symlinks that leave all roots are refused.
    """
    try:
        import mcp.server.stdio  # noqa: F401  (a second)
    except ImportError:
        raise UserError(f"the MCP server {format_need('mcp')}") from None
    from rubric_lint.agents.roots import Roots
    from rubric_lint.agents.server import serve

    if sys.stdin.isatty():
        complain("waiting for Model Context Protocol messages; this command is meant to be started by a coding agent")
    allowed = Roots(given.roots or (".",))
    if given.roots:
        os.chdir(given.roots[0])
    end_at_once()
    serve(allowed)
    return Exit.CLEAN

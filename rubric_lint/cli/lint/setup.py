"""Define `rubric-lint init`, which writes a rubric to start from."""

import os
import shlex
from contextlib import suppress
from pathlib import Path

import click

from rubric_lint.cli.commands import Command, Exit, Group, option
from rubric_lint.cli.options import FileName, choice
from rubric_lint.cli.output import AGENTS, SHARED_SKILLS, find_agent
from rubric_lint.messages import visible
from rubric_lint.project.opening import SMALL_LIMIT, read_file

SHAPES = ("checklist", "score-ranges", "holistic", "levels")
"""The shapes that it writes, the simplest first."""


@click.command(
    cls=Command,
    examples={
        "rubric-lint init": "Write a checklist to example.rubric.yaml",
        "rubric-lint init --shape score-ranges quality.rubric.yaml": "Choose how the judge answers, and the name",
        "rubric-lint init --suite support.suite.yaml": "Write a suite with one case",
        "rubric-lint init --shape levels -": "Print it instead",
    },
    exits={Exit.USAGE: "usage error, or FILE exists or cannot be written"},
)
@click.argument("file", metavar="[FILE]", required=False, type=FileName())
@option("Content", "--shape", metavar="SHAPE", **choice(*SHAPES), help="How the judge answers.")
@option("Content", "--suite", is_flag=True, help="Write a suite with one case instead of a rubric file.")
@option("Output", "--force", is_flag=True, help="Overwrite an existing FILE.")
def init(file: str | None, shape: str, *, suite: bool, force: bool) -> None:
    """Write a rubric to start from. It has no findings and names its schema for editors.

    FILE defaults to example.rubric.yaml, or with --suite to example.suite.yaml; - writes to stdout. A name that ends
    in .json selects JSON.
    """
    from rubric_lint.format.starter import start  # noqa: PLC0415  (reads YAML)
    from rubric_lint.project.files import name_other_kind  # noqa: PLC0415
    from rubric_lint.project.repository import name_schema  # noqa: PLC0415

    name = file or ("example.suite.yaml" if suite else "example.rubric.yaml")
    if kind := name_other_kind(name):
        raise click.UsageError(
            f"{name} would not be checked, as it is {kind}; choose a name that ends in .yaml or .json"
        )
    schema = name_schema("suite" if suite else "rubric", name)
    text = start(shape, schema, suite=suite, as_json=name.lower().endswith(".json"))
    if name == "-":
        click.echo(text, nl=False)
        return
    if os.path.isdir(name):  # noqa: PTH112  (Path.is_dir may raise)
        raise click.UsageError(f"{name} is a folder; name a file in it")
    try:
        with Path(name).open("wb" if force else "xb") as stream:
            stream.write(text.encode())
    except FileExistsError:
        raise click.UsageError(f"{name} already exists; name another file, or use --force to overwrite it") from None
    except OSError as error:
        raise click.UsageError(f"cannot write {name}: {error.strerror}") from error
    click.echo(f"Wrote {visible(name)}. Replace its criteria with your own, then check the file:", err=True)
    line = f"rubric-lint {shlex.quote(f'./{name}' if name.startswith('-') else name)}"
    # A shell would not take escapes for the characters that cannot be shown.
    click.echo(f"  {line}" if visible(line) == line else "  rubric-lint .", err=True)


NAME = "rubric-lint"
FILE = "SKILL.md"

FOLDERS = {agent.name: agent.skills for agent in AGENTS if agent.name != "any"}
"""The folder of a project in which each agent looks for skills."""


def find_skill() -> Path:
    """Return the path of the skill: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[2]
    packaged = package / "skills" / NAME / FILE
    return packaged if packaged.is_file() else package.parent / "skills" / NAME / FILE


@click.group(
    cls=Group,
    examples={"rubric-lint skill install": "Install the skill for the agents of this project"},
)
def skill() -> None:
    """Install the skill that teaches coding agents to write rubrics.

    A skill is a file of instructions that an agent reads when a task needs it: https://agentskills.io.
    """


@skill.command("print", cls=Command, examples={"rubric-lint skill print": "Read the skill"})
def print_skill() -> None:
    """Print the skill."""
    click.echo(find_skill().read_text("utf-8"), nl=False)


@skill.command("path", cls=Command, examples={"rubric-lint skill path": "Find the file"})
def print_path() -> None:
    """Print the path of the skill in the installed package."""
    click.echo(find_skill())


@skill.command(
    cls=Command,
    examples={
        "rubric-lint skill install": "Install it for the agents of this project",
        "rubric-lint skill install --agent claude": "Install it for Claude Code",
        "rubric-lint skill install --to ~/.agents/skills": "Install it for all projects of a user",
    },
    exits={Exit.USAGE: "usage error, or the installed skill was changed, or cannot be written"},
)
@option(
    "Output",
    "--agent",
    metavar="AGENT",
    type=click.Choice(sorted(FOLDERS)),
    help="The coding agent to install it for.  [default: the agent that runs this command; "
    f"otherwise {SHARED_SKILLS}, where most agents look]",
)
@option("Output", "--to", "folder", metavar="DIR", help="Install it into DIR/rubric-lint instead.")
@option("Output", "--force", is_flag=True, help="Overwrite an installed skill that differs.")
def install(agent: str | None, folder: str | None, *, force: bool) -> None:
    """Install the skill into this project."""
    if agent and folder:
        raise click.UsageError("--agent and --to cannot be combined; each names a folder")
    found = find_agent(os.environ)
    if folder == "":
        raise click.UsageError("--to is empty; name a folder")
    skills = folder or (FOLDERS[agent] if agent else found.skills if found else SHARED_SKILLS)
    target = Path(skills, NAME, FILE)
    text = find_skill().read_bytes()
    try:
        if _holds(target, text):
            click.echo(f"{visible(str(target))} is up to date.", err=True)
            return
        if os.path.lexists(target) and not force:
            raise click.UsageError(
                f"{target} differs from the skill of this version; compare it with `rubric-lint skill print`, then use "
                "--force to overwrite it"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)
    except OSError as fault:
        raise click.UsageError(f"cannot write {target}: {fault.strerror}") from fault
    click.echo(f"Wrote {visible(str(target))}.", err=True)


def _holds(file: Path, data: bytes) -> bool:
    with suppress(OSError):  # also what is not a regular file, or too large to be the skill
        return read_file(str(file), SMALL_LIMIT) == data
    return False

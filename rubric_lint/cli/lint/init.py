"""Define `rubric-lint init`, which writes a rubric to start from."""

import os
import shlex
from pathlib import Path

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.help import Command, option
from rubric_lint.cli.options import FileName, choice
from rubric_lint.messages import visible

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
    from rubric_lint.project.repository import name_schema  # noqa: PLC0415
    from rubric_lint.project.skipped import name_other_kind  # noqa: PLC0415

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

"""Define `rubric-lint schema`, which prints the JSON Schemas and writes starter files."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.options import FileName
from rubric_lint.project.opening import SMALL_LIMIT, read_file
from rubric_lint.report.visible import visible
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from rubric_lint.format.schema_files import SchemaFile

SHAPES = ("checklist", "score-ranges", "holistic", "levels")
"""The shapes that `init` writes, the simplest first."""


def _find_schema(_ctx: click.Context, _param: click.Parameter, value: str) -> SchemaFile:
    """Return the schema with this name: `suite@v1`, or `suite` for its latest version."""
    name, _, version = value.partition("@")
    entries = _entries()
    matching = [entry for entry in entries if entry.name == name and version in {"", entry.version}]
    if not matching:
        raise click.BadParameter(f"unknown schema {value!r}; expected {', '.join(map(_label, entries))}")
    return max(matching, key=lambda entry: int(entry.version[1:]))


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in map(_label, _entries()) if name.startswith(incomplete)]


def _entries() -> tuple[SchemaFile, ...]:
    from rubric_lint.format.schema_files import catalogue  # noqa: PLC0415  (reads the schema folder)

    return catalogue()


def _label(entry: SchemaFile) -> str:
    return f"{entry.name}@{entry.version}"


@click.group(invoke_without_command=True)
@click.pass_context
def schema(ctx: click.Context) -> None:
    """List the JSON Schemas of the format.

    Each line shows name and version, $id and file.
    """
    if ctx.invoked_subcommand:
        return
    rows = [(_label(entry), entry.bundled_id, str(entry.path)) for entry in _entries()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, address, path in rows:
        click.echo(f"{name:<{widths[0]}}  {address:<{widths[1]}}  {path}")


@schema.command("print")
@click.argument("entry", metavar="NAME[@VERSION]", callback=_find_schema, shell_complete=_complete)
def print_schema(entry: SchemaFile) -> None:
    """Print a schema as one self-contained file."""
    click.echo(entry.path.read_text("utf-8"), nl=False)


@schema.command("path")
@click.argument("entry", metavar="NAME[@VERSION]", callback=_find_schema, shell_complete=_complete)
def print_path(entry: SchemaFile) -> None:
    """Print the path of a schema's self-contained file."""
    click.echo(entry.path)


@schema.command("bundle")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is out of date.")
@click.argument("folder", metavar="[FOLDER]", required=False, type=click.Path(file_okay=False, path_type=Path))
def bundle_schemas(folder: Path | None, *, check: bool) -> int:
    """Write every schema as a self-contained file into FOLDER (default: where `schema path` finds them).

    Also writes catalog.json, the entries for SchemaStore.
    """
    from rubric_lint.format.bundle import bundle  # noqa: PLC0415  (imports referencing)
    from rubric_lint.format.schema_files import schemas_root  # noqa: PLC0415
    from rubric_lint.format.schema_store import store_catalogue  # noqa: PLC0415

    if folder is None and schemas_root().parent == Path(__file__).parents[1]:
        raise click.UsageError("name a FOLDER; the installed schemas must not be changed")
    folder = folder or schemas_root() / "bundled"
    texts = {entry.bundled_name: bundle(entry) for entry in _entries()} | {"catalog.json": store_catalogue()}
    stale = [name for name, text in texts.items() if not _holds(folder / name, text)]
    for name in stale:
        if check:
            complain(f"{folder / name} is out of date")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(texts[name].encode())
    return Exit.FOUND if check and stale else Exit.CLEAN


@schema.command("init")
@click.option("--suite", is_flag=True, help="Write a suite with one case instead of a rubric file.")
@click.option("--shape", type=click.Choice(SHAPES), default=SHAPES[0], show_default=True, help="How the judge answers.")
@click.option("--force", is_flag=True, help="Overwrite an existing FILE.")
@click.argument("file", metavar="[FILE]", required=False, type=FileName())
def write_starter(file: str | None, shape: str, *, suite: bool, force: bool) -> None:
    """Write a starter file that names its schema for editors.

    FILE defaults to example.rubric.yaml, or with --suite to example.suite.yaml; `-` writes to stdout. A name that ends
    in .json selects JSON.
    """
    from rubric_lint.format.starter import start  # noqa: PLC0415  (reads YAML)

    path = Path(file or ("example.suite.yaml" if suite else "example.rubric.yaml"))
    text = start(shape, suite=suite, as_json=path.suffix == ".json")
    if str(path) == "-":
        click.echo(text, nl=False)
        return
    if os.path.isdir(path):  # noqa: PTH112  (Path.is_dir may raise)
        raise click.UsageError(f"{path} is a folder; name a file in it")
    try:
        with path.open("wb" if force else "xb") as stream:
            stream.write(text.encode())
    except FileExistsError:
        raise click.UsageError(f"{path} already exists; name another file, or use --force to overwrite it") from None
    except OSError as error:
        raise click.UsageError(f"cannot write {path}: {error.strerror}") from error
    click.echo(f"wrote {visible(str(path))}; check it with: rubric-lint {shlex.quote(visible(str(path)))}", err=True)


def _holds(file: Path, text: str) -> bool:
    with suppress(OSError):
        return read_file(str(file), SMALL_LIMIT) == text.encode()
    return False

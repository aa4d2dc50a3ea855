"""Define `rubric-lint schema`, which prints the JSON Schemas."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.commands import Exit, Group, option, word_unknown
from rubric_lint.project.opening import SMALL_LIMIT, read_file
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from rubric_lint.format.schema_files import Form, SchemaFile


def _find_schema(_ctx: click.Context, _param: click.Parameter, value: str) -> SchemaFile:
    """Return the schema with this name: `suite@v1`, or `suite` for its latest version."""
    name, _, version = value.partition("@")
    entries = _entries()
    matching = [entry for entry in entries if entry.name == name and version in {"", entry.version}]
    if not matching:
        known = [*{entry.name: None for entry in entries}, *map(_label, entries)]
        hint = word_unknown(value, known) or f"; expected {', '.join(map(_label, entries))}"
        raise click.BadParameter(f"unknown schema {value!r}{hint}")
    return max(matching, key=lambda entry: int(entry.version[1:]))


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in map(_label, _entries()) if name.startswith(incomplete)]


def _entries() -> tuple[SchemaFile, ...]:
    from rubric_lint.format.schema_files import catalogue  # noqa: PLC0415  (reads the schema folder)

    return catalogue()


def _label(entry: SchemaFile) -> str:
    return f"{entry.name}@{entry.version}"


def _choose(entry: SchemaFile, form: Form) -> SchemaFile:
    """Return a form of a schema."""
    for each in entry.forms:
        if each.form == form:
            return each
    raise click.UsageError(f"{_label(entry)} has one form only; leave out --form")


# Named here, because reading them from the schema files would slow down every start.
_FORM = option(
    "Output",
    "--form",
    type=click.Choice(["editor", "completion", "strict"]),
    default="editor",
    show_default=True,
    help="For an editor's YAML server alone, for one beside `rubric-lint lsp`, or for validators such as Ajv.",
)


@click.group(
    cls=Group,
    invoke_without_command=True,
    examples={
        "rubric-lint schema": "List the schemas",
        "rubric-lint schema print rubric": "Print the latest schema of rubric files",
    },
)
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


@schema.command(
    "print",
    examples={
        "rubric-lint schema print suite@v1": "Print a version",
        "rubric-lint schema print rubric --form strict": "Print the one for validators",
    },
)
@click.argument("entry", metavar="NAME[@VERSION]", callback=_find_schema, shell_complete=_complete)
@_FORM
def print_schema(entry: SchemaFile, form: Form) -> None:
    """Print a schema as one self-contained file."""
    click.echo(_choose(entry, form).path.read_text("utf-8"), nl=False)


@schema.command(
    "path",
    examples={
        "rubric-lint schema path rubric": "Name the file for an editor",
        "rubric-lint schema path rubric --form completion": "Name the one for use beside rubric-lint lsp",
    },
)
@click.argument("entry", metavar="NAME[@VERSION]", callback=_find_schema, shell_complete=_complete)
@_FORM
def print_path(entry: SchemaFile, form: Form) -> None:
    """Print the path of a schema's self-contained file."""
    click.echo(_choose(entry, form).path)


@schema.command(
    "bundle",
    short_help="Write every schema as a self-contained file.",
    examples={"rubric-lint schema bundle schemas/": "Write the schemas to a folder"},
    exits={Exit.FOUND: "a file is out of date (--check)"},
)
@option("Output", "--check", is_flag=True, help="Write nothing; exit with 1 if a file is out of date.")
@click.argument("folder", metavar="[FOLDER]", required=False, type=click.Path(file_okay=False, path_type=Path))
def bundle_schemas(folder: Path | None, *, check: bool) -> int:
    """Write every schema as a self-contained file into FOLDER (default: where `schema path` finds them).

    Also writes catalog.json, the entries for SchemaStore.
    """
    from rubric_lint.format.bundle import bundle, store_catalogue  # noqa: PLC0415  (imports referencing)
    from rubric_lint.format.schema_files import schemas_root  # noqa: PLC0415

    if folder is None and schemas_root().parent == Path(__file__).parents[2]:
        raise click.UsageError("name a FOLDER; the installed schemas must not be changed")
    folder = folder or schemas_root() / "bundled"
    forms = [form for entry in _entries() for form in entry.forms]
    texts = {form.bundled_name: bundle(form) for form in forms} | {"catalog.json": store_catalogue()}
    stale = [name for name, text in texts.items() if not _holds(folder / name, text)]
    for name in stale:
        if check:
            complain(f"{folder / name} is out of date")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(texts[name].encode())
    return Exit.FOUND if check and stale else Exit.CLEAN


def _holds(file: Path, text: str) -> bool:
    with suppress(OSError):
        return read_file(str(file), SMALL_LIMIT) == text.encode()
    return False

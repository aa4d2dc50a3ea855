"""Define `rubric-lint schema`, which prints the JSON Schemas."""

from __future__ import annotations

from pathlib import Path

import click

from rubric_lint.cli.commands import CommandGroup, Exit, format_unknown
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import command
from rubric_lint.cli.output import has_content
from rubric_lint.cli.score.prompt import schema as outputs
from rubric_lint.lint.run.console import complain
from rubric_lint.model.schema_files import SchemaFile, catalogue, newest, schemas_root
from rubric_lint.model.suggest import suggest


def _find_file(given: Given) -> SchemaFile:
    """Return the file of `suite@v1`, or the current one of `suite`; raise click.UsageError without one of this form."""
    name, _, version = given.name.partition("@")
    entries = catalogue()
    matching = [entry for entry in entries if entry.name == name and version in {"", entry.version}]
    if not matching:
        known = [*{entry.name: None for entry in entries}, *map(_label, entries)]
        hint = format_unknown(given.name, known) or f"; expected {', '.join(map(_label, entries))}"
        raise click.BadParameter(f"unknown schema {given.name!r}{hint}")
    entry = matching[0] if version else newest(name)
    for file in entry.forms:
        if file.form == given.form:
            return file
    raise click.UsageError(f"{_label(entry)} has one form only; leave out --form")


def _label(entry: SchemaFile) -> str:
    return f"{entry.name}@{entry.version}"


@command(
    "name",
    "form",
    name="print",
    examples={
        "rubric-lint schema print suite@v1": "Print a version",
        "rubric-lint schema print rubric --form strict": "Print the one for validators",
    },
)
def print_schema(given: Given) -> None:
    """Print a schema as one self-contained file. NAME may be NAME@VERSION."""
    click.echo(_find_file(given).text, nl=False)


@command(
    "name",
    "form",
    name="path",
    examples={
        "rubric-lint schema path rubric": "Name the file for an editor",
        "rubric-lint schema path rubric --form completion": "Name the one for use with rubric-lint lsp",
    },
)
def print_path(given: Given) -> None:
    """Print the path of a schema's self-contained file. NAME may be NAME@VERSION."""
    file = _find_file(given)
    if not file.is_in_file:
        label = _label(file)
        command = suggest("schema print", label)
        raise click.UsageError(f"{label} is not in a file; write one: `{command} > {file.bundled_name}`")
    click.echo(file.path)


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in map(_label, catalogue()) if name.startswith(incomplete)]


print_schema.params[0]._custom_shell_complete = _complete
print_path.params[0]._custom_shell_complete = _complete


@command(
    "folder?",
    "check",
    name="bundle",
    short="Write every schema as a self-contained file.",
    examples={"rubric-lint schema bundle schemas/": "Write the schemas to a folder"},
    exits={Exit.FOUND: "a file is out of date (--check)"},
)
def bundle_schemas(given: Given) -> int:
    """Write every schema as a self-contained file into FOLDER.

    Also writes catalog.json, the entries for SchemaStore.
    """
    if given.folder is None:
        raise click.UsageError("name a FOLDER; the installed schemas must not be changed")
    folder = Path(given.folder)
    texts = {file.bundled_name: file.text.encode() for entry in catalogue() for file in entry.forms}
    texts["catalog.json"] = (schemas_root() / "bundled/catalog.json").read_bytes()
    stale = [name for name, text in texts.items() if not has_content(folder / name, text)]
    for name in stale:
        if given.check:
            complain(f"{folder / name} is out of date")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(texts[name])
    return Exit.FOUND if given.check and stale else Exit.CLEAN


class _Schemas(CommandGroup):
    """Lists the schemas if no command is named."""

    def invoke(self, ctx: click.Context) -> object:
        if ctx._protected_args:
            return super().invoke(ctx)
        rows = [(_label(entry), entry.bundled_id, str(entry.path) if entry.is_in_file else "") for entry in catalogue()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for name, address, path in rows:
            click.echo(f"{name:<{widths[0]}}  {address:<{widths[1]}}  {path}".rstrip())
        return None


schema = _Schemas(
    "schema",
    invoke_without_command=True,
    commands={"bundle": bundle_schemas, "outputs": outputs, "path": print_path, "print": print_schema},
    help="List the JSON Schemas of the format.\n\nEach line shows name, version, $id, and the file that editors need.",
    short_help="Print the JSON Schemas of the format, or that of judge outputs.",
    examples={
        "rubric-lint schema": "List the schemas",
        "rubric-lint schema print rubric": "Print the latest schema of rubric files",
    },
)

"""`rubric-lint convert`: rubrics for another system, and from another system; what gets lost is said."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.exits import Exit, complain
from rubric_lint.cli.given import STDIN, UnusableError, find_settings, load_given, read_given, refuse
from rubric_lint.cli.options import FileName
from rubric_lint.cli.rubrics import with_settings
from rubric_lint.interop.export import TARGETS

if TYPE_CHECKING:
    from rubric_lint.scoring.loading import Loaded


@click.command("convert")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "--to",
    "target",
    type=click.Choice(TARGETS),
    default=TARGETS[0],
    show_default=True,
    help="What to write.",
)
@click.option("--rubric", "name", metavar="NAME", help="Convert this rubric of a suite only.")
@click.option("-o", "--output", metavar="FILE", type=FileName(), help="Where to write.  [default: standard output]")
@click.option("--strict", is_flag=True, help="Write nothing when something would be lost; the exit code is 1.")
@click.option("--stdin-filename", metavar="NAME", help="What standard input is called; kind and settings go by it.")
@with_settings
def convert(
    *,
    file: str,
    target: str,
    name: str | None,
    output: str | None,
    strict: bool,
    stdin_filename: str | None,
    config: str | None,
    isolated: bool,
) -> int:
    """Write the rubrics of FILE for another system, or those of another system for this one.

    What the target cannot say is listed on standard error. A rubric with errors, and one whose shape the target
    does not have, is refused. FILE may be - for standard input, or REV:PATH for a file as a Git revision has it.
    """
    from rubric_lint.interop.export import load_target  # noqa: PLC0415
    from rubric_lint.interop.export.sound import make_sound  # noqa: PLC0415
    from rubric_lint.interop.export.target import RefusedError  # noqa: PLC0415

    if stdin_filename and file != STDIN:
        raise click.UsageError("--stdin-filename says what standard input is called; give the path - to read it")
    if output and STDIN not in {output, file} and Path(output).resolve() == Path(file).resolve():
        raise click.UsageError("--output names the file that is read; write to another one, or use rubric-fix")
    try:
        found = load_given(read_given(file, stdin_filename), find_settings(config, isolated=isolated))
    except UnusableError as unusable:
        return refuse(unusable)
    if name is not None:
        found = {name: _choose(found, name)}
    try:
        sound = {called: make_sound(called, each.rubric) for called, each in found.items()}
        export = load_target(target).write({called: rubric for called, (rubric, _) in sound.items()})
    except RefusedError as refusal:
        complain(f"{found[refusal.name].place(refusal.path)}: {refusal.message}")
        return Exit.FOUND
    losses = [*(loss for _, lost in sound.values() for loss in lost), *export.losses]
    lost = [*_lost_before(found), *(f"{found[each.name].place(each.path)}: lost: {each.message}" for each in losses)]
    for loss in lost:
        complain(loss)
    if strict and lost:
        complain("nothing is written, since --strict lets nothing get lost")
        return Exit.FOUND
    for gap in export.gaps:
        complain(f"left to you: {gap}")
    return _write(export.text.encode(), output)


def _lost_before(found: "dict[str, Loaded]") -> Iterator[str]:
    """What the dialects of the file say and our model cannot."""
    for each in found.values():
        view = each.rubric.view
        for loss in view.losses if view else ():
            yield f"{each.place_in_document(loss.path)}: lost: {loss.message}"


def _choose(found: "dict[str, Loaded]", name: str) -> "Loaded":
    if name not in found:
        from rubric_lint.near import point_to_known  # noqa: PLC0415

        raise click.UsageError(f"no rubric is named `{name}`; {point_to_known(name, found)}")
    return found[name]


def _write(data: bytes, output: str | None) -> int:
    if output is None or output == STDIN:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return Exit.CLEAN
    from rubric_lint.fix.write import WriteError, write_file  # noqa: PLC0415

    try:
        write_file(output, data)
    except WriteError as fault:
        complain(f"{output}: {fault}")
        return Exit.USAGE
    return Exit.CLEAN

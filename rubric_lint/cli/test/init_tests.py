"""Define `rubric-test init`, which writes tests to start from."""

import os
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.help import Command, option
from rubric_lint.cli.options import FileName, check_settings, with_settings
from rubric_lint.messages import join_words, visible
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from rubric_lint.testing.running import Tested
    from rubric_lint.testing.starting import Recorded

_MOST_NAMED = 6


@click.command(
    cls=Command,
    short_help="Write tests to start from.",
    examples={
        "rubric-test init examples/summary.rubric.yaml examples/summary.outputs.jsonl": "Write tests of these outputs",
        "rubric-test init examples/explanation.rubric.yaml --output -": "Print one test for each level to fill in",
    },
    exits={Exit.USAGE: "usage error, a file that cannot be read, or no output that counts"},
)
@click.argument("rubric", type=FileName())
@click.argument("outputs", required=False, type=FileName())
@option("Output", "--output", metavar="FILE", help="File to write; - is stdout.  [default: named after RUBRIC]")
@option("Output", "--force", is_flag=True, help="Overwrite an existing file.")
@with_settings
def init(  # long, because it answers for what each step cannot read
    rubric: str, outputs: str | None, *, output: str | None, force: bool, config: str | None, isolated: bool
) -> int:
    """Write tests of a rubric to start from: of recorded OUTPUTS those that reach each band, level and verdict.

    RUBRIC is a file, or FILE#NAME for one of several rubrics. OUTPUTS are records in JSON Lines or JSON. Without them,
    one test for each band is written, whose answer is yours to write.
    """
    from rubric_lint.project.repository import name_schema  # noqa: PLC0415
    from rubric_lint.project.settings import SettingsFinder  # noqa: PLC0415
    from rubric_lint.project.settings_file import SettingsError  # noqa: PLC0415
    from rubric_lint.testing.running import Runner  # noqa: PLC0415
    from rubric_lint.testing.starting import start_from_outputs, start_outline  # noqa: PLC0415

    check_settings(config, isolated=isolated)
    path, _, name = rubric.partition("#") if not Path(rubric).is_file() else (rubric, "", "")
    target = output or _name_tests(path, name)
    if target != "-" and Path(target).exists() and not force:
        raise click.UsageError(f"{target} already exists; name another file with --output, or use --force")
    try:
        tested = Runner(SettingsFinder(file=config, isolated=isolated)).open_rubric(path, name)
    except SettingsError as wrong:
        tested = "\n".join(wrong.lines)
    if isinstance(tested, str):
        complain(tested)
        return Exit.USAGE
    reference = _relate(path, target) + (f"#{name}" if name else "")
    schema = name_schema("rubric-test", target)
    if outputs is None:
        start = start_outline(tested, reference, schema)
    else:
        recorded = _read(outputs, tested)
        if not recorded:
            complain(f"{outputs}: no recorded output that counts for this rubric, so there is nothing to test")
            return Exit.USAGE
        start = start_from_outputs(tested, recorded, reference, _name_outputs(outputs, target), schema)
    if target == "-":
        click.echo(start.text, nl=False)
    else:
        _write(target, start.text)
        line = f"rubric-test {shlex.quote(target)}"
        click.echo(
            f"Wrote {start.tests} test{'' if start.tests == 1 else 's'} to {visible(target)}. Run them:", err=True
        )
        click.echo(f"  {line}" if visible(line) == line else "  rubric-test .", err=True)
    if start.missing:
        shown = [*start.missing[:_MOST_NAMED]]
        more = len(start.missing) - len(shown)
        complain(f"no recorded output has {join_words([*shown, *([f'{more} more'] if more else [])], 'or')}")
    return Exit.CLEAN


def _read(outputs: str, tested: "Tested") -> "list[Recorded]":
    """Return the records with a result; report the others."""
    from rubric_lint.project.opening import open_stream  # noqa: PLC0415
    from rubric_lint.testing.recordings import read_recordings  # noqa: PLC0415
    from rubric_lint.testing.starting import Recorded  # noqa: PLC0415

    try:
        with open_stream(outputs) as stream:
            recordings = read_recordings(iter(partial(stream.read, 1 << 16), b""), tested.rubric.name)
    except (OSError, ValueError) as fault:
        raise click.UsageError(f"{outputs}: {getattr(fault, 'strerror', None) or fault}") from None
    for line, reason in recordings.broken:
        complain(f"{outputs}:{line}: skipped: {reason}")
    found = []
    for key, recording in recordings.found.items():
        verified = tested.verifier.verify(recording)
        if key in recordings.twice:
            lines = join_words([str(line) for line in recordings.twice[key]])
            complain(f"{outputs}: skipped: lines {lines} have the same id {key}")
        elif verified.result is None:
            complain(f"{outputs}:{recording.line}: skipped: {verified.fault}")
        else:
            found.append(Recorded(recording.record, verified.result))
    return found


def _name_tests(path: str, name: str) -> str:
    """Return the name of the test file of a rubric."""
    stem = path
    for suffix in (".rubric.yaml", ".rubric.yml", ".rubric.json", ".yaml", ".yml", ".json", ".jsonl"):
        if path.lower().endswith(suffix):
            stem = path[: -len(suffix)]
            break
    plain = "".join(char if char.isalnum() or char in "-_" else "-" for char in name)
    return f"{stem}{f'.{plain}' if plain else ''}.rubric-test.yaml"


def _name_outputs(outputs: str, target: str) -> str | None:
    """Return the path of the outputs as the test file names it; None if its own name says it."""
    from rubric_lint.testing.reading import is_test_file, locate_outputs  # noqa: PLC0415

    if is_test_file(target) and os.path.realpath(locate_outputs(target)) == os.path.realpath(outputs):
        return None
    return _relate(outputs, target)


def _relate(path: str, target: str) -> str:
    """Return a path relative to the folder of the test file, with slashes."""
    folder = os.path.dirname(target) if target != "-" else ""  # noqa: PTH120
    return Path(os.path.relpath(path, folder or ".")).as_posix()


def _write(target: str, text: str) -> None:
    from rubric_lint.project.writing import WriteError, open_whole  # noqa: PLC0415

    try:
        with open_whole(target) as stream:
            stream.write(text)
    except WriteError as fault:
        raise click.UsageError(f"cannot write {target}: {fault}") from None

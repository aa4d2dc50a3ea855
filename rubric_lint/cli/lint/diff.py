"""Define `rubric-lint diff`, which reports changes in meaning between two files and their effect on verdicts."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.commands import Exit
from rubric_lint.cli.options import STDIN, Given, command, load_given
from rubric_lint.cli.output import escape_what_cannot_be_encoded, wants_color
from rubric_lint.project.opening import open_stream
from rubric_lint.run.console import Progress
from rubric_lint.run.given import Input, InvalidError, UnusableError, read_given

if TYPE_CHECKING:
    from rubric_lint.agree.changes import Effects, RubricPair
    from rubric_lint.project.settings import SettingsFinder
    from rubric_lint.scoring.loading import Loaded


_FILE = "examples/summary.rubric.yaml"


@command(
    "old? new?",
    "rubric outputs format=text,markdown,json | stdin-filename color config isolated",
    examples={
        f"rubric-lint diff HEAD:{_FILE} {_FILE}": "Compare with the last commit",
        f"rubric-lint diff --outputs examples/summary.outputs.jsonl HEAD:{_FILE} {_FILE}": "Show whose verdict changes",
        f"rubric-lint diff --format markdown HEAD:{_FILE} {_FILE}": "Write a comment for a pull request",
    },
    exits={
        Exit.CLEAN: "no change in meaning",
        Exit.FOUND: "changes in meaning",
        Exit.USAGE: "usage error, or a file that cannot be read or has errors",
    },
    writes_at_end=True,
)
def diff(given: Given) -> int:
    """Report changes in meaning between the rubrics of two files.

    OLD and NEW are files, - for stdin, or REV:PATH for a file in a Git revision, such as HEAD:suites/support.yaml.
    Changes of comments, order, notation and line breaks are ignored.
    """
    from rubric_lint.agree.changes import compare, locate, pair_rubrics, prepare_all  # noqa: PLC0415  # noqa: PLC0415
    from rubric_lint.report.changes import Comparison, as_json, as_markdown, as_text  # noqa: PLC0415
    from rubric_lint.scoring.loading import RubricError  # noqa: PLC0415

    escape_what_cannot_be_encoded()
    finder = given.finder()
    try:
        files = [read_given(each, given.stdin_filename) for each in (given.old, given.new)]
        loaded = [_load_old(files[0], finder), load_given(files[1], finder)]
        was, now = map(prepare_all, loaded)
        pairs = _choose(pair_rubrics(was, now), given.name)
        effects = _score(given.outputs, pairs) if given.outputs else None
    except RubricError as wrong:
        raise UnusableError(*wrong.faults) from None
    changes = tuple(locate(change, *loaded) for change in compare(pairs))
    comparison = Comparison(files[0].label, files[1].label, changes, effects)
    if given.form == "json":
        click.echo(as_json(comparison), nl=False)
    else:
        in_color = wants_color(given.color)
        lines = as_markdown(comparison) if given.form == "markdown" else as_text(comparison, color=in_color)
        click.echo("\n".join(lines), color=in_color)
    return Exit.FOUND if comparison.changes else Exit.CLEAN


def _load_old(given: Input, finder: "SettingsFinder") -> "dict[str, Loaded]":
    """Return the rubrics of OLD by name.

    Raises:
        UnusableError: when there are none, or they have errors; the error then says how to compare all the same.
    """
    try:
        return load_given(given, finder)
    except InvalidError as wrong:
        mend = f"fix {given.label}"
        if given.path not in (given.label, STDIN):  # a revision
            import shlex  # noqa: PLC0415

            mend = f"save it with `git show {shlex.quote(given.label)} > FILE`, fix FILE"
        advice = (
            f"OLD has errors, so its scores are undefined: {mend} (`rubric-fix --unsafe-fixes`), then compare again"
        )
        raise UnusableError(*wrong.lines, advice) from None


def _choose(pairs: "list[RubricPair]", name: str | None) -> "list[RubricPair]":
    if name is None:
        return pairs
    chosen = [pair for pair in pairs if any(rubric and rubric.name == name for rubric in pair)]
    if not chosen:
        from rubric_lint.messages import point_to_known  # noqa: PLC0415

        names = dict.fromkeys(rubric.name for pair in pairs for rubric in pair if rubric)
        raise click.UsageError(f"no rubric is named `{name}`; {point_to_known(name, names)}")
    return chosen


def _score(name: str, pairs: "list[RubricPair]") -> "Effects":
    from rubric_lint.agree.changes import Effects, score_both  # noqa: PLC0415
    from rubric_lint.outputs.streams import read_entries  # noqa: PLC0415

    effects = Effects()
    progress = Progress(sys.stderr, "scoring", "outputs", None if name == STDIN else _size(name))
    try:
        for effect in score_both(read_entries(_chunks(name, progress)), pairs):
            progress.done += 1
            effects.add(effect)
    except (OSError, ValueError) as fault:
        raise UnusableError(f"{name}: {getattr(fault, 'strerror', None) or fault}") from None
    finally:
        progress.clear()
    if not effects.outputs:
        raise UnusableError(f"{'stdin' if name == STDIN else name}: contains no outputs")
    return effects


def _size(name: str) -> int | None:
    """Return the size of a file in bytes; None if it is not known."""
    with suppress(OSError, ValueError):
        return os.stat(name).st_size  # noqa: PTH116 (a Path adds nothing here)
    return None


def _chunks(name: str, progress: Progress) -> Iterator[bytes]:
    from rubric_lint.outputs.streams import CHUNK  # noqa: PLC0415

    if name == STDIN and sys.stdin is None:
        raise UnusableError("stdin is closed")
    with sys.stdin.buffer if name == STDIN else open_stream(name) as stream:
        while chunk := stream.read(CHUNK):
            progress.advance(len(chunk))
            yield chunk

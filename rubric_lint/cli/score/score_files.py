"""Find and check the files of outputs that a command is given."""

import os
import sys
from collections.abc import Sequence

import click

from rubric_lint.project.opening import open_stream
from rubric_lint.run.console import complain

STDIN = "-"


def label(name: str) -> str:
    """Return what messages call a file."""
    return "stdin" if name == STDIN else name


def read_mapping_option(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Read the columns of fields."""
    if not values:
        return {}
    from rubric_lint.outputs.mapping import MappingError, read_mapping  # noqa: PLC0415  (few runs need it)

    try:
        return read_mapping(values)
    except MappingError as fault:
        raise click.BadParameter(str(fault)) from None


def find_files(names: tuple[str, ...], left: list[str] | None = None) -> tuple[str, ...] | None:
    """Return the files that the arguments name, and say what is not read; None, after saying why, if one has none.

    What is not read in folders is added to `left`.
    """
    from rubric_lint.project.inputs import find_inputs  # noqa: PLC0415

    found = find_inputs(names)
    if left is not None:
        left += found.others
    for told in (*found.notes, *found.missing):
        complain(told)
    return None if found.missing else tuple(found.files)


def are_readable(outputs: Sequence[str]) -> bool:
    """Return whether every file can be opened; called before the first result, so that no long run fails late."""
    readable = True
    for name in outputs:
        if name == STDIN:
            if sys.stdin is None:
                complain("stdin is closed")
                readable = False
            continue
        try:
            with open_stream(name):
                pass
        except (OSError, ValueError) as fault:
            complain(f"{name}: {getattr(fault, 'strerror', None) or fault}")
            readable = False
    return readable


def total_size(outputs: Sequence[str]) -> int | None:
    """Return the number of bytes, or None for stdin."""
    if STDIN in outputs:
        return None
    return sum(os.stat(name).st_size for name in outputs)  # noqa: PTH116 (a Path adds nothing here)

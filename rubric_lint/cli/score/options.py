"""Load the RUBRIC argument of `rubric-score` and its subcommands."""

import os
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.cli.commands import Function, option
from rubric_lint.cli.options import Choice, FileName, SettingsOptions, choice
from rubric_lint.messages import UserError
from rubric_lint.project.opening import open_stream
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from rubric_lint.project.settings import FileSettings
    from rubric_lint.scoring.grading import ScoringRubric


rubric_argument = click.argument("file", metavar="RUBRIC", type=click.Path(exists=True, dir_okay=False))
"""The RUBRIC argument of a subcommand."""


class _ExtractChoice(Choice):
    """One way to find the verdict; for a former name, says what replaces it."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the message for an unknown value."""
        former = {"strict": "whole", "standard": "last"}.get(value)
        return f"{value} is now called {former}" if former else super().get_invalid_choice_message(value, ctx)


def extract_option(default: str) -> Callable[[Function], Function]:
    """Return the option that says what of a raw text may be the verdict."""
    return option(
        "Input",
        "--extract",
        type=_ExtractChoice(("whole", "last", "only")),
        default=default,
        show_default=True,
        help="What of a raw text is the verdict: whole, all of it; last, an object at its end; only, its only object.",
    )


def load(
    path: str, settings: SettingsOptions, *, pass_at: Decimal | None = None, borderline_at: Decimal | None = None
) -> "dict[str, ScoringRubric]":
    """Return the rubrics of a file by name.

    Raises:
        UserError: if they cannot be used for scoring.
    """
    from rubric_lint.project.files import File, Unreadable, read  # noqa: PLC0415
    from rubric_lint.scoring.loading import RubricError, load_rubrics  # noqa: PLC0415

    of_file = _set_thresholds(settings.finder().for_file(path), pass_at, borderline_at)
    data = read(File(path, of_file._replace(claimed=True)))
    if isinstance(data, Unreadable):
        raise UserError(f"{data.path}: {data.reason}")
    try:
        return load_rubrics(path, data, of_file)
    except RubricError as wrong:
        raise UserError(*wrong.faults, f"{path} cannot be used for scoring; no output was read") from None


def _set_thresholds(settings: "FileSettings", pass_at: Decimal | None, borderline_at: Decimal | None) -> "FileSettings":
    pass_at = settings.pass_at if pass_at is None else pass_at
    borderline_at = settings.borderline_at if borderline_at is None else borderline_at
    if borderline_at > pass_at:
        raise click.UsageError(
            f"the borderline threshold {borderline_at} is above the pass threshold {pass_at}; set both"
        )
    return settings._replace(pass_at=pass_at, borderline_at=borderline_at)


def _read_threshold(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Decimal | None:
    """Read a score as an exact decimal."""
    if value is None:
        return None
    try:
        score = Decimal(value)
    except InvalidOperation:
        score = Decimal(-1)
    if not (score.is_finite() and 0 <= score <= 1) or len(value) > 30 or abs(score.adjusted()) > 30:
        raise click.BadParameter(f"{value!r} is not a score; expected a number from 0 to 1")
    return score


_SCORE: dict[str, Any] = {"metavar": "SCORE", "callback": _read_threshold}

jobs_option = option(
    "Input",
    "--jobs",
    metavar="N",
    type=click.IntRange(1),
    help="Processes that score large inputs.  [default: one for each core]",
)
form_option = option(
    "Output",
    "--format",
    "form",
    type=Choice(["jsonl", "json", "table"]),
    help="Output format.  [default: table on a terminal, else jsonl]",
)
compact_option = option(
    "Output", "--compact", is_flag=True, help="Write JSON Lines without criteria and the records' other fields."
)
quiet_option = option(
    "Output", "-q", "--quiet", is_flag=True, help="Do not print the counts that jsonl and json add on stderr."
)
report_option = option(
    "Report",
    "--report",
    metavar="FILE.html",
    type=click.Path(dir_okay=False),
    help="Also write an HTML report with every answer.",
)


def output_option(more: str = "") -> Callable[[Function], Function]:
    """Return the option that names the file of results; `more` ends its help."""
    return option(
        "Output",
        "-o",
        "--output",
        metavar="FILE",
        type=FileName(),
        help=f"Write the results to a .jsonl, .csv (also with .gz or .zst) or .parquet file{more}.",
    )


def verdict_options(function: Function) -> Function:
    """Add the options that say which scores pass, and which verdicts make the exit code 1."""
    passing = option(
        "Verdicts", "--pass", "pass_at", **_SCORE, help="Lowest score that passes.  [default: the settings', or 0.8]"
    )
    borderline = option(
        "Verdicts",
        "--borderline",
        "borderline_at",
        **_SCORE,
        help="Lowest score that is borderline.  [default: the settings', or 0.6]",
    )
    fail_on = option(
        "Verdicts",
        "--fail-on",
        metavar="VERDICT",
        **choice("fail", "borderline", "never"),
        help="Verdict that makes the exit code 1; worse ones do too.",
    )
    allow_invalid = option(
        "Verdicts", "--allow-invalid", is_flag=True, help="Do not exit with 1 for invalid outputs; still show them."
    )
    return passing(borderline(fail_on(allow_invalid(function))))


STDIN = "-"


def label(name: str) -> str:
    """Return what messages call a file."""
    return "stdin" if name == STDIN else name


def _read_mapping(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Read the columns of fields."""
    if not values:
        return {}
    from rubric_lint.outputs.mapping import MappingError, read_mapping  # noqa: PLC0415  (few runs need it)

    try:
        return read_mapping(values)
    except MappingError as fault:
        raise click.BadParameter(str(fault)) from None


def map_option(what: str, example: str) -> Callable[[Any], Any]:
    """Return the option that names a column, or what else there is in the files, for a field."""
    return option(
        "Input",
        "--map",
        "mapping",
        multiple=True,
        metavar="FIELD=COLUMN",
        callback=_read_mapping,
        help=f"The {what} of the files that has FIELD, such as {example}. Can be repeated.",
    )


def find_files(names: tuple[str, ...], left: list[str] | None = None) -> tuple[str, ...]:
    """Return the files that the arguments name, and say what is not read; what is not read in folders goes to `left`.

    Raises:
        UserError: if an argument names no file.
    """
    from rubric_lint.project.inputs import find_inputs  # noqa: PLC0415

    found = find_inputs(names)
    if left is not None:
        left += found.others
    if found.missing:
        raise UserError(*found.notes, *found.missing)
    for note in found.notes:
        complain(note)
    return tuple(found.files)


def require_readable(outputs: Sequence[str]) -> None:
    """Check that every file can be opened, before the first result, so that no long run fails late.

    Raises:
        UserError: naming those that cannot.
    """
    faults = []
    for name in outputs:
        if name == STDIN:
            faults += ["stdin is closed"] if sys.stdin is None else []
            continue
        try:
            with open_stream(name):
                pass
        except (OSError, ValueError) as fault:
            faults.append(f"{name}: {getattr(fault, 'strerror', None) or fault}")
    if faults:
        raise UserError(*faults)


def total_size(outputs: Sequence[str]) -> int | None:
    """Return the number of bytes, or None for stdin."""
    if STDIN in outputs:
        return None
    return sum(os.stat(name).st_size for name in outputs)  # noqa: PTH116 (a Path adds nothing here)

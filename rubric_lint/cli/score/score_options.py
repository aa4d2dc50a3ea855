"""Define the options that `rubric-score` and `rubric-score merge` share."""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import click

from rubric_lint.cli.help import Function, option
from rubric_lint.cli.options import Choice, FileName, choice


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

"""Prepare the HTML report of a run: what it compares with, and what people say."""

import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from rubric_lint.cli.score.label_files import measure_agreement, read_chunks
from rubric_lint.cli.score.score_files import STDIN, label
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rubric_lint.agree.runs import OtherRun
    from rubric_lint.report.html import Extras, HtmlReport
    from rubric_lint.scoring.grading import ScoringRubric


class Prepared(NamedTuple):
    """What the report needs before the first output: the other run, if it is compared with one, and what it says."""

    other: "OtherRun | None"
    told: "Extras"
    name: str = ""

    def warnings(self) -> "Iterator[str]":
        """Yield warnings about the other run."""
        for warning in self.other.warnings() if self.other else ():
            yield f"warning: --compare: {self.name}: {warning}"


def prepare_extras(
    rubrics: "dict[str, ScoringRubric]",
    outputs: tuple[str, ...],
    compare: str | None,
    labels: tuple[str, ...],
    *,
    extract: str,
    mapping: "Mapping[str, str]",
) -> Prepared | None:
    """Read the other run and the labels before the first output; return None, after saying why, if one is unusable."""
    from rubric_lint.report.html import Extras  # noqa: PLC0415

    told = Extras(made=_read_date())
    other = None
    if compare is not None:
        from rubric_lint.agree.runs import OtherRun  # noqa: PLC0415
        from rubric_lint.outputs.verdict import Extract  # noqa: PLC0415

        other = OtherRun(rubrics, Extract(extract))
        if not other.read(read_chunks(compare)):
            complain(f"--compare: {label(compare)}: no outputs found")
            return None
        told = told._replace(other=label(compare) if compare == STDIN else Path(compare).name)
    if labels:
        others = (compare,) if compare and other and other.is_by_our_rubrics else ()
        agreement = measure_agreement(rubrics, (*outputs, *others), labels, extract, mapping)
        if agreement is None:
            return None
        told = told._replace(agreement=agreement)
    return Prepared(other, told, label(compare or ""))


def _read_date() -> date:
    """Return the date for the report: today, or that of SOURCE_DATE_EPOCH, which makes reports reproducible.

    Raises:
        click.UsageError: when SOURCE_DATE_EPOCH is not a time.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return (datetime.now(UTC) if given is None else datetime.fromtimestamp(int(given), UTC)).date()
    except (ValueError, OverflowError, OSError):
        raise click.UsageError(f"SOURCE_DATE_EPOCH: {given!r} is not a number of seconds since 1970") from None


def start_report(rubrics: "Mapping[str, ScoringRubric]", extras: Prepared) -> "HtmlReport":
    """Return an empty report."""
    from rubric_lint.report.html import HtmlReport  # noqa: PLC0415

    return HtmlReport(rubrics, extras.other)


def title_of(outputs: tuple[str, ...], rubric: str) -> str:
    """Return the title of the report."""
    first = label(outputs[0] if outputs[0] == STDIN else Path(outputs[0]).name)
    more = f" and {len(outputs) - 1} more" if len(outputs) > 1 else ""
    return f"{first}{more} by {Path(rubric).name}"

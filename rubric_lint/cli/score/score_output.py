"""Write the results of a run to the file of --output."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.options import require_file_name
from rubric_lint.cli.score.score_files import STDIN
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from rubric_lint.scoring.grading import ScoringRubric
    from rubric_lint.scoring.totals import Totals


def check_output(name: str | None, form: str | None, report: str | None, *, compact: bool) -> None:
    """Reject a file of results that cannot be written, and options that contradict it.

    Raises:
        click.UsageError: when there is one.
    """
    if name is None:
        if compact and form in {"json", "table"}:
            raise click.UsageError("--compact is for JSON Lines; leave out --format")
        return
    from rubric_lint.report.result_files import check_name  # noqa: PLC0415  (few runs write files)

    require_file_name(name, "--output")
    if form:
        raise click.UsageError("--format is for stdout; the name of --output says the format of the file")
    if report and os.path.realpath(report) == os.path.realpath(name):
        raise click.UsageError("--output and --report name the same file")
    try:
        check_name(name, compact=compact)
    except (ValueError, ImportError) as fault:
        raise click.UsageError(f"--output: {fault}") from None


class ResultOutput:
    """A file of results, which gets its name when it is complete; use `closing` with it."""

    def __init__(
        self, name: str, rubrics: "Mapping[str, ScoringRubric]", read: Sequence[str], *, compact: bool
    ) -> None:
        """Open the file.

        Raises:
            click.UsageError: when it cannot be written, or is one of the files `read`.
        """
        from rubric_lint.project.writing import PartFile, WriteError  # noqa: PLC0415
        from rubric_lint.report.result_files import open_results  # noqa: PLC0415

        if any(each != STDIN and os.path.realpath(each) == os.path.realpath(name) for each in read):
            raise click.UsageError(f"--output: {name}: is also an input; name another file")
        try:
            self._file = PartFile(name)
        except WriteError as fault:
            raise click.UsageError(f"--output: {name}: {fault}") from None
        with self._naming():
            self._writer = open_results(name, self._file.stream, rubrics, compact=compact)

    def add(self, results: list[str]) -> None:
        """Write some results, each a line of JSON."""
        with self._naming():
            self._writer.add(results)

    def end(self, _totals: "Totals") -> None:
        """Write what is not written yet."""
        with self._naming():
            self._writer.end()
        if count := self._writer.formulas:
            told = "1 id begins" if count == 1 else f"{count:,} ids begin"
            complain(
                f"warning: {self._file.name}: {told} like a formula (=, +, - or @), and ids are written as they are; "
                "in a spreadsheet, import that column as text"
            )

    def finish(self) -> None:
        """Give the complete file its name."""
        self._file.finish()

    def close(self) -> None:
        """Say so if the file is not complete."""
        if self._file.stream.closed:
            return
        with suppress(Exception):  # what could not be written cannot be written now
            self._writer.end()
        self._file.leave()
        if self._file.part:
            complain(f"{self._file.name} was not written; {self._file.part} has the results so far")

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Name the file in an error."""
        try:
            yield
        except OSError as fault:
            fault.filename = self._file.name
            raise

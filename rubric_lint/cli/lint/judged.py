"""Define the options that name results of judges for `rubric-lint`."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rubric_lint.cli.help import gather_options, option
from rubric_lint.cli.options import FileName, require_file_name
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from rubric_lint.agree.judged.run import JudgedRun, Reviewer, Shelf
    from rubric_lint.project.files import File, Unreadable
    from rubric_lint.project.settings import SettingsFinder
    from rubric_lint.run.batch import FileOutcome
    from rubric_lint.run.linting import Lint


class UnreadableResultsError(Exception):
    """Files named by options that cannot be read; `lines` say which and why."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))


class Judging(NamedTuple):
    """The values of the options."""

    judged: tuple[str, ...]
    labels: tuple[str, ...]

    def check(self, paths: Sequence[str], *, add_ignores: bool) -> None:
        """Reject options that contradict each other.

        Raises:
            click.UsageError: when they do.
        """
        for name in (*self.judged, *self.labels):
            require_file_name(name, "--judged" if name in self.judged else "--labels")
        if self.labels and not self.judged:
            raise click.UsageError("--labels requires --judged, the judge outputs for the same answers")
        if self.judged and "-" in paths:
            raise click.UsageError("--judged cannot be used with stdin; name the file with the rubric")
        if self.judged and add_ignores:
            raise click.UsageError("--add-ignores cannot be combined with --judged; write these comments yourself")

    def applies(self, finder: "SettingsFinder") -> bool:
        """Return whether results are named, by options or by the settings of the current folder."""
        return bool(self.judged or finder.for_folder("").judged)

    def find_needed(self, name: str, finder: "SettingsFinder") -> tuple[str, ...]:
        """Return the files of records that findings in a file depend on."""
        if self.judged:
            return (*self.judged, *self.labels)
        settings = finder.for_folder(os.path.dirname(name))  # noqa: PTH120 (as in settings.py)
        return (*settings.judged, *settings.labels)


class Judges:
    """Looks at rubrics with the results that options or settings name; `run` is the last run that had any.

    What it has read stays for the next run. Runs without results do not load the scorer.
    """

    def __init__(self, judging: Judging) -> None:
        self._judging = judging
        self._kept: tuple[Shelf, Reviewer] | None = None
        self.run: JudgedRun | None = None

    def open(self, finder: "SettingsFinder") -> "JudgedRun":
        """Open a run.

        Raises:
            UnreadableResultsError: if a file that an option names cannot be read.
        """
        from rubric_lint.agree.judged.run import JudgedRun, Reviewer, Shelf  # noqa: PLC0415

        if self._kept is None:
            self._kept = Shelf(), Reviewer()
        self.run = run = JudgedRun(finder, (self._judging.judged, self._judging.labels), *self._kept)
        if run.unreadable:
            raise UnreadableResultsError(f"{file}: {reason}" for file, reason in run.unreadable.items())
        return run

    def wrap(self, lint: "Lint", finder: "SettingsFinder") -> "Lint":
        """Return a function that lints as `lint` does, and looks at rubrics that have results.

        Raises:
            UnreadableResultsError: if a file that an option names cannot be read.
        """
        self.run = self.open(finder) if self._judging.judged else None

        def lint_all(files: "Iterable[File | Unreadable]") -> "Iterator[tuple[File | Unreadable, FileOutcome]]":
            outcomes = lint(files)
            for file, outcome in outcomes:
                if self.run or self._has_results(file, outcome, finder):
                    run = self.run or self.open(finder)
                    yield from run.judge_all(chain([(file, outcome)], outcomes))
                    return
                yield file, outcome

        return lint_all

    def _has_results(self, file: "File | Unreadable", outcome: "FileOutcome", finder: "SettingsFinder") -> bool:
        has_rubrics = getattr(outcome, "rubrics", 0) and hasattr(file, "settings")
        return bool(has_rubrics and self._judging.find_needed(getattr(file, "name", ""), finder))

    def review(self) -> tuple[tuple[str, Any], ...]:
        """Return what the JSON report has about the run."""
        return (("judged", self.run.to_json()),) if self.run else ()

    def list_lines(self) -> list[str]:
        """Return the lines on what was tested."""
        if self.run is None:
            return []
        from rubric_lint.report.judged import word_reviews  # noqa: PLC0415

        return list(word_reviews(self.run))

    def complain_of_records(self) -> None:
        """Complain of records that cannot be used."""
        if self.run:
            from rubric_lint.report.judged import word_records  # noqa: PLC0415

            for line in word_records(self.run):
                complain(line)


_OPTIONS = (
    option(
        "Judge outputs",
        "--judged",
        multiple=True,
        metavar="FILE",
        type=FileName(),
        help="Also report what these judge outputs show about the rubrics. Can be repeated.",
    ),
    option(
        "Judge outputs",
        "--labels",
        multiple=True,
        metavar="FILE",
        type=FileName(),
        help="With --judged: labels of people for the same answers. Can be repeated.",
    ),
)


with_judged = gather_options("judging", Judging, _OPTIONS)
"""Adds the options to a command, which receives them as one argument `judging`."""

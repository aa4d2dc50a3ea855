"""Define the options for adopting `rubric-lint` in a repository with many existing findings."""

# Paths are str, see project/settings.py.
# ruff: noqa: PTH120

import os
from collections.abc import Iterable
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.help import gather_options, option
from rubric_lint.cli.options import FileName
from rubric_lint.messages import visible
from rubric_lint.run.console import complain
from rubric_lint.run.filters import Filter

if TYPE_CHECKING:
    from rubric_lint.fix.silence import Silenced
    from rubric_lint.project.settings import SettingsFinder
    from rubric_lint.run.filters.baseline import Gone
    from rubric_lint.run.progress import Progress


class Adoption(NamedTuple):
    """The values of the adoption options."""

    diff_base: str | None
    baseline: str | None
    no_baseline: bool
    write_baseline: bool
    add_ignores: bool
    reason: str | None

    def check(self, paths: tuple[str, ...], *, fix: bool, has_report: bool) -> None:
        """Reject options that contradict each other.

        Raises:
            click.UsageError: when they do.
        """
        if self.diff_base is not None and not self.diff_base.strip():
            raise click.UsageError("--diff-base is empty; name a Git revision")
        if self.diff_base is not None and "-" in paths:
            raise click.UsageError("--diff-base compares files; it cannot be used with stdin")
        if self.baseline is not None:
            from rubric_lint.cli.options import require_file_name  # noqa: PLC0415

            require_file_name(self.baseline, "--baseline")
        if self.no_baseline and (self.baseline is not None or self.write_baseline):
            raise click.UsageError("--no-baseline cannot be combined with --baseline or --write-baseline")
        if self.write_baseline and (fix or self.diff_base is not None or self.add_ignores):
            raise click.UsageError("--write-baseline cannot be combined with --fix, --diff-base or --add-ignores")
        if self.reason is not None and not self.add_ignores:
            raise click.UsageError("--reason requires --add-ignores")
        if self.add_ignores:
            self._check_ignores(paths, fix=fix, has_report=has_report)

    def _check_ignores(self, paths: tuple[str, ...], *, fix: bool, has_report: bool) -> None:
        if "-" in paths:
            raise click.UsageError("--add-ignores writes files; it cannot be used with stdin")
        if fix or self.diff_base is not None or self.baseline is not None:
            other = "--fix" if fix else "--baseline" if self.baseline is not None else "--diff-base"
            raise click.UsageError(f"--add-ignores silences every finding; run it without {other}")
        if has_report:
            raise click.UsageError("--add-ignores writes comments, not a report; remove the report options")
        if self.reason is not None and not (self.reason.isprintable() and self.reason.strip()):
            raise click.UsageError("--reason must be one line of text")
        if "rubric-lint:" in (self.reason or "").lower():
            raise click.UsageError("--reason must not contain `rubric-lint:`, which starts an ignore comment")

    def silence(
        self, paths: Iterable[str], finder: "SettingsFinder", progress: "Progress", *, fail_on: str, quiet: bool
    ) -> Exit:
        """Write the ignore comments and return the exit code."""
        from rubric_lint.finding import Severity  # noqa: PLC0415
        from rubric_lint.fix.silence_run import SilenceRun  # noqa: PLC0415

        run = SilenceRun(progress, (self.reason or "").strip(), partial(_report_silenced, quiet=quiet))
        totals = run.silence_all(paths, finder)
        if not quiet:
            click.echo(totals.word())
        if totals.crashes:
            return Exit.FAULT
        if totals.refused:
            return Exit.USAGE
        severe = {Severity.ERROR, Severity.WARNING}
        failing = {"error": {Severity.ERROR}, "warning": severe, "never": set[Severity]()}[fail_on]
        return Exit.FOUND if totals.severities_left & failing else Exit.CLEAN

    def require_baseline(self, paths: Iterable[str], stdin_name: str, finder: "SettingsFinder") -> None:
        """Refuse to write a baseline before anything is linted if neither an option nor the settings name one.

        Raises:
            click.UsageError: when no file has a baseline.
            SettingsError: when the settings of stdin are invalid.
        """
        if not self.write_baseline or self.baseline is not None:
            return
        from rubric_lint.project.files import File, find, split_stdin  # noqa: PLC0415

        others, stdin = split_stdin(paths, stdin_name, finder)
        names = (each.name for each in chain(stdin, find(others, finder)) if isinstance(each, File))
        if not any(finder.for_folder(os.path.dirname(name)).baseline for name in names):
            raise click.UsageError("--write-baseline: name the file with --baseline or in the settings")

    def sieves(self, finder: "SettingsFinder") -> list[Filter]:
        """Return the filters that remove known or untouched findings.

        Raises:
            click.UsageError: when Git cannot list the changes.
            SettingsError: when the named baseline cannot be used.
        """
        sieves: list[Filter] = []
        if not self.no_baseline:
            from rubric_lint.run.filters.baseline import Baselines  # noqa: PLC0415

            sieves.append(Baselines(finder, self.baseline, renews=self.write_baseline))
        if self.diff_base is not None:
            sieves.append(_sift_changes(self.diff_base))
        return sieves

    def finish(self, sieves: list[Filter], *, quiet: bool) -> None:
        """Write the baselines if asked to; otherwise report the known findings that no longer occur.

        Raises:
            SettingsError: when a baseline cannot be written.
        """
        from rubric_lint.run.filters.baseline import Baselines  # noqa: PLC0415
        from rubric_lint.run.summary import counted  # noqa: PLC0415

        for sieve in sieves:
            if not isinstance(sieve, Baselines):
                continue
            if self.write_baseline:
                for name, findings, new, gone in sieve.write():
                    if not quiet:
                        complain(f"{name}: {counted(findings, 'known finding')} ({new} added, {gone} removed)")
            elif not quiet:
                _tell_gone(list(sieve.gone()))


def _report_silenced(name: str, done: "Silenced", *, quiet: bool) -> None:
    """Print the findings of one file that could not be silenced and, unless `quiet`, how many were."""
    from rubric_lint.run.summary import counted  # noqa: PLC0415

    if done.is_changed and not quiet:
        click.echo(f"{visible(name)}: {counted(done.findings, 'finding')} silenced")
    for finding, why in done.left:
        line, column, _ = done.result.source.position(finding.span.start)
        click.echo(f"{visible(name)}:{line}:{column}: {finding.rule} not silenced: {visible(why)}")


def _tell_gone(gone: "list[Gone]") -> None:
    from rubric_lint.run.summary import counted  # noqa: PLC0415

    for name, file, rule, count, is_file_gone in gone:
        where = f"{file}, which no longer exists" if is_file_gone else file
        complain(f"{name}: {counted(count, 'known finding')} of {rule} no longer in {where}")
    if gone:
        complain("run with --write-baseline to remove them from the baseline")


_OPTIONS = (
    option(
        "Adoption",
        "--diff-base",
        metavar="REV",
        help="Report only findings on lines changed since the current branch left the Git revision REV, committed or "
        "not. In files that Git does not track, every line counts as changed.",
    ),
    option("Adoption", "--baseline", metavar="FILE", type=FileName(), help="Hide the known findings listed in FILE."),
    option("Adoption", "--no-baseline", is_flag=True, help="Ignore the baseline that the settings name."),
    option("Adoption", "--write-baseline", is_flag=True, help="Record all current findings in the baseline."),
    option("Adoption", "--add-ignores", is_flag=True, help="Add an ignore comment for every finding; fix nothing."),
    option("Adoption", "--reason", metavar="TEXT", help="With --add-ignores: the reason to write in each comment."),
)


with_adoption = gather_options("adoption", Adoption, _OPTIONS)
"""Adds the options to a command, which receives them as one argument `adoption`."""


def _sift_changes(revision: str) -> Filter:
    from rubric_lint.run.filters.changed_lines import ChangedLinesFilter  # noqa: PLC0415  (few runs compare)
    from rubric_lint.run.filters.git import GitError  # noqa: PLC0415
    from rubric_lint.run.filters.git_changes import read_changes  # noqa: PLC0415

    try:
        return ChangedLinesFilter(read_changes(revision))
    except GitError as fault:
        raise click.UsageError(f"--diff-base: {fault}") from None

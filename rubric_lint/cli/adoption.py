"""Options that bring `rubric-lint` into a repository full of old faults."""

from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.options import FileName
from rubric_lint.console import complain
from rubric_lint.sieve import Sieve
from rubric_lint.wording import visible

if TYPE_CHECKING:
    from rubric_lint.config import SettingsFinder
    from rubric_lint.fix.silence import Silenced
    from rubric_lint.progress import Progress
    from rubric_lint.sieve.baseline import Gone

Command = TypeVar("Command", bound=Callable[..., Any])


class Adoption(NamedTuple):
    """What the options ask for."""

    diff_base: str | None
    baseline: str | None
    no_baseline: bool
    write_baseline: bool
    add_ignores: bool
    reason: str | None

    def check(self, paths: tuple[str, ...], *, fix: bool, has_report: bool) -> None:
        """See to it that the options do not contradict each other.

        Raises:
            click.UsageError: when they do.
        """
        if self.diff_base is not None and not self.diff_base.strip():
            raise click.UsageError("--diff-base names no revision")
        if self.diff_base is not None and "-" in paths:
            raise click.UsageError("--diff-base compares files, and standard input is none")
        if self.baseline is not None:
            from rubric_lint.cli.options import require_file_name  # noqa: PLC0415

            require_file_name(self.baseline, "--baseline")
        if self.no_baseline and (self.baseline is not None or self.write_baseline):
            raise click.UsageError("--no-baseline leaves all baselines out; give it alone")
        if self.write_baseline and (fix or self.diff_base is not None or self.add_ignores):
            raise click.UsageError(
                "--write-baseline is a run of its own; leave --fix, --diff-base and --add-ignores out"
            )
        if self.reason is not None and not self.add_ignores:
            raise click.UsageError("--reason is for the comments of --add-ignores; add that")
        if self.add_ignores:
            self._check_ignores(paths, fix=fix, has_report=has_report)

    def _check_ignores(self, paths: tuple[str, ...], *, fix: bool, has_report: bool) -> None:
        if "-" in paths:
            raise click.UsageError("--add-ignores writes files, and standard input is none")
        if fix or self.diff_base is not None or self.baseline is not None:
            other = "--fix" if fix else "--baseline" if self.baseline is not None else "--diff-base"
            raise click.UsageError(f"--add-ignores silences all that is found; run it without {other}")
        if has_report:
            raise click.UsageError("--add-ignores writes comments and no report; leave the options for reports out")
        if self.reason is not None and not (self.reason.isprintable() and self.reason.strip()):
            raise click.UsageError("--reason is a text of one line")
        if "rubric-lint:" in (self.reason or "").lower():
            raise click.UsageError("--reason may not hold `rubric-lint:`, which begins a comment of ours")

    def silence(
        self, paths: Iterable[str], finder: "SettingsFinder", progress: "Progress", *, fail_on: str, quiet: bool
    ) -> Exit:
        """Write the ignore comments, and return the exit code."""
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
        failing = {"error": {Severity.ERROR}, "warning": set(Severity), "never": set[Severity]()}[fail_on]
        return Exit.FOUND if totals.severities_left & failing else Exit.CLEAN

    def sieves(self, finder: "SettingsFinder") -> list[Sieve]:
        """What is to be left out of the findings.

        Raises:
            click.UsageError: where Git cannot say what has changed.
            SettingsError: when the baseline that is named cannot be used.
        """
        sieves: list[Sieve] = []
        if not self.no_baseline:
            from rubric_lint.sieve.baseline import Baselines  # noqa: PLC0415

            sieves.append(Baselines(finder, self.baseline, renews=self.write_baseline))
        if self.diff_base is not None:
            sieves.append(_sift_changes(self.diff_base))
        return sieves

    def finish(self, sieves: list[Sieve], *, quiet: bool) -> None:
        """Write the baselines that are to be written, or tell what of those in use is gone.

        Raises:
            SettingsError: when one cannot be written.
            click.UsageError: when there is none to write.
        """
        from rubric_lint.sieve.baseline import Baselines  # noqa: PLC0415
        from rubric_lint.summary import counted  # noqa: PLC0415

        for sieve in sieves:
            if not isinstance(sieve, Baselines):
                continue
            if self.write_baseline:
                written = list(sieve.write())
                if not written:
                    raise click.UsageError("--write-baseline: name the file with --baseline, or in the settings")
                for name, findings, new, gone in written:
                    if not quiet:
                        complain(f"{name}: {counted(findings, 'known finding')} now, {new} of them new; {gone} gone")
            elif not quiet:
                _tell_gone(list(sieve.gone()))


def _report_silenced(name: str, done: "Silenced", *, quiet: bool) -> None:
    """Print what became of one file; unless `quiet`, also what went well."""
    from rubric_lint.summary import counted  # noqa: PLC0415

    if done.is_changed and not quiet:
        click.echo(f"{visible(name)}: {counted(done.findings, 'finding')} silenced")
    for finding, why in done.left:
        line, column, _ = done.result.source.position(finding.span.start)
        click.echo(f"{visible(name)}:{line}:{column}: {finding.rule} not silenced: {visible(why)}")


def _tell_gone(gone: "list[Gone]") -> None:
    from rubric_lint.summary import counted  # noqa: PLC0415

    for name, file, rule, count, is_file_gone in gone:
        where = f"{file}, a file that is gone" if is_file_gone else file
        complain(f"{name}: {counted(count, 'known finding')} of {rule} gone from {where}")
    if gone:
        complain("`--write-baseline` takes what is gone out of the baseline")


_OPTIONS = (
    click.option(
        "--diff-base",
        metavar="REV",
        help="Report only what touches lines changed since the current branch left the Git revision REV, committed or "
        "not. Files that Git does not know are new as a whole.",
    ),
    click.option("--baseline", metavar="FILE", type=FileName(), help="Leave out the known findings that FILE holds."),
    click.option("--no-baseline", is_flag=True, help="Leave nothing out, whatever baseline the settings name."),
    click.option("--write-baseline", is_flag=True, help="Write all that is found into the baseline, as known."),
    click.option(
        "--add-ignores", is_flag=True, help="Write ignore comments for all that is found, and change nothing else."
    ),
    click.option("--reason", metavar="TEXT", help="With --add-ignores: what stands behind the comments."),
)


def with_adoption(command: Command) -> Command:
    """The options, as one argument `adoption`."""

    @wraps(command)
    def call(**arguments: Any) -> Any:
        asked = {name: arguments.pop(name) for name in Adoption._fields}
        return command(**arguments, adoption=Adoption(**asked))

    for option in reversed(_OPTIONS):
        call = option(call)
    return call  # type: ignore[return-value]


def _sift_changes(revision: str) -> Sieve:
    from rubric_lint.sieve.changed import Changed  # noqa: PLC0415  (few runs compare)
    from rubric_lint.sieve.git import read_changes  # noqa: PLC0415
    from rubric_lint.sieve.running import GitError  # noqa: PLC0415

    try:
        return Changed(read_changes(revision))
    except GitError as fault:
        raise click.UsageError(f"--diff-base: {fault}") from None

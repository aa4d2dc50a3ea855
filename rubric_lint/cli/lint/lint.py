"""Define `rubric-lint`, which checks rubrics and reports findings."""

# Paths are str, see project/settings.py.
# ruff: noqa: PTH120

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from rubric_lint.cli.commands import HELP, Command, DefaultGroup, Exit, gather_options, launch, option, reject
from rubric_lint.cli.options import (
    ASKED,
    CHOICES,
    COLOR,
    FAIL_ON,
    FORCE_EXCLUDE,
    FORMAT,
    NAMES,
    OUTPUT_FILE,
    QUIET,
    SOURCE_CLASHES,
    STDIN_FILENAME,
    TEXT_FORMATS,
    VERSION,
    AnyPath,
    FileName,
    SettingsOptions,
    check_names,
    check_watch,
    complete_name,
    print_page,
    print_rules,
    require_file_name,
    with_settings,
    write_figures,
)
from rubric_lint.cli.options import watch as watch_files
from rubric_lint.cli.output import escape_what_cannot_be_encoded, make_style
from rubric_lint.messages import UserError, list_names, visible
from rubric_lint.report import REPORTERS, WITH_EDITS, Statistics, counted
from rubric_lint.run.console import Progress, complain

if TYPE_CHECKING:
    from rubric_lint.agree.judged.run import JudgedRun, RecordCache, Reviewer
    from rubric_lint.fix.run import FixOutcome
    from rubric_lint.fix.silence import Silenced
    from rubric_lint.project.files import File, Unreadable
    from rubric_lint.project.settings import SettingsFinder, SettingsReport
    from rubric_lint.run.baseline import Gone
    from rubric_lint.run.batch import FileOutcome
    from rubric_lint.run.cache import Cache
    from rubric_lint.run.linting import Filter, Lint
    from rubric_lint.run.summary import Summary


class Adoption(NamedTuple):
    """The values of the adoption options."""

    diff_base: str | None
    baseline: str | None
    no_baseline: bool
    write_baseline: bool
    add_ignores: bool
    reason: str | None

    def silence(
        self, paths: Iterable[str], finder: "SettingsFinder", progress: "Progress", *, fail_on: str, quiet: bool
    ) -> Exit:
        """Write the ignore comments and return the exit code."""
        from rubric_lint.finding import Severity  # noqa: PLC0415
        from rubric_lint.fix.run import SilenceRun  # noqa: PLC0415

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

    def sieves(self, finder: "SettingsFinder") -> "list[Filter]":
        """Return the filters that remove known or untouched findings.

        Raises:
            click.UsageError: when Git cannot list the changes.
            SettingsError: when the named baseline cannot be used.
        """
        sieves: list[Filter] = []
        if not self.no_baseline:
            from rubric_lint.run.baseline import Baselines  # noqa: PLC0415

            sieves.append(Baselines(finder, self.baseline, renews=self.write_baseline))
        if self.diff_base is not None:
            sieves.append(_sift_changes(self.diff_base))
        return sieves

    def finish(self, sieves: "list[Filter]", *, quiet: bool) -> None:
        """Write the baselines if asked to; otherwise report the known findings that no longer occur.

        Raises:
            SettingsError: when a baseline cannot be written.
        """
        from rubric_lint.run.baseline import Baselines  # noqa: PLC0415
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


_ADOPTION_OPTIONS = (
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


with_adoption = gather_options("adoption", Adoption, _ADOPTION_OPTIONS)
"""Adds the options to a command, which receives them as one argument `adoption`."""


def _sift_changes(revision: str) -> "Filter":
    from rubric_lint.run.git import ChangedLinesFilter, GitError, read_changes  # noqa: PLC0415  (few runs compare)

    try:
        return ChangedLinesFilter(read_changes(revision))
    except GitError as fault:
        raise click.UsageError(f"--diff-base: {fault}") from None


class Judging(NamedTuple):
    """The values of the options."""

    judged: tuple[str, ...]
    labels: tuple[str, ...]

    def applies(self, finder: "SettingsFinder") -> bool:
        """Return whether results are named, by options or by the settings of the current folder."""
        return bool(self.judged or finder.for_folder("").judged)

    def find_needed(self, name: str, finder: "SettingsFinder") -> tuple[str, ...]:
        """Return the files of records that findings in a file depend on."""
        if self.judged:
            return (*self.judged, *self.labels)
        settings = finder.for_folder(os.path.dirname(name))
        return (*settings.judged, *settings.labels)


class Judges:
    """Looks at rubrics with the results that options or settings name; `run` is the last run that had any.

    What it has read stays for the next run. Runs without results do not load the scorer.
    """

    def __init__(self, judging: Judging) -> None:
        self._judging = judging
        self._kept: tuple[RecordCache, Reviewer] | None = None
        self.run: JudgedRun | None = None

    def open(self, finder: "SettingsFinder") -> "JudgedRun":
        """Open a run.

        Raises:
            UserError: if a file that an option names cannot be read.
        """
        from rubric_lint.agree.judged.run import JudgedRun, RecordCache, Reviewer  # noqa: PLC0415

        if self._kept is None:
            self._kept = RecordCache(), Reviewer()
        self.run = run = JudgedRun(finder, (self._judging.judged, self._judging.labels), *self._kept)
        if run.unreadable:
            raise UserError(*(f"{file}: {reason}" for file, reason in run.unreadable.items()))
        return run

    def wrap(self, lint: "Lint", finder: "SettingsFinder") -> "Lint":
        """Return a function that lints as `lint` does, and looks at rubrics that have results.

        Raises:
            UserError: if a file that an option names cannot be read.
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


_JUDGED_OPTIONS = (
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


with_judged = gather_options("judging", Judging, _JUDGED_OPTIONS)
"""Adds the options to a command, which receives them as one argument `judging`."""


def print_files(paths: Iterable[str], finder: "SettingsFinder", sieves: "Sequence[Filter]", *, as_json: bool) -> Exit:
    """Print the files that a run would read to stdout, and to stderr what is left out and why; or all as JSON."""
    import json  # noqa: PLC0415  (lint runs need none)

    from rubric_lint.project.files import Skipped, Unreadable, find  # noqa: PLC0415

    reasons: dict[str, str] = {}
    files, faults = [], []
    for found in find(paths, finder, Skipped(reasons=reasons)):
        if isinstance(found, Unreadable):
            faults.append(found)
        elif all(sieve.wants(found.name) for sieve in sieves):
            files.append(found.name)
        else:
            reasons[found.name] = "unchanged"
    if as_json:
        left_out = [{"path": name, "reason": reason} for name, reason in sorted(reasons.items())]
        unreadable = [{"path": fault.path, "reason": fault.reason} for fault in faults]
        click.echo(json.dumps({"files": files, "left_out": left_out, "unreadable": unreadable}, indent=1))
    else:
        for name in files:
            click.echo(visible(name))
        for name, reason in sorted(reasons.items()):
            click.echo(f"left out: {visible(name)}: {reason}", err=True)
        if not files and not faults:
            complain("0 files would be read")
    for fault in faults:
        complain(f"{fault.path}: {fault.reason}")
    return Exit.USAGE if faults else Exit.CLEAN


def print_settings(paths: Iterable[str], finder: "SettingsFinder", *, as_json: bool) -> Exit:
    """Print the settings in effect for each path, with where each comes from.

    Raises:
        SettingsError: when a settings file is invalid.
    """
    import json  # noqa: PLC0415  (lint runs need none)

    from rubric_lint.project.files import tidy  # noqa: PLC0415
    from rubric_lint.project.settings import report_settings  # noqa: PLC0415

    reports = []
    code = Exit.CLEAN
    for path in map(tidy, paths):
        if os.path.lexists(path):
            reports.append(report_settings(path, finder))
        else:
            complain(f"{path}: does not exist")
            code = Exit.USAGE
    if as_json:
        click.echo(json.dumps([*map(_as_data, reports)], indent=1, default=float))
    else:
        click.echo("\n\n".join("\n".join(_as_lines(report)) for report in reports))
    return code


def _as_data(report: "SettingsReport") -> dict[str, Any]:
    settings = {each.name: {"value": each.value, "sources": each.sources} for each in report.settings}
    return {
        "path": report.path,
        "settings_file": report.file,
        "settings": settings,
        "rules": {"on": report.rules_on, "off": report.rules_off},
        "version": report.version,
    }


def _as_lines(report: "SettingsReport") -> Iterable[str]:
    yield f"{visible(report.path)}: " + (f"settings of {visible(report.file)}" if report.file else "no settings file")
    rows = [(each.name, _write(each.value), ", ".join(each.sources)) for each in report.settings]
    names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, value, source in rows:
        yield f"  {name:<{names}}  {visible(value):<{values}}  {visible(source)}"
    count = len(report.rules_on)
    off = f"; off: {', '.join(report.rules_off)}" if report.rules_off else ""
    yield f"  {count} of {count + len(report.rules_off)} rules run{off}"
    if report.version:
        yield f"  read as format version {report.version}"


def _write(value: Any) -> str:
    import json  # noqa: PLC0415  (lint runs need none)

    return "not set" if value is None else json.dumps(value, ensure_ascii=False, default=float)


_WITH_SUMMARY = (Statistics, *(REPORTERS[name] for name in TEXT_FORMATS))
"""The formats that end with the summary."""

_EXAMPLES = {
    "rubric-lint": "Check all files in the current folder and below",
    "rubric-lint --fix examples/legacy.yaml": "Fix what can be fixed safely, then report the rest",
    "rubric-lint --explain overlap": "Explain a rule, with examples",
    "rubric-lint --diff-base HEAD --format sarif --output-file report.sarif": "Report only findings on changed lines",
}


_CLASHES: tuple[tuple[Callable[[Any], Any], str], ...] = (
    (
        lambda given: given.statistics and given.form not in {None, "full", "concise"},
        "--statistics cannot be combined with --format {form}",
    ),
    (lambda given: given.unsafe_fixes and not given.fix, "--unsafe-fixes requires --fix"),
    (lambda given: given.choices and not given.fix, "--choose requires --fix"),
    (lambda given: given.fix and "-" in given.paths, "--fix cannot be used with stdin; use `rubric-fix -`"),
    (lambda given: given.watch and "-" in given.paths, "--watch cannot be used with stdin"),
    (lambda given: given.watch and given.fix, "--watch cannot be combined with --fix; run rubric-fix separately"),
    (
        lambda given: given.watch and (given.add_ignores or given.write_baseline),
        "--watch cannot be combined with --add-ignores or --write-baseline; run them separately",
    ),
    *SOURCE_CLASHES,
    (
        lambda given: given.labels and not given.judged,
        "--labels requires --judged, the judge outputs for the same answers",
    ),
    (
        lambda given: given.judged and "-" in given.paths,
        "--judged cannot be used with stdin; name the file with the rubric",
    ),
    (
        lambda given: given.judged and given.add_ignores,
        "--add-ignores cannot be combined with --judged; write these comments yourself",
    ),
    (
        lambda given: given.diff_base is not None and not given.diff_base.strip(),
        "--diff-base is empty; name a Git revision",
    ),
    (
        lambda given: given.diff_base is not None and "-" in given.paths,
        "--diff-base compares files; it cannot be used with stdin",
    ),
    (
        lambda given: given.no_baseline and (given.baseline is not None or given.write_baseline),
        "--no-baseline cannot be combined with --baseline or --write-baseline",
    ),
    (
        lambda given: given.write_baseline and (given.fix or given.diff_base is not None or given.add_ignores),
        "--write-baseline cannot be combined with --fix, --diff-base or --add-ignores",
    ),
    (lambda given: given.reason is not None and not given.add_ignores, "--reason requires --add-ignores"),
    (
        lambda given: given.add_ignores and "-" in given.paths,
        "--add-ignores writes files; it cannot be used with stdin",
    ),
    (lambda given: given.add_ignores and given.fix, "--add-ignores silences every finding; run it without --fix"),
    (
        lambda given: given.add_ignores and given.baseline is not None,
        "--add-ignores silences every finding; run it without --baseline",
    ),
    (
        lambda given: given.add_ignores and given.diff_base is not None,
        "--add-ignores silences every finding; run it without --diff-base",
    ),
    (
        lambda given: (
            given.add_ignores
            and (given.form not in {None, "full"} or given.output_file is not None or given.statistics)
        ),
        "--add-ignores writes comments, not a report; remove the report options",
    ),
    (
        lambda given: given.reason is not None and not (given.reason.isprintable() and given.reason.strip()),
        "--reason must be one line of text",
    ),
    (
        lambda given: "rubric-lint:" in (given.reason or "").lower(),
        "--reason must not contain `rubric-lint:`, which starts an ignore comment",
    ),
    (
        lambda given: given.show_files and given.show_settings,
        "--show-files cannot be combined with --show-settings",
    ),
    (lambda given: given.show_files and "-" in given.paths, "--show-files cannot be used with stdin"),
    (lambda given: given.show_settings and "-" in given.paths, "--show-settings cannot be used with stdin"),
    (
        lambda given: given.show_files and given.form not in {None, "full", "json"},
        "--show-files supports only --format json",
    ),
    (
        lambda given: given.show_settings and given.form not in {None, "full", "json"},
        "--show-settings supports only --format json",
    ),
)
"""The options of a call that contradict each other, or that lack another one."""


@click.command(
    "check",
    cls=Command,
    examples=_EXAMPLES,
    exits={
        Exit.CLEAN: "no findings as severe as --fail-on",
        Exit.FOUND: "findings as severe as --fail-on, or what --require-rubrics or --fail-on-unread forbids",
    },
)
@click.argument("paths", nargs=-1, type=AnyPath())
@option("Output", "--format", "form", **FORMAT)
@option("Output", "--output-file", **OUTPUT_FILE)
@option("Output", "--statistics", is_flag=True, help="Show the number of findings per rule instead of the findings.")
@option("Output", "-q", "--quiet", **QUIET)
@option("Output", "--color", **COLOR)
@option("Output", "--watch", is_flag=True, help="Re-run when files change.")
@option("Rules", "--select", **NAMES, help="Run only these rules (comma-separated names).")
@option("Rules", "--ignore", **NAMES, help="Run all rules except these.")
@option("Rules", "--fail-on", **FAIL_ON)
@option(
    "Rules",
    "--require-rubrics",
    is_flag=True,
    help="Exit with 1 if no rubrics are found, a named file has none, or one is not checked.",
)
@option("Rules", "--fail-on-unread", is_flag=True, help="Exit with 1 if what looks like a rubric is not read.")
@option("Fixes", "--fix", is_flag=True, help="Apply safe fixes first, as rubric-fix does.")
@option(
    "Fixes",
    "--unsafe-fixes",
    is_flag=True,
    help="With --fix: also apply fixes that may change the meaning of a rubric.",
)
@option("Fixes", "--choose", "choices", **CHOICES)
@with_judged
@with_adoption
@option("Files", "--force-exclude", **FORCE_EXCLUDE)
@option("Files", "--stdin-filename", **STDIN_FILENAME)
@option("Files", "--no-cache", is_flag=True, help="Neither read nor write the cache; see `cache --help`.")
@option("Files", "--show-files", is_flag=True, help="List the files that would be read, and what is skipped and why.")
@with_settings
@option(
    "Settings", "--show-settings", is_flag=True, help="Show the settings of each path, and where each one comes from."
)
@option(
    HELP,
    "--explain",
    metavar="RULE",
    **ASKED,
    callback=print_page,
    shell_complete=complete_name,
    help="Explain a rule.",
)
@option(HELP, "--rules", is_flag=True, help="List the rules.")
@option(HELP, "--version", **VERSION)
def check(  # noqa: C901, PLR0911, PLR0912, PLR0915 (several options replace the run)
    *,
    paths: tuple[str, ...],
    form: str | None,
    output_file: str | None,
    select: frozenset[str],
    ignore: frozenset[str],
    fail_on: str,
    fix: bool,
    unsafe_fixes: bool,
    choices: tuple[str, ...],
    watch: bool,
    require_rubrics: bool,
    fail_on_unread: bool,
    statistics: bool,
    quiet: bool,
    color: str,
    stdin_filename: str | None,
    force_exclude: bool,
    settings: SettingsOptions,
    no_cache: bool,
    adoption: Adoption,
    judging: Judging,
    rules: bool,
    show_files: bool,
    show_settings: bool,
) -> int:
    """Check LLM-judge rubrics in YAML and JSON.

    PATHS are files and folders, by default the current folder; - reads stdin.
    """
    if rules:
        print_rules(form)
        return Exit.CLEAN
    check_names(select, ignore)
    reject(_CLASHES)
    if watch:
        check_watch(form, has_file=output_file is not None)
    for name in (*judging.judged, *judging.labels):
        require_file_name(name, "--judged" if name in judging.judged else "--labels")
    if adoption.baseline is not None:
        require_file_name(adoption.baseline, "--baseline")

    # --help, --explain and completion do not load the engine.
    from rubric_lint.cli.output import choose_format, open_report, spare  # noqa: PLC0415
    from rubric_lint.project.settings import Overrides, SettingsFinder  # noqa: PLC0415
    from rubric_lint.run.batch import lint_files  # noqa: PLC0415
    from rubric_lint.run.linting import LintRun  # noqa: PLC0415

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr)
    look = make_style(color, quiet=quiet, is_file=output_file is not None)
    chosen = "statistics" if statistics else choose_format(form, output_file)
    make_reporter = Statistics if statistics else REPORTERS[chosen]
    judges = Judges(judging)

    fixed = Exit.CLEAN
    bare = 0

    def run(finder: SettingsFinder, **files: Any) -> "Summary":
        nonlocal fixed, bare
        files["unable"] = _find_unable(select, has_results=judging.applies(finder))
        files["lint"] = judges.wrap(files["lint"], finder)
        with open_report(output_file, progress, look) as write:
            # Opened before fixing: if the report cannot be written, no file is changed.
            if fix:
                fixed = _fix(paths or (".",), finder, progress, unsafe=unsafe_fixes, choices=choices, quiet=quiet)
            reporter = make_reporter(write, look)
            sieves = adoption.sieves(finder)
            if output_file is not None or adoption.write_baseline:
                files["undone"] = f"{'the report' if output_file is not None else 'the baseline'} was not written"
            engine = LintRun(reporter, progress, sieves, **files)
            summary = engine.lint_all(paths or (".",), stdin_filename or "<stdin>", finder)
            summary = summary._replace(review=judges.review())
            reporter.end(summary)
            write_figures(() if quiet else judges.list_lines(), chosen, write)
        judges.complain_of_records()
        bare = engine.explaining.bare + summary.other_kinds
        says_summary = output_file is not None or make_reporter in _WITH_SUMMARY
        if summary.is_empty and not says_summary and not quiet:
            complain(f"0 rubrics found in {counted(summary.files, 'file')}")
        for line in engine.explaining.word():
            complain(line)
        adoption.finish(sieves, quiet=quiet)
        return summary

    overrides = Overrides(select or None, ignore, force_exclude)
    if watch:
        others = {**settings._asdict(), "needs": judging.find_needed}
        return watch_files(paths or (".",), run, progress, overrides, **others)
    finder = settings.finder(overrides)
    if show_files:
        return print_files(paths or (".",), finder, adoption.sieves(finder), as_json=form == "json")
    if show_settings:
        return print_settings(paths or (".",), finder, as_json=form == "json")
    if adoption.add_ignores:
        return adoption.silence(paths or (".",), finder, progress, fail_on=fail_on, quiet=quiet)
    adoption.require_baseline(paths or (".",), stdin_filename or "<stdin>", finder)
    with nullcontext() if no_cache else _open_cache() as cache:
        summary = run(finder, lint=spare(output_file, partial(lint_files, cache=cache, edits=chosen in WITH_EDITS)))
    if output_file is not None and not quiet:
        click.echo(summary)
    if summary.faults:
        return Exit.FAULT
    if summary.unreadable:
        return max(Exit.USAGE, fixed)
    if missing := list(_word_missing(summary, finder, bare, is_required=require_rubrics, is_strict=fail_on_unread)):
        for line in missing:
            complain(line)
        return Exit.FOUND
    failing = {"error": summary.errors, "warning": summary.errors + summary.warnings, "never": 0}
    return max(Exit.FOUND if failing[fail_on] else Exit.CLEAN, fixed)


def _open_cache() -> "Cache":
    from rubric_lint.run.cache import Cache  # noqa: PLC0415  (not needed with --no-cache)

    return Cache.here()


def _word_missing(
    summary: "Summary", finder: "SettingsFinder", bare: int, *, is_required: bool, is_strict: bool
) -> Iterator[str]:
    """Yield why the run fails although its findings may not: rubrics that are missing or were not read.

    `bare` counts the named files without rubrics. Only the option fails on them: a hook names every file, and the
    settings apply there too.
    """
    from rubric_lint.project.settings import Settings, SettingsError  # noqa: PLC0415

    settings = Settings("")
    with suppress(SettingsError):  # broken settings of this folder may not apply to the files
        settings = finder.for_folder("")
    unread = summary.unread + summary.near_misses
    if unread and (is_strict or settings.fail_on_unread):
        them = "which `fail-on-unread` forbids"
        yield f"{counted(unread, 'near miss', 'near misses')} not checked, {them}"
    elif summary.unread and (is_required or settings.require_rubrics):
        yield f"{counted(summary.unread, 'rubric')} not checked, or only in part, but rubrics are required"
    # Unchanged files, which are not read, may have rubrics.
    if not (summary.rubrics or summary.unchanged_files) and (is_required or settings.require_rubrics):
        yield "no rubrics found, but at least one is required"
    elif bare and is_required:
        yield f"no rubrics found in {counted(bare, 'named file')}, but each is required to have one"


def _find_unable(select: frozenset[str], *, has_results: bool) -> frozenset[str]:
    """Return the rules for which a run has no data; reject a selection of which no rule would run."""
    if not select:
        return frozenset()
    from rubric_lint.rules import BY_NAME, JUDGED_RULES  # noqa: PLC0415  (loads the rules)
    from rubric_lint.rules.rows import JUDGED  # noqa: PLC0415

    others = {BY_NAME[name].command for name in select} - {"rubric-lint", *([JUDGED] if has_results else [])}
    if others and all(BY_NAME[name].command in others for name in select):
        raise click.UsageError(f"--select: {list_names(sorted(select))}: only {min(others)} finds this; run that")
    return frozenset() if has_results else JUDGED_RULES


def _fix(
    paths: Iterable[str],
    finder: "SettingsFinder",
    progress: Progress,
    *,
    unsafe: bool,
    choices: tuple[str, ...],
    quiet: bool,
) -> Exit:
    """Fix the files and report on stderr, because stdout is for the findings."""
    from rubric_lint.cli.fix.fix import exit_code  # noqa: PLC0415
    from rubric_lint.fix.run import FixRun  # noqa: PLC0415
    from rubric_lint.report.fixes import word_troubles  # noqa: PLC0415

    def report(outcome: "FixOutcome") -> None:
        progress.clear()
        for line in word_troubles(outcome):
            complain(line)

    # Linting reports the files that cannot be read.
    totals = FixRun(report, progress, unsafe=unsafe, choices=choices, refuse=lambda _: None).fix_all(paths, "", finder)
    if not quiet:
        click.echo(totals.word(is_dry=False), err=True)
    return exit_code(totals)


_LATE = {
    "adopt": "adopt:adopt",
    "assess": "assess:assess",
    "labels": "labels:labels",
    "cache": "cache:cache",
    "convert": "convert:convert",
    "diff": "diff:diff",
    "format": "format_files:format_files",
    "import": "convert:import_table",
    "init": "setup:init",
    "lsp": "servers:lsp",
    "mcp": "servers:mcp",
    "schema": "schema:schema",
    "show": "show:show",
    "skill": "setup:skill",
}


@click.group(cls=DefaultGroup, default=check, late=_LATE)
def cli() -> None:
    """Group the commands."""


def main() -> NoReturn:
    """Run `rubric-lint` as a program."""
    launch(cli, "rubric-lint")

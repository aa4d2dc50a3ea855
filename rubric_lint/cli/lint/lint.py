"""Define `rubric-lint`: the program, and `check`, which checks rubrics and reports findings."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.cli.commands import COMMANDS, DefaultGroup, Exit
from rubric_lint.cli.given import Given
from rubric_lint.cli.options import (
    TEXT_FORMATS,
    check_names,
    check_watch,
    command,
    require_file_name,
    write_figures,
)
from rubric_lint.cli.options import watch as watch_files
from rubric_lint.cli.output import (
    choose_format,
    escape_what_cannot_be_encoded,
    make_style,
    open_report,
    protect_rubrics,
)
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.model.finding import Severity
from rubric_lint.model.messages import UserError, counted, list_names, to_data, visible
from rubric_lint.report import REPORTERS, WITH_EDITS, Statistics, Write

if TYPE_CHECKING:
    from rubric_lint.assess.judged.review import JudgedRun, RecordCache
    from rubric_lint.lint.fix.run import FixOutcome
    from rubric_lint.lint.fix.silence import Silenced
    from rubric_lint.lint.project.files import File, Unreadable
    from rubric_lint.lint.project.settings import SettingsFinder
    from rubric_lint.lint.run.batch import FileOutcome
    from rubric_lint.lint.run.linting import Filter, Lint
    from rubric_lint.lint.run.summary import Summary


def _silence(given: Given, finder: "SettingsFinder", progress: Progress) -> Exit:
    """Write an ignore comment for every finding and return the exit code."""
    from rubric_lint.lint.fix.run import SilenceRun

    def report(name: str, done: "Silenced") -> None:
        if done.is_changed and not given.quiet:
            click.echo(f"{visible(name)}: {counted(done.findings, 'finding')} silenced")
        for finding, reason in done.left:
            line, column, _ = done.result.source.position(finding.span.start)
            click.echo(f"{visible(name)}:{line}:{column}: {finding.rule} not silenced: {visible(reason)}")

    totals = SilenceRun(progress, (given.reason or "").strip(), report).silence_all(given.paths, finder)
    if not given.quiet:
        click.echo(totals.format())
    failing: dict[str, set[Severity]] = {
        "error": {Severity.ERROR},
        "warning": {Severity.ERROR, Severity.WARNING},
        "never": set(),
    }
    found = totals.severities_left & failing[given.fail_on]
    return Exit.of(crashed=totals.crashes, failed=totals.refused, found=found)


def _make_filters(given: Given, finder: "SettingsFinder") -> "list[Filter]":
    """Return the filters that remove known or untouched findings; raise click.UsageError if Git cannot help."""
    filters: list[Filter] = []
    if not given.no_baseline:
        from rubric_lint.lint.run.baseline import Baselines

        filters.append(Baselines(finder, given.baseline, renews=given.write_baseline))
    if given.diff_base is not None:
        from rubric_lint.lint.run.git import ChangedLinesFilter, GitError, read_changes

        try:
            filters.append(ChangedLinesFilter(read_changes(given.diff_base)))
        except GitError as fault:
            raise click.UsageError(f"--diff-base: {fault}") from None
    return filters


def _end_baselines(given: Given, filters: "list[Filter]") -> None:
    """Write the baselines if asked to; otherwise report the known findings that no longer occur."""
    from rubric_lint.lint.run.baseline import Baselines

    for baselines in filters:
        if not isinstance(baselines, Baselines):
            continue
        if given.write_baseline:
            for name, findings, new, gone in baselines.write():
                if not given.quiet:
                    complain(f"{name}: {counted(findings, 'known finding')} ({new} added, {gone} removed)")
        elif not given.quiet:
            missing = list(baselines.gone())
            for name, file, rule, count, is_file_gone in missing:
                where = f"{file}, which no longer exists" if is_file_gone else file
                complain(f"{name}: {counted(count, 'known finding')} of {rule} no longer in {where}")
            if missing:
                complain("run with --write-baseline to remove them from the baseline")


def _find_results(given: Given, name: str, finder: "SettingsFinder") -> tuple[str, ...]:
    """Return the files of records that findings in a file depend on."""
    if given.judged:
        return (*given.judged, *given.labels)
    settings = finder.find_nearest(name)
    return (*settings.judged, *settings.labels)


class JudgedLint:
    """Looks at rubrics with the results that options or settings name; `run` is the last run that had any.

    What it has read stays for the next run. Runs without results do not load the scorer.
    """

    def __init__(self, given: Given) -> None:
        self._given = given
        self._kept: RecordCache | None = None
        self.run: JudgedRun | None = None

    def open(self, finder: "SettingsFinder") -> "JudgedRun":
        """Open a run; raise UserError if a file that an option names cannot be read."""
        from rubric_lint.assess.judged.review import JudgedRun, RecordCache
        from rubric_lint.assess.measure.decision import MeasureOptions
        from rubric_lint.cli.score.options import find_labels

        self._kept = self._kept or RecordCache(MeasureOptions(mapping=self._given.mapping))
        labels = find_labels(self._given, self._given.judged)
        self.run = run = JudgedRun(finder, (self._given.judged, labels), self._kept)
        if run.unreadable:
            raise UserError(*(f"{file}: {reason}" for file, reason in run.unreadable.items()))
        return run

    def wrap(self, lint: "Lint", finder: "SettingsFinder") -> "Lint":
        """Return a function that lints as `lint` does, and looks at rubrics that have results.

        Raises:
            UserError: if a file that an option names cannot be read.
        """
        self.run = self.open(finder) if self._given.judged else None

        def lint_all(files: "Iterable[File | Unreadable]") -> "Iterator[tuple[File | Unreadable, FileOutcome]]":
            outcomes = lint(files)
            for file, outcome in outcomes:
                has_rubrics = getattr(outcome, "rubrics", 0) and hasattr(file, "settings")
                if self.run or (has_rubrics and _find_results(self._given, getattr(file, "name", ""), finder)):
                    run = self.run or self.open(finder)
                    # Files before this one have no results; of those from here on the run knows whether they have any.
                    yield from run.judge_all(chain([(file, outcome)], outcomes))
                    return
                yield file, outcome

        return lint_all

    def write_reviews(self, form: str, write: Write) -> None:
        """Write what the results show in addition to findings, if there are any."""
        if self.run and not self._given.quiet:
            from rubric_lint.report.judged import format_reviews

            write_figures(format_reviews(self.run), form, write)

    def complain_of_records(self) -> None:
        """Say on stderr which records were not used, and why."""
        if self.run:
            from rubric_lint.report.judged import format_records

            for line in format_records(self.run):
                complain(line)


def print_files(paths: Iterable[str], finder: "SettingsFinder", filters: "Sequence[Filter]", *, as_json: bool) -> Exit:
    """Print the files that a run would read to stdout, and to stderr what is left out and why; or all as JSON."""
    from rubric_lint.lint.project.files import Skipped, Unreadable
    from rubric_lint.lint.project.suites import find

    reasons: dict[str, str] = {}
    files, faults = [], []
    for found in find(paths, finder, Skipped(reasons=reasons)):
        if isinstance(found, Unreadable):
            faults.append(found)
        elif all(filter_.needs_file(found.name) for filter_ in filters):
            files.append(found.name)
        else:
            reasons[found.name] = "unchanged"
    if as_json:
        left_out = [{"path": name, "reason": reason} for name, reason in sorted(reasons.items())]
        unreadable = [fault._asdict() for fault in faults]
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
    from rubric_lint.lint.project.files import tidy
    from rubric_lint.lint.project.paths import is_there
    from rubric_lint.lint.project.settings_report import report_settings

    reports, code = [], Exit.CLEAN
    for path in map(tidy, paths):
        if is_there(path):
            reports.append(report_settings(path, finder))
        else:
            complain(f"{path}: does not exist")
            code = Exit.USAGE
    if as_json:
        click.echo(json.dumps(reports, indent=1, default=float))
    else:
        click.echo("\n\n".join("\n".join(_format_settings(report)) for report in reports))
    return code


def _format_settings(report: Mapping[str, Any]) -> Iterable[str]:
    file, rules = report["settings_file"], report["rules"]
    origin = f"settings of {visible(file)}" if file else "no settings file"
    yield f"{visible(report['path'])}: {origin}"
    rows = []
    for name, setting in report["settings"].items():
        value = "not set"
        if setting["value"] is not None:
            value = json.dumps(setting["value"], ensure_ascii=False, default=float)
        rows.append((name, value, ", ".join(setting["sources"])))
    names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, value, source in rows:
        yield f"  {name:<{names}}  {visible(value):<{values}}  {visible(source)}"
    count = len(rules["on"])
    off = f"; off: {', '.join(rules['off'])}" if rules["off"] else ""
    yield f"  {count} of {count + len(rules['off'])} rules run{off}"
    if report["version"]:
        yield f"  read as format version {report['version']}"


_WITH_SUMMARY = [Statistics, *(REPORTERS[name] for name in TEXT_FORMATS)]
"""The formats that end with the summary."""


def _check_values(given: Given) -> None:
    """Reject values of options that no run can use; raise click.UsageError for the first one."""
    check_names(given.select, given.ignore)
    allowed = {
        "statistics": {None, "full", "concise"},
        "add_ignores": {None, "full"},
        "show_files": {None, "full", "json"},
        "show_settings": {None, "full", "json"},
    }
    for name, forms in allowed.items():
        if getattr(given, name) and given.form not in forms:
            option = f"--{name.replace('_', '-')}"
            only = "; it supports only --format json" if "json" in forms else ""
            raise click.UsageError(f"{option} cannot be combined with --format {given.form}{only}")
    if given.diff_base is not None and not given.diff_base.strip():
        raise click.UsageError("--diff-base is empty; name a Git revision")
    if given.reason is not None and not (given.reason.isprintable() and given.reason.strip()):
        raise click.UsageError("--reason must be one line of text")
    if "rubric-lint:" in (given.reason or "").lower():
        raise click.UsageError("--reason must not contain `rubric-lint:`, which starts an ignore comment")
    if given.watch:
        check_watch(given.form, has_file=given.output is not None)
    for option in ("judged", "labels"):
        for name in getattr(given, option):
            require_file_name(name, f"--{option}")
    if given.baseline is not None:
        require_file_name(given.baseline, "--baseline")


def _require_baseline(given: Given, finder: "SettingsFinder") -> None:
    """Refuse to write a baseline, before anything is linted, if neither an option nor the settings name one."""
    from rubric_lint.lint.project.files import File, find, split_stdin

    others, stdin = split_stdin(given.paths, given.stdin_filename or "<stdin>", finder)
    names = (file.name for file in chain(stdin, find(others, finder)) if isinstance(file, File))
    if not any(finder.find_nearest(name).baseline for name in names):
        raise click.UsageError("--write-baseline: name the file with --baseline or in the settings")


@command(
    "paths*",
    "fix select ignore fail-on format:findings output:report quiet watch diff-base baseline"
    " | statistics color require-rubrics fail-on-unread unsafe-fixes choose judged labels map:sides no-baseline"
    " write-baseline add-ignores reason force-exclude stdin-filename no-cache show-files config isolated show-settings"
    " version",
    examples={
        "rubric-lint": "Check all files in the current folder and below",
        "rubric-lint --fix examples/legacy.yaml": "Fix what can be fixed safely, then report the rest",
        "rubric-lint explain overlap": "Explain a rule, with examples",
        "rubric-lint --diff-base HEAD -o report.sarif": "Report only findings on changed lines",
    },
    exits={
        Exit.CLEAN: "no findings as severe as --fail-on",
        Exit.FOUND: "findings as severe as --fail-on, or what --require-rubrics or --fail-on-unread forbids",
    },
    clashes="""
        --unsafe-fixes needs --fix
        --choose needs --fix
        --fix excludes -; use `rubric-lint fix -`
        --watch excludes -
        --watch excludes --fix --add-ignores --write-baseline; run them separately
        --labels needs --judged; it names the judge outputs for the same answers
        --map needs --judged; it says where these judge outputs have what is read
        --judged excludes -; name the file with the rubric
        --judged excludes --add-ignores; write these comments yourself
        --diff-base excludes -; it compares files
        --no-baseline excludes --baseline --write-baseline
        --write-baseline excludes --fix --diff-base --add-ignores
        --reason needs --add-ignores
        --add-ignores excludes -; it writes files
        --add-ignores excludes --fix --baseline --diff-base; it silences every finding
        --add-ignores excludes --output --statistics; it writes comments, not a report
        --show-files excludes --show-settings -
        --show-settings excludes -
    """,
)
def check(given: Given) -> int:
    """Check LLM-judge rubrics in YAML and JSON.

    PATHS are files and folders, by default the current folder; - reads stdin.
    """
    _check_values(given)
    given.paths = given.paths or (".",)
    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr)
    checking = _Check(given, progress)
    if given.watch:
        return checking.watch()
    finder = given.finder()
    if given.show_files:
        return print_files(given.paths, finder, _make_filters(given, finder), as_json=given.form == "json")
    if given.show_settings:
        return print_settings(given.paths, finder, as_json=given.form == "json")
    if given.add_ignores:
        return _silence(given, finder, progress)
    if given.write_baseline and given.baseline is None:
        _require_baseline(given, finder)
    return checking.run(finder)


class _Check:
    """A run of `check`, once or with --watch again and again.

    `fixed` is the exit code of fixing with --fix, `without_rubrics` the number of named files without rubrics.
    """

    def __init__(self, given: Given, progress: Progress) -> None:
        self._given = given
        self._progress = progress
        self._style = make_style(given.color, quiet=given.quiet, is_file=given.output is not None)
        self._form = "statistics" if given.statistics else choose_format(given.form, given.output)
        self._make_reporter = Statistics if given.statistics else REPORTERS[self._form]
        self._judges = JudgedLint(given)
        self._fixed = Exit.CLEAN
        self._without_rubrics = 0

    def watch(self) -> Exit:
        """Report again whenever files change, until the program is interrupted."""
        report = partial(self._report, processes=1)  # while watchfiles runs a thread, forking a process is not safe
        return watch_files(self._given, report, self._progress, needs=partial(_find_results, self._given))

    def run(self, finder: "SettingsFinder") -> Exit:
        """Report once, and return the exit code."""
        given = self._given
        summary = self._report(finder)
        if given.output is not None and not given.quiet:
            click.echo(summary)
        if summary.faults:
            return Exit.FAULT
        if summary.unreadable:
            return max(Exit.USAGE, self._fixed)
        missing = list(_format_missing(summary, finder, self._without_rubrics, given))
        if missing:
            for line in missing:
                complain(line)
            return Exit.FOUND
        failing = {"error": summary.errors, "warning": summary.errors + summary.warnings, "never": 0}
        of_findings = Exit.FOUND if failing[given.fail_on] else Exit.CLEAN
        return max(of_findings, self._fixed)

    def _report(self, finder: "SettingsFinder", processes: int | None = None) -> "Summary":
        """Lint, report and return the summary."""
        from rubric_lint.lint.run.batch import lint_files
        from rubric_lint.lint.run.cache import Cache

        given = self._given
        opened = nullcontext() if given.no_cache else Cache.here()
        with opened as cache:
            lint = protect_rubrics(
                given.output,
                partial(lint_files, cache=cache, processes=processes, edits=self._form in WITH_EDITS),
            )
            has_results = bool(given.judged or finder.for_folder(Path()).judged)
            unable = _find_unable(given.select, has_results=has_results)
            return self._lint(finder, lint=self._judges.wrap(lint, finder), unable=unable)

    def _lint(self, finder: "SettingsFinder", **how: Any) -> "Summary":
        from rubric_lint.lint.run.linting import LintRun

        given, judged = self._given, self._judges
        with open_report(given.output, self._progress, self._style) as write:
            # Opened before fixing: if the report cannot be written, no file is changed.
            if given.fix:
                self._fixed = _fix(given, finder, self._progress)
            reporter = self._make_reporter(write, self._style)
            filters = _make_filters(given, finder)
            if given.output is not None:
                how["undone"] = "the report was not written"
            elif given.write_baseline:
                how["undone"] = "the baseline was not written"
            engine = LintRun(reporter, self._progress, filters, **how)
            summary = engine.lint_all(given.paths, given.stdin_filename or "<stdin>", finder)
            if judged.run:
                summary = summary._replace(review=(("judged", to_data(judged.run)),))
            reporter.end(summary)
            judged.write_reviews(self._form, write)
        judged.complain_of_records()
        self._without_rubrics = engine.explaining.bare + summary.other_kinds
        says_summary = given.output is not None or self._make_reporter in _WITH_SUMMARY
        if summary.is_empty and not says_summary and not given.quiet:
            complain(f"0 rubrics found in {counted(summary.files, 'file')}")
        for line in chain(engine.explaining.format_lines(), finder.format_idle_shapes(given.paths)):
            complain(line)
        _end_baselines(given, filters)
        return summary


def _format_missing(summary: "Summary", finder: "SettingsFinder", without_rubrics: int, given: Given) -> Iterator[str]:
    """Yield why the run fails although its findings may not: rubrics that are missing or were not read.

    Only --require-rubrics fails on named files `without_rubrics`: a hook names every file, and the settings apply there
    too.
    """
    from rubric_lint.lint.project.settings import Settings, SettingsError

    settings = Settings(Path())
    with suppress(SettingsError):  # broken settings of this folder may not apply to the files
        settings = finder.for_folder(Path())
    is_required = given.require_rubrics or settings.require_rubrics
    unread = summary.unread + summary.near_misses
    if unread and (given.fail_on_unread or settings.fail_on_unread):
        near_misses = counted(unread, "near miss", "near misses")
        yield f"{near_misses} not checked, which `fail-on-unread` forbids"
    elif summary.unread and is_required:
        yield f"{counted(summary.unread, 'rubric')} not checked, or only in part, but rubrics are required"
    # Unchanged files, which are not read, may have rubrics.
    if not (summary.rubrics or summary.unchanged_files) and is_required:
        yield "no rubrics found, but at least one is required"
    elif without_rubrics and given.require_rubrics:
        files = counted(without_rubrics, "named file")
        yield f"no rubrics found in {files}, but each is required to have one"


def _find_unable(select: frozenset[str], *, has_results: bool) -> frozenset[str]:
    """Return the rules for which a run has no data; reject a selection of which no rule would run."""
    if not select:
        return frozenset()
    from rubric_lint.rules import BY_NAME, JUDGED_RULES
    from rubric_lint.rules.rows import JUDGED

    commands = {BY_NAME[name].command for name in select}
    others = commands - {"rubric-lint"}
    if has_results:
        others.discard(JUDGED)
    if others and others == commands:
        raise click.UsageError(f"--select: {list_names(sorted(select))}: only {min(others)} finds this; run that")
    return frozenset() if has_results else JUDGED_RULES


def _fix(given: Given, finder: "SettingsFinder", progress: Progress) -> Exit:
    """Fix the files and report on stderr, because stdout is for the findings."""
    from rubric_lint.cli.fix.fix import exit_code
    from rubric_lint.lint.fix.run import FixRun
    from rubric_lint.report.fixes import format_troubles

    def report(outcome: "FixOutcome") -> None:
        progress.clear()
        for line in format_troubles(outcome):
            complain(line)

    run = FixRun(
        report,
        progress,
        unsafe=given.unsafe_fixes,
        choices=given.choices,
        refuse=lambda _: None,  # linting reports the files that cannot be read
    )
    totals = run.fix_all(given.paths, "", finder)
    if not given.quiet:
        click.echo(totals.format(is_dry=False), err=True)
    return exit_code(totals)


cli = DefaultGroup("rubric-lint", default=check, late=COMMANDS)
"""The program with all its commands."""

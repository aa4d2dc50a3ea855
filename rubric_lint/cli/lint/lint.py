"""Define `rubric-lint`: the program, and `check`, which checks rubrics and reports findings."""

# Paths are str, see lint/project/settings.py.
# ruff: noqa: PTH120

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.cli.commands import COMMANDS, DefaultGroup, Exit
from rubric_lint.cli.options import (
    TEXT_FORMATS,
    Given,
    check_names,
    check_watch,
    command,
    require_file_name,
    write_figures,
)
from rubric_lint.cli.options import watch as watch_files
from rubric_lint.cli.output import choose_format, escape_what_cannot_be_encoded, make_style, open_report, spare
from rubric_lint.lint.run.console import Progress, complain
from rubric_lint.model.finding import Severity
from rubric_lint.model.messages import UserError, list_names, to_data, visible
from rubric_lint.report import REPORTERS, WITH_EDITS, Statistics, counted

if TYPE_CHECKING:
    from rubric_lint.assess.judged.run import JudgedRun, RecordCache
    from rubric_lint.lint.fix.run import FixOutcome
    from rubric_lint.lint.fix.silence import Silenced
    from rubric_lint.lint.project.files import File, Unreadable
    from rubric_lint.lint.project.settings import SettingsFinder
    from rubric_lint.lint.run.batch import FileOutcome
    from rubric_lint.lint.run.linting import Filter, Lint
    from rubric_lint.lint.run.summary import Summary


def _silence(given: Given, finder: "SettingsFinder", progress: Progress) -> Exit:
    """Write an ignore comment for every finding and return the exit code."""
    from rubric_lint.lint.fix.run import SilenceRun  # noqa: PLC0415

    def report(name: str, done: "Silenced") -> None:
        if done.is_changed and not given.quiet:
            click.echo(f"{visible(name)}: {counted(done.findings, 'finding')} silenced")
        for finding, why in done.left:
            line, column, _ = done.result.source.position(finding.span.start)
            click.echo(f"{visible(name)}:{line}:{column}: {finding.rule} not silenced: {visible(why)}")

    totals = SilenceRun(progress, (given.reason or "").strip(), report).silence_all(given.paths, finder)
    if not given.quiet:
        click.echo(totals.format())
    severe = {Severity.ERROR, Severity.WARNING}
    failing = {"error": {Severity.ERROR}, "warning": severe, "never": set[Severity]()}[given.fail_on]
    return Exit.of(crashed=totals.crashes, failed=totals.refused, found=totals.severities_left & failing)


def _find_sieves(given: Given, finder: "SettingsFinder") -> "list[Filter]":
    """Return the filters that remove known or untouched findings; raise click.UsageError if Git cannot help."""
    sieves: list[Filter] = []
    if not given.no_baseline:
        from rubric_lint.lint.run.baseline import Baselines  # noqa: PLC0415

        sieves.append(Baselines(finder, given.baseline, renews=given.write_baseline))
    if given.diff_base is not None:
        from rubric_lint.lint.run.git import ChangedLinesFilter, GitError, read_changes  # noqa: PLC0415  (few runs compare)

        try:
            sieves.append(ChangedLinesFilter(read_changes(given.diff_base)))
        except GitError as fault:
            raise click.UsageError(f"--diff-base: {fault}") from None
    return sieves


def _end_baselines(given: Given, sieves: "list[Filter]") -> None:
    """Write the baselines if asked to; otherwise report the known findings that no longer occur."""
    from rubric_lint.lint.run.baseline import Baselines  # noqa: PLC0415

    for sieve in sieves:
        if not isinstance(sieve, Baselines):
            continue
        for name, findings, new, gone in sieve.write() if given.write_baseline else ():
            if not given.quiet:
                complain(f"{name}: {counted(findings, 'known finding')} ({new} added, {gone} removed)")
        missing = [] if given.write_baseline or given.quiet else list(sieve.gone())
        for name, file, rule, count, is_file_gone in missing:
            where = f"{file}, which no longer exists" if is_file_gone else file
            complain(f"{name}: {counted(count, 'known finding')} of {rule} no longer in {where}")
        if missing:
            complain("run with --write-baseline to remove them from the baseline")


def _find_results(given: Given, name: str, finder: "SettingsFinder") -> tuple[str, ...]:
    """Return the files of records that findings in a file depend on."""
    if given.judged:
        return (*given.judged, *given.labels)
    settings = finder.for_folder(os.path.dirname(name))
    return (*settings.judged, *settings.labels)


class Judges:
    """Looks at rubrics with the results that options or settings name; `run` is the last run that had any.

    What it has read stays for the next run. Runs without results do not load the scorer.
    """

    def __init__(self, given: Given) -> None:
        self._given = given
        self._kept: RecordCache | None = None
        self.run: JudgedRun | None = None

    def open(self, finder: "SettingsFinder") -> "JudgedRun":
        """Open a run; raise UserError if a file that an option names cannot be read."""
        from rubric_lint.assess.judged.run import Basis, JudgedRun, RecordCache  # noqa: PLC0415
        from rubric_lint.cli.score.options import find_labels  # noqa: PLC0415

        self._kept = self._kept or RecordCache(Basis(mapping=self._given.mapping))
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
                    yield from run.judge_all(chain([(file, outcome)], outcomes))
                    return
                yield file, outcome

        return lint_all


def print_files(paths: Iterable[str], finder: "SettingsFinder", sieves: "Sequence[Filter]", *, as_json: bool) -> Exit:
    """Print the files that a run would read to stdout, and to stderr what is left out and why; or all as JSON."""
    from rubric_lint.lint.project.files import Skipped, Unreadable  # noqa: PLC0415
    from rubric_lint.lint.project.suites import find  # noqa: PLC0415

    reasons: dict[str, str] = {}
    files, faults = [], []
    for found in find(paths, finder, Skipped(reasons=reasons)):
        if isinstance(found, Unreadable):
            faults.append(found)
        elif all(sieve.needs_file(found.name) for sieve in sieves):
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
    from rubric_lint.lint.project.files import tidy  # noqa: PLC0415
    from rubric_lint.lint.project.settings_report import report_settings  # noqa: PLC0415

    reports = []
    code = Exit.CLEAN
    for path in map(tidy, paths):
        if os.path.lexists(path):
            reports.append(report_settings(path, finder))
        else:
            complain(f"{path}: does not exist")
            code = Exit.USAGE
    if as_json:
        click.echo(json.dumps(reports, indent=1, default=float))
    else:
        click.echo("\n\n".join("\n".join(_word_settings(report)) for report in reports))
    return code


def _word_settings(report: Mapping[str, Any]) -> Iterable[str]:
    file, rules = report["settings_file"], report["rules"]
    yield f"{visible(report['path'])}: " + (f"settings of {visible(file)}" if file else "no settings file")
    rows = []
    for name, each in report["settings"].items():
        value = "not set" if each["value"] is None else json.dumps(each["value"], ensure_ascii=False, default=float)
        rows.append((name, value, ", ".join(each["sources"])))
    names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, value, source in rows:
        yield f"  {name:<{names}}  {visible(value):<{values}}  {visible(source)}"
    count = len(rules["on"])
    off = f"; off: {', '.join(rules['off'])}" if rules["off"] else ""
    yield f"  {count} of {count + len(rules['off'])} rules run{off}"
    if report["version"]:
        yield f"  read as format version {report['version']}"


_WITH_SUMMARY = (Statistics, *(REPORTERS[name] for name in TEXT_FORMATS))
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
    from rubric_lint.lint.project.files import File, find, split_stdin  # noqa: PLC0415

    others, stdin = split_stdin(given.paths, given.stdin_filename or "<stdin>", finder)
    names = (each.name for each in chain(stdin, find(others, finder)) if isinstance(each, File))
    if not any(finder.for_folder(os.path.dirname(name)).baseline for name in names):
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
def check(given: Given) -> int:  # noqa: C901, PLR0911, PLR0915 (several options replace the run)
    """Check LLM-judge rubrics in YAML and JSON.

    PATHS are files and folders, by default the current folder; - reads stdin.
    """
    _check_values(given)
    given.paths = given.paths or (".",)

    # --help and completion do not load the engine.
    from rubric_lint.lint.project.settings import Overrides, SettingsFinder  # noqa: PLC0415
    from rubric_lint.lint.run.batch import lint_files  # noqa: PLC0415
    from rubric_lint.lint.run.linting import LintRun  # noqa: PLC0415

    escape_what_cannot_be_encoded()
    progress = Progress(sys.stderr)
    look = make_style(given.color, quiet=given.quiet, is_file=given.output is not None)
    chosen = "statistics" if given.statistics else choose_format(given.form, given.output)
    make_reporter = Statistics if given.statistics else REPORTERS[chosen]
    judges = Judges(given)

    fixed = Exit.CLEAN
    bare = 0

    def run(finder: SettingsFinder, **files: Any) -> "Summary":
        nonlocal fixed, bare
        files["unable"] = _find_unable(given.select, has_results=bool(given.judged or finder.for_folder("").judged))
        files["lint"] = judges.wrap(files["lint"], finder)
        with open_report(given.output, progress, look) as write:
            # Opened before fixing: if the report cannot be written, no file is changed.
            if given.fix:
                fixed = _fix(given, finder, progress)
            reporter = make_reporter(write, look)
            sieves = _find_sieves(given, finder)
            if given.output is not None or given.write_baseline:
                files["undone"] = f"{'the report' if given.output is not None else 'the baseline'} was not written"
            engine = LintRun(reporter, progress, sieves, **files)
            summary = engine.lint_all(given.paths, given.stdin_filename or "<stdin>", finder)
            if judges.run:
                summary = summary._replace(review=(("judged", to_data(judges.run)),))
            reporter.end(summary)
            if judges.run and not given.quiet:
                from rubric_lint.report.judged import word_reviews  # noqa: PLC0415

                write_figures(word_reviews(judges.run), chosen, write)
        if judges.run:
            from rubric_lint.report.judged import word_records  # noqa: PLC0415

            for line in word_records(judges.run):
                complain(line)
        bare = engine.explaining.bare + summary.other_kinds
        says_summary = given.output is not None or make_reporter in _WITH_SUMMARY
        if summary.is_empty and not says_summary and not given.quiet:
            complain(f"0 rubrics found in {counted(summary.files, 'file')}")
        for line in chain(engine.explaining.format_lines(), finder.format_idle_shapes(given.paths)):
            complain(line)
        _end_baselines(given, sieves)
        return summary

    def lint_and_report(finder: SettingsFinder, processes: int | None = None, **files: Any) -> "Summary":
        from rubric_lint.lint.run.cache import Cache  # noqa: PLC0415  (not needed with --no-cache)

        with nullcontext() if given.no_cache else Cache.here() as cache:
            lint = partial(lint_files, cache=cache, processes=processes, edits=chosen in WITH_EDITS)
            return run(finder, lint=spare(given.output, lint), **files)

    overrides = Overrides(given.select or None, given.ignore, given.force_exclude)
    if given.watch:
        needs = partial(_find_results, given)
        settings = {"config": given.config, "isolated": given.isolated}
        # While watchfiles runs a thread, forking a process is not safe.
        report = partial(lint_and_report, processes=1)
        return watch_files(given.paths, report, progress, overrides, needs=needs, **settings)
    finder = given.finder(overrides)
    if given.show_files:
        return print_files(given.paths, finder, _find_sieves(given, finder), as_json=given.form == "json")
    if given.show_settings:
        return print_settings(given.paths, finder, as_json=given.form == "json")
    if given.add_ignores:
        return _silence(given, finder, progress)
    if given.write_baseline and given.baseline is None:
        _require_baseline(given, finder)
    summary = lint_and_report(finder)
    if given.output is not None and not given.quiet:
        click.echo(summary)
    if summary.faults:
        return Exit.FAULT
    if summary.unreadable:
        return max(Exit.USAGE, fixed)
    if missing := list(
        _word_missing(summary, finder, bare, is_required=given.require_rubrics, is_strict=given.fail_on_unread)
    ):
        for line in missing:
            complain(line)
        return Exit.FOUND
    failing = {"error": summary.errors, "warning": summary.errors + summary.warnings, "never": 0}
    return max(Exit.FOUND if failing[given.fail_on] else Exit.CLEAN, fixed)


def _word_missing(
    summary: "Summary", finder: "SettingsFinder", bare: int, *, is_required: bool, is_strict: bool
) -> Iterator[str]:
    """Yield why the run fails although its findings may not: rubrics that are missing or were not read.

    `bare` counts the named files without rubrics. Only the option fails on them: a hook names every file, and the
    settings apply there too.
    """
    from rubric_lint.lint.project.settings import Settings, SettingsError  # noqa: PLC0415

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


def _fix(given: Given, finder: "SettingsFinder", progress: Progress) -> Exit:
    """Fix the files and report on stderr, because stdout is for the findings."""
    from rubric_lint.cli.fix.fix import exit_code  # noqa: PLC0415
    from rubric_lint.lint.fix.run import FixRun  # noqa: PLC0415
    from rubric_lint.report.fixes import word_troubles  # noqa: PLC0415

    def report(outcome: "FixOutcome") -> None:
        progress.clear()
        for line in word_troubles(outcome):
            complain(line)

    # Linting reports the files that cannot be read.
    how: dict[str, Any] = {"unsafe": given.unsafe_fixes, "choices": given.choices, "refuse": lambda _: None}
    totals = FixRun(report, progress, **how).fix_all(given.paths, "", finder)
    if not given.quiet:
        click.echo(totals.format(is_dry=False), err=True)
    return exit_code(totals)


cli = DefaultGroup("rubric-lint", default=check, late=COMMANDS)
"""The program with all its commands."""

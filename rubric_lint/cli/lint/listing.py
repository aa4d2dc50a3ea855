"""Print the files that a run would read, and the settings of paths."""

import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.messages import visible
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from rubric_lint.project.settings import SettingsFinder
    from rubric_lint.project.settings_report import SettingsReport
    from rubric_lint.run.filters import Filter


class Listing(Protocol):
    """Prints something about paths instead of linting them."""

    def __call__(
        self, paths: Iterable[str], finder: "SettingsFinder", sieves: "Sequence[Filter]", *, as_json: bool
    ) -> Exit:
        """Print it and return the exit code."""


def choose_listing(paths: Sequence[str], form: str | None, *, files: bool, settings: bool) -> Listing | None:
    """Return what --show-files or --show-settings prints; None if neither is given.

    Raises:
        click.UsageError: when both are given, stdin, or a format for findings.
    """
    if not (files or settings):
        return None
    option = "--show-files" if files else "--show-settings"
    if files and settings:
        raise click.UsageError("--show-files cannot be combined with --show-settings")
    if "-" in paths:
        raise click.UsageError(f"{option} cannot be used with stdin")
    if form not in {None, "full", "json"}:
        raise click.UsageError(f"{option} supports only --format json")
    return print_files if files else print_settings


def print_files(paths: Iterable[str], finder: "SettingsFinder", sieves: "Sequence[Filter]", *, as_json: bool) -> Exit:
    """Print the files that a run would read to stdout, and to stderr what is left out and why; or all as JSON."""
    from rubric_lint.project.files import Unreadable, find  # noqa: PLC0415
    from rubric_lint.project.skipped import Skipped  # noqa: PLC0415

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


def print_settings(
    paths: Iterable[str],
    finder: "SettingsFinder",
    sieves: "Sequence[Filter]",  # noqa: ARG001 (settings apply to unchanged files too)
    *,
    as_json: bool,
) -> Exit:
    """Print the settings in effect for each path, with where each comes from.

    Raises:
        SettingsError: when a settings file is invalid.
    """
    from rubric_lint.project.files import tidy  # noqa: PLC0415
    from rubric_lint.project.settings_report import report_settings  # noqa: PLC0415

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
    return "not set" if value is None else json.dumps(value, ensure_ascii=False, default=float)

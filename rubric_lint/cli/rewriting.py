"""Rewrite files with the settings that the options of a command select."""

from typing import TYPE_CHECKING

from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from rubric_lint.fix.run import FixRun
    from rubric_lint.fix.totals import FixTotals
    from rubric_lint.project.settings import Overrides


def rewrite_all(
    run: "FixRun",
    paths: tuple[str, ...],
    stdin_filename: str | None,
    overrides: "Overrides",
    config: str | None,
    *,
    isolated: bool,
) -> "FixTotals | None":
    """Rewrite files, by default those of the current folder, and say what is not read.

    Return None, after a message, if settings are invalid.
    """
    from rubric_lint.project.settings import SettingsFinder  # noqa: PLC0415  (--help and completion do not need it)
    from rubric_lint.project.settings_file import SettingsError  # noqa: PLC0415

    try:
        finder = SettingsFinder(overrides, file=config, isolated=isolated)
        totals = run.fix_all(paths or (".",), stdin_filename or "<stdin>", finder)
    except SettingsError as wrong:
        for line in wrong.lines:
            complain(line)
        return None
    for line in run.explaining.word():
        complain(line)
    return totals

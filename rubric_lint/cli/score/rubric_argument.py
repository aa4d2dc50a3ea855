"""Load the RUBRIC argument of `rubric-score` and its subcommands."""

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.help import Function, option
from rubric_lint.cli.options import Choice, check_settings
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from rubric_lint.project.settings import FileSettings
    from rubric_lint.scoring.grading import ScoringRubric

rubric_argument = click.argument("file", metavar="RUBRIC", type=click.Path(exists=True, dir_okay=False))
"""The RUBRIC argument of a subcommand."""


class _ExtractChoice(Choice):
    """One way to find the verdict; for a former name, says what replaces it."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the message for an unknown value."""
        former = {"strict": "whole", "standard": "last"}.get(value)
        return f"{value} is now called {former}" if former else super().get_invalid_choice_message(value, ctx)


def extract_option(default: str) -> Callable[[Function], Function]:
    """Return the option that says what of a raw text may be the verdict."""
    return option(
        "Input",
        "--extract",
        type=_ExtractChoice(("whole", "last", "only")),
        default=default,
        show_default=True,
        help="What of a raw text is the verdict: whole, all of it; last, an object at its end; only, its only object.",
    )


def require(path: str, *, config: str | None, isolated: bool) -> "dict[str, ScoringRubric]":
    """Return the rubrics of a file by name; exit with a usage error if it has none that can be used."""
    rubrics = load(path, config=config, isolated=isolated)
    if rubrics is None:
        raise click.exceptions.Exit(Exit.USAGE)
    return rubrics


def load(
    path: str,
    *,
    config: str | None,
    isolated: bool,
    pass_at: Decimal | None = None,
    borderline_at: Decimal | None = None,
) -> "dict[str, ScoringRubric] | None":
    """Return the rubrics of a file by name, or None, after printing why, if they cannot be used for scoring."""
    from rubric_lint.project.files import File, Unreadable, read  # noqa: PLC0415
    from rubric_lint.project.settings import SettingsFinder  # noqa: PLC0415
    from rubric_lint.project.settings_file import SettingsError  # noqa: PLC0415
    from rubric_lint.scoring.loading import RubricError, load_rubrics  # noqa: PLC0415

    check_settings(config, isolated=isolated)
    try:
        settings = SettingsFinder(file=config, isolated=isolated).for_file(path)
        settings = _set_thresholds(settings, pass_at, borderline_at)
        data = read(File(path, settings._replace(claimed=True)))
        if isinstance(data, Unreadable):
            complain(f"{data.path}: {data.reason}")
            return None
        return load_rubrics(path, data, settings)
    except SettingsError as wrong:
        faults = [*wrong.lines]
    except RubricError as wrong:
        faults = [*wrong.faults, f"{path} cannot be used for scoring; no output was read"]
    for fault in faults:
        complain(fault)
    return None


def _set_thresholds(settings: "FileSettings", pass_at: Decimal | None, borderline_at: Decimal | None) -> "FileSettings":
    pass_at = settings.pass_at if pass_at is None else pass_at
    borderline_at = settings.borderline_at if borderline_at is None else borderline_at
    if borderline_at > pass_at:
        raise click.UsageError(
            f"the borderline threshold {borderline_at} is above the pass threshold {pass_at}; set both"
        )
    return settings._replace(pass_at=pass_at, borderline_at=borderline_at)

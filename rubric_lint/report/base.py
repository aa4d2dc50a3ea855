"""Define the colors and widths of reports for humans."""

from collections.abc import Callable
from typing import Any, NamedTuple

import click

from rubric_lint.report.visible import wrap

Write = Callable[[str], object]
"""Writes the next piece of the output."""

_STYLES: dict[str, dict[str, Any]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "hint": {"fg": "cyan"},
    "other": {"fg": "cyan"},
    "gutter": {"fg": "blue"},
    "place": {"bold": True},
    "fix": {"fg": "green"},
}


VERDICT_ROLES = {"pass": "fix", "borderline": "warning", "fail": "error", "invalid": "error"}
"""The roles of verdicts."""


class Style(NamedTuple):
    """The appearance of a report for humans; `columns` is the width of tables and code frames in cells.

    With `wraps`, as on a terminal, prose is wrapped at words too; elsewhere a message is one line, for other programs.
    """

    color: bool = False
    quiet: bool = False
    columns: int = 120
    wraps: bool = False

    def paint(self, role: str, text: str) -> str:
        """Return the text in the color of its role, or unchanged without color."""
        if not self.color:
            return text
        return click.style(text, **_STYLES[role])

    def wrap(self, text: str, indent: str = "", *, taken: int = 0) -> list[str]:
        """Return prose as lines; `taken` cells before the first line are in use."""
        return list(wrap(text, self.columns, indent, taken=taken)) if self.wraps else [indent + text]

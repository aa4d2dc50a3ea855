"""Colours and widths of reports that people read."""

from collections.abc import Callable
from typing import Any, NamedTuple

import click

Write = Callable[[str], object]
"""Takes the next piece of the output."""

_STYLES: dict[str, dict[str, Any]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "other": {"fg": "cyan"},
    "gutter": {"fg": "blue"},
    "place": {"bold": True},
    "fix": {"fg": "green"},
}


class Look(NamedTuple):
    """How a report for people looks: coloured, without summary, and how many cells a line of code may take."""

    color: bool = False
    quiet: bool = False
    columns: int = 120

    def paint(self, role: str, text: str) -> str:
        """The text in the colour of its role, where colour is wanted."""
        if not self.color:
            return text
        return click.style(text, **_STYLES[role])

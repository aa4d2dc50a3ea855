"""What a reporter is, and how its output may look."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click

if TYPE_CHECKING:
    from rubric_lint.finding import Result
    from rubric_lint.report.summary import Summary

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


class Failure(NamedTuple):
    """A file that was not linted, and why. `is_fault`: for a fault of this tool."""

    file: str
    reason: str
    is_fault: bool = False


class Reporter(Protocol):
    """Takes results one by one and writes them in one format; it keeps no result, so memory stays small."""

    def add(self, result: "Result") -> None:
        """Take the findings of one file."""

    def fail(self, failure: Failure) -> None:
        """Take a file that was not linted; people are told on standard error, so that only some formats tell it."""

    def end(self, summary: "Summary") -> None:
        """Write what comes after the last file."""

"""What a run tells a report."""

from typing import NamedTuple, Protocol

from rubric_lint.finding import Result
from rubric_lint.summary import Summary


class Failure(NamedTuple):
    """A file that was not linted, and why. `is_fault`: for a fault of this tool."""

    file: str
    reason: str
    is_fault: bool = False


class Reporter(Protocol):
    """Takes results one by one and writes them in one format; it keeps no result, so memory stays small."""

    def add(self, result: Result) -> None:
        """Take the findings of one file."""

    def fail(self, failure: Failure) -> None:
        """Take a file that was not linted; people are told on standard error, so that only some formats tell it."""

    def end(self, summary: Summary) -> None:
        """Write what comes after the last file."""

"""Define the interface between a run and its reports."""

from typing import NamedTuple, Protocol

from rubric_lint.finding import Result
from rubric_lint.run.summary import Summary


class Failure(NamedTuple):
    """A file that was not linted, and why; `is_fault` is true for a crash."""

    file: str
    reason: str
    is_fault: bool = False


class Reporter(Protocol):
    """Write results one by one in one format; a reporter keeps no result, so memory stays small."""

    def add(self, result: Result) -> None:
        """Take the findings of one file."""

    def fail(self, failure: Failure) -> None:
        """Take a file that was not linted; stderr reports it too, so only some formats write it."""

    def end(self, summary: Summary) -> None:
        """Write what comes after the last file."""

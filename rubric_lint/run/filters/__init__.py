"""Define sieves, which leave out some of the findings before a file is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rubric_lint.finding import Result
    from rubric_lint.project.settings import FileSettings


class Filter(Protocol):
    """Leaves out findings for one reason; the run counts them.

    `counted_as` is the field of the summary for left-out findings, `skipped_as` the one for files that are not read.
    """

    counted_as: str
    skipped_as: str

    def wants(self, name: str) -> bool:
        """Return whether the file `name` must be read at all."""

    def sift(self, result: Result, settings: FileSettings) -> Result:
        """Return the result without the findings to leave out; `settings` are those of the file."""

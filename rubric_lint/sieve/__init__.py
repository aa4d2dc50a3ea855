"""Sieves: what stands between the findings of a file and the report of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rubric_lint.config import FileSettings
    from rubric_lint.finding import Result


class Sieve(Protocol):
    """Leaves findings out, for a reason of its own; the run counts how many.

    `counted_as` is the field of the summary that tells of them, `skipped_as` the one that tells of unread files.
    """

    counted_as: str
    skipped_as: str

    def wants(self, name: str) -> bool:
        """Whether the file called `name` has to be read at all."""

    def sift(self, result: Result, settings: FileSettings) -> Result:
        """The result without the findings that are left out; `settings` are those it was made with."""

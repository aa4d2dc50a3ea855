"""What can differ in meaning between two versions of a rubric."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

Value = Mapping[str, Any]
"""One side of a change, as the JSON report has it."""


class What(StrEnum):
    """The kinds of changes."""

    RUBRIC_ADDED = "rubric-added"
    RUBRIC_REMOVED = "rubric-removed"
    RUBRIC_RENAMED = "rubric-renamed"
    SHAPE = "shape"
    THRESHOLDS = "thresholds"
    ADDED = "criterion-added"
    REMOVED = "criterion-removed"
    RENAMED = "criterion-renamed"
    OUTCOME = "outcome"
    SHARE = "share"
    GATE = "gate"
    SCORES = "scores"
    LEVEL = "level"


class Change(NamedTuple):
    """One difference: in which rubric and criterion, each None where it is in none, and both sides, None for nothing.

    Names are the new ones, or the old ones of what is gone. `scores` are those that a change of bands concerns.
    """

    what: What
    rubric: str | None
    criterion: str | None
    old: Value | None
    new: Value | None
    scores: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The change as the JSON report has it."""
        told = {"what": str(self.what), "rubric": self.rubric, "criterion": self.criterion}
        scores = {"scores": list(self.scores)} if self.scores else {}
        return {**told, **scores, "old": self.old, "new": self.new}

"""What can differ in meaning between two versions of a rubric."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from rubric_lint.finding import Path

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
    MOVED = "generated-ids"
    OUTCOME = "outcome"
    SHARE = "share"
    GATE = "gate"
    SCORES = "scores"
    LEVEL = "level"


class Place(NamedTuple):
    """Where a side of a change stands: the file as it was named, line and column."""

    file: str
    line: int
    column: int


class Change(NamedTuple):
    """One difference: in which rubric and criterion, each None where it is in none, and both sides, None for nothing.

    Names are the new ones, or the old ones of what is gone. `scores` are those that a change of bands concerns. `paths`
    lead to both sides in their documents, that of the old side in the rubric `was`; `places` is where they stand.
    """

    what: What
    rubric: str | None
    criterion: str | None
    old: Value | None
    new: Value | None
    scores: tuple[int, ...] = ()
    paths: tuple[Path | None, Path | None] = (None, None)
    was: str | None = None
    places: tuple[Place | None, Place | None] = (None, None)

    def to_json(self) -> dict[str, Any]:
        """The change as the JSON report has it."""
        told = {"what": str(self.what), "rubric": self.rubric, "criterion": self.criterion}
        scores = {"scores": list(self.scores)} if self.scores else {}
        places = {f"{side}_place": place and place._asdict() for side, place in zip(_SIDES, self.places, strict=True)}
        return {**told, **scores, "old": self.old, "new": self.new, **places}


_SIDES = ("old", "new")

"""Define the differences in meaning between two versions of a rubric."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from rubric_lint.text.path import Path

Value = Mapping[str, Any]
"""One side of a change, as in the JSON report."""


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
    FIELD = "field"
    SHARE = "share"
    GATE = "gate"
    SCORES = "scores"
    LEVEL = "level"


class ChangedPlace(NamedTuple):
    """The place of one side of a change: the file as it was named, line and column."""

    file: str
    line: int
    column: int


class Change(NamedTuple):
    """One difference: its rubric and criterion (None if it concerns neither), and both sides (None if missing).

    Names are the new ones, or the old ones of removed things. `scores` lists the scores that a change of bands affects.
    `paths` are the paths of both sides in their documents (the old side is in the rubric `was`), `places` their places.
    """

    what: What
    rubric: str | None
    criterion: str | None
    old: Value | None
    new: Value | None
    scores: tuple[int, ...] = ()
    paths: tuple[Path | None, Path | None] = (None, None)
    was: str | None = None
    places: tuple[ChangedPlace | None, ChangedPlace | None] = (None, None)

    def to_json(self) -> dict[str, Any]:
        """Return the change as in the JSON report."""
        told = {"what": str(self.what), "rubric": self.rubric, "criterion": self.criterion}
        scores = {"scores": list(self.scores)} if self.scores else {}
        places = {f"{side}_place": place and place._asdict() for side, place in zip(_SIDES, self.places, strict=True)}
        return {**told, **scores, "old": self.old, "new": self.new, **places}


_SIDES = ("old", "new")

"""Compare loaded rubrics, and give each change its places in both files."""

from collections.abc import Mapping

from rubric_lint.agree.compare.change import Change, ChangedPlace
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.loading import Loaded
from rubric_lint.text.path import Path


def prepare_all(loaded: Mapping[str, Loaded]) -> dict[str, ScoringRubric]:
    """Return the rubrics of a file, prepared for scoring.

    Raises:
        RubricError: when one of them cannot be scored.
    """
    return {name: each.prepare() for name, each in loaded.items()}


def locate(change: Change, was: Mapping[str, Loaded], now: Mapping[str, Loaded]) -> Change:
    """Return the change with the places of both sides."""

    def place(loaded: Mapping[str, Loaded], name: str | None, path: Path | None) -> ChangedPlace | None:
        if path is None or name is None:
            return None
        position = loaded[name].position(path)
        return ChangedPlace(loaded[name].document.source.name, position.line, position.column)

    return change._replace(places=(place(was, change.was, change.paths[0]), place(now, change.rubric, change.paths[1])))

"""Which criteria of two versions are the same, and what differs in them."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from rubric_lint.bands import SCORES
from rubric_lint.compare.change import Change, Value, What
from rubric_lint.rubric import Criterion, Level, fold_id
from rubric_lint.scoring.grading import ScoringCriterion
from rubric_lint.scoring.meaning import read_gate, read_outcomes, says, words


class Judged(NamedTuple):
    """A criterion of one version: as it is written, and as it is scored."""

    criterion: Criterion
    scoring: ScoringCriterion

    @property
    def gate(self) -> int | None:
        """The gate, if it can be missed."""
        return read_gate(self.criterion, self.scoring)

    @property
    def summary(self) -> Value:
        """What a criterion is that only one version has."""
        return {"outcome": self.criterion.outcome, **weigh(self), "gate": self.gate}


Pair = tuple[Judged | None, Judged | None]


def pair_up(old: Sequence[Judged], new: Sequence[Judged]) -> list[Pair]:
    """The criteria of both versions, in the order of the new one, each beside what it was.

    The same are those with one id; then those that judge the same under another id; then, of those whose ids are made
    from their places, the ones at the same place.
    """
    was: dict[int, Judged] = {}
    left = list(old)
    keys: tuple[Callable[[Judged], Hashable], ...] = (_own_id, lambda each: says(*each), lambda each: each.criterion.id)
    for key in keys:
        waiting: dict[Hashable, deque[Judged]] = {}
        for judged in left:
            waiting.setdefault(key(judged), deque()).append(judged)
        waiting.pop(None, None)
        for place, judged in enumerate(new):
            if place not in was and (same := waiting.get(key(judged))):
                was[place] = same.popleft()
        taken = set(map(id, was.values()))
        left = [judged for judged in left if id(judged) not in taken]
    pairs: list[Pair] = [(was.get(place), judged) for place, judged in enumerate(new)]
    return [*pairs, *((judged, None) for judged in left)]


def compare_pair(rubric: str, old: Judged | None, new: Judged | None) -> Iterator[Change]:
    """What differs between a criterion and what it was."""
    if old is None or new is None:
        what = What.ADDED if new else What.REMOVED
        name = (new or old).criterion.id  # type: ignore[union-attr]
        yield Change(what, rubric, name, old.summary if old else None, new.summary if new else None)
        return
    name = new.criterion.id
    if old.criterion.id != name:
        yield Change(What.RENAMED, rubric, name, {"id": old.criterion.id}, {"id": name})
    if words(old.criterion.outcome) != words(new.criterion.outcome):
        sides = {"outcome": old.criterion.outcome}, {"outcome": new.criterion.outcome}
        yield Change(What.OUTCOME, rubric, name, *sides)
    if old.scoring.share != new.scoring.share:
        yield Change(What.SHARE, rubric, name, weigh(old), weigh(new))
    if old.gate != new.gate:
        yield Change(What.GATE, rubric, name, {"gate": old.gate}, {"gate": new.gate})
    if old.criterion.levels or new.criterion.levels:
        yield from _compare_levels(rubric, old, new)
    elif old.criterion.scale or new.criterion.scale:
        yield from compare_scores(rubric, name, old.scoring, new.scoring)


def compare_scores(rubric: str, name: str | None, old: ScoringCriterion, new: ScoringCriterion) -> Iterator[Change]:
    """Where the scores of 0 to 10 earn something else, neighbours that change alike in one."""
    was, now = read_outcomes(old), read_outcomes(new)

    def sides(score: int) -> tuple[str | None, str | None]:
        return was.get(score), now.get(score)

    for (before, after), run in groupby(SCORES, sides):
        if words(before) != words(after):
            yield Change(What.SCORES, rubric, name, _tell(before), _tell(after), tuple(run))


def weigh(judged: Judged) -> Value:
    """The weight as it counts."""
    return {"weight": float(judged.scoring.weight), "share": float(judged.scoring.share)}


def _own_id(judged: Judged) -> str | None:
    return fold_id(judged.criterion.id) if judged.criterion.has_own_id else None


def _tell(outcome: str | None) -> Value | None:
    return None if outcome is None else {"outcome": outcome}


def _compare_levels(rubric: str, old: Judged, new: Judged) -> Iterator[Change]:
    was, now = _levels(old), _levels(new)
    for number in sorted({*was, *now}):
        before, after = was.get(number), now.get(number)
        if _same(before) != _same(after):
            yield Change(What.LEVEL, rubric, new.criterion.id, before, after, (number,))


def _levels(judged: Judged) -> dict[int, dict[str, Any]]:
    worth = {grade.answer: grade.score for grade in judged.scoring.grades}
    levels: Sequence[Level] = judged.criterion.levels or ()
    return {
        level.number: {"name": level.name, "outcome": level.outcome, "score": float(worth[level.number])}
        for level in levels
        if level.number is not None
    }


def _same(level: Value | None) -> Hashable:
    return level and (level["name"], words(level["outcome"]), level["score"])

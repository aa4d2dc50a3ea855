"""Which criteria of two versions are the same, and what differs in them."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any, NamedTuple

from rubric_lint.bands import SCORES
from rubric_lint.compare.change import Change, Value, What
from rubric_lint.rubric import Criterion, Level, fold_id
from rubric_lint.scoring.grading import ScoringCriterion


class Judged(NamedTuple):
    """A criterion of one version: as it is written, as it is scored, and its share in the average."""

    criterion: Criterion
    scoring: ScoringCriterion
    share: Fraction

    @property
    def summary(self) -> Value:
        """What a criterion is that only one version has."""
        return {"outcome": self.criterion.outcome, **weigh(self), "gate": effective_gate(self)}


Pair = tuple[Judged | None, Judged | None]


def pair_up(old: Sequence[Judged], new: Sequence[Judged]) -> list[Pair]:
    """The criteria of both versions, in the order of the new one, each beside what it was.

    The same are those with one id; then those that judge the same under another id; then, of those whose ids are made
    from their places, the ones at the same place.
    """
    was: dict[int, Judged] = {}
    left = list(old)
    keys: tuple[Callable[[Judged], Hashable], ...] = (_own_id, says, lambda each: each.criterion.id)
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
    if text(old.criterion.outcome) != text(new.criterion.outcome):
        sides = {"outcome": old.criterion.outcome}, {"outcome": new.criterion.outcome}
        yield Change(What.OUTCOME, rubric, name, *sides)
    if old.share != new.share:
        yield Change(What.SHARE, rubric, name, weigh(old), weigh(new))
    if effective_gate(old) != effective_gate(new):
        yield Change(What.GATE, rubric, name, {"gate": effective_gate(old)}, {"gate": effective_gate(new)})
    if old.criterion.levels or new.criterion.levels:
        yield from _compare_levels(rubric, old, new)
    elif old.criterion.scale or new.criterion.scale:
        yield from compare_scores(rubric, name, old.scoring, new.scoring)


def compare_scores(rubric: str, name: str | None, old: ScoringCriterion, new: ScoringCriterion) -> Iterator[Change]:
    """Where the scores of 0 to 10 earn something else, neighbours that change alike in one."""
    was, now = _outcomes(old), _outcomes(new)

    def sides(score: int) -> tuple[str | None, str | None]:
        return was.get(score), now.get(score)

    for (before, after), run in groupby(SCORES, sides):
        if text(before) != text(after):
            yield Change(What.SCORES, rubric, name, _tell(before), _tell(after), tuple(run))


def effective_gate(judged: Judged) -> int | None:
    """The gate, where it can be missed; on a checklist each gate that can says the same."""
    if all(grade.gate_met for grade in judged.scoring.grades):
        return None
    criterion = judged.criterion
    return criterion.gate if criterion.scale or criterion.levels else 10


def weigh(judged: Judged) -> Value:
    """The weight as it counts."""
    return {"weight": float(judged.scoring.weight), "share": float(judged.share)}


def text(outcome: str | None) -> tuple[str, ...] | None:
    """The words of a text: where its lines break changes nothing that it says."""
    return None if outcome is None else tuple(outcome.split())


def says(judged: Judged) -> Hashable:
    """All that a judge is told of a criterion but its id."""
    levels = judged.criterion.levels or ()
    return (
        text(judged.criterion.outcome),
        tell_scores(judged.scoring),
        frozenset((level.number, level.name, text(level.outcome)) for level in levels),
    )


def tell_scores(criterion: ScoringCriterion) -> Hashable:
    """What each score earns, in words."""
    return frozenset((score, text(outcome)) for score, outcome in _outcomes(criterion).items())


def _own_id(judged: Judged) -> str | None:
    return fold_id(judged.criterion.id) if judged.criterion.has_own_id else None


def _outcomes(criterion: ScoringCriterion) -> dict[int, str | None]:
    return {grade.answer: grade.outcome for grade in criterion.grades if not isinstance(grade.answer, bool)}


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
    return level and (level["name"], text(level["outcome"]), level["score"])

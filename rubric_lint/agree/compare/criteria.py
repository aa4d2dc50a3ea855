"""Match the criteria of two versions and find what differs in them."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from rubric_lint.agree.compare.change import Change, Value, What
from rubric_lint.format.bands import SCORES, Scale
from rubric_lint.format.criterion import Criterion, Level
from rubric_lint.format.rubric import fold_id
from rubric_lint.scoring.grading import ScoringCriterion
from rubric_lint.scoring.meaning import Told, read_gate, read_outcomes, read_told, says, words
from rubric_lint.text.path import Path


class Judged(NamedTuple):
    """A criterion of one version, as written and as scored."""

    criterion: Criterion
    scoring: ScoringCriterion

    @property
    def gate(self) -> int | None:
        """The gate, if it can be missed."""
        return read_gate(self.criterion, self.scoring)

    @property
    def summary(self) -> Value:
        """The value of a criterion that only one version has."""
        return {"outcome": self.criterion.outcome, **weigh(self), "gate": self.gate}


Pair = tuple[Judged | None, Judged | None]


def pair_up(old: Sequence[Judged], new: Sequence[Judged]) -> list[Pair]:
    """Match the criteria of both versions, in the order of the new one, followed by the removed ones.

    Criteria match by written id, then by equal meaning under another id, then, for ids that are generated from places,
    by place.
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
    """Yield the differences between two criteria, except in shares and generated ids."""
    if old is None or new is None:
        what = What.ADDED if new else What.REMOVED
        name = (new or old).criterion.id  # type: ignore[union-attr]
        paths = (old.criterion.path if old else None, new.criterion.path if new else None)
        yield Change(what, rubric, name, old.summary if old else None, new.summary if new else None, paths=paths)
        return
    name = new.criterion.id
    if old.criterion.id != name and not is_moved(old, new):
        sides = {"id": old.criterion.id}, {"id": name}
        yield Change(What.RENAMED, rubric, name, *sides, paths=_paths(old, new, "id"))
    if words(old.criterion.outcome) != words(new.criterion.outcome):
        told = {"outcome": old.criterion.outcome}, {"outcome": new.criterion.outcome}
        yield Change(What.OUTCOME, rubric, name, *told, paths=_paths(old, new, "expected_outcome", "description"))
    yield from compare_told(rubric, name, read_told(old.criterion), read_told(new.criterion))
    if old.gate != new.gate:
        gates = {"gate": old.gate}, {"gate": new.gate}
        yield Change(What.GATE, rubric, name, *gates, paths=(old.criterion.gate_path, new.criterion.gate_path))
    if old.criterion.levels or new.criterion.levels:
        yield from _compare_levels(rubric, old, new)
    elif old.criterion.scale or new.criterion.scale:
        scales = [old.criterion.scale], [new.criterion.scale]
        yield from compare_scores(rubric, name, (old.scoring, scales[0]), (new.scoring, scales[1]))


def compare_told(rubric: str, name: str | None, old: Sequence[Told], new: Sequence[Told]) -> Iterator[Change]:
    """Yield the differences in what fields without a form of their own tell a judge."""
    was, now = ({(each.where, each.name): each for each in side} for side in (old, new))
    for key in dict.fromkeys([*now, *was]):
        before, after = was.get(key), now.get(key)
        if (before and words(before.text)) != (after and words(after.text)):
            paths = before and (*before.path, before.name), after and (*after.path, after.name)
            yield Change(What.FIELD, rubric, name, _field_value(before), _field_value(after), paths=paths)


def _field_value(told: Told | None) -> Value | None:
    return told and {"field": f"{told.name} of {told.where}" if told.where else told.name, "text": told.text}


def is_moved(old: Judged, new: Judged) -> bool:
    """Return whether both ids are generated from places and differ, as after an insertion above."""
    return not (old.criterion.has_own_id or new.criterion.has_own_id) and old.criterion.id != new.criterion.id


def compare_places(rubric: str, pairs: Sequence[Pair], paths: tuple[Path, Path]) -> Iterator[Change]:
    """Yield one change for all generated ids that differ, and one for all shares that differ."""
    both = [(old, new) for old, new in pairs if old and new]
    if moved := [(old, new) for old, new in both if is_moved(old, new)]:
        old_ids, new_ids = ([each.criterion.id for each in side] for side in zip(*moved, strict=True))
        yield Change(What.MOVED, rubric, None, {"ids": old_ids}, {"ids": new_ids}, paths=paths)
    if shifted := [(old, new) for old, new in both if old.scoring.share != new.scoring.share]:
        was, now = (
            {"shares": [{"id": pair[1].criterion.id, **weigh(pair[side])} for pair in shifted]} for side in (0, 1)
        )
        reweighed = [pair for pair in shifted if pair[0].scoring.weight != pair[1].scoring.weight]
        where = _paths(*reweighed[0], "weight") if reweighed else paths
        yield Change(What.SHARE, rubric, None, was, now, paths=where)


def _paths(old: Judged, new: Judged, *names: str) -> tuple[Path, Path]:
    """Return the paths of a criterion's field on both sides, by the first of its names that is present."""
    return _path(old.criterion, names), _path(new.criterion, names)


def _path(criterion: Criterion, names: tuple[str, ...]) -> Path:
    name = next((name for name in names if name in (criterion.fields or {})), "")
    return (*criterion.path, name) if name else criterion.path


Scored = tuple[ScoringCriterion, Sequence[Scale | None]]


def compare_scores(rubric: str, name: str | None, old: Scored, new: Scored) -> Iterator[Change]:
    """Yield the changes of outcome for the scores 0 to 10, one per run of scores that change alike."""
    was, now = read_outcomes(old[0]), read_outcomes(new[0])

    def sides(score: int) -> tuple[str | None, str | None]:
        return was.get(score), now.get(score)

    for (before, after), run in groupby(SCORES, sides):
        if words(before) != words(after):
            scores = tuple(run)
            paths = _band_path(old[1], scores[0]), _band_path(new[1], scores[0])
            yield Change(What.SCORES, rubric, name, _outcome_value(before), _outcome_value(after), scores, paths)


def _band_path(scales: Sequence[Scale | None], score: int) -> Path | None:
    """Return the path of the band of a score, or of the scale that lacks one."""
    known = [scale for scale in scales if scale]
    bands = (band.path for scale in known for band in scale.bands if score in band.scores)
    return next(bands, known[0].path if known else None)


def weigh(judged: Judged) -> Value:
    """Return the weight and the share of a criterion."""
    return {"weight": float(judged.scoring.weight), "share": float(judged.scoring.share)}


def _own_id(judged: Judged) -> str | None:
    return fold_id(judged.criterion.id) if judged.criterion.has_own_id else None


def _outcome_value(outcome: str | None) -> Value | None:
    return None if outcome is None else {"outcome": outcome}


def _compare_levels(rubric: str, old: Judged, new: Judged) -> Iterator[Change]:
    was, now = _levels(old), _levels(new)
    for number in sorted({*was, *now}):
        before, after = was.get(number), now.get(number)
        if _same(before) != _same(after):
            paths = _level_path(old.criterion, number), _level_path(new.criterion, number)
            yield Change(What.LEVEL, rubric, new.criterion.id, before, after, (number,), paths)


def _level_path(criterion: Criterion, number: int) -> Path:
    return next((level.path for level in criterion.levels or () if level.number == number), criterion.path)


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

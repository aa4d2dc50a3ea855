"""Find the differences in meaning between the rubrics of two files."""

from collections.abc import Hashable, Iterator, Mapping
from typing import NamedTuple

from rubric_lint.agree.compare.change import Change, Value, What
from rubric_lint.agree.compare.criteria import (
    Judged,
    compare_pair,
    compare_places,
    compare_scores,
    compare_told,
    pair_up,
)
from rubric_lint.format.criterion import Shape
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.meaning import read_scores, read_task, read_told, words
from rubric_lint.text.path import Path

Rubrics = Mapping[str, ScoringRubric]


class RubricPair(NamedTuple):
    """A rubric in both versions; None if a version lacks it."""

    old: ScoringRubric | None
    new: ScoringRubric | None


def pair_rubrics(old: Rubrics, new: Rubrics) -> list[RubricPair]:
    """Match the rubrics of both files, in the order of the new one, followed by the removed ones.

    Rubrics match by name or by equal meaning. If each file has one rubric, they match: it may be named after the
    file.
    """
    if len(old) == len(new) == 1:
        return [RubricPair(*old.values(), *new.values())]
    was = {name: old[name] for name in new if name in old}
    left = {name: rubric for name, rubric in old.items() if name not in was}
    alike: dict[Hashable, list[str]] = {}
    for name, rubric in left.items():
        alike.setdefault(_gist(rubric), []).append(name)
    for name, rubric in new.items():
        if name not in was:
            names = alike.get(_gist(rubric), [])
            same = next((each for each in names if not any(_compare_contents(left[each], rubric))), None)
            if same is not None:
                names.remove(same)
                was[name] = left.pop(same)
    return [
        *(RubricPair(was.get(name), rubric) for name, rubric in new.items()),
        *(RubricPair(each, None) for each in left.values()),
    ]


def _gist(rubric: ScoringRubric) -> Hashable:
    """Return a key that is equal for rubrics with equal meaning, so that few need to be compared in full."""
    scale = read_scores(rubric.criteria[0]) if rubric.shape is Shape.HOLISTIC else None
    return scale, frozenset((criterion.id, words(criterion.outcome)) for criterion in rubric.model.criteria)


def compare(pairs: list[RubricPair]) -> Iterator[Change]:
    """Yield all changes in meaning; a changed order of rubrics, criteria, bands or levels is not one."""
    renames = len(pairs) > 1
    for old, new in pairs:
        if old is None or new is None:
            what = What.RUBRIC_ADDED if new else What.RUBRIC_REMOVED
            name = (new or old).name  # type: ignore[union-attr]
            paths = (old.model.path if old else None, new.model.path if new else None)
            yield Change(what, name, None, _rubric_value(old), _rubric_value(new), paths=paths, was=name)
            continue
        if renames and old.name != new.name:
            sides = {"name": old.name}, {"name": new.name}
            yield Change(What.RUBRIC_RENAMED, new.name, None, *sides, paths=_paths(old, new), was=old.name)
        for change in _compare_contents(old, new):
            yield change._replace(was=old.name)


def _compare_contents(old: ScoringRubric, new: ScoringRubric) -> Iterator[Change]:
    name, paths = new.name, _paths(old, new)
    if old.model.thresholds != new.model.thresholds:
        yield Change(What.THRESHOLDS, name, None, _thresholds(old), _thresholds(new), paths=paths)
    if old.shape is not new.shape:
        yield Change(What.SHAPE, name, None, {"shape": str(old.shape)}, {"shape": str(new.shape)}, paths=paths)
        return
    was, now = read_task(old.model), read_task(new.model)
    if words(was) != words(now):
        yield Change(What.OUTCOME, name, None, {"outcome": was}, {"outcome": now}, paths=paths)
    if new.shape is Shape.HOLISTIC:
        sides = (old.criteria[0], old.model.scales), (new.criteria[0], new.model.scales)
        yield from compare_scores(name, None, *sides)
        told = ([each for entry in side.model.entries for each in read_told(entry)] for side in (old, new))
        yield from compare_told(name, None, *told)
        return
    pairs = pair_up(_judged(old), _judged(new))
    for before, after in pairs:
        yield from compare_pair(name, before, after)
    yield from compare_places(name, pairs, paths)


def _paths(old: ScoringRubric, new: ScoringRubric) -> tuple[Path, Path]:
    return old.model.path, new.model.path


def _judged(rubric: ScoringRubric) -> list[Judged]:
    return [Judged(*each) for each in zip(rubric.model.criteria, rubric.criteria, strict=True)]


def _thresholds(rubric: ScoringRubric) -> Value:
    pass_at, borderline_at = rubric.model.thresholds
    return {"pass": float(pass_at), "borderline": float(borderline_at)}


def _rubric_value(rubric: ScoringRubric | None) -> Value | None:
    if rubric is None:
        return None
    return {"shape": str(rubric.shape), "criteria": len(rubric.model.criteria)}

"""Define the differences in meaning between two versions of a rubric."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import groupby
from typing import Any, NamedTuple

from rubric_lint.assess.diff.compare_runs import RunComparison, read_side
from rubric_lint.model.criterion import SCORES, Criterion, Scale, Shape
from rubric_lint.model.groups import Group
from rubric_lint.model.rubric import fold_id
from rubric_lint.scoring.grading import ScoringCriterion, ScoringRubric
from rubric_lint.scoring.loading import LoadedRubric
from rubric_lint.scoring.meaning import (
    JudgeField,
    format_ends,
    format_scale,
    list_group_fields,
    list_judge_fields,
    list_visible,
    list_written_fields,
    read_gate,
    read_outcomes,
    read_scores,
    read_task,
    words,
)
from rubric_lint.scoring.output import RecordResult
from rubric_lint.scoring.records.entries import RawRecord
from rubric_lint.scoring.scorer import Scorer
from rubric_lint.source.path import Path

ChangedValue = Mapping[str, Any]
"""One side of a change, as in the JSON report."""


class ChangeKind(StrEnum):
    """The kinds of changes."""

    RUBRIC_ADDED = "rubric-added"
    RUBRIC_REMOVED = "rubric-removed"
    RUBRIC_RENAMED = "rubric-renamed"
    SHAPE = "shape"
    THRESHOLDS = "thresholds"
    SCALE = "scale"
    GRADES = "grades"
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

    what: ChangeKind
    rubric: str | None
    criterion: str | None
    old: ChangedValue | None
    new: ChangedValue | None
    scores: tuple[int, ...] = ()
    paths: tuple[Path | None, Path | None] = (None, None)
    was: str | None = None
    places: tuple[ChangedPlace | None, ChangedPlace | None] = (None, None)

    def to_json(self) -> dict[str, Any]:
        """Return the change as in the JSON report."""
        about = {"what": self.what, "rubric": self.rubric, "criterion": self.criterion}
        scores = {"scores": self.scores} if self.scores else {}
        was, now = self.places
        return {**about, **scores, "old": self.old, "new": self.new, "old_place": was, "new_place": now}


class JudgedCriterion(NamedTuple):
    """A criterion of one version, as written and as scored, and the fields from which a judge learns of it."""

    criterion: Criterion
    scoring: ScoringCriterion
    judge_fields: tuple[JudgeField, ...]

    @property
    def gate(self) -> int | None:
        """The gate, if it can be missed."""
        return read_gate(self.criterion, self.scoring)

    @property
    def summary(self) -> ChangedValue:
        """The value of a criterion that only one version has."""
        failure = {"critical_failure": True} if self.criterion.is_failure else {}
        return {"outcome": self.criterion.outcome, **weigh(self), "gate": self.gate, **failure}


JudgedPair = tuple[JudgedCriterion | None, JudgedCriterion | None]


def pair_up(old: Sequence[JudgedCriterion], new: Sequence[JudgedCriterion]) -> list[JudgedPair]:
    """Match the criteria of both versions, in the order of the new one, followed by the removed ones.

    Criteria match by written id, then by equal meaning under another id, then, for ids that are generated from places,
    by place.
    """
    was: dict[int, JudgedCriterion] = {}
    unmatched = list(old)

    def read_own_id(judged: JudgedCriterion) -> str | None:
        return fold_id(judged.criterion.id) if judged.criterion.has_own_id else None

    keys: tuple[Callable[[JudgedCriterion], Hashable], ...] = (
        read_own_id,
        lambda judged: list_visible(*judged),
        lambda judged: judged.criterion.id,
    )
    for key in keys:
        waiting: dict[Hashable, deque[JudgedCriterion]] = {}
        for judged in unmatched:
            waiting.setdefault(key(judged), deque()).append(judged)
        # Criteria without an id of their own are not alike by that.
        waiting.pop(None, None)
        for place, judged in enumerate(new):
            same = waiting.get(key(judged))
            if same and place not in was:
                was[place] = same.popleft()
        matched = set(map(id, was.values()))
        unmatched = [judged for judged in unmatched if id(judged) not in matched]
    pairs: list[JudgedPair] = [(was.get(place), judged) for place, judged in enumerate(new)]
    pairs += [(judged, None) for judged in unmatched]
    return pairs


def compare_pair(rubric: str, old: JudgedCriterion | None, new: JudgedCriterion | None) -> Iterator[Change]:
    """Yield the differences between two criteria, except in shares and generated ids."""
    if old is None:
        if new is not None:
            path = new.criterion.path
            yield Change(ChangeKind.ADDED, rubric, new.criterion.id, None, new.summary, paths=(None, path))
        return
    if new is None:
        path = old.criterion.path
        yield Change(ChangeKind.REMOVED, rubric, old.criterion.id, old.summary, None, paths=(path, None))
        return
    name = new.criterion.id
    if old.criterion.id != name and not is_moved(old, new):
        sides = {"id": old.criterion.id}, {"id": name}
        yield Change(ChangeKind.RENAMED, rubric, name, *sides, paths=_paths(old, new, "id"))
    if words(old.criterion.outcome) != words(new.criterion.outcome):
        outcomes = {"outcome": old.criterion.outcome}, {"outcome": new.criterion.outcome}
        yield Change(
            ChangeKind.OUTCOME, rubric, name, *outcomes, paths=_paths(old, new, "expected_outcome", "description")
        )
    yield from compare_judge_fields(rubric, name, old.judge_fields, new.judge_fields)
    if old.gate != new.gate:
        gates = {"gate": old.gate}, {"gate": new.gate}
        yield Change(ChangeKind.GATE, rubric, name, *gates, paths=(old.criterion.gate_path, new.criterion.gate_path))
    if old.criterion.levels or new.criterion.levels:
        yield from _compare_levels(rubric, old, new)
    elif old.criterion.scale or new.criterion.scale:
        old_scale, new_scale = (old.scoring, [old.criterion.scale]), (new.scoring, [new.criterion.scale])
        yield from compare_scores(rubric, name, old_scale, new_scale)


def _compare_levels(rubric: str, old: JudgedCriterion, new: JudgedCriterion) -> Iterator[Change]:
    is_rescaled = format_scale(old.criterion) != format_scale(new.criterion)
    was, now = _levels(old), _levels(new)
    for number in sorted({*was, *now}):
        before, before_path = was.get(number, (None, old.criterion.path))
        after, after_path = now.get(number, (None, new.criterion.path))
        if _key_level(before, is_rescaled=is_rescaled) != _key_level(after, is_rescaled=is_rescaled):
            name, paths = new.criterion.id, (before_path, after_path)
            yield Change(ChangeKind.LEVEL, rubric, name, before, after, (number,), paths)


def _key_level(level: ChangedValue | None, *, is_rescaled: bool) -> tuple[object, ...]:
    """Return a key that is equal for levels with one meaning.

    With another scale, its numbers have another worth; what is not described is then no other change.
    """
    if level is None:
        return None, None, is_rescaled or None
    return level["name"], words(level["outcome"]), is_rescaled or level["score"]


def compare_judge_fields(
    rubric: str, name: str | None, old: Sequence[JudgeField], new: Sequence[JudgeField]
) -> Iterator[Change]:
    """Yield the differences in the texts of fields that have no kind of change of their own."""
    was = {(field.where, field.name): field for field in old}
    now = {(field.where, field.name): field for field in new}
    for key in dict.fromkeys([*now, *was]):
        before, after = was.get(key), now.get(key)
        if (before and words(before.text)) != (after and words(after.text)):
            old_side, old_path = _show_field(before)
            new_side, new_path = _show_field(after)
            yield Change(ChangeKind.FIELD, rubric, name, old_side, new_side, paths=(old_path, new_path))


def _show_field(field: JudgeField | None) -> tuple[ChangedValue | None, Path | None]:
    """Return a field as one side of a change, and its path."""
    if field is None:
        return None, None
    name = f"{field.name} of {field.where}" if field.where else field.name
    return {"field": name, "text": field.text}, (*field.path, field.name)


def is_moved(old: JudgedCriterion, new: JudgedCriterion) -> bool:
    """Return whether both ids are generated from places and differ, as after an insertion above."""
    return not (old.criterion.has_own_id or new.criterion.has_own_id) and old.criterion.id != new.criterion.id


_Groups = Mapping[str, tuple[Group, Fraction]]


def compare_places(
    rubric: str, pairs: Sequence[JudgedPair], groups: tuple[_Groups, _Groups], paths: tuple[Path, Path]
) -> Iterator[Change]:
    """Yield one change for all generated ids that differ, and one for all shares that differ.

    `groups` are those of both sides by their ids, each with its share.
    """
    both = [(old, new) for old, new in pairs if old and new]
    moved = [(old, new) for old, new in both if is_moved(old, new)]
    if moved:
        old_ids, new_ids = [old.criterion.id for old, _ in moved], [new.criterion.id for _, new in moved]
        yield Change(ChangeKind.MOVED, rubric, None, {"ids": old_ids}, {"ids": new_ids}, paths=paths)
    shifted = [(old, new) for old, new in both if old.scoring.share != new.scoring.share]
    if not shifted:
        return
    old_groups, new_groups = groups
    shared = [name for name in new_groups if name in old_groups and old_groups[name][1] != new_groups[name][1]]
    was = [_weigh_group(*old_groups[name]) for name in shared]
    was += [{"id": new.criterion.id, **weigh(old)} for old, new in shifted]
    now = [_weigh_group(*new_groups[name]) for name in shared]
    now += [{"id": new.criterion.id, **weigh(new)} for _, new in shifted]
    where = paths
    reweighed = [(old, new) for old, new in shifted if old.scoring.weight != new.scoring.weight]
    if reweighed:
        where = _paths(*reweighed[0], "weight")
    group_pairs = [(old_groups[name][0], new_groups[name][0]) for name in shared]
    group = next(((old, new) for old, new in group_pairs if old.weight != new.weight), None)
    if group:
        where = (*group[0].path, "weight"), (*group[1].path, "weight")
    yield Change(ChangeKind.SHARE, rubric, None, {"shares": was}, {"shares": now}, paths=where)


def _paths(old: JudgedCriterion, new: JudgedCriterion, *names: str) -> tuple[Path, Path]:
    """Return the paths of a criterion's field on both sides, by the first of its names that is present."""
    return _path_of(old.criterion, names), _path_of(new.criterion, names)


def _path_of(criterion: Criterion, names: Sequence[str]) -> Path:
    name = next((name for name in names if name in (criterion.fields or {})), None)
    return criterion.path if name is None else (*criterion.path, name)


_Scales = tuple[ScoringCriterion, Sequence[Scale | None]]


def compare_scores(rubric: str, name: str | None, old: _Scales, new: _Scales) -> Iterator[Change]:
    """Yield the changes of outcome for the scores of both scales, one per run of scores that change alike."""
    was, now = read_outcomes(old[0]), read_outcomes(new[0])
    ends = {*was, *now, *SCORES}
    scale = range(min(ends), max(ends) + 1)
    for (before, after), run in groupby(scale, lambda score: (was.get(score), now.get(score))):
        if words(before) != words(after):
            scores = tuple(run)
            old_outcome = None if before is None else {"outcome": before}
            new_outcome = None if after is None else {"outcome": after}
            paths = _band_path(old[1], scores[0]), _band_path(new[1], scores[0])
            yield Change(ChangeKind.SCORES, rubric, name, old_outcome, new_outcome, scores, paths)


def _band_path(scales: Sequence[Scale | None], score: int) -> Path | None:
    """Return the path of the band of a score, or of the scale that lacks one."""
    written = [scale for scale in scales if scale]
    bands = (band.path for scale in written for band in scale.bands if score in band.scores)
    whole = written[0].path if written else None
    return next(bands, whole)


def weigh(judged: JudgedCriterion) -> ChangedValue:
    """Return the weight and the share of a criterion."""
    return {"weight": float(judged.scoring.weight), "share": float(judged.scoring.share)}


def _share_groups(rubric: ScoringRubric) -> _Groups:
    """Return the groups of a rubric by their ids, each with its share."""
    view = rubric.model.view
    members = view.outline.share_all(view.weights) if view and view.outline else ()
    return {member.id: (member, share) for member, share in members if isinstance(member, Group)}


def _weigh_group(group: Group, share: Fraction) -> ChangedValue:
    return {"id": group.id, "weight": float(group.weight), "share": float(share), "group": True}


def _levels(judged: JudgedCriterion) -> dict[int, tuple[ChangedValue, Path]]:
    worth = {grade.answer: grade.score for grade in judged.scoring.grades}
    return {
        level.number: ({"name": level.name, "outcome": level.outcome, "score": float(worth[level.number])}, level.path)
        for level in judged.criterion.levels or ()
        if level.number is not None
    }


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
    unmatched = {name: rubric for name, rubric in old.items() if name not in was}
    alike: dict[Hashable, list[str]] = {}
    for name, rubric in unmatched.items():
        alike.setdefault(_key_meaning(rubric), []).append(name)
    for name, rubric in new.items():
        if name not in was:
            names = alike.get(_key_meaning(rubric), [])
            same = next((other for other in names if not any(_compare_contents(unmatched[other], rubric))), None)
            if same is not None:
                names.remove(same)
                was[name] = unmatched.pop(same)
    pairs = [RubricPair(was.get(name), rubric) for name, rubric in new.items()]
    pairs += [RubricPair(rubric, None) for rubric in unmatched.values()]
    return pairs


def _key_meaning(rubric: ScoringRubric) -> Hashable:
    """Return a key that is equal for rubrics with equal meaning, so that few need to be compared in full."""
    scale = read_scores(rubric.criteria[0]) if rubric.shape is Shape.HOLISTIC else None
    return scale, frozenset((criterion.id, words(criterion.outcome)) for criterion in rubric.model.criteria)


def compare_rubrics(pairs: list[RubricPair]) -> Iterator[Change]:
    """Yield all changes in meaning; a changed order of rubrics, criteria, bands or levels is not one."""
    # The name of a lone rubric may be that of its file.
    renames = len(pairs) > 1
    for old, new in pairs:
        if old is None:
            if new is not None:
                sizes, path = _measure_size(new), new.model.path
                yield Change(ChangeKind.RUBRIC_ADDED, new.name, None, None, sizes, paths=(None, path), was=new.name)
            continue
        if new is None:
            sizes, path = _measure_size(old), old.model.path
            yield Change(ChangeKind.RUBRIC_REMOVED, old.name, None, sizes, None, paths=(path, None), was=old.name)
            continue
        if renames and old.name != new.name:
            sides, paths = ({"name": old.name}, {"name": new.name}), (old.model.path, new.model.path)
            yield Change(ChangeKind.RUBRIC_RENAMED, new.name, None, *sides, paths=paths, was=old.name)
        for change in _compare_contents(old, new):
            yield change._replace(was=old.name)


def _measure_size(rubric: ScoringRubric) -> ChangedValue:
    """Return the value of a rubric that only one version has."""
    return {"shape": str(rubric.shape), "criteria": len(rubric.model.criteria)}


def _compare_contents(old: ScoringRubric, new: ScoringRubric) -> Iterator[Change]:
    """Yield all differences between two rubrics but that of their names."""
    name, paths = new.name, (old.model.path, new.model.path)
    if old.model.thresholds != new.model.thresholds:
        yield Change(ChangeKind.THRESHOLDS, name, None, _name_limits(old), _name_limits(new), paths=paths)
    yield from _compare_wholes(old, new)
    if old.shape is not new.shape:
        yield Change(ChangeKind.SHAPE, name, None, {"shape": str(old.shape)}, {"shape": str(new.shape)}, paths=paths)
        # A mixed rubric has criteria of the other shape, which can be compared one by one.
        if Shape.MIXED not in (old.shape, new.shape) or Shape.HOLISTIC in (old.shape, new.shape):
            return
    was, now = read_task(old.model), read_task(new.model)
    if words(was) != words(now):
        yield Change(ChangeKind.OUTCOME, name, None, {"outcome": was}, {"outcome": now}, paths=paths)
    if new.shape is Shape.HOLISTIC:
        sides = (old.criteria[0], old.model.scales), (new.criteria[0], new.model.scales)
        yield from compare_scores(name, None, *sides)
        old_fields = [field for entry in old.model.entries for field in list_written_fields(entry)]
        new_fields = [field for entry in new.model.entries for field in list_written_fields(entry)]
        yield from compare_judge_fields(name, None, old_fields, new_fields)
        return
    pairs = pair_up(list_judged(old), list_judged(new))
    for before, after in pairs:
        changes = compare_pair(name, before, after)
        yield from (change for change in changes if not _follows_whole(change, old, new))
    yield from compare_places(name, pairs, (_share_groups(old), _share_groups(new)), paths)


def _compare_wholes(old: ScoringRubric, new: ScoringRubric) -> Iterator[Change]:
    """Yield the differences in what only version 3 says: the scale of the whole, its grades and its groups."""
    name, paths = new.name, (old.model.path, new.model.path)
    if _is_rescaled(old, new):
        old_ends, new_ends = _name_ends(old.units) or None, _name_ends(new.units) or None
        yield Change(ChangeKind.SCALE, name, None, old_ends, new_ends, paths=paths)
    if old.rubric_grades != new.rubric_grades:
        yield Change(ChangeKind.GRADES, name, None, _name_grades(old), _name_grades(new), paths=paths)
    was = {group.id: group for group in old.model.groups}
    now = {group.id: group for group in new.model.groups}
    old_fields = [field for group in was.values() for field in list_group_fields(group)]
    new_fields = [field for group in now.values() for field in list_group_fields(group)]
    yield from compare_judge_fields(name, None, old_fields, new_fields)
    for group in dict.fromkeys([*now, *was]):
        before, before_path = _name_gate(was.get(group))
        after, after_path = _name_gate(now.get(group))
        if before["gate"] != after["gate"]:
            yield Change(ChangeKind.GATE, name, group, before, after, paths=(before_path, after_path))


def _name_limits(rubric: ScoringRubric) -> ChangedValue:
    """Return the thresholds of a rubric, with its scale of marks."""
    passes, borderline = map(float, rubric.model.thresholds)
    return {"pass": passes, "borderline": borderline} | _name_ends(rubric.units)


def _name_grades(rubric: ScoringRubric) -> ChangedValue | None:
    """Return the lowest score of each grade, with the scale of marks; None without grades."""
    if not rubric.rubric_grades:
        return None
    return {"grades": {grade: float(least) for grade, least in rubric.rubric_grades}} | _name_ends(rubric.units)


def _name_gate(group: Group | None) -> tuple[dict[str, Any], Path | None]:
    """Return the gate of a group, None without one, with the scale of marks; and the path of the group."""
    if group is None:
        return {"gate": None}, None
    if group.gate is None:
        return {"gate": None}, group.path
    return {"gate": float(group.gate)} | _name_ends(group.units), group.path


def _name_ends(units: tuple[int, int] | None) -> dict[str, Any]:
    """Return the worst and the best score of the scale of marks, as a field; none without a scale."""
    return {"ends": list(units)} if units else {}


def _is_rescaled(old: ScoringRubric, new: ScoringRubric) -> bool:
    """Return whether the scale of the whole differs; one with a decimal point has more answers."""
    return (old.units and format_ends(old.units)) != (new.units and format_ends(new.units))


def _follows_whole(change: Change, old: ScoringRubric, new: ScoringRubric) -> bool:
    """Return whether a change of a criterion's scale only repeats that of the whole."""
    is_scale = change.what is ChangeKind.FIELD and (change.new or change.old or {})["field"] == "scale"
    if not is_scale or not _is_rescaled(old, new):
        return False
    sides = (old, change.old or _YES_OR_NO), (new, change.new or _YES_OR_NO)
    return all(rubric.units and side["text"] == format_ends(rubric.units) for rubric, side in sides)


_YES_OR_NO = {"text": format_ends((0, 1))}
"""The scale of a criterion that a judge answers by yes or no."""


def list_judged(rubric: ScoringRubric) -> list[JudgedCriterion]:
    """Return the criteria of a rubric, in order; none of a holistic one."""
    pairs = zip(rubric.model.criteria, rubric.criteria, strict=True)
    return [
        JudgedCriterion(criterion, scoring, list_judge_fields(rubric.model, criterion)) for criterion, scoring in pairs
    ]


def prepare_all(loaded: Mapping[str, LoadedRubric]) -> dict[str, ScoringRubric]:
    """Return the rubrics of a file, prepared for scoring.

    Raises:
        RubricError: when one of them cannot be scored.
    """
    return {name: rubric.prepare() for name, rubric in loaded.items()}


def add_places(change: Change, was: Mapping[str, LoadedRubric], now: Mapping[str, LoadedRubric]) -> Change:
    """Return the change with the places of both sides."""

    def place(loaded: Mapping[str, LoadedRubric], name: str | None, path: Path | None) -> ChangedPlace | None:
        if path is None or name is None:
            return None
        position = loaded[name].position(path)
        return ChangedPlace(loaded[name].document.source.name, position.line, position.column)

    old_path, new_path = change.paths
    return change._replace(places=(place(was, change.was, old_path), place(now, change.rubric, new_path)))


INVALID = "invalid"
"""Replaces the verdict of an output that has no score."""


class OutputEffect(NamedTuple):
    """The results of one judge output in both versions."""

    old: RecordResult
    new: RecordResult

    @property
    def name(self) -> str:
        """The id of the output, or its line."""
        return f"line {self.new.line}" if self.new.id is None else str(self.new.id)

    @property
    def is_changed(self) -> bool:
        """Whether the verdict or the score differs."""
        old, new = self.old.scored, self.new.scored
        if old is None or new is None:
            return old is not new
        return (old.verdict, old.score) != (new.verdict, new.score)

    def to_json(self) -> dict[str, Any]:
        """Return the effect as in the JSON report."""
        return {
            "line": self.new.line,
            "id": self.new.id,
            "old": _as_record(self.old),
            "new": _as_record(self.new),
        }


class OutputEffects(RunComparison):
    """The effects on a file of judge outputs, each of which both versions score; unchanged ones are only counted."""

    def __init__(self) -> None:
        super().__init__()
        self.outputs = 0
        self.changed: list[OutputEffect] = []

    def add(self, effect: OutputEffect) -> None:
        """Count one output."""
        self.outputs += 1
        name = effect.new.id
        missing = self.join(name, read_side(effect.old), read_side(effect.new))
        if missing:
            run, reason = missing
            self.leave_out(run, reason, name, f"line {effect.new.line:,}")
        if effect.is_changed:
            self.changed.append(effect)

    def to_json(self) -> dict[str, Any]:
        """Return the effects as in the JSON report."""
        counts = sorted((old or INVALID, new or INVALID, count) for (old, new), count in self.verdicts.items())
        verdicts = [{"old": old, "new": new, "outputs": count} for old, new, count in counts]
        return {"outputs": self.outputs, **self.count_to_json(), "verdicts": verdicts, "changed": self.changed}


def score_both(entries: Iterable[RawRecord], pairs: list[RubricPair]) -> Iterator[OutputEffect]:
    """Score each entry of a file of judge outputs with both versions.

    A file's only rubric may be named after the file, so outputs can refer to it by its old name in both versions.
    """
    only = pairs[0].old.name if len(pairs) == 1 and pairs[0].old else None
    was: Rubrics = {only or pair.old.name: pair.old for pair in pairs if pair.old}
    now: Rubrics = {only or pair.new.name: pair.new for pair in pairs if pair.new}
    old, new = Scorer(was), Scorer(now)
    for line, content in entries:
        yield OutputEffect(old.score(content, line), new.score(content, line))


def _as_record(result: RecordResult) -> dict[str, Any]:
    if result.scored:
        return {"verdict": str(result.scored.verdict), "score": float(result.scored.score)}
    fault = result.error
    return {"verdict": INVALID, "score": None, "error": fault and {"path": fault.path, "message": fault.message}}

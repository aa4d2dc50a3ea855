"""Write a rubric of the model as version 3 of our format: any rubric that is scored, in the shortest form.

The judge answers by the same ids with the same answers, and gets the same score and verdict.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from rubric_lint.convert.export.entries import Data, as_entries, as_number, sort_levels, write_ranges
from rubric_lint.convert.export.target import ExportError
from rubric_lint.model.criterion import HIGHEST, LOWEST, SPAN, Criterion, Shape
from rubric_lint.model.messages import join_words
from rubric_lint.model.rubric import Rubric
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.loading import UnscorableError, prepare
from rubric_lint.source.path import Path

Ends = tuple[int, int]
"""The worst and the best score of a scale."""

_YES_NO: Ends = (0, 1)
_BANDS: Ends = (LOWEST, HIGHEST)


def has_own_mark(rubric: Rubric) -> bool:
    """Return whether the rubric or its dialect says how a score becomes a verdict; else the settings do."""
    view = rubric.view
    if view is None:
        return False
    decides = view.threshold is not None and (not view.is_gate or view.threshold == rubric.thresholds.pass_at)
    return decides or not view.dialect.has_borderline


def needs_version_3(rubric: Rubric, *, has_mark: bool) -> bool:
    """Return whether version 2 cannot say what a rubric means; `has_mark`: its pass mark is written with it.

    What follows version 2 stays as it is, so that its file keeps the schema that its team chose.
    """
    if rubric.view is None:
        return False
    if has_mark or rubric.view.task or rubric.is_mixed or rubric.span != _BANDS:
        return True
    if any(level.outcome is None for each in rubric.criteria for level in each.levels or ()):
        return True
    leaves = map(_Leaf.read, rubric.criteria)
    return any(leaf.is_negated or leaf.weight < 0 or leaf.is_own_scale for leaf in leaves)


def is_written_in_version_3(rubric: Rubric) -> bool:
    """Return whether the document has a rubric in the words of version 3 already."""
    return rubric.view is not None and not rubric.dialect


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A criterion in the words of version 3: `data` without scale, levels and gate, which depend on those around it.

    `ends` are those of its scale, None for one that is met or not and for bands. `levels` are its described levels.
    With `is_open`, each whole number of its scale is an answer; with `is_ladder`, its levels say all of its scale.
    """

    criterion: Criterion
    data: Data
    weight: Decimal
    gate: int | None
    ends: Ends | None
    levels: tuple[tuple[int, str | None, str], ...] = ()
    is_open: bool = True
    is_ladder: bool = False

    @classmethod
    def read(cls, criterion: Criterion) -> "_Leaf":
        """Read a criterion that is scored."""
        weight = Decimal(1) if criterion.weight is None else criterion.weight
        data: Data = {"id": criterion.id}
        data |= {} if criterion.outcome is None else {"expected_outcome": criterion.outcome}
        data |= {} if weight == 1 else {"weight": as_number(weight)}
        if not criterion.levels:
            return cls(criterion, data, weight, criterion.gate, None)
        levels = [level for level in sort_levels(criterion) if level.number is not None]
        numbers = [level.number for level in levels if level.number is not None]
        lowest, highest = numbers[0], numbers[-1]
        ends: Ends = (criterion.fields or {}).get(SPAN) or (lowest, highest)
        told = tuple(
            (number, level.name if level.outcome is not None else None, level.outcome or level.name or "")
            for number, level in zip(numbers, levels, strict=True)
            if level.outcome is not None or level.name is not None
        )
        is_open = numbers == list(range(min(ends), max(ends) + 1))
        is_ladder = ends == (lowest, highest) and len(told) == len(levels)
        return cls(criterion, data, weight, criterion.gate, ends, told, is_open, is_ladder)

    @property
    def is_negated(self) -> bool:
        """Whether an answer earns it by not meeting it."""
        return self.criterion.is_negated

    @property
    def is_own_scale(self) -> bool:
        """Whether only a scale says its answers."""
        return self.ends is not None and not self.is_ladder

    @property
    def written_levels(self) -> Data:
        """The field with its described levels: a map, or a list if some have names; empty without any."""
        if self.ends is not None and not self.levels and set(self.ends) == set(_YES_NO):
            worst, best = self.ends  # without a text, this scale is a yes or no
            return {"levels": {worst: "Not met", best: "Met"}}
        if not self.levels:
            return {}
        if all(name is None for _, name, _ in self.levels):
            return {"levels": {number: text for number, _, text in self.levels}}
        return {
            "levels": [
                {"level": number, **({} if name is None else {"name": name}), "expected_outcome": text}
                for number, name, text in self.levels
            ]
        }

    def write(self, number: int, scale: Ends | None, *, has_ladder: bool) -> Data | str:
        """Return the entry with this number below a node that has a scale, or one ladder for all."""
        data = dict(self.data)
        own: Ends | None = self.ends
        if self.ends is None:
            own = _BANDS if self.criterion.scale else _YES_NO[::-1] if self.is_negated else _YES_NO
        is_stated = scale is not None or self.is_negated or self.is_own_scale
        if is_stated and own != scale and not has_ladder:
            data["scale"] = list(own or ())
        if self.criterion.scale:
            data["score_ranges"] = write_ranges(self.criterion, self.criterion.scale)
        elif not has_ladder:
            data |= self.written_levels
        if data.keys().isdisjoint({"expected_outcome", "levels", "score_ranges"}):
            data["expected_outcome"] = self.criterion.id  # which is all that a judge is told of it
        if gate := self._write_gate(has_scale=is_stated, has_levels=has_ladder or "levels" in data):
            data |= gate
        ordered = {field: data[field] for field in _ORDER if field in data}
        is_plain = ordered.keys() == {"id", "expected_outcome"} and self.criterion.id == f"rubric-{number}"
        return ordered["expected_outcome"] if is_plain else ordered

    def _write_gate(self, *, has_scale: bool, has_levels: bool) -> Data:
        """Return the field of the gate; none if nothing can miss it."""
        if self.gate is None or self.gate == (LOWEST if self.ends is None else self.ends[0]):
            return {}
        if self.ends is not None:
            return {"required_min_level" if has_levels else "required_min_score": self.gate}
        if self.criterion.scale or not has_scale:
            return {"required_min_score": self.gate}
        return {"required_min_score": 0 if self.is_negated else 1}


_ORDER = (
    *("id", "expected_outcome", "weight", "scale", "required_min_score", "required_min_level"),
    *("score_ranges", "levels"),
)


class Written(NamedTuple):
    """A rubric in version 3, and what of its meaning changes: the place in it, and what."""

    data: Data
    changed: tuple[tuple[Path, str], ...]


def write_version_3(name: str, rubric: Rubric, *, has_mark: bool) -> Written:
    """Return a rubric as a mapping of version 3; with `has_mark`, its thresholds are part of it.

    Raises:
        ExportError: if it cannot be scored.
    """
    try:
        scoring = prepare(rubric, name)
    except UnscorableError as fault:
        raise ExportError(name, rubric.path, f"the rubric {fault}") from None
    view = rubric.view
    data: Data = {"id": view.name} if view and view.name else {}
    is_repeated = view is not None and view.task in {each.outcome for each in rubric.criteria}
    data |= {"expected_outcome": view.task} if view and view.task and not is_repeated else {}
    if rubric.shape is Shape.HOLISTIC:
        data |= {"scale": [*rubric.span]} if rubric.span != _BANDS else {}
        scale = rubric.span if rubric.span != _BANDS else None
        marks = _write_marks(scoring, scale) if has_mark else {}
        return Written({**data, **marks, "criteria": as_entries(rubric)}, ())
    leaves = [_Leaf.read(each) for each in rubric.criteria]
    has_ladder = len({(leaf.ends, leaf.levels) for leaf in leaves}) == 1 < len(leaves) and bool(leaves[0].levels)
    has_ladder = has_ladder and all("expected_outcome" in leaf.data for leaf in leaves)
    scale = _find_shared(leaves, has_mark=has_mark)
    data |= {"scale": [*scale]} if scale else {}
    data |= _write_marks(scoring, scale) if has_mark else {}
    data |= leaves[0].written_levels if has_ladder else {}
    data["criteria"] = [leaf.write(at, scale, has_ladder=has_ladder) for at, leaf in enumerate(leaves, 1)]
    changed = tuple(_find_widened(leaf) for leaf in leaves if leaf.is_own_scale and not leaf.is_open)
    return Written(data, changed)


def _find_shared(leaves: Sequence[_Leaf], *, has_mark: bool) -> Ends | None:
    """Return the scale of most criteria, if it is best written once for all.

    A ladder of levels without some numbers says its answers only where no scale is around it.
    """
    if any(leaf.is_ladder and not leaf.is_open for leaf in leaves):
        return None
    for ends, count in Counter(leaf.ends for leaf in leaves if leaf.ends).most_common(1):
        needs_scale = any(leaf.is_own_scale for leaf in leaves if leaf.ends == ends)
        if count * 2 > len(leaves) and (has_mark or (needs_scale and count > 1)):
            return ends
    return None


def _find_widened(leaf: _Leaf) -> tuple[Path, str]:
    worst, best = leaf.ends or _YES_NO
    numbers = {level.number for level in leaf.criterion.levels or ()}
    new = [str(number) for number in range(min(worst, best), max(worst, best) + 1) if number not in numbers]
    message = f"that a judge may not answer {join_words(new, 'or')} for `{leaf.criterion.id}`"
    return leaf.criterion.path_of("levels"), f"{message}: each whole number of a scale is an answer"


_MOST_DIGITS = 6
_LARGEST_PART = 1000


def _write_marks(scoring: ScoringRubric, scale: Ends | None) -> Data:
    """Return the lowest scores of the verdicts, in units of a scale, or in 0..1 without one."""
    pass_at, borderline_at = [Fraction(each) for each in scoring.model.thresholds]
    marks = {"pass_threshold": write_mark(pass_at, scoring, scale)}
    if borderline_at < pass_at:
        marks["borderline_threshold"] = write_mark(borderline_at, scoring, scale)
    return marks


def write_mark(share: Fraction, scoring: ScoringRubric, scale: Ends | None) -> int | Decimal | str:
    """Return the shortest form of a mark that the same points reach: a number, or else parts of the whole."""
    worst, best = scale or _YES_NO
    near = share.limit_denominator(_LARGEST_PART)
    if math.ceil(near * scoring.full) != math.ceil(share * scoring.full):
        near = share
    mark = worst + near * (best - worst)
    shifted = mark * 10**_MOST_DIGITS
    if shifted.denominator == 1:
        number = (Decimal(shifted.numerator) / 10**_MOST_DIGITS).normalize()
        return as_number(number if number.as_tuple().exponent < 0 else Decimal(int(number)))
    return f"{near.numerator}/{near.denominator}"

"""Write a rubric of the model as version 3 of our format: any rubric that is scored, in the shortest form.

The judge answers by the same ids with the same answers, and gets the same score and verdict.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from rubric_lint.convert.export.entries import Data, as_entries, as_number, sort_levels, write_ranges
from rubric_lint.convert.export.target import ExportError
from rubric_lint.model.criterion import HIGHEST, LOWEST, ONE, SPAN, Criterion, Shape
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
    if any(level.outcome is None for criterion in rubric.criteria for level in criterion.levels or ()):
        return True
    if any(criterion.is_negated or (criterion.weight or 0) < 0 for criterion in rubric.criteria):
        return True
    return any(_CriterionWriter.read(criterion).is_own_scale for criterion in rubric.criteria)


def is_written_in_version_3(rubric: Rubric) -> bool:
    """Return whether the document has a rubric in the words of version 3 already."""
    return rubric.view is not None and not rubric.dialect


@dataclass(frozen=True, slots=True)
class _CriterionWriter:
    """A criterion that is to be written; its scale, levels and gate depend on those around it.

    `ends` are those of its scale, None for one that is met or not and for bands. `levels` are its described levels:
    number, name and text.
    With `is_open`, each whole number of its scale is an answer; with `is_ladder`, its levels say all of its scale.
    """

    criterion: Criterion
    ends: Ends | None
    levels: tuple[tuple[int, str | None, str], ...] = ()
    is_open: bool = True
    is_ladder: bool = False

    @classmethod
    def read(cls, criterion: Criterion) -> "_CriterionWriter":
        """Read a criterion that is scored."""
        if not criterion.levels:
            return cls(criterion, None)
        levels = [level for level in sort_levels(criterion) if level.number is not None]
        numbers = [level.number for level in levels if level.number is not None]
        lowest, highest = numbers[0], numbers[-1]
        ends: Ends = (criterion.fields or {}).get(SPAN) or (lowest, highest)
        described: list[tuple[int, str | None, str]] = []
        for number, level in zip(numbers, levels, strict=True):
            if level.outcome is not None:
                described.append((number, level.name, level.outcome or level.name or ""))
            elif level.name is not None:
                described.append((number, None, level.name))
        is_open = numbers == list(range(min(ends), max(ends) + 1))
        is_ladder = ends == (lowest, highest) and len(described) == len(levels)
        return cls(criterion, ends, tuple(described), is_open, is_ladder)

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
        rows = []
        for number, name, text in self.levels:
            named = {} if name is None else {"name": name}
            rows.append({"level": number, **named, "expected_outcome": text})
        return {"levels": rows}

    @property
    def _own_ends(self) -> Ends:
        """The ends of its scale, also of bands and of a yes or no."""
        if self.ends is not None:
            return self.ends
        if self.criterion.scale:
            return _BANDS
        worst, best = _YES_NO
        return (best, worst) if self.criterion.is_negated else (worst, best)

    def write(self, number: int, scale: Ends | None, *, has_ladder: bool) -> Data | str:
        """Return the entry with this number below a node that has a scale, or one ladder for all."""
        criterion = self.criterion
        answers: Data = {}
        if criterion.scale:
            answers["score_ranges"] = write_ranges(criterion, criterion.scale)
        elif not has_ladder:
            answers = self.written_levels
        data: Data = {"id": criterion.id}
        if criterion.outcome is not None:
            data["expected_outcome"] = criterion.outcome
        elif not answers:
            data["expected_outcome"] = criterion.id  # which is all that a judge reads of it
        if criterion.weight is not None and criterion.weight != ONE:
            data["weight"] = as_number(criterion.weight)
        is_stated = scale is not None or criterion.is_negated or self.is_own_scale
        own = self._own_ends
        if is_stated and own != scale and not has_ladder:
            data["scale"] = list(own)
        data |= self._write_gate(has_scale=is_stated, has_levels=has_ladder or "levels" in answers)
        data |= answers
        is_plain = data.keys() == {"id", "expected_outcome"} and criterion.id == f"rubric-{number}"
        return data["expected_outcome"] if is_plain else data

    def _write_gate(self, *, has_scale: bool, has_levels: bool) -> Data:
        """Return the field of the gate; none if nothing can miss it."""
        gate = self.criterion.gate
        worst, _ = self.ends or (LOWEST, HIGHEST)
        if gate is None or gate == worst:
            return {}
        if self.ends is not None and has_levels:
            return {"required_min_level": gate}
        if has_scale and self.ends is None and not self.criterion.scale:  # a yes or no: 1 and 0
            gate = 0 if self.criterion.is_negated else 1
        return {"required_min_score": gate}


def write_version_3(name: str, rubric: Rubric, *, has_mark: bool) -> tuple[Data, list[tuple[Path, str]]]:
    """Return a rubric as a mapping of version 3, and what of its meaning changes: the places in it, with messages.

    With `has_mark`, its thresholds are part of it.

    Raises:
        ExportError: if it cannot be scored.
    """
    try:
        scoring = prepare(rubric, name)
    except UnscorableError as fault:
        raise ExportError(name, rubric.path, f"the rubric {fault}") from None
    view = rubric.view
    data: Data = {}
    if view and view.name:
        data["id"] = view.name
    if view and view.task and view.task not in {criterion.outcome for criterion in rubric.criteria}:
        data["expected_outcome"] = view.task
    is_holistic = rubric.shape is Shape.HOLISTIC
    writers = [] if is_holistic else [_CriterionWriter.read(criterion) for criterion in rubric.criteria]
    if is_holistic:
        scale = rubric.span if rubric.span != _BANDS else None
    else:
        scale = _find_shared(writers, has_mark=has_mark)
    if scale:
        data["scale"] = list(scale)
    if has_mark:
        data |= _write_marks(scoring, scale)
    if is_holistic:
        return {**data, "criteria": as_entries(rubric)}, []
    has_ladder = _has_ladder(writers)
    if has_ladder:
        data |= writers[0].written_levels
    data["criteria"] = [writer.write(number, scale, has_ladder=has_ladder) for number, writer in enumerate(writers, 1)]
    changed = [_find_widened(writer) for writer in writers if writer.is_own_scale and not writer.is_open]
    return data, changed


def _has_ladder(writers: Sequence[_CriterionWriter]) -> bool:
    """Return whether several criteria have the same levels, so that these are written once for all."""
    ladders = {(writer.ends, writer.levels) for writer in writers}
    is_shared = len(writers) > 1 and len(ladders) == 1 and bool(writers[0].levels)
    return is_shared and all(writer.criterion.outcome is not None for writer in writers)


def _find_shared(writers: Sequence[_CriterionWriter], *, has_mark: bool) -> Ends | None:
    """Return the scale of most criteria, if it is best written once for all.

    A ladder of levels without some numbers says its answers only where no scale is around it.
    """
    if any(writer.is_ladder and not writer.is_open for writer in writers):
        return None
    for ends, count in Counter(writer.ends for writer in writers if writer.ends).most_common(1):
        needs_scale = any(writer.is_own_scale for writer in writers if writer.ends == ends)
        if count * 2 > len(writers) and (has_mark or (needs_scale and count > 1)):
            return ends
    return None


def _find_widened(writer: _CriterionWriter) -> tuple[Path, str]:
    """Return the place of the levels of a criterion, and which answers its scale adds."""
    worst, best = writer.ends or _YES_NO
    numbers = {level.number for level in writer.criterion.levels or ()}
    new = [str(number) for number in range(min(worst, best), max(worst, best) + 1) if number not in numbers]
    message = f"that a judge may not answer {join_words(new, 'or')} for `{writer.criterion.id}`"
    return writer.criterion.path_of("levels"), f"{message}: each whole number of a scale is an answer"


_MOST_DIGITS = 6
_LARGEST_PART = 1000


def _write_marks(scoring: ScoringRubric, scale: Ends | None) -> Data:
    """Return the lowest scores of the verdicts, in units of a scale, or in 0..1 without one."""
    pass_at, borderline_at = [Fraction(mark) for mark in scoring.model.thresholds]
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
        if number.as_tuple().exponent >= 0:
            number = Decimal(int(number))
        return as_number(number)
    return f"{near.numerator}/{near.denominator}"

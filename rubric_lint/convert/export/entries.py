"""Convert a rubric of the model to the data under `rubrics:` in version 2, and refuse those without one meaning."""

import math
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from rubric_lint.convert.export.target import ExportContext, ExportError, ExportTarget, Loss, Rubrics, TargetError
from rubric_lint.model.criterion import (
    HIGHEST,
    LOWEST,
    MOST_DIGITS,
    ONE,
    SCORES,
    SPAN,
    Band,
    Criterion,
    Hundredth,
    Level,
    Mark,
    Scale,
    Shape,
    Thresholds,
)
from rubric_lint.model.groups import Group
from rubric_lint.model.messages import describe, name_scores
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema import schema_for
from rubric_lint.scoring.loading import prepare
from rubric_lint.source.path import Path
from rubric_lint.source.values import as_mapping

Data = dict[str, Any]


def as_entries(rubric: Rubric, target: str = "rubric") -> list[Data | str]:
    """Return a valid rubric as version 2 writes it, with the fields that a target carries; weights are decimals."""
    if rubric.shape is Shape.HOLISTIC:
        bands = ((band, entry) for entry in rubric.entries if entry.scale for band in entry.scale.bands)
        return [_band(band, entry.fields or {}, target) for band, entry in bands]
    return [_criterion(criterion, number, target) for number, criterion in enumerate(rubric.criteria, 1)]


def bounds(band: Band) -> tuple[int, int]:
    """Return the lowest and the highest score of a valid band."""
    return band.scores[0], band.scores[-1]


def format_band(band: Band) -> str:
    """Write the scores of a valid band so that no spreadsheet makes a date of them: `0 to 3`, `10`."""
    lower, upper = bounds(band)
    return str(lower) if lower == upper else f"{lower} to {upper}"


def report_uncovered(context: ExportContext, name: str, scale: Scale) -> None:
    """Report the scores that no band of a scale covers, if the target accepts them too."""
    uncovered = set(SCORES).difference(*(band.scores for band in scale.bands))
    if uncovered:
        message = f"{name_scores(uncovered)}, which no band covers: {context.title} accepts any score"
        context.report_loss(name, scale.path, message)


def sort_levels(criterion: Criterion) -> list[Level]:
    """Return the levels of a criterion in ascending order."""
    return sorted(criterion.levels or (), key=lambda level: level.number or 0)


def as_number(value: Mark) -> int | Decimal:
    """Return a decimal that is written as an integer as an int, and a fraction as the nearest decimal."""
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / value.denominator
    return int(value) if value.as_tuple().exponent == 0 else value


def has_weight(criterion: Criterion) -> bool:
    """Return whether the weight of a criterion is written, or is another one because of the groups around it."""
    return "weight" in (criterion.fields or {}) or criterion.weight not in {ONE, None}


def _criterion(criterion: Criterion, number: int, target: str) -> Data | str:
    fields = criterion.fields
    is_plain = fields is None and criterion.gate is None and not has_weight(criterion)
    if is_plain and criterion.id == f"rubric-{number}":
        return criterion.outcome or ""
    known: Data = dict.fromkeys(("weight", "required_min_score", "required_min_level", "score_ranges", "levels"))
    known |= {"id": criterion.id, "expected_outcome": criterion.outcome}
    if has_weight(criterion) and criterion.weight is not None:
        known["weight"] = as_number(criterion.weight)
    if criterion.levels:
        known["required_min_level"] = criterion.gate
        known["levels"] = _levels(criterion, target)
    else:
        known["required_min_score"] = criterion.gate
    if criterion.scale:
        known["score_ranges"] = write_ranges(criterion, criterion.scale, target)
    return _fill("entry", fields or {}, known, target)


def _fill(definition: str, fields: Mapping[str, Any], known: Mapping[str, Any], target: str) -> Data:
    """Return the fields of a definition in its order: those `known`, if not None, and those that the target carries."""
    format_fields = schema_for().definitions[definition]["properties"]
    found: Data = {}
    for name, schema in format_fields.items():
        if name in known:
            if known[name] is not None:
                found[name] = known[name]
        elif name in fields and "x-replaced-by" not in schema and target in {"rubric", *schema.get("x-carried-by", ())}:
            found[name] = fields[name]
    return found


def _levels(criterion: Criterion, target: str) -> dict[int | None, str | None] | list[Data]:
    levels = criterion.levels or ()
    if isinstance((criterion.fields or {}).get("levels"), dict):
        return {level.number: level.outcome for level in levels}
    rows = []
    for level in levels:
        known = {"level": level.number, "name": level.name, "expected_outcome": level.outcome}
        rows.append(_fill("level", _written(criterion, level.path), known, target))
    return rows


def write_ranges(criterion: Criterion, scale: Scale, target: str = "rubric") -> dict[int, str | None] | list[Data]:
    """Return the bands of a criterion as version 2 writes them."""
    if scale.is_map:
        return {band.scores[0]: band.outcome for band in scale.bands}
    return [_band(band, _written(criterion, band.path), target) for band in scale.bands]


def _band(band: Band, fields: Mapping[str, Any], target: str) -> Data:
    return _fill("band", fields, {"score_range": list(bounds(band)), "expected_outcome": band.outcome}, target)


def _written(criterion: Criterion, path: Path) -> Mapping[str, Any]:
    """Return the mapping at a path below a criterion, as it is written; empty if there is none."""
    value: Any = criterion.fields
    try:
        for step in path[len(criterion.path) :]:
            value = value[step]
    except (KeyError, TypeError):  # it is not written there
        return {}
    return as_mapping(value)


_SILENCED = "which a comment or a setting silences; fix that first"


def find_written(found: Rubrics, target: str, shapes: Collection[Shape]) -> Rubrics:
    """Return the rubrics that are written as such: all but texts of AgentV that stay assertions.

    AgentV itself gets a text as it is. Another target gets the rubric that it holds, but is not refused because of one
    if there are other rubrics.
    """
    views = {name: rubric.view for name, rubric in found.items()}
    texts = {name for name, view in views.items() if view and view.is_text and view.dialect.name.startswith("agentv")}
    if target not in {"agentv-4", "agentv-5"}:
        texts = {name for name in texts if len(texts) < len(found) and found[name].shape not in shapes}
    return {name: rubric for name, rubric in found.items() if name not in texts}


def _check_meaning(name: str, rubric: Rubric) -> None:
    """Check that a rubric has one meaning.

    Raises:
        ExportError: if it contradicts itself, or something that may decide its score is not read.
    """
    if rubric.refusal:
        place, reason = rubric.refusal
        is_in_document = bool(rubric.doubts or (rubric.view and rubric.view.doubts))
        raise ExportError(name, place, reason, is_in_document=is_in_document)
    if rubric.view is None and rubric.shape and any(entry.shapes != (rubric.shape,) for entry in rubric.entries):
        raise ExportError(name, rubric.path, f"the rubric mixes shapes, {_SILENCED}")
    for scale in rubric.scales:
        _check_bands(name, scale.bands)
    for criterion in rubric.criteria:
        numbers = [level.number for level in criterion.levels or ()]
        if criterion.levels is not None and (None in numbers or len(set(numbers)) < max(2, len(numbers))):
            raise ExportError(name, criterion.path, f"the levels of `{criterion.id}` are not distinct, {_SILENCED}")


def make_sound(name: str, rubric: Rubric, target: ExportTarget) -> tuple[Rubric, list[Loss]]:
    """Return a rubric as a target can have it, without the criteria that this cannot count, and these as losses.

    Raises:
        ExportError: if it contradicts itself, so that it has no single meaning, or says what the target cannot have.
    """
    _check_meaning(name, rubric)
    if target.has_version_3:
        return rubric, []
    for place, what in _find_unsayable(rubric, target):
        message = f"{what}: {target.title} has no field for it, and verdicts would change"
        raise TargetError(name, place, message, is_in_document=True)
    if rubric.span != (LOWEST, HIGHEST) and not target.keeps_all:
        lowest, highest = rubric.span
        system = rubric.view.dialect.title if rubric.view else "it"
        message = f"its bands go from {lowest} to {highest}, and {system} makes {lowest} worth 0 and {highest} worth 1"
        raise TargetError(name, rubric.path, f"{message}; elsewhere scores are divided by {HIGHEST}")
    joins = Shape.LEVELS not in target.shapes and Shape.SCORE_RANGES in target.shapes
    entries = [_describe_between(entry, joins=joins) for entry in _flatten(rubric)]
    if joins:
        entries = [_write_tenths(entry) for entry in entries]
    rubric = rubric._replace(entries=tuple(entries))
    if rubric.is_mixed and not target.mixes:
        message = f"it has criteria of several shapes, and in {target.title} a rubric has one"
        raise TargetError(name, rubric.path, message)
    for criterion in rubric.criteria:
        if criterion.levels is not None:
            _check_levels(name, criterion, target)
    rubric = _write_decimal_marks(rubric)
    lost: list[Criterion] = []
    if not target.keeps_all and rubric.shape is not Shape.HOLISTIC:  # there, an answer gains by meeting a criterion
        lost = [criterion for criterion in rubric.criteria if _is_lost(criterion, target)]
    if lost and len(lost) == len(rubric.criteria):
        raise ExportError(name, rubric.path, "no criterion has a weight of at least 0 and is not negated")
    left_out = {criterion.path for criterion in lost}
    kept = tuple(entry for entry in rubric.entries if entry.path not in left_out)
    return rubric._replace(entries=kept), [
        Loss(name, criterion.path, _format_lost_weight(criterion)) for criterion in lost
    ]


def _flatten(rubric: Rubric) -> Iterable[Criterion]:
    """Return the criteria of a rubric with the weights that they have in one list, without groups."""
    if rubric.view is None or rubric.view.outline is None:
        return rubric.entries
    weights = rubric.view.outline.flatten([entry.weight for entry in rubric.entries])
    return (entry._replace(weight=weight) for entry, weight in zip(rubric.entries, weights, strict=True))


def _is_lost(criterion: Criterion, target: ExportTarget) -> bool:
    weight = criterion.weight
    return weight is None or criterion.is_negated or (weight < 0 and not target.has_penalties)


def _find_unsayable(rubric: Rubric, target: ExportTarget) -> Iterator[tuple[Path, str]]:
    """Find what only version 3 can say and without which a verdict would change: its places in the document, and what.

    A target that keeps all has negation and other scales of bands too.
    """
    view = rubric.view
    if view is None or rubric.dialect:
        return
    if view.tree:
        yield from _find_in_groups(view.tree)
    for criterion in rubric.criteria:
        place = view.place(criterion.path)
        if criterion.applies_if:
            yield (*place, "applies_if"), f"the condition of `{criterion.id}`"
        if criterion.weight is not None and criterion.weight < 0 and (view.tree or not target.has_penalties):
            yield (*place, "weight"), f"the weight {criterion.weight} of `{criterion.id}`"
        if criterion.is_negated and not target.keeps_all:
            what = "the critical failure" if criterion.is_failure else "that a no is better in"
            yield place, f"{what} `{criterion.id}`"
        if any(isinstance(level.number, Hundredth) for level in criterion.levels or ()):
            yield place, f"the scale of `{criterion.id}`, which takes hundredths"
        worst, best = criterion.scale.ends if criterion.scale else (LOWEST, HIGHEST)
        if (worst, best) != (LOWEST, HIGHEST) and not (target.keeps_all and worst < best):
            yield place, f"the scale of `{criterion.id}`, with bands from {worst} to {best}"


def _find_in_groups(tree: Group) -> Iterator[tuple[Path, str]]:
    for group in tree.groups:
        if group.applies_if:
            yield (*group.path, "applies_if"), f"the condition of the group `{group.id}`"
        if group.gate is not None:
            yield (*group.path, "required_min_score"), f"the gate of the group `{group.id}`"
        if group.weight <= 0:
            yield (*group.path, "weight"), f"the weight {group.weight} of the group `{group.id}`"


def _write_tenths(criterion: Criterion) -> Criterion:
    """Return a criterion whose scale has the eleven answers that bands from 0 to 10 have, with such bands."""
    levels = sort_levels(criterion)
    span = (criterion.fields or {}).get(SPAN)
    numbers = [level.number or 0 for level in levels]
    if not span or len(numbers) != len(SCORES):
        return criterion
    if span != (numbers[0], numbers[-1]) or numbers[-1] != numbers[0] + HIGHEST:
        return criterion
    path = criterion.path_of("levels")
    bands: list[Band] = []
    for score, level in enumerate(levels):
        lower = score
        if bands and bands[-1].outcome == level.outcome:  # one band for levels of one text
            lower = bands.pop().scores[0]
        scores = range(lower, score + 1)
        bands.append(Band(level.path, level.part, lower, score, scores, scores, level.outcome, level.outcome_path))
    gate = None if criterion.gate is None else criterion.gate - numbers[0]
    scale = Scale(path, tuple(bands), gate, criterion.gate_path, is_map=False)
    return criterion._replace(shapes=(Shape.SCORE_RANGES,), levels=None, scale=scale, gate=gate)


def _write_decimal_marks(rubric: Rubric) -> Rubric:
    """Return a rubric whose thresholds are decimals that the same scores reach, as other systems have no fractions."""
    view = rubric.view
    if view is None or all(isinstance(mark, Decimal) for mark in rubric.thresholds):
        return rubric
    full = prepare(rubric, "").full
    marks = [mark if isinstance(mark, Decimal) else _find_decimal(mark, full) for mark in rubric.thresholds]
    view = replace(view, threshold=view.threshold and marks[0], borderline=view.borderline and marks[1])
    return rubric._replace(thresholds=Thresholds(*marks), view=view)


def _find_decimal(mark: Fraction, full: int) -> Decimal:
    """Return a decimal that the same numbers of points reach out of `full`: the mark itself, or a little less."""
    below = Fraction(math.ceil(mark * full) - 1, full)
    digits = 0
    while digits < MOST_DIGITS and (mark * 10**digits).denominator > 1:
        digits += 1
    while Fraction(math.floor(mark * 10**digits), 10**digits) <= below:
        digits += 1
    return Decimal(math.floor(mark * 10**digits)).scaleb(-digits)


_ENDS = ("The worst on this scale", "The best on this scale")


def _describe_between(criterion: Criterion, *, joins: bool) -> Criterion:
    """Return a criterion whose levels without a text say between which levels with one they are, if they are.

    Several of them say at which number each is, unless the target `joins` levels of one text to a band. A scale
    says of its ends which is the worst and which is the best.
    """
    if not criterion.levels:
        return criterion
    span = (criterion.fields or {}).get(SPAN, ())
    ends = dict(zip(span, _ENDS, strict=False))
    levels = tuple(
        level._replace(outcome=ends.get(level.number)) if level.outcome is None else level for level in criterion.levels
    )
    described = sorted(level.number for level in levels if level.outcome is not None and level.number is not None)
    if len(described) == len(levels):
        return criterion._replace(levels=levels)
    with_texts = []
    for level in levels:
        at = bisect(described, level.number or 0)
        text = level.outcome or level.name
        if level.outcome is None and 0 < at < len(described):
            low, high = described[at - 1 : at + 1]
            text = f"Between {low} and {high}"
            between = sum(low < (other.number or 0) < high for other in levels)
            if between > 1 and not joins:
                text += f", at {level.number}"
        with_texts.append(level._replace(outcome=text))
    return criterion._replace(levels=tuple(with_texts))


def _check_bands(name: str, bands: Iterable[Band]) -> None:
    """Raise ExportError if a band of the rubric `name` is unsound, or has a score of another band."""
    covered: set[int] = set()
    for band in bands:
        if not band.is_sound:
            raise ExportError(name, band.path, f"{band.written} is not a band from 0 to 10, {_SILENCED}")
        shared = covered.intersection(band.scores)
        if shared:
            raise ExportError(name, band.path, f"{name_scores(shared)} is in two bands, {_SILENCED}")
        covered.update(band.scores)


def _check_levels(name: str, criterion: Criterion, target: ExportTarget) -> None:
    """Raise ExportError if a level has no text, lower levels are better, or the lowest level is worth something."""
    if any(level.outcome is None for level in criterion.levels or ()):
        reason = f"a level of `{criterion.id}` does not say what earns it; write a text for each level"
        raise ExportError(name, criterion.path, reason)
    numbers = [level.number for level in criterion.levels or () if level.number is not None]
    worst, best = (criterion.fields or {}).get(SPAN) or (min(numbers), max(numbers))
    if worst > best:
        message = f"lower levels of `{criterion.id}` are better; elsewhere higher ones are"
        raise ExportError(name, criterion.path, message)
    if (worst, best) != (min(numbers), max(numbers)) and not target.keeps_all:
        message = f"level {min(numbers)} of `{criterion.id}` is worth {min(numbers)} of {best} points"
        raise ExportError(name, criterion.path, f"{message}; elsewhere the lowest level is worth nothing")


def _format_lost_weight(criterion: Criterion) -> str:
    if criterion.is_negated:
        return f"the criterion `{criterion.id}`: an answer earns it by not meeting it, which has no field here"
    weight = (criterion.fields or {}).get("weight")
    return f"the criterion `{criterion.id}`: its weight is {describe(weight, '')}; a weight must be at least 0"

"""Notice labels on another scale than the rubric's, and read labels from the scale that they are on."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rubric_lint.assess.agreement.coefficients import correlate
from rubric_lint.assess.agreement.ratings import Judgements
from rubric_lint.assess.agreement.scales import Measure, RatingScale, ScaleKind
from rubric_lint.assess.measure.bounds import t_quantile
from rubric_lint.model.criterion import Hundredth

_LEAST = 30
"""The fewest values of one person on one scale that can show anything."""

_LEVEL = 0.001
"""The greatest p with which labels are said to run the other way."""


class Suspicion(StrEnum):
    """What seems to be wrong with the scale of labels."""

    SHORTER = "shorter"
    REVERSED = "reversed"


LabelScales = Mapping[str, tuple[int, int]]
"""The scales that labels are on by the person, from the worst label to the best; `EVERYBODY` has that of all others."""

EVERYBODY = ""


@dataclass(frozen=True)
class DoubtedLabels:
    """Labels of a person that seem to be on another scale than the rubric's, and the greatest of them.

    Others labelled too if the person `is_one_of_several`.
    """

    person: str
    suspicion: Suspicion
    low: int
    high: int
    greatest: int
    is_one_of_several: bool = False

    @property
    def seems(self) -> str:
        """The scale that the labels seem to be on."""
        if self.suspicion is Suspicion.REVERSED:
            return f"{self.high}..{self.low}"
        # People count from 1, also where the scale of the rubric begins at 0.
        return f"{min(self.low or 1, self.greatest - 1)}..{self.greatest}"

    @property
    def proposed(self) -> str:
        """The scale that the labels seem to be on, as `--label-scale` takes it."""
        return self._of_person(self.seems)

    @property
    def own(self) -> str:
        """The scale of the rubric, as `--label-scale` takes it."""
        return self._of_person(f"{self.low}..{self.high}")

    def _of_person(self, scale: str) -> str:
        return f"{self.person}={scale}" if self.is_one_of_several else scale


def find_suspicion(labels: Sequence[int], judged: Sequence[int], scale: tuple[int, int]) -> Suspicion | None:
    """Return the suspicion that labels raise, compared with the judge's values of the same answers and criteria.

    They are on a shorter scale if none is above the middle and a quarter of the judge's values are above the greatest;
    they are reversed if they fall as the judge's rise (Pearson's r, by Student's t).
    """
    n = len(labels)
    if n < _LEAST:
        return None
    greatest = max(labels)
    if 2 * greatest <= sum(scale) and 4 * sum(value > greatest for value in judged) >= n:
        return Suspicion.SHORTER
    r = correlate(labels, judged)
    if r is None or r >= 0:
        return None
    t = math.inf if r <= -1 else -r * math.sqrt((n - 2) / (1 - r * r))
    return Suspicion.REVERSED if t >= t_quantile(_LEVEL, n - 2) else None


def find_doubted_labels(
    people: Mapping[str, Judgements],
    judges: Mapping[str, Judgements],
    measures: Sequence[Measure],
    known: Collection[str],
) -> DoubtedLabels | None:
    """Return the first person whose labels seem, by one of the judges, to be on another scale than the rubric's.

    People whose scale is `known` are passed over.
    """
    if EVERYBODY in known:
        return None
    others = {person: labels for person, labels in people.items() if person not in known}
    for judge in judges.values():
        doubted = _find_doubted(others, judge, measures)
        if doubted is not None:
            return replace(doubted, is_one_of_several=len(people) > 1)
    return None


def _find_doubted(
    people: Mapping[str, Judgements], judge: Judgements, measures: Sequence[Measure]
) -> DoubtedLabels | None:
    """Return the first person whose labels seem to be on another scale, in all criteria of one scale together."""
    scales: dict[RatingScale, list[Measure]] = {}
    for measure in measures:
        if measure.scale.kind in {ScaleKind.SCORE, ScaleKind.LEVEL}:
            scales.setdefault(measure.scale, []).append(measure)
    for person, judgements in people.items():
        for scale, criteria in scales.items():
            values, unit = scale.values, scale.unit
            labels, judged = list[int](), list[int]()
            for key in judgements.keys() & judge.keys():
                for measure in criteria:
                    label, value = measure.find(judgements[key].given), measure.find(judge[key].given)
                    if label is not None and value is not None:
                        labels.append(values[label])
                        judged.append(values[value])
            suspicion = find_suspicion(labels, judged, (values[0], values[-1]))
            if suspicion is None:
                continue
            low, high, greatest = values[0] // unit, values[-1] // unit, math.ceil(max(labels) / unit)
            if suspicion is Suspicion.REVERSED or greatest < high:  # from 0.0 to 1.0 there is no shorter scale
                return DoubtedLabels(person, suspicion, low, high, greatest)
    return None


def rescale(value: int, scale: tuple[int, int], allowed: Sequence[int]) -> int:
    """Return the allowed value that is nearest to a label on another scale, whose ends fall on the ends of this one.

    `scale` and `allowed` are from the worst to the best, so that they may fall. Of two that are equally near it is the
    lower one.

    Raises:
        ValueError: if the label is outside its scale.
    """
    low, high = scale
    if not min(scale) <= value <= max(scale):
        raise ValueError(f"the label {value} is outside the scale {low}..{high}")
    ends = Hundredth.fraction(allowed[0]), Hundredth.fraction(allowed[-1])
    exact = ends[0] + (Hundredth.fraction(value) - low) / (high - low) * (ends[1] - ends[0])
    return min(allowed, key=lambda number: (abs(Hundredth.fraction(number) - exact), number))

"""The scales on which answers are compared. Their values come from the rubric, never from the data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rubric_lint.model.criterion import Hundredth, Shape
from rubric_lint.scoring.grading import NOT_APPLICABLE, AnswerValue, ScoringRubric, Verdict, stops

VERDICTS = (Verdict.FAIL, Verdict.BORDERLINE, Verdict.PASS)
"""The verdicts in ascending order; their values are 0, 1 and 2."""

Signature = tuple[tuple[AnswerValue | None, ...], Verdict | None]
"""What a rater gave an answer: the answers to the criteria, and the verdict.

Only a person may leave some out, which are None then; the verdict of others is what their answers come to.
"""


class ScaleKind(StrEnum):
    """What a scale holds."""

    CHECK = "check"
    SCORE = "score"
    LEVEL = "level"
    BAND = "band"
    VERDICT = "verdict"


@dataclass(frozen=True, slots=True)
class RatingScale:
    """The possible values in ascending order, with a name for each.

    Distances between ratings are those of `values`, not of positions: levels 1, 2, 3 and 5 are not evenly spaced. The
    values are in parts of which one `unit` of the scale has so many: 100 on a scale of decimals.
    """

    kind: ScaleKind
    values: tuple[int, ...]
    names: tuple[str, ...]
    unit: int = 1

    def show(self, position: int) -> str:
        """Return a value as messages write it: a band of several scores as `[3, 6]`."""
        name = self.names[position]
        return f"[{name.replace('..', ', ')}]" if self.kind is ScaleKind.BAND and ".." in name else name


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that is compared: the answers to a criterion, their bands, or the verdicts (then `place` is None).

    `place` is the position of the criterion in its rubric. `positions` gives the position of each answer on the scale.
    `meets` says for each position whether it meets the gate or passes, and of a check without a gate, whether it is the
    better answer; None if nothing decides that. `steps` has the number of each position's band, if there are several.
    A rater may say that the criterion does not apply, if it `may_not_apply`.
    """

    name: str
    scale: RatingScale
    place: int | None
    positions: Mapping[AnswerValue | Verdict | None, int]
    meets: tuple[bool, ...] | None = None
    steps: tuple[int, ...] = ()
    may_not_apply: bool = False

    def step(self, position: int) -> int:
        """Return the number of the band of a value, or of its level."""
        return self.steps[position] if self.steps else position

    def find(self, signature: Signature) -> int | None:
        """Return the position of what a rater gave; None if it is left out, or the criterion does not apply."""
        answers, verdict = signature
        given = verdict if self.place is None else answers[self.place]
        return self.positions.get(given)

    def is_left_out(self, signature: Signature) -> bool:
        """Return whether a rater said that the criterion does not apply, which is a rating on no scale."""
        return self.place is not None and signature[0][self.place] == NOT_APPLICABLE


def measures_of(rubric: ScoringRubric, line: Verdict = Verdict.FAIL) -> Iterator[Measure]:
    """Yield what is compared for a rubric: each criterion, after it its bands, and the verdict at the end."""
    for place, criterion in enumerate(rubric.criteria):
        answers = [grade.answer for grade in criterion.grades]
        positions: dict[AnswerValue | Verdict | None, int] = {answer: at for at, answer in enumerate(answers)}
        if criterion.shape is Shape.CHECKLIST:
            # Not always yes: of a negated check no is the better answer.
            best = criterion.from_worst[-1]
            is_best = tuple(grade is best for grade in criterion.grades)
            scale = RatingScale(ScaleKind.CHECK, (0, 1), ("no", "yes"))
            yield Measure(criterion.id, scale, place, positions, is_best, may_not_apply=criterion.may_not_apply)
            continue
        kind = ScaleKind.LEVEL if criterion.shape is Shape.LEVELS else ScaleKind.SCORE
        unit = 100 if criterion.has_hundredths else 1
        values = tuple(int(Hundredth.fraction(answer) * unit) for answer in answers)
        scale = RatingScale(kind, values, tuple(map(str, answers)), unit)
        met = tuple(grade.gate_met for grade in criterion.grades)
        meets = None if all(met) or not any(met) else met
        bands = _list_bands(rubric, place)
        banded: dict[AnswerValue | Verdict | None, int] = {}
        if len(bands) > 1:  # all answers agree with one band
            for answer in answers:
                banded[answer] = next(at for at, band in enumerate(bands) if answer in band)
        steps = tuple(banded.values())
        yield Measure(criterion.id, scale, place, positions, meets, steps, criterion.may_not_apply)
        if banded:
            names = tuple(f"{band[0]}..{band[-1]}" if len(band) > 1 else str(band[0]) for band in bands)
            yield Measure(criterion.id, RatingScale(ScaleKind.BAND, tuple(range(len(bands))), names), place, banded)
    yield measure_verdicts("verdict", line)


def _list_bands(rubric: ScoringRubric, place: int) -> list[range]:
    """Return the scores of each band of a criterion, the lowest band first; empty if it has none."""
    scale = None
    if rubric.shape is Shape.HOLISTIC:
        scale = next(iter(rubric.model.scales), None)
    elif rubric.criteria[place].shape is Shape.SCORE_RANGES:
        scale = rubric.model.criteria[place].scale
    if scale is None:
        return []
    bands = [band.scores for band in scale.bands if band.scores]
    return sorted(bands, key=lambda scores: scores.start)


def without_bands(measures: Iterable[Measure]) -> list[Measure]:
    """Return the scales that a rater answers on, and the verdict: bands are only made of scores."""
    return [measure for measure in measures if measure.scale.kind is not ScaleKind.BAND]


def measures_of_criteria(rubric: ScoringRubric, line: Verdict = Verdict.FAIL) -> list[Measure]:
    """Return the scale of each criterion of a rubric, without bands and the verdict."""
    return [measure for measure in without_bands(measures_of(rubric, line)) if measure.place is not None]


def measure_verdicts(name: str, line: Verdict = Verdict.FAIL) -> Measure:
    """Return the scale of verdicts, on which answers that the line stops are bad."""
    values = tuple(range(len(VERDICTS)))
    scale = RatingScale(ScaleKind.VERDICT, values, tuple(map(str, VERDICTS)))
    passes = tuple(not stops(verdict, line) for verdict in VERDICTS)
    positions: dict[AnswerValue | Verdict | None, int] = {verdict: value for value, verdict in enumerate(VERDICTS)}
    return Measure(name, scale, None, positions, passes)


def find_cut(positions: Sequence[int], size: int) -> int | None:
    """Return the position at which a scale is cut so that the share from it on is nearest to a half.

    Of two such cuts the lower counts. None if all values are equal.
    """
    n = len(positions)
    counts = [positions.count(position) for position in range(size)]
    above = [(sum(counts[cut:]), cut) for cut in range(1, size)]
    cuts = [(abs(2 * count - n), cut) for count, cut in above if 0 < count < n]
    return min(cuts)[1] if cuts else None

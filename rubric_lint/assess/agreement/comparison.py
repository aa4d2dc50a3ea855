"""Compare raters: two of them, or all of one side."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

from rubric_lint.assess.agreement import coefficients
from rubric_lint.assess.agreement.coefficients import Row
from rubric_lint.assess.agreement.ratings import JoinedRatings, Judgement, Judgements, NotApplicableCounts, RatedAnswers
from rubric_lint.assess.agreement.scales import Measure, ScaleKind, without_bands
from rubric_lint.assess.measure.bounds import lower_bound, upper_bound
from rubric_lint.assess.measure.gates import GateMeasure
from rubric_lint.assess.measure.intervals import ERROR, DiscordantPairs, Share, limit_alpha, measure_mean
from rubric_lint.model.messages import counted
from rubric_lint.scoring.ids import Key

LEAST, FIRM, LEAST_OFF = 10, 60, 10
"""The fewest units for an interval, and for one that is not rough; this also needs some off the commonest value."""


Units = Mapping[Key, Hashable] | None
"""The unit of each answer, such as its question; None if no answers are related."""


class Figure(NamedTuple):
    """A value with its limits of 95%. `reason` says why one of them is None, or what the value cannot show."""

    statistic: str
    value: float | None
    low: float | None = None
    high: float | None = None
    rough: bool = False
    reason: str | None = None


def measure_figures(rated: RatedAnswers, *, is_pair: bool) -> dict[str, Figure]:
    """Return alpha and, of two raters, kappa and the bias, by name."""
    kind = rated.measure.scale.kind
    figures = [measure_alpha(rated)]
    if is_pair:
        figures.append(_measure_kappa(rated))
    if is_pair and kind not in {ScaleKind.BAND, ScaleKind.VERDICT}:
        figures.append(_measure_bias(rated))
    return {figure.statistic: figure for figure in figures}


def measure_alpha(rated: RatedAnswers) -> Figure:
    """Return Krippendorff's alpha with its interval: nominal of checks, else with squared distances of the values."""
    scale, answers = rated.measure.scale, len(rated.rows)
    name = "alpha_nominal" if scale.kind is ScaleKind.CHECK else "alpha_interval"
    times = Counter(rated.rows)
    numbers = {row: number for number, row in enumerate(times)}
    measured = coefficients.alpha(list(times), list(times.values()), scale)
    if measured.value is None:
        return Figure(name, None, reason=_explain_undefined(rated))
    value, units = float(measured.value), len(set(rated.units))
    if units < LEAST:
        return Figure(name, value, reason=_explain_few(rated))
    if not measured.influence:
        # Rounded down, as a lower bound must not grow.
        least = math.floor(1000 * lower_bound(units, units, ERROR)) / 10
        reason = f"equal in all {answers:,} answers, so no interval; at 95%, at least {least:.1f}% of answers are"
        return Figure(name, value, reason=reason)
    influence = [measured.influence[numbers[row]] for row in rated.rows]
    low, high = limit_alpha(measured.value, influence, rated.units)
    if low is None:
        return Figure(name, value, reason=f"the same ratings of all {answers:,} answers, so no interval")
    return Figure(name, value, low, high, units < FIRM or _count_off(rated.rows) < LEAST_OFF)


def _measure_kappa(rated: RatedAnswers) -> Figure:
    """Return Cohen's kappa, with quadratic weights except on checks. Papers report it; it has no interval."""
    scale = rated.measure.scale
    name = "kappa" if scale.kind is ScaleKind.CHECK else "kappa_quadratic"
    times = Counter(rated.rows)
    value = coefficients.kappa(list(times), list(times.values()), scale)
    if value is None:
        return Figure(name, None, reason=_explain_undefined(rated))
    is_constant = any(len(set(column)) == 1 for column in zip(*rated.rows, strict=True))
    reason = "one rater never varies" if is_constant else None
    return Figure(name, float(value), reason=reason)


def _measure_bias(rated: RatedAnswers) -> Figure:
    """Return by how much the second of two raters is higher, on average over units."""
    if not rated.distances:
        return Figure("bias", None, reason=_NO_PAIR)
    # Distances are counted twice, as the sum of those between both middle values.
    return _average("bias", [distance or 0 for distance in rated.distances], rated, of=2 * rated.measure.scale.unit)


def _average(name: str, values: Sequence[int], rated: RatedAnswers, of: int) -> Figure:
    """Return the mean of a value of each answer, divided by `of`, over units, with its interval."""
    mean = measure_mean(values, rated.units, of)
    value, units = float(mean.value), len(set(rated.units))
    if units < LEAST:
        return Figure(name, value, reason=_explain_few(rated))
    if mean.low is None:
        return Figure(name, value, reason=f"the same in all {len(values):,} answers, so no interval")
    return Figure(name, value, mean.low, mean.high, units < FIRM or _count_off(rated.rows) < LEAST_OFF)


_NO_PAIR = "no answer has two ratings"


def _explain_undefined(rated: RatedAnswers) -> str:
    values = {place for row in rated.rows for place in row if place is not None}
    if not values:
        return _NO_PAIR
    return f"no variation: every rating is {rated.measure.scale.show(values.pop())}"


def _explain_few(rated: RatedAnswers) -> str:
    units, answers = len(set(rated.units)), len(rated.units)
    if units == answers:
        return f"{count_answers(units)}: {LEAST} give a rough interval, {FIRM} a firm one"
    several = counted(units, "question or text", "questions or texts")
    return f"{count_answers(answers)}, but {several}: {LEAST} give a rough interval, {FIRM} a firm one"


def _count_off(rows: Sequence[Row]) -> int:
    """Return how many answers have a rating other than the commonest one."""
    times = Counter(place for row in rows for place in row if place is not None)
    usual = {times.most_common(1)[0][0], None}
    return sum(not usual.issuperset(row) for row in rows)


def count_answers(answers: int) -> str:
    """Write a number of answers in words."""
    return counted(answers, "answer")


class Between(StrEnum):
    """The sides that a comparison is between."""

    LABEL = "label and judge"
    PEOPLE = "people"
    JUDGES = "judges"


class PairCounts(NamedTuple):
    """What two raters gave: the share of equal ratings, the table of both (rows the first), and who rates higher.

    There is no table on a scale of more than 30 values.

    Of how many answers the second is `higher` or `lower`, by the sign test with the p value `sign_p`, is counted by the
    mean of the two in the middle, so that even numbers of samples do not bias it.
    """

    exact: Share
    confusion: list[list[int]]
    higher: int
    lower: int
    sign_p: float | None
    gate: GateMeasure | None


class ScaleComparison(NamedTuple):
    """The comparison on one scale: the answers with at least two ratings, the figures by name, the counts of a pair.

    `not_applicable` counts the answers that raters leave out, None if the criterion always applies.
    """

    measure: Measure
    answers: int
    figures: Mapping[str, Figure]
    pair: PairCounts | None
    not_applicable: NotApplicableCounts | None = None

    @property
    def alpha(self) -> Figure:
        """Krippendorff's alpha."""
        return next(figure for name, figure in self.figures.items() if name.startswith("alpha"))

    @property
    def kappa(self) -> Figure | None:
        """Cohen's kappa of two raters."""
        return next((figure for name, figure in self.figures.items() if name.startswith("kappa")), None)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as in the JSON report."""
        fields = self._asdict()
        measure, left_out = fields.pop("measure"), fields.pop("not_applicable")
        counts = {} if left_out is None else {"not_applicable": left_out._asdict()}
        return {**name_measure(measure), "values": measure.scale.names, **fields, **counts}


class RaterComparison(NamedTuple):
    """A comparison of raters: of two (the label first, if there is one), or of all of one side."""

    between: Between
    raters: tuple[str, ...]
    measures: tuple[ScaleComparison, ...]


def compare(
    between: Between,
    raters: Mapping[str, Judgements],
    measures: Sequence[Measure],
    units: Units = None,
    gates: Mapping[int, GateMeasure] = MappingProxyType({}),
) -> RaterComparison:
    """Compare raters on each scale; `gates` are those of scales by their number."""
    joined = JoinedRatings(list(raters.values()), units)
    is_pair = len(raters) == 2
    compared = []
    for number, measure in enumerate(measures):
        rated = joined.rate(measure)
        pair = _count_pair(rated, gates.get(number)) if is_pair else None
        left_out = joined.count_left_out(measure) if measure.may_not_apply else None
        compared.append(
            ScaleComparison(measure, len(rated.rows), measure_figures(rated, is_pair=is_pair), pair, left_out)
        )
    return RaterComparison(between, tuple(raters), tuple(compared))


_MOST_TABULATED = 30
"""The most values of a scale of which a table has a row and a column each: hundreds would be nearly all empty."""


def _count_pair(rated: RatedAnswers, gate: GateMeasure | None) -> PairCounts:
    measure = rated.measure
    size = len(measure.scale.values)
    times = Counter(rated.rows)
    length = size if size <= _MOST_TABULATED else 0
    tabulated = range(length)
    confusion = [[times[first, second] for second in tabulated] for first in tabulated]
    distances = [distance for distance in rated.distances if distance is not None]
    above, below = sum(distance > 0 for distance in distances), sum(distance < 0 for distance in distances)
    exact = Share(sum(times[place, place] for place in range(size)), len(rated.rows))
    return PairCounts(exact, confusion, above, below, DiscordantPairs(above, below).exact, gate)


class Contest(NamedTuple):
    """How often each of two judges is right, on the labelled answers that both of them judged.

    `first_right` counts the answers that only the first gets right, with `mid_p` by McNemar's test: the same side of
    the gate as the label, or the same value if nothing decides. If there is no p value, `reason` says why. `nearer` is
    by how much the first is nearer to the label on average, in the units of the scale.
    """

    measure: Measure
    answers: int
    first_right: int
    second_right: int
    mid_p: float | None
    reason: str | None
    nearer: Figure

    def to_json(self) -> dict[str, Any]:
        """Return the contest as in the JSON report."""
        fields = self._asdict()
        return {**name_measure(fields.pop("measure")), **fields}


class SampleFlips(NamedTuple):
    """How often two samples of one answer differ: in the gate if the criterion has one, else in the value."""

    measure: Measure
    answers: int
    flips: Figure

    def to_json(self) -> dict[str, Any]:
        """Return the figure as in the JSON report."""
        return {**name_measure(self.measure), "answers": self.answers, "flips": self.flips}


def name_measure(measure: Measure) -> dict[str, Any]:
    """Return the fields of the JSON report that name a criterion, or the verdict, and its scale."""
    return {"criterion": None if measure.place is None else measure.name, "scale": measure.scale.kind}


def compare_with_labels(
    labels: Judgements, two: Sequence[Judgements], measures: Sequence[Measure], units: Units = None
) -> list[Contest]:
    """Compare two judges on the answers that all three rated."""
    shared = labels.keys() & two[0].keys() & two[1].keys()
    raters = [labels, *two]
    joined = JoinedRatings([{key: judgements[key] for key in shared} for judgements in raters], units)
    return [_count_right(joined.rate(measure), len(shared)) for measure in without_bands(measures)]


def _count_right(rated: RatedAnswers, answers: int) -> Contest:
    """Count which of two judges is right; a row has the label, then what both judges gave."""
    measure = rated.measure
    complete = [number for number, row in enumerate(rated.rows) if None not in row]
    first_right = second_right = 0
    for number in complete:
        row = rated.rows[number]
        label, first, second = row if measure.meets is None else [measure.meets[place or 0] for place in row]
        first_right += first == label != second
        second_right += second == label != first
    p = DiscordantPairs(first_right, second_right).mid
    reason = "no answer that only one of them gets right" if p is None else None
    rows, higher = [rated.rows[number] for number in complete], [rated.higher[number] for number in complete]
    nearer = Figure("nearer", None, reason=_NO_PAIR)
    if rows:
        errors = []
        for judge in (1, 2):
            lower_pairs, higher_pairs = ([(row[0], row[judge]) for row in ends] for ends in (rows, higher))
            distances = coefficients.find_distances(lower_pairs, higher_pairs, measure.scale)
            errors.append([abs(distance or 0) for distance in distances])
        differences = [second - first for first, second in zip(*errors, strict=True)]
        compared = RatedAnswers(measure, rows, higher, [rated.units[number] for number in complete])
        nearer = _average("nearer", differences, compared, of=2 * measure.scale.unit)
    return Contest(measure, answers, first_right, second_right, p, reason, nearer)


def compare_samples(judgements: Judgements, measures: Sequence[Measure], units: Units) -> list[SampleFlips]:
    """Return how often the samples of one judge differ on the same answer; empty if none was sampled."""
    sampled = {key: judgement for key, judgement in judgements.items() if len(judgement.samples) > 1}
    if not sampled:
        return []
    most = max(len(judgement.samples) for judgement in sampled.values())
    columns: list[dict[Key, Judgement]] = [{} for _ in range(most)]
    for key, judgement in sampled.items():
        for column, sample in zip(columns, judgement.samples, strict=False):
            column[key] = Judgement(sample)
    joined = JoinedRatings(columns, units)
    return [
        SampleFlips(measure, len(sampled), _measure_flips(joined.rate(measure))) for measure in without_bands(measures)
    ]


def _measure_flips(rated: RatedAnswers) -> Figure:
    """Return the mean share of pairs of samples that differ, with exact limits."""
    meets = rated.measure.meets
    rates = []
    for row in rated.rows:
        sides = row
        if meets is not None:
            sides = tuple(None if place is None else int(meets[place]) for place in row)
        rates.append(coefficients.flips(sides) or Fraction(0))
    if not rates:
        return Figure("flip_rate", None, reason="no answer has two samples")
    mean, units = measure_mean(rates, rated.units).value, len(set(rated.units))
    total = mean * units
    return Figure("flip_rate", float(mean), lower_bound(total, units, ERROR), upper_bound(total, units, ERROR))

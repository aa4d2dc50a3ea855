"""The judged answers of one rubric in columns, as the rules on judged data count them.

One answer counts once, however many judges and samples there are: its value is the median of the judges' outputs, each
of them the median of its samples; of two in the middle the worse counts.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.agree.coefficients import Row, flip_rate
from rubric_lint.agree.ratings import (
    Judgement,
    Judgements,
    Key,
    Ratings,
    Signature,
    combine_people,
    sort_keys,
)
from rubric_lint.agree.scales import VERDICTS, Kind, Measure, measures_of
from rubric_lint.scoring.grading import AnswerValue, ScoringRubric

FALSE_ALARMS = Fraction(1, 20)
"""The share of rubrics with nothing wrong on which any rule may report something."""

RULES = ("constant", "unused-band", "unstable", "redundant", "inverse", "disagrees")

LEAST = 30
"""The fewest answers for a statement about samples, and for a correlation."""


def level_of(tests: int) -> float:
    """Return the probability of a false alarm that each of a rule's tests may have."""
    return float(FALSE_ALARMS / len(RULES) / tests)


def count_needed(share: Fraction, tests: int) -> int:
    """Return the fewest answers in a row that occur by chance with at most the allowed probability.

    `share` is that of such answers, at most: the smallest n with tests * share^n at most a sixth of 5%.
    """
    allowed = FALSE_ALARMS / len(RULES) / tests
    n, chance = 0, Fraction(1)
    while chance > allowed:
        n, chance = n + 1, chance * share
    return n


def bound_absent(n: int, tests: int) -> float:
    """Return the upper bound of the share of something that none of `n` answers shows."""
    return float(1 - level_of(tests) ** (1 / n))


def at_most(share: float) -> str:
    """Write an upper bound, rounded up: `at most 7.4%`."""
    return f"at most {min(math.ceil(share * 1000) / 10, 100):.1f}%"


def at_least(share: float) -> str:
    """Write a lower bound, rounded down: `at least 83.1%`."""
    return f"at least {math.floor(share * 1000) / 10:.1f}%"


def corrected(tests: int) -> str:
    """Write how a bound was corrected."""
    return f"corrected for {tests} test{'' if tests == 1 else 's'}"


class Spot(NamedTuple):
    """A place in a rubric: all of it (without a criterion), a criterion, its gate, or what one answer earns."""

    criterion: str | None = None
    is_gate: bool = False
    answer: AnswerValue | None = None


class Decision(NamedTuple):
    """A statement that a rule makes: one of its messages, with its values. `other` is another place it is about."""

    rule: str
    spot: Spot
    code: str
    values: Mapping[str, object]
    other: Spot | None = None


class Untested(NamedTuple):
    """What a rule cannot decide with the data at hand: of which criteria, why, and how much would do."""

    rule: str
    names: tuple[str, ...]
    reason: str
    needed: int
    unit: str = "answers"

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        return {
            "rule": self.rule,
            "of": list(self.names),
            "reason": self.reason,
            "needed": self.needed,
            "unit": self.unit,
        }


Outcomes = Iterator[Decision | Untested]


class Column(NamedTuple):
    """One criterion: its scale, its bands (None if it has none), and the worth of each value, from 0 to 1.

    `given` has the position on the scale of each answer's value, `labels` that of its label (None: it has none), and
    `used` the positions of all outputs.
    """

    measure: Measure
    bands: Measure | None
    is_gated: bool
    worth: tuple[Fraction, ...]
    given: Sequence[int]
    used: frozenset[int]
    labels: Sequence[int | None] = ()

    @property
    def name(self) -> str:
        """The id of the criterion."""
        return self.measure.name

    @property
    def is_check(self) -> bool:
        """Whether it is met or not, and nothing in between."""
        return self.measure.scale.kind is Kind.CHECK


class Flips(NamedTuple):
    """How often samples of one answer differ: the mean share of pairs that do, and the answers with several samples."""

    rate: Fraction
    answers: int


class Table(NamedTuple):
    """The judged answers of a rubric. `flips` are those of each gate by the place of its criterion, and of the verdict.

    `samples` are the numbers of samples that answers have.
    """

    columns: tuple[Column, ...]
    keys: Sequence[Key]
    flips: Mapping[int | None, Flips]
    samples: tuple[int, ...] = ()

    @property
    def answers(self) -> int:
        """The number of judged answers."""
        return len(self.keys)

    @property
    def labelled(self) -> int:
        """The number of judged answers with a label."""
        labels = self.columns[0].labels if self.columns else ()
        return len(labels) - labels.count(None)


def make_columns(
    rubric: ScoringRubric,
    given: Sequence[Sequence[int]],
    used: Sequence[frozenset[int]] | None = None,
    labels: Sequence[Sequence[int | None]] | None = None,
) -> tuple[Column, ...]:
    """Return the columns of a rubric, from the positions of values on the scales of its criteria."""
    found = []
    for place, (criterion, (measure, *bands)) in enumerate(zip(rubric.criteria, _list_scales(rubric), strict=True)):
        found.append(
            Column(
                measure,
                bands[0] if bands else None,
                len({grade.gate_met for grade in criterion.grades}) > 1,
                tuple(grade.score for grade in criterion.grades),
                given[place],
                used[place] if used is not None else frozenset(given[place]),
                labels[place] if labels is not None else (),
            )
        )
    return tuple(found)


def build_table(ratings: Ratings, rubric: ScoringRubric) -> Table:
    """Return the table of all judges' outputs and the combined labels of people."""
    middle = combine_people(ratings.judges)
    people = combine_people(ratings.people) if ratings.people else {}
    keys = sort_keys(middle)
    scales = [measures[0].positions for measures in _list_scales(rubric)]
    outputs = {signature for judge in ratings.judges.values() for each in judge.values() for signature in _list(each)}
    given = [[positions[middle[key].given[0][place]] for key in keys] for place, positions in enumerate(scales)]
    used = [frozenset(positions[answers[place]] for answers, _ in outputs) for place, positions in enumerate(scales)]
    labels = [
        [positions[people[key].given[0][place]] if key in people else None for key in keys]
        for place, positions in enumerate(scales)
    ]
    columns = make_columns(rubric, given, used, labels)
    sampled = _collect_samples(ratings.judges)
    places = [place for place, column in enumerate(columns) if column.is_gated]
    flips: dict[int | None, Flips] = {place: _count_flips(sampled, columns[place].measure, place) for place in places}
    sizes = {len(samples) for judges in sampled for samples in judges}
    flips[None] = _count_flips(sampled, None, None)
    return Table(columns, keys, flips, tuple(sorted(sizes)))


def _list_scales(rubric: ScoringRubric) -> list[list[Measure]]:
    """Return the scale of each criterion's values, and after it that of its bands if there are several."""
    found: dict[int, list[Measure]] = {}
    for measure in measures_of(rubric):
        if measure.place is not None:
            found.setdefault(measure.place, []).append(measure)
    return list(found.values())


def _list(judgement: Judgement) -> tuple[Signature, ...]:
    return judgement.samples or (judgement.given,)


def _collect_samples(judges: Mapping[str, Judgements]) -> list[tuple[tuple[Signature, ...], ...]]:
    """Return for each answer with several samples by one judge the samples of each such judge."""
    found: dict[Key, list[tuple[Signature, ...]]] = {}
    for judge in judges.values():
        for key, judgement in judge.items():
            if len(judgement.samples) > 1:
                found.setdefault(key, []).append(judgement.samples)
    return [tuple(judged) for judged in found.values()]


def _count_flips(
    sampled: Sequence[tuple[tuple[Signature, ...], ...]], measure: Measure | None, place: int | None
) -> Flips:
    """Return how often samples differ in the gate of a criterion, or in the verdict; judges of one answer share it."""
    unit = math.lcm(*(len(judges) for judges in sampled), 1)
    rows: Counter[Row] = Counter()
    for judges in sampled:
        for samples in judges:
            rows[tuple(_look(signature, measure, place) for signature in samples)] += unit // len(judges)
    rate = flip_rate(list(rows))(list(rows.values()))
    return Flips(Fraction(*rate) if rate[1] else Fraction(0), len(sampled))


def _look(signature: Signature, measure: Measure | None, place: int | None) -> int:
    answers, verdict = signature
    if place is None or measure is None:
        return VERDICTS.index(verdict)
    position = measure.positions[answers[place]]
    return int(measure.meets[position]) if measure.meets else position

"""The judged answers of one rubric in columns, as the rules on judged data count them.

One answer counts once, however many judges and samples there are: its value is the median of the judges' outputs, each
of them the median of its samples; of two in the middle the worse counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from rubric_lint.assess.agreement.coefficients import flips
from rubric_lint.assess.agreement.ratings import Judgements, Ratings, combine_people, sort_keys
from rubric_lint.assess.agreement.scales import VERDICTS, Measure, ScaleKind, Signature, measure_verdicts, measures_of
from rubric_lint.assess.measure.decision import Reason
from rubric_lint.assess.measure.labelled import LabelledAnswers, find_units, is_idle, list_judges, pair_with_labels
from rubric_lint.scoring.grading import NothingAppliesError, ScoringRubric, Verdict
from rubric_lint.scoring.ids import Key


@dataclass(frozen=True)
class JudgedColumn:
    """One criterion: its scale, its bands (None if it has none), and each value's worth, from 0 to 1.

    Where a higher value costs points, its worth is from -1 to 0. `best` is the position of the best value. `given` has
    the position on the scale of each answer's value (None: it does not apply), `labels` that of its label (None: it has
    none), and `used` the positions of all outputs, with None. By the labels of the answers with the numbers `left_out`
    it does not apply. It `is_idle` if it changes no result, and a critical failure `is_failure`.
    """

    measure: Measure
    bands: Measure | None
    is_gated: bool
    worth: tuple[Fraction, ...]
    best: int
    given: Sequence[int | None]
    used: frozenset[int | None]
    labels: Sequence[int | None] = ()
    is_idle: bool = False
    left_out: frozenset[int] = frozenset()
    is_failure: bool = False

    @property
    def name(self) -> str:
        """The id of the criterion."""
        return self.measure.name

    @property
    def known(self) -> Sequence[int]:
        """The positions of the answers to which it applies."""
        return [position for position in self.given if position is not None]

    @property
    def is_check(self) -> bool:
        """Whether it is met or not, and nothing in between."""
        return self.measure.scale.kind is ScaleKind.CHECK

    @property
    def is_turned(self) -> bool:
        """Whether the highest value is not the best one: it costs points or misses the gate."""
        return self.best < len(self.worth) - 1

    def side(self, position: int) -> int:
        """Return the number by which answers are told apart: the side of the gate, else the band, level or check."""
        gated = self.measure.meets if self.is_gated else None
        return int(gated[position]) if gated else self.measure.step(position)


class JudgedTable(NamedTuple):
    """The judged answers of a rubric.

    `flips` has for each gate, by the place of its criterion, and for the verdict the mean share of pairs of samples
    that differ, in the `sampled` answers with several. `samples` are the numbers of samples that answers have,
    `lengths` the characters of each answer (None: no text). `compared` has for each judge, by the place of a criterion
    (None: the verdict), the labelled answers on which the judge is compared with people, and `void` why labels say
    nothing about a judge. It is so many a `look` at these data.
    `bare` judged answers are compared by the verdict alone, as the label or the judge gives no other answer.
    `sampled_of` has, by the place of a criterion, how many of the sampled answers have several values for it.
    """

    columns: tuple[JudgedColumn, ...]
    keys: Sequence[Key]
    flips: Mapping[int | None, Fraction]
    samples: tuple[int, ...] = ()
    lengths: Sequence[int | None] = ()
    sampled: int = 0
    compared: Mapping[str, Mapping[int | None, LabelledAnswers]] = MappingProxyType({})
    void: Mapping[str, tuple[Reason, str]] = MappingProxyType({})
    bare: int = 0
    look: int = 1
    sampled_of: Mapping[int | None, int] = MappingProxyType({})
    rubric: ScoringRubric | None = None

    @property
    def answers(self) -> int:
        """The number of judged answers."""
        return len(self.keys)

    @property
    def labelled(self) -> int:
        """The number of judged answers with a label."""
        rows = zip(*(column.labels for column in self.columns), strict=True)
        return self.bare + sum(any(label is not None for label in row) for row in rows)

    def weigh(self, positions: Sequence[int | None]) -> Fraction | None:
        """Return the score of an answer by the positions of its values, None for one that does not apply.

        None if nothing applies that earns points.
        """
        if self.rubric is None:
            return None
        grades = [
            # That a criterion does not apply is the last of its grades.
            criterion.all_grades[-1 if position is None else position]
            for criterion, position in zip(self.rubric.criteria, positions, strict=True)
        ]
        try:
            return self.rubric.weigh(grades).score
        except NothingAppliesError:
            return None


def make_columns(
    rubric: ScoringRubric,
    given: Sequence[Sequence[int | None]],
    used: Sequence[frozenset[int | None]] | None = None,
    labels: Sequence[Sequence[int | None]] | None = None,
    left_out: Sequence[frozenset[int]] | None = None,
) -> tuple[JudgedColumn, ...]:
    """Return the columns of a rubric, from the positions of values on the scales of its criteria."""
    columns = []
    for place, (measure, *bands) in enumerate(_list_scales(rubric)):
        criterion = rubric.criteria[place]
        grades = criterion.grades
        scale_bands = bands[0] if bands else None
        used_positions = used[place] if used is not None else frozenset(given[place])
        label_positions = () if labels is None else labels[place]
        left_out_positions = frozenset() if left_out is None else left_out[place]
        column = JudgedColumn(
            measure=measure,
            bands=scale_bands,
            # A gate that every answer meets tells nothing apart.
            is_gated=len({grade.gate_met for grade in grades}) > 1,
            worth=tuple(criterion.merit(grade)[1] for grade in grades),
            best=grades.index(criterion.from_worst[-1]),
            given=given[place],
            used=used_positions,
            labels=label_positions,
            is_idle=is_idle(rubric, place),
            left_out=left_out_positions,
            is_failure=criterion.is_failure,
        )
        columns.append(column)
    return tuple(columns)


def build_table(ratings: Ratings, rubric: ScoringRubric, runs: int = 1, line: Verdict = Verdict.FAIL) -> JudgedTable:
    """Return the table of all judges' outputs and the combined labels of people; a judge's run has `runs` outputs.

    Verdicts at or below the `line` make an answer bad.
    """
    middle = combine_people(ratings.judges, rubric)
    people = combine_people(ratings.people, rubric) if ratings.people else {}
    # What graders of others say of the verdict alone is in no column.
    keys = sort_keys([key for key, judgement in middle.items() if None not in judgement.given[0]])
    outputs: set[Signature] = set()
    sampled: dict[Key, list[tuple[Signature, ...]]] = {}
    lengths: dict[Key, int] = {
        key: len(context.answer) for key, context in ratings.about.items() if context.answer is not None
    }
    for rater in [*ratings.judges.values(), *ratings.people.values()]:
        lengths.update((key, judgement.length) for key, judgement in rater.items() if judgement.length is not None)
    for judge in ratings.judges.values():
        for key, judgement in judge.items():
            outputs.update(output for output in judgement.samples or (judgement.given,) if None not in output[0])
            if len(judgement.samples) > 1:
                sampled.setdefault(key, []).append(judgement.samples)
    used = list[frozenset[int | None]]()
    given, labels, left_out = list[list[int | None]](), list[list[int | None]](), list[frozenset[int]]()
    for measure, *_ in _list_scales(rubric):
        given.append([measure.find(middle[key].given) for key in keys])
        labels.append([measure.find(people[key].given) if key in people else None for key in keys])
        numbers = enumerate(keys) if measure.may_not_apply else ()
        left_out.append(
            frozenset(number for number, key in numbers if key in people and measure.is_left_out(people[key].given))
        )
        used.append(frozenset(map(measure.find, outputs)))
    columns = make_columns(rubric, given, used, labels, left_out)
    flip_rates, sampled_of = dict[int | None, Fraction](), dict[int | None, int]()
    for place, column in enumerate(columns):
        if column.is_gated:
            flip_rates[place], sampled_of[place] = _count_flips(sampled, column.measure)
    flip_rates[None], _ = _count_flips(sampled, None)
    return JudgedTable(
        columns,
        keys,
        flip_rates,
        samples=tuple(sorted({len(samples) for judges in sampled.values() for samples in judges})),
        lengths=[lengths.get(key) for key in keys],
        sampled=len(sampled),
        compared=_compare_with_people(ratings, columns, runs, line),
        bare=_count_verdicts_alone(middle, people),
        sampled_of=sampled_of,
        rubric=rubric,
    )


def _compare_with_people(
    ratings: Ratings, columns: Sequence[JudgedColumn], runs: int, line: Verdict
) -> dict[str, dict[int | None, LabelledAnswers]]:
    """Return for each judge the labelled answers by the place of a criterion, and (None) by the verdict."""
    units = find_units(ratings) if ratings.people else {}
    if not units:
        return {}
    measures: dict[int | None, Measure] = {place: column.measure for place, column in enumerate(columns)}
    measures[None] = measure_verdicts("verdict", line)
    compared: dict[str, dict[int | None, LabelledAnswers]] = {}
    for judge in list_judges(ratings):
        compared[judge] = {}
        for place, measure in measures.items():
            answers = pair_with_labels(ratings, judge, measure, units, runs)
            if answers is not None:
                compared[judge][place] = answers
    return compared


def _count_verdicts_alone(judged: Judgements, labels: Judgements) -> int:
    """Count the judged answers whose label has a verdict to compare, but no criterion: one side leaves criteria out."""
    count = 0
    for key in judged.keys() & labels.keys():
        by_judge, _ = judged[key].given
        by_people, verdict = labels[key].given
        if verdict is not None and (None in by_judge or all(answer is None for answer in by_people)):
            count += 1
    return count


def _list_scales(rubric: ScoringRubric) -> list[list[Measure]]:
    """Return the scale of each criterion's values, and after it that of its bands if there are several."""
    by_place: dict[int, list[Measure]] = {}
    for measure in measures_of(rubric):
        if measure.place is not None:
            by_place.setdefault(measure.place, []).append(measure)
    return list(by_place.values())


def _count_flips(sampled: Mapping[Key, Sequence[Sequence[Signature]]], measure: Measure | None) -> tuple[Fraction, int]:
    """Return how often samples differ in the gate of a criterion, or in the verdict, and in how many answers.

    Judges of one answer share it. Samples to which the criterion does not apply, or of the verdict alone, do not count.
    """

    def observe(signature: Signature) -> int | None:
        if measure is None or measure.place is None:
            return VERDICTS.index(signature[1])
        position = measure.find(signature)
        return position if position is None or not measure.meets else int(measure.meets[position])

    shares = []
    for judges in sampled.values():
        rates = []
        for samples in judges:
            if measure is not None and any(None in answers for answers, _ in samples):
                continue
            rate = flips(tuple(map(observe, samples)))
            if rate is not None:
                rates.append(rate)
        if rates:
            shares.append(sum(rates, Fraction(0)) / len(rates))
    return sum(shares, Fraction(0)) / max(len(shares), 1), len(shares)

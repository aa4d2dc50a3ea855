"""The judgements of each rater, joined by the id of the answer."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from rubric_lint.assess.agreement.coefficients import Row, find_distances
from rubric_lint.assess.agreement.scales import VERDICTS, Measure, Signature
from rubric_lint.assess.agreement.units import AnswerContext
from rubric_lint.assess.measure.pass_rate import LabelSelection
from rubric_lint.scoring.grading import AnswerValue, ScoringCriterion, ScoringRubric
from rubric_lint.scoring.ids import Key, name_key

Outputs = tuple[Signature | None, ...]
"""What each output for an answer comes to, in their order; None for an invalid one."""


class Judgement(NamedTuple):
    """The judgement of one rater on one answer: what it comes to, of the valid outputs if some are invalid.

    `reasons` has the reason for each criterion, None if the rater gives none at all. `outputs` has every output if
    there are several, or an invalid one. `length` is that of the answer in characters. `text` is a hash of the question
    and the answer, None if the record does not have them. `higher` has the better of two in the middle where `given`
    has the worse; None if they are the same.
    """

    given: Signature
    reasons: tuple[str | None, ...] | None = None
    outputs: Outputs = ()
    length: int | None = None
    text: int | None = None
    higher: Signature | None = None

    @property
    def recorded(self) -> Outputs:
        """Every output for the answer, in their order."""
        return self.outputs or (self.given,)

    @property
    def samples(self) -> tuple[Signature, ...]:
        """The valid outputs if there are several, in their order; else none."""
        valid = tuple([output for output in self.outputs if output is not None])
        return valid if len(valid) > 1 else ()

    @property
    def ends(self) -> tuple[Signature, Signature]:
        """The two in the middle, the worse first; equal ones for an odd number of outputs or people."""
        return self.given, self.higher or self.given

    def reason(self, place: int) -> str | None:
        """Return the reason for a criterion."""
        return self.reasons[place] if self.reasons else None


Judgements = Mapping[Key, Judgement]


class Ratings(NamedTuple):
    """All judgements for one rubric, by rater: those of RESULTS are judges, those of LABELS are people.

    `panels` are models that judged together: what they came to. The judgements of each member are those of a judge.
    Without a rubric they are the verdicts of several rubrics. `about` has what records say of an answer besides, and
    `failed` the invalid outputs of each judge for answers of which it has no valid one. A judge may have only these.
    `refused` has how many of how many labels are refused for what is in them. `ways` counts the labels that are
    compared by how they were chosen, None for those that do not say it.
    """

    rubric: ScoringRubric | None
    judges: Mapping[str, Judgements]
    people: Mapping[str, Judgements]
    ways: Mapping[LabelSelection | None, int] = MappingProxyType({})
    panels: Mapping[str, Judgements] = MappingProxyType({})
    about: Mapping[Key, AnswerContext] = MappingProxyType({})
    failed: Mapping[str, Mapping[Key, Outputs]] = MappingProxyType({})
    refused: tuple[int, int] = (0, 0)

    @property
    def chosen(self) -> LabelSelection | None:
        """How labels were chosen, None if they differ or one does not say it.

        With some chosen by verdict, all count as such: together they do not stand for all answers either.
        """
        if LabelSelection.BY_VERDICT in self.ways:
            return LabelSelection.BY_VERDICT
        return next(iter(self.ways)) if len(self.ways) == 1 else None

    @property
    def raters(self) -> dict[str, Judgements]:
        """The judgements of all judges, people and panels."""
        return {**self.judges, **self.people, **self.panels}

    @property
    def judged(self) -> set[Key]:
        """The answers that a judge or a panel judged."""
        return set().union(*self.judges.values(), *self.panels.values())

    @property
    def known(self) -> set[Key]:
        """The answers that a judge or a person judged."""
        return self.judged.union(*self.people.values())

    def has_invalid_outputs(self, judge: str) -> bool:
        """Return whether an output of a judge or a panel is invalid."""
        judgements = {**self.judges, **self.panels}.get(judge, {})
        return bool(self.failed.get(judge)) or any(None in judgement.outputs for judgement in judgements.values())

    @property
    def has_joined_labels(self) -> bool:
        """Whether a label is of an answer that a judge judged."""
        judged = self.judged
        return any(not judged.isdisjoint(labels) for labels in self.people.values())


def pool(rubric_ratings: Sequence[Ratings]) -> Ratings:
    """Return the verdicts of several rubrics together."""
    judges: dict[str, dict[Key, Judgement]] = {}
    people: dict[str, dict[Key, Judgement]] = {}
    panels: dict[str, dict[Key, Judgement]] = {}
    about: dict[Key, AnswerContext] = {}
    failed: dict[str, dict[Key, Outputs]] = {}
    ways = Counter[LabelSelection | None]()
    for ratings in rubric_ratings:
        rubric = ratings.rubric.name if ratings.rubric else ""
        about |= {_qualify(rubric, key): context for key, context in ratings.about.items()}
        for judge, answers in ratings.failed.items():
            failed.setdefault(judge, {}).update((_qualify(rubric, key), outputs) for key, outputs in answers.items())
        for side, raters in ((judges, ratings.judges), (people, ratings.people), (panels, ratings.panels)):
            for rater, judgements in raters.items():
                verdicts = side.setdefault(rater, {})
                for key, judgement in judgements.items():
                    verdicts[_qualify(rubric, key)] = _keep_verdict(judgement)
        if ratings.has_joined_labels:
            ways.update(ratings.ways)
    refused = (
        sum(ratings.refused[0] for ratings in rubric_ratings),
        sum(ratings.refused[1] for ratings in rubric_ratings),
    )
    return Ratings(None, judges, people, ways, panels, about, failed, refused)


def _keep_verdict(judgement: Judgement) -> Judgement:
    """Return a judgement with the verdict alone, without answers to criteria."""
    (_, verdict), (_, higher) = judgement.ends
    outputs = tuple(None if output is None else ((), output[1]) for output in judgement.outputs)
    return Judgement(((), verdict), None, outputs, higher=((), higher))


def _qualify(rubric: str, key: Key) -> Key:
    """Return the key of an answer among those of several rubrics."""
    # The type tells 1 from "1", which are shown alike.
    return f"{rubric}/{name_key(key)}", rubric, type(key).__name__


def sort_keys(keys: Collection[Key]) -> list[Key]:
    """Return ids in order: strings by their code points, then all others by their JSON."""
    return sorted(keys, key=lambda key: (not isinstance(key, str), key))


def combine_people(people: Mapping[str, Judgements], rubric: ScoringRubric | None) -> Judgements:
    """Return one label for each answer: of several people the median of their answers, and of their verdicts.

    Without a rubric, there are only verdicts.

    As for samples of a judge, the worse of two in the middle counts, and the reason is that of the first who gave it.
    """
    if len(people) == 1:
        return next(iter(people.values()))
    criteria = rubric.criteria if rubric else ()
    by_answer: dict[Key, dict[str, Judgement]] = {}
    for rater, judgements in people.items():
        for key, judgement in judgements.items():
            by_answer.setdefault(key, {})[rater] = judgement
    combined = {}
    for key, labels in by_answer.items():
        answers, verdict = find_middle([label.given for label in labels.values()], criteria)
        reasons = []
        for place, answer in enumerate(answers):
            rater = next(rater for rater, label in labels.items() if label.given[0][place] == answer)
            reason = labels[rater].reason(place)
            reasons.append(reason and f"{rater}: {reason}")
        higher = find_middle([label.ends[1] for label in labels.values()], criteria, better=True)
        combined[key] = Judgement((answers, verdict), known_reasons(reasons), higher=higher)
    return combined


def combine_records(records: Sequence[Judgement], rubric: ScoringRubric) -> Judgement:
    """Return the judgement of one judge on one answer of which there are several records: all have its outputs."""
    if len(records) == 1:
        return records[0]
    outputs = tuple(output for record in records for output in record.recorded)
    valid = [output for output in outputs if output is not None]
    described = next((record for record in records if record.length is not None), records[0])
    combined = Judgement(((), None), None, outputs, described.length, described.text)
    if not valid:
        return combined
    middle = find_middle(valid, rubric.criteria)
    reasons = []
    for place, answer in enumerate(middle[0]):
        # A slice, because a record with nothing but invalid outputs has no answers.
        same = (record.reason(place) for record in records if record.given[0][place : place + 1] == (answer,))
        reasons.append(next(filter(None, same), None))
    higher = find_middle(valid, rubric.criteria, better=True)
    return combined._replace(given=middle, reasons=known_reasons(reasons), higher=higher)


def known_reasons(reasons: Sequence[str | None]) -> tuple[str | None, ...] | None:
    """Return the reasons for the answers of a judgement, one for each criterion; None if there are none at all."""
    return tuple(reasons) if any(reasons) else None


def find_middle(
    signatures: Sequence[Signature], criteria: Sequence[ScoringCriterion], *, better: bool = False
) -> Signature:
    """Return the median of each criterion and of the verdict; of two in the middle the worse, or the better."""
    columns = zip(*(answers for answers, _ in signatures), strict=True)
    middle = list[AnswerValue | None]()
    for criterion, column in zip(criteria, columns, strict=True):
        answers = [answer for answer in column if answer is not None]
        value = criterion.find_middle(answers, better=better) if answers else None
        middle.append(value)
    verdicts = sorted(VERDICTS.index(verdict) for _, verdict in signatures if verdict)
    if not verdicts:
        return tuple(middle), None
    at = len(verdicts) // 2 if better else (len(verdicts) - 1) // 2
    return tuple(middle), VERDICTS[verdicts[at]]


@dataclass(frozen=True)
class RatedAnswers:
    """The answers with at least two ratings on one scale: their ratings, and the unit of each.

    Related answers, such as those to one question, are one unit. `higher` has the better of two in the middle.
    """

    measure: Measure
    rows: Sequence[Row]
    higher: Sequence[Row]
    units: Sequence[Hashable]

    @cached_property
    def distances(self) -> Sequence[int | None]:
        """Twice how much higher the second of two raters is, by answer."""
        return find_distances(self.rows, self.higher, self.measure.scale)


class NotApplicableCounts(NamedTuple):
    """The number of answers to which a criterion does not apply: by `every` rater, or only by `some` of them.

    `by` has for each rater how many of the latter that one leaves out.
    """

    every: int
    some: int
    by: tuple[int, ...]


class JoinedRatings:
    """The answers that at least one of some raters judged, in the order of their ids.

    `units` has the unit of each answer. Without it, no answers are related.
    """

    def __init__(self, raters: Sequence[Judgements], units: Mapping[Key, Hashable] | None = None) -> None:
        keys = sort_keys(set().union(*raters))
        self._units: list[Hashable] = list(keys) if units is None else [units[key] for key in keys]
        self._rows: list[list[tuple[Signature, Signature] | tuple[None, None]]] = []
        for key in keys:
            judgements = [rater.get(key) for rater in raters]
            self._rows.append([judgement.ends if judgement else _NO_ENDS for judgement in judgements])
        self._is_even = any(lower is not better for ends in self._rows for lower, better in ends)

    def rate(self, measure: Measure) -> RatedAnswers:
        """Return the ratings on one scale of the answers with at least two."""
        rows, higher, units = list[Row](), list[Row](), list[Hashable]()
        find = measure.find
        for ends, unit in zip(self._rows, self._units, strict=True):
            row = tuple([None if lower is None else find(lower) for lower, _ in ends])
            if len(row) - row.count(None) > 1:
                rows.append(row)
                units.append(unit)
                if self._is_even:
                    higher.append(tuple([None if better is None else find(better) for _, better in ends]))
        return RatedAnswers(measure, rows, higher or rows, units)

    def count_left_out(self, measure: Measure) -> NotApplicableCounts:
        """Count the answers, of those with at least two ratings, to which a criterion does not apply."""
        every = some = 0
        criteria = len(self._rows[0]) if self._rows else 0
        by = [0] * criteria
        for ends in self._rows:
            leaving, rating = list[int](), list[int]()
            for number, (lower, _) in enumerate(ends):
                if lower is not None and measure.is_left_out(lower):
                    leaving.append(number)
                elif lower is not None and measure.find(lower) is not None:
                    rating.append(number)
            if len(leaving) + len(rating) < 2 or not leaving:
                continue
            if not rating:
                every += 1
                continue
            some += 1
            for number in leaving:
                by[number] += 1
        return NotApplicableCounts(every, some, tuple(by))


_NO_ENDS = (None, None)
"""Stands for the ends of an answer that a rater did not judge."""

"""Grade judge outputs: turn answers into a score and a verdict with exact arithmetic."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from rubric_lint.model.arguments import MANY, require_items, takes
from rubric_lint.model.criterion import Hundredth, Shape
from rubric_lint.model.messages import UserError, join_words, list_scores
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.view import OWN
from rubric_lint.scoring.groups import GroupResult, ScoreBounds, ScoringGroup
from rubric_lint.scoring.records.decoding import OutputError

AnswerValue = bool | int
"""A judge's answer for one criterion: satisfied or not, a score, or a level; it may be a `Hundredth`."""


class _NotApplicable(StrEnum):
    NOT_APPLICABLE = "n/a"


NOT_APPLICABLE = cast("int", _NotApplicable.NOT_APPLICABLE)
"""The answer to a criterion that does not apply to what is judged, which results and cells write as `n/a`.

As for a `Hundredth`, its type says an integer, as nearly all answers are: only where a criterion may not apply is it
met.
"""

OVERALL = "overall"
"""The id under which results list the one score of a holistic rubric."""


class Verdict(StrEnum):
    """The verdict on an answer."""

    PASS = "pass"  # noqa: S105 (no password)
    BORDERLINE = "borderline"
    FAIL = "fail"


def stops(verdict: Verdict, line: Verdict) -> bool:
    """Return whether an answer with this verdict is stopped: it is at or below the line, which is never `pass`.

    Everything that calls an answer bad, or lets it through, asks this.
    """
    return verdict is Verdict.FAIL or verdict is line


def read_line(fail_on: str) -> Verdict:
    """Return the line that `--fail-on` draws; `never` changes exit codes alone, and counts as `fail`."""
    return Verdict.BORDERLINE if fail_on == Verdict.BORDERLINE else Verdict.FAIL


class Grade(NamedTuple):
    """The worth of one answer to one criterion: normalized to 0..1, and in the integer points of its rubric.

    `outcome` is the outcome of the band or level, or of a checklist criterion. What does not apply is worth nothing,
    and its `score` of 0 counts nowhere.
    """

    answer: AnswerValue
    score: Fraction
    points: int
    gate_met: bool
    outcome: str | None


_LEFT_OUT = Grade(NOT_APPLICABLE, Fraction(0), points=0, gate_met=True, outcome=None)


@dataclass(frozen=True, slots=True)
class ScoringCriterion:
    """One criterion: every allowed answer, in ascending order, and its worth.

    `share` is its exact part in the average, if all criteria apply. `gate` is the lowest score or level that passes, or
    None. `outcome` is what is judged, if the rubric says it. `shape` says what the judge gives, and `field` is the
    field of a check with it. With `may_not_apply`, the judge may say so instead. A critical failure (`is_failure`)
    fails the answer if it is found.
    """

    id: str
    weight: Decimal
    share: Fraction
    gate: int | None
    outcome: str | None
    grades: tuple[Grade, ...]
    shape: Shape = Shape.CHECKLIST
    field: str = "satisfied"
    may_not_apply: bool = False
    is_failure: bool = False

    @property
    def all_grades(self) -> tuple[Grade, ...]:
        """The grades with that of `n/a`, if the criterion may not apply."""
        if self.may_not_apply:
            return (*self.grades, _LEFT_OUT)
        return self.grades

    @property
    def has_hundredths(self) -> bool:
        """Whether an answer may be a decimal in hundredths."""
        return isinstance(self.grades[0].answer, Hundredth)

    @property
    def numbers(self) -> list[int]:
        """The numbers that an answer may be, in ascending order; empty for a yes or no."""
        return [grade.answer for grade in self.grades if not isinstance(grade.answer, bool)]

    def word_allowed(self) -> str:
        """Return the allowed answers in words: `yes or no`, `1 to 5`."""
        if self.shape is Shape.CHECKLIST:
            return "yes or no"
        if self.has_hundredths:
            return f"{self.numbers[0]} to {self.numbers[-1]}, with at most two decimals"
        return list_scores(self.numbers)

    def grade(self, answer: AnswerValue) -> Grade | None:
        """Return the grade of an answer, or None if the answer is not allowed."""
        for grade in self.all_grades:  # faster than a generator
            if grade.answer == answer:
                return grade
        return None

    def merit(self, grade: Grade) -> tuple[bool, Fraction]:
        """Return the rank of an answer from the worst to the best: whether the gate is met, then the gain of the total.

        The higher answer is the better one, except where it misses the gate or costs points.
        """
        score = -grade.score if self.share < 0 else grade.score
        return grade.gate_met, score

    @property
    def is_turned(self) -> bool:
        """Whether higher answers are the worse ones, by what they earn or by the gate."""
        first, last = self.grades[0], self.grades[-1]
        return self.merit(first) > self.merit(last)

    @property
    def from_worst(self) -> tuple[Grade, ...]:
        """The grades from that of the worst answer to that of the best."""
        return tuple(sorted(self.grades, key=self.merit))

    def find_middle(self, answers: Sequence[AnswerValue], *, better: bool = False) -> AnswerValue:
        """Return the median of allowed answers; of two in the middle the worse, or the better.

        The criterion does not apply if more than half of the answers say so. Else they are left out.
        """
        applying = [answer for answer in answers if answer != NOT_APPLICABLE]
        if 2 * len(applying) < len(answers):
            return NOT_APPLICABLE
        given = set(applying)
        merits = {grade.answer: self.merit(grade) for grade in self.grades if grade.answer in given}
        ordered = sorted(applying, key=merits.__getitem__)
        return ordered[len(ordered) // 2] if better else ordered[(len(ordered) - 1) // 2]


@dataclass(frozen=True, slots=True, repr=False)
class CriterionResult:
    """The result of one criterion; with several samples, `share` of them gave this answer."""

    criterion: ScoringCriterion
    grade: Grade
    reasoning: str | None = None
    share: Fraction | None = None

    @property
    def applies(self) -> bool:
        """Whether the criterion applies to the answer."""
        return self.grade.answer != NOT_APPLICABLE

    def __repr__(self) -> str:
        return f"<CriterionResult {self.criterion.id!r}: {self.grade.answer!r}>"

    def to_json(self) -> dict[str, Any]:
        """Return the criterion as it appears in results."""
        share = {} if self.share is None else {"share": float(self.share)}
        return {
            "id": self.criterion.id,
            "raw": self.grade.answer,
            **share,
            "score": float(self.grade.score) if self.applies else None,
            "weight": float(self.criterion.weight),
            "gate": self.criterion.gate,
            "gate_met": self.grade.gate_met,
            "outcome": self.grade.outcome,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Scored:
    """The result of one answer. `score` is exact, in 0..1; only the printed score is rounded to a float.

    `samples` are the results of which this one is the median; empty if the answer was judged once. If a panel of models
    judged, `models` has the name of the model that gave each of them, and `votes` is how many of these models differ.
    `groups` are the results of the groups, if the rubric weighs them. `text` is the inside of the result as a JSON
    object, if its reader keeps it for all outputs with these answers.
    """

    rubric: "ScoringRubric"
    score: Fraction
    verdict: Verdict
    criteria: tuple[CriterionResult, ...]
    reasoning: str | None = None
    samples: tuple["Scored", ...] = ()
    models: tuple[str, ...] = ()
    votes: int = 0
    groups: tuple[GroupResult, ...] = ()
    text: str = field(default="", compare=False)

    @property
    def answers(self) -> tuple[AnswerValue, ...]:
        """The answers, in the order of the criteria."""
        return tuple([result.grade.answer for result in self.criteria])

    @property
    def points(self) -> int:
        """The points: the score is exactly `points` out of `full`."""
        return (self.score * self.rubric.full).numerator

    @property
    def full(self) -> int:
        """The points of the best answer; twice as many if the median of several outputs has half a point.

        They depend on the answer if the points of the rubric vary: the score is in lowest terms then.
        """
        return self.rubric.full * (self.score * self.rubric.full).denominator

    @property
    def rubric_score(self) -> Fraction | None:
        """The score in units of the scale of the rubric; None if the rubric has none."""
        return self.rubric.in_units(self.score)

    @property
    def rubric_grade(self) -> str | None:
        """The name of the score by the `grades` of the rubric; None if it has none, or the score is below all."""
        return self.rubric.name_score(self.score)

    @property
    def gates_missed(self) -> tuple[str, ...]:
        """The ids of the criteria, and then of the groups, whose gates are missed."""
        criteria = [result.criterion.id for result in self.criteria if not result.grade.gate_met]
        groups = [result.group.id for result in self.groups if not result.gate_met]
        return tuple(criteria + groups)

    @property
    def verdicts(self) -> dict[Verdict, int]:
        """The number of samples with each verdict."""
        return _count_verdicts(self.samples or (self,))

    @property
    def stable(self) -> bool:
        """Whether all samples have the same verdict."""
        return sum(map(bool, self.verdicts.values())) == 1

    def __repr__(self) -> str:
        answers = ", ".join(f"{result.criterion.id!r}: {result.grade.answer!r}" for result in self.criteria)
        return f"<Scored {self.rubric.name!r}: {self.verdict}, {self.score}, {{{answers}}}>"

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON, without the fields that the record adds."""
        found = {**self.rubric.to_json(), **self.summarize()}
        if self.samples:
            found |= {"verdicts": self.verdicts, "stable": self.stable}
        if self.samples and self.models:
            by_model: dict[str, list[Scored]] = {}
            for model, sample in zip(self.models, self.samples, strict=True):
                by_model.setdefault(model, []).append(sample)
            panel = [{"model": model, "verdicts": _count_verdicts(samples)} for model, samples in by_model.items()]
            # Outputs of one model are not independent votes; those of different models may be.
            found |= {"independent_votes_at_most": self.votes, "panel": panel}
        found["criteria"] = [criterion.to_json() for criterion in self.criteria]
        if self.groups:
            found["groups"] = [group.to_json() for group in self.groups]
        return found

    def summarize(self) -> dict[str, Any]:
        """Return the score, the verdict, and how the rubric words the score, as they appear in the result."""
        found: dict[str, Any] = {"score": float(self.score), "verdict": str(self.verdict)}
        in_units = self.rubric_score
        if in_units is not None:
            found["rubric_score"] = float(in_units)
        if self.rubric.rubric_grades:
            found["rubric_grade"] = self.rubric_grade
        return found


def _count_verdicts(results: Iterable[Scored]) -> dict[Verdict, int]:
    verdicts = [result.verdict for result in results]
    return {verdict: verdicts.count(verdict) for verdict in Verdict}


@dataclass(frozen=True, slots=True)
class ReadingNotes:
    """What reading an output passed over: fields that nobody asked for, and line breaks that JSON would escape."""

    unread_fields: tuple[str, ...] = ()
    has_raw_controls: bool = False


NO_NOTES = ReadingNotes()


@dataclass(frozen=True, slots=True)
class JudgeOutput:
    """A valid judge output: the answer and the reason for each criterion, in the rubric's order."""

    answers: tuple[AnswerValue, ...]
    reasons: tuple[str | None, ...]
    reasoning: str | None = None
    notes: ReadingNotes = field(default=NO_NOTES, compare=False, repr=False)


class RubricError(UserError):
    """A file whose rubrics cannot be scored; `faults` lists the reasons, each with its place."""

    @property
    def faults(self) -> tuple[str, ...]:
        """The reasons."""
        return self.lines


class VaryingPointsError(RubricError):
    """A rubric whose criteria have no constant points, for something that needs them; the message says it."""


class NothingAppliesError(OutputError):
    """An output without a score, because nothing in the rubric applies to the answer; `answers` are the judge's."""

    REASON = "no score: no criterion that earns points applies to this answer"

    def __init__(self, message: str = REASON, answers: tuple[AnswerValue, ...] = ()) -> None:
        super().__init__(message)
        self.answers = answers


def is_unscored(message: str) -> bool:
    """Return whether an error says that nothing applies, also to one of several outputs."""
    return message.endswith(NothingAppliesError.REASON)


class Weighed(NamedTuple):
    """What answers come to: `points` out of `full`, at least 0, the verdict, and the results of the groups."""

    points: int
    full: int
    verdict: Verdict
    groups: tuple[GroupResult, ...] = ()

    @property
    def score(self) -> Fraction:
        """The score in 0..1."""
        return Fraction(self.points, self.full)


@dataclass(frozen=True, slots=True, repr=False)
class ScoringRubric:
    """A rubric prepared for scoring: weights and normalized scores are whole numbers of points.

    `name` is the name that records use, `hash` the canonical hash of its meaning, `model` the rubric as it was linted,
    `full` the points of the best answer; `pass_from` and `borderline_from` are the lowest points with those verdicts.
    With `cuts_mean`, a mean counts what answers lose below 0, and only the mean is cut there. `form` is the definition
    of its judge outputs in the schema.

    `tree` is its root, if it has groups or conditions. If it `varies`, there are no constant points: which criteria
    apply, or which groups reach 0, decides what the others are worth. `full` is 1 then, and only `weigh` says what
    answers come to. `units` are the worst and the best score in units of the rubric's own scale, None without one.
    `rubric_grades` are the names of scores, each with its lowest one, from the highest on.
    """

    name: str
    hash: str
    model: Rubric = field(compare=False)
    shape: Shape
    criteria: tuple[ScoringCriterion, ...]
    full: int
    pass_from: int | Fraction
    borderline_from: int | Fraction
    cuts_mean: bool = False
    form: str = ""
    tree: ScoringGroup | None = None
    varies: bool = False
    units: tuple[int, int] | None = None
    rubric_grades: tuple[tuple[str, Fraction], ...] = ()

    def __hash__(self) -> int:
        return hash((self.name, self.hash))

    def __repr__(self) -> str:
        ids = [repr(criterion.id) for criterion in self.criteria[:5]]
        if len(self.criteria) > len(ids):
            ids.append("...")
        return f"<ScoringRubric {self.name!r}: {self.shape}, {self.hash}, [{', '.join(ids)}]>"

    def __getstate__(self) -> list[Any]:
        """Return the state to pickle, without the model, which may refer to the file of the rubric."""
        model = self.model._replace(replacements={}, ambiguous=(), view=None)
        names = [attribute.name for attribute in fields(self)]
        return [model if name == "model" else getattr(self, name) for name in names]

    @property
    def question(self) -> str | None:
        """What the case of the rubric asks, which a judge sees of answers without a question of their own."""
        view = self.model.view
        return view.question or None if view else None

    def to_json(self) -> dict[str, Any]:
        """Return the rubric as it appears in results."""
        return {"rubric": self.name, "rubric_hash": self.hash, "shape": str(self.shape)}

    @property
    def word_units(self) -> str:
        """The scale of the rubric in words: `1 to 5`; empty without one."""
        return f"{self.units[0]} to {self.units[1]}" if self.units else ""

    def in_units(self, score: Fraction) -> Fraction | None:
        """Return a score in units of the scale of the rubric; None if it has none."""
        if self.units is None:
            return None
        worst, best = map(Hundredth.fraction, self.units)
        return worst + score * (best - worst)

    def name_score(self, score: Fraction) -> str | None:
        """Return the name of a score by the `grades` of the rubric; None if it has none, or the score is below all."""
        return next((name for name, minimum in self.rubric_grades if score >= minimum), None)

    @property
    def groups(self) -> tuple[ScoringGroup, ...]:
        """The groups, without the root, in the order of the file."""
        return tuple(self.tree.list_groups())[1:] if self.tree else ()

    def write_score(self, score: Fraction) -> str:
        """Write a score in four digits: in units of the scale of the rubric, or from 0 to 1 without one."""
        in_units = self.in_units(score)
        written = score if in_units is None else in_units
        return f"{float(written):.4g}"

    def word_in_units(self, score: Fraction) -> str:
        """Return a score in units of the scale of the rubric in words: `3.6 of 1 to 5`; empty without a scale."""
        in_units = self.in_units(score)
        return "" if in_units is None else f"{float(in_units):.4g} of {self.word_units}"

    @property
    def has_own_mark(self) -> bool:
        """Whether a rubric of version 3 states its own pass mark, which no option changes."""
        view = self.model.view
        return view is not None and view.dialect is OWN and view.threshold is not None and not view.is_gate

    @property
    def own_fields(self) -> frozenset[str]:
        """The fields that results have only by such rubrics."""
        fields = {"rubric_score": self.units, "rubric_grade": self.rubric_grades, "groups": self.tree}
        return frozenset(name for name, value in fields.items() if value)

    def require_points(self, purpose: str) -> None:
        """Check that the points of each answer are constant, as a purpose needs it.

        Raises:
            VaryingPointsError: if they vary.
        """
        if self.varies:
            raise VaryingPointsError(
                f"rubric `{self.name}`: {purpose} needs constant weights; here, `applies_if`, the gate of a group or "
                "a weight below 0 in a group makes them depend on the answer"
            )

    def weigh(self, grades: Iterable[Grade]) -> Weighed:
        """Return the points, the verdict and the groups of the grades of all criteria.

        Raises:
            NothingAppliesError: if nothing applies, so that there is no score.
        """
        groups: tuple[GroupResult, ...] = ()
        if self.tree is not None:
            grades = tuple(grades)
            groups = self.tree.weigh([None if grade.answer == NOT_APPLICABLE else grade.score for grade in grades])
            if self.varies:
                return self._weigh_tree(grades, groups)
        points, gates_met = 0, True
        for grade in grades:
            points += grade.points
            gates_met = gates_met and grade.gate_met
        points = max(points, 0)  # criteria that cost points may cost more than the others earn
        return Weighed(points, self.full, self.decide(points, gates_met=gates_met), groups[1:])

    def _weigh_tree(self, grades: Sequence[Grade], groups: tuple[GroupResult, ...]) -> Weighed:
        score = groups[0].score
        if score is None:
            pairs = zip(self.criteria, grades, strict=True)
            failures = [
                f"`{criterion.id}`" for criterion, grade in pairs if criterion.is_failure and not grade.gate_met
            ]
            start = f"critical failure {join_words(failures)} found, but " if failures else ""
            raise NothingAppliesError(start + NothingAppliesError.REASON, tuple(grade.answer for grade in grades))
        gates_met = all(grade.gate_met for grade in grades) and all(group.gate_met for group in groups)
        verdict = self.decide(score, gates_met=gates_met)
        return Weighed(score.numerator, score.denominator, verdict, groups[1:])

    def decide(self, points: int | Fraction, *, gates_met: bool) -> Verdict:
        """Return the verdict for a sum of points, which may be below 0."""
        points = max(points, 0)
        if not gates_met or points < self.borderline_from:
            return Verdict.FAIL
        return Verdict.PASS if points >= self.pass_from else Verdict.BORDERLINE

    def grade(self, output: JudgeOutput) -> Scored:
        """Return the score and verdict of a valid output."""
        results = []
        for criterion, answer, reason in zip(self.criteria, output.answers, output.reasons, strict=True):
            grade = criterion.grade(answer)
            if grade is None:
                raise ValueError("an answer that the rubric does not allow")
            results.append(CriterionResult(criterion, grade, reason))
        weighed = self.weigh(result.grade for result in results)
        return Scored(self, weighed.score, weighed.verdict, tuple(results), output.reasoning, groups=weighed.groups)

    def decide_output(self, output: JudgeOutput) -> Verdict | None:
        """Return the verdict of a valid output; None if it has no score, as nothing applies."""
        try:
            return self.grade(output).verdict
        except NothingAppliesError:
            return None


_FROM_WORST = (Verdict.FAIL, Verdict.BORDERLINE, Verdict.PASS)


@takes(samples=MANY)
def combine_samples(samples: Sequence[Scored]) -> Scored:
    """Return the median of several results of one rubric for one answer; at least one of them has its verdict.

    The verdict is the median of the verdicts, not the verdict on a combined output: samples that each miss a different
    gate all fail, while the medians of their criteria would pass. If two verdicts or answers are in the middle, the
    worse one counts. The score is the median of the scores, and may lie between two of them. A criterion or a group
    does not apply if more than half of the samples say so; else, those samples are left out of its median.

    Raises:
        ValueError: if there are no results, or they are of different rubrics.
    """
    require_items("samples", samples, Scored)
    if not samples:
        raise ValueError("no results to combine")
    if len({sample.rubric.hash for sample in samples}) != 1:
        raise ValueError("results of different rubrics have no median")
    if len(samples) == 1:
        return samples[0]
    verdict = find_middle_verdict([sample.verdict for sample in samples])
    score = find_median([sample.score for sample in samples])
    criteria = []
    for results in zip(*[sample.criteria for sample in samples], strict=True):
        answers = [result.grade.answer for result in results]
        answer = results[0].criterion.find_middle(answers)
        share = Fraction(answers.count(answer), len(answers))
        # With the reason of the first sample that gave this answer.
        criteria.append(replace(results[answers.index(answer)], share=share))
    reasons = [sample.reasoning for sample in samples if sample.verdict is verdict and sample.reasoning]
    reasoning = reasons[0] if reasons else None
    groups = [_combine_group(results) for results in zip(*[sample.groups for sample in samples], strict=True)]
    return Scored(samples[0].rubric, score, verdict, tuple(criteria), reasoning, tuple(samples), groups=tuple(groups))


def find_middle_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the median of at least one verdict; of two in the middle the worse."""
    return sorted(verdicts, key=_FROM_WORST.index)[(len(verdicts) - 1) // 2]


def _combine_group(results: Sequence[GroupResult]) -> GroupResult:
    """Return the median of a group's results; None if more than half of the samples say that it does not apply."""
    applying = [result.score for result in results if result.score is not None]
    is_left_out = 2 * len(applying) < len(results)
    score = None if is_left_out else find_median(applying)
    return GroupResult(results[0].group, score)


def find_median(scores: Sequence[Fraction]) -> Fraction:
    """Return the median: of two in the middle, what is halfway between them."""
    ordered = sorted(scores)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


@dataclass(frozen=True, slots=True)
class Prospect:
    """The worst and the best verdict that one answer to a criterion still allows; some answers reach both.

    `score` is the highest of the whole rubric that the answers to the other criteria allow.
    """

    worst: Verdict
    best: Verdict
    score: Fraction

    @property
    def is_certain(self) -> bool:
        """Whether only one verdict is left."""
        return self.worst is self.best


class Prospects:
    """The prospects of one rubric. Best answers are those with the highest score that meet the gates.

    Criteria that are `known`, by their index, have only that answer. Outputs without a score have no verdict.

    Raises:
        VaryingPointsError: if a group weighs below 0 and has a gate in it, so that its best answers may miss it.
    """

    def __init__(self, rubric: ScoringRubric, known: Mapping[int, Grade] = MappingProxyType({})) -> None:
        allowed = [
            [known[number]] if number in known else criterion.all_grades
            for number, criterion in enumerate(rubric.criteria)
        ]
        self._rubric = rubric
        self._tree = rubric.tree if rubric.varies else None
        if self._tree:
            require_rising_gates(rubric.name, self._tree)
            self._ranges = [_find_range(grades) for grades in allowed]
            self._meeting = [_find_range(filter(attrgetter("gate_met"), grades)) for grades in allowed]
        self._highest: list[int] = []
        self._lowest: list[int] = []
        self._never_met: list[bool] = []
        self._may_miss: list[bool] = []
        for grades in allowed:
            points = [grade.points for grade in grades]
            meeting = [grade.points for grade in grades if grade.gate_met]
            self._highest.append(max(meeting or points))
            self._lowest.append(min(points))
            self._never_met.append(not meeting)
            self._may_miss.append(len(meeting) < len(points))
        self._sums = sum(self._highest), sum(self._lowest), sum(self._never_met), sum(self._may_miss)

    def find(self, number: int, grade: Grade) -> Prospect:
        """Return the prospect of one answer to the criterion with this index.

        Raises:
            NothingAppliesError: if no output with this answer has a score.
        """
        highest, lowest, never_met, may_miss = self._sums
        can_meet = grade.gate_met and never_met == self._never_met[number]
        must_meet = grade.gate_met and may_miss == self._may_miss[number]
        if self._tree:
            return self._find_in_tree(self._tree, number, grade, can_meet=can_meet, must_meet=must_meet)
        points = highest - self._highest[number] + grade.points
        least = lowest - self._lowest[number] + grade.points
        decide = self._rubric.decide
        worst, best = decide(least, gates_met=must_meet), decide(points, gates_met=can_meet)
        return Prospect(worst, best, Fraction(max(points, 0), self._rubric.full))

    def _find_in_tree(
        self, tree: ScoringGroup, number: int, grade: Grade, *, can_meet: bool, must_meet: bool
    ) -> Prospect:
        one = _find_range([grade])
        ranges = [*self._ranges[:number], one, *self._ranges[number + 1 :]]
        meeting = [*self._meeting[:number], one, *self._meeting[number + 1 :]]
        groups = list(tree.find_ranges(ranges))
        _, (lowest, highest, _) = groups[-1]
        if lowest is None or highest is None:
            raise NothingAppliesError
        for group, (low, _, _) in groups:
            if low is not None and group.gate is not None and low < group.gate:
                must_meet = False
        *_, (_, (_, best, _)) = tree.find_ranges(meeting, meet_gates=True)
        decide = self._rubric.decide
        worst = decide(lowest, gates_met=must_meet)
        # Where no answer meets all gates the verdict is fail, whatever the score.
        return Prospect(worst, decide(best or lowest, gates_met=can_meet and best is not None), highest)


def _find_range(grades: Iterable[Grade]) -> ScoreBounds:
    """Return the lowest and the highest score of a criterion with only these grades."""
    grades = list(grades)
    scores = [grade.score for grade in grades if grade.answer != NOT_APPLICABLE]
    return ScoreBounds(min(scores, default=None), max(scores, default=None), len(scores) < len(grades))


def require_rising_gates(name: str, tree: ScoringGroup) -> None:
    """Check that answers that raise the score never miss the gate of a group.

    Raises:
        VaryingPointsError: if a group weighs below 0 and has a gate in it.
    """
    for group in tree.list_groups():
        for weight, part in group.members:
            if weight >= 0 or not isinstance(part, ScoringGroup):
                continue
            if any(inner.gate is not None for inner in part.list_groups()):
                raise VaryingPointsError(
                    f"rubric `{name}`: what an answer can still reach is not decided: the group `{part.id}` weighs "
                    "below 0 and has a gate"
                )

"""Count the results of a run, with means and spreads that are exact until printed."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.model.messages import counted, fields_to_data, join_first, pluralize, shorten
from rubric_lint.scoring.grading import (
    AnswerValue,
    ReadingNotes,
    Scored,
    ScoringCriterion,
    ScoringRubric,
    Verdict,
    find_median,
)
from rubric_lint.scoring.groups import GroupResult, ScoringGroup


class PanelVotes(NamedTuple):
    """The models that judged an answer together, by name, and how many of their votes can be independent."""

    models: tuple[str, ...]
    votes: int


@dataclass(slots=True)
class CriterionTotals:
    """The answers to one criterion, with counts."""

    criterion: ScoringCriterion
    answers: Counter[AnswerValue] = field(default_factory=Counter)

    @property
    def mean(self) -> Fraction | None:
        """The mean of the normalized scores, or None without scores."""
        return _mean(self._scores())

    @property
    def spread(self) -> float | None:
        """The population standard deviation of the normalized scores, or None without scores."""
        mean = self.mean
        if mean is None:
            return None
        squares = _mean(((score - mean) ** 2, count) for score, count in self._scores())
        return math.sqrt(squares or 0)

    @property
    def gates_missed(self) -> int | None:
        """How often the gate was missed, or None without a gate."""
        if self.criterion.gate is None:
            return None
        return sum(self.answers[grade.answer] for grade in self.criterion.grades if not grade.gate_met)

    def _scores(self) -> list[tuple[Fraction, int]]:
        return [(grade.score, self.answers[grade.answer]) for grade in self.criterion.grades]

    def to_json(self) -> dict[str, Any]:
        """Return the criterion as it appears in the totals, with `answers` in ascending order."""
        return fields_to_data(
            {
                "id": self.criterion.id,
                "mean": self.mean,
                "spread": self.spread,
                "gate": self.criterion.gate,
                "gates_missed": self.gates_missed,
                "answers": [
                    {"raw": grade.answer, "times": self.answers[grade.answer]}
                    for grade in self.criterion.all_grades
                    if self.answers[grade.answer]
                ],
            }
        )


@dataclass(slots=True)
class GroupTotals:
    """The results of a group: of how many outputs it `applies` to, the sum of their scores, and the gates missed."""

    group: ScoringGroup
    applies: int = 0
    score: Fraction = Fraction(0)
    gates_missed: int = 0

    def take(self, result: GroupResult, times: int) -> None:
        """Count a result that so many outputs have."""
        if result.score is not None:
            self.applies += times
            self.score += result.score * times
            self.gates_missed += 0 if result.gate_met else times

    def add(self, other: "GroupTotals") -> None:
        """Add the totals of another part."""
        self.applies += other.applies
        self.score += other.score
        self.gates_missed += other.gates_missed

    @property
    def mean(self) -> Fraction | None:
        """The mean of the scores in 0..1, or None without scores."""
        return self.score / self.applies if self.applies else None

    def to_json(self) -> dict[str, Any]:
        """Return the group as it appears in the totals."""
        gate = self.group.gate
        gates_missed = None if gate is None else self.gates_missed
        return fields_to_data(
            {
                "id": self.group.id,
                "outputs": self.applies,
                "mean": self.mean,
                "gate": gate,
                "gates_missed": gates_missed,
            }
        )


@dataclass(slots=True)
class RubricTotals:
    """The totals of the outputs for one rubric."""

    rubric: ScoringRubric
    criteria: tuple[CriterionTotals, ...] = field(init=False)
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    points: Fraction = Fraction(0)
    sampled: int = 0
    stable: int = 0
    """The number of answers judged several times, and of those with the same verdict each time."""
    panels: Counter[PanelVotes] = field(default_factory=Counter)
    """The number of answers that each panel of models judged."""
    grades: Counter[str | None] = field(default_factory=Counter)
    """The number of outputs with each grade of the rubric; None counts those below all."""
    groups: dict[str, GroupTotals] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.criteria = tuple(map(CriterionTotals, self.rubric.criteria))
        self.groups = {group.id: GroupTotals(group) for group in self.rubric.groups}

    def add(self, other: "RubricTotals") -> None:
        """Add other totals of the same rubric.

        Raises:
            ValueError: if the rubric has another meaning there.
        """
        if other.rubric.hash != self.rubric.hash:
            hashes = f"{self.rubric.hash} and {other.rubric.hash}"
            raise ValueError(
                f"the rubric `{self.rubric.name}` has two meanings (rubric_hash {hashes}); total each alone"
            )
        self.verdicts += other.verdicts
        self.points += other.points
        self.sampled += other.sampled
        self.stable += other.stable
        self.panels += other.panels
        self.grades += other.grades
        for name, group in self.groups.items():
            group.add(other.groups[name])
        answers = {totals.criterion.id: totals.answers for totals in other.criteria}
        for criterion in self.criteria:
            criterion.answers += answers[criterion.criterion.id]

    @property
    def scored(self) -> int:
        """The number of outputs with a score."""
        return self.verdicts.total()

    @property
    def mean(self) -> Fraction | None:
        """The mean score, at least 0, or None without scores."""
        mean = self.uncut_mean
        return None if mean is None else max(mean, Fraction(0))

    @property
    def rubric_mean(self) -> Fraction | None:
        """The mean score in units of the scale of the rubric; None without scores, or without a scale."""
        mean = self.mean
        return None if mean is None else self.rubric.in_units(mean)

    def list_grades(self) -> list[dict[str, Any]]:
        """Return how many outputs have each grade, from the best on; `null` is below all of them."""
        names: list[str | None] = [name for name, _ in self.rubric.rubric_grades]
        if self.grades[None]:
            names.append(None)
        return [{"grade": name, "outputs": self.grades[name]} for name in names]

    @property
    def uncut_mean(self) -> Fraction | None:
        """The mean score, or None without scores; it may be below 0 if only the mean is cut there."""
        return self.points / (self.rubric.full * self.scored) if self.scored else None

    def to_json(self) -> dict[str, Any]:
        """Return the rubric as it appears in the totals."""
        panels = [
            {"models": list(panel.models), "independent_votes_at_most": panel.votes, "outputs": outputs}
            for panel, outputs in self.panels.items()
        ]
        found: dict[str, Any] = {
            "rubric": self.rubric.name,
            "rubric_hash": self.rubric.hash,
            "outputs": self.scored,
            **{str(verdict): self.verdicts[verdict] for verdict in Verdict},
            "mean": self.mean,
        }
        if self.rubric.units:
            found["rubric_mean"] = self.rubric_mean
        if self.rubric.rubric_grades:
            found["rubric_grades"] = self.list_grades()
        if self.sampled:
            found |= {"sampled": self.sampled, "stable": self.stable}
        if panels:
            found["panels"] = panels
        found["criteria"] = self.criteria
        if self.groups:
            found["groups"] = list(self.groups.values())
        return fields_to_data(found)


_MOST_FIELDS = 1_000
"""The most names of unread fields to count: a judge may invent one for each output."""

_MOST_SHOWN = 5
"""The most unread fields that a line names."""


@dataclass(slots=True)
class ReadingTotals:
    """What reading outputs passed over: how many have each field that nobody asked for, and how many raw line breaks.

    A raw line break is one in a string, which JSON would escape.
    """

    unread_fields: Counter[str] = field(default_factory=Counter)
    raw_controls: int = 0

    def note(self, notes: ReadingNotes) -> None:
        """Count what reading one output passed over."""
        self._count(dict.fromkeys(notes.unread_fields, 1), int(notes.has_raw_controls))

    def add(self, other: "ReadingTotals") -> None:
        """Add what reading other outputs passed over."""
        self._count(other.unread_fields, other.raw_controls)

    def _count(self, fields: Mapping[str, int], raw_controls: int) -> None:
        self.raw_controls += raw_controls
        for name, times in fields.items():
            if name in self.unread_fields or len(self.unread_fields) < _MOST_FIELDS:
                self.unread_fields[name] += times

    def format_lines(self) -> list[str]:
        """Return a line for the fields that were not read, and one for line breaks that were read as they are."""
        lines = []
        if self.unread_fields:
            counts = self.unread_fields.most_common()
            listed = [f"`{shorten(name)}` ({_count_outputs(times)})" for name, times in counts]
            noun = pluralize(len(counts), "field")
            lines.append(f"not read: the {noun} {join_first(listed, _MOST_SHOWN)}, which nobody asked for")
        if self.raw_controls:
            what = counted(self.raw_controls, "output has", "outputs have")
            lines.append(f"{what} a string with a line break that JSON writes as \\n; it was read as it is")
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return the counts as they appear in the totals; empty if nothing was passed over."""
        found: dict[str, Any] = {}
        if self.unread_fields:
            found["unread_fields"] = dict(self.unread_fields.most_common())
        if self.raw_controls:
            found["raw_line_breaks"] = self.raw_controls
        return found


class Totals:
    """The totals of all outputs, by rubric; means and spreads leave out invalid ones. Totals of parts add up by `+`.

    `reading` says what reading the valid outputs passed over. `unscored` counts the outputs that are valid and have no
    score, as nothing in the rubric applies.
    """

    def __init__(self, rubrics: Iterable[ScoringRubric]) -> None:
        self.invalid = 0
        self.unscored = 0
        self.reading = ReadingTotals()
        self.rubrics = {rubric.name: RubricTotals(rubric) for rubric in rubrics}

    def take(self, result: Scored, times: int = 1) -> None:
        """Count a result that so many outputs have."""
        totals = self.rubrics[result.rubric.name]
        totals.verdicts[result.verdict] += times
        totals.points += times * _count_points(result)
        if result.samples:
            totals.sampled += times
            totals.stable += times if result.stable else 0
        for group in result.groups:
            totals.groups[group.group.id].take(group, times)
        if result.rubric.rubric_grades:
            totals.grades[result.rubric_grade] += times
        if result.models:
            # `models` names a model once for each of its samples.
            totals.panels[PanelVotes(tuple(dict.fromkeys(result.models)), result.votes)] += times
        for criterion, answer in zip(totals.criteria, result.answers, strict=True):
            criterion.answers[answer] += times

    def __add__(self, other: "Totals") -> "Totals":
        """Return the totals of both; those of parts add up to those of the whole.

        Raises:
            ValueError: if they have rubrics with one name and different meanings.
        """
        if not isinstance(other, Totals):
            return NotImplemented
        added = Totals([])
        added.add(self)
        added.add(other)
        return added

    def add(self, other: "Totals") -> None:
        """Add the totals of another part to these.

        Raises:
            ValueError: if they have rubrics with one name and different meanings.
        """
        self.invalid += other.invalid
        self.unscored += other.unscored
        self.reading.add(other.reading)
        for name, part in other.rubrics.items():
            if name not in self.rubrics:
                self.rubrics[name] = RubricTotals(part.rubric)
            self.rubrics[name].add(part)

    def __radd__(self, start: int) -> "Totals":
        """Return a copy, so that `sum` adds up totals."""
        return self + Totals([]) if start == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Totals) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def verdicts(self) -> Counter[Verdict]:
        """The number of outputs with each verdict."""
        return sum((totals.verdicts for totals in self.rubrics.values()), Counter())

    @property
    def outputs(self) -> int:
        """The number of outputs read, including those without a score."""
        return self.invalid + self.unscored + self.verdicts.total()

    @property
    def mean(self) -> Fraction | None:
        """The mean score of all valid outputs, at least 0, or None without any."""
        mean = _mean((totals.uncut_mean or Fraction(0), totals.scored) for totals in self.rubrics.values())
        return None if mean is None else max(mean, Fraction(0))

    def to_json(self) -> dict[str, Any]:
        """Return the totals as `--format json` writes them."""
        unscored = {"unscored": self.unscored} if self.unscored else {}
        return fields_to_data(
            {
                "outputs": self.outputs,
                "invalid": self.invalid,
                **unscored,
                **{str(verdict): self.verdicts[verdict] for verdict in Verdict},
                "mean": self.mean,
                **self.reading.to_json(),
                "rubrics": [totals for totals in self.rubrics.values() if totals.scored],
            }
        )

    def __repr__(self) -> str:
        return f"<Totals: {self}>"

    def __str__(self) -> str:
        """Return all counts on one line."""
        counts = ", ".join(f"{self.verdicts[verdict]} {verdict}" for verdict in Verdict)
        mean = "" if self.mean is None else f"; mean score {float(self.mean):.3f}"
        unscored = f", {self.unscored} without a score, as nothing applies" if self.unscored else ""
        return f"{self.outputs} {pluralize(self.outputs, 'output')}: {counts}, {self.invalid} invalid{unscored}{mean}"


def _count_outputs(count: int) -> str:
    return counted(count, "output")


def _count_points(result: Scored) -> Fraction:
    """Return the points of a result in a mean: below 0 only if the mean is cut there, not each score."""
    if not result.rubric.cuts_mean:
        return result.score * result.rubric.full
    if not result.samples:
        return Fraction(sum(result.grade.points for result in result.criteria))
    return find_median([_count_points(sample) for sample in result.samples])


def _mean(scores: Iterable[tuple[Fraction, int]]) -> Fraction | None:
    """Return the mean of scores, each with its count, or None without any."""
    total, count = Fraction(0), 0
    for score, times in scores:
        total += score * times
        count += times
    return total / count if count else None

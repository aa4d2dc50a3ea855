"""Keep the results of another run, each different one once, with the rubrics that they were scored by."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.outputs.extract import OutputError
from rubric_lint.scoring.grading import AnswerValue, Scored, ScoringRubric, Verdict
from rubric_lint.scoring.output import Known

_VERDICTS = {str(verdict): verdict for verdict in Verdict}


class OtherGrade(NamedTuple):
    """An answer to a criterion, its normalised score, and whether it meets the gate."""

    answer: AnswerValue
    score: Fraction
    gate_met: bool


class OtherCriterion:
    """A criterion of another run: the answers that it allows, or those that occurred."""

    def __init__(self, name: str, weight: float | None, gate: int | None) -> None:
        self.id, self.weight, self.gate = name, weight, gate
        self.grades: list[OtherGrade] = []
        self._places: dict[tuple[type, AnswerValue, bool], int] = {}

    def place(self, grade: OtherGrade) -> int:
        """Return the place of a grade among `grades`; a new one is added."""
        key = type(grade.answer), grade.answer, grade.gate_met
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = len(self.grades)
            self.grades.append(grade)
        return found


class OtherRubric:
    """A rubric of another run, as its results describe it; `places` has those of its criteria by their ids."""

    def __init__(self, name: str, rubric_hash: str, criteria: list[OtherCriterion]) -> None:
        self.name, self.hash, self.criteria = name, rubric_hash, criteria
        self.places = {each.id: place for place, each in enumerate(criteria)}

    def find(self, criterion: str) -> OtherCriterion:
        """Return a criterion by its id."""
        return self.criteria[self.places[criterion]]


class OtherKind(NamedTuple):
    """One combination of answers with its result; `answers` are places among the grades of the criteria."""

    rubric: int
    score: Fraction
    verdict: Verdict
    answers: tuple[int, ...]


class OtherResult(NamedTuple):
    """A line of results, checked."""

    rubric: str
    hash: str
    score: Fraction
    verdict: Verdict
    criteria: list[tuple[str, float | None, int | None, OtherGrade]]


class OtherRubrics:
    """The rubrics and the different results of another run."""

    def __init__(self) -> None:
        self.rubrics: list[OtherRubric] = []
        self.kinds: list[OtherKind] = []
        self._rubrics: dict[tuple[Any, ...], int] = {}
        self._kinds: dict[OtherKind, int] = {}
        self._ours: dict[str, tuple[int, list[dict[AnswerValue, int]]]] = {}

    def number_known(self, known: Known) -> int:
        """Return the number of the result for some answers."""
        if known.number < 0:
            score = Fraction(known.points, known.rubric.full)
            known.number = self._number_ours(known.rubric, score, known.verdict, known.answers)
        return known.number

    def number(self, result: Scored) -> int:
        """Return the number of a result."""
        answers = tuple(each.grade.answer for each in result.criteria)
        return self._number_ours(result.rubric, result.score, result.verdict, answers)

    def number_result(self, result: OtherResult) -> int:
        """Return the number of a line of results."""
        described = [(name, weight, gate) for name, weight, gate, _ in result.criteria]
        place = self._place_rubric(result.rubric, result.hash, described)
        criteria = self.rubrics[place].criteria
        answers = [each.place(grade) for each, (*_, grade) in zip(criteria, result.criteria, strict=True)]
        return self._place(OtherKind(place, result.score, result.verdict, tuple(answers)))

    def _number_ours(
        self, rubric: ScoringRubric, score: Fraction, verdict: Verdict, answers: tuple[AnswerValue, ...]
    ) -> int:
        place, grades = self._ours.get(rubric.name) or self._add_ours(rubric)
        found = tuple([places[answer] for places, answer in zip(grades, answers, strict=True)])
        return self._place(OtherKind(place, score, verdict, found))

    def _add_ours(self, rubric: ScoringRubric) -> tuple[int, list[dict[AnswerValue, int]]]:
        """Add one of our rubrics with all its grades; return its place, and those of the grades by their answers."""
        described = [(each.id, float(each.weight), each.gate) for each in rubric.criteria]
        place = self._place_rubric(rubric.name, rubric.hash, described)
        grades = [
            {each.answer: theirs.place(OtherGrade(each.answer, each.score, each.gate_met)) for each in ours.grades}
            for ours, theirs in zip(rubric.criteria, self.rubrics[place].criteria, strict=True)
        ]
        self._ours[rubric.name] = place, grades
        return place, grades

    def _place_rubric(
        self, name: str, rubric_hash: str, described: Sequence[tuple[str, float | None, int | None]]
    ) -> int:
        key = name, rubric_hash, tuple(described)
        found = self._rubrics.get(key)
        if found is None:
            found = self._rubrics[key] = len(self.rubrics)
            self.rubrics.append(OtherRubric(name, rubric_hash, [OtherCriterion(*each) for each in described]))
        return found

    def _place(self, kind: OtherKind) -> int:
        found = self._kinds.get(kind)
        if found is None:
            found = self._kinds[kind] = len(self.kinds)
            self.kinds.append(kind)
        return found


def is_result(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry is a line of results, with a score or with an error."""
    return {"score", "verdict", "criteria"} <= entry.keys() or (
        isinstance(entry.get("error"), dict) and "output" not in entry
    )


def read_result(entry: Mapping[str, Any]) -> OtherResult:
    """Return a line of results, checked.

    Raises:
        OutputError: if it has no score, or is not as `rubric-score` writes it.
    """
    if "error" in entry:
        if not isinstance(entry["error"], dict):
            raise OutputError("`error` must be an object in a result", "/error")
        raise OutputError(f"a result without a score: {entry['error'].get('message', 'no reason given')}")
    name, score, verdict = entry.get("rubric"), entry["score"], entry["verdict"]
    if not isinstance(name, str):
        raise OutputError("`rubric` must be a string in a result", "/rubric")
    if not _is_score(score):
        raise OutputError("`score` must be a number from 0 to 1 in a result", "/score")
    if not isinstance(verdict, str) or verdict not in _VERDICTS:
        raise OutputError("`verdict` must be pass, borderline or fail in a result", "/verdict")
    if not isinstance(entry["criteria"], list):
        raise OutputError("`criteria` must be a list in a result", "/criteria")
    criteria = [_read_criterion(each, place) for place, each in enumerate(entry["criteria"])]
    if len({each[0] for each in criteria}) < len(criteria):
        raise OutputError("`criteria` has an id more than once", "/criteria")
    named = entry.get("rubric_hash")
    return OtherResult(name, named if isinstance(named, str) else "", Fraction(score), _VERDICTS[verdict], criteria)


def _read_criterion(each: Any, place: int) -> tuple[str, float | None, int | None, OtherGrade]:
    path = f"/criteria/{place}"
    match each:
        case {"id": str(name), "raw": bool() | int() as raw, "score": score, "gate_met": bool(met)} if _is_score(score):
            weight, gate = each.get("weight"), each.get("gate")
            return (
                name,
                float(weight) if _is_number(weight) else None,
                gate if type(gate) is int else None,
                OtherGrade(raw, Fraction(score), met),
            )
    raise OutputError("a criterion of a result needs `id`, `raw`, `score` and `gate_met`", path)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_score(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1

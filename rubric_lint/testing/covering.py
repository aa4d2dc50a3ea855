"""Find the bands, levels and gates of a rubric that no test reaches."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rubric_lint.finding import Problem
from rubric_lint.format.criterion import Shape
from rubric_lint.messages import join_words, name_scores
from rubric_lint.scoring.grading import AnswerValue, ScoringCriterion
from rubric_lint.scoring.places import Spot
from rubric_lint.testing.running import Tested


class Target(NamedTuple):
    """Something that a test can reach: its `kind`, its place, whether one does, and the message if none does."""

    kind: str
    spot: Spot
    is_reached: bool
    code: str
    values: Mapping[str, object]


def list_targets(tested: Tested) -> Iterator[Target]:
    """List the bands or levels of each criterion, then both sides of its gate."""
    for number, criterion in enumerate(tested.rubric.criteria):
        given = {ran.result.criteria[number].grade.answer for ran in tested.ran}
        yield from _list_answers(tested, criterion, given)
        missed = {grade.answer for grade in criterion.grades if not grade.gate_met}
        if missed and tested.rubric.shape is not Shape.CHECKLIST:
            spot = tested.places.gate(criterion.id)
            values = {"criterion": criterion.id}
            yield Target("gate", spot, bool(given & missed), "gate-missed", values)
            yield Target("gate", spot, bool(given - missed), "gate-met", values)


def _list_answers(tested: Tested, criterion: ScoringCriterion, given: set[AnswerValue]) -> Iterator[Target]:
    if tested.rubric.shape is Shape.CHECKLIST:
        spot = tested.places.criterion(criterion.id)
        values = {"criterion": criterion.id}
        yield Target("answer", spot, True in given, "met", values)
        yield Target("answer", spot, False in given, "missed", values)
        return
    spots: dict[Spot, list[int]] = {}
    for grade in criterion.grades:
        spots.setdefault(tested.places.answer(criterion.id, grade.answer), []).append(int(grade.answer))
    kind = "level" if tested.rubric.shape is Shape.LEVELS else "band"
    name = "" if tested.rubric.shape is Shape.HOLISTIC else f" for `{criterion.id}`"
    for spot, answers in spots.items():
        values = {"level": str(answers[0]), "scores": name_scores(answers), "of_criterion": name}
        yield Target(kind, spot, bool(given.intersection(answers)), kind, values)


def find_untested(targets: Sequence[Target], tested: Tested) -> Iterator[Problem]:
    """Return a problem for each target that no test reaches."""
    for target in targets:
        if not target.is_reached:
            yield tested.places.problem(target.spot, target.code, target.values)


_NOUNS = {"band": "bands", "level": "levels", "answer": "answers to checks", "gate": "sides of gates"}


def summarize(targets: Sequence[Target]) -> str:
    """Return the sentence on the targets of all rubrics."""
    total = Counter(target.kind for target in targets)
    reached = Counter(target.kind for target in targets if target.is_reached)
    parts = [f"{reached[kind]} of {total[kind]} {noun}" for kind, noun in _NOUNS.items() if total[kind]]
    return f"Coverage: the tests reach {join_words(parts)}."

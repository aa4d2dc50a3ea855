"""Compare the result of a test with what it expects, and refuse expectations that the rubric can never meet."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from rubric_lint.finding import Place, Problem
from rubric_lint.format.criterion import Shape
from rubric_lint.messages import join_words, list_scores, point_to_known, shorten
from rubric_lint.scoring.grading import (
    AnswerValue,
    CriterionResult,
    Grade,
    Scored,
    ScoringCriterion,
    ScoringRubric,
    Verdict,
)
from rubric_lint.scoring.places import RubricPlaces
from rubric_lint.testing.reading import RubricTest
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path

_LONGEST = 100
"""The most characters of a judge's reason in a message."""

_MOST_PLACES = 5
"""The most criteria that a finding on a verdict or a score refers to, the heaviest first."""


def read_verdicts(test: RubricTest) -> frozenset[str] | None:
    """Return the verdicts that a test expects, or None if it does not say."""
    expected = test.expect.get("verdict")
    return None if expected is None else frozenset([expected] if isinstance(expected, str) else expected)


def read_scores(test: RubricTest, document: Document) -> tuple[Decimal, Decimal] | None:
    """Return the lowest and the highest score that a test expects, exactly as written; None if it does not say."""
    path = test.path_of("score")
    expected = test.expect.get("score")
    if expected is None:
        return None
    if isinstance(expected, list):
        return document.decimal((*path, 0)), document.decimal((*path, 1))
    return document.decimal(path), document.decimal(path)


def read_gates(test: RubricTest) -> dict[str, bool]:
    """Return the gates that a test expects: whether each is met."""
    return {name: state == "met" for name, state in test.expect.get("gates", {}).items()}


def allows(expected: Any, answer: AnswerValue) -> bool:
    """Return whether an expectation on a criterion allows what the judge gave."""
    if isinstance(expected, bool) or isinstance(answer, bool):
        return expected is answer
    low, high = expected if isinstance(expected, list) else (expected, expected)
    return bool(low <= answer <= high)


def find_impossible(test: RubricTest, rubric: ScoringRubric) -> Iterator[Problem]:
    """Find expectations that no output can meet, such as one on an unknown criterion."""
    criteria = {criterion.id: criterion for criterion in rubric.criteria}
    for name, state in test.expect.get("gates", {}).items():
        path = test.path_of("gates", name)
        criterion = criteria.get(name)
        if criterion is None:
            yield _word_unknown(name, criteria, path)
        elif criterion.gate is None:
            yield Problem("no-gate", path, values={"criterion": name})
        elif not any(grade.gate_met is (state == "met") for grade in criterion.grades):
            when = "never" if state == "met" else "always"
            yield Problem("constant-gate", path, values={"criterion": name, "when": when})
    for name, expected in test.expect.get("criteria", {}).items():
        path = test.path_of("criteria", name)
        criterion = criteria.get(name)
        if criterion is None:
            yield _word_unknown(name, criteria, path)
        elif not any(allows(expected, grade.answer) for grade in criterion.grades):
            takes = "true or false"
            if rubric.shape is not Shape.CHECKLIST:
                takes = list_scores(grade.answer for grade in criterion.grades)
            yield Problem("impossible-answer", path, values={"criterion": name, "takes": takes})


def _word_unknown(name: str, criteria: dict[str, ScoringCriterion], path: Path) -> Problem:
    values = {"criterion": name, "hint": point_to_known(name, criteria)}
    return Problem("unknown-criterion", path, Part.KEY, values)


def find_unmet(test: RubricTest, document: Document, result: Scored, places: RubricPlaces) -> Iterator[Problem]:
    """Find the expectations of a test that its result does not meet, each with the places in the rubric."""
    verdicts = read_verdicts(test)
    if verdicts is not None and result.verdict not in verdicts:
        wanted = join_words([verdict for verdict in Verdict if verdict in verdicts], "or")
        values = {"expected": wanted, "verdict": result.verdict, "explanation": _explain_verdict(result)}
        related = tuple(_relate_verdict(result, places))
        yield Problem("verdict", test.path_of("verdict"), values=values, related=related)
    scores = read_scores(test, document)
    if scores is not None and not scores[0] <= result.score <= scores[1]:
        wanted = str(scores[0]) if scores[0] == scores[1] else f"{scores[0]} to {scores[1]}"
        heaviest = sorted(result.criteria, key=lambda each: -each.criterion.share)[:_MOST_PLACES]
        earned = tuple(_relate_answer(each, places) for each in heaviest)
        values = {"expected": wanted, "score": word_score(result.score)}
        yield Problem("score", test.path_of("score"), values=values, related=earned)
    given = {each.criterion.id: each for each in result.criteria}
    for name, is_met in read_gates(test).items():
        each = given[name]
        if each.grade.gate_met is not is_met:
            wanted = "met" if is_met else "missed"
            values = {"criterion": name, "expected": wanted, "given": _word_answer(each)}
            related = (places.related("the gate", places.gate(name)), _relate_answer(each, places))
            yield Problem("gate", test.path_of("gates", name), values=values, related=related)
    for name, expected in test.expect.get("criteria", {}).items():
        each = given[name]
        if not allows(expected, each.grade.answer):
            values = {"expected": _word_expected(expected), "criterion": name, "given": _word_answer(each)}
            related = (_relate_answer(each, places),)
            yield Problem("criterion", test.path_of("criteria", name), values=values, related=related)


Check = Callable[[int, int, Verdict, Sequence[Grade]], bool]
"""Returns whether a result meets expectations: its points, those of the best answer, the verdict, and the grades."""


def make_check(test: RubricTest, document: Document, rubric: ScoringRubric) -> Check | None:
    """Return the check of the expectations that depend on the rubric, or None if a test has none.

    What the judge gave does not depend on weights, gates and thresholds, so expectations on criteria are left out.
    """
    verdicts, scores, gates = read_verdicts(test), read_scores(test, document), read_gates(test)
    if verdicts is None and scores is None and not gates:
        return None
    low, high = (Fraction(each).as_integer_ratio() for each in scores or (Decimal(0), Decimal(1)))
    wanted = [(number, gates[each.id]) for number, each in enumerate(rubric.criteria) if each.id in gates]

    def check(points: int, full: int, verdict: Verdict, grades: Sequence[Grade]) -> bool:
        if verdicts is not None and verdict not in verdicts:
            return False
        if not (low[0] * full <= points * low[1] and points * high[1] <= high[0] * full):
            return False
        return all(grades[number].gate_met is is_met for number, is_met in wanted)

    return check


def word_score(score: Fraction) -> str:
    """Write a score with four digits, and exactly if that is short and differs."""
    shown = f"{float(score):.4g}"
    exact = str(score)
    return shown if Fraction(shown) == score or len(exact) > 9 else f"{shown} ({exact})"


def _explain_verdict(result: Scored) -> str:
    missed = [f"`{each.criterion.id}`" for each in result.criteria if not each.grade.gate_met]
    score = f"score {word_score(result.score)}"
    if missed:
        return f"{score}, and the gate{'' if len(missed) == 1 else 's'} of {join_words(missed)} missed"
    has_gates = any(each.criterion.gate is not None for each in result.criteria)
    return f"{score}, and no gate is missed" if has_gates else score


def _relate_verdict(result: Scored, places: RubricPlaces) -> Iterator[Place]:
    missed = [each for each in result.criteria if not each.grade.gate_met]
    for each in missed[:_MOST_PLACES]:
        yield places.related("the gate that is missed", places.gate(each.criterion.id))
    heaviest = sorted(missed or result.criteria, key=lambda each: -each.criterion.share)
    for each in heaviest[:_MOST_PLACES]:
        yield _relate_answer(each, places)


def _relate_answer(each: CriterionResult, places: RubricPlaces) -> Place:
    answer = each.grade.answer
    given = f"given {answer}"
    if isinstance(answer, bool):
        given = "judged as met" if answer else "judged as not met"
    return places.related(given, places.answer(each.criterion.id, answer))


def _word_answer(each: CriterionResult) -> str:
    answer = each.grade.answer
    given = str(answer).lower() if isinstance(answer, bool) else str(answer)
    reason = " ".join((each.reasoning or "").split())
    return given + (f': "{shorten(reason, _LONGEST)}"' if reason else "")


def _word_expected(expected: Any) -> str:
    if isinstance(expected, list):
        return f"{expected[0]} to {expected[1]}"
    return str(expected).lower()

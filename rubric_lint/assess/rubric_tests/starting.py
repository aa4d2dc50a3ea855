"""Write tests to start from: of recorded outputs those that reach the most, or else an outline to fill in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rubric_lint.assess.rubric_tests.running import TestedRubric
from rubric_lint.convert.export.texts import to_yaml
from rubric_lint.model.criterion import Shape
from rubric_lint.model.rubric import is_placeholder
from rubric_lint.model.schema_files import newest
from rubric_lint.scoring.grading import NOT_APPLICABLE, AnswerValue, CriterionResult, Scored, ScoringCriterion
from rubric_lint.scoring.loading import RubricPart

_TO_WRITE = "TODO: write an answer"
"""How the answers of an outline begin."""


def is_to_write(answer: str) -> bool:
    """Return whether an answer is still to be written: that of an outline, or a placeholder of one word.

    Punctuation alone may be an answer that a rubric should catch.
    """
    is_word = len(answer.split()) == 1 and any(map(str.isalnum, answer))
    return answer.startswith(_TO_WRITE) or (is_word and is_placeholder(answer))


@dataclass(frozen=True)
class RecordedResult:
    """A record and its result."""

    record: Mapping[str, Any]
    result: Scored


@dataclass(frozen=True)
class StarterTests:
    """The text of a test file, the number of its tests, and what none of them reaches."""

    text: str
    tests: int
    missing: tuple[str, ...]


def start_from_outputs(
    tested: TestedRubric, recorded: Sequence[RecordedResult], rubric: str, outputs: str | None
) -> StarterTests:
    """Write tests of the records that together reach each band, level and side of a gate, and each verdict.

    `rubric` and `outputs` are what the file says of them; `outputs` is None if its name says it.
    """
    chosen = _choose(tested, recorded)
    tests = [_write_test(tested, recorded) for recorded in chosen]
    reached = {target for recorded in chosen for target in _list_reached(tested, recorded.result)}
    missing = tuple(words for target, words in _list_targets(tested) if target not in reached)
    return StarterTests(_write_file(tests, rubric, outputs), len(tests), missing)


def start_outline(tested: TestedRubric, rubric: str) -> StarterTests:
    """Write one test for each band, level or answer to a check, whose answer is still to be written."""
    tests = [
        {
            "id": name,
            "answer": f"{_TO_WRITE} that earns this: {outcome}",
            "expect": {"criteria": {criterion.id: expected}},
        }
        for criterion in tested.rubric.criteria
        for name, outcome, expected in _list_bands(tested, criterion)
    ]
    return StarterTests(_write_file(tests, rubric, None), len(tests), ())


def _write_file(tests: list[dict[str, Any]], rubric: str, outputs: str | None) -> str:
    data: dict[str, Any] = {"rubric": rubric}
    if outputs:
        data["outputs"] = outputs
    data["tests"] = tests
    return newest("rubric-test").modeline + to_yaml(data)


_Target = tuple[str, RubricPart | AnswerValue | str]


def _choose(tested: TestedRubric, recorded: Sequence[RecordedResult]) -> list[RecordedResult]:
    """Choose records until no further one reaches anything new, each time the one that reaches the most."""
    reaches = [frozenset(_list_reached(tested, result.result)) for result in recorded]
    missing = frozenset[_Target]().union(*reaches)
    chosen: set[int] = set()
    while missing:
        gains = [len(reached & missing) for reached in reaches]
        best = gains.index(max(gains))  # of several the first
        chosen.add(best)
        missing -= reaches[best]
    return [recorded[number] for number in sorted(chosen)]


def _list_reached(tested: TestedRubric, result: Scored) -> Iterator[_Target]:
    """Yield what a result reaches: its verdict, and the band, level or answer of each criterion."""
    yield "verdict", result.verdict
    for judged in result.criteria:
        name, answer = judged.criterion.id, judged.grade.answer
        bands = tested.list_bands(judged.criterion).items()
        yield name, next((spot for spot, answers in bands if answer in answers), answer)


def _list_targets(tested: TestedRubric) -> Iterator[tuple[_Target, str]]:
    for criterion in tested.rubric.criteria:
        for answer in (grade.answer for grade in criterion.grades if isinstance(grade.answer, bool)):
            state = "met" if answer else "not met"
            yield (criterion.id, answer), f"`{criterion.id}` {state}"
        if criterion.may_not_apply:
            yield (criterion.id, NOT_APPLICABLE), f"{NOT_APPLICABLE} for `{criterion.id}`"
        for spot, answers in tested.list_bands(criterion).items():
            band = str(answers[0]) if len(answers) == 1 else f"{answers[0]} to {answers[-1]}"
            yield (criterion.id, spot), f"{band} for `{criterion.id}`"


def _write_test(tested: TestedRubric, recorded: RecordedResult) -> dict[str, Any]:
    """Return a test that expects what a record came to."""
    record, result = recorded.record, recorded.result
    test = {"id": record["id"]}
    test |= {name: record[name] for name in ("question", "answer", "reference") if isinstance(record.get(name), str)}
    gates = {}
    for judged in result.criteria:
        # To expect a gate to be met that no answer can miss would test nothing.
        if not all(grade.gate_met for grade in judged.criterion.grades):
            gates[judged.criterion.id] = "met" if judged.grade.gate_met else "missed"
    for group in result.groups:
        if group.group.gate:
            gates[group.group.id] = "met" if group.gate_met else "missed"
    expected: dict[str, Any] = {"verdict": str(result.verdict)}
    if result.rubric_grade:
        expected["rubric_grade"] = result.rubric_grade
    if gates:
        expected["gates"] = gates
    expected["criteria"] = {judged.criterion.id: _write_expected(tested, judged) for judged in result.criteria}
    return {**test, "expect": expected}


def _write_expected(tested: TestedRubric, judged: CriterionResult) -> AnswerValue | list[int]:
    """Return the expectation on a criterion: the answer, or the ends of its band."""
    answer = judged.grade.answer
    if isinstance(answer, bool) or answer == NOT_APPLICABLE:
        return answer
    answers = next(answers for answers in tested.list_bands(judged.criterion).values() if answer in answers)
    numbers = judged.criterion.numbers
    first = numbers.index(answers[0])
    is_band = 1 < len(answers) < len(numbers) and answers == numbers[first : first + len(answers)]
    return [answers[0], answers[-1]] if is_band else answer


def _list_bands(
    tested: TestedRubric, criterion: ScoringCriterion
) -> Iterator[tuple[str, str, AnswerValue | list[int]]]:
    """Yield for each band, level or answer the id of its test, its outcome, and what to expect."""
    outcomes = {grade.answer: " ".join((grade.outcome or "").split()) for grade in criterion.grades}
    name = criterion.id.replace("/", "-")
    if criterion.shape is Shape.CHECKLIST:
        yield f"{name}-met", outcomes[True], True
        yield f"{name}-missed", f"not: {outcomes[False]}", False
    for answers in tested.list_bands(criterion).values():
        low, high = answers[0], answers[-1]
        if not outcomes[low]:  # nothing describes the numbers of a scale
            for end in (low, high):
                yield f"{name}-{end}", f"{end} on the scale from {low} to {high}: {criterion.outcome}", end
        elif low == high:
            yield f"{name}-{low}", outcomes[low], low
        else:
            yield f"{name}-{low}-{high}", outcomes[low], [low, high]

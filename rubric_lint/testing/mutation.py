"""Find the changes of a rubric that none of its tests notices."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rubric_lint.finding import Problem
from rubric_lint.messages import join_words
from rubric_lint.scoring.grading import AnswerValue, CriterionResult, Grade, JudgeOutput, Scored, ScoringRubric
from rubric_lint.scoring.places import RubricPlaces
from rubric_lint.scoring.samples import combine_samples
from rubric_lint.testing.equivalence import Equivalence, Witness
from rubric_lint.testing.expectations import Check, make_check
from rubric_lint.testing.mutants import Mutant, make_mutants
from rubric_lint.testing.running import Tested
from rubric_lint.testing.sums import TooManySumsError

_MOST_NAMED = 4


class Mutation(NamedTuple):
    """How many changes were `made`, how many of these are `equivalent`, and the survivors as problems.

    `refused` says why the changes could not be made, if they could not. `failing` tests notice nothing.
    """

    made: int
    equivalent: int
    survivors: tuple[Problem, ...]
    refused: str = ""
    failing: int = 0

    @property
    def noticed(self) -> int:
        """The number of changes that a test notices."""
        return self.made - self.equivalent - len(self.survivors)


class _Case(NamedTuple):
    """A test that notices changes unless it fails: the answers to each criterion, and the check of its expectations."""

    answers: tuple[AnswerValue, ...]
    check: Check
    samples: tuple[tuple[AnswerValue, ...], ...]


def mutate(tested: Tested) -> Mutation:
    """Change a rubric in every way, and find the changes that no test notices, each with an answer that would have."""
    rubric, places = tested.rubric, tested.places
    all_cases = _list_cases(tested)
    tables = _tables(rubric)
    cases = [case for case in all_cases if _meets(rubric, tables, case)]
    failing = len(all_cases) - len(cases)
    equivalence = Equivalence(rubric)
    made = equivalent = 0
    survivors = []
    try:
        for mutant in make_mutants(rubric, places):
            made += 1
            if _is_noticed(mutant.rubric, cases):
                # A test may notice the score of a change that alters no verdict; it does not count either way.
                equivalent += equivalence.find_witness(mutant) is None
                continue
            witness = equivalence.find_witness(mutant)
            if witness is None:
                equivalent += 1
            else:
                survivors.append(_word(mutant, witness, places, failing))
    except TooManySumsError:
        return Mutation(0, 0, (), "its weights are too fine to find all scores that it can give; round them")
    return Mutation(made, equivalent, tuple(survivors), failing=failing)


def _list_cases(tested: Tested) -> Sequence[_Case]:
    """Return the tests that expect something, failing ones too."""
    cases = []
    for ran in tested.ran:
        check = make_check(ran.test, ran.file.document, tested.rubric)
        if check is None:
            continue
        samples = tuple(_answers(sample.criteria) for sample in ran.result.samples)
        cases.append(_Case(_answers(ran.result.criteria), check, samples))
    return cases


def _answers(criteria: Sequence[CriterionResult]) -> tuple[AnswerValue, ...]:
    return tuple(each.grade.answer for each in criteria)


def _tables(rubric: ScoringRubric) -> list[dict[AnswerValue, Grade]]:
    return [{grade.answer: grade for grade in criterion.grades} for criterion in rubric.criteria]


def _is_noticed(rubric: ScoringRubric, cases: Sequence[_Case]) -> bool:
    tables = _tables(rubric)
    return not all(_meets(rubric, tables, case) for case in cases)


def _meets(rubric: ScoringRubric, tables: list[dict[AnswerValue, Grade]], case: _Case) -> bool:
    """Return whether a test's expectations hold under a rubric."""
    grades = [table[answer] for table, answer in zip(tables, case.answers, strict=True)]
    if not case.samples:
        points, verdict = rubric.weigh(grades)
        return case.check(points, rubric.full, verdict, grades)
    result = combine_samples([_grade(rubric, answers) for answers in case.samples])
    score = result.score
    return case.check(score.numerator, score.denominator, result.verdict, grades)


def _grade(rubric: ScoringRubric, answers: tuple[AnswerValue, ...]) -> Scored:
    return rubric.grade(JudgeOutput(answers, (None,) * len(answers)))


def _word(mutant: Mutant, witness: Witness, places: RubricPlaces, failing: int) -> Problem:
    answer = _word_answer(witness.answers, mutant)
    values = {"change": mutant.change, "answer": answer, "before": witness.before, "after": witness.after}
    if failing:
        return places.problem(mutant.spot, "survives-passing", {**values, "failing": _count_failing(failing)})
    return places.problem(mutant.spot, "survives", values)


def _word_answer(answers: Mapping[str, AnswerValue], mutant: Mutant) -> str:
    """Describe an answer: the changed criterion first, then the others, or only how many there are."""
    own = list(answers)[mutant.number] if mutant.number is not None else None
    ordered = [name for name in answers if name == own] + [name for name in answers if name != own]
    named = [f"{word_given(answers[name])} for `{name}`" for name in ordered[:_MOST_NAMED]]
    highest = {criterion.id: criterion.grades[-1].answer for criterion in mutant.rubric.criteria}
    rest = ordered[_MOST_NAMED:]
    if rest:
        is_best = all(answers[name] == highest[name] for name in rest)
        named.append("the best for the others" if is_best else f"fitting values for {len(rest)} others")
    return f"an answer with {join_words(named)}"


def word_given(answer: AnswerValue) -> str:
    """Write what a judge gives."""
    return str(answer).lower() if isinstance(answer, bool) else str(answer)


def _count_failing(failing: int) -> str:
    return f"{failing} failing test{'' if failing == 1 else 's'}"


def summarize(mutations: Sequence[Mutation]) -> str:
    """Return the sentence on all changes."""
    made, equivalent, failing = (
        sum(getattr(each, name) for each in mutations) for name in ("made", "equivalent", "failing")
    )
    noticed = sum(each.noticed for each in mutations)
    counted = made - equivalent
    if not counted:
        return f"Mutation: {made} changes made, and none of them can alter a verdict."
    share = f"{100 * noticed / counted:.0f}%"
    others = f"; {equivalent} more cannot alter a verdict" if equivalent else ""
    left_out = f"; {_count_failing(failing)} left out" if failing else ""
    return f"Mutation: the tests notice {noticed} of {counted} changes ({share}){others}{left_out}."

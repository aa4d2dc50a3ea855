"""What is certain about a verdict once one answer is known is what every possible output says."""

import itertools

import pytest
from cases import read_cases

from rubric_lint.scoring.grading import JudgeOutput, Prospects, Verdict
from rubric_lint.scoring.loading import load_rubrics

RUBRICS = read_cases(__file__)["RUBRICS"]

ORDER = [Verdict.FAIL, Verdict.BORDERLINE, Verdict.PASS]


@pytest.mark.parametrize("text", RUBRICS.values(), ids=RUBRICS)
def test_a_prospect_is_the_worst_and_the_best_of_all_outputs(text):
    (rubric,) = load_rubrics("a.yaml", text.encode()).values()
    reached: dict[tuple[int, object], list[tuple[int, object]]] = {}
    every = [[grade.answer for grade in criterion.grades] for criterion in rubric.criteria]
    for answers in itertools.product(*every):
        scored = rubric.grade(JudgeOutput(answers, (None,) * len(answers)))
        for number, answer in enumerate(answers):
            reached.setdefault((number, answer), []).append((scored.score * rubric.full, scored.verdict))
    prospects = Prospects(rubric)
    for number, criterion in enumerate(rubric.criteria):
        for grade in criterion.grades:
            found = reached[number, grade.answer]
            verdicts = sorted((verdict for _, verdict in found), key=ORDER.index)
            prospect = prospects.find(number, grade)
            assert (prospect.worst, prospect.best) == (verdicts[0], verdicts[-1])
            assert prospect.points == max(points for points, _ in found)
            assert prospect.is_certain == (len({*verdicts}) == 1)


@pytest.mark.parametrize("text", RUBRICS.values(), ids=RUBRICS)
def test_known_answers_leave_the_verdicts_of_the_outputs_that_have_them(text):
    (rubric,) = load_rubrics("a.yaml", text.encode()).values()
    grades = [criterion.grades for criterion in rubric.criteria]
    outputs = [(each, rubric.weigh(each).verdict) for each in itertools.product(*grades)]
    for given in [{0: grades[0][0]}, {0: grades[0][-1]}, dict(enumerate(each[-1] for each in grades[:2]))]:
        left = {verdict for each, verdict in outputs if all(each[at] is grade for at, grade in given.items())}
        verdicts = sorted(left, key=ORDER.index)
        for number, grade in given.items():
            prospect = Prospects(rubric, given).find(number, grade)
            assert (prospect.worst, prospect.best) == (verdicts[0], verdicts[-1])

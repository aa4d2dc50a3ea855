"""What is certain about a verdict once one answer is known is what every possible output says."""

import itertools

import pytest

from rubric_lint.scoring.grading import JudgeOutput, Prospects, Verdict
from rubric_lint.scoring.loading import load_rubrics

ORDER = [Verdict.FAIL, Verdict.BORDERLINE, Verdict.PASS]

RUBRICS = {
    "checklist": "rubrics: [a, {id: b, expected_outcome: b, weight: 3, required_min_score: 10}, c]",
    "gates": """
rubrics:
  - {id: a, weight: 2.5, required_min_score: 7, score_ranges: {0: low, 7: high}}
  - {id: b, weight: 1, required_min_score: 3, score_ranges: {0: low, 3: high}}
""",
    "weights": """
rubrics:
  - {id: a, weight: 9, score_ranges: {0: low, 5: high}}
  - {id: b, weight: 1, score_ranges: {0: low, 5: high}}
  - {id: c, weight: 0, score_ranges: {0: low, 5: high}}
""",
    "levels": """
rubrics:
  - {id: a, required_min_level: 2, levels: {1: wrong, 2: partly right, 5: right}}
  - {id: b, levels: {1: long, 4: short}}
""",
    "holistic": """
rubrics:
  - {score_range: [0, 6], expected_outcome: low}
  - {score_range: [7, 10], expected_outcome: high}
""",
    "deductions": """
rubrics:
  - {criterion: Names the dose, points: 5, tags: []}
  - {criterion: Names a source, points: 3, tags: []}
  - {criterion: Invents a dose, points: -6, tags: []}
""",
    "must not": """
tests:
  - assert:
      - {type: llm-rubric, value: Names the cause, weight: 3}
      - {type: not-llm-rubric, value: Blames the customer, weight: 2}
""",
}


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

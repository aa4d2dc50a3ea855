"""Scores and verdicts of the dialects, beside what their systems compute, as `restated_scores.py` has it."""

import json
from fractions import Fraction

import commands
import pytest
from hypothesis import given
from hypothesis import strategies as st
from restated_scores import CASES

from rubric_lint.scoring import score_samples
from rubric_lint.scoring.grading import JudgeOutput, Verdict
from rubric_lint.scoring.loading import RubricError, load_rubrics
from rubric_lint.scoring.totals import Totals

ANSWERS = 30
"""The number of answers to each random rubric: reading it takes the time."""


@pytest.mark.spread(3)
@pytest.mark.parametrize("dialect", sorted(CASES))
@given(data=st.data())
def test_a_random_rubric_scores_as_in_its_system(dialect, data):
    case = data.draw(CASES[dialect])
    chance = data.draw(st.randoms(use_true_random=False))
    if not case.is_scored:
        with pytest.raises(RubricError):
            load_rubrics(case.name, case.text)
        return
    (rubric,) = load_rubrics(case.name, case.text).values()
    assert [len(criterion.grades) for criterion in rubric.criteria] == list(case.counts)
    for _ in range(ANSWERS):
        ranks = [max(chance.randrange(count), chance.randrange(count)) for count in case.counts]  # most marks are high
        answers = tuple(criterion.grades[rank].answer for criterion, rank in zip(rubric.criteria, ranks, strict=True))
        ours = rubric.grade(JudgeOutput(answers, (None,) * len(answers)))
        score, passes = case.score(ranks)
        assert (ours.score, passes in (None, ours.verdict is Verdict.PASS)) == (score, True)


samples_of = st.lists(
    st.tuples(st.lists(st.sampled_from([5, 2, 0.5, 0, -1, -7.5, -20]), min_size=1, max_size=4), st.randoms()),
    min_size=1,
    max_size=4,
)


@given(samples_of, st.booleans())
def test_the_mean_is_that_of_healthbench(drawn, is_repeated):
    """Its `_compute_clipped_stats`: scores of samples may be below 0, and only their mean is cut to 0..1."""
    rubrics, results, theirs = [], [], []
    for number, (points, chance) in enumerate(drawn):
        points.append(3)
        items = [{"criterion": f"Names part {at}", "points": point, "tags": []} for at, point in enumerate(points)]
        row = json.dumps({"prompt_id": f"p{number}", "rubrics": items})
        (rubric,) = load_rubrics("rows.jsonl", row).values()
        met = [chance.random() < 0.5 for _ in points]
        output = JudgeOutput(tuple(met), (None,) * len(met))
        rubrics.append(rubric)
        results.append(score_samples(rubric, [output, output]) if is_repeated else rubric.grade(output))
        possible = sum(Fraction(str(point)) for point in points if point > 0)
        theirs.append(sum(Fraction(str(point)) for point, is_met in zip(points, met, strict=True) if is_met) / possible)
    totals = Totals(rubrics)
    for result in results:
        totals.take(result)
    assert totals.mean == min(max(sum(theirs) / len(theirs), Fraction(0)), Fraction(1))
    assert [rubric.mean for rubric in totals.rubrics.values()] == [max(score, Fraction(0)) for score in theirs]


ROW = {"prompt_id": "p", "rubrics": [
    {"criterion": "Names the dose", "points": 2, "tags": []}, {"criterion": "Errs", "points": -3, "tags": []}
]}  # fmt: skip


def test_the_mean_of_a_run_counts_what_scores_lose_below_0(tmp_path):
    met, mean = [[1, 1], [1, 0]], 0.25
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW), "utf-8")
    checks = [[{"id": f"rubric-{at}", "satisfied": bool(each)} for at, each in enumerate(row, 1)] for row in met]
    lines = [json.dumps({"id": str(at), "output": {"checks": check}}) for at, check in enumerate(checks)]
    (tmp_path / "outputs.jsonl").write_text("\n".join(lines), "utf-8")
    done = commands.run("rubric-score", "rows.jsonl", "outputs.jsonl", "--format", "json", cwd=tmp_path)
    printed = json.loads(done.stdout)
    assert printed["totals"]["mean"] == mean
    assert [result["score"] for result in printed["results"]] == [max((2 * a - 3 * b) / 2, 0) for a, b in met]

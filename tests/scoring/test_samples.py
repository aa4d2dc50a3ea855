"""Several judge outputs for one answer: no combination gives a verdict that no sample gave (A2, A3)."""

import json
from fractions import Fraction
from statistics import median

import pytest
from cases import read_cases
from exports import as_json
from hypothesis import given
from hypothesis import strategies as st
from random_rubrics import rubrics

from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.scoring import OutputError, load_rubrics, score_samples
from rubric_lint.scoring.grading import JudgeOutput, Verdict, combine_samples
from rubric_lint.scoring.scorer import Scorer
from rubric_lint.scoring.totals import Totals

TABLES = read_cases(__file__)

THREE_GATES = """\
rubrics:
  - {id: a, expected_outcome: Names the pivot, required_min_score: 10}
  - {id: b, expected_outcome: Names the cost, required_min_score: 10}
  - {id: c, expected_outcome: Names the reader, required_min_score: 10}
"""
GATED = load_rubrics("r.yaml", THREE_GATES.encode())
WHOLE = load_rubrics(
    "r.yaml",
    b"rubrics: [{score_range: [0, 4], expected_outcome: Wrong}, {score_range: [5, 10], expected_outcome: Right}]",
)


def checks(*answers):
    return {"checks": [{"id": name, "satisfied": answer} for name, answer in zip("abc", answers, strict=True)]}


def whole(*scores):
    return score_samples(WHOLE["r"], [{"score": score} for score in scores])


def test_samples_that_each_miss_another_gate_fail():
    yes, no = True, False
    outputs = [checks(no, yes, yes), checks(yes, no, yes), checks(yes, yes, no)]
    result = score_samples(GATED["r"], outputs)
    assert (result.verdict, result.score, result.stable) == (Verdict.FAIL, Fraction(2, 3), True)
    entry = json.dumps({"id": "x", "outputs": outputs}).encode()
    found = Scorer(GATED).score(entry, 1).to_json()
    assert [found[name] for name in ("id", "verdict", "verdicts", "stable")] == [
        "x",
        "fail",
        {"pass": 0, "borderline": 0, "fail": 3},
        True,
    ]
    assert [(criterion["raw"], criterion["share"]) for criterion in found["criteria"]] == [(True, 2 / 3)] * 3


@pytest.mark.parametrize(
    ("scores", "verdict", "score", "verdicts", "raw", "share"),
    [
        ((9, 10, 10), "pass", 1, (3, 0, 0), 10, Fraction(2, 3)),
        ((0, 10, 10), "pass", 1, (2, 0, 1), 10, Fraction(2, 3)),
        ((9, 3), "fail", Fraction(3, 5), (1, 0, 1), 3, Fraction(1, 2)),
        ((9, 7), "borderline", Fraction(4, 5), (1, 1, 0), 7, Fraction(1, 2)),
        ((7, 7, 7, 7), "borderline", Fraction(7, 10), (0, 4, 0), 7, 1),
        ((2, 4, 8, 10), "fail", Fraction(3, 5), (2, 0, 2), 4, Fraction(1, 4)),
    ],
)
def test_the_verdicts_say_what_a_share_of_agreement_did_not(scores, verdict, score, verdicts, raw, share):
    result = whole(*scores)
    (criterion,) = result.criteria
    assert (str(result.verdict), result.score, tuple(result.verdicts.values())) == (verdict, score, verdicts)
    assert (criterion.grade.answer, criterion.share, result.stable) == (raw, share, sum(map(bool, verdicts)) == 1)


def test_one_sample_is_the_result():
    assert whole(7).to_json() == {**whole(7).to_json(), "verdict": "borderline", "score": 0.7}
    assert "verdicts" not in whole(7).to_json()


@pytest.mark.parametrize(("record", "path"), TABLES["samples that cannot be scored are told"])
def test_samples_that_cannot_be_scored_are_told(record, path, said):
    entry = json.dumps({"id": "x", **record}).encode()
    outcome = Scorer(WHOLE).score(entry, 3)
    found = outcome.to_json()
    said(found["error"].pop("message"))
    assert found == {"id": "x", "rubric": "r", "error": {"line": 3, "path": path}}


def test_what_is_no_result_is_refused_by_its_place():
    with pytest.raises(TypeError, match=r"samples\[1\]"):
        combine_samples([score_samples(WHOLE["r"], [{"score": 7}]), 7])


def test_no_samples_are_an_error():
    with pytest.raises(OutputError, match="no outputs"):
        score_samples(WHOLE["r"], [])


def test_totals_count_answers_and_how_many_are_stable():
    totals = Totals(WHOLE.values())
    for result in (whole(9, 10), whole(9, 3), whole(7)):
        totals.take(result)
    (found,) = totals.to_json()["rubrics"]
    assert {name: found[name] for name in ("outputs", "pass", "borderline", "fail", "sampled", "stable")} == {
        "outputs": 3,
        "pass": 1,
        "borderline": 1,
        "fail": 1,
        "sampled": 2,
        "stable": 1,
    }
    assert totals.mean == (Fraction(95, 100) + Fraction(6, 10) + Fraction(7, 10)) / 3


thresholds = st.lists(st.integers(0, 10), min_size=2, max_size=2).map(lambda pair: [each / 10 for each in sorted(pair)])


@given(rubrics, thresholds, st.integers(1, 7), st.data())
def test_no_combination_gives_a_verdict_that_no_sample_gave(entries, limits, count, data):
    borderline_at, pass_at = limits
    how = FileSettings(claimed=True, severities={}, pass_at=pass_at, borderline_at=borderline_at)
    (rubric,) = load_rubrics("r.rubric.json", as_json(entries).encode(), how).values()
    given_ = [
        tuple(data.draw(st.sampled_from(criterion.grades)).answer for criterion in rubric.criteria)
        for _ in range(count)
    ]
    outputs = [JudgeOutput(answers, (None,) * len(answers)) for answers in given_]
    single = [rubric.grade(output) for output in outputs]
    result = score_samples(rubric, outputs)
    order = ["fail", "borderline", "pass"]
    verdicts = sorted((str(each.verdict) for each in single), key=order.index)
    assert str(result.verdict) == verdicts[(count - 1) // 2]
    assert result.verdict in {each.verdict for each in single}
    assert result.score == median(each.score for each in single)
    assert {str(verdict): times for verdict, times in result.verdicts.items()} == {
        name: verdicts.count(name) for name in order
    }
    assert result.stable == (len(set(verdicts)) == 1)
    for place, criterion in enumerate(result.criteria):
        answers = sorted(each[place] for each in given_)
        answer = answers[(count - 1) // 2]
        share = None if count == 1 else Fraction(answers.count(answer), count)
        assert (criterion.grade.answer, criterion.share) == (answer, share)
    backwards = score_samples(rubric, outputs[::-1])
    assert (backwards.verdict, backwards.score, backwards.verdicts) == (result.verdict, result.score, result.verdicts)


def test_the_reasoning_is_the_first_of_the_samples_with_the_verdict():
    said = [(2, "It is off topic."), (9, None), (10, "It is right."), (9, "It is right in all.")]
    outputs = [{"score": score, "reasoning": why} if why else {"score": score} for score, why in said]
    assert (score_samples(WHOLE["r"], outputs).reasoning, score_samples(WHOLE["r"], outputs[:2]).reasoning) == (
        "It is right.",
        "It is off topic.",
    )

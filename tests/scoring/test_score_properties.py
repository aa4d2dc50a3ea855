"""Scores against an independent reference, on random rubrics and outputs of all shapes."""

import json
from random import Random

import pytest
from cases import read_cases
from hypothesis import given
from hypothesis import strategies as st
from random_outputs import cases, load, write_entry
from reference_3 import score as score_by_definition

from rubric_lint.scoring import OutputError, score
from rubric_lint.scoring.records.decoding import IS_INSTALLED
from rubric_lint.scoring.scorer import Scorer

TABLES = read_cases(__file__)


@given(cases())
def test_score_and_verdict_are_those_of_the_definition(case):
    _, entries, output = case
    result, expected = score(load(entries), output), score_by_definition(entries, output)
    assert (result.score, str(result.verdict)) == (expected.score, expected.verdict)


@pytest.mark.slow
@given(cases(), st.randoms(use_true_random=False))
def test_no_order_changes_a_result(case, random):
    shape, entries, output = case
    expected = score(load(entries), output)
    entries = random.sample(entries, len(entries))
    if shape != "holistic":
        output = {"checks": random.sample(output["checks"], len(output["checks"]))}
    found = score(load(entries), output)
    assert (found.score, found.verdict) == (expected.score, expected.verdict)


@pytest.mark.slow
@given(cases(), st.integers(0, 10**9).map(Random), st.sampled_from([0, 0.02, 0.05]))
def test_an_entry_that_msgspec_reads_gets_what_the_strict_reader_gives_it(case, random, rate):
    _, entries, output = case
    rubrics = {"r": load(entries)}
    fast = Scorer(rubrics)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rubric_lint.scoring.output.IS_INSTALLED", False)
        strict = Scorer(rubrics)
    for _ in range(20):  # one after the other, so that what was remembered has its part in it
        text = write_entry(output, random, rate, n=1.5, m=[{"x": 2}, None])
        entry = (random.choice([" {}", "{} {{}}", "\ufeff{}"]) if random.random() < rate else "{}\r").format(text)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rubric_lint.scoring.records.decoding.IS_INSTALLED", False)
            expected = strict.score(entry.encode(), 1)
        outcome = fast.score(entry.encode(), 1)
        assert outcome.render() == expected.render()
        assert (outcome.result, outcome.has_other_meaning) == (expected.result, expected.has_other_meaning)
        if outcome.result:
            assert fast.score(entry.encode()).render() == expected.render()
        if found := match_record(fast, entry):
            assert found.record == {"id": "a"}
            assert found.scored.answers == tuple(criterion.grade.answer for criterion in expected.result.criteria)
            assert json.loads(f"{{{found.scored.text}}}") == expected.result.to_json()


def match_record(scorer, line):
    """The result of a line in the expected form; None of another."""
    return scorer.only.match_record(line.encode(), 1, None)


@pytest.mark.parametrize("line", TABLES["a line that takes a"])
def test_a_line_that_takes_a_second_look_is_not_of_the_expected_form(line):
    rubrics = {"r": load([{"score_range": [0, 10], "expected_outcome": "Shows the result"}])}
    assert match_record(Scorer(rubrics), line) is None


@pytest.mark.parametrize("lines", TABLES["lines of the very form"])
@pytest.mark.skipif(not IS_INSTALLED, reason="msgspec is not installed")
def test_lines_of_the_very_form_are_read_at_once(lines):
    rubrics = {"r": load([{"score_range": [0, 10], "expected_outcome": "Shows the result"}])}
    for line in lines:
        found = match_record(Scorer(rubrics), line)
        assert (found.id, found.scored.answers) == (json.loads(line)["id"], (7,))


FAULTS = ("missing", "repeated", "unknown", "another type", "out of all bands", "half")


@given(cases(), st.sampled_from(FAULTS), st.integers(0, 9))
def test_an_output_with_a_fault_never_gets_a_score(case, fault, place):
    shape, entries, output = case
    if shape == "holistic":
        output["score"] = {"another type": "7", "half": 7.5}.get(fault, 11)
    else:
        spoil(output["checks"], place % len(output["checks"]), fault)
    rubric = load(entries)
    with pytest.raises(OutputError):
        score(rubric, output)
    text = json.dumps({"id": "a", "output": output})
    assert match_record(Scorer({"r": rubric}), text) is None
    assert Scorer({"r": rubric}).score(text.encode(), 1).result is None


def spoil(checks, place, fault):
    """Make one check wrong."""
    check = checks[place]
    field = next(name for name in check if name != "id")
    if fault == "missing":
        del checks[place]
    elif fault == "repeated":
        checks.append(dict(check))
    elif fault == "unknown":
        check["id"] += "?"
    elif fault == "another type":
        check[field] = int(check[field]) if field == "satisfied" else str(check[field])
    else:
        check[field] = 99 if fault == "out of all bands" else 7.5

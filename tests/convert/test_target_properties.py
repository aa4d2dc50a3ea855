"""Laws of `rubric-fix --to`, over suites in all the styles that YAML and JSON have."""

import pytest
from found import told
from hypothesis import given
from hypothesis import strategies as st
from styled_suites import Suite, is_refused_style, json_suites, yaml_suites

from rubric_lint.convert.release import rewrite
from rubric_lint.formats.agentv.releases import RELEASES
from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.scoring import score
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.source.source import Source


def without_description(suite):
    """A suite without the field of its cases that AgentV 5 needs for their `expected_outcome`."""
    source = Source.from_bytes(suite.name, suite.data)
    text = source.text.replace("    description: required\r\n", "").replace("    description: required\n", "")
    return Suite(suite.name, source.to_bytes(text), suite.after, suite.comments)


SUITES = (yaml_suites(most=1) | json_suites()).map(without_description)
GAPS = {("agentv-5.no-input",), ("agentv-4.test-without", "AgentV 4", "`input`")}
TOWARDS = st.sampled_from(sorted(RELEASES))


def results(name, data, answers):
    """Score and gates for answers given by place: names and verdict thresholds are the target's own.

    What says nothing of a gate is read as AgentV reads it.
    """
    found = []
    for rubric in load_rubrics(name, data, FileSettings(implicit_required=True)).values():
        checks = []
        for criterion, chance in zip(rubric.criteria, answers * len(rubric.criteria), strict=False):
            answer = criterion.grades[chance % len(criterion.grades)].answer
            checks.append({"id": criterion.id, "satisfied" if rubric.shape == "checklist" else "score": answer})
        result = score(rubric, {"checks": checks})
        found.append(
            (result.score, [(criterion.criterion.id, criterion.grade.gate_met) for criterion in result.criteria])
        )
    return found


@pytest.mark.slow
@given(SUITES, TOWARDS, st.lists(st.integers(0, 10), min_size=1, max_size=6))
def test_a_rewritten_suite_scores_as_before_and_keeps_its_comments(suite, target, answers):
    fixed = rewrite(suite.name, suite.data, target)
    assert fixed.doubt == ""
    if is_refused_style(fixed):
        assert fixed.data == suite.data
        return
    assert fixed.is_changed
    assert {told(left.finding) for left in fixed.unmet} <= GAPS
    assert results(suite.name, suite.data, answers) == results(suite.name, fixed.data, answers)
    assert [note for note in suite.comments if note not in fixed.text] == []
    assert [finding for finding in lint(suite.name, fixed.data).findings if finding.severity == "error"] == []


@pytest.mark.slow
@given(SUITES, TOWARDS)
def test_a_second_run_changes_nothing(suite, target):
    once = rewrite(suite.name, suite.data, target)
    again = rewrite(suite.name, once.data, target)
    if is_refused_style(once):
        return
    assert (again.is_changed, again.unmet, again.doubt) == (False, once.unmet, "")


@pytest.mark.slow
@given(SUITES)
def test_by_way_of_the_fourth_version_is_as_good(suite):
    straight = rewrite(suite.name, suite.data, "agentv-5")
    detour = rewrite(suite.name, rewrite(suite.name, suite.data, "agentv-4").data, "agentv-5")
    assert straight.text == detour.text or is_refused_style(straight) or is_refused_style(detour)


@pytest.mark.parametrize("target", RELEASES)
def test_a_doubtful_file_is_left_alone(target):
    data = b"tests:\n  - input: x\n    rubrics:\n      - &c {id: a, expected_outcome: Says why}\n    also: *c\n"
    fixed = rewrite("a.yaml", data, target)
    assert fixed.is_changed is False
    assert fixed.unmet or fixed.doubt
